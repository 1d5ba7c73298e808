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

using namespace mlir;
using namespace mlir::fuseops;

/// Pairs of columns that a thread has of one row of a chunk.
static constexpr int64_t kPairs = kStoreColumns / 8;

/// The element of part `part` (8 columns) of a chunk, in the upper or lower 8
/// rows. Beyond the last row or column it is the last one.
Element GemmKernel::locateElement(const GemmTile &tile, int64_t block,
                                  int64_t chunk, int64_t part, int64_t half) {
  auto toI64 = [&](Value value) -> Value {
    return arith::ExtSIOp::create(b, loc, b.getI64Type(), value);
  };
  Value row = hopper.add(tile.row, kMmaRows * block + 8 * half);
  row = hopper.add(row, hopper.mul(warp, kStoreRows));
  row = hopper.add(row, hopper.shiftRight(lane, 2));
  Value column = hopper.add(tile.column, kStoreColumns * chunk + 8 * part);
  column = hopper.add(column, hopper.shiftLeft(hopper.bitAnd(lane, 3), 1));
  Element element;
  element.isValid = hopper.isLess(row, numRows);
  row = hopper.minimum(row, hopper.add(numRows, -1));
  if (product.n % layout.tileColumns != 0) {
    Value columns = hopper.constant(product.n);
    element.isValid = arith::AndIOp::create(b, loc, element.isValid,
                                            hopper.isLess(column, columns));
    column = hopper.minimum(column, hopper.add(columns, -2));
  }
  element.row = toI64(row);
  element.column = toI64(column);
  element.width = 2;
  return element;
}

/// A pair of sums as the product gives it: scaled, with its bias, rounded
/// where somebody sees it rounded.
Value GemmKernel::finishProduct(Value sum, Element &element) {
  if (alpha)
    sum = arith::MulFOp::create(b, loc, sum, elements.splat(alpha, 2));
  for (const Product::Operand *operand : {&product.a, &product.b}) {
    if (!operand->scale || operand->scaleKind != ScaleKind::PerRow)
      continue;
    // The rows of b are columns of the result.
    bool isRow = operand == &product.a;
    Value index = isRow ? element.row : element.column;
    Value scale =
        elements.loadRaw(elements.pointers.lookup(operand->scale), index,
                         b.getF32Type(), isRow ? 1 : 2, isRow ? 1 : 2);
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
    Value scale = elements.loadRaw(elements.pointers.lookup(operand->scale),
                                   elements.constant(0), b.getF32Type(), 1);
    alpha = alpha ? arith::MulFOp::create(b, loc, alpha, scale) : scale;
  }
}

/// `carried` are the sums of whole matrices.
void GemmKernel::emitEpilogue(GemmTile &tile, MutableArrayRef<Value> carried) {
  // The tile before may have left its last buffer to be read.
  nextBuffer = 0;
  isFirstStore = true;
  for (int64_t chunk = 0; chunk < layout.tileColumns / kStoreColumns; ++chunk) {
    // Of each reduction over rows the pairs of columns of this chunk.
    SmallVector<SmallVector<Value>> columnSums;
    for (ReduceRowsOp op : group.getRowReductions())
      columnSums.emplace_back(
          group.isWhole(op) ? 0 : kPairs,
          elements.identity(op.getKind(), elementOf(op.getInput()), 2));
    for (int64_t block = 0; block < layout.getOwnRows() / kMmaRows; ++block)
      emitChunk(tile, block, chunk, carried, columnSums);
    storeColumnSums(tile, chunk, columnSums);
  }
}

void GemmKernel::emitChunk(const GemmTile &tile, int64_t block, int64_t chunk,
                           MutableArrayRef<Value> carried,
                           MutableArrayRef<SmallVector<Value>> columnSums) {
  ArrayRef<Store> stores = group.getStores();
  // Of each store the pairs, first those of the upper rows.
  SmallVector<SmallVector<Value>> values(stores.size());
  for (int64_t part = 0; part < kPairs; ++part)
    for (int64_t half = 0; half < 2; ++half) {
      Element element = locateElement(tile, block, chunk, part, half);
      size_t first = chunk * kStoreColumns / 2 + 4 * part + 2 * half;
      Value sums = vector::FromElementsOp::create(
          b, loc, VectorType::get({2}, b.getF32Type()),
          ArrayRef<Value>(tile.sums[block]).slice(first, 2));
      element.values[product.getResult()] = finishProduct(sums, element);
      for (auto [number, store] : llvm::enumerate(stores)) {
        if (group.isFinal(store.value))
          continue;
        Value value = elements.compute(store.value, element);
        if (layout.mapped[number])
          values[number].push_back(value);
        else
          elements.store(value, store.access, element);
      }
      reduceElement(element, carried, columnSums, part);
    }
  Value row = hopper.add(tile.row, kMmaRows * block);
  row = hopper.add(row, hopper.mul(warp, kStoreRows));
  Value column = hopper.add(tile.column, kStoreColumns * chunk);
  size_t map = 2;
  for (auto [number, store] : llvm::enumerate(layout.mapped))
    if (store)
      storeChunk(*store, frame.maps[map++], values[number], row, column);
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

void GemmKernel::reduceElement(Element &element, MutableArrayRef<Value> carried,
                               MutableArrayRef<SmallVector<Value>> columnSums,
                               int64_t part) {
  ArrayRef<ReduceRowsOp> reductions = group.getRowReductions();
  for (size_t number = 0; number < reductions.size(); ++number) {
    ReduceRowsOp op = reductions[number];
    Value &sum = group.isWhole(op) ? carried.front() : columnSums[number][part];
    if (group.isWhole(op))
      carried = carried.drop_front();
    Value value = group.getReduced(op);
    Type type = elementOf(value);
    // Beyond the last row there is the last one again, which only sums mind.
    Value isValid =
        op.getKind() == ReductionKind::Sum ? element.isValid : Value();
    value = elements.addend(op.getKind(), type,
                            elements.compute(value, element), isValid);
    sum = elements.combine(op.getKind(), sum, value);
  }
}

/// Leaves a partial result of each column: of the rows that this warp has of
/// the tile.
void GemmKernel::storeColumnSums(
    const GemmTile &tile, int64_t chunk,
    MutableArrayRef<SmallVector<Value>> columnSums) {
  ArrayRef<ReduceRowsOp> reductions = group.getRowReductions();
  for (size_t number = 0; number < reductions.size(); ++number) {
    ReduceRowsOp op = reductions[number];
    if (group.isWhole(op))
      continue;
    Value index = hopper.divide(tile.row, hopper.constant(layout.getOwnRows()));
    index = hopper.add(hopper.shiftLeft(index, 2), warp);
    for (int64_t part = 0; part < kPairs; ++part) {
      // Threads whose numbers have the same last two bits have one column.
      Value sum =
          elements.combineLanes(op.getKind(), columnSums[number][part], 16, 4);
      Value column = hopper.add(tile.column, kStoreColumns * chunk + 8 * part);
      column = hopper.add(column, hopper.shiftLeft(lane, 1));
      Value writes = arith::AndIOp::create(
          b, loc, hopper.isLess(lane, hopper.constant(4)),
          hopper.isLess(column, hopper.constant(product.n)));
      hopper.when(writes, [&] {
        Value place = arith::ExtUIOp::create(b, loc, b.getI64Type(), index);
        place =
            arith::MulIOp::create(b, loc, place, elements.constant(product.n));
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
// Stores
//===----------------------------------------------------------------------===//

/// A buffer of this warp that the copy engine has read.
Value GemmKernel::openStore() {
  // With one buffer less in flight than there are, the next one is free; the
  // tile before may have ended with any.
  bool wraps = isFirstStore && layout.countStores() % layout.storeBuffers != 0;
  isFirstStore = false;
  Value buffer = hopper.add(buffers, nextBuffer * kStoreBytes);
  nextBuffer = (nextBuffer + 1) % layout.storeBuffers;
  hopper.when(hopper.isEqual(lane, 0), [&] {
    hopper.waitStoresRead(wraps ? 0 : layout.storeBuffers - 1);
  });
  hopper.syncWarp();
  return buffer;
}

void GemmKernel::closeStore(Value map, Value buffer, Value column, Value row) {
  hopper.fenceShared();
  hopper.syncWarp();
  hopper.when(hopper.isEqual(lane, 0), [&] {
    hopper.store(map, column, row, buffer);
    hopper.commitStores();
  });
}

/// The bits of a pair as a number of 32 bits, above them zeros.
Value GemmKernel::toWord(Value value, Type type) {
  Value stored = elements.toStored(value, type);
  int64_t bits = 16 * getElementBytes(type);
  Value word = LLVM::BitcastOp::create(b, loc, b.getIntegerType(bits), stored);
  return bits == 32 ? word
                    : arith::ExtUIOp::create(b, loc, b.getI32Type(), word);
}

/// 64 columns of 16 bits: four times two matrices of the upper rows and two of
/// the lower ones.
void GemmKernel::storeWords(Value buffer, ArrayRef<Value> words) {
  Value row = hopper.bitAnd(lane, 15);
  Value start = hopper.add(buffer, hopper.shiftLeft(row, 7));
  for (int64_t quad = 0; quad < 4; ++quad) {
    Value unit = hopper.add(hopper.shiftRight(lane, 4), 2 * quad);
    unit = hopper.bitXor(unit, hopper.bitAnd(lane, 7));
    hopper.storeMatrices(hopper.add(start, hopper.shiftLeft(unit, 4)),
                         words.slice(4 * quad, 4));
  }
}

/// 64 columns of 8 bits. Four threads have the 16 columns of two parts in
/// pairs; each gets four neighbours, so that they are like 8 of 16 bits.
void GemmKernel::storeBytes(Value buffer, ArrayRef<Value> words) {
  Value from = hopper.add(hopper.bitAnd(lane, -4),
                          hopper.shiftLeft(hopper.bitAnd(lane, 1), 1));
  Value isSecond = hopper.isNotEqual(hopper.bitAnd(lane, 2), 0);
  Value selector =
      hopper.select(isSecond, hopper.constant(0x7632), hopper.constant(0x5410));
  SmallVector<Value> quads;
  for (int64_t part = 0; part < kPairs; part += 2)
    for (int64_t half = 0; half < 2; ++half) {
      Value pairs =
          hopper.bitOr(words[2 * part + half],
                       hopper.shiftLeft(words[2 * part + 2 + half], 16));
      quads.push_back(hopper.permute(hopper.shuffle(pairs, from),
                                     hopper.shuffle(pairs, hopper.add(from, 1)),
                                     selector));
    }
  Value row = hopper.bitAnd(lane, 15);
  Value start = hopper.add(buffer, hopper.shiftLeft(row, 6));
  for (int64_t quad = 0; quad < 2; ++quad) {
    Value unit = hopper.add(hopper.shiftRight(lane, 4), 2 * quad);
    unit = hopper.bitXor(unit, hopper.bitAnd(hopper.shiftRight(row, 1), 3));
    hopper.storeMatrices(hopper.add(start, hopper.shiftLeft(unit, 4)),
                         ArrayRef<Value>(quads).slice(4 * quad, 4));
  }
}

/// 32 columns of 32 bits.
void GemmKernel::storeFloats(Value buffer, ArrayRef<Value> pairs) {
  Value column = hopper.bitAnd(lane, 3);
  for (int64_t part = 0; part < kPairs / 2; ++part)
    for (int64_t half = 0; half < 2; ++half) {
      Value row = hopper.add(hopper.shiftRight(lane, 2), 8 * half);
      Value unit = hopper.add(hopper.shiftRight(column, 1), 2 * part);
      unit = hopper.bitXor(unit, hopper.bitAnd(row, 7));
      Value place = hopper.add(buffer, hopper.shiftLeft(row, 7));
      place = hopper.add(place, hopper.shiftLeft(unit, 4));
      place = hopper.add(place, hopper.shiftLeft(hopper.bitAnd(column, 1), 3));
      Value pair = pairs[2 * part + half];
      auto element = [&](int64_t i) -> Value {
        return vector::ExtractOp::create(b, loc, pair, ArrayRef<int64_t>{i});
      };
      hopper.storePair(place, element(0), element(1));
    }
}

void GemmKernel::storeChunk(const MappedStore &store, Value map,
                            ArrayRef<Value> values, Value row, Value column) {
  Type type = store.store->access.element;
  if (store.elementBytes == 4) {
    for (int64_t part = 0; part < 2; ++part) {
      Value buffer = openStore();
      storeFloats(buffer, values.slice(kPairs * part, kPairs));
      closeStore(map, buffer, hopper.add(column, 32 * part), row);
    }
    return;
  }
  SmallVector<Value> words;
  for (Value value : values)
    words.push_back(toWord(value, type));
  Value buffer = openStore();
  if (store.elementBytes == 2)
    storeWords(buffer, words);
  else
    storeBytes(buffer, words);
  closeStore(map, buffer, column, row);
}
