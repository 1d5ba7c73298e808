//===- GemmKernel.cpp - Matrix products with their neighbours for Hopper --===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmKernel.h"

#include "FuseOps/Conversion/KernelToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fuseops;

/// Bytes of eight rows in a stage, and of 64: how far the parts of an operand
/// that is not K-major are apart.
static constexpr int64_t kPartBytes = 64 * kStageRowBytes;

static StringRef getMmaType(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return "e4m3";
  if (isa<Float8E5M2Type>(type))
    return "e5m2";
  return type.isF16() ? "f16" : "bf16";
}

//===----------------------------------------------------------------------===//
// What all threads know
//===----------------------------------------------------------------------===//

Value GemmKernel::fullBarrier(Value stage) {
  return hopper.add(hopper.add(memory, layout.barriers),
                    hopper.shiftLeft(stage, 3));
}

Value GemmKernel::emptyBarrier(Value stage) {
  return hopper.add(fullBarrier(stage), 8 * layout.stages);
}

/// Behind those of the stages: two of each warpgroup, one after the other.
Value GemmKernel::messageBarrier(Value number) {
  return hopper.add(fullBarrier(number), 16 * layout.stages);
}

/// Initialises the barriers and finds out who this thread is.
void GemmKernel::openBarriers() {
  std::string symbol = (frame.kernel.getSymName() + "_stages").str();
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPoint(frame.kernel);
    LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                           /*isConstant=*/false, LLVM::Linkage::External,
                           symbol, Attribute(), /*alignment=*/1024,
                           /*addrSpace=*/3);
  }
  Type i32 = b.getI32Type();
  Value pointer = LLVM::AddressOfOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), 3), symbol);
  memory = LLVM::PtrToIntOp::create(b, loc, i32, pointer);
  memory = hopper.bitAnd(hopper.add(memory, 1023), -1024);
  thread = NVVM::ThreadIdXOp::create(b, loc, i32);
  worker = NVVM::BlockIdXOp::create(b, loc, i32);
  workers = NVVM::GridDimXOp::create(b, loc, i32);
  warpgroup = hopper.uniform(hopper.shiftRight(thread, 7));
  warp = hopper.uniform(hopper.bitAnd(hopper.shiftRight(thread, 5), 3));
  lane = hopper.bitAnd(thread, 31);
  hopper.when(hopper.isEqual(thread, 0), [&] {
    int64_t readers = 4 * (layout.pingPong ? 1 : layout.warpgroups);
    for (int64_t stage = 0; stage < layout.stages; ++stage) {
      hopper.initBarrier(fullBarrier(hopper.constant(stage)), 1);
      hopper.initBarrier(emptyBarrier(hopper.constant(stage)), readers);
    }
    if (layout.cluster > 1)
      for (int64_t i = 0; i < 2 * layout.warpgroups; ++i)
        hopper.initBarrier(messageBarrier(hopper.constant(i)), 1);
    hopper.fenceBarriers();
    for (Value map : frame.maps)
      hopper.prefetchMap(map);
  });
  if (product.isGrouped())
    openGroups();
  // A neighbour writes to our barriers.
  if (layout.cluster > 1)
    hopper.syncCluster();
  else
    NVVM::Barrier0Op::create(b, loc);
}

/// The rows of the result; what isn't known now comes with the launch.
void GemmKernel::countRows() {
  Extent rows = group.getSpace().rows;
  elements.rows =
      rows.isConstant()
          ? elements.constant(rows.constant)
          : arith::DivUIOp::create(b, loc, frame.rows,
                                   elements.constant(layout.columnTiles));
  numRows = arith::TruncIOp::create(b, loc, b.getI32Type(), elements.rows);
  wideGroupedRows = elements.rows;
  if (product.contractsGroups)
    wideGroupedRows = product.k.isConstant()
                          ? elements.constant(product.k.constant)
                          : frame.count;
  groupedRows =
      arith::TruncIOp::create(b, loc, b.getI32Type(), wideGroupedRows);
}

/// Counts tiles and stages.
void GemmKernel::countTiles() {
  auto toI32 = [&](Value value) -> Value {
    return arith::TruncIOp::create(b, loc, b.getI32Type(), value);
  };
  // A cluster walks over tiles of its own, as one.
  if (!product.isGrouped()) {
    rowTiles = hopper.divide(hopper.add(numRows, layout.tileRows - 1),
                             hopper.constant(layout.tileRows));
    numTiles = hopper.mul(rowTiles, layout.columnTiles / layout.cluster);
  } else if (product.contractsGroups) {
    numTiles = hopper.constant(product.numGroups * countMatrixTiles());
  }
  firstTile = hopper.divide(worker, hopper.constant(layout.cluster));
  tileStep = hopper.divide(workers, hopper.constant(layout.cluster));
  rank = hopper.remainder(worker, hopper.constant(layout.cluster));
  int64_t depth = layout.getDepth();
  if (product.k.isConstant()) {
    numBlocks = hopper.constant(llvm::divideCeil(product.k.constant, depth));
  } else {
    Value rounded = arith::AddIOp::create(b, loc, frame.count,
                                          elements.constant(depth - 1));
    numBlocks = toI32(
        arith::DivUIOp::create(b, loc, rounded, elements.constant(depth)));
  }
  lastBlock = hopper.add(numBlocks, -1);
  if (!product.isPromoted())
    return;
  // The ring goes round whole times: its places are known in the code.
  Value rounds = hopper.divide(hopper.add(numBlocks, layout.stages - 1),
                               hopper.constant(layout.stages));
  numBlocks = hopper.mul(rounds, layout.stages);
}

/// Tiles of some rows are visited together, those of one column one after the
/// other: what is read of both operands at a time then stays in the L2 cache.
void GemmKernel::locateTile(Value tile, GemmTile &result) {
  Value tiles = rowTiles, start;
  result.end = numRows;
  result.blocks = numBlocks;
  if (product.isGrouped()) {
    result.blocks = countBlocks(tile);
    tile = enterGroup(tile, result);
    start = result.row;
    tiles = hopper.divide(
        hopper.add(hopper.sub(result.end, start), layout.tileRows - 1),
        hopper.constant(layout.tileRows));
  }
  // Those that are visited together.
  Value perRun =
      hopper.constant(schedule.raster * layout.columnTiles / layout.cluster);
  Value number = hopper.divide(tile, perRun);
  Value first = hopper.mul(number, schedule.raster);
  Value rows = hopper.minimum(hopper.sub(tiles, first),
                              hopper.constant(schedule.raster));
  Value inRun = hopper.sub(tile, hopper.mul(number, perRun));
  result.row = hopper.mul(hopper.add(first, hopper.remainder(inRun, rows)),
                          layout.tileRows);
  if (start)
    result.row = hopper.add(result.row, start);
  Value column = hopper.mul(hopper.divide(inRun, rows), layout.cluster);
  result.column = hopper.mul(hopper.add(column, rank), layout.getPartColumns());
}

SmallVector<Value>
GemmKernel::forTiles(Value first, Value step, ValueRange state,
                     function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  if (numTiles)
    return hopper.loop(first, numTiles, step, state, body);
  return hopper.loopBelow(
      first, [&] { return countTilesBefore(product.numGroups + 1); }, step,
      state, body);
}

/// The stage after `stage`, and the parity of its phase.
std::pair<Value, Value> GemmKernel::nextStage(Value stage, Value parity) {
  Value next = hopper.add(stage, 1);
  Value wraps = hopper.isEqual(next, layout.stages);
  return {hopper.select(wraps, hopper.constant(0), next),
          hopper.select(wraps, hopper.bitXor(parity, 1), parity)};
}

//===----------------------------------------------------------------------===//
// The thread that fetches
//===----------------------------------------------------------------------===//

void GemmKernel::loadOperand(const Product::Operand &operand, Value map,
                             Value target, Value first, int64_t count,
                             Value depth, Value barrier) {
  if (operand.isKMajor) {
    hopper.load(target, map, depth, first, barrier);
    return;
  }
  // A box has 128 bytes of a row.
  for (int64_t part = 0; part < count / 64; ++part)
    hopper.load(hopper.add(target, part * kPartBytes), map,
                hopper.add(first, 64 * part), depth, barrier);
}

void GemmKernel::loadStage(const GemmTile &tile, Value block, Value stage,
                           Value barrier) {
  hopper.expect(barrier, layout.getStageBytes());
  Value depth = hopper.mul(block, layout.getDepth());
  Value row = tile.row;
  if (product.contractsGroups) {
    depth = hopper.add(depth, tile.depth);
    // The rows of the result are columns of the first operand.
    row = hopper.sub(row, hopper.mul(tile.group, product.m.constant));
  }
  loadOperand(product.a, frame.maps[0],
              hopper.add(memory, hopper.mul(stage, layout.aBytes)), row,
              layout.tileRows, depth, barrier);
  Value bs = hopper.add(hopper.add(memory, layout.bStages),
                        hopper.mul(stage, layout.bBytes));
  int64_t columns = layout.getPartColumns();
  Value first = tile.column;
  if (product.isGrouped() && !product.contractsGroups) {
    // The matrices lie one below the other.
    Value &along = product.b.isKMajor ? first : depth;
    along = hopper.add(along, hopper.mul(tile.group, product.b.isKMajor
                                                         ? product.n
                                                         : product.k.constant));
  }
  for (int64_t part = 0; part < layout.parts; ++part)
    loadOperand(product.b, frame.maps[1],
                hopper.add(bs, part * columns * kStageRowBytes),
                hopper.add(first, part * layout.columns), columns, depth,
                barrier);
}

void GemmKernel::emitLoads() {
  Value zero = hopper.constant(0), one = hopper.constant(1);
  // All stages are empty: the phase before the first counts as over.
  // What lies behind the last element comes as zeros.
  forTiles(
      firstTile, tileStep, {zero, one}, [&](Value number, ValueRange state) {
        GemmTile tile;
        locateTile(number, tile);
        return hopper.loop(zero, tile.blocks, one, state,
                           [&](Value block, ValueRange ring) {
                             Value stage = ring[0], parity = ring[1];
                             hopper.wait(emptyBarrier(stage), parity);
                             loadStage(tile, block, stage, fullBarrier(stage));
                             auto [next, nextParity] = nextStage(stage, parity);
                             return SmallVector<Value>{next, nextParity};
                           });
      });
}

//===----------------------------------------------------------------------===//
// The warpgroups that multiply
//===----------------------------------------------------------------------===//

/// Tells that this warp has read `stage`.
void GemmKernel::release(Value stage) {
  hopper.when(hopper.isEqual(lane, 0),
              [&] { hopper.arrive(emptyBarrier(stage)); });
}

SmallVector<Value> GemmTile::flatten() const {
  SmallVector<Value> all;
  for (const SmallVector<Value> &part : sums)
    llvm::append_range(all, part);
  return all;
}

void GemmTile::assign(ArrayRef<Value> all) {
  for (SmallVector<Value> &part : sums) {
    llvm::copy(all.take_front(part.size()), part.begin());
    all = all.drop_front(part.size());
  }
}

std::pair<Value, Value> GemmKernel::describeStage(Value stage) {
  // In units of 16 bytes: the address, and above it the distance of parts.
  auto describe = [&](const Product::Operand &operand, Value address) {
    int64_t distance = operand.isKMajor ? 1 : kPartBytes / 16;
    return hopper.add(hopper.shiftRight(address, 4), distance << 16);
  };
  // Above the address a block of a cluster has its number, which the
  // description has no place for.
  Value start = hopper.bitAnd(memory, (1 << 18) - 1);
  int64_t ownRows = layout.pingPong ? 0 : layout.getOwnRows();
  Value a = hopper.add(start, hopper.mul(stage, layout.aBytes));
  a = hopper.add(a, hopper.mul(own, ownRows * kStageRowBytes));
  Value bs = hopper.add(hopper.add(start, layout.bStages),
                        hopper.mul(stage, layout.bBytes));
  return {describe(product.a, a), describe(product.b, bs)};
}

/// Starts to add a stage's product to the sums of rows from 64 times `block` on
/// or, where `adds` does not hold, to make them that.
void GemmKernel::issue(MutableArrayRef<Value> sums, int64_t block, Value a,
                       Value bs, bool adds) {
  MmaTypes types = {getMmaType(product.a.getElementType()),
                    getMmaType(product.b.getElementType()), !product.a.isKMajor,
                    !product.b.isKMajor};
  // How far one instruction's part of a row, or its rows, reach.
  auto step = [&](const Product::Operand &operand) {
    return operand.isKMajor ? 32 / 16
                            : layout.getMmaDepth() * kStageRowBytes / 16;
  };
  for (int64_t part = 0; part < layout.getDepth() / layout.getMmaDepth();
       ++part)
    hopper.mma(sums, types, layout.tileColumns, layout.getMmaDepth(),
               hopper.describe(hopper.add(a, part * step(product.a) +
                                                 block * kPartBytes / 16)),
               hopper.describe(hopper.add(bs, part * step(product.b))),
               adds || part);
}

/// Multiplies all of K for a tile, whose first stage is the `counted`th that
/// came. The tensor cores are one stage ahead of what is released.
void GemmKernel::multiply(GemmTile &tile, Value counted) {
  if (product.isPromoted())
    return multiplyPromoted(tile, counted);
  Value zero = hopper.constant(0), one = hopper.constant(1);
  Value stages = hopper.constant(layout.stages);
  Value turns = hopper.divide(counted, stages);
  SmallVector<Value> state = {hopper.remainder(counted, stages),
                              hopper.bitAnd(turns, 1), zero};
  llvm::append_range(state, tile.flatten());
  state = hopper.loop(
      zero, tile.blocks, one, state, [&](Value block, ValueRange carried) {
        Value stage = carried[0], parity = carried[1], previous = carried[2];
        tile.assign(SmallVector<Value>(carried.drop_front(3)));
        hopper.wait(fullBarrier(stage), parity);
        if (product.contractsGroups)
          clearRows(tile, block, stage);
        auto [a, bs] = describeStage(stage);
        SmallVector<Value> all = tile.flatten();
        hopper.fenceMma(all);
        tile.assign(all);
        for (int64_t i = 0; i < static_cast<int64_t>(tile.sums.size()); ++i)
          issue(tile.sums[i], i, a, bs, /*adds=*/true);
        hopper.commitMma();
        all = tile.flatten();
        hopper.waitMma(all, 1);
        tile.assign(all);
        hopper.when(hopper.isNotEqual(block, 0), [&] { release(previous); });
        auto [next, nextParity] = nextStage(stage, parity);
        SmallVector<Value> result = {next, nextParity, stage};
        llvm::append_range(result, tile.flatten());
        return result;
      });
  Value last = state[2];
  if (layout.pingPong)
    hopper.arriveNamed(hopper.sub(hopper.constant(2), own), 256);
  openChunks(tile);
  SmallVector<Value> all(ArrayRef<Value>(state).drop_front(3));
  hopper.waitMma(all, 0);
  tile.assign(all);
  if (product.k.isConstant() && product.k.constant && !product.isGrouped())
    release(last);
  else
    hopper.when(hopper.isNotEqual(tile.blocks, 0), [&] { release(last); });
}

void GemmKernel::emitProducts() {
  own = hopper.add(warpgroup, -1);
  Value first = firstTile, step = tileStep, counted = hopper.constant(0);
  if (layout.pingPong) {
    first = hopper.add(first, hopper.mul(own, step));
    step = hopper.mul(step, layout.warpgroups);
    counted = hopper.mul(own, countBlocks(firstTile));
    // The first warpgroup begins.
    hopper.when(hopper.isEqual(own, 1),
                [&] { hopper.arriveNamed(hopper.constant(1), 256); });
  }
  loadAlpha();
  Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
  SmallVector<Value> carried = {counted, hopper.constant(0)};
  llvm::append_range(carried, initWhole());
  carried = forTiles(first, step, carried, [&](Value index, ValueRange state) {
    GemmTile tile;
    locateTile(index, tile);
    // What is read of shared memory would take registers of each thread.
    if (product.isGrouped())
      for (Value *value :
           {&tile.row, &tile.column, &tile.end, &tile.blocks, &tile.size})
        if (*value)
          *value = hopper.uniform(*value);
    if (!layout.pingPong)
      tile.row = hopper.add(tile.row, hopper.mul(own, layout.getOwnRows()));
    tile.sums.assign(layout.getOwnRows() / kMmaRows,
                     SmallVector<Value>(layout.tileColumns / 2, zero));
    prefetchReads(tile);
    if (layout.pingPong)
      hopper.syncNamed(hopper.add(own, 1), 256);
    multiply(tile, state[0]);
    SmallVector<Value> next(state);
    next[0] = hopper.add(state[0], tile.blocks);
    // Between them are those of the other warpgroup.
    if (layout.pingPong)
      next[0] = hopper.add(next[0], countBlocks(hopper.add(index, tileStep)));
    turn = state[1];
    next[1] = hopper.add(turn, 1);
    emitEpilogue(tile, MutableArrayRef<Value>(next).drop_front(2));
    return next;
  });
  storeWhole(ArrayRef<Value>(carried).drop_front(2));
  // Shared memory has to stay until all of it is read.
  hopper.when(hopper.isEqual(lane, 0), [&] { hopper.waitStores(); });
}

func::FuncOp GemmKernel::emit(StringRef name) {
  OpBuilder::InsertionGuard restore(b);
  frame = KernelFrame::open(elements, group, schedule, /*isCuda=*/true, name,
                            layout.numMaps);
  if (layout.cluster > 1)
    frame.kernel->setAttr(
        kClusterAttr,
        b.getDenseI32ArrayAttr({static_cast<int32_t>(layout.cluster), 1, 1}));
  countRows();
  openBarriers();
  countTiles();
  auto roles = scf::IfOp::create(b, loc, hopper.isEqual(warpgroup, 0),
                                 /*withElseRegion=*/true);
  // Registers of a thread; all warpgroups together have 504 of each number.
  bool isWide = layout.warpgroups > 2;
  b.setInsertionPointToStart(roles.thenBlock());
  hopper.decreaseRegisters(isWide ? 32 : 40);
  hopper.when(hopper.isEqual(thread, 0), [&] { emitLoads(); });
  b.setInsertionPointToStart(roles.elseBlock());
  hopper.increaseRegisters(isWide ? 160 : 232);
  emitProducts();
  b.setInsertionPointAfter(roles);
  func::ReturnOp::create(b, loc);
  return frame.kernel;
}

func::FuncOp mlir::fuseops::emitGemmKernel(const KernelGroup &group,
                                           const Schedule &schedule,
                                           KernelDevice device,
                                           bool roundIntermediates,
                                           StringRef name, OpBuilder &builder) {
  assert(device == KernelDevice::CUDA && "the template is of a CUDA chip");
  return GemmKernel(group, schedule, roundIntermediates, builder).emit(name);
}
