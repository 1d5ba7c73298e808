//===- SavedBudget.cpp - What saving costs, and keeping it within a budget ===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SavedBudget.h"
#include "FuseOps/Transforms/FusibleEdits.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fuseops;

Extent mlir::fuseops::getValueBytes(Value value) {
  auto quantized = dyn_cast<QuantizedType>(value.getType());
  if (!quantized)
    return getNumBytes(cast<RankedTensorType>(value.getType()));
  Extent bytes;
  for (RankedTensorType part : quantized.getParts())
    bytes = bytes + getNumBytes(part);
  return bytes;
}

static int64_t evaluate(const Extent &size, int64_t symbol) {
  return size.constant + size.perSymbol * symbol +
         size.perBlock32 * llvm::divideCeil(symbol, 32) +
         size.perBlock128 * llvm::divideCeil(symbol, 128);
}

/// What `value` lies in anyway: an argument, or a result of the program; null
/// where saving it takes memory. What is taken of a prepared argument does too.
static Value getStorage(FusibleOp fusible, Value value) {
  while (isa_and_present<PackQuantizedOp, UnpackQuantizedOp, ReshapeOp>(
      value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  if (isa<BlockArgument>(value) ||
      llvm::is_contained(fusible.getForwardReturn().getValues(), value))
    return value;
  return {};
}

namespace {

/// How backward computes a saved value again.
struct Recomputation {
  Value value;
  /// In block order.
  SmallVector<Operation *> ops;
  /// What has to be saved for it and is not yet.
  llvm::SetVector<Value> leaves;
  int64_t freed = 0;
};

/// Keeps one fusible within its budget.
class Budget {
public:
  Budget(FusibleOp fusible, int64_t symbol)
      : fusible(fusible), saved(fusible), symbol(symbol) {}

  int64_t getTotal();
  std::optional<Recomputation> findBest();
  void apply(const Recomputation &recomputation);

private:
  bool plan(Value value, llvm::SetVector<Operation *> &ops,
            llvm::SetVector<Value> &leaves);
  bool isSaved(Value value) {
    return llvm::is_contained(fusible.getForwardReturn().getSaved(), value);
  }
  int64_t getCost(Value value) {
    return getStorage(fusible, value) ? 0
                                      : evaluate(getValueBytes(value), symbol);
  }

  FusibleOp fusible;
  SavedValues saved;
  int64_t symbol;
};

} // namespace

int64_t Budget::getTotal() {
  int64_t total = 0;
  llvm::SmallDenseSet<Value> seen;
  for (Value value : fusible.getForwardReturn().getSaved())
    if (seen.insert(value).second)
      total += getCost(value);
  return total;
}

/// Collects the operations that make `value` of values that are saved or cost
/// nothing. Fails where a product would be computed twice.
bool Budget::plan(Value value, llvm::SetVector<Operation *> &ops,
                  llvm::SetVector<Value> &leaves) {
  Operation *op = value.getDefiningOp();
  bool isMemoryOp = isa<FusibleOpInterface, ReshapeOp, PackQuantizedOp,
                        UnpackQuantizedOp, ConstantOp>(op);
  if (!isMemoryOp)
    return false;
  if (!ops.insert(op))
    return true;
  for (Value operand : op->getOperands()) {
    if (isSaved(operand))
      continue;
    // A product that is not saved may still be saved instead.
    if (getCost(operand) == 0 || !plan(operand, ops, leaves))
      leaves.insert(operand);
  }
  return true;
}

/// The saved value that frees most memory; none if all take as much as what
/// they are computed of.
std::optional<Recomputation> Budget::findBest() {
  std::optional<Recomputation> best;
  for (Value value : fusible.getForwardReturn().getSaved()) {
    Recomputation candidate{value, {}, {}, getCost(value)};
    llvm::SetVector<Operation *> ops;
    if (candidate.freed == 0 || !plan(value, ops, candidate.leaves))
      continue;
    for (Value leaf : candidate.leaves)
      candidate.freed -= getCost(leaf);
    candidate.ops = ops.takeVector();
    llvm::sort(candidate.ops, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    if (candidate.freed > 0 && (!best || candidate.freed > best->freed))
      best = std::move(candidate);
  }
  return best;
}

void Budget::apply(const Recomputation &recomputation) {
  Block &backward = fusible.getBackward().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&backward);
  IRMapping mapping;
  for (Operation *op : recomputation.ops)
    for (Value operand : op->getOperands())
      if (isSaved(operand) || recomputation.leaves.contains(operand))
        mapping.map(operand, saved.save(operand));
  for (Operation *op : recomputation.ops) {
    Operation *again = builder.clone(*op, mapping);
    again->setAttr(kRecomputedAttr, builder.getUnitAttr());
  }
  BlockArgument argument = saved.save(recomputation.value);
  argument.replaceAllUsesWith(mapping.lookup(recomputation.value));
  saved.dropUnused();
}

void mlir::fuseops::keepBudget(FusibleOp fusible, int64_t budget,
                               int64_t symbol, StringRef category) {
  Budget state(fusible, symbol);
  while (state.getTotal() > budget) {
    std::optional<Recomputation> best = state.findBest();
    if (!best) {
      remark::missed(fusible.getLoc(),
                     remark::RemarkOpts::name("Saved").category(category))
          << remark::reason("{0} bytes are saved, more than the budget of {1}",
                            state.getTotal(), budget);
      return;
    }
    state.apply(*best);
  }
}

void mlir::fuseops::reportSaved(FusibleOp fusible, StringRef category) {
  remark::RemarkOpts options =
      remark::RemarkOpts::name("Saved").category(category);
  auto report = [&](Location loc, Type type, StringRef choice, Extent bytes) {
    std::string spelled, size;
    llvm::raw_string_ostream(spelled) << type;
    llvm::raw_string_ostream os(size);
    llvm::interleave(bytes.asArray(), os, ", ");
    remark::analysis(loc, options)
        << remark::reason("{0}: {1}, [{2}] bytes", spelled, choice, size);
  };
  for (Value value : fusible.getForwardReturn().getSaved()) {
    Value storage = getStorage(fusible, value);
    StringRef choice = "saved";
    if (storage)
      choice = isa<BlockArgument>(storage) ? "an argument" : "a result";
    else if (isa<QuantizedType>(value.getType()))
      choice = "saved, the FP8 copy";
    report(value.getLoc(), value.getType(), choice,
           storage ? Extent() : getValueBytes(value));
  }
  for (Operation &op : fusible.getBackward().front())
    if (op.hasAttr(kRecomputedAttr) && isa<FusibleOpInterface>(op))
      for (Value result : op.getResults())
        report(op.getLoc(), result.getType(), "computed again", Extent());
}
