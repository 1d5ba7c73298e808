//===- PlanSaved.cpp - Decide what forward saves for backward ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Transforms/Passes.h"
#include "llvm/ADT/BitVector.h"

#define DEBUG_TYPE "fuseops-plan-saved"

namespace mlir::fuseops {
#define GEN_PASS_DEF_PLANSAVEDPASS
#include "FuseOps/Transforms/Passes.h.inc"
} // namespace mlir::fuseops

using namespace mlir;
using namespace mlir::fuseops;

namespace {
struct PlanSavedPass : public fuseops::impl::PlanSavedPassBase<PlanSavedPass> {
  using Base::Base;

  void runOnOperation() override {
    FusibleOp fusible = getOperation();
    if (!fusible.hasBackward())
      return;
    Block &backward = fusible.getBackward().front();
    ReturnOp returnOp = fusible.getForwardReturn();
    unsigned numGradients = fusible.getGradientTypes().size();
    IRRewriter rewriter(&getContext());

    DenseMap<Value, BlockArgument> kept;
    SmallVector<Value> saved;
    llvm::BitVector dropped(backward.getNumArguments());
    for (auto [index, value] : llvm::enumerate(returnOp.getSaved())) {
      BlockArgument argument = backward.getArgument(numGradients + index);
      if (BlockArgument first = kept.lookup(value))
        rewriter.replaceAllUsesWith(argument, first);
      if (argument.use_empty()) {
        dropped.set(argument.getArgNumber());
        continue;
      }
      kept[value] = argument;
      saved.push_back(value);
    }
    rewriter.modifyOpInPlace(
        returnOp, [&] { returnOp.getSavedMutable().assign(saved); });
    backward.eraseArguments(dropped);
  }
};
} // namespace
