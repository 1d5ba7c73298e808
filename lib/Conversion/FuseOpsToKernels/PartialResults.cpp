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

/// What the final `value` depends on.
static void findDependencies(const KernelGroup &body, Value value,
                             llvm::SmallSetVector<Value, 4> &arguments,
                             SmallVectorImpl<FinalColumns> &columns) {
  FinalColumns own;
  if (auto reduction = value.getDefiningOp<ReduceRowsOp>())
    own = getColumns(reduction.getInput().getType());
  if (isa_and_present<ReduceRowsOp, ReduceColumnsOp>(value.getDefiningOp())) {
    if (!llvm::is_contained(columns, own))
      columns.push_back(own);
    return;
  }
  if (std::optional<Access> access = body.getAccess(value)) {
    arguments.insert(access->tensor);
    return;
  }
  for (Value operand : value.getDefiningOp()->getOperands())
    findDependencies(body, operand, arguments, columns);
}

FailureOr<SmallVector<FinalResults>>
mlir::fuseops::findFinalResults(const KernelGroup &body) {
  GroupOp group = body.getGroup();
  auto yield = cast<YieldOp>(group.getBody().front().getTerminator());
  SmallVector<FinalResults> parts;
  for (auto [index, value] : llvm::enumerate(yield.getValues())) {
    if (!body.isFinal(value))
      continue;
    llvm::SmallSetVector<Value, 4> arguments;
    SmallVector<FinalColumns> columns;
    findDependencies(body, value, arguments, columns);
    if (columns.size() != 1)
      return group.emitOpError()
             << "computes a result from reductions over rows with different "
                "numbers of columns";
    auto *part = llvm::find_if(parts, [&](const FinalResults &other) {
      return other.columns == columns.front();
    });
    if (part == parts.end())
      part = &parts.emplace_back(FinalResults{columns.front(), {}, {}});
    part->arguments.insert(arguments.begin(), arguments.end());
    part->outputs.push_back(index);
  }
  return parts;
}

PartialCount mlir::fuseops::countPartials(const KernelGroup &body,
                                          const Schedule &schedule,
                                          FinalColumns columns) {
  if (!columns)
    return {{schedule.tiles, 0}};
  bool isWhole = *columns == 1;
  if (body.getProduct()) {
    int64_t warps = 4 * schedule.warpgroups;
    if (isWhole)
      return {body.getSpace().rows * schedule.tiles * warps, 1,
              schedule.workers * warps};
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

RankedTensorType mlir::fuseops::getPartialsType(const Schedule &schedule,
                                                ReduceColumnsOp op) {
  SmallVector<int64_t> shape = {schedule.tiles};
  llvm::append_range(shape, op.getType().getShape());
  return RankedTensorType::get(
      shape, getAccumulatorType(op.getInput().getType().getElementType()),
      op.getType().getEncoding());
}
