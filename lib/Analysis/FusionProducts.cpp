//===- FusionProducts.cpp - What a product's kernel takes in --------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FusionGraph.h"

using namespace mlir;
using namespace mlir::fuseops;

/// Whether the kernel of a product writes what the node moves: parts of rows
/// side by side, and matrices of 8 bits transposed.
static bool isWrittenByProduct(const FusionNode &node, int64_t columns) {
  auto concat = dyn_cast<ConcatOp>(node.op);
  if (concat &&
      static_cast<int64_t>(concat.getDim()) + 1 == concat.getType().getRank())
    return llvm::all_of(concat.getInputs(), [&](Value input) {
      return getColumns(cast<RankedTensorType>(input.getType())) == columns;
    });
  Type type = node.op->getResult(0).getType();
  return isa<PermuteOp>(node.op) &&
         (node.isOfBlocks ||
          (node.isTransposed &&
           getElementBytes(getElementTypeOrSelf(type)) == 1));
}

/// Whether the kernel of a product finds what the node computes: elements,
/// blocks along a row, and sums over rows and along them.
static bool isComputedByProduct(const FusionNode &node) {
  auto isAlongRow = [](auto op) {
    return op && op.getBlockRows() == 1 &&
           llvm::is_contained({32, 64, 128}, int64_t(op.getBlockColumns()));
  };
  return node.shape.kernelTemplate == KernelTemplate::Pointwise ||
         (node.shape.kernelTemplate == KernelTemplate::RowColumn &&
          !node.shape.needsRows) ||
         isa<ReduceColumnsOp>(node.op) ||
         isAlongRow(dyn_cast<ReduceBlocksOp>(node.op)) ||
         isAlongRow(dyn_cast<ExpandBlocksOp>(node.op));
}

/// The condition that forbids a group with the contraction `product`.
unsigned FusionGraph::checkProduct(ArrayRef<unsigned> group,
                                   unsigned product) const {
  const FusionNode &own = nodes[product];
  if (!own.isProduct)
    return 1;
  // A GLU sees the halves of its columns.
  bool isHalved = llvm::any_of(group, [&](unsigned member) {
    return llvm::any_of(nodes[member].edges, [&](FusionNode::Edge edge) {
      return edge.producer == product && readsHalves(member, edge.operand);
    });
  });
  IterationSpace space = own.space;
  if (isHalved)
    space.columns /= 2;
  // What is known of rows when all their tiles are.
  llvm::SmallDenseSet<unsigned> statistics;
  for (unsigned member : group) {
    const FusionNode &node = nodes[member];
    if (member == product)
      continue;
    if (!node.isMemory)
      return 1;
    if (node.space.rows != space.rows)
      return 2;
    if (llvm::any_of(node.edges, [&](FusionNode::Edge edge) {
          return statistics.contains(edge.producer);
        })) {
      // 6. what is computed of them alone is of rows too
      if (node.shape.kernelTemplate != KernelTemplate::Pointwise ||
          node.isMoved() || node.space.columns != 1)
        return 6;
      statistics.insert(member);
      continue;
    }
    // What is moved on was seen before.
    if (!node.isMoved() && node.space.columns != space.columns)
      return 2;
    if (isa<ReduceColumnsOp>(node.op))
      statistics.insert(member);
    // 9. the kernel computes elements of its result, blocks and sums over rows
    if (!isComputedByProduct(node) ||
        (node.isMoved() && !isWrittenByProduct(node, space.columns)))
      return 9;
    for (unsigned operand : node.shape.readsMoved.set_bits())
      if (!readsHalves(member, operand))
        return 9;
    for (FusionNode::Edge edge : node.edges)
      if (edge.producer == product && isHalved &&
          !readsHalves(member, edge.operand))
        return 9;
    // What blocks are is known by what reduces them.
    bool isOfGroup = isa<ReduceBlocksOp>(node.op) ||
                     llvm::any_of(node.edges, [&](FusionNode::Edge edge) {
                       return nodes[edge.producer].isOfBlocks &&
                              llvm::is_contained(group, edge.producer);
                     });
    if (node.isOfBlocks && !isOfGroup)
      return 9;
    // Sums of columns are of 128 rows each, which groups have not.
    bool isSummed =
        llvm::any_of(node.shape.reduced.set_bits(), [&](unsigned result) {
          Type type = node.op->getResult(result).getType();
          return getNumElements(cast<RankedTensorType>(type)) != Extent{1, 0};
        });
    bool hasTiles =
        own.space.rows.isConstant() || own.space.rows == Extent{0, 1};
    if (isSummed && (own.isGrouped || !hasTiles))
      return 9;
  }
  // Its operands lie in memory.
  for (FusionNode::Edge edge : own.edges)
    if (llvm::is_contained(group, edge.producer))
      return 9;
  // 10. the library takes rows of any length
  return own.hasOpenRows ? 10 : 0;
}

/// Whether `operand` is a matrix of which `member` reads the halves.
bool FusionGraph::readsHalves(unsigned member, unsigned operand) const {
  return nodes[member].shape.readsHalves.test(operand);
}
