//===- Random.cpp - Dropout ---------------------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "TorchCall.h"

using namespace mlir;
using namespace mlir::fuseops;

/// The random state of the program's next random operation: word 1, the offset,
/// counts them, so that no two read the same numbers.
static Value getNextRandomState(TorchCall &call) {
  Value state = call.state.getRandomState();
  int64_t index = call.state.numRandom++;
  if (index == 0)
    return state;
  auto body = [&](OpBuilder &builder, Location loc,
                  ValueRange scalars) -> SmallVector<Value> {
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(builder, loc,
                                       builder.getI64IntegerAttr(value));
    };
    Value one = constant(1), zero = constant(0), step = constant(index);
    Value word = LinearIndexOp::create(builder, loc, builder.getI64Type());
    Value isOffset = arith::CmpIOp::create(builder, loc,
                                           arith::CmpIPredicate::eq, word, one);
    step = arith::SelectOp::create(builder, loc, isOffset, step, zero);
    return {arith::AddIOp::create(builder, loc, scalars[0], step)};
  };
  return PointwiseOp::build(call.builder, call.getLoc(), state.getType(), state,
                            body)
      ->getResult(0);
}

/// Which elements a dropout of `type` with this state keeps: those that ones
/// stay at.
static Value buildMask(TorchCall &call, RankedTensorType type, Value state,
                       double p) {
  TorchValue ones;
  ones.kind = TorchValue::Kind::Splat;
  ones.type = type.clone(call.builder.getF32Type());
  ones.constant = TorchNumber::get(1.0);
  Value kept = DropoutOp::create(call.builder, call.getLoc(), ones.type,
                                 call.materialize(ones), state,
                                 call.builder.getF64FloatAttr(p));
  return broadcastTo(call.builder, call.getLoc(), kept,
                     type.clone(call.builder.getI1Type()));
}

/// dropout (input, p, training) and native_dropout, which gives the mask, too.
static LogicalResult convertDropout(TorchCall &call) {
  FailureOr<Value> input = call.floatTensor(0);
  if (failed(input))
    return failure();
  FailureOr<double> p = call.number(1);
  if (failed(p))
    return failure();
  // native_dropout without the flag trains.
  FailureOr<bool> isTraining = call.booleanOr(2, true);
  if (failed(isTraining))
    return failure();
  auto type = cast<RankedTensorType>(input->getType());
  auto set = [&](Value value, bool keepsAll) {
    if (failed(call.set(0, value)))
      return failure();
    if (!call.isResultUsed(1))
      return LogicalResult(success());
    TorchValue mask;
    mask.kind = TorchValue::Kind::Splat;
    mask.type = type.clone(call.builder.getI1Type());
    mask.constant = TorchNumber::getInteger(keepsAll);
    return call.set(1, call.materialize(mask));
  };
  if (!*isTraining || *p == 0.0)
    return set(*input, /*keepsAll=*/true);
  if (*p == 1.0) {
    auto multiplyByZero = [](ScalarMath &math, ArrayRef<Value> s) {
      return math.mul(s[0], math.constant(0.0));
    };
    // dropout multiplies by zero, which has a gradient and keeps NaN.
    Value dropped = call.getName() == "aten.dropout"
                        ? call.pointwise(type, {*input}, multiplyByZero)
                        : zeros(call.builder, call.getLoc(), type);
    return set(dropped, /*keepsAll=*/false);
  }
  // Also for NaN. NOLINTNEXTLINE(readability-simplify-boolean-expr)
  if (!(*p > 0.0 && *p < 1.0))
    return call.refuse("expected a probability of 0 to 1, but got " +
                       spell(*p));
  Value state = getNextRandomState(call);
  if (failed(call.set(0, DropoutOp::create(call.builder, call.getLoc(), type,
                                           *input, state,
                                           call.builder.getF64FloatAttr(*p)))))
    return failure();
  return call.isResultUsed(1) ? call.set(1, buildMask(call, type, state, *p))
                              : success();
}

/// Gradient, mask, and what kept elements are multiplied by.
static LogicalResult convertDropoutBackward(TorchCall &call) {
  FailureOr<Value> gradient = call.tensor(0);
  if (failed(gradient))
    return failure();
  FailureOr<Value> mask = call.tensor(1);
  if (failed(mask))
    return failure();
  FailureOr<double> factor = call.number(2);
  if (failed(factor))
    return failure();
  FailureOr<RankedTensorType> result = call.resultType();
  if (failed(result))
    return failure();
  return call.set(0, call.pointwise(*result, {*gradient, *mask},
                                    [&](ScalarMath &math, ArrayRef<Value> s) {
                                      Value kept = math.mul(s[0], s[1]);
                                      return math.mul(kept,
                                                      math.constant(*factor));
                                    }));
}

void mlir::fuseops::addRandomHandlers(TorchHandlers &handlers) {
  handlers.add("aten.dropout", 3, 3, convertDropout);
  handlers.add("aten.native_dropout", 2, 3, convertDropout);
  handlers.add("aten.native_dropout_backward", 3, 3, convertDropoutBackward);
}
