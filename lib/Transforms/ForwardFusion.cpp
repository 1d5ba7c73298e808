//===- ForwardFusion.cpp - Group the operations of forward regions into kernels
//===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Transforms/FusionRewriter.h"
#include "FuseOps/Transforms/Passes.h"

#define DEBUG_TYPE "fuseops-forward-fusion"

namespace mlir::fuseops {
#define GEN_PASS_DEF_FORWARDFUSIONPASS
#include "FuseOps/Transforms/Passes.h.inc"
} // namespace mlir::fuseops

using namespace mlir;
using namespace mlir::fuseops;

namespace {
struct ForwardFusionPass
    : public fuseops::impl::ForwardFusionPassBase<ForwardFusionPass> {
  using Base::Base;

  void runOnOperation() override {
    FusibleOp fusible = getOperation();
    if (!fusible.getForward().empty())
      fuseRegion(fusible.getForward(), "forward", DEBUG_TYPE, fuse, generate);
  }
};
} // namespace
