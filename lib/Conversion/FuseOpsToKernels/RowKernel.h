//===- RowKernel.h - Writes the row kernel of a memory group -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_ROWKERNEL_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_ROWKERNEL_H

#include "ElementBuilder.h"
#include "KeptRow.h"
#include "KernelEmitter.h"
#include "KernelFrame.h"
#include "RowRing.h"
#include "SumRuns.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fuseops {

/// One visit to a row's columns: values of this level and this many columns.
struct Pass {
  unsigned level;
  int64_t columns;
};

/// Parts of a block whose threads combine values by shuffles.
inline int64_t countBlockParts(const Schedule &schedule) {
  int64_t threads = schedule.threads * schedule.rows;
  return threads / std::min<int64_t>(32, threads & -threads);
}

/// Writes one row kernel.
///
/// A row is visited in as many passes as its reductions depend on one another.
/// Pass p computes the reductions over columns of level p and writes the
/// results that are known by then; values between them are computed again in
/// each pass, or, where the schedule holds the row, kept in registers.
class RowKernel {
public:
  RowKernel(const KernelGroup &group, const Schedule &schedule,
            KernelDevice device, bool roundIntermediates, OpBuilder &builder)
      : b(builder), loc(group.getGroup().getLoc()), group(group),
        schedule(schedule), isCuda(device == KernelDevice::CUDA),
        elements(group, device, roundIntermediates, builder, loc),
        kept(group, schedule), ring(group, schedule) {
    elements.streamsStores = isCuda && schedule.streams;
    elements.readBlock = [this](ExpandBlocksOp op, const Element &element) {
      return elements.splat(computeBlock(op.getInput(), element),
                            element.width);
    };
  }

  func::FuncOp emit(StringRef name);

private:
  void open(StringRef name);
  void emitRows();
  void emitRun(Value from, Value to, Value step, Value isFirst,
               ValueRange state);
  void emitRow(Value row, Value isActive, MutableArrayRef<Value> accumulators);
  void computeRowValues(unsigned level, Value row);
  void storeRowValues(Value row, Value isActive);
  void holdRow(Value row, Value isActive);
  Element locate(Value row, int64_t number, int64_t columns);
  void emitPass(Pass pass, Value row, Value isActive,
                MutableArrayRef<Value> accumulators);
  SmallVector<Value> visitElement(Pass pass, Element &element,
                                  ArrayRef<Value> partial);
  SmallVector<Value> visitTogether(Pass pass, MutableArrayRef<Element> vectors,
                                   SmallVector<Value> partial);
  SmallVector<Value> visitRest(int64_t from, Pass pass, Value row,
                               Value isActive, SmallVector<Value> partial);
  void accumulateRows(Pass pass, Element &element);
  SmallVector<Value> identities(Pass pass, int64_t width);
  SmallVector<Value> combine(Pass pass, ValueRange partial, ValueRange others);
  SmallVector<Value> forColumns(int64_t from, int64_t to, int64_t step,
                                int64_t width, int64_t unroll, Pass pass,
                                Value row, Value isActive,
                                SmallVector<Value> partial);
  SmallVector<Value> visitColumns(Value from, Value to, int64_t step,
                                  int64_t width, int64_t unroll, Pass pass,
                                  Value row, Value isActive,
                                  SmallVector<Value> partial);
  void combineThreads(Pass pass, MutableArrayRef<ReduceColumnsOp> reductions,
                      SmallVectorImpl<Value> &values);

  /// Blocks along a row; see RowBlocks.cpp.
  int64_t getBlockColumns(Pass pass);
  MutableArrayRef<Element> vectorsOfBlock(const Element &element,
                                          int64_t columns);
  Element &getBlock(const Element &element, int64_t columns);
  Value computeBlock(Value value, const Element &element);
  Value reduceBlock(ReduceBlocksOp op, MutableArrayRef<Element> vectors);
  Value combineWarpsOfBlock(Value value, int64_t warps);
  Value isFirstOfBlock(int64_t columns);
  SmallVector<Store> blockStoresIn(Pass pass);
  void storeBlocks(Pass pass, MutableArrayRef<Element> vectors);
  void storeFills();
  /// Neighbouring threads that visit one block at once.
  int64_t countBlockThreads(int64_t columns) {
    return isCuda ? std::min(schedule.threads, columns / schedule.vector) : 1;
  }

  llvm::SetVector<Value> findReads(Pass pass, const Element &element);
  void readEveryRow();
  Value forget(Value stored);
  void readAhead(Pass pass, Element &element, int64_t number);
  Value openRing(Value from, Value step);
  void enterSlot(Value entered);
  Value refillSlot(Value from, Value step);
  void fetchRow(Value from, Value slot);
  void openSharedMemory();
  void copyAsync(Value from, Value to, int64_t count);
  Value placeIn(Value slot, const RowRing::Input &input, int64_t number);
  Value readPlace(const RowRing::Input &input, int64_t number);

  /// Rows that are walked over; see KeptRow.cpp.
  void openKept(Value from);
  void fetchKept(Value row, Value column);
  Value locateKept(const KeptRow::Input &input, Value column);
  std::pair<unsigned, unsigned> findKeptPasses();
  void enterKept(Pass pass);
  void readKept(Pass pass, Element &element);
  void leaveKept(Pass pass, Value column);

  /// CPU: whether most of what the kernel reads and writes along its rows is
  /// pairs of bf16, for which other vectors have to be reordered.
  bool isMadeOfPairs();
  SmallVector<Access> findEarlyReads(int64_t columns);
  void prefetchNextRow(Pass pass, const Element &element);

  /// Partial results; see RowReductions.cpp.
  void locatePartials();
  SmallVector<Value> initialAccumulators();
  void forPartial(ReduceRowsOp op,
                  function_ref<void(Value index, int64_t width)> body);
  void beginRun(Value isFirst);
  void endRun(Value isFirst, ValueRange accumulators);
  void storeHeld(unsigned number, ValueRange held, Value isFirst);
  void storePartial(unsigned number, Value column, Value value, Value isFirst);
  Value combineRows(ReductionKind kind, Value value);
  Value combineBlock(ReduceRowsOp op, Value value);
  Value getRowScratch();

  SmallVector<ReduceColumnsOp> reductionsIn(Pass pass);
  /// The reduction of the whole matrix that `op` is a part of, if it is one.
  ReduceRowsOp getWhole(ReduceColumnsOp op) {
    auto whole = dyn_cast<ReduceRowsOp>(*op->user_begin());
    return whole && group.isWhole(whole) ? whole : ReduceRowsOp();
  }
  /// Where the accumulators of `op` begin.
  unsigned findAccumulator(ReduceRowsOp op) {
    unsigned place = 0;
    for (ReduceRowsOp other : group.getRowReductions()) {
      if (other == op)
        break;
      place += isInRegisters(other) ? vectorsHeld(other) : 0;
    }
    return place;
  }
  /// Whether pass `pass` reads or writes `value` of every column.
  bool isVisitedIn(Pass pass, Value value);
  /// The numbers of columns that level `level` has work for, or any level.
  llvm::SmallSetVector<int64_t, 2> widthsAt(unsigned level);
  llvm::SmallSetVector<int64_t, 2> allWidths();
  /// Row reductions of one value a row are summed in a register; those of full
  /// values too where the row is held, else in memory.
  bool isInRegisters(ReduceRowsOp op) {
    return group.getPlacement(op.getInput()) != Placement::Full ||
           schedule.holdsRow;
  }
  /// Whether rows use the halves of the memory in which warps meet in turn.
  bool alternates() {
    return schedule.overlapsRows() && group.getNumLevels() > 1;
  }
  int64_t vectorsHeld(ReduceRowsOp op) {
    return group.getPlacement(op.getInput()) == Placement::Full
               ? schedule.getVectorsPerThread(columnsOf(op.getInput()))
               : 1;
  }
  /// First column of the thread's `number`th vector of a held row.
  Value columnOf(int64_t number) {
    return add(firstColumn, elements.constant(number * schedule.getWidth()));
  }
  /// Whether some thread's `number`th vector lies past the last column.
  bool isTail(int64_t number, int64_t columns) {
    int64_t parts = schedule.tiles > 1 ? schedule.tiles : number + 1;
    return parts * schedule.getWidth() > columns;
  }
  Value mul(Value a, Value c) { return arith::MulIOp::create(b, loc, a, c); }
  Value add(Value a, Value c) { return arith::AddIOp::create(b, loc, a, c); }
  Value less(Value a, Value c) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, a, c);
  }
  Value both(Value a, Value c) {
    if (!a || !c)
      return a ? a : c;
    return arith::AndIOp::create(b, loc, a, c);
  }

  OpBuilder &b;
  Location loc;
  const KernelGroup &group;
  const Schedule &schedule;
  bool isCuda;
  ElementBuilder elements;

  KernelFrame frame;
  Value tile;        ///< which part of each row is the block's; null for all
  Value firstColumn; ///< CUDA: of the thread's first vector
  KeptRow kept;
  /// Whether columns that are kept are being visited, and the block's next row.
  bool isInKept = false;
  Value nextRow;
  RowRing ring;
  Value ringMemory, ownPlace, slot;
  /// 0 or 1 in turn, where rows overlap: which half of the memory in which
  /// warps meet belongs to this row.
  Value half;
  /// The vectors that a thread visits at once, which begin with a block; on
  /// CUDA one.
  MutableArrayRef<Element> visited;
  /// The element of each block in the matrix of blocks, by the column of the
  /// block's first vector and the block's number of columns.
  DenseMap<std::pair<Value, int64_t>, std::unique_ptr<Element>> blocks;
  /// Where a run of rows is added up, of each reduction over rows in memory.
  SmallVector<Value> runs;
  /// What every row reads of the thread's columns, by number of columns.
  llvm::SmallDenseMap<int64_t, SmallVector<DenseMap<Value, Value>>> everyRow;
  /// The row's elements, where it is held, by number of columns.
  llvm::SmallDenseMap<int64_t, SmallVector<Element>> held;
};

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_ROWKERNEL_H
