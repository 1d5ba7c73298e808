//===- Statistics.cpp - Variances, norms and logsumexp -------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reduction.h"
#include "mlir/Dialect/Traits.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fuseops;

namespace {
/// What an operation of the variance family gives, in order.
enum class Statistic { Variance, Deviation, Mean };

/// How it says the correction of the count.
enum class Correction { Number, IsUnbiased };
} // namespace

/// `sqrt(x)` whose derivative at 0 is not infinite: PyTorch gives a vector of
/// zeros the gradient 0.
static Value buildRoot(ScalarMath &math, Value x) {
  Value isPositive = math.greater(x, math.constant(0.0));
  Value positive = math.select(isPositive, x, math.constant(1.0));
  return math.select(isPositive, math.sqrt(positive), x);
}

static FailureOr<double> getCorrection(TorchCall &call, Correction kind,
                                       std::optional<unsigned> index) {
  if (!index)
    return 1.0;
  if (kind == Correction::Number)
    return call.numberOr(*index, 1.0);
  FailureOr<bool> isUnbiased = call.booleanOr(*index, true);
  if (failed(isUnbiased))
    return failure();
  return *isUnbiased ? 1.0 : 0.0;
}

/// The variance in two passes: squares of what is left without the mean.
static TorchHandler convertVariance(ArrayRef<Statistic> results,
                                    std::optional<unsigned> dimsIndex,
                                    Correction correction,
                                    std::optional<unsigned> correctionIndex) {
  SmallVector<Statistic> order(results);
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<ReductionCall> reduction = ReductionCall::get(call, dimsIndex);
    if (failed(reduction) || failed(call.floatTensor(0)))
      return failure();
    FailureOr<double> removed =
        getCorrection(call, correction, correctionIndex);
    if (failed(removed))
      return failure();
    Type wide = getComputeType(reduction->getElement());
    FailureOr<Value> mean = reduction->buildMean();
    if (failed(mean))
      return failure();
    Value squares = reduction->apply({reduction->input, *mean}, wide,
                                     [](ScalarMath &math, ArrayRef<Value> s) {
                                       Value difference = math.sub(s[0], s[1]);
                                       return math.mul(difference, difference);
                                     });
    FailureOr<Value> sum = reduction->reduce(squares, ReductionKind::Sum, wide);
    if (failed(sum))
      return failure();
    Value variance = reduction->divideByCount(*sum, *removed, wide);
    for (auto [index, statistic] : llvm::enumerate(order)) {
      Value value = statistic == Statistic::Mean ? *mean : variance;
      if (statistic == Statistic::Deviation)
        value = reduction->apply(value, wide,
                                 [](ScalarMath &math, ArrayRef<Value> s) {
                                   return buildRoot(math, s[0]);
                                 });
      if (failed(call.setConverted(index, value)))
        return failure();
    }
    return success();
  };
}

/// `x`, which is not negative, to the power of `exponent`. Where the slope at 0
/// is infinite PyTorch's norms give a 0 no gradient.
static Value buildPower(ScalarMath &math, Value x, double exponent) {
  Value power = math.constant(exponent);
  if (exponent > 1.0)
    return math.pow(x, power);
  Value isZero = math.equal(x, math.constant(0.0));
  Value base = math.select(isZero, math.constant(1.0), x);
  return math.select(isZero, math.constant(std::pow(0.0, exponent)),
                     math.pow(base, power));
}

/// The norm of order `order` over the reduced dimensions.
static LogicalResult setNorm(ReductionCall &reduction, double order) {
  TorchCall &call = reduction.call;
  FailureOr<RankedTensorType> result = call.floatResultType();
  if (failed(result))
    return failure();
  if (!isComputeFloat(reduction.getElement()) ||
      reduction.getElement().getIntOrFloatBitWidth() <
          result->getElementType().getIntOrFloatBitWidth())
    reduction.convertInput(result->getElementType());
  Type wide = getComputeType(reduction.getElement());
  bool isExtreme = std::isinf(order);
  Value terms = reduction.apply(
      reduction.input, wide, [&](ScalarMath &math, ArrayRef<Value> s) -> Value {
        if (order == 2.0)
          return math.mul(s[0], s[0]);
        if (order == 0.0) {
          return math.select(math.equal(s[0], math.constant(0.0)),
                             math.constant(0.0), math.constant(1.0));
        }
        Value size = math.abs(s[0]);
        if (order == 1.0 || isExtreme)
          return size;
        return buildPower(math, size, order);
      });
  ReductionKind kind = !isExtreme   ? ReductionKind::Sum
                       : order > 0. ? ReductionKind::Max
                                    : ReductionKind::Min;
  FailureOr<Value> reduced = reduction.reduce(terms, kind, wide);
  if (failed(reduced))
    return failure();
  Value norm = *reduced;
  bool hasRoot = !isExtreme && order != 0.0 && order != 1.0;
  if (hasRoot)
    norm = reduction.apply(norm, wide,
                           [&](ScalarMath &math, ArrayRef<Value> s) -> Value {
                             if (order == 2.0)
                               return buildRoot(math, s[0]);
                             return buildPower(math, s[0], 1.0 / order);
                           });
  return call.setConverted(0, norm);
}

/// Norms with the order at operand `orderIndex`, else 2.
static TorchHandler convertNorm(std::optional<unsigned> orderIndex,
                                std::optional<unsigned> dimsIndex) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<ReductionCall> reduction = ReductionCall::get(call, dimsIndex);
    if (failed(reduction))
      return failure();
    FailureOr<double> order =
        orderIndex ? call.numberOr(*orderIndex, 2.0) : FailureOr<double>(2.0);
    return failed(order) ? failure() : setNorm(*reduction, *order);
  };
}

/// linalg_norm (order, dims, keepdim, dtype): the norm of a vector. With an
/// order, two dimensions, or all where none are named, are those of a matrix.
static LogicalResult convertLinalgNorm(TorchCall &call) {
  FailureOr<ReductionCall> reduction = ReductionCall::get(call, 2);
  if (failed(reduction))
    return failure();
  if (!call.isNone(1) && reduction->dims.size() > 1)
    return call.refuse("expected the norm of a vector, but got that of a "
                       "matrix");
  FailureOr<double> order = call.numberOr(1, 2.0);
  return failed(order) ? failure() : setNorm(*reduction, *order);
}

/// The 2-norm over the dimensions of `reduction`, which stay with extent 1.
static FailureOr<Value> buildNorm(const ReductionCall &reduction, Value value) {
  Type wide = getComputeType(getElementTypeOrSelf(value));
  Value squares =
      reduction.apply(value, wide, [](ScalarMath &math, ArrayRef<Value> s) {
        return math.mul(s[0], s[0]);
      });
  FailureOr<Value> sum = reduction.reduce(squares, ReductionKind::Sum, wide);
  if (failed(sum))
    return failure();
  return reduction.apply(*sum, wide, [](ScalarMath &math, ArrayRef<Value> s) {
    return buildRoot(math, s[0]);
  });
}

/// _weight_norm_interface (v, g, dim): `v * g / norm(v)` over all dimensions
/// but one, and the norms.
static LogicalResult convertWeightNorm(TorchCall &call) {
  FailureOr<ReductionCall> reduction = ReductionCall::get(call, std::nullopt);
  if (failed(reduction))
    return failure();
  FailureOr<Value> magnitude = call.floatTensor(1);
  if (failed(magnitude) || failed(call.floatTensor(0)))
    return failure();
  RankedTensorType type = reduction->getType();
  FailureOr<int64_t> kept = call.getNumOperands() > 2
                                ? call.dimension(2, type.getRank())
                                : FailureOr<int64_t>(0);
  if (failed(kept))
    return failure();
  llvm::erase(reduction->dims, *kept);
  FailureOr<RankedTensorType> result = call.floatResultType();
  if (failed(result))
    return failure();
  FailureOr<Value> norm = buildNorm(*reduction, reduction->input);
  if (failed(norm))
    return failure();
  if (!isBroadcastableTo(cast<RankedTensorType>(magnitude->getType()), type))
    return call.refuse("expected magnitudes that broadcast to the vectors");
  Value scaled = call.pointwise(*result, {reduction->input, *magnitude, *norm},
                                [](ScalarMath &math, ArrayRef<Value> s) {
                                  return math.mul(s[0], math.div(s[1], s[2]));
                                });
  if (failed(call.set(0, scaled)))
    return failure();
  return call.isResultUsed(1) ? call.setConverted(1, *norm) : success();
}

/// cosine_similarity (x, y, dim, eps): the sum of products of what is left of
/// both when divided by its norm, which is at least eps.
static LogicalResult convertCosineSimilarity(TorchCall &call) {
  SmallVector<Value> sides;
  for (unsigned index : {0, 1}) {
    FailureOr<Value> side = call.floatTensor(index);
    if (failed(side))
      return failure();
    sides.push_back(*side);
  }
  FailureOr<double> eps = call.numberOr(3, 1.0e-8);
  if (failed(eps))
    return failure();
  FailureOr<RankedTensorType> result = call.floatResultType();
  if (failed(result))
    return failure();
  // The two broadcast to one shape, whose dimension it is.
  SmallVector<int64_t> shape;
  auto lhs = cast<RankedTensorType>(sides[0].getType());
  auto rhs = cast<RankedTensorType>(sides[1].getType());
  if (!OpTrait::util::getBroadcastedShape(lhs.getShape(), rhs.getShape(),
                                          shape))
    return call.refuse("expected operands that broadcast");
  int64_t rank = shape.size();
  FailureOr<int64_t> dim = call.getNumOperands() > 2
                               ? call.dimension(2, rank)
                               : FailureOr<int64_t>(rank > 1 ? 1 : 0);
  if (failed(dim))
    return failure();
  auto wide =
      RankedTensorType::get(shape, getComputeType(result->getElementType()));
  ReductionCall reduction{call, Value(), 1, {}};
  if (rank > 0)
    reduction.dims.push_back(*dim);
  for (Value &side : sides) {
    reduction.input = side =
        broadcastTo(call.builder, call.getLoc(), side, wide);
    FailureOr<Value> norm = buildNorm(reduction, side);
    if (failed(norm))
      return failure();
    side = reduction.apply({side, *norm}, wide.getElementType(),
                           [&](ScalarMath &math, ArrayRef<Value> s) {
                             Value least = math.constant(*eps);
                             return math.div(s[0], math.maximum(s[1], least));
                           });
  }
  Value products = reduction.apply(
      sides, wide.getElementType(),
      [](ScalarMath &math, ArrayRef<Value> s) { return math.mul(s[0], s[1]); });
  FailureOr<Value> sum =
      reduction.reduce(products, ReductionKind::Sum, wide.getElementType());
  return failed(sum) ? failure() : call.setConverted(0, *sum);
}

/// `log(sum(exp(x)))`, shifted by the maximum.
static LogicalResult convertLogSumExp(TorchCall &call) {
  FailureOr<ReductionCall> reduction = ReductionCall::get(call, 1);
  if (failed(reduction))
    return failure();
  FailureOr<RankedTensorType> result = call.floatResultType();
  if (failed(result))
    return failure();
  if (!isComputeFloat(reduction->getElement()))
    reduction->convertInput(result->getElementType());
  Type wide = getComputeType(reduction->getElement());
  if (reduction->getCount() == Extent()) {
    // The logarithm of no terms.
    TorchValue none;
    none.kind = TorchValue::Kind::Splat;
    none.type = *result;
    none.constant = TorchNumber::get(-std::numeric_limits<double>::infinity());
    return call.set(0, none);
  }
  FailureOr<Value> maximum =
      reduction->reduce(reduction->input, ReductionKind::Max, wide);
  if (failed(maximum))
    return failure();
  // Rows of infinities only aren't shifted: inf - inf is no number.
  auto shift = [](ScalarMath &math, Value m) -> Value {
    Value infinity = math.constant(std::numeric_limits<double>::infinity());
    Value finite =
        math.select(math.equal(math.abs(m), infinity), math.constant(0.0), m);
    // A whole number has no derivative, and shifts as well.
    return math.floor(finite);
  };
  Value powers =
      reduction->apply({reduction->input, *maximum}, wide,
                       [&](ScalarMath &math, ArrayRef<Value> s) {
                         return math.exp(math.sub(s[0], shift(math, s[1])));
                       });
  FailureOr<Value> sum = reduction->reduce(powers, ReductionKind::Sum, wide);
  if (failed(sum))
    return failure();
  Value logarithm = reduction->apply(
      {*sum, *maximum}, wide, [&](ScalarMath &math, ArrayRef<Value> s) {
        return math.add(math.log(s[0]), shift(math, s[1]));
      });
  return call.setConverted(0, logarithm);
}

void mlir::fuseops::addStatisticsHandlers(TorchHandlers &handlers) {
  constexpr Statistic kVar = Statistic::Variance, kStd = Statistic::Deviation,
                      kMean = Statistic::Mean;
  auto add = [&](StringRef name, ArrayRef<Statistic> results) {
    std::string aten = ("aten." + name).str();
    handlers.add(aten + ".correction", 1, 4,
                 convertVariance(results, 1, Correction::Number, 2));
    handlers.add(aten + ".dim", 2, 4,
                 convertVariance(results, 1, Correction::IsUnbiased, 2));
    handlers.add(
        aten, 1, 2,
        convertVariance(results, std::nullopt, Correction::IsUnbiased, 1));
  };
  add("var", kVar);
  add("std", kStd);
  add("var_mean", {kVar, kMean});
  add("std_mean", {kStd, kMean});
  handlers.add("prims.var", 2, 4,
               convertVariance(kVar, 1, Correction::Number, 2));
  handlers.add("aten.linalg_vector_norm", 1, 5, convertNorm(1, 2));
  handlers.add("aten.norm.ScalarOpt_dim", 3, 4, convertNorm(1, 2));
  handlers.add("aten.norm.ScalarOpt_dim_dtype", 3, 5, convertNorm(1, 2));
  handlers.add("aten.norm.Scalar", 1, 2, convertNorm(1, std::nullopt));
  handlers.add("aten.frobenius_norm.dim", 2, 3, convertNorm(std::nullopt, 1));
  handlers.add("aten.linalg_norm", 1, 5, convertLinalgNorm);
  handlers.add("aten._weight_norm_interface", 2, 3, convertWeightNorm);
  handlers.add("aten.cosine_similarity", 2, 4, convertCosineSimilarity);
  handlers.add("aten.logsumexp", 2, 3, convertLogSumExp);
}
