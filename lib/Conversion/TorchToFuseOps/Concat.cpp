//===- Concat.cpp - Tensors of parts, and parts in tensors --------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Slice.h"

using namespace mlir;
using namespace mlir::fuseops;

Value mlir::fuseops::buildConcat(TorchCall &call, RankedTensorType result,
                                 int64_t dim, ArrayRef<Value> parts) {
  SmallVector<Value> present;
  for (Value part : parts)
    if (cast<RankedTensorType>(part.getType()).getDimSize(dim) != 0)
      present.push_back(part);
  if (present.empty())
    return zeros(call.builder, call.getLoc(), result);
  if (present.size() == 1)
    return present.front();
  return ConcatOp::create(call.builder, call.getLoc(), result, present, dim);
}

namespace {
/// What tensors are joined along: a dimension, a new one, or, of hstack and
/// column_stack, the first one or the second, which vectors of column_stack
/// have after their own.
enum class Join { Cat, Stack, Horizontal, Columns };
} // namespace

/// A tensor with the dimensions that joining adds to it.
static SmallVector<int64_t> getPartShape(ArrayRef<int64_t> shape, Join join,
                                         int64_t dim) {
  SmallVector<int64_t> sizes(shape);
  if (join == Join::Stack)
    sizes.insert(sizes.begin() + std::min<int64_t>(dim, sizes.size()), 1);
  size_t least = join == Join::Columns ? 2 : (join == Join::Horizontal ? 1 : 0);
  while (sizes.size() < least)
    sizes.push_back(1);
  return sizes;
}

static TorchHandler convertConcat(Join join) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<SmallVector<TorchValue>> values = call.tensorList(0);
    if (failed(values))
      return failure();
    FailureOr<RankedTensorType> result = call.resultType();
    if (failed(result))
      return failure();
    FailureOr<int64_t> multiple = call.multiple();
    if (failed(multiple))
      return failure();
    if (values->empty() || result->getRank() == 0)
      return call.refuse("expected tensors with dimensions");
    TorchValue shape;
    shape.type = *result;
    shape.multiple = result->hasStaticShape() ? 1 : *multiple;
    bool isSecond = join == Join::Columns ||
                    (join == Join::Horizontal && shape.getRank() > 1);
    FailureOr<int64_t> listed = call.isNone(1)
                                    ? FailureOr<int64_t>(isSecond ? 1 : 0)
                                    : call.dimension(1, shape.getRank());
    if (failed(listed))
      return failure();
    int64_t dim = shape.getDim(*listed);
    if (result->isDynamicDim(dim))
      return call.refuse("expected to join along a dimension of known size, "
                         "but it's symbolic");
    SmallVector<Value> parts;
    int64_t extent = 0;
    for (TorchValue &value : *values) {
      Value part = call.materialize(value);
      // PyTorch skips what has one dimension of no elements.
      if (join == Join::Cat && value.type.getShape() == ArrayRef<int64_t>{0} &&
          result->getRank() != 1)
        continue;
      SmallVector<int64_t> sizes =
          getPartShape(value.type.getShape(), join, dim);
      part = reshapeTo(call.builder, call.getLoc(), part, sizes);
      SmallVector<int64_t> expected(result->getShape());
      if (sizes.size() != expected.size())
        return call.refuse("expected tensors of the result's rank");
      expected[dim] = sizes[dim];
      if (sizes != expected || ShapedType::isDynamic(sizes[dim]))
        return call.refuse("expected tensors that differ in dimension " +
                           Twine(*listed) + " only");
      extent += sizes[dim];
      auto type = RankedTensorType::get(sizes, result->getElementType());
      parts.push_back(broadcastTo(call.builder, call.getLoc(), part, type));
    }
    if (extent != result->getDimSize(dim))
      return call.refuse("expected a result of size " + Twine(extent) +
                         " in dimension " + Twine(*listed) + ", but got " +
                         Twine(result->getDimSize(dim)));
    return call.set(0, buildConcat(call, *result, dim, parts));
  };
}

//===----------------------------------------------------------------------===//
// Writing a part
//===----------------------------------------------------------------------===//

/// The gradient of a slice: the gradient of `range` of zeros of the result's
/// type.
static LogicalResult setScattered(TorchCall &call, Value gradient, int64_t dim,
                                  Range range) {
  FailureOr<RankedTensorType> result = call.resultType();
  if (failed(result))
    return failure();
  auto type = cast<RankedTensorType>(gradient.getType());
  Sliced sliced{zeros(call.builder, call.getLoc(), *result),
                *result,
                1,
                dim,
                false,
                result->getDimSize(dim)};
  auto slice = buildSlice(call, sliced, range).getDefiningOp<SliceOp>();
  if (!slice)
    return call.set(0, gradient);
  if (slice.getType() != type)
    return call.refuse("expected a gradient of " + print(slice.getType()) +
                       ", but got " + print(type));
  FailureOr<SmallVector<Value>> scattered =
      slice.buildGradients(call.builder, gradient, true);
  return failed(scattered) ? failure() : call.set(0, scattered->front());
}

/// slice_backward (gradient, sizes, dim, start, end, step) and select_backward
/// (gradient, sizes, dim, index).
static TorchHandler convertSliceBackward(bool isSelect) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<Value> gradient = call.tensor(0);
    if (failed(gradient))
      return failure();
    FailureOr<RankedTensorType> result = call.resultType();
    if (failed(result))
      return failure();
    FailureOr<int64_t> dim = call.dimension(2, result->getRank());
    if (failed(dim))
      return failure();
    FailureOr<int64_t> multiple = call.multiple();
    if (failed(multiple))
      return failure();
    if (*multiple > 1 || result->isDynamicDim(*dim))
      return refuseSymbolic(call);
    int64_t extent = result->getDimSize(*dim);
    if (!isSelect) {
      FailureOr<Range> range = getRange(call, 3, extent);
      return failed(range) ? failure()
                           : setScattered(call, *gradient, *dim, *range);
    }
    FailureOr<int64_t> index = call.dimension(3, extent);
    if (failed(index))
      return failure();
    SmallVector<int64_t> shape(
        cast<RankedTensorType>(gradient->getType()).getShape());
    shape.insert(shape.begin() + *dim, 1);
    Value one = reshapeTo(call.builder, call.getLoc(), *gradient, shape);
    return setScattered(call, one, *dim, {*index, 1, 1});
  };
}

/// The tensor with `part` at the places of `range`: where those are, what a
/// slice's gradient would be is taken.
static Value buildSpread(TorchCall &call, const Sliced &sliced, Value part,
                         Range range) {
  OpBuilder &builder = call.builder;
  Location loc = call.getLoc();
  auto slice = buildSlice(call, sliced, range).getDefiningOp<SliceOp>();
  Value spread = slice.buildGradients(builder, part, true)->front();
  auto isPart = [&](OpBuilder &inner, Location place,
                    ValueRange) -> SmallVector<Value> {
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(inner, place,
                                       inner.getI64IntegerAttr(value));
    };
    auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) {
      return arith::CmpIOp::create(inner, place, predicate, a, b).getResult();
    };
    Value index = LinearIndexOp::create(inner, place, inner.getI64Type());
    Value distance =
        arith::SubIOp::create(inner, place, index, constant(range.offset));
    Value rest =
        arith::RemSIOp::create(inner, place, distance, constant(range.step));
    Value isOn = compare(arith::CmpIPredicate::eq, rest, constant(0));
    // Also where the distance is negative.
    Value isWithin = compare(arith::CmpIPredicate::ult, distance,
                             constant(range.count * range.step));
    return {arith::AndIOp::create(inner, place, isOn, isWithin)};
  };
  SmallVector<int64_t> shape(sliced.type.getRank(), 1);
  shape[sliced.dim] = sliced.extent;
  Value mask =
      PointwiseOp::build(builder, loc,
                         RankedTensorType::get(shape, builder.getI1Type()),
                         ValueRange(), isPart)
          .getResult(0);
  auto choose = [](OpBuilder &inner, Location place,
                   ValueRange s) -> SmallVector<Value> {
    return {arith::SelectOp::create(inner, place, s[0], s[1], s[2])};
  };
  return PointwiseOp::build(builder, loc, sliced.type,
                            ValueRange{mask, spread, sliced.value}, choose)
      .getResult(0);
}

/// slice_scatter (tensor, part, dim, start, end, step) and select_scatter
/// (tensor, part, dim, index): the tensor with the part in place of its own.
static TorchHandler convertScatter(bool isSelect) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<Sliced> sliced = getSliced(call, 2);
    if (failed(sliced))
      return failure();
    if (sliced->isSymbolic)
      return refuseSymbolic(call);
    FailureOr<Value> part = call.tensor(1);
    if (failed(part))
      return failure();
    Range range;
    if (isSelect) {
      FailureOr<int64_t> index = call.dimension(3, sliced->extent);
      if (failed(index))
        return failure();
      range = {*index, 1, 1};
    } else {
      FailureOr<Range> listed = getRange(call, 3, sliced->extent);
      if (failed(listed))
        return failure();
      range = *listed;
    }
    SmallVector<int64_t> shape(sliced->type.getShape());
    shape[sliced->dim] = range.count;
    auto type = RankedTensorType::get(shape, sliced->type.getElementType());
    auto given = cast<RankedTensorType>(part->getType());
    if (getNumElements(given) != getNumElements(type))
      return call.refuse("expected a part of " + print(type) + ", but got " +
                         print(given));
    Value middle =
        broadcastTo(call.builder, call.getLoc(),
                    reshapeTo(call.builder, call.getLoc(), *part, shape), type);
    if (range.step != 1)
      return call.set(0, buildSpread(call, *sliced, middle, range));
    int64_t end = range.offset + range.count;
    Value parts[] = {
        buildSlice(call, *sliced, {0, range.offset, 1}), middle,
        buildSlice(call, *sliced,
                   {end < sliced->extent ? end : 0, sliced->extent - end, 1})};
    return call.set(0, buildConcat(call, sliced->type, sliced->dim, parts));
  };
}

void mlir::fuseops::addConcatHandlers(TorchHandlers &handlers) {
  handlers.add("aten.cat", 1, 2, convertConcat(Join::Cat));
  handlers.add("aten.concat", 1, 2, convertConcat(Join::Cat));
  handlers.add("aten.stack", 1, 2, convertConcat(Join::Stack));
  handlers.add("aten.hstack", 1, 1, convertConcat(Join::Horizontal));
  handlers.add("aten.column_stack", 1, 1, convertConcat(Join::Columns));
  addPaddingHandlers(handlers);
  handlers.add("aten.slice_backward", 6, 6,
               convertSliceBackward(/*isSelect=*/false));
  handlers.add("aten.select_backward", 4, 4,
               convertSliceBackward(/*isSelect=*/true));
  handlers.add("aten.slice_scatter", 2, 6, convertScatter(/*isSelect=*/false));
  handlers.add("aten.select_scatter", 4, 4, convertScatter(/*isSelect=*/true));
}
