//===- ScalarMath.h - Scalar expressions that decompositions are written in
//===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_SCALARMATH_H
#define FUSEOPS_DIALECT_FUSEOPS_SCALARMATH_H

#include "mlir/IR/Builders.h"

namespace mlir::fuseops {

/// Writes scalar floating-point expressions at one place: a thin, readable
/// layer over `arith` and `math`. All values of one expression have one type.
class ScalarMath {
public:
  ScalarMath(OpBuilder &builder, Location loc, Type type)
      : builder(builder), loc(loc), type(type) {}

  Value constant(double value);
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value div(Value a, Value b);
  Value neg(Value a);
  Value abs(Value a);
  Value exp(Value a);
  Value tanh(Value a);
  Value erfc(Value a);
  Value rsqrt(Value a);
  Value sqrt(Value a);
  /// NaN if either is NaN, as PyTorch.
  Value maximum(Value a, Value b);
  Value minimum(Value a, Value b);
  /// 1 / (1 + exp(-a)), right in both tails.
  Value sigmoid(Value a);
  /// `a` widened or narrowed to this expression's type; rounds when narrowing.
  Value convert(Value a);

  OpBuilder &builder;
  Location loc;
  Type type;
};

/// Converts a scalar float to `type`, rounding once when narrowing.
Value convertFloat(OpBuilder &builder, Location loc, Value value, Type type);

} // namespace mlir::fuseops

#endif // FUSEOPS_DIALECT_FUSEOPS_SCALARMATH_H
