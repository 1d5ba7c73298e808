//===- ExactSearch.cpp - Dynamic programming over what has run -----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A state is the set of nodes that have run: with a node all that it reads. One
// step runs a group of further nodes. What the groups so far are does not
// matter for the rest, so each state is entered by its cheapest way only, and
// left where what is to come costs too much in any case. Nodes that follow an
// anchor are no choice: with it they are one place of the search.
//
//===----------------------------------------------------------------------===//

#include "PlanSearch.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <map>
#include <tuple>

using namespace mlir;
using namespace mlir::fuseops;

/// A set of places.
using Mask = uint64_t;
/// `DenseMap` keeps the two largest masks for itself.
static constexpr size_t kMaxPlaces = 60;

static Mask bit(unsigned place) { return Mask(1) << place; }

/// Calls `visit` with each place of `mask`.
static void forEach(Mask mask, function_ref<void(unsigned)> visit) {
  for (; mask; mask &= mask - 1)
    visit(llvm::countr_zero(mask));
}

namespace {
class ExactSearch {
public:
  ExactSearch(const PlanGraph &graph, ArrayRef<NodeGroup> places, double bound,
              unsigned limit)
      : graph(graph), places(places), best(bound), limit(limit),
        all(bit(places.size()) - 1), placeOf(graph.size(), -1) {
    for (auto [place, nodes] : llvm::enumerate(places))
      for (unsigned node : nodes)
        placeOf[node] = place;
    findOrder();
    findAdjacent();
    findTogether();
  }

  std::optional<Partition> run() {
    visit(0, 0);
    if (bestGroups.empty())
      return std::nullopt;
    Partition partition;
    for (Mask group : bestGroups)
      partition.push_back(toNodes(group));
    return partition;
  }

private:
  struct Step {
    Mask group;
    double cost;
    /// At least what the whole costs with it.
    double bound;
  };

  void findOrder();
  void findAdjacent();
  void findTogether();
  void visit(Mask done, double cost);
  SmallVector<Step> findSteps(Mask done, double cost);
  Mask findUrgent(Mask left);
  bool isLegal(Mask group);
  double getCost(Mask group);
  double getLowerBound(Mask left);
  NodeGroup toNodes(Mask mask) const {
    NodeGroup group;
    forEach(mask,
            [&](unsigned place) { llvm::append_range(group, places[place]); });
    llvm::sort(group);
    return group;
  }

  const PlanGraph &graph;
  ArrayRef<NodeGroup> places;
  double best;
  unsigned limit;
  Mask all;
  /// Of each node of the graph: its place, or -1.
  std::vector<int> placeOf;
  /// Of each place: the places that it depends on; those that it depends on, or
  /// that depend on it, through a node that is not searched; its neighbours;
  /// and those that some legal group holds with it.
  SmallVector<Mask> below, separated, adjacent, together;
  DenseMap<Mask, bool> legal;
  DenseMap<Mask, double> costs, bounds, entered;
  SmallVector<Mask> groups, bestGroups;
};
} // namespace

void ExactSearch::findOrder() {
  below.assign(places.size(), 0);
  separated.assign(places.size(), 0);
  // Of every node: the places that it depends on, and those through others.
  std::vector<std::pair<Mask, Mask>> reached(graph.size());
  for (unsigned node = 0; node < graph.size(); ++node) {
    auto &[direct, through] = reached[node];
    for (unsigned producer : graph.getProducers(node)) {
      direct |= reached[producer].first;
      through |= reached[producer].second;
      if (placeOf[producer] >= 0)
        direct |= bit(placeOf[producer]);
    }
    if (placeOf[node] < 0) {
      through = direct;
      continue;
    }
    Mask own = bit(placeOf[node]);
    below[placeOf[node]] |= direct & ~own;
    separated[placeOf[node]] |= through & ~own;
    forEach(through & ~own, [&](unsigned other) { separated[other] |= own; });
  }
}

void ExactSearch::findAdjacent() {
  adjacent.assign(places.size(), 0);
  for (auto [place, nodes] : llvm::enumerate(places)) {
    for (unsigned node : nodes)
      for (unsigned next : graph.getAdjacent(node))
        if (placeOf[next] >= 0)
          adjacent[place] |= bit(placeOf[next]);
    adjacent[place] &= ~bit(place);
  }
}

void ExactSearch::findTogether() {
  together.assign(places.size(), 0);
  for (unsigned a = 0; a < places.size(); ++a)
    for (unsigned b = a + 1; b < places.size(); ++b) {
      // With both a group holds what lies between them.
      Mask group = bit(a) | bit(b);
      forEach(below[b], [&](unsigned place) {
        if (below[place] & bit(a))
          group |= bit(place);
      });
      if (isLegal(group)) {
        together[a] |= bit(b);
        together[b] |= bit(a);
      }
    }
}

bool ExactSearch::isLegal(Mask group) {
  auto [entry, isNew] = legal.try_emplace(group, true);
  if (isNew) {
    bool apart = false;
    forEach(group,
            [&](unsigned place) { apart |= (separated[place] & group) != 0; });
    entry->second = !apart && graph.isLegal(toNodes(group));
  }
  return entry->second;
}

double ExactSearch::getCost(Mask group) {
  auto [entry, isNew] = costs.try_emplace(group, 0);
  if (isNew)
    entry->second = graph.getCost(toNodes(group));
  return entry->second;
}

double ExactSearch::getLowerBound(Mask left) {
  if (left == 0)
    return 0;
  auto [entry, isNew] = bounds.try_emplace(left, 0);
  if (isNew)
    entry->second = graph.getLowerBound(toNodes(left));
  return entry->second;
}

/// The places that may have to run before the first one left does. Groups that
/// can run in any order are looked at in one: first the group of the first
/// place, and before it what that group needs.
Mask ExactSearch::findUrgent(Mask left) {
  Mask urgent = left & -left;
  for (Mask before = 0; before != urgent;) {
    before = urgent;
    forEach(before, [&](unsigned place) {
      urgent |= (below[place] | together[place]) & left;
    });
  }
  return urgent;
}

/// The groups that can run next, the most promising first.
SmallVector<ExactSearch::Step> ExactSearch::findSteps(Mask done, double cost) {
  Mask left = all & ~done;
  SmallVector<Step> steps;
  SmallVector<Mask> worklist;
  llvm::SmallDenseSet<Mask, 32> seen;
  auto push = [&](Mask group) {
    if (seen.insert(group).second && isLegal(group))
      worklist.push_back(group);
  };
  forEach(findUrgent(left), [&](unsigned place) {
    if ((below[place] & left) == 0)
      push(bit(place));
  });
  while (!worklist.empty() && limit > 0) {
    --limit;
    Mask group = worklist.pop_back_val();
    double own = getCost(group);
    steps.push_back({group, own, cost + own + getLowerBound(left & ~group)});
    // A neighbour joins with all that it needs.
    forEach(group, [&](unsigned place) {
      forEach(adjacent[place] & left & ~group, [&](unsigned next) {
        push(group | bit(next) | (below[next] & left));
      });
    });
  }
  llvm::sort(steps, [](const Step &a, const Step &b) {
    auto rank = [](const Step &step) {
      return std::tuple(step.bound, -llvm::popcount(step.group), step.group);
    };
    return rank(a) < rank(b);
  });
  return steps;
}

void ExactSearch::visit(Mask done, double cost) {
  auto isWorse = [&](double bound) { return !isCheaper(bound, best); };
  if (done == all) {
    if (!isWorse(cost)) {
      best = cost;
      bestGroups = groups;
    }
    return;
  }
  if (isWorse(cost + getLowerBound(all & ~done)))
    return;
  auto [entry, isNew] = entered.try_emplace(done, cost);
  if (!isNew && entry->second <= cost)
    return;
  entry->second = cost;
  for (const Step &step : findSteps(done, cost)) {
    if (isWorse(step.bound))
      return;
    groups.push_back(step.group);
    visit(done | step.group, cost + step.cost);
    groups.pop_back();
  }
}

/// `nodes` with what follows the same anchor together, in an order in which
/// they can run.
static std::vector<NodeGroup> findPlaces(const PlanGraph &graph,
                                         ArrayRef<unsigned> nodes) {
  // An anchor's number lies between those of what it reads and of what reads
  // it.
  std::map<unsigned, NodeGroup> byAnchor;
  for (unsigned node : nodes) {
    unsigned anchor = node;
    while (std::optional<unsigned> next = graph.getAnchor(anchor))
      anchor = *next;
    byAnchor[anchor].push_back(node);
  }
  std::vector<NodeGroup> places;
  places.reserve(byAnchor.size());
  for (auto &entry : byAnchor)
    places.push_back(std::move(entry.second));
  return places;
}

std::optional<Partition> mlir::fuseops::searchExactly(const PlanGraph &graph,
                                                      ArrayRef<unsigned> nodes,
                                                      double bound,
                                                      unsigned limit) {
  std::vector<NodeGroup> places = findPlaces(graph, nodes);
  if (places.size() > kMaxPlaces)
    return std::nullopt;
  return ExactSearch(graph, places, bound, limit).run();
}
