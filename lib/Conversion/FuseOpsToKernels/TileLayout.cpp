//===- TileLayout.cpp - What a tile kernel keeps beside its elements -----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileLayout.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fuseops;

static Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

bool mlir::fuseops::isTransposed(const Access &access) {
  Extent one{1, 0};
  return access.hasColumns() && !access.isContiguous() &&
         access.rows.size() == 1 && access.rows[0].divisor == one &&
         !access.rows[0].extent && !access.rows[0].count &&
         access.rows[0].stride == one;
}

/// Elements of which a tile has 32 KB at most.
static bool isStagedElement(Type element) {
  return getElementBytes(element) <= 2;
}

TileLayout::TileLayout(const KernelGroup &group, int64_t threads)
    : threads(threads) {
  llvm::SetVector<Value> values;
  for (Operation *op : group.getRowOps()) {
    if (auto reduction = dyn_cast<ReduceBlocksOp>(op))
      reductions.push_back(reduction);
    if (auto expand = dyn_cast<ExpandBlocksOp>(op)) {
      values.insert(expand.getInput());
      continue;
    }
    // A reduction's partial results are gone at later levels.
    for (Value operand : op->getOperands())
      if (operand.getDefiningOp<ReduceBlocksOp>() &&
          group.getLevel(operand) < group.getLevel(op->getResult(0)))
        values.insert(operand);
  }
  kept = values.takeVector();
  for (const Store &store : group.getStores())
    if (!group.isFinal(store.value) &&
        group.getPlacement(store.value) == Placement::Full &&
        isTransposed(store.access) && isStagedElement(store.access.element))
      staged.push_back(store);
  SmallVector<int64_t> inPass(group.getNumLevels());
  for (const Store &store : staged) {
    stagedBytes = std::max(stagedBytes, getElementBytes(store.access.element) *
                                            kTileSize * kTileSize);
    stagedInPass =
        std::max(stagedInPass, ++inPass[group.getLevel(store.value)]);
  }

  auto add = [](int64_t &total, Type element, int64_t count) {
    total += llvm::alignTo(getElementBytes(element) * count, 16);
  };
  for (ReduceBlocksOp op : reductions) {
    partialOffsets.push_back(partialBytes);
    add(partialBytes, getAccumulatorType(elementOf(op.getInput())),
        countParts(op) * countBlocks(group.getBlock(op.getResult())));
    // They are read before the pass after this one: a barrier stands between
    // that and what is staged there, and one behind what was staged before.
    takesTurns &= inPass[group.getLevel(op.getInput())] == 0;
  }
  for (Value value : kept)
    add(arrayBytes, getComputeType(elementOf(value)),
        countBlocks(group.getBlock(value)));
  // One reduction over rows after the other combines the warps' sums.
  int64_t sums = 0;
  for (ReduceRowsOp op : group.getRowReductions())
    sums = std::max(
        sums, getElementBytes(getAccumulatorType(elementOf(op.getInput()))) *
                  (threads / 32) * kTileSize);
  arrayBytes += sums;
}

int64_t TileLayout::countStagedAtOnce(int64_t ringBytes) const {
  if (staged.empty())
    return 0;
  int64_t room = std::min(kSharedBytes, kMostSharedBytes - ringBytes);
  room -= arrayBytes + getStagedOffset();
  return std::clamp<int64_t>(room / stagedBytes, 1, stagedInPass);
}
