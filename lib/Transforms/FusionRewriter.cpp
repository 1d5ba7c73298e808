//===- FusionRewriter.cpp - Applies a fusion plan to a region ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Transforms/FusionRewriter.h"
#include "FuseOps/Analysis/FusionPlan.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fuseops;

namespace {
/// Builds the `fuseops.group` operations of a plan. Until the last one is built
/// the old operations stay, and read one another.
class GroupBuilder {
public:
  GroupBuilder(const FusionPlan &plan, IRRewriter &rewriter)
      : rewriter(rewriter) {
    for (const FusionGroup &group : plan.getGroups())
      for (Operation *op : group.ops)
        computedBy[op].push_back(&group);
  }

  void build(const FusionGroup &group, StringRef kernel,
             Operation *insertionPoint);
  /// Lets others read the groups where they read the old operations.
  void replaceUses();

private:
  /// Whether `group` computes what `value` is, behind any reshapes.
  bool isComputed(const FusionGroup &group, Value value) const {
    auto givers = computedBy.find(skipReshapes(value).getDefiningOp());
    return givers != computedBy.end() &&
           llvm::is_contained(givers->second, &group);
  }
  bool isReadElsewhere(Operation *giver, Value value) const;

  IRRewriter &rewriter;
  DenseMap<Operation *, SmallVector<const FusionGroup *, 1>> computedBy;
  /// Results of old operations, each with the result of a group.
  SmallVector<std::pair<Value, Value>> replacements;
};
} // namespace

/// Whether something but kernels that compute `result` reads `value`, which is
/// `result` or a reshape of it. Such a reshape stays outside of the group.
bool GroupBuilder::isReadElsewhere(Operation *giver, Value value) const {
  ArrayRef<const FusionGroup *> givers = computedBy.find(giver)->second;
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto readers = computedBy.find(user);
    if (readers != computedBy.end())
      return !llvm::all_of(readers->second, [&](const FusionGroup *reader) {
        return llvm::is_contained(givers, reader);
      });
    auto reshape = dyn_cast<ReshapeOp>(user);
    return !reshape || isReadElsewhere(giver, reshape);
  });
}

void GroupBuilder::build(const FusionGroup &group, StringRef kernel,
                         Operation *insertionPoint) {
  llvm::SetVector<Value> inputs, outputs;
  SmallVector<Location> locations;
  for (Operation *op : group.ops) {
    locations.push_back(op->getLoc());
    for (Value operand : op->getOperands())
      if (!isComputed(group, operand))
        inputs.insert(operand);
    if (!group.recomputed.contains(op))
      for (Value result : op->getResults())
        if (isReadElsewhere(op, result))
          outputs.insert(result);
  }
  rewriter.setInsertionPoint(insertionPoint);
  Location loc = rewriter.getFusedLoc(locations);
  auto groupOp = GroupOp::create(
      rewriter, loc, TypeRange(ValueRange(outputs.getArrayRef())),
      FlatSymbolRefAttr::get(rewriter.getContext(), kernel),
      KernelTemplateAttr::get(rewriter.getContext(), group.kernelTemplate),
      DictionaryAttr(), inputs.getArrayRef());
  Block *body = rewriter.createBlock(&groupOp.getBody());
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
  // A reshape between members is repeated inside.
  std::function<void(Value)> mapOperand = [&](Value value) {
    if (mapping.contains(value))
      return;
    auto reshape = value.getDefiningOp<ReshapeOp>();
    mapOperand(reshape.getInput());
    rewriter.clone(*reshape, mapping);
  };
  for (Operation *op : group.ops) {
    llvm::for_each(op->getOperands(), mapOperand);
    Operation *clone = rewriter.clone(*op, mapping);
    if (group.recomputed.contains(op))
      clone->setAttr(kRecomputedAttr, rewriter.getUnitAttr());
  }
  SmallVector<Value> yielded;
  for (Value output : outputs)
    yielded.push_back(mapping.lookup(output));
  YieldOp::create(rewriter, loc, yielded);
  for (auto [output, result] : llvm::zip(outputs, groupOp.getOutputs()))
    replacements.push_back({output, result});
}

void GroupBuilder::replaceUses() {
  for (auto [output, result] : replacements)
    rewriter.replaceAllUsesWith(output, result);
}

/// One remark for each decision: fused, or which condition forbids it.
static void reportDecision(const FusionDecision &decision, StringRef category) {
  auto name = [](Operation *op) { return op->getName().getStringRef(); };
  remark::RemarkOpts options =
      remark::RemarkOpts::name("Fusion").category(category);
  Location loc = decision.consumer->getLoc();
  if (decision.condition == 0) {
    remark::passed(loc, options)
        << remark::reason(decision.isRecomputed ? "computed {0} again for {1}"
                                                : "fused {0} with {1}",
                          name(decision.producer), name(decision.consumer));
    return;
  }
  remark::missed(loc, options) << remark::reason(
      "{0} with {1}: condition {2}, {3}", name(decision.producer),
      name(decision.consumer), decision.condition,
      getFusionConditionText(decision.condition));
}

/// The value that `op` takes out of where another operation put it; null where
/// it does more.
static Value findMoved(Operation &op) {
  if (auto permute = dyn_cast<PermuteOp>(op)) {
    // Pattern: permute(permute(x)) -> x [if the orders are inverse]
    auto inner = permute.getInput().getDefiningOp<PermuteOp>();
    bool isInverse =
        inner && llvm::all_of(llvm::enumerate(permute.getOrder()), [&](auto e) {
          return inner.getOrder()[e.value()] == static_cast<int64_t>(e.index());
        });
    return isInverse ? inner.getInput() : Value();
  }
  // Pattern: slice(concat(…, x, …)) -> x [if it takes all of x]
  auto slice = dyn_cast<SliceOp>(op);
  auto concat = slice ? slice.getInput().getDefiningOp<ConcatOp>() : ConcatOp();
  if (!concat || slice.getDim() != concat.getDim() || slice.getStep() != 1)
    return {};
  int64_t start = 0;
  for (Value input : concat.getInputs()) {
    if (start == static_cast<int64_t>(slice.getOffset()) &&
        input.getType() == slice.getType())
      return input;
    start +=
        cast<RankedTensorType>(input.getType()).getDimSize(concat.getDim());
  }
  return {};
}

/// Removes moves that undo others, as where a quantized tensor is read in the
/// region that quantizes it: a value that is read in place is not written
/// first.
static void foldMoves(Block &block, IRRewriter &rewriter) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (Value moved = findMoved(op);
        moved && moved.getType() == op.getResult(0).getType())
      rewriter.replaceOp(&op, moved);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

void mlir::fuseops::fuseRegion(Region &region, StringRef prefix,
                               StringRef category, bool fuse,
                               GeneratedProducts generated) {
  Block &block = region.front();
  IRRewriter rewriter(region.getContext());
  if (fuse) {
    foldMoves(block, rewriter);
    exposeStatistics(block, generated, rewriter);
  }
  FusionPlan plan = FusionPlan::compute(block, fuse, generated);
  for (const FusionDecision &decision : plan.getDecisions())
    reportDecision(decision, category);
  GroupBuilder builder(plan, rewriter);
  llvm::SetVector<Operation *> fused;
  for (auto [number, group] : llvm::enumerate(plan.getGroups())) {
    // What was planned before, maybe by hand, stays as it is.
    if (auto planned = dyn_cast<GroupOp>(group.ops.front())) {
      rewriter.moveOpBefore(planned, block.getTerminator());
      continue;
    }
    builder.build(group, (prefix + "_" + Twine(number)).str(),
                  block.getTerminator());
    fused.insert(group.ops.begin(), group.ops.end());
  }
  builder.replaceUses();
  // Reshapes go behind the group that they read, then the old operations go.
  for (auto reshape : llvm::to_vector(block.getOps<ReshapeOp>())) {
    if (Operation *producer = reshape.getInput().getDefiningOp())
      rewriter.moveOpAfter(reshape, producer);
    else
      rewriter.moveOpBefore(reshape, &block.front());
  }
  for (Operation *op : fused)
    op->dropAllUses();
  for (Operation *op : fused)
    rewriter.eraseOp(op);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}
