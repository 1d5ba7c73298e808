//===- PartialResults.cpp - What kernels leave of reductions over rows ----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PartialResults.h"

#include "GemmLayout.h"
#include "KernelEmitter.h"
#include "ScheduleTemplates.h"
#include "TileLayout.h"

using namespace mlir;
using namespace mlir::fuseops;

PartialCount mlir::fuseops::countPartials(const KernelGroup &body,
                                          const Schedule &schedule,
                                          int64_t columns) {
  bool isWhole = columns == 1;
  if (body.getProduct()) {
    int64_t warps = 4 * schedule.warpgroups;
    if (isWhole)
      return {body.getSpace().rows * schedule.tiles * warps, 1, schedule.workers * warps};
    return {*countTileRows(body) * GemmLayout(body, schedule).countRowWarps()};
  }
  if (schedule.tilePartials)
    return {*countTileRows(body) * (isWhole ? schedule.tiles : 1)};
  Extent rows = body.getSpace().rows * (isWhole ? schedule.tiles : 1);
  return {rows, schedule.rowsPerWorker,
          isWhole ? schedule.workers : schedule.getRowWorkers()};
}

RankedTensorType mlir::fuseops::getPartialsType(const KernelGroup &body,
                                                const Schedule &schedule,
                                                ReduceRowsOp op) {
  int64_t columns = getColumns(op.getInput().getType());
  Type element = getAccumulatorType(op);
  PartialCount count = countPartials(body, schedule, columns);
  if (keepsRunsInMemory(body, schedule, op))
    count.most *= 2;
  if (count.isBounded())
    return RankedTensorType::get({count.most, columns}, element);
  if (count.parts.isConstant())
    return RankedTensorType::get({count.parts.constant, columns}, element);
  // Some for each 128 rows.
  SmallVector<int64_t> shape = {ShapedType::kDynamic, columns};
  if (count.parts.perBlock128 > 1)
    shape.insert(shape.begin() + 1, count.parts.perBlock128);
  return RankedTensorType::get(shape, element,
                               BlocksAttr::get(op.getContext(), kTileSize));
}
