//===- RowColumns.cpp - Passes over the columns of a row kernel ----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowKernel.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::fuseops;

bool RowKernel::isVisitedIn(Pass pass, Value value) {
  return group.getPlacement(value) == Placement::Full &&
         group.getLevel(value) == pass.level &&
         columnsOf(value) == pass.columns;
}

SmallVector<ReduceColumnsOp> RowKernel::reductionsIn(Pass pass) {
  SmallVector<ReduceColumnsOp> reductions;
  auto visit = [&](ReduceColumnsOp op) {
    if (group.getLevel(op.getInput()) == pass.level &&
        columnsOf(op.getInput()) == pass.columns)
      reductions.push_back(op);
  };
  for (Operation *op : group.getRowOps())
    if (auto reduction = dyn_cast<ReduceColumnsOp>(op))
      visit(reduction);
  for (ReduceRowsOp op : group.getRowReductions())
    if (group.isWhole(op))
      visit(op.getInput().getDefiningOp<ReduceColumnsOp>());
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
    if (Value reduced = group.getReduced(op);
        group.getPlacement(reduced) == Placement::Full)
      visit(reduced);
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
    Value soFar = elements.toLanes(elements.loadRaw(runs[i], element.column,
                                                    getAccumulatorType(op),
                                                    element.width, aligned));
    value = elements.combine(op.getKind(), soFar, value);
    elements.storeRaw(elements.toMemory(value), runs[i], element.column,
                      aligned);
  }
}

SmallVector<Value> RowKernel::identities(Pass pass, int64_t width) {
  SmallVector<Value> values;
  for (ReduceColumnsOp op : reductionsIn(pass))
    values.push_back(
        elements.identity(op.getKind(), elementOf(op.getInput()), width));
  return values;
}

SmallVector<Value> RowKernel::combine(Pass pass, ValueRange partial,
                                      ValueRange others) {
  SmallVector<Value> combined;
  for (auto [op, value, other] : llvm::zip(reductionsIn(pass), partial, others))
    combined.push_back(elements.combine(op.getKind(), value, other));
  return combined;
}

/// Visits the columns from `from` to `to`, on CUDA the thread's part of them,
/// `width` at once and `step` apart; `unroll` visits make one iteration, so
/// that their loads are in flight together, or they have blocks together.
SmallVector<Value> RowKernel::forColumns(int64_t from, int64_t to, int64_t step,
                                         int64_t width, int64_t unroll,
                                         Pass pass, Value row, Value isActive,
                                         SmallVector<Value> partial) {
  Value first = elements.constant(from), end = elements.constant(to);
  if (isCuda)
    first = from ? add(firstColumn, first) : firstColumn;
  auto visit = [&](Value first, Value end, SmallVector<Value> partial) {
    return visitColumns(first, end, step, width, unroll, pass, row, isActive,
                        partial);
  };
  bool isLong = llvm::divideCeil(to - from, step) > kRunTerms;
  if (!isLong || llvm::none_of(reductionsIn(pass), [](ReduceColumnsOp op) {
        return isRounded(op.getKind(), elementOf(op.getInput()));
      }))
    return visit(first, end, partial);
  int64_t visits = std::max<int64_t>(unroll, kRunTerms - kRunTerms % unroll);
  return combineRuns(
      b, loc, first, end, step * visits, partial,
      [&](Value first, Value end) {
        return visit(first, end, identities(pass, width));
      },
      [&](ValueRange partial, ValueRange run) {
        return combine(pass, partial, run);
      });
}

SmallVector<Value> RowKernel::visitColumns(Value from, Value to, int64_t step,
                                           int64_t width, int64_t unroll,
                                           Pass pass, Value row, Value isActive,
                                           SmallVector<Value> partial) {
  auto loop = scf::ForOp::create(b, loc, from, to,
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
  if (isInKept)
    enterKept(pass);
  bool isTogether = schedule.prefetch || getBlockColumns(pass);
  SmallVector<Element> together;
  for (int64_t i = 0; i < unroll; ++i) {
    if (!isTogether)
      together.clear();
    Element &element = together.emplace_back(visitAt(i));
    if (isInKept)
      readKept(pass, element);
    if (schedule.prefetch)
      readAhead(pass, element, i);
    if (!isTogether)
      updated = visitTogether(pass, together, updated);
  }
  if (isTogether) {
    updated = visitTogether(pass, together, updated);
    storeBlocks(pass, together);
  }
  if (isInKept)
    leaveKept(pass, loop.getInductionVar());
  // A loop without results has its terminator already.
  if (!partial.empty())
    scf::YieldOp::create(b, loc, updated);
  return SmallVector<Value>(loop.getResults());
}

void RowKernel::emitPass(Pass pass, Value row, Value isActive,
                         MutableArrayRef<Value> accumulators) {
  int64_t columns = pass.columns;
  SmallVector<ReduceColumnsOp> reductions = reductionsIn(pass);
  auto collapse = [&](SmallVectorImpl<Value> &values) {
    for (auto [op, value] : llvm::zip(reductions, values))
      value = elements.combineAll(op.getKind(), value);
  };

  int64_t width = schedule.vector;
  SmallVector<Value> partial = identities(pass, width);
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
    int64_t step = width * schedule.threads;
    bool hasBlocks = getBlockColumns(pass) != 0;
    int64_t first = columns == group.getSpace().columns ? kept.columns : 0;
    int64_t unroll = schedule.unroll ? schedule.unroll
                     : (columns - first) % (2 * step) && !hasBlocks ? 1
                                                                    : 2;
    int64_t end = schedule.unroll || hasBlocks
                      ? columns - columns % (unroll * step)
                      : columns;
    if (first > 0) {
      llvm::SaveAndRestore restore(isInKept, true);
      partial = forColumns(0, first, step, width,
                           std::max<int64_t>(1, schedule.unroll), pass, row,
                           isActive, partial);
    }
    if (end > first)
      partial = forColumns(first, end, step, width, unroll, pass, row, isActive,
                           partial);
    end = std::max(first, end);
    if (end < columns)
      partial = hasBlocks ? visitRest(end, pass, row, isActive, partial)
                          : forColumns(end, columns, step, width, 1, pass, row,
                                       isActive, partial);
    collapse(partial);
  } else if (int64_t block = getBlockColumns(pass)) {
    int64_t blockEnd = columns - columns % block;
    if (blockEnd > 0)
      partial = forColumns(0, blockEnd, width, width, block / width, pass, row,
                           isActive, partial);
    collapse(partial);
    partial = visitRest(blockEnd, pass, row, isActive, partial);
  } else {
    int64_t vectorEnd = columns - columns % width;
    if (vectorEnd > 0)
      partial = forColumns(0, vectorEnd, width, width, 1, pass, row, isActive,
                           partial);
    collapse(partial);
    if (vectorEnd < columns)
      partial =
          forColumns(vectorEnd, columns, 1, 1, 1, pass, row, isActive, partial);
  }
  // What is of the whole matrix waits until all rows have been visited.
  SmallVector<ReduceColumnsOp> ofRow;
  SmallVector<Value> values;
  for (auto [op, value] : llvm::zip(reductions, partial)) {
    if (ReduceRowsOp whole = getWhole(op)) {
      Value &soFar = accumulators[findAccumulator(whole)];
      soFar = elements.combine(op.getKind(), soFar, value);
      continue;
    }
    ofRow.push_back(op);
    values.push_back(value);
  }
  combineThreads(pass, ofRow, values);
  for (auto [op, value] : llvm::zip(ofRow, values)) {
    // The reduction's own element type may be narrower or wider.
    elements.rowValues[op.getResult()] = convertElement(
        b, loc, value, elementOf(op.getInput()), elementOf(op.getResult()));
  }
}
