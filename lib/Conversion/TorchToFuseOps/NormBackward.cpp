//===- NormBackward.cpp - Gradients of normalizations -------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Norm.h"

using namespace mlir;
using namespace mlir::fuseops;

namespace {
/// The operands of a gradient that PyTorch computes: gradient, input, sizes,
/// statistics (`numStats`), gamma, with `hasBeta` beta, and which to compute.
struct BackwardCall {
  NormShape shape;
  Value gradient, input, gamma;
  SmallVector<Value> stats;
  SmallVector<bool> mask;

  static FailureOr<BackwardCall> get(TorchCall &call, unsigned numStats,
                                     bool hasBeta);
  /// The gradients of input and gamma that `OpT` gives.
  template <typename OpT>
  LogicalResult set() const;
};
} // namespace

FailureOr<BackwardCall> BackwardCall::get(TorchCall &call, unsigned numStats,
                                          bool hasBeta) {
  FailureOr<NormShape> shape = NormShape::get(call, 1, 2);
  if (failed(shape))
    return failure();
  FailureOr<Value> gradient = call.floatTensor(0);
  if (failed(gradient))
    return failure();
  FailureOr<Value> input = call.floatTensor(1);
  if (failed(input))
    return failure();
  BackwardCall backward{*shape, shape->flatten(*gradient),
                        shape->flatten(*input)};
  unsigned next = 3;
  for (unsigned i = 0; i < numStats; ++i) {
    FailureOr<Value> stat = call.floatTensor(next++);
    if (failed(stat))
      return failure();
    RankedTensorType type = shape->getStatType();
    auto given = cast<RankedTensorType>(stat->getType());
    if (getNumElements(given) != getNumElements(type))
      return call.refuse("expected one statistic a row, but got " +
                         print(given));
    Value flat = reshapeTo(call.builder, call.getLoc(), *stat, type.getShape());
    backward.stats.push_back(
        broadcastTo(call.builder, call.getLoc(), flat, type));
  }
  FailureOr<Value> gamma = call.optionalFloatTensor(next++);
  if (failed(gamma))
    return failure();
  backward.gamma = shape->flatten(*gamma);
  FailureOr<SmallVector<bool>> mask = call.booleans(next + hasBeta);
  if (failed(mask))
    return failure();
  if (mask->size() < 2u + hasBeta)
    return call.refuse("expected a bool for each gradient");
  backward.mask = *mask;
  return backward;
}

template <typename OpT>
LogicalResult BackwardCall::set() const {
  TorchCall &call = shape.call;
  // The gradient of gamma is a result only where there is a gamma.
  SmallVector<Type> types = {input.getType()};
  if (gamma)
    types.push_back(gamma.getType());
  SmallVector<Value> operands = {gradient, input};
  llvm::append_range(operands, stats);
  if (gamma)
    operands.push_back(gamma);
  auto norm = OpT::create(call.builder, call.getLoc(), types, operands);
  if (mask[0] && call.isResultUsed(0)) {
    Value result = reshapeTo(call.builder, call.getLoc(), norm.getResult(),
                             shape.type.getShape());
    if (failed(call.setConverted(0, result)))
      return failure();
  }
  if (!gamma || !mask[1] || !call.isResultUsed(1))
    return success();
  FailureOr<RankedTensorType> type = call.resultType(1);
  if (failed(type))
    return failure();
  return call.setConverted(1, reshapeTo(call.builder, call.getLoc(),
                                        norm.getGammaGradient(),
                                        type->getShape()));
}

static LogicalResult convertLayerNormBackward(TorchCall &call) {
  FailureOr<BackwardCall> backward =
      BackwardCall::get(call, /*numStats=*/2, /*hasBeta=*/true);
  if (failed(backward) || failed(backward->set<LayerNormGradOp>()))
    return failure();
  if (!backward->mask[2] || !call.isResultUsed(2))
    return success();
  FailureOr<RankedTensorType> type = call.resultType(2);
  if (failed(type))
    return failure();
  auto row =
      RankedTensorType::get(backward->shape.columns, type->getElementType());
  Value sum = ReduceRowsOp::create(call.builder, call.getLoc(), row,
                                   backward->gradient, ReductionKind::Sum);
  return call.setConverted(
      2, reshapeTo(call.builder, call.getLoc(), sum, type->getShape()));
}

static LogicalResult convertRmsNormBackward(TorchCall &call) {
  FailureOr<BackwardCall> backward =
      BackwardCall::get(call, /*numStats=*/1, /*hasBeta=*/false);
  return failed(backward) ? failure() : backward->set<RmsNormGradOp>();
}

void mlir::fuseops::addNormBackwardHandlers(TorchHandlers &handlers) {
  handlers.add("aten.native_layer_norm_backward", 8, 8,
               convertLayerNormBackward);
  handlers.add("aten._fused_rms_norm_backward", 6, 6, convertRmsNormBackward);
}
