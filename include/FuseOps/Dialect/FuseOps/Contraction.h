//===- Contraction.h - Linear layers and matrix products as one ----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_CONTRACTION_H
#define FUSEOPS_DIALECT_FUSEOPS_CONTRACTION_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"

namespace mlir::fuseops {

/// A `linear` or `matmul`: `op(lhs) * op(rhs)`, plus a bias that may be null.
struct Contraction {
  Value lhs, rhs, bias;
  bool transposeLhs = false, transposeRhs = false;
  bool fastAccumulate = false;

  /// Nothing where `op` is another operation.
  static std::optional<Contraction> get(Operation *op);

  /// Whether a quantized operand is read from its row copy, else from its
  /// transposed one: the copy in which the contracted elements lie side by
  /// side.
  bool readsRowCopyOfLhs() const { return !transposeLhs; }
  bool readsRowCopyOfRhs() const { return transposeRhs; }
};

} // namespace mlir::fuseops

#endif // FUSEOPS_DIALECT_FUSEOPS_CONTRACTION_H
