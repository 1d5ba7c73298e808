//===- GemmKernel.h - Matrix products with their neighbours for Hopper ----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_GEMMKERNEL_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_GEMMKERNEL_H

#include "GemmLayout.h"
#include "HopperBuilder.h"
#include "KernelFrame.h"
#include <map>

namespace mlir::fuseops {

/// A tile of the result, as one warpgroup has it.
struct GemmTile {
  Value row, column; ///< of its first element, 32 bits
  Value end;         ///< the row behind the last that it may have
  Value blocks;      ///< stages that it takes
  Value group;       ///< of a grouped product: its group's number
  /// Where the rows of groups are contracted: the group's first one, and how
  /// many it has.
  Value depth, size;
  /// sums[i]: of the rows from 64 i on. Thread 4 r + c of warp w has of rows
  /// 16 w + r and 16 w + r + 8 the columns 8 j + 2 c and 8 j + 2 c + 1, which
  /// are sums 4 j to 4 j + 3.
  SmallVector<SmallVector<Value>> sums;

  /// All sums as one list, and from one.
  SmallVector<Value> flatten() const;
  void assign(ArrayRef<Value> all);
};

/// Two elements of a row that a thread computes, and what the product gives
/// there, of each part.
struct GemmElement {
  Element element;
  SmallVector<Value, 2> parts;
};

/// A store of 64 columns that is under way: of `part` of what store `number` of
/// the group has, from `row` and `column` of the tile's part on.
struct OpenStore {
  size_t number;
  int64_t part;
  Value row, column, end;
  int64_t slot = 0; ///< number of the buffer
  Value buffer = {};
  /// What one instruction will store, and how often something was stored.
  SmallVector<Value> words = {};
  int64_t numGiven = 0;
  int64_t numClosed = 0; ///< boxes
};

/// Some columns of one row that have a value in common.
struct GemmBlock {
  Element element; ///< its place in the matrix of blocks
  const Element *first;
  /// What this thread has seen of it, of each reduction.
  DenseMap<Operation *, Value> largest;
};

/// Writes the kernel of a group around one contraction. Blocks stay and walk
/// over the tiles of the result. Their first warpgroup has one thread that
/// fetches stages of both operands into a ring, the others multiply and go on
/// with what the group does to their sums, in registers.
///
///   full[s]:  the fetching thread arrives and expects the bytes of stage s
///   empty[s]: the warps that read stage s arrive when they have
///
/// With ping-pong each of two warpgroups has every second tile to itself: one
/// multiplies while the other stores. Named barriers make them take turns, and
/// have to: a wait for a phase can't tell it from the one after the next, and
/// the second warpgroup starts a whole tile ahead in the ring.
class GemmKernel {
public:
  GemmKernel(const KernelGroup &group, const Schedule &schedule,
             bool roundIntermediates, OpBuilder &builder)
      : b(builder), loc(group.getGroup().getLoc()), group(group),
        product(*group.getProduct()), schedule(schedule),
        layout(group, schedule), hopper(builder, loc),
        elements(group, KernelDevice::CUDA, roundIntermediates, builder, loc) {}

  func::FuncOp emit(StringRef name);

private:
  void openBarriers();
  void countRows();
  void countTiles();
  void locateTile(Value tile, GemmTile &result);
  void emitLoads();
  void loadStage(const GemmTile &tile, Value block, Value stage, Value barrier);
  void loadOperand(const Product::Operand &operand, Value map, Value target,
                   Value first, int64_t count, Value depth, Value barrier);
  void emitProducts();
  void multiply(GemmTile &tile, Value counted);
  /// The words of the descriptions of a stage's operands that have addresses.
  std::pair<Value, Value> describeStage(Value stage);
  void issue(MutableArrayRef<Value> sums, int64_t block, Value a, Value bs,
             bool adds);

  // GemmGroups.cpp
  Value locateGroup(Value group);
  Value countRowTilesBefore(Value group);
  Value countTilesBefore(int64_t group);
  void openGroups();
  Value sizeOf(Value group);
  Value enterGroup(Value tile, GemmTile &result);
  Value countBlocks(Value tile);
  int64_t countMatrixTiles() const;
  void clearRows(const GemmTile &tile, Value block, Value stage);

  // GemmPromotion.cpp
  void multiplyPromoted(GemmTile &tile, Value counted);
  void promoteStage(GemmTile &tile, SmallVectorImpl<Value> &partial,
                    int64_t stage, Value block, Value parity);
  Value loadScale(const Product::Operand &operand, Value block, Value index,
                  int64_t width);
  SmallVector<Value> loadRowScales(const GemmTile &tile, int64_t block,
                                   Value depth);
  SmallVector<Value> loadColumnScales(const GemmTile &tile, Value depth);
  SmallVector<Value>
  forTiles(Value first, Value step, ValueRange state,
           function_ref<SmallVector<Value>(Value, ValueRange)> body);
  std::pair<Value, Value> nextStage(Value stage, Value parity);
  Value fullBarrier(Value stage);
  Value emptyBarrier(Value stage);
  Value messageBarrier(Value number);
  void release(Value stage);

  // GemmEpilogue.cpp
  void loadAlpha();
  void withOwnThread(function_ref<void()> body);
  void emitEpilogue(GemmTile &tile, MutableArrayRef<Value> carried);
  void emitSpan(const GemmTile &tile, int64_t firstBlock, int64_t first,
                MutableArrayRef<Value> carried,
                MutableArrayRef<SmallVector<Value>> columnSums);
  void emitChunk(const GemmTile &tile, int64_t firstBlock, int64_t block,
                 int64_t first, int64_t chunk, unsigned level,
                 MutableArrayRef<Value> carried,
                 MutableArrayRef<SmallVector<Value>> columnSums);
  SmallVector<Value> initWhole();
  void reduceElement(Element &element, unsigned level,
                     MutableArrayRef<Value> carried,
                     MutableArrayRef<SmallVector<Value>> columnSums,
                     int64_t pair);
  void storeColumnSums(const GemmTile &tile, int64_t first,
                       MutableArrayRef<SmallVector<Value>> columnSums);
  void storeWhole(ArrayRef<Value> carried);
  Element locateElement(const GemmTile &tile, int64_t block, int64_t column,
                        int64_t half);
  Element locatePart(const Element &element, int64_t part);
  GemmElement openElement(const GemmTile &tile, int64_t block, int64_t column,
                          int64_t half);
  Value finishProduct(Value sum, const Element &element);
  int64_t findVisited(const Element &element);
  GemmBlock &getBlock(const Element &element, int64_t columns);
  Value computeBlock(Value value, const Element &element);
  void reduceIntoBlocks(Element &element, unsigned level);
  Value reduceBlock(ReduceBlocksOp op, const GemmBlock &block);
  void storeBlocks();
  void exchangeBlocks();

  // GemmReads.cpp
  SmallVector<Value> findReads() const;
  void prefetchReads(const GemmTile &tile);
  void readAhead(const GemmTile &tile);
  void openChunks(const GemmTile &tile);

  // GemmRowSums.cpp
  void openRowSums();
  void reduceAlongRow(Element &element, unsigned level, int64_t number);
  void pinRowSums();
  void storeRowSums(const GemmTile &tile);

  // GemmStores.cpp
  void openStores();
  void openBuffers(MutableArrayRef<OpenStore> stores);
  void closeBuffer(OpenStore &store);
  void storeBox(const OpenStore &store, Value row);
  void storeRows(const OpenStore &store, Value row);
  void give(OpenStore &store, GemmElement &own);
  void close(OpenStore &store);
  void storeWords(Value buffer, int64_t quad, ArrayRef<Value> words);
  void storeBytes(Value buffer, int64_t quad, ArrayRef<Value> words);
  void storeFloats(Value buffer, int64_t number, Value pair);
  void openTransposed(OpenStore &store);
  void closeTransposed(OpenStore &store);
  void leaveTransposed(Value buffer, int64_t quad, ArrayRef<Value> words);
  Value locateTransposed(Value buffer, Value column, Value part);
  void storeColumn(const OpenStore &store, Value own, Value part);
  Value toWord(Value value, Type type);

  OpBuilder &b;
  Location loc;
  const KernelGroup &group;
  const Product &product;
  const Schedule &schedule;
  GemmLayout layout;
  HopperBuilder hopper;
  ElementBuilder elements;
  KernelFrame frame;

  Value memory; ///< the address of shared memory
  Value thread, warpgroup, warp, lane;
  Value worker, workers;
  /// The first tile of the block or its cluster, and how far the next one is.
  Value firstTile, tileStep;
  Value rank; ///< the block's number in its cluster
  Value numRows;
  /// Of a grouped product: the rows that are in groups or in none, and those in
  /// 64 bits.
  Value groupedRows, wideGroupedRows;
  Value rowTiles, numTiles; ///< null where only the sizes of groups tell
  /// Stages that a tile takes; of them some at the end may have only zeros.
  Value numBlocks;
  Value lastBlock; ///< the last with elements
  /// The number of the warpgroup among those that multiply.
  Value own;
  Value buffers; ///< of the warp, for stores
  /// Of the tile: the next of the store buffers, the groups of stores that were
  /// given to the copy engine, and of each buffer the last one, and whether it
  /// is being filled.
  int64_t nextBuffer, numGroups;
  SmallVector<int64_t> lastGroups;
  SmallVector<bool> isOpen;
  /// How often each store was transposed.
  SmallVector<int64_t> numTransposed;
  /// Of the tile: the numbers of the 64 rows and the first columns of all
  /// chunks in order, and of how many the reads have begun.
  SmallVector<std::pair<int64_t, int64_t>> chunks;
  size_t numRead;
  /// What is read of the next chunk, as it is in memory: of each eight columns
  /// the pairs of the upper and the lower row.
  SmallVector<DenseMap<Value, Value>> ahead;
  /// What this thread has of the span that is being computed: of each 64 rows,
  /// of each eight columns, the pairs of the upper and the lower row.
  SmallVector<GemmElement> visited;
  /// By the number of the first of `visited`, and columns.
  std::map<std::pair<int64_t, int64_t>, std::unique_ptr<GemmBlock>> blocks;
  /// Of each reduction along rows: what this thread has of the tile, of the
  /// upper and the lower row of each 64.
  SmallVector<SmallVector<Value>> rowSums;
  /// Of a cluster: the number of the tile among those of the warpgroup.
  Value turn;
  /// What all sums are multiplied by: the scales of whole tensors. Null where
  /// there are none.
  Value alpha;
};

/// Emits the kernel of a group around one contraction, for sm_90a. Parameters:
/// the group's arguments; its results; the maps that `getGemmMaps` lists; the
/// rows of the result times its tiles along a row; `count`, the elements that
/// are contracted.
func::FuncOp emitGemmKernel(const KernelGroup &group, const Schedule &schedule,
                            KernelDevice device, bool roundIntermediates,
                            StringRef name, OpBuilder &builder);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_GEMMKERNEL_H
