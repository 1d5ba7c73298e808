//===- Activations.h - Activations and their derivatives as scalars -------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_DIALECT_FUSEOPS_ACTIVATIONS_H
#define FUSEOPS_LIB_DIALECT_FUSEOPS_ACTIVATIONS_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Dialect/FuseOps/ScalarMath.h"

/// Each function beside its derivative; both are exact in relative terms in the
/// tails.
namespace mlir::fuseops::activation {

Value sigmoidDerivative(ScalarMath &m, Value x);

Value silu(ScalarMath &m, Value x);
Value siluDerivative(ScalarMath &m, Value x);

Value gelu(ScalarMath &m, Value x, GeluKind kind);
Value geluDerivative(ScalarMath &m, Value x, GeluKind kind);

/// x * sigmoid(1.702 x)
Value qgelu(ScalarMath &m, Value x);
Value qgeluDerivative(ScalarMath &m, Value x);

/// The derivative at 0 is 0; where it is, so is the gradient, whatever comes
/// in.
Value relu(ScalarMath &m, Value x);
Value reluGradient(ScalarMath &m, Value x, Value gradient);

/// max(x, 0)^2
Value srelu(ScalarMath &m, Value x);
Value sreluGradient(ScalarMath &m, Value x, Value gradient);

/// The derivative of tanh.
Value sech2(ScalarMath &m, Value x);

} // namespace mlir::fuseops::activation

#endif // FUSEOPS_LIB_DIALECT_FUSEOPS_ACTIVATIONS_H
