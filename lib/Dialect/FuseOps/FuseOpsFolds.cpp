//===- FuseOpsFolds.cpp - Folds of the named operations ------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/FuseOps.h"

using namespace mlir;
using namespace mlir::fuseops;

LogicalResult UnpackQuantizedOp::fold(FoldAdaptor,
                                      SmallVectorImpl<OpFoldResult> &results) {
  // Pattern: unpack_quantized(pack_quantized(parts)) -> parts
  auto pack = getInput().getDefiningOp<PackQuantizedOp>();
  if (!pack)
    return failure();
  llvm::append_range(results, pack.getParts());
  return success();
}

OpFoldResult IdentityOp::fold(FoldAdaptor) {
  // Pattern: identity(x) -> x
  return getInput();
}
