//===- ExpandMath.h - Expand f32 math functions into polynomials
//-----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_CONVERSION_EXPANDMATH_H
#define FUSEOPS_CONVERSION_EXPANDMATH_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::fuseops {

/// What an expansion may use: IEEE operations only, or also the approximate
/// base-two exponential, reciprocal and root of a CUDA chip.
enum class MathTarget { CPU, NVVM };

/// Adds the patterns of `fuseops-expand-math`: math functions on f32, f16 and
/// bf16, scalar or vector, become `arith` and `math.fma`. f64 isn't touched.
void populateExpandMathPatterns(RewritePatternSet &patterns, MathTarget target);

} // namespace mlir::fuseops

#endif // FUSEOPS_CONVERSION_EXPANDMATH_H
