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
  if (schedule.tiles > 1)
    rows = divideExactly(rows, schedule.tiles);
  if (group.getSpace().rows.isConstant())
    rows = elements.constant(group.getSpace().rows.constant);
  elements.rows = rows;
  for (Value value : layout.kept)
    keptBlocks[value] = makeArray("_blocks" + Twine(keptBlocks.size()),
                                  getComputeType(elementOf(value)),
                                  countBlocks(group.getBlock(value)));
  storeFills();
  emitTiles();
  func::ReturnOp::create(b, loc);
  return frame.kernel;
}

/// a / c, of a multiple: two instructions, where LLVM forgets that it is one.
Value TileKernel::divideExactly(Value a, int64_t c) {
  APInt divisor(64, c);
  unsigned twos = divisor.countr_zero();
  APInt inverse = divisor.lshr(twos).multiplicativeInverse();
  return mul(arith::ShRUIOp::create(b, loc, a, elements.constant(twos)),
             inverse.getSExtValue());
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
  // No matrix has 2^32 tiles: half the instructions do.
  auto divide = [&](auto kind) -> Value {
    Type i32 = b.getI32Type();
    Value number = arith::TruncIOp::create(b, loc, i32, tile);
    Value count = arith::ConstantOp::create(
        b, loc, b.getI32IntegerAttr(static_cast<int32_t>(tileColumns)));
    number = decltype(kind)::create(b, loc, number, count);
    return arith::ExtUIOp::create(b, loc, tile.getType(), number);
  };
  tileRow = divide(arith::DivUIOp());
  tileColumn = divide(arith::RemUIOp());
  firstRow = mul(tileRow, kTileSize);
  firstColumn = mul(tileColumn, kTileSize);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Value TileKernel::blockOf(BlockShape shape, const Element &element) {
  // Rows and columns that the matrix does not have are read as its last ones
  // are, so that their blocks are the same, where each has one of its own.
  auto find = [&](int64_t size, Value number, Value first, Value own) {
    return own && size == 1 ? own : div(sub(number, first), size);
  };
  const auto &[ownRow, ownColumn] = element.inTile;
  Value row = find(shape.rows, element.row, firstRow, ownRow);
  Value column = find(shape.columns, element.column, firstColumn, ownColumn);
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
    // Blocks of the last tile may lie past the matrix: they have the last ones'
    // values, and are stored nowhere.
    Element element;
    element.row = add(mul(tileRow, down), row);
    element.column = add(mul(tileColumn, across), column);
    Element place = element;
    place.parts = {{mul(tileRow, down), mul(tileColumn, across)},
                   {row, column}};
    if (down > 1) {
      place.isValid = less(add(firstRow, mul(row, shape.rows)), rows);
      Value last = div(sub(rows, elements.constant(1)), shape.rows);
      element.row = smaller(element.row, last);
    }
    if (across > 1) {
      place.isValid =
          both(place.isValid, less(add(firstColumn, mul(column, shape.columns)),
                                   elements.constant(columns)));
      int64_t last = (columns - 1) / shape.columns;
      element.column = smaller(element.column, elements.constant(last));
    }
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
                       place);
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

DenseMap<Value, Value> TileKernel::computeRowValues(const Element &place) {
  elements.rowValues.clear();
  Element element;
  element.row = place.row;
  for (const Place &part : place.parts)
    element.parts.push_back({part.row, Value()});
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
