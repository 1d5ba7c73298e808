//===- Layout.h - Helpers that move, repeat and reduce dimensions --------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_LAYOUT_H
#define FUSEOPS_DIALECT_FUSEOPS_LAYOUT_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"

namespace mlir::fuseops {

/// `value` with result dimension i being its dimension `order[i]`; `value`
/// itself where that changes nothing.
Value permute(OpBuilder &builder, Location loc, Value value,
              ArrayRef<int64_t> order);

/// `value` under another shape with as many elements.
Value reshapeTo(OpBuilder &builder, Location loc, Value value,
                ArrayRef<int64_t> shape);

/// `value` broadcast by NumPy's rules and converted to `type`'s elements.
Value broadcastTo(OpBuilder &builder, Location loc, Value value,
                  RankedTensorType type);

/// A tensor of zeros (false for i1).
Value zeros(OpBuilder &builder, Location loc, RankedTensorType type);

/// `value` reduced over `dims`, any set of its dimensions, which stay with
/// extent 1; the result has elements of type `element`. Accumulates in the
/// compute type. Fails, with an error at `loc`, where a symbolic size forbids
/// to bring the dimensions together.
FailureOr<Value> reduceDims(OpBuilder &builder, Location loc, Value value,
                            ArrayRef<int64_t> dims, ReductionKind kind,
                            Type element);

} // namespace mlir::fuseops

#endif // FUSEOPS_DIALECT_FUSEOPS_LAYOUT_H
