//===- Schedule.cpp - How a memory kernel's work is cut ------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule.h"

#include "TileLayout.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::fuseops;

/// Processors of an H200.
static constexpr int64_t kProcessors = 132;

namespace {
/// Every access to several columns, loads and stores.
SmallVector<Access> getWideAccesses(const KernelGroup &group) {
  SmallVector<Access> accesses;
  auto add = [&](const Access &access) {
    if (access.hasColumns())
      accesses.push_back(access);
  };
  for (Operation *op : group.getRowOps()) {
    auto concat = dyn_cast<ConcatOp>(op);
    if (concat && !concat.isScattered()) {
      llvm::for_each(group.getPartAccesses(concat), add);
      continue;
    }
    for (Value operand : op->getOperands())
      if (group.getPlacement(operand) != Placement::Block)
        if (std::optional<Access> access = group.getAccess(operand))
          add(*access);
  }
  for (const Store &store : group.getStores()) {
    if (group.getPlacement(store.value) == Placement::Block)
      continue;
    add(store.access);
    // What is stored as it is in memory.
    if (std::optional<Access> access = group.getAccess(store.value))
      add(*access);
  }
  return accesses;
}
} // namespace

/// On CUDA every vector access is aligned, so the width divides the row, its
/// pitch and its offset; 16 bytes of the narrowest element are one access.
static int64_t chooseCudaVector(const KernelGroup &group) {
  int64_t widest = 1;
  int64_t vector = 1 << 20;
  for (const Access &access : getWideAccesses(group)) {
    widest = std::max(widest, 16 / getElementBytes(access.element));
    vector = std::min(vector, powerOfTwoIn(access.columns));
    // Others are read one by one.
    if (access.isContiguous())
      vector = std::min(vector, access.getRowAlignment());
  }
  // And every row that it walks over, of computed values and of one column too.
  auto walk = [&](Value value) {
    if (group.getPlacement(value) == Placement::Full)
      vector = std::min(vector, powerOfTwoIn(getColumns(
                                    cast<RankedTensorType>(value.getType()))));
  };
  for (Operation *op : group.getRowOps()) {
    llvm::for_each(op->getOperands(), walk);
    llvm::for_each(op->getResults(), walk);
  }
  return std::min({vector, widest, int64_t(8)});
}

/// Elements that one thread would hold: of every tensor it reads, and of the
/// accumulators of reductions over rows.
static int64_t countHeldElements(const KernelGroup &group,
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

/// Whether a reduction over rows takes in a value of every column.
static bool hasWideRowReduction(const KernelGroup &group) {
  return llvm::any_of(group.getRowReductions(), [&](ReduceRowsOp op) {
    return group.getPlacement(op.getInput()) == Placement::Full;
  });
}

/// Shared memory in which a block combines the rows of its reductions: one
/// vector of each thread.
static int64_t getSharedBytes(const KernelGroup &group,
                              const Schedule &schedule) {
  int64_t widest = 0;
  if (schedule.rows > 1)
    for (ReduceRowsOp op : group.getRowReductions())
      widest = std::max(widest, getElementBytes(getAccumulatorType(
                                    op.getInput().getType().getElementType())));
  return widest * schedule.rows * schedule.threads * schedule.vector;
}

/// Elements that a thread may hold over all passes: their f32 values stay in
/// registers, of which a thread of a full block has 64.
static int64_t getHeldLimit(const Schedule &schedule) {
  return schedule.threads * schedule.rows > 512 ? 32 : 64;
}

/// Whether blocks may share a row: nothing is reduced over its columns, and
/// nothing is written once a row.
static bool canTileColumns(const KernelGroup &group) {
  int64_t columns = group.getSpace().columns;
  return group.getNumLevels() == 1 && hasWideRowReduction(group) &&
         llvm::all_of(group.getRowReductions(),
                      [&](ReduceRowsOp op) {
                        return getColumns(op.getInput().getType()) == columns;
                      }) &&
         llvm::all_of(group.getStores(), [&](const Store &store) {
           return group.isFinal(store.value) || store.access.columns == columns;
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
      countHeldElements(group, schedule) > getHeldLimit(schedule))
    return std::nullopt;
  // Rows are dealt to as many blocks as fill the processors six times.
  schedule.workers =
      schedule.tiles * llvm::divideCeil(6 * kProcessors, schedule.tiles);
  return schedule;
}

/// A tile a block; where columns are summed, blocks that stay in one column of
/// tiles and walk down.
static Schedule chooseCudaTiles(const KernelGroup &group) {
  Schedule schedule;
  schedule.vector = chooseCudaVector(group);
  schedule.tiles = llvm::divideCeil(group.getSpace().columns, kTileSize);
  for (schedule.threads = 512; schedule.threads > 128; schedule.threads /= 2)
    if (TileLayout(group, schedule.threads).getSharedBytes() <= kSharedBytes)
      break;
  if (group.getRowReductions().empty()) {
    schedule.rowsPerWorker = kTileSize;
    schedule.workers = int64_t(1) << 20;
    return schedule;
  }
  schedule.workers =
      schedule.tiles * llvm::divideCeil(2 * kProcessors, schedule.tiles);
  return schedule;
}

static Schedule chooseCuda(const KernelGroup &group) {
  if (group.isTile())
    return chooseCudaTiles(group);
  Schedule schedule;
  int64_t columns = group.getSpace().columns;
  schedule.vector = chooseCudaVector(group);
  // A schedule that is written down says `threads` along a whole row.
  if (!group.getGroup().getSchedule())
    if (auto tiled = chooseColumnTiles(group, schedule.vector))
      return *tiled;
  int64_t lanes =
      std::max<int64_t>(1, llvm::divideCeil(columns, schedule.vector));
  // The fewest threads that can hold the row.
  bool isRow = group.getNumLevels() > 1 || !group.getRowReductions().empty();
  schedule.threads =
      std::min<int64_t>(llvm::PowerOf2Ceil(lanes), isRow ? 1024 : 128);
  if (isRow)
    while (schedule.threads > 32) {
      Schedule half = schedule;
      half.threads /= 2;
      if (countHeldElements(group, half) > getHeldLimit(half))
        break;
      schedule = half;
    }
  schedule.holdsRow =
      countHeldElements(group, schedule) <= getHeldLimit(schedule);
  // A row that is not held is walked in a loop, which needs no more threads.
  if (!schedule.holdsRow)
    schedule.threads = std::min<int64_t>(schedule.threads, 256);
  int64_t blockThreads = isRow ? 256 : 128;
  bool spansWarps = schedule.threads > 32 && isRow;
  if (!spansWarps && (schedule.holdsRow || !hasWideRowReduction(group)))
    schedule.rows = std::max<int64_t>(1, blockThreads / schedule.threads);
  else if (schedule.threads < 32)
    schedule.threads = 32;
  schedule.rowsPerWorker = schedule.rows;
  // As many blocks as keep the memory busy; with reductions over rows each
  // block leaves a partial result, so fewer.
  int64_t resident = group.getRowReductions().empty() ? 2048 : 512;
  schedule.workers =
      kProcessors *
      std::clamp<int64_t>(resident / (schedule.threads * schedule.rows), 1, 16);
  return schedule;
}

static Schedule chooseCpu(const KernelGroup &group) {
  // Elements that make a task worth starting.
  constexpr int64_t kTaskElements = 32768;
  Schedule schedule;
  schedule.vector = 16;
  schedule.rowsPerWorker = std::max<int64_t>(
      1, kTaskElements / std::max<int64_t>(1, group.getSpace().columns));
  schedule.workers = group.getRowReductions().empty() ? 64 : 16;
  return schedule;
}

/// Checks a schedule of tiles that is written down.
static FailureOr<Schedule> verifyCudaTiles(const KernelGroup &group,
                                           Schedule schedule) {
  GroupOp op = group.getGroup();
  if (!llvm::is_contained({128, 256, 512}, schedule.threads) ||
      schedule.rows != 1)
    return op.emitOpError()
           << "expected schedule `threads` 128, 256 or 512 and `rows` 1 of a "
              "tile kernel, but got "
           << schedule.threads << " and " << schedule.rows;
  if (!group.getRowReductions().empty() &&
      schedule.workers % schedule.tiles != 0)
    return op.emitOpError()
           << "expected schedule `workers` to be a multiple of "
           << schedule.tiles
           << ", the tiles along a row that is reduced, but got "
           << schedule.workers;
  int64_t shared = TileLayout(group, schedule.threads).getSharedBytes();
  if (shared > kSharedBytes)
    return op.emitOpError()
           << "expected a schedule that keeps its tile in " << kSharedBytes
           << " bytes of shared memory, but got " << shared
           << ": fewer `threads` need less";
  return schedule;
}

FailureOr<Schedule> mlir::fuseops::chooseSchedule(const KernelGroup &group,
                                                  KernelDevice device) {
  bool isCuda = device == KernelDevice::CUDA;
  Schedule schedule = isCuda ? chooseCuda(group) : chooseCpu(group);
  GroupOp op = group.getGroup();
  if (!op.getSchedule())
    return isCuda && group.isTile() ? verifyCudaTiles(group, schedule)
                                    : schedule;
  int64_t largestVector = isCuda ? chooseCudaVector(group) : 64;
  DictionaryAttr entries = *op.getSchedule();
  for (NamedAttribute entry : entries) {
    StringAttr name = entry.getName();
    StringRef key = name.getValue();
    auto value = dyn_cast<IntegerAttr>(entry.getValue());
    int64_t number = value ? value.getInt() : 0;
    if (!llvm::isInt<32>(number) || number <= 0)
      return op.emitOpError() << "expected schedule `" << key
                              << "` to be a positive integer of 32 bits, but "
                                 "got "
                              << entry.getValue();
    if (key == "vector") {
      if (!llvm::isPowerOf2_64(number) || number > largestVector)
        return op.emitOpError()
               << "expected schedule `vector` to be a power of two of at most "
               << largestVector << ", which its tensors allow, but got "
               << number;
      schedule.vector = number;
    } else if (key == "threads") {
      schedule.threads = number;
    } else if (key == "rows") {
      schedule.rows = number;
    } else if (key == "workers") {
      schedule.workers = number;
    } else {
      return op.emitOpError() << "expected schedule keys `vector`, `threads`, "
                                 "`rows` or `workers`, but got `"
                              << key << "`";
    }
  }
  if (!isCuda) {
    schedule.threads = schedule.rows = 1;
    return schedule;
  }
  if (group.isTile())
    return verifyCudaTiles(group, schedule);
  if (!llvm::isPowerOf2_64(schedule.threads) || schedule.threads > 1024 ||
      schedule.rows > 1024 / schedule.threads ||
      (schedule.threads > 32 && schedule.rows > 1 && group.getNumLevels() > 1))
    return op.emitOpError()
           << "expected schedule `threads` to be a power of two, with `rows` "
              "at "
              "most 1024 threads together and `rows` 1 where a row spans "
              "warps, but got "
           << schedule.threads << " and " << schedule.rows;
  schedule.holdsRow =
      countHeldElements(group, schedule) <= 2 * getHeldLimit(schedule);
  if (schedule.rows > 1 && !schedule.holdsRow && hasWideRowReduction(group))
    return op.emitOpError()
           << "expected schedule `rows` 1 where a reduction over rows is kept "
              "in "
              "memory because `threads` cannot hold a row, but got "
           << schedule.rows;
  int64_t shared = getSharedBytes(group, schedule);
  if (shared > kSharedBytes)
    return op.emitOpError()
           << "expected a schedule that combines its rows in " << kSharedBytes
           << " bytes of shared memory, but got " << shared << ": `rows`, "
           << "`threads` and `vector` together";
  schedule.rowsPerWorker = schedule.rows;
  return schedule;
}
