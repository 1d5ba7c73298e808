//===- Slice.cpp - Parts of tensors, and tensors of parts ---------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Slice.h"

using namespace mlir;
using namespace mlir::fuseops;

FailureOr<Sliced> mlir::fuseops::getSliced(TorchCall &call, unsigned dimIndex) {
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

LogicalResult mlir::fuseops::refuseSymbolic(TorchCall &call) {
  return call.refuse("expected to cut a dimension of known size, but it's "
                     "symbolic");
}

Value mlir::fuseops::buildSlice(TorchCall &call, const Sliced &sliced,
                                Range range) {
  if (range.count == sliced.extent && range.step == 1)
    return sliced.value;
  SmallVector<int64_t> shape(sliced.type.getShape());
  shape[sliced.dim] = range.count;
  auto type = RankedTensorType::get(shape, sliced.type.getElementType());
  return SliceOp::create(call.builder, call.getLoc(), type, sliced.value,
                         sliced.dim, range.offset, range.step);
}

Value mlir::fuseops::dropDim(TorchCall &call, Value value, int64_t dim) {
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

FailureOr<Range> mlir::fuseops::getRange(TorchCall &call, unsigned first,
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
    Sliced sliced{value, input->type, input->multiple,
                  dim,   false,       input->type.getDimSize(dim)};
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
    pieces.values.push_back(
        dropDim(call, buildSlice(call, *sliced, {index, 1, 1}), sliced->dim));
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
  handlers.add("aten.__getitem__.t", 2, 2, convertGetItem);
  handlers.add("prim.ListUnpack", 1, 1, convertListUnpack);
  addConcatHandlers(handlers);
  addGatherHandlers(handlers);
}
