//===- PlanSaved.cpp - Decide what forward saves for backward ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Analysis/OperationShape.h"
#include "FuseOps/Transforms/Passes.h"
#include "SavedChoice.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "fuseops-plan-saved"

namespace mlir::fuseops {
#define GEN_PASS_DEF_PLANSAVEDPASS
#include "FuseOps/Transforms/Passes.h.inc"
} // namespace mlir::fuseops

using namespace mlir;
using namespace mlir::fuseops;

/// Whether backward gets `value` cheaper by computing it again: one pointwise
/// operation gives it from values that are saved anyway, so that nothing more
/// is read, and nothing is written.
static bool isRecomputed(Value value, const llvm::SetVector<Value> &saved) {
  Operation *op = value.getDefiningOp();
  if (isa_and_present<ConstantOp>(op))
    return true;
  // To read an FP8 copy is cheaper than to read what it is of.
  if (!op || isa<QuantizeOp>(op) ||
      inspectOperation(op).kernelTemplate != KernelTemplate::Pointwise)
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return operand != value && saved.contains(operand);
  });
}

/// The operations that make `value` from what it is a slice or a repetition of,
/// last first; none if it is neither. What is sliced lies in memory anyway, and
/// reading the slice there costs no more: saving that writes nothing.
static SmallVector<Operation *> getViewChain(Value value) {
  SmallVector<Operation *> chain;
  Operation *op = value.getDefiningOp();
  while (isa_and_present<SliceOp, ExpandOp>(op)) {
    chain.push_back(op);
    op = op->getOperand(0).getDefiningOp();
  }
  return chain;
}

/// Whether the type tells the symbol; a number of blocks does not.
static bool isSymbolic(Type type) {
  if (auto quantized = dyn_cast<QuantizedType>(type))
    return ShapedType::isDynamicShape(quantized.getShape());
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && getNumElements(tensor).perSymbol != 0;
}

/// The runtime learns the value of `?` from the shapes of an entry's inputs.
/// Where no input of backward has one, as for the gradient of a sum, backward
/// gets an argument of forward, which copies nothing.
static void saveSymbol(FusibleOp fusible, llvm::SetVector<Value> &saved) {
  Block &backward = fusible.getBackward().front();
  if (llvm::any_of(backward.getArgumentTypes(), isSymbolic))
    return;
  for (BlockArgument argument : fusible.getForward().getArguments())
    if (isSymbolic(argument.getType())) {
      saved.insert(argument);
      backward.addArgument(argument.getType(), argument.getLoc());
      return;
    }
}

/// Erases what nobody reads, such as what led to an operand before that was
/// quantized: a value is not saved for it.
static void eraseDead(Block &block, IRRewriter &rewriter) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

namespace {
struct PlanSavedPass : public fuseops::impl::PlanSavedPassBase<PlanSavedPass> {
  using Base::Base;

  void runOnOperation() override {
    FusibleOp fusible = getOperation();
    if (!fusible.hasBackward())
      return;
    Block &backward = fusible.getBackward().front();
    ReturnOp returnOp = fusible.getForwardReturn();
    unsigned numGradients = fusible.getGradientTypes().size();
    bool hasMissing = !fusible.getMissingGradients().empty();
    IRRewriter rewriter(&getContext());
    eraseDead(backward, rewriter);

    // Each value that backward uses, once.
    llvm::SetVector<Value> saved;
    IRMapping arguments;
    DenseMap<Value, BlockArgument> argumentOf;
    llvm::BitVector dropped(backward.getNumArguments());
    for (auto [index, value] : llvm::enumerate(returnOp.getSaved())) {
      BlockArgument argument = backward.getArgument(numGradients + index);
      if (Value first = arguments.lookupOrNull(value))
        rewriter.replaceAllUsesWith(argument, first);
      // With missing gradients a part of backward is missing too: what is saved
      // is what the whole of it uses.
      if (argument.use_empty() && !hasMissing) {
        dropped.set(argument.getArgNumber());
        continue;
      }
      arguments.map(value, argument);
      argumentOf[value] = argument;
      saved.insert(value);
    }
    // Values are looked at in reverse order of computation, so that what is
    // computed again reads what stays saved.
    SmallVector<OpResult> candidates;
    for (Value value : saved)
      if (auto result = dyn_cast<OpResult>(value))
        candidates.push_back(result);
    llvm::sort(candidates, [](OpResult a, OpResult b) {
      return a.getOwner() == b.getOwner()
                 ? a.getResultNumber() > b.getResultNumber()
                 : b.getOwner()->isBeforeInBlock(a.getOwner());
    });
    auto recompute = [&](Operation *op, IRMapping &mapping) {
      Operation *again = rewriter.clone(*op, mapping);
      again->setAttr(kRecomputedAttr, rewriter.getUnitAttr());
      return again;
    };
    DenseMap<Operation *, Operation *> copies;
    // Values that stay saved: what is sliced in backward, since a kernel slices
    // what is in memory, and what a compared value is computed of.
    llvm::DenseSet<Value> kept;
    rewriter.setInsertionPointToStart(&backward);
    for (OpResult value : candidates) {
      BlockArgument argument = argumentOf.lookup(value);
      Value again;
      if (SmallVector<Operation *> chain = getViewChain(value);
          !chain.empty()) {
        Value source = chain.back()->getOperand(0);
        kept.insert(source);
        if (saved.insert(source)) {
          arguments.map(
              source, backward.addArgument(source.getType(), source.getLoc()));
          dropped.resize(backward.getNumArguments());
        }
        IRMapping mapping = arguments;
        for (Operation *op : llvm::reverse(chain))
          again = recompute(op, mapping)->getResult(0);
      } else if (!kept.contains(value) && isRecomputed(value, saved)) {
        if (isCompared(value))
          kept.insert_range(value.getOwner()->getOperands());
        // One copy gives all results of an operation.
        Operation *&copy = copies[value.getOwner()];
        if (!copy)
          copy = recompute(value.getOwner(), arguments);
        again = copy->getResult(value.getResultNumber());
      } else {
        continue;
      }
      rewriter.replaceAllUsesWith(argument, again);
      rewriter.setInsertionPointToStart(&backward);
      dropped.set(argument.getArgNumber());
      saved.remove(value);
    }
    // Without the missing gradients some of that has no use.
    eraseDead(backward, rewriter);
    backward.eraseArguments(dropped);
    saveSymbol(fusible, saved);
    rewriter.modifyOpInPlace(returnOp, [&] {
      returnOp.getSavedMutable().assign(saved.getArrayRef());
    });
    reduceTraffic(fusible);
    if (budget >= 0)
      keepBudget(fusible, budget, symbol, DEBUG_TYPE);
    reportSaved(fusible, DEBUG_TYPE);
  }
};
} // namespace
