//===- Fp8ToLLVM.h - Small float casts as integer arithmetic
//---------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_CONVERSION_FP8TOLLVM_H
#define FUSEOPS_CONVERSION_FP8TOLLVM_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::fuseops {

/// Which casts `populateFp8ToLLVMPatterns` expands; the FP8 formats in `fp8`
/// are f8E4M3FN and f8E5M2. f8E8M0FNU is always expanded, and so is every cast
/// from f64 to a type narrower than f32, which would round twice otherwise.
struct Fp8ToLLVMOptions {
  /// Expand f8E4M3FN and f8E5M2.
  bool fp8 = true;
  /// Expand bf16 from and to f32: x86 without AVX512-BF16 calls compiler-rt.
  bool bf16 = true;
  /// Expand f16 from and to f32: x86 without F16C calls compiler-rt.
  bool half = false;
};

/// Adds the patterns of `convert-fp8-to-llvm`.
void populateFp8ToLLVMPatterns(RewritePatternSet &patterns,
                               const Fp8ToLLVMOptions &options = {});

} // namespace mlir::fuseops

#endif // FUSEOPS_CONVERSION_FP8TOLLVM_H
