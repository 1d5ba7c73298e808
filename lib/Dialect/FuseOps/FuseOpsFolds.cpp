//===- FuseOpsFolds.cpp - Folds of the named operations ------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/FuseOps.h"

using namespace mlir;
using namespace mlir::fuseops;

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  // Pattern: reshape(x) -> x if the type stays
  if (getInput().getType() == getType())
    return getInput();
  // Pattern: reshape(reshape(x)) -> reshape(x)
  if (auto inner = getInput().getDefiningOp<ReshapeOp>()) {
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return {};
}

LogicalResult UnpackQuantizedOp::fold(FoldAdaptor,
                                      SmallVectorImpl<OpFoldResult> &results) {
  // Pattern: unpack_quantized(pack_quantized(parts)) -> parts
  auto pack = getInput().getDefiningOp<PackQuantizedOp>();
  if (!pack)
    return failure();
  llvm::append_range(results, pack.getParts());
  return success();
}
