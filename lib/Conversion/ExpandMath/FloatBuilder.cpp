//===- FloatBuilder.cpp - Arithmetic on f32 scalars or vectors ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::fuseops;

FloatBuilder::FloatBuilder(OpBuilder &builder, Location loc, Type type,
                           MathTarget target)
    : builder(builder), loc(loc), floatType(type), target(target) {
  intType = typeLike(builder.getI32Type());
}

Type FloatBuilder::typeLike(Type element) const {
  if (auto vector = dyn_cast<VectorType>(floatType))
    return vector.clone(element);
  return element;
}

static Value splat(OpBuilder &builder, Location loc, Type type,
                   TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(vector, Attribute(element)));
  return arith::ConstantOp::create(builder, loc, element);
}

Value FloatBuilder::constant(float value) {
  return splat(builder, loc, floatType, builder.getF32FloatAttr(value));
}

Value FloatBuilder::constantInt(uint32_t value) {
  return splat(builder, loc, intType,
               builder.getI32IntegerAttr(static_cast<int32_t>(value)));
}

Value FloatBuilder::add(Value a, Value b) {
  return arith::AddFOp::create(builder, loc, a, b);
}
Value FloatBuilder::sub(Value a, Value b) {
  return arith::SubFOp::create(builder, loc, a, b);
}
Value FloatBuilder::mul(Value a, Value b) {
  return arith::MulFOp::create(builder, loc, a, b);
}
Value FloatBuilder::div(Value a, Value b) {
  return arith::DivFOp::create(builder, loc, a, b);
}
Value FloatBuilder::negate(Value x) {
  return arith::NegFOp::create(builder, loc, x);
}
Value FloatBuilder::fma(Value a, Value b, Value c) {
  return math::FmaOp::create(builder, loc, a, b, c);
}

Value FloatBuilder::polynomial(Value x, ArrayRef<float> coefficients) {
  Value sum = constant(coefficients.back());
  for (float coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, constant(coefficient));
  return sum;
}

Value FloatBuilder::intAdd(Value a, Value b) {
  return arith::AddIOp::create(builder, loc, a, b);
}
Value FloatBuilder::intSub(Value a, Value b) {
  return arith::SubIOp::create(builder, loc, a, b);
}
Value FloatBuilder::intAnd(Value a, Value b) {
  return arith::AndIOp::create(builder, loc, a, b);
}
Value FloatBuilder::intOr(Value a, Value b) {
  return arith::OrIOp::create(builder, loc, a, b);
}
Value FloatBuilder::shiftLeft(Value a, unsigned bits) {
  return arith::ShLIOp::create(builder, loc, a, constantInt(bits));
}
Value FloatBuilder::shiftRightSigned(Value a, unsigned bits) {
  return arith::ShRSIOp::create(builder, loc, a, constantInt(bits));
}
Value FloatBuilder::toFloat(Value integer) {
  return arith::SIToFPOp::create(builder, loc, floatType, integer);
}

Value FloatBuilder::bits(Value value) {
  return arith::BitcastOp::create(builder, loc, intType, value);
}
Value FloatBuilder::fromBits(Value integer) {
  return arith::BitcastOp::create(builder, loc, floatType, integer);
}

Value FloatBuilder::abs(Value x) {
  return math::AbsFOp::create(builder, loc, x);
}
Value FloatBuilder::copySign(Value magnitude, Value sign) {
  return math::CopySignOp::create(builder, loc, magnitude, sign);
}

Value FloatBuilder::compare(arith::CmpFPredicate predicate, Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, predicate, a, b);
}
Value FloatBuilder::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}

// One instruction each: min.NaN and max.NaN on a CUDA chip; minps and maxps on
// x86, which give their second operand where either is NaN.
Value FloatBuilder::clampAbove(Value x, float limit) {
  Value bound = constant(limit);
  if (isNVVM())
    return arith::MinimumFOp::create(builder, loc, x, bound);
  return select(compare(arith::CmpFPredicate::OLT, bound, x), bound, x);
}
Value FloatBuilder::clampBelow(Value x, float limit) {
  Value bound = constant(limit);
  if (isNVVM())
    return arith::MaximumFOp::create(builder, loc, x, bound);
  return select(compare(arith::CmpFPredicate::OGT, bound, x), bound, x);
}

Value FloatBuilder::mapElements(Value x, function_ref<Value(Value)> apply) {
  auto vector = dyn_cast<VectorType>(x.getType());
  if (!vector)
    return apply(x);
  auto elements = vector::ToElementsOp::create(builder, loc, x);
  SmallVector<Value> results;
  for (Value element : elements.getResults())
    results.push_back(apply(element));
  return vector::FromElementsOp::create(builder, loc, vector, results);
}

Value FloatBuilder::approximateExp2(Value x) {
  return mapElements(x, [&](Value element) -> Value {
    return LLVM::Exp2Op::create(builder, loc, element);
  });
}

Value FloatBuilder::approximateNormalExp2(Value x) {
  return callIntrinsic("llvm.nvvm.ex2.approx.ftz", x);
}

Value FloatBuilder::approximateReciprocal(Value x) {
  return mapElements(x, [&](Value element) -> Value {
    return NVVM::RcpApproxFtzF32Op::create(builder, loc, element.getType(),
                                           element);
  });
}

Value FloatBuilder::approximateRsqrt(Value x) {
  return callIntrinsic("llvm.nvvm.rsqrt.approx.f", x);
}

Value FloatBuilder::callIntrinsic(StringRef name, Value x) {
  StringAttr attr = builder.getStringAttr(name);
  return mapElements(x, [&](Value element) -> Value {
    return LLVM::CallIntrinsicOp::create(builder, loc, element.getType(), attr,
                                         ValueRange{element})
        .getResult(0);
  });
}

Value FloatBuilder::quickDivide(Value a, Value b) {
  return isNVVM() ? mul(a, approximateReciprocal(b)) : div(a, b);
}
