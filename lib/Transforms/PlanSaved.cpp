//===- PlanSaved.cpp - Decide what forward saves for backward ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Analysis/FusionPlan.h"
#include "FuseOps/Transforms/Passes.h"
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
  if (!op || inspectOperation(op).kernelTemplate != KernelTemplate::Pointwise)
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return operand != value && saved.contains(operand);
  });
}

/// The argument of forward that `value` is a slice or a repetition of; null if
/// none. Saving that argument instead writes nothing, and reading `value` there
/// reads nothing more.
static BlockArgument getViewedArgument(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_present<SliceOp, ExpandOp>(op))
    return {};
  return dyn_cast<BlockArgument>(op->getOperand(0));
}

static bool isSymbolic(Type type) {
  if (auto quantized = dyn_cast<QuantizedType>(type))
    return ShapedType::isDynamicShape(quantized.getShape());
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.hasStaticShape();
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
    IRRewriter rewriter(&getContext());

    // Each value that backward uses, once.
    llvm::SetVector<Value> saved;
    IRMapping arguments;
    DenseMap<Value, BlockArgument> argumentOf;
    llvm::BitVector dropped(backward.getNumArguments());
    for (auto [index, value] : llvm::enumerate(returnOp.getSaved())) {
      BlockArgument argument = backward.getArgument(numGradients + index);
      if (Value first = arguments.lookupOrNull(value))
        rewriter.replaceAllUsesWith(argument, first);
      if (argument.use_empty()) {
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
    DenseMap<Operation *, Operation *> copies;
    rewriter.setInsertionPointToStart(&backward);
    for (OpResult value : candidates) {
      BlockArgument viewed = getViewedArgument(value);
      if (viewed && saved.insert(viewed)) {
        arguments.map(viewed,
                      backward.addArgument(viewed.getType(), viewed.getLoc()));
        dropped.resize(backward.getNumArguments());
      }
      if (!isRecomputed(value, saved))
        continue;
      BlockArgument argument = argumentOf.lookup(value);
      // One copy gives all results of an operation.
      Operation *&again = copies[value.getOwner()];
      if (!again) {
        again = rewriter.clone(*value.getOwner(), arguments);
        again->setAttr(kRecomputedAttr, rewriter.getUnitAttr());
      }
      rewriter.replaceAllUsesWith(argument,
                                  again->getResult(value.getResultNumber()));
      rewriter.setInsertionPointToStart(&backward);
      dropped.set(argument.getArgNumber());
      saved.remove(value);
    }
    backward.eraseArguments(dropped);
    saveSymbol(fusible, saved);
    rewriter.modifyOpInPlace(returnOp, [&] {
      returnOp.getSavedMutable().assign(saved.getArrayRef());
    });
  }
};
} // namespace
