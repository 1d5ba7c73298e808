//===- PartialResults.h - What kernels leave of reductions over rows ------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_PARTIALRESULTS_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_PARTIALRESULTS_H

#include "KernelGroup.h"
#include "Schedule.h"
#include "llvm/ADT/SetVector.h"

#include <limits>

namespace mlir::fuseops {

/// How many partial results there are of an element: at most `most`, one for so
/// many of what the kernel is cut into.
struct PartialCount {
  Extent parts;
  int64_t partsPerOne = 1;
  int64_t most = std::numeric_limits<int32_t>::max();

  bool isBounded() const { return most < std::numeric_limits<int32_t>::max(); }
};

/// The reductions that one finalize kernel ends: those over rows that have so
/// many columns or, without a number, those along rows, which have an element
/// of each row.
using FinalColumns = std::optional<int64_t>;

/// The results that one finalize kernel computes.
struct FinalResults {
  FinalColumns columns;
  llvm::SmallSetVector<Value, 4> arguments; ///< of the group, that they need
  SmallVector<unsigned> outputs;            ///< their numbers
};

/// By what they depend on. Fails with an error where one depends on reductions
/// of several finalize kernels.
FailureOr<SmallVector<FinalResults>> findFinalResults(const KernelGroup &body);

/// Of an element of a reduction to `columns` columns. Each worker leaves one
/// where all of them add to it, as the tiles of a row do; else those that have
/// other rows. Along rows each tile does.
PartialCount countPartials(const KernelGroup &body, const Schedule &schedule,
                           FinalColumns columns);

/// The partial results of `op`.
RankedTensorType getPartialsType(const KernelGroup &body,
                                 const Schedule &schedule, ReduceRowsOp op);

/// Of a reduction along rows beside a contraction: each tile along a row leaves
/// one of each row.
RankedTensorType getPartialsType(const Schedule &schedule, ReduceColumnsOp op);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_PARTIALRESULTS_H
