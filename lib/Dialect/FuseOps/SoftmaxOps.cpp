//===- SoftmaxOps.cpp - Softmax and cross entropy: rules, maths, gradients ===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core.h"
#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "Verify.h"

#include <limits>

using namespace mlir;
using namespace mlir::fuseops;

using Gradients = FailureOr<SmallVector<Value>>;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Softmax and its logarithm
//===----------------------------------------------------------------------===//

/// All of the family map rows to rows: `values` have the result's shape.
static LogicalResult verifyRows(Operation *op, StringRef first) {
  RankedTensorType type = tensorType(op->getOperand(0));
  if (failed(verifyHasColumns(op, type, first)))
    return failure();
  if (op->getNumOperands() > 1 &&
      failed(verifySameShape(op, "output", op->getOperand(1), type)))
    return failure();
  return verifySameShape(op, "result", op->getResult(0), type);
}
LogicalResult SoftmaxOp::verify() { return verifyRows(*this, "input"); }
LogicalResult LogSoftmaxOp::verify() { return verifyRows(*this, "input"); }
LogicalResult SoftmaxGradOp::verify() { return verifyRows(*this, "gradient"); }
LogicalResult LogSoftmaxGradOp::verify() {
  return verifyRows(*this, "gradient");
}

static Value rowMaximum(Core &core, Value x) {
  return ReduceColumnsOp::create(core.builder, core.loc, core.rowStat(x), x,
                                 ReductionKind::Max);
}

/// exp(x - maximum), which cannot overflow.
static Value shiftedExponentials(Core &core, Value x, Value maximum) {
  return core.pointwise(core.wide(x), {x, maximum}, [](ScalarMath &m, auto v) {
    return m.exp(m.sub(v[0], v[1]));
  });
}

SmallVector<Value> SoftmaxOp::decompose(OpBuilder &builder,
                                        ValueRange operands) {
  Value x = operands[0];
  if (getColumns(getType()) == 0)
    return {zeros(builder, getLoc(), getType())};
  Core core(*this, builder, operands);
  Value e = shiftedExponentials(core, x, rowMaximum(core, x));
  // Divided once a row, not once an element.
  Value factor =
      core.pointwise(core.rowStat(x), core.sumColumns(e),
                     [](ScalarMath &m, auto v) { return m.reciprocal(v[0]); });
  return {core.pointwise(getType(), {e, factor}, [](ScalarMath &m, auto v) {
    return m.mul(v[0], v[1]);
  })};
}

SmallVector<Value> LogSoftmaxOp::decompose(OpBuilder &builder,
                                           ValueRange operands) {
  Value x = operands[0];
  if (getColumns(getType()) == 0)
    return {zeros(builder, getLoc(), getType())};
  Core core(*this, builder, operands);
  Value maximum = rowMaximum(core, x);
  Value e = shiftedExponentials(core, x, maximum);
  Value log = core.pointwise(core.rowStat(x), core.sumColumns(e),
                             [](ScalarMath &m, auto v) { return m.log(v[0]); });
  return {
      core.pointwise(getType(), {x, maximum, log}, [](ScalarMath &m, auto v) {
        return m.sub(m.sub(v[0], v[1]), v[2]);
      })};
}

SmallVector<Value> SoftmaxGradOp::decompose(OpBuilder &builder,
                                            ValueRange operands) {
  Core core(*this, builder, operands);
  Value products =
      core.pointwise(core.wide(operands[0]), operands,
                     [](ScalarMath &m, auto v) { return m.mul(v[0], v[1]); });
  return {core.pointwise(
      getType(), {operands[0], operands[1], core.sumColumns(products)},
      [](ScalarMath &m, auto v) { return m.mul(v[1], m.sub(v[0], v[2])); })};
}

SmallVector<Value> LogSoftmaxGradOp::decompose(OpBuilder &builder,
                                               ValueRange operands) {
  Core core(*this, builder, operands);
  Value sum = core.sumColumns(operands[0]);
  return {core.pointwise(getType(), {operands[0], operands[1], sum},
                         [](ScalarMath &m, auto v) {
                           return m.sub(v[0], m.mul(m.exp(v[1]), v[2]));
                         })};
}

template <typename GradOpT, typename OpT>
static Gradients outputRule(OpT op, OpBuilder &builder, ValueRange gradients,
                            ArrayRef<bool> needed) {
  if (!needed[0] || !gradients[0])
    return SmallVector<Value>{Value()};
  return SmallVector<Value>{GradOpT::create(builder, op.getLoc(),
                                            op.getInput().getType(),
                                            gradients[0], op.getResult())};
}
Gradients SoftmaxOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                    ArrayRef<bool> needed) {
  return outputRule<SoftmaxGradOp>(*this, builder, gradients, needed);
}
Gradients LogSoftmaxOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                       ArrayRef<bool> needed) {
  return outputRule<LogSoftmaxGradOp>(*this, builder, gradients, needed);
}

//===----------------------------------------------------------------------===//
// CrossEntropyOp
//===----------------------------------------------------------------------===//

LogicalResult CrossEntropyOp::verify() {
  RankedTensorType type = tensorType(getLogits());
  if (failed(verifyHasColumns(*this, type, "logits")))
    return failure();
  if (getColumns(type) == 0)
    return emitOpError() << "expected `logits` to have at least one class, but "
                            "got "
                         << type;
  double smoothing = getLabelSmoothing().convertToDouble();
  // Also for NaN. NOLINTNEXTLINE(readability-simplify-boolean-expr)
  if (!(smoothing >= 0.0 && smoothing <= 1.0))
    return emitOpError() << "expected 0 <= label_smoothing <= 1, but got "
                         << smoothing;
  return failure(
      failed(verifyRowScale(*this, "targets", getTargets(), type)) ||
      failed(verifyRowStat(*this, "loss", getLoss(), type)) ||
      failed(verifyRowStat(*this, "log_sum_exp", getLogSumExp(), type)));
}

namespace {
/// Comparisons of a target, in the body of a pointwise operation.
struct Target {
  Target(ScalarMath &m, Value value) : m(m), target(value) {
    if (!value.getType().isInteger(64))
      target = arith::ExtSIOp::create(m.builder, m.loc, m.builder.getI64Type(),
                                      value);
  }
  Value compare(arith::CmpIPredicate predicate, Value other) {
    return arith::CmpIOp::create(m.builder, m.loc, predicate, target, other);
  }
  Value constant(int64_t value) {
    return arith::ConstantOp::create(m.builder, m.loc,
                                     m.builder.getI64IntegerAttr(value));
  }
  /// Whether the element's column is the target's class.
  Value isColumn() {
    return compare(
        arith::CmpIPredicate::eq,
        ColumnIndexOp::create(m.builder, m.loc, m.builder.getI64Type()));
  }
  Value is(int64_t value) {
    return compare(arith::CmpIPredicate::eq, constant(value));
  }
  /// Whether it is one of `count` classes: as unsigned, a negative one is not.
  Value isBelow(int64_t count) {
    return compare(arith::CmpIPredicate::ult, constant(count));
  }

  ScalarMath &m;
  Value target;
};
} // namespace

SmallVector<Value> CrossEntropyOp::decompose(OpBuilder &builder,
                                             ValueRange operands) {
  Value x = operands[0], targets = operands[1];
  Core core(*this, builder, operands);
  int64_t classes = getColumns(tensorType(x));
  double smoothing = getLabelSmoothing().convertToDouble();
  Value maximum = rowMaximum(core, x);
  Value log = core.pointwise(
      core.rowStat(x), core.sumColumns(shiftedExponentials(core, x, maximum)),
      [](ScalarMath &m, auto v) { return m.log(v[0]); });
  Value logSumExp =
      core.pointwise(core.rowStat(x), {maximum, log},
                     [](ScalarMath &m, auto v) { return m.add(v[0], v[1]); });
  Value chosen = core.sumColumns(
      core.pointwise(core.wide(x), {x, targets}, [](ScalarMath &m, auto v) {
        return m.select(Target(m, v[1]).isColumn(), v[0], m.constant(0.0));
      }));
  SmallVector<Value> inputs = {maximum, log, chosen, targets};
  if (smoothing != 0.0)
    inputs.push_back(core.sumColumns(x));
  Value loss =
      core.pointwise(core.rowStat(x), inputs, [&](ScalarMath &m, auto v) {
        // The logits' difference first: it is small where the loss is.
        auto distance = [&](Value logit) {
          return m.add(m.sub(v[0], logit), v[1]);
        };
        Value value = distance(v[2]);
        if (smoothing != 0.0) {
          Value mean = m.mul(v[4], m.constant(1.0 / classes));
          value = m.add(m.mul(m.constant(1.0 - smoothing), value),
                        m.mul(m.constant(smoothing), distance(mean)));
        }
        Target target(m, v[3]);
        Value nan = m.constant(std::numeric_limits<double>::quiet_NaN());
        value = m.select(target.isBelow(classes), value, nan);
        return m.select(target.is(getIgnoreIndex()), m.constant(0.0), value);
      });
  return {loss, logSumExp};
}

Gradients CrossEntropyOp::buildGradients(OpBuilder &builder,
                                         ValueRange gradients,
                                         ArrayRef<bool> needed) {
  SmallVector<Value> results(2);
  if (!needed[0] || (!gradients[0] && !gradients[1]))
    return results;
  double smoothing = getLabelSmoothing().convertToDouble();
  double rest = smoothing / getColumns(tensorType(getLogits()));
  SmallVector<Value> inputs = {getLogits(), getLogSumExp()};
  if (gradients[0])
    inputs.append({getTargets(), gradients[0]});
  if (gradients[1])
    inputs.push_back(gradients[1]);
  results[0] =
      Core(*this, builder, getOperands())
          .pointwise(getLogits().getType(), inputs, [&](ScalarMath &m, auto v) {
            Value softmax = m.exp(m.sub(v[0], v[1]));
            Value sum;
            if (gradients[0]) {
              Target target(m, v[2]);
              Value label = m.select(target.isColumn(),
                                     m.constant(1.0 - smoothing + rest),
                                     m.constant(rest));
              sum = m.select(target.is(getIgnoreIndex()), m.constant(0.0),
                             m.mul(v[3], m.sub(softmax, label)));
            }
            if (gradients[1]) {
              Value through = m.mul(v[v.size() - 1], softmax);
              sum = sum ? m.add(sum, through) : through;
            }
            return sum;
          });
  return results;
}
