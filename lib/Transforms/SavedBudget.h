//===- SavedBudget.h - What saving costs, and keeping it within a budget -===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_TRANSFORMS_SAVEDBUDGET_H
#define FUSEOPS_LIB_TRANSFORMS_SAVEDBUDGET_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"

namespace mlir::fuseops {

/// Bytes of a tensor, of all parts of a quantized one.
Extent getValueBytes(Value value);

/// Computes saved values again in backward, those first that free most, until
/// at most `budget` bytes are saved where `?` is `symbol`. Says by a remark of
/// `category` where that cannot be kept.
void keepBudget(FusibleOp fusible, int64_t budget, int64_t symbol,
                StringRef category);

/// One remark of `category` for each saved value: what it is, and its bytes.
void reportSaved(FusibleOp fusible, StringRef category);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_TRANSFORMS_SAVEDBUDGET_H
