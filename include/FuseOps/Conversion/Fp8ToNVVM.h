//===- Fp8ToNVVM.h - FP8 casts as conversion instructions
//------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_CONVERSION_FP8TONVVM_H
#define FUSEOPS_CONVERSION_FP8TONVVM_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::fuseops {

/// Adds patterns that turn casts between f32 (or f16, bf16) and f8E4M3FN or
/// f8E5M2 into `nvvm.convert` operations, which need sm_89. Casts to FP8
/// saturate: clamp first. `populateFp8ToLLVMPatterns` covers what is left.
void populateFp8ToNVVMPatterns(RewritePatternSet &patterns);

/// Adds the pattern that extends pairs of bf16 in their words, for any chip.
void populateBF16ToNVVMPatterns(RewritePatternSet &patterns);

} // namespace mlir::fuseops

#endif // FUSEOPS_CONVERSION_FP8TONVVM_H
