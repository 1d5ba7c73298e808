//===- OperationShape.cpp - What an operation is made of -----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Analysis/OperationShape.h"

using namespace mlir;
using namespace mlir::fuseops;

Value mlir::fuseops::skipReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

bool mlir::fuseops::isHalf(SliceOp op) {
  // Within a kernel what it reads may be the same matrix in another shape.
  int64_t columns = getColumns(op.getInput().getType());
  int64_t half = getColumns(op.getType());
  return static_cast<int64_t>(op.getDim()) + 1 == op.getType().getRank() &&
         op.getStep() == 1 && half && 2 * half == columns &&
         op.getOffset() % half == 0;
}

Value mlir::fuseops::getWhollyReduced(ReduceRowsOp op) {
  auto rows = op.getInput().getDefiningOp<ReduceColumnsOp>();
  if (!rows || rows.getKind() != op.getKind() || !rows->hasOneUse() ||
      getAccumulatorType(rows.getInput().getType().getElementType()) !=
          getAccumulatorType(op.getInput().getType().getElementType()))
    return {};
  return rows.getInput();
}

/// Whether `op` gives something of whole rows.
static bool reducesRow(ReduceColumnsOp op) {
  auto reader = op->hasOneUse() ? dyn_cast<ReduceRowsOp>(*op->user_begin())
                                : ReduceRowsOp();
  return getColumns(op.getInput().getType()) != 1 &&
         !(reader && getWhollyReduced(reader));
}

/// Shared memory for a reduction of blocks: the partial results of the warps,
/// of 32 rows each, and the result, which later levels read; for blocks that
/// elements read, their values.
static int64_t countBlockBytes(Operation &op) {
  auto count = [](auto blocks) {
    return kTileSize / static_cast<int64_t>(blocks.getBlockRows()) *
           (kTileSize / static_cast<int64_t>(blocks.getBlockColumns()));
  };
  auto bytesOf = [](Value value) {
    return getElementBytes(
        getAccumulatorType(getElementTypeOrSelf(value.getType())));
  };
  if (auto expand = dyn_cast<ExpandBlocksOp>(op))
    return bytesOf(expand.getInput()) * count(expand);
  auto reduce = dyn_cast<ReduceBlocksOp>(op);
  if (!reduce)
    return 0;
  int64_t warps =
      llvm::divideCeil(static_cast<int64_t>(reduce.getBlockRows()), 32);
  return bytesOf(reduce.getInput()) * (warps + 1) * count(reduce);
}

/// The rows of the blocks that `op` reduces or expands, if it does.
static std::optional<int64_t> getBlockRows(Operation &op) {
  if (auto reduce = dyn_cast<ReduceBlocksOp>(op))
    return reduce.getBlockRows();
  if (auto expand = dyn_cast<ExpandBlocksOp>(op))
    return expand.getBlockRows();
  return std::nullopt;
}

OperationShape mlir::fuseops::inspectOperation(Operation *op) {
  OperationShape shape;
  shape.writesMoved.resize(op->getNumResults());
  shape.reduced.resize(op->getNumResults());
  shape.readsMoved.resize(op->getNumOperands());
  shape.readsHalves.resize(op->getNumOperands());
  auto fusible = dyn_cast<FusibleOpInterface>(op);
  if (!fusible)
    return shape;
  shape.kernelTemplate = KernelTemplate::Pointwise;
  Block scratch;
  for (Value operand : op->getOperands())
    scratch.addArgument(operand.getType(), operand.getLoc());
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToStart(&scratch);
  SmallVector<Value> results =
      fusible.decompose(builder, scratch.getArguments());
  // The result of a reduction over rows, and what is computed from it.
  llvm::DenseSet<Value> reduced;
  // Likewise of a reduction of rows.
  llvm::DenseSet<Value> statistics;
  for (Operation &inner : scratch) {
    shape.blockBytes += countBlockBytes(inner);
    auto readsAny = [&](const llvm::DenseSet<Value> &values) {
      return llvm::any_of(inner.getOperands(), [&](Value operand) {
        return values.contains(operand);
      });
    };
    auto columns = dyn_cast<ReduceColumnsOp>(inner);
    bool isOfRow = columns && reducesRow(columns);
    shape.needsRows |= isOfRow;
    shape.needsRowsTwice |= isOfRow && readsAny(statistics);
    if (isOfRow || readsAny(statistics))
      statistics.insert(inner.result_begin(), inner.result_end());
    if (isa<ReduceRowsOp>(inner) || readsAny(reduced))
      reduced.insert(inner.result_begin(), inner.result_end());
    if (std::optional<int64_t> rows = getBlockRows(inner); rows && *rows > 1)
      shape.kernelTemplate = KernelTemplate::Tile;
    else if (isa<ReduceRowsOp>(inner))
      shape.kernelTemplate = KernelTemplate::RowColumn;
    else if ((isa<ReduceColumnsOp>(inner) || rows) &&
             shape.kernelTemplate == KernelTemplate::Pointwise)
      shape.kernelTemplate = KernelTemplate::Row;
    auto concat = dyn_cast<ConcatOp>(inner);
    if (isa<SliceOp, PermuteOp>(inner) || (concat && !concat.isScattered()))
      for (Value operand : inner.getOperands())
        if (auto argument = dyn_cast<BlockArgument>(skipReshapes(operand)))
          shape.readsMoved.set(argument.getArgNumber());
  }
  for (BlockArgument argument : scratch.getArguments())
    if (!argument.use_empty() &&
        llvm::all_of(argument.getUsers(), [](Operation *user) {
          auto slice = dyn_cast<SliceOp>(user);
          return slice && isHalf(slice);
        }))
      shape.readsHalves.set(argument.getArgNumber());
  for (auto [number, value] : llvm::enumerate(results)) {
    auto concat = skipReshapes(value).getDefiningOp<ConcatOp>();
    if (concat && concat.isScattered())
      shape.writesMoved.set(number);
    if (reduced.contains(value))
      shape.reduced.set(number);
  }
  // Values of the scratch block go with it, uses first.
  for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(scratch))) {
    inner.dropAllUses();
    inner.erase();
  }
  return shape;
}

/// Whether a memory operation reads `value`, behind any reshapes. A
/// concatenation that is written through only says where it goes.
static bool isReadByMemory(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    if (auto reshape = dyn_cast<ReshapeOp>(user))
      return isReadByMemory(reshape);
    auto concat = dyn_cast<ConcatOp>(user);
    return isa<FusibleOpInterface>(user) &&
           (!concat || !concat.isScattered() || isReadByMemory(concat));
  });
}

bool mlir::fuseops::isAlwaysWrittenThrough(PermuteOp op) {
  return ShapedType::isDynamic(getColumns(op.getType())) &&
         !ShapedType::isDynamic(getColumns(op.getInput().getType()));
}

bool mlir::fuseops::isWrittenThrough(PermuteOp op) {
  return isAlwaysWrittenThrough(op) ||
         (!isReadByMemory(op) &&
          skipReshapes(op.getInput()).getDefiningOp<FusibleOpInterface>());
}

bool mlir::fuseops::writesTransposed(PermuteOp op) {
  RankedTensorType type = op.getInput().getType();
  return isWrittenThrough(op) && type.getRank() == 2 && op.getOrder()[0] == 1 &&
         type.getDimSize(0) != 1 && type.getDimSize(1) != 1;
}
