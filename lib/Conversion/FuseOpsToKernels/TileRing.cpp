//===- TileRing.cpp - Inputs of tile kernels that are fetched ahead ------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each thread copies what it alone will read, by `cp.async`, into places of its
// own in the slots of a ring. So no thread waits for another: there are no
// barriers in memory that could be missed, and no fences between proxies.
//
//   open:      for i < stages: fetch(tile i of the block, slot i); commit
//   tile k:    wait until all but the last stages - 1 groups are complete
//              read slot k % stages (as often as there are passes)
//              fetch(tile k + stages of the block, slot k % stages); commit
//
// Before the wait of tile k, stages + k groups have been committed, of which
// group k has tile k: all but the last stages - 1 are groups 0 to k, so it has
// arrived, and `cp.async.wait_group` makes it visible to the thread that waits.
// Every tile commits exactly one group, an empty one where nothing is left to
// fetch, so the count holds to the end and each wait ends as soon as copies
// that were started do. A slot is filled again after the thread's last read of
// it, in program order: what was read has been used by then.
//
// With `tickets` the block's first `stages` tiles are dealt out as above and
// the later ones are drawn: `stages` times the number of blocks plus what a
// counter in memory gives, which is zero when the kernel starts. The first
// thread draws a tile ahead, so that nobody waits for memory, and leaves the
// number in shared memory:
//
//   tile k:    thread 0: ticket = drawn; drawn = draw()
//              a barrier that tile k has anyway, or one of its own
//              every thread: tile k + stages = stages * blocks + ticket; fetch
//              it the barrier at the end of tile k, before ticket is written
//              again
//
// The numbers that one block gets rise: so when it meets one past the last
// tile, all that it holds are, and it leaves none out. Every number is dealt or
// drawn once. What a tile leaves does not depend on the block that visits it,
// and what all tiles leave is added in the order of tiles.
//
//===----------------------------------------------------------------------===//

#include "CudaTiles.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::fuseops;

/// Bytes that `cp.async` copies: 4, 8 or 16.
static bool isCopied(int64_t bytes) {
  return llvm::is_contained({4, 8, 16}, bytes);
}

TileRing::TileRing(const KernelGroup &group, const Schedule &schedule)
    : stages(schedule.stages) {
  if (!stages)
    return;
  for (Value value : group.getReadValues()) {
    if (group.getPlacement(value) != Placement::Full ||
        group.isPartlyBroadcast(value))
      continue;
    std::optional<Access> access = group.getAccess(value);
    if (!access || !access->isContiguous())
      continue;
    int64_t bytes = getElementBytes(access->element);
    if (!isCopied(schedule.vector * bytes))
      continue;
    inputs.push_back({value, *access, slotBytes});
    slotBytes += kTileSize * kTileSize * bytes;
  }
}

int64_t mlir::fuseops::getSharedLimit(unsigned smVersion) {
  switch (smVersion) {
  case 80:
  case 87:
    return 163 * 1024;
  case 86:
  case 89:
  case 120:
  case 121:
    return 99 * 1024;
  default:
    return smVersion < 90 ? kSharedBytes : kMostSharedBytes;
  }
}

LogicalResult mlir::fuseops::verifyStages(const KernelGroup &group,
                                          const KernelTarget &target,
                                          const Schedule &schedule) {
  GroupOp op = group.getGroup();
  if (!schedule.stages || !target.isCUDA())
    return success();
  if (target.smVersion < 80)
    return op.emitOpError() << "expected schedule `stages` on sm_80 or later, "
                               "which copies asynchronously, but got sm_"
                            << target.smVersion;
  // What rows need is known when all of their schedule is (`verifyCudaRows`).
  if (!group.isTile())
    return success();
  // Other threads are refused on their own.
  if (!llvm::is_contained({128, 256, 512}, schedule.threads))
    return success();
  TileRing ring(group, schedule);
  if (ring.inputs.empty())
    return op.emitOpError()
           << "expected schedule `stages` where an input is read in row-major "
              "vectors of 4, 8 or 16 bytes, but there is none with `vector` "
           << schedule.vector;
  TileLayout layout(group, schedule.threads);
  int64_t shared = layout.getSharedBytes(ring.getBytes()) + ring.getBytes();
  if (schedule.tickets)
    shared += 16;
  // Beside what a block has, each takes up 1 KB.
  int64_t blocks = std::max<int64_t>(1, schedule.residents);
  shared = blocks * (shared + 1024) - 1024;
  int64_t limit = getSharedLimit(target.smVersion);
  if (shared > limit)
    return op.emitOpError()
           << "expected schedule `stages` whose slots, " << ring.slotBytes
           << " bytes each, fit, for all `residents`, into the " << limit
           << " bytes of shared memory of sm_" << target.smVersion
           << ", but got " << shared;
  return success();
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// Starts to fetch the block's first tiles. Returns what goes from tile to
/// tile: the slot that is read next and, where tiles are drawn, the tiles of
/// the slots in the order of their reading, and the first thread's draw.
SmallVector<Value> CudaTiles::openRing() {
  // Memory whose size the launch tells.
  std::string symbol = (frame.kernel.getSymName() + "_ring").str();
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPoint(frame.kernel);
    LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                           /*isConstant=*/false, LLVM::Linkage::External,
                           symbol, Attribute(), /*alignment=*/16,
                           /*addrSpace=*/3);
  }
  ringMemory = LLVM::AddressOfOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), 3), symbol);
  SmallVector<Value> state = {elements.constant(0)};
  for (int64_t stage = 0; stage < ring.stages; ++stage) {
    Value tile = add(frame.worker, mul(frame.workers, stage));
    fetch(tile, elements.constant(stage * ring.slotBytes));
    if (schedule.tickets)
      state.push_back(narrow(tile));
  }
  if (schedule.tickets) {
    ticket = makeArray("_ticket", b.getI32Type(), 1);
    state.push_back(draw());
  }
  return state;
}

/// Waits until the slot has the inputs of `tile`.
void CudaTiles::enterSlot(Value tile, ArrayRef<Value> state) {
  currentTile = tile;
  currentSlot = state.front();
  isSlotRead = true;
  NVVM::CpAsyncWaitGroupOp::create(b, loc,
                                   static_cast<int32_t>(ring.stages - 1));
  if (!schedule.tickets)
    return;
  when(isZero(thread),
       [&] { elements.storeRaw(state.back(), ticket, elements.constant(0)); });
  drawn = draw();
}

/// Fetches the next tile of this slot, unless that was done: at the first place
/// where nothing reads it any more. Of a tile that is drawn, a barrier has made
/// the number known.
void CudaTiles::refillSlot() {
  if (!isSlotRead)
    return;
  isSlotRead = false;
  Value previous = schedule.tickets
                       ? widen(elements.loadRaw(ticket, elements.constant(0),
                                                b.getI32Type(), 1))
                       : currentTile;
  nextOfSlot = add(previous, mul(frame.workers, ring.stages));
  fetch(nextOfSlot, currentSlot);
  enterOwnPart(currentTile);
}

/// The state with which the next tile is entered.
void CudaTiles::leaveSlot(MutableArrayRef<Value> state) {
  if (ring.stages > 1) {
    Value next = add(currentSlot, elements.constant(ring.slotBytes));
    Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next,
                                         elements.constant(ring.getBytes()));
    state.front() =
        arith::SelectOp::create(b, loc, isLast, elements.constant(0), next);
  }
  if (!schedule.tickets)
    return;
  MutableArrayRef<Value> tiles = state.drop_front().drop_back();
  std::rotate(tiles.begin(), tiles.begin() + 1, tiles.end());
  tiles.back() = narrow(nextOfSlot);
  state.back() = drawn;
}

/// Draws a number, on the first thread: of 32 bits, of which there are more
/// than tiles.
Value CudaTiles::draw() {
  auto choice = scf::IfOp::create(b, loc, TypeRange{b.getI64Type()},
                                  isZero(thread), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(choice.thenBlock());
  Value counter = LLVM::AddrSpaceCastOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), 1), frame.tickets);
  Value number = LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::add,
                                           counter, elements.constant(1),
                                           LLVM::AtomicOrdering::monotonic);
  // What used the number here would wait for memory.
  scf::YieldOp::create(b, loc, number);
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, loc, elements.constant(0));
  b.setInsertionPointAfter(choice);
  return narrow(choice.getResult(0));
}

/// Visits tiles until the next one is past the last.
SmallVector<Value> CudaTiles::emitDrawn(ValueRange carried, size_t numSums,
                                        Visit visit) {
  size_t first = numSums + 1;
  auto loop = scf::WhileOp::create(
      b, loc, carried.getTypes(), carried,
      [&](OpBuilder &, Location, ValueRange values) {
        scf::ConditionOp::create(b, loc, less(values[first], narrow(numTiles)),
                                 values);
      },
      [&](OpBuilder &, Location, ValueRange values) {
        SmallVector<Value> updated(values);
        visit(widen(updated[first]), updated);
        scf::YieldOp::create(b, loc, updated);
      });
  return loop.getResults();
}

/// The places of one vector of all threads are neighbours, so that a warp reads
/// them without bank conflicts.
Value CudaTiles::placeIn(Value slot, const TileRing::Input &input, int64_t row,
                         int64_t vector) {
  int64_t bytes = schedule.vector * getElementBytes(input.access.element);
  int64_t number = row * numVectors + vector;
  Value place = add(slot, mul(thread, bytes));
  return byteAt(
      ringMemory,
      add(place,
          elements.constant(input.offset + number * schedule.threads * bytes)));
}

void CudaTiles::readSlot(Element &element, int64_t row, int64_t vector) {
  for (const TileRing::Input &input : ring.inputs)
    element.values[input.value] =
        elements.loadFrom(placeIn(currentSlot, input, row, vector),
                          input.access.element, schedule.vector);
}

/// Starts the copies of the thread's part of `tile`, if there is one, as one
/// group.
void CudaTiles::fetch(Value tile, Value slot) {
  Type global = LLVM::LLVMPointerType::get(b.getContext(), 1);
  if (schedule.residents)
    forgetThread();
  when(less(tile, numTiles), [&] {
    enterOwnPart(tile);
    for (int64_t r = 0; r < numRows; ++r)
      for (int64_t v = 0; v < numVectors; ++v) {
        Element element = locate(r, v);
        for (const TileRing::Input &input : ring.inputs) {
          int32_t bytes =
              schedule.vector * getElementBytes(input.access.element);
          Value from = LLVM::AddrSpaceCastOp::create(
              b, loc, global, elements.pointerTo(input.access, element));
          // Past the first-level cache where the instruction can.
          NVVM::CpAsyncOp::create(b, loc, placeIn(slot, input, r, v), from,
                                  bytes,
                                  bytes == 16 ? NVVM::LoadCacheModifierKind::CG
                                              : NVVM::LoadCacheModifierKind::CA,
                                  /*cpSize=*/Value());
        }
      }
  });
  NVVM::CpAsyncCommitGroupOp::create(b, loc);
}
