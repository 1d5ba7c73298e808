//===- Approximations.cpp - What is good enough for a rounded result -----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fuseops;

/// Whether all results are rounded to 16 bits or fewer.
static bool isRounded(PointwiseOp op) {
  return llvm::all_of(op.getOutputs(), [](Value output) {
    Type element = cast<RankedTensorType>(output.getType()).getElementType();
    return isa<FloatType>(element) && element.getIntOrFloatBitWidth() <= 16;
  });
}

void mlir::fuseops::allowApproximations(GroupOp group) {
  using Flags = arith::FastMathFlags;
  group.walk([](PointwiseOp op) {
    if (!isRounded(op))
      return;
    for (Operation &inner : op.getBody().front())
      llvm::TypeSwitch<Operation *>(&inner)
          .Case<arith::AddFOp, arith::SubFOp, arith::MulFOp>([](auto inner) {
            inner.setFastmath(inner.getFastmath() | Flags::contract);
          })
          .Case<math::ExpOp>([](auto inner) {
            inner.setFastmath(inner.getFastmath() | Flags::afn);
          });
  });
}
