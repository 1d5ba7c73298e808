//===- ExpandTrigonometry.cpp - Sine and cosine for CUDA chips ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace mlir::fuseops;

namespace {

// (sin(r) / r - 1) / r^2 in r^2, and (cos(r) - 1 + r^2 / 2) / r^4 in r^2, for
// |r| <= pi/4, to 2^-32.
constexpr float kSin[] = {-0x1.555556p-3f, 0x1.111164p-7f, -0x1.a04852p-13f,
                          0x1.77d802p-19f};
constexpr float kCos[] = {0x1.55554ap-5f, -0x1.6c0c26p-10f, 0x1.99e71cp-16f};

Value constantF64(FloatBuilder &b, double value) {
  OpBuilder &builder = b.getBuilder();
  Type type = b.typeLike(builder.getF64Type());
  auto element = builder.getF64FloatAttr(value);
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(
        builder, b.getLoc(),
        DenseElementsAttr::get(vector, Attribute(element)));
  return arith::ConstantOp::create(builder, b.getLoc(), element);
}

/// x = quadrant * pi/2 + remainder.
struct Reduced {
  Value remainder;
  Value quadrant;
};

/// In f64 with pi/2 in two parts: the remainder is right to 2^-56 up to
/// |x| = 2^51, where an f32 reduction has nothing right beyond 2^17.
Reduced reduceByHalfPi(FloatBuilder &b, Value x) {
  OpBuilder &builder = b.getBuilder();
  Location loc = b.getLoc();
  Type f64 = b.typeLike(builder.getF64Type());
  Value wide = arith::ExtFOp::create(builder, loc, f64, x);
  Value magic = constantF64(b, 0x1.8p+52);
  Value twoOverPi = constantF64(b, 0x1.45f306dc9c883p-1);
  Value shifted = math::FmaOp::create(builder, loc, wide, twoOverPi, magic);
  Value n = arith::SubFOp::create(builder, loc, shifted, magic);
  Value high = constantF64(b, -0x1.921fb54442d18p+0);
  Value low = constantF64(b, -0x1.1a62633145c07p-54);
  Value r = math::FmaOp::create(builder, loc, n, high, wide);
  r = math::FmaOp::create(builder, loc, n, low, r);
  Value bits = arith::BitcastOp::create(
      builder, loc, b.typeLike(builder.getI64Type()), shifted);
  Value quadrant = arith::TruncIOp::create(
      builder, loc, b.typeLike(builder.getI32Type()), bits);
  return {arith::TruncFOp::create(builder, loc, b.getType(), r), quadrant};
}

} // namespace

Value mlir::fuseops::expandSinCosNVVM(FloatBuilder &b, Value x, bool isCosine) {
  OpBuilder &builder = b.getBuilder();
  Location loc = b.getLoc();
  auto [r, quadrant] = reduceByHalfPi(b, x);
  if (isCosine)
    quadrant = b.intAdd(quadrant, b.constantInt(1));
  Value square = b.mul(r, r);
  Value sine = b.fma(b.mul(b.polynomial(square, kSin), square), r, r);
  Value cosine = b.fma(square, b.constant(-0.5f), b.constant(1.0f));
  cosine = b.fma(b.polynomial(square, kCos), b.mul(square, square), cosine);
  Value isOdd = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                      b.intAnd(quadrant, b.constantInt(1)),
                                      b.constantInt(0));
  Value value = b.select(isOdd, cosine, sine);
  Value sign = b.shiftLeft(b.intAnd(quadrant, b.constantInt(2)), 30);
  value = b.fromBits(arith::XOrIOp::create(builder, loc, b.bits(value), sign));
  Value isReducible =
      b.compare(arith::CmpFPredicate::OLT, b.abs(x), b.constant(0x1p+51f));
  value = b.select(isReducible, value,
                   b.constant(std::numeric_limits<float>::quiet_NaN()));
  if (isCosine)
    return value;
  // Keeps -0, and x itself where x^3 no longer counts.
  Value isTiny =
      b.compare(arith::CmpFPredicate::OLT, b.abs(x), b.constant(0x1p-13f));
  return b.select(isTiny, x, value);
}
