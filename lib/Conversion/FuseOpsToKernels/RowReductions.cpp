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
void RowKernel::combineThreads(Pass pass, SmallVectorImpl<Value> &values) {
  if (!isCuda || schedule.threads == 1 || values.empty())
    return;
  SmallVector<ReduceColumnsOp> reductions = reductionsIn(pass);
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

/// Moves each pointer to partial results to this worker's own, and writes the
/// neutral element where they are kept in memory.
void RowKernel::initializePartials() {
  for (size_t i = 0; i < frame.partials.size(); ++i) {
    ReduceRowsOp op = group.getRowReductions()[i];
    Value &pointer = frame.partials[i];
    bool isFull = group.getPlacement(op.getInput()) == Placement::Full;
    Type type = getAccumulatorType(op);
    int64_t columns = columnsOf(op.getInput());
    Value first = mul(frame.worker, elements.constant(isFull ? columns : 1));
    pointer = LLVM::GEPOp::create(b, loc, pointer.getType(), type, pointer,
                                  ArrayRef<LLVM::GEPArg>{first});
    if (isInRegisters(op))
      continue;
    auto fill = [&](Value from, int64_t to, int64_t step, int64_t width) {
      auto loop = scf::ForOp::create(b, loc, from, elements.constant(to),
                                     elements.constant(step));
      OpBuilder::InsertionGuard restore(b);
      b.setInsertionPointToStart(loop.getBody());
      elements.storeRaw(
          elements.identity(op.getKind(), elementOf(op.getInput()), width),
          pointer, loop.getInductionVar(), isCuda ? width : 1);
    };
    int64_t width = schedule.vector;
    if (isCuda) {
      fill(firstColumn, columns, width * schedule.threads, width);
      continue;
    }
    int64_t vectorEnd = columns - columns % width;
    fill(elements.constant(0), vectorEnd, width, width);
    fill(elements.constant(vectorEnd), columns, 1, 1);
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

void RowKernel::storeHeldPartials(ValueRange accumulators) {
  auto isZero = [&](Value thread) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread,
                                 elements.constant(0));
  };
  unsigned next = 0;
  for (size_t number = 0; number < frame.partials.size(); ++number) {
    ReduceRowsOp op = group.getRowReductions()[number];
    Value pointer = frame.partials[number];
    int64_t columns = columnsOf(op.getInput());
    if (!isInRegisters(op))
      continue;
    bool isFull = group.getPlacement(op.getInput()) == Placement::Full;
    for (int64_t i = 0; i < vectorsHeld(op); ++i) {
      Value value = combineRows(op.getKind(), accumulators[next++]);
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
        elements.storeRaw(value, pointer, column);
        continue;
      }
      auto guard =
          scf::IfOp::create(b, loc, mayStore, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard restore(b);
      b.setInsertionPointToStart(guard.thenBlock());
      elements.storeRaw(value, pointer, column);
    }
  }
}
