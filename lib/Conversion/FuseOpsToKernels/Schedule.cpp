//===- Schedule.cpp - How a memory kernel's work is cut ------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule.h"

#include "KeptRow.h"
#include "ScheduleTemplates.h"
#include "SumRuns.h"
#include "TileLayout.h"
#include "TileRing.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fuseops;

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

int64_t mlir::fuseops::countAlignedColumns(const KernelGroup &group) {
  int64_t count = 1 << 20;
  for (const Access &access : getWideAccesses(group)) {
    count = std::min(count, powerOfTwoIn(access.columns));
    // Others are read one by one.
    if (access.isContiguous())
      count = std::min(count, access.getRowAlignment());
  }
  // And every row that it walks over, of computed values and of one column too.
  auto walk = [&](Value value) {
    if (group.getPlacement(value) == Placement::Full)
      count = std::min(count, powerOfTwoIn(getColumns(
                                  cast<RankedTensorType>(value.getType()))));
  };
  for (Operation *op : group.getRowOps()) {
    llvm::for_each(op->getOperands(), walk);
    llvm::for_each(op->getResults(), walk);
  }
  return count;
}

int64_t mlir::fuseops::chooseCudaVector(const KernelGroup &group) {
  int64_t widest = 1;
  for (const Access &access : getWideAccesses(group))
    widest = std::max(widest, 16 / getElementBytes(access.element));
  return std::min({countAlignedColumns(group), widest, int64_t(8)});
}

static Schedule chooseCpu(const KernelGroup &group) {
  // Elements that make a task worth starting.
  constexpr int64_t kTaskElements = 32768;
  Schedule schedule;
  // Two vectors of AVX-512: one's latency hides behind the other's. Columns
  // beyond the last whole vector are visited one by one.
  schedule.vector =
      !group.isTile() && group.getSpace().columns % 32 == 0 ? 32 : 16;
  schedule.rowsPerWorker = std::max<int64_t>(
      1, kTaskElements / std::max<int64_t>(1, group.getSpace().columns));
  schedule.workers = group.getRowReductions().empty() ? 64 : 16;
  return schedule;
}

/// What the templates choose.
static Schedule chooseCudaPlain(const KernelGroup &group) {
  if (group.getProduct())
    return chooseGemm(group);
  return group.isTile() ? chooseCudaTiles(group) : chooseCudaRows(group);
}

//===----------------------------------------------------------------------===//
// Schedules that are written down
//===----------------------------------------------------------------------===//

static LogicalResult verifyVector(const KernelGroup &group,
                                  const KernelTarget &target,
                                  const Schedule &schedule) {
  int64_t largest = target.isCUDA() ? chooseCudaVector(group) : 64;
  // A vector lies in one block.
  for (Operation *op : group.getRowOps())
    if (BlockShape shape = group.getBlocksOf(op);
        shape.isVisited() && !group.isTile())
      largest = std::min(largest, shape.columns);
  if (llvm::isPowerOf2_64(schedule.vector) && schedule.vector <= largest)
    return success();
  return group.getGroup().emitOpError()
         << "expected schedule `vector` to be a power of two of at most "
         << largest << ", which its tensors allow, but got " << schedule.vector;
}

static SmallVector<int64_t> getVectors(const KernelGroup &group,
                                       const KernelTarget &target) {
  if (!target.isCUDA())
    return {8, 16, 32};
  int64_t largest = chooseCudaVector(group);
  return {largest, std::max<int64_t>(1, largest / 2)};
}

static SmallVector<int64_t> getThreads(const KernelGroup &group,
                                       const KernelTarget &target) {
  if (!target.isCUDA())
    return {};
  if (group.isTile())
    return {128, 256, 512};
  return {32, 64, 128, 256, 512, 1024};
}

static SmallVector<int64_t> getRows(const KernelGroup &group,
                                    const KernelTarget &target) {
  if (!target.isCUDA() || group.isTile())
    return {};
  return {1, 2, 4, 8};
}

static SmallVector<int64_t> getWorkers(const KernelGroup &group,
                                       const KernelTarget &target) {
  bool hasPartials = !group.getRowReductions().empty();
  if (!target.isCUDA())
    return hasPartials ? SmallVector<int64_t>{4, 8, 16, 32}
                       : SmallVector<int64_t>{16, 64, 256};
  // Beside one tile a block: blocks that go on to other tiles.
  if (group.isTile() && !hasPartials)
    return {kProcessors, 2 * kProcessors};
  int64_t tiles = chooseCudaPlain(group).tiles;
  SmallVector<int64_t> workers;
  for (int64_t blocks : {1, 2, 3, 4, 6, 8, 16})
    workers.push_back(tiles * llvm::divideCeil(blocks * kProcessors, tiles));
  // A row a block: the processors draw their rows.
  if (!group.isTile() && !hasPartials)
    workers.push_back(kTasks);
  return workers;
}

static LogicalResult verifyResidents(const KernelGroup &group,
                                     const KernelTarget &target,
                                     const Schedule &schedule) {
  if (!target.isCUDA())
    return success();
  // Others of today's chips hold fewer than the data centre ones.
  bool isSmall =
      llvm::is_contained({86u, 87u, 89u, 120u, 121u}, target.smVersion);
  int64_t most = isSmall ? 1536 : 2048;
  int64_t threads = schedule.threads * schedule.rows * schedule.residents;
  if (threads <= most)
    return success();
  return group.getGroup().emitOpError()
         << "expected schedule `residents` whose threads, with `threads` and "
            "`rows`, are at most the "
         << most << " of a processor of sm_" << target.smVersion << ", but got "
         << threads;
}

/// Of rows it is checked with all else that is known of them.
static LogicalResult verifyTiles(const KernelGroup &group,
                                 const KernelTarget &target,
                                 const Schedule &schedule) {
  if (!target.isCUDA() || !group.isTile())
    return success();
  int64_t tiles = chooseCudaTiles(group).tiles;
  if (schedule.tiles == tiles)
    return success();
  return group.getGroup().emitOpError()
         << "expected schedule `tiles` to be " << tiles
         << ", the tiles along a row, but got " << schedule.tiles;
}

static SmallVector<int64_t> getTiles(const KernelGroup &group,
                                     const KernelTarget &target) {
  if (!target.isCUDA() || group.isTile())
    return {};
  return {1};
}

static SmallVector<int64_t> getPrefetch(const KernelGroup &group,
                                        const KernelTarget &target) {
  if (!target.isCUDA() || group.isTile())
    return {};
  return {1};
}

/// Of rows a ring pays where blocks stay and keep sums: the others' rows are
/// dealt out to blocks that begin at any time.
static SmallVector<int64_t> getStages(const KernelGroup &group,
                                      const KernelTarget &target) {
  if (!target.isCUDA())
    return {};
  if (group.isTile())
    return {2, 1, 3};
  if (group.getRowReductions().empty())
    return {};
  return {2, 3};
}

/// Without reductions over columns, what a thread asks for at once depends on
/// the registers that it may use.
static SmallVector<int64_t> getResidents(const KernelGroup &group,
                                         const KernelTarget &target) {
  if (!target.isCUDA())
    return {};
  if (group.isTile())
    return {1, 2};
  if (group.getNumLevels() > 1)
    return {};
  return {4, 6};
}

/// None, and as much as there is place for.
static SmallVector<int64_t> getKept(const KernelGroup &group,
                                    const KernelTarget &target) {
  if (!target.isCUDA() || group.isTile() || group.getNumLevels() < 2)
    return {};
  Schedule schedule = chooseCudaRows(group);
  if (schedule.holdsRow)
    return {};
  schedule.threads = 1024;
  return {0,
          countKeptColumns(group, schedule, getBytesBesideRing(group, schedule),
                           getSharedLimit(target.smVersion))};
}

static SmallVector<int64_t> getTileSwitch(const KernelGroup &group,
                                          const KernelTarget &target) {
  if (!target.isCUDA() || !group.isTile())
    return {};
  return {0, 1};
}

// Lines that end early are right: no values to measure.
static constexpr ScheduleKey kScheduleKeys[] = {
    {"vector", &Schedule::vector, 1, verifyVector, getVectors},
    {"threads", &Schedule::threads, 1, nullptr, getThreads},
    {"rows", &Schedule::rows, 1, nullptr, getRows},
    {"workers", &Schedule::workers, 1, nullptr, getWorkers},
    {"stages", &Schedule::stages, 0, verifyStages, getStages},
    {"residents", &Schedule::residents, 0, verifyResidents, getResidents},
    {"tile_partials", &Schedule::tilePartials, 0, verifyTilePartials,
     getTileSwitch},
    {"tickets", &Schedule::tickets, 0, verifyTickets, getTileSwitch},
    {"prefetch", &Schedule::prefetch, 0, verifyRowKeys, getPrefetch},
    {"unroll", &Schedule::unroll, 0, verifyRowKeys},
    {"kept", &Schedule::kept, 0, verifyRowKeys, getKept},
    {"streams", &Schedule::streams, 0, verifyRowKeys},
    {"tiles", &Schedule::tiles, 1, verifyTiles, getTiles},
    {"tile_rows", &Schedule::tileRows, 0, verifyGemmKeys},
    {"tile_columns", &Schedule::tileColumns, 0, verifyGemmKeys},
    {"warpgroups", &Schedule::warpgroups, 0, verifyGemmKeys},
    {"ping_pong", &Schedule::pingPong, 0, verifyGemmKeys},
    {"raster", &Schedule::raster, 0, verifyGemmKeys},
    {"store_buffers", &Schedule::storeBuffers, 0, verifyGemmKeys},
};

ArrayRef<ScheduleKey> mlir::fuseops::getScheduleKeys() { return kScheduleKeys; }

/// Checks what is written down and completes it.
static LogicalResult verifyTemplate(const KernelGroup &group,
                                    const KernelTarget &target,
                                    Schedule &schedule) {
  if (group.getProduct())
    return verifyGemm(group, target, schedule);
  return group.isTile() ? verifyCudaTiles(group, schedule)
                        : verifyCudaRows(group, target, schedule);
}

/// Whether a schedule could be written down; completes it then. What is refused
/// is nobody's fault.
static bool isPossible(const KernelGroup &group, const KernelTarget &target,
                       Schedule &schedule) {
  ScopedDiagnosticHandler refusals(group.getGroup()->getContext(),
                                   [](Diagnostic &) { return success(); });
  for (const ScheduleKey &key : kScheduleKeys)
    if (key.verify && schedule.*(key.field) != Schedule().*(key.field) &&
        failed(key.verify(group, target, schedule)))
      return false;
  return succeeded(verifyTemplate(group, target, schedule));
}

Schedule mlir::fuseops::chooseBase(const KernelGroup &group,
                                   const KernelTarget &target) {
  if (!target.isCUDA())
    return chooseCpu(group);
  Schedule plain = chooseCudaPlain(group);
  // Keys that are written down are not mixed with those of another schedule.
  if (!group.getGroup().getSchedule() && !group.getProduct())
    for (Schedule fast : listFastSchedules(group, target, plain))
      if (isPossible(group, target, fast))
        return fast;
  return plain;
}

/// Reads the group's `schedule` attribute into `schedule`.
static LogicalResult readSchedule(const KernelGroup &group,
                                  const KernelTarget &target,
                                  Schedule &schedule) {
  GroupOp op = group.getGroup();
  SmallVector<const ScheduleKey *> written;
  DictionaryAttr entries = *op.getSchedule();
  for (NamedAttribute entry : entries) {
    StringAttr name = entry.getName();
    const ScheduleKey *key =
        llvm::find_if(kScheduleKeys,
                      [&](const ScheduleKey &key) { return key.name == name; });
    if (key == std::end(kScheduleKeys)) {
      InFlightDiagnostic diag = op.emitOpError() << "expected schedule keys ";
      llvm::interleaveComma(kScheduleKeys, diag, [&](const ScheduleKey &key) {
        diag << "`" << key.name << "`";
      });
      return diag << ", but got `" << name.getValue() << "`";
    }
    auto value = dyn_cast<IntegerAttr>(entry.getValue());
    if (!value || !llvm::isInt<32>(value.getInt()) ||
        value.getInt() < key->least)
      return op.emitOpError()
             << "expected schedule `" << key->name << "` to be a "
             << (key->least ? "positive" : "non-negative")
             << " integer of 32 bits, but got " << entry.getValue();
    schedule.*(key->field) = value.getInt();
    written.push_back(key);
  }
  for (const ScheduleKey *key : written)
    if (key->verify && failed(key->verify(group, target, schedule)))
      return failure();
  return success();
}

/// Whether a worker of a CPU row kernel may have more rows to add up than a
/// run.
static bool hasLongSums(const KernelGroup &group, const Schedule &schedule) {
  if (group.isTile() ||
      llvm::none_of(group.getRowReductions(), [](ReduceRowsOp op) {
        return isRounded(op.getKind(),
                         op.getInput().getType().getElementType());
      }))
    return false;
  Extent rows = group.getSpace().rows;
  if (!rows.isConstant())
    return true;
  int64_t workers = std::clamp<int64_t>(
      llvm::divideCeil(rows.constant, schedule.rowsPerWorker), 1,
      schedule.workers);
  return rows.constant > workers * kRunTerms;
}

FailureOr<Schedule> mlir::fuseops::chooseSchedule(const KernelGroup &group,
                                                  const KernelTarget &target) {
  Schedule schedule = chooseBase(group, target);
  bool isWritten = group.getGroup().getSchedule().has_value();
  if (isWritten && failed(readSchedule(group, target, schedule)))
    return failure();
  if (!target.isCUDA()) {
    schedule.threads = schedule.rows = schedule.tiles = 1;
    schedule.stages = schedule.prefetch = schedule.unroll = 0;
    schedule.kept = schedule.streams = schedule.residents = 0;
    schedule.tilePartials = schedule.tickets = 0;
    schedule.sumsInRuns = hasLongSums(group, schedule);
  } else if ((isWritten || group.isTile() || group.getProduct()) &&
             failed(verifyTemplate(group, target, schedule))) {
    return failure();
  }
  // Then a block is worth starting for one tile.
  if (schedule.tilePartials)
    schedule.rowsPerWorker = kTileSize;
  return schedule;
}
