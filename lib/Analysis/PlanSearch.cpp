//===- PlanSearch.cpp - The cheapest partition of a graph into groups ----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanSearch.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <functional>
#include <queue>

using namespace mlir;
using namespace mlir::fuseops;

std::optional<Partition> mlir::fuseops::orderGroups(const PlanGraph &graph,
                                                    const Partition &groups) {
  std::vector<unsigned> groupOf(graph.size());
  for (auto [number, group] : llvm::enumerate(groups))
    for (unsigned node : group)
      groupOf[node] = number;
  // Reads of other groups that have not run yet.
  std::vector<unsigned> waitsFor(groups.size());
  for (auto [number, group] : llvm::enumerate(groups))
    for (unsigned node : group)
      for (unsigned producer : graph.getProducers(node))
        waitsFor[number] += groupOf[producer] != number;
  auto runsLater = [&](unsigned a, unsigned b) {
    return groups[a].front() > groups[b].front();
  };
  std::priority_queue<unsigned, std::vector<unsigned>, decltype(runsLater)>
      ready(runsLater);
  for (unsigned number = 0; number < groups.size(); ++number)
    if (waitsFor[number] == 0)
      ready.push(number);
  Partition ordered;
  while (!ready.empty()) {
    unsigned number = ready.top();
    ready.pop();
    ordered.push_back(groups[number]);
    for (unsigned node : groups[number])
      for (unsigned consumer : graph.getConsumers(node))
        if (groupOf[consumer] != number && --waitsFor[groupOf[consumer]] == 0)
          ready.push(groupOf[consumer]);
  }
  if (ordered.size() != groups.size())
    return std::nullopt;
  return ordered;
}

Partition mlir::fuseops::planSeparately(const PlanGraph &graph) {
  Partition partition;
  for (unsigned node = 0; node < graph.size(); ++node)
    partition.push_back({node});
  return partition;
}

namespace {
/// A partition that is being changed.
class Grouping {
public:
  Grouping(const PlanGraph &graph, const Partition &partition)
      : graph(graph), members(partition), groupOf(graph.size()) {
    for (auto [number, group] : llvm::enumerate(partition))
      for (unsigned node : group)
        groupOf[node] = number;
  }

  unsigned getGroupOf(unsigned node) const { return groupOf[node]; }
  const NodeGroup &getMembers(unsigned group) const { return members[group]; }

  /// Whether group `a` and group `b` can be one without a cycle.
  bool isMergeable(unsigned a, unsigned b) const {
    return !hasPathThroughOthers(a, b) && !hasPathThroughOthers(b, a);
  }
  /// Moves `nodes` of one group to group `to`.
  void move(ArrayRef<unsigned> nodes, unsigned to);
  /// No value where groups depend on one another.
  std::optional<Partition> getPartition() const;

private:
  bool hasPathThroughOthers(unsigned from, unsigned to) const;

  const PlanGraph &graph;
  Partition members;
  std::vector<unsigned> groupOf;
};
} // namespace

bool Grouping::hasPathThroughOthers(unsigned from, unsigned to) const {
  llvm::SmallDenseSet<unsigned> seen{from};
  SmallVector<unsigned> worklist;
  auto push = [&](unsigned group) {
    for (unsigned node : members[group])
      for (unsigned consumer : graph.getConsumers(node)) {
        unsigned next = groupOf[consumer];
        if (next == to && group != from)
          return true;
        if (next != to && seen.insert(next).second)
          worklist.push_back(next);
      }
    return false;
  };
  push(from);
  while (!worklist.empty())
    if (push(worklist.pop_back_val()))
      return true;
  return false;
}

void Grouping::move(ArrayRef<unsigned> nodes, unsigned to) {
  for (unsigned node : nodes) {
    llvm::erase(members[groupOf[node]], node);
    groupOf[node] = to;
    members[to].push_back(node);
  }
  llvm::sort(members[to]);
}

std::optional<Partition> Grouping::getPartition() const {
  Partition groups;
  llvm::copy_if(members, std::back_inserter(groups),
                [](const NodeGroup &group) { return !group.empty(); });
  return orderGroups(graph, groups);
}

static NodeGroup unite(ArrayRef<unsigned> a, ArrayRef<unsigned> b) {
  NodeGroup united;
  std::merge(a.begin(), a.end(), b.begin(), b.end(),
             std::back_inserter(united));
  return united;
}

Partition mlir::fuseops::planGreedily(const PlanGraph &graph,
                                      GreedyOrder order) {
  Grouping grouping(graph, planSeparately(graph));
  auto tryMerge = [&](std::pair<unsigned, unsigned> pair) {
    unsigned a = grouping.getGroupOf(pair.first);
    unsigned b = grouping.getGroupOf(pair.second);
    if (a != b &&
        graph.isLegal(unite(grouping.getMembers(a), grouping.getMembers(b))) &&
        grouping.isMergeable(a, b))
      grouping.move(NodeGroup(grouping.getMembers(b)), a);
  };
  if (order == GreedyOrder::Forward)
    llvm::for_each(graph.getNeighbours(), tryMerge);
  else
    llvm::for_each(llvm::reverse(graph.getNeighbours()), tryMerge);
  return *grouping.getPartition();
}

namespace {
/// Changes a partition step by step, each of which makes it cheaper.
class Improver {
public:
  Improver(const PlanGraph &graph, const Partition &partition)
      : graph(graph), grouping(graph, partition) {}

  Partition run() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (auto [a, b] : graph.getNeighbours())
        changed |= tryMerge(a, b) || tryMove(a, b) || tryMove(b, a);
    }
    return *grouping.getPartition();
  }

private:
  bool tryMerge(unsigned a, unsigned b) {
    unsigned groupA = grouping.getGroupOf(a), groupB = grouping.getGroupOf(b);
    if (groupA == groupB)
      return false;
    NodeGroup from = grouping.getMembers(groupB);
    NodeGroup to = grouping.getMembers(groupA);
    NodeGroup both = unite(from, to);
    if (!graph.isLegal(both) ||
        !isCheaper(graph.getCost(both),
                   graph.getCost(from) + graph.getCost(to)) ||
        !grouping.isMergeable(groupA, groupB))
      return false;
    grouping.move(from, groupA);
    return true;
  }

  /// Moves `node` to the group of its neighbour `to`.
  bool tryMove(unsigned node, unsigned to) {
    unsigned source = grouping.getGroupOf(node);
    unsigned target = grouping.getGroupOf(to);
    NodeGroup left = grouping.getMembers(source);
    if (source == target || left.size() == 1)
      return false;
    NodeGroup larger = unite(grouping.getMembers(target), {node});
    double before =
        graph.getCost(left) + graph.getCost(grouping.getMembers(target));
    llvm::erase(left, node);
    if (!graph.isLegal(larger) || !graph.isConnected(left) ||
        !isCheaper(graph.getCost(left) + graph.getCost(larger), before))
      return false;
    grouping.move({node}, target);
    if (grouping.getPartition())
      return true;
    grouping.move({node}, source);
    return false;
  }

  const PlanGraph &graph;
  Grouping grouping;
};

/// Nodes that neighbours connect, and what they are cut into.
struct Part {
  NodeGroup nodes;
  Partition groups;
};
} // namespace

Partition mlir::fuseops::improve(const PlanGraph &graph,
                                 const Partition &partition) {
  return Improver(graph, partition).run();
}

/// The parts of the graph that neighbours connect, cut as in `partition`.
static std::vector<Part> splitIntoParts(const PlanGraph &graph,
                                        const Partition &partition) {
  llvm::EquivalenceClasses<unsigned> classes;
  for (unsigned node = 0; node < graph.size(); ++node)
    classes.insert(node);
  for (auto [a, b] : graph.getNeighbours())
    classes.unionSets(a, b);
  std::vector<int> partOf(graph.size(), -1);
  std::vector<Part> parts;
  for (unsigned node = 0; node < graph.size(); ++node) {
    int &part = partOf[classes.getLeaderValue(node)];
    if (part < 0) {
      part = parts.size();
      parts.emplace_back();
    }
    parts[part].nodes.push_back(node);
  }
  for (const NodeGroup &group : partition)
    parts[partOf[classes.getLeaderValue(group.front())]].groups.push_back(
        group);
  return parts;
}

static Partition joinParts(ArrayRef<Part> parts) {
  Partition joined;
  for (const Part &part : parts)
    llvm::append_range(joined, part.groups);
  return joined;
}

Partition mlir::fuseops::planCheapest(const PlanGraph &graph, unsigned limit) {
  Partition best = improve(graph, planGreedily(graph));
  Partition backward =
      improve(graph, planGreedily(graph, GreedyOrder::Backward));
  if (isCheaper(graph.getCost(backward), graph.getCost(best)))
    best = std::move(backward);
  std::vector<Part> parts = splitIntoParts(graph, best);
  NodeGroup divisible;
  bool hasCycle = false;
  for (Part &part : parts) {
    if (part.nodes.size() == 1)
      continue;
    divisible = unite(divisible, part.nodes);
    std::optional<Partition> found =
        searchExactly(graph, part.nodes, graph.getCost(part.groups), limit);
    if (!found)
      continue;
    std::swap(part.groups, *found);
    // Parts that are cheapest each for itself may depend on one another.
    if (std::optional<Partition> ordered =
            orderGroups(graph, joinParts(parts))) {
      best = std::move(*ordered);
      continue;
    }
    std::swap(part.groups, *found);
    hasCycle = true;
  }
  if (!hasCycle)
    return best;
  double bound = 0;
  Partition whole;
  for (const Part &part : parts)
    if (part.nodes.size() == 1)
      whole.push_back(part.nodes);
    else
      bound += graph.getCost(part.groups);
  std::optional<Partition> found =
      searchExactly(graph, divisible, bound, limit);
  if (!found)
    return best;
  llvm::append_range(whole, *found);
  std::optional<Partition> ordered = orderGroups(graph, whole);
  return ordered ? *ordered : best;
}
