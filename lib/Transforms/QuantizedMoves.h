//===- QuantizedMoves.h - What a quantize commutes with ------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_TRANSFORMS_QUANTIZEDMOVES_H
#define FUSEOPS_LIB_TRANSFORMS_QUANTIZEDMOVES_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"

#include <optional>

namespace mlir::fuseops {

/// Why a quantize does not go with what computes its value.
enum class StopReason {
  Argument = 1,
  Library,
  Collective,
  OwnScale,
  Dequantized,
  Transposed,
  Reshaped,
  Boundary,
  Moved
};

/// The text of a reason, for remarks and tests.
StringRef getStopReasonText(StopReason reason);

/// Why `op` is a kernel of its own; no value where it isn't.
std::optional<StopReason> getStopReason(QuantizeOp op);

/// Whether the scale of `op` is computed from its value in this region.
bool hasOwnScale(QuantizeOp op);

/// The types of the plain buffers of `type`.
SmallVector<Type> getPartTypes(QuantizedType type);

/// The tensor of these copies of `value`, which has them.
Value selectCopies(OpBuilder &builder, Value value, Copies copies);

/// Pattern: quantize(dequantize(q)) -> q if the scale is the same value and the
/// dequantized one has the precision of f32
bool foldDequantized(QuantizeOp op, RewriterBase &rewriter);

/// Pattern: quantize(f(x)) -> quantize(x) if f commutes with it and keeps the
/// type
bool moveThroughCommuting(QuantizeOp op, RewriterBase &rewriter);

/// Pattern: matmul(quantize(permute(x))) -> matmul(quantize(x)) read
/// transposed, if only products read it
bool moveThroughTranspose(QuantizeOp op, RewriterBase &rewriter);

/// Pattern: quantize(concat(a, b)) -> concat(quantize(a), quantize(b)) part by
/// part, if each block lies in one of them, kernels compute them and no kernel
/// has to read what is joined
bool moveThroughConcat(QuantizeOp op, RewriterBase &rewriter);

/// Pattern: amax(concat(a, b)) -> amax(max(|a|, |b|)) if kernels compute a and
/// b, which have one type, and nothing quantizes what is joined
/// Pattern: reduce_rows(concat(a, b)) -> concat(reduce_rows(a), reduce_rows(b))
/// likewise, if columns are joined
bool reduceBeforeConcat(Operation *op, RewriterBase &rewriter);

/// Pattern: quantize(slice(x)) -> slice(quantize(x)) part by part, if each
/// block lies in the slice and another quantize of x by the same rules is there
bool moveThroughSlice(QuantizeOp op, RewriterBase &rewriter);

/// Whether a scale of `op` would cover what is inside and outside of a slice,
/// or in two joined tensors.
bool crossesBoundary(QuantizeOp op);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_TRANSFORMS_QUANTIZEDMOVES_H
