//===- RowSchedule.cpp - How CUDA row kernels are cut -------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleTemplates.h"

#include "FuseOps/Conversion/MergeLaunches.h"
#include "RowKernel.h"
#include "TileLayout.h"
#include "TileRing.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fuseops;

int64_t mlir::fuseops::countHeldElements(const KernelGroup &group,
                                         const Schedule &schedule) {
  llvm::SmallSetVector<Value, 8> inputs;
  for (Operation *op : group.getRowOps())
    for (Value operand : op->getOperands())
      if (group.getAccess(operand) &&
          group.getPlacement(operand) == Placement::Full)
        inputs.insert(operand);
  int64_t held = 0;
  for (Value input : inputs)
    held += schedule.vector * schedule.getVectorsPerThread(getColumns(
                                  cast<RankedTensorType>(input.getType())));
  for (ReduceRowsOp op : group.getRowReductions())
    if (group.getPlacement(op.getInput()) == Placement::Full)
      held += schedule.vector *
              schedule.getVectorsPerThread(getColumns(op.getInput().getType()));
  return held;
}

bool mlir::fuseops::hasWideRowReduction(const KernelGroup &group) {
  return llvm::any_of(group.getRowReductions(), [&](ReduceRowsOp op) {
    return group.getPlacement(op.getInput()) == Placement::Full;
  });
}

bool mlir::fuseops::hasBlocks(const KernelGroup &group) {
  return llvm::any_of(group.getRowOps(), [&](Operation *op) {
    return group.getBlocksOf(op).isVisited();
  });
}

/// The fewest threads along a row that visit each block of columns together, or
/// all of a shorter row.
static int64_t countBlockThreads(const KernelGroup &group, int64_t vector) {
  int64_t threads = 1;
  for (Operation *op : group.getRowOps())
    if (BlockShape shape = group.getBlocksOf(op); shape.isVisited()) {
      int64_t columns = std::min(shape.columns, shape.matrix.columns);
      threads = std::max<int64_t>(
          threads, llvm::PowerOf2Ceil(llvm::divideCeil(columns, vector)));
    }
  return threads;
}

/// Shared memory in which a block combines the rows of its reductions: one
/// vector of each thread, or one value of a part of its threads.
static int64_t getSharedBytes(const KernelGroup &group,
                              const Schedule &schedule) {
  int64_t widest = 0, widestWhole = 0;
  for (ReduceRowsOp op : group.getRowReductions()) {
    int64_t bytes = getElementBytes(
        getAccumulatorType(op.getInput().getType().getElementType()));
    if (group.isWhole(op))
      widestWhole = std::max(widestWhole, bytes);
    else if (schedule.rows > 1)
      widest = std::max(widest, bytes);
  }
  return widest * schedule.rows * schedule.threads * schedule.vector +
         widestWhole * llvm::alignTo(countBlockParts(schedule), 4);
}

/// Elements that a thread may hold over all passes: their f32 values stay in
/// registers, of which a thread of a full block has 64.
static int64_t getHeldLimit(const Schedule &schedule) {
  return schedule.threads * schedule.rows > 512 ? 32 : 64;
}

bool mlir::fuseops::mayHoldRow(const KernelGroup &group,
                               const Schedule &schedule) {
  return countHeldElements(group, schedule) <= 2 * getHeldLimit(schedule);
}

/// Whether blocks may share a row: nothing is reduced over its columns, and
/// nothing is written once a row.
static bool canTileColumns(const KernelGroup &group) {
  int64_t columns = group.getSpace().columns;
  return group.getNumLevels() == 1 && hasWideRowReduction(group) &&
         llvm::all_of(group.getRowReductions(),
                      [&](ReduceRowsOp op) {
                        return getColumns(cast<RankedTensorType>(
                                   group.getReduced(op).getType())) == columns;
                      }) &&
         llvm::all_of(group.getStores(), [&](const Store &store) {
           return group.isFinal(store.value) ||
                  group.getPlacement(store.value) == Placement::Block ||
                  store.access.columns == columns;
         });
}

/// Sums over rows without sums over columns: each block keeps the sums of a few
/// columns in registers and walks down the rows.
static std::optional<Schedule> chooseColumnTiles(const KernelGroup &group,
                                                 int64_t vector) {
  Schedule schedule;
  schedule.vector = vector;
  schedule.threads = 32;
  schedule.rows = 8;
  schedule.holdsRow = true;
  schedule.tiles =
      llvm::divideCeil(group.getSpace().columns, schedule.getWidth());
  if (schedule.tiles <= 1 || !canTileColumns(group) ||
      schedule.threads < countBlockThreads(group, vector) ||
      countHeldElements(group, schedule) > getHeldLimit(schedule))
    return std::nullopt;
  // Rows are dealt to as many blocks as fill the processors six times.
  schedule.workers =
      schedule.tiles * llvm::divideCeil(6 * kProcessors, schedule.tiles);
  return schedule;
}

/// Whether every tensor of the group has few elements, whatever the symbol is.
static bool hasFewElements(const KernelGroup &group) {
  GroupOp op = group.getGroup();
  return llvm::all_of(
      llvm::concat<const Type>(llvm::to_vector(op.getInputs().getTypes()),
                               llvm::to_vector(op.getOutputs().getTypes())),
      [](Type type) {
        Extent elements = getNumElements(cast<RankedTensorType>(type));
        return elements.isConstant() && elements.constant <= kSmallElements;
      });
}

/// One block for all rows, where it is done with them soon: it may then run as
/// a part of another launch.
static std::optional<Schedule> chooseOneBlock(const KernelGroup &group,
                                              Schedule schedule) {
  // Rows that one block visits one after the other.
  constexpr int64_t kSteps = 8;
  if (!hasFewElements(group) || hasBlocks(group))
    return std::nullopt;
  bool isRow = group.getNumLevels() > 1 || !group.getRowReductions().empty();
  bool canSplit =
      !isRow || (schedule.threads <= 32 &&
                 (schedule.holdsRow || !hasWideRowReduction(group)));
  if (!canSplit)
    schedule.threads = kMergedThreads;
  schedule.rows = kMergedThreads / schedule.threads;
  schedule.rowsPerWorker = schedule.rows;
  schedule.workers = 1;
  int64_t steps =
      llvm::divideCeil(group.getSpace().rows.constant, schedule.rows) *
      schedule.getVectorsPerThread(group.getSpace().columns);
  if (steps > kSteps || getSharedBytes(group, schedule) > kSharedBytes)
    return std::nullopt;
  return schedule;
}

Schedule mlir::fuseops::chooseCudaRows(const KernelGroup &group) {
  Schedule schedule;
  int64_t columns = group.getSpace().columns;
  schedule.vector = chooseCudaVector(group);
  // A schedule that is written down says `threads` along a whole row, unless it
  // says `tiles` too.
  std::optional<DictionaryAttr> written = group.getGroup().getSchedule();
  if (!written || written->contains("tiles"))
    if (auto tiled = chooseColumnTiles(group, schedule.vector))
      return *tiled;
  int64_t lanes =
      std::max<int64_t>(1, llvm::divideCeil(columns, schedule.vector));
  // The fewest threads that can hold the row.
  bool isRow = group.getNumLevels() > 1 || !group.getRowReductions().empty();
  schedule.threads =
      std::min<int64_t>(llvm::PowerOf2Ceil(lanes), isRow ? 1024 : 128);
  if (isRow)
    while (schedule.threads >
           std::max<int64_t>(32, countBlockThreads(group, schedule.vector))) {
      Schedule half = schedule;
      half.threads /= 2;
      if (countHeldElements(group, half) > getHeldLimit(half))
        break;
      schedule = half;
    }
  schedule.holdsRow =
      countHeldElements(group, schedule) <= getHeldLimit(schedule);
  // A row that is not held is walked in a loop, which needs no more threads.
  if (!schedule.holdsRow) {
    schedule.threads = std::min<int64_t>(schedule.threads, 256);
    // Of two visits the assembler would not move the second's loads to before
    // the exchange of the first's threads.
    schedule.prefetch = hasBlocks(group);
  }
  if (!written)
    if (auto small = chooseOneBlock(group, schedule))
      return *small;
  int64_t blockThreads = isRow ? 256 : 128;
  bool spansWarps = schedule.threads > 32 && isRow;
  if (!spansWarps && (schedule.holdsRow || !hasWideRowReduction(group)))
    schedule.rows = std::max<int64_t>(1, blockThreads / schedule.threads);
  else if (schedule.threads < 32)
    schedule.threads = 32;
  schedule.rowsPerWorker = schedule.rows;
  schedule.workers = kTasks;
  // Each block leaves a partial result of reductions over rows: as few as keep
  // the memory busy.
  if (!group.getRowReductions().empty())
    schedule.workers =
        kProcessors *
        std::clamp<int64_t>(512 / (schedule.threads * schedule.rows), 1, 16);
  return schedule;
}

LogicalResult mlir::fuseops::verifyRowKeys(const KernelGroup &group,
                                           const KernelTarget &target,
                                           const Schedule &schedule) {
  GroupOp op = group.getGroup();
  if (!target.isCUDA())
    return success();
  if (schedule.prefetch > 1 || schedule.streams > 1)
    return op.emitOpError() << "expected schedule `prefetch` and `streams` to "
                               "be 0 or 1, but got "
                            << schedule.prefetch << " and " << schedule.streams;
  if (group.isTile() && (schedule.prefetch || schedule.unroll ||
                         schedule.streams || schedule.kept))
    return op.emitOpError() << "expected schedule `prefetch`, `unroll`, `kept` "
                               "and `streams` of a kernel of rows only, but "
                               "got template `tile`";
  return success();
}

/// Checks that blocks which share a row can.
static LogicalResult verifyColumnTiles(const KernelGroup &group,
                                       const Schedule &schedule) {
  GroupOp op = group.getGroup();
  int64_t tiles =
      llvm::divideCeil(group.getSpace().columns, schedule.getWidth());
  if (schedule.tiles != tiles || !canTileColumns(group) || !schedule.holdsRow)
    return op.emitOpError()
           << "expected schedule `tiles` to be 1, or " << tiles
           << ", the parts of `vector` times `threads` columns that a row has, "
              "where rows alone are reduced, but got "
           << schedule.tiles;
  if (schedule.workers % tiles != 0)
    return op.emitOpError()
           << "expected schedule `workers` to be a multiple of " << tiles
           << ", the tiles along a row that is reduced, but got "
           << schedule.workers;
  return success();
}

int64_t mlir::fuseops::getBytesBesideRing(const KernelGroup &group,
                                          const Schedule &schedule) {
  int64_t sums = llvm::count_if(group.getRowOps(), [](Operation *op) {
    return isa<ReduceColumnsOp, ReduceBlocksOp>(op);
  });
  int64_t warps = llvm::divideCeil(schedule.threads * schedule.rows, 32);
  return getSharedBytes(group, schedule) + 2 * sums * warps * sizeof(double);
}

LogicalResult mlir::fuseops::verifyCudaRows(const KernelGroup &group,
                                            const KernelTarget &target,
                                            Schedule &schedule) {
  GroupOp op = group.getGroup();
  if (!llvm::isPowerOf2_64(schedule.threads) || schedule.threads > 1024 ||
      schedule.rows > 1024 / schedule.threads ||
      (schedule.threads > 32 && schedule.rows > 1 && group.getNumLevels() > 1))
    return op.emitOpError()
           << "expected schedule `threads` to be a power of two, with `rows` "
              "at most 1024 threads together and `rows` 1 where a row spans "
              "warps, but got "
           << schedule.threads << " and " << schedule.rows;
  if (int64_t least = countBlockThreads(group, schedule.vector);
      schedule.threads < least)
    return op.emitOpError()
           << "expected schedule `threads` to be at least " << least
           << ", which with `vector` visit a block of columns, but got "
           << schedule.threads;
  // What is kept is walked over.
  schedule.holdsRow = !schedule.kept && mayHoldRow(group, schedule);
  if (schedule.rows > 1 && !schedule.holdsRow && hasWideRowReduction(group))
    return op.emitOpError()
           << "expected schedule `rows` 1 where a reduction over rows is kept "
              "in memory because `threads` cannot hold a row, but got "
           << schedule.rows;
  int64_t shared = getSharedBytes(group, schedule);
  if (shared > kSharedBytes)
    return op.emitOpError()
           << "expected a schedule that combines its rows in " << kSharedBytes
           << " bytes of shared memory, but got " << shared << ": `rows`, "
           << "`threads` and `vector` together";
  if (schedule.unroll && schedule.holdsRow)
    return op.emitOpError()
           << "expected schedule `unroll` where a row is walked in a loop, but "
              "its "
           << schedule.threads << " threads hold it";
  if (schedule.stages &&
      failed(verifyRowStages(group, schedule,
                             getBytesBesideRing(group, schedule),
                             getSharedLimit(target.smVersion))))
    return failure();
  if (schedule.kept &&
      failed(verifyKept(group, schedule, getBytesBesideRing(group, schedule),
                        getSharedLimit(target.smVersion))))
    return failure();
  if (schedule.tiles > 1)
    return verifyColumnTiles(group, schedule);
  schedule.rowsPerWorker = schedule.rows;
  return success();
}
