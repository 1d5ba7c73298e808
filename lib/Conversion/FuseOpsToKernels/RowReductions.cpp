//===- RowReductions.cpp - Reductions across threads, rows and workers ---===//
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

/// Combines the threads of a row, in an order that depends on the schedule
/// only: within a warp by shuffles, between warps through shared memory.
void RowKernel::combineThreads(Pass pass,
                               MutableArrayRef<ReduceColumnsOp> reductions,
                               SmallVectorImpl<Value> &values) {
  if (!isCuda || schedule.threads == 1 || values.empty())
    return;
  int64_t lanes = std::min<int64_t>(schedule.threads, 32);
  for (auto [op, value] : llvm::zip(reductions, values))
    value = elements.combineLanes(op.getKind(), value, lanes / 2, 1);
  int64_t warps = schedule.threads / 32;
  if (warps <= 1)
    return;
  // With several warps a row there is one row a block.
  int64_t slots = warps * static_cast<int64_t>(values.size());
  Shared shared = elements.getShared(
      frame.kernel,
      "_level" + Twine(pass.level) + "_columns" + Twine(pass.columns),
      ValueRange(values).getTypes(),
      schedule.overlapsRows() ? 2 * slots : slots);
  Value first;
  if (schedule.overlapsRows())
    first = mul(half, elements.constant(slots));
  auto inHalf = [&](Value number) {
    return first ? add(first, number) : number;
  };
  Value warp =
      arith::ShRUIOp::create(b, loc, frame.threadX, elements.constant(5));
  Value lane =
      arith::AndIOp::create(b, loc, frame.threadX, elements.constant(31));
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lane,
                                        elements.constant(0));
  // The row before may still be reading; where rows overlap, from the other
  // half. This half was read two rows ago, before the barrier of the row
  // between.
  if (!schedule.overlapsRows())
    NVVM::Barrier0Op::create(b, loc);
  auto write = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(write.thenBlock());
    for (auto [i, value] : llvm::enumerate(values))
      elements.storeSlot(value, shared,
                         inHalf(add(warp, elements.constant(i * warps))));
  }
  NVVM::Barrier0Op::create(b, loc);
  for (auto [i, op] : llvm::enumerate(reductions)) {
    Value total;
    for (int64_t w = 0; w < warps; ++w) {
      Value part =
          elements.loadSlot(shared, inHalf(elements.constant(i * warps + w)),
                            values[i].getType());
      total = total ? elements.combine(op.getKind(), total, part) : part;
    }
    values[i] = total;
  }
}

//===----------------------------------------------------------------------===//
// Partial results
//===----------------------------------------------------------------------===//

bool mlir::fuseops::keepsRunsInMemory(const KernelGroup &group,
                                      const Schedule &schedule,
                                      ReduceRowsOp op) {
  return schedule.sumsInRuns &&
         group.getPlacement(op.getInput()) == Placement::Full;
}

/// Moves each pointer to partial results to this worker's own.
void RowKernel::locatePartials() {
  for (size_t i = 0; i < frame.partials.size(); ++i) {
    ReduceRowsOp op = group.getRowReductions()[i];
    Value &pointer = frame.partials[i];
    bool isFull = group.getPlacement(op.getInput()) == Placement::Full;
    Value first =
        mul(frame.worker, elements.constant(isFull ? columnsOf(op.getInput())
                                                   : schedule.tiles));
    // Each tile of a row leaves one of the whole matrix.
    if (!isFull && tile)
      first = add(first, tile);
    pointer =
        LLVM::GEPOp::create(b, loc, pointer.getType(), getAccumulatorType(op),
                            pointer, ArrayRef<LLVM::GEPArg>{first});
  }
}

/// Neutral elements of what is summed in registers.
SmallVector<Value> RowKernel::initialAccumulators() {
  SmallVector<Value> accumulators;
  for (ReduceRowsOp op : group.getRowReductions()) {
    if (!isInRegisters(op))
      continue;
    bool isFull = group.getPlacement(op.getInput()) == Placement::Full;
    accumulators.append(vectorsHeld(op),
                        elements.identity(op.getKind(),
                                          elementOf(op.getInput()),
                                          isFull ? schedule.vector : 1));
  }
  return accumulators;
}

/// Visits the partial results of `op`, on CUDA the thread's part of them.
void RowKernel::forPartial(
    ReduceRowsOp op, function_ref<void(Value index, int64_t width)> body) {
  int64_t columns = columnsOf(op.getInput());
  auto visit = [&](Value from, int64_t to, int64_t step, int64_t width) {
    auto loop = scf::ForOp::create(b, loc, from, elements.constant(to),
                                   elements.constant(step));
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar(), width);
  };
  int64_t width = schedule.vector;
  if (isCuda)
    return visit(firstColumn, columns, width * schedule.threads, width);
  int64_t vectorEnd = columns - columns % width;
  visit(elements.constant(0), vectorEnd, width, width);
  visit(elements.constant(vectorEnd), columns, 1, 1);
}

/// Writes neutral elements where the coming run is summed in memory: the first
/// in the worker's partial results, later ones behind those of all workers.
void RowKernel::beginRun(Value isFirst) {
  runs.clear();
  for (size_t i = 0; i < frame.partials.size(); ++i) {
    ReduceRowsOp op = group.getRowReductions()[i];
    Value pointer = frame.partials[i];
    Value &run = runs.emplace_back(pointer);
    if (isInRegisters(op))
      continue;
    if (isFirst) {
      Value behind = LLVM::GEPOp::create(
          b, loc, pointer.getType(), getAccumulatorType(op), pointer,
          ArrayRef<LLVM::GEPArg>{elements.constant(schedule.getRowWorkers() *
                                                   columnsOf(op.getInput()))});
      run = arith::SelectOp::create(b, loc, isFirst, pointer, behind);
    }
    forPartial(op, [&](Value index, int64_t width) {
      elements.storeRaw(
          elements.identity(op.getKind(), elementOf(op.getInput()), width), run,
          index, isCuda ? width : 1);
    });
  }
}

/// Takes the sums of a run into the worker's partial results.
void RowKernel::endRun(Value isFirst, ValueRange accumulators) {
  for (size_t number = 0; number < frame.partials.size(); ++number) {
    ReduceRowsOp op = group.getRowReductions()[number];
    if (isInRegisters(op)) {
      storeHeld(number, accumulators.take_front(vectorsHeld(op)), isFirst);
      accumulators = accumulators.drop_front(vectorsHeld(op));
      continue;
    }
    if (!isFirst)
      continue;
    auto choice = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(choice.elseBlock());
    Value partial = frame.partials[number];
    forPartial(op, [&](Value index, int64_t width) {
      auto load = [&](Value pointer) {
        return elements.loadRaw(pointer, index, getAccumulatorType(op), width);
      };
      elements.storeRaw(
          elements.combine(op.getKind(), load(partial), load(runs[number])),
          partial, index);
    });
  }
}

/// Combines the rows that a block handles at once, in an order that depends on
/// the schedule only: one after the other, where they are many those of a warp
/// by shuffles before. Each thread's value becomes, in those of the first row,
/// that of all rows.
Value RowKernel::combineRows(ReductionKind kind, Value value) {
  if (!isCuda || schedule.rows == 1)
    return value;
  // Few rows are not worth the registers.
  constexpr int64_t kFewRows = 32;
  int64_t step = 1;
  if (schedule.rows > kFewRows && schedule.threads * schedule.rows % 32 == 0)
    for (; schedule.threads * step < 32; step *= 2)
      value = elements.combine(
          kind, value, elements.shuffle(value, schedule.threads * step));
  auto vector = dyn_cast<VectorType>(value.getType());
  int64_t width = vector ? vector.getNumElements() : 1;
  Type element = getElementTypeOrSelf(value.getType());
  Value shared = getRowScratch();
  Value lane = mul(frame.threadX, elements.constant(width));
  Value own = add(
      mul(frame.threadY, elements.constant(schedule.threads * width)), lane);
  NVVM::Barrier0Op::create(b, loc);
  elements.storeRaw(value, shared, own);
  NVVM::Barrier0Op::create(b, loc);
  Value first = elements.loadRaw(shared, lane, element, width);
  auto loop = scf::ForOp::create(b, loc, elements.constant(step),
                                 elements.constant(schedule.rows),
                                 elements.constant(step), first);
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(loop.getBody());
  Value index = add(lane, mul(loop.getInductionVar(),
                              elements.constant(schedule.threads * width)));
  Value part = elements.loadRaw(shared, index, element, width);
  Value total = elements.combine(kind, loop.getRegionIterArg(0), part);
  scf::YieldOp::create(b, loc, total);
  return loop.getResult(0);
}

/// Combines the values of all threads of a block, of a maximum or minimum,
/// which no order changes.
Value RowKernel::combineBlock(ReduceRowsOp op, Value value) {
  if (!isCuda)
    return value;
  int64_t parts = countBlockParts(schedule);
  int64_t lanes = schedule.threads * schedule.rows / parts;
  value = elements.combineLanes(op.getKind(), value, lanes / 2, 1);
  if (parts == 1)
    return value;
  SmallVector<Type> types;
  for (ReduceRowsOp other : group.getRowReductions())
    if (group.isWhole(other))
      types.push_back(getAccumulatorType(other));
  // LLVM may read a fourth one beside three.
  Shared shared = elements.getShared(frame.kernel, "_whole", types,
                                     llvm::alignTo(parts, 4));
  Value thread = add(mul(frame.threadY, elements.constant(schedule.threads)),
                     frame.threadX);
  Value number =
      arith::DivUIOp::create(b, loc, thread, elements.constant(lanes));
  Value lane = arith::RemUIOp::create(b, loc, thread, elements.constant(lanes));
  NVVM::Barrier0Op::create(b, loc);
  auto write =
      scf::IfOp::create(b, loc,
                        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                              lane, elements.constant(0)),
                        /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(write.thenBlock());
    elements.storeSlot(value, shared, number);
  }
  NVVM::Barrier0Op::create(b, loc);
  Value first =
      elements.loadSlot(shared, elements.constant(0), value.getType());
  auto loop =
      scf::ForOp::create(b, loc, elements.constant(1), elements.constant(parts),
                         elements.constant(1), first);
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(loop.getBody());
  Value part =
      elements.loadSlot(shared, loop.getInductionVar(), value.getType());
  scf::YieldOp::create(
      b, loc, elements.combine(op.getKind(), loop.getRegionIterArg(0), part));
  return loop.getResult(0);
}

/// Shared memory for one vector of each thread. One reduction after the other
/// uses it.
Value RowKernel::getRowScratch() {
  SmallVector<Type> types;
  for (ReduceRowsOp op : group.getRowReductions())
    types.push_back(getAccumulatorType(op));
  return elements
      .getShared(frame.kernel, "_rows", types,
                 schedule.rows * schedule.threads * schedule.vector)
      .pointer;
}

/// Takes `value`, of the columns from `column` on, into partial results.
void RowKernel::storePartial(unsigned number, Value column, Value value,
                             Value isFirst) {
  Value pointer = frame.partials[number];
  if (isFirst) {
    ReduceRowsOp op = group.getRowReductions()[number];
    auto choice = scf::IfOp::create(b, loc, value.getType(), isFirst,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(choice.thenBlock());
    scf::YieldOp::create(b, loc, value);
    b.setInsertionPointToStart(choice.elseBlock());
    Value soFar = elements.loadRaw(pointer, column, value.getType(), 1);
    scf::YieldOp::create(b, loc, elements.combine(op.getKind(), soFar, value));
    value = choice.getResult(0);
  }
  elements.storeRaw(value, pointer, column);
}

/// Takes what each thread has summed in registers into partial results.
void RowKernel::storeHeld(unsigned number, ValueRange held, Value isFirst) {
  auto isZero = [&](Value thread) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread,
                                 elements.constant(0));
  };
  ReduceRowsOp op = group.getRowReductions()[number];
  int64_t columns = columnsOf(op.getInput());
  bool isFull = group.getPlacement(op.getInput()) == Placement::Full;
  for (auto [i, own] : llvm::enumerate(held)) {
    Value value = group.isWhole(op) ? combineBlock(op, own)
                                    : combineRows(op.getKind(), own);
    Value column = elements.constant(0), mayStore;
    if (isCuda && schedule.rows > 1)
      mayStore = isZero(frame.threadY);
    if (isFull) {
      column = columnOf(i);
      if (isTail(i, columns))
        mayStore = both(mayStore, less(column, elements.constant(columns)));
    } else if (isCuda && schedule.threads > 1) {
      mayStore = both(mayStore, isZero(frame.threadX));
    }
    if (!mayStore) {
      storePartial(number, column, value, isFirst);
      continue;
    }
    auto guard = scf::IfOp::create(b, loc, mayStore, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(guard.thenBlock());
    storePartial(number, column, value, isFirst);
  }
}
