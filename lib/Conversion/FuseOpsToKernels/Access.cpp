//===- Access.cpp - Where the elements of a tensor are in memory ---------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Access.h"

using namespace mlir;
using namespace mlir::fuseops;

//===----------------------------------------------------------------------===//
// View
//===----------------------------------------------------------------------===//

View View::packed(Value tensor, RankedTensorType type) {
  View view{tensor, type, {}, SmallVector<Extent>(type.getRank())};
  Extent stride{1, 0};
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    view.strides[dim] = stride;
    stride = multiply(stride, getExtent(type, dim));
  }
  return view;
}

View View::slice(int64_t dim, int64_t first, int64_t step,
                 RankedTensorType to) const {
  View result = *this;
  result.type = to;
  result.offset = offset + strides[dim] * first;
  result.strides[dim] = strides[dim] * step;
  return result;
}

View View::permute(ArrayRef<int64_t> order, RankedTensorType to) const {
  View result = *this;
  result.type = to;
  for (auto [index, dim] : llvm::enumerate(order))
    result.strides[index] = strides[dim];
  return result;
}

View View::unpermute(ArrayRef<int64_t> order, RankedTensorType from) const {
  View result = *this;
  result.type = from;
  for (auto [index, dim] : llvm::enumerate(order))
    result.strides[dim] = strides[index];
  return result;
}

std::optional<View> mlir::fuseops::findView(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (isa<BlockArgument>(value))
    return View::packed(value, type);
  // A packed tensor has any shape of as many elements.
  if (value.getDefiningOp<ReshapeOp>()) {
    while (auto reshape = value.getDefiningOp<ReshapeOp>())
      value = reshape.getInput();
    return isa<BlockArgument>(value) ? std::optional(View::packed(value, type))
                                     : std::nullopt;
  }
  if (auto slice = value.getDefiningOp<SliceOp>())
    if (std::optional<View> input = findView(slice.getInput()))
      return input->slice(slice.getDim(), slice.getOffset(), slice.getStep(),
                          type);
  if (auto permute = value.getDefiningOp<PermuteOp>())
    if (std::optional<View> input = findView(permute.getInput()))
      return input->permute(permute.getOrder(), type);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

int64_t mlir::fuseops::powerOfTwoIn(int64_t value) {
  return value == 0 ? 1 << 20 : value & -value;
}

static int64_t powerOfTwoIn(Extent extent) {
  return std::min(
      {powerOfTwoIn(extent.constant), powerOfTwoIn(extent.perSymbol),
       powerOfTwoIn(extent.perBlock32), powerOfTwoIn(extent.perBlock128)});
}

int64_t Access::getRowAlignment() const {
  int64_t alignment = ::powerOfTwoIn(offset);
  for (const RowDigit &digit : rows)
    alignment = std::min(alignment, ::powerOfTwoIn(digit.stride));
  return alignment;
}

RowDigit mlir::fuseops::getDigit(RankedTensorType space, int64_t dim) {
  RowDigit digit{Extent{1, 0}, getExtent(space, dim), Extent{1, 0}};
  for (int64_t inner = dim + 1; inner < space.getRank() - 1; ++inner)
    digit.divisor = multiply(digit.divisor, getExtent(space, inner));
  auto isOne = [](int64_t extent) { return extent == 1; };
  if (llvm::all_of(space.getShape().take_front(dim), isOne))
    digit.extent.reset();
  return digit;
}

Access mlir::fuseops::getPartialAccessIn(const View &view,
                                         RankedTensorType space, int64_t part,
                                         int64_t start, int64_t count) {
  Access access;
  access.tensor = view.tensor;
  access.offset = view.offset;
  access.element = view.type.getElementType();
  access.columns = getColumns(view.type);
  if (access.columns != 1)
    access.columnStride = view.strides.back();
  int64_t missing = space.getRank() - view.type.getRank();
  for (int64_t dim = space.getRank() - 2; dim >= missing; --dim) {
    int64_t own = dim - missing;
    if (view.type.getDimSize(own) == 1 && dim != part)
      continue;
    RowDigit digit = getDigit(space, dim);
    digit.stride = view.strides[own];
    if (dim == part) {
      digit.start = start;
      digit.count = count;
      access.rows.push_back(digit);
      continue;
    }
    // Neighbouring dimensions that are packed are one.
    if (!access.rows.empty()) {
      RowDigit &inner = access.rows.back();
      if (inner.extent && !inner.count &&
          multiply(inner.divisor, *inner.extent) == digit.divisor &&
          multiply(inner.stride, *inner.extent) == digit.stride) {
        inner.extent =
            digit.extent ? std::optional(multiply(*inner.extent, *digit.extent))
                         : std::nullopt;
        continue;
      }
    }
    access.rows.push_back(digit);
  }
  return access;
}

Access mlir::fuseops::getAccessIn(const View &view, RankedTensorType space) {
  return getPartialAccessIn(view, space, /*part=*/-1, 0, 0);
}
