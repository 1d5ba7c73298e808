//===- GemmSchedule.cpp - Schedules of matrix products --------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "GemmLayout.h"
#include "ScheduleTemplates.h"
#include "TileLayout.h"

using namespace mlir;
using namespace mlir::fuseops;

/// Sums of one thread that leave it registers for all else; those of a stage
/// included, where they are added by themselves.
static int64_t countMostSums(int64_t warpgroups) {
  return warpgroups == 2 ? 192 : 128;
}

static bool hasColumnSums(const KernelGroup &group) {
  return llvm::any_of(group.getRowReductions(),
                      [&](ReduceRowsOp op) { return !group.isWhole(op); });
}

int64_t mlir::fuseops::countGemmStages(const KernelGroup &group,
                                       Schedule schedule) {
  schedule.stages = 1;
  int64_t one = GemmLayout(group, schedule).getBytes();
  schedule.stages = 2;
  int64_t each = GemmLayout(group, schedule).getBytes() - one;
  int64_t most = std::min<int64_t>(8, 1 + (kMostSharedBytes - one) / each);
  const Product &product = *group.getProduct();
  if (!product.isPromoted())
    return most;
  // Each is written out, and K goes on in zeros to whole rounds: no more stages
  // than there are, and three where that is less work, estimated.
  most = std::clamp<int64_t>(most, 1, 4);
  if (!product.k.isConstant())
    return most;
  int64_t blocks = llvm::divideCeil(product.k.constant, kStageRowBytes);
  most = std::clamp<int64_t>(blocks, 1, most);
  bool isShort = most == 4 && 100 * llvm::alignTo(blocks, 4) >
                                  103 * llvm::alignTo(blocks, 3);
  return isShort ? 3 : most;
}

/// Tiles along a column whose rows of the first operand take a quarter of the
/// L2 cache, which has the second one's columns and results too: measured.
static int64_t countRaster(const Product &product, int64_t tileRows) {
  constexpr int64_t kQuarter = 50 << 18, kLeast = 8, kMost = 16;
  if (!product.k.isConstant())
    return kLeast;
  int64_t bytes =
      std::max<int64_t>(1, tileRows * product.k.constant *
                               getElementBytes(product.a.getElementType()));
  int64_t fitting = std::clamp(kQuarter / bytes, kLeast, kMost);
  return llvm::bit_floor(static_cast<uint64_t>(fitting));
}

Schedule mlir::fuseops::chooseGemm(const KernelGroup &group) {
  const Product &product = *group.getProduct();
  Schedule schedule;
  schedule.tileRows = 128;
  schedule.warpgroups = 2;
  schedule.pingPong = 1;
  // The fastest where nothing is computed of the sums and few columns are
  // wasted (gemm-proofs); 128 columns leave registers and stages.
  int64_t wasted = 192 * llvm::divideCeil(product.n, 192) - product.n;
  bool isPlain = llvm::hasSingleElement(
      group.getGroup().getBody().front().without_terminator());
  bool isWide = isPlain && wasted * 50 < product.n;
  schedule.tileColumns = isWide ? 192 : product.n > 64 ? 128 : 64;
  // A tile has whole blocks; those of both halves are of two tiles, unless
  // there are blocks of what is computed of blocks.
  int64_t together = countSpanColumns(group);
  int64_t least = together;
  if (group.isHalved())
    least = 2 * (group.getNumLevels() > 2 ? together : kStoreColumns);
  schedule.tileColumns = std::max(schedule.tileColumns, least);
  if (schedule.tileColumns > 192)
    schedule.tileRows = 64;
  // One more than are filled at once is read meanwhile.
  int64_t open = GemmLayout(group, schedule).countOpenStores(group);
  schedule.storeBuffers = isWide ? 1 : open + 1;
  if (product.isPromoted()) {
    // Three warpgroups hide one another's sums; two where partial results are
    // of 128 rows, or scales of columns take registers.
    schedule.pingPong = 0;
    schedule.tileColumns = std::max<int64_t>(product.n > 64 ? 128 : 64, least);
    bool hasVectors = product.b.isBlockScaled() &&
                      !GemmLayout(group, schedule).hasOneScale(product.b);
    schedule.warpgroups = hasVectors || hasColumnSums(group) ? 2 : 3;
    schedule.tileRows = 64 * schedule.warpgroups;
    schedule.storeBuffers = open + 1;
  }
  schedule.raster = countRaster(product, schedule.tileRows);
  schedule.stages = countGemmStages(group, schedule);
  if (schedule.stages < 2) {
    schedule.storeBuffers = std::max<int64_t>(1, open);
    schedule.stages = countGemmStages(group, schedule);
  }
  schedule.vector = 2;
  schedule.threads = 128 * (schedule.warpgroups + 1);
  schedule.residents = 1;
  schedule.workers = kProcessors;
  schedule.tiles = GemmLayout(group, schedule).columnTiles;
  return schedule;
}

/// Checks what does not depend on the schedule.
static LogicalResult verifyProduct(const KernelGroup &group,
                                   const KernelTarget &target) {
  const Product &product = *group.getProduct();
  GroupOp op = group.getGroup();
  if (target.smVersion != 90)
    return op.emitOpError() << "expected chip sm_90a for template `gemm`, but "
                               "got sm_"
                            << target.smVersion;
  if (StringRef fault = product.findFault(); !fault.empty())
    return product.op->emitOpError()
           << "expected " << fault << " for template `gemm`, but got "
           << product.a.tensor.getType() << " and "
           << product.b.tensor.getType() << " to "
           << product.getResult().getType();
  if (product.isGrouped() && hasColumnSums(group))
    return op.emitOpError() << "expected no reduction over the rows of all "
                               "groups of a grouped product into columns, in "
                               "a group of template `gemm`";
  for (Value operand : product.op->getOperands())
    if (!isa<BlockArgument>(skipReshapes(operand)))
      return product.op->emitOpError()
             << "expected operands that lie in memory for template `gemm`";
  for (const Store &store : group.getStores()) {
    bool isMade = group.getPlacement(store.value) == Placement::Block
                      ? group.getBlock(store.value).isVisited()
                      : store.access.columns == group.getSpace().columns ||
                            store.value == product.getResult();
    if (!group.isFinal(store.value) && !isMade)
      return op.emitOpError()
             << "expected results with the columns of the contraction, or one "
                "element for each block, in a group of template `gemm`, but "
                "got "
             << store.value.getType();
  }
  if (llvm::any_of(group.getRowOps(), [&](Operation *inner) {
        return !isa<PointwiseOp, ReduceRowsOp, ReduceColumnsOp, ReduceBlocksOp,
                    ExpandBlocksOp, ConcatOp>(inner);
      }))
    return op.emitOpError()
           << "expected only pointwise operations, reductions and blocks "
              "beside the contraction in a group of template `gemm`";
  for (Operation *inner : group.getRowOps())
    if (BlockShape shape = group.getBlocksOf(inner);
        shape.isVisited() &&
        (shape.rows != 1 || !llvm::is_contained({32, 64, 128}, shape.columns)))
      return inner->emitOpError()
             << "expected blocks of one row and 32, 64 or 128 columns in a "
                "group of template `gemm`, but got "
             << shape.rows << " by " << shape.columns;
  int64_t columns = group.getSpace().columns;
  if (columns != (group.isHalved() ? product.n / 2 : product.n) ||
      countAlignedColumns(group) < 2)
    return op.emitOpError()
           << "expected tensors with the contraction's " << product.n
           << " columns, an even number that rows begin at, "
              "in a group of template `gemm`";
  return success();
}

LogicalResult mlir::fuseops::verifyGemmKeys(const KernelGroup &group,
                                            const KernelTarget &target,
                                            const Schedule &schedule) {
  if (!target.isCUDA() || group.getProduct())
    return success();
  return group.getGroup().emitOpError()
         << "expected schedule `tile_rows`, `tile_columns`, `warpgroups`, "
            "`ping_pong`, `raster` and `store_buffers` in groups of template "
            "`gemm` only";
}

LogicalResult mlir::fuseops::verifyGemm(const KernelGroup &group,
                                        const KernelTarget &target,
                                        Schedule &schedule) {
  if (failed(verifyProduct(group, target)))
    return failure();
  GroupOp op = group.getGroup();
  const Product &product = *group.getProduct();
  if (!llvm::is_contained({2, 3}, schedule.warpgroups) ||
      schedule.pingPong > 1 || (schedule.pingPong && schedule.warpgroups != 2))
    return op.emitOpError()
           << "expected schedule `warpgroups` of 2 or 3, and of 2 with "
              "`ping_pong` 1, but got "
           << schedule.warpgroups << " and " << schedule.pingPong;
  if (product.contractsGroups && !schedule.pingPong)
    return op.emitOpError() << "expected schedule `ping_pong` of 1, where the "
                               "rows of groups are contracted";
  int64_t shares = schedule.pingPong ? 1 : schedule.warpgroups;
  int64_t rows = kMmaRows * shares;
  if (schedule.tileRows < rows || schedule.tileRows % rows != 0 ||
      schedule.tileRows > 256)
    return op.emitOpError()
           << "expected schedule `tile_rows` to be a multiple "
              "of "
           << rows << " of at most 256, but got " << schedule.tileRows;
  if (schedule.tileColumns < kStoreColumns ||
      schedule.tileColumns % kStoreColumns != 0 || schedule.tileColumns > 256)
    return op.emitOpError()
           << "expected schedule `tile_columns` to be 64, 128, 192 or 256, but "
              "got "
           << schedule.tileColumns;
  // An instruction's sums have to fit into the registers at launch (ptxas).
  if (schedule.warpgroups > 2 && schedule.tileColumns > 192)
    return op.emitOpError()
           << "expected schedule `tile_columns` of at most 192 with three "
              "`warpgroups`, but got "
           << schedule.tileColumns;
  GemmLayout layout(group, schedule);
  int64_t together = countSpanColumns(group);
  if (layout.getPartColumns() % kStoreColumns != 0 ||
      (layout.getPartColumns() % together != 0 &&
       2 * layout.getPartColumns() != together))
    return op.emitOpError()
           << "expected schedule `tile_columns` to be a multiple of "
           << layout.parts * std::max(kStoreColumns, together / 2)
           << ", so that one or two tiles have whole blocks of each part, but "
              "got "
           << schedule.tileColumns;
  if (layout.cluster > 1 &&
      (group.getNumLevels() > 2 || schedule.workers % layout.cluster != 0))
    return op.emitOpError()
           << "expected an even number of schedule `workers`, and blocks of "
              "what is no other block's, where two tiles have a block, but "
              "got "
           << schedule.workers;
  int64_t sums = layout.countSums();
  if (product.isPromoted())
    sums += schedule.tileColumns / 2;
  if (sums > countMostSums(schedule.warpgroups))
    return op.emitOpError() << "expected a schedule with at most "
                            << countMostSums(schedule.warpgroups)
                            << " sums a thread, but got " << sums;
  int64_t open = layout.countOpenStores(group);
  if (schedule.storeBuffers < open)
    return op.emitOpError()
           << "expected schedule `store_buffers` of at least " << open
           << ", one of each store of 64 columns, but got "
           << schedule.storeBuffers;
  // A stage is released when the next one is being multiplied.
  int64_t least = product.isPromoted() ? 1 : 2;
  if (schedule.raster < 1 || schedule.stages < least)
    return op.emitOpError() << "expected schedule `raster` of at least 1 and "
                               "`stages` of at least "
                            << least << ", but got " << schedule.raster
                            << " and " << schedule.stages;
  if (hasColumnSums(group) &&
      (schedule.tileRows != kTileSize || !countTileRows(group)))
    return op.emitOpError() << "expected schedule `tile_rows` of " << kTileSize
                            << ", of `?` or a fixed number of rows, where rows "
                               "are reduced, but got "
                            << schedule.tileRows;
  int64_t bytes = layout.getBytes();
  if (bytes > kMostSharedBytes)
    return op.emitOpError()
           << "expected a schedule whose stages and buffers fit into "
           << kMostSharedBytes << " bytes of shared memory, but got " << bytes;
  // What follows from the rest.
  schedule.threads = 128 * (schedule.warpgroups + 1);
  schedule.rows = schedule.residents = 1;
  schedule.tiles = layout.columnTiles;
  return success();
}
