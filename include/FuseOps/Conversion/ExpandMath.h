//===- ExpandMath.h - Expand scalar functions -----------------------------===//
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

/// Adds the patterns of `fuseops-expand-math` that are the same for all targets
/// and element types: `fuseops.special`, and what has no LLVM operation, into
/// operations of `arith` and `math`.
void populateExpandScalarPatterns(RewritePatternSet &patterns);

/// CUDA: makes each approximate f32 division by 1 + exp(x) below `root` a
/// product with the chip's reciprocal. `div.approx` is that too, but scales its
/// operands where the divisor is denormal, which this one, at least 1, is not:
/// the bits are the same. To be called before the patterns are applied.
void shortenDivisions(Operation *root);

/// Makes each integer division below `root` one that never traps: a divisor of
/// 0 gives the quotient 0 and the remainder 0, and the lowest integer divided
/// by -1 is itself. To be called once.
void guardIntegerDivisions(Operation *root);

} // namespace mlir::fuseops

#endif // FUSEOPS_CONVERSION_EXPANDMATH_H
