//===- ChannelNorm.cpp - Normalizations of channels ----------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Norm.h"

using namespace mlir;
using namespace mlir::fuseops;

/// `x * weight + bias`, one of each for a channel, dimension 1 of x; either may
/// be null.
static Value buildAffine(TorchCall &call, RankedTensorType result, Value input,
                         Value weight, Value bias) {
  SmallVector<int64_t> shape(result.getRank(), 1);
  shape[1] = result.getDimSize(1);
  SmallVector<Value> operands = {input};
  for (Value parameter : {weight, bias})
    if (parameter)
      operands.push_back(
          reshapeTo(call.builder, call.getLoc(), parameter, shape));
  return call.pointwise(result, operands,
                        [&](ScalarMath &math, ArrayRef<Value> s) {
                          Value y = s[0];
                          unsigned next = 1;
                          if (weight)
                            y = math.mul(y, s[next++]);
                          if (bias)
                            y = math.add(y, s[next]);
                          return y;
                        });
}

namespace {
/// Where an operation has its operands; without `groups` each channel is one.
struct GroupNormOperands {
  std::optional<unsigned> groups;
  unsigned weight, bias, eps;
};

/// The rows of a group norm: the groups of channels of each sample.
struct GroupRows {
  RankedTensorType type;
  /// Samples, groups, and the elements of a group.
  SmallVector<int64_t> shape;

  static FailureOr<GroupRows> get(TorchCall &call, RankedTensorType type,
                                  int64_t groups);
  RankedTensorType getWide() const {
    return RankedTensorType::get(shape, getComputeType(type.getElementType()));
  }
  RankedTensorType getStat() const {
    RankedTensorType wide = getWide();
    return withColumns(wide, 1, wide.getElementType());
  }
};
} // namespace

FailureOr<GroupRows> GroupRows::get(TorchCall &call, RankedTensorType type,
                                    int64_t groups) {
  ArrayRef<int64_t> sizes = type.getShape();
  bool fits = type.getRank() >= 2 && groups > 0 &&
              llvm::none_of(sizes.drop_front(), ShapedType::isDynamic) &&
              sizes[1] % groups == 0;
  if (!fits)
    return call.refuse("expected channels of known number and size in whole "
                       "groups, but got " +
                       print(type) + " and " + Twine(groups) + " groups");
  int64_t columns = sizes[1] / groups;
  for (int64_t size : sizes.drop_front(2))
    columns *= size;
  return GroupRows{type, {sizes[0], groups, columns}};
}

/// group_norm, native_group_norm, and instance_norm by the input's statistics.
static LogicalResult convertGroupNorm(TorchCall &call,
                                      const GroupNormOperands &operands) {
  FailureOr<Value> input = call.floatTensor(0);
  if (failed(input))
    return failure();
  auto type = cast<RankedTensorType>(input->getType());
  FailureOr<int64_t> groups = type.getRank() < 2 ? 0 : type.getDimSize(1);
  if (operands.groups)
    groups = call.integer(*operands.groups);
  if (failed(groups))
    return failure();
  FailureOr<Value> weight = call.optionalFloatTensor(operands.weight);
  if (failed(weight))
    return failure();
  FailureOr<Value> bias = call.optionalFloatTensor(operands.bias);
  if (failed(bias))
    return failure();
  FailureOr<double> eps = call.numberOr(operands.eps, 1.0e-5);
  if (failed(eps))
    return failure();
  FailureOr<RankedTensorType> result = call.floatResultType();
  if (failed(result))
    return failure();
  FailureOr<GroupRows> rows = GroupRows::get(call, type, *groups);
  if (failed(rows))
    return failure();
  OpBuilder &builder = call.builder;
  Location loc = call.getLoc();
  RankedTensorType stat = rows->getStat();
  auto norm =
      LayerNormOp::create(builder, loc, rows->getWide(), stat, stat,
                          reshapeTo(builder, loc, *input, rows->shape), Value(),
                          Value(), builder.getF64FloatAttr(*eps), UnitAttr());
  Value normalized = reshapeTo(builder, loc, norm.getResult(), type.getShape());
  Value value = buildAffine(call, *result, normalized, *weight, *bias);
  if (failed(call.set(0, value)) || failed(setStat(call, 1, norm.getMean())))
    return failure();
  return setStat(call, 2, norm.getRstd());
}

/// Normalization by running statistics: input, weight, bias, mean, variance;
/// `trainingIndex` is the operand that says whether to compute them instead.
static TorchHandler convertBatchNorm(std::optional<unsigned> trainingIndex,
                                     unsigned epsIndex) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<Value> input = call.floatTensor(0);
    if (failed(input))
      return failure();
    SmallVector<Value> parameters;
    for (unsigned index = 1; index < 5; ++index) {
      FailureOr<Value> parameter = call.optionalFloatTensor(index);
      if (failed(parameter))
        return failure();
      parameters.push_back(*parameter);
    }
    FailureOr<bool> isTraining = trainingIndex
                                     ? call.booleanOr(*trainingIndex, false)
                                     : FailureOr<bool>(false);
    if (failed(isTraining))
      return failure();
    if (*isTraining || !parameters[2] || !parameters[3])
      return call.refuse("expected the running statistics to be used: those of "
                         "the batch are not computed");
    FailureOr<double> eps = call.number(epsIndex);
    if (failed(eps))
      return failure();
    FailureOr<RankedTensorType> result = call.floatResultType();
    if (failed(result))
      return failure();
    if (result->getRank() < 2 || result->isDynamicDim(1))
      return call.refuse("expected a known number of channels, but got " +
                         print(*result));
    auto vector = cast<RankedTensorType>(parameters[3].getType());
    Value scale =
        call.pointwise(getComputeTensor(vector), parameters[3],
                       [&](ScalarMath &math, ArrayRef<Value> s) {
                         return math.rsqrt(math.add(s[0], math.constant(*eps)));
                       });
    SmallVector<int64_t> shape(result->getRank(), 1);
    shape[1] = result->getDimSize(1);
    auto spread = [&](Value value) {
      return reshapeTo(call.builder, call.getLoc(), value, shape);
    };
    Value normalized =
        call.pointwise(getComputeTensor(*result),
                       {*input, spread(parameters[2]), spread(scale)},
                       [](ScalarMath &math, ArrayRef<Value> s) {
                         return math.mul(math.sub(s[0], s[1]), s[2]);
                       });
    return call.set(0, buildAffine(call, *result, normalized, parameters[0],
                                   parameters[1]));
  };
}

/// instance_norm: each channel of a sample by its own statistics, or by running
/// ones.
static LogicalResult convertInstanceNorm(TorchCall &call) {
  FailureOr<bool> usesInput = call.booleanOr(5, true);
  if (failed(usesInput))
    return failure();
  if (!*usesInput)
    return convertBatchNorm(std::nullopt, 7)(call);
  if (!call.isNone(3) || !call.isNone(4))
    return call.refuse("expected no running statistics to be updated");
  return convertGroupNorm(call, {std::nullopt, 1, 2, 7});
}

/// native_group_norm_backward: gradient, input, mean, rstd, weight, N, C, HxW,
/// groups, and which of the three gradients to compute.
static LogicalResult convertGroupNormBackward(TorchCall &call) {
  SmallVector<Value> tensors;
  for (unsigned index = 0; index < 4; ++index) {
    FailureOr<Value> tensor = call.floatTensor(index);
    if (failed(tensor))
      return failure();
    tensors.push_back(*tensor);
  }
  FailureOr<Value> weight = call.optionalFloatTensor(4);
  if (failed(weight))
    return failure();
  FailureOr<int64_t> groups = call.integer(8);
  if (failed(groups))
    return failure();
  FailureOr<SmallVector<bool>> mask = call.booleans(9);
  if (failed(mask))
    return failure();
  auto type = cast<RankedTensorType>(tensors[1].getType());
  FailureOr<GroupRows> rows = GroupRows::get(call, type, *groups);
  if (failed(rows))
    return failure();
  if (mask->size() != 3)
    return call.refuse("expected a bool for each gradient");

  OpBuilder &builder = call.builder;
  Location loc = call.getLoc();
  Value gradient = tensors[0], wide = gradient;
  if (*weight)
    wide =
        buildAffine(call, getComputeTensor(type), gradient, *weight, Value());
  auto flatten = [&](Value value) {
    return reshapeTo(builder, loc, value, rows->shape);
  };
  RankedTensorType stat = rows->getStat();
  for (Value &tensor : MutableArrayRef(tensors).drop_front(2)) {
    if (getNumElements(cast<RankedTensorType>(tensor.getType())) !=
        getNumElements(stat))
      return call.refuse("expected one statistic a group, but got " +
                         print(tensor.getType()));
    tensor = broadcastTo(
        builder, loc, reshapeTo(builder, loc, tensor, stat.getShape()), stat);
  }
  auto setGradient =
      [&](unsigned index,
          function_ref<FailureOr<Value>()> build) -> LogicalResult {
    if (!(*mask)[index] || !call.isResultUsed(index))
      return success();
    FailureOr<Value> value = build();
    if (failed(value))
      return failure();
    FailureOr<RankedTensorType> expected = call.resultType(index);
    if (failed(expected))
      return failure();
    return call.setConverted(
        index, reshapeTo(builder, loc, *value, expected->getShape()));
  };
  // Of a channel all samples and places.
  auto sumChannels = [&](Value value) -> FailureOr<Value> {
    int64_t places = 1;
    for (int64_t size : type.getShape().drop_front(2))
      places *= size;
    value = reshapeTo(builder, loc, value,
                      {type.getDimSize(0), type.getDimSize(1), places});
    return reduceDims(builder, loc, value, {0, 2}, ReductionKind::Sum,
                      stat.getElementType());
  };
  auto input = [&]() -> FailureOr<Value> {
    auto norm = LayerNormGradOp::create(
        builder, loc, TypeRange{rows->getWide()},
        ValueRange{flatten(wide), flatten(tensors[1]), tensors[2], tensors[3]});
    return norm.getResult();
  };
  auto scale = [&]() -> FailureOr<Value> {
    return sumChannels(call.pointwise(
        rows->getWide(),
        {flatten(gradient), flatten(tensors[1]), tensors[2], tensors[3]},
        [](ScalarMath &math, ArrayRef<Value> s) {
          Value centred = math.sub(s[1], s[2]);
          return math.mul(s[0], math.mul(centred, s[3]));
        }));
  };
  auto shift = [&] { return sumChannels(gradient); };
  if (failed(setGradient(0, input)) || failed(setGradient(1, scale)))
    return failure();
  return setGradient(2, shift);
}

void mlir::fuseops::addChannelNormHandlers(TorchHandlers &handlers) {
  auto addGroupNorm = [&](StringRef name, unsigned min, unsigned max,
                          GroupNormOperands operands) {
    handlers.add(name, min, max, [=](TorchCall &call) {
      return convertGroupNorm(call, operands);
    });
  };
  addGroupNorm("aten.group_norm", 2, 6, {1, 2, 3, 4});
  addGroupNorm("aten.native_group_norm", 8, 8, {6, 1, 2, 7});
  handlers.add("aten.instance_norm", 9, 9, convertInstanceNorm);
  handlers.add("aten.native_group_norm_backward", 10, 10,
               convertGroupNormBackward);
  handlers.add("aten.batch_norm", 8, 9, convertBatchNorm(5, 7));
  handlers.add("aten._native_batch_norm_legit_no_training", 7, 7,
               convertBatchNorm(std::nullopt, 6));
}
