//===- ScaleRules.h - How an FP8 scale comes from an amax ----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of docs/Dialect/Fp8Semantics.md on scalars. They are about f32
// numbers, whatever the program computes in: all that is built here takes and
// gives f32.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_DIALECT_FUSEOPS_SCALERULES_H
#define FUSEOPS_LIB_DIALECT_FUSEOPS_SCALERULES_H

#include "FuseOps/Dialect/FuseOps/ScalarMath.h"

namespace mlir::fuseops {

/// The largest finite value of an FP8 format.
double getMaxValue(Type format);

/// How a scale comes from an amax.
struct ScaleRule {
  double numerator; ///< the format's largest value, less the margin
  bool powerOfTwo = false;
  double epsilon = 0.0;
};

/// The scale of `amax`; `otherwise` where the amax gives none.
Value buildScale(ScalarMath &m, Value amax, const ScaleRule &rule,
                 Value otherwise);

/// 1 / scale of a power of two in [2^-126, 2^127]; of 2^127 it is subnormal.
Value buildPowerInverse(ScalarMath &m, Value scale);

/// The scale_inv of an MX block, a power of two that f8E8M0FNU holds, or NaN.
Value buildMXScaleInverse(ScalarMath &m, Value amax, Type format);

/// `x` as `format` holds it, still in f32: clamped to the finite values. What
/// stores it rounds it.
Value buildClamp(ScalarMath &m, Value x, Type format);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_DIALECT_FUSEOPS_SCALERULES_H
