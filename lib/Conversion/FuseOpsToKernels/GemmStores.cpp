//===- GemmStores.cpp - How a product's kernel stores its results ---------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp leaves 64 columns of its 16 rows in a buffer of its own, some at a
// time, and one thread has the copy engine store it. Nobody waits but for a
// buffer to have been read. Buffers are used in turn; all stores of 64 columns
// are under way at once, so that what is computed stays in registers for a
// short time.
//
//===----------------------------------------------------------------------===//

#include "GemmKernel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::fuseops;

/// The tile before may have left any buffer to be read.
void GemmKernel::openStores() {
  lastGroups.assign(layout.storeBuffers, -1);
  isOpen.assign(layout.storeBuffers, false);
  nextBuffer = numGroups = 0;
  numTransposed.assign(layout.transposed.size(), 0);
}

/// Gives each store a buffer that the copy engine has read.
void GemmKernel::openBuffers(MutableArrayRef<OpenStore> stores) {
  int64_t pending = numGroups;
  bool isAny = false;
  for (OpenStore &store : stores) {
    if (layout.transposed[store.number]) {
      openTransposed(store);
      continue;
    }
    if (!layout.mapped[store.number])
      continue;
    isAny = true;
    do {
      store.slot = nextBuffer++ % layout.storeBuffers;
    } while (isOpen[store.slot]);
    isOpen[store.slot] = true;
    // In flight may be those after the one that had the buffer before.
    if (int64_t last = lastGroups[store.slot]; last >= 0)
      pending = std::min(pending, numGroups - 1 - last);
    store.buffer = hopper.add(buffers, store.slot * kStoreBytes);
  }
  if (!isAny)
    return;
  hopper.when(hopper.isEqual(lane, 0), [&] { hopper.waitStoresRead(pending); });
  hopper.syncWarp();
}

/// Has the copy engine store what is in the buffer. Rows of two groups may be
/// in one box: then the warp stores those of its own.
void GemmKernel::closeBuffer(OpenStore &store) {
  hopper.fenceShared();
  hopper.syncWarp();
  Value row = hopper.add(store.row, hopper.mul(warp, kStoreRows));
  Value isWhole;
  if (product.isGrouped())
    isWhole = hopper.isLess(hopper.add(row, kStoreRows - 1), store.end);
  hopper.when(hopper.isEqual(lane, 0), [&] {
    if (isWhole)
      hopper.when(isWhole, [&] { storeBox(store, row); });
    else
      storeBox(store, row);
    hopper.commitStores();
  });
  if (isWhole)
    hopper.when(hopper.isLess(store.end, hopper.add(row, kStoreRows)),
                [&] { storeRows(store, row); });
  lastGroups[store.slot] = numGroups++;
  isOpen[store.slot] = false;
  ++store.numClosed;
}

void GemmKernel::storeBox(const OpenStore &store, Value row) {
  const MappedStore &mapped = *layout.mapped[store.number];
  int64_t column = mapped.offset + store.numClosed * mapped.getBoxColumns();
  hopper.store(frame.maps[mapped.map + store.part],
               hopper.add(store.column, column), row, store.buffer);
}

/// Stores the rows of a box that the matrix has, and the columns that it has.
void GemmKernel::storeRows(const OpenStore &store, Value row) {
  const MappedStore &mapped = *layout.mapped[store.number];
  const Access &access = mapped.store->access;
  int64_t bytes = mapped.elementBytes;
  int64_t rowBytes = mapped.getBoxColumns() * bytes;
  // As many bytes at once as all rows and parts begin at multiples of.
  int64_t unit = std::min<int64_t>(
      16,
      powerOfTwoIn(bytes * (mapped.offset | mapped.pitch | layout.columns)));
  int64_t wordBytes = std::min<int64_t>(4, unit), perRow = rowBytes / unit;
  auto toI64 = [&](Value value) -> Value {
    return arith::ExtUIOp::create(b, loc, b.getI64Type(), value);
  };
  hopper.loop(
      lane, hopper.constant(kStoreRows * perRow), hopper.constant(32), {},
      [&](Value number, ValueRange) -> SmallVector<Value> {
        Value line = hopper.divide(number, hopper.constant(perRow));
        Value place =
            hopper.mul(hopper.remainder(number, hopper.constant(perRow)), unit);
        Value column =
            hopper.add(store.column, store.numClosed * mapped.getBoxColumns());
        column =
            hopper.add(column, hopper.divide(place, hopper.constant(bytes)));
        Value target = hopper.add(row, line);
        Value exists = arith::AndIOp::create(
            b, loc, hopper.isLess(target, store.end),
            hopper.isLess(column,
                          hopper.constant((store.part + 1) * layout.columns)));
        hopper.when(exists, [&] {
          // What the copy engine would mix is mixed: a part of 16 bytes and the
          // number of a row.
          Value mixed = rowBytes == kStageRowBytes
                            ? hopper.bitAnd(line, 7)
                            : hopper.bitAnd(hopper.shiftRight(line, 1), 3);
          Value source = hopper.add(store.buffer, hopper.mul(line, rowBytes));
          source = hopper.add(source,
                              hopper.bitXor(place, hopper.shiftLeft(mixed, 4)));
          Value words = hopper.loadShared(
              source, elements.widened(b.getIntegerType(8 * wordBytes),
                                       unit / wordBytes));
          Value index = arith::MulIOp::create(b, loc, toI64(target),
                                              elements.constant(mapped.pitch));
          index = arith::AddIOp::create(
              b, loc, index, toI64(hopper.add(column, mapped.offset)));
          index =
              arith::MulIOp::create(b, loc, index, elements.constant(bytes));
          index = arith::DivUIOp::create(b, loc, index,
                                         elements.constant(wordBytes));
          elements.storeRaw(words, elements.pointers.lookup(access.tensor),
                            index, unit / wordBytes);
        });
        return {};
      });
}

/// Takes the next pair of a chunk; those of the upper and the lower row come in
/// turns.
void GemmKernel::give(OpenStore &store, GemmElement &own) {
  const Store &target = group.getStores()[store.number];
  Value value = target.value == product.getResult()
                    ? own.parts[store.part]
                    : elements.compute(target.value, own.element);
  const std::optional<MappedStore> &mapped = layout.mapped[store.number];
  bool isTransposed = layout.transposed[store.number];
  if (!mapped && !isTransposed) {
    elements.store(value, target.access, locatePart(own.element, store.part));
    return;
  }
  Type type = target.access.element;
  int64_t bytes = getElementBytes(type);
  if (bytes == 4) {
    // A box has half of the columns: of each eight the pairs of two rows.
    if (store.numGiven == mapped->getBoxColumns() / 8 * 2) {
      closeBuffer(store);
      openBuffers(store);
      store.numGiven = 0;
    }
    storeFloats(store.buffer, store.numGiven++, value);
    return;
  }
  store.words.push_back(toWord(value, type));
  // As many as one instruction stores.
  if (store.words.size() != static_cast<size_t>(bytes == 1 ? 8 : 4))
    return;
  int64_t quad = store.numGiven++;
  if (isTransposed)
    leaveTransposed(store.buffer, quad, store.words);
  else if (bytes == 2)
    storeWords(store.buffer, quad, store.words);
  else
    storeBytes(store.buffer, quad, store.words);
  store.words.clear();
}

void GemmKernel::close(OpenStore &store) {
  if (layout.transposed[store.number])
    closeTransposed(store);
  else if (layout.mapped[store.number])
    closeBuffer(store);
}

/// The bits of a pair as a number of 32 bits, above them zeros.
Value GemmKernel::toWord(Value value, Type type) {
  Value stored = elements.toStored(value, type);
  int64_t bits = 16 * getElementBytes(type);
  Value word = LLVM::BitcastOp::create(b, loc, b.getIntegerType(bits), stored);
  return bits == 32 ? word
                    : arith::ExtUIOp::create(b, loc, b.getI32Type(), word);
}

/// 16 columns of 16 bits: two matrices of the upper rows and two of the lower
/// ones.
void GemmKernel::storeWords(Value buffer, int64_t quad, ArrayRef<Value> words) {
  Value row = hopper.bitAnd(lane, 15);
  Value start = hopper.add(buffer, hopper.shiftLeft(row, 7));
  Value unit = hopper.add(hopper.shiftRight(lane, 4), 2 * quad);
  unit = hopper.bitXor(unit, hopper.bitAnd(lane, 7));
  hopper.storeMatrices(hopper.add(start, hopper.shiftLeft(unit, 4)), words);
}

/// 32 columns of 8 bits. Four threads have the 16 columns of two matrices in
/// pairs; each gets four neighbours, so that they are like 8 of 16 bits.
void GemmKernel::storeBytes(Value buffer, int64_t quad, ArrayRef<Value> words) {
  Value from = hopper.add(hopper.bitAnd(lane, -4),
                          hopper.shiftLeft(hopper.bitAnd(lane, 1), 1));
  Value isSecond = hopper.isNotEqual(hopper.bitAnd(lane, 2), 0);
  Value selector =
      hopper.select(isSecond, hopper.constant(0x7632), hopper.constant(0x5410));
  SmallVector<Value> quads;
  for (int64_t pair = 0; pair < 4; pair += 2)
    for (int64_t half = 0; half < 2; ++half) {
      Value pairs =
          hopper.bitOr(words[2 * pair + half],
                       hopper.shiftLeft(words[2 * pair + 2 + half], 16));
      quads.push_back(hopper.permute(hopper.shuffle(pairs, from),
                                     hopper.shuffle(pairs, hopper.add(from, 1)),
                                     selector));
    }
  Value row = hopper.bitAnd(lane, 15);
  Value start = hopper.add(buffer, hopper.shiftLeft(row, 6));
  Value unit = hopper.add(hopper.shiftRight(lane, 4), 2 * quad);
  unit = hopper.bitXor(unit, hopper.bitAnd(hopper.shiftRight(row, 1), 3));
  hopper.storeMatrices(hopper.add(start, hopper.shiftLeft(unit, 4)), quads);
}

/// The pair of 32 bits of number `number`, those of the upper and the lower row
/// in turns.
void GemmKernel::storeFloats(Value buffer, int64_t number, Value pair) {
  Value column = hopper.bitAnd(lane, 3);
  Value row = hopper.add(hopper.shiftRight(lane, 2), 8 * (number % 2));
  Value unit = hopper.add(hopper.shiftRight(column, 1), number / 2 * 2);
  unit = hopper.bitXor(unit, hopper.bitAnd(row, 7));
  Value place = hopper.add(buffer, hopper.shiftLeft(row, 7));
  place = hopper.add(place, hopper.shiftLeft(unit, 4));
  place = hopper.add(place, hopper.shiftLeft(hopper.bitAnd(column, 1), 3));
  auto element = [&](int64_t i) -> Value {
    return vector::ExtractOp::create(b, loc, pair, ArrayRef<int64_t>{i});
  };
  hopper.storePair(place, element(0), element(1));
}

//===----------------------------------------------------------------------===//
// Transposed stores
//===----------------------------------------------------------------------===//

/// Leaves what this warp has of 32 columns: of each its 16 rows side by side,
/// those from 8 on between the others.
void GemmKernel::leaveTransposed(Value buffer, int64_t quad,
                                 ArrayRef<Value> words) {
  SmallVector<Value> joined;
  for (int64_t pair = 0; pair < 4; ++pair)
    joined.push_back(hopper.permute(words[2 * pair], words[2 * pair + 1],
                                    hopper.constant(0x5140)));
  // Thread 8 i + j says where column j of matrix i is.
  hopper.storeMatrices(
      locateTransposed(buffer, hopper.add(lane, 32 * quad), warp), joined,
      /*transposes=*/true);
}

/// Where the 16 rows of warp `part` are of a column. Eight columns that are
/// written or read together are in different banks.
Value GemmKernel::locateTransposed(Value buffer, Value column, Value part) {
  Value unit =
      hopper.bitXor(part, hopper.bitAnd(hopper.shiftRight(column, 1), 3));
  return hopper.add(hopper.add(buffer, hopper.shiftLeft(column, 6)),
                    hopper.shiftLeft(unit, 4));
}

/// 64 columns of 8 bits of 64 rows, each to a row of the result: all warps of
/// the warpgroup leave theirs in one buffer, and every thread stores 16 rows of
/// two columns.
void GemmKernel::openTransposed(OpenStore &store) {
  int64_t count = llvm::count(layout.transposed, true);
  int64_t place = llvm::count(
      ArrayRef<bool>(layout.transposed).take_front(store.number), true);
  // With two buffers in turn all threads have read the one before the last when
  // the last is complete. The tile before may have ended with either.
  int64_t turn = numTransposed[store.number]++;
  if (turn == 0)
    hopper.syncNamed(hopper.add(own, 3), 128);
  place = 2 * place + turn % 2;
  store.buffer = hopper.add(memory, layout.transposes);
  store.buffer =
      hopper.add(store.buffer, hopper.mul(own, 2 * count * kTransposedBytes));
  store.buffer = hopper.add(store.buffer, place * kTransposedBytes);
}

void GemmKernel::closeTransposed(OpenStore &store) {
  hopper.syncNamed(hopper.add(own, 3), 128);
  Value number = hopper.add(hopper.shiftLeft(warp, 5), lane);
  for (int64_t i = 0; i < 2; ++i)
    storeColumn(store, hopper.add(hopper.shiftRight(number, 2), 32 * i),
                hopper.bitAnd(number, 3));
}

/// Stores the 16 rows of warp `part` of column `own` of a chunk.
void GemmKernel::storeColumn(const OpenStore &store, Value own, Value part) {
  const Access &access = group.getStores()[store.number].access;
  auto toI64 = [&](Value value) -> Value {
    return arith::ExtUIOp::create(b, loc, b.getI64Type(), value);
  };
  Value source = locateTransposed(store.buffer, own, part);
  Value row = hopper.add(store.row, hopper.shiftLeft(part, 4));
  Value column = hopper.add(store.column, own);
  Value pitch = elements.constant(access.columnStride);
  Value place = arith::AddIOp::create(
      b, loc, arith::MulIOp::create(b, loc, toI64(column), pitch), toI64(row));
  place =
      arith::AddIOp::create(b, loc, place, elements.constant(access.offset));
  Value pointer = elements.pointers.lookup(access.tensor);
  Value exists = arith::AndIOp::create(
      b, loc, hopper.isLess(row, store.end),
      hopper.isLess(column, hopper.constant(layout.columns)));
  // Most are whole, and begin at a multiple of 16 bytes: those of all columns
  // do where the pitch is one.
  Value last = arith::TruncIOp::create(
      b, loc, b.getI32Type(), arith::OrIOp::create(b, loc, place, pitch));
  Value isWhole = arith::AndIOp::create(
      b, loc, hopper.isLess(hopper.add(row, 15), store.end),
      hopper.isEqual(hopper.bitAnd(last, 15), 0));
  auto isNot = [&](Value condition) -> Value {
    return arith::XOrIOp::create(
        b, loc, condition,
        arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
  };
  Type words = VectorType::get({4}, b.getI32Type());
  hopper.when(arith::AndIOp::create(b, loc, exists, isWhole), [&] {
    Value read = hopper.loadShared(source, words);
    SmallVector<Value> ordered;
    for (int64_t selector : {0x6420, 0x7531})
      for (int64_t half = 0; half < 2; ++half)
        ordered.push_back(hopper.permute(
            vector::ExtractOp::create(b, loc, read,
                                      ArrayRef<int64_t>{2 * half}),
            vector::ExtractOp::create(b, loc, read,
                                      ArrayRef<int64_t>{2 * half + 1}),
            hopper.constant(selector)));
    Value bytes = vector::BitCastOp::create(
        b, loc, VectorType::get({16}, b.getI8Type()),
        vector::FromElementsOp::create(b, loc, cast<VectorType>(words),
                                       ordered));
    elements.storeRaw(bytes, pointer, place, 16);
  });
  hopper.when(arith::AndIOp::create(b, loc, exists, isNot(isWhole)), [&] {
    hopper.loop(
        hopper.constant(0), hopper.constant(16), hopper.constant(1), {},
        [&](Value i, ValueRange) -> SmallVector<Value> {
          hopper.when(hopper.isLess(hopper.add(row, i), store.end), [&] {
            Value byte = hopper.add(hopper.shiftLeft(hopper.bitAnd(i, 7), 1),
                                    hopper.shiftRight(i, 3));
            elements.storeRaw(
                hopper.loadShared(hopper.add(source, byte), b.getI8Type()),
                pointer, arith::AddIOp::create(b, loc, place, toI64(i)));
          });
          return {};
        });
  });
}
