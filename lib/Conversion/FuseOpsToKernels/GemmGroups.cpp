//===- GemmGroups.cpp - The groups of rows of a grouped product -----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sizes lie on the device. Each block adds them up once: shared memory has
// of each group its first row and how many tiles of rows come before it. Behind
// the last group come the rows of none, as a group that multiplies nothing. A
// tile is of one group and looks for it there.
//
//===----------------------------------------------------------------------===//

#include "GemmKernel.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::fuseops;

/// Where the first row of a group is and, behind it, its first tile.
Value GemmKernel::locateGroup(Value group) {
  // What is fixed is a part of the instructions.
  return hopper.add(hopper.add(memory, hopper.shiftLeft(group, 3)),
                    layout.groups);
}

/// Tiles of rows of all groups before this one.
Value GemmKernel::countRowTilesBefore(Value group) {
  return hopper.loadShared(hopper.add(locateGroup(group), 4), b.getI32Type());
}

/// Tiles of all groups before a fixed one.
Value GemmKernel::countTilesBefore(int64_t group) {
  return hopper.mul(countRowTilesBefore(hopper.constant(group)),
                    layout.columnTiles / layout.cluster);
}

/// A group's size: none where it is negative, and no more rows than there are.
Value GemmKernel::sizeOf(Value group) {
  Value size = elements.loadRaw(
      elements.pointers.lookup(skipReshapes(product.sizes)),
      arith::ExtUIOp::create(b, loc, b.getI64Type(), group), b.getI64Type(), 1);
  size = arith::MaxSIOp::create(b, loc, size, elements.constant(0));
  size = arith::MinSIOp::create(b, loc, size, wideGroupedRows);
  return arith::TruncIOp::create(b, loc, b.getI32Type(), size);
}

/// One warp adds up the sizes, 32 at a time.
void GemmKernel::openGroups() {
  Value zero = hopper.constant(0), one = hopper.constant(1);
  auto pair = [&](Value row, Value tile) -> Value {
    return vector::FromElementsOp::create(
        b, loc, VectorType::get({2}, b.getI32Type()), ValueRange{row, tile});
  };
  // Of each thread the sum of `value` of those up to it. No sum is more than
  // the rows, so that none is too large for 32 bits.
  auto sumUp = [&](Value value) {
    for (int64_t distance = 1; distance < 32; distance *= 2) {
      Value other = hopper.shuffle(value, hopper.add(lane, -distance));
      other = hopper.select(hopper.isLess(lane, hopper.constant(distance)),
                            zero, other);
      value = arith::AddIOp::create(b, loc, value, other);
      value = arith::MinUIOp::create(b, loc, value, groupedRows);
    }
    return value;
  };
  auto addUp = [&](Value chunk, ValueRange before) -> SmallVector<Value> {
    Value number = hopper.add(hopper.shiftLeft(chunk, 5), lane);
    Value isGroup = hopper.isLess(number, hopper.constant(product.numGroups));
    Value last = hopper.constant(product.numGroups - 1);
    // What is no group has the rows that are left.
    Value size = hopper.select(isGroup, sizeOf(hopper.minimum(number, last)),
                               groupedRows);
    Value end = arith::MinUIOp::create(
        b, loc, hopper.add(sumUp(size), before[0]), groupedRows);
    Value start = hopper.select(hopper.isEqual(lane, 0), before[0],
                                hopper.shuffle(end, hopper.add(lane, -1)));
    Value tiles =
        hopper.divide(hopper.add(hopper.sub(end, start), layout.tileRows - 1),
                      hopper.constant(layout.tileRows));
    Value endTile = hopper.add(sumUp(tiles), before[1]);
    hopper.when(hopper.isLess(number, hopper.constant(product.numGroups + 1)),
                [&] {
                  hopper.storeShared(locateGroup(hopper.add(number, 1)),
                                     pair(end, endTile));
                });
    Value lastLane = hopper.constant(31);
    return {hopper.shuffle(end, lastLane), hopper.shuffle(endTile, lastLane)};
  };
  hopper.when(hopper.isEqual(hopper.shiftRight(thread, 5), 1), [&] {
    hopper.when(hopper.isEqual(lane, 0), [&] {
      hopper.storeShared(locateGroup(zero), pair(zero, zero));
    });
    int64_t chunks = llvm::divideCeil(product.numGroups + 1, 32);
    hopper.loop(zero, hopper.constant(chunks), one, {zero, zero}, addUp);
  });
}

/// Where the rows of groups are contracted: the tiles of one group's matrix.
int64_t GemmKernel::countMatrixTiles() const {
  return llvm::divideCeil(product.m.constant, layout.tileRows) *
         layout.columnTiles / layout.cluster;
}

/// Finds the group of a tile; the number of the tile in it.
Value GemmKernel::enterGroup(Value tile, GemmTile &result) {
  auto readRow = [&](Value place) {
    return hopper.loadShared(place, b.getI32Type());
  };
  if (product.contractsGroups) {
    Value perMatrix = hopper.constant(countMatrixTiles());
    result.group = hopper.divide(tile, perMatrix);
    result.row = hopper.mul(result.group, product.m.constant);
    result.end = hopper.add(result.row, product.m.constant);
    Value place = locateGroup(result.group);
    result.depth = readRow(place);
    result.size = hopper.sub(readRow(hopper.add(place, 8)), result.depth);
    return hopper.remainder(tile, perMatrix);
  }
  int64_t perRow = layout.columnTiles / layout.cluster;
  Value rowTile = hopper.divide(tile, hopper.constant(perRow));
  // The last that begins at or before the tile: of those that begin with it all
  // but the last are empty.
  Value last = hopper.constant(product.numGroups);
  result.group = hopper.constant(0);
  for (int64_t step = llvm::bit_floor(static_cast<uint64_t>(product.numGroups));
       step > 0; step /= 2) {
    Value next = hopper.minimum(hopper.add(result.group, step), last);
    result.group = hopper.select(
        hopper.isLess(rowTile, countRowTilesBefore(next)), result.group, next);
  }
  Value place = locateGroup(result.group);
  result.row = readRow(place);
  result.end = readRow(hopper.add(place, 8));
  return hopper.sub(tile,
                    hopper.mul(countRowTilesBefore(result.group), perRow));
}

/// The stages that a tile takes, or one behind the last: none where its rows
/// are of no group, those of its group where they are contracted.
Value GemmKernel::countBlocks(Value tile) {
  if (!product.isGrouped())
    return numBlocks;
  if (product.contractsGroups) {
    Value group =
        hopper.minimum(hopper.divide(tile, hopper.constant(countMatrixTiles())),
                       hopper.constant(product.numGroups - 1));
    Value place = locateGroup(group);
    Value size =
        hopper.sub(hopper.loadShared(hopper.add(place, 8), b.getI32Type()),
                   hopper.loadShared(place, b.getI32Type()));
    return hopper.divide(hopper.add(size, layout.getDepth() - 1),
                         hopper.constant(layout.getDepth()));
  }
  Value end = countTilesBefore(product.numGroups);
  return hopper.select(hopper.isLess(tile, end), numBlocks, hopper.constant(0));
}

/// Makes the rows of a group's last stage zeros that are of other groups, in
/// both operands: either may have a NaN there. They are whole lines of each
/// part of 64 columns. The stage is this warpgroup's alone.
void GemmKernel::clearRows(const GemmTile &tile, Value block, Value stage) {
  int64_t depth = layout.getDepth();
  Value left = hopper.sub(tile.size, hopper.mul(block, depth));
  Value zero = arith::ConstantOp::create(
      b, loc, b.getZeroAttr(VectorType::get({4}, b.getI32Type())));
  auto clear = [&](Value start, int64_t bytes, Value place) {
    for (int64_t part = 0; part < bytes; part += depth * kStageRowBytes)
      hopper.storeShared(hopper.add(hopper.add(start, place), part), zero);
  };
  hopper.when(hopper.isLess(left, hopper.constant(depth)), [&] {
    Value as = hopper.add(memory, hopper.mul(stage, layout.aBytes));
    Value bs = hopper.add(hopper.add(memory, layout.bStages),
                          hopper.mul(stage, layout.bBytes));
    Value thread = hopper.bitAnd(hopper.readThread(), 127);
    hopper.loop(hopper.add(hopper.mul(left, kStageRowBytes),
                           hopper.shiftLeft(thread, 4)),
                hopper.constant(depth * kStageRowBytes),
                hopper.constant(128 * 16), {},
                [&](Value place, ValueRange) -> SmallVector<Value> {
                  clear(as, layout.aBytes, place);
                  clear(bs, layout.bBytes, place);
                  return {};
                });
    hopper.fenceShared();
    hopper.syncNamed(hopper.add(own, 3), 128);
  });
}
