//===- Layout.cpp - Aliases, reshapes, slices and lists ----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchCall.h"

#include <limits>

using namespace mlir;
using namespace mlir::fuseops;

/// The result is the operand: copies and detachments have no meaning in SSA.
static LogicalResult convertAlias(TorchCall &call) {
  FailureOr<TorchValue> input = call.value(0);
  return failed(input) ? failure() : call.set(0, *input);
}

/// The result's type says the new shape, whatever the operands compute.
static LogicalResult convertReshape(TorchCall &call) {
  FailureOr<TorchValue> input = call.value(0);
  if (failed(input))
    return failure();
  FailureOr<RankedTensorType> result = call.resultType();
  if (failed(result))
    return failure();
  if (*result == input->type)
    return call.set(0, *input);
  if (input->kind == TorchValue::Kind::Splat) {
    input->type = *result;
    return call.set(0, *input);
  }
  FailureOr<Value> tensor = call.tensor(0);
  if (failed(tensor))
    return failure();
  Extent before = getNumElements(input->type), after = getNumElements(*result);
  if (before == after &&
      input->type.getElementType() == result->getElementType())
    return call.set(
        0, ReshapeOp::create(call.builder, call.getLoc(), *result, *tensor));
  std::string types;
  llvm::raw_string_ostream(types)
      << "but got `" << input->type << "` and `" << *result << "`";
  if (input->type.hasStaticShape())
    return call.refuse("expected as many elements in the result as in the "
                       "operand, " +
                       types);
  return call.refuse("expected every `?` to stand for the same size, " + types);
}

static Value buildSlice(TorchCall &call, Value input, int64_t offset,
                        int64_t columns) {
  auto type = cast<RankedTensorType>(input.getType());
  if (columns == getColumns(type))
    return input;
  return SliceColumnsOp::create(
      call.builder, call.getLoc(),
      withColumns(type, columns, type.getElementType()), input,
      call.builder.getI64IntegerAttr(offset));
}

/// torch.slice (start, end, step) and torch.narrow (start, length).
static TorchHandler convertSlice(bool isNarrow) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<Value> input = call.tensor(0);
    if (failed(input))
      return failure();
    auto type = cast<RankedTensorType>(input->getType());
    FailureOr<int64_t> dim = call.isNone(1) ? FailureOr<int64_t>(0)
                                            : call.dimension(1, type.getRank());
    if (failed(dim))
      return failure();
    if (type.getRank() == 0)
      return call.refuse("expected a tensor with dimensions");
    constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
    FailureOr<int64_t> start = call.integerOr(2, 0);
    if (failed(start))
      return failure();
    FailureOr<int64_t> end = call.integerOr(3, kEnd);
    if (failed(end))
      return failure();
    FailureOr<int64_t> step =
        isNarrow ? FailureOr<int64_t>(1) : call.integerOr(4, 1);
    if (failed(step))
      return failure();
    if (*step != 1)
      return call.refuse("expected a step of 1, but got " + Twine(*step));
    if (!isNarrow && *start == 0 && *end == kEnd)
      return call.set(0, *input);
    if (*dim != type.getRank() - 1)
      return call.refuse("expected the last dimension, but got dimension " +
                         Twine(*dim) + " of " + Twine(type.getRank()));
    int64_t columns = getColumns(type);
    auto clamp = [&](int64_t position) {
      position = position < 0 ? position + columns : position;
      return std::clamp<int64_t>(position, 0, columns);
    };
    int64_t first = clamp(*start);
    int64_t last =
        isNarrow ? clamp(std::min(*end, columns) + first) : clamp(*end);
    return call.set(
        0, buildSlice(call, *input, first, std::max<int64_t>(last - first, 0)));
  };
}

/// Cuts operand 0 into pieces of these widths.
static LogicalResult setPieces(TorchCall &call, Value input,
                               ArrayRef<int64_t> widths) {
  TorchValue pieces;
  pieces.kind = TorchValue::Kind::List;
  int64_t offset = 0;
  int64_t columns = getColumns(cast<RankedTensorType>(input.getType()));
  for (int64_t width : widths) {
    if (width < 0 || width > columns - offset)
      return call.refuse("expected pieces within " + Twine(columns) +
                         " columns");
    pieces.values.push_back(buildSlice(call, input, offset, width));
    offset += width;
  }
  return call.set(0, pieces);
}

/// torch.split (the width of a piece) and torch.chunk (how many pieces).
static TorchHandler convertSplit(bool isChunk) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<Value> input = call.tensor(0);
    if (failed(input))
      return failure();
    auto type = cast<RankedTensorType>(input->getType());
    FailureOr<int64_t> number = call.integer(1);
    if (failed(number))
      return failure();
    if (*number <= 0)
      return call.refuse("expected a positive number of columns or pieces, "
                         "but got " +
                         Twine(*number));
    if (type.getRank() == 0)
      return call.refuse("expected a tensor with dimensions");
    if (failed(call.lastDimension(2, type.getRank())))
      return failure();
    int64_t columns = getColumns(type);
    int64_t width = *number;
    if (isChunk)
      width = std::max<int64_t>(llvm::divideCeil(columns, *number), 1);
    SmallVector<int64_t> widths;
    for (int64_t offset = 0; offset < columns; offset += widths.back())
      widths.push_back(std::min(width, columns - offset));
    return setPieces(call, *input, widths);
  };
}

static LogicalResult convertSplitWithSizes(TorchCall &call) {
  FailureOr<Value> input = call.tensor(0);
  if (failed(input))
    return failure();
  auto type = cast<RankedTensorType>(input->getType());
  FailureOr<SmallVector<int64_t>> widths = call.integers(1);
  if (failed(widths))
    return failure();
  if (type.getRank() == 0)
    return call.refuse("expected a tensor with dimensions");
  if (failed(call.lastDimension(2, type.getRank())))
    return failure();
  return setPieces(call, *input, *widths);
}

static LogicalResult convertListUnpack(TorchCall &call) {
  FailureOr<SmallVector<Value>> values = call.tensorList(0);
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
  FailureOr<SmallVector<Value>> values = call.tensorList(0);
  if (failed(values))
    return failure();
  FailureOr<int64_t> index = call.dimension(1, values->size());
  return failed(index) ? failure() : call.set(0, (*values)[*index]);
}

static LogicalResult convertConcat(TorchCall &call) {
  FailureOr<SmallVector<Value>> values = call.tensorList(0);
  if (failed(values))
    return failure();
  FailureOr<RankedTensorType> result = call.resultType();
  if (failed(result))
    return failure();
  if (result->getRank() == 0 || values->empty())
    return call.refuse("expected tensors with dimensions");
  if (call.isNone(1) && result->getRank() != 1)
    return call.refuse("expected the last dimension, but got dimension 0 of " +
                       Twine(result->getRank()));
  if (!call.isNone(1) && failed(call.lastDimension(1, result->getRank())))
    return failure();
  int64_t columns = 0;
  for (Value value : *values) {
    auto type = cast<RankedTensorType>(value.getType());
    bool fits = type.getRank() == result->getRank() &&
                type.getElementType() == result->getElementType() &&
                type.getShape().drop_back() == result->getShape().drop_back();
    if (!fits)
      return call.refuse("expected tensors of the result's dtype and rows");
    columns += getColumns(type);
  }
  if (columns != getColumns(*result))
    return call.refuse("expected a result of " + Twine(columns) +
                       " columns, but got " + Twine(getColumns(*result)));
  return call.set(0, ConcatColumnsOp::create(call.builder, call.getLoc(),
                                             *result, *values));
}

void mlir::fuseops::addLayoutHandlers(TorchHandlers &handlers) {
  handlers.add("aten.clone", 1, 2, convertAlias);
  handlers.add("aten.detach", 1, 1, convertAlias);
  handlers.add("aten.contiguous", 1, 2, convertAlias);
  handlers.add("aten.alias", 1, 1, convertAlias);
  handlers.add("aten.lift_fresh", 1, 1, convertAlias);
  handlers.add("aten.lift_fresh_copy", 1, 1, convertAlias);
  handlers.add("aten.view", 2, 2, convertReshape);
  handlers.add("aten.reshape", 2, 2, convertReshape);
  handlers.add("aten._unsafe_view", 2, 2, convertReshape);
  handlers.add("aten.flatten.using_ints", 1, 3, convertReshape);
  handlers.add("aten.unflatten.int", 3, 3, convertReshape);
  handlers.add("aten.unsqueeze", 2, 2, convertReshape);
  handlers.add("aten.squeeze", 1, 1, convertReshape);
  handlers.add("aten.squeeze.dim", 2, 2, convertReshape);
  handlers.add("aten.slice.Tensor", 1, 5, convertSlice(/*isNarrow=*/false));
  handlers.add("aten.narrow", 4, 4, convertSlice(/*isNarrow=*/true));
  handlers.add("aten.split.Tensor", 3, 3, convertSplit(/*isChunk=*/false));
  handlers.add("aten.chunk", 3, 3, convertSplit(/*isChunk=*/true));
  handlers.add("aten.split_with_sizes", 3, 3, convertSplitWithSizes);
  handlers.add("aten.cat", 1, 2, convertConcat);
  handlers.add("aten.__getitem__.t", 2, 2, convertGetItem);
  handlers.add("prim.ListUnpack", 1, 1, convertListUnpack);
}
