//===- SpecialGamma.cpp - Gamma, polygamma and zeta functions -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpecialExpansions.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fuseops;
using Predicate = arith::CmpFPredicate;

namespace {

constexpr double kPi = 3.14159265358979323846;

// sin(pi r) / r in r^2 for |r| <= 1/2, to 3e-19.
constexpr double kSinPi[] = {
    0x1.921fb54442d18p+1,  -0x1.4abbce625be52p+2,  0x1.466bc6775aa7dp+1,
    -0x1.32d2cce627c86p-1, 0x1.5078348551854p-4,   -0x1.e3074dfaf87afp-8,
    0x1.e8f3675ee37ddp-12, -0x1.6f7acdb8f6580p-16, 0x1.9d462020fcc78p-21};
// lgamma(2 + t) / t for |t| <= 1/2, to 3e-19.
constexpr double kLgamma[] = {
    0x1.b0ee6072093cep-2,   0x1.4a34cc4a60fa6p-2,   -0x1.13e001a55760ap-4,
    0x1.51322ac7d848ap-6,   -0x1.e404fc218dbaep-8,  0x1.7add6eadb5317p-9,
    -0x1.38ac5c2d48207p-10, 0x1.0b36af8779ca0p-11,  -0x1.d3fd4b679c1c4p-13,
    0x1.a127afee53e7dp-14,  -0x1.78de9ab752b81p-15, 0x1.580e0afa55850p-16,
    -0x1.3cb3be36ad88bp-17, 0x1.258f3057730fap-18,  -0x1.1276ebd557fb0p-19,
    0x1.012012be3900ap-20,  -0x1.ce17528bcf460p-22, 0x1.b40adb09a1e12p-23,
    -0x1.2009c1a550d0dp-23, 0x1.11fa5e7c86f7bp-24};

/// B(2), B(4), … of Bernoulli.
constexpr double kBernoulli[] = {
    1.0 / 6,       -1.0 / 30, 1.0 / 42,      -1.0 / 30,     5.0 / 66,
    -691.0 / 2730, 7.0 / 6,   -3617.0 / 510, 43867.0 / 798, -174611.0 / 330};

double factorial(int64_t n) { return std::tgamma(double(n) + 1.0); }

} // namespace

/// sin(pi r) for |r| <= 1/2.
static Value sinPiReduced(ScalarMath &m, Value r) {
  return m.mul(m.polynomial(m.square(r), kSinPi), r);
}

Value mlir::fuseops::expandSinPi(ScalarMath &m, Value x) {
  Value n = m.roundEven(x);
  Value sine = sinPiReduced(m, m.sub(x, n));
  Value half = m.mul(n, m.constant(0.5));
  Value isOdd = m.compare(Predicate::UNE, half, m.roundEven(half));
  return m.select(isOdd, m.neg(sine), sine);
}

Value mlir::fuseops::expandCotPi(ScalarMath &m, Value x) {
  Value n = m.roundEven(x);
  // x - n would lose the sign of a zero.
  Value r = m.select(m.equal(n, m.constant(0.0)), x, m.sub(x, n));
  Value cosine = sinPiReduced(m, m.sub(m.constant(0.5), m.abs(r)));
  return m.div(cosine, sinPiReduced(m, r));
}

Value mlir::fuseops::expandLgamma(ScalarMath &m, Value x) {
  Value zero = m.constant(0.0), half = m.constant(0.5), one = m.constant(1.0);
  Value isNegative = m.less(x, zero);
  Value z = m.select(isNegative, m.sub(one, x), x);

  // Up to 8: gamma(z) = gamma(2 + t) p, or / p below 1.5, with |t| <= 1/2. t
  // comes from z by exact steps: lgamma is 0 at 1 and 2.
  Value isBelow = m.less(z, m.constant(1.5));
  Value isSmall = m.less(z, half);
  Value t = m.select(isBelow, m.sub(z, one), m.sub(z, m.constant(2.0)));
  t = m.select(isSmall, z, t);
  Value p = m.select(isBelow, z, one);
  p = m.select(isSmall, m.mul(z, m.add(z, one)), p);
  for (int step = 0; step < 6; ++step) {
    Value goesOn = m.compare(Predicate::OGE, t, half);
    p = m.select(goesOn, m.mul(p, m.add(t, one)), p);
    t = m.select(goesOn, m.sub(t, one), t);
  }
  Value isLarge = m.compare(Predicate::OGE, z, m.constant(8.0));
  Value log = m.log(m.select(isLarge, z, p));
  Value near = m.mul(m.polynomial(t, kLgamma), t);
  near = m.add(near, m.select(isBelow, m.neg(log), log));

  // Stirling's series: B(2k) / (2k (2k - 1) z^(2k - 1)).
  SmallVector<double> series;
  for (unsigned k = 1; k <= 8; ++k)
    series.push_back(kBernoulli[k - 1] / (2 * k * (2 * k - 1)));
  Value inverse = m.reciprocal(z);
  Value rest = m.mul(m.polynomial(m.square(inverse), series), inverse);
  // log(2 pi) / 2 - 1 / 2.
  rest = m.add(rest, m.constant(0.41893853320467274178));
  Value far = m.fma(m.sub(z, half), m.sub(log, one), rest);
  Value positive = m.select(isLarge, far, near);

  // gamma(x) gamma(1 - x) = pi / sin(pi x).
  Value sine = m.abs(expandSinPi(m, x));
  Value reflected = m.sub(m.log(m.div(m.constant(kPi), sine)), positive);
  Value result = m.select(isNegative, reflected, positive);
  Value infinity = m.constant(INFINITY);
  return m.select(m.equal(m.abs(x), infinity), infinity, result);
}

/// x^n for n >= 1.
static Value powerOf(ScalarMath &m, Value x, int64_t n) {
  Value result;
  for (; n; n /= 2, x = m.square(x))
    if (n % 2)
      result = result ? m.mul(result, x) : x;
  return result;
}

/// psi(z) for z > 0.
static Value positiveDigamma(ScalarMath &m, Value z) {
  Value one = m.constant(1.0), sum = m.constant(0.0);
  for (int step = 0; step < 10; ++step) {
    Value goesOn = m.less(z, m.constant(10.0));
    sum = m.select(goesOn, m.add(sum, m.reciprocal(z)), sum);
    z = m.select(goesOn, m.add(z, one), z);
  }
  SmallVector<double> series;
  for (unsigned k = 1; k <= 7; ++k)
    series.push_back(kBernoulli[k - 1] / (2 * k));
  Value inverse = m.reciprocal(z);
  Value square = m.square(inverse);
  Value rest = m.mul(m.polynomial(square, series), square);
  rest = m.fma(m.constant(0.5), inverse, rest);
  return m.sub(m.sub(m.log(z), rest), sum);
}

/// (-1)^(n + 1) psi^(n)(z) for n >= 1, z > 0, by its recurrence, then the
/// asymptotic series.
static Value positivePolygamma(ScalarMath &m, Value z, int64_t n) {
  Value one = m.constant(1.0), sum = m.constant(0.0);
  int64_t start = 12 + n;
  for (int64_t step = 0; step < start; ++step) {
    Value goesOn = m.less(z, m.constant(double(start)));
    Value term = m.reciprocal(powerOf(m, z, n + 1));
    sum = m.select(goesOn, m.add(sum, term), sum);
    z = m.select(goesOn, m.add(z, one), z);
  }
  sum = m.mul(sum, m.constant(factorial(n)));
  // ((n - 1)! + n! u / 2 + sum B(2k) (2k + n - 1)! / (2k)! u^2k) u^n, u = 1/z.
  SmallVector<double> series;
  for (unsigned k = 1; k <= std::size(kBernoulli); ++k) {
    double ratio = 1.0; // (2k + n - 1)! / (2k)!
    for (int64_t i = 1; i < n; ++i)
      ratio *= double(2 * k + i);
    series.push_back(kBernoulli[k - 1] * ratio);
  }
  Value inverse = m.reciprocal(z);
  Value square = m.square(inverse);
  Value rest = m.mul(m.polynomial(square, series), square);
  rest = m.fma(m.constant(factorial(n) / 2), inverse, rest);
  rest = m.add(rest, m.constant(factorial(n - 1)));
  return m.add(sum, m.mul(rest, powerOf(m, inverse, n)));
}

Value mlir::fuseops::expandPolygamma(ScalarMath &m, Value x, int64_t order) {
  Value zero = m.constant(0.0);
  Value isReflected = m.compare(Predicate::OLE, x, zero);
  Value z = m.select(isReflected, m.sub(m.constant(1.0), x), x);
  Value direct =
      order == 0 ? positiveDigamma(m, z) : positivePolygamma(m, z, order);
  if (order != 0 && order % 2 == 0)
    direct = m.neg(direct);
  // psi(1 - x) - psi(x) = pi cot(pi x), differentiated `order` times: a
  // polynomial in the cotangent c, whose derivative is -pi (1 + c^2).
  SmallVector<double> cotangent = {0.0, 1.0};
  for (int64_t i = 0; i < order; ++i) {
    SmallVector<double> next(cotangent.size() + 1, 0.0);
    for (size_t k = 1; k < cotangent.size(); ++k) {
      next[k - 1] -= double(k) * cotangent[k];
      next[k + 1] -= double(k) * cotangent[k];
    }
    cotangent = next;
  }
  Value c = expandCotPi(m, x);
  // Odd or even in c: evaluated in c^2, so that an infinite c stays.
  SmallVector<double> half;
  for (size_t k = cotangent.size() - 1; k < cotangent.size(); k -= 2)
    half.insert(half.begin(), cotangent[k]);
  Value turned = m.polynomial(m.square(c), half);
  if (cotangent.size() % 2 == 0)
    turned = m.mul(turned, c);
  turned = m.mul(turned, m.constant(-std::pow(kPi, double(order) + 1)));
  // psi^(n)(x) = -pi D^n cot(pi x) + (-1)^n psi^(n)(1 - x).
  Value reflected = order % 2 ? m.sub(turned, direct) : m.add(turned, direct);
  if (order == 0) {
    Value isPole = m.both(m.less(x, zero), m.equal(x, m.roundEven(x)));
    reflected = m.select(isPole, m.constant(NAN), reflected);
  }
  return m.select(isReflected, reflected, direct);
}

/// zeta(s, q) for s > 1, q > 0.
static Value positiveZeta(ScalarMath &m, Value s, Value q) {
  // Euler and Maclaurin's formula from the tenth term on.
  constexpr int kTerms = 10;
  Value minusS = m.neg(s);
  Value sum = m.pow(q, minusS);
  for (int k = 1; k < kTerms; ++k)
    sum = m.add(sum, m.pow(m.add(q, m.constant(k)), minusS));
  Value a = m.add(q, m.constant(kTerms));
  Value power = m.pow(a, minusS);
  Value tail = m.add(m.div(a, m.sub(s, m.constant(1.0))), m.constant(0.5));
  // B(2j) / (2j)! s (s + 1) … (s + 2j - 2) / a^(2j - 1).
  Value inverse = m.reciprocal(a);
  Value square = m.square(inverse);
  Value factor = m.mul(s, inverse);
  for (unsigned j = 1; j <= std::size(kBernoulli); ++j) {
    Value coefficient = m.constant(kBernoulli[j - 1] / factorial(2 * j));
    tail = m.fma(coefficient, factor, tail);
    Value next =
        m.mul(m.add(s, m.constant(2.0 * j - 1)), m.add(s, m.constant(2.0 * j)));
    factor = m.mul(factor, m.mul(next, square));
  }
  // A large s makes the tail infinite, but its power is 0 before.
  Value isNone = m.equal(power, m.constant(0.0));
  return m.select(isNone, sum, m.fma(tail, power, sum));
}

Value mlir::fuseops::expandZeta(ScalarMath &m, Value s, Value q) {
  Value zero = m.constant(0.0), one = m.constant(1.0);
  Value isNegative = m.less(q, zero);
  Value size = m.neg(q);
  // q = -(n + u), 0 < u < 1: the terms from q to -u are those from u to -q, and
  // have a sign where s is odd. Those from 1 - u on are as for a q > 0.
  Value u = m.sub(size, m.floor(size));
  Value result = positiveZeta(m, s, m.select(isNegative, m.sub(one, u), q));
  Value low =
      m.sub(positiveZeta(m, s, u), positiveZeta(m, s, m.add(size, one)));
  Value half = m.mul(s, m.constant(0.5));
  Value isEven = m.equal(half, m.floor(half));
  low = m.select(isEven, low, m.neg(low));
  result = m.select(isNegative, m.add(result, low), result);

  Value infinity = m.constant(INFINITY), nan = m.constant(NAN);
  Value isFraction = m.compare(Predicate::UNE, s, m.floor(s));
  result = m.select(m.both(isNegative, isFraction), nan, result);
  Value isPole =
      m.both(m.compare(Predicate::OLE, q, zero), m.equal(q, m.floor(q)));
  result = m.select(isPole, infinity, result);
  result = m.select(m.equal(s, one), infinity, result);
  return m.select(m.less(s, one), nan, result);
}
