//===- Reduction.cpp - Sums, means, maxima and what is made of them ------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reduction.h"

using namespace mlir;
using namespace mlir::fuseops;

FailureOr<ReductionCall> ReductionCall::get(TorchCall &call,
                                            std::optional<unsigned> dimsIndex) {
  FailureOr<TorchValue> input = call.value(0);
  if (failed(input))
    return failure();
  FailureOr<Value> tensor = call.tensor(0);
  if (failed(tensor))
    return failure();
  ReductionCall reduction{call};
  reduction.input = *tensor;
  reduction.multiple = input->multiple;
  SmallVector<int64_t> all =
      llvm::to_vector(llvm::seq<int64_t>(0, input->getRank()));
  if (dimsIndex && *dimsIndex < call.getNumOperands()) {
    FailureOr<SmallVector<int64_t>> listed =
        call.dimensions(*dimsIndex, input->getRank());
    if (failed(listed))
      return failure();
    all = *listed;
  }
  reduction.dims = input->getDims(all);
  return reduction;
}

RankedTensorType ReductionCall::getType() const {
  return cast<RankedTensorType>(input.getType());
}

Type ReductionCall::getElement() const { return getType().getElementType(); }

Extent ReductionCall::getCount() const {
  Extent count = {1, 0};
  for (int64_t dim : dims) {
    int64_t size = getType().getDimSize(dim);
    count =
        ShapedType::isDynamic(size) ? Extent{0, count.constant} : count * size;
  }
  return count;
}

FailureOr<Value> ReductionCall::reduce(Value value, ReductionKind kind,
                                       Type element) const {
  return reduceDims(call.builder, call.getLoc(), value, dims, kind, element);
}

void ReductionCall::convertInput(Type element) {
  input =
      broadcastTo(call.builder, call.getLoc(), input, getType().clone(element));
}

Value ReductionCall::apply(
    ValueRange operands, Type element,
    function_ref<Value(ScalarMath &, ArrayRef<Value>)> body) const {
  RankedTensorType widest = getType();
  Extent most;
  bool isFirst = true;
  for (Value operand : operands) {
    auto type = cast<RankedTensorType>(operand.getType());
    Extent count = getNumElements(type);
    // What is empty is the widest: what is broadcast meets no element.
    if (count == Extent()) {
      widest = type;
      break;
    }
    if (isFirst || count.perSymbol > most.perSymbol ||
        (count.perSymbol == most.perSymbol && count.constant > most.constant)) {
      widest = type;
      most = count;
    }
    isFirst = false;
  }
  return call.pointwise(widest.clone(element), operands, body);
}

FailureOr<Value> ReductionCall::buildMean() const {
  Type wide = getComputeType(getElement());
  FailureOr<Value> sum = reduce(input, ReductionKind::Sum, wide);
  if (failed(sum))
    return failure();
  return divideByCount(*sum, 0.0, wide);
}

Value ReductionCall::divideByCount(Value sum, double correction,
                                   Type element) const {
  Extent count = getCount();
  SmallVector<Value> operands = {sum};
  if (count.perSymbol)
    operands.push_back(call.buildSize(count));
  return apply(operands, element, [&](ScalarMath &math, ArrayRef<Value> s) {
    Value number = s.size() == 2
                       ? s[1]
                       : math.constant(static_cast<double>(count.constant));
    if (correction != 0.0)
      number = math.maximum(math.sub(number, math.constant(correction)),
                            math.constant(0.0));
    return math.div(s[0], number);
  });
}

//===----------------------------------------------------------------------===//
// Sums and means
//===----------------------------------------------------------------------===//

/// sum (dims, keepdim, dtype) and sum (dtype).
static TorchHandler convertSum(bool hasDims, bool isMean, bool skipsNaN) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<ReductionCall> reduction = ReductionCall::get(
        call, hasDims ? std::optional<unsigned>(1) : std::nullopt);
    if (failed(reduction))
      return failure();
    FailureOr<RankedTensorType> result = call.resultType();
    if (failed(result))
      return failure();
    Type element = result->getElementType();
    // A dtype operand converts the input first; integers add up in 64 bits
    // anyway.
    bool areIntegers =
        element.isInteger() && reduction->getElement().isInteger();
    if (!areIntegers)
      reduction->convertInput(element);
    if (skipsNaN && isa<FloatType>(element))
      reduction->input = reduction->apply(
          reduction->input, element, [](ScalarMath &math, ArrayRef<Value> s) {
            Value isNaN = arith::CmpFOp::create(
                math.builder, math.loc, arith::CmpFPredicate::UNO, s[0], s[0]);
            return arith::SelectOp::create(math.builder, math.loc, isNaN,
                                           math.constant(0.0), s[0])
                .getResult();
          });
    if (isMean) {
      if (!isa<FloatType>(element))
        return call.refuse("expected a mean of floats, but got " +
                           print(*result));
      FailureOr<Value> mean = reduction->buildMean();
      return failed(mean) ? failure() : call.setConverted(0, *mean);
    }
    FailureOr<Value> sum =
        reduction->reduce(reduction->input, ReductionKind::Sum, element);
    return failed(sum) ? failure() : call.setConverted(0, *sum);
  };
}

namespace {
enum class Logical { Any, All, Count };
} // namespace

/// Whether any, or all, are not 0; how many are. All are where none is 0.
static TorchHandler convertLogical(Logical kind, bool hasDims) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<ReductionCall> reduction = ReductionCall::get(
        call, hasDims ? std::optional<unsigned>(1) : std::nullopt);
    if (failed(reduction))
      return failure();
    FailureOr<RankedTensorType> result = call.resultType();
    if (failed(result))
      return failure();
    Type flag = call.builder.getI1Type();
    reduction->convertInput(flag);
    auto negate = [&](Value value) -> Value {
      auto body = [](OpBuilder &inner, Location loc,
                     ValueRange s) -> SmallVector<Value> {
        Value truth =
            arith::ConstantOp::create(inner, loc, inner.getBoolAttr(true));
        return {arith::XOrIOp::create(inner, loc, s[0], truth)};
      };
      return PointwiseOp::build(call.builder, call.getLoc(), value.getType(),
                                value, body)
          .getResult(0);
    };
    Value input = reduction->input;
    if (kind == Logical::All)
      input = negate(input);
    FailureOr<Value> sum = reduction->reduce(
        input, ReductionKind::Sum,
        kind == Logical::Count ? result->getElementType() : flag);
    if (failed(sum))
      return failure();
    return call.setConverted(0, kind == Logical::All ? negate(*sum) : *sum);
  };
}

//===----------------------------------------------------------------------===//
// Extremes
//===----------------------------------------------------------------------===//

/// amax, amin (dims, keepdim), max, min (no dims): the gradient goes to all
/// elements that tie, in equal parts.
static TorchHandler convertExtreme(ReductionKind kind, bool hasDims) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<ReductionCall> reduction = ReductionCall::get(
        call, hasDims ? std::optional<unsigned>(1) : std::nullopt);
    if (failed(reduction))
      return failure();
    FailureOr<Value> extreme =
        reduction->reduce(reduction->input, kind, reduction->getElement());
    return failed(extreme) ? failure() : call.setConverted(0, *extreme);
  };
}

static LogicalResult convertExtremes(TorchCall &call) {
  FailureOr<ReductionCall> reduction = ReductionCall::get(call, 1);
  if (failed(reduction))
    return failure();
  constexpr ReductionKind kKinds[] = {ReductionKind::Min, ReductionKind::Max};
  for (auto [index, kind] : llvm::enumerate(kKinds)) {
    FailureOr<Value> extreme =
        reduction->reduce(reduction->input, kind, reduction->getElement());
    if (failed(extreme) || failed(call.setConverted(index, *extreme)))
      return failure();
  }
  return success();
}

/// The place of each element in the reduced dimensions, as a tensor that
/// broadcasts to the input.
static Value buildPlaces(const ReductionCall &reduction) {
  OpBuilder &builder = reduction.call.builder;
  Location loc = reduction.call.getLoc();
  RankedTensorType type = reduction.getType();
  SmallVector<int64_t> shape(type.getRank(), 1);
  for (int64_t dim : reduction.dims)
    shape[dim] = type.getDimSize(dim);
  auto body = [](OpBuilder &inner, Location place,
                 ValueRange) -> SmallVector<Value> {
    return {LinearIndexOp::create(inner, place, inner.getI64Type())};
  };
  return PointwiseOp::build(builder, loc,
                            RankedTensorType::get(shape, builder.getI64Type()),
                            ValueRange(), body)
      .getResult(0);
}

/// The first place of the extreme, or of a NaN.
static FailureOr<Value> buildIndex(const ReductionCall &reduction,
                                   Value extreme) {
  OpBuilder &builder = reduction.call.builder;
  Location loc = reduction.call.getLoc();
  Type word = builder.getI64Type();
  Type compute = getComputeType(reduction.getElement());
  auto body = [&](OpBuilder &inner, Location place,
                  ValueRange s) -> SmallVector<Value> {
    Value isIt;
    if (isa<FloatType>(compute)) {
      // True for NaN, too.
      Value differs = arith::CmpFOp::create(
          inner, place, arith::CmpFPredicate::ONE, s[0], s[1]);
      Value isNaN = arith::CmpFOp::create(
          inner, place, arith::CmpFPredicate::UNO, s[0], s[0]);
      Value isResultNaN = arith::CmpFOp::create(
          inner, place, arith::CmpFPredicate::UNO, s[1], s[1]);
      Value no = arith::OrIOp::create(
          inner, place, differs,
          arith::XOrIOp::create(inner, place, isNaN, isResultNaN));
      Value truth =
          arith::ConstantOp::create(inner, place, inner.getBoolAttr(true));
      isIt = arith::XOrIOp::create(inner, place, no, truth);
    } else {
      isIt = arith::CmpIOp::create(inner, place, arith::CmpIPredicate::eq, s[0],
                                   s[1]);
    }
    Value last = arith::ConstantOp::create(
        inner, place,
        inner.getI64IntegerAttr(std::numeric_limits<int64_t>::max()));
    return {arith::SelectOp::create(inner, place, isIt, s[2], last)};
  };
  Value places =
      PointwiseOp::build(
          builder, loc, reduction.getType().clone(word),
          ValueRange{reduction.input, extreme, buildPlaces(reduction)}, body)
          .getResult(0);
  return reduction.reduce(places, ReductionKind::Min, word);
}

/// max.dim and min.dim (dim, keepdim): values and the first indices of them.
/// The gradient goes to those elements alone, so the values are sums of them.
static TorchHandler convertExtremeWithIndex(ReductionKind kind) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<ReductionCall> reduction = ReductionCall::get(call, 1);
    if (failed(reduction))
      return failure();
    Type element = reduction->getElement();
    FailureOr<Value> extreme =
        reduction->reduce(reduction->input, kind, element);
    if (failed(extreme))
      return failure();
    FailureOr<Value> index = buildIndex(*reduction, *extreme);
    if (failed(index) || failed(call.setConverted(1, *index)))
      return failure();
    if (!isa<FloatType>(element))
      return call.setConverted(0, *extreme);
    auto pick = [&](OpBuilder &inner, Location place,
                    ValueRange s) -> SmallVector<Value> {
      Value isIt = arith::CmpIOp::create(inner, place, arith::CmpIPredicate::eq,
                                         s[1], s[2]);
      // -0 is what adds nothing to any number.
      Value none = arith::ConstantOp::create(
          inner, place, inner.getFloatAttr(s[0].getType(), -0.0));
      return {arith::SelectOp::create(inner, place, isIt, s[0], none)};
    };
    Value picked =
        PointwiseOp::build(
            call.builder, call.getLoc(), reduction->getType(),
            ValueRange{reduction->input, *index, buildPlaces(*reduction)}, pick)
            .getResult(0);
    FailureOr<Value> sum =
        reduction->reduce(picked, ReductionKind::Sum, element);
    return failed(sum) ? failure() : call.setConverted(0, *sum);
  };
}

static TorchHandler convertIndexOfExtreme(ReductionKind kind) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<ReductionCall> reduction = ReductionCall::get(call, 1);
    if (failed(reduction))
      return failure();
    FailureOr<Value> extreme =
        reduction->reduce(reduction->input, kind, reduction->getElement());
    if (failed(extreme))
      return failure();
    FailureOr<Value> index = buildIndex(*reduction, *extreme);
    return failed(index) ? failure() : call.setConverted(0, *index);
  };
}

/// The product over the reduced dimensions, as a tree: halves are multiplied
/// until one element is left.
static TorchHandler convertProductOf(bool hasDims) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<ReductionCall> reduction = ReductionCall::get(
        call, hasDims ? std::optional<unsigned>(1) : std::nullopt);
    if (failed(reduction))
      return failure();
    FailureOr<RankedTensorType> result = call.resultType();
    if (failed(result))
      return failure();
    Type element = result->getElementType();
    reduction->convertInput(getAccumulatorType(element));
    Value value = reduction->input;
    OpBuilder &builder = call.builder;
    Location loc = call.getLoc();
    auto multiply = [](OpBuilder &inner, Location place,
                       ValueRange s) -> SmallVector<Value> {
      if (isa<FloatType>(s[0].getType()))
        return {arith::MulFOp::create(inner, place, s[0], s[1])};
      return {arith::MulIOp::create(inner, place, s[0], s[1])};
    };
    for (int64_t dim : reduction->dims) {
      if (reduction->getType().isDynamicDim(dim))
        return call.refuse("expected a product over a dimension of known size, "
                           "but it's symbolic");
      for (;;) {
        auto type = cast<RankedTensorType>(value.getType());
        int64_t size = type.getDimSize(dim);
        if (size == 1)
          break;
        SmallVector<int64_t> shape(type.getShape());
        if (size == 0) {
          shape[dim] = 1;
          TorchValue one;
          one.kind = TorchValue::Kind::Splat;
          one.type = RankedTensorType::get(shape, type.getElementType());
          one.constant = TorchNumber::getInteger(1);
          value = call.materialize(one);
          break;
        }
        int64_t half = size / 2;
        auto part = [&](int64_t offset, int64_t count) -> Value {
          shape[dim] = count;
          return SliceOp::create(
              builder, loc, RankedTensorType::get(shape, type.getElementType()),
              value, dim, offset);
        };
        Value low = part(0, half), high = part(half, half);
        Value rest = size % 2 ? part(size - 1, 1) : Value();
        Value product = PointwiseOp::build(builder, loc, low.getType(),
                                           ValueRange{low, high}, multiply)
                            .getResult(0);
        if (rest) {
          shape[dim] = half + 1;
          product = ConcatOp::create(
              builder, loc, RankedTensorType::get(shape, type.getElementType()),
              ValueRange{product, rest}, dim);
        }
        value = product;
      }
    }
    return call.setConverted(0, value);
  };
}

void mlir::fuseops::addReductionHandlers(TorchHandlers &handlers) {
  constexpr ReductionKind kMax = ReductionKind::Max, kMin = ReductionKind::Min;
  handlers.add("aten.sum.dim_IntList", 2, 4, convertSum(true, false, false));
  handlers.add("prims.sum", 2, 3, convertSum(true, false, false));
  handlers.add("aten.sum", 1, 2, convertSum(false, false, false));
  handlers.add("aten.nansum", 1, 4, convertSum(true, false, true));
  handlers.add("aten.mean.dim", 2, 4, convertSum(true, true, false));
  handlers.add("aten.mean", 1, 2, convertSum(false, true, false));
  for (StringRef name : {"any.dim", "any.dims"})
    handlers.add(("aten." + name).str(), 2, 3,
                 convertLogical(Logical::Any, true));
  for (StringRef name : {"all.dim", "all.dims"})
    handlers.add(("aten." + name).str(), 2, 3,
                 convertLogical(Logical::All, true));
  handlers.add("aten.any", 1, 1, convertLogical(Logical::Any, false));
  handlers.add("aten.all", 1, 1, convertLogical(Logical::All, false));
  handlers.add("aten.count_nonzero", 1, 2,
               convertLogical(Logical::Count, true));
  handlers.add("aten.count_nonzero.dim_IntList", 2, 2,
               convertLogical(Logical::Count, true));
  handlers.add("aten.amax", 1, 3, convertExtreme(kMax, true));
  handlers.add("aten.amin", 1, 3, convertExtreme(kMin, true));
  handlers.add("aten.max", 1, 1, convertExtreme(kMax, false));
  handlers.add("aten.min", 1, 1, convertExtreme(kMin, false));
  handlers.add("aten.aminmax", 1, 3, convertExtremes);
  handlers.add("aten.max.dim", 2, 3, convertExtremeWithIndex(kMax));
  handlers.add("aten.min.dim", 2, 3, convertExtremeWithIndex(kMin));
  handlers.add("aten.argmax", 1, 3, convertIndexOfExtreme(kMax));
  handlers.add("aten.argmin", 1, 3, convertIndexOfExtreme(kMin));
  handlers.add("aten.prod", 1, 2, convertProductOf(false));
  handlers.add("aten.prod.dim_int", 2, 4, convertProductOf(true));
  handlers.add("prims.prod", 2, 3, convertProductOf(true));
  addStatisticsHandlers(handlers);
}
