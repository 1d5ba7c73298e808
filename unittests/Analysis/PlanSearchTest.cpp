//===- PlanSearchTest.cpp - The planner finds the cheapest partition -----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanSearch.h"

#include "llvm/ADT/DenseSet.h"
#include "gtest/gtest.h"

#include <limits>
#include <random>

using namespace mlir;
using namespace mlir::fuseops;

namespace {

/// A random graph with what makes real ones hard: several spaces, contractions
/// that no kernel takes, edges along which nothing can be read back, templates
/// of different speed, tiles that no row fits beside, slices.
class RandomGraph : public PlanGraph {
public:
  RandomGraph(unsigned size, std::mt19937 &random) {
    auto below = [&](unsigned bound) {
      return static_cast<unsigned>(random() % bound);
    };
    SmallVector<unsigned> inputs;
    for (unsigned i = 0, e = 1 + below(3); i < e; ++i)
      inputs.push_back(addValue(1 + below(8)));
    unsigned numSpaces = 1 + below(2), reach = 2 + below(size);
    for (unsigned number = 0; number < size; ++number) {
      Node &own = nodes.emplace_back();
      own.space = below(numSpaces);
      own.kind = static_cast<Kind>(below(10) < 5 ? 0 : below(kNumKinds));
      SmallVector<Read> reads;
      auto read = [&](unsigned value) {
        bool isSlice = below(8) == 0;
        reads.push_back({value, getBytes(value) / (isSlice ? 2 : 1), isSlice,
                         own.kind != Contraction});
      };
      for (unsigned i = 0, e = below(4); i < e && number > 0; ++i) {
        unsigned producer = number - 1 - below(std::min(number, reach));
        ArrayRef<Write> writes = getWrites(producer);
        read(writes[below(writes.size())].value);
        if (below(12) == 0)
          own.refused.insert(producer);
      }
      if (reads.empty() || below(3) == 0)
        read(inputs[below(inputs.size())]);
      SmallVector<double> results{1.0 + below(8)};
      if (below(8) == 0)
        results.push_back(1 + below(8));
      addNode(reads, results);
      for (const Write &write : getWrites(number))
        if (below(6) == 0)
          setReturned(write.value);
    }
    findNeighbours();
  }

  bool isLegal(ArrayRef<unsigned> group) const override {
    if (group.size() == 1)
      return true;
    bool isTiled = false, needsRows = false;
    for (unsigned member : group) {
      const Node &node = nodes[member];
      if (node.kind == Contraction || node.space != nodes[group[0]].space)
        return false;
      isTiled |= node.kind == Tile;
      needsRows |= node.kind == Row;
      for (unsigned other : group)
        if (node.refused.contains(other))
          return false;
    }
    return !isTiled || !needsRows;
  }

  double getShare(ArrayRef<unsigned> group) const override {
    static constexpr double shares[] = {0.9, 0.8, 0.5, 1.0};
    double share = 1;
    for (unsigned member : group)
      share = std::min(share, shares[nodes[member].kind]);
    return share;
  }

  double getLaunchCost(ArrayRef<unsigned> group) const override {
    return nodes[group.front()].kind == Contraction ? 0 : 1;
  }

  bool canFollow(unsigned node, unsigned other) const override {
    return nodes[node].kind == Pointwise &&
           isLegal({std::min(node, other), std::max(node, other)});
  }

private:
  enum Kind { Pointwise, Row, Tile, Contraction, kNumKinds };
  struct Node {
    unsigned space = 0;
    Kind kind = Pointwise;
    llvm::SmallDenseSet<unsigned> refused;
  };
  std::vector<Node> nodes;
};

/// Every partition of the graph, one after the other.
class BruteForce {
public:
  explicit BruteForce(const PlanGraph &graph) : graph(graph) {
    costs.resize(size_t(1) << graph.size());
    for (size_t mask = 1; mask < costs.size(); ++mask) {
      NodeGroup group = toGroup(mask);
      bool isAllowed = graph.isLegal(group) && graph.isConnected(group);
      costs[mask] = isAllowed ? graph.getCost(group)
                              : std::numeric_limits<double>::infinity();
    }
  }

  double getLowestCost() {
    best = std::numeric_limits<double>::infinity();
    place((size_t(1) << graph.size()) - 1, 0);
    return best;
  }

private:
  NodeGroup toGroup(size_t mask) const {
    NodeGroup group;
    for (unsigned node = 0; node < graph.size(); ++node)
      if (mask >> node & 1)
        group.push_back(node);
    return group;
  }

  /// Puts the first node that is left into a group with any of the others.
  void place(size_t left, double cost) {
    if (cost >= best)
      return;
    if (left == 0) {
      if (orderGroups(graph, groups))
        best = cost;
      return;
    }
    size_t first = left & -left, others = left & ~first;
    for (size_t subset = others;; subset = (subset - 1) & others) {
      double own = costs[first | subset];
      if (own < std::numeric_limits<double>::infinity()) {
        groups.push_back(toGroup(first | subset));
        place(others & ~subset, cost + own);
        groups.pop_back();
      }
      if (subset == 0)
        return;
    }
  }

  const PlanGraph &graph;
  std::vector<double> costs;
  Partition groups;
  double best = 0;
};

/// Whether `partition` holds each node once, in legal groups that run in order.
void expectValid(const PlanGraph &graph, const Partition &partition) {
  std::vector<bool> done(graph.size());
  for (const NodeGroup &group : partition) {
    ASSERT_TRUE(llvm::is_sorted(group));
    ASSERT_TRUE(graph.isLegal(group));
    ASSERT_TRUE(graph.isConnected(group));
    for (unsigned node : group)
      for (unsigned producer : graph.getProducers(node))
        ASSERT_TRUE(done[producer] || llvm::is_contained(group, producer));
    for (unsigned node : group) {
      ASSERT_FALSE(done[node]);
      done[node] = true;
    }
  }
  ASSERT_TRUE(llvm::all_of(done, [](bool isDone) { return isDone; }));
}

TEST(PlanSearchTest, EqualsBruteForce) {
  std::mt19937 random(7);
  unsigned cheaperThanGreedy = 0;
  for (unsigned trial = 0; trial < 10000; ++trial) {
    RandomGraph graph(1 + trial % 10, random);
    Partition found = planCheapest(graph);
    expectValid(graph, found);
    double lowest = BruteForce(graph).getLowestCost();
    ASSERT_NEAR(graph.getCost(found), lowest, 1e-9 * lowest)
        << "trial " << trial;
    cheaperThanGreedy +=
        graph.getCost(planGreedily(graph)) > lowest * (1 + 1e-9);
  }
  // Else the graphs would prove nothing.
  EXPECT_GT(cheaperThanGreedy, 1000u);
}

TEST(PlanSearchTest, NeverWorseThanGreedy) {
  std::mt19937 random(11);
  for (unsigned trial = 0; trial < 20000; ++trial) {
    // A few nodes mostly; now and then more than a search takes.
    unsigned size = 1 + random() % (trial % 500 == 0 ? 150 : 30);
    RandomGraph graph(size, random);
    Partition greedy = planGreedily(graph);
    Partition found = planCheapest(graph, /*limit=*/200);
    expectValid(graph, greedy);
    expectValid(graph, found);
    ASSERT_LE(graph.getCost(found), graph.getCost(greedy) * (1 + 1e-9))
        << "trial " << trial;
  }
}

TEST(PlanSearchTest, IsDeterministic) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 first(seed), second(seed);
    RandomGraph a(40, first), b(40, second);
    EXPECT_EQ(planCheapest(a), planCheapest(b));
  }
}

/// Two groups, each of which may run, that wait for one another.
TEST(PlanSearchTest, OrdersNoCycle) {
  struct Crossed : PlanGraph {
    Crossed() {
      for (unsigned chain = 0; chain < 2; ++chain) {
        unsigned first = addNode({}, {1.0});
        addNode({{getWrites(first).front().value, 1.0}}, {1.0});
      }
    }
    bool isLegal(ArrayRef<unsigned>) const override { return true; }
    double getShare(ArrayRef<unsigned>) const override { return 1; }
    double getLaunchCost(ArrayRef<unsigned>) const override { return 1; }
    bool canFollow(unsigned, unsigned) const override { return false; }
  } graph;
  EXPECT_FALSE(orderGroups(graph, {{0, 3}, {1, 2}}));
  EXPECT_TRUE(orderGroups(graph, {{0, 1}, {2, 3}}));
}

} // namespace
