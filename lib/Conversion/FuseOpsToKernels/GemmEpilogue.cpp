//===- GemmEpilogue.cpp - What a group does to the sums of its product ----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each warp has 16 rows of every 64 and stores 64 columns of them at once: it
// computes the group's body of its pairs of neighbours, leaves the results in a
// buffer of its own, and one thread has the copy engine store it. Nobody waits
// but for a buffer to have been read.
//
//===----------------------------------------------------------------------===//

#include "GemmKernel.h"
#include "KernelEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::fuseops;

/// The pair that this thread has of the eight columns from `column` of the tile
/// on, in the upper or lower 8 rows. Beyond the last row or column it is the
/// last one.
Element GemmKernel::locateElement(const GemmTile &tile, int64_t block,
                                  int64_t column, int64_t half) {
  auto toI64 = [&](Value value) -> Value {
    return arith::ExtSIOp::create(b, loc, b.getI64Type(), value);
  };
  Value row = hopper.add(tile.row, kMmaRows * block + 8 * half);
  row = hopper.add(row, hopper.mul(warp, kStoreRows));
  row = hopper.add(row, hopper.shiftRight(lane, 2));
  Element element;
  element.width = 2;
  element.isValid = hopper.isLess(row, tile.end);
  element.row = toI64(hopper.minimum(row, hopper.add(tile.end, -1)));
  Value start =
      hopper.add(tile.column, hopper.shiftLeft(hopper.bitAnd(lane, 3), 1));
  if (!layout.hasColumnTail()) {
    // The columns of a row are at fixed distances.
    element.parts = {{element.row, toI64(start)},
                     {Value(), elements.constant(column)}};
    element.column = arith::AddIOp::create(b, loc, element.parts[0].column,
                                           element.parts[1].column);
    return element;
  }
  Value place = hopper.add(start, column);
  Value columns = hopper.constant(layout.columns);
  element.isValid = arith::AndIOp::create(b, loc, element.isValid,
                                          hopper.isLess(place, columns));
  element.column = toI64(hopper.minimum(place, hopper.add(columns, -2)));
  return element;
}

/// The same pair of the columns of part `part`.
Element GemmKernel::locatePart(const Element &element, int64_t part) {
  Element moved = element;
  // What is known is known of the other columns.
  moved.values.clear();
  moved.stored.clear();
  if (!part)
    return moved;
  Value offset = elements.constant(part * layout.columns);
  moved.column = arith::AddIOp::create(b, loc, moved.column, offset);
  if (!moved.parts.empty())
    moved.parts.push_back({Value(), offset});
  return moved;
}

/// `locateElement`, with what the product gives there.
GemmElement GemmKernel::openElement(const GemmTile &tile, int64_t block,
                                    int64_t column, int64_t half) {
  GemmElement opened;
  opened.element = locateElement(tile, block, column, half);
  for (int64_t part = 0; part < layout.parts; ++part) {
    int64_t inTile = part * layout.getPartColumns() + column;
    Value sums = vector::FromElementsOp::create(
        b, loc, VectorType::get({2}, b.getF32Type()),
        ArrayRef<Value>(tile.sums[block]).slice(inTile / 2 + 2 * half, 2));
    opened.parts.push_back(
        finishProduct(sums, locatePart(opened.element, part)));
  }
  for (const ProductPart &part : group.getProductParts())
    opened.element.values[part.value] =
        opened.parts[part.offset / layout.columns];
  return opened;
}

/// A pair of sums as the product gives it: scaled, with its bias, rounded
/// where somebody sees it rounded.
Value GemmKernel::finishProduct(Value sum, const Element &element) {
  if (alpha)
    sum = arith::MulFOp::create(b, loc, sum, elements.splat(alpha, 2));
  for (const Product::Operand *operand : {&product.a, &product.b}) {
    if (!operand->scale || operand->scaleKind != ScaleKind::PerRow)
      continue;
    // The rows of b are columns of the result.
    bool isRow = operand == &product.a;
    Value index = isRow ? element.row : element.column;
    Value scale =
        elements.loadRaw(elements.pointers.lookup(skipReshapes(operand->scale)),
                         index, b.getF32Type(), isRow ? 1 : 2, isRow ? 1 : 2);
    sum = arith::MulFOp::create(b, loc, sum, elements.repeat(scale, 2));
  }
  if (product.bias) {
    Access access = *group.getAccess(product.bias);
    sum = arith::AddFOp::create(b, loc, sum, elements.load(access, element));
  }
  return elements.roundResult(product.getResult(), sum);
}

void GemmKernel::loadAlpha() {
  for (const Product::Operand *operand : {&product.a, &product.b}) {
    if (!operand->scale || operand->scaleKind != ScaleKind::PerTensor)
      continue;
    Value scale =
        elements.loadRaw(elements.pointers.lookup(skipReshapes(operand->scale)),
                         elements.constant(0), b.getF32Type(), 1);
    alpha = alpha ? arith::MulFOp::create(b, loc, alpha, scale) : scale;
  }
}

//===----------------------------------------------------------------------===//
// Spans and chunks
//===----------------------------------------------------------------------===//

/// Finds out anew who this thread is, for `body`: else what depends on it would
/// be in registers while tiles are multiplied.
void GemmKernel::withOwnThread(function_ref<void()> body) {
  Value thread = hopper.readThread();
  Value number = hopper.add(hopper.shiftRight(thread, 5), -4);
  llvm::SaveAndRestore ownLane(lane, hopper.bitAnd(thread, 31));
  llvm::SaveAndRestore ownWarp(warp, hopper.bitAnd(number, 3));
  llvm::SaveAndRestore ownGroup(own, hopper.shiftRight(number, 2));
  buffers = hopper.add(hopper.add(memory, layout.stores),
                       hopper.mul(number, layout.storeBuffers * kStoreBytes));
  body();
}

/// `carried` are the sums of whole matrices.
void GemmKernel::emitEpilogue(GemmTile &tile, MutableArrayRef<Value> carried) {
  openStores();
  elements.readBlock = [&](ExpandBlocksOp op, const Element &element) {
    return elements.splat(computeBlock(op.getInput(), element), element.width);
  };
  openRowSums();
  for (int64_t first = 0; first < layout.getPartColumns();
       first += layout.spanColumns) {
    // Of each reduction over rows the pairs of columns of this span.
    SmallVector<SmallVector<Value>> columnSums;
    for (ReduceRowsOp op : group.getRowReductions())
      columnSums.emplace_back(
          group.isWhole(op) ? 0 : layout.spanColumns / 8,
          elements.identity(op.getKind(), elementOf(op.getInput()), 2));
    for (int64_t block = 0; block < layout.getOwnRows() / kMmaRows;
         block += layout.getSpanBlocks())
      emitSpan(tile, block, first, carried, columnSums);
    storeColumnSums(tile, first, columnSums);
  }
  withOwnThread([&] { storeRowSums(tile); });
}

/// The columns from `first` on that are computed together: a chunk, or the
/// chunks of a block. What needs a block's result is in a pass of its own.
void GemmKernel::emitSpan(const GemmTile &tile, int64_t firstBlock,
                          int64_t first, MutableArrayRef<Value> carried,
                          MutableArrayRef<SmallVector<Value>> columnSums) {
  visited.assign(layout.getSpanBlocks() * layout.spanColumns / 8 * 2,
                 GemmElement());
  blocks.clear();
  for (unsigned level = 0; level < group.getNumLevels(); ++level) {
    if (level == 1)
      exchangeBlocks();
    for (int64_t block = 0; block < layout.getSpanBlocks(); ++block)
      for (int64_t chunk = 0; chunk < layout.spanColumns;
           chunk += kStoreColumns)
        withOwnThread([&] {
          emitChunk(tile, firstBlock, block, first, chunk, level, carried,
                    columnSums);
        });
  }
  storeBlocks();
}

/// The columns from `chunk` of the span that begins at `first`, of its
/// `block`th 64 rows.
void GemmKernel::emitChunk(const GemmTile &tile, int64_t firstBlock,
                           int64_t block, int64_t first, int64_t chunk,
                           unsigned level, MutableArrayRef<Value> carried,
                           MutableArrayRef<SmallVector<Value>> columnSums) {
  SmallVector<DenseMap<Value, Value>> read;
  if (level == 0) {
    read = std::move(ahead);
    readAhead(tile);
  }
  Value row = hopper.add(tile.row, kMmaRows * (firstBlock + block));
  Value column = hopper.add(tile.column, first + chunk);
  SmallVector<OpenStore> stores;
  for (auto [number, store] : llvm::enumerate(group.getStores()))
    if (!group.isFinal(store.value) && group.getLevel(store.value) == level &&
        group.getPlacement(store.value) != Placement::Block)
      for (int64_t part = 0; part < layout.countParts(store); ++part)
        stores.push_back({number, part, row,
                          hopper.add(column, part * layout.columns), tile.end});
  openBuffers(stores);
  for (int64_t pair = 0; pair < kStorePairs; ++pair)
    for (int64_t half = 0; half < 2; ++half) {
      int64_t inSpan = chunk / 8 + pair;
      GemmElement &own =
          visited[2 * (block * layout.spanColumns / 8 + inSpan) + half];
      if (level == 0) {
        own = openElement(tile, firstBlock + block, first + chunk + 8 * pair,
                          half);
        own.element.stored = std::move(read[2 * pair + half]);
      }
      for (OpenStore &store : stores)
        give(store, own);
      reduceElement(own.element, level, carried, columnSums, inSpan);
      reduceAlongRow(own.element, level, 2 * (firstBlock + block) + half);
      reduceIntoBlocks(own.element, level);
    }
  pinRowSums();
  for (OpenStore &store : stores)
    close(store);
}

//===----------------------------------------------------------------------===//
// Reductions over rows
//===----------------------------------------------------------------------===//

/// What a reduction of the whole matrix begins with.
SmallVector<Value> GemmKernel::initWhole() {
  SmallVector<Value> carried;
  for (ReduceRowsOp op : group.getRowReductions())
    if (group.isWhole(op))
      carried.push_back(
          elements.identity(op.getKind(), elementOf(op.getInput()), 2));
  return carried;
}

void GemmKernel::reduceElement(Element &element, unsigned level,
                               MutableArrayRef<Value> carried,
                               MutableArrayRef<SmallVector<Value>> columnSums,
                               int64_t pair) {
  ArrayRef<ReduceRowsOp> reductions = group.getRowReductions();
  for (size_t number = 0; number < reductions.size(); ++number) {
    ReduceRowsOp op = reductions[number];
    Value &sum = group.isWhole(op) ? carried.front() : columnSums[number][pair];
    if (group.isWhole(op))
      carried = carried.drop_front();
    Value value = group.getReduced(op);
    if (group.getLevel(value) != level)
      continue;
    Type type = elementOf(value);
    // Beyond the last row there is a product of zeros beside the last row of
    // the other operands.
    value = elements.addend(op.getKind(), type,
                            elements.compute(value, element), element.isValid);
    sum = elements.combine(op.getKind(), sum, value);
  }
}

/// Leaves a partial result of each column: of the rows that this warp has of
/// the tile.
void GemmKernel::storeColumnSums(
    const GemmTile &tile, int64_t first,
    MutableArrayRef<SmallVector<Value>> columnSums) {
  ArrayRef<ReduceRowsOp> reductions = group.getRowReductions();
  for (size_t number = 0; number < reductions.size(); ++number) {
    ReduceRowsOp op = reductions[number];
    if (group.isWhole(op))
      continue;
    Value index = hopper.divide(tile.row, hopper.constant(layout.getOwnRows()));
    index = hopper.add(hopper.shiftLeft(index, 2), warp);
    for (int64_t pair = 0; pair < layout.spanColumns / 8; ++pair) {
      // Threads whose numbers have the same last two bits have one column.
      Value sum =
          elements.combineLanes(op.getKind(), columnSums[number][pair], 16, 4);
      Value column = hopper.add(tile.column, first + 8 * pair);
      column = hopper.add(column, hopper.shiftLeft(lane, 1));
      Value writes = arith::AndIOp::create(
          b, loc, hopper.isLess(lane, hopper.constant(4)),
          hopper.isLess(column, hopper.constant(layout.columns)));
      hopper.when(writes, [&] {
        Value place = arith::ExtUIOp::create(b, loc, b.getI64Type(), index);
        place = arith::MulIOp::create(b, loc, place,
                                      elements.constant(layout.columns));
        place = arith::AddIOp::create(
            b, loc, place,
            arith::ExtUIOp::create(b, loc, b.getI64Type(), column));
        elements.storeRaw(sum, frame.partials[number], place, 2);
      });
    }
  }
}

/// Leaves a partial result of each warp that multiplies.
void GemmKernel::storeWhole(ArrayRef<Value> carried) {
  ArrayRef<ReduceRowsOp> reductions = group.getRowReductions();
  for (size_t number = 0; number < reductions.size(); ++number) {
    ReduceRowsOp op = reductions[number];
    if (!group.isWhole(op))
      continue;
    Value sum = elements.combineAll(op.getKind(), carried.front());
    carried = carried.drop_front();
    sum = elements.combineLanes(op.getKind(), sum, 16, 1);
    Value index = hopper.mul(worker, 4 * layout.warpgroups);
    index = hopper.add(index, hopper.add(hopper.shiftLeft(own, 2), warp));
    hopper.when(hopper.isEqual(lane, 0), [&] {
      elements.storeRaw(sum, frame.partials[number],
                        arith::ExtUIOp::create(b, loc, b.getI64Type(), index));
    });
  }
}

//===----------------------------------------------------------------------===//
// Blocks along a row
//===----------------------------------------------------------------------===//

/// The number of `element` among `visited`.
int64_t GemmKernel::findVisited(const Element &element) {
  return llvm::find_if(
             visited,
             [&](const GemmElement &own) { return &own.element == &element; }) -
         visited.begin();
}

/// The block of `element`, one of `visited`, in the matrix of blocks. The first
/// of four threads has the block's first columns; of two tiles the first has.
GemmBlock &GemmKernel::getBlock(const Element &element, int64_t columns) {
  int64_t number = findVisited(element);
  int64_t perBlock = std::min(columns, layout.spanColumns) / 8;
  int64_t half = number % 2, first = number / 2 / perBlock * perBlock;
  std::unique_ptr<GemmBlock> &block = blocks[{2 * first + half, columns}];
  if (block)
    return *block;
  block = std::make_unique<GemmBlock>();
  const Element &start = visited[2 * first + half].element;
  block->first = &start;
  block->element.row = start.row;
  block->element.column =
      arith::DivUIOp::create(b, loc, start.column, elements.constant(columns));
  Value isFirst = hopper.isEqual(hopper.bitAnd(lane, 3), 0);
  if (columns > layout.spanColumns)
    isFirst = arith::AndIOp::create(b, loc, isFirst, hopper.isEqual(rank, 0));
  block->element.isValid =
      arith::AndIOp::create(b, loc, start.isValid, isFirst);
  return *block;
}

/// `value` of the block of `element`; all threads of the block get it.
Value GemmKernel::computeBlock(Value value, const Element &element) {
  GemmBlock &block = getBlock(element, group.getBlock(value).columns);
  if (Value known = block.element.values.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (auto reduction = dyn_cast_if_present<ReduceBlocksOp>(op)) {
    Value result = reduceBlock(reduction, block);
    block.element.values[value] = result;
    return result;
  }
  if (isa_and_present<PointwiseOp>(op))
    for (Value operand : op->getOperands())
      if (group.getPlacement(operand) == Placement::Block)
        computeBlock(operand, element);
  return elements.compute(value, block.element);
}

/// Takes `element`, whose values of `level` are known, into its blocks.
void GemmKernel::reduceIntoBlocks(Element &element, unsigned level) {
  for (Operation *op : group.getRowOps()) {
    auto reduction = dyn_cast<ReduceBlocksOp>(op);
    if (!reduction || group.getLevel(reduction.getInput()) != level)
      continue;
    Value value =
        elements.addend(ReductionKind::Max, elementOf(reduction.getInput()),
                        elements.compute(reduction.getInput(), element),
                        layout.hasColumnTail() ? element.isValid : Value());
    Value &total =
        getBlock(element, reduction.getBlockColumns()).largest[reduction];
    total = total ? elements.combine(ReductionKind::Max, total, value) : value;
  }
}

/// The largest element of a block, of which four threads have pairs.
Value GemmKernel::reduceBlock(ReduceBlocksOp op, const GemmBlock &block) {
  Value own = elements.combineAll(ReductionKind::Max, block.largest.lookup(op));
  return elements.combineLanes(ReductionKind::Max, own, 2, 1);
}

/// Where blocks have columns of two tiles: sends the neighbour what this
/// warpgroup has of them, and takes in what it sends. Of two buffers each has
/// the messages of every second tile: those of the next but one come when the
/// neighbour has got ours of the next, which we send when these are read.
void GemmKernel::exchangeBlocks() {
  if (layout.blockReductions.empty())
    return;
  int64_t bytes = layout.getMessageBytes(), rows = layout.getOwnRows();
  Value number = hopper.add(hopper.shiftLeft(own, 1), hopper.bitAnd(turn, 1));
  Value barrier = messageBarrier(number);
  Value messages = hopper.add(hopper.add(memory, layout.messages),
                              hopper.mul(number, bytes));
  Value isSender = hopper.isEqual(hopper.bitAnd(lane, 3), 0);
  hopper.when(arith::AndIOp::create(b, loc, hopper.isEqual(warp, 0),
                                    hopper.isEqual(lane, 0)),
              [&] { hopper.expect(barrier, bytes); });

  // The rows that this thread has of each 64, and where they are told.
  struct Message {
    GemmBlock *block;
    Value reduction, place;
  };
  SmallVector<Message> sent;
  Value row =
      hopper.add(hopper.mul(warp, kStoreRows), hopper.shiftRight(lane, 2));
  for (auto [index, op] : llvm::enumerate(layout.blockReductions))
    for (int64_t i = 0; i < layout.getSpanBlocks(); ++i)
      for (int64_t half = 0; half < 2; ++half) {
        const Element &first =
            visited[2 * i * layout.spanColumns / 8 + half].element;
        GemmBlock &block = getBlock(first, op.getBlockColumns());
        int64_t start = index * rows + i * kMmaRows + 8 * half;
        Value place =
            hopper.add(messages, hopper.shiftLeft(hopper.add(row, start), 2));
        sent.push_back({&block, op.getResult(), place});
        block.element.values[op.getResult()] = reduceBlock(op, block);
      }
  Value other = hopper.bitXor(rank, 1);
  hopper.when(isSender, [&] {
    Value remote = hopper.mapShared(barrier, other);
    for (const Message &message : sent)
      hopper.storeRemote(
          hopper.mapShared(message.place, other),
          LLVM::BitcastOp::create(
              b, loc, b.getI32Type(),
              message.block->element.values.lookup(message.reduction)),
          remote);
  });
  hopper.wait(barrier, hopper.bitAnd(hopper.shiftRight(turn, 1), 1));
  for (const Message &message : sent) {
    Value &value = message.block->element.values[message.reduction];
    value = elements.combine(ReductionKind::Max, value,
                             hopper.loadShared(message.place, b.getF32Type()));
  }
}

/// Writes what has one element a block of `visited`.
void GemmKernel::storeBlocks() {
  for (const Store &store : group.getStores()) {
    BlockShape shape = group.getBlock(store.value);
    if (group.isFinal(store.value) || !shape.isVisited())
      continue;
    for (const GemmElement &own : visited) {
      GemmBlock &block = getBlock(own.element, shape.columns);
      if (block.first == &own.element)
        elements.store(computeBlock(store.value, own.element), store.access,
                       block.element);
    }
  }
}
