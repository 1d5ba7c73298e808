//===- CudaTiles.h - Tile kernels for CUDA -------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_CUDATILES_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_CUDATILES_H

#include "TileKernel.h"
#include "TileRing.h"

namespace mlir::fuseops {

/// A thread block visits a tile at once. Thread 16 i + j has columns 8 j to
/// 8 j + 7 of a few neighbouring rows, so that half a warp has one row. What a
/// pass leaves to later ones stays in registers or, where that is too much, is
/// computed again from the inputs. These are read from memory or, by a schedule
/// with `stages`, from shared memory that a ring of asynchronous copies fills.
class CudaTiles : public TileKernel {
public:
  CudaTiles(const KernelGroup &group, const Schedule &schedule,
            bool roundIntermediates, OpBuilder &builder)
      : TileKernel(group, schedule, KernelDevice::CUDA, roundIntermediates,
                   builder),
        ring(group, schedule),
        numRows(kTileSize * kTileLanes / schedule.threads),
        numVectors(kTileColumns / schedule.vector) {}

private:
  void emitTiles() override;
  Value makeArray(const Twine &name, Type type, int64_t count) override;
  void forEach(Value count, int64_t firstThread,
               function_ref<void(Value)> body) override;

  using Visit = function_ref<void(Value tile, MutableArrayRef<Value> carried)>;
  SmallVector<Value> emitDealt(ValueRange carried, Visit visit);
  SmallVector<Value> emitDrawn(ValueRange carried, size_t numSums, Visit visit);
  void emitTile(Value tile, MutableArrayRef<Value> accumulators);
  void enterThread(Value number);
  void forgetThread();
  void enterOwnPart(Value tile);
  Element placeOf(int64_t row, int64_t vector);
  Element locate(int64_t row, int64_t vector);
  void holdElements();
  Element &elementOf(int64_t row, int64_t vector) {
    return held[row * numVectors + vector];
  }
  void emitPass(unsigned level, MutableArrayRef<Value> accumulators);
  void visitElement(unsigned level, int64_t row, int64_t vector,
                    MutableArrayRef<Value> accumulators);
  void storeRowValues(unsigned level, int64_t row);
  Value isFirstOfRow();
  void barrier();
  Value bit(Value value, int64_t mask);
  Value narrow(Value value);
  Value widen(Value value);
  Value countOf(Value first, Value end);
  void halveRows(SmallVectorImpl<Value> &own, Value &row, int64_t lanes);

  /// Block reductions: what each thread has of its blocks, and its way to the
  /// memory of partial results.
  void takeIn(ReduceBlocksOp op, int64_t row, int64_t vector, Value value);
  Value narrowMagnitude(Value value);
  Value widenMaximum(ReduceBlocksOp op, Value value);
  void storeParts(ReduceBlocksOp op);

  /// Reductions over rows: what each thread keeps, down a column of tiles.
  int64_t countAccumulators(ReduceRowsOp op) {
    return isByColumn(op) ? numVectors : 1;
  }
  SmallVector<Value> initialAccumulators();
  void accumulate(unsigned level, ReduceRowsOp op, int64_t row, int64_t vector,
                  MutableArrayRef<Value> sums);
  void storeSums(ValueRange accumulators);
  Value combineWarps(ReduceRowsOp op, Value slot, int64_t width);
  void storeColumnSums(unsigned number, ReduceRowsOp op, ValueRange own);
  void storeWholeSum(unsigned number, ReduceRowsOp op, Value sum);

  /// Inputs that are fetched ahead; see TileRing.cpp.
  SmallVector<Value> openRing();
  void enterSlot(Value tile, ArrayRef<Value> state);
  void readSlot(Element &element, int64_t row, int64_t vector);
  void refillSlot();
  void leaveSlot(MutableArrayRef<Value> state);
  Value draw();
  void fetch(Value tile, Value slot);
  Value placeIn(Value slot, const TileRing::Input &input, int64_t row,
                int64_t vector);

  /// Transposed results, which go through shared memory.
  bool isStaged(const Store &store);
  void makeScratch();
  void emitStaged(unsigned level);
  void stage(const Store &store, Value buffer);
  void copyOut(const Store &store, Value buffer);
  Value swizzle(const Store &store, Value chunk);
  Value isAlignedOf(const Store &store);
  Value byteAt(Value pointer, Value offset);

  TileRing ring;
  Value ringMemory;
  Value numTiles;
  Value currentTile;
  Value currentSlot;       ///< where in the ring this tile's inputs begin
  bool isSlotRead = false; ///< whether they are still to be read
  Value nextOfSlot;        ///< the tile that was fetched into it then
  Value ticket;            ///< shared memory for the number that was drawn
  Value drawn;             ///< by the first thread, for the next tile

  int64_t numRows, numVectors;   ///< that a thread has of a tile
  Value thread, lane;            ///< in the block; along a tile's row
  Value threadRow, threadColumn; ///< the thread's first ones in a tile
  /// Rows and columns of the matrix that a tile has, of 32 bits; null: all.
  Value height, width;
  /// The thread's elements, row by row, and the values of its rows.
  SmallVector<Element> held;
  SmallVector<DenseMap<Value, Value>> rowValues;
  DenseMap<Value, SmallVector<Value>> parts;
  Value sums;
  Value staging;
  int64_t stagedAtOnce = 0;
};

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_CUDATILES_H
