//===- GemmPromotion.cpp - Products whose stages are scaled and added -----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensor cores add FP8 in less than f32, and know no scales. So what one
// stage of 128 elements gives is multiplied by the scales of its blocks and
// added to the sums by the threads. While they do, the tensor cores have the
// other warpgroups' stages. The ring is unrolled: then the places of a stage
// are in the instructions (gemm-proofs, item 3 of what decided it).
//
//===----------------------------------------------------------------------===//

#include "GemmKernel.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::fuseops;

/// The scales of `width` rows of an operand from `index` on, for the `block`th
/// 128 elements that are contracted.
Value GemmKernel::loadScale(const Product::Operand &operand, Value block,
                            Value index, int64_t width) {
  auto toI64 = [&](Value value) -> Value {
    return arith::ExtUIOp::create(b, loc, b.getI64Type(), value);
  };
  auto type = cast<RankedTensorType>(operand.scale.getType());
  Value row = block, column = index;
  Value pitch =
      &operand == &product.a ? elements.rows : elements.constant(product.n);
  if (operand.scaleKind == ScaleKind::Block128x128) {
    row = hopper.shiftRight(index, 7);
    column = block;
    // Without a known number of them rows are as long as what is contracted.
    pitch = ShapedType::isDynamic(getColumns(type))
                ? toI64(hopper.add(lastBlock, 1))
                : elements.constant(getColumns(type));
  }
  Value place = arith::MulIOp::create(b, loc, toI64(row), pitch);
  place = arith::AddIOp::create(b, loc, place, toI64(column));
  return elements.loadRaw(elements.pointers.lookup(skipReshapes(operand.scale)),
                          place, b.getF32Type(), width, width);
}

/// Of the upper and the lower row that this thread has of each 64, or nothing.
/// Those of every stage are in other lines, so they are loaded a stage ahead.
SmallVector<Value> GemmKernel::loadRowScales(const GemmTile &tile,
                                             Value depth) {
  SmallVector<Value> scales;
  if (!product.a.isBlockScaled())
    return scales;
  for (int64_t start = 0; start < layout.getOwnRows(); start += 8) {
    // Of each 64 rows a warp has 16.
    if (start % kMmaRows >= kStoreRows)
      continue;
    Value row = hopper.add(tile.row, start);
    row = hopper.add(row, hopper.mul(warp, kStoreRows));
    row = hopper.add(row, hopper.shiftRight(lane, 2));
    row = hopper.minimum(row, hopper.add(numRows, -1));
    scales.push_back(loadScale(product.a, depth, row, 1));
  }
  return scales;
}

/// One for each part of the tile where that is in one block; else of each pair
/// of columns that this thread has. Nothing where there are none.
SmallVector<Value> GemmKernel::loadColumnScales(const GemmTile &tile,
                                                Value depth) {
  SmallVector<Value> scales;
  if (!product.b.isBlockScaled())
    return scales;
  int64_t columns = layout.getPartColumns();
  bool isOfVectors = product.b.scaleKind != ScaleKind::Block128x128;
  bool isOne = layout.hasOneScale(product.b);
  for (int64_t part = 0; part < layout.parts; ++part) {
    Value first = hopper.add(tile.column, part * layout.columns);
    // With a tail they are at no fixed distances, and few fit into registers.
    if (layout.hasColumnTail())
      first = hopper.opaque(first);
    if (isOne) {
      // A cluster may have a tile beyond the last column.
      if (layout.hasColumnTail())
        first = hopper.minimum(first, hopper.constant(product.n - 1));
      scales.push_back(loadScale(product.b, depth, first, 1));
      continue;
    }
    for (int64_t column = 0; column < columns; column += 8) {
      Value index = hopper.add(first, column);
      index = hopper.add(index, hopper.shiftLeft(hopper.bitAnd(lane, 3), 1));
      if (layout.hasColumnTail())
        index = hopper.minimum(index, hopper.constant(product.n - 2));
      Value scale = loadScale(product.b, depth, index, isOfVectors ? 2 : 1);
      for (int64_t i = 0; i < 2; ++i)
        scales.push_back(isOfVectors ? Value(vector::ExtractOp::create(
                                           b, loc, scale, ArrayRef<int64_t>{i}))
                                     : scale);
    }
  }
  return scales;
}

/// Those of a tile's first stage, where it has one.
SmallVector<Value> GemmKernel::loadFirstRowScales(const GemmTile &tile) {
  SmallVector<Value> scales;
  auto guard = scf::IfOp::create(
      b, loc, hopper.isNotEqual(numBlocks, 0),
      [&](OpBuilder &, Location) {
        scales = loadRowScales(tile, hopper.constant(0));
        scf::YieldOp::create(b, loc, scales);
      },
      [&](OpBuilder &, Location) {
        Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
        scf::YieldOp::create(b, loc, SmallVector<Value>(scales.size(), zero));
      });
  return {guard.result_begin(), guard.result_end()};
}

/// Adds the product of stage `stage` of the ring, the tile's `block`th.
void GemmKernel::promoteStage(GemmTile &tile, SmallVectorImpl<Value> &partial,
                              int64_t stage, Value block,
                              ArrayRef<Value> rowScales, Value parity) {
  Value place = hopper.constant(stage);
  size_t blocks = tile.sums.size();
  // They are asked for before anything is waited for.
  SmallVector<Value> columnScales =
      loadColumnScales(tile, hopper.minimum(block, lastBlock));
  hopper.wait(fullBarrier(place), parity);
  auto [a, bs] = describeStage(place);
  for (size_t i = 0; i < blocks; ++i) {
    hopper.fenceMma(partial);
    issue(partial, i, a, bs, /*adds=*/false);
    hopper.commitMma();
    // Both scales of sum `number`, as one; those of a part are few.
    DenseMap<std::pair<Value, Value>, Value> products;
    auto getScale = [&](size_t number) -> Value {
      Value row, column;
      if (!rowScales.empty())
        row = rowScales[2 * i + number / 2 % 2];
      if (columnScales.size() == static_cast<size_t>(layout.parts))
        column = columnScales[number / (layout.getPartColumns() / 2)];
      else if (!columnScales.empty())
        column = columnScales[number / 4 * 2 + number % 2];
      if (!row || !column)
        return row ? row : column;
      Value &scale = products[{row, column}];
      if (!scale)
        scale = arith::MulFOp::create(b, loc, row, column);
      return scale;
    };
    size_t count = tile.sums[i].size();
    // Before the wait where they are known.
    if (columnScales.size() <= static_cast<size_t>(layout.parts))
      for (size_t number = 0; number < count; ++number)
        getScale(number);
    hopper.waitMma(partial, 0);
    if (i == blocks - 1)
      release(place);
    for (auto [number, sum] : llvm::enumerate(tile.sums[i])) {
      Value scale = getScale(number);
      sum =
          scale
              ? Value(math::FmaOp::create(b, loc, partial[number], scale, sum))
              : arith::AddFOp::create(b, loc, sum, partial[number]);
    }
    // Else they'd wait for the next stage, and its partial sums be others.
    hopper.pin(tile.sums[i]);
  }
}

void GemmKernel::multiplyPromoted(GemmTile &tile, Value counted) {
  // Every tile begins at the ring's first place.
  Value stages = hopper.constant(layout.stages);
  Value parity = hopper.bitAnd(hopper.divide(counted, stages), 1);
  Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
  SmallVector<Value> ahead = loadFirstRowScales(tile);
  size_t numAhead = ahead.size(), numPartial = layout.tileColumns / 2;
  SmallVector<Value> state = {parity};
  llvm::append_range(state, ahead);
  state.append(numPartial, zero);
  llvm::append_range(state, tile.flatten());
  state = hopper.loop(
      hopper.constant(0), numBlocks, stages, state,
      [&](Value first, ValueRange carried) {
        ahead.assign(carried.begin() + 1, carried.begin() + 1 + numAhead);
        ValueRange sums = carried.drop_front(1 + numAhead);
        SmallVector<Value> partial(sums.take_front(numPartial));
        tile.assign(SmallVector<Value>(sums.drop_front(numPartial)));
        for (int64_t stage = 0; stage < layout.stages; ++stage) {
          Value block = hopper.add(first, stage);
          Value next = hopper.minimum(hopper.add(block, 1), lastBlock);
          SmallVector<Value> rowScales =
              std::exchange(ahead, loadRowScales(tile, next));
          promoteStage(tile, partial, stage, block, rowScales, carried[0]);
        }
        SmallVector<Value> result = {hopper.bitXor(carried[0], 1)};
        llvm::append_range(result, ahead);
        llvm::append_range(result, partial);
        llvm::append_range(result, tile.flatten());
        return result;
      });
  tile.assign(ArrayRef<Value>(state).drop_front(1 + numAhead + numPartial));
  if (layout.pingPong)
    hopper.arriveNamed(hopper.sub(hopper.constant(2), own), 256);
  openChunks(tile);
}
