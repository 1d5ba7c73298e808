//===- StagedTiles.cpp - Transposed results of tile kernels for CUDA -----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTiles.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::fuseops;

/// Bytes that a thread writes to memory at once.
constexpr int64_t kUnit = 16;

static int64_t bytesOf(const Store &store) {
  return getElementBytes(store.access.element);
}

bool CudaTiles::isStaged(const Store &store) {
  return llvm::any_of(layout.staged, [&](const Store &staged) {
    return staged.output == store.output && staged.value == store.value;
  });
}

/// Memory for partial results of blocks and, before or after these, for staged
/// results.
void CudaTiles::makeScratch() {
  stagedAtOnce = layout.countStagedAtOnce(ring.getBytes());
  int64_t bytes = layout.getScratchBytes(stagedAtOnce);
  if (!bytes)
    return;
  Value scratch = makeArray("_scratch", b.getI8Type(), bytes);
  for (auto [op, offset] : llvm::zip(layout.reductions, layout.partialOffsets))
    partialBlocks[op.getResult()] = byteAt(scratch, elements.constant(offset));
  staging = byteAt(scratch, elements.constant(layout.getStagedOffset()));
}

void CudaTiles::emitStaged(unsigned level) {
  SmallVector<Store> stores = llvm::filter_to_vector(
      storesAt(level, Placement::Full),
      [&](const Store &store) { return isStaged(store); });
  for (size_t first = 0; first < stores.size(); first += stagedAtOnce) {
    auto batch = ArrayRef(stores).drop_front(first).take_front(stagedAtOnce);
    if (first > 0)
      barrier();
    for (auto [number, store] : llvm::enumerate(batch))
      stage(store,
            byteAt(staging, elements.constant(number * layout.stagedBytes)));
    barrier();
    if (level + 1 == group.getNumLevels())
      refillSlot();
    if (schedule.residents)
      forgetThread();
    for (auto [number, store] : llvm::enumerate(batch))
      copyOut(store,
              byteAt(staging, elements.constant(number * layout.stagedBytes)));
  }
}

Value CudaTiles::byteAt(Value pointer, Value offset) {
  return LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{offset});
}

/// Column c of a tile is a line of shared memory, whose bytes change places so
/// that neither writing nor reading lines has bank conflicts: byte i lies at `i
/// ^ swizzle(c / 8)`. What one thread writes stays together.
Value CudaTiles::swizzle(const Store &store, Value chunk) {
  int64_t together = std::max<int64_t>(8, numRows * bytesOf(store));
  return bit(mul(chunk, 8), kTileSize - together);
}

/// Writes the thread's part of each column: a few neighbouring rows.
void CudaTiles::stage(const Store &store, Value buffer) {
  int64_t bytes = bytesOf(store);
  SmallVector<Value> stored;
  for (int64_t r = 0; r < numRows; ++r)
    for (int64_t v = 0; v < numVectors; ++v)
      stored.push_back(elements.toStored(
          elementOf(r, v).values.lookup(store.value), store.access.element));
  Value place = arith::XOrIOp::create(b, loc, mul(threadRow, bytes),
                                      swizzle(store, lane));
  place = add(place, mul(lane, kTileColumns * kTileSize * bytes));
  for (int64_t column = 0; column < kTileColumns; ++column) {
    int64_t v = column / schedule.vector, e = column % schedule.vector;
    SmallVector<Value> rowsOfColumn;
    for (int64_t r = 0; r < numRows; ++r) {
      Value vector = stored[r * numVectors + v];
      rowsOfColumn.push_back(schedule.vector == 1
                                 ? vector
                                 : Value(vector::ExtractOp::create(
                                       b, loc, vector, ArrayRef<int64_t>{e})));
    }
    auto type = VectorType::get({numRows}, rowsOfColumn[0].getType());
    Value run = vector::FromElementsOp::create(b, loc, type, rowsOfColumn);
    Value target = byteAt(
        buffer, add(place, elements.constant(column * kTileSize * bytes)));
    LLVM::StoreOp::create(b, loc, run, target,
                          std::min<int64_t>(kUnit, numRows * bytes));
  }
}

/// Whether whole units of a transposed result are aligned in memory; null where
/// they always are.
Value CudaTiles::isAlignedOf(const Store &store) {
  Value isAligned;
  for (Extent extent : {store.access.offset, store.access.columnStride}) {
    extent = extent * bytesOf(store);
    if (extent.map([](int64_t factor) { return factor % kUnit; }) == Extent())
      continue;
    isAligned = both(isAligned, isZero(rem(elements.constant(extent), kUnit)));
  }
  return isAligned;
}

/// Neighbouring threads write neighbouring units of a column. A thread has one
/// unit of every `step`-th column.
void CudaTiles::copyOut(const Store &store, Value buffer) {
  int64_t bytes = bytesOf(store);
  int64_t unitRows = kUnit / bytes, units = kTileSize / unitRows;
  int64_t step = schedule.threads / units;
  Value unit = rem(thread, units), column = div(thread, units);
  Value firstUnitRow = mul(unit, unitRows);
  Value end = add(firstUnitRow, elements.constant(unitRows));
  Element first;
  first.row = add(firstRow, firstUnitRow);
  first.column = add(firstColumn, column);
  first.parts = {{firstRow, firstColumn}, {firstUnitRow, column}};
  auto visit = [&](Value columnsOn, function_ref<void(Element)> copy) {
    Element element = first;
    element.parts.push_back({Value(), columnsOn});
    element.column = add(first.column, columnsOn);
    Value exists;
    if (width)
      exists = less(narrow(add(column, columnsOn)), width);
    when(exists, [&] { copy(element); });
  };
  // Columns of a step are as many as share a place, so that what is swizzled is
  // their sum, digit by digit.
  Value line = mul(column, kTileSize * bytes);
  Value mask = swizzle(store, div(column, kTileColumns));
  auto copyUnits = [&] {
    bool isSplit = numRows * bytes <= 8;
    Value place = arith::XOrIOp::create(b, loc, mul(unit, kUnit),
                                        bit(mask, kTileSize - kUnit));
    Value from = byteAt(buffer, line);
    for (int64_t on = 0; on < kTileSize; on += step)
      visit(elements.constant(on), [&](const Element &element) {
        Value moved = swizzle(store, elements.constant(on / kTileColumns));
        moved =
            arith::XOrIOp::create(b, loc, place, bit(moved, kTileSize - kUnit));
        Type pair = VectorType::get({2}, b.getI64Type());
        Value at = byteAt(byteAt(from, moved),
                          elements.constant(on * kTileSize * bytes));
        Value halves = LLVM::LoadOp::create(b, loc, pair, at, kUnit);
        if (isSplit) {
          // The halves have changed places too.
          Value swapped = vector::ShuffleOp::create(b, loc, halves, halves,
                                                    ArrayRef<int64_t>{1, 0});
          halves = arith::SelectOp::create(b, loc, isZero(bit(mask, 8)), halves,
                                           swapped);
        }
        LLVM::StoreOp::create(b, loc, halves,
                              elements.pointerTo(store.access, element), kUnit);
      });
  };
  auto loop = [&](Value from, Value to, int64_t by,
                  function_ref<void(Value)> body) {
    auto op = scf::ForOp::create(b, loc, from, to, elements.constant(by));
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(op.getBody());
    body(op.getInductionVar());
  };
  auto copyElements = [&] {
    Value last = smaller(end, sub(rows, firstRow));
    loop(elements.constant(0), elements.constant(kTileSize), step,
         [&](Value on) {
           visit(on, [&](Element element) {
             loop(firstUnitRow, last, 1, [&](Value row) {
               Value place = arith::XOrIOp::create(
                   b, loc, mul(row, bytes),
                   swizzle(store, div(add(column, on), kTileColumns)));
               element.row = add(firstRow, row);
               element.parts[1].row = row;
               Value from = add(mul(add(column, on), kTileSize * bytes), place);
               Value value =
                   LLVM::LoadOp::create(b, loc, b.getIntegerType(8 * bytes),
                                        byteAt(buffer, from), bytes);
               LLVM::StoreOp::create(b, loc, value,
                                     elements.pointerTo(store.access, element),
                                     bytes);
             });
           });
         });
  };
  Value isWhole = isAlignedOf(store);
  if (height) {
    Value hasUnit = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle,
                                          narrow(end), height);
    isWhole = both(isWhole, hasUnit);
  }
  if (!isWhole)
    return copyUnits();
  auto choice = scf::IfOp::create(b, loc, isWhole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(choice.thenBlock());
  copyUnits();
  b.setInsertionPointToStart(choice.elseBlock());
  copyElements();
}
