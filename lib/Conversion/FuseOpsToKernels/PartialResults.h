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

/// Of an element of a reduction to `columns` columns. Each worker leaves one
/// where all of them add to it, as the tiles of a row do; else those that have
/// other rows.
PartialCount countPartials(const KernelGroup &body, const Schedule &schedule,
                           int64_t columns);

/// The partial results of `op`.
RankedTensorType getPartialsType(const KernelGroup &body,
                                 const Schedule &schedule, ReduceRowsOp op);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_PARTIALRESULTS_H
