//===- GemmCost.cpp - Schedules of products that are worth a measurement --===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmLayout.h"
#include "ScheduleTemplates.h"

using namespace mlir;
using namespace mlir::fuseops;

// An H200's, where it is held back by its power: operations of 16 bits, and the
// bandwidth of the L2 cache, estimated.
static constexpr double kOperationsPerMicrosecond = 7.0e8;
static constexpr double kCachePerMicrosecond = 7.0e6;
/// What promotion leaves of the tensor cores, with two and with three
/// warpgroups (gemm-proofs, item 3 of what decided it).
static constexpr double kPromotedShare[] = {0.87, 0.98};

namespace {
/// How a tile is cut, and by whom.
struct TileShape {
  int64_t rows, columns, warpgroups, pingPong;
};
} // namespace

// Those that the proofs measured, and their neighbours.
static constexpr TileShape kTileShapes[] = {
    {128, 128, 2, 1}, {128, 192, 2, 1}, {64, 256, 2, 1},  {64, 128, 2, 1},
    {128, 64, 2, 1},  {128, 256, 2, 0}, {128, 128, 2, 0}, {256, 128, 2, 0},
    {256, 64, 2, 0},  {192, 128, 3, 0}, {192, 64, 3, 0}};

SmallVector<Schedule>
mlir::fuseops::listGemmSchedules(const KernelGroup &group) {
  Schedule chosen = chooseGemm(group);
  SmallVector<Schedule> schedules;
  for (const TileShape &shape : kTileShapes) {
    Schedule schedule = chosen;
    schedule.tileRows = shape.rows;
    schedule.tileColumns = shape.columns;
    schedule.warpgroups = shape.warpgroups;
    schedule.pingPong = shape.pingPong;
    schedule.stages = countGemmStages(group, schedule);
    schedules.push_back(schedule);
    // As many buffers as have to be, for another stage.
    Schedule deeper = schedule;
    deeper.storeBuffers = std::max<int64_t>(
        1, GemmLayout(group, schedule).countOpenStores(group));
    deeper.stages = countGemmStages(group, deeper);
    if (deeper.stages > schedule.stages)
      schedules.push_back(deeper);
    for (int64_t raster : {8, 32, 64}) {
      Schedule other = schedule;
      other.raster = raster;
      schedules.push_back(other);
    }
  }
  return schedules;
}

double mlir::fuseops::estimateGemm(const KernelGroup &group,
                                   const Schedule &schedule, int64_t size) {
  const Product &product = *group.getProduct();
  auto count = [&](Extent extent) { return evaluateExtent(extent, size); };
  double rows = std::max(1.0, count(group.getSpace().rows));
  double tileRows = static_cast<double>(schedule.tileRows);
  double tiles =
      std::ceil(rows / tileRows) * static_cast<double>(schedule.tiles);
  double workers = std::min(tiles, static_cast<double>(schedule.workers));

  // Of one tile, on a processor of its own:
  //   main = max(operations / rate, bytes of both operands / cache's share)
  //   rest = bytes of all other tensors / memory's share
  auto elementBytes =
      static_cast<double>(getElementBytes(product.a.getElementType()));
  auto columns = static_cast<double>(schedule.tileColumns);
  double depth = count(product.k);
  if (product.contractsGroups)
    depth /= static_cast<double>(product.numGroups);
  double rate = kOperationsPerMicrosecond * 2 / elementBytes / kProcessors;
  if (product.isPromoted())
    rate *= kPromotedShare[schedule.warpgroups > 2];
  double bytes = (tileRows + columns) * depth * elementBytes;
  double main = std::max(2 * tileRows * columns * depth / rate,
                         bytes * kProcessors / kCachePerMicrosecond);
  double moved = 0;
  GroupOp op = group.getGroup();
  for (Value value : op.getInputs())
    moved += count(getNumBytes(cast<RankedTensorType>(value.getType())));
  for (Value value : op.getOutputs())
    moved += count(getNumBytes(cast<RankedTensorType>(value.getType())));
  for (const Product::Operand *operand : {&product.a, &product.b})
    moved -=
        count(getNumBytes(cast<RankedTensorType>(operand->tensor.getType())));
  double rest =
      std::max(0.0, moved) / tiles * kProcessors / kBytesPerMicrosecond;

  // With ping-pong one tile's rest is under way with the next one's products.
  double each = schedule.pingPong ? std::max(main, rest) : main + rest;
  return std::ceil(tiles / workers) * each + (schedule.pingPong ? rest : 0);
}
