//===- KeptRow.cpp - What row kernels keep of a row that is walked over --===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An iteration of the loop over kept columns has one group of asynchronous
// copies, all of which are under way when a row begins. The first pass waits
// for its groups one after the other; the last one fetches the next row into
// what it has just read. So that a wait counts the same groups in every
// iteration, the first pass leaves an empty group in the place of each that it
// has waited for.
//
//===----------------------------------------------------------------------===//

#include "KeptRow.h"

#include "RowKernel.h"
#include "ScheduleTemplates.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fuseops;

/// Columns of one iteration.
static int64_t getStride(const Schedule &schedule) {
  return std::max<int64_t>(1, schedule.unroll) * schedule.getWidth();
}

KeptRow::KeptRow(const KernelGroup &group, const Schedule &schedule)
    : columns(schedule.kept) {
  if (!columns)
    return;
  for (Value value : group.getReadValues()) {
    std::optional<Access> access = group.getAccess(value);
    if (!access || group.getPlacement(value) != Placement::Full ||
        group.isPartlyBroadcast(value) || !access->isContiguous() ||
        columnsOf(value) != group.getSpace().columns)
      continue;
    int64_t elementBytes = getElementBytes(access->element);
    if (!getCopyBytes(schedule.vector * elementBytes))
      continue;
    inputs.push_back({value, *access, bytes});
    bytes += columns * elementBytes;
  }
}

const KeptRow::Input *KeptRow::find(Value value) const {
  const Input *input = llvm::find_if(
      inputs, [&](const Input &input) { return input.value == value; });
  return input == inputs.end() ? nullptr : input;
}

int64_t mlir::fuseops::countKeptColumns(const KernelGroup &group,
                                        const Schedule &schedule,
                                        int64_t beside, int64_t sharedLimit) {
  int64_t stride = getStride(schedule);
  Schedule once = schedule;
  once.kept = stride;
  int64_t bytes = KeptRow(group, once).getBytes();
  if (!bytes)
    return 0;
  return stride * std::min(group.getSpace().columns / stride,
                           (sharedLimit - beside) / bytes);
}

LogicalResult mlir::fuseops::verifyKept(const KernelGroup &group,
                                        const Schedule &schedule,
                                        int64_t beside, int64_t sharedLimit) {
  GroupOp op = group.getGroup();
  if (schedule.stages || schedule.rows != 1 || schedule.prefetch ||
      group.getNumLevels() < 2 || hasBlocks(group))
    return op.emitOpError()
           << "expected schedule `kept` where a row without blocks is walked "
              "more than once, one row at a time, without `stages` and "
              "`prefetch`";
  int64_t most = countKeptColumns(group, schedule, beside, sharedLimit);
  if (schedule.kept <= most && schedule.kept % getStride(schedule) == 0)
    return success();
  return op.emitOpError() << "expected schedule `kept` to be a multiple of "
                          << getStride(schedule)
                          << " columns, what an iteration visits, and at most "
                          << most << ", of which " << sharedLimit
                          << " bytes of shared memory have place, but got "
                          << schedule.kept;
}

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

/// Starts to fetch the first row of the block.
void RowKernel::openKept(Value from) {
  if (!kept)
    return;
  openSharedMemory();
  int64_t stride = getStride(schedule);
  for (int64_t first = 0; first < kept.columns; first += stride)
    fetchKept(from, add(firstColumn, elements.constant(first)));
}

/// Starts to fetch what one iteration visits of a row, if it exists, from a
/// column of the thread on, as one group.
void RowKernel::fetchKept(Value row, Value column) {
  auto exists = scf::IfOp::create(b, loc, less(row, frame.rows),
                                  /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(exists.thenBlock());
    int64_t width = schedule.getWidth();
    for (int64_t on = 0; on < getStride(schedule); on += width) {
      Element element;
      element.row = row;
      element.column = add(column, elements.constant(on));
      element.width = schedule.vector;
      for (const KeptRow::Input &input : kept.inputs)
        copyAsync(elements.pointerTo(input.access, element),
                  locateKept(input, element.column),
                  schedule.vector * getElementBytes(input.access.element));
    }
  }
  NVVM::CpAsyncCommitGroupOp::create(b, loc);
}

Value RowKernel::locateKept(const KeptRow::Input &input, Value column) {
  Value place =
      mul(column, elements.constant(getElementBytes(input.access.element)));
  place = add(place, elements.constant(input.offset));
  return LLVM::GEPOp::create(b, loc, ringMemory.getType(), b.getI8Type(),
                             ringMemory, ArrayRef<LLVM::GEPArg>{place});
}

/// The first and the last pass over the columns that are kept.
std::pair<unsigned, unsigned> RowKernel::findKeptPasses() {
  unsigned first = group.getNumLevels(), last = 0;
  for (unsigned level = 0; level < group.getNumLevels(); ++level)
    if (widthsAt(level).contains(group.getSpace().columns)) {
      first = std::min(first, level);
      last = level;
    }
  return {first, last};
}

/// Before an iteration of `pass` over kept columns: waits until they have come.
void RowKernel::enterKept(Pass pass) {
  if (pass.level == findKeptPasses().first)
    NVVM::CpAsyncWaitGroupOp::create(
        b, loc, static_cast<int32_t>(kept.columns / getStride(schedule) - 1));
}

/// Takes what `pass` reads of `element` from what is kept.
void RowKernel::readKept(Pass pass, Element &element) {
  for (Value value : findReads(pass, element))
    if (const KeptRow::Input *input = kept.find(value))
      element.values[value] =
          elements.loadFrom(locateKept(*input, element.column),
                            input->access.element, schedule.vector);
}

/// After an iteration of `pass` over kept columns, from `column` on.
void RowKernel::leaveKept(Pass pass, Value column) {
  auto [first, last] = findKeptPasses();
  if (pass.level == last)
    fetchKept(nextRow, column);
  else if (pass.level == first)
    NVVM::CpAsyncCommitGroupOp::create(b, loc);
}
