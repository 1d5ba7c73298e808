//===- Linker.h - Linking one object into a shared object -----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_TARGET_LINKER_H
#define FUSEOPS_LIB_TARGET_LINKER_H

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"

namespace mlir::fuseops {

/// Links an ELF object by lld, in process, into a shared object that exports
/// its global functions. `emptyObject` is one without content for the same
/// machine: where libm is needed, a stand-in for it is linked from that, so
/// that the result asks for libm.so.6 by name and no libm is needed here.
FailureOr<SmallVector<char>> linkSharedObject(Location loc,
                                              ArrayRef<char> object,
                                              ArrayRef<char> emptyObject);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_TARGET_LINKER_H
