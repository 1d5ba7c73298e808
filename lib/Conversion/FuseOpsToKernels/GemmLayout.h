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
/// Pairs of them that a thread has of one row.
constexpr int64_t kStorePairs = kStoreColumns / 8;
constexpr int64_t kStoreRows = 16;
constexpr int64_t kStoreBytes = kStoreRows * kStageRowBytes;
/// 64 columns of the 64 rows that a warpgroup stores at once, of 8 bits.
constexpr int64_t kTransposedBytes = kStoreColumns * kMmaRows;

/// A result that the copy engine stores: whole rows, or parts of them side by
/// side.
struct MappedStore {
  const Store *store;
  int64_t elementBytes;
  int64_t offset, pitch; ///< of its rows in those of the result, in elements
  /// Its first number among the kernel's tensor maps; each part has one.
  unsigned map;

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
  /// Of one thread.
  int64_t countSums() const { return getOwnRows() * tileColumns / 128; }
  /// Columns of a tile that the group sees.
  int64_t getPartColumns() const { return tileColumns / parts; }
  /// Whether a tile may reach beyond the last column.
  bool hasColumnTail() const {
    return columns != columnTiles * getPartColumns();
  }
  int64_t getStageBytes() const { return aBytes + bBytes; }
  /// Shared memory of a block; it is aligned within.
  int64_t getBytes() const { return groups + groupBytes + 1024; }
  /// Rows of a tile that a warpgroup computes together, in units of 64.
  int64_t getSpanBlocks() const {
    return cluster > 1 ? getOwnRows() / kMmaRows : 1;
  }
  /// Of a cluster: what a warpgroup gets of its neighbour for one tile, of each
  /// of `blockReductions`.
  int64_t getMessageBytes() const {
    return 4 * getOwnRows() * static_cast<int64_t>(blockReductions.size());
  }
  /// Warps that have different rows of a tile.
  int64_t countRowWarps() const { return 4 * tileRows / getOwnRows(); }
  /// Whether one scale is of all columns of a part of a tile, for each stage.
  bool hasOneScale(const Product::Operand &operand) const {
    return operand.scaleKind == ScaleKind::Block128x128 &&
           128 % getPartColumns() == 0 &&
           (parts == 1 || columns % getPartColumns() == 0);
  }
  /// The parts of a tile that a store has: of a GLU's input both.
  int64_t countParts(const Store &store) const;
  /// The most stores by the copy engine that are filled at once.
  int64_t countOpenStores(const KernelGroup &group) const;

  int64_t tileRows, tileColumns, stages, warpgroups, storeBuffers;
  bool pingPong;
  int64_t elementBytes; ///< of the operands
  /// Columns that the group sees; of a GLU's input two parts of a tile, one of
  /// each half.
  int64_t columns, parts;
  /// Tiles along a row. Blocks of a cluster have neighbouring ones: where the
  /// columns that have something in common are more than a tile has.
  int64_t columnTiles;
  int64_t cluster;
  /// Columns that a thread block computes together.
  int64_t spanColumns;
  int64_t aBytes, bBytes; ///< of one stage
  /// Where the parts begin; that of the stages of A at 0.
  int64_t bStages, stores, barriers;
  /// Of a grouped product: a place for each group, for what is behind the last
  /// and for the end.
  int64_t groups, groupBytes;
  /// Two for each warpgroup of a cluster, in turn: messages, and barriers
  /// behind those of the stages.
  int64_t messages;
  /// Reductions of blocks that have columns of two tiles.
  SmallVector<ReduceBlocksOp> blockReductions;
  int64_t transposes; ///< two of each warpgroup for each that is `transposed`
  /// One for each of the group's stores; none where the threads store it
  /// themselves.
  SmallVector<std::optional<MappedStore>> mapped;
  unsigned numMaps; ///< of both operands and of all that is `mapped`
  /// Whether the columns of what is stored are rows of the result, of 8 bits.
  SmallVector<bool> transposed;
};

/// Columns that a product's kernel computes together: of one store, or of a
/// block.
int64_t countSpanColumns(const KernelGroup &group);

/// The stages that `schedule` has room for, and use of.
int64_t countGemmStages(const KernelGroup &group, Schedule schedule);

/// The tensor maps of a product's kernel: of both operands, then of the results
/// that the copy engine stores. Tensors are numbered as the launch numbers
/// them.
SmallVector<TensorMapAttr> getGemmMaps(const KernelGroup &group,
                                       const GemmLayout &layout);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_GEMMLAYOUT_H
