//===- PropagateQuantization.cpp - Quantize where a value is computed ----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Analysis/OperationShape.h"
#include "FuseOps/Transforms/FusibleEdits.h"
#include "FuseOps/Transforms/Passes.h"
#include "QuantizedMoves.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

#define DEBUG_TYPE "fuseops-propagate-quantization"

namespace mlir::fuseops {
#define GEN_PASS_DEF_PROPAGATEQUANTIZATIONPASS
#include "FuseOps/Transforms/Passes.h.inc"
} // namespace mlir::fuseops

using namespace mlir;
using namespace mlir::fuseops;

namespace {

/// What makes two quantizes one: the same matrix by the same rules.
struct QuantizeKey {
  Value tensor, scale;
  Type matrix;
  Attribute epsilon;
  bool powerOfTwo;

  explicit QuantizeKey(QuantizeOp op)
      : tensor(skipReshapes(op.getInput())), scale(op.getScale()),
        epsilon(op.getEpsilonAttr()), powerOfTwo(op.getPowerOfTwo()) {
    QuantizedType type = op.getResult().getType();
    matrix = QuantizedType::get(op.getContext(), type.getShape(),
                                type.getElementType(), type.getScale(),
                                Copies::RowCol);
  }
  bool operator==(const QuantizeKey &other) const {
    return tensor == other.tensor && scale == other.scale &&
           matrix == other.matrix && epsilon == other.epsilon &&
           powerOfTwo == other.powerOfTwo;
  }
};

/// Moves the quantizes of one fusible.
class Propagator {
public:
  explicit Propagator(FusibleOp fusible)
      : fusible(fusible), rewriter(fusible.getContext()) {}

  void run();

private:
  void hoist(QuantizeOp op);
  void moveThroughLayout(Block &block);
  void merge(Block &block);
  void replaceUses(QuantizeOp from, QuantizeOp to,
                   DenseMap<unsigned, Value> &selected);
  void explain(QuantizeOp op);
  SmallVector<QuantizeOp> getQuantizes(Block &block) {
    return llvm::to_vector(block.getOps<QuantizeOp>());
  }

  FusibleOp fusible;
  IRRewriter rewriter;
};

} // namespace

static remark::RemarkOpts getOptions() {
  return remark::RemarkOpts::name("Quantize").category(DEBUG_TYPE);
}

static void pass(QuantizeOp op, const Twine &text) {
  remark::passed(op.getLoc(), getOptions())
      << remark::reason("{0}", text.str());
}

static void miss(QuantizeOp op, StopReason reason, Operation *at) {
  remark::missed(op.getLoc(), getOptions()) << remark::reason(
      "stops at {0}: reason {1}, {2}",
      at ? at->getName().getStringRef() : "an argument",
      static_cast<unsigned>(reason), getStopReasonText(reason));
}

static Copies unite(Copies a, Copies b) { return a == b ? a : Copies::RowCol; }

/// What quantizes a saved value moves to forward, which saves the FP8 copy.
void Propagator::hoist(QuantizeOp op) {
  SavedValues saved(fusible);
  Value tensor = saved.getForward(skipReshapes(op.getInput()));
  Value scale = op.getScale();
  if (scale)
    scale = saved.getForward(scale);
  if (!tensor || (op.getScale() && !scale))
    return;
  rewriter.setInsertionPoint(fusible.getForwardReturn());
  IRMapping mapping;
  SmallVector<ReshapeOp> reshapes;
  Value input = op.getInput();
  while (auto reshape = input.getDefiningOp<ReshapeOp>()) {
    reshapes.push_back(reshape);
    input = reshape.getInput();
  }
  mapping.map(input, tensor);
  for (ReshapeOp reshape : llvm::reverse(reshapes))
    rewriter.clone(*reshape, mapping);
  if (scale)
    mapping.map(op.getScale(), scale);
  auto moved = cast<QuantizeOp>(rewriter.clone(*op, mapping));
  pass(op, "forward quantizes what it saves");
  rewriter.replaceAllUsesWith(op.getResult(), saved.save(moved.getResult()));
  rewriter.eraseOp(op);
}

/// Moves each quantize as far towards its producer as it goes.
void Propagator::moveThroughLayout(Block &block) {
  using Move = bool (*)(QuantizeOp, RewriterBase &);
  static constexpr std::pair<StringLiteral, Move> kMoves[] = {
      {"what commutes with it", moveThroughCommuting},
      {"fuseops.permute", moveThroughTranspose},
      {"fuseops.concat", moveThroughConcat},
      {"fuseops.slice", moveThroughSlice}};
  // Each move leaves less in front of a quantize.
  bool hasMoved = true;
  while (hasMoved) {
    hasMoved = false;
    for (QuantizeOp op : getQuantizes(block)) {
      Location loc = op.getLoc();
      for (auto [name, move] : kMoves)
        if (move(op, rewriter)) {
          remark::passed(loc, getOptions())
              << remark::reason("moves through {0}", name.str());
          hasMoved = true;
          break;
        }
    }
  }
  for (Operation &op : llvm::make_early_inc_range(block)) {
    Location loc = op.getLoc();
    if (isa<AmaxOp, ReduceRowsOp>(op) && reduceBeforeConcat(&op, rewriter))
      remark::passed(loc, getOptions())
          << remark::reason("{0}", "reduces what fuseops.concat joins");
  }
}

/// Gives the users of `from` what `to` writes. A product reads the copy that it
/// needs; any other user keeps the copies that it had, which are in `selected`
/// once they are taken apart.
void Propagator::replaceUses(QuantizeOp from, QuantizeOp to,
                             DenseMap<unsigned, Value> &selected) {
  Copies copies = from.getResult().getType().getCopies();
  for (OpOperand &use : llvm::make_early_inc_range(from->getUses())) {
    Operation *user = use.getOwner();
    if (isa<QuantizableOpInterface>(user) ||
        to.getResult().getType().getCopies() == copies) {
      use.set(to.getResult());
      continue;
    }
    Value &value = selected[static_cast<unsigned>(copies)];
    if (!value) {
      rewriter.setInsertionPointAfter(to);
      value = selectCopies(rewriter, to.getResult(), copies);
    }
    use.set(value);
  }
}

/// One quantize for all that ask for the same matrix by the same rules.
void Propagator::merge(Block &block) {
  SmallVector<std::pair<QuantizeKey, SmallVector<QuantizeOp>>> groups;
  for (QuantizeOp op : getQuantizes(block)) {
    QuantizeKey key(op);
    auto *it =
        llvm::find_if(groups, [&](auto &group) { return group.first == key; });
    if (it == groups.end())
      groups.push_back({key, {op}});
    else
      it->second.push_back(op);
  }
  for (auto &[key, ops] : groups) {
    QuantizeOp first = ops.front();
    QuantizedType type = first.getResult().getType();
    Copies copies = type.getCopies();
    for (QuantizeOp op : ops)
      copies = unite(copies, op.getResult().getType().getCopies());
    // The matrix and its scale are there where the first one is.
    rewriter.setInsertionPoint(first);
    auto merged = cast<QuantizeOp>(rewriter.clone(*first));
    merged.getResult().setType(
        QuantizedType::get(type.getContext(), type.getShape(),
                           type.getElementType(), type.getScale(), copies));
    DenseMap<unsigned, Value> selected;
    for (QuantizeOp op : ops)
      replaceUses(op, merged, selected);
    if (ops.size() > 1)
      pass(merged, Twine(ops.size()) + " of one value are one that writes " +
                       stringifyCopies(copies));
    for (QuantizeOp op : llvm::reverse(ops))
      rewriter.eraseOp(op);
  }
}

/// Says which kernel writes the quantized tensor, or why none does.
void Propagator::explain(QuantizeOp op) {
  Value tensor = skipReshapes(op.getInput());
  Operation *producer = tensor.getDefiningOp();
  if (std::optional<StopReason> reason = getStopReason(op))
    return miss(op, *reason, producer);
  pass(op, "goes with " + producer->getName().getStringRef());
}

void Propagator::run() {
  Block &forward = fusible.getForward().front();
  bool hasBackward = fusible.hasBackward();
  SmallVector<Block *> blocks = {&forward};
  if (hasBackward)
    blocks.push_back(&fusible.getBackward().front());
  if (llvm::all_of(blocks, [&](Block *block) {
        return block->getOps<QuantizeOp>().empty();
      }))
    return;
  for (Block *block : blocks)
    for (QuantizeOp op : getQuantizes(*block))
      foldDequantized(op, rewriter);
  if (hasBackward)
    for (QuantizeOp op : getQuantizes(*blocks.back()))
      hoist(op);
  for (Block *block : blocks) {
    moveThroughLayout(*block);
    merge(*block);
    for (QuantizeOp op : getQuantizes(*block))
      explain(op);
  }
  if (hasBackward)
    SavedValues(fusible).dropUnused();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(forward)))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

namespace {
struct PropagateQuantizationPass
    : public fuseops::impl::PropagateQuantizationPassBase<
          PropagateQuantizationPass> {
  using Base::Base;

  void runOnOperation() override { Propagator(getOperation()).run(); }
};
} // namespace
