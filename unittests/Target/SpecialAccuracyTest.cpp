//===- SpecialAccuracyTest.cpp - fuseops.special against long double ------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The oracles are written down here in x87's long double: series, recurrences
// and a step of Newton's, none of them what the expansions do.
//
//===----------------------------------------------------------------------===//

#include "TestKernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::fuseops;

namespace {

using Real = long double;

const Real kPi = 3.14159265358979323846264338327950288L;
const Real kSqrtPi = std::sqrt(kPi);
const Real kSqrtHalf = std::sqrt(0.5L);

/// (-1)^(n + 1) psi^(n)(x) for n >= 1, or psi(x), x > 0.
Real polygammaOf(int n, Real x) {
  const Real bernoulli[] = {1.0L / 6,  -1.0L / 30,     1.0L / 42, -1.0L / 30,
                            5.0L / 66, -691.0L / 2730, 7.0L / 6};
  Real factorial = std::tgamma(Real(n) + 1), sum = 0;
  for (; x < 60; x += 1)
    sum += (n == 0 ? -1 : factorial) / std::pow(x, Real(n + 1));
  if (n == 0)
    sum += std::log(x) - 1 / (2 * x);
  else
    sum += std::tgamma(Real(n)) / std::pow(x, Real(n)) +
           factorial / (2 * std::pow(x, Real(n + 1)));
  for (int k = 1; k <= 7; ++k) {
    Real ratio = std::tgamma(Real(2 * k + n)) / std::tgamma(Real(2 * k + 1));
    Real term = bernoulli[k - 1] * ratio / std::pow(x, Real(2 * k + n));
    sum += n == 0 ? -term : term;
  }
  return sum;
}
Real digammaOf(Real x, Real) { return polygammaOf(0, x); }
Real trigammaOf(Real x, Real) { return polygammaOf(1, x); }
Real polygamma2Of(Real x, Real) { return -polygammaOf(2, x); }
Real lgammaOf(Real x, Real) { return std::lgamma(x); }

Real erfcxOf(Real x) {
  if (x < 8)
    return std::exp(x * x) * std::erfc(x);
  Real sum = 1, term = 1;
  for (int k = 1; k < 30; ++k)
    sum += term *= -Real(2 * k - 1) / (2 * x * x);
  return sum / (x * kSqrtPi);
}
Real erfcxOf(Real x, Real) { return erfcxOf(x); }

Real logNdtrOf(Real x, Real) {
  if (x < -1)
    return std::log(erfcxOf(-x * kSqrtHalf) / 2) - x * x / 2;
  return std::log1p(-std::erfc(x * kSqrtHalf) / 2);
}

/// A step of Newton's from the result itself, whose error it squares.
Real erfinvOf(Real x, Real y) {
  Real a = std::fabs(y);
  Real error = std::fabs(x) < 0.5L ? std::erf(a) - std::fabs(x)
                                   : (1 - std::fabs(x)) - std::erfc(a);
  return std::copysign(a - error * kSqrtPi / 2 * std::exp(a * a), x);
}
Real ndtriOf(Real p, Real y) {
  Real error = p < 0.5L ? std::erfc(-y * kSqrtHalf) / 2 - p
                        : (1 - p) - std::erfc(y * kSqrtHalf) / 2;
  return y - error * std::sqrt(2 * kPi) * std::exp(y * y / 2);
}

/// sum (x^2 / 4)^k / (k! (k + n)!), times (x / 2)^n.
Real besselOf(Real x, int n) {
  Real term = n ? x / 2 : 1, sum = term;
  for (int k = 1; k < 400; ++k)
    sum += term *= x * x / 4 / (Real(k) * Real(k + n));
  return sum;
}
Real i0Of(Real x, Real) { return besselOf(x, 0); }
Real i1Of(Real x, Real) { return besselOf(x, 1); }
Real i0eOf(Real x, Real) { return besselOf(x, 0) * std::exp(-std::fabs(x)); }
Real i1eOf(Real x, Real) { return besselOf(x, 1) * std::exp(-std::fabs(x)); }
Real sincOf(Real x, Real) {
  Real n = std::nearbyint(x);
  Real sine = std::sin(kPi * (x - n));
  return (std::fmod(n, 2) == 0 ? sine : -sine) / (kPi * x);
}
Real entrOf(Real x, Real) { return -x * std::log(x); }
Real logitOf(Real x, Real) {
  return std::fabs(x - 0.5L) < 0.25L ? std::log1p((2 * x - 1) / (1 - x))
                                     : std::log(x / (1 - x));
}

/// A function, its oracle (which may look at the result), where it is tried,
/// and the ulp that it may be off in f32 and f64.
struct Function {
  const char *name;
  const char *call;
  Real (*oracle)(Real x, Real y);
  double low, high;
  bool isLogarithmic;
  double narrowUlp, wideUlp;
};

// digamma's root at 1.46 is left out: around it only the absolute error is
// small.
const Function kFunctions[] = {
    {"lgamma", "lgamma(%x)", lgammaOf, 1e-30, 1e30, true, 0.51, 5},
    {"lgamma_roots", "lgamma(%x)", lgammaOf, 0.4, 9, false, 0.51, 5},
    {"digamma", "polygamma(%x)", digammaOf, 2.5, 1e6, true, 0.51, 12},
    {"digamma_small", "polygamma(%x)", digammaOf, 1e-30, 1, true, 0.51, 12},
    {"trigamma", "polygamma(%x) order(1)", trigammaOf, 1e-15, 1e6, true, 0.51,
     5},
    {"polygamma_2", "polygamma(%x) order(2)", polygamma2Of, 1e-10, 1e6, true,
     0.51, 5},
    {"erfinv", "erfinv(%x)", erfinvOf, 1e-30, 0.9, true, 0.51, 4},
    {"erfinv_tail", "erfinv(%x)", erfinvOf, -0.99999, 0.99999, false, 0.51, 4},
    {"ndtri", "ndtri(%x)", ndtriOf, 1e-30, 0.49, true, 0.51, 5},
    {"ndtri_high", "ndtri(%x)", ndtriOf, 0.51, 0.99999, false, 0.51, 5},
    {"erfcx", "erfcx(%x)", erfcxOf, 1e-10, 1e6, true, 0.51, 5},
    {"erfcx_negative", "erfcx(%x)", erfcxOf, -9, 0, false, 0.51, 4},
    {"log_ndtr", "log_ndtr(%x)", logNdtrOf, -1000, 8, false, 0.51, 5},
    {"i0", "i0(%x)", i0Of, 1e-10, 80, true, 0.51, 5},
    {"i1", "i1(%x)", i1Of, -80, 80, false, 0.51, 5},
    {"i0e", "i0e(%x)", i0eOf, 1e-10, 500, true, 0.51, 4},
    {"i1e", "i1e(%x)", i1eOf, -500, 500, false, 0.51, 4},
    {"sinc", "sinc(%x)", sincOf, -20, 20, false, 0.51, 4},
    {"entr", "entr(%x)", entrOf, 1e-30, 1e30, true, 2, 2},
    {"logit", "logit(%x)", logitOf, 1e-10, 0.999, true, 4, 4},
};

template <typename T>
void check(StringRef type, unsigned width) {
  TestContext context;
  std::string text;
  for (const Function &function : kFunctions)
    text += mapKernel(function.name, type, type,
                      std::string("%y = fuseops.special ") + function.call +
                          " : VT(" + type.str() + ")",
                      width);
  OwningOpRef<ModuleOp> module = context.parse(text);
  ASSERT_TRUE(module);
  OpenedKernels kernels(context, *module, "native");
  ASSERT_TRUE(kernels.isOpen());
  constexpr int kCount = 10000;
  for (const Function &function : kFunctions) {
    std::vector<T> inputs;
    for (int i = 0; i <= kCount; ++i) {
      double share = double(i) / kCount;
      inputs.push_back(
          T(function.isLogarithmic
                ? function.low * std::pow(function.high / function.low, share)
                : function.low + (function.high - function.low) * share));
    }
    std::vector<T> results = kernels.map<T, T>(function.name, inputs);
    double worst = 0;
    T worstInput = 0;
    for (int i = 0; i <= kCount; ++i) {
      Real expected = function.oracle(inputs[i], results[i]);
      int exponent;
      std::frexp(expected, &exponent);
      Real unit = std::ldexp(
          Real(1), std::max(exponent, std::numeric_limits<T>::min_exponent) -
                       std::numeric_limits<T>::digits);
      bool isSame = results[i] == T(expected);
      double error =
          isSame ? 0 : double(std::fabs(Real(results[i]) - expected) / unit);
      if (!(error <= worst)) {
        worst = error;
        worstInput = inputs[i];
      }
    }
    double allowed = sizeof(T) == 4 ? function.narrowUlp : function.wideUlp;
    std::printf("  %-15s %s: worst %.3f ulp at %a\n", function.name,
                type.str().c_str(), worst, double(worstInput));
    EXPECT_LE(worst, allowed) << function.name << " at " << worstInput;
  }
}

TEST(SpecialAccuracy, F32) { check<float>("f32", 16); }
TEST(SpecialAccuracy, F64) { check<double>("f64", 8); }
TEST(SpecialAccuracy, Scalars) { check<float>("f32", 0); }

} // namespace
