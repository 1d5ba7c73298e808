//===- RowKernel.cpp - Rows of a row kernel ------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowKernel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fuseops;

Type mlir::fuseops::getAccumulatorType(ReduceRowsOp op) {
  return getAccumulatorType(op.getInput().getType().getElementType());
}

//===----------------------------------------------------------------------===//
// Frame
//===----------------------------------------------------------------------===//

void RowKernel::open(StringRef name) {
  frame = KernelFrame::open(elements, group, schedule, isCuda, name);
  if (!isCuda) {
    elements.splitsPairs = schedule.vector >= 32 && isMadeOfPairs();
    return;
  }
  firstColumn = mul(frame.threadX, elements.constant(schedule.vector));
  if (schedule.tiles == 1)
    return;
  // The launch counts each row once for each tile.
  Value tiles = elements.constant(schedule.tiles);
  tile = arith::RemUIOp::create(b, loc, frame.worker, tiles);
  firstColumn =
      add(firstColumn, mul(tile, elements.constant(schedule.getWidth())));
  frame.worker = arith::DivUIOp::create(b, loc, frame.worker, tiles);
  frame.workers = arith::DivUIOp::create(b, loc, frame.workers, tiles);
  frame.rows = arith::DivUIOp::create(b, loc, frame.rows, tiles);
  elements.rows = frame.rows;
}

func::FuncOp RowKernel::emit(StringRef name) {
  OpBuilder::InsertionGuard restore(b);
  open(name);
  storeFills();
  emitRows();
  func::ReturnOp::create(b, loc);
  return frame.kernel;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

void RowKernel::emitRows() {
  Value from, to, step;
  if (isCuda) {
    Value perBlock = elements.constant(schedule.rows);
    from = mul(frame.worker, perBlock);
    to = frame.rows;
    step = mul(frame.workers, perBlock);
  } else {
    // Neighbouring rows to one task.
    Value chunk = arith::DivSIOp::create(
        b, loc,
        add(frame.rows,
            arith::SubIOp::create(b, loc, frame.workers, elements.constant(1))),
        frame.workers);
    from = mul(frame.worker, chunk);
    to = arith::MinSIOp::create(b, loc, frame.rows, add(from, chunk));
    step = elements.constant(1);
  }
  locatePartials();
  if (schedule.prefetch && schedule.holdsRow)
    readEveryRow();
  SmallVector<Value> state;
  if (ring)
    state.push_back(openRing(from, step));
  openKept(from);
  if (alternates())
    state.push_back(elements.constant(0));
  if (!schedule.sumsInRuns)
    return emitRun(from, to, step, /*isFirst=*/Value(), state);
  // On the CPU nothing goes from row to row beside. One run at least: a worker
  // without rows leaves neutral elements.
  scf::WhileOp::create(
      b, loc, TypeRange(from.getType()), ValueRange(from),
      [&](OpBuilder &, Location, ValueRange first) {
        Value end = arith::MinSIOp::create(
            b, loc, to, add(first[0], elements.constant(kRunTerms)));
        Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                              first[0], from);
        emitRun(first[0], end, step, isFirst, state);
        scf::ConditionOp::create(b, loc, less(end, to), end);
      },
      [&](OpBuilder &, Location, ValueRange first) {
        scf::YieldOp::create(b, loc, first);
      });
}

/// Visits rows, and takes what is reduced over them into the worker's partial
/// results; `isFirst`, if there is one, tells whether there are none yet.
/// `state` is what goes from row to row beside.
void RowKernel::emitRun(Value from, Value to, Value step, Value isFirst,
                        ValueRange state) {
  beginRun(isFirst);
  SmallVector<Value> carried = initialAccumulators();
  size_t numAccumulators = carried.size();
  llvm::append_range(carried, state);
  OpBuilder::InsertPoint after = b.saveInsertionPoint();
  if (!isCuda && carried.empty() && group.getSpace().rows == Extent{1, 0}) {
    // No loop for LLVM's vectorizer: whether its values are the same for all
    // rows it asks in time exponential in the depth of their expressions.
    auto guard = scf::IfOp::create(b, loc, less(from, to));
    b.setInsertionPointToStart(guard.thenBlock());
    from = elements.constant(0);
    to = step = elements.constant(1);
  }
  auto loop = scf::ForOp::create(b, loc, from, to, step, carried);
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(loop.getBody());
    Value row = loop.getInductionVar();
    SmallVector<Value> updated(loop.getRegionIterArgs());
    if (alternates())
      half = updated.pop_back_val();
    if (ring)
      enterSlot(updated.pop_back_val());
    Value isActive;
    if (isCuda && schedule.rows > 1) {
      // All threads stay for the shuffles: those without a row repeat the last.
      row = add(row, frame.threadY);
      isActive = less(row, frame.rows);
      row = arith::MinSIOp::create(
          b, loc, row,
          arith::SubIOp::create(b, loc, frame.rows, elements.constant(1)));
    }
    nextRow = add(loop.getInductionVar(), step);
    emitRow(row, isActive, updated);
    if (ring)
      updated.push_back(refillSlot(loop.getInductionVar(), step));
    if (alternates())
      updated.push_back(
          arith::XOrIOp::create(b, loc, half, elements.constant(1)));
    // A loop without results has its terminator already.
    if (!updated.empty())
      scf::YieldOp::create(b, loc, updated);
  }
  b.restoreInsertionPoint(after);
  endRun(isFirst, loop.getResults().take_front(numAccumulators));
}

/// Lays out the elements that each thread keeps over all passes.
void RowKernel::holdRow(Value row, Value isActive) {
  held.clear();
  for (int64_t columns : allWidths())
    for (int64_t i = 0; i < schedule.getVectorsPerThread(columns); ++i) {
      Element &element = held[columns].emplace_back(locate(row, i, columns));
      element.isValid = both(element.isValid, isActive);
      if (everyRow.contains(columns))
        for (auto [value, stored] : everyRow[columns][i])
          element.stored[value] = forget(stored);
    }
  // All that the row reads is under way before any of it is waited for.
  if (!schedule.prefetch || ring)
    return;
  for (unsigned level = 0; level < group.getNumLevels(); ++level)
    for (int64_t columns : widthsAt(level))
      for (auto [i, element] : llvm::enumerate(held[columns]))
        readAhead({level, columns}, element, i);
}

/// The `number`th vector of the thread's part of a held row.
Element RowKernel::locate(Value row, int64_t number, int64_t columns) {
  Element element;
  element.row = row;
  element.width = schedule.vector;
  element.column = columnOf(number);
  if (!isTail(number, columns))
    return element;
  element.isValid = less(element.column, elements.constant(columns));
  element.column = arith::MinSIOp::create(
      b, loc, element.column, elements.constant(columns - schedule.vector));
  return element;
}

void RowKernel::emitRow(Value row, Value isActive,
                        MutableArrayRef<Value> accumulators) {
  DenseMap<Value, Value> outside = elements.rowValues;
  blocks.clear();
  if (schedule.holdsRow)
    holdRow(row, isActive);
  for (unsigned level = 0; level < group.getNumLevels(); ++level) {
    computeRowValues(level, row);
    for (int64_t columns : widthsAt(level))
      emitPass({level, columns}, row, isActive, accumulators);
  }
  // One value a row: every thread of the row knows it, and all but the first
  // leave it alone.
  unsigned next = 0;
  for (ReduceRowsOp op : group.getRowReductions()) {
    if (!isInRegisters(op))
      continue;
    if (group.getPlacement(op.getInput()) == Placement::Full ||
        group.isWhole(op)) {
      next += vectorsHeld(op);
      continue;
    }
    Value value = elements.rowValues.lookup(op.getInput());
    value = elements.addend(op.getKind(), elementOf(op.getInput()), value,
                            isActive);
    accumulators[next] =
        elements.combine(op.getKind(), accumulators[next], value);
    ++next;
  }
  storeRowValues(row, isActive);
  elements.rowValues = outside;
}

/// Computes what has one value a row, or one in all, and is known from `level`
/// on. The results of reductions are entered by the pass before.
void RowKernel::computeRowValues(unsigned level, Value row) {
  Element element;
  element.row = row;
  auto isRowValue = [&](Value value) {
    Placement placement = group.getPlacement(value);
    return placement == Placement::PerRow || placement == Placement::Scalar;
  };
  auto enter = [&](Value value) {
    if (isRowValue(value) && !group.isPartlyBroadcast(value) &&
        !elements.rowValues.contains(value) && group.getAccess(value)) {
      const RowRing::Input *fetched = ring.find(value);
      elements.rowValues[value] =
          fetched ? readPlace(*fetched, 0)
                  : elements.load(*group.getAccess(value), element);
    }
  };
  for (Operation *op : group.getRowOps()) {
    if (level == 0)
      llvm::for_each(op->getOperands(), enter);
    if (isa<ReduceRowsOp, ReduceColumnsOp>(op) ||
        !isRowValue(op->getResult(0)) ||
        group.getLevel(op->getResult(0)) != level)
      continue;
    auto pointwise = dyn_cast<PointwiseOp>(op);
    if (!pointwise) {
      auto concat = cast<ConcatOp>(op);
      if (!concat.isScattered())
        elements.rowValues[concat] = elements.compute(concat, element);
      continue;
    }
    elements.computeBody(pointwise,
                         elements.computeOperands(pointwise, element), element,
                         elements.rowValues);
  }
  if (level == 0)
    for (const Store &store : group.getStores())
      if (!group.isFinal(store.value))
        enter(store.value);
}

void RowKernel::storeRowValues(Value row, Value isActive) {
  Element element;
  element.row = row;
  element.column = elements.constant(0);
  element.isValid = isActive;
  if (isCuda && schedule.threads > 1)
    element.isValid = both(
        isActive, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        frame.threadX, elements.constant(0)));
  for (const Store &store : group.getStores())
    if (!group.isFinal(store.value) &&
        group.getPlacement(store.value) == Placement::PerRow)
      elements.store(elements.rowValues.lookup(store.value), store.access,
                     element);
}

func::FuncOp mlir::fuseops::emitRowKernel(const KernelGroup &group,
                                          const Schedule &schedule,
                                          KernelDevice device,
                                          bool roundIntermediates,
                                          StringRef name, OpBuilder &builder) {
  return RowKernel(group, schedule, device, roundIntermediates, builder)
      .emit(name);
}
