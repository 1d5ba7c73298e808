//===- Torch.h - The torch dialect, just enough to read it --------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_TORCH_TORCH_H
#define FUSEOPS_DIALECT_TORCH_TORCH_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "FuseOps/Dialect/Torch/TorchDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "FuseOps/Dialect/Torch/TorchTypes.h.inc"

namespace mlir::fuseops::torch {

/// The `!torch.tensor` type of a `!torch.vtensor` type's sizes and dtype; null
/// for any other type.
Type getMutableForm(Type type);

} // namespace mlir::fuseops::torch

#define GET_OP_CLASSES
#include "FuseOps/Dialect/Torch/TorchOps.h.inc"

#endif // FUSEOPS_DIALECT_TORCH_TORCH_H
