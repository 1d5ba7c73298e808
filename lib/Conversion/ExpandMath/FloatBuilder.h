//===- FloatBuilder.h - Arithmetic on f32 scalars or vectors --------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_EXPANDMATH_FLOATBUILDER_H
#define FUSEOPS_LIB_CONVERSION_EXPANDMATH_FLOATBUILDER_H

#include "FuseOps/Conversion/ExpandMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::fuseops {

/// Builds f32 and i32 operations on values of one shape: scalars, or vectors
/// where every operation is elementwise.
class FloatBuilder {
public:
  /// `type` is f32 or a vector of f32; operations get the location `loc`.
  FloatBuilder(OpBuilder &builder, Location loc, Type type, MathTarget target);

  /// True for a CUDA chip.
  bool isNVVM() const { return target == MathTarget::NVVM; }
  /// The underlying builder.
  OpBuilder &getBuilder() { return builder; }
  /// The location of every operation.
  Location getLoc() const { return loc; }
  /// The type of the values: f32 or a vector of it.
  Type getType() const { return floatType; }
  /// `element`, or the vector of `element` with the shape of the values.
  Type typeLike(Type element) const;

  /// A constant of every element.
  Value constant(float value);
  /// An integer constant of every element.
  Value constantInt(uint32_t value);

  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value div(Value a, Value b);
  Value negate(Value x);
  /// a * b + c with one rounding.
  Value fma(Value a, Value b, Value c);
  /// Coefficients from the constant term up, by Horner's rule.
  Value polynomial(Value x, ArrayRef<float> coefficients);

  Value intAdd(Value a, Value b);
  Value intSub(Value a, Value b);
  Value intAnd(Value a, Value b);
  Value intOr(Value a, Value b);
  Value shiftLeft(Value a, unsigned bits);
  Value shiftRightSigned(Value a, unsigned bits);
  Value toFloat(Value integer);

  /// The bits of a float and the float of bits.
  Value bits(Value value);
  Value fromBits(Value integer);
  /// |x|, by its bits.
  Value abs(Value x);
  /// |magnitude| with the sign of `sign`.
  Value copySign(Value magnitude, Value sign);

  Value compare(arith::CmpFPredicate predicate, Value a, Value b);
  Value select(Value condition, Value a, Value b);
  /// min(x, limit) and max(x, limit) that keep a NaN x.
  Value clampAbove(Value x, float limit);
  Value clampBelow(Value x, float limit);

  /// 2^x and 1/x as a CUDA chip approximates them: about 2 ulp, NVVM only.
  Value approximateExp2(Value x);
  /// The same bits where x >= -126 or NaN, 0 below: the instruction alone,
  /// without the scaling around it that gives denormal results.
  Value approximateNormalExp2(Value x);
  Value approximateReciprocal(Value x);
  Value approximateRsqrt(Value x);
  /// a / b: IEEE on the CPU, by the reciprocal on a CUDA chip.
  Value quickDivide(Value a, Value b);

private:
  /// Applies a scalar operation to every element.
  Value mapElements(Value x, function_ref<Value(Value)> apply);
  Value callIntrinsic(StringRef name, Value x);

  OpBuilder &builder;
  Location loc;
  Type floatType;
  Type intType;
  MathTarget target;
};

/// sin(x), or cos(x), of any finite x.
Value expandSinCos(FloatBuilder &b, Value x, bool isCosine);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_EXPANDMATH_FLOATBUILDER_H
