//===- PointwiseGradients.cpp - The backward operations of activations ---===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PointwiseTable.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fuseops;
using namespace mlir::fuseops::slots;

using Math = TorchMath;
using Args = PointwiseArguments;

/// `gradient` where the condition holds, else 0.
static Value mask(Math &m, Value condition, Value gradient) {
  return m.select(condition, gradient, m.constant(0.0));
}

/// Whether x is within the bounds, which count as within.
static Value isWithin(Math &m, Value x, double low, double high) {
  return m.both(m.ge(x, m.constant(low)), m.le(x, m.constant(high)));
}

static Value buildEluBackward(Math &m, const Args &a) {
  Value gradient = a[0], x = a[5];
  double alpha = a.number(1), scale = a.number(2), slope = a.number(3);
  bool isResult = a.number(4) != 0.0;
  Value negative = m.constant(alpha * scale);
  // Of the result the exponential is already there.
  Value curve = isResult ? m.add(x, negative)
                         : m.mul(negative, m.exp(m.mul(x, m.constant(slope))));
  curve = m.mul(m.constant(slope), curve);
  Value isNegative = m.le(x, m.constant(0.0));
  return m.mul(gradient, m.select(isNegative, curve, m.constant(scale)));
}

static Value buildSoftplusBackward(Math &m, const Args &a) {
  Value scaled = m.mul(a[1], m.constant(a.number(2)));
  Value isLinear = m.gt(scaled, m.constant(a.number(3)));
  return m.select(isLinear, a[0], m.mul(a[0], m.sigmoid(scaled)));
}

static Value buildMishBackward(Math &m, const Args &a) {
  Value x = a[1], one = m.constant(1.0);
  Value isLinear = m.gt(x, m.constant(20.0));
  Value curved = m.build<math::Log1pOp>(m.exp(x));
  Value t = m.tanh(m.select(isLinear, x, curved));
  Value slope = m.mul(m.sigmoid(x), m.sub(one, m.mul(t, t)));
  return m.mul(a[0], m.add(t, m.mul(x, slope)));
}

static Value buildLogitBackward(Math &m, const Args &a) {
  Value x = a[1], one = m.constant(1.0);
  Value slope = m.div(a[0], m.mul(x, m.sub(one, x)));
  std::optional<double> eps = a.maybe(2);
  Value isOutside = m.either(m.lt(x, m.constant(eps.value_or(0.0))),
                             m.gt(x, m.constant(1.0 - eps.value_or(0.0))));
  return m.select(isOutside, m.constant(eps ? 0.0 : std::nan("")), slope);
}

static Value buildHardswishBackward(Math &m, const Args &a) {
  Value x = a[1], three = m.constant(3.0);
  Value curve = m.add(m.mul(x, m.constant(1.0 / 3.0)), m.constant(0.5));
  Value right = m.select(m.lt(x, three), m.mul(a[0], curve), a[0]);
  return m.select(m.le(x, m.constant(-3.0)), m.constant(0.0), right);
}

static Value buildLeakyBackward(Math &m, Value gradient, Value x,
                                double slope) {
  Value scaled = m.mul(gradient, m.constant(slope));
  return m.select(m.gt(x, m.constant(0.0)), gradient, scaled);
}

/// A named gradient operation of the gradient and the input.
template <typename OpT, typename... ArgTs>
static Value buildNamed(PointwiseCall &p, ArgTs... arguments) {
  Value gradient = p.tensor(0), input = p.tensor(1);
  if (!gradient || !input || gradient.getType() != p.result ||
      input.getType() != p.result)
    return {};
  return OpT::create(p.call.builder, p.call.getLoc(), p.result, gradient, input,
                     arguments...);
}

static PointwiseRow row(StringRef names, ArrayRef<Slot> slots,
                        PointwiseBody body, PointwiseNamed named = nullptr) {
  return {names,
          SmallVector<Slot>(slots),
          Promotion::Common,
          std::move(body),
          Domain::Float,
          std::move(named)};
}

static SmallVector<PointwiseRow> getGradientRows() {
  return {
      row("sigmoid_backward", {x, x},
          [](Math &m, const Args &a) {
            Value rest = m.sub(m.constant(1.0), a[1]);
            return m.mul(a[0], m.mul(rest, a[1]));
          }),
      row("tanh_backward", {x, x},
          [](Math &m, const Args &a) {
            return m.mul(a[0], m.sub(m.constant(1.0), m.square(a[1])));
          }),
      row(
          "silu_backward", {x, x},
          [](Math &m, const Args &a) {
            Value one = m.constant(1.0), s = m.sigmoid(a[1]);
            Value slope = m.add(one, m.mul(a[1], m.sub(one, s)));
            return m.mul(a[0], m.mul(s, slope));
          },
          [](PointwiseCall &p) { return buildNamed<SiluGradOp>(p); }),
      row("mish_backward", {x, x}, buildMishBackward),
      row("hardswish_backward", {x, x}, buildHardswishBackward),
      row("hardsigmoid_backward", {x, x},
          [](Math &m, const Args &a) {
            Value isInside = m.both(m.gt(a[1], m.constant(-3.0)),
                                    m.lt(a[1], m.constant(3.0)));
            return mask(m, isInside, m.mul(a[0], m.constant(1.0 / 6.0)));
          }),
      row("hardtanh_backward", {x, x, parameter, parameter},
          [](Math &m, const Args &a) {
            Value isOutside = m.either(m.le(a[1], m.constant(a.number(2))),
                                       m.ge(a[1], m.constant(a.number(3))));
            return mask(m, m.negate(isOutside), a[0]);
          }),
      row("leaky_relu_backward", {x, x, parameter, ignored},
          [](Math &m, const Args &a) {
            return buildLeakyBackward(m, a[0], a[1], a.number(2));
          }),
      row("elu_backward", {x, parameter, parameter, parameter, parameter, x},
          buildEluBackward),
      row("softplus_backward", {x, x, parameter, parameter},
          buildSoftplusBackward),
      {"threshold_backward",
       {x, x, parameter},
       Promotion::Eager,
       [](Math &m, const Args &a) {
         Value isBelow = m.le(a[1], m.constant(a.number(2)));
         return m.select(isBelow, m.constant(0.0), a[0]);
       },
       Domain::Any,
       [](PointwiseCall &p) {
         return p.arguments.number(2) == 0.0 ? buildNamed<ReluGradOp>(p)
                                             : Value();
       }},
      row("log_sigmoid_backward", {x, x, ignored},
          [](Math &m, const Args &a) {
            return m.mul(a[0], m.sigmoid(m.neg(a[1])));
          }),
      row("softshrink_backward hardshrink_backward", {x, x, parameter},
          [](Math &m, const Args &a) {
            double bound = a.number(2);
            return mask(m, m.negate(isWithin(m, a[1], -bound, bound)), a[0]);
          }),
      row("logit_backward", {x, x, maybe}, buildLogitBackward),
      // Of the noise only training takes account: it's the slope.
      row("rrelu_with_noise_backward",
          {x, x, x, parameter, parameter, parameter, ignored},
          [](Math &m, const Args &a) {
            if (a.number(5) != 0.0)
              return m.mul(a[0], a[2]);
            double slope = (a.number(3) + a.number(4)) / 2.0;
            return buildLeakyBackward(m, a[0], a[1], slope);
          }),
  };
}

static LogicalResult convertGeluBackward(TorchCall &call) {
  FailureOr<GeluKind> kind = readGeluKind(call, 2);
  if (failed(kind))
    return failure();
  FailureOr<Value> gradient = call.floatTensor(0);
  if (failed(gradient))
    return failure();
  FailureOr<Value> input = call.floatTensor(1);
  if (failed(input))
    return failure();
  if (gradient->getType() != input->getType())
    return call.refuse("expected a gradient of the input's type");
  return call.set(0, GeluGradOp::create(call.builder, call.getLoc(),
                                        input->getType(), *gradient, *input,
                                        *kind));
}

/// The gradients of the input and of the weight, which has the input's shape
/// after broadcasting.
static LogicalResult convertPReluBackward(TorchCall &call) {
  FailureOr<Value> gradient = call.floatTensor(0);
  if (failed(gradient))
    return failure();
  FailureOr<Value> input = call.floatTensor(1);
  if (failed(input))
    return failure();
  FailureOr<Value> weight = call.floatTensor(2);
  if (failed(weight))
    return failure();
  auto set = [&](unsigned index, ValueRange operands,
                 function_ref<Value(Math &, ArrayRef<Value>)> function) {
    if (!call.isResultUsed(index))
      return success();
    FailureOr<RankedTensorType> type = call.floatResultType(index);
    if (failed(type))
      return failure();
    for (Value operand : operands)
      if (!isBroadcastableTo(cast<RankedTensorType>(operand.getType()), *type))
        return call.refuse("expected operands that broadcast to the results");
    return call.set(index, buildPointwise(call, *type, operands, function));
  };
  if (failed(
          set(0, {*gradient, *input, *weight}, [](Math &m, ArrayRef<Value> v) {
            Value scaled = m.mul(v[2], v[0]);
            return m.select(m.gt(v[1], m.constant(0.0)), v[0], scaled);
          })))
    return failure();
  return set(1, {*gradient, *input}, [](Math &m, ArrayRef<Value> v) {
    Value product = m.mul(v[1], v[0]);
    return m.select(m.gt(v[1], m.constant(0.0)), m.constant(0.0), product);
  });
}

void mlir::fuseops::addActivationGradientHandlers(TorchHandlers &handlers) {
  addPointwiseRows(handlers, getGradientRows());
  handlers.add("aten.gelu_backward", 2, 3, convertGeluBackward);
  handlers.add("aten._prelu_kernel_backward", 3, 3, convertPReluBackward);
}
