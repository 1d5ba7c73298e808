//===- TileSchedule.cpp - How CUDA tile kernels are cut -----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleTemplates.h"

#include "TileLayout.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fuseops;

Schedule mlir::fuseops::chooseCudaTiles(const KernelGroup &group) {
  Schedule schedule;
  schedule.vector = chooseCudaVector(group);
  schedule.tiles = llvm::divideCeil(group.getSpace().columns, kTileSize);
  for (schedule.threads = 512; schedule.threads > 128; schedule.threads /= 2)
    if (TileLayout(group, schedule.threads).getLeastBytes() <= kSharedBytes)
      break;
  if (group.getRowReductions().empty()) {
    schedule.rowsPerWorker = kTileSize;
    schedule.workers = kTasks;
    return schedule;
  }
  schedule.workers =
      schedule.tiles * llvm::divideCeil(2 * kProcessors, schedule.tiles);
  return schedule;
}

LogicalResult mlir::fuseops::verifyCudaTiles(const KernelGroup &group,
                                             const Schedule &schedule) {
  GroupOp op = group.getGroup();
  if (!llvm::is_contained({128, 256, 512}, schedule.threads) ||
      schedule.rows != 1)
    return op.emitOpError()
           << "expected schedule `threads` 128, 256 or 512 and `rows` 1 of a "
              "tile kernel, but got "
           << schedule.threads << " and " << schedule.rows;
  if (!group.getRowReductions().empty() && !schedule.tilePartials &&
      schedule.workers % schedule.tiles != 0)
    return op.emitOpError()
           << "expected schedule `workers` to be a multiple of "
           << schedule.tiles
           << ", the tiles along a row that is reduced, but got "
           << schedule.workers;
  int64_t shared = TileLayout(group, schedule.threads).getLeastBytes();
  if (shared > kSharedBytes)
    return op.emitOpError()
           << "expected a schedule that keeps its tile in " << kSharedBytes
           << " bytes of shared memory, but got " << shared
           << ": fewer `threads` need less";
  return success();
}

//===----------------------------------------------------------------------===//
// Which tiles a block visits
//===----------------------------------------------------------------------===//

std::optional<Extent> mlir::fuseops::countTileRows(const KernelGroup &group) {
  Extent rows = group.getSpace().rows;
  if (rows.isConstant())
    return Extent{
        static_cast<int64_t>(llvm::divideCeil(rows.constant, kTileSize)), 0};
  Extent count;
  count.perBlock128 = 1;
  return rows == Extent{0, 1} ? std::optional(count) : std::nullopt;
}

/// Refuses a key of tiles elsewhere, and a switch that is neither on nor off.
static LogicalResult verifySwitch(const KernelGroup &group, StringRef key,
                                  int64_t value) {
  GroupOp op = group.getGroup();
  if (!group.isTile())
    return op.emitOpError()
           << "expected schedule `" << key
           << "` of a tile kernel only, but got template `"
           << stringifyKernelTemplate(op.getKernelTemplate()) << "`";
  if (value != 1)
    return op.emitOpError() << "expected schedule `" << key
                            << "` to be 0 or 1, but got " << value;
  return success();
}

LogicalResult mlir::fuseops::verifyTilePartials(const KernelGroup &group,
                                                const KernelTarget &target,
                                                const Schedule &schedule) {
  if (!target.isCUDA() || !schedule.tilePartials)
    return success();
  if (failed(verifySwitch(group, "tile_partials", schedule.tilePartials)))
    return failure();
  if (group.getRowReductions().empty())
    return group.getGroup().emitOpError()
           << "expected schedule `tile_partials` where rows are reduced, but "
              "none are";
  if (!countTileRows(group))
    return group.getGroup().emitOpError()
           << "expected schedule `tile_partials` of a matrix with `?` or a "
              "fixed number of rows, but its rows are another size";
  return success();
}

LogicalResult mlir::fuseops::verifyTickets(const KernelGroup &group,
                                           const KernelTarget &target,
                                           const Schedule &schedule) {
  if (!target.isCUDA() || !schedule.tickets)
    return success();
  if (failed(verifySwitch(group, "tickets", schedule.tickets)))
    return failure();
  GroupOp op = group.getGroup();
  if (!schedule.stages)
    return op.emitOpError() << "expected schedule `tickets` with `stages`, "
                               "which hide how long a draw takes, but got none";
  if (!group.getRowReductions().empty() && !schedule.tilePartials)
    return op.emitOpError()
           << "expected schedule `tickets` with `tile_partials` where rows are "
              "reduced: sums of blocks would depend on the draw";
  return success();
}
