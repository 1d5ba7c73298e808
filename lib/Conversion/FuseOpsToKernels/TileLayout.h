//===- TileLayout.h - What a tile kernel keeps beside its elements -------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_TILELAYOUT_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_TILELAYOUT_H

#include "FuseOps/Analysis/OperationShape.h"
#include "KernelGroup.h"

namespace mlir::fuseops {

/// CUDA: neighbouring columns of one thread, and threads along a tile's row.
constexpr int64_t kTileColumns = 8;
constexpr int64_t kTileLanes = kTileSize / kTileColumns;

/// The most that a block can have on any chip, if the launch asks for it.
constexpr int64_t kMostSharedBytes = 227 * 1024;

/// Blocks of a tile.
inline int64_t countBlocks(BlockShape shape) {
  return kTileSize / shape.rows * (kTileSize / shape.columns);
}

/// What a tile kernel keeps of one tile beside the elements: partial results of
/// block reductions, values of blocks, and bytes on their way to a transposed
/// result.
struct TileLayout {
  /// `threads` is 0 on the CPU.
  TileLayout(const KernelGroup &group, int64_t threads);

  /// The parts of a block that are reduced on their own: of the warps, where it
  /// is higher than what one of them has.
  int64_t countParts(ReduceBlocksOp op) const {
    int64_t rowsOfWarp = threads ? 32 * kTileSize / threads : kTileSize;
    return llvm::divideCeil(static_cast<int64_t>(op.getBlockRows()),
                            rowsOfWarp);
  }
  bool usesArrays() const {
    return !reductions.empty() || !kept.empty() || !staged.empty();
  }
  /// Bytes of shared memory beside the inputs' `ringBytes`: with room for the
  /// largest staged result alone, and as many at once as have room.
  int64_t getLeastBytes() const { return arrayBytes + getScratchBytes(1); }
  int64_t getSharedBytes(int64_t ringBytes) const {
    return arrayBytes + getScratchBytes(countStagedAtOnce(ringBytes));
  }
  /// As many as one pass writes, if they all have room.
  int64_t countStagedAtOnce(int64_t ringBytes) const;
  /// Where staged results begin in the scratch memory that partial results of
  /// blocks begin in.
  int64_t getStagedOffset() const { return takesTurns ? 0 : partialBytes; }
  int64_t getScratchBytes(int64_t stagedAtOnce) const {
    return std::max(partialBytes,
                    getStagedOffset() + stagedAtOnce * stagedBytes);
  }

  int64_t threads;
  SmallVector<ReduceBlocksOp> reductions;
  /// Where the partial results of each begin in the scratch memory, and how
  /// many bytes all have. Each array begins at a multiple of 16.
  SmallVector<int64_t> partialOffsets;
  int64_t partialBytes = 0;
  /// Values of blocks that elements or later levels read.
  SmallVector<Value> kept;
  /// Stores that go through shared memory, so that neighbouring threads write
  /// neighbouring rows.
  SmallVector<Store> staged;
  /// Bytes for the largest of them, and the most that one pass writes.
  int64_t stagedBytes = 0, stagedInPass = 0;
  /// Whether partial results of blocks are gone when results are staged, and
  /// the other way round.
  bool takesTurns = true;
  /// Bytes for values of blocks and for sums over rows.
  int64_t arrayBytes = 0;
};

/// Whether neighbouring rows, not columns, are neighbours in memory.
bool isTransposed(const Access &access);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_TILELAYOUT_H
