//===- SumRuns.h - Long sums in runs of a few terms ----------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_SUMRUNS_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_SUMRUNS_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::fuseops {

/// Terms that are added one after the other. Each addition rounds a sum of all
/// terms so far, so that errors grow with their number: of more terms, runs of
/// as many are added up, and then their sums.
constexpr int64_t kRunTerms = 128;

/// Whether the order of its steps changes how far a reduction of `element`s is
/// off.
bool isRounded(ReductionKind kind, Type element);

/// Combines what lies from `from` to `to` in runs that are `length` long: `run`
/// combines what lies between two places, beginning with neutral elements, and
/// `combine` the results of runs. The first run is combined with `initial`.
SmallVector<Value>
combineRuns(OpBuilder &b, Location loc, Value from, Value to, int64_t length,
            ValueRange initial,
            function_ref<SmallVector<Value>(Value from, Value to)> run,
            function_ref<SmallVector<Value>(ValueRange, ValueRange)> combine);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_SUMRUNS_H
