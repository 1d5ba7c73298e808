//===- SymbolicSize.h - The one symbolic size of a torch function ---------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_CONVERSION_TORCHTOFUSEOPS_SYMBOLICSIZE_H
#define FUSEOPS_CONVERSION_TORCHTOFUSEOPS_SYMBOLICSIZE_H

#include "FuseOps/Dialect/Torch/Torch.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::fuseops {

/// What stands behind every `?` of a function's arguments.
class SymbolicSize {
public:
  /// Reads the shape bindings of the arguments. Fails with an error where they
  /// show two symbols or an expression. Without bindings every `?` is taken to
  /// be one symbol.
  static FailureOr<SymbolicSize> find(func::FuncOp function);

  /// The bounds as attributes of a fusible; null where there are none.
  IntegerAttr getMin(Builder &builder);
  IntegerAttr getMax(Builder &builder);

private:
  torch::SymbolicIntOp symbol;
};

} // namespace mlir::fuseops

#endif // FUSEOPS_CONVERSION_TORCHTOFUSEOPS_SYMBOLICSIZE_H
