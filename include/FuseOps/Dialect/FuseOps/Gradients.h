//===- Gradients.h - Helpers that gradient rules share -------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_GRADIENTS_H
#define FUSEOPS_DIALECT_FUSEOPS_GRADIENTS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::fuseops {

/// Sums `gradient` over what was broadcast, and converts it to `target`, the
/// type of the operand that was broadcast. Fails, with an error at `loc`, for a
/// broadcast that no reduction undoes.
FailureOr<Value> reduceToShape(OpBuilder &builder, Location loc, Value gradient,
                               RankedTensorType target);

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
