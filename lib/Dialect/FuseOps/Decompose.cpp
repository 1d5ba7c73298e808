//===- Decompose.cpp - Named operations written in core operations -------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Dialect/FuseOps/ScalarMath.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fuseops;

//===----------------------------------------------------------------------===//
// Building blocks
//===----------------------------------------------------------------------===//

namespace {
/// Writes core operations that compute in one type: f64 if the operation has an
/// f64 operand, else f32.
struct Core {
  Core(Operation *op, OpBuilder &builder, ValueRange operands)
      : builder(builder), loc(op->getLoc()), type(builder.getF32Type()) {
    auto visit = [&](Type operand) {
      if (auto tensor = dyn_cast<RankedTensorType>(operand))
        if (tensor.getElementType().isF64())
          type = tensor.getElementType();
    };
    llvm::for_each(operands.getTypes(), visit);
    llvm::for_each(op->getResultTypes(), visit);
  }

  using Body = function_ref<Value(ScalarMath &, ArrayRef<Value>)>;

  /// One result, `body` over the scalars converted to the compute type.
  Value pointwise(Type result, ValueRange operands, Body body) {
    auto build = [&](OpBuilder &b, Location l,
                     ValueRange args) -> SmallVector<Value> {
      ScalarMath m(b, l, type);
      SmallVector<Value> scalars;
      for (Value arg : args)
        scalars.push_back(isa<FloatType>(arg.getType()) ? m.convert(arg) : arg);
      Type element = cast<RankedTensorType>(result).getElementType();
      return {convertFloat(b, l, body(m, scalars), getComputeType(element))};
    };
    return PointwiseOp::build(builder, loc, result, operands, build)
        .getResult(0);
  }

  /// `type`'s shape in the compute type.
  RankedTensorType wide(Value value) {
    return cast<RankedTensorType>(value.getType()).clone(type);
  }
  RankedTensorType rowStat(Value value) {
    return withColumns(cast<RankedTensorType>(value.getType()), 1, type);
  }
  Value sumColumns(Value value) {
    return ReduceColumnsOp::create(builder, loc, rowStat(value), value,
                                   ReductionKind::Sum);
  }

  OpBuilder &builder;
  Location loc;
  Type type;
};
} // namespace

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
// Norms
//===----------------------------------------------------------------------===//

/// gamma, or 1 + gamma.
static Value gammaFactor(ScalarMath &m, Value gamma, bool zeroCentered) {
  return zeroCentered ? m.add(m.constant(1.0), gamma) : gamma;
}

SmallVector<Value> RmsNormOp::decompose(OpBuilder &builder,
                                        ValueRange operands) {
  Value x = operands[0];
  Core core(*this, builder, operands);
  double n = getColumns(cast<RankedTensorType>(x.getType()));
  double eps = getEps().convertToDouble();
  Value square = core.pointwise(
      core.wide(x), x, [](ScalarMath &m, auto v) { return m.mul(v[0], v[0]); });
  Value rstd = core.pointwise(core.rowStat(x), core.sumColumns(square),
                              [&](ScalarMath &m, auto v) {
                                Value mean = m.div(v[0], m.constant(n));
                                return m.rsqrt(m.add(mean, m.constant(eps)));
                              });
  SmallVector<Value> inputs = {x, rstd};
  llvm::append_range(inputs, operands.drop_front());
  Value y =
      core.pointwise(getResult().getType(), inputs, [&](ScalarMath &m, auto v) {
        Value h = m.mul(v[0], v[1]);
        return getGamma()
                   ? m.mul(h, gammaFactor(m, v[2], getZeroCenteredGamma()))
                   : h;
      });
  return {y, rstd};
}

SmallVector<Value> LayerNormOp::decompose(OpBuilder &builder,
                                          ValueRange operands) {
  Value x = operands[0];
  Core core(*this, builder, operands);
  double n = getColumns(cast<RankedTensorType>(x.getType()));
  double eps = getEps().convertToDouble();
  Value wide = core.pointwise(core.wide(x), x,
                              [](ScalarMath &, auto v) { return v[0]; });
  Value mean = core.pointwise(
      core.rowStat(x), core.sumColumns(wide),
      [&](ScalarMath &m, auto v) { return m.div(v[0], m.constant(n)); });
  Value square =
      core.pointwise(core.wide(x), {x, mean}, [](ScalarMath &m, auto v) {
        Value d = m.sub(v[0], v[1]);
        return m.mul(d, d);
      });
  Value rstd = core.pointwise(
      core.rowStat(x), core.sumColumns(square), [&](ScalarMath &m, auto v) {
        Value variance = m.div(v[0], m.constant(n));
        return m.rsqrt(m.add(variance, m.constant(eps)));
      });
  SmallVector<Value> inputs = {x, mean, rstd};
  llvm::append_range(inputs, operands.drop_front());
  Value y =
      core.pointwise(getResult().getType(), inputs, [&](ScalarMath &m, auto v) {
        Value h = m.mul(m.sub(v[0], v[1]), v[2]);
        unsigned next = 3;
        if (getGamma())
          h = m.mul(h, gammaFactor(m, v[next++], getZeroCenteredGamma()));
        return getBeta() ? m.add(h, v[next]) : h;
      });
  return {y, mean, rstd};
}

/// Both norm gradients: `mean` is null for rms_norm.
static SmallVector<Value> decomposeNormGrad(Operation *op, OpBuilder &builder,
                                            ValueRange operands, Value gradient,
                                            Value x, Value mean, Value rstd,
                                            Value gamma, bool zeroCentered) {
  Core core(op, builder, operands);
  double n = getColumns(cast<RankedTensorType>(x.getType()));
  // h is the normalized input, g the gradient that it gets.
  SmallVector<Value> inputs = {x, rstd};
  if (mean)
    inputs.push_back(mean);
  Value h = core.pointwise(core.wide(x), inputs, [&](ScalarMath &m, auto v) {
    return m.mul(mean ? m.sub(v[0], v[2]) : v[0], v[1]);
  });
  inputs = {gradient};
  if (gamma)
    inputs.push_back(gamma);
  Value g = core.pointwise(core.wide(x), inputs, [&](ScalarMath &m, auto v) {
    return gamma ? m.mul(v[0], gammaFactor(m, v[1], zeroCentered)) : v[0];
  });
  auto product = [](ScalarMath &m, ArrayRef<Value> v) {
    return m.mul(v[0], v[1]);
  };
  Value sumGH = core.sumColumns(core.pointwise(core.wide(x), {g, h}, product));
  inputs = {g, h, rstd, sumGH};
  if (mean)
    inputs.push_back(core.sumColumns(g));
  SmallVector<Value> results = {core.pointwise(
      op->getResult(0).getType(), inputs, [&](ScalarMath &m, auto v) {
        Value count = m.constant(n);
        Value d = m.sub(v[0], m.mul(v[1], m.div(v[3], count)));
        if (mean)
          d = m.sub(d, m.div(v[4], count));
        return m.mul(v[2], d);
      })};
  if (gamma)
    results.push_back(ReduceRowsOp::create(
        builder, op->getLoc(), op->getResult(1).getType(),
        core.pointwise(core.wide(x), {gradient, h}, product),
        ReductionKind::Sum));
  return results;
}

SmallVector<Value> RmsNormGradOp::decompose(OpBuilder &builder,
                                            ValueRange operands) {
  return decomposeNormGrad(
      *this, builder, operands, operands[0], operands[1], Value(), operands[2],
      getGamma() ? operands[3] : Value(), getZeroCenteredGamma());
}
SmallVector<Value> LayerNormGradOp::decompose(OpBuilder &builder,
                                              ValueRange operands) {
  return decomposeNormGrad(
      *this, builder, operands, operands[0], operands[1], operands[2],
      operands[3], getGamma() ? operands[4] : Value(), getZeroCenteredGamma());
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

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

namespace {
/// Philox 4x32 with 10 rounds (Salmon et al., "Parallel random numbers: as easy
/// as 1, 2, 3", SC 2011), on i32 scalars.
struct Philox {
  OpBuilder &builder;
  Location loc;

  Value constant(uint32_t value) {
    return arith::ConstantOp::create(
        builder, loc,
        builder.getIntegerAttr(builder.getI32Type(),
                               static_cast<int32_t>(value)));
  }
  /// Low and high word of an i64.
  std::pair<Value, Value> words(Value wide) {
    Value shift =
        arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(32));
    Type i32 = builder.getI32Type();
    Value low = arith::TruncIOp::create(builder, loc, i32, wide);
    Value high = arith::TruncIOp::create(
        builder, loc, i32, arith::ShRUIOp::create(builder, loc, wide, shift));
    return {low, high};
  }
  Value bitXor(Value a, Value b) {
    return arith::XOrIOp::create(builder, loc, a, b);
  }

  std::array<Value, 4> operator()(std::array<Value, 4> counter,
                                  std::array<Value, 2> key) {
    for (int round = 0; round < 10; ++round) {
      if (round) {
        key[0] =
            arith::AddIOp::create(builder, loc, key[0], constant(0x9E3779B9));
        key[1] =
            arith::AddIOp::create(builder, loc, key[1], constant(0xBB67AE85));
      }
      auto a = arith::MulUIExtendedOp::create(builder, loc,
                                              constant(0xD2511F53), counter[0]);
      auto b = arith::MulUIExtendedOp::create(builder, loc,
                                              constant(0xCD9E8D57), counter[2]);
      counter = {bitXor(bitXor(b.getHigh(), counter[1]), key[0]), b.getLow(),
                 bitXor(bitXor(a.getHigh(), counter[3]), key[1]), a.getLow()};
    }
    return counter;
  }
};
} // namespace

SmallVector<Value> DropoutOp::decompose(OpBuilder &builder,
                                        ValueRange operands) {
  double p = getP().convertToDouble();
  Core core(*this, builder, operands);
  auto word = RankedTensorType::get({1}, builder.getI64Type());
  Value seed = SliceColumnsOp::create(builder, getLoc(), word, operands[1], 0);
  Value offset =
      SliceColumnsOp::create(builder, getLoc(), word, operands[1], 1);
  return {core.pointwise(
      getType(), {operands[0], seed, offset}, [&](ScalarMath &m, auto v) {
        OpBuilder &b = m.builder;
        Location l = m.loc;
        Philox philox{b, l};
        auto i64 = [&](int64_t value) -> Value {
          return arith::ConstantOp::create(b, l, b.getI64IntegerAttr(value));
        };
        Value index = LinearIndexOp::create(b, l, b.getI64Type());
        Value block = arith::ShRUIOp::create(b, l, index, i64(2));
        Value lane = arith::AndIOp::create(b, l, index, i64(3));
        auto [blockLow, blockHigh] = philox.words(block);
        auto [offsetLow, offsetHigh] = philox.words(v[2]);
        auto [seedLow, seedHigh] = philox.words(v[1]);
        std::array<Value, 4> bits = philox(
            {blockLow, blockHigh, offsetLow, offsetHigh}, {seedLow, seedHigh});
        Value chosen = bits[0];
        for (int i = 1; i < 4; ++i) {
          Value isLane = arith::CmpIOp::create(b, l, arith::CmpIPredicate::eq,
                                               lane, i64(i));
          chosen = arith::SelectOp::create(b, l, isLane, bits[i], chosen);
        }
        double threshold = std::min(std::round(p * 4294967296.0), 4294967295.0);
        Value keep = arith::CmpIOp::create(
            b, l, arith::CmpIPredicate::uge, chosen,
            philox.constant(static_cast<uint32_t>(threshold)));
        Value scaled = m.mul(v[0], m.constant(1.0 / (1.0 - p)));
        return arith::SelectOp::create(b, l, keep, scaled, m.constant(0.0))
            .getResult();
      })};
}

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

static double maxValue(Type format) {
  return APFloat::getLargest(cast<FloatType>(format).getFloatSemantics())
      .convertToDouble();
}

SmallVector<Value> AmaxOp::decompose(OpBuilder &builder, ValueRange operands) {
  Core core(*this, builder, operands);
  Value magnitude =
      core.pointwise(core.wide(operands[0]), operands[0],
                     [](ScalarMath &m, auto v) { return m.abs(v[0]); });
  Value rows =
      ReduceColumnsOp::create(builder, getLoc(), core.rowStat(operands[0]),
                              magnitude, ReductionKind::Max);
  Value all = ReduceRowsOp::create(builder, getLoc(),
                                   RankedTensorType::get({}, core.type), rows,
                                   ReductionKind::Max);
  // Of no elements the maximum is -inf, and amax is 0.
  return {core.pointwise(getType(), all, [](ScalarMath &m, auto v) {
    return m.maximum(v[0], m.constant(0.0));
  })};
}

/// `compute_scale` on scalars, in f32 whatever the program computes in: the
/// rules fp8_s1 to fp8_s3 are about f32 numbers.
static Value scaleFromAmax(OpBuilder &b, Location l, Value amax, Type format,
                           bool powerOfTwo) {
  ScalarMath m(b, l, b.getF32Type());
  amax = m.convert(amax);
  Value infinity = m.constant(std::numeric_limits<double>::infinity());
  Value zero = m.constant(0.0);
  Value scale = m.div(m.constant(maxValue(format)), amax);
  Value largest = m.constant(std::numeric_limits<float>::max());
  Value overflows =
      arith::CmpFOp::create(b, l, arith::CmpFPredicate::OEQ, scale, infinity);
  scale = arith::SelectOp::create(b, l, overflows, largest, scale); // fp8_s2
  if (powerOfTwo) {                                                 // fp8_s3
    Value bits = arith::BitcastOp::create(b, l, b.getI32Type(), scale);
    Value mask = arith::ConstantOp::create(
        b, l, b.getI32IntegerAttr(static_cast<int32_t>(0xFF800000u)));
    bits = arith::AndIOp::create(b, l, bits, mask);
    scale = arith::BitcastOp::create(b, l, b.getF32Type(), bits);
  }
  Value isPositive =
      arith::CmpFOp::create(b, l, arith::CmpFPredicate::OGT, amax, zero);
  Value isFinite =
      arith::CmpFOp::create(b, l, arith::CmpFPredicate::OLT, amax, infinity);
  Value isUsable = arith::AndIOp::create(b, l, isPositive, isFinite);
  return arith::SelectOp::create(b, l, isUsable, scale,
                                 m.constant(1.0)); // fp8_s1
}

SmallVector<Value> ComputeScaleOp::decompose(OpBuilder &builder,
                                             ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [&](ScalarMath &m, auto v) {
                return m.convert(scaleFromAmax(m.builder, m.loc, v[0],
                                               getFormat(), getPowerOfTwo()));
              })};
}

SmallVector<Value> QuantizeOp::decompose(OpBuilder &builder,
                                         ValueRange operands) {
  QuantizedType type = getResult().getType();
  SmallVector<RankedTensorType> parts = type.getParts();
  Core core(*this, builder, operands);
  Value scale;
  if (type.getScale() == ScaleKind::PerTensor) {
    scale = operands[1];
  } else {
    Value magnitude =
        core.pointwise(core.wide(operands[0]), operands[0],
                       [](ScalarMath &m, auto v) { return m.abs(v[0]); });
    Value amax =
        ReduceColumnsOp::create(builder, getLoc(), core.rowStat(operands[0]),
                                magnitude, ReductionKind::Max);
    scale = core.pointwise(
        core.rowStat(operands[0]), amax, [&](ScalarMath &m, auto v) {
          return m.convert(scaleFromAmax(m.builder, m.loc, v[0],
                                         type.getElementType(), false));
        });
  }
  double largest = maxValue(type.getElementType());
  Value data = core.pointwise(
      parts[0], {operands[0], scale}, [&](ScalarMath &wide, auto v) {
        // The product is rounded to f32, then clamped, then rounded to FP8.
        ScalarMath m(wide.builder, wide.loc, wide.builder.getF32Type());
        Value product = m.convert(wide.mul(v[0], v[1]));
        return m.minimum(m.maximum(product, m.constant(-largest)), // fp8_r2
                         m.constant(largest));
      });
  Value inverse = core.pointwise(parts[1], scale, [](ScalarMath &wide, auto v) {
    ScalarMath m(wide.builder, wide.loc, wide.builder.getF32Type());
    return m.div(m.constant(1.0), m.convert(v[0]));
  });
  return {PackQuantizedOp::create(builder, getLoc(), type,
                                  ValueRange{data, inverse})};
}

SmallVector<Value> DequantizeOp::decompose(OpBuilder &builder,
                                           ValueRange operands) {
  QuantizedType type = getInput().getType();
  SmallVector<Type> partTypes(llvm::map_range(
      type.getParts(), [](RankedTensorType part) -> Type { return part; }));
  auto parts =
      UnpackQuantizedOp::create(builder, getLoc(), partTypes, operands[0]);
  Core core(*this, builder, parts.getResults());
  return {
      core.pointwise(getType(), {parts.getResult(0), parts.getResult(1)},
                     [](ScalarMath &m, auto v) { return m.mul(v[0], v[1]); })};
}
