//===- BackwardFusion.cpp - Group the operations of backward regions into
// kernels ===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Transforms/FusionRewriter.h"
#include "FuseOps/Transforms/Passes.h"

#define DEBUG_TYPE "fuseops-backward-fusion"

namespace mlir::fuseops {
#define GEN_PASS_DEF_BACKWARDFUSIONPASS
#include "FuseOps/Transforms/Passes.h.inc"
} // namespace mlir::fuseops

using namespace mlir;
using namespace mlir::fuseops;

namespace {
struct BackwardFusionPass
    : public fuseops::impl::BackwardFusionPassBase<BackwardFusionPass> {
  using Base::Base;

  void runOnOperation() override {
    FusibleOp fusible = getOperation();
    if (!fusible.getBackward().empty())
      fuseRegion(fusible.getBackward(), "backward", DEBUG_TYPE, fuse, generate);
  }
};
} // namespace
