//===- ClassLoss.cpp - Losses of class scores against targets ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Loss.h"

using namespace mlir;
using namespace mlir::fuseops;

namespace {
/// Scores of classes and targets, the classes in the last dimension. What is
/// gathered at a target is a sum over the classes of what is there and 0
/// elsewhere.
struct ClassCall {
  TorchCall &call;
  Type wide;
  /// `[…, C]`.
  Value scores;
  /// `[…, 1]` integers, or `[…, C]` probabilities.
  Value targets;
  bool areIndices = true;
  /// `[C]`; may be null.
  Value weight;
  LossReduction reduction = LossReduction::Mean;
  int64_t ignored = -100;
  /// PyTorch's dimension of the classes, as FuseOps has it.
  int64_t classDim = 0;

  /// Operands: scores, targets, weight, reduction, index that is ignored.
  static FailureOr<ClassCall> get(TorchCall &call, unsigned first);

  RankedTensorType getRowType(Type element) const {
    return withColumns(cast<RankedTensorType>(scores.getType()), 1, element);
  }
  Value moveClassesLast(Value value) const;
  Value moveClassesBack(Value value) const;
  /// Whether the class of an element is its row's target; `s` are the column
  /// and the target.
  Value apply(RankedTensorType type, ValueRange operands,
              function_ref<Value(ScalarMath &, Value, ValueRange)> body) const;
  /// `[…, 1]`: what `body` gives for the target's class of each row.
  FailureOr<Value>
  gather(ValueRange operands,
         function_ref<Value(ScalarMath &, ValueRange)> body) const;
  /// `[…, 1]`: the weight of each row, 0 where it's ignored.
  FailureOr<Value> buildRowWeights() const;
  /// Sums over the classes.
  FailureOr<Value> sumClasses(Value value) const;
  /// Reduces `[…, 1]` losses and sets the result.
  LogicalResult finish(Value losses, Value weights) const;
};
} // namespace

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

FailureOr<ClassCall> ClassCall::get(TorchCall &call, unsigned first) {
  FailureOr<TorchValue> scores = call.floatOrSplat(first);
  if (failed(scores))
    return failure();
  FailureOr<TorchValue> targets = call.value(first + 1);
  if (failed(targets))
    return failure();
  FailureOr<Value> target = call.tensor(first + 1);
  if (failed(target))
    return failure();
  FailureOr<Value> weight = call.optionalFloatTensor(first + 2);
  if (failed(weight))
    return failure();
  FailureOr<LossReduction> reduction = getLossReduction(call, first + 3);
  if (failed(reduction))
    return failure();
  FailureOr<int64_t> ignored = call.integerOr(first + 4, -100);
  if (failed(ignored))
    return failure();
  int64_t rank = scores->getRank();
  if (rank == 0)
    return call.refuse("expected scores of classes, but got " +
                       print(scores->type));
  ClassCall loss{call, getComputeType(scores->type.getElementType())};
  loss.classDim = rank == 1 ? 0 : scores->getDim(1);
  if (scores->type.isDynamicDim(loss.classDim))
    return call.refuse("expected a known number of classes, but it's symbolic");
  loss.scores = loss.moveClassesLast(call.materialize(*scores));
  loss.weight = *weight;
  loss.reduction = *reduction;
  loss.ignored = *ignored;
  loss.areIndices = isa<IntegerType>(targets->type.getElementType());
  if (!loss.areIndices) {
    if (targets->type.getShape() != scores->type.getShape())
      return call.refuse(
          "expected probabilities of the scores' shape, but got " +
          print(targets->type));
    loss.targets = loss.moveClassesLast(*target);
    return loss;
  }
  RankedTensorType row = loss.getRowType(targets->type.getElementType());
  if (getNumElements(row) != getNumElements(targets->type))
    return call.refuse("expected one target a row, but got " +
                       print(targets->type));
  loss.targets =
      reshapeTo(call.builder, call.getLoc(), *target, row.getShape());
  return loss;
}

Value ClassCall::moveClassesLast(Value value) const {
  SmallVector<int64_t> order;
  for (int64_t dim = 0; dim < tensorType(value).getRank(); ++dim)
    if (dim != classDim)
      order.push_back(dim);
  order.push_back(classDim);
  return buildPermute(call, value, order);
}

Value ClassCall::moveClassesBack(Value value) const {
  SmallVector<int64_t> order;
  int64_t last = tensorType(value).getRank() - 1;
  for (int64_t dim = 0; dim < last; ++dim)
    order.push_back(dim);
  order.insert(order.begin() + classDim, last);
  return buildPermute(call, value, order);
}

Value ClassCall::apply(
    RankedTensorType type, ValueRange operands,
    function_ref<Value(ScalarMath &, Value, ValueRange)> body) const {
  SmallVector<Value> all(operands);
  all.push_back(targets);
  auto build = [&](OpBuilder &inner, Location loc,
                   ValueRange scalars) -> SmallVector<Value> {
    ScalarMath math(inner, loc, wide);
    SmallVector<Value> converted;
    for (auto [scalar, operand] :
         llvm::zip_equal(scalars.drop_back(), operands))
      converted.push_back(convertElement(
          inner, loc, scalar, tensorType(operand).getElementType(), wide));
    Type word = inner.getI64Type();
    Value target = convertElement(inner, loc, scalars.back(),
                                  tensorType(targets).getElementType(), word);
    return {convertElement(inner, loc, body(math, target, converted), wide,
                           type.getElementType())};
  };
  return PointwiseOp::build(call.builder, call.getLoc(), type, all, build)
      .getResult(0);
}

FailureOr<Value> ClassCall::sumClasses(Value value) const {
  return reduceDims(call.builder, call.getLoc(), value,
                    tensorType(value).getRank() - 1, ReductionKind::Sum, wide);
}

FailureOr<Value>
ClassCall::gather(ValueRange operands,
                  function_ref<Value(ScalarMath &, ValueRange)> body) const {
  RankedTensorType type = tensorType(scores).clone(wide);
  Value there =
      apply(type, operands, [&](ScalarMath &math, Value target, ValueRange s) {
        Value column = ColumnIndexOp::create(math.builder, math.loc,
                                             math.builder.getI64Type());
        Value isTarget = arith::CmpIOp::create(
            math.builder, math.loc, arith::CmpIPredicate::eq, column, target);
        return math.select(isTarget, body(math, s), math.constant(0.0));
      });
  return sumClasses(there);
}

FailureOr<Value> ClassCall::buildRowWeights() const {
  Value picked;
  if (weight) {
    FailureOr<Value> gathered =
        gather(weight, [](ScalarMath &, ValueRange s) { return s[0]; });
    if (failed(gathered))
      return failure();
    picked = *gathered;
  }
  SmallVector<Value> operands;
  if (picked)
    operands.push_back(picked);
  return apply(
      getRowType(wide), operands,
      [&](ScalarMath &math, Value target, ValueRange s) {
        Value none = arith::ConstantOp::create(
            math.builder, math.loc, math.builder.getI64IntegerAttr(ignored));
        Value isIgnored = arith::CmpIOp::create(
            math.builder, math.loc, arith::CmpIPredicate::eq, target, none);
        return math.select(isIgnored, math.constant(0.0),
                           picked ? s[0] : math.constant(1.0));
      });
}

LogicalResult ClassCall::finish(Value losses, Value weights) const {
  FailureOr<RankedTensorType> result = call.floatResultType();
  if (failed(result))
    return failure();
  if (reduction == LossReduction::None) {
    Value value =
        reshapeTo(call.builder, call.getLoc(), losses, result->getShape());
    return call.setConverted(0, value);
  }
  FailureOr<Value> sum = sumAll(call, losses);
  if (failed(sum))
    return failure();
  if (reduction == LossReduction::Sum)
    return call.setConverted(0, *sum);
  if (!weights)
    return call.setConverted(
        0, divideByExtent(call, *sum, getNumElements(getRowType(wide))));
  FailureOr<Value> total = sumAll(call, weights);
  if (failed(total))
    return failure();
  Value mean = call.pointwise(
      tensorType(*sum), {*sum, *total},
      [](ScalarMath &math, ArrayRef<Value> s) { return math.div(s[0], s[1]); });
  return call.setConverted(0, mean);
}

static Value multiply(const ClassCall &loss, RankedTensorType type, Value a,
                      Value b) {
  return loss.call.pointwise(
      type, {a, b},
      [](ScalarMath &math, ArrayRef<Value> s) { return math.mul(s[0], s[1]); });
}

//===----------------------------------------------------------------------===//
// Cross entropy
//===----------------------------------------------------------------------===//

/// `-sum over the classes of log(softmax(scores)) * probabilities * weight`.
static LogicalResult convertSoftTargets(const ClassCall &loss,
                                        double smoothing) {
  TorchCall &call = loss.call;
  RankedTensorType type = tensorType(loss.scores).clone(loss.wide);
  Value logs =
      LogSoftmaxOp::create(call.builder, call.getLoc(), type, loss.scores);
  SmallVector<Value> operands = {logs, loss.targets};
  if (loss.weight)
    operands.push_back(loss.weight);
  double share = smoothing / static_cast<double>(getColumns(type));
  Value terms =
      call.pointwise(type, operands, [&](ScalarMath &math, ArrayRef<Value> s) {
        Value target = s[1];
        if (smoothing != 0.0)
          target = math.add(math.mul(target, math.constant(1.0 - smoothing)),
                            math.constant(share));
        Value term = math.neg(math.mul(s[0], target));
        return loss.weight ? math.mul(term, s[2]) : term;
      });
  FailureOr<Value> losses = loss.sumClasses(terms);
  return failed(losses) ? failure() : loss.finish(*losses, Value());
}

/// Scores, targets, weight, reduction, index that is ignored, smoothing.
static LogicalResult convertCrossEntropy(TorchCall &call) {
  FailureOr<ClassCall> loss = ClassCall::get(call, 0);
  if (failed(loss))
    return failure();
  FailureOr<double> smoothing = call.numberOr(5, 0.0);
  if (failed(smoothing))
    return failure();
  if (!loss->areIndices)
    return convertSoftTargets(*loss, *smoothing);
  FailureOr<Value> weights = loss->buildRowWeights();
  if (failed(weights))
    return failure();
  RankedTensorType row = loss->getRowType(loss->wide);
  if (!loss->weight) {
    auto entropy = CrossEntropyOp::create(
        call.builder, call.getLoc(), row, row, loss->scores,
        broadcastTo(call.builder, call.getLoc(), loss->targets,
                    loss->getRowType(call.builder.getI64Type())),
        call.builder.getI64IntegerAttr(loss->ignored),
        call.builder.getF64FloatAttr(*smoothing));
    return loss->finish(entropy.getLoss(), *weights);
  }
  RankedTensorType type = tensorType(loss->scores).clone(loss->wide);
  Value logs =
      LogSoftmaxOp::create(call.builder, call.getLoc(), type, loss->scores);
  FailureOr<Value> hard = loss->gather(
      logs, [](ScalarMath &math, ValueRange s) { return math.neg(s[0]); });
  if (failed(hard))
    return failure();
  Value losses = multiply(*loss, row, *hard, *weights);
  if (*smoothing != 0.0) {
    FailureOr<Value> soft =
        loss->sumClasses(multiply(*loss, type, logs, loss->weight));
    if (failed(soft))
      return failure();
    double share = *smoothing / static_cast<double>(getColumns(type));
    losses = loss->apply(
        row, {losses, *soft},
        [&](ScalarMath &math, Value target, ValueRange s) {
          Value none = arith::ConstantOp::create(
              math.builder, math.loc,
              math.builder.getI64IntegerAttr(loss->ignored));
          Value isIgnored = arith::CmpIOp::create(
              math.builder, math.loc, arith::CmpIPredicate::eq, target, none);
          Value smooth = math.mul(s[1], math.constant(-share));
          return math.add(math.mul(s[0], math.constant(1.0 - *smoothing)),
                          math.select(isIgnored, math.constant(0.0), smooth));
        });
  }
  return loss->finish(losses, *weights);
}

//===----------------------------------------------------------------------===//
// Negative log likelihood
//===----------------------------------------------------------------------===//

/// Logarithms of probabilities, targets, weight, reduction, index that is
/// ignored; the results are the loss and the sum of the weights.
static LogicalResult convertLikelihood(TorchCall &call) {
  FailureOr<ClassCall> loss = ClassCall::get(call, 0);
  if (failed(loss))
    return failure();
  if (!loss->areIndices)
    return call.refuse("expected integers as targets");
  FailureOr<Value> weights = loss->buildRowWeights();
  if (failed(weights))
    return failure();
  FailureOr<Value> picked =
      loss->gather(loss->scores, [](ScalarMath &math, ValueRange s) {
        return math.neg(s[0]);
      });
  if (failed(picked))
    return failure();
  Value losses =
      multiply(*loss, loss->getRowType(loss->wide), *picked, *weights);
  if (failed(loss->finish(losses, *weights)))
    return failure();
  if (call.getNumResults() < 2 || !call.isResultUsed(1))
    return success();
  if (loss->reduction == LossReduction::None) {
    TorchValue none;
    none.kind = TorchValue::Kind::Splat;
    FailureOr<RankedTensorType> type = call.resultType(1);
    if (failed(type))
      return failure();
    none.type = *type;
    return call.set(1, none);
  }
  FailureOr<Value> total = sumAll(call, *weights);
  return failed(total) ? failure() : call.setConverted(1, *total);
}

/// Gradient of the loss, then the operands of the loss, then the sum of the
/// weights.
static LogicalResult convertLikelihoodBackward(TorchCall &call) {
  FailureOr<ClassCall> loss = ClassCall::get(call, 1);
  if (failed(loss))
    return failure();
  FailureOr<Value> gradient = call.floatTensor(0);
  if (failed(gradient))
    return failure();
  FailureOr<Value> total = call.floatTensor(6);
  if (failed(total))
    return failure();
  if (!loss->areIndices)
    return call.refuse("expected integers as targets");
  FailureOr<Value> weights = loss->buildRowWeights();
  if (failed(weights))
    return failure();
  RankedTensorType row = loss->getRowType(loss->wide);
  Value rows = *gradient;
  if (loss->reduction == LossReduction::None)
    rows = reshapeTo(call.builder, call.getLoc(), rows, row.getShape());
  bool isMean = loss->reduction == LossReduction::Mean;
  SmallVector<Value> operands = {rows, *weights};
  if (isMean)
    operands.push_back(*total);
  Value slopes =
      call.pointwise(row, operands, [&](ScalarMath &math, ArrayRef<Value> s) {
        Value slope = math.neg(math.mul(s[0], s[1]));
        // Without a row that counts there is nothing to divide.
        if (isMean)
          slope = math.select(math.equal(s[1], math.constant(0.0)),
                              math.constant(0.0), math.div(slope, s[2]));
        return slope;
      });
  auto type = tensorType(loss->scores);
  Value result = loss->apply(
      type, slopes, [&](ScalarMath &math, Value target, ValueRange s) {
        Value column = ColumnIndexOp::create(math.builder, math.loc,
                                             math.builder.getI64Type());
        Value isTarget = arith::CmpIOp::create(
            math.builder, math.loc, arith::CmpIPredicate::eq, column, target);
        return math.select(isTarget, s[0], math.constant(0.0));
      });
  return call.set(0, loss->moveClassesBack(result));
}

void mlir::fuseops::addClassLossHandlers(TorchHandlers &handlers) {
  handlers.add("aten.cross_entropy_loss", 2, 6, convertCrossEntropy);
  for (StringRef name : {"nll_loss_forward", "nll_loss2d_forward", "nll_loss",
                         "nll_loss2d", "nll_loss_nd"})
    handlers.add(("aten." + name).str(), 2, 5, convertLikelihood);
  for (StringRef name : {"nll_loss_backward", "nll_loss2d_backward"})
    handlers.add(("aten." + name).str(), 7, 7, convertLikelihoodBackward);
}
