//===- ScalarMath.h - Scalar expressions, as readable C++ -----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_SCALARMATH_H
#define FUSEOPS_DIALECT_FUSEOPS_SCALARMATH_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace mlir::fuseops {

/// Writes floating-point expressions at one place: a thin, readable layer over
/// `arith` and `math`. All values of one expression have one type: a float, or
/// a vector of floats. What PyTorch has beyond these is in SpecialFunctions.h.
class ScalarMath {
public:
  using Predicate = arith::CmpFPredicate;

  ScalarMath(OpBuilder &builder, Location loc, Type type)
      : builder(builder), loc(loc), type(type) {}

  Value constant(double value);
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value div(Value a, Value b);
  Value neg(Value a);
  Value square(Value a) { return mul(a, a); }
  Value reciprocal(Value a) { return div(constant(1.0), a); }
  /// a * b + c with one rounding.
  Value fma(Value a, Value b, Value c);
  /// Coefficients from the constant term up, by Horner's rule.
  Value polynomial(Value x, ArrayRef<double> coefficients);

  Value abs(Value a);
  /// |magnitude| with the sign of `sign`, also of a zero or NaN.
  Value copySign(Value magnitude, Value sign);
  Value floor(Value a);
  Value ceil(Value a);
  Value trunc(Value a);
  /// To the nearest integer, halves to the even one.
  Value roundEven(Value a);

  Value exp(Value a);
  Value exp2(Value a);
  Value expm1(Value a);
  Value log(Value a);
  Value log2(Value a);
  Value log1p(Value a);
  Value pow(Value a, Value b);
  Value sin(Value a);
  Value cos(Value a);
  Value tanh(Value a);
  Value erf(Value a);
  Value erfc(Value a);
  Value rsqrt(Value a);
  Value sqrt(Value a);

  /// NaN if either is NaN, as PyTorch.
  Value maximum(Value a, Value b);
  Value minimum(Value a, Value b);
  /// 1 / (1 + exp(-a)), right in both tails.
  Value sigmoid(Value a);

  /// A bool; false for NaN but with the unordered predicates.
  Value compare(Predicate predicate, Value a, Value b);
  Value less(Value a, Value b) { return compare(Predicate::OLT, a, b); }
  Value greater(Value a, Value b) { return compare(Predicate::OGT, a, b); }
  Value equal(Value a, Value b) { return compare(Predicate::OEQ, a, b); }
  Value isNaN(Value a) { return compare(Predicate::UNO, a, a); }
  /// Of bools.
  Value both(Value a, Value b);
  Value either(Value a, Value b);
  Value select(Value condition, Value a, Value b);

  /// `a` widened or narrowed to this expression's type; rounds when narrowing.
  Value convert(Value a);

  OpBuilder &builder;
  Location loc;
  Type type;
};

/// Converts a float, or a vector of them, to `type`, rounding once when
/// narrowing.
Value convertFloat(OpBuilder &builder, Location loc, Value value, Type type);

} // namespace mlir::fuseops

#endif // FUSEOPS_DIALECT_FUSEOPS_SCALARMATH_H
