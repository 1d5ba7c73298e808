//===- GemmLayout.h - How a product's kernel uses its shared memory -------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_GEMMLAYOUT_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_GEMMLAYOUT_H

#include "KernelGroup.h"
#include "Schedule.h"

namespace mlir::fuseops {

/// Bytes of a row of an operand in one stage: what the swizzle covers.
constexpr int64_t kStageRowBytes = 128;
/// Rows that one `wgmma` has of the first operand.
constexpr int64_t kMmaRows = 64;
/// Columns that a warp stores at once, of the 16 rows that it has of 64.
constexpr int64_t kStoreColumns = 64;
constexpr int64_t kStoreRows = 16;
constexpr int64_t kStoreBytes = kStoreRows * kStageRowBytes;

/// A result that the copy engine stores: its rows are packed.
struct MappedStore {
  const Store *store;
  int64_t elementBytes;

  /// Columns of one box.
  int64_t getBoxColumns() const {
    return std::min(kStoreColumns, kStageRowBytes / elementBytes);
  }
};

/// What a product's kernel keeps in shared memory, and how a schedule cuts its
/// work.
struct GemmLayout {
  GemmLayout(const KernelGroup &group, const Schedule &schedule);

  /// Elements of the contracted dimension in one stage, of either operand.
  int64_t getDepth() const { return kStageRowBytes / elementBytes; }
  /// Elements that one `wgmma` contracts.
  int64_t getMmaDepth() const { return 32 / elementBytes; }
  int64_t getThreads() const { return 128 * (warpgroups + 1); }
  /// Rows of a tile that one warpgroup has.
  int64_t getOwnRows() const {
    return pingPong ? tileRows : tileRows / warpgroups;
  }
  int64_t getStageBytes() const { return aBytes + bBytes; }
  /// Shared memory of a block; it is aligned within.
  int64_t getBytes() const { return barriers + 16 * stages + 1024; }
  /// Warps that have different rows of a tile.
  int64_t countRowWarps() const { return 4 * tileRows / getOwnRows(); }
  /// How many boxes a warp stores of a tile.
  int64_t countStores() const;

  int64_t tileRows, tileColumns, stages, warpgroups, storeBuffers;
  bool pingPong;
  int64_t elementBytes; ///< of the operands
  int64_t columnTiles;
  int64_t aBytes, bBytes; ///< of one stage
  /// Where the parts begin; that of the stages of A at 0.
  int64_t bStages, stores, barriers;
  /// One for each of the group's stores; none where the threads store it
  /// themselves.
  SmallVector<std::optional<MappedStore>> mapped;
};

/// The tensor maps of a product's kernel: of both operands, then of the results
/// that the copy engine stores. Tensors are numbered as the launch numbers
/// them.
SmallVector<TensorMapAttr> getGemmMaps(const KernelGroup &group,
                                       const GemmLayout &layout);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_GEMMLAYOUT_H
