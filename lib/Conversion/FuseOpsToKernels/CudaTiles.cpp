//===- CudaTiles.cpp - Passes of tile kernels for CUDA -------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTiles.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fuseops;

/// Registers for what a thread keeps from one pass to the next: a little over
/// half of those that it has.
static int64_t countKeptRegisters(const Schedule &schedule) {
  int64_t blocks = schedule.threads * schedule.residents;
  return blocks ? 65536 / blocks * 9 / 16 : 40;
}

Value CudaTiles::makeArray(const Twine &name, Type type, int64_t count) {
  return elements.getShared(frame.kernel, name, type, count).pointer;
}

void CudaTiles::forEach(Value count, int64_t firstThread,
                        function_ref<void(Value)> body) {
  // What no tile has is written before there is one.
  Value first = thread ? thread : frame.threadX;
  if (firstThread % schedule.threads != 0)
    first = bit(add(first, elements.constant(schedule.threads -
                                             firstThread % schedule.threads)),
                schedule.threads - 1);
  auto op = scf::ForOp::create(b, loc, first, count,
                               elements.constant(schedule.threads));
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(op.getBody());
  body(op.getInductionVar());
}

void CudaTiles::barrier() { NVVM::Barrier0Op::create(b, loc); }

Value CudaTiles::bit(Value value, int64_t mask) {
  return arith::AndIOp::create(b, loc, value, elements.constant(mask));
}

/// Within a tile numbers have 32 bits, and so half the instructions.
Value CudaTiles::narrow(Value value) {
  return arith::TruncIOp::create(b, loc, b.getI32Type(), value);
}

Value CudaTiles::widen(Value value) {
  return arith::ExtUIOp::create(b, loc, b.getI64Type(), value);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void CudaTiles::emitTiles() {
  enterThread(frame.threadX);
  makeScratch();
  Value down = div(add(rows, elements.constant(kTileSize - 1)), kTileSize);
  numTiles = mul(down, tileColumns);
  // What goes from one tile of the block to the next: sums of its columns, and
  // the state of the ring.
  SmallVector<Value> carried;
  if (!schedule.tilePartials)
    carried = initialAccumulators();
  size_t numSums = carried.size();
  if (ring)
    llvm::append_range(carried, openRing());
  auto visit = [&](Value tile, MutableArrayRef<Value> values) {
    if (ring)
      enterSlot(tile, values.drop_front(numSums));
    emitTile(tile, values.take_front(numSums));
    if (ring)
      leaveSlot(values.drop_front(numSums));
  };
  SmallVector<Value> sums = schedule.tickets
                                ? emitDrawn(carried, numSums, visit)
                                : emitDealt(carried, visit);
  // A pass may have read the thread's number again, within the loop.
  enterThread(frame.threadX);
  if (!schedule.tilePartials)
    storeSums(ArrayRef(sums).take_front(numSums));
}

/// Visits every tile whose number is the worker's plus a multiple of their
/// count.
SmallVector<Value> CudaTiles::emitDealt(ValueRange carried, Visit visit) {
  auto loop = scf::ForOp::create(b, loc, frame.worker, numTiles, frame.workers,
                                 carried);
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> updated(loop.getRegionIterArgs());
  visit(loop.getInductionVar(), updated);
  // A loop without results has its terminator already.
  if (!updated.empty())
    scf::YieldOp::create(b, loc, updated);
  return loop.getResults();
}

/// Values that one pass leaves to later ones.
static int64_t countKeptValues(const KernelGroup &group) {
  llvm::SmallDenseSet<Value> values;
  for (Operation *op : group.getRowOps())
    for (Value operand : op->getOperands())
      if (group.getPlacement(operand) == Placement::Full &&
          group.getLevel(operand) < group.getLevel(op->getResult(0)) &&
          !isa<ReduceBlocksOp>(op))
        values.insert(operand);
  return values.size();
}

void CudaTiles::enterThread(Value number) {
  thread = number;
  lane = bit(thread, kTileLanes - 1);
  threadRow = mul(div(thread, kTileLanes), numRows);
  threadColumn = mul(lane, kTileColumns);
}

/// What follows from the thread's number is computed again from here on, not
/// kept in registers: the compiler does not know it is the same.
void CudaTiles::forgetThread() {
  Value number =
      LLVM::InlineAsmOp::create(
          b, loc, b.getI32Type(), ValueRange(), "mov.u32 $0, %tid.x;", "=r",
          /*has_side_effects=*/true, /*is_align_stack=*/false,
          LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
          ArrayAttr())
          .getResult(0);
  // The mask tells it how large the number is.
  enterThread(bit(arith::ExtUIOp::create(b, loc, b.getI64Type(), number),
                  schedule.threads - 1));
}

/// How many there are from `first` to `end`, of a tile's.
Value CudaTiles::countOf(Value first, Value end) {
  return narrow(smaller(elements.constant(kTileSize), sub(end, first)));
}

void CudaTiles::enterOwnPart(Value tile) {
  enterTile(tile);
  Extent all = group.getSpace().rows;
  height = width = Value();
  if (!all.isConstant() || all.constant % kTileSize != 0)
    height = countOf(firstRow, rows);
  if (columns % kTileSize != 0)
    width = countOf(firstColumn, elements.constant(columns));
}

void CudaTiles::emitTile(Value tile, MutableArrayRef<Value> accumulators) {
  SmallVector<Value> own;
  if (schedule.tilePartials) {
    own = initialAccumulators();
    accumulators = own;
  }
  if (schedule.residents)
    forgetThread();
  enterOwnPart(tile);
  holdElements();
  // Beside the elements it keeps where each vector lies.
  bool keepsElements =
      numRows * (kTileColumns * countKeptValues(group) + numVectors) <=
      countKeptRegisters(schedule);
  unsigned lastSums = 0;
  for (ReduceRowsOp op : group.getRowReductions())
    lastSums = std::max(lastSums, group.getLevel(group.getReduced(op)));
  for (unsigned level = 0; level < group.getNumLevels(); ++level) {
    if (level > 0)
      barrier();
    if (level == 1 && keepsElements)
      refillSlot();
    if (level > 0 && !keepsElements) {
      forgetThread();
      holdElements();
    }
    computeBlocks(level);
    if (llvm::any_of(layout.kept, [&](Value value) {
          return group.getLevel(value) == level;
        }))
      barrier();
    emitPass(level, accumulators);
    // Later passes need the registers.
    if (schedule.tilePartials && level == lastSums)
      storeSums(accumulators);
  }
  if (isSlotRead && schedule.tickets)
    barrier();
  refillSlot();
  // The next tile's values take the place of these.
  if (layout.usesArrays() || schedule.tickets)
    barrier();
}

/// The thread's elements number `vector` of its row number `row`, whether the
/// matrix has them or not: one pitch apart from one row to the next.
Element CudaTiles::placeOf(int64_t row, int64_t vector) {
  Element element;
  element.width = schedule.vector;
  Place step = {elements.constant(row),
                elements.constant(vector * schedule.vector)};
  element.inTile = {add(threadRow, step.row), add(threadColumn, step.column)};
  element.row = add(firstRow, element.inTile.row);
  element.column = add(firstColumn, element.inTile.column);
  element.parts = {{firstRow, firstColumn}, {threadRow, threadColumn}, step};
  return element;
}

/// The same elements or, in their place, those of the last row or the last ones
/// of the row.
Element CudaTiles::locate(int64_t row, int64_t vector) {
  Element element = placeOf(row, vector);
  auto bound = [&](Value number, Value count, int64_t width) -> Value {
    Value last = arith::SubIOp::create(
        b, loc, count,
        arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(width)));
    return widen(arith::MinUIOp::create(b, loc, narrow(number), last));
  };
  auto [ownRow, ownColumn] = element.inTile;
  if (height) {
    element.isValid = less(narrow(ownRow), height);
    ownRow = bound(ownRow, height, 1);
    element.row = add(firstRow, ownRow);
  }
  if (width) {
    element.isValid = both(element.isValid, less(narrow(ownColumn), width));
    ownColumn = bound(ownColumn, width, schedule.vector);
    element.column = add(firstColumn, ownColumn);
  }
  if (width)
    element.parts = {{firstRow, firstColumn}, {ownRow, ownColumn}};
  else if (height)
    element.parts = {{firstRow, firstColumn},
                     {Value(), threadColumn},
                     {ownRow, Value()},
                     {Value(), elements.constant(vector * schedule.vector)}};
  return element;
}

/// Lays out the thread's elements.
void CudaTiles::holdElements() {
  held.clear();
  rowValues.clear();
  for (int64_t r = 0; r < numRows; ++r)
    for (int64_t v = 0; v < numVectors; ++v) {
      held.push_back(locate(r, v));
      if (v == 0)
        rowValues.push_back(computeRowValues(held.back()));
      readSlot(held.back(), r, v);
    }
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

void CudaTiles::emitPass(unsigned level, MutableArrayRef<Value> accumulators) {
  parts.clear();
  for (int64_t r = 0; r < numRows; ++r) {
    elements.rowValues = rowValues[r];
    for (int64_t v = 0; v < numVectors; ++v)
      visitElement(level, r, v, accumulators);
    storeRowValues(level, r);
  }
  elements.rowValues.clear();
  for (ReduceBlocksOp op : reductionsAt(level))
    storeParts(op);
  emitStaged(level);
}

void CudaTiles::visitElement(unsigned level, int64_t row, int64_t vector,
                             MutableArrayRef<Value> accumulators) {
  Element &element = elementOf(row, vector);
  // What is past the matrix is the last element of the row or column: of the
  // same block, where the matrix has that, and no maximum changes by an element
  // twice.
  for (ReduceBlocksOp op : reductionsAt(level))
    takeIn(op, row, vector,
           elements.addend(ReductionKind::Max,
                           fuseops::elementOf(op.getInput()),
                           elements.compute(op.getInput(), element), Value()));
  Element place = placeOf(row, vector);
  place.isValid = element.isValid;
  for (const Store &store : storesAt(level, Placement::Full)) {
    Value value = elements.compute(store.value, element);
    if (!isStaged(store))
      elements.store(value, store.access, place);
  }
  unsigned next = 0;
  for (auto [number, op] : numberedRowReductions()) {
    accumulate(level, op, row, vector,
               accumulators.slice(next, countAccumulators(op)));
    next += countAccumulators(op);
  }
}

/// Of the first tile of the row and its first thread.
void CudaTiles::storeRowValues(unsigned level, int64_t row) {
  for (const Store &store : storesAt(level, Placement::PerRow)) {
    Element element;
    element.row = elementOf(row, 0).row;
    element.column = elements.constant(0);
    element.isValid = both(elementOf(row, 0).isValid, isFirstOfRow());
    elements.store(elements.compute(store.value, element), store.access,
                   element);
  }
}

Value CudaTiles::isFirstOfRow() {
  return both(isZero(tileColumn), isZero(lane));
}

//===----------------------------------------------------------------------===//
// Reductions over rows
//===----------------------------------------------------------------------===//

SmallVector<Value> CudaTiles::initialAccumulators() {
  SmallVector<Value> initial;
  for (ReduceRowsOp op : group.getRowReductions()) {
    bool isFull = group.getPlacement(group.getReduced(op)) == Placement::Full;
    initial.append(countAccumulators(op),
                   elements.identity(op.getKind(),
                                     fuseops::elementOf(op.getInput()),
                                     isFull ? schedule.vector : 1));
  }
  return initial;
}

void CudaTiles::accumulate(unsigned level, ReduceRowsOp op, int64_t row,
                           int64_t vector, MutableArrayRef<Value> sums) {
  if (!reducesRowsAt(level, op))
    return;
  Value input = group.getReduced(op);
  Element &element = elementOf(row, vector);
  Value isValid = element.isValid, value;
  if (group.getPlacement(input) == Placement::Full) {
    value = elements.compute(input, element);
  } else {
    if (vector != 0)
      return;
    isValid = both(isValid, isFirstOfRow());
    value = elements.rowValues.lookup(input);
  }
  value =
      elements.addend(op.getKind(), fuseops::elementOf(input), value, isValid);
  Value &sum = sums[isByColumn(op) ? vector : 0];
  sum = elements.combine(op.getKind(), sum, value);
}

void CudaTiles::storeSums(ValueRange accumulators) {
  SmallVector<Type> types;
  for (ReduceRowsOp op : group.getRowReductions())
    types.push_back(getAccumulatorType(op));
  if (types.empty())
    return;
  sums = elements
             .getShared(frame.kernel, "_sums", types,
                        schedule.threads / 32 * kTileSize)
             .pointer;
  for (auto [number, op] : numberedRowReductions()) {
    ValueRange own = accumulators.take_front(countAccumulators(op));
    accumulators = accumulators.drop_front(own.size());
    if (isByColumn(op))
      storeColumnSums(number, op, own);
    else
      storeWholeSum(number, op, own[0]);
  }
}

/// Combines what the warps put at `slot` of `width` each, in order.
Value CudaTiles::combineWarps(ReduceRowsOp op, Value slot, int64_t width) {
  Value total;
  for (int64_t warp = 0; warp < schedule.threads / 32; ++warp) {
    Value part =
        elements.loadRaw(sums, add(slot, elements.constant(warp * width)),
                         getAccumulatorType(op), 1);
    total = total ? elements.combine(op.getKind(), total, part) : part;
  }
  return total;
}

void CudaTiles::storeColumnSums(unsigned number, ReduceRowsOp op,
                                ValueRange own) {
  SmallVector<Value> values;
  for (Value value : own)
    values.push_back(
        elements.combineLanes(op.getKind(), value, kTileLanes, kTileLanes));
  Value warp = div(thread, 32);
  barrier();
  // Both lanes that have a column write the same.
  for (auto [v, value] : llvm::enumerate(values)) {
    Value column = add(threadColumn, elements.constant(v * schedule.vector));
    elements.storeRaw(value, sums, add(mul(warp, kTileSize), column),
                      schedule.vector);
  }
  barrier();
  Value column = thread;
  if (schedule.tilePartials)
    column = add(firstColumn, thread);
  else if (tileColumns != 1)
    column = add(mul(rem(frame.worker, tileColumns), kTileSize), thread);
  when(both(less(thread, elements.constant(kTileSize)),
            less(column, elements.constant(columns))),
       [&] {
         elements.storeRaw(combineWarps(op, thread, kTileSize),
                           partialOf(number), column);
       });
}

void CudaTiles::storeWholeSum(unsigned number, ReduceRowsOp op, Value sum) {
  sum = elements.combineLanes(op.getKind(),
                              elements.combineAll(op.getKind(), sum), 16, 1);
  barrier();
  when(isZero(bit(thread, 31)),
       [&] { elements.storeRaw(sum, sums, div(thread, 32)); });
  barrier();
  when(isZero(thread), [&] {
    elements.storeRaw(combineWarps(op, elements.constant(0), 1),
                      partialOf(number), elements.constant(0));
  });
}

func::FuncOp mlir::fuseops::emitCudaTiles(const KernelGroup &group,
                                          const Schedule &schedule,
                                          bool roundIntermediates,
                                          StringRef name, OpBuilder &builder) {
  return CudaTiles(group, schedule, roundIntermediates, builder).emit(name);
}
