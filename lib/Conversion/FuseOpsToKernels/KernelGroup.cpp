//===- KernelGroup.cpp - A memory group in core operations, ready for a kernel
//===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelGroup.h"

#include "FuseOps/Dialect/FuseOps/ScalarMath.h"

using namespace mlir;
using namespace mlir::fuseops;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

FailureOr<KernelGroup> KernelGroup::create(GroupOp group) {
  KernelGroup result;
  result.group = group;
  if (failed(result.decompose()) || failed(result.findSpace()) ||
      failed(result.findLevels()) || failed(result.findStores()))
    return failure();
  return result;
}

/// `value` in the element type of `declared`: with an f64 operand,
/// decompositions compute in f64 what the operation declares as f32.
static Value convertElements(OpBuilder &builder, Location loc, Value value,
                             RankedTensorType declared) {
  RankedTensorType type = tensorType(value);
  if (type.getElementType() == declared.getElementType())
    return value;
  RankedTensorType converted = type.clone(declared.getElementType());
  return PointwiseOp::build(builder, loc, converted, value,
                            [&](OpBuilder &b, Location l, ValueRange scalars) {
                              return SmallVector<Value>{convertFloat(
                                  b, l, scalars[0],
                                  getComputeType(declared.getElementType()))};
                            })
      .getResult(0);
}

LogicalResult KernelGroup::decompose() {
  Block &body = group.getBody().front();
  IRRewriter rewriter(group.getContext());
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      // Rows and columns stay, so that the kernel sees one and the same value.
      if (fuseops::getSpace(tensorType(reshape.getInput())) !=
          fuseops::getSpace(tensorType(reshape.getResult())))
        return op.emitOpError() << "changes rows or columns within a kernel";
      rewriter.replaceOp(reshape, reshape.getInput());
      continue;
    }
    auto fusible = dyn_cast<FusibleOpInterface>(op);
    if (!fusible)
      return op.emitOpError() << "is not an operation of a memory kernel, so "
                                 "no template but `library` accepts it";
    if (isa<PointwiseOp, ReduceRowsOp, ReduceColumnsOp, SliceColumnsOp,
            ConcatColumnsOp>(op))
      continue;
    rewriter.setInsertionPoint(&op);
    SmallVector<Value> results = fusible.decompose(rewriter, op.getOperands());
    for (auto [result, declared] : llvm::zip(results, op.getResultTypes()))
      result = convertElements(rewriter, op.getLoc(), result,
                               cast<RankedTensorType>(declared));
    rewriter.replaceOp(&op, results);
  }
  // Pattern: reduce_columns(x) -> x [if x has one column], converted. In a
  // kernel over more columns each lane of a vector would add its copy of the
  // value.
  for (auto reduction : llvm::to_vector(body.getOps<ReduceColumnsOp>())) {
    if (getColumns(tensorType(reduction.getInput())) != 1)
      continue;
    rewriter.setInsertionPoint(reduction);
    Type element = getComputeType(
        cast<RankedTensorType>(reduction.getType()).getElementType());
    Value same =
        PointwiseOp::build(rewriter, reduction.getLoc(), reduction.getType(),
                           reduction.getInput(),
                           [&](OpBuilder &b, Location l, ValueRange scalars) {
                             return SmallVector<Value>{
                                 convertFloat(b, l, scalars[0], element)};
                           })
            .getResult(0);
    rewriter.replaceOp(reduction, same);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
  return success();
}

/// The space that one core operation visits.
static IterationSpace spaceOf(Operation &op) {
  if (isa<ReduceRowsOp, ReduceColumnsOp, ConcatColumnsOp>(op))
    return getSpace(tensorType(op.getOperand(0)));
  return getSpace(tensorType(op.getResult(0)));
}

LogicalResult KernelGroup::findSpace() {
  Block &body = group.getBody().front();
  // The kernel visits the rows of whatever has more than one.
  space = {Extent{1, 0}, 1};
  for (Operation &op : body.without_terminator())
    if (spaceOf(op).rows != Extent{1, 0})
      space.rows = spaceOf(op).rows;
  SmallVector<int64_t> widths;
  for (Operation &op : body.without_terminator()) {
    IterationSpace own = spaceOf(op);
    if (own.rows == space.rows)
      widths.push_back(own.columns);
    else if (own.rows != Extent{1, 0})
      return op.emitOpError()
             << "visits other rows than the rest of its kernel";
  }
  space.columns = widths.empty() ? 1 : *llvm::max_element(widths);
  for (Operation &op : body.without_terminator())
    if (failed(verifyPartialBroadcasts(op)))
      return failure();
  return success();
}

bool KernelGroup::isPartlyBroadcast(Value value) const {
  Extent rows = fuseops::getSpace(tensorType(value)).rows;
  return rows != space.rows && rows != Extent{1, 0};
}

LogicalResult KernelGroup::verifyPartialBroadcasts(Operation &op) const {
  for (Value operand : op.getOperands()) {
    if (!isPartlyBroadcast(operand))
      continue;
    assert(isa<PointwiseOp>(op) && getAccess(operand) &&
           "every other operation with such rows is refused by findSpace");
    ArrayRef<int64_t> shape = tensorType(op.getResult(0)).getShape();
    if (llvm::is_contained(shape.drop_front(), ShapedType::kDynamic))
      return op.emitOpError()
             << "broadcasts " << operand.getType()
             << " over some leading dimensions, where only the first of "
             << op.getResult(0).getType() << " may be `?`";
  }
  return success();
}

Access KernelGroup::getPartialAccess(Value value,
                                     RankedTensorType context) const {
  Access access = *getAccess(value);
  access.placement = access.columns == 1 ? Placement::PerRow : Placement::Full;
  ArrayRef<int64_t> to = context.getShape().drop_back();
  ArrayRef<int64_t> from = tensorType(value).getShape().drop_back();
  access.digits.emplace();
  int64_t divisor = 1, stride = 1;
  for (size_t i = 0; i < from.size(); ++i) {
    int64_t extent = to[to.size() - 1 - i];
    int64_t own = from[from.size() - 1 - i];
    bool isOutermost = i + 1 == to.size();
    if (own != 1)
      access.digits->push_back({divisor, isOutermost ? 0 : extent, stride});
    // Only the outermost extent may be dynamic, and nothing comes after it.
    divisor *= extent;
    stride *= own;
  }
  return access;
}

Placement KernelGroup::getPlacement(Value value) const {
  IterationSpace own = fuseops::getSpace(tensorType(value));
  bool isNarrow = own.columns == 1 && space.columns != 1;
  if (own.rows == space.rows)
    return isNarrow ? Placement::PerRow : Placement::Full;
  return own.columns == 1 ? Placement::Scalar : Placement::RowVector;
}

LogicalResult KernelGroup::findLevels() {
  for (Operation &op : group.getBody().front().without_terminator()) {
    unsigned level = 0;
    bool isFinalOp = false;
    for (Value operand : op.getOperands()) {
      level = std::max(level, levels.lookup(operand));
      isFinalOp |= finals.contains(operand);
    }
    if (isa<ReduceRowsOp>(op) || isFinalOp)
      finals.insert(op.result_begin(), op.result_end());
    if (isFinalOp) {
      auto pointwise = dyn_cast<PointwiseOp>(op);
      if (!pointwise || getPlacement(op.getResult(0)) == Placement::Full ||
          getPlacement(op.getResult(0)) == Placement::PerRow) {
        if (!pointwise || space.rows != Extent{1, 0})
          return op.emitOpError()
                 << "reads a reduction over rows within its own kernel";
      }
      finalOps.push_back(pointwise);
      continue;
    }
    if (auto slice = dyn_cast<SliceColumnsOp>(op); slice && !getAccess(slice))
      return op.emitOpError() << "slices a value that its own kernel computes";
    if (isa<ConcatColumnsOp>(op) &&
        llvm::any_of(op.getUsers(),
                     [](Operation *user) { return !isa<YieldOp>(user); }))
      return op.emitOpError() << "is read by the kernel that computes it";
    if (isa<ReduceColumnsOp>(op))
      ++level;
    for (Value result : op.getResults())
      levels[result] = level;
    numLevels = std::max(numLevels, level + 1);
    if (auto reduction = dyn_cast<ReduceRowsOp>(op))
      rowReductions.push_back(reduction);
    rowOps.push_back(&op);
  }
  return success();
}

std::optional<Access> KernelGroup::getAccess(Value value) const {
  int64_t offset = 0;
  Value source = value;
  while (auto slice = source.getDefiningOp<SliceColumnsOp>()) {
    offset += slice.getOffset();
    source = slice.getInput();
  }
  if (!isa<BlockArgument>(source))
    return std::nullopt;
  return Access{source,
                getColumns(tensorType(source)),
                offset,
                tensorType(value).getElementType(),
                getPlacement(value),
                getColumns(tensorType(value)),
                std::nullopt};
}

LogicalResult KernelGroup::findStores() {
  auto yield = cast<YieldOp>(group.getBody().front().getTerminator());
  for (unsigned output = 0; output < yield.getValues().size(); ++output) {
    Value value = yield.getValues()[output];
    RankedTensorType type = tensorType(value);
    auto add = [&](Value stored, int64_t offset) {
      stores.push_back({stored,
                        Access{value, getColumns(type), offset,
                               type.getElementType(), getPlacement(stored),
                               getColumns(tensorType(stored)), std::nullopt},
                        output});
    };
    if (isa<BlockArgument>(value))
      return group.emitOpError() << "yields its own argument number "
                                 << cast<BlockArgument>(value).getArgNumber();
    auto concat = value.getDefiningOp<ConcatColumnsOp>();
    if (!concat) {
      Placement placement = getPlacement(value);
      if (!isFinal(value) && placement != Placement::Full &&
          placement != Placement::PerRow)
        return group.emitOpError()
               << "computes a value of type " << type
               << ", which is the same for every row, in a kernel over rows";
      add(value, 0);
      continue;
    }
    int64_t offset = 0;
    for (Value part : concat.getInputs()) {
      // A part of one column is a value of the row, unless all are.
      Placement placement = getPlacement(part);
      if (isFinal(part) ||
          (placement != Placement::Full && placement != Placement::PerRow))
        return concat.emitOpError()
               << "has a part of type " << part.getType()
               << ", which is the same for every row, in a kernel over rows";
      add(part, offset);
      offset += getColumns(tensorType(part));
    }
  }
  return success();
}
