//===- ExpandTrigonometry.cpp - Sine and cosine of f32 --------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

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

/// Integer arithmetic on the values' shape.
struct Integers {
  OpBuilder &b;
  Location loc;
  Type type;

  Value constant(uint64_t value) {
    TypedAttr element = b.getIntegerAttr(
        getElementTypeOrSelf(type),
        APInt(getElementTypeOrSelf(type).getIntOrFloatBitWidth(), value));
    if (auto vector = dyn_cast<VectorType>(type))
      element = DenseElementsAttr::get(vector, Attribute(element));
    return arith::ConstantOp::create(b, loc, element);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
  Value bitAnd(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  Value bitOr(Value x, Value y) { return arith::OrIOp::create(b, loc, x, y); }
  Value left(Value x, Value n) { return arith::ShLIOp::create(b, loc, x, n); }
  Value right(Value x, Value n) { return arith::ShRUIOp::create(b, loc, x, n); }
  Value isBelow(Value x, uint64_t limit) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x,
                                 constant(limit));
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
};

// The bits of 2/pi behind the point.
constexpr uint64_t kTwoOverPi[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                   0xf534ddc0, 0xdb629599, 0x3c439041,
                                   0xfe5163ab, 0xdebbc561};

/// Of |x| >= 2^51 by Payne and Hanek's way: x = m 2^e, and the bits of 2/pi
/// that m 2^e shifts beyond 4 quadrants count for nothing. The next 96, times
/// m, are the quadrants to 2^-62.
Reduced reduceHuge(FloatBuilder &b, Value x) {
  OpBuilder &builder = b.getBuilder();
  Location loc = b.getLoc();
  Integers i{builder, loc, b.typeLike(builder.getI64Type())};
  auto c = [&](uint64_t value) { return i.constant(value); };
  Value bits = arith::ExtUIOp::create(builder, loc, i.type, b.bits(b.abs(x)));
  Value mantissa = i.bitOr(i.bitAnd(bits, c(0x7fffff)), c(0x800000));
  // e - 2 bits count for nothing; 24 bits of the mantissa are before its point.
  Value skipped = i.sub(i.right(bits, c(23)), c(152));
  Value shift = i.bitAnd(skipped, c(31));
  // Word k of the window, from the two words of 2/pi that it lies in.
  auto word = [&](unsigned k) {
    auto pair = [&](unsigned first) {
      return c(kTwoOverPi[first + k] << 32 | kTwoOverPi[first + k + 1]);
    };
    Value chosen = pair(3);
    for (unsigned first : {2u, 1u, 0u})
      chosen =
          i.select(i.isBelow(skipped, 32 * (first + 1)), pair(first), chosen);
    return i.right(i.left(chosen, shift), c(32));
  };
  Value product = i.left(i.mul(mantissa, word(0)), c(32));
  product = i.add(product, i.mul(mantissa, word(1)));
  product = i.add(product, i.right(i.mul(mantissa, word(2)), c(32)));
  // The nearest quadrant, and what is left, signed.
  Value quadrant = i.right(i.add(product, c(uint64_t(1) << 61)), c(62));
  Value rest = i.sub(product, i.left(quadrant, c(62)));
  Type f64 = b.typeLike(builder.getF64Type());
  Value r = arith::SIToFPOp::create(builder, loc, f64, rest);
  r = arith::MulFOp::create(builder, loc, r,
                            constantF64(b, 0x1.921fb54442d18p-62));
  Value remainder = arith::TruncFOp::create(builder, loc, b.getType(), r);
  Value isNegative = b.compare(arith::CmpFPredicate::OLT, x, b.constant(0.0f));
  quadrant = i.select(isNegative, i.sub(c(0), quadrant), quadrant);
  quadrant = arith::TruncIOp::create(
      builder, loc, b.typeLike(builder.getI32Type()), quadrant);
  return {b.select(isNegative, b.negate(remainder), remainder), quadrant};
}

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
  Value remainder = arith::TruncFOp::create(builder, loc, b.getType(), r);

  // Further out the products are not exact: a branch that is hardly ever taken.
  Value isHuge =
      b.compare(arith::CmpFPredicate::OGE, b.abs(x), b.constant(0x1p+51f));
  Value isAnyHuge = isHuge;
  if (isa<VectorType>(x.getType()))
    isAnyHuge = vector::ReductionOp::create(builder, loc,
                                            vector::CombiningKind::OR, isHuge);
  auto branch = scf::IfOp::create(
      builder, loc, TypeRange{remainder.getType(), quadrant.getType()},
      isAnyHuge, /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Reduced huge = reduceHuge(b, x);
  scf::YieldOp::create(
      builder, loc,
      {b.select(isHuge, huge.remainder, remainder),
       arith::SelectOp::create(builder, loc, isHuge, huge.quadrant, quadrant)});
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, {remainder, quadrant});
  return {branch.getResult(0), branch.getResult(1)};
}

} // namespace

Value mlir::fuseops::expandSinCos(FloatBuilder &b, Value x, bool isCosine) {
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
  Value isFinite =
      b.compare(arith::CmpFPredicate::OLT, b.abs(x),
                b.constant(std::numeric_limits<float>::infinity()));
  value = b.select(isFinite, value,
                   b.constant(std::numeric_limits<float>::quiet_NaN()));
  if (isCosine)
    return value;
  // Keeps -0, and x itself where x^3 no longer counts.
  Value isTiny =
      b.compare(arith::CmpFPredicate::OLT, b.abs(x), b.constant(0x1p-13f));
  return b.select(isTiny, x, value);
}
