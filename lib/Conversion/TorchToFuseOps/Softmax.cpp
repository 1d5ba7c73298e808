//===- Softmax.cpp - Softmax, its logarithm, and their gradients ---------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "TorchCall.h"

#include <limits>

using namespace mlir;
using namespace mlir::fuseops;

namespace {
/// Tensors whose dimension `dim` is made the last one, and back.
class LastDimension {
public:
  /// `dimIndex` is the operand that says which.
  static FailureOr<LastDimension> get(TorchCall &call, unsigned dimIndex) {
    FailureOr<TorchValue> input = call.value(0);
    if (failed(input) || failed(call.tensor(0)))
      return failure();
    FailureOr<int64_t> dim = call.dimension(dimIndex, input->getRank());
    if (failed(dim))
      return failure();
    LastDimension last(call);
    int64_t rank = input->type.getRank();
    int64_t place = input->getDim(*dim);
    last.isScalar = rank == 0;
    if (!last.isScalar && input->type.isDynamicDim(place))
      return call.refuse("expected a dimension of known size, but it's "
                         "symbolic");
    for (int64_t i = 0; i < rank; ++i)
      if (i != place)
        last.order.push_back(i);
    if (!last.isScalar)
      last.order.push_back(place);
    return last;
  }

  Value moveIn(Value value) const {
    if (isScalar)
      return reshapeTo(call.builder, call.getLoc(), value, 1);
    return buildPermute(call, value, order);
  }

  Value moveOut(Value value) const {
    if (isScalar)
      return reshapeTo(call.builder, call.getLoc(), value, {});
    SmallVector<int64_t> inverse(order.size());
    for (auto [place, dim] : llvm::enumerate(order))
      inverse[dim] = place;
    return buildPermute(call, value, inverse);
  }

private:
  explicit LastDimension(TorchCall &call) : call(call) {}

  TorchCall &call;
  SmallVector<int64_t> order;
  bool isScalar = false;
};
} // namespace

/// Softmax, or its logarithm, of the last dimension, as elements of `element`.
template <typename OpT>
static Value buildSoftmax(TorchCall &call, Value input, Type element) {
  auto type = cast<RankedTensorType>(input.getType());
  // A dtype operand converts the input first; to a wider one that's exact.
  bool isExact =
      isComputeFloat(type.getElementType()) &&
      type.getElementTypeBitWidth() <= element.getIntOrFloatBitWidth() &&
      getComputeType(type.getElementType()) == getComputeType(element);
  if (!isExact)
    input =
        broadcastTo(call.builder, call.getLoc(), input, type.clone(element));
  return OpT::create(call.builder, call.getLoc(), type.clone(element), input);
}

/// softmax (dim, dtype) and _softmax (dim, half_to_float): the result's type
/// says in which dtype.
template <typename OpT>
static LogicalResult convertSoftmax(TorchCall &call) {
  FailureOr<LastDimension> last = LastDimension::get(call, 1);
  if (failed(last))
    return failure();
  FailureOr<RankedTensorType> result = call.floatResultType();
  if (failed(result))
    return failure();
  Value softmax = buildSoftmax<OpT>(call, last->moveIn(*call.tensor(0)),
                                    result->getElementType());
  return call.set(0, last->moveOut(softmax));
}

/// softmax, but 0 in rows of nothing but -inf, which have no gradient.
static LogicalResult convertSafeSoftmax(TorchCall &call) {
  FailureOr<LastDimension> last = LastDimension::get(call, 1);
  if (failed(last))
    return failure();
  FailureOr<RankedTensorType> result = call.floatResultType();
  if (failed(result))
    return failure();
  Value input = last->moveIn(*call.tensor(0));
  auto type = cast<RankedTensorType>(input.getType());
  FailureOr<Value> largest =
      reduceDims(call.builder, call.getLoc(), input, type.getRank() - 1,
                 ReductionKind::Max, type.getElementType());
  if (failed(largest))
    return failure();
  // Before, so that what has no meaning is never computed; and behind.
  auto clear = [&](Value value) {
    return call.pointwise(
        cast<RankedTensorType>(value.getType()), {value, *largest},
        [](ScalarMath &math, ArrayRef<Value> s) {
          Value least = math.constant(-std::numeric_limits<double>::infinity());
          return math.select(math.equal(s[1], least), math.constant(0.0), s[0]);
        });
  };
  Value softmax =
      buildSoftmax<SoftmaxOp>(call, clear(input), result->getElementType());
  return call.set(0, last->moveOut(clear(softmax)));
}

/// Gradient, output of the forward operation, dim, dtype of its input.
template <typename OpT>
static LogicalResult convertSoftmaxBackward(TorchCall &call) {
  FailureOr<LastDimension> last = LastDimension::get(call, 2);
  if (failed(last) || failed(call.floatTensor(0)))
    return failure();
  FailureOr<Value> output = call.floatTensor(1);
  if (failed(output))
    return failure();
  FailureOr<RankedTensorType> result = call.floatResultType();
  if (failed(result))
    return failure();
  Value gradient = last->moveIn(*call.tensor(0));
  auto type = cast<RankedTensorType>(gradient.getType());
  Value derived = OpT::create(call.builder, call.getLoc(),
                              type.clone(result->getElementType()), gradient,
                              last->moveIn(*output));
  return call.set(0, last->moveOut(derived));
}

void mlir::fuseops::addSoftmaxHandlers(TorchHandlers &handlers) {
  handlers.add("aten.softmax.int", 2, 3, convertSoftmax<SoftmaxOp>);
  handlers.add("aten._softmax", 2, 3, convertSoftmax<SoftmaxOp>);
  handlers.add("aten._safe_softmax", 2, 3, convertSafeSoftmax);
  handlers.add("aten.log_softmax.int", 2, 3, convertSoftmax<LogSoftmaxOp>);
  handlers.add("aten._log_softmax", 2, 3, convertSoftmax<LogSoftmaxOp>);
  handlers.add("aten._softmax_backward_data", 3, 4,
               convertSoftmaxBackward<SoftmaxGradOp>);
  handlers.add("aten._log_softmax_backward_data", 3, 4,
               convertSoftmaxBackward<LogSoftmaxGradOp>);
}
