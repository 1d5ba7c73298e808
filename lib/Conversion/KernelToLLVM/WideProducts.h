//===- WideProducts.h - Products of two words in wide lanes --------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_KERNELTOLLVM_WIDEPRODUCTS_H
#define FUSEOPS_LIB_CONVERSION_KERNELTOLLVM_WIDEPRODUCTS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::fuseops {

/// Adds patterns that keep the rounds of Philox on vectors in 64-bit lanes, as
/// x86 multiplies words there.
void populateWideProductPatterns(RewritePatternSet &patterns);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_KERNELTOLLVM_WIDEPRODUCTS_H
