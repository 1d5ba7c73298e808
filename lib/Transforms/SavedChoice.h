//===- SavedChoice.h - What is saved, and what is computed again ----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_TRANSFORMS_SAVEDCHOICE_H
#define FUSEOPS_LIB_TRANSFORMS_SAVEDCHOICE_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"

namespace mlir::fuseops {

/// Bytes of a tensor, of all parts of a quantized one.
Extent getValueBytes(Value value);

/// Whether backward finds out which elements of `value` are its maximum or
/// minimum: then it has to have the bits that forward had. What it computes by
/// one operation of saved values has them; in a chain forward may have stored,
/// and rounded, what backward keeps in registers.
bool isCompared(Value value);

/// Computes elementwise values again in backward instead of saving them, where
/// forward writes them only to save them and what they are computed of lies in
/// memory anyway, and is hardly more: a product does, its sum with a bias does
/// not.
/// The choice depends on forward and on what is saved alone, so that it is the
/// same whichever gradients are missing.
void reduceTraffic(FusibleOp fusible);

/// Computes saved values again in backward, those first that free most, until
/// at most `budget` bytes are saved where `?` is `symbol`. Says by a remark of
/// `category` where that cannot be kept.
void keepBudget(FusibleOp fusible, int64_t budget, int64_t symbol,
                StringRef category);

/// One remark of `category` for each saved value: what it is, and its bytes.
void reportSaved(FusibleOp fusible, StringRef category);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_TRANSFORMS_SAVEDCHOICE_H
