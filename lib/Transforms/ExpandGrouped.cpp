//===- ExpandGrouped.cpp - Grouped layers as grouped products -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Transforms/Passes.h"

#define DEBUG_TYPE "fuseops-expand-grouped"

namespace mlir::fuseops {
#define GEN_PASS_DEF_EXPANDGROUPEDPASS
#include "FuseOps/Transforms/Passes.h.inc"
} // namespace mlir::fuseops

using namespace mlir;
using namespace mlir::fuseops;

namespace {
struct ExpandGroupedPass
    : public fuseops::impl::ExpandGroupedPassBase<ExpandGroupedPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<GroupedLinearOp> layers;
    getOperation().walk([&](GroupedLinearOp op) { layers.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (GroupedLinearOp op : layers) {
      rewriter.setInsertionPoint(op);
      rewriter.replaceOp(op, op.expand(rewriter));
    }
  }
};
} // namespace
