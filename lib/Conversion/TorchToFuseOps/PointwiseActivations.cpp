//===- PointwiseActivations.cpp - Activations ----------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "FuseOps/Dialect/FuseOps/SpecialFunctions.h"
#include "PointwiseTable.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fuseops;
using namespace mlir::fuseops::slots;

using Math = TorchMath;
using Args = PointwiseArguments;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//
//
// The derivative of a body is PyTorch's also at kinks and for NaN: which branch
// a select takes there decides.

static Value buildHardtanh(Math &m, Value x, double least, double greatest) {
  Value low = m.constant(least), high = m.constant(greatest);
  Value bounded = m.select(m.ge(x, high), high, x);
  return m.select(m.le(x, low), low, bounded);
}

static Value buildHardsigmoid(Math &m, Value x) {
  Value three = m.constant(3.0), minusThree = m.constant(-3.0);
  Value isInside = m.both(m.gt(x, minusThree), m.lt(x, three));
  Value slope = m.mul(m.add(x, three), m.constant(1.0 / 6.0));
  Value outside = m.select(
      m.ge(x, three), m.constant(1.0),
      m.select(m.le(x, minusThree), m.constant(0.0), m.constant(std::nan(""))));
  return m.select(isInside, slope, outside);
}

static Value buildHardswish(Math &m, Value x) {
  Value three = m.constant(3.0), zero = m.constant(0.0);
  Value isLeft = m.le(x, m.constant(-3.0)), isRight = m.ge(x, three);
  // The slope of the curve at infinity is no number, also where it's dropped.
  Value safe = m.select(m.either(isLeft, isRight), zero, x);
  Value curve = m.mul(m.mul(safe, m.add(safe, three)), m.constant(1.0 / 6.0));
  return m.select(isLeft, m.mul(x, zero), m.select(isRight, x, curve));
}

static Value buildSoftshrink(Math &m, Value x, double lambda) {
  Value bound = m.constant(lambda);
  Value shrunk = m.select(m.gt(x, bound), m.sub(x, bound), m.add(x, bound));
  Value isInside = m.both(m.ge(x, m.constant(-lambda)), m.le(x, bound));
  return m.select(isInside, m.mul(x, m.constant(0.0)), shrunk);
}

static Value buildHardshrink(Math &m, Value x, double lambda) {
  Value isInside =
      m.both(m.ge(x, m.constant(-lambda)), m.le(x, m.constant(lambda)));
  return m.select(isInside, m.constant(0.0), x);
}

static Value buildLeakyRelu(Math &m, Value x, Value slope) {
  return m.select(m.gt(x, m.constant(0.0)), x, m.mul(x, slope));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

template <typename OpT>
static Value buildNamed(PointwiseCall &p) {
  Value input = p.tensor(0);
  if (!input || input.getType() != p.result)
    return {};
  return OpT::create(p.call.builder, p.call.getLoc(), p.result, input);
}

static SmallVector<PointwiseRow> getActivationRows() {
  constexpr auto kCommon = Promotion::Common;
  constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
  constexpr double kSeluScale = 1.0507009873554804934193349852946;
  return {
      {"relu",
       {x},
       kCommon,
       [](Math &m, const Args &a) { return m.maximum(a[0], m.constant(0.0)); },
       Domain::Any,
       buildNamed<ReluOp>},
      {"silu",
       {x},
       kCommon,
       [](Math &m, const Args &a) { return m.mul(a[0], m.sigmoid(a[0])); },
       Domain::Float,
       buildNamed<SiluOp>},
      {"relu6",
       {x},
       kCommon,
       [](Math &m, const Args &a) { return buildHardtanh(m, a[0], 0.0, 6.0); }},
      {"hardtanh",
       {x, parameterOr(-1.0), parameterOr(1.0)},
       kCommon,
       [](Math &m, const Args &a) {
         return buildHardtanh(m, a[0], a.number(1), a.number(2));
       }},
      {"hardsigmoid",
       {x},
       kCommon,
       [](Math &m, const Args &a) { return buildHardsigmoid(m, a[0]); },
       Domain::Float},
      {"hardswish",
       {x},
       kCommon,
       [](Math &m, const Args &a) { return buildHardswish(m, a[0]); },
       Domain::Float},
      {"leaky_relu",
       {x, parameterOr(0.01)},
       kCommon,
       [](Math &m, const Args &a) {
         return buildLeakyRelu(m, a[0], m.constant(a.number(1)));
       },
       Domain::Float},
      {"_prelu_kernel",
       {x, x},
       kCommon,
       [](Math &m, const Args &a) { return buildLeakyRelu(m, a[0], a[1]); },
       Domain::Float},
      {"elu",
       {x, parameterOr(1.0), parameterOr(1.0), parameterOr(1.0)},
       kCommon,
       [](Math &m, const Args &a) {
         return special::elu(m, a[0], a.number(1), a.number(2), a.number(3));
       },
       Domain::Float},
      {"celu",
       {x, parameterOr(1.0)},
       kCommon,
       [](Math &m, const Args &a) {
         return special::elu(m, a[0], a.number(1), 1.0, 1.0 / a.number(1));
       },
       Domain::Float},
      {"selu",
       {x},
       kCommon,
       [](Math &m, const Args &a) {
         return special::elu(m, a[0], kSeluAlpha, kSeluScale, 1.0);
       },
       Domain::Float},
      {"softplus",
       {x, parameterOr(1.0), parameterOr(20.0)},
       kCommon,
       [](Math &m, const Args &a) {
         return special::softplus(m, a[0], a.number(1), a.number(2));
       },
       Domain::Float},
      {"mish",
       {x},
       kCommon,
       [](Math &m, const Args &a) { return special::mish(m, a[0]); },
       Domain::Float},
      {"log_sigmoid",
       {x},
       kCommon,
       [](Math &m, const Args &a) { return special::logSigmoid(m, a[0]); },
       Domain::Float},
      {"softshrink",
       {x, parameterOr(0.5)},
       kCommon,
       [](Math &m, const Args &a) {
         return buildSoftshrink(m, a[0], a.number(1));
       },
       Domain::Float},
      {"hardshrink",
       {x, parameterOr(0.5)},
       kCommon,
       [](Math &m, const Args &a) {
         return buildHardshrink(m, a[0], a.number(1));
       },
       Domain::Float},
      {"tanhshrink",
       {x},
       Promotion::Float,
       [](Math &m, const Args &a) { return m.sub(a[0], m.tanh(a[0])); }},
      {"threshold",
       {x, parameter, parameter},
       kCommon,
       [](Math &m, const Args &a) {
         return m.select(m.le(a[0], m.constant(a.number(1))),
                         m.constant(a.number(2)), a[0]);
       }},
  };
}

//===----------------------------------------------------------------------===//
// Operations that no row describes
//===----------------------------------------------------------------------===//

static LogicalResult convertGelu(TorchCall &call) {
  FailureOr<GeluKind> kind = readGeluKind(call, 1);
  if (failed(kind))
    return failure();
  FailureOr<Value> input = call.floatTensor(0);
  if (failed(input))
    return failure();
  return call.set(0, GeluOp::create(call.builder, call.getLoc(),
                                    input->getType(), *input, *kind));
}

/// The second result is `exp(-|x|)` on the CPU, and empty on CUDA. No gradient
/// flows through it.
static LogicalResult convertLogSigmoidForward(TorchCall &call) {
  if (call.isResultUsed(1)) {
    FailureOr<Value> input = call.floatTensor(0);
    if (failed(input))
      return failure();
    FailureOr<RankedTensorType> buffer = call.resultType(1);
    if (failed(buffer))
      return failure();
    if (*buffer != input->getType())
      return call.refuse("expected a buffer like the input, or no uses of it");
    Value power =
        buildPointwise(call, *buffer, *input, [](Math &m, ArrayRef<Value> v) {
          return m.exp(m.neg(m.abs(m.detach(v[0]))));
        });
    if (failed(call.set(1, power)))
      return failure();
  }
  return convertPointwise(call, {"",
                                 {x},
                                 Promotion::Common,
                                 [](Math &m, const Args &a) {
                                   return special::logSigmoid(m, a[0]);
                                 },
                                 Domain::Float});
}

/// Without training: the slope is the middle of the interval.
static LogicalResult convertRRelu(TorchCall &call, unsigned first) {
  FailureOr<bool> isTraining = call.booleanOr(first + 2, false);
  if (failed(isTraining))
    return failure();
  if (*isTraining)
    return call.refuse("expected no training, whose slopes are random numbers "
                       "of PyTorch's own");
  SmallVector<Slot> operands(first, ignored);
  operands.front() = x;
  operands.append({parameterOr(1.0 / 8.0), parameterOr(1.0 / 3.0)});
  return convertPointwise(
      call, {"", operands, Promotion::Common,
             [=](Math &m, const Args &a) {
               double slope = (a.number(first) + a.number(first + 1)) / 2.0;
               return buildLeakyRelu(m, a[0], m.constant(slope));
             },
             Domain::Float});
}

/// One weight a channel, which is dimension 1.
static LogicalResult convertPRelu(TorchCall &call) {
  FailureOr<TorchValue> value = call.floatOrSplat(0);
  if (failed(value))
    return failure();
  FailureOr<Value> weight = call.floatTensor(1);
  if (failed(weight))
    return failure();
  RankedTensorType type = value->type;
  auto weightType = cast<RankedTensorType>(weight->getType());
  if (weightType.getElementType() != type.getElementType() ||
      weightType.getRank() > 1 || !weightType.hasStaticShape())
    return call.refuse("expected one weight, or one a channel, of the input's "
                       "dtype");
  int64_t numWeights = weightType.getNumElements(), channel = 0;
  bool hasChannels = value->getRank() > 1 && !value->isSplit(1);
  if (hasChannels)
    channel = value->getDim(1);
  if (numWeights != 1 &&
      (!hasChannels || type.getDimSize(channel) != numWeights))
    return call.refuse("expected one weight, or one a channel, but got " +
                       Twine(numWeights));
  SmallVector<int64_t> shape(hasChannels ? type.getRank() - channel : 0, 1);
  if (hasChannels)
    shape.front() = numWeights;
  Value slopes = reshapeTo(call.builder, call.getLoc(), *weight, shape);
  return call.set(0,
                  buildPointwise(call, type, {call.materialize(*value), slopes},
                                 [](Math &m, ArrayRef<Value> v) {
                                   return buildLeakyRelu(m, v[0], v[1]);
                                 }));
}

/// The halves of operand `index` along the dimension that operand `dimIndex`
/// is.
static FailureOr<std::pair<Value, Value>>
splitHalves(TorchCall &call, unsigned index, unsigned dimIndex, int64_t &dim) {
  FailureOr<TorchValue> value = call.floatOrSplat(index);
  if (failed(value))
    return failure();
  RankedTensorType type = value->type;
  if (type.getRank() == 0)
    return call.refuse("expected a tensor with dimensions");
  FailureOr<int64_t> given = call.isNone(dimIndex)
                                 ? FailureOr<int64_t>(value->getRank() - 1)
                                 : call.dimension(dimIndex, value->getRank());
  if (failed(given))
    return failure();
  dim = value->getDim(*given);
  if (type.isDynamicDim(dim) || type.getDimSize(dim) % 2)
    return call.refuse("expected an even, constant size of dimension " +
                       Twine(*given));
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= 2;
  auto half = RankedTensorType::get(shape, type.getElementType());
  Location loc = call.getLoc();
  Value input = call.materialize(*value);
  Value first = SliceOp::create(call.builder, loc, half, input, dim, 0);
  Value last = SliceOp::create(call.builder, loc, half, input, dim, shape[dim]);
  return std::pair(first, last);
}

static LogicalResult convertGlu(TorchCall &call) {
  int64_t dim = 0;
  auto halves = splitHalves(call, 0, 1, dim);
  if (failed(halves))
    return failure();
  auto [value, gate] = *halves;
  auto type = cast<RankedTensorType>(value.getType());
  return call.set(0, buildPointwise(call, type, {value, gate},
                                    [](Math &m, ArrayRef<Value> v) {
                                      return m.mul(v[0], m.sigmoid(v[1]));
                                    }));
}

/// `gradient * sigmoid(gate)` and `gradient * value * sigmoid'(gate)`.
static LogicalResult convertGluBackward(TorchCall &call) {
  FailureOr<Value> gradient = call.floatTensor(0);
  if (failed(gradient))
    return failure();
  int64_t dim = 0;
  auto halves = splitHalves(call, 1, 2, dim);
  if (failed(halves))
    return failure();
  auto [value, gate] = *halves;
  auto type = cast<RankedTensorType>(value.getType());
  if (gradient->getType() != type)
    return call.refuse("expected a gradient of half the input's size");
  Value first = buildPointwise(
      call, type, {*gradient, gate},
      [](Math &m, ArrayRef<Value> v) { return m.mul(v[0], m.sigmoid(v[1])); });
  Value last = buildPointwise(
      call, type, {*gradient, value, gate}, [](Math &m, ArrayRef<Value> v) {
        Value s = m.sigmoid(v[2]), c = m.sigmoid(m.neg(v[2]));
        return m.mul(m.mul(v[0], v[1]), m.mul(s, c));
      });
  FailureOr<RankedTensorType> result = call.resultType();
  if (failed(result))
    return failure();
  return call.set(0, ConcatOp::create(call.builder, call.getLoc(), *result,
                                      ValueRange{first, last}, dim));
}

void mlir::fuseops::addActivationHandlers(TorchHandlers &handlers) {
  addPointwiseRows(handlers, getActivationRows());
  handlers.add("aten.gelu", 1, 2, convertGelu);
  handlers.add("aten.log_sigmoid_forward", 1, 1, convertLogSigmoidForward);
  handlers.add("aten.rrelu", 1, 5,
               [](TorchCall &call) { return convertRRelu(call, 1); });
  handlers.add("aten.rrelu_with_noise", 2, 6,
               [](TorchCall &call) { return convertRRelu(call, 2); });
  handlers.add("aten.prelu", 2, 2, convertPRelu);
  handlers.add("aten.glu", 1, 2, convertGlu);
  handlers.add("aten.glu_backward", 3, 3, convertGluBackward);
}
