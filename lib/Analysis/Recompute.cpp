//===- Recompute.cpp - Values that several kernels compute ----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recompute.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

#include <deque>
#include <limits>

using namespace mlir;
using namespace mlir::fuseops;

namespace {
/// A flow network between the values that lie in memory and a kernel's inputs.
/// What limits the flow is the weight of the values.
class FlowNetwork {
public:
  /// The network's ends.
  static constexpr unsigned kSource = 0, kSink = 1;

  /// Adds a value of weight `weight`; returns its number. The flow enters at
  /// the number and leaves at the number + 1.
  unsigned addValue(double weight) {
    unsigned number = edgesOf.size();
    edgesOf.resize(number + 2);
    addEdge(number, number + 1, weight);
    return number;
  }
  void addEdge(unsigned from, unsigned to, double weight = kUnlimited) {
    edgesOf[from].push_back(edges.size());
    edges.push_back({to, weight});
    edgesOf[to].push_back(edges.size());
    edges.push_back({from, 0});
  }

  /// Sends as much as fits from source to sink; returns what the source still
  /// reaches then: the cut goes through the values that it enters but does not
  /// leave.
  llvm::DenseSet<unsigned> cut();

private:
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  struct Edge {
    unsigned to;
    double room;
  };
  /// The edge by which each reached place is entered from the source.
  llvm::DenseMap<unsigned, unsigned> search() const;

  /// Each edge is followed by its reverse.
  std::vector<Edge> edges;
  std::vector<SmallVector<unsigned>> edgesOf{2};
};
} // namespace

llvm::DenseMap<unsigned, unsigned> FlowNetwork::search() const {
  llvm::DenseMap<unsigned, unsigned> enteredBy;
  std::deque<unsigned> worklist{kSource};
  llvm::DenseSet<unsigned> seen{kSource};
  while (!worklist.empty()) {
    unsigned place = worklist.front();
    worklist.pop_front();
    for (unsigned edge : edgesOf[place])
      if (edges[edge].room > 0 && seen.insert(edges[edge].to).second) {
        enteredBy[edges[edge].to] = edge;
        worklist.push_back(edges[edge].to);
      }
  }
  return enteredBy;
}

llvm::DenseSet<unsigned> FlowNetwork::cut() {
  while (true) {
    llvm::DenseMap<unsigned, unsigned> enteredBy = search();
    if (!enteredBy.contains(kSink)) {
      llvm::DenseSet<unsigned> reached{kSource};
      for (auto [place, edge] : enteredBy)
        reached.insert(place);
      return reached;
    }
    double room = kUnlimited;
    auto alongPath = [&](function_ref<void(unsigned)> visit) {
      for (unsigned place = kSink; place != kSource;) {
        unsigned edge = enteredBy[place];
        visit(edge);
        place = edges[edge ^ 1].to;
      }
    };
    alongPath([&](unsigned edge) { room = std::min(room, edges[edge].room); });
    alongPath([&](unsigned edge) {
      edges[edge].room -= room;
      edges[edge ^ 1].room += room;
    });
  }
}

/// Whether other kernels can compute `node` where they need it, and get the
/// same bits. What is narrower than f32 is rounded where it is stored and is
/// not where it stays in registers; a maximum would no longer be one of the
/// values.
static bool isElementwise(const FusionNode &node) {
  auto isExact = [](Type type) {
    auto number = dyn_cast<FloatType>(getElementTypeOrSelf(type));
    return !number || number.getWidth() >= 32;
  };
  return node.isMemory && !node.isOfBlocks && !node.isScattered &&
         node.shape.kernelTemplate == KernelTemplate::Pointwise &&
         node.shape.readsMoved.none() && node.shape.writesMoved.none() &&
         llvm::all_of(node.op->getResultTypes(), isExact);
}

namespace {
class Recomputation {
public:
  Recomputation(const FusionGraph &graph, const Partition &partition)
      : graph(graph), partition(partition), computedBy(graph.size()),
        recomputed(partition.size()) {
    for (auto [number, group] : llvm::enumerate(partition))
      for (unsigned node : group)
        computedBy[node].push_back(number);
  }

  std::vector<KernelNodes> run() {
    // What a group no longer reads, another may no longer have to write: from
    // the last group to the first.
    for (unsigned group = partition.size(); group-- > 0;)
      if (graph.getNode(partition[group].front()).isMemory)
        visit(group);
    std::vector<KernelNodes> kernels;
    kernels.reserve(partition.size());
    for (unsigned group = 0; group < partition.size(); ++group)
      kernels.push_back({getMembers(group), recomputed[group]});
    return kernels;
  }

private:
  void visit(unsigned group);
  NodeGroup findCut(unsigned group) const;
  NodeGroup getMembers(unsigned group) const;
  bool isWritten(unsigned group, unsigned node,
                 const PlanGraph::Write &write) const;
  /// What the result of `node` that is `value` weighs for `group`.
  double getWeight(unsigned group, unsigned value) const;
  double getCost() const;

  const FusionGraph &graph;
  const Partition &partition;
  /// Of each node: its group, then those that compute it too.
  std::vector<SmallVector<unsigned, 1>> computedBy;
  std::vector<NodeGroup> recomputed;
};
} // namespace

/// Whether memory gets what `node` of `group` writes as `write`.
bool Recomputation::isWritten(unsigned group, unsigned node,
                              const PlanGraph::Write &write) const {
  if (computedBy[node].front() != group)
    return false;
  return write.isReturned || llvm::any_of(write.readers, [&](unsigned reader) {
           return llvm::any_of(computedBy[reader], [&](unsigned other) {
             return !llvm::is_contained(computedBy[node], other);
           });
         });
}

/// What `group` computes and somebody reads, and what it computes again.
NodeGroup Recomputation::getMembers(unsigned group) const {
  NodeGroup members(partition[group]);
  llvm::append_range(members, recomputed[group]);
  llvm::sort(members);
  NodeGroup live;
  for (unsigned node : llvm::reverse(members))
    if (llvm::is_contained(recomputed[group], node) ||
        !graph.getNode(node).isMemory ||
        llvm::any_of(graph.getWrites(node), [&](const PlanGraph::Write &write) {
          return isWritten(group, node, write) ||
                 llvm::any_of(write.readers, [&](unsigned reader) {
                   return llvm::is_contained(live, reader);
                 });
        }))
      live.push_back(node);
  return NodeGroup(llvm::reverse(live));
}

double Recomputation::getCost() const {
  double cost = 0;
  for (unsigned group = 0; group < partition.size(); ++group)
    if (NodeGroup members = getMembers(group); !members.empty())
      cost += graph.getCost(members,
                            [&](unsigned node, const PlanGraph::Write &write) {
                              return isWritten(group, node, write);
                            });
  return cost;
}

double Recomputation::getWeight(unsigned group, unsigned value) const {
  std::optional<unsigned> giver = graph.getGiver(value);
  if (!giver)
    return graph.getBytes(value);
  const PlanGraph::Write &write =
      *llvm::find_if(graph.getWrites(*giver), [&](const PlanGraph::Write &own) {
        return own.value == value;
      });
  bool isReadByOthers =
      write.isReturned || llvm::any_of(write.readers, [&](unsigned reader) {
        return llvm::any_of(computedBy[reader], [&](unsigned other) {
          return other != group &&
                 !llvm::is_contained(computedBy[*giver], other);
        });
      });
  return graph.getBytes(value) * (isReadByOthers ? 1 : 2);
}

/// The nodes that `group` had better compute too.
NodeGroup Recomputation::findCut(unsigned group) const {
  auto isOwn = [&](std::optional<unsigned> giver) {
    return giver && computedBy[*giver].front() == group;
  };
  auto canRecompute = [&](unsigned value) {
    std::optional<unsigned> giver = graph.getGiver(value);
    return giver && isElementwise(graph.getNode(*giver));
  };
  FlowNetwork network;
  DenseMap<unsigned, unsigned> placeOf;
  // Values, each with the place that needs it.
  SmallVector<std::pair<unsigned, unsigned>> worklist;
  auto need = [&](unsigned node, unsigned place) {
    for (const PlanGraph::Read &read : graph.getReads(node))
      if (!isOwn(graph.getGiver(read.value)))
        worklist.push_back({read.value, place});
  };
  for (unsigned member : partition[group])
    need(member, FlowNetwork::kSink);
  while (!worklist.empty()) {
    auto [value, to] = worklist.pop_back_val();
    auto [entry, isNew] = placeOf.try_emplace(value, 0);
    if (isNew) {
      entry->second = network.addValue(getWeight(group, value));
      if (canRecompute(value))
        need(*graph.getGiver(value), entry->second);
      else
        network.addEdge(FlowNetwork::kSource, entry->second);
    }
    network.addEdge(placeOf[value] + 1, to);
  }
  llvm::DenseSet<unsigned> reached = network.cut();
  // What is needed and not reached lies behind the cut.
  llvm::SmallSetVector<unsigned, 8> found;
  SmallVector<unsigned> nodes(partition[group]);
  while (!nodes.empty())
    for (const PlanGraph::Read &read : graph.getReads(nodes.pop_back_val()))
      if (!isOwn(graph.getGiver(read.value)) &&
          !reached.contains(placeOf[read.value]) &&
          found.insert(*graph.getGiver(read.value)))
        nodes.push_back(found.back());
  NodeGroup sorted(found.begin(), found.end());
  llvm::sort(sorted);
  return sorted;
}

void Recomputation::visit(unsigned group) {
  NodeGroup found = findCut(group);
  if (found.empty())
    return;
  NodeGroup together;
  std::merge(partition[group].begin(), partition[group].end(), found.begin(),
             found.end(), std::back_inserter(together));
  if (!graph.isLegal(together))
    return;
  double before = getCost();
  recomputed[group] = found;
  for (unsigned node : found)
    computedBy[node].push_back(group);
  if (isCheaper(getCost(), before))
    return;
  recomputed[group].clear();
  for (unsigned node : found)
    computedBy[node].pop_back();
}

std::vector<KernelNodes>
mlir::fuseops::findRecomputed(const FusionGraph &graph,
                              const Partition &partition) {
  return Recomputation(graph, partition).run();
}
