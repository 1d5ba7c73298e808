//===- Random.cpp - Dropout ---------------------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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
  if (call.isResultUsed(1))
    return call.refuse(
        "expected uses of the first result only, but the mask is "
        "used");
  if (!*isTraining || *p == 0.0)
    return call.set(0, *input);
  // Also for NaN. NOLINTNEXTLINE(readability-simplify-boolean-expr)
  if (!(*p > 0.0 && *p < 1.0))
    return call.refuse("expected a probability of at least 0 and below 1, but "
                       "got " +
                       spell(*p));
  Value state = getNextRandomState(call);
  return call.set(0, DropoutOp::create(call.builder, call.getLoc(),
                                       input->getType(), *input, state,
                                       call.builder.getF64FloatAttr(*p)));
}

void mlir::fuseops::addRandomHandlers(TorchHandlers &handlers) {
  handlers.add("aten.dropout", 3, 3, convertDropout);
  handlers.add("aten.native_dropout", 2, 3, convertDropout);
}
