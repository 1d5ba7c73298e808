//===- GemmReads.cpp - What a product's kernel reads beside its operands --===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What has an element for each of the product's: a residual, a saved
// pre-activation, what is added to. The L2 cache fetches a tile's while it is
// multiplied, registers a chunk's while the one before is computed.
//
//===----------------------------------------------------------------------===//

#include "GemmKernel.h"

using namespace mlir;
using namespace mlir::fuseops;

/// The values that lie in memory and have an element for each of the product's.
SmallVector<Value> GemmKernel::findReads() const {
  SmallVector<Value> reads;
  for (Value value : group.getReadValues())
    if (group.getPlacement(value) == Placement::Full &&
        !group.isPartlyBroadcast(value) && group.getAccess(value))
      reads.push_back(value);
  return reads;
}

/// Has the L2 cache fetch what is read of a tile, which is multiplied
/// meanwhile.
void GemmKernel::prefetchReads(const GemmTile &tile) {
  auto toI64 = [&](Value value) -> Value {
    return arith::ExtUIOp::create(b, loc, b.getI64Type(), value);
  };
  constexpr int64_t kLineBytes = 128, kThreads = 128;
  for (Value value : findReads()) {
    Access access = *group.getAccess(value);
    if (!access.isContiguous())
      continue;
    int64_t perLine = kLineBytes / getElementBytes(access.element);
    int64_t lines = llvm::divideCeil(layout.getPartColumns(), perLine);
    Value thread = hopper.bitAnd(hopper.readThread(), kThreads - 1);
    for (int64_t i = 0; i < layout.getOwnRows() * lines; i += kThreads) {
      Value number = hopper.add(thread, i);
      Value row =
          hopper.add(tile.row, hopper.divide(number, hopper.constant(lines)));
      Value column = hopper.remainder(number, hopper.constant(lines));
      column = hopper.add(tile.column, hopper.mul(column, perLine));
      Element element;
      element.row = toI64(hopper.minimum(row, hopper.add(tile.end, -1)));
      element.column =
          toI64(hopper.minimum(column, hopper.constant(layout.columns - 1)));
      hopper.prefetchLine(elements.pointerTo(access, element));
    }
  }
}

/// Starts to read what the next chunk of the tile needs: it comes while this
/// one is computed. Three warpgroups have no registers for it, and multiply
/// while one of them waits; nor has a thread with many sums.
void GemmKernel::readAhead(const GemmTile &tile) {
  ahead.assign(2 * kStorePairs, DenseMap<Value, Value>());
  if (numRead == chunks.size() || layout.warpgroups > 2 ||
      layout.countSums() > 128)
    return;
  auto [block, column] = chunks[numRead++];
  SmallVector<Value> reads = findReads();
  for (int64_t number = 0; number < 2 * kStorePairs; ++number) {
    Element element =
        locateElement(tile, block, column + 8 * (number / 2), number % 2);
    for (Value value : reads)
      elements.read(value, element);
    ahead[number] = std::move(element.stored);
  }
}

/// The chunks of a tile in the order in which they are computed, and what the
/// first one reads.
void GemmKernel::openChunks(const GemmTile &tile) {
  chunks.clear();
  numRead = 0;
  int64_t spanBlocks = layout.getSpanBlocks();
  for (int64_t first = 0; first < layout.getPartColumns();
       first += layout.spanColumns)
    for (int64_t block = 0; block < layout.getOwnRows() / kMmaRows;
         block += spanBlocks)
      for (int64_t inSpan = 0; inSpan < spanBlocks; ++inSpan)
        for (int64_t chunk = 0; chunk < layout.spanColumns;
             chunk += kStoreColumns)
          chunks.push_back({block + inSpan, first + chunk});
  withOwnThread([&] { readAhead(tile); });
}
