//===- Loss.cpp - Losses of two tensors, and their gradients -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Loss.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fuseops;

FailureOr<LossReduction> mlir::fuseops::getLossReduction(const TorchCall &call,
                                                         unsigned index) {
  FailureOr<int64_t> kind = call.integerOr(index, 1);
  if (failed(kind))
    return failure();
  if (*kind < 0 || *kind > 2)
    return call.refuse("expected a reduction of 0, 1 or 2, but got " +
                       Twine(*kind));
  return static_cast<LossReduction>(*kind);
}

FailureOr<Value> mlir::fuseops::sumAll(TorchCall &call, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  FailureOr<Value> sum =
      reduceDims(call.builder, call.getLoc(), value, dims, ReductionKind::Sum,
                 getComputeType(type.getElementType()));
  if (failed(sum))
    return failure();
  return reshapeTo(call.builder, call.getLoc(), *sum, {});
}

Value mlir::fuseops::divideByExtent(TorchCall &call, Value value,
                                    Extent count) {
  auto type = getComputeTensor(value.getType());
  SmallVector<Value> operands = {value};
  if (count.perSymbol)
    operands.push_back(call.buildSize(count));
  return call.pointwise(
      type, operands, [&](ScalarMath &math, ArrayRef<Value> s) {
        return math.div(s[0], s.size() == 2 ? s[1]
                                            : math.constant(static_cast<double>(
                                                  count.constant)));
      });
}

namespace {
/// One loss: `body` gets its tensors, null for None, and its numbers.
struct LossRow {
  StringRef name;
  /// The tensors, first operands.
  unsigned numTensors;
  using Body = Value (*)(ScalarMath &, ArrayRef<Value>, ArrayRef<double>);
  Body body;
  /// Which operand says how the loss is reduced.
  unsigned reductionIndex;
  /// The operands that are numbers, with what they are where they're None.
  SmallVector<std::pair<unsigned, double>> numbers = {};
  /// Whether it's a gradient: tensor 0 is that of the loss, and a mean divides
  /// by the elements of the result.
  bool isGradient = false;
  /// Whether PyTorch computes integers as such, so that they wrap.
  bool wrapsIntegers = false;
};
} // namespace

static Value buildSign(ScalarMath &m, Value x) {
  Value zero = m.constant(0.0);
  Value negative = m.select(m.less(x, zero), m.constant(-1.0), x);
  return m.select(m.greater(x, zero), m.constant(1.0), negative);
}

/// Within `width` of 0 `inner`, else `outer`.
static Value chooseNear(ScalarMath &m, Value difference, double width,
                        Value inner, Value outer) {
  return m.select(m.less(m.abs(difference), m.constant(width)), inner, outer);
}

static Value buildSquaredError(ScalarMath &m, ArrayRef<Value> t,
                               ArrayRef<double>) {
  return m.square(m.sub(t[0], t[1]));
}

static Value buildSmoothL1(ScalarMath &m, ArrayRef<Value> t,
                           ArrayRef<double> n) {
  Value d = m.sub(t[0], t[1]), size = m.abs(d);
  if (n[0] == 0.0)
    return size;
  Value curve = m.mul(m.square(d), m.constant(0.5 / n[0]));
  return chooseNear(m, d, n[0], curve, m.sub(size, m.constant(0.5 * n[0])));
}

static Value buildHuber(ScalarMath &m, ArrayRef<Value> t, ArrayRef<double> n) {
  Value d = m.sub(t[0], t[1]), size = m.abs(d);
  Value curve = m.mul(m.square(d), m.constant(0.5));
  Value line = m.mul(m.constant(n[0]), m.sub(size, m.constant(0.5 * n[0])));
  Value isNear = m.compare(ScalarMath::Predicate::OLE, size, m.constant(n[0]));
  return m.select(isNear, curve, line);
}

/// A logarithm is at least -100, as PyTorch has it; its derivative there is 0.
static Value buildCrossEntropyTerm(ScalarMath &m, Value log) {
  return m.maximum(log, m.constant(-100.0));
}

static Value buildBinaryCrossEntropy(ScalarMath &m, ArrayRef<Value> t,
                                     ArrayRef<double>) {
  Value yes = buildCrossEntropyTerm(m, m.log(t[0]));
  Value no = buildCrossEntropyTerm(m, m.log1p(m.neg(t[0])));
  Value loss = m.sub(m.mul(m.sub(t[1], m.constant(1.0)), no), m.mul(t[1], yes));
  return t[2] ? m.mul(loss, t[2]) : loss;
}

static Value buildBinaryCrossEntropyBackward(ScalarMath &m, ArrayRef<Value> t,
                                             ArrayRef<double>) {
  Value one = m.constant(1.0);
  Value variance = m.maximum(m.mul(m.sub(one, t[1]), t[1]), m.constant(1e-12));
  Value slope = m.div(m.mul(t[0], m.sub(t[1], t[2])), variance);
  return t[3] ? m.mul(slope, t[3]) : slope;
}

/// `(1 - y) x + (1 + (p - 1) y) softplus(-x)`.
static Value buildLogitsCrossEntropy(ScalarMath &m, ArrayRef<Value> t,
                                     ArrayRef<double>) {
  Value x = t[0], y = t[1], zero = m.constant(0.0);
  Value tail = m.log1p(m.exp(m.neg(m.abs(x))));
  Value softplus = m.add(tail, m.maximum(m.neg(x), zero));
  if (t[3]) {
    Value factor = m.mul(m.sub(t[3], m.constant(1.0)), y);
    softplus = m.mul(m.add(factor, m.constant(1.0)), softplus);
  }
  Value loss = m.add(m.mul(m.sub(m.constant(1.0), y), x), softplus);
  return t[2] ? m.mul(loss, t[2]) : loss;
}

/// `y (log y - x)`, 0 where y is 0; with a flag, y is a logarithm.
static Value buildDivergence(ScalarMath &m, ArrayRef<Value> t,
                             ArrayRef<double> n) {
  if (n[0] != 0.0)
    return m.mul(m.exp(t[1]), m.sub(t[1], t[0]));
  Value zero = m.constant(0.0);
  Value isZero = m.equal(t[1], zero);
  Value positive = m.select(isZero, m.constant(1.0), t[1]);
  Value entropy = m.select(isZero, zero, m.mul(t[1], m.log(positive)));
  return m.sub(entropy, m.mul(t[1], t[0]));
}

static Value buildSoftMargin(ScalarMath &m, ArrayRef<Value> t,
                             ArrayRef<double>) {
  return m.log1p(m.exp(m.neg(m.mul(t[1], t[0]))));
}

static Value buildPoisson(ScalarMath &m, ArrayRef<Value> t,
                          ArrayRef<double> n) {
  bool isLog = n[0] != 0.0;
  Value loss =
      isLog ? m.sub(m.exp(t[0]), m.mul(t[1], t[0]))
            : m.sub(t[0], m.mul(t[1], m.log(m.add(t[0], m.constant(n[2])))));
  if (n[1] == 0.0)
    return loss;
  // Stirling's approximation of log(y!), for y > 1.
  Value one = m.constant(1.0);
  Value isLarge = m.greater(t[1], one);
  Value y = m.select(isLarge, t[1], one);
  constexpr double kTwoPi = 6.283185307179586;
  Value stirling =
      m.add(m.sub(m.mul(y, m.log(y)), y),
            m.mul(m.constant(0.5), m.log(m.mul(m.constant(kTwoPi), y))));
  return m.add(loss, m.select(isLarge, stirling, m.constant(0.0)));
}

/// `clamp_min(x, 0)`: unlike a maximum's, its gradient passes at the bound, but
/// not for NaN.
static Value clampAtZero(ScalarMath &m, Value x) {
  Value zero = m.constant(0.0), nan = m.constant(std::nan(""));
  return m.select(m.isNaN(x), nan, m.select(m.less(x, zero), zero, x));
}

static Value buildHinge(ScalarMath &m, ArrayRef<Value> t, ArrayRef<double> n) {
  Value zero = m.constant(0.0);
  Value margin = clampAtZero(m, m.sub(m.constant(n[0]), t[0]));
  Value wrong = m.select(m.equal(t[1], m.constant(1.0)), zero, margin);
  return m.add(wrong, m.select(m.equal(t[1], m.constant(-1.0)), zero, t[0]));
}

static Value buildMarginRanking(ScalarMath &m, ArrayRef<Value> t,
                                ArrayRef<double> n) {
  Value rank = m.mul(m.neg(t[2]), m.sub(t[0], t[1]));
  return clampAtZero(m, m.add(rank, m.constant(n[0])));
}

static LogicalResult convertLoss(TorchCall &call, const LossRow &row) {
  SmallVector<Value> tensors;
  SmallVector<bool> isThere;
  for (unsigned index = 0; index < row.numTensors; ++index) {
    if (call.isNone(index)) {
      isThere.push_back(false);
      continue;
    }
    FailureOr<Value> tensor = call.tensor(index);
    if (failed(tensor))
      return failure();
    if (row.wrapsIntegers &&
        isa<IntegerType>(getElementTypeOrSelf(tensor->getType())))
      return call.refuse("expected floating-point tensors, but got " +
                         print(tensor->getType()));
    isThere.push_back(true);
    tensors.push_back(*tensor);
  }
  SmallVector<double> numbers;
  for (auto [index, otherwise] : row.numbers) {
    FailureOr<double> number = call.numberOr(index, otherwise);
    if (failed(number))
      return failure();
    numbers.push_back(*number);
  }
  FailureOr<LossReduction> reduction =
      getLossReduction(call, row.reductionIndex);
  if (failed(reduction))
    return failure();
  FailureOr<RankedTensorType> result = call.floatResultType();
  if (failed(result))
    return failure();

  // The shape of the losses is what all tensors broadcast to.
  bool isMean = *reduction == LossReduction::Mean;
  bool isReduced = !row.isGradient && *reduction != LossReduction::None;
  RankedTensorType type = *result;
  if (isReduced) {
    type = cast<RankedTensorType>(tensors.front().getType());
    for (Value tensor : tensors) {
      auto other = cast<RankedTensorType>(tensor.getType());
      if (isBroadcastableTo(type, other))
        type = other;
    }
  }
  for (Value tensor : tensors)
    if (!isBroadcastableTo(cast<RankedTensorType>(tensor.getType()), type))
      return call.refuse("expected tensors that broadcast to one of them");
  auto element = type.clone(result->getElementType());
  Extent count = getNumElements(type);
  if (row.isGradient && isMean && count.perSymbol)
    tensors.front() = divideByExtent(call, tensors.front(), count);
  auto body = [&](ScalarMath &math, ArrayRef<Value> scalars) {
    SmallVector<Value> all;
    for (bool there : isThere)
      all.push_back(there ? scalars[0] : Value()),
          scalars = scalars.drop_front(there);
    if (row.isGradient && isMean && !count.perSymbol)
      all[0] =
          math.div(all[0], math.constant(static_cast<double>(count.constant)));
    return row.body(math, all, numbers);
  };
  Value losses = call.pointwise(isReduced ? getComputeTensor(element) : element,
                                tensors, body);
  if (!isReduced)
    return call.set(0, losses);
  FailureOr<Value> sum = sumAll(call, losses);
  if (failed(sum))
    return failure();
  return call.setConverted(0,
                           isMean ? divideByExtent(call, *sum, count) : *sum);
}

static const SmallVector<LossRow> &getRows() {
  static const SmallVector<LossRow> rows = {
      {"mse_loss", 2, buildSquaredError, 2},
      {"l1_loss", 2,
       [](ScalarMath &m, ArrayRef<Value> t, ArrayRef<double>) {
         return m.abs(m.sub(t[0], t[1]));
       },
       2},
      {"smooth_l1_loss", 2, buildSmoothL1, 2, {{3, 1.0}}},
      {"huber_loss", 2, buildHuber, 2, {{3, 1.0}}},
      {"binary_cross_entropy", 3, buildBinaryCrossEntropy, 3},
      {"binary_cross_entropy_with_logits", 4, buildLogitsCrossEntropy, 4},
      {"kl_div", 2, buildDivergence, 2, {{3, 0.0}}},
      {"soft_margin_loss", 2, buildSoftMargin, 2},
      {"poisson_nll_loss", 2, buildPoisson, 5, {{2, 1.0}, {3, 0.0}, {4, 1e-8}}},
      {"hinge_embedding_loss", 2, buildHinge, 3, {{2, 1.0}}},
      {"margin_ranking_loss",
       3,
       buildMarginRanking,
       4,
       {{3, 0.0}},
       /*isGradient=*/false,
       /*wrapsIntegers=*/true},
      {"mse_loss_backward",
       3,
       [](ScalarMath &m, ArrayRef<Value> t, ArrayRef<double>) {
         return m.mul(m.mul(m.constant(2.0), m.sub(t[1], t[2])), t[0]);
       },
       3,
       {},
       true},
      {"smooth_l1_loss_backward",
       3,
       [](ScalarMath &m, ArrayRef<Value> t, ArrayRef<double> n) {
         Value d = m.sub(t[1], t[2]), slope = buildSign(m, d);
         if (n[0] != 0.0)
           slope = chooseNear(m, d, n[0], m.div(d, m.constant(n[0])), slope);
         return m.mul(slope, t[0]);
       },
       3,
       {{4, 1.0}},
       true},
      {"huber_loss_backward",
       3,
       [](ScalarMath &m, ArrayRef<Value> t, ArrayRef<double> n) {
         Value d = m.sub(t[1], t[2]);
         Value limit = m.constant(n[0]);
         Value slope = m.minimum(m.maximum(d, m.neg(limit)), limit);
         return m.mul(slope, t[0]);
       },
       3,
       {{4, 1.0}},
       true},
      {"binary_cross_entropy_backward",
       4,
       buildBinaryCrossEntropyBackward,
       4,
       {},
       true},
      {"soft_margin_loss_backward",
       3,
       [](ScalarMath &m, ArrayRef<Value> t, ArrayRef<double>) {
         Value factor = m.sigmoid(m.neg(m.mul(t[1], t[2])));
         return m.mul(m.neg(m.mul(t[2], factor)), t[0]);
       },
       3,
       {},
       true}};
  return rows;
}

void mlir::fuseops::addLossHandlers(TorchHandlers &handlers) {
  for (const LossRow &row : getRows())
    handlers.add(("aten." + row.name).str(), 2, 8,
                 [&row](TorchCall &call) { return convertLoss(call, row); });
  addClassLossHandlers(handlers);
}
