//===- PlanGraph.h - What a partition into kernels costs -----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Knows nothing of operations: nodes read and write values of some bytes, and a
// derived class says which sets of nodes may be one kernel.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_ANALYSIS_PLANGRAPH_H
#define FUSEOPS_LIB_ANALYSIS_PLANGRAPH_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <vector>

namespace mlir::fuseops {

/// Nodes of one kernel, in ascending order.
using NodeGroup = SmallVector<unsigned>;
/// Groups that hold each node once, in an order in which they can run.
using Partition = std::vector<NodeGroup>;

/// Whether cost `a` is less than `b`. Costs that differ by less are equal: sums
/// in another order.
inline bool isCheaper(double a, double b) { return a < b * (1 - 1e-9); }

/// A graph to be cut into groups. Nodes are numbered so that each reads only
/// what nodes of smaller numbers give. Costs are bytes of a copy that takes as
/// long.
class PlanGraph {
public:
  struct Read {
    unsigned value;
    double bytes;
    /// It takes a part of the value, `bytes` of it, where it lies.
    bool isSlice = false;
    /// Whether its node may be fused with others only because they read the
    /// value too.
    bool isShared = true;
  };
  struct Write {
    unsigned value;
    /// The nodes that read it, each once.
    SmallVector<unsigned> readers;
    /// It is a result of the whole graph.
    bool isReturned = false;
  };
  using IsWritten = function_ref<bool(unsigned node, const Write &write)>;

  virtual ~PlanGraph();

  unsigned size() const { return nodes.size(); }
  ArrayRef<Read> getReads(unsigned node) const { return nodes[node].reads; }
  ArrayRef<Write> getWrites(unsigned node) const { return nodes[node].writes; }
  /// The nodes whose results `node` reads, and those that read its results,
  /// each once.
  ArrayRef<unsigned> getProducers(unsigned node) const {
    return nodes[node].producers;
  }
  ArrayRef<unsigned> getConsumers(unsigned node) const {
    return nodes[node].consumers;
  }
  /// The node that gives value `value`; none if it comes from outside.
  std::optional<unsigned> getGiver(unsigned value) const {
    return values[value].giver;
  }
  double getBytes(unsigned value) const { return values[value].bytes; }

  /// Legal pairs, smaller number first, that save something when they are
  /// fused: first those of which the second reads the first, then those that
  /// read one value. Greedy takes this order.
  ArrayRef<std::pair<unsigned, unsigned>> getNeighbours() const {
    return neighbours;
  }
  /// The nodes that are neighbours of `node`.
  ArrayRef<unsigned> getAdjacent(unsigned node) const {
    return nodes[node].adjacent;
  }
  /// Whether neighbours connect `group`.
  bool isConnected(ArrayRef<unsigned> group) const;
  /// The node in whose group `node` is in some cheapest partition; none if that
  /// is not known. Where a node writes no less than the one value that it
  /// reads, its only reader had better compute it; likewise where it writes no
  /// more than the value that only it reads, that value's giver.
  std::optional<unsigned> getAnchor(unsigned node) const {
    return nodes[node].anchor;
  }

  /// Whether a template accepts `group`: a single node always, and with a group
  /// each part of it. What lies between its nodes is not asked here.
  virtual bool isLegal(ArrayRef<unsigned> group) const = 0;
  /// The share of the copy bandwidth that a kernel of `group` reaches; not more
  /// than that of its fastest node alone.
  virtual double getShare(ArrayRef<unsigned> group) const = 0;
  /// What `group` takes to compute, in bytes that could be moved meanwhile.
  virtual double getWork(ArrayRef<unsigned> group) const { return 0; }
  /// What the launches of `group` cost; 0 where it is no kernel of ours, which
  /// costs nothing at all.
  virtual double getLaunchCost(ArrayRef<unsigned> group) const = 0;
  /// Whether each legal group that holds `other`, a neighbour, but nothing else
  /// that gives or reads a value of `node`, is legal with `node` too and
  /// reaches the same share.
  virtual bool canFollow(unsigned node, unsigned other) const = 0;

  double getCost(ArrayRef<unsigned> group) const;
  /// Likewise, where of the results of nodes only those that `isWritten` are
  /// written to memory.
  double getCost(ArrayRef<unsigned> group, IsWritten isWritten) const;
  /// The total cost of `partition`.
  double getCost(const Partition &partition) const;
  /// At most what any legal partition of `nodes` costs.
  double getLowerBound(ArrayRef<unsigned> nodes) const;
  /// What a kernel of `group` reads and writes, each value once.
  double countBytes(ArrayRef<unsigned> group, IsWritten isWritten) const;

protected:
  /// Adds a value that comes from outside.
  unsigned addValue(double bytes);
  /// Adds a node that gives values of `results` bytes; returns its number.
  unsigned addNode(ArrayRef<Read> reads, ArrayRef<double> results);
  void setReturned(unsigned value);
  /// To be called once, when all nodes are there and `isLegal` can answer.
  void findNeighbours();

private:
  struct Node {
    SmallVector<Read> reads;
    SmallVector<Write> writes;
    SmallVector<unsigned> producers, consumers, adjacent;
    std::optional<unsigned> anchor;
  };
  struct GraphValue {
    double bytes;
    std::optional<unsigned> giver;
  };

  void addNeighbours(unsigned a, unsigned b);
  std::optional<unsigned> findReaderAnchor(unsigned node) const;
  std::optional<unsigned> findGiverAnchor(unsigned node) const;
  std::optional<unsigned> getOnlyRead(unsigned node) const;

  std::vector<Node> nodes;
  std::vector<GraphValue> values;
  SmallVector<std::pair<unsigned, unsigned>> neighbours;
};

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_ANALYSIS_PLANGRAPH_H
