//===- OperationShape.h - What an operation is made of -------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_ANALYSIS_OPERATIONSHAPE_H
#define FUSEOPS_ANALYSIS_OPERATIONSHAPE_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::fuseops {

/// Rows and columns of a tile.
constexpr int64_t kTileSize = 128;

/// Shared memory that a block has on every chip.
constexpr int64_t kSharedBytes = 48 * 1024;

/// The value behind any reshapes.
Value skipReshapes(Value value);

/// What an operation is made of, found by decomposing it in a scratch block.
struct OperationShape {
  /// The template that it needs by itself; `Library` for a contraction.
  KernelTemplate kernelTemplate = KernelTemplate::Library;
  /// Operands whose elements it reads from other places than its own, and
  /// results whose elements it writes to other places.
  llvm::SmallBitVector readsMoved, writesMoved;
  /// Operands of which it reads the two halves of the columns, each element by
  /// element, and nothing else.
  llvm::SmallBitVector readsHalves;
  /// Results that a reduction over rows gives, of one row too.
  llvm::SmallBitVector reduced;
  /// Whether it needs something of a whole row before it knows its elements. A
  /// reduction to one element is none: any part of a tensor adds to it.
  bool needsRows = false;
  /// Whether a reduction of rows needs another's result: one pass over a row is
  /// not enough.
  bool needsRowsTwice = false;
  /// At most what a tile kernel of 128 threads keeps in shared memory for its
  /// reductions and values of blocks.
  int64_t blockBytes = 0;
};

/// Inspects `op`, which is not changed.
OperationShape inspectOperation(Operation *op);

/// Replaces `op` by its core operations.
void decomposeInPlace(FusibleOpInterface op, RewriterBase &rewriter);

/// Whether `op` takes one half of its input's columns.
bool isHalf(SliceOp op);

/// The value that a reduction to one element takes in where `op` reduces the
/// reductions of rows, by the same rule; null where it reduces something else.
Value getWhollyReduced(ReduceRowsOp op);

/// Whether a kernel cannot visit `op`'s result, which has columns of unknown
/// number, and visits its input instead.
bool isAlwaysWrittenThrough(PermuteOp op);

/// Whether a kernel visits `op`'s input and writes it where it belongs.
bool isWrittenThrough(PermuteOp op);

/// Whether a kernel that computes `op`'s input writes it as the transposed
/// matrix: nothing but memory gets `op`'s result.
bool writesTransposed(PermuteOp op);

} // namespace mlir::fuseops

#endif // FUSEOPS_ANALYSIS_OPERATIONSHAPE_H
