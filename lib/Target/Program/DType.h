//===- DType.h - Element types as the program file numbers them -----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_TARGET_PROGRAM_DTYPE_H
#define FUSEOPS_LIB_TARGET_PROGRAM_DTYPE_H

#include "mlir/IR/Types.h"

#include <optional>

namespace mlir::fuseops {

/// The `schema::DType` of an element type; none for any other type.
std::optional<unsigned> getProgramDType(Type elementType);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_TARGET_PROGRAM_DTYPE_H
