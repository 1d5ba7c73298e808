//===- SpecialError.cpp - Error functions, their inverses, Bessel's -------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpecialExpansions.h"

#include "FuseOps/Dialect/FuseOps/SpecialFunctions.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fuseops;
using Predicate = arith::CmpFPredicate;

namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kHalfSqrtPi = 0.88622692545275801365;

// exp(a^2) erfc(a) (1 + 2a) in (a - 4) / (a + 4) for a >= 0, to 1e-17.
constexpr double kErfcx[] = {
    0x1.3ba5916e9fd7fp+0,   -0x1.1df1ad154a286p-3,  0x1.f7f5df66fd797p-7,
    0x1.16ecefcfa4d10p-4,   -0x1.9ddb23c3e8f13p-4,  0x1.7fee004e1eefep-4,
    -0x1.0fb06dfe4c6c0p-4,  0x1.3079edf5181dfp-5,   -0x1.09623884747dbp-6,
    0x1.49c672e199469p-8,   -0x1.8d4a9a6465372p-11, -0x1.a1df5e81f57b4p-13,
    0x1.3be0432bfa860p-13,  -0x1.99537515467bep-16, -0x1.7884d2487d5efp-17,
    0x1.7ef644c7815aap-18,  0x1.393f4d359a7fdp-22,  -0x1.b8ce493292da5p-21,
    0x1.4dcd6b6d85452p-24,  0x1.c8a212189b424p-24,  -0x1.64110b1736fb3p-26,
    -0x1.a7f4a11380e73p-27, 0x1.bc41def3d5cc5p-29,  0x1.ff247156a53a2p-31,
    -0x1.2feb115e10ff8p-32};
// erfinv(x) / x in x^2 for |x| <= 1/2, to 2e-17.
constexpr double kErfinvTop[] = {0x1.c5bf891b4ef6bp-1, -0x1.d9a8b3ad3fd58p+0,
                                 0x1.446e84308223dp+0, -0x1.3cb373ce7ae10p-2,
                                 0x1.13314ceed6da5p-6, 0x1.35651738af898p-12};
constexpr double kErfinvBottom[] = {0x1.0000000000000p+0, -0x1.2cbe6914440f2p+1,
                                    0x1.e6b45c596922ap+0, -0x1.365ff1014c688p-1,
                                    0x1.ed024373268dfp-5};
// y / t in t with erfc(y) = exp(-t^2), for t in [0.83, 4] and [4, 27.5], to
// 7e-9.
constexpr double kTailTop[] = {-0x1.5710837212db0p-8, 0x1.d96e5488b0b56p-1,
                               0x1.cfafcdbc4a268p+0,  0x1.64a8dc0b8825cp+1,
                               0x1.d2ad836a9ef99p+0,  0x1.c2836cba01c70p-3};
constexpr double kTailBottom[] = {0x1.0000000000000p+0, 0x1.1695f48df44e8p+1,
                                  0x1.b995ed561043bp+1, 0x1.9985b164b5570p+1,
                                  0x1.d3eee53b504fdp+0, 0x1.c25f979928af2p-3};
constexpr double kFarTop[] = {-0x1.9730827eeb145p-7, 0x1.7e9bbe4944320p-1,
                              0x1.c85e9e4f33e00p+0,  0x1.1027b6a03ebd9p-1,
                              0x1.2497cd838fd31p-5,  0x1.fe426450cddd3p-12};
constexpr double kFarBottom[] = {0x1.0000000000000p+0, 0x1.6e232d358b780p+0,
                                 0x1.dab2f23e4a2c5p+0, 0x1.10e33759f3ebdp-1,
                                 0x1.249aa9c665eccp-5, 0x1.fe41b3ec394cap-12};
// I0(x), and I1(x) / x, in x^2 / 64 for |x| <= 8, to 4e-19.
constexpr double kI0[] = {
    0x1.0000000000000p+0,  0x1.0000000000000p+4,  0x1.0000000000002p+6,
    0x1.c71c71c71c6dfp+6,  0x1.c71c71c71cbe1p+6,  0x1.23456789a8318p+6,
    0x1.02e85c08d260ap+5,  0x1.522a43f155552p+3,  0x1.522a444603fe2p+1,
    0x1.0b312ee43b7c5p-1,  0x1.5601c7e411b36p-4,  0x1.69c76363ac35fp-7,
    0x1.41b6c17a09391p-10, 0x1.e56f7ffb05c87p-14, 0x1.46a4446d3e276p-17,
    0x1.31d00bad6ba1ap-21, 0x1.20d247d00eeebp-24};
constexpr double kI1[] = {
    0x1.0000000000000p-1,  0x1.0000000000000p+2,  0x1.5555555555556p+3,
    0x1.c71c71c71c70fp+3,  0x1.6c16c16c16d20p+3,  0x1.845c8a0ce3807p+2,
    0x1.27e4fb77a30bbp+1,  0x1.522a43f427f3bp-1,  0x1.2c9758fda3036p-3,
    0x1.ab81e74959342p-6,  0x1.f176cf1f1237fp-9,  0x1.e260acd0c17e6p-12,
    0x1.8be972f0e252ep-15, 0x1.159f90570389ap-18, 0x1.5ac53da80dc82p-22,
    0x1.38dbeef3ff4f1p-26, 0x1.08fbc76dd1df0p-29};
// exp(-x) sqrt(x) I(x) in 8 / x for x >= 8, to 4e-17.
constexpr double kI0Large[] = {
    0x1.9884533d43651p-2,   0x1.9884533d40a92p-8,   0x1.cb94ddc31a58fp-12,
    0x1.debacf1d39dfap-15,  0x1.6eae19f0c3ad4p-17,  0x1.651fc19d4a5a7p-19,
    0x1.4cbb2cfb59962p-19,  -0x1.2187ca3cee5dcp-16, 0x1.297fc45c5e599p-13,
    -0x1.c523399f45493p-11, 0x1.0a88881f5fa8cp-8,   -0x1.ea0614d7a06fbp-7,
    0x1.62ee121c2daf7p-5,   -0x1.96c1db38a9ad8p-4,  0x1.70d7c440e7cdep-3,
    -0x1.07a50fe7a6bcdp-2,  0x1.26a838187aa8bp-2,   -0x1.fbce3f715eeb9p-3,
    0x1.4a0a480773f88p-3,   -0x1.387922eb5b04ap-4,  0x1.964c81dec531fp-6,
    -0x1.443064483cae9p-8,  0x1.de985e80c26e1p-12};
constexpr double kI1Large[] = {
    0x1.9884533d43650p-2,   -0x1.32633e6df1cdbp-6,  -0x1.7efc0e19d248cp-11,
    -0x1.4f1c683f73040p-14, -0x1.d76a43b824017p-17, -0x1.b673c5d3ffe74p-19,
    -0x1.732154ce153f9p-19, 0x1.3768a5420d06cp-16,  -0x1.3faaec0d78cb2p-13,
    0x1.e5a7867a0f422p-11,  -0x1.1cecc330a8900p-8,  0x1.053caa49e4e85p-6,
    -0x1.797437f327007p-5,  0x1.af77be8b46957p-4,   -0x1.86472d5cfa3abp-3,
    0x1.164bd720ef623p-2,   -0x1.36507da910c2bp-2,  0x1.0ace3a78f573fp-2,
    -0x1.5a1629b613d4cp-3,  0x1.4704830181be5p-4,   -0x1.a86b40714efc8p-6,
    0x1.520e382ddc53fp-8,   -0x1.f23ff1f27dca9p-12};

Value quotient(ScalarMath &m, Value x, ArrayRef<double> top,
               ArrayRef<double> bottom) {
  return m.div(m.polynomial(x, top), m.polynomial(x, bottom));
}

/// exp(a^2) erfc(a) for a >= 0.
Value positiveErfcx(ScalarMath &m, Value a) {
  // Bounded, so that (a - 4) / (a + 4) is 1 at infinity.
  Value four = m.constant(4.0), one = m.constant(1.0);
  Value bounded = m.minimum(a, m.constant(1e300));
  Value q = m.div(m.sub(bounded, four), m.add(bounded, four));
  Value scale = m.fma(a, m.constant(2.0), one);
  return m.div(m.polynomial(q, kErfcx), scale);
}

/// The y > 0 with erfc(y) = c, for 0 <= c <= 1/2.
Value invertSmallErfc(ScalarMath &m, Value c) {
  Value minusLog = m.neg(m.log(c));
  Value t = m.sqrt(minusLog);
  Value isNear = m.less(t, m.constant(4.0));
  Value guess = m.select(isNear, quotient(m, t, kTailTop, kTailBottom),
                         quotient(m, t, kFarTop, kFarBottom));
  Value y = m.mul(guess, t);
  // One step of Newton's for log(erfc(y) / c), by log(r) = 2 (r - 1) / (r + 1).
  Value scaled = positiveErfcx(m, y);
  Value exponent = m.fma(m.neg(y), y, minusLog);
  Value ratio = m.mul(scaled, m.exp(exponent));
  Value one = m.constant(1.0);
  Value log = m.div(m.sub(ratio, one), m.add(ratio, one));
  Value step = m.mul(m.mul(scaled, m.constant(2.0 * kHalfSqrtPi)), log);
  return m.select(m.equal(c, m.constant(0.0)), m.constant(INFINITY),
                  m.add(y, step));
}

/// erfinv(x) for |x| <= 1/2.
Value smallErfinv(ScalarMath &m, Value x) {
  return m.mul(x, quotient(m, m.square(x), kErfinvTop, kErfinvBottom));
}

} // namespace

Value mlir::fuseops::expandErfinv(ScalarMath &m, Value x) {
  Value a = m.abs(x);
  Value isSmall = m.compare(Predicate::OLE, a, m.constant(0.5));
  Value tail = invertSmallErfc(m, m.sub(m.constant(1.0), a));
  return m.select(isSmall, smallErfinv(m, x), m.copySign(tail, x));
}

Value mlir::fuseops::expandNdtri(ScalarMath &m, Value p) {
  // -sqrt(2) erfcinv(2 p); 2 p - 1 is exact in the middle.
  Value one = m.constant(1.0), two = m.constant(2.0);
  Value center = m.fma(two, p, m.constant(-1.0));
  Value isSmall = m.compare(Predicate::OLE, m.abs(center), m.constant(0.5));
  Value isLow = m.less(p, m.constant(0.5));
  Value c = m.mul(two, m.select(isLow, p, m.sub(one, p)));
  Value tail = m.copySign(invertSmallErfc(m, c), center);
  Value y = m.select(isSmall, smallErfinv(m, center), tail);
  return m.mul(y, m.constant(2.0 * kSqrtHalf));
}

Value mlir::fuseops::expandErfcx(ScalarMath &m, Value x) {
  Value a = m.abs(x);
  Value positive = positiveErfcx(m, a);
  // 2 exp(x^2) - erfcx(-x), with the error of the square put back.
  Value bounded = m.minimum(a, m.constant(30.0));
  Value square = m.square(bounded);
  Value error = m.fma(bounded, bounded, m.neg(square));
  Value twice = m.mul(m.constant(2.0), m.exp(square));
  twice = m.mul(twice, m.add(m.constant(1.0), error));
  Value isNegative = m.less(x, m.constant(0.0));
  return m.select(isNegative, m.sub(twice, positive), positive);
}

Value mlir::fuseops::expandLogNdtr(ScalarMath &m, Value x) {
  Value half = m.constant(0.5);
  Value z = m.mul(x, m.constant(kSqrtHalf));
  Value isLow = m.less(x, m.constant(-1.0));
  Value a = m.abs(z);
  Value scaled = positiveErfcx(m, a);
  // log(erfcx(-z) / 2) - x^2 / 2, or log1p(-erfc(z) / 2).
  Value erfc = m.mul(scaled, special::expMinusSquare(m, x, 0.5));
  Value isNegative = m.less(x, m.constant(0.0));
  erfc = m.select(isNegative, m.sub(m.constant(2.0), erfc), erfc);
  Value high = m.log1p(m.mul(erfc, m.constant(-0.5)));
  Value low = m.fma(m.mul(x, m.constant(-0.5)), x, m.log(m.mul(half, scaled)));
  return m.select(isLow, low, high);
}

Value mlir::fuseops::expandBessel(ScalarMath &m, Value x, int order,
                                  bool isScaled) {
  Value a = m.abs(x);
  bool isOdd = order == 1;
  Value t = m.square(m.mul(a, m.constant(0.125)));
  Value small =
      m.polynomial(t, isOdd ? ArrayRef<double>(kI1) : ArrayRef<double>(kI0));
  if (isOdd)
    small = m.mul(small, a);
  Value large = m.polynomial(m.div(m.constant(8.0), a),
                             isOdd ? ArrayRef<double>(kI1Large)
                                   : ArrayRef<double>(kI0Large));
  large = m.div(large, m.sqrt(a));
  Value isLarge = m.greater(a, m.constant(8.0));
  if (isScaled) {
    small = m.mul(small, m.exp(m.neg(a)));
  } else {
    // In two factors: exp(a) is infinite before the function is.
    Value root = m.exp(m.mul(a, m.constant(0.5)));
    large = m.mul(m.mul(large, root), root);
  }
  Value result = m.select(isLarge, large, small);
  // As PyTorch: i1(-0) is +0.
  return isOdd ? m.select(m.less(x, m.constant(0.0)), m.neg(result), result)
               : result;
}

Value mlir::fuseops::expandScaledBesselSlope(ScalarMath &m, Value x,
                                             int order) {
  // For a = |x|: i1e - i0e, an odd function of x, and i0e - i1e - i1e / a.
  bool isOdd = order == 0;
  Value a = m.abs(x);
  Value t = m.square(m.mul(a, m.constant(0.125)));
  Value i0 = m.polynomial(t, kI0), ratio = m.polynomial(t, kI1);
  Value small = m.sub(m.mul(ratio, a), i0);
  if (!isOdd)
    small = m.neg(m.add(small, ratio));
  small = m.mul(small, m.exp(m.neg(a)));
  // The first terms, which are equal, are left out: all others would cancel.
  SmallVector<double> series = {0.0};
  for (size_t k = 1; k < std::size(kI0Large); ++k) {
    double difference = kI1Large[k] - kI0Large[k];
    series.push_back(isOdd ? difference : -difference - kI1Large[k - 1] / 8);
  }
  if (!isOdd)
    series.push_back(-kI1Large[std::size(kI1Large) - 1] / 8);
  Value large = m.polynomial(m.div(m.constant(8.0), a), series);
  large = m.div(large, m.sqrt(a));
  Value result = m.select(m.greater(a, m.constant(8.0)), large, small);
  if (!isOdd)
    return result;
  // As PyTorch: 0 at 0, where i0e has a peak.
  Value zero = m.constant(0.0);
  result = m.select(m.less(x, zero), m.neg(result), result);
  return m.select(m.equal(x, zero), zero, result);
}
