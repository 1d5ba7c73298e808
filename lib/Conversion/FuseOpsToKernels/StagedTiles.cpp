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

void CudaTiles::makeStaging() {
  if (layout.staged.empty())
    return;
  stagedAtOnce = layout.countStagedAtOnce(ring.getBytes());
  staging =
      makeArray("_staged", b.getI8Type(), stagedAtOnce * layout.stagedBytes);
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

/// Neighbouring threads write neighbouring units of a column.
void CudaTiles::copyOut(const Store &store, Value buffer) {
  int64_t bytes = bytesOf(store);
  int64_t unitRows = kUnit / bytes, units = kTileSize / unitRows;
  bool isSplit = numRows * bytes <= 8;
  for (int64_t i = 0; i < kTileSize * units; i += schedule.threads) {
    Value number = add(thread, elements.constant(i));
    Value unit = rem(number, units), column = div(number, units);
    Value mask = swizzle(store, div(column, kTileColumns));
    Value line = mul(column, kTileSize * bytes);
    Element element;
    element.row = add(firstRow, mul(unit, unitRows));
    element.column = add(firstColumn, column);
    Value end = add(element.row, elements.constant(unitRows));
    auto copyUnit = [&] {
      Value place = arith::XOrIOp::create(b, loc, mul(unit, kUnit),
                                          bit(mask, kTileSize - kUnit));
      Type i64 = b.getI64Type(), pair = VectorType::get({2}, i64);
      Value halves = LLVM::LoadOp::create(
          b, loc, pair, byteAt(buffer, add(line, place)), kUnit);
      if (isSplit) {
        // The halves have changed places too.
        Value swapped = vector::ShuffleOp::create(b, loc, halves, halves,
                                                  ArrayRef<int64_t>{1, 0});
        halves = arith::SelectOp::create(b, loc, isZero(bit(mask, 8)), halves,
                                         swapped);
      }
      LLVM::StoreOp::create(b, loc, halves,
                            elements.pointerTo(store.access, element), kUnit);
    };
    auto copyElements = [&] {
      auto loop = scf::ForOp::create(
          b, loc, elements.constant(0),
          smaller(elements.constant(unitRows), sub(rows, element.row)),
          elements.constant(1));
      OpBuilder::InsertionGuard restore(b);
      b.setInsertionPointToStart(loop.getBody());
      Value byte = add(mul(unit, kUnit), mul(loop.getInductionVar(), bytes));
      Value place = arith::XOrIOp::create(b, loc, byte, mask);
      Element one = element;
      one.row = add(element.row, loop.getInductionVar());
      Type type = b.getIntegerType(8 * bytes);
      Value value = LLVM::LoadOp::create(
          b, loc, type, byteAt(buffer, add(line, place)), bytes);
      LLVM::StoreOp::create(b, loc, value,
                            elements.pointerTo(store.access, one), bytes);
    };
    Value exists;
    if (columns % kTileSize != 0)
      exists = less(element.column, elements.constant(columns));
    when(exists, [&] {
      Extent height = group.getSpace().rows;
      Value isWhole = isAlignedOf(store);
      if (!height.isConstant() || height.constant % kTileSize != 0)
        isWhole =
            both(isWhole, arith::CmpIOp::create(
                              b, loc, arith::CmpIPredicate::sle, end, rows));
      if (!isWhole)
        return copyUnit();
      auto choice = scf::IfOp::create(b, loc, isWhole, /*withElseRegion=*/true);
      OpBuilder::InsertionGuard restore(b);
      b.setInsertionPointToStart(choice.thenBlock());
      copyUnit();
      b.setInsertionPointToStart(choice.elseBlock());
      copyElements();
    });
  }
}
