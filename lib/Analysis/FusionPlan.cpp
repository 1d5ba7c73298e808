//===- FusionPlan.cpp - Decides which operations become one kernel -------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Analysis/FusionPlan.h"
#include "FusionGraph.h"
#include "PlanSearch.h"
#include "Recompute.h"

using namespace mlir;
using namespace mlir::fuseops;

StringRef mlir::fuseops::getFusionConditionText(unsigned condition) {
  static constexpr StringLiteral texts[] = {
      "fused",
      "one of them is not an operation of a memory kernel",
      "their iteration spaces differ",
      "another group lies between them",
      "one reads the reduction over rows that the other computes",
      "one moves elements of what the other computes",
      "a tile kernel reads statistics of rows that it would have to compute",
      "one tile kernel of both has no room in shared memory",
      "one kernel of both takes longer than two",
      "the kernel of a product does not do what the other does",
      "the kernel of a product takes no rows of any length"};
  return texts[condition];
}

/// Why groups `a` and `b` are not one: the first condition that forbids it.
static unsigned explain(const FusionGraph &graph, const Partition &groups,
                        unsigned a, unsigned b) {
  NodeGroup both(groups[a]);
  llvm::append_range(both, groups[b]);
  llvm::sort(both);
  if (unsigned condition = graph.checkSpaces(both))
    return condition;
  Partition merged{both};
  for (auto [number, group] : llvm::enumerate(groups))
    if (number != a && number != b)
      merged.push_back(group);
  if (!orderGroups(graph, merged))
    return 3;
  if (unsigned condition = graph.checkReads(both))
    return condition;
  return 8;
}

bool mlir::fuseops::isGenerated(const Product &product,
                                GeneratedProducts generated) {
  return generated == GeneratedProducts::All ||
         (generated == GeneratedProducts::Grouped && product.isGrouped());
}

FusionPlan FusionPlan::compute(Block &block, bool fuse,
                               GeneratedProducts generated) {
  FusionPlan plan;
  FusionGraph graph(block, fuse ? generated : GeneratedProducts::None);
  Partition groups = fuse ? planCheapest(graph) : planSeparately(graph);
  std::vector<KernelNodes> kernels;
  if (fuse)
    kernels = findRecomputed(graph, groups);
  else
    for (const NodeGroup &nodes : groups)
      kernels.push_back({nodes, {}});
  for (const KernelNodes &kernel : kernels) {
    // Other kernels compute all of it.
    if (kernel.members.empty())
      continue;
    FusionGroup &group = plan.groups.emplace_back();
    group.kernelTemplate = graph.getTemplate(kernel.members);
    for (unsigned node : kernel.members)
      group.ops.push_back(graph.getNode(node).op);
    for (unsigned node : kernel.recomputed)
      group.recomputed.insert(graph.getNode(node).op);
  }
  if (!fuse)
    return plan;
  std::vector<unsigned> groupOf(graph.size());
  for (auto [number, nodes] : llvm::enumerate(groups))
    for (unsigned node : nodes)
      groupOf[node] = number;
  for (auto [first, second] : graph.getPairs()) {
    unsigned group = groupOf[second];
    FusionDecision decision{graph.getNode(first).op, graph.getNode(second).op};
    decision.isRecomputed =
        llvm::is_contained(kernels[group].recomputed, first);
    if (groupOf[first] != group && !decision.isRecomputed)
      decision.condition = explain(graph, groups, groupOf[first], group);
    plan.decisions.push_back(decision);
  }
  return plan;
}
