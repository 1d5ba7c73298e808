//===- Recipe.cpp - What a recipe says of a tensor -----------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recipe.h"
#include "FuseOps/Transforms/Passes.h"
#include "mlir/AsmParser/AsmParser.h"

using namespace mlir;
using namespace mlir::fuseops;

FloatType mlir::fuseops::getFormat(RecipeAttr recipe, bool isGradient) {
  MLIRContext *context = recipe.getContext();
  if (isGradient && recipe.getFormat() == RecipeFormat::Hybrid)
    return Float8E5M2Type::get(context);
  return Float8E4M3FNType::get(context);
}

ScaleKind mlir::fuseops::getScaleKind(RecipeAttr recipe, bool isWeight) {
  switch (recipe.getKind()) {
  case RecipeKind::Block:
    return isWeight ? ScaleKind::Block128x128 : ScaleKind::Block1x128;
  case RecipeKind::Rowwise:
    return ScaleKind::PerRow;
  case RecipeKind::MX:
    return ScaleKind::MX1x32;
  case RecipeKind::None:
  case RecipeKind::Delayed:
  case RecipeKind::Current:
    return ScaleKind::PerTensor;
  }
  llvm_unreachable("unknown kind of recipe");
}

FailureOr<RecipeAttr> mlir::fuseops::parseRecipe(MLIRContext *context,
                                                 StringRef text,
                                                 std::string &error) {
  context->getOrLoadDialect<FuseOpsDialect>();
  std::string reason;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (reason.empty())
      reason = diagnostic.str();
  });
  auto attr = dyn_cast_or_null<RecipeAttr>(
      parseAttribute(("#fuseops.recipe<" + text + ">").str(), context));
  if (attr)
    return attr;
  error = ("expected a recipe such as `block` or `delayed, history = 16`, but "
           "got `" +
           text + "`: " + reason)
              .str();
  return failure();
}
