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

LogicalResult mlir::fuseops::setStat(TorchCall &call, unsigned index,
                                     Value stat) {
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

void mlir::fuseops::addNormHandlers(TorchHandlers &handlers) {
  handlers.add("aten.rms_norm", 2, 4, convertRmsNorm);
  handlers.add("aten._fused_rms_norm", 2, 4, convertRmsNorm);
  handlers.add("aten.layer_norm", 2, 6, convertLayerNorm);
  handlers.add("aten.native_layer_norm", 5, 5, convertLayerNorm);
  addChannelNormHandlers(handlers);
}
