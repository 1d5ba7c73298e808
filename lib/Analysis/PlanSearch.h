//===- PlanSearch.h - The cheapest partition of a graph into groups ------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_ANALYSIS_PLANSEARCH_H
#define FUSEOPS_LIB_ANALYSIS_PLANSEARCH_H

#include "PlanGraph.h"

namespace mlir::fuseops {

/// Each node a group of its own.
Partition planSeparately(const PlanGraph &graph);

/// Merges the groups of neighbours where that is legal, pair by pair, from the
/// first to the last or the other way round. The oracle of tests, and where the
/// other searches start from.
enum class GreedyOrder { Forward, Backward };
Partition planGreedily(const PlanGraph &graph,
                       GreedyOrder order = GreedyOrder::Forward);

/// Merges groups and moves nodes between them as long as that makes
/// `partition` cheaper.
Partition improve(const PlanGraph &graph, const Partition &partition);

/// The cheapest partition of `nodes`, in ascending order, that costs less than
/// `bound`; none where there is none. By dynamic programming over the sets of
/// nodes that have run. Gives up after a look at `limit` groups, and at once
/// with more than 60 nodes that follow no anchor, with the best until then.
/// Groups may depend on one another through nodes that are not in `nodes`.
std::optional<Partition> searchExactly(const PlanGraph &graph,
                                       ArrayRef<unsigned> nodes, double bound,
                                       unsigned limit);

/// The cheapest partition into groups that neighbours connect. Each part of the
/// graph that neighbours connect is searched exactly; where that gives up, the
/// improved greedy partition stays, or what was found better. Never costs more
/// than greedy. Deterministic.
Partition planCheapest(const PlanGraph &graph, unsigned limit = 10000);

/// The groups in an order in which they can run; of those that can, the one
/// with the smallest number first. None where they depend on one another.
std::optional<Partition> orderGroups(const PlanGraph &graph,
                                     const Partition &groups);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_ANALYSIS_PLANSEARCH_H
