//===- BlockValues.cpp - Values with one element for each block ----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Analysis/BlockValues.h"

using namespace mlir;
using namespace mlir::fuseops;

IterationSpace mlir::fuseops::getSpace(RankedTensorType type) {
  return {getNumElements(type, 1), getColumns(type)};
}

namespace {
/// Follows blocks from where they are made and where they are read.
class BlockFinder {
public:
  void visit(Operation &op) {
    if (auto reduce = dyn_cast<ReduceBlocksOp>(op)) {
      mark(reduce.getResult(),
           {getSpace(reduce.getInput().getType()),
            static_cast<int64_t>(reduce.getBlockRows()),
            static_cast<int64_t>(reduce.getBlockColumns())});
    } else if (auto expand = dyn_cast<ExpandBlocksOp>(op)) {
      mark(expand.getInput(), {getSpace(expand.getResult().getType()),
                               static_cast<int64_t>(expand.getBlockRows()),
                               static_cast<int64_t>(expand.getBlockColumns())});
    } else if (isa<PermuteOp, ConcatOp, SliceOp, ReshapeOp>(op)) {
      visitMove(op);
    } else if (isa<FusibleOpInterface>(op) &&
               !isa<ReduceRowsOp, ReduceColumnsOp>(op)) {
      visitElementwise(op);
    }
  }

  bool changed = false;
  DenseMap<Value, BlockShape> blocks;

private:
  void mark(Value value, BlockShape shape) {
    auto [entry, isNew] = blocks.try_emplace(value, shape);
    if (isNew || (shape.isVisited() && !entry->second.isVisited())) {
      entry->second = shape;
      changed = true;
    }
  }

  /// Values of one shape are of the same blocks.
  void visitElementwise(Operation &op) {
    SmallVector<Value> values(op.getOperands());
    llvm::append_range(values, op.getResults());
    for (Value known : values) {
      BlockShape shape = blocks.lookup(known);
      if (!shape.isVisited())
        continue;
      auto type = cast<RankedTensorType>(known.getType());
      for (Value value : values) {
        auto own = dyn_cast<RankedTensorType>(value.getType());
        if (own && own.getShape() == type.getShape())
          mark(value, shape);
      }
      return;
    }
  }

  /// What is moved, and what it is joined with.
  void visitMove(Operation &op) {
    SmallVector<Value> values(op.getOperands());
    llvm::append_range(values, op.getResults());
    auto *known = llvm::find_if(
        values, [&](Value value) { return blocks.contains(value); });
    if (known == values.end())
      return;
    BlockShape moved{blocks.lookup(*known).matrix};
    for (Value value : values)
      mark(value, moved);
  }
};
} // namespace

DenseMap<Value, BlockShape> mlir::fuseops::findBlockValues(Block &body) {
  BlockFinder finder;
  do {
    finder.changed = false;
    for (Operation &op : body.without_terminator())
      finder.visit(op);
    for (Operation &op : llvm::reverse(body.without_terminator()))
      finder.visit(op);
  } while (finder.changed);
  return std::move(finder.blocks);
}
