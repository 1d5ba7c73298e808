//===- TileKernel.cpp - Tiles, and what has one element a block ----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileKernel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fuseops;

TileKernel::TileKernel(const KernelGroup &group, const Schedule &schedule,
                       KernelDevice device, bool roundIntermediates,
                       OpBuilder &builder)
    : b(builder), loc(group.getGroup().getLoc()), group(group),
      schedule(schedule),
      elements(group, device, roundIntermediates, builder, loc),
      layout(group, device == KernelDevice::CUDA ? schedule.threads : 0),
      isCuda(device == KernelDevice::CUDA), columns(group.getSpace().columns),
      tileColumns(llvm::divideCeil(columns, kTileSize)) {
  elements.readBlock = [this](ExpandBlocksOp op, const Element &element) {
    return readBlock(op, element);
  };
}

func::FuncOp TileKernel::emit(StringRef name) {
  OpBuilder::InsertionGuard restore(b);
  frame = KernelFrame::open(elements, group, schedule, isCuda, name);
  rows = frame.rows;
  // The launch counts each row once for each tile.
  if (schedule.tiles != 1)
    rows = div(rows, schedule.tiles);
  if (group.getSpace().rows.isConstant())
    rows = elements.constant(group.getSpace().rows.constant);
  elements.rows = rows;
  for (ReduceBlocksOp op : layout.reductions)
    partialBlocks[op.getResult()] = makeArray(
        "_reduced" + Twine(partialBlocks.size()),
        getAccumulatorType(elementOf(op.getInput())),
        layout.countParts(op) * countBlocks(group.getBlock(op.getResult())) *
            lanesOf(group.getBlock(op.getResult())));
  for (Value value : layout.kept)
    keptBlocks[value] = makeArray("_blocks" + Twine(keptBlocks.size()),
                                  getComputeType(elementOf(value)),
                                  countBlocks(group.getBlock(value)));
  storeFills();
  emitTiles();
  func::ReturnOp::create(b, loc);
  return frame.kernel;
}

void TileKernel::when(Value condition, function_ref<void()> body) {
  if (!condition)
    return body();
  auto guard = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(guard.thenBlock());
  body();
}

void TileKernel::enterTile(Value tile) {
  tileRow = div(tile, tileColumns);
  tileColumn = tileColumns == 1 ? elements.constant(0) : rem(tile, tileColumns);
  firstRow = mul(tileRow, kTileSize);
  firstColumn = mul(tileColumn, kTileSize);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Value TileKernel::blockOf(BlockShape shape, const Element &element) {
  Value row = div(sub(element.row, firstRow), shape.rows);
  Value column = div(sub(element.column, firstColumn), shape.columns);
  // A block that is as high or wide as the tile is the only one.
  if (shape.rows == kTileSize)
    return shape.columns == kTileSize ? elements.constant(0) : column;
  if (shape.columns == kTileSize)
    return row;
  return add(mul(row, kTileSize / shape.columns), column);
}

Value TileKernel::readBlock(ExpandBlocksOp op, const Element &element) {
  BlockShape shape = group.getBlock(op.getInput());
  Type type = getComputeType(elementOf(op.getInput()));
  int64_t width = shape.columns == 1 ? element.width : 1;
  Value value = elements.loadRaw(keptBlocks.lookup(op.getInput()),
                                 blockOf(shape, element), type, width,
                                 isCuda ? width : 1);
  return width == element.width ? value : elements.splat(value, element.width);
}

void TileKernel::computeBlocks(unsigned level) {
  SmallVector<BlockShape> shapes;
  auto need = [&](Value value) {
    BlockShape shape = group.getBlock(value);
    if (group.getLevel(value) == level && shape.isVisited() &&
        llvm::none_of(shapes, [&](BlockShape known) {
          return known.rows == shape.rows && known.columns == shape.columns;
        }))
      shapes.push_back(shape);
  };
  llvm::for_each(layout.kept, need);
  for (const Store &store : group.getStores())
    if (!group.isFinal(store.value))
      need(store.value);
  // Each shape's by threads of their own, as far as there are so many.
  for (auto [index, shape] : llvm::enumerate(shapes))
    emitBlocks(shape, level, index * kTileSize);
}

/// Computes, for each block of one shape that the matrix has in this tile, what
/// is kept or stored.
void TileKernel::emitBlocks(BlockShape shape, unsigned level,
                            int64_t firstThread) {
  int64_t across = kTileSize / shape.columns, down = kTileSize / shape.rows;
  auto isOne = [&](Value value) {
    BlockShape own = group.getBlock(value);
    return own.rows == shape.rows && own.columns == shape.columns;
  };
  auto combineParts = [&](ReduceBlocksOp op, Value number) {
    Type type = getAccumulatorType(elementOf(op.getInput()));
    Value total;
    for (int64_t part = 0; part < layout.countParts(op); ++part) {
      Value place = add(number, elements.constant(part * across * down));
      Value value =
          elements.loadRaw(partialBlocks.lookup(op.getResult()),
                           mul(place, lanesOf(shape)), type, lanesOf(shape));
      value = elements.combineAll(ReductionKind::Max, value);
      total =
          total ? elements.combine(ReductionKind::Max, total, value) : value;
    }
    return total;
  };
  auto visit = [&](Value number) {
    Value row = across == 1 ? number
                : down == 1 ? elements.constant(0)
                            : div(number, across);
    Value column = across == 1 ? elements.constant(0)
                   : down == 1 ? number
                               : rem(number, across);
    // Blocks of the last tile may lie past the matrix.
    Value exists;
    if (down > 1)
      exists = less(add(firstRow, mul(row, shape.rows)), rows);
    if (across > 1)
      exists = both(exists, less(add(firstColumn, mul(column, shape.columns)),
                                 elements.constant(columns)));
    when(exists, [&] {
      Element element;
      element.row = add(mul(tileRow, down), row);
      element.column = add(mul(tileColumn, across), column);
      for (Value value : layout.kept)
        if (isOne(value) && group.getLevel(value) < level)
          element.values[value] =
              elements.loadRaw(keptBlocks.lookup(value), number,
                               getComputeType(elementOf(value)), 1);
      for (ReduceBlocksOp op : layout.reductions)
        if (isOne(op.getResult()) && group.getLevel(op.getResult()) == level)
          element.values[op.getResult()] = combineParts(op, number);
      for (Value value : layout.kept)
        if (isOne(value) && group.getLevel(value) == level)
          elements.storeRaw(elements.compute(value, element),
                            keptBlocks.lookup(value), number);
      for (const Store &store : storesAt(level, Placement::Block))
        if (isOne(store.value))
          elements.store(elements.compute(store.value, element), store.access,
                         element);
    });
  };
  forEach(elements.constant(across * down), firstThread, visit);
}

/// Every element by the first worker: there are few, and no tile has them.
void TileKernel::storeFills() {
  for (const Store &store : group.getStores()) {
    if (group.isFinal(store.value) ||
        group.getPlacement(store.value) != Placement::Block ||
        group.getBlock(store.value).isVisited())
      continue;
    auto type = cast<RankedTensorType>(store.value.getType());
    int64_t width = getColumns(type);
    Value count = elements.constant(getNumElements(type));
    when(isZero(frame.worker), [&] {
      forEach(count, /*firstThread=*/0, [&](Value number) {
        Element element;
        element.row = div(number, width);
        element.column = rem(number, width);
        elements.store(elements.compute(store.value, element), store.access,
                       element);
      });
    });
  }
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

SmallVector<ReduceBlocksOp> TileKernel::reductionsAt(unsigned level) {
  return llvm::filter_to_vector(layout.reductions, [&](ReduceBlocksOp op) {
    return group.getLevel(op.getInput()) == level;
  });
}

SmallVector<Store> TileKernel::storesAt(unsigned level, Placement placement) {
  return llvm::filter_to_vector(group.getStores(), [&](const Store &store) {
    return !group.isFinal(store.value) &&
           group.getLevel(store.value) == level &&
           group.getPlacement(store.value) == placement;
  });
}

DenseMap<Value, Value> TileKernel::computeRowValues(Value row) {
  elements.rowValues.clear();
  Element element;
  element.row = row;
  auto isRowValue = [&](Value value) {
    Placement placement = group.getPlacement(value);
    return (placement == Placement::PerRow || placement == Placement::Scalar) &&
           !group.isPartlyBroadcast(value);
  };
  auto enter = [&](Value value) {
    if (isRowValue(value) && !elements.rowValues.contains(value) &&
        group.getAccess(value))
      elements.rowValues[value] =
          elements.load(*group.getAccess(value), element);
  };
  for (Operation *op : group.getRowOps()) {
    if (isa<ReduceRowsOp, ReduceBlocksOp, ExpandBlocksOp>(op))
      continue;
    llvm::for_each(op->getOperands(), enter);
    if (!isRowValue(op->getResult(0)))
      continue;
    if (auto pointwise = dyn_cast<PointwiseOp>(op))
      elements.computeBody(pointwise,
                           elements.computeOperands(pointwise, element),
                           element, elements.rowValues);
    else if (auto concat = cast<ConcatOp>(op); !concat.isScattered())
      elements.rowValues[concat] = elements.compute(concat, element);
  }
  for (const Store &store : group.getStores())
    if (!group.isFinal(store.value))
      enter(store.value);
  return std::move(elements.rowValues);
}

Value TileKernel::partialOf(unsigned number) {
  ReduceRowsOp op = group.getRowReductions()[number];
  Value place;
  if (schedule.tilePartials)
    place = isByColumn(op) ? mul(tileRow, columns)
                           : add(mul(tileRow, tileColumns), tileColumn);
  else
    place = isByColumn(op) ? mul(div(frame.worker, schedule.tiles), columns)
                           : frame.worker;
  Value pointer = frame.partials[number];
  return LLVM::GEPOp::create(b, loc, pointer.getType(), getAccumulatorType(op),
                             pointer, ArrayRef<LLVM::GEPArg>{place});
}

func::FuncOp mlir::fuseops::emitTileKernel(const KernelGroup &group,
                                           const Schedule &schedule,
                                           KernelDevice device,
                                           bool roundIntermediates,
                                           StringRef name, OpBuilder &builder) {
  auto emit = device == KernelDevice::CUDA ? emitCudaTiles : emitCpuTiles;
  return emit(group, schedule, roundIntermediates, name, builder);
}
