//===- CollectiveOps.cpp - Collectives: rules, folds and gradients --------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "Verify.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::fuseops;

using Gradients = FailureOr<SmallVector<Value>>;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// `larger` has to be `smaller` with `size` times the extent of dimension 0.
static LogicalResult verifyParts(Operation *op, RankedTensorType smaller,
                                 RankedTensorType larger, int64_t size) {
  if (smaller.getRank() == 0 || smaller.isDynamicDim(0) ||
      larger.getRank() == 0 || larger.isDynamicDim(0))
    return op->emitOpError() << "expected tensors with a known extent of "
                                "dimension 0, but got "
                             << op->getOperand(0).getType() << " and "
                             << op->getResult(0).getType();
  SmallVector<int64_t> shape(smaller.getShape());
  shape[0] *= size;
  if (larger != RankedTensorType::get(shape, smaller.getElementType()))
    return op->emitOpError()
           << "expected one to have " << size
           << " times the other's extent of dimension 0, but got "
           << op->getOperand(0).getType() << " and "
           << op->getResult(0).getType();
  return success();
}

LogicalResult AllReduceOp::verify() {
  if (getInput().getType() == getType())
    return success();
  return emitOpError() << "expected `result` to be " << getInput().getType()
                       << ", but got " << getType();
}
LogicalResult AllGatherOp::verify() {
  return verifyParts(*this, tensorType(getInput()), getType(), getSize());
}
LogicalResult ReduceScatterOp::verify() {
  return verifyParts(*this, getType(), tensorType(getInput()), getSize());
}

// Pattern: all_reduce(x) -> x if there is one process; the others too
OpFoldResult AllReduceOp::fold(FoldAdaptor) {
  return getSize() == 1 ? getInput() : Value();
}
OpFoldResult AllGatherOp::fold(FoldAdaptor) {
  return getSize() == 1 ? getInput() : Value();
}
OpFoldResult ReduceScatterOp::fold(FoldAdaptor) {
  return getSize() == 1 ? getInput() : Value();
}

LogicalResult AllGatherOp::canonicalize(AllGatherOp op,
                                        PatternRewriter &rewriter) {
  // Pattern: all_gather(reduce_scatter(x)) -> all_reduce(x) if among the same
  // processes and nothing else reads the parts
  auto scatter = op.getInput().getDefiningOp<ReduceScatterOp>();
  if (!scatter || !scatter->hasOneUse())
    return rewriter.notifyMatchFailure(
        op, "the input is not a `reduce_scatter` that it alone reads");
  if (scatter.getGroup() != op.getGroup() || scatter.getSize() != op.getSize())
    return rewriter.notifyMatchFailure(op, "the processes differ");
  rewriter.replaceOpWithNewOp<AllReduceOp>(op, op.getType(), scatter.getInput(),
                                           op.getGroupAttr(), op.getSizeAttr());
  return success();
}

Gradients AllReduceOp::buildGradients(OpBuilder &, ValueRange gradients,
                                      ArrayRef<bool> needed) {
  return SmallVector<Value>{needed[0] ? gradients[0] : Value()};
}

/// The gradient of a collective by its dual.
template <typename DualOpT, typename OpT>
static Gradients dualRule(OpT op, OpBuilder &builder, ValueRange gradients,
                          ArrayRef<bool> needed) {
  if (!needed[0] || !gradients[0])
    return SmallVector<Value>{Value()};
  return SmallVector<Value>{
      DualOpT::create(builder, op.getLoc(), op.getInput().getType(),
                      gradients[0], op.getGroupAttr(), op.getSizeAttr())};
}
Gradients AllGatherOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                      ArrayRef<bool> needed) {
  return dualRule<ReduceScatterOp>(*this, builder, gradients, needed);
}
Gradients ReduceScatterOp::buildGradients(OpBuilder &builder,
                                          ValueRange gradients,
                                          ArrayRef<bool> needed) {
  return dualRule<AllGatherOp>(*this, builder, gradients, needed);
}
