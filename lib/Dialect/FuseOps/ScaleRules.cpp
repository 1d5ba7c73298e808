//===- ScaleRules.cpp - How an FP8 scale comes from an amax --------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScaleRules.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"

#include <limits>

using namespace mlir;
using namespace mlir::fuseops;

double mlir::fuseops::getMaxValue(Type format) {
  return APFloat::getLargest(cast<FloatType>(format).getFloatSemantics())
      .convertToDouble();
}

static constexpr uint32_t kExponent = 0xFF800000, kMantissa = 0x007FFFFF;
// 1, infinity, 2^127 and 2^-127, which is subnormal.
static constexpr uint32_t kOne = 0x3F800000, kInfinity = 0x7F800000;
static constexpr uint32_t kLargestPower = 0x7F000000;
static constexpr uint32_t kSmallestPower = 0x00400000;

namespace {
/// The bits of f32 numbers as integers.
struct Bits {
  Value constant(uint32_t value) {
    return arith::ConstantOp::create(
        b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value of(Value f32) {
    return arith::BitcastOp::create(b, loc, b.getI32Type(), f32);
  }
  Value toFloat(Value bits) {
    return arith::BitcastOp::create(b, loc, b.getF32Type(), bits);
  }
  /// Without its mantissa: rounded down to a power of two.
  Value mask(Value bits) {
    return arith::AndIOp::create(b, loc, bits, constant(kExponent));
  }
  Value add(Value a, Value c) { return arith::AddIOp::create(b, loc, a, c); }
  Value sub(Value a, Value c) { return arith::SubIOp::create(b, loc, a, c); }

  OpBuilder &b;
  Location loc;
};
} // namespace

/// The bits of numerator / amax, rounded down to a power of two and at most
/// 2^127, of a usable amax: one less than the difference of the exponents where
/// amax has the larger mantissa. No quotient rounds up to a power of two: it is
/// less than that by 2^-24 of it at least, which f32 holds.
static Value buildPowerOfTwo(Bits &bits, Value amax, uint32_t numerator) {
  Value carry = bits.constant(kMantissa - (numerator & kMantissa));
  Value exponent = bits.mask(bits.add(amax, carry));
  Value difference =
      bits.sub(bits.constant((numerator & kExponent) + kOne), exponent);
  return arith::MinUIOp::create(bits.b, bits.loc, difference,
                                bits.constant(kLargestPower)); // fp8_s2
}

/// Whether all quotients of `numerator` by finite numbers are normal.
static bool hasNormalQuotients(uint32_t numerator) {
  return numerator >= kOne + 2 * (kMantissa + 1);
}

Value mlir::fuseops::buildPowerInverse(ScalarMath &m, Value scale) {
  Bits bits{m.builder, m.loc};
  Value inverse = bits.sub(bits.constant(kLargestPower), bits.of(scale));
  return bits.toFloat(arith::MaxUIOp::create(m.builder, m.loc, inverse,
                                             bits.constant(kSmallestPower)));
}

Value mlir::fuseops::buildScale(ScalarMath &m, Value amax,
                                const ScaleRule &rule, Value otherwise) {
  if (rule.epsilon > 0.0)
    amax = m.maximum(amax, m.constant(rule.epsilon)); // fp8_s4
  uint32_t numerator =
      llvm::bit_cast<uint32_t>(static_cast<float>(rule.numerator));
  if (rule.powerOfTwo && hasNormalQuotients(numerator)) { // fp8_s3
    Bits bits{m.builder, m.loc};
    Value code = bits.of(amax);
    Value scale = bits.toFloat(buildPowerOfTwo(bits, code, numerator));
    // Positive and finite.
    Value isUsable = arith::CmpIOp::create(
        m.builder, m.loc, arith::CmpIPredicate::ult,
        bits.sub(code, bits.constant(1)), bits.constant(kInfinity - 1));
    return m.select(isUsable, scale, otherwise); // fp8_s1, fp8_h3
  }
  Value infinity = m.constant(std::numeric_limits<double>::infinity());
  Value scale = m.div(m.constant(rule.numerator), amax);
  Value largest = m.constant(std::numeric_limits<float>::max());
  scale = m.select(m.equal(scale, infinity), largest, scale); // fp8_s2
  if (rule.powerOfTwo) {                                      // fp8_s3
    Bits bits{m.builder, m.loc};
    scale = bits.toFloat(bits.mask(bits.of(scale)));
  }
  Value isUsable =
      m.both(m.greater(amax, m.constant(0.0)), m.less(amax, infinity));
  return m.select(isUsable, scale, otherwise); // fp8_s1, fp8_h3
}

// fp8_s5: the smallest power of two that is no smaller than amax / largest.
Value mlir::fuseops::buildMXScaleInverse(ScalarMath &m, Value amax,
                                         Type format) {
  OpBuilder &b = m.builder;
  Location l = m.loc;
  Bits bits{b, l};
  Value quotient = m.div(amax, m.constant(getMaxValue(format)));
  // Adding all ones to the mantissa carries into the exponent unless it is 0.
  Value code = bits.of(quotient);
  Value up =
      bits.mask(arith::AddIOp::create(b, l, code, bits.constant(kMantissa)));
  // 2^-127, the smallest that E8M0 holds, is an f32 subnormal.
  Value smallest = bits.constant(kSmallestPower);
  Value isSmall =
      arith::CmpIOp::create(b, l, arith::CmpIPredicate::ule, code, smallest);
  up = arith::SelectOp::create(b, l, isSmall, smallest, up);
  // An infinite amax gives the largest that E8M0 holds, 2^127.
  up = arith::MinUIOp::create(b, l, up, bits.constant(kLargestPower));
  return m.select(m.isNaN(amax), amax, bits.toFloat(up));
}

Value mlir::fuseops::buildClamp(ScalarMath &m, Value x, Type format) {
  double largest = getMaxValue(format);
  return m.minimum(m.maximum(x, m.constant(-largest)), // fp8_r2, fp8_r3
                   m.constant(largest));
}
