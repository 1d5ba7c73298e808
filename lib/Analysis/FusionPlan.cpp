//===- FusionPlan.cpp - Decides which operations become one kernel -------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Analysis/FusionPlan.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <vector>

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
      "a tile kernel reads statistics of rows that it would have to compute"};
  return texts[condition];
}

/// The value behind any reshapes.
static Value skipReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

Value mlir::fuseops::getWhollyReduced(ReduceRowsOp op) {
  auto rows = op.getInput().getDefiningOp<ReduceColumnsOp>();
  if (!rows || rows.getKind() != op.getKind() || !rows->hasOneUse() ||
      getAccumulatorType(rows.getInput().getType().getElementType()) !=
          getAccumulatorType(op.getInput().getType().getElementType()))
    return {};
  return rows.getInput();
}

/// Whether `op` gives something of whole rows.
static bool reducesRow(ReduceColumnsOp op) {
  auto reader = op->hasOneUse() ? dyn_cast<ReduceRowsOp>(*op->user_begin())
                                : ReduceRowsOp();
  return getColumns(op.getInput().getType()) != 1 &&
         !(reader && getWhollyReduced(reader));
}

OperationShape mlir::fuseops::inspectOperation(Operation *op) {
  OperationShape shape;
  shape.writesMoved.resize(op->getNumResults());
  shape.reduced.resize(op->getNumResults());
  shape.readsMoved.resize(op->getNumOperands());
  auto fusible = dyn_cast<FusibleOpInterface>(op);
  if (!fusible)
    return shape;
  shape.kernelTemplate = KernelTemplate::Pointwise;
  Block scratch;
  for (Value operand : op->getOperands())
    scratch.addArgument(operand.getType(), operand.getLoc());
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToStart(&scratch);
  SmallVector<Value> results =
      fusible.decompose(builder, scratch.getArguments());
  // The result of a reduction over rows, and what is computed from it.
  llvm::DenseSet<Value> reduced;
  for (Operation &inner : scratch) {
    if (auto reduction = dyn_cast<ReduceColumnsOp>(inner))
      shape.needsRows |= reducesRow(reduction);
    if (isa<ReduceRowsOp>(inner) ||
        llvm::any_of(inner.getOperands(),
                     [&](Value operand) { return reduced.contains(operand); }))
      reduced.insert(inner.result_begin(), inner.result_end());
    if (isa<ReduceBlocksOp, ExpandBlocksOp>(inner))
      shape.kernelTemplate = KernelTemplate::Tile;
    else if (isa<ReduceRowsOp>(inner))
      shape.kernelTemplate = KernelTemplate::RowColumn;
    else if (isa<ReduceColumnsOp>(inner) &&
             shape.kernelTemplate == KernelTemplate::Pointwise)
      shape.kernelTemplate = KernelTemplate::Row;
    auto concat = dyn_cast<ConcatOp>(inner);
    if (isa<SliceOp, PermuteOp>(inner) || (concat && !concat.isScattered()))
      for (Value operand : inner.getOperands())
        if (auto argument = dyn_cast<BlockArgument>(skipReshapes(operand)))
          shape.readsMoved.set(argument.getArgNumber());
  }
  for (auto [number, value] : llvm::enumerate(results)) {
    auto concat = skipReshapes(value).getDefiningOp<ConcatOp>();
    if (concat && concat.isScattered())
      shape.writesMoved.set(number);
    if (reduced.contains(value))
      shape.reduced.set(number);
  }
  // Values of the scratch block go with it, uses first.
  for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(scratch))) {
    inner.dropAllUses();
    inner.erase();
  }
  return shape;
}

namespace {
/// What the planner knows of one operation.
struct Node {
  Operation *op;
  bool isMemory = false;
  /// A permutation that is written through: its input is computed and moved.
  bool isScattered = false;
  /// It reduces or expands blocks, which only tiles can.
  bool isTiled = false;
  /// A matrix that is written transposed: by tiles, unless its kernel computes
  /// statistics of rows.
  bool isTransposed = false;
  /// It computes, moves or fills one element a block.
  bool isOfBlocks = false;
  IterationSpace space;
  OperationShape shape;
  /// Nodes that it reads, each with the operand and the result it reads.
  struct Edge {
    unsigned producer, result, operand;
    /// A reshape between them turns rows into columns or the reverse.
    bool movesColumns;
  };
  SmallVector<Edge> reads;
  /// Nodes that read it.
  SmallVector<unsigned> readers;
  /// The group that it is in: the number of that group's first node.
  unsigned group = 0;
  /// Of a group's first node: the group's nodes, in order.
  SmallVector<unsigned> members;
};

/// Greedy: merges along every producer-consumer edge in block order, then
/// operations that read the same tensor.
class GreedyPlanner {
public:
  GreedyPlanner(Block &block);
  void mergeTiles();
  void mergeNeighbours(SmallVectorImpl<FusionDecision> &decisions);
  SmallVector<FusionGroup> getGroups();

private:
  void inspect(Node &node);
  unsigned tryMerge(unsigned a, unsigned b);
  bool hasPathThroughOthers(unsigned from, unsigned to);
  unsigned directConflict(unsigned a, unsigned b);
  /// Whether all that nodes compute has one number of columns, or one column.
  bool hasOneWidth(ArrayRef<unsigned> members);
  /// Whether one of them computes statistics of rows.
  bool needsRows(ArrayRef<unsigned> members);
  /// The space of a group: the widest of its operations.
  IterationSpace spaceOf(unsigned group);
  /// Groups that read group `group`, itself not counted.
  llvm::SmallSetVector<unsigned, 8> readersOf(unsigned group);

  std::vector<Node> nodes;
  DenseMap<Operation *, unsigned> index;
  DenseMap<Value, BlockShape> blocks;
};
} // namespace

/// Whether a reshape behind which `value` stands changes rows or columns.
static bool movesColumns(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    auto from = cast<RankedTensorType>(reshape.getInput().getType());
    if (getSpace(from) != getSpace(cast<RankedTensorType>(value.getType())))
      return true;
    value = reshape.getInput();
  }
  return false;
}

GreedyPlanner::GreedyPlanner(Block &block) : blocks(findBlockValues(block)) {
  for (Operation &op : block.without_terminator()) {
    // Neither computes anything.
    if (isa<ReshapeOp, ConstantOp>(op))
      continue;
    Node &node = nodes.emplace_back();
    node.op = &op;
    node.group = nodes.size() - 1;
    for (auto [operand, value] : llvm::enumerate(op.getOperands())) {
      Value source = skipReshapes(value);
      auto result = dyn_cast<OpResult>(source);
      if (!result || !index.contains(result.getOwner()))
        continue;
      unsigned producer = index[result.getOwner()];
      node.reads.push_back({producer, result.getResultNumber(),
                            static_cast<unsigned>(operand),
                            movesColumns(value)});
      nodes[producer].readers.push_back(node.group);
    }
    node.members = {node.group};
    inspect(node);
    index[&op] = node.group;
  }
}

/// Whether a memory operation reads `value`, behind any reshapes. A
/// concatenation that is written through only says where it goes.
static bool isReadByMemory(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    if (auto reshape = dyn_cast<ReshapeOp>(user))
      return isReadByMemory(reshape);
    auto concat = dyn_cast<ConcatOp>(user);
    return isa<FusibleOpInterface>(user) &&
           (!concat || !concat.isScattered() || isReadByMemory(concat));
  });
}

bool mlir::fuseops::isAlwaysWrittenThrough(PermuteOp op) {
  return ShapedType::isDynamic(getColumns(op.getType())) &&
         !ShapedType::isDynamic(getColumns(op.getInput().getType()));
}

/// Whether `op` is written through.
static bool isWrittenThrough(PermuteOp op) {
  return isAlwaysWrittenThrough(op) ||
         (!isReadByMemory(op) &&
          skipReshapes(op.getInput()).getDefiningOp<FusibleOpInterface>());
}

bool mlir::fuseops::writesTransposed(PermuteOp op) {
  RankedTensorType type = op.getInput().getType();
  return isWrittenThrough(op) && type.getRank() == 2 && op.getOrder()[0] == 1 &&
         type.getDimSize(0) != 1 && type.getDimSize(1) != 1;
}

void GreedyPlanner::inspect(Node &node) {
  node.shape = inspectOperation(node.op);
  auto fusible = dyn_cast<FusibleOpInterface>(node.op);
  if (!fusible)
    return;
  node.isMemory = true;
  node.space = getSpace(fusible.getIterationSpace());
  auto permute = dyn_cast<PermuteOp>(node.op);
  if (permute && isWrittenThrough(permute)) {
    node.isScattered = true;
    node.shape.readsMoved.reset();
    node.shape.writesMoved.set();
    node.space = getSpace(permute.getInput().getType());
  }
  for (Value result : node.op->getResults())
    if (auto found = blocks.find(result); found != blocks.end()) {
      node.isOfBlocks = true;
      node.space = found->second.matrix;
    }
  node.isTiled = node.shape.kernelTemplate == KernelTemplate::Tile;
  node.isTransposed = permute && writesTransposed(permute);
}

llvm::SmallSetVector<unsigned, 8> GreedyPlanner::readersOf(unsigned group) {
  llvm::SmallSetVector<unsigned, 8> readers;
  for (unsigned member : nodes[group].members)
    for (unsigned reader : nodes[member].readers)
      if (nodes[reader].group != group)
        readers.insert(nodes[reader].group);
  return readers;
}

IterationSpace GreedyPlanner::spaceOf(unsigned group) {
  IterationSpace space = nodes[group].space;
  for (unsigned member : nodes[group].members)
    if (nodes[member].space.columns != 1)
      space.columns = nodes[member].space.columns;
  return space;
}

/// Whether a path leads from group `from` to group `to` through a third group.
bool GreedyPlanner::hasPathThroughOthers(unsigned from, unsigned to) {
  SmallVector<unsigned> worklist;
  llvm::SmallSetVector<unsigned, 16> seen;
  auto push = [&](unsigned group) {
    if (group != to && group != from && seen.insert(group))
      worklist.push_back(group);
  };
  llvm::for_each(readersOf(from), push);
  while (!worklist.empty()) {
    auto readers = readersOf(worklist.pop_back_val());
    if (readers.contains(to))
      return true;
    llvm::for_each(readers, push);
  }
  return false;
}

/// Whether two nodes read and write one value in different ways: one as blocks,
/// the other as rows.
static bool differInBlocks(const Node &producer, const Node &consumer) {
  return !isa<ReduceBlocksOp, ExpandBlocksOp>(consumer.op) &&
         producer.isOfBlocks != consumer.isOfBlocks;
}

/// The condition (2, 4 or 5) that an edge between the two groups breaks, or 0.
unsigned GreedyPlanner::directConflict(unsigned a, unsigned b) {
  unsigned conflict = 0;
  for (unsigned member :
       llvm::concat<const unsigned>(nodes[a].members, nodes[b].members)) {
    Node &node = nodes[member];
    for (Node::Edge edge : node.reads) {
      Node &producer = nodes[edge.producer];
      if (producer.group == node.group ||
          (producer.group != a && producer.group != b))
        continue;
      if (edge.movesColumns || differInBlocks(producer, node))
        return 2;
      if (producer.shape.reduced.test(edge.result))
        return 4;
      // A matrix that is joined and transposed still only goes somewhere.
      bool goesOn = node.shape.writesMoved.any() &&
                    (producer.isTransposed || node.isTransposed);
      if ((producer.shape.writesMoved.test(edge.result) && !goesOn) ||
          node.shape.readsMoved.test(edge.operand))
        conflict = 5;
    }
  }
  return conflict;
}

/// The numbers of columns of what a node computes; joining and transposing only
/// say where it goes.
static void addWidths(const Node &node, llvm::SmallDenseSet<int64_t> &widths) {
  if (node.isScattered || node.isOfBlocks)
    return;
  if (!node.shape.writesMoved.any()) {
    widths.insert(node.space.columns);
    return;
  }
  for (Value input : node.op->getOperands())
    if (!input.getDefiningOp<ConcatOp>())
      widths.insert(getColumns(cast<RankedTensorType>(input.getType())));
}

/// Merges the groups of nodes `a` and `b`; the condition that forbids it, or 0.
unsigned GreedyPlanner::tryMerge(unsigned a, unsigned b) {
  unsigned groupA = nodes[a].group, groupB = nodes[b].group;
  if (groupA == groupB)
    return 0;
  // 1. memory kernels only
  if (!nodes[a].isMemory || !nodes[b].isMemory)
    return 1;
  // 2. one iteration space; what is joined may have other columns
  IterationSpace spaceA = spaceOf(groupA), spaceB = spaceOf(groupB);
  bool isJoined = isa<ConcatOp>(nodes[a].op) || isa<ConcatOp>(nodes[b].op);
  if (spaceA.rows != spaceB.rows ||
      (spaceA.columns != spaceB.columns && spaceA.columns != 1 &&
       spaceB.columns != 1 && !isJoined))
    return 2;
  // 3. nothing between them
  if (hasPathThroughOthers(groupA, groupB) ||
      hasPathThroughOthers(groupB, groupA))
    return 3;
  // 4. and 5. what a kernel cannot read back
  if (unsigned conflict = directConflict(groupA, groupB))
    return conflict;
  // 6. a tile has no whole rows
  SmallVector<unsigned> joined(nodes[groupA].members);
  llvm::append_range(joined, nodes[groupB].members);
  bool isTiled = llvm::any_of(
      joined, [&](unsigned member) { return nodes[member].isTiled; });
  // Tiles have one number of columns.
  if (isTiled && !hasOneWidth(joined))
    return 2;
  if (isTiled && needsRows(joined))
    return 6;
  unsigned first = std::min(groupA, groupB), second = std::max(groupA, groupB);
  SmallVector<unsigned> moved = std::move(nodes[second].members);
  nodes[second].members.clear();
  for (unsigned member : moved)
    nodes[member].group = first;
  llvm::append_range(nodes[first].members, moved);
  llvm::sort(nodes[first].members);
  return 0;
}

/// Merges tiles with what computes their elements, before kernels of rows take
/// it: what a row's statistics are of can be computed by either, what depends
/// on them only here.
void GreedyPlanner::mergeTiles() {
  SmallVector<unsigned> worklist;
  for (auto [number, node] : llvm::enumerate(nodes))
    if (node.isTiled)
      worklist.push_back(number);
  llvm::SmallDenseSet<unsigned> seen(worklist.begin(), worklist.end());
  while (!worklist.empty()) {
    unsigned consumer = worklist.pop_back_val();
    for (Node::Edge edge : nodes[consumer].reads) {
      const Node &producer = nodes[edge.producer];
      bool isWide = producer.isOfBlocks || producer.space.columns != 1;
      if (producer.shape.needsRows || !isWide ||
          tryMerge(edge.producer, consumer) != 0)
        continue;
      if (seen.insert(edge.producer).second)
        worklist.push_back(edge.producer);
    }
  }
}

bool GreedyPlanner::hasOneWidth(ArrayRef<unsigned> members) {
  llvm::SmallDenseSet<int64_t> widths;
  for (unsigned member : members)
    addWidths(nodes[member], widths);
  widths.erase(1);
  return widths.size() <= 1;
}

bool GreedyPlanner::needsRows(ArrayRef<unsigned> members) {
  return llvm::any_of(
      members, [&](unsigned member) { return nodes[member].shape.needsRows; });
}

void GreedyPlanner::mergeNeighbours(
    SmallVectorImpl<FusionDecision> &decisions) {
  for (unsigned consumer = 0; consumer < nodes.size(); ++consumer) {
    llvm::SmallSetVector<unsigned, 4> producers;
    for (Node::Edge edge : nodes[consumer].reads)
      producers.insert(edge.producer);
    for (unsigned producer : producers)
      decisions.push_back({nodes[producer].op, nodes[consumer].op,
                           tryMerge(producer, consumer)});
  }
  // Two operations that read one tensor read it once when they are one kernel.
  llvm::MapVector<Value, SmallVector<unsigned>> readers;
  for (auto [number, node] : llvm::enumerate(nodes))
    if (node.isMemory && !node.isScattered)
      for (Value operand : node.op->getOperands()) {
        Value source = skipReshapes(operand);
        auto type = dyn_cast<RankedTensorType>(source.getType());
        if (type && getSpace(type).rows == node.space.rows)
          readers[source].push_back(number);
      }
  for (auto &entry : readers) {
    ArrayRef<unsigned> list = entry.second;
    for (unsigned second : list.drop_front()) {
      if (nodes[list.front()].group == nodes[second].group)
        continue;
      // Refused already, where one of them also reads the other.
      if (llvm::any_of(decisions, [&](const FusionDecision &decision) {
            return decision.producer == nodes[list.front()].op &&
                   decision.consumer == nodes[second].op;
          }))
        continue;
      unsigned condition = tryMerge(list.front(), second);
      decisions.push_back(
          {nodes[list.front()].op, nodes[second].op, condition});
    }
  }
}

/// Of two templates that a group needs, the one that can do both.
static int getTemplateRank(KernelTemplate kernelTemplate) {
  switch (kernelTemplate) {
  case KernelTemplate::Pointwise:
    return 0;
  case KernelTemplate::Row:
    return 1;
  case KernelTemplate::RowColumn:
    return 2;
  case KernelTemplate::Tile:
    return 3;
  case KernelTemplate::Library:
  case KernelTemplate::Finalize:
    return 4;
  }
  llvm_unreachable("every template is handled");
}

SmallVector<FusionGroup> GreedyPlanner::getGroups() {
  // Groups in topological order; of those that can run, the one that stands
  // first in the block.
  llvm::MapVector<unsigned, FusionGroup> byId;
  for (Node &node : nodes) {
    FusionGroup &group = byId[node.group];
    KernelTemplate own = node.shape.kernelTemplate;
    // A matrix is written transposed by the kernel that computes it only.
    auto isComputed = [&] {
      return llvm::any_of(node.reads, [&](Node::Edge edge) {
        return nodes[edge.producer].group == node.group;
      });
    };
    ArrayRef<unsigned> members = nodes[node.group].members;
    if (node.isTransposed && !node.isOfBlocks && isComputed() &&
        !needsRows(members) && hasOneWidth(members))
      own = KernelTemplate::Tile;
    if (group.ops.empty() ||
        getTemplateRank(own) > getTemplateRank(group.kernelTemplate))
      group.kernelTemplate = own;
    group.ops.push_back(node.op);
  }
  llvm::SmallSetVector<unsigned, 16> done;
  SmallVector<FusionGroup> ordered;
  auto isReady = [&](unsigned id) {
    return llvm::all_of(byId[id].ops, [&](Operation *op) {
      return llvm::all_of(nodes[index[op]].reads, [&](Node::Edge edge) {
        unsigned group = nodes[edge.producer].group;
        return group == id || done.contains(group);
      });
    });
  };
  while (done.size() < byId.size()) {
    for (auto &[id, group] : byId) {
      if (done.contains(id) || !isReady(id))
        continue;
      done.insert(id);
      ordered.push_back(std::move(group));
      break;
    }
  }
  return ordered;
}

FusionPlan FusionPlan::compute(Block &block, bool fuse) {
  FusionPlan plan;
  GreedyPlanner planner(block);
  if (fuse) {
    planner.mergeTiles();
    planner.mergeNeighbours(plan.decisions);
  }
  plan.groups = planner.getGroups();
  return plan;
}
