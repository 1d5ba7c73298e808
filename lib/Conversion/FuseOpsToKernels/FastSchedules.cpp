//===- FastSchedules.cpp - What was fastest on an H200 -------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Measured on 2026-11-30, benchmarks/ at their larger sizes: a tile that is
// fetched asynchronously while another block of the processor computes beats
// longer rings, with a block for each tile, which the processors draw. Blocks
// that keep sums of columns stay, and read two rows ahead.
//
//===----------------------------------------------------------------------===//

#include "ScheduleTemplates.h"

#include "KeptRow.h"
#include "TileLayout.h"
#include "TileRing.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fuseops;

/// Whether a value is more than an element of an input, or its magnitude.
static bool isComputed(Value value) {
  auto op = value.getDefiningOp<PointwiseOp>();
  bool isMagnitude =
      op && op.getInputs().size() == 1 && findView(op.getInputs().front()) &&
      llvm::hasSingleElement(op.getBody().front().without_terminator());
  return !findView(value) && !isMagnitude;
}

/// Whether maxima of parts of rows or columns are taken of values that a kernel
/// computes: many registers, of which more threads have enough.
static bool hasComputedBlocks(const TileLayout &layout) {
  return llvm::any_of(layout.reductions, [](ReduceBlocksOp op) {
    return (op.getBlockRows() == 1 || op.getBlockColumns() == 1) &&
           isComputed(op.getInput());
  });
}

static void listTiles(const KernelGroup &group, const Schedule &plain,
                      SmallVectorImpl<Schedule> &schedules) {
  TileLayout layout(group, plain.threads);
  Schedule schedule = plain;
  schedule.workers = kTasks;
  schedule.tilePartials = !group.getRowReductions().empty();
  bool isWhole = !layout.reductions.empty() &&
                 llvm::all_of(layout.reductions, [](ReduceBlocksOp op) {
                   return op.getBlockRows() == kTileSize &&
                          op.getBlockColumns() == kTileSize;
                 });
  bool hasBlocks = hasComputedBlocks(layout);
  schedule.threads = hasBlocks ? 512 : 256;
  // A tile that is reduced whole has to be read before anything is written.
  schedule.stages = isWhole ? 0 : 1;
  for (schedule.residents = hasBlocks || isWhole ? 2 : 3;
       schedule.residents > 1; --schedule.residents)
    schedules.push_back(schedule);
  schedule.threads = 512;
  schedule.residents = 1;
  schedules.push_back(schedule);
  // Without an input to fetch, or room for it. Elements one by one have an
  // address each in registers, which bounds would be too few for.
  if (layout.reductions.size() > 2 || plain.vector == 1)
    return;
  schedule.residents = 2;
  schedule.stages = 0;
  schedule.threads = 256;
  schedules.push_back(schedule);
}

/// Whether rows are done with when they have been visited once.
static bool visitsOnce(const KernelGroup &group) {
  return llvm::all_of(group.getStores(), [&](const Store &store) {
    return group.isFinal(store.value) || group.getLevel(store.value) == 0;
  });
}

/// Whether what is known of a row are two sums, as of a mean and a variance.
static bool hasTwoSums(const KernelGroup &group) {
  int64_t sums = 0;
  for (Operation *op : group.getRowOps())
    if (auto reduction = dyn_cast<ReduceColumnsOp>(op)) {
      if (reduction.getKind() != ReductionKind::Sum)
        return false;
      ++sums;
    }
  return sums == 2;
}

/// Blocks that keep their rows, few enough threads each that as many blocks fit
/// into a processor as rows do: one's loads hide behind the other's exchanges.
static void listKept(const KernelGroup &group, const KernelTarget &target,
                     const Schedule &plain,
                     SmallVectorImpl<Schedule> &schedules) {
  constexpr int64_t kMostBlocks = 3;
  Schedule schedule = plain;
  int64_t limit = getSharedLimit(target.smVersion);
  schedule.prefetch = 0;
  schedule.streams = 1;
  schedule.threads = 256;
  schedule.unroll = 1;
  int64_t beside = getBytesBesideRing(group, schedule);
  schedule.kept = countKeptColumns(group, schedule, beside, limit);
  if (!schedule.kept)
    return;
  int64_t blocks = limit / (KeptRow(group, schedule).getBytes() + beside);
  if (blocks == 1) {
    schedule.threads = 1024;
    schedule.unroll = 2;
    schedule.kept = countKeptColumns(
        group, schedule, getBytesBesideRing(group, schedule), limit);
  }
  schedule.workers = kProcessors * std::min(blocks, kMostBlocks);
  if (schedule.kept)
    schedules.push_back(schedule);
}

static void listRows(const KernelGroup &group, const KernelTarget &target,
                     const Schedule &plain,
                     SmallVectorImpl<Schedule> &schedules) {
  Schedule schedule = plain;
  ArrayRef<ReduceRowsOp> reductions = group.getRowReductions();
  if (reductions.empty()) {
    // Long rows are kept in shared memory as far as they fit, and the rest is
    // read again from the cache: nothing else there.
    constexpr int64_t kKeptRow = 24576;
    if (group.getNumLevels() > 1 && !hasBlocks(group) &&
        (!plain.holdsRow || group.getSpace().columns > kKeptRow)) {
      listKept(group, target, plain, schedules);
      if (!schedules.empty())
        return;
    }
    // Long bursts.
    constexpr int64_t kLongRow = 65536;
    if (group.getNumLevels() > 1 && !plain.holdsRow &&
        group.getSpace().columns >= kLongRow) {
      schedule.threads = 1024;
      schedule.unroll = 4;
      schedule.streams = 1;
      schedules.push_back(schedule);
      return;
    }
    // Two warps meet sooner than four: one after the other for each sum.
    constexpr int64_t kHeldRow = 8192;
    schedule.threads = 64;
    if (plain.holdsRow && plain.threads > schedule.threads &&
        group.getSpace().columns >= kHeldRow && hasTwoSums(group) &&
        mayHoldRow(group, schedule))
      schedules.push_back(schedule);
    return;
  }
  if (plain.tiles > 1) {
    schedule.rows = 16;
    schedule.workers =
        plain.tiles * llvm::divideCeil(12 * kProcessors, plain.tiles);
    if (reductions.size() == 1)
      schedules.push_back(schedule);
    return;
  }
  bool isWide = hasWideRowReduction(group);
  int64_t lanes = llvm::divideCeil(group.getSpace().columns, plain.vector);
  if (isWide && group.getNumLevels() > 1 && lanes >= 256) {
    // What is computed beside one sum takes more registers.
    bool isSimple = reductions.size() == 1 && !hasBlocks(group);
    schedule.threads = isSimple ? 512 : 256;
    schedule.workers = kProcessors;
    schedule.stages = 2;
    schedules.push_back(schedule);
    schedule.threads = 512;
    schedules.push_back(schedule);
    schedule.stages = 0;
    schedules.push_back(schedule);
  } else if (!isWide && visitsOnce(group) && lanes >= 128) {
    // A loop along the row, with few registers.
    schedule.rows = 1;
    schedule.workers = 32 * kProcessors;
    for (schedule.threads = 128;
         schedule.threads > 32 && mayHoldRow(group, schedule);)
      schedule.threads /= 2;
    schedule.residents = 1024 / schedule.threads;
    int64_t visits = schedule.getVectorsPerThread(group.getSpace().columns);
    if (!mayHoldRow(group, schedule) &&
        countHeldElements(group, schedule) <= 3 * schedule.vector * visits)
      schedules.push_back(schedule);
  }
}

SmallVector<Schedule>
mlir::fuseops::listFastSchedules(const KernelGroup &group,
                                 const KernelTarget &target,
                                 const Schedule &plain) {
  SmallVector<Schedule> schedules;
  // Other chips have other registers and memory, and were not measured. One
  // block with all rows is done soon.
  if (target.smVersion != 90 || plain.workers == 1)
    return schedules;
  if (group.isTile())
    listTiles(group, plain, schedules);
  else
    listRows(group, target, plain, schedules);
  return schedules;
}
