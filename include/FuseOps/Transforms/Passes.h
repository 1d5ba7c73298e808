//===- Passes.h - Passes of the FuseOps dialect --------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_TRANSFORMS_PASSES_H
#define FUSEOPS_TRANSFORMS_PASSES_H

#include "FuseOps/Analysis/FusionPlan.h"
#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fuseops {

#define GEN_PASS_DECL
#include "FuseOps/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "FuseOps/Transforms/Passes.h.inc"

/// The recipe that `text` is, as `#fuseops.recipe<text>` has it: `block`,
/// `delayed, history = 16`. Fails with a sentence in `error`.
FailureOr<RecipeAttr> parseRecipe(MLIRContext *context, StringRef text,
                                  std::string &error);

} // namespace mlir::fuseops

#endif // FUSEOPS_TRANSFORMS_PASSES_H
