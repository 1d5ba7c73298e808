//===- SumRuns.cpp - Long sums in runs of a few terms --------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SumRuns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fuseops;

bool mlir::fuseops::isRounded(ReductionKind kind, Type element) {
  return kind == ReductionKind::Sum && isa<FloatType>(element);
}

SmallVector<Value> mlir::fuseops::combineRuns(
    OpBuilder &b, Location loc, Value from, Value to, int64_t length,
    ValueRange initial,
    function_ref<SmallVector<Value>(Value from, Value to)> run,
    function_ref<SmallVector<Value>(ValueRange, ValueRange)> combine) {
  Value step = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(length));
  auto loop = scf::ForOp::create(b, loc, from, to, step, initial);
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(loop.getBody());
  Value first = loop.getInductionVar();
  Value end = arith::MinSIOp::create(
      b, loc, to, arith::AddIOp::create(b, loc, first, step));
  scf::YieldOp::create(b, loc,
                       combine(loop.getRegionIterArgs(), run(first, end)));
  return loop.getResults();
}
