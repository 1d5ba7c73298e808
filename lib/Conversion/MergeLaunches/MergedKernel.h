//===- MergedKernel.h - Writes one launch that does what several do ------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_MERGELAUNCHES_MERGEDKERNEL_H
#define FUSEOPS_LIB_CONVERSION_MERGELAUNCHES_MERGEDKERNEL_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::fuseops {

/// Workers that run next to the others: those of one launch, or one that runs
/// several launches of one worker each after one another.
struct MergedPart {
  SmallVector<LaunchOp> launches;
  int64_t workers = 1;
};

/// The workers of a launch whose rows no symbol changes; 0 of others.
int64_t countWorkers(LaunchOp op);

/// Whether a CUDA kernel of `kernels` is what `op` launches.
bool isCudaLaunch(LaunchOp op, ModuleOp kernels);

/// Writes one kernel that has a worker for each of the workers of `parts`, and
/// its launch at the rewriter's insertion point; replaces the launches of
/// `parts` by it and erases their kernels. `order` is those launches in the
/// order of the program, which names and describes what becomes of them.
LaunchOp mergeLaunches(ArrayRef<MergedPart> parts, ArrayRef<LaunchOp> order,
                       ModuleOp kernels, IRRewriter &rewriter);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_MERGELAUNCHES_MERGEDKERNEL_H
