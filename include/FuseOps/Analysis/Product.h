//===- Product.h - A contraction as its kernel sees it --------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_ANALYSIS_PRODUCT_H
#define FUSEOPS_ANALYSIS_PRODUCT_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"

namespace mlir::fuseops {

/// result[m, n] = sum over k of a[m, k] * b[n, k], times the scales, plus
/// bias[n]. Of a grouped product each group of the rows of a meets a matrix b
/// of its own, or each group of contracted rows gives a result of its own.
struct Product {
  struct Operand {
    Value tensor;
    /// Whether the elements that are contracted lie side by side; else the
    /// operand is stored [k, m] or [k, n].
    bool isKMajor = true;
    /// Of FP8: what its values are multiplied by, and what one scale covers.
    Value scale;
    ScaleKind scaleKind = ScaleKind::PerTensor;

    /// Whether the scale changes along what is contracted.
    bool isBlockScaled() const {
      return scale && scaleKind != ScaleKind::PerTensor &&
             scaleKind != ScaleKind::PerRow;
    }
    Type getElementType() const {
      return cast<RankedTensorType>(tensor.getType()).getElementType();
    }
  };

  Operation *op = nullptr;
  Operand a, b;
  Value bias; ///< null where there is none
  Extent m, k;
  int64_t n = 0;
  /// Of a grouped product: how many rows each group has; else null.
  Value sizes;
  int64_t numGroups = 1;
  /// Whether the rows of a group are contracted: then m is of one group.
  bool contractsGroups = false;
  /// The tensor cores may add FP8 in less than f32.
  bool fastAccumulate = false;

  bool isGrouped() const { return static_cast<bool>(sizes); }
  Value getResult() const { return op->getResult(0); }
  /// Whether what a stage gives is scaled and added in f32 by itself.
  bool isPromoted() const {
    return getElementBytes(a.getElementType()) == 1 &&
           (a.isBlockScaled() || b.isBlockScaled() || !fastAccumulate);
  }

  /// Nothing where `op` is no contraction of two matrices.
  static std::optional<Product> get(Operation *op);

  /// What the `gemm` template expects of the product and does not find; empty
  /// where it can make it.
  StringRef findFault() const;
  /// Whether an operand has rows of `?` elements. The `gemm` template takes
  /// only multiples of 16 bytes, and no other is launched.
  bool hasOpenRows() const;
};

} // namespace mlir::fuseops

#endif // FUSEOPS_ANALYSIS_PRODUCT_H
