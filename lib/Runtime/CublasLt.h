//===- CublasLt.h - Matrix products by cuBLASLt, loaded at run time ------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_RUNTIME_CUBLASLT_H
#define FUSEOPS_LIB_RUNTIME_CUBLASLT_H

#include "CudaDriver.h"
#include "Matmul.h"

namespace fuseops {
namespace runtime {

/// Loads cuBLASLt and makes its handle for the scope's context.
fuseopsStatus prepareCublasLt(const CudaScope &scope);

/// Enqueues a product on device memory. Accumulates in f32 (f64 for f64),
/// without TF32. `workspace` is aligned to 256 bytes, and so is `padding`, of
/// as many bytes as `PaddedMatmul` counts for a scaled product.
fuseopsStatus runCublasLt(const CudaScope &scope,
                          const MatmulArguments &arguments, void *workspace,
                          size_t workspaceBytes, void *padding,
                          CudaStream stream);

} // namespace runtime
} // namespace fuseops

#endif // FUSEOPS_LIB_RUNTIME_CUBLASLT_H
