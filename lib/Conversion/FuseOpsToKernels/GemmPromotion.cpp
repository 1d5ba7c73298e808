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

/// Of the upper and the lower row that this thread has of 64, or nothing.
SmallVector<Value> GemmKernel::loadRowScales(const GemmTile &tile,
                                             int64_t block, Value depth) {
  SmallVector<Value> scales;
  if (!product.a.isBlockScaled())
    return scales;
  for (int64_t half = 0; half < 2; ++half) {
    Value row = hopper.add(tile.row, kMmaRows * block + 8 * half);
    row = hopper.add(row, hopper.mul(warp, kStoreRows));
    row = hopper.add(row, hopper.shiftRight(lane, 2));
    row = hopper.minimum(row, hopper.add(tile.end, -1));
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

void GemmKernel::promoteStage(GemmTile &tile, SmallVectorImpl<Value> &partial,
                              int64_t stage, Value block, Value parity) {
  Value place = hopper.constant(stage);
  // They are asked for before anything is waited for.
  Value depth = hopper.minimum(block, lastBlock);
  SmallVector<Value> columnScales = loadColumnScales(tile, depth);
  SmallVector<SmallVector<Value>> rowScales;
  int64_t blocks = tile.sums.size();
  for (int64_t i = 0; i < blocks; ++i)
    rowScales.push_back(loadRowScales(tile, i, depth));
  hopper.wait(fullBarrier(place), parity);
  auto [a, bs] = describeStage(place);
  for (int64_t i = 0; i < blocks; ++i) {
    hopper.fenceMma(partial);
    issue(partial, i, a, bs, /*adds=*/false);
    hopper.commitMma();
    // Both scales of sum `number`, as one; those of a part are few.
    DenseMap<std::pair<Value, Value>, Value> scales;
    auto getScale = [&](size_t number) -> Value {
      Value row, column;
      if (!rowScales[i].empty())
        row = rowScales[i][number / 2 % 2];
      if (columnScales.size() == static_cast<size_t>(layout.parts))
        column = columnScales[number / (layout.getPartColumns() / 2)];
      else if (!columnScales.empty())
        column = columnScales[number / 4 * 2 + number % 2];
      if (!row || !column)
        return row ? row : column;
      Value &scale = scales[{row, column}];
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
  SmallVector<Value> state = {parity};
  state.append(layout.tileColumns / 2, zero);
  llvm::append_range(state, tile.flatten());
  state = hopper.loop(
      hopper.constant(0), tile.blocks, stages, state,
      [&](Value first, ValueRange carried) {
        SmallVector<Value> partial(carried.slice(1, layout.tileColumns / 2));
        tile.assign(
            SmallVector<Value>(carried.drop_front(1 + layout.tileColumns / 2)));
        for (int64_t stage = 0; stage < layout.stages; ++stage)
          promoteStage(tile, partial, stage, hopper.add(first, stage),
                       carried[0]);
        SmallVector<Value> result = {hopper.bitXor(carried[0], 1)};
        llvm::append_range(result, partial);
        llvm::append_range(result, tile.flatten());
        return result;
      });
  tile.assign(ArrayRef<Value>(state).drop_front(1 + layout.tileColumns / 2));
  if (layout.pingPong)
    hopper.arriveNamed(hopper.sub(hopper.constant(2), own), 256);
  openChunks(tile);
}
