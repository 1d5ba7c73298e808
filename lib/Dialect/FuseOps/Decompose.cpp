//===- Decompose.cpp - Pointwise operations written in core operations ---===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core.h"
#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Dialect/FuseOps/ScalarMath.h"

using namespace mlir;
using namespace mlir::fuseops;

//===----------------------------------------------------------------------===//
// Scalar functions
//===----------------------------------------------------------------------===//

namespace {
constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kSqrtHalfTail = -4.833646656726456726e-17;
constexpr double kInvSqrt2Pi = 0.39894228040143267794;
constexpr double kSqrt2OverPi = 0.79788456080286535588;
constexpr double kGeluCubic = 0.044715;
} // namespace

static Value silu(ScalarMath &m, Value x) { return m.mul(x, m.sigmoid(x)); }

static Value siluDerivative(ScalarMath &m, Value x) {
  Value s = m.sigmoid(x);
  Value one = m.constant(1.0);
  return m.mul(s, m.add(one, m.mul(x, m.sub(one, s))));
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

static Value gelu(ScalarMath &m, Value x, GeluKind kind) {
  return m.mul(x,
               kind == GeluKind::Exact ? normalCdf(m, x) : geluTanhGate(m, x));
}

static Value geluDerivative(ScalarMath &m, Value x, GeluKind kind) {
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

//===----------------------------------------------------------------------===//
// Pointwise operations
//===----------------------------------------------------------------------===//

SmallVector<Value> PointwiseOp::decompose(OpBuilder &builder,
                                          ValueRange operands) {
  return fuseops::detail::cloneWith(*this, builder, operands);
}

SmallVector<Value> AddOp::decompose(OpBuilder &builder, ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [](ScalarMath &m, auto v) {
                return m.add(v[0], v[1]);
              })};
}
SmallVector<Value> MulOp::decompose(OpBuilder &builder, ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [](ScalarMath &m, auto v) {
                return m.mul(v[0], v[1]);
              })};
}
SmallVector<Value> BiasOp::decompose(OpBuilder &builder, ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [](ScalarMath &m, auto v) {
                return m.add(v[0], v[1]);
              })};
}
SmallVector<Value> ScaleOp::decompose(OpBuilder &builder, ValueRange operands) {
  double by = getBy().convertToDouble();
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [&](ScalarMath &m, auto v) {
                return m.mul(v[0], m.constant(by));
              })};
}
SmallVector<Value> CastOp::decompose(OpBuilder &builder, ValueRange operands) {
  // The rounding is in the body: it stays when the value never leaves a kernel.
  Type element = cast<RankedTensorType>(getType()).getElementType();
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [&](ScalarMath &m, auto v) {
                return convertFloat(m.builder, m.loc, v[0], element);
              })};
}
SmallVector<Value> GeluOp::decompose(OpBuilder &builder, ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [&](ScalarMath &m, auto v) {
                return gelu(m, v[0], getApproximate());
              })};
}
SmallVector<Value> GeluGradOp::decompose(OpBuilder &builder,
                                         ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [&](ScalarMath &m, auto v) {
                return m.mul(v[0], geluDerivative(m, v[1], getApproximate()));
              })};
}
SmallVector<Value> SiluOp::decompose(OpBuilder &builder, ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands,
                         [](ScalarMath &m, auto v) { return silu(m, v[0]); })};
}
SmallVector<Value> SiluGradOp::decompose(OpBuilder &builder,
                                         ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [](ScalarMath &m, auto v) {
                return m.mul(v[0], siluDerivative(m, v[1]));
              })};
}
SmallVector<Value> ReluOp::decompose(OpBuilder &builder, ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [](ScalarMath &m, auto v) {
                return m.maximum(v[0], m.constant(0.0));
              })};
}
SmallVector<Value> ReluGradOp::decompose(OpBuilder &builder,
                                         ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [](ScalarMath &m, auto v) {
                Value zero = m.constant(0.0);
                // Not (x > 0): a NaN input lets the gradient through.
                Value off = arith::CmpFOp::create(
                    m.builder, m.loc, arith::CmpFPredicate::OLE, v[1], zero);
                return arith::SelectOp::create(m.builder, m.loc, off, zero,
                                               v[0])
                    .getResult();
              })};
}

//===----------------------------------------------------------------------===//
// Gated linear units
//===----------------------------------------------------------------------===//

/// The activation half and the other half of a packed GLU input.
static std::pair<Value, Value> splitHalves(OpBuilder &builder, Location loc,
                                           Value input, HalfOrder activation) {
  auto type = cast<RankedTensorType>(input.getType());
  int64_t half = getColumns(type) / 2;
  RankedTensorType part = withColumns(type, half, type.getElementType());
  Value first = SliceColumnsOp::create(builder, loc, part, input, 0);
  Value last = SliceColumnsOp::create(builder, loc, part, input, half);
  if (activation == HalfOrder::First)
    return {first, last};
  return {last, first};
}

using Activation = function_ref<Value(ScalarMath &, Value)>;

static SmallVector<Value> decomposeGlu(Operation *op, OpBuilder &builder,
                                       ValueRange operands,
                                       HalfOrder activation, Activation act) {
  auto [a, b] = splitHalves(builder, op->getLoc(), operands[0], activation);
  return {Core(op, builder, operands)
              .pointwise(op->getResult(0).getType(), {a, b},
                         [&](ScalarMath &m, auto v) {
                           return m.mul(act(m, v[0]), v[1]);
                         })};
}

static SmallVector<Value> decomposeGluGrad(Operation *op, OpBuilder &builder,
                                           ValueRange operands,
                                           HalfOrder activation, Activation act,
                                           Activation derivative) {
  Value gradient = operands[0], input = operands[1];
  auto [a, b] = splitHalves(builder, op->getLoc(), input, activation);
  Core core(op, builder, operands);
  Value da =
      core.pointwise(a.getType(), {gradient, a, b}, [&](ScalarMath &m, auto v) {
        return m.mul(m.mul(v[0], v[2]), derivative(m, v[1]));
      });
  Value db =
      core.pointwise(b.getType(), {gradient, a}, [&](ScalarMath &m, auto v) {
        return m.mul(v[0], act(m, v[1]));
      });
  if (activation == HalfOrder::Last)
    std::swap(da, db);
  return {ConcatColumnsOp::create(builder, op->getLoc(), input.getType(),
                                  ValueRange{da, db})};
}

static Value geluTanh(ScalarMath &m, Value x) {
  return gelu(m, x, GeluKind::Tanh);
}
static Value geluTanhDerivative(ScalarMath &m, Value x) {
  return geluDerivative(m, x, GeluKind::Tanh);
}

SmallVector<Value> SwigluOp::decompose(OpBuilder &builder,
                                       ValueRange operands) {
  return decomposeGlu(*this, builder, operands, getActivation(), silu);
}
SmallVector<Value> GegluOp::decompose(OpBuilder &builder, ValueRange operands) {
  return decomposeGlu(*this, builder, operands, getActivation(), geluTanh);
}
SmallVector<Value> SwigluGradOp::decompose(OpBuilder &builder,
                                           ValueRange operands) {
  return decomposeGluGrad(*this, builder, operands, getActivation(), silu,
                          siluDerivative);
}
SmallVector<Value> GegluGradOp::decompose(OpBuilder &builder,
                                          ValueRange operands) {
  return decomposeGluGrad(*this, builder, operands, getActivation(), geluTanh,
                          geluTanhDerivative);
}

//===----------------------------------------------------------------------===//
// Core operations that are their own decomposition
//===----------------------------------------------------------------------===//

SmallVector<Value> ReduceRowsOp::decompose(OpBuilder &builder,
                                           ValueRange operands) {
  return fuseops::detail::cloneWith(*this, builder, operands);
}
SmallVector<Value> ReduceColumnsOp::decompose(OpBuilder &builder,
                                              ValueRange operands) {
  return fuseops::detail::cloneWith(*this, builder, operands);
}
SmallVector<Value> SliceColumnsOp::decompose(OpBuilder &builder,
                                             ValueRange operands) {
  return fuseops::detail::cloneWith(*this, builder, operands);
}
SmallVector<Value> ConcatColumnsOp::decompose(OpBuilder &builder,
                                              ValueRange operands) {
  return fuseops::detail::cloneWith(*this, builder, operands);
}
