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

/// CUDA: gives what is below `root` the shorter forms that fast-math flags
/// allow. To be called before the patterns are applied.
///
/// A division `afn` by 1 + exp(x) becomes a product with the chip's reciprocal:
/// the bits of `div.approx`, which scales its operands for denormal divisors.
/// An exponential `afn` becomes the chip's power of two of a product, and a sum
/// and a product, both `contract`, become one operation.
void shortenMath(Operation *root);

/// Makes each integer division below `root` one that never traps: a divisor of
/// 0 gives the quotient 0 and the remainder 0, and the lowest integer divided
/// by -1 is itself. To be called once.
void guardIntegerDivisions(Operation *root);

} // namespace mlir::fuseops

#endif // FUSEOPS_CONVERSION_EXPANDMATH_H
