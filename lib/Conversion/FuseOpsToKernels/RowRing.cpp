//===- RowRing.cpp - Inputs of row kernels that are fetched ahead --------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The protocol is that of tiles (TileRing.cpp), with a row of the block in the
// place of a tile: each thread copies what it alone will read, so that no
// thread waits for another. A slot is filled again at the end of its row, after
// the thread's last read of it in program order; stages - 1 rows are under way
// while one is computed.
//
//===----------------------------------------------------------------------===//

#include "RowKernel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fuseops;

int64_t mlir::fuseops::getCopyBytes(int64_t bytes) {
  if (bytes % 16 == 0)
    return 16;
  return bytes == 4 || bytes == 8 ? bytes : 0;
}

RowRing::RowRing(const KernelGroup &group, const Schedule &schedule)
    : stages(schedule.stages) {
  if (!stages)
    return;
  for (Value value : group.getReadValues()) {
    std::optional<Access> access = group.getAccess(value);
    Placement placement = group.getPlacement(value);
    bool isFull = placement == Placement::Full;
    if (!access || group.isPartlyBroadcast(value) ||
        (!isFull && placement != Placement::PerRow) ||
        (isFull && !access->isContiguous()))
      continue;
    int64_t bytes =
        (isFull ? schedule.vector : 1) * getElementBytes(access->element);
    if (!getCopyBytes(bytes))
      continue;
    int64_t places =
        isFull ? schedule.getVectorsPerThread(columnsOf(value)) : 1;
    inputs.push_back({value, *access, places, bytes, slotBytes});
    slotBytes +=
        llvm::alignTo(places * schedule.threads * schedule.rows * bytes, 16);
  }
}

const RowRing::Input *RowRing::find(Value value) const {
  const Input *input = llvm::find_if(
      inputs, [&](const Input &input) { return input.value == value; });
  return input == inputs.end() ? nullptr : input;
}

LogicalResult mlir::fuseops::verifyRowStages(const KernelGroup &group,
                                             const Schedule &schedule,
                                             int64_t beside,
                                             int64_t sharedLimit) {
  GroupOp op = group.getGroup();
  if (!schedule.holdsRow)
    return op.emitOpError()
           << "expected schedule `stages` where `threads` hold "
              "a row in registers, but "
           << schedule.threads << " do not";
  RowRing ring(group, schedule);
  if (ring.inputs.empty())
    return op.emitOpError()
           << "expected schedule `stages` where an input is read in row-major "
              "vectors of 4, 8 or 16 bytes, but there is none with `vector` "
           << schedule.vector;
  int64_t shared = ring.getBytes() + beside;
  if (shared > sharedLimit)
    return op.emitOpError()
           << "expected schedule `stages` whose slots, " << ring.slotBytes
           << " bytes each, fit into the " << sharedLimit
           << " bytes of shared memory of the chip, but got " << shared;
  return success();
}

//===----------------------------------------------------------------------===//
// Reading ahead
//===----------------------------------------------------------------------===//

/// What `pass` reads of `element` from memory: of every column, and the
/// columns' own. What is joined or broadcast in part is read where it is used.
llvm::SetVector<Value> RowKernel::findReads(Pass pass, const Element &element) {
  llvm::SetVector<Value> reads;
  DenseSet<Value> visited;
  SmallVector<Value> work;
  for (ReduceColumnsOp op : reductionsIn(pass))
    work.push_back(op.getInput());
  for (const Store &store : group.getStores())
    if (!group.isFinal(store.value) && isVisitedIn(pass, store.value))
      work.push_back(store.value);
  for (const Store &store : blockStoresIn(pass))
    work.push_back(store.value);
  for (ReduceRowsOp op : group.getRowReductions())
    if (Value reduced = group.getReduced(op); isVisitedIn(pass, reduced))
      work.push_back(reduced);
  std::reverse(work.begin(), work.end());
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Placement placement = group.getPlacement(value);
    bool isOfBlocks = placement == Placement::Block;
    if ((placement != Placement::Full && placement != Placement::RowVector &&
         !isOfBlocks) ||
        element.values.contains(value) || element.stored.contains(value) ||
        !visited.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    if (group.getAccess(value) && !isOfBlocks)
      reads.insert(value);
    else if (isa_and_present<PointwiseOp, ReduceBlocksOp, ExpandBlocksOp>(op))
      for (Value operand : llvm::reverse(op->getOperands()))
        if (!group.isPartlyBroadcast(operand))
          work.push_back(operand);
  }
  return reads;
}

/// Starts to read what `pass` takes from memory of the thread's `number`th
/// vector, before any of it is computed.
void RowKernel::readAhead(Pass pass, Element &element, int64_t number) {
  for (Value value : findReads(pass, element)) {
    if (const RowRing::Input *fetched = ring.find(value))
      element.values[value] = readPlace(*fetched, number);
    else if (schedule.prefetch)
      elements.read(value, element);
  }
}

/// Reads what has one element for each column before the first row.
void RowKernel::readEveryRow() {
  for (int64_t columns : allWidths()) {
    SmallVectorImpl<DenseMap<Value, Value>> &vectors = everyRow[columns];
    for (int64_t i = 0; i < schedule.getVectorsPerThread(columns); ++i) {
      Element element = locate(elements.constant(0), i, columns);
      for (unsigned level = 0; level < group.getNumLevels(); ++level)
        for (Value value : findReads({level, columns}, element))
          if (group.getPlacement(value) == Placement::RowVector)
            elements.read(value, element);
      vectors.push_back(std::move(element.stored));
    }
  }
}

/// `stored` such that the compiler does not know it: as it is in memory it
/// takes fewer registers than what is computed of it, which is the same for
/// each row and would be kept instead.
Value RowKernel::forget(Value stored) {
  auto vector = dyn_cast<VectorType>(stored.getType());
  int64_t bits =
      vector ? vector.getNumElements() * vector.getElementTypeBitWidth() : 0;
  if (bits == 0 || bits % 32)
    return stored;
  auto type = VectorType::get({bits / 32}, b.getI32Type());
  Value words = LLVM::BitcastOp::create(b, loc, type, stored);
  SmallVector<Value> unknown;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    unknown.push_back(
        LLVM::InlineAsmOp::create(
            b, loc, b.getI32Type(),
            vector::ExtractOp::create(b, loc, words, ArrayRef<int64_t>{i})
                .getResult(),
            "mov.b32 $0, $1;", "=r,r", /*has_side_effects=*/true,
            /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
            LLVM::AsmDialectAttr(), ArrayAttr())
            .getResult(0));
  return LLVM::BitcastOp::create(
      b, loc, vector, vector::FromElementsOp::create(b, loc, type, unknown));
}

//===----------------------------------------------------------------------===//
// Ring
//===----------------------------------------------------------------------===//

/// Memory whose size the launch tells.
void RowKernel::openSharedMemory() {
  std::string symbol = (frame.kernel.getSymName() + "_ring").str();
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPoint(frame.kernel);
    LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                           /*isConstant=*/false, LLVM::Linkage::External,
                           symbol, Attribute(),
                           /*alignment=*/16, /*addrSpace=*/3);
  }
  ringMemory = LLVM::AddressOfOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), 3), symbol);
}

/// The ring with the block's first rows under way; returns the first slot.
Value RowKernel::openRing(Value from, Value step) {
  openSharedMemory();
  ownPlace = frame.threadX;
  if (schedule.rows > 1)
    ownPlace =
        add(ownPlace, mul(frame.threadY, elements.constant(schedule.threads)));
  for (int64_t stage = 0; stage < ring.stages; ++stage)
    fetchRow(add(from, mul(step, elements.constant(stage))),
             elements.constant(stage * ring.slotBytes));
  return elements.constant(0);
}

/// Waits until `entered` has the inputs of its row.
void RowKernel::enterSlot(Value entered) {
  slot = entered;
  NVVM::CpAsyncWaitGroupOp::create(b, loc,
                                   static_cast<int32_t>(ring.stages - 1));
}

/// Fetches the row that this slot has next, after that from `from` on; returns
/// the slot of the row between.
Value RowKernel::refillSlot(Value from, Value step) {
  fetchRow(add(from, mul(step, elements.constant(ring.stages))), slot);
  if (ring.stages == 1)
    return slot;
  Value next = add(slot, elements.constant(ring.slotBytes));
  Value isPast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next,
                                       elements.constant(ring.getBytes()));
  return arith::SelectOp::create(b, loc, isPast, elements.constant(0), next);
}

/// Starts the copies of the rows from `from` on, if there are any, as one
/// group: a block counts the groups, so it makes one for each row.
void RowKernel::fetchRow(Value from, Value slot) {
  auto exists = scf::IfOp::create(b, loc, less(from, frame.rows),
                                  /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(exists.thenBlock());
    Value row = from;
    if (schedule.rows > 1)
      row = arith::MinSIOp::create(
          b, loc, add(row, frame.threadY),
          arith::SubIOp::create(b, loc, frame.rows, elements.constant(1)));
    Element first;
    first.row = row;
    for (const RowRing::Input &input : ring.inputs) {
      bool isFull = group.getPlacement(input.value) == Placement::Full;
      for (int64_t i = 0; i < input.places; ++i) {
        Element element =
            isFull ? locate(row, i, columnsOf(input.value)) : first;
        copyAsync(elements.pointerTo(input.access, element),
                  placeIn(slot, input, i), input.bytes);
      }
    }
  }
  NVVM::CpAsyncCommitGroupOp::create(b, loc);
}

/// Copies the vector at `from` to shared memory.
void RowKernel::copyAsync(Value from, Value to, int64_t count) {
  int64_t bytes = getCopyBytes(count);
  auto advance = [&](Value pointer, int64_t by) -> Value {
    return LLVM::GEPOp::create(
        b, loc, pointer.getType(), b.getI8Type(), pointer,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(by)});
  };
  from = LLVM::AddrSpaceCastOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), 1), from);
  for (int64_t offset = 0; offset < count; offset += bytes)
    // Past the first-level cache where the instruction can.
    NVVM::CpAsyncOp::create(b, loc, advance(to, offset), advance(from, offset),
                            static_cast<int32_t>(bytes),
                            bytes == 16 ? NVVM::LoadCacheModifierKind::CG
                                        : NVVM::LoadCacheModifierKind::CA,
                            /*cpSize=*/Value());
}

/// The places of one vector of all threads are neighbours, so that a warp reads
/// them without bank conflicts.
Value RowKernel::placeIn(Value slot, const RowRing::Input &input,
                         int64_t number) {
  int64_t threads = schedule.threads * schedule.rows;
  Value place = add(slot, mul(ownPlace, elements.constant(input.bytes)));
  place = add(place,
              elements.constant(input.offset + number * threads * input.bytes));
  return LLVM::GEPOp::create(b, loc, ringMemory.getType(), b.getI8Type(),
                             ringMemory, ArrayRef<LLVM::GEPArg>{place});
}

Value RowKernel::readPlace(const RowRing::Input &input, int64_t number) {
  int64_t elementBytes = getElementBytes(input.access.element);
  return elements.loadFrom(placeIn(slot, input, number), input.access.element,
                           input.bytes / elementBytes);
}
