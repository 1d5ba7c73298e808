//===- Recipe.h - What a recipe says of a tensor -------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_TRANSFORMS_RECIPE_H
#define FUSEOPS_LIB_TRANSFORMS_RECIPE_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"

namespace mlir::fuseops {

/// The FP8 format of gradients, or of all other tensors.
FloatType getFormat(RecipeAttr recipe, bool isGradient);

/// What one scale of a weight, or of any other tensor, covers.
ScaleKind getScaleKind(RecipeAttr recipe, bool isWeight);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_TRANSFORMS_RECIPE_H
