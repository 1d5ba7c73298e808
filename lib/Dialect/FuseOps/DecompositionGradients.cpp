//===- DecompositionGradients.cpp - Gradients through decompositions ------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/Gradients.h"
#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::fuseops;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Sums of gradients
//===----------------------------------------------------------------------===//

/// Whether `value` is made by `zeros`.
static bool isZeros(Value value) {
  auto op = value.getDefiningOp<PointwiseOp>();
  if (!op || !op.getInputs().empty())
    return false;
  Value scalar = op.getBody().front().getTerminator()->getOperand(
      cast<OpResult>(value).getResultNumber());
  return matchPattern(scalar, m_AnyZeroFloat());
}

namespace {
/// A part of a concatenation; zeros where the value is null.
struct Part {
  Value value;
  int64_t extent;
};
} // namespace

/// The parts of `op` with elements, neighbouring zeros as one.
static SmallVector<Part> getParts(ConcatOp op) {
  SmallVector<Part> parts;
  for (Value input : op.getInputs()) {
    Part part{isZeros(input) ? Value() : input,
              tensorType(input).getDimSize(op.getDim())};
    if (!part.value && !parts.empty() && !parts.back().value)
      parts.back().extent += part.extent;
    else if (part.extent)
      parts.push_back(part);
  }
  return parts;
}

/// `a + b` as one concatenation, where both are concatenations whose parts fit
/// one another and zeros of one meet values of the other; else null.
static Value joinConcats(OpBuilder &builder, ConcatOp a, ConcatOp b) {
  if (a.getDim() != b.getDim() || a.getType() != b.getType())
    return {};
  SmallVector<Part> left = getParts(a), right = getParts(b);
  struct Sum {
    Value first, second;
    int64_t extent;
  };
  SmallVector<Sum> sums;
  bool isUseful = false;
  for (Part *p = left.begin(), *q = right.begin(); p != left.end();) {
    int64_t extent = std::min(p->extent, q->extent);
    // Zeros can be cut anywhere, values are taken whole.
    if ((p->value && p->extent != extent) || (q->value && q->extent != extent))
      return {};
    isUseful |= !p->value != !q->value;
    sums.push_back({p->value, q->value, extent});
    p->extent -= extent;
    q->extent -= extent;
    p += p->extent == 0;
    q += q->extent == 0;
  }
  if (!isUseful)
    return {};
  Location loc = b.getLoc();
  SmallVector<Value> inputs;
  for (Sum &sum : sums) {
    if (sum.first || sum.second) {
      inputs.push_back(sum.second ? addGradients(builder, sum.first, sum.second)
                                  : sum.first);
      continue;
    }
    SmallVector<int64_t> shape(b.getType().getShape());
    shape[b.getDim()] = sum.extent;
    inputs.push_back(
        zeros(builder, loc,
              RankedTensorType::get(shape, b.getType().getElementType())));
  }
  return ConcatOp::create(builder, loc, b.getType(), inputs, b.getDim());
}

/// The same behind reshapes.
static Value joinSlices(OpBuilder &builder, Value a, Value b) {
  auto concatA = a.getDefiningOp<ConcatOp>();
  auto concatB = b.getDefiningOp<ConcatOp>();
  if (concatA && concatB)
    return joinConcats(builder, concatA, concatB);
  auto reshapeA = a.getDefiningOp<ReshapeOp>();
  auto reshapeB = b.getDefiningOp<ReshapeOp>();
  if (!reshapeA || !reshapeB || a.getType() != b.getType() ||
      reshapeA.getInput().getType() != reshapeB.getInput().getType())
    return {};
  Value joined = joinSlices(builder, reshapeA.getInput(), reshapeB.getInput());
  return joined
             ? reshapeTo(builder, b.getLoc(), joined, tensorType(b).getShape())
             : Value();
}

Value mlir::fuseops::addGradients(OpBuilder &builder, Value sum,
                                  Value gradient) {
  if (!sum)
    return gradient;
  if (Value joined = joinSlices(builder, sum, gradient))
    return joined;
  return AddOp::create(builder, gradient.getLoc(), sum.getType(), sum,
                       gradient);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>>
mlir::fuseops::buildGradientsOf(Operation *op, OpBuilder &builder,
                                ValueRange gradients, ArrayRef<bool> needed) {
  if (auto differentiable = dyn_cast<DifferentiableOpInterface>(op))
    return differentiable.buildGradients(builder, gradients, needed);
  auto fusible = dyn_cast<FusibleOpInterface>(op);
  // Maxima of blocks are core operations, and scales have no gradient.
  if (fusible && !isa<ReduceBlocksOp, ExpandBlocksOp>(op))
    return buildDecompositionGradients(fusible, builder, gradients, needed);
  return op->emitOpError() << "has no gradient rule, but a gradient through "
                              "it is asked for";
}

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

namespace {
/// Collects the operations that a builder creates in one block, in order.
struct Recorder : OpBuilder::Listener {
  explicit Recorder(Block *block) : block(block) {}
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    if (op->getBlock() == block)
      ops.push_back(op);
  }
  Block *block;
  SmallVector<Operation *> ops;
};
} // namespace

FailureOr<SmallVector<Value>> mlir::fuseops::buildDecompositionGradients(
    FusibleOpInterface op, OpBuilder &builder, ValueRange gradients,
    ArrayRef<bool> needed) {
  Location loc = op.getLoc();
  Recorder recorder(builder.getInsertionBlock());
  SmallVector<Value> parts;
  {
    OpBuilder recording(builder.getContext(), &recorder);
    recording.restoreInsertionPoint(builder.saveInsertionPoint());
    parts = op.decompose(recording, op->getOperands());
  }
  DenseMap<Value, Value> sums;
  for (auto [part, gradient] : llvm::zip_equal(parts, gradients))
    if (gradient)
      sums[part] =
          addGradients(builder, sums.lookup(part),
                       broadcastTo(builder, loc, gradient, tensorType(part)));
  // Values that a wanted gradient flows through.
  DenseSet<Value> active;
  for (auto [operand, isNeeded] : llvm::zip_equal(op->getOperands(), needed))
    if (isNeeded)
      active.insert(operand);
  auto isActive = [&](Value value) { return active.contains(value); };
  for (Operation *inner : recorder.ops)
    if (llvm::any_of(inner->getOperands(), isActive))
      for (Value result : llvm::make_filter_range(inner->getResults(), isFloat))
        active.insert(result);
  for (Operation *inner : llvm::reverse(recorder.ops)) {
    assert(inner->getName() != op->getName() && "core operations have rules");
    SmallVector<Value> incoming = llvm::map_to_vector(
        inner->getResults(), [&](Value value) { return sums.lookup(value); });
    if (llvm::none_of(incoming, [](Value value) { return bool(value); }))
      continue;
    SmallVector<bool> wanted =
        llvm::map_to_vector(inner->getOperands(), isActive);
    FailureOr<SmallVector<Value>> results =
        buildGradientsOf(inner, builder, incoming, wanted);
    if (failed(results))
      return failure();
    for (auto [operand, gradient] :
         llvm::zip_equal(inner->getOperands(), *results))
      if (gradient && isActive(operand))
        sums[operand] = addGradients(builder, sums.lookup(operand), gradient);
  }
  // What is one value a row, or less, is read and not computed again.
  Extent elements = getNumElements(op.getIterationSpace());
  for (auto [part, result] : llvm::zip_equal(parts, op->getResults()))
    if (part.getDefiningOp() && getNumElements(tensorType(part)) != elements) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointAfterValue(part);
      Value saved = broadcastTo(builder, loc, result, tensorType(part));
      part.replaceAllUsesWith(saved);
    }
  for (Operation *inner : recorder.ops)
    inner->setAttr(kRecomputedAttr, builder.getUnitAttr());
  return llvm::map_to_vector(op->getOperands(), [&](Value operand) {
    return active.contains(operand) ? sums.lookup(operand) : Value();
  });
}
