//===- BlockValues.h - Values with one element for each block ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_ANALYSIS_BLOCKVALUES_H
#define FUSEOPS_ANALYSIS_BLOCKVALUES_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"

namespace mlir::fuseops {

/// Rows and columns that a memory operation visits.
struct IterationSpace {
  Extent rows;
  int64_t columns = 1;
  bool operator==(IterationSpace other) const {
    return rows == other.rows && columns == other.columns;
  }
  bool operator!=(IterationSpace other) const { return !(*this == other); }
};

/// The space whose rows are all leading dimensions of `type` together.
IterationSpace getSpace(RankedTensorType type);

/// The matrix whose blocks a value belongs to, and the size of a block.
struct BlockShape {
  IterationSpace matrix;
  /// 0 by 0: the elements of such a value in another order, or what such a
  /// value is joined with.
  int64_t rows = 0, columns = 0;
  bool isVisited() const { return rows != 0; }
};

/// The values of `body` that stand for blocks: what reduce_blocks gives,
/// expand_blocks reads, and what is computed between them. Types do not tell:
/// one column of blocks looks like one value a row.
DenseMap<Value, BlockShape> findBlockValues(Block &body);

} // namespace mlir::fuseops

#endif // FUSEOPS_ANALYSIS_BLOCKVALUES_H
