//===- BF16Pairs.h - Casts of bf16 that are pairs in words ---------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FP8TOLLVM_BF16PAIRS_H
#define FUSEOPS_LIB_CONVERSION_FP8TOLLVM_BF16PAIRS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::fuseops {

/// Adds the patterns for little-endian chips.
void populateBF16PairPatterns(RewritePatternSet &patterns);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FP8TOLLVM_BF16PAIRS_H
