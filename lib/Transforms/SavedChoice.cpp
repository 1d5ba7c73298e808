//===- SavedChoice.cpp - What is saved, and what is computed again --------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SavedChoice.h"
#include "FuseOps/Analysis/OperationShape.h"
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

bool mlir::fuseops::isCompared(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    auto isExtreme = [](auto op) {
      return op && op.getKind() != ReductionKind::Sum;
    };
    if (auto reshape = dyn_cast<ReshapeOp>(user))
      return isCompared(reshape);
    return isExtreme(dyn_cast<ReduceColumnsOp>(user)) ||
           isExtreme(dyn_cast<ReduceRowsOp>(user));
  });
}

namespace {

/// How backward computes a saved value again.
struct Recomputation {
  Value value;
  /// In block order.
  SmallVector<Operation *> ops;
  /// What has to be saved for it and is not yet.
  llvm::SetVector<Value> leaves;
  /// By how many bytes less is saved.
  int64_t freed = 0;
};

/// Changes what one fusible saves.
class SavedChoice {
public:
  SavedChoice(FusibleOp fusible, int64_t symbol)
      : fusible(fusible), saved(fusible), symbol(symbol) {}

  int64_t getTotal();
  std::optional<Recomputation> getRecomputation(Value value);
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

int64_t SavedChoice::getTotal() {
  int64_t total = 0;
  llvm::SmallDenseSet<Value> seen;
  for (Value value : fusible.getForwardReturn().getSaved())
    if (seen.insert(value).second)
      total += getCost(value);
  return total;
}

/// Collects the operations that make `value` of values that are saved or cost
/// nothing. Fails where a product would be computed twice.
bool SavedChoice::plan(Value value, llvm::SetVector<Operation *> &ops,
                       llvm::SetVector<Value> &leaves) {
  Operation *op = value.getDefiningOp();
  bool isMemoryOp =
      isa_and_present<FusibleOpInterface, ReshapeOp, PackQuantizedOp,
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

/// How to compute `value` again; none where that cannot be, or where it may be
/// another value then.
std::optional<Recomputation> SavedChoice::getRecomputation(Value value) {
  Recomputation candidate{value, {}, {}, getCost(value)};
  llvm::SetVector<Operation *> ops;
  if (!plan(value, ops, candidate.leaves) ||
      (ops.size() > 1 && isCompared(value)))
    return std::nullopt;
  for (Value leaf : candidate.leaves)
    candidate.freed -= getCost(leaf);
  candidate.ops = ops.takeVector();
  llvm::sort(candidate.ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return candidate;
}

/// The saved value that frees most memory; none if all take as much as what
/// they are computed of.
std::optional<Recomputation> SavedChoice::findBest() {
  std::optional<Recomputation> best;
  for (Value value : fusible.getForwardReturn().getSaved())
    if (std::optional<Recomputation> candidate = getRecomputation(value))
      if (candidate->freed > (best ? best->freed : 0))
        best = std::move(candidate);
  return best;
}

void SavedChoice::apply(const Recomputation &recomputation) {
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
  SavedChoice state(fusible, symbol);
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

/// Whether memory gets `value` for forward's own sake: a library writes or
/// reads it, or the program gives it back.
static bool isStoredAnyway(FusibleOp fusible, Value value) {
  if (getStorage(fusible, value) ||
      !isa_and_present<FusibleOpInterface>(skipReshapes(value).getDefiningOp()))
    return true;
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (auto reshape = dyn_cast<ReshapeOp>(user))
      return isStoredAnyway(fusible, reshape);
    return !isa<FusibleOpInterface, ReturnOp>(user);
  });
}

void mlir::fuseops::reduceTraffic(FusibleOp fusible) {
  // The planner's symbol: where a bias counts beside a matrix, it is small.
  constexpr int64_t kSymbol = 8192;
  auto isElementwise = [](Operation *op) {
    return isa<ReshapeOp, ConstantOp>(op) ||
           inspectOperation(op).kernelTemplate == KernelTemplate::Pointwise;
  };
  auto findCandidate = [&]() -> std::optional<Recomputation> {
    SavedChoice choice(fusible, kSymbol);
    for (Value value : fusible.getForwardReturn().getSaved()) {
      if (isStoredAnyway(fusible, value))
        continue;
      std::optional<Recomputation> found = choice.getRecomputation(value);
      if (!found || !llvm::all_of(found->ops, isElementwise))
        continue;
      int64_t read = 0;
      for (Value leaf : found->leaves)
        read += evaluate(getValueBytes(leaf), kSymbol);
      bool isThere = llvm::all_of(found->leaves, [&](Value leaf) {
        return isStoredAnyway(fusible, leaf);
      });
      // Forward writes `value` no longer, and two kernels of backward read less
      // than half as much more: a bias beside the product.
      if (isThere && 2 * read < 3 * evaluate(getValueBytes(value), kSymbol))
        return found;
    }
    return std::nullopt;
  };
  // Each step saves a value less that forward writes only for backward.
  while (std::optional<Recomputation> found = findCandidate())
    SavedChoice(fusible, kSymbol).apply(*found);
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
