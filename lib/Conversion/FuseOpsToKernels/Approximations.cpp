//===- Approximations.cpp - What is good enough for a rounded result -----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fuseops;

static bool isNarrow(Value value) {
  Type element = getElementTypeOrSelf(value);
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() <= 16;
}

/// Whether all results are rounded to 16 bits or fewer.
static bool isRounded(PointwiseOp op) {
  return llvm::all_of(op.getOutputs(), isNarrow);
}

/// Whether all that becomes of it are sums along rows and results of 16 bits,
/// of elements that have no more: then an exponential's short form is off by
/// less than the elements are known. What a row has one of may be wider.
static bool isSummed(PointwiseOp op) {
  auto isOfRow = [](Value input) {
    return getColumns(cast<RankedTensorType>(input.getType())) == 1;
  };
  return llvm::all_of(
             op.getInputs(),
             [&](Value input) { return isNarrow(input) || isOfRow(input); }) &&
         llvm::all_of(op->getUsers(), [](Operation *user) {
           auto pointwise = dyn_cast<PointwiseOp>(user);
           auto reduction = dyn_cast<ReduceColumnsOp>(user);
           return (pointwise && isRounded(pointwise)) ||
                  (reduction && reduction.getKind() == ReductionKind::Sum);
         });
}

/// 1 / (1 + exp(x)), a sigmoid: what its short form loses is below 2^-126. Of
/// another numerator it could be more.
static bool isSigmoid(arith::DivFOp op) {
  auto isOne = [](Value value) { return matchPattern(value, m_OneFloat()); };
  auto sum = op.getRhs().getDefiningOp<arith::AddFOp>();
  if (!isOne(op.getLhs()) || !sum)
    return false;
  auto isExp = [](Value value) {
    return isa_and_present<math::ExpOp>(value.getDefiningOp());
  };
  return (isOne(sum.getLhs()) && isExp(sum.getRhs())) ||
         (isOne(sum.getRhs()) && isExp(sum.getLhs()));
}

void mlir::fuseops::allowApproximations(GroupOp group) {
  using Flags = arith::FastMathFlags;
  group.walk([](PointwiseOp op) {
    if (isSummed(op))
      op.walk([](math::ExpOp inner) {
        inner.setFastmath(inner.getFastmath() | Flags::afn);
      });
    if (!isRounded(op))
      return;
    for (Operation &inner : op.getBody().front())
      llvm::TypeSwitch<Operation *>(&inner)
          .Case<arith::AddFOp, arith::SubFOp, arith::MulFOp>([](auto inner) {
            inner.setFastmath(inner.getFastmath() | Flags::contract);
          })
          .Case<math::ExpOp>([](auto inner) {
            inner.setFastmath(inner.getFastmath() | Flags::afn);
          })
          .Case<arith::DivFOp>([](auto inner) {
            if (isSigmoid(inner))
              inner.setFastmath(inner.getFastmath() | Flags::afn);
          });
  });
}
