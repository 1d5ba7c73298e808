//===- GemmRowSums.cpp - What a product's kernel reduces along rows -------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row is spread over tiles, which different blocks have: each tile leaves a
// partial result of each of its rows, and a finalize kernel combines them.
//
//===----------------------------------------------------------------------===//

#include "GemmKernel.h"

using namespace mlir;
using namespace mlir::fuseops;

/// The tile begins without any columns.
void GemmKernel::openRowSums() {
  rowSums.clear();
  for (ReduceColumnsOp op : group.getColumnReductions())
    rowSums.emplace_back(
        2 * layout.getOwnRows() / kMmaRows,
        elements.identity(op.getKind(), elementOf(op.getInput()), 1));
}

/// Takes `element`, whose values of `level` are known, into what this thread
/// has of its row, the `number`th.
void GemmKernel::reduceAlongRow(Element &element, unsigned level,
                                int64_t number) {
  ArrayRef<ReduceColumnsOp> reductions = group.getColumnReductions();
  for (size_t i = 0; i < reductions.size(); ++i) {
    ReduceColumnsOp op = reductions[i];
    if (group.getLevel(op.getInput()) != level)
      continue;
    // What is beyond the last row is not stored.
    Value value =
        elements.addend(op.getKind(), elementOf(op.getInput()),
                        elements.compute(op.getInput(), element),
                        layout.hasColumnTail() ? element.isValid : Value());
    Value &sum = rowSums[i][number];
    sum = elements.combine(op.getKind(), sum,
                           elements.combineAll(op.getKind(), value));
  }
}

/// Keeps the steps of a chunk where they are: left to LLVM and the assembler
/// they move to the end of the tile, and what they take in stays in registers.
void GemmKernel::pinRowSums() {
  for (SmallVector<Value> &sums : rowSums)
    if (sums.front().getType().isF32())
      hopper.pin(sums);
}

/// Leaves a partial result of each row of the tile; those of the tiles of one
/// column lie side by side.
void GemmKernel::storeRowSums(const GemmTile &tile) {
  auto toI64 = [&](Value value) -> Value {
    return arith::ExtUIOp::create(b, loc, b.getI64Type(), value);
  };
  ArrayRef<ReduceColumnsOp> reductions = group.getColumnReductions();
  ArrayRef<Value> partials = ArrayRef<Value>(frame.partials)
                                 .drop_front(group.getRowReductions().size());
  for (size_t i = 0; i < reductions.size(); ++i) {
    ReduceColumnsOp op = reductions[i];
    for (int64_t number = 0; number < static_cast<int64_t>(rowSums[i].size());
         ++number) {
      // Four threads have the columns of a row.
      Value sum = elements.combineLanes(op.getKind(), rowSums[i][number], 2, 1);
      Value row = hopper.add(tile.row, number / 2 * kMmaRows + number % 2 * 8);
      row = hopper.add(row, hopper.mul(warp, kStoreRows));
      row = hopper.add(row, hopper.shiftRight(lane, 2));
      Value writes = arith::AndIOp::create(
          b, loc, hopper.isEqual(hopper.bitAnd(lane, 3), 0),
          hopper.isLess(row, tile.end));
      hopper.when(writes, [&] {
        Value column = hopper.divide(tile.column,
                                     hopper.constant(layout.getPartColumns()));
        Value place =
            arith::MulIOp::create(b, loc, toI64(column), elements.rows);
        place = arith::AddIOp::create(b, loc, place, toI64(row));
        elements.storeRaw(sum, partials[i], place);
      });
    }
  }
}
