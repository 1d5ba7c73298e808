//===- CudaTileBlocks.cpp - Maxima of the blocks of a CUDA tile ----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTiles.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::fuseops;

/// `value`, whose maximum is taken, in as few bits as it has: magnitudes of 16
/// bits are compared two at a time.
Value CudaTiles::narrowMagnitude(Value value) {
  auto magnitude = value.getDefiningOp<math::AbsFOp>();
  Value x = magnitude ? magnitude.getOperand() : value;
  auto extended = x.getDefiningOp<arith::ExtFOp>();
  if (!extended || schedule.vector % 2 != 0 ||
      getElementTypeOrSelf(extended.getIn()).getIntOrFloatBitWidth() != 16)
    return value;
  x = extended.getIn();
  return magnitude ? math::AbsFOp::create(b, loc, x) : x;
}

/// A maximum in the type in which it is stored.
Value CudaTiles::widenMaximum(ReduceBlocksOp op, Value value) {
  Type type = getAccumulatorType(fuseops::elementOf(op.getInput()));
  if (getElementTypeOrSelf(value) == type)
    return value;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(type);
  return arith::ExtFOp::create(b, loc, type, value);
}

void CudaTiles::takeIn(ReduceBlocksOp op, int64_t row, int64_t vector,
                       Value value) {
  value = narrowMagnitude(value);
  // A thread has as many blocks of a kind as it has rows or columns of them.
  BlockShape shape = group.getBlock(op.getResult());
  int64_t slot = shape.columns == 1 ? vector : shape.rows == 1 ? row : 0;
  SmallVector<Value> &own = parts[op.getResult()];
  own.resize(std::max<size_t>(own.size(), slot + 1));
  if (own[slot])
    value = elements.combine(ReductionKind::Max, own[slot], value);
  bool isComplete = shape.rows == 1 && vector == numVectors - 1;
  own[slot] =
      isComplete ? elements.combineAll(ReductionKind::Max, value) : value;
}

void CudaTiles::storeParts(ReduceBlocksOp op) {
  constexpr ReductionKind kMax = ReductionKind::Max;
  BlockShape shape = group.getBlock(op.getResult());
  Value pointer = partialBlocks.lookup(op.getResult());
  SmallVector<Value> &own = parts[op.getResult()];
  Value warp = div(thread, 32);
  if (shape.columns == 1) {
    for (Value &value : own)
      value = widenMaximum(
          op, elements.combineLanes(kMax, value, kTileLanes, kTileLanes));
    // Part by part, and in a part row by row of the tile's blocks.
    int64_t parts = layout.countParts(op);
    Value place = mul(warp, kTileSize);
    if (shape.rows != kTileSize)
      place = add(mul(rem(warp, parts), countBlocks(shape)),
                  mul(div(warp, parts), kTileSize));
    // Both lanes that have a column write the same: a branch would keep what
    // they exchanged in registers up to its end.
    for (auto [v, value] : llvm::enumerate(own)) {
      Value column = add(threadColumn, elements.constant(v * schedule.vector));
      elements.storeRaw(value, pointer, add(place, column), schedule.vector);
    }
    return;
  }
  int64_t lanes = shape.rows == 1 ? shape.columns / kTileColumns : int64_t(32);
  Value row = threadRow;
  for (Value &value : own)
    value = widenMaximum(op, elements.combineAll(kMax, value));
  halveRows(own, row, lanes);
  for (auto [r, value] : llvm::enumerate(own)) {
    Value index = warp;
    if (shape.rows == 1) {
      int64_t across = kTileSize / shape.columns;
      index = mul(add(row, elements.constant(r)), across);
      if (across > 1)
        index = add(index, div(lane, lanes));
    }
    elements.storeRaw(value, pointer, index);
  }
}

/// The maxima of rows over neighbouring lanes. As long as a lane has several
/// rows it leaves half of them to another, so that few values are exchanged;
/// `row` is the first that it has in the end, as others may have it too.
void CudaTiles::halveRows(SmallVectorImpl<Value> &own, Value &row,
                          int64_t lanes) {
  constexpr ReductionKind kMax = ReductionKind::Max;
  for (; own.size() > 1 && lanes > 1; lanes /= 2) {
    size_t half = own.size() / 2;
    Value isLower = isZero(bit(thread, lanes / 2));
    auto choose = [&](Value lower, Value upper) -> Value {
      return arith::SelectOp::create(b, loc, isLower, lower, upper);
    };
    for (size_t i = 0; i < half; ++i) {
      Value kept = choose(own[i], own[half + i]);
      Value left = choose(own[half + i], own[i]);
      own[i] = elements.combine(kMax, kept, elements.shuffle(left, lanes / 2));
    }
    own.truncate(half);
    row = add(row, choose(elements.constant(0), elements.constant(half)));
  }
  if (lanes > 1)
    for (Value &value : own)
      value = elements.combineLanes(kMax, value, lanes / 2, 1);
}
