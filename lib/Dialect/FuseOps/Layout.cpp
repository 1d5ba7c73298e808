//===- Layout.cpp - Moves, repeats and reduces dimensions ----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "FuseOps/Dialect/FuseOps/Gradients.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mlir::fuseops;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

Value mlir::fuseops::permute(OpBuilder &builder, Location loc, Value value,
                             ArrayRef<int64_t> order) {
  if (llvm::equal(order, llvm::seq<int64_t>(0, order.size())))
    return value;
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape;
  for (int64_t dim : order)
    shape.push_back(type.getDimSize(dim));
  return PermuteOp::create(builder, loc,
                           getTensorLike(type, shape, type.getElementType()),
                           value, order);
}

Value mlir::fuseops::reshapeTo(OpBuilder &builder, Location loc, Value value,
                               ArrayRef<int64_t> shape) {
  RankedTensorType type = tensorType(value);
  if (type.getShape() == shape)
    return value;
  RankedTensorType reshaped = getTensorLike(type, shape, type.getElementType());
  // A constant stays one, which backward reads where it lies.
  if (auto constant = value.getDefiningOp<ConstantOp>()) {
    ElementsAttr elements = constant.getValue();
    if (auto dense = dyn_cast<DenseElementsAttr>(elements))
      return ConstantOp::create(builder, loc, reshaped,
                                dense.reshape(reshaped));
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements))
      return ConstantOp::create(
          builder, loc, reshaped,
          DenseResourceElementsAttr::get(reshaped, resource.getRawHandle()));
  }
  return ReshapeOp::create(builder, loc, reshaped, value);
}

Value mlir::fuseops::broadcastTo(OpBuilder &builder, Location loc, Value value,
                                 RankedTensorType type) {
  if (value.getType() == type)
    return value;
  Type from = tensorType(value).getElementType();
  auto identity = [&](OpBuilder &b, Location l,
                      ValueRange args) -> SmallVector<Value> {
    return {convertElement(b, l, args[0], from, type.getElementType())};
  };
  return PointwiseOp::build(builder, loc, type, value, identity).getResult(0);
}

Value mlir::fuseops::zeros(OpBuilder &builder, Location loc,
                           RankedTensorType type) {
  Type element = getComputeType(type.getElementType());
  auto zero = [&](OpBuilder &b, Location l, ValueRange) -> SmallVector<Value> {
    return {arith::ConstantOp::create(b, l, b.getZeroAttr(element))};
  };
  return PointwiseOp::build(builder, loc, type, ValueRange(), zero)
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

namespace {
/// The dimensions of a reduction, those of extent 1 left out.
struct Plan {
  Plan(RankedTensorType type, ArrayRef<int64_t> dims, ReductionKind kind) {
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      if (type.getDimSize(dim) == 1)
        continue;
      bool isReduced = llvm::is_contained(dims, dim);
      (isReduced ? reduced : kept).push_back(dim);
      if (type.isDynamicDim(dim))
        (isReduced ? isReducedDynamic : isKeptDynamic) = true;
    }
    // Those behind everything that stays are reduced as columns, those before
    // it as rows.
    for (int64_t dim : reduced) {
      if (kept.empty() || dim < kept.front())
        leading.push_back(dim);
      else if (dim > kept.back())
        trailing.push_back(dim);
      else
        isFramed = false;
    }
    // A maximum is one reduction, since its gradient counts all that tie.
    if (kind != ReductionKind::Sum) {
      isFramed &= leading.empty() || trailing.empty();
      return;
    }
    if (kept.empty() && !type.isDynamicDim(reduced.back()))
      trailing.push_back(leading.pop_back_val());
  }

  SmallVector<int64_t> reduced, kept, leading, trailing;
  bool isReducedDynamic = false, isKeptDynamic = false, isFramed = true;
};
} // namespace

static int64_t product(RankedTensorType type, ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= type.getDimSize(dim);
  return count;
}

/// A row of more columns is summed in parts.
static constexpr int64_t kMostColumns = 1 << 16;

/// The columns into which a long vector is cut, so that its parts are rows that
/// many workers reduce; `count` itself where it is short or cannot be cut.
static int64_t chooseColumns(int64_t count) {
  constexpr int64_t kMost = 4096;
  if (count <= 2 * kMost)
    return count;
  for (int64_t columns = kMost; columns >= 64; --columns)
    if (count % columns == 0)
      return columns;
  return count;
}

FailureOr<Value> mlir::fuseops::reduceDims(OpBuilder &builder, Location loc,
                                           Value value, ArrayRef<int64_t> dims,
                                           ReductionKind kind, Type element) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t dim : dims)
    shape[dim] = 1;
  bool isReducing = llvm::any_of(
      dims, [&](int64_t dim) { return type.getDimSize(dim) != 1; });
  if (!isReducing)
    return broadcastTo(builder, loc, reshapeTo(builder, loc, value, shape),
                       getTensorLike(type, shape, element));
  Plan plan(type, dims, kind);
  auto hasDynamic = [&](ArrayRef<int64_t> list) {
    return llvm::any_of(list,
                        [&](int64_t dim) { return type.isDynamicDim(dim); });
  };

  if (!plan.isFramed || hasDynamic(plan.trailing) ||
      (!plan.leading.empty() && plan.isKeptDynamic)) {
    if (plan.isReducedDynamic && plan.isKeptDynamic)
      return emitError(loc) << "cannot reduce " << type
                            << ": more than one of its sizes is symbolic";
    // A symbolic size stays in front; where there is none, the last dimension
    // stays where it is.
    bool isRows =
        plan.isReducedDynamic ||
        (!plan.isKeptDynamic &&
         (!plan.kept.empty() && plan.kept.back() > plan.reduced.back()));
    SmallVector<int64_t> order;
    auto append = [&](bool isReduced) {
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (llvm::is_contained(plan.reduced, dim) == isReduced)
          order.push_back(dim);
    };
    append(isRows);
    append(!isRows);
    SmallVector<int64_t> moved;
    for (auto [index, dim] : llvm::enumerate(order))
      if (llvm::is_contained(plan.reduced, dim))
        moved.push_back(index);
    FailureOr<Value> result =
        reduceDims(builder, loc, permute(builder, loc, value, order), moved,
                   kind, element);
    if (failed(result))
      return failure();
    return reshapeTo(builder, loc, *result, shape);
  }

  SmallVector<int64_t> matrix;
  for (int64_t dim : llvm::concat<const int64_t>(plan.leading, plan.kept))
    matrix.push_back(type.getDimSize(dim));
  bool hasRows = !plan.leading.empty();
  if (!plan.trailing.empty()) {
    int64_t columns = product(type, plan.trailing);
    bool isVector = matrix.empty();
    // One running sum of millions of terms loses most of its bits.
    bool isLong = columns > kMostColumns && kind == ReductionKind::Sum;
    int64_t cut = isVector || isLong ? chooseColumns(columns) : columns;
    bool hasParts = cut != columns;
    if (hasParts)
      matrix.push_back(columns / cut);
    hasRows |= hasParts && isVector;
    auto reduceColumns = [&](Type to) {
      value = reshapeTo(builder, loc, value, matrix);
      matrix.back() = 1;
      value = ReduceColumnsOp::create(
          builder, loc, getTensorLike(type, matrix, to), value, kind);
    };
    Type wide = getAccumulatorType(type.getElementType());
    matrix.push_back(cut);
    reduceColumns(hasRows || hasParts ? wide : element);
    if (hasParts && !isVector) {
      matrix.pop_back();
      reduceColumns(hasRows ? wide : element);
    }
  }
  if (hasRows) {
    int64_t count = product(type, plan.kept);
    matrix.clear();
    RankedTensorType now = tensorType(value);
    if (plan.leading.empty())
      matrix.push_back(now.getDimSize(0));
    for (int64_t dim : plan.leading)
      matrix.push_back(type.getDimSize(dim));
    matrix.push_back(count);
    value = reshapeTo(builder, loc, value, matrix);
    value = ReduceRowsOp::create(
        builder, loc, RankedTensorType::get({count}, element), value, kind);
  }
  return reshapeTo(builder, loc, value, shape);
}

FailureOr<Value> mlir::fuseops::reduceToShape(OpBuilder &builder, Location loc,
                                              Value gradient,
                                              RankedTensorType target) {
  RankedTensorType type = tensorType(gradient);
  int64_t missing = type.getRank() - target.getRank();
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (dim < missing ||
        type.getDimSize(dim) != target.getDimSize(dim - missing))
      dims.push_back(dim);
  if (dims.empty())
    return broadcastTo(builder, loc, gradient, target);
  FailureOr<Value> reduced =
      reduceDims(builder, loc, gradient, dims, ReductionKind::Sum,
                 target.getElementType());
  if (failed(reduced))
    return failure();
  // The kept dimensions of extent 1 go again.
  Value value = *reduced;
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return reshapeTo(builder, loc, value, target.getShape());
}
