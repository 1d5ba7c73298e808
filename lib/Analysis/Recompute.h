//===- Recompute.h - Values that several kernels compute ------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_ANALYSIS_RECOMPUTE_H
#define FUSEOPS_LIB_ANALYSIS_RECOMPUTE_H

#include "FusionGraph.h"

namespace mlir::fuseops {

/// The nodes of one kernel, in ascending order.
struct KernelNodes {
  /// All that it computes; none where other kernels compute it all again.
  NodeGroup members;
  /// Members that belong to other groups too: only those write them.
  NodeGroup recomputed;
};

/// Finds what the groups of `partition` had better compute again than read:
/// for each group the minimal vertex cut of what its inputs are computed from
/// by elementwise operations, where a value weighs the bytes of reading it, and
/// of writing it if nobody else reads it. Takes what makes the whole cheaper.
/// Returns one kernel for each group.
std::vector<KernelNodes> findRecomputed(const FusionGraph &graph,
                                        const Partition &partition);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_ANALYSIS_RECOMPUTE_H
