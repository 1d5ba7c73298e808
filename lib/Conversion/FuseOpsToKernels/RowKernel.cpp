//===- RowKernel.cpp - Rows and columns of a row kernel ------------------===//
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
  Value tile = arith::RemUIOp::create(b, loc, frame.worker, tiles);
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
  initializePartials();
  SmallVector<Value> accumulators;
  for (ReduceRowsOp op : group.getRowReductions()) {
    if (!isInRegisters(op))
      continue;
    bool isFull = group.getPlacement(op.getInput()) == Placement::Full;
    for (int64_t i = 0; i < vectorsHeld(op); ++i)
      accumulators.push_back(elements.identity(op.getKind(),
                                               elementOf(op.getInput()),
                                               isFull ? schedule.vector : 1));
  }
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
  if (schedule.prefetch && schedule.holdsRow)
    readEveryRow();
  size_t numAccumulators = accumulators.size();
  if (ring)
    accumulators.push_back(openRing(from, step));
  bool alternates = schedule.overlapsRows() && group.getNumLevels() > 1;
  if (alternates)
    accumulators.push_back(elements.constant(0));
  auto loop = scf::ForOp::create(b, loc, from, to, step, accumulators);
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(loop.getBody());
    Value row = loop.getInductionVar();
    SmallVector<Value> updated(loop.getRegionIterArgs());
    if (alternates)
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
    emitRow(row, isActive, updated);
    if (ring)
      updated.push_back(refillSlot(loop.getInductionVar(), step));
    if (alternates)
      updated.push_back(
          arith::XOrIOp::create(b, loc, half, elements.constant(1)));
    // A loop without results has its terminator already.
    if (!updated.empty())
      scf::YieldOp::create(b, loc, updated);
  }
  storeHeldPartials(loop.getResults().take_front(numAccumulators));
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
    if (group.getPlacement(op.getInput()) == Placement::Full) {
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

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

bool RowKernel::isVisitedIn(Pass pass, Value value) {
  return group.getPlacement(value) == Placement::Full &&
         group.getLevel(value) == pass.level &&
         columnsOf(value) == pass.columns;
}

SmallVector<ReduceColumnsOp> RowKernel::reductionsIn(Pass pass) {
  SmallVector<ReduceColumnsOp> reductions;
  for (Operation *op : group.getRowOps())
    if (auto reduction = dyn_cast<ReduceColumnsOp>(op))
      if (group.getLevel(reduction.getInput()) == pass.level &&
          columnsOf(reduction.getInput()) == pass.columns)
        reductions.push_back(reduction);
  return reductions;
}

llvm::SmallSetVector<int64_t, 2> RowKernel::widthsAt(unsigned level) {
  llvm::SmallSetVector<int64_t, 2> widths;
  auto visit = [&](Value value) {
    if (group.getLevel(value) == level)
      widths.insert(columnsOf(value));
  };
  for (Operation *op : group.getRowOps())
    if (auto reduction = dyn_cast<ReduceColumnsOp>(op))
      visit(reduction.getInput());
  for (const Store &store : group.getStores())
    if (!group.isFinal(store.value) &&
        group.getPlacement(store.value) == Placement::Full)
      visit(store.value);
    else if (BlockShape shape = group.getBlock(store.value);
             shape.isVisited() && group.getLevel(store.value) == level)
      widths.insert(shape.matrix.columns);
  for (ReduceRowsOp op : group.getRowReductions())
    if (group.getPlacement(op.getInput()) == Placement::Full)
      visit(op.getInput());
  return widths;
}

llvm::SmallSetVector<int64_t, 2> RowKernel::allWidths() {
  llvm::SmallSetVector<int64_t, 2> widths;
  for (unsigned level = 0; level < group.getNumLevels(); ++level)
    for (int64_t columns : widthsAt(level))
      widths.insert(columns);
  return widths;
}

/// What a pass does with one element; returns the updated partial results of
/// its reductions over columns.
SmallVector<Value> RowKernel::visitElement(Pass pass, Element &element,
                                           ArrayRef<Value> partial) {
  // What an earlier pass has written is read, not computed again: it is in the
  // cache, rounded as all that read it see it.
  if (!isCuda)
    for (const Store &store : group.getStores())
      if (!group.isFinal(store.value) && store.access.isContiguous() &&
          group.getPlacement(store.value) == Placement::Full &&
          group.getLevel(store.value) < pass.level &&
          columnsOf(store.value) == pass.columns)
        element.values[store.value] = elements.load(store.access, element);
  SmallVector<Value> updated;
  for (auto [reduction, soFar] : llvm::zip(reductionsIn(pass), partial)) {
    Value value = elements.compute(reduction.getInput(), element);
    if (!isa<VectorType>(soFar.getType()))
      value = elements.combineAll(reduction.getKind(), value);
    value =
        elements.addend(reduction.getKind(), elementOf(reduction.getInput()),
                        value, element.isValid);
    updated.push_back(elements.combine(reduction.getKind(), soFar, value));
  }
  for (const Store &store : group.getStores())
    if (!group.isFinal(store.value) && isVisitedIn(pass, store.value))
      elements.store(elements.compute(store.value, element), store.access,
                     element);
  return updated;
}

/// What a pass does with vectors that one thread visits at once.
SmallVector<Value> RowKernel::visitTogether(Pass pass,
                                            MutableArrayRef<Element> vectors,
                                            SmallVector<Value> partial) {
  for (Element &element : vectors) {
    // On CUDA the rest of a block is with other threads.
    visited = isCuda ? MutableArrayRef<Element>(element) : vectors;
    partial = visitElement(pass, element, partial);
    accumulateRows(pass, element);
    if (!isCuda)
      prefetchNextRow(pass, element);
  }
  return partial;
}

/// Adds one element to the reductions over rows that are kept in memory.
void RowKernel::accumulateRows(Pass pass, Element &element) {
  for (size_t i = 0; i < frame.partials.size(); ++i) {
    ReduceRowsOp op = group.getRowReductions()[i];
    if (isInRegisters(op) || !isVisitedIn(pass, op.getInput()))
      continue;
    Value value = elements.compute(op.getInput(), element);
    value = elements.addend(op.getKind(), elementOf(op.getInput()), value,
                            element.isValid);
    // CUDA's columns and workers are multiples of the vector.
    int64_t aligned = isCuda ? element.width : 1;
    Value soFar = elements.toLanes(
        elements.loadRaw(frame.partials[i], element.column,
                         getAccumulatorType(op), element.width, aligned));
    value = elements.combine(op.getKind(), soFar, value);
    elements.storeRaw(elements.toMemory(value), frame.partials[i],
                      element.column, aligned);
  }
}

/// Visits the columns from `from` to `to`, `width` at once and `step` apart;
/// `unroll` visits make one iteration, so that their loads are in flight
/// together, or they have blocks together.
SmallVector<Value> RowKernel::forColumns(Value from, int64_t to, int64_t step,
                                         int64_t width, int64_t unroll,
                                         Pass pass, Value row, Value isActive,
                                         SmallVector<Value> partial) {
  auto loop = scf::ForOp::create(b, loc, from, elements.constant(to),
                                 elements.constant(step * unroll), partial);
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> updated(loop.getRegionIterArgs());
  auto visitAt = [&](int64_t number) {
    Element element;
    element.row = row;
    element.column =
        add(loop.getInductionVar(), elements.constant(number * step));
    element.width = width;
    element.isValid = isActive;
    return element;
  };
  bool isTogether = schedule.prefetch || getBlockColumns(pass);
  SmallVector<Element> together;
  for (int64_t i = 0; i < unroll; ++i) {
    if (!isTogether)
      together.clear();
    Element &element = together.emplace_back(visitAt(i));
    if (schedule.prefetch)
      readAhead(pass, element, i);
    if (!isTogether)
      updated = visitTogether(pass, together, updated);
  }
  if (isTogether) {
    updated = visitTogether(pass, together, updated);
    storeBlocks(pass, together);
  }
  // A loop without results has its terminator already.
  if (!partial.empty())
    scf::YieldOp::create(b, loc, updated);
  return SmallVector<Value>(loop.getResults());
}

void RowKernel::emitPass(Pass pass, Value row, Value isActive,
                         MutableArrayRef<Value> accumulators) {
  int64_t columns = pass.columns;
  SmallVector<ReduceColumnsOp> reductions = reductionsIn(pass);
  auto identities = [&](int64_t width) {
    SmallVector<Value> values;
    for (ReduceColumnsOp op : reductions)
      values.push_back(
          elements.identity(op.getKind(), elementOf(op.getInput()), width));
    return values;
  };
  auto collapse = [&](SmallVectorImpl<Value> &values) {
    for (auto [op, value] : llvm::zip(reductions, values))
      value = elements.combineAll(op.getKind(), value);
  };

  int64_t width = schedule.vector;
  SmallVector<Value> partial = identities(width);
  if (schedule.holdsRow) {
    if (ring)
      for (auto [i, element] : llvm::enumerate(held[columns]))
        readAhead(pass, element, i);
    for (auto [i, element] : llvm::enumerate(held[columns])) {
      partial = visitTogether(pass, element, partial);
      unsigned next = 0;
      for (ReduceRowsOp op : group.getRowReductions()) {
        if (isVisitedIn(pass, op.getInput())) {
          Value value = elements.compute(op.getInput(), element);
          value = elements.addend(op.getKind(), elementOf(op.getInput()), value,
                                  element.isValid);
          Value &slot = accumulators[next + i];
          slot = elements.combine(op.getKind(), slot, value);
        }
        next += vectorsHeld(op);
      }
    }
    storeBlocks(pass, held[columns]);
    collapse(partial);
  } else if (isCuda) {
    Value from = firstColumn;
    int64_t step = width * schedule.threads;
    bool hasBlocks = getBlockColumns(pass) != 0;
    int64_t unroll = schedule.unroll                      ? schedule.unroll
                     : columns % (2 * step) && !hasBlocks ? 1
                                                          : 2;
    int64_t end = schedule.unroll || hasBlocks
                      ? columns - columns % (unroll * step)
                      : columns;
    if (end > 0)
      partial = forColumns(from, end, step, width, unroll, pass, row, isActive,
                           partial);
    if (end < columns)
      partial = hasBlocks
                    ? visitRest(end, pass, row, isActive, partial)
                    : forColumns(add(from, elements.constant(end)), columns,
                                 step, width, 1, pass, row, isActive, partial);
    collapse(partial);
  } else if (int64_t block = getBlockColumns(pass)) {
    int64_t blockEnd = columns - columns % block;
    if (blockEnd > 0)
      partial = forColumns(elements.constant(0), blockEnd, width, width,
                           block / width, pass, row, isActive, partial);
    collapse(partial);
    partial = visitRest(blockEnd, pass, row, isActive, partial);
  } else {
    int64_t vectorEnd = columns - columns % width;
    if (vectorEnd > 0)
      partial = forColumns(elements.constant(0), vectorEnd, width, width, 1,
                           pass, row, isActive, partial);
    collapse(partial);
    if (vectorEnd < columns)
      partial = forColumns(elements.constant(vectorEnd), columns, 1, 1, 1, pass,
                           row, isActive, partial);
  }
  combineThreads(pass, partial);
  for (auto [op, value] : llvm::zip(reductions, partial)) {
    // The reduction's own element type may be narrower or wider.
    elements.rowValues[op.getResult()] = convertElement(
        b, loc, value, elementOf(op.getInput()), elementOf(op.getResult()));
  }
}

func::FuncOp mlir::fuseops::emitRowKernel(const KernelGroup &group,
                                          const Schedule &schedule,
                                          KernelDevice device,
                                          bool roundIntermediates,
                                          StringRef name, OpBuilder &builder) {
  return RowKernel(group, schedule, device, roundIntermediates, builder)
      .emit(name);
}
