//===- Gradients.h - Helpers that gradient rules share -------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_GRADIENTS_H
#define FUSEOPS_DIALECT_FUSEOPS_GRADIENTS_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::fuseops {

/// Sums `gradient` over what was broadcast, and converts it to `target`, the
/// type of the operand that was broadcast. Fails, with an error at `loc`, for a
/// broadcast that no reduction undoes.
FailureOr<Value> reduceToShape(OpBuilder &builder, Location loc, Value gradient,
                               RankedTensorType target);

/// The gradients of `op`'s operands, by its own rule, or, where it has none and
/// is an operation of a memory kernel, through its decomposition; arguments and
/// result as of DifferentiableOpInterface::buildGradients.
FailureOr<SmallVector<Value>> buildGradientsOf(Operation *op,
                                               OpBuilder &builder,
                                               ValueRange gradients,
                                               ArrayRef<bool> needed);

/// The same through the decomposition, which is computed again, but for
/// reductions that the operation has as results.
FailureOr<SmallVector<Value>>
buildDecompositionGradients(FusibleOpInterface op, OpBuilder &builder,
                            ValueRange gradients, ArrayRef<bool> needed);

/// The sum of two contributions to one value's gradient; the first may be null.
/// Gradients of slices, which are zero elsewhere, are joined and not added.
Value addGradients(OpBuilder &builder, Value sum, Value gradient);

/// Derivatives of a block of scalar `arith` and `math` operations, in reverse.
///
/// `values` maps the block's values to their copies in the block that `builder`
/// writes to, and `adjoints` holds the adjoint of each yielded value (null
/// where it has none). Returns the adjoint of each of `inputs`, in f32 (f64 for
/// f64), null where it is zero. Fails, with an error on the operation, where
/// one on the way has no derivative.
FailureOr<SmallVector<Value>>
buildScalarAdjoints(OpBuilder &builder, Block &body, const IRMapping &values,
                    ArrayRef<Value> adjoints, ArrayRef<Value> inputs);

} // namespace mlir::fuseops

#endif // FUSEOPS_DIALECT_FUSEOPS_GRADIENTS_H
