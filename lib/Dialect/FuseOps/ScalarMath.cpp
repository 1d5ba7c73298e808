//===- ScalarMath.cpp - Scalar expressions that decompositions are written in
//===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::fuseops;

Value ScalarMath::constant(double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, value));
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
Value ScalarMath::abs(Value a) { return math::AbsFOp::create(builder, loc, a); }
Value ScalarMath::exp(Value a) { return math::ExpOp::create(builder, loc, a); }
Value ScalarMath::tanh(Value a) {
  return math::TanhOp::create(builder, loc, a);
}
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
  // for very negative a, where 1 / (1 + exp(-a)) is 0 too early.
  Value small = exp(neg(abs(a)));
  Value one = constant(1.0);
  Value isPositive = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::OGE, a, constant(0.0));
  Value numerator =
      arith::SelectOp::create(builder, loc, isPositive, one, small);
  // The denominator is in [1, 2], where CUDA's approximate division is within
  // 2 ulp and costs a fraction of the exact one.
  return arith::DivFOp::create(builder, loc, numerator, add(one, small),
                               arith::FastMathFlags::afn);
}
Value ScalarMath::convert(Value a) {
  return convertFloat(builder, loc, a, type);
}

Value mlir::fuseops::convertFloat(OpBuilder &builder, Location loc, Value value,
                                  Type type) {
  unsigned from = value.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (value.getType() == type)
    return value;
  if (from < to)
    return arith::ExtFOp::create(builder, loc, type, value);
  return arith::TruncFOp::create(builder, loc, type, value);
}
