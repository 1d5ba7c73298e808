//===- TileKernel.h - Writes the tile kernel of a memory group -----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_TILEKERNEL_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_TILEKERNEL_H

#include "KernelEmitter.h"
#include "KernelFrame.h"
#include "TileLayout.h"

namespace mlir::fuseops {

/// Writes one tile kernel: the matrix is cut into tiles of 128 by 128 elements,
/// which are numbered along its rows. What of a tile lies outside of the matrix
/// is in no reduction, and is not written (fp8_t2).
///
/// A tile is visited in as many passes as its block reductions depend on one
/// another. Before pass p, what has one element a block and is known by then is
/// computed, once, and kept for the elements that read it; pass p reduces
/// blocks, and writes what is known by then.
class TileKernel {
public:
  TileKernel(const KernelGroup &group, const Schedule &schedule,
             KernelDevice device, bool roundIntermediates, OpBuilder &builder);
  virtual ~TileKernel() = default;

  func::FuncOp emit(StringRef name);

protected:
  /// Visits the tiles that this worker has.
  virtual void emitTiles() = 0;
  /// Memory for `count` values that all threads of a worker see.
  virtual Value makeArray(const Twine &name, Type type, int64_t count) = 0;
  /// Emits `body` for every number from 0 to `count`, each on one thread, the
  /// first ones on those from `firstThread` on, which is a multiple of 128.
  virtual void forEach(Value count, int64_t firstThread,
                       function_ref<void(Value)> body) = 0;

  /// Where tile number `tile` begins.
  void enterTile(Value tile);
  /// Computes what has one element a block and is known from `level` on.
  void computeBlocks(unsigned level);
  /// Computes what has one value a row, that of `element`, or one in all.
  DenseMap<Value, Value> computeRowValues(const Element &place);
  /// Writes what blocks are joined with.
  void storeFills();

  /// What pass `level` reduces and writes, of elements.
  SmallVector<ReduceBlocksOp> reductionsAt(unsigned level);
  SmallVector<Store> storesAt(unsigned level, Placement placement);
  SmallVector<std::pair<unsigned, ReduceRowsOp>> numberedRowReductions() {
    SmallVector<std::pair<unsigned, ReduceRowsOp>> numbered;
    for (ReduceRowsOp op : group.getRowReductions())
      numbered.push_back({static_cast<unsigned>(numbered.size()), op});
    return numbered;
  }
  bool reducesRowsAt(unsigned level, ReduceRowsOp op) {
    return group.getLevel(group.getReduced(op)) == level;
  }
  /// Whether each column has a result of its own.
  bool isByColumn(ReduceRowsOp op) {
    return !group.isWhole(op) &&
           group.getPlacement(op.getInput()) == Placement::Full;
  }
  /// The partial results of a reduction over rows that this worker or, by a
  /// schedule with `tile_partials`, this tile leaves.
  Value partialOf(unsigned number);

  /// The number, within the tile, of the block of an element.
  Value blockOf(BlockShape shape, const Element &element);
  Value readBlock(ExpandBlocksOp op, const Element &element);
  /// Partial results that a block's reduction has: one, or, where a vector is
  /// in one block, each lane's, which are combined when the block is complete.
  int64_t lanesOf(BlockShape shape) {
    return isCuda || shape.columns == 1 ? 1 : schedule.vector;
  }
  void emitBlocks(BlockShape shape, unsigned level, int64_t firstThread);

  Value add(Value a, Value c) { return arith::AddIOp::create(b, loc, a, c); }
  Value sub(Value a, Value c) { return arith::SubIOp::create(b, loc, a, c); }
  Value mul(Value a, int64_t c) {
    return c == 1
               ? a
               : Value(arith::MulIOp::create(b, loc, a, elements.constant(c)));
  }
  Value div(Value a, int64_t c) {
    return c == 1
               ? a
               : Value(arith::DivUIOp::create(b, loc, a, elements.constant(c)));
  }
  Value divideExactly(Value a, int64_t c);
  Value rem(Value a, int64_t c) {
    return arith::RemUIOp::create(b, loc, a, elements.constant(c));
  }
  Value less(Value a, Value c) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, a, c);
  }
  Value isZero(Value a) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, a,
                                 elements.constant(0));
  }
  Value smaller(Value a, Value c) {
    return arith::MinSIOp::create(b, loc, a, c);
  }
  Value both(Value a, Value c) {
    if (!a || !c)
      return a ? a : c;
    return arith::AndIOp::create(b, loc, a, c);
  }
  /// Emits `body` under a condition, of which null holds always.
  void when(Value condition, function_ref<void()> body);

  OpBuilder &b;
  Location loc;
  const KernelGroup &group;
  const Schedule &schedule;
  ElementBuilder elements;
  TileLayout layout;
  bool isCuda;
  int64_t columns;     ///< of the matrix
  int64_t tileColumns; ///< tiles along a row

  KernelFrame frame;
  Value rows;                ///< of the matrix
  Value tileRow, tileColumn; ///< the tile's place among tiles
  Value firstRow, firstColumn;
  /// Partial results of block reductions, part by part, and values of blocks.
  DenseMap<Value, Value> partialBlocks, keptBlocks;
};

/// The parts of `emitTileKernel` for each kind of device.
func::FuncOp emitCpuTiles(const KernelGroup &group, const Schedule &schedule,
                          bool roundIntermediates, StringRef name,
                          OpBuilder &builder);
func::FuncOp emitCudaTiles(const KernelGroup &group, const Schedule &schedule,
                           bool roundIntermediates, StringRef name,
                           OpBuilder &builder);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_TILEKERNEL_H
