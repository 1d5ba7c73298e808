//===- FusionPlan.h - Decides which operations become one kernel ---------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_ANALYSIS_FUSIONPLAN_H
#define FUSEOPS_ANALYSIS_FUSIONPLAN_H

#include "FuseOps/Analysis/OperationShape.h"
#include "FuseOps/Analysis/Product.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::fuseops {

/// Which contractions may be kernels of template `gemm`, with what is computed
/// of them.
enum class GeneratedProducts { None, Grouped, All };
/// Whether `product` is one of them.
bool isGenerated(const Product &product, GeneratedProducts generated);

/// Replaces operations by their core operations where a tile kernel needs their
/// result and they reduce rows, so that only the reduction is another kernel's.
/// Also where they reduce, in one pass, rows of what the kernel of a
/// `generated` contraction computes, so that it may have the reduction.
void exposeStatistics(Block &block, GeneratedProducts generated,
                      RewriterBase &rewriter);

/// One group of the plan, in execution order within the plan.
struct FusionGroup {
  /// In block order.
  SmallVector<Operation *> ops;
  /// Those of `ops` that belong to another group too, which is cheaper than to
  /// read what it writes. Others do not get their results from this one.
  llvm::SmallPtrSet<Operation *, 4> recomputed;
  KernelTemplate kernelTemplate = KernelTemplate::Pointwise;
};

/// Two operations that were, or were not, fused.
struct FusionDecision {
  Operation *producer;
  Operation *consumer;
  /// 0 where they were fused; else the condition that forbids it.
  unsigned condition = 0;
  /// The consumer's kernel computes the producer too, which is in another
  /// group.
  bool isRecomputed = false;
};

/// Why `condition` (1 to 10) forbids a fusion: the text of remarks and tests.
StringRef getFusionConditionText(unsigned condition);

/// A partition of a region's operations into groups. Never touches the IR.
class FusionPlan {
public:
  /// Plans `block`. With `fuse` false each operation is a group of its own;
  /// a contraction of `generated` may have others in its kernel.
  static FusionPlan
  compute(Block &block, bool fuse,
          GeneratedProducts generated = GeneratedProducts::None);

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
