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

/// Registers for what a thread keeps from one pass to the next.
constexpr int64_t kKeptRegisters = 40;

Value CudaTiles::makeArray(const Twine &name, Type type, int64_t count) {
  return elements.getShared(frame.kernel, name, type, count).pointer;
}

void CudaTiles::forEach(Value count, function_ref<void(Value)> body) {
  auto op = scf::ForOp::create(b, loc, frame.threadX, count,
                               elements.constant(schedule.threads));
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(op.getBody());
  body(op.getInductionVar());
}

void CudaTiles::barrier() { NVVM::Barrier0Op::create(b, loc); }

Value CudaTiles::bit(Value value, int64_t mask) {
  return arith::AndIOp::create(b, loc, value, elements.constant(mask));
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void CudaTiles::emitTiles() {
  thread = frame.threadX;
  lane = bit(thread, kTileLanes - 1);
  threadRow = mul(div(thread, kTileLanes), numRows);
  makeStaging();
  Value down = div(add(rows, elements.constant(kTileSize - 1)), kTileSize);
  auto loop = scf::ForOp::create(b, loc, frame.worker, mul(down, tileColumns),
                                 frame.workers, initialAccumulators());
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> updated(loop.getRegionIterArgs());
    emitTile(loop.getInductionVar(), updated);
    // A loop without results has its terminator already.
    if (!updated.empty())
      scf::YieldOp::create(b, loc, updated);
  }
  storeSums(loop.getResults());
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

void CudaTiles::emitTile(Value tile, MutableArrayRef<Value> accumulators) {
  enterTile(tile);
  firstOwnRow = add(firstRow, threadRow);
  firstOwnColumn = add(firstColumn, mul(lane, kTileColumns));
  holdElements();
  // Beside the elements it keeps where each vector lies.
  bool keepsElements =
      numRows * (kTileColumns * countKeptValues(group) + numVectors) <=
      kKeptRegisters;
  for (unsigned level = 0; level < group.getNumLevels(); ++level) {
    if (level > 0)
      barrier();
    if (level > 0 && !keepsElements) {
      firstOwnRow = forget(firstOwnRow);
      firstOwnColumn = forget(firstOwnColumn);
      holdElements();
    }
    computeBlocks(level);
    if (llvm::any_of(layout.kept, [&](Value value) {
          return group.getLevel(value) == level;
        }))
      barrier();
    emitPass(level, accumulators);
  }
  // The next tile's values take the place of these.
  if (layout.usesArrays())
    barrier();
}

/// `value` such that the compiler does not know it: what is computed from it is
/// computed again instead of being kept in registers.
Value CudaTiles::forget(Value value) {
  return LLVM::InlineAsmOp::create(
             b, loc, value.getType(), value, "mov.u64 $0, $1;", "=l,l",
             /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
             ArrayAttr())
      .getResult(0);
}

/// Lays out the thread's elements. Those past the matrix read the last ones.
void CudaTiles::holdElements() {
  held.clear();
  rowValues.clear();
  existing.clear();
  Extent height = group.getSpace().rows;
  bool hasRowTail = !height.isConstant() || height.constant % kTileSize != 0;
  bool hasColumnTail = columns % kTileSize != 0;
  for (int64_t r = 0; r < numRows; ++r) {
    Value row = add(firstOwnRow, elements.constant(r));
    Value exists;
    if (hasRowTail) {
      exists = less(row, rows);
      row = smaller(row, sub(rows, elements.constant(1)));
    }
    existing.push_back(exists);
    rowValues.push_back(computeRowValues(row));
    for (int64_t v = 0; v < numVectors; ++v) {
      Element &element = held.emplace_back();
      element.row = row;
      element.width = schedule.vector;
      element.isValid = exists;
      element.column =
          add(firstOwnColumn, elements.constant(v * schedule.vector));
      if (!hasColumnTail)
        continue;
      element.isValid =
          both(exists, less(element.column, elements.constant(columns)));
      element.column =
          smaller(element.column, elements.constant(columns - schedule.vector));
    }
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
  for (ReduceBlocksOp op : reductionsAt(level))
    takeIn(op, row, vector,
           elements.addend(
               ReductionKind::Max, fuseops::elementOf(op.getInput()),
               elements.compute(op.getInput(), element), element.isValid));
  for (const Store &store : storesAt(level, Placement::Full)) {
    Value value = elements.compute(store.value, element);
    if (!isStaged(store))
      elements.store(value, store.access, element);
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
    element.isValid = both(existing[row], isFirstOfRow());
    elements.store(elements.compute(store.value, element), store.access,
                   element);
  }
}

Value CudaTiles::isFirstOfRow() {
  return both(isZero(tileColumn), isZero(lane));
}

//===----------------------------------------------------------------------===//
// Block reductions
//===----------------------------------------------------------------------===//

/// Combines the values of the threads of a warp whose numbers differ in the
/// bits from `from` down to `to`.
Value CudaTiles::combineLanes(ReductionKind kind, Value value, int64_t from,
                              int64_t to) {
  for (int64_t offset = from; offset >= to; offset /= 2)
    value = elements.combine(kind, value, elements.shuffle(value, offset));
  return value;
}

void CudaTiles::takeIn(ReduceBlocksOp op, int64_t row, int64_t vector,
                       Value value) {
  // A thread has as many blocks of a kind as it has rows or columns of them.
  BlockShape shape = group.getBlock(op.getResult());
  int64_t slot = shape.columns == 1 ? vector : shape.rows == 1 ? row : 0;
  SmallVector<Value> &own = parts[op.getResult()];
  own.resize(std::max<size_t>(own.size(), slot + 1));
  if (own[slot])
    value = elements.combine(ReductionKind::Max, own[slot], value);
  bool isComplete = shape.rows == 1 && vector == numVectors - 1;
  own[slot] =
      isComplete ? elements.combineAll(ReductionKind::Max, value) : value;
}

void CudaTiles::storeParts(ReduceBlocksOp op) {
  constexpr ReductionKind kMax = ReductionKind::Max;
  BlockShape shape = group.getBlock(op.getResult());
  Value pointer = partialBlocks.lookup(op.getResult());
  SmallVector<Value> &own = parts[op.getResult()];
  Value warp = div(thread, 32);
  if (shape.columns == 1) {
    for (Value &value : own)
      value = combineLanes(kMax, value, kTileLanes, kTileLanes);
    // Part by part, and in a part row by row of the tile's blocks.
    int64_t parts = layout.countParts(op);
    Value place = mul(warp, kTileSize);
    if (shape.rows != kTileSize)
      place = add(mul(rem(warp, parts), countBlocks(shape)),
                  mul(div(warp, parts), kTileSize));
    when(isZero(bit(thread, kTileLanes)), [&] {
      for (auto [v, value] : llvm::enumerate(own)) {
        Value column = add(mul(lane, kTileColumns),
                           elements.constant(v * schedule.vector));
        elements.storeRaw(value, pointer, add(place, column), schedule.vector);
      }
    });
    return;
  }
  int64_t lanes = shape.rows == 1 ? shape.columns / kTileColumns : int64_t(32);
  for (Value &value : own)
    value = combineLanes(kMax, elements.combineAll(kMax, value), lanes / 2, 1);
  when(isZero(bit(thread, lanes - 1)), [&] {
    for (auto [r, value] : llvm::enumerate(own)) {
      Value index = warp;
      if (shape.rows == 1) {
        int64_t across = kTileSize / shape.columns;
        index = mul(add(threadRow, elements.constant(r)), across);
        if (across > 1)
          index = add(index, div(lane, lanes));
      }
      elements.storeRaw(value, pointer, index);
    }
  });
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
    isValid = both(existing[row], isFirstOfRow());
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
    values.push_back(combineLanes(op.getKind(), value, kTileLanes, kTileLanes));
  Value warp = div(thread, 32);
  barrier();
  when(isZero(bit(thread, kTileLanes)), [&] {
    for (auto [v, value] : llvm::enumerate(values)) {
      Value column =
          add(mul(lane, kTileColumns), elements.constant(v * schedule.vector));
      elements.storeRaw(value, sums, add(mul(warp, kTileSize), column),
                        schedule.vector);
    }
  });
  barrier();
  Value column =
      tileColumns == 1
          ? thread
          : add(mul(rem(frame.worker, tileColumns), kTileSize), thread);
  when(both(less(thread, elements.constant(kTileSize)),
            less(column, elements.constant(columns))),
       [&] {
         elements.storeRaw(combineWarps(op, thread, kTileSize),
                           partialOf(number), column);
       });
}

void CudaTiles::storeWholeSum(unsigned number, ReduceRowsOp op, Value sum) {
  sum =
      combineLanes(op.getKind(), elements.combineAll(op.getKind(), sum), 16, 1);
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
