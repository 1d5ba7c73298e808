//===- Norm.cpp - Normalizations ----------------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Norm.h"

#include <limits>

using namespace mlir;
using namespace mlir::fuseops;

FailureOr<NormShape> NormShape::get(TorchCall &call, unsigned inputIndex,
                                    unsigned shapeIndex) {
  FailureOr<TorchValue> input = call.floatOrSplat(inputIndex);
  if (failed(input))
    return failure();
  FailureOr<SmallVector<int64_t>> shape = call.integers(shapeIndex);
  if (failed(shape))
    return failure();
  ArrayRef<int64_t> sizes = input->type.getShape();
  int64_t rank = input->getRank();
  if (shape->empty() || static_cast<int64_t>(shape->size()) > rank)
    return call.refuse("expected a normalized shape of 1 to " + Twine(rank) +
                       " dimensions, but got " + Twine(shape->size()));
  if (sizes.take_back(shape->size()) != ArrayRef(*shape))
    return call.refuse("expected a normalized shape that is the input's last "
                       "sizes, but got " +
                       print(input->type));
  NormShape norm{call, input->type, 1};
  for (int64_t size : *shape)
    norm.columns *= size;
  norm.numDims = shape->size();
  return norm;
}

Value NormShape::flatten(Value value) const {
  if (!value)
    return value;
  auto tensor = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(tensor.getShape().drop_back(numDims));
  int64_t last = 1;
  for (int64_t size : tensor.getShape().take_back(numDims))
    last *= size;
  shape.push_back(last);
  return reshapeTo(call.builder, call.getLoc(), value, shape);
}

RankedTensorType NormShape::getFlatType(Type element) const {
  SmallVector<int64_t> shape(type.getShape().drop_back(numDims));
  shape.push_back(columns);
  return RankedTensorType::get(shape, element);
}

RankedTensorType NormShape::getStatType() const {
  return withColumns(getFlatType(type.getElementType()), 1,
                     getComputeType(type.getElementType()));
}

/// Makes `stat` result `index`, in the dtype that eager gives it.
static LogicalResult setStat(TorchCall &call, unsigned index, Value stat) {
  return call.isResultUsed(index) ? call.setConverted(index, stat) : success();
}

static LogicalResult convertRmsNorm(TorchCall &call) {
  FailureOr<NormShape> shape = NormShape::get(call, 0, 1);
  if (failed(shape))
    return failure();
  FailureOr<Value> gamma = call.optionalFloatTensor(2);
  if (failed(gamma))
    return failure();
  // Eager's default is the epsilon of the type that it computes in.
  Type compute = getComputeType(shape->type.getElementType());
  double epsilon = compute.isF64() ? std::numeric_limits<double>::epsilon()
                                   : std::numeric_limits<float>::epsilon();
  FailureOr<double> eps = call.numberOr(3, epsilon);
  if (failed(eps))
    return failure();
  FailureOr<RankedTensorType> result = call.floatResultType();
  if (failed(result))
    return failure();
  auto norm = RmsNormOp::create(
      call.builder, call.getLoc(), shape->getFlatType(result->getElementType()),
      shape->getStatType(), shape->flatten(*call.tensor(0)),
      shape->flatten(*gamma), call.builder.getF64FloatAttr(*eps), UnitAttr());
  Value value = reshapeTo(call.builder, call.getLoc(), norm.getResult(),
                          result->getShape());
  if (failed(call.set(0, value)))
    return failure();
  return setStat(call, 1, norm.getRstd());
}

static LogicalResult convertLayerNorm(TorchCall &call) {
  FailureOr<NormShape> shape = NormShape::get(call, 0, 1);
  if (failed(shape))
    return failure();
  FailureOr<Value> gamma = call.optionalFloatTensor(2);
  if (failed(gamma))
    return failure();
  FailureOr<Value> beta = call.optionalFloatTensor(3);
  if (failed(beta))
    return failure();
  FailureOr<double> eps = call.numberOr(4, 1.0e-5);
  if (failed(eps))
    return failure();
  FailureOr<RankedTensorType> result = call.floatResultType();
  if (failed(result))
    return failure();
  RankedTensorType stat = shape->getStatType();
  auto norm = LayerNormOp::create(
      call.builder, call.getLoc(), shape->getFlatType(result->getElementType()),
      stat, stat, shape->flatten(*call.tensor(0)), shape->flatten(*gamma),
      shape->flatten(*beta), call.builder.getF64FloatAttr(*eps), UnitAttr());
  Value value = reshapeTo(call.builder, call.getLoc(), norm.getResult(),
                          result->getShape());
  if (failed(call.set(0, value)) || failed(setStat(call, 1, norm.getMean())))
    return failure();
  return setStat(call, 2, norm.getRstd());
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

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

/// group_norm (input, groups, weight, bias, eps) and native_group_norm (input,
/// weight, bias, N, C, HxW, groups, eps): each group of channels of a sample is
/// a row.
static TorchHandler convertGroupNorm(bool isNative) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<Value> input = call.floatTensor(0);
    if (failed(input))
      return failure();
    FailureOr<int64_t> groups = call.integer(isNative ? 6 : 1);
    if (failed(groups))
      return failure();
    FailureOr<Value> weight = call.optionalFloatTensor(isNative ? 1 : 2);
    if (failed(weight))
      return failure();
    FailureOr<Value> bias = call.optionalFloatTensor(isNative ? 2 : 3);
    if (failed(bias))
      return failure();
    FailureOr<double> eps = call.numberOr(isNative ? 7 : 4, 1.0e-5);
    if (failed(eps))
      return failure();
    FailureOr<RankedTensorType> result = call.floatResultType();
    if (failed(result))
      return failure();
    OpBuilder &builder = call.builder;
    Location loc = call.getLoc();
    auto type = cast<RankedTensorType>(input->getType());
    ArrayRef<int64_t> sizes = type.getShape();
    bool fits = type.getRank() >= 2 && *groups > 0 &&
                llvm::none_of(sizes.drop_front(), ShapedType::isDynamic) &&
                sizes[1] % *groups == 0;
    if (!fits)
      return call.refuse("expected channels of known number and size in whole "
                         "groups, but got " +
                         print(type) + " and " + Twine(*groups) + " groups");
    int64_t columns = sizes[1] / *groups;
    for (int64_t size : sizes.drop_front(2))
      columns *= size;
    SmallVector<int64_t> rows = {sizes[0], *groups, columns};
    RankedTensorType wide = getComputeTensor(type);
    auto flat = RankedTensorType::get(rows, wide.getElementType());
    RankedTensorType stat = withColumns(flat, 1, wide.getElementType());
    auto norm = LayerNormOp::create(
        builder, loc, flat, stat, stat, reshapeTo(builder, loc, *input, rows),
        Value(), Value(), builder.getF64FloatAttr(*eps), UnitAttr());
    Value normalized = reshapeTo(builder, loc, norm.getResult(), sizes);
    Value value = buildAffine(call, *result, normalized, *weight, *bias);
    if (failed(call.set(0, value)) || failed(setStat(call, 1, norm.getMean())))
      return failure();
    return setStat(call, 2, norm.getRstd());
  };
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

void mlir::fuseops::addNormHandlers(TorchHandlers &handlers) {
  handlers.add("aten.rms_norm", 2, 4, convertRmsNorm);
  handlers.add("aten._fused_rms_norm", 2, 4, convertRmsNorm);
  handlers.add("aten.layer_norm", 2, 6, convertLayerNorm);
  handlers.add("aten.native_layer_norm", 5, 5, convertLayerNorm);
  handlers.add("aten.group_norm", 2, 6, convertGroupNorm(/*isNative=*/false));
  handlers.add("aten.native_group_norm", 8, 8,
               convertGroupNorm(/*isNative=*/true));
  handlers.add("aten.batch_norm", 8, 9, convertBatchNorm(5, 7));
  handlers.add("aten._native_batch_norm_legit_no_training", 7, 7,
               convertBatchNorm(std::nullopt, 6));
}
