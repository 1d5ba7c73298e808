//===- ScalarMath.cpp - Scalar expressions, as readable C++ ---------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/ScalarMath.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::fuseops;

Value ScalarMath::constant(double value) {
  TypedAttr attr = builder.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(builder, loc, attr);
}
Value ScalarMath::add(Value a, Value b) {
  return arith::AddFOp::create(builder, loc, a, b);
}
Value ScalarMath::sub(Value a, Value b) {
  return arith::SubFOp::create(builder, loc, a, b);
}
Value ScalarMath::mul(Value a, Value b) {
  return arith::MulFOp::create(builder, loc, a, b);
}
Value ScalarMath::div(Value a, Value b) {
  return arith::DivFOp::create(builder, loc, a, b);
}
Value ScalarMath::neg(Value a) {
  return arith::NegFOp::create(builder, loc, a);
}
Value ScalarMath::fma(Value a, Value b, Value c) {
  return math::FmaOp::create(builder, loc, a, b, c);
}
Value ScalarMath::polynomial(Value x, ArrayRef<double> coefficients) {
  Value sum = constant(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, constant(coefficient));
  return sum;
}

Value ScalarMath::abs(Value a) { return math::AbsFOp::create(builder, loc, a); }
Value ScalarMath::copySign(Value magnitude, Value sign) {
  return math::CopySignOp::create(builder, loc, magnitude, sign);
}
Value ScalarMath::floor(Value a) {
  return math::FloorOp::create(builder, loc, a);
}
Value ScalarMath::ceil(Value a) {
  return math::CeilOp::create(builder, loc, a);
}
Value ScalarMath::trunc(Value a) {
  return math::TruncOp::create(builder, loc, a);
}
Value ScalarMath::roundEven(Value a) {
  return math::RoundEvenOp::create(builder, loc, a);
}

Value ScalarMath::exp(Value a) { return math::ExpOp::create(builder, loc, a); }
Value ScalarMath::exp2(Value a) {
  return math::Exp2Op::create(builder, loc, a);
}
Value ScalarMath::expm1(Value a) {
  return math::ExpM1Op::create(builder, loc, a);
}
Value ScalarMath::log(Value a) { return math::LogOp::create(builder, loc, a); }
Value ScalarMath::log2(Value a) {
  return math::Log2Op::create(builder, loc, a);
}
Value ScalarMath::log1p(Value a) {
  return math::Log1pOp::create(builder, loc, a);
}
Value ScalarMath::pow(Value a, Value b) {
  return math::PowFOp::create(builder, loc, a, b);
}
Value ScalarMath::sin(Value a) { return math::SinOp::create(builder, loc, a); }
Value ScalarMath::cos(Value a) { return math::CosOp::create(builder, loc, a); }
Value ScalarMath::tanh(Value a) {
  return math::TanhOp::create(builder, loc, a);
}
Value ScalarMath::erf(Value a) { return math::ErfOp::create(builder, loc, a); }
Value ScalarMath::erfc(Value a) {
  return math::ErfcOp::create(builder, loc, a);
}
Value ScalarMath::rsqrt(Value a) {
  return math::RsqrtOp::create(builder, loc, a);
}
Value ScalarMath::sqrt(Value a) {
  return math::SqrtOp::create(builder, loc, a);
}

Value ScalarMath::maximum(Value a, Value b) {
  return arith::MaximumFOp::create(builder, loc, a, b);
}
Value ScalarMath::minimum(Value a, Value b) {
  return arith::MinimumFOp::create(builder, loc, a, b);
}
Value ScalarMath::sigmoid(Value a) {
  // exp(-|a|) cannot overflow, so that the result is exact in relative terms
  // for very negative a, where 1 / (1 + exp(-a)) is 0 too early. A select, not
  // an absolute value: that has the derivative 0 at 0.
  Value isPositive = compare(Predicate::OGE, a, constant(0.0));
  Value small = exp(select(isPositive, neg(a), a));
  Value one = constant(1.0);
  Value numerator = select(isPositive, one, small);
  // The denominator is in [1, 2], where CUDA's approximate division is within
  // 2 ulp and costs a fraction of the exact one.
  return arith::DivFOp::create(builder, loc, numerator, add(one, small),
                               arith::FastMathFlags::afn);
}

Value ScalarMath::compare(Predicate predicate, Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, predicate, a, b);
}
Value ScalarMath::both(Value a, Value b) {
  return arith::AndIOp::create(builder, loc, a, b);
}
Value ScalarMath::either(Value a, Value b) {
  return arith::OrIOp::create(builder, loc, a, b);
}
Value ScalarMath::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}

Value ScalarMath::convert(Value a) {
  return convertFloat(builder, loc, a, type);
}

Value mlir::fuseops::convertFloat(OpBuilder &builder, Location loc, Value value,
                                  Type type) {
  if (value.getType() == type)
    return value;
  if (getElementTypeOrSelf(value).getIntOrFloatBitWidth() <
      getElementTypeOrSelf(type).getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, type, value);
  return arith::TruncFOp::create(builder, loc, type, value);
}
