//===- ExpandMath.cpp - Expand f32 math functions into polynomials --------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Every function here is a range reduction, a polynomial fitted by weighted
// least squares on Chebyshev nodes (coefficients rounded to f32 one by one, the
// rest refitted), and a reconstruction. Errors in ulp against f64, from dense
// sweeps, are asserted in unittests/Target/MathAccuracyTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Conversion/ExpandMath.h"

#include "FloatBuilder.h"
#include "FuseOps/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <limits>

#define DEBUG_TYPE "fuseops-expand-math"

namespace mlir::fuseops {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "FuseOps/Conversion/Passes.h.inc"
} // namespace mlir::fuseops

using namespace mlir;
using namespace mlir::fuseops;
using Predicate = arith::CmpFPredicate;

namespace {

constexpr float kLog2E = 0x1.715476p+0f;
constexpr float kLog2ELow = 0x1.4ae0cp-26f;
constexpr float kLn2 = 0x1.62e43p-1f;
constexpr float kLn2Low = -0x1.05c61p-29f;
constexpr float kLog10E = 0x1.bcb7b2p-2f;
constexpr float kLog10ELow = -0x1.5b235ep-27f;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
// Adding 1.5 * 2^23 leaves a float's integer part in its low mantissa bits.
constexpr float kRoundingMagic = 0x1.8p+23f;
constexpr uint32_t kRoundingMagicBits = 0x4b400000;

// (expm1(r) - r) / r^2 on |r| <= ln(2)/2, to 2^-26.
constexpr float kExpm1[] = {0x1.fffffep-2f, 0x1.5554aap-3f, 0x1.55571cp-5f,
                            0x1.122becp-7f, 0x1.6b6f98p-10f};
// (2^r - 1) / r on |r| <= 1/2, to 2^-28.
constexpr float kExp2[] = {0x1.62e43p-1f,  0x1.ebfbd8p-3f,  0x1.c6af72p-5f,
                           0x1.3b309ep-7f, 0x1.5f0e94p-10f, 0x1.3fa9e2p-13f};
// (log1p(f) - f) / f^2 on |f| <= 1/3, to 2^-27.
constexpr float kLog1p[] = {-0x1p-1f,        0x1.5555p-2f,    -0x1.ffff6ap-3f,
                            0x1.99d268p-3f,  -0x1.55884ep-3f, 0x1.1eb8dep-3f,
                            -0x1.f56284p-4f, 0x1.1ee68ap-3f,  -0x1.03037ap-3f};
// erf(x) / x - 1 in x^2 for |x| <= 0.92, to 2^-26.
constexpr float kErfSmall[] = {0x1.06eba6p-3f, -0x1.8126e6p-2f,
                               0x1.ce1a62p-4f, -0x1.b68a22p-6f,
                               0x1.47332ap-8f, -0x1.39f316p-11f};
// log(erfc(x)) on [0.9, 4], so that 1 - exp(it) is erf to 2^-29.
constexpr float kErfLarge[] = {
    -0x1.44dd94p-13f, -0x1.20bab2p+0f, -0x1.461572p-1f, -0x1.aad052p-4f,
    0x1.6e5f06p-6f,   -0x1.9371eap-9f, 0x1.a2981cp-13f};
// exp(a^2) erfc(a) (1 + 2a) in (a - 2) / (a + 2) for 0 <= a <= 10.1, to 2^-25.
constexpr float kErfc[] = {0x1.46e80ep+0f,  -0x1.7bf618p-4f, -0x1.5407eep-3f,
                           0x1.4ffc62p-3f,  -0x1.bc1634p-5f, -0x1.0830e2p-7f,
                           0x1.1b5deep-7f,  0x1.5ae96p-10f,  -0x1.467046p-10f,
                           -0x1.b04f6ep-12f};
// (tanh(x) / x - 1) / x^2 in x^2 for |x| <= 0.6, to 2^-28.
constexpr float kTanh[] = {-0x1.55553cp-2f, 0x1.110962p-3f, -0x1.b88fccp-5f,
                           0x1.54802ap-6f, -0x1.8161ecp-8f};

/// The integer nearest to x * factor: as a float and as an integer.
struct Rounded {
  Value value;
  Value integer;
};

Rounded roundProduct(FloatBuilder &b, Value x, float factor) {
  Value magic = b.constant(kRoundingMagic);
  Value shifted = b.fma(x, b.constant(factor), magic);
  return {b.sub(shifted, magic),
          b.intSub(b.bits(shifted), b.constantInt(kRoundingMagicBits))};
}

/// 2^n for n in [-126, 127].
Value powerOfTwo(FloatBuilder &b, Value n) {
  return b.fromBits(b.shiftLeft(b.intAdd(n, b.constantInt(127)), 23));
}

/// x * 2^n for n in [-252, 254]: two steps, so that a result beyond the normal
/// range still overflows or underflows gradually.
Value scaleByPowerOfTwo(FloatBuilder &b, Value x, Value n) {
  Value half = b.shiftRightSigned(n, 1);
  Value rest = b.intSub(n, half);
  return b.mul(b.mul(x, powerOfTwo(b, half)), powerOfTwo(b, rest));
}

/// r = x - n ln(2), with ln(2) in two parts.
Value reduceByLn2(FloatBuilder &b, Value x, Value n) {
  Value r = b.fma(n, b.constant(-kLn2), x);
  return b.fma(n, b.constant(-kLn2Low), r);
}

/// expm1(r) for |r| <= ln(2)/2.
Value expm1Reduced(FloatBuilder &b, Value r) {
  return b.fma(b.mul(r, r), b.polynomial(r, kExpm1), r);
}

/// exp by the chip's base-two exponential. The power of two stays in the normal
/// range; what is left of x beyond it overflows in the approximation itself, or
/// underflows gradually in the product. An f below -126 is one whose product
/// with the smallest power of two is 0 in any case.
Value expandExpNVVM(FloatBuilder &b, Value x) {
  Value shifted = b.fma(x, b.constant(kLog2E), b.constant(kRoundingMagic));
  shifted = b.clampBelow(shifted, kRoundingMagic - 126.0f);
  shifted = b.clampAbove(shifted, kRoundingMagic + 126.0f);
  Value n = b.sub(shifted, b.constant(kRoundingMagic));
  Value f = b.fma(x, b.constant(kLog2E), b.negate(n));
  f = b.fma(x, b.constant(kLog2ELow), f);
  // The magic number's own bits leave at the top.
  Value scale =
      b.intAdd(b.shiftLeft(b.bits(shifted), 23), b.constantInt(0x3f800000));
  return b.mul(b.approximateNormalExp2(f), b.fromBits(scale));
}

Value expandExp(FloatBuilder &b, Value x) {
  if (b.isNVVM())
    return expandExpNVVM(b, x);
  x = b.clampAbove(b.clampBelow(x, -104.0f), 89.0f);
  Rounded n = roundProduct(b, x, kLog2E);
  Value r = reduceByLn2(b, x, n.value);
  Value p = b.add(b.constant(1.0f), expm1Reduced(b, r));
  return scaleByPowerOfTwo(b, p, n.integer);
}

Value expandExp2(FloatBuilder &b, Value x) {
  if (b.isNVVM())
    return b.approximateExp2(x);
  x = b.clampAbove(b.clampBelow(x, -151.0f), 129.0f);
  Rounded n = roundProduct(b, x, 1.0f);
  Value r = b.sub(x, n.value);
  Value p = b.fma(b.polynomial(r, kExp2), r, b.constant(1.0f));
  return scaleByPowerOfTwo(b, p, n.integer);
}

/// expm1 for x that isn't tiny, in [-18, 89] or NaN.
Value expm1Clamped(FloatBuilder &b, Value x) {
  Rounded n = roundProduct(b, x, kLog2E);
  Value p = expm1Reduced(b, reduceByLn2(b, x, n.value));
  // 2^n (p + 1) - 1 = 2 (2^(n-1) p + (2^(n-1) - 1/2)): n = 128 is in range.
  Value s = powerOfTwo(b, b.intSub(n.integer, b.constantInt(1)));
  Value half = b.fma(p, s, b.sub(s, b.constant(0.5f)));
  return b.add(half, half);
}

Value expandExpm1(FloatBuilder &b, Value x) {
  Value large = expm1Clamped(b, b.clampAbove(b.clampBelow(x, -18.0f), 89.0f));
  Value isTiny = b.compare(Predicate::OLT, b.abs(x), b.constant(0x1p-25f));
  return b.select(isTiny, x, large);
}

/// log1p(f) for |f| <= 1/3.
Value log1pReduced(FloatBuilder &b, Value f) {
  return b.fma(b.mul(f, f), b.polynomial(f, kLog1p), f);
}

/// `regular` where lowest < x < infinity; -infinity at x = lowest, NaN below,
/// and x itself where that is infinity or NaN.
Value logSpecialCases(FloatBuilder &b, Value x, float lowest, Value regular) {
  Value low = b.constant(lowest);
  Value isRegular = b.compare(Predicate::OGT, x, low);
  Value isInfinite = b.compare(Predicate::OEQ, x, b.constant(kInfinity));
  Value isLowest = b.compare(Predicate::OEQ, x, low);
  Value special = b.select(isLowest, b.constant(-kInfinity), b.constant(kNaN));
  Value result = b.select(isRegular, regular, special);
  return b.select(isInfinite, x, result);
}

/// The exponent e, shifted into its place, that leaves x / 2^e in [2/3, 4/3).
Value exponentBits(FloatBuilder &b, Value x) {
  Value shifted = b.intSub(b.bits(x), b.constantInt(0x3f2aaaab));
  return b.intAnd(shifted, b.constantInt(0xff800000));
}

/// x = 2^exponent (1 + f), |f| <= 1/3.
struct LogParts {
  Value exponent;
  Value log1p;
};

LogParts splitLog(FloatBuilder &b, Value x) {
  Value isSubnormal = b.compare(Predicate::OLT, x, b.constant(0x1p-126f));
  Value normal = b.select(isSubnormal, b.mul(x, b.constant(0x1p+23f)), x);
  Value bias = b.select(isSubnormal, b.constant(-23.0f), b.constant(0.0f));
  Value e = exponentBits(b, normal);
  Value m = b.fromBits(b.intSub(b.bits(normal), e));
  Value exponent = b.add(b.toFloat(b.shiftRightSigned(e, 23)), bias);
  return {exponent, log1pReduced(b, b.sub(m, b.constant(1.0f)))};
}

Value expandLog(FloatBuilder &b, Value x) {
  LogParts parts = splitLog(b, x);
  Value low = b.fma(parts.exponent, b.constant(kLn2Low), parts.log1p);
  Value log = b.fma(parts.exponent, b.constant(kLn2), low);
  return logSpecialCases(b, x, 0.0f, log);
}

Value expandLog2(FloatBuilder &b, Value x) {
  LogParts parts = splitLog(b, x);
  Value low = b.fma(parts.log1p, b.constant(kLog2ELow), parts.exponent);
  Value log = b.fma(parts.log1p, b.constant(kLog2E), low);
  return logSpecialCases(b, x, 0.0f, log);
}

Value expandLog10(FloatBuilder &b, Value x) {
  constexpr float kLog10Two = 0x1.344136p-2f;
  constexpr float kLog10TwoLow = -0x1.ec10cp-27f;
  LogParts parts = splitLog(b, x);
  Value low = b.mul(parts.exponent, b.constant(kLog10TwoLow));
  low = b.fma(parts.log1p, b.constant(kLog10ELow), low);
  low = b.fma(parts.log1p, b.constant(kLog10E), low);
  Value log = b.fma(parts.exponent, b.constant(kLog10Two), low);
  return logSpecialCases(b, x, 0.0f, log);
}

Value expandLog1p(FloatBuilder &b, Value x) {
  Value one = b.constant(1.0f);
  Value e = exponentBits(b, b.add(x, one));
  // 1 + f = (1 + x) / 2^e from x itself, so that the rounding of 1 + x has no
  // part in it; 2^(2 - e) because 2^-e is subnormal for the largest x.
  Value scale = b.fromBits(b.intSub(b.constantInt(129u << 23), e));
  Value quarter = b.constant(0.25f);
  Value f = b.fma(quarter, scale, b.constant(-1.0f));
  f = b.fma(b.mul(x, quarter), scale, f);
  Value exponent = b.toFloat(b.shiftRightSigned(e, 23));
  Value low = b.fma(exponent, b.constant(kLn2Low), log1pReduced(b, f));
  Value log = b.fma(exponent, b.constant(kLn2), low);
  Value isTiny = b.compare(Predicate::OLT, b.abs(x), b.constant(0x1p-25f));
  return b.select(isTiny, x, logSpecialCases(b, x, -1.0f, log));
}

Value expandTanh(FloatBuilder &b, Value x) {
  Value a = b.abs(x);
  if (b.isNVVM()) {
    Value square = b.mul(a, a);
    Value small = b.fma(b.mul(b.polynomial(square, kTanh), square), a, a);
    Value e = b.approximateNormalExp2(b.mul(a, b.constant(2.0f * kLog2E)));
    Value r = b.approximateReciprocal(b.add(e, b.constant(1.0f)));
    Value large = b.fma(r, b.constant(-2.0f), b.constant(1.0f));
    Value isSmall = b.compare(Predicate::OLT, a, b.constant(0.6f));
    return b.copySign(b.select(isSmall, small, large), x);
  }
  // t / (t + 2) with t = expm1(2a) keeps its relative accuracy down to 0, and
  // is 1 from a = 9.02 on.
  Value bounded = b.clampAbove(a, 10.0f);
  Value t = expm1Clamped(b, b.add(bounded, bounded));
  Value r = b.div(t, b.add(t, b.constant(2.0f)));
  Value isTiny = b.compare(Predicate::OLT, a, b.constant(0x1p-13f));
  return b.select(isTiny, x, b.copySign(r, x));
}

Value expandErf(FloatBuilder &b, Value x) {
  Value a = b.abs(x);
  Value small = b.fma(b.polynomial(b.mul(x, x), kErfSmall), x, x);
  Value tail = expandExp(b, b.polynomial(b.clampAbove(a, 4.0f), kErfLarge));
  Value large = b.copySign(b.sub(b.constant(1.0f), tail), x);
  Value isSmall = b.compare(Predicate::OLT, a, b.constant(0.91f));
  return b.select(isSmall, small, large);
}

Value expandErfc(FloatBuilder &b, Value x) {
  // erfc(10.1) rounds to 0.
  Value a = b.clampAbove(b.abs(x), 10.1f);
  Value two = b.constant(2.0f);
  Value q = b.quickDivide(b.sub(a, two), b.add(a, two));
  Value w =
      b.quickDivide(b.polynomial(q, kErfc), b.fma(a, two, b.constant(1.0f)));
  // exp(-a^2) relative to a's own precision: the square's rounding error, up
  // to 2^-18 here, is put back.
  Value minusSquare = b.negate(b.mul(a, a));
  Value error = b.fma(a, a, minusSquare);
  Value e = expandExp(b, minusSquare);
  e = b.sub(e, b.mul(error, e));
  Value r = b.mul(w, e);
  Value isNegative = b.compare(Predicate::OLT, x, b.constant(0.0f));
  return b.select(isNegative, b.sub(two, r), r);
}

Value expandRsqrt(FloatBuilder &b, Value x) { return b.approximateRsqrt(x); }
Value expandSin(FloatBuilder &b, Value x) {
  return expandSinCos(b, x, /*isCosine=*/false);
}
Value expandCos(FloatBuilder &b, Value x) {
  return expandSinCos(b, x, /*isCosine=*/true);
}

/// Pattern: f(x) -> its expansion [if x is f32, or f16 or bf16: in f32].
template <typename OpTy>
struct ExpandUnary : OpRewritePattern<OpTy> {
  using Expansion = Value (*)(FloatBuilder &, Value);
  ExpandUnary(MLIRContext *context, MathTarget target, Expansion expansion)
      : OpRewritePattern<OpTy>(context), target(target), expansion(expansion) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (auto vector = dyn_cast<VectorType>(type))
      if (vector.isScalable())
        return rewriter.notifyMatchFailure(op, "scalable vector");
    Type element = getElementTypeOrSelf(type);
    if (!element.isF32() && !element.isF16() && !element.isBF16())
      return rewriter.notifyMatchFailure(op, "element type is not f32");
    Location loc = op.getLoc();
    Type wide = rewriter.getF32Type();
    if (auto vector = dyn_cast<VectorType>(type))
      wide = vector.clone(wide);
    Value x = op.getOperand();
    if (!element.isF32())
      x = arith::ExtFOp::create(rewriter, loc, wide, x);
    FloatBuilder builder(rewriter, loc, wide, target);
    Value result = expansion(builder, x);
    if (!element.isF32())
      result = arith::TruncFOp::create(rewriter, loc, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  MathTarget target;
  Expansion expansion;
};

struct ExpandMathPass
    : mlir::fuseops::impl::ExpandMathPassBase<ExpandMathPass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    if (target != "cpu" && target != "nvvm")
      return emitError(UnknownLoc::get(context))
             << "expected target `cpu` or `nvvm`, but got `" << target << "`";
    RewritePatternSet set(context);
    populateExpandScalarPatterns(set);
    populateExpandMathPatterns(set, target == "nvvm" ? MathTarget::NVVM
                                                     : MathTarget::CPU);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    if (target == "nvvm")
      shortenMath(getOperation());
    if (failed(applyPatternsGreedily(getOperation(), patterns)))
      return signalPassFailure();
    guardIntegerDivisions(getOperation());
  }

  FrozenRewritePatternSet patterns;
};

} // namespace

void mlir::fuseops::populateExpandMathPatterns(RewritePatternSet &patterns,
                                               MathTarget target) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandUnary<math::ExpOp>>(context, target, expandExp);
  patterns.add<ExpandUnary<math::Exp2Op>>(context, target, expandExp2);
  patterns.add<ExpandUnary<math::ExpM1Op>>(context, target, expandExpm1);
  patterns.add<ExpandUnary<math::LogOp>>(context, target, expandLog);
  patterns.add<ExpandUnary<math::Log2Op>>(context, target, expandLog2);
  patterns.add<ExpandUnary<math::Log10Op>>(context, target, expandLog10);
  patterns.add<ExpandUnary<math::Log1pOp>>(context, target, expandLog1p);
  patterns.add<ExpandUnary<math::TanhOp>>(context, target, expandTanh);
  patterns.add<ExpandUnary<math::ErfOp>>(context, target, expandErf);
  patterns.add<ExpandUnary<math::ErfcOp>>(context, target, expandErfc);
  patterns.add<ExpandUnary<math::SinOp>>(context, target, expandSin);
  patterns.add<ExpandUnary<math::CosOp>>(context, target, expandCos);
  // The CPU has IEEE square roots.
  if (target == MathTarget::NVVM)
    patterns.add<ExpandUnary<math::RsqrtOp>>(context, target, expandRsqrt);
}
