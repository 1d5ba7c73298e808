//===- PlanGraph.cpp - What a partition into kernels costs ---------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanGraph.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::fuseops;

PlanGraph::~PlanGraph() = default;

unsigned PlanGraph::addValue(double bytes) {
  values.push_back({bytes, std::nullopt});
  return values.size() - 1;
}

unsigned PlanGraph::addNode(ArrayRef<Read> reads, ArrayRef<double> results) {
  unsigned number = nodes.size();
  Node &node = nodes.emplace_back();
  node.reads.assign(reads.begin(), reads.end());
  for (const Read &read : reads) {
    std::optional<unsigned> giver = getGiver(read.value);
    if (!giver)
      continue;
    for (Write &write : nodes[*giver].writes)
      if (write.value == read.value &&
          !llvm::is_contained(write.readers, number))
        write.readers.push_back(number);
    if (llvm::is_contained(node.producers, *giver))
      continue;
    node.producers.push_back(*giver);
    nodes[*giver].consumers.push_back(number);
  }
  for (double bytes : results) {
    unsigned value = addValue(bytes);
    values[value].giver = number;
    node.writes.push_back({value, {}});
  }
  return number;
}

void PlanGraph::setReturned(unsigned value) {
  for (Write &write : nodes[*getGiver(value)].writes)
    if (write.value == value)
      write.isReturned = true;
}

void PlanGraph::addNeighbours(unsigned a, unsigned b) {
  if (a == b || llvm::is_contained(nodes[a].adjacent, b))
    return;
  auto pair = std::minmax(a, b);
  if (!isLegal({pair.first, pair.second}))
    return;
  nodes[a].adjacent.push_back(b);
  nodes[b].adjacent.push_back(a);
  neighbours.push_back(pair);
}

void PlanGraph::findNeighbours() {
  SmallVector<SmallVector<unsigned>> sharedBy(values.size());
  for (unsigned node = 0; node < size(); ++node) {
    for (unsigned producer : getProducers(node))
      addNeighbours(producer, node);
    for (const Read &read : getReads(node))
      if (read.isShared)
        sharedBy[read.value].push_back(node);
  }
  for (ArrayRef<unsigned> readers : sharedBy)
    for (size_t i = 0; i < readers.size(); ++i)
      for (unsigned other : readers.drop_front(i + 1))
        addNeighbours(readers[i], other);
  for (unsigned node = 0; node < size(); ++node)
    nodes[node].anchor = findReaderAnchor(node);
  // A node that follows another is followed by nobody else's choice.
  SmallVector<std::optional<unsigned>> givers(size());
  for (unsigned node = 0; node < size(); ++node)
    if (!nodes[node].anchor)
      givers[node] = findGiverAnchor(node);
  for (unsigned node = 0; node < size(); ++node)
    if (givers[node] && !nodes[*givers[node]].anchor)
      nodes[node].anchor = givers[node];
}

/// The one value that `node` reads, all of it; none if there are several.
std::optional<unsigned> PlanGraph::getOnlyRead(unsigned node) const {
  std::optional<unsigned> found;
  for (const Read &read : getReads(node)) {
    if (getBytes(read.value) == 0)
      continue;
    if (read.isSlice || (found && *found != read.value))
      return std::nullopt;
    found = read.value;
  }
  return found;
}

/// Moving `node` to its only reader, neither that reader's kernel nor the one
/// that it leaves moves more bytes: both have at most its operand instead of
/// its results.
std::optional<unsigned> PlanGraph::findReaderAnchor(unsigned node) const {
  std::optional<unsigned> read = getOnlyRead(node);
  if (!read || getConsumers(node).size() != 1)
    return std::nullopt;
  double bytes = 0;
  for (const Write &write : getWrites(node)) {
    if (write.isReturned)
      return std::nullopt;
    if (!write.readers.empty())
      bytes += getBytes(write.value);
  }
  unsigned reader = getConsumers(node).front();
  bool isSliced = llvm::any_of(getReads(reader), [&](const Read &own) {
    return own.isSlice && getGiver(own.value) == node;
  });
  if (isSliced || bytes < getBytes(*read) || !canFollow(node, reader))
    return std::nullopt;
  return reader;
}

/// Likewise the other way round.
std::optional<unsigned> PlanGraph::findGiverAnchor(unsigned node) const {
  std::optional<unsigned> read = getOnlyRead(node);
  if (!read || !getGiver(*read) || getWrites(node).size() != 1)
    return std::nullopt;
  unsigned giver = *getGiver(*read);
  for (const Write &write : getWrites(giver))
    if (write.value == *read && (write.isReturned || write.readers.size() != 1))
      return std::nullopt;
  if (getBytes(getWrites(node).front().value) > getBytes(*read) ||
      !canFollow(node, giver))
    return std::nullopt;
  return giver;
}

bool PlanGraph::isConnected(ArrayRef<unsigned> group) const {
  if (group.empty())
    return true;
  llvm::SmallDenseSet<unsigned> left(group.begin(), group.end());
  SmallVector<unsigned> worklist{group.front()};
  left.erase(group.front());
  while (!worklist.empty())
    for (unsigned next : getAdjacent(worklist.pop_back_val()))
      if (left.erase(next))
        worklist.push_back(next);
  return left.empty();
}

static bool isMember(ArrayRef<unsigned> group, unsigned node) {
  return std::binary_search(group.begin(), group.end(), node);
}

double PlanGraph::countBytes(ArrayRef<unsigned> group,
                             IsWritten isWritten) const {
  double bytes = 0;
  // Slices of a value are read where it lies, of at most all of it.
  llvm::SmallDenseMap<unsigned, double> known;
  for (unsigned node : group) {
    for (const Read &read : getReads(node)) {
      std::optional<unsigned> giver = getGiver(read.value);
      if (giver && isMember(group, *giver))
        continue;
      double whole = getBytes(read.value);
      double &before = known[read.value];
      double after =
          read.isSlice ? std::min(before + read.bytes, whole) : whole;
      bytes += after - before;
      before = after;
    }
    for (const Write &write : getWrites(node))
      if (isWritten(node, write))
        bytes += getBytes(write.value);
  }
  return bytes;
}

double PlanGraph::getCost(ArrayRef<unsigned> group, IsWritten isWritten) const {
  double launch = getLaunchCost(group);
  if (launch == 0)
    return 0;
  return std::max(countBytes(group, isWritten) / getShare(group),
                  getWork(group)) +
         launch;
}

/// Whether a node outside of `group` reads `write`, or the graph returns it.
static bool isNeeded(ArrayRef<unsigned> group, const PlanGraph::Write &write) {
  return write.isReturned || llvm::any_of(write.readers, [&](unsigned reader) {
           return !isMember(group, reader);
         });
}

double PlanGraph::getCost(ArrayRef<unsigned> group) const {
  return getCost(group, [&](unsigned, const Write &write) {
    return isNeeded(group, write);
  });
}

double PlanGraph::getCost(const Partition &partition) const {
  double cost = 0;
  for (const NodeGroup &group : partition)
    cost += getCost(group);
  return cost;
}

double PlanGraph::getLowerBound(ArrayRef<unsigned> nodes) const {
  double share = 0, launch = std::numeric_limits<double>::infinity();
  for (unsigned node : nodes) {
    launch = std::min(launch, getLaunchCost(node));
    share = std::max(share, getShare(node));
  }
  if (launch == 0)
    return 0;
  double bytes = countBytes(nodes, [&](unsigned, const Write &write) {
    return isNeeded(nodes, write);
  });
  return bytes / share + launch;
}
