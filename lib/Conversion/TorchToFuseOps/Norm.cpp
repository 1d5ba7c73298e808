//===- Norm.cpp - Normalizations ----------------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchCall.h"

#include <limits>

using namespace mlir;
using namespace mlir::fuseops;

/// The input of a normalization: checks that it's over the last dimension.
static FailureOr<Value> getInput(TorchCall &call) {
  FailureOr<Value> input = call.floatTensor(0);
  if (failed(input))
    return failure();
  FailureOr<SmallVector<int64_t>> shape = call.integers(1);
  if (failed(shape))
    return failure();
  auto type = cast<RankedTensorType>(input->getType());
  if (shape->size() != 1 || type.getRank() == 0)
    return call.refuse("expected normalization over the last dimension only, "
                       "but got " +
                       Twine(shape->size()) + " dimensions");
  if (shape->front() != getColumns(type))
    return call.refuse("expected a normalized shape of " +
                       Twine(getColumns(type)) + ", but got " +
                       Twine(shape->front()));
  return input;
}

/// Makes `stat` result `index`, in the dtype that eager gives it.
static LogicalResult setStat(TorchCall &call, unsigned index, Value stat) {
  if (!call.isResultUsed(index))
    return success();
  FailureOr<RankedTensorType> type = call.floatResultType(index);
  if (failed(type))
    return failure();
  auto computed = cast<RankedTensorType>(stat.getType());
  if (*type == computed || type->getShape() != computed.getShape())
    return call.set(index, stat);
  return call.set(index,
                  CastOp::create(call.builder, call.getLoc(), *type, stat));
}

static LogicalResult convertRmsNorm(TorchCall &call) {
  FailureOr<Value> input = getInput(call);
  if (failed(input))
    return failure();
  FailureOr<Value> gamma = call.optionalFloatTensor(2);
  if (failed(gamma))
    return failure();
  auto type = cast<RankedTensorType>(input->getType());
  RankedTensorType compute = getComputeTensor(type);
  // Eager's default is the epsilon of the type that it computes in.
  double epsilon = compute.getElementType().isF64()
                       ? std::numeric_limits<double>::epsilon()
                       : std::numeric_limits<float>::epsilon();
  FailureOr<double> eps = call.numberOr(3, epsilon);
  if (failed(eps))
    return failure();
  FailureOr<RankedTensorType> result = call.floatResultType();
  if (failed(result))
    return failure();
  auto norm =
      RmsNormOp::create(call.builder, call.getLoc(), *result,
                        withColumns(type, 1, compute.getElementType()), *input,
                        *gamma, call.builder.getF64FloatAttr(*eps), UnitAttr());
  if (failed(call.set(0, norm.getResult())))
    return failure();
  return setStat(call, 1, norm.getRstd());
}

static LogicalResult convertLayerNorm(TorchCall &call) {
  FailureOr<Value> input = getInput(call);
  if (failed(input))
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
  auto type = cast<RankedTensorType>(input->getType());
  RankedTensorType stat =
      withColumns(type, 1, getComputeType(type.getElementType()));
  auto norm = LayerNormOp::create(
      call.builder, call.getLoc(), *result, stat, stat, *input, *gamma, *beta,
      call.builder.getF64FloatAttr(*eps), UnitAttr());
  if (failed(call.set(0, norm.getResult())) ||
      failed(setStat(call, 1, norm.getMean())))
    return failure();
  return setStat(call, 2, norm.getRstd());
}

void mlir::fuseops::addNormHandlers(TorchHandlers &handlers) {
  handlers.add("aten.rms_norm", 2, 4, convertRmsNorm);
  handlers.add("aten._fused_rms_norm", 2, 4, convertRmsNorm);
  handlers.add("aten.layer_norm", 2, 6, convertLayerNorm);
  handlers.add("aten.native_layer_norm", 5, 5, convertLayerNorm);
}
