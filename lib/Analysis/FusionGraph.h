//===- FusionGraph.h - The operations of a region as the planner sees them ===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_ANALYSIS_FUSIONGRAPH_H
#define FUSEOPS_LIB_ANALYSIS_FUSIONGRAPH_H

#include "FuseOps/Analysis/BlockValues.h"
#include "FuseOps/Analysis/FusionPlan.h"
#include "FuseOps/Analysis/OperationShape.h"
#include "PlanGraph.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace mlir::fuseops {

/// What the planner knows of one operation.
struct FusionNode {
  Operation *op;
  bool isMemory = false;
  /// A contraction whose kernel may be generated, with what is computed of it.
  bool isProduct = false;
  /// One of groups of rows: no library has it.
  bool isGrouped = false;
  /// An operand of the contraction has rows of any length.
  bool hasOpenRows = false;
  /// The contraction takes it to compute, in bytes that the copy moves.
  double work = 0;
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
  /// One for each operand that another node gives.
  struct Edge {
    unsigned producer, result, operand;
    /// A reshape between them turns rows into columns or the reverse.
    bool movesColumns;
  };
  SmallVector<Edge> edges;

  /// Whether it only says where its operands go.
  bool isMoved() const { return isScattered || shape.writesMoved.any(); }
};

/// The operations of a block; reshapes, constants and the terminator are none.
/// The symbol counts as 8192. Contractions of `generated` are fused too.
class FusionGraph : public PlanGraph {
public:
  FusionGraph(Block &block, GeneratedProducts generated);

  const FusionNode &getNode(unsigned number) const { return nodes[number]; }
  /// Pairs of neighbours, legal or not: first those of which the second reads
  /// the first, in block order, then the first reader of each tensor with each
  /// of the others.
  ArrayRef<std::pair<unsigned, unsigned>> getPairs() const { return pairs; }

  /// The condition that forbids `group`: 1, 2, 6, 9 or 10, as far as the spaces
  /// of its nodes tell, or 0.
  unsigned checkSpaces(ArrayRef<unsigned> group) const;
  /// The condition 2, 4, 5, 6 or 7 that forbids `group`, whose spaces agree, or
  /// 0.
  unsigned checkReads(ArrayRef<unsigned> group) const;
  KernelTemplate getTemplate(ArrayRef<unsigned> group) const;
  bool isLegal(ArrayRef<unsigned> group) const override {
    return checkSpaces(group) == 0 && checkReads(group) == 0;
  }
  double getShare(ArrayRef<unsigned> group) const override;
  double getWork(ArrayRef<unsigned> group) const override;
  double getLaunchCost(ArrayRef<unsigned> group) const override;
  bool canFollow(unsigned node, unsigned other) const override;

private:
  void addOperation(Operation &op);
  void inspect(FusionNode &node);
  void findPairs();
  /// The number of a value that a node reads or gives.
  unsigned getNumber(Value value);
  unsigned checkProduct(ArrayRef<unsigned> group, unsigned product) const;
  bool readsHalves(unsigned member, unsigned operand) const;
  bool hasOneWidth(ArrayRef<unsigned> group) const;
  bool needsRows(ArrayRef<unsigned> group) const;
  int64_t countSharedBytes(ArrayRef<unsigned> group) const;

  GeneratedProducts generated;
  std::vector<FusionNode> nodes;
  DenseMap<Operation *, unsigned> index;
  DenseMap<Value, unsigned> numbers;
  DenseMap<Value, BlockShape> blocks;
  /// Numbers of columns that concatenations join.
  llvm::EquivalenceClasses<int64_t> joined;
  SmallVector<std::pair<unsigned, unsigned>> pairs;
};

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_ANALYSIS_FUSIONGRAPH_H
