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
/// Builds the `fuseops.group` of one group of the plan.
class GroupBuilder {
public:
  GroupBuilder(const FusionGroup &group, IRRewriter &rewriter)
      : group(group), rewriter(rewriter) {
    members.insert(group.ops.begin(), group.ops.end());
  }

  void build(StringRef kernel, Operation *insertionPoint);

private:
  /// The member result that `value` is, behind any reshapes; null if none.
  Value memberValue(Value value) const {
    while (auto reshape = value.getDefiningOp<ReshapeOp>())
      value = reshape.getInput();
    return members.contains(value.getDefiningOp()) ? value : Value();
  }
  void findOperands();

  const FusionGroup &group;
  IRRewriter &rewriter;
  llvm::SmallPtrSet<Operation *, 8> members;
  llvm::SetVector<Value> inputs, outputs;
};
} // namespace

void GroupBuilder::findOperands() {
  for (Operation *op : group.ops)
    for (Value operand : op->getOperands())
      if (!memberValue(operand))
        inputs.insert(operand);
  for (Operation *op : group.ops)
    for (Value result : op->getResults())
      // A reshape of a result stays outside, even if members read it too.
      for (Operation *user : result.getUsers())
        if (!members.contains(user)) {
          auto reshape = dyn_cast<ReshapeOp>(user);
          bool onlyMembersRead =
              reshape && llvm::all_of(reshape->getUsers(), [&](Operation *u) {
                return members.contains(u);
              });
          if (!onlyMembersRead)
            outputs.insert(result);
        }
}

void GroupBuilder::build(StringRef kernel, Operation *insertionPoint) {
  findOperands();
  rewriter.setInsertionPoint(insertionPoint);
  SmallVector<Location> locations;
  for (Operation *op : group.ops)
    locations.push_back(op->getLoc());
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
    rewriter.clone(*op, mapping);
  }
  SmallVector<Value> yielded;
  for (Value output : outputs)
    yielded.push_back(mapping.lookup(output));
  YieldOp::create(rewriter, loc, yielded);
  for (auto [output, result] : llvm::zip(outputs, groupOp.getOutputs()))
    rewriter.replaceAllUsesWith(output, result);
}

/// One remark for each decision: fused, or which condition forbids it.
static void reportDecision(const FusionDecision &decision, StringRef category) {
  auto name = [](Operation *op) { return op->getName().getStringRef(); };
  remark::RemarkOpts options =
      remark::RemarkOpts::name("Fusion").category(category);
  Location loc = decision.consumer->getLoc();
  if (decision.condition == 0) {
    remark::passed(loc, options) << remark::reason(
        "fused {0} with {1}", name(decision.producer), name(decision.consumer));
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
                               StringRef category, bool fuse) {
  Block &block = region.front();
  IRRewriter rewriter(region.getContext());
  if (fuse) {
    foldMoves(block, rewriter);
    exposeStatistics(block, rewriter);
  }
  FusionPlan plan = FusionPlan::compute(block, fuse);
  for (const FusionDecision &decision : plan.getDecisions())
    reportDecision(decision, category);
  SmallVector<Operation *> fused;
  for (auto [number, group] : llvm::enumerate(plan.getGroups())) {
    GroupBuilder(group, rewriter)
        .build((prefix + "_" + Twine(number)).str(), block.getTerminator());
    llvm::append_range(fused, group.ops);
  }
  // Reshapes go behind the group that they read, then the old operations go.
  for (auto reshape : llvm::to_vector(block.getOps<ReshapeOp>())) {
    if (Operation *producer = reshape.getInput().getDefiningOp())
      rewriter.moveOpAfter(reshape, producer);
    else
      rewriter.moveOpBefore(reshape, &block.front());
  }
  for (Operation *op : llvm::reverse(fused)) {
    op->dropAllUses();
    rewriter.eraseOp(op);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<ReshapeOp>(op) && op.use_empty())
      rewriter.eraseOp(&op);
}
