//===- Slice.cpp - Parts of tensors, and tensors of parts ---------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "TorchCall.h"

using namespace mlir;
using namespace mlir::fuseops;

namespace {
/// Equally spaced elements of a dimension.
struct Range {
  int64_t offset = 0, count = 0, step = 1;
};

/// The tensor of a slice, and its sliced dimension.
struct Sliced {
  Value value;
  RankedTensorType type;
  int64_t multiple = 1;
  /// The dimension of `type`; a dimension of symbolic size is whole only.
  int64_t dim = 0;
  bool isSymbolic = false;
  /// Its size; unknown where it's symbolic.
  int64_t extent = 0;
};
} // namespace

/// Operand 0 and the dimension that operand `dimIndex` names, 0 for None.
static FailureOr<Sliced> getSliced(TorchCall &call, unsigned dimIndex) {
  FailureOr<TorchValue> input = call.value(0);
  if (failed(input))
    return failure();
  FailureOr<Value> tensor = call.tensor(0);
  if (failed(tensor))
    return failure();
  if (input->type.getRank() == 0)
    return call.refuse("expected a tensor with dimensions");
  FailureOr<int64_t> dim = call.isNone(dimIndex)
                               ? FailureOr<int64_t>(0)
                               : call.dimension(dimIndex, input->getRank());
  if (failed(dim))
    return failure();
  Sliced sliced;
  sliced.value = *tensor;
  sliced.type = input->type;
  sliced.multiple = input->multiple;
  sliced.dim = input->getDim(*dim);
  sliced.isSymbolic = input->type.isDynamicDim(sliced.dim);
  sliced.extent = input->type.getDimSize(sliced.dim);
  return sliced;
}

static LogicalResult refuseSymbolic(TorchCall &call) {
  return call.refuse("expected to cut a dimension of known size, but it's "
                     "symbolic");
}

static Value buildSlice(TorchCall &call, const Sliced &sliced, Range range) {
  if (range.count == sliced.extent && range.step == 1)
    return sliced.value;
  SmallVector<int64_t> shape(sliced.type.getShape());
  shape[sliced.dim] = range.count;
  auto type = RankedTensorType::get(shape, sliced.type.getElementType());
  return SliceOp::create(call.builder, call.getLoc(), type, sliced.value,
                         sliced.dim, range.offset, range.step);
}

/// `value` without its dimension `dim` of size 1.
static Value dropDim(TorchCall &call, Value value, int64_t dim) {
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(value.getType()).getShape());
  shape.erase(shape.begin() + dim);
  return reshapeTo(call.builder, call.getLoc(), value, shape);
}

/// The place that PyTorch's `position` is, counted from the front and at most
/// `extent`.
static int64_t clampPosition(int64_t position, int64_t extent) {
  return std::clamp<int64_t>(position < 0 ? position + extent : position, 0,
                             extent);
}

/// The range of torch.slice (start, end, step) at operands `first` and on.
static FailureOr<Range> getRange(TorchCall &call, unsigned first,
                                 int64_t extent) {
  FailureOr<int64_t> start = call.integerOr(first, 0);
  if (failed(start))
    return failure();
  FailureOr<int64_t> end = call.integerOr(first + 1, extent);
  if (failed(end))
    return failure();
  FailureOr<int64_t> step = call.integerOr(first + 2, 1);
  if (failed(step))
    return failure();
  if (*step <= 0)
    return call.refuse("expected a positive step, but got " + Twine(*step));
  Range range;
  range.step = *step;
  range.offset = clampPosition(*start, extent);
  int64_t length = clampPosition(*end, extent) - range.offset;
  range.count =
      length <= 0 ? 0 : llvm::divideCeil(length, static_cast<uint64_t>(*step));
  if (range.count == 0)
    range.offset = 0;
  if (range.count <= 1)
    range.step = 1;
  return range;
}

/// Whether operands `first` and on are the whole of a symbolic dimension.
static bool isWhole(TorchCall &call, unsigned first, const Sliced &sliced) {
  constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  auto isSize = [&](unsigned index, Extent size) {
    Value operand = call.getOperation()->getOperand(index);
    if (std::optional<TorchNumber> number = getConstantNumber(operand))
      return size.perSymbol ? number->integer == kEnd
                            : number->integer == size.constant;
    return call.evaluate(operand) == size;
  };
  return (call.isNone(first) || isSize(first, {0, 0})) &&
         (call.isNone(first + 1) || isSize(first + 1, {0, sliced.multiple})) &&
         (call.isNone(first + 2) || isSize(first + 2, {1, 0}));
}

static LogicalResult convertSlice(TorchCall &call) {
  FailureOr<Sliced> sliced = getSliced(call, 1);
  if (failed(sliced))
    return failure();
  if (sliced->isSymbolic) {
    if (!isWhole(call, 2, *sliced))
      return refuseSymbolic(call);
    return call.set(0, sliced->value);
  }
  FailureOr<Range> range = getRange(call, 2, sliced->extent);
  return failed(range) ? failure()
                       : call.set(0, buildSlice(call, *sliced, *range));
}

/// torch.narrow: start and length.
static LogicalResult convertNarrow(TorchCall &call) {
  FailureOr<Sliced> sliced = getSliced(call, 1);
  if (failed(sliced))
    return failure();
  if (sliced->isSymbolic)
    return refuseSymbolic(call);
  FailureOr<int64_t> start = call.integer(2);
  if (failed(start))
    return failure();
  FailureOr<int64_t> count = call.integer(3);
  if (failed(count))
    return failure();
  int64_t offset = *start < 0 ? *start + sliced->extent : *start;
  if (offset < 0 || *count < 0 || *count > sliced->extent - offset)
    return call.refuse("expected elements within " + Twine(sliced->extent));
  return call.set(0, buildSlice(call, *sliced, {offset, *count, 1}));
}

static LogicalResult convertSelect(TorchCall &call) {
  FailureOr<Sliced> sliced = getSliced(call, 1);
  if (failed(sliced))
    return failure();
  if (sliced->isSymbolic)
    return refuseSymbolic(call);
  FailureOr<int64_t> index = call.dimension(2, sliced->extent);
  if (failed(index))
    return failure();
  Value one = buildSlice(call, *sliced, {*index, 1, 1});
  return call.set(0, dropDim(call, one, sliced->dim));
}

/// All elements of dimensions in reverse order.
static LogicalResult convertFlip(TorchCall &call) {
  FailureOr<TorchValue> input = call.value(0);
  if (failed(input))
    return failure();
  FailureOr<Value> tensor = call.tensor(0);
  if (failed(tensor))
    return failure();
  SmallVector<int64_t> dims;
  if (call.getNumOperands() > 1) {
    FailureOr<SmallVector<int64_t>> listed =
        call.dimensions(1, input->getRank(), /*isEmptyAll=*/false);
    if (failed(listed))
      return failure();
    dims = *listed;
  } else {
    dims.push_back(call.getName().ends_with("fliplr") ? 1 : 0);
  }
  Value value = *tensor;
  for (int64_t dim : input->getDims(dims)) {
    Sliced sliced{value, input->type, input->multiple, dim, false,
                  input->type.getDimSize(dim)};
    if (input->type.isDynamicDim(dim))
      return refuseSymbolic(call);
    if (sliced.extent > 1)
      value = buildSlice(call, sliced, {sliced.extent - 1, sliced.extent, -1});
  }
  return call.set(0, value);
}

//===----------------------------------------------------------------------===//
// Lists of parts
//===----------------------------------------------------------------------===//

/// Cuts a tensor into pieces of these sizes.
static LogicalResult setPieces(TorchCall &call, const Sliced &sliced,
                               ArrayRef<int64_t> sizes) {
  TorchValue pieces;
  pieces.kind = TorchValue::Kind::List;
  pieces.multiple = sliced.multiple;
  int64_t offset = 0;
  for (int64_t size : sizes) {
    if (size < 0 || size > sliced.extent - offset)
      return call.refuse("expected pieces within " + Twine(sliced.extent) +
                         " elements");
    pieces.values.push_back(
        buildSlice(call, sliced, {size ? offset : 0, size, 1}));
    offset += size;
  }
  return call.set(0, pieces);
}

/// torch.split (the size of a piece) and torch.chunk (how many pieces).
static TorchHandler convertSplit(bool isChunk) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<Sliced> sliced = getSliced(call, 2);
    if (failed(sliced))
      return failure();
    if (sliced->isSymbolic)
      return refuseSymbolic(call);
    FailureOr<int64_t> number = call.integer(1);
    if (failed(number))
      return failure();
    if (*number <= 0)
      return call.refuse("expected a positive size or number of pieces, but "
                         "got " +
                         Twine(*number));
    int64_t size = *number;
    if (isChunk)
      size = std::max<int64_t>(
          llvm::divideCeil(sliced->extent, static_cast<uint64_t>(*number)), 1);
    SmallVector<int64_t> sizes;
    for (int64_t offset = 0; offset < sliced->extent; offset += size)
      sizes.push_back(std::min(size, sliced->extent - offset));
    return setPieces(call, *sliced, sizes);
  };
}

static LogicalResult convertSplitWithSizes(TorchCall &call) {
  FailureOr<Sliced> sliced = getSliced(call, 2);
  if (failed(sliced))
    return failure();
  if (sliced->isSymbolic)
    return refuseSymbolic(call);
  FailureOr<SmallVector<int64_t>> sizes = call.integers(1);
  return failed(sizes) ? failure() : setPieces(call, *sliced, *sizes);
}

static LogicalResult convertUnbind(TorchCall &call) {
  FailureOr<Sliced> sliced = getSliced(call, 1);
  if (failed(sliced))
    return failure();
  if (sliced->isSymbolic)
    return refuseSymbolic(call);
  TorchValue pieces;
  pieces.kind = TorchValue::Kind::List;
  pieces.multiple = sliced->multiple;
  for (int64_t index = 0; index < sliced->extent; ++index)
    pieces.values.push_back(dropDim(
        call, buildSlice(call, *sliced, {index, 1, 1}), sliced->dim));
  return call.set(0, pieces);
}

static LogicalResult convertListUnpack(TorchCall &call) {
  FailureOr<SmallVector<TorchValue>> values = call.tensorList(0);
  if (failed(values))
    return failure();
  if (values->size() != call.getNumResults())
    return call.refuse("expected " + Twine(values->size()) +
                       " results, but got " + Twine(call.getNumResults()));
  for (auto [index, value] : llvm::enumerate(*values))
    if (failed(call.set(index, value)))
      return failure();
  return success();
}

static LogicalResult convertGetItem(TorchCall &call) {
  FailureOr<SmallVector<TorchValue>> values = call.tensorList(0);
  if (failed(values))
    return failure();
  if (values->empty())
    return call.refuse("expected a list that isn't empty");
  FailureOr<int64_t> index = call.dimension(1, values->size());
  return failed(index) ? failure() : call.set(0, (*values)[*index]);
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

/// Joins `parts` along `dim`; those of no elements are left out.
static Value buildConcat(TorchCall &call, RankedTensorType result, int64_t dim,
                         ArrayRef<Value> parts) {
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

/// torch.cat, and torch.stack, which joins along a new dimension.
static TorchHandler convertConcat(bool isStack) {
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
    FailureOr<int64_t> listed = call.isNone(1)
                                    ? FailureOr<int64_t>(0)
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
      SmallVector<int64_t> sizes(value.type.getShape());
      // PyTorch skips what has one dimension of no elements.
      if (!isStack && sizes == ArrayRef<int64_t>{0} && result->getRank() != 1)
        continue;
      if (isStack) {
        sizes.insert(sizes.begin() + std::min<int64_t>(dim, sizes.size()), 1);
        part = reshapeTo(call.builder, call.getLoc(), part, sizes);
      }
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

/// Operand 1 lists pairs of sizes, what is added before and behind, last
/// dimension first; a negative one cuts.
static LogicalResult convertPad(TorchCall &call) {
  FailureOr<TorchValue> input = call.value(0);
  if (failed(input))
    return failure();
  FailureOr<Value> tensor = call.tensor(0);
  if (failed(tensor))
    return failure();
  FailureOr<SmallVector<int64_t>> pads = call.integers(1);
  if (failed(pads))
    return failure();
  TorchValue filling;
  filling.kind = TorchValue::Kind::Splat;
  if (!call.isNone(2)) {
    FailureOr<TorchNumber> number = call.exactNumber(2);
    if (failed(number))
      return failure();
    filling.constant = *number;
  }
  int64_t rank = input->getRank();
  if (pads->size() % 2 || static_cast<int64_t>(pads->size()) > 2 * rank)
    return call.refuse("expected two sizes for each padded dimension");
  Value value = *tensor;
  for (size_t pair = 0; pair < pads->size() / 2; ++pair) {
    int64_t before = (*pads)[2 * pair], behind = (*pads)[2 * pair + 1];
    int64_t listed = rank - 1 - static_cast<int64_t>(pair);
    int64_t dim = input->getDim(listed);
    if (before == 0 && behind == 0)
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    if (type.isDynamicDim(dim))
      return refuseSymbolic(call);
    Sliced sliced{value, type, input->multiple, dim, false,
                  type.getDimSize(dim)};
    Range kept{std::max<int64_t>(-before, 0), sliced.extent, 1};
    kept.count -= kept.offset + std::max<int64_t>(-behind, 0);
    if (kept.count < 0)
      return call.refuse("expected to cut no more than there is");
    SmallVector<Value> parts;
    SmallVector<int64_t> shape(type.getShape());
    auto add = [&](int64_t extent) {
      shape[dim] = extent;
      filling.type = RankedTensorType::get(shape, type.getElementType());
      if (extent > 0)
        parts.push_back(call.materialize(filling));
    };
    add(before);
    parts.push_back(buildSlice(call, sliced, kept));
    add(behind);
    shape[dim] = sliced.extent + before + behind;
    value = buildConcat(
        call, RankedTensorType::get(shape, type.getElementType()), dim, parts);
  }
  return call.set(0, value);
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
  Sliced sliced{zeros(call.builder, call.getLoc(), *result), *result, 1, dim,
                false, result->getDimSize(dim)};
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

void mlir::fuseops::addSliceHandlers(TorchHandlers &handlers) {
  handlers.add("aten.slice.Tensor", 1, 5, convertSlice);
  handlers.add("aten.slice_copy.Tensor", 1, 5, convertSlice);
  handlers.add("aten.narrow", 4, 4, convertNarrow);
  handlers.add("aten.select.int", 3, 3, convertSelect);
  handlers.add("aten.select_copy.int", 3, 3, convertSelect);
  handlers.add("aten.flip", 2, 2, convertFlip);
  handlers.add("aten.fliplr", 1, 1, convertFlip);
  handlers.add("aten.flipud", 1, 1, convertFlip);
  handlers.add("aten.split.Tensor", 2, 3, convertSplit(/*isChunk=*/false));
  handlers.add("aten.chunk", 2, 3, convertSplit(/*isChunk=*/true));
  handlers.add("aten.split_with_sizes", 2, 3, convertSplitWithSizes);
  handlers.add("aten.split.sizes", 2, 3, convertSplitWithSizes);
  handlers.add("aten.unbind.int", 1, 2, convertUnbind);
  handlers.add("aten.cat", 1, 2, convertConcat(/*isStack=*/false));
  handlers.add("aten.concat", 1, 2, convertConcat(/*isStack=*/false));
  handlers.add("aten.stack", 1, 2, convertConcat(/*isStack=*/true));
  handlers.add("aten.constant_pad_nd", 2, 3, convertPad);
  handlers.add("aten.slice_backward", 6, 6,
               convertSliceBackward(/*isSelect=*/false));
  handlers.add("aten.select_backward", 4, 4,
               convertSliceBackward(/*isSelect=*/true));
  handlers.add("aten.__getitem__.t", 2, 2, convertGetItem);
  handlers.add("prim.ListUnpack", 1, 1, convertListUnpack);
}
