//===- Differentiate.cpp - Derive backward regions -----------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/Gradients.h"
#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "FuseOps/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"

#define DEBUG_TYPE "fuseops-differentiate"

namespace mlir::fuseops {
#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "FuseOps/Transforms/Passes.h.inc"
} // namespace mlir::fuseops

using namespace mlir;
using namespace mlir::fuseops;

namespace {
/// The fusibles as they were written, by name: a program's own forward region
/// is rewritten while others may still apply it.
using Originals = llvm::StringMap<OwningOpRef<FusibleOp>>;

/// A `fuseops.apply` of a callee with a backward region of its own; the
/// callee's forward region was inlined before it.
struct InlinedApply {
  FusibleOp callee;
  SmallVector<Value> results;
  SmallVector<Value> saved;
};

/// Derives the backward region of one fusible.
class Differentiator {
public:
  Differentiator(FusibleOp fusible, const Originals &originals)
      : fusible(fusible), originals(originals), builder(fusible.getContext()) {}

  /// Inlines what the forward region applies; `derive` adds the backward region
  /// if there is none.
  LogicalResult run(bool derive);

private:
  void inlineApplies();
  SmallVector<Value> inlineForward(FusibleOp callee, ValueRange inputs,
                                   bool hasOwnBackward,
                                   SmallVectorImpl<Value> *saved);
  void finishApplies();
  void findActiveValues();
  LogicalResult buildBackward();
  FailureOr<SmallVector<Value>> buildGradients(Operation *op);
  SmallVector<Value> applyGradients(ApplyOp apply, ArrayRef<Value> incoming);
  void accumulate(Value value, Value gradient);
  void saveForwardValues();
  LogicalResult deriveBackward();
  LogicalResult omitMissingGradients();

  FusibleOp fusible;
  const Originals &originals;
  OpBuilder builder;
  llvm::MapVector<Operation *, InlinedApply> applies;
  /// Operations that came from an inlined callee: its backward region stands
  /// for their gradients.
  llvm::SmallPtrSet<Operation *, 16> inlined;
  /// Values that a wanted gradient flows through.
  llvm::DenseSet<Value> active;
  DenseMap<Value, Value> gradients;
};
} // namespace

/// Clones a callee's forward region at the insertion point. With
/// `hasOwnBackward` what is cloned is left out of differentiation, and what it
/// applies is inlined with it. Returns the results, and in `saved` what the
/// callee saves.
SmallVector<Value>
Differentiator::inlineForward(FusibleOp callee, ValueRange inputs,
                              bool hasOwnBackward,
                              SmallVectorImpl<Value> *saved) {
  IRMapping mapping;
  mapping.map(callee.getForward().getArguments(), inputs);
  for (Operation &op : callee.getForward().front().without_terminator()) {
    auto apply = dyn_cast<ApplyOp>(op);
    if (apply && hasOwnBackward) {
      SmallVector<Value> operands = llvm::map_to_vector(
          apply.getInputs(), [&](Value v) { return mapping.lookup(v); });
      SmallVector<Value> results =
          inlineForward(originals.find(apply.getCallee())->second.get(),
                        operands, true, nullptr);
      mapping.map(apply.getOutputs(), results);
      continue;
    }
    Operation *clone = builder.clone(op, mapping);
    if (hasOwnBackward)
      inlined.insert(clone);
  }
  ReturnOp returnOp = callee.getForwardReturn();
  auto lookup = [&](Value value) { return mapping.lookup(value); };
  if (saved)
    llvm::append_range(*saved, llvm::map_range(returnOp.getSaved(), lookup));
  return llvm::map_to_vector(returnOp.getValues(), lookup);
}

/// A callee without a backward region becomes part of the program, to be
/// differentiated with it; one with a backward region stays as an apply for as
/// long as that region stands for its gradients.
void Differentiator::inlineApplies() {
  IRRewriter rewriter(builder.getContext());
  auto findNext = [&]() -> ApplyOp {
    for (auto apply : fusible.getForward().front().getOps<ApplyOp>())
      if (!applies.contains(apply))
        return apply;
    return {};
  };
  while (ApplyOp apply = findNext()) {
    FusibleOp callee = originals.find(apply.getCallee())->second.get();
    builder.setInsertionPoint(apply);
    if (!callee.hasBackward()) {
      rewriter.replaceOp(
          apply, inlineForward(callee, apply.getInputs(), false, nullptr));
      continue;
    }
    InlinedApply record;
    record.callee = callee;
    record.results =
        inlineForward(callee, apply.getInputs(), true, &record.saved);
    applies[apply] = std::move(record);
  }
}

void Differentiator::finishApplies() {
  IRRewriter rewriter(builder.getContext());
  for (auto &[op, record] : llvm::reverse(applies))
    rewriter.replaceOp(op, record.results);
}

void Differentiator::findActiveValues() {
  for (BlockArgument argument : fusible.getForward().getArguments())
    if (fusible.wantsGradient(argument.getArgNumber()))
      active.insert(argument);
  for (Operation &op : fusible.getForward().front().without_terminator()) {
    if (inlined.contains(&op) ||
        llvm::none_of(op.getOperands(),
                      [&](Value value) { return active.contains(value); }))
      continue;
    for (Value result : op.getResults())
      if (auto tensor = dyn_cast<RankedTensorType>(result.getType());
          !tensor || isa<FloatType>(tensor.getElementType()))
        active.insert(result);
  }
}

void Differentiator::accumulate(Value value, Value gradient) {
  Value sum = addGradients(builder, gradients.lookup(value), gradient);
  gradients[value] = sum;
}

SmallVector<Value> Differentiator::applyGradients(ApplyOp apply,
                                                  ArrayRef<Value> incoming) {
  InlinedApply &record = applies[apply];
  FusibleOp callee = record.callee;
  Block &body = callee.getBackward().front();
  SmallVector<Type> types = callee.getGradientTypes();
  IRMapping mapping;
  unsigned next = 0;
  for (auto [index, gradient] : llvm::enumerate(incoming)) {
    if (!callee.resultHasGradient(index))
      continue;
    // A backward region that was written by hand takes all of them.
    mapping.map(body.getArgument(next),
                gradient ? gradient
                         : zeros(builder, apply.getLoc(),
                                 cast<RankedTensorType>(types[next])));
    ++next;
  }
  for (Value saved : record.saved)
    mapping.map(body.getArgument(next++), saved);
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> results;
  for (Value value : callee.getBackwardReturn().getValuesOrNull())
    results.push_back(value ? mapping.lookup(value) : Value());
  return results;
}

FailureOr<SmallVector<Value>> Differentiator::buildGradients(Operation *op) {
  SmallVector<Value> incoming;
  for (Value result : op->getResults())
    incoming.push_back(gradients.lookup(result));
  if (auto apply = dyn_cast<ApplyOp>(op))
    return applyGradients(apply, incoming);
  SmallVector<bool> needed;
  for (Value operand : op->getOperands())
    needed.push_back(active.contains(operand));
  return buildGradientsOf(op, builder, incoming, needed);
}

LogicalResult Differentiator::buildBackward() {
  Block &forward = fusible.getForward().front();
  Block *backward = builder.createBlock(&fusible.getBackward());
  ReturnOp returnOp = fusible.getForwardReturn();
  SmallVector<Type> types = fusible.getGradientTypes();
  unsigned next = 0;
  for (auto [index, value] : llvm::enumerate(returnOp.getValues())) {
    if (!fusible.resultHasGradient(index))
      continue;
    Value gradient = backward->addArgument(types[next++], returnOp.getLoc());
    if (active.contains(value))
      accumulate(value, gradient);
  }
  for (Operation &op : llvm::reverse(forward.without_terminator())) {
    if (inlined.contains(&op) ||
        llvm::none_of(op.getResults(),
                      [&](Value value) { return gradients.lookup(value); }))
      continue;
    builder.setInsertionPointToEnd(backward);
    Operation *last = backward->empty() ? nullptr : &backward->back();
    FailureOr<SmallVector<Value>> results = buildGradients(&op);
    if (failed(results))
      return failure();
    // The products of a gradient have recipe and name of the one that it is of.
    for (StringRef name : {StringRef(kRecipeAttr), StringRef(kNameAttr)})
      if (Attribute kept = op.getAttr(name))
        for (Operation &built : llvm::make_range(
                 last ? std::next(last->getIterator()) : backward->begin(),
                 backward->end()))
          if (isa<QuantizableOpInterface>(built))
            built.setAttr(name, kept);
    for (auto [operand, gradient] : llvm::zip(op.getOperands(), *results))
      if (gradient && active.contains(operand))
        accumulate(operand, gradient);
  }
  SmallVector<Value> results;
  for (BlockArgument argument : fusible.getForward().getArguments())
    results.push_back(gradients.lookup(argument));
  builder.setInsertionPointToEnd(backward);
  ReturnOp::buildWithNull(builder, fusible.getLoc(), results);
  return success();
}

/// Erases operations whose results nobody uses, last first.
static void eraseDead(Block &block) {
  IRRewriter rewriter(block.getParentOp()->getContext());
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

/// Saves what backward uses, after what is saved already.
void Differentiator::saveForwardValues() {
  Block &backward = fusible.getBackward().front();
  Region &forward = fusible.getForward();
  OperandRange saved = fusible.getForwardReturn().getSaved();
  llvm::SetVector<Value> used(saved.begin(), saved.end());
  backward.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (operand.getParentRegion() == &forward)
        used.insert(operand);
  });
  for (Value value : used) {
    BlockArgument saved = backward.addArgument(value.getType(), value.getLoc());
    value.replaceUsesWithIf(saved, [&](OpOperand &use) {
      return use.getOwner()->getParentRegion() != &forward &&
             forward.getParentOp()->isProperAncestor(use.getOwner()) &&
             fusible.getBackward().isAncestor(
                 use.getOwner()->getParentRegion());
    });
  }
  fusible.getForwardReturn().getSavedMutable().assign(used.getArrayRef());
}

LogicalResult Differentiator::deriveBackward() {
  if (failed(buildBackward())) {
    // What was built uses forward's values, which go first when a module
    // does.
    fusible.getBackward().dropAllReferences();
    fusible.getBackward().getBlocks().clear();
    return failure();
  }
  eraseDead(fusible.getBackward().front());
  saveForwardValues();
  return success();
}

/// Derives backward once more, without the gradients that are missing, from
/// what is saved for all of them.
LogicalResult Differentiator::omitMissingGradients() {
  size_t numSaved = fusible.getForwardReturn().getSaved().size();
  fusible.getBackward().getBlocks().clear();
  SmallVector<int64_t> frozen(fusible.getFrozenResults());
  llvm::append_range(frozen, fusible.getMissingGradients());
  fusible.setFrozenResults(frozen);
  gradients.clear();
  if (failed(deriveBackward()))
    return failure();
  if (fusible.getForwardReturn().getSaved().size() != numSaved)
    return fusible.emitOpError()
           << "without the missing gradients backward needs a value that isn't "
              "saved with them";
  return success();
}

LogicalResult Differentiator::run(bool derive) {
  bool hasMissing = !fusible.getMissingGradients().empty();
  if (derive && hasMissing && fusible.hasBackward())
    return fusible.emitOpError()
           << "has `missing_gradients`: expected no backward region, which is "
              "derived without them, but got one";
  inlineApplies();
  if (derive && !fusible.hasBackward()) {
    findActiveValues();
    if (failed(deriveBackward()) ||
        (hasMissing && failed(omitMissingGradients())))
      return failure();
  }
  finishApplies();
  eraseDead(fusible.getForward().front());
  return success();
}

namespace {
struct DifferentiatePass
    : public fuseops::impl::DifferentiatePassBase<DifferentiatePass> {
  using Base::Base;

  void runOnOperation() override {
    Originals originals;
    SmallVector<FusibleOp> fusibles(getOperation().getOps<FusibleOp>());
    for (FusibleOp fusible : fusibles)
      originals[fusible.getSymName()] = fusible.clone();
    llvm::SmallPtrSet<Operation *, 8> done, running;
    for (FusibleOp fusible : fusibles)
      if (failed(verifyNoRecursion(fusible, done, running)))
        return signalPassFailure();
    SymbolTable symbols(getOperation());
    for (FusibleOp fusible : fusibles) {
      if (fusible.getSymVisibility() == "private")
        symbols.erase(fusible);
      else if (failed(Differentiator(fusible, originals).run(derive)))
        return signalPassFailure();
    }
  }

  LogicalResult verifyNoRecursion(FusibleOp fusible,
                                  llvm::SmallPtrSetImpl<Operation *> &done,
                                  llvm::SmallPtrSetImpl<Operation *> &running) {
    if (done.contains(fusible))
      return success();
    if (!running.insert(fusible).second)
      return fusible.emitOpError()
             << "applies itself, directly or through others";
    for (auto apply : fusible.getForward().getOps<ApplyOp>()) {
      FusibleOp callee = SymbolTable::lookupNearestSymbolFrom<FusibleOp>(
          fusible, apply.getCalleeAttr());
      if (failed(verifyNoRecursion(callee, done, running)))
        return failure();
    }
    running.erase(fusible);
    done.insert(fusible);
    return success();
  }
};
} // namespace
