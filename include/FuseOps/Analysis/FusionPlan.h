//===- FusionPlan.h - Decides which operations become one kernel ---------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_ANALYSIS_FUSIONPLAN_H
#define FUSEOPS_ANALYSIS_FUSIONPLAN_H

#include "FuseOps/Analysis/BlockValues.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::fuseops {

/// What an operation is made of, found by decomposing it in a scratch block.
struct OperationShape {
  /// The template that it needs by itself; `Library` for a contraction.
  KernelTemplate kernelTemplate = KernelTemplate::Library;
  /// Operands whose elements it reads from other places than its own, and
  /// results whose elements it writes to other places.
  llvm::SmallBitVector readsMoved, writesMoved;
  /// Results that a reduction over rows gives, of one row too.
  llvm::SmallBitVector reduced;
  /// Whether it needs something of a whole row before it knows its elements. A
  /// reduction to one element is none: any part of a tensor adds to it.
  bool needsRows = false;
};

/// Inspects `op`, which is not changed.
OperationShape inspectOperation(Operation *op);

/// Replaces `op` by its core operations.
void decomposeInPlace(FusibleOpInterface op, RewriterBase &rewriter);

/// Replaces operations by their core operations where a tile kernel needs their
/// result and they reduce rows, so that only the reduction is another kernel's.
void exposeStatistics(Block &block, RewriterBase &rewriter);

/// The value that a reduction to one element takes in where `op` reduces the
/// reductions of rows, by the same rule; null where it reduces something else.
Value getWhollyReduced(ReduceRowsOp op);

/// Whether a kernel cannot visit `op`'s result, which has columns of unknown
/// number, and visits its input instead.
bool isAlwaysWrittenThrough(PermuteOp op);

/// Whether a kernel that computes `op`'s input writes it as the transposed
/// matrix: nothing but memory gets `op`'s result.
bool writesTransposed(PermuteOp op);

/// One group of the plan, in execution order within the plan.
struct FusionGroup {
  /// In block order.
  SmallVector<Operation *> ops;
  KernelTemplate kernelTemplate = KernelTemplate::Pointwise;
};

/// Two operations that were, or were not, fused.
struct FusionDecision {
  Operation *producer;
  Operation *consumer;
  /// 0 where they were fused; else the condition that forbids it.
  unsigned condition;
};

/// Why `condition` (1 to 6) forbids a fusion: the text of remarks and tests.
StringRef getFusionConditionText(unsigned condition);

/// A partition of a region's operations into groups. Never touches the IR.
class FusionPlan {
public:
  /// Plans `block`. With `fuse` false each operation is a group of its own.
  static FusionPlan compute(Block &block, bool fuse);

  /// Groups in an order in which they can run. Reshapes and the terminator are
  /// in none.
  ArrayRef<FusionGroup> getGroups() const { return groups; }
  /// Every pair of neighbours, in block order.
  ArrayRef<FusionDecision> getDecisions() const { return decisions; }

private:
  SmallVector<FusionGroup> groups;
  SmallVector<FusionDecision> decisions;
};

} // namespace mlir::fuseops

#endif // FUSEOPS_ANALYSIS_FUSIONPLAN_H
