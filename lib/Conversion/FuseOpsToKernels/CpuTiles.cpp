//===- CpuTiles.cpp - Tile kernels for the CPU ---------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileKernel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::fuseops;

namespace {
/// One task visits neighbouring tiles row by row, vector by vector; values are
/// computed again in each pass.
class CpuTiles : public TileKernel {
public:
  using TileKernel::TileKernel;

private:
  void emitTiles() override;
  Value makeArray(const Twine &name, Type type, int64_t count) override;
  void forEach(Value count, int64_t firstThread,
               function_ref<void(Value)> body) override;

  void loop(Value from, Value to, int64_t step, function_ref<void(Value)> body);
  void fill(Value pointer, ReductionKind kind, Type element, int64_t count);
  void emitTile(Value tile);
  void takeInTile(Value tile, Value tileWidth);
  void emitPass(unsigned level, Value tileHeight, Value tileWidth);
  void visitElement(unsigned level, Element &element);
  void accumulate(Value pointer, Value index, ReductionKind kind, Type element,
                  Value value);
  bool hasWork(unsigned level);
  void stage(const Store &store, Element &element);
  void copyStaged(const Store &store, Value height, Value width);

  /// Transposed stores that go through memory of the tile, element (row,
  /// column) at `column * pitch + row`: to the tensor, each element of a vector
  /// would go to a page of its own.
  DenseMap<std::pair<Value, Value>, Value> staged;
  Value getStaged(const Store &store) {
    return staged.lookup({store.access.tensor, store.value});
  }
  /// Where each reduction over rows is summed, over the tile's columns and over
  /// all tiles: the latter in this worker's partial result, or in as many
  /// places as a tile has columns, each for every so-manieth tile, of what
  /// becomes one element.
  SmallVector<Value> tileSums, sums;
};
} // namespace

Value CpuTiles::makeArray(const Twine &, Type type, int64_t count) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  return LLVM::AllocaOp::create(b, loc, pointer, type, elements.constant(count),
                                /*alignment=*/64);
}

void CpuTiles::loop(Value from, Value to, int64_t step,
                    function_ref<void(Value)> body) {
  auto op = scf::ForOp::create(b, loc, from, to, elements.constant(step));
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(op.getBody());
  body(op.getInductionVar());
}

void CpuTiles::forEach(Value count, int64_t firstThread,
                       function_ref<void(Value)> body) {
  loop(elements.constant(0), count, 1, body);
}

void CpuTiles::fill(Value pointer, ReductionKind kind, Type element,
                    int64_t count) {
  forEach(elements.constant(count), /*firstThread=*/0, [&](Value index) {
    elements.storeRaw(elements.identity(kind, element, 1), pointer, index);
  });
}

/// Elements between two columns of a staged tile: whole cache lines, of which
/// neighbouring ones are in different sets.
static int64_t getPitch(Type element) {
  return kTileSize + 64 / getElementBytes(element);
}

/// Keeps what is stored at `element` until the tile is complete.
void CpuTiles::stage(const Store &store, Element &element) {
  Type type = store.access.element;
  Value value = elements.toStored(elements.compute(store.value, element), type);
  Value first = add(mul(sub(element.column, firstColumn), getPitch(type)),
                    sub(element.row, firstRow));
  for (int64_t i = 0; i < element.width; ++i) {
    Value one = element.width == 1 ? value
                                   : Value(vector::ExtractOp::create(
                                         b, loc, value, ArrayRef<int64_t>{i}));
    elements.storeRaw(one, getStaged(store),
                      add(first, elements.constant(i * getPitch(type))));
  }
}

/// Writes a staged tile: column by column, each in one run.
void CpuTiles::copyStaged(const Store &store, Value height, Value width) {
  Type type = store.access.element;
  Type bits = b.getIntegerType(8 * getElementBytes(type));
  int64_t step = 64 / getElementBytes(type);
  Value vectorEnd = mul(div(height, step), step);
  loop(elements.constant(0), width, 1, [&](Value column) {
    Element element;
    element.row = firstRow;
    element.column = add(firstColumn, column);
    Value target = elements.pointerTo(store.access, element);
    Value first = mul(column, getPitch(type));
    auto copy = [&](Value row, int64_t count) {
      elements.storeRaw(
          elements.loadRaw(getStaged(store), add(first, row), bits, count),
          target, row);
    };
    loop(elements.constant(0), vectorEnd, step,
         [&](Value row) { copy(row, step); });
    loop(vectorEnd, height, 1, [&](Value row) { copy(row, 1); });
  });
}

void CpuTiles::emitTiles() {
  for (ReduceBlocksOp op : layout.reductions) {
    BlockShape shape = group.getBlock(op.getResult());
    partialBlocks[op.getResult()] =
        makeArray("", getAccumulatorType(elementOf(op.getInput())),
                  countBlocks(shape) * lanesOf(shape));
  }
  for (const Store &store : group.getStores())
    if (!group.isFinal(store.value) &&
        group.getPlacement(store.value) == Placement::Full &&
        isTransposed(store.access))
      staged[{store.access.tensor, store.value}] = makeArray(
          "", b.getIntegerType(8 * getElementBytes(store.access.element)),
          kTileSize * getPitch(store.access.element));
  for (auto [number, op] : numberedRowReductions()) {
    Type element = elementOf(op.getInput());
    bool isWide = isByColumn(op);
    sums.push_back(isWide ? partialOf(number)
                          : makeArray("", getAccumulatorType(op), kTileSize));
    fill(sums.back(), op.getKind(), element, isWide ? columns : kTileSize);
    tileSums.push_back(makeArray("", getAccumulatorType(op), kTileSize));
  }
  // Neighbouring tiles to one task.
  Value down = div(add(rows, elements.constant(kTileSize - 1)), kTileSize);
  Value tiles = mul(down, tileColumns);
  Value chunk = arith::DivSIOp::create(
      b, loc, add(tiles, sub(frame.workers, elements.constant(1))),
      frame.workers);
  Value from = arith::MulIOp::create(b, loc, frame.worker, chunk);
  loop(from, smaller(tiles, add(from, chunk)), 1,
       [&](Value tile) { emitTile(tile); });
  for (auto [number, op] : numberedRowReductions()) {
    if (isByColumn(op))
      continue;
    Value all = elements.loadRaw(sums[number], elements.constant(0),
                                 getAccumulatorType(op), kTileSize);
    elements.storeRaw(elements.combineAll(op.getKind(), all), partialOf(number),
                      elements.constant(0));
  }
}

/// Whether pass `level` has anything to do with elements.
bool CpuTiles::hasWork(unsigned level) {
  return !reductionsAt(level).empty() ||
         !storesAt(level, Placement::Full).empty() ||
         !storesAt(level, Placement::PerRow).empty() ||
         llvm::any_of(group.getRowReductions(), [&](ReduceRowsOp op) {
           return reducesRowsAt(level, op);
         });
}

void CpuTiles::emitTile(Value tile) {
  enterTile(tile);
  Value height = smaller(elements.constant(kTileSize), sub(rows, firstRow));
  Value width = smaller(elements.constant(kTileSize),
                        sub(elements.constant(columns), firstColumn));
  for (auto [number, op] : numberedRowReductions())
    fill(tileSums[number], op.getKind(), elementOf(op.getInput()), kTileSize);
  for (unsigned level = 0; level < group.getNumLevels(); ++level) {
    computeBlocks(level);
    if (hasWork(level))
      emitPass(level, height, width);
  }
  takeInTile(tile, width);
}

/// Takes the sums of a tile into those of all tiles.
void CpuTiles::takeInTile(Value tile, Value tileWidth) {
  for (size_t number = 0; number < sums.size(); ++number) {
    ReduceRowsOp op = group.getRowReductions()[number];
    auto ofTile = [&](Value column, int64_t width) {
      return elements.loadRaw(tileSums[number], column, getAccumulatorType(op),
                              width);
    };
    auto takeIn = [&](Value index, Value value, int64_t width) {
      Value soFar =
          elements.loadRaw(sums[number], index, getAccumulatorType(op), width);
      elements.storeRaw(elements.combine(op.getKind(), soFar, value),
                        sums[number], index);
    };
    if (!isByColumn(op)) {
      takeIn(rem(tile, kTileSize),
             elements.combineAll(op.getKind(),
                                 ofTile(elements.constant(0), kTileSize)),
             /*width=*/1);
      continue;
    }
    auto visit = [&](Value column, int64_t width) {
      takeIn(add(firstColumn, column), ofTile(column, width), width);
    };
    Value vectorEnd = mul(div(tileWidth, schedule.vector), schedule.vector);
    loop(elements.constant(0), vectorEnd, schedule.vector,
         [&](Value column) { visit(column, schedule.vector); });
    if (columns % schedule.vector != 0)
      loop(vectorEnd, tileWidth, 1, [&](Value column) { visit(column, 1); });
  }
}

void CpuTiles::emitPass(unsigned level, Value tileHeight, Value tileWidth) {
  for (ReduceBlocksOp op : reductionsAt(level))
    fill(partialBlocks.lookup(op.getResult()), ReductionKind::Max,
         elementOf(op.getInput()),
         countBlocks(group.getBlock(op.getResult())) *
             lanesOf(group.getBlock(op.getResult())));
  Value lastColumn = add(firstColumn, tileWidth);
  Value vectorEnd =
      add(firstColumn, mul(div(tileWidth, schedule.vector), schedule.vector));
  loop(firstRow, add(firstRow, tileHeight), 1, [&](Value row) {
    Element first;
    first.row = row;
    elements.rowValues = computeRowValues(first);
    auto visit = [&](Value column, int64_t width) {
      Element element;
      element.row = row;
      element.column = column;
      element.width = width;
      visitElement(level, element);
    };
    loop(firstColumn, vectorEnd, schedule.vector,
         [&](Value column) { visit(column, schedule.vector); });
    if (columns % schedule.vector != 0)
      loop(vectorEnd, lastColumn, 1, [&](Value column) { visit(column, 1); });
    // One value a row: of the first tile only.
    when(tileColumns == 1 ? Value() : isZero(tileColumn), [&] {
      Element element;
      element.row = row;
      element.column = elements.constant(0);
      for (const Store &store : storesAt(level, Placement::PerRow))
        elements.store(elements.compute(store.value, element), store.access,
                       element);
      for (auto [number, op] : numberedRowReductions())
        if (reducesRowsAt(level, op) && !isByColumn(op) && !group.isWhole(op))
          accumulate(tileSums[number], elements.constant(0), op.getKind(),
                     elementOf(op.getInput()),
                     elements.compute(op.getInput(), element));
    });
    elements.rowValues.clear();
  });
  for (const Store &store : storesAt(level, Placement::Full))
    if (getStaged(store))
      copyStaged(store, tileHeight, tileWidth);
}

/// Takes `value` in at `index`, lane by lane.
void CpuTiles::accumulate(Value pointer, Value index, ReductionKind kind,
                          Type element, Value value) {
  value = elements.addend(kind, element, value, Value());
  auto vector = dyn_cast<VectorType>(value.getType());
  Value soFar = elements.loadRaw(pointer, index, getAccumulatorType(element),
                                 vector ? vector.getNumElements() : 1);
  elements.storeRaw(elements.combine(kind, soFar, value), pointer, index);
}

void CpuTiles::visitElement(unsigned level, Element &element) {
  for (ReduceBlocksOp op : reductionsAt(level)) {
    BlockShape shape = group.getBlock(op.getResult());
    accumulate(partialBlocks.lookup(op.getResult()),
               mul(blockOf(shape, element), lanesOf(shape)), ReductionKind::Max,
               elementOf(op.getInput()),
               elements.compute(op.getInput(), element));
  }
  for (const Store &store : storesAt(level, Placement::Full)) {
    if (getStaged(store))
      stage(store, element);
    else
      elements.store(elements.compute(store.value, element), store.access,
                     element);
  }
  for (auto [number, op] : numberedRowReductions()) {
    Value input = group.getReduced(op);
    if (!reducesRowsAt(level, op) ||
        group.getPlacement(input) != Placement::Full)
      continue;
    accumulate(tileSums[number], sub(element.column, firstColumn), op.getKind(),
               elementOf(input), elements.compute(input, element));
  }
}

func::FuncOp mlir::fuseops::emitCpuTiles(const KernelGroup &group,
                                         const Schedule &schedule,
                                         bool roundIntermediates,
                                         StringRef name, OpBuilder &builder) {
  return CpuTiles(group, schedule, KernelDevice::CPU, roundIntermediates,
                  builder)
      .emit(name);
}
