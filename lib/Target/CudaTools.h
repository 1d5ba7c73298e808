//===- CudaTools.h - Finding nvJitLink, ptxas and libdevice ---------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_TARGET_CUDATOOLS_H
#define FUSEOPS_LIB_TARGET_CUDATOOLS_H

#include "FuseOps/Target/NVPTX.h"

namespace mlir::fuseops {

/// The existing files that may be libnvJitLink, best first.
SmallVector<std::string> findNvJitLink(const AssemblerOptions &options);

/// The existing programs that may be ptxas, best first.
SmallVector<std::string> findPtxas(const AssemblerOptions &options);

/// The existing files that may be libdevice, CUDA's libm in bitcode, best
/// first.
SmallVector<std::string> findLibdevice(const AssemblerOptions &options);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_TARGET_CUDATOOLS_H
