//===- Activations.cpp - Activations and their derivatives as scalars -----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Activations.h"

using namespace mlir;
using namespace mlir::fuseops;

namespace {
constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kSqrtHalfTail = -4.833646656726456726e-17;
constexpr double kInvSqrt2Pi = 0.39894228040143267794;
constexpr double kSqrt2OverPi = 0.79788456080286535588;
constexpr double kGeluCubic = 0.044715;
constexpr double kQgelu = 1.702;
} // namespace

Value activation::silu(ScalarMath &m, Value x) {
  return m.mul(x, m.sigmoid(x));
}

Value activation::siluDerivative(ScalarMath &m, Value x) {
  Value s = m.sigmoid(x);
  Value one = m.constant(1.0);
  return m.mul(s, m.add(one, m.mul(x, m.sub(one, s))));
}

Value activation::sigmoidDerivative(ScalarMath &m, Value x) {
  return m.mul(m.sigmoid(x), m.sigmoid(m.neg(x)));
}

Value activation::qgelu(ScalarMath &m, Value x) {
  return m.mul(x, m.sigmoid(m.mul(m.constant(kQgelu), x)));
}

Value activation::qgeluDerivative(ScalarMath &m, Value x) {
  return siluDerivative(m, m.mul(m.constant(kQgelu), x));
}

Value activation::relu(ScalarMath &m, Value x) {
  return m.maximum(x, m.constant(0.0));
}

Value activation::reluGradient(ScalarMath &m, Value x, Value gradient) {
  // Not (x > 0): a NaN input lets the gradient through. A select and not a
  // factor of 0: the gradient may be infinite.
  Value isOff = m.compare(ScalarMath::Predicate::OLE, x, m.constant(0.0));
  return m.select(isOff, m.constant(0.0), gradient);
}

Value activation::srelu(ScalarMath &m, Value x) { return m.square(relu(m, x)); }

Value activation::sreluGradient(ScalarMath &m, Value x, Value gradient) {
  return reluGradient(m, x, m.mul(gradient, m.mul(m.constant(2.0), x)));
}

Value activation::sech2(ScalarMath &m, Value x) {
  // With q = exp(-2 |x|): 1 - tanh(x)^2 would cancel for large x.
  Value q = m.exp(m.mul(m.constant(-2.0), m.abs(x)));
  Value sum = m.add(m.constant(1.0), q);
  return m.div(m.mul(m.constant(4.0), q), m.square(sum));
}

/// Phi(x), exact in relative terms in both tails.
static Value normalCdf(ScalarMath &m, Value x) {
  // With z the rounded argument and z + d the exact one, erfc(z + d) is close
  // to erfc(z) * (1 - 2 z d) where z is large: without it, the rounding of the
  // argument alone costs 1e-5 in f32 at x = -12.
  bool isDouble = m.type.isF64();
  double high = isDouble ? kSqrtHalf : static_cast<float>(kSqrtHalf);
  double low = isDouble ? kSqrtHalfTail : kSqrtHalf - high;
  Value minusX = m.neg(x);
  Value z = m.mul(m.constant(high), minusX);
  auto fma = [&](Value a, Value b, Value c) -> Value {
    return math::FmaOp::create(m.builder, m.loc, a, b, c);
  };
  Value rest = fma(minusX, m.constant(high), m.neg(z));
  rest = fma(minusX, m.constant(low), rest);
  // Bounded, so that an infinite argument, whose rest is NaN, keeps erfc's
  // value.
  Value isTail = arith::CmpFOp::create(
      m.builder, m.loc, arith::CmpFPredicate::OGT, z, m.constant(1.0));
  Value isBounded = arith::CmpFOp::create(
      m.builder, m.loc, arith::CmpFPredicate::OLT, z, m.constant(64.0));
  Value isUsed = arith::AndIOp::create(m.builder, m.loc, isTail, isBounded);
  Value correction = arith::SelectOp::create(
      m.builder, m.loc, isUsed, m.mul(m.mul(m.constant(-2.0), z), rest),
      m.constant(0.0));
  Value half = m.mul(m.constant(0.5), m.erfc(z));
  return fma(half, correction, half);
}

/// (1 + tanh(u)) / 2 as a sigmoid, which keeps relative accuracy for very
/// negative u where 1 + tanh(u) would cancel.
static Value geluTanhGate(ScalarMath &m, Value x) {
  Value x2 = m.mul(x, x);
  Value inner =
      m.mul(m.mul(m.constant(2.0 * kSqrt2OverPi), x),
            m.add(m.constant(1.0), m.mul(m.constant(kGeluCubic), x2)));
  return m.sigmoid(inner);
}

Value activation::gelu(ScalarMath &m, Value x, GeluKind kind) {
  return m.mul(x,
               kind == GeluKind::Exact ? normalCdf(m, x) : geluTanhGate(m, x));
}

Value activation::geluDerivative(ScalarMath &m, Value x, GeluKind kind) {
  if (kind == GeluKind::Exact) {
    Value density = m.mul(m.constant(kInvSqrt2Pi),
                          m.exp(m.mul(m.constant(-0.5), m.mul(x, x))));
    return m.add(normalCdf(m, x), m.mul(x, density));
  }
  // With s = sigmoid(2u): s + x * s * (1 - s) * 2u'.
  Value one = m.constant(1.0);
  Value s = geluTanhGate(m, x);
  Value slope =
      m.mul(m.constant(2.0 * kSqrt2OverPi),
            m.add(one, m.mul(m.constant(3.0 * kGeluCubic), m.mul(x, x))));
  // In this order, so that 0 times a large x and a large slope is 0.
  Value width = m.mul(s, m.sub(one, s));
  return m.add(s, m.mul(m.mul(x, width), slope));
}
