//===- ScaleRules.cpp - How an FP8 scale comes from an amax --------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScaleRules.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"

#include <limits>

using namespace mlir;
using namespace mlir::fuseops;

double mlir::fuseops::getMaxValue(Type format) {
  return APFloat::getLargest(cast<FloatType>(format).getFloatSemantics())
      .convertToDouble();
}

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
    return arith::AndIOp::create(b, loc, bits, constant(0xFF800000));
  }

  OpBuilder &b;
  Location loc;
};
} // namespace

Value mlir::fuseops::buildScale(ScalarMath &m, Value amax,
                                const ScaleRule &rule, Value otherwise) {
  if (rule.epsilon > 0.0)
    amax = m.maximum(amax, m.constant(rule.epsilon)); // fp8_s4
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
      bits.mask(arith::AddIOp::create(b, l, code, bits.constant(0x7FFFFF)));
  // 2^-127, the smallest that E8M0 holds, is an f32 subnormal.
  Value smallest = bits.constant(0x00400000);
  Value isSmall =
      arith::CmpIOp::create(b, l, arith::CmpIPredicate::ule, code, smallest);
  up = arith::SelectOp::create(b, l, isSmall, smallest, up);
  // An infinite amax gives the largest that E8M0 holds, 2^127.
  up = arith::MinUIOp::create(b, l, up, bits.constant(0x7F000000));
  return m.select(m.isNaN(amax), amax, bits.toFloat(up));
}

Value mlir::fuseops::buildClamp(ScalarMath &m, Value x, Type format) {
  double largest = getMaxValue(format);
  return m.minimum(m.maximum(x, m.constant(-largest)), // fp8_r2, fp8_r3
                   m.constant(largest));
}
