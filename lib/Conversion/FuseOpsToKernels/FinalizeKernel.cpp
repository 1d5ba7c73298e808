//===- FinalizeKernel.cpp - Writes the finalize kernel of reductions over rows
//===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementBuilder.h"
#include "FuseOps/Conversion/MergeLaunches.h"
#include "KernelEmitter.h"
#include "SumRuns.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fuseops;

namespace {
/// The reductions over rows of `group` with `columns` columns.
SmallVector<ReduceRowsOp> reductionsOf(const KernelGroup &group,
                                       int64_t columns) {
  SmallVector<ReduceRowsOp> reductions;
  for (ReduceRowsOp op : group.getRowReductions())
    if (getColumns(op.getInput().getType()) == columns)
      reductions.push_back(op);
  return reductions;
}

Type inputElement(ReduceRowsOp op) {
  return op.getInput().getType().getElementType();
}

/// Columns and strips of a CUDA block: each strip combines every 16th partial
/// result, the first then combines the strips. Where there are fewer columns,
/// the lanes of a warp that are left over make more strips of them.
constexpr int64_t kCudaColumns = 32;
constexpr int64_t kCudaStrips = 16;
static_assert(kCudaColumns * kCudaStrips == kMergedThreads);
/// Columns of a CPU task.
constexpr int64_t kCpuColumns = 256;

/// Writes one finalize kernel. The order in which partial results are combined
/// depends on their number only.
class FinalizeKernel {
public:
  FinalizeKernel(const KernelGroup &group, int64_t columns,
                 ArrayRef<Value> arguments, ArrayRef<unsigned> outputs,
                 KernelDevice device, OpBuilder &builder)
      : b(builder), loc(group.getGroup().getLoc()), group(group),
        columns(columns), arguments(arguments), outputs(outputs),
        isCuda(device == KernelDevice::CUDA),
        reductions(reductionsOf(group, columns)),
        elements(group, device, /*roundIntermediates=*/false, builder, loc) {}

  func::FuncOp emit(StringRef name);

private:
  void declare(StringRef name);
  void emitCuda();
  void emitCpu();
  SmallVector<Value> combinePartials(Value column, Value from, int64_t step);
  void combineLanes(MutableArrayRef<Value> sums, int64_t lanes);
  void combineStrips(SmallVectorImpl<Value> &sums, Value thread, Value strip);
  void storeColumn(Value column, ValueRange sums);

  OpBuilder &b;
  Location loc;
  const KernelGroup &group;
  int64_t columns;
  ArrayRef<Value> arguments;
  ArrayRef<unsigned> outputs;
  bool isCuda;
  SmallVector<ReduceRowsOp> reductions;
  ElementBuilder elements;

  func::FuncOp kernel;
  SmallVector<Value> partials;
  Value count, worker;
};
} // namespace

void FinalizeKernel::declare(StringRef name) {
  Type pointerType = LLVM::LLVMPointerType::get(b.getContext());
  unsigned numPointers = reductions.size() + arguments.size() + outputs.size();
  SmallVector<Type> types(isCuda ? numPointers : 1, pointerType);
  types.append(isCuda ? 2 : 4, b.getI64Type());
  kernel = func::FuncOp::create(b, loc, name, b.getFunctionType(types, {}));
  if (isCuda) {
    kernel->setAttr(kBlockAttr,
                    b.getDenseI32ArrayAttr({kCudaColumns, kCudaStrips, 1}));
  }
  b.setInsertionPointToStart(kernel.addEntryBlock());
  unsigned next = 0;
  auto pointer = [&]() -> Value {
    if (isCuda)
      return kernel.getArgument(next++);
    Value slot = LLVM::GEPOp::create(
        b, loc, pointerType, pointerType, kernel.getArgument(0),
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(next++)});
    return LLVM::LoadOp::create(b, loc, pointerType, slot);
  };
  for (size_t i = 0; i < reductions.size(); ++i)
    partials.push_back(pointer());
  for (Value argument : arguments)
    elements.pointers[argument] = pointer();
  auto yield =
      cast<YieldOp>(group.getGroup().getBody().front().getTerminator());
  for (unsigned output : outputs)
    elements.pointers[yield.getValues()[output]] = pointer();
  unsigned scalar = isCuda ? numPointers : 1;
  count = kernel.getArgument(scalar + 1);
  worker = isCuda ? Value(arith::ExtUIOp::create(
                        b, loc, b.getI64Type(),
                        NVVM::BlockIdXOp::create(b, loc, b.getI32Type())))
                  : kernel.getArgument(scalar + 2);
}

/// Combines the partial results `from`, `from + step`, … of one column.
SmallVector<Value> FinalizeKernel::combinePartials(Value column, Value from,
                                                   int64_t step) {
  SmallVector<Value> initial;
  for (ReduceRowsOp op : reductions)
    initial.push_back(elements.identity(op.getKind(), inputElement(op), 1));
  auto combine = [&](ValueRange sums, ValueRange others) {
    SmallVector<Value> combined;
    for (auto [op, sum, other] : llvm::zip(reductions, sums, others))
      combined.push_back(elements.combine(op.getKind(), sum, other));
    return combined;
  };
  auto combineRun = [&](Value first, Value end) -> SmallVector<Value> {
    auto loop = scf::ForOp::create(b, loc, first, end, elements.constant(step),
                                   initial);
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(loop.getBody());
    Value index = arith::AddIOp::create(
        b, loc,
        arith::MulIOp::create(b, loc, loop.getInductionVar(),
                              elements.constant(columns)),
        column);
    SmallVector<Value> parts;
    for (auto [op, pointer] : llvm::zip(reductions, partials))
      parts.push_back(
          elements.loadRaw(pointer, index, getAccumulatorType(op), 1));
    scf::YieldOp::create(b, loc, combine(loop.getRegionIterArgs(), parts));
    return loop.getResults();
  };
  if (llvm::none_of(reductions, [](ReduceRowsOp op) {
        return isRounded(op.getKind(), inputElement(op));
      }))
    return combineRun(from, count);
  return combineRuns(b, loc, from, count, step * kRunTerms, initial, combineRun,
                     combine);
}

/// Combines what the lanes of a warp have of one column: each `lanes`th lane.
void FinalizeKernel::combineLanes(MutableArrayRef<Value> sums, int64_t lanes) {
  for (auto [op, sum] : llvm::zip(reductions, sums))
    for (int64_t offset = lanes; offset < kCudaColumns; offset *= 2)
      sum = elements.combine(op.getKind(), sum, elements.shuffle(sum, offset));
}

/// Combines the strips of a CUDA block through shared memory.
void FinalizeKernel::combineStrips(SmallVectorImpl<Value> &sums, Value thread,
                                   Value strip) {
  Shared shared =
      elements.getShared(kernel, "_strips", ValueRange(sums).getTypes(),
                         sums.size() * kCudaColumns * kCudaStrips);
  auto slot = [&](size_t number, Value row) -> Value {
    Value line = arith::AddIOp::create(b, loc, row,
                                       elements.constant(number * kCudaStrips));
    return arith::AddIOp::create(
        b, loc,
        arith::MulIOp::create(b, loc, line, elements.constant(kCudaColumns)),
        thread);
  };
  for (auto [number, sum] : llvm::enumerate(sums))
    elements.storeSlot(sum, shared, slot(number, strip));
  NVVM::Barrier0Op::create(b, loc);
  for (auto [number, sum] : llvm::enumerate(sums)) {
    Value total;
    for (int64_t row = 0; row < kCudaStrips; ++row) {
      Value part = elements.loadSlot(
          shared, slot(number, elements.constant(row)), sum.getType());
      total = total
                  ? elements.combine(reductions[number].getKind(), total, part)
                  : part;
    }
    sum = total;
  }
}

/// Computes and stores what depends on the reductions of one column.
void FinalizeKernel::storeColumn(Value column, ValueRange sums) {
  Element element;
  element.row = elements.constant(0);
  element.column = column;
  for (auto [op, sum] : llvm::zip(reductions, sums))
    // What reads it sees the compute type of the result's element type.
    element.values[op.getResult()] = convertElement(
        b, loc, sum, inputElement(op), getElementTypeOrSelf(op.getType()));
  for (const Store &store : group.getStores())
    if (llvm::is_contained(outputs, store.output))
      elements.store(elements.compute(store.value, element), store.access,
                     element);
}

void FinalizeKernel::emitCuda() {
  auto toI64 = [&](Value id) -> Value {
    return arith::ExtUIOp::create(b, loc, b.getI64Type(), id);
  };
  Value thread = toI64(NVVM::ThreadIdXOp::create(b, loc, b.getI32Type()));
  Value strip = toI64(NVVM::ThreadIdYOp::create(b, loc, b.getI32Type()));
  auto lanes = static_cast<int64_t>(
      llvm::PowerOf2Ceil(std::clamp<int64_t>(columns, 1, kCudaColumns)));
  int64_t stripsInWarp = kCudaColumns / lanes;
  Value lane = arith::RemUIOp::create(b, loc, thread, elements.constant(lanes));
  Value first = arith::AddIOp::create(
      b, loc,
      arith::MulIOp::create(b, loc, strip, elements.constant(stripsInWarp)),
      arith::DivUIOp::create(b, loc, thread, elements.constant(lanes)));
  Value column = arith::AddIOp::create(
      b, loc,
      arith::MulIOp::create(b, loc, worker, elements.constant(kCudaColumns)),
      lane);
  // Threads past the last column repeat it, and store nothing.
  Value read =
      arith::MinSIOp::create(b, loc, column, elements.constant(columns - 1));
  SmallVector<Value> sums =
      combinePartials(read, first, kCudaStrips * stripsInWarp);
  combineLanes(sums, lanes);
  combineStrips(sums, thread, strip);
  auto less = [&](Value value, int64_t end) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, value,
                                 elements.constant(end));
  };
  Value mayStore =
      arith::AndIOp::create(b, loc, less(column, columns), less(first, 1));
  auto guard = scf::IfOp::create(b, loc, mayStore, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(guard.thenBlock());
  storeColumn(column, sums);
}

void FinalizeKernel::emitCpu() {
  Value from =
      arith::MulIOp::create(b, loc, worker, elements.constant(kCpuColumns));
  Value to = arith::MinSIOp::create(
      b, loc,
      arith::AddIOp::create(b, loc, from, elements.constant(kCpuColumns)),
      elements.constant(columns));
  auto loop = scf::ForOp::create(b, loc, from, to, elements.constant(1));
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(loop.getBody());
  Value column = loop.getInductionVar();
  storeColumn(column, combinePartials(column, elements.constant(0), 1));
}

func::FuncOp FinalizeKernel::emit(StringRef name) {
  OpBuilder::InsertionGuard restore(b);
  declare(name);
  if (isCuda)
    emitCuda();
  else
    emitCpu();
  func::ReturnOp::create(b, loc);
  return kernel;
}

Schedule mlir::fuseops::getFinalizeSchedule(int64_t columns,
                                            KernelDevice device) {
  bool isCuda = device == KernelDevice::CUDA;
  Schedule schedule;
  schedule.threads = isCuda ? kCudaColumns : 1;
  schedule.rows = isCuda ? kCudaStrips : 1;
  // Without columns there is nothing to launch.
  schedule.workers = std::max<int64_t>(
      1, llvm::divideCeil(columns, isCuda ? kCudaColumns : kCpuColumns));
  return schedule;
}

func::FuncOp mlir::fuseops::emitFinalizeKernel(
    const KernelGroup &group, int64_t columns, ArrayRef<Value> arguments,
    ArrayRef<unsigned> outputs, KernelDevice device, StringRef name,
    OpBuilder &builder) {
  return FinalizeKernel(group, columns, arguments, outputs, device, builder)
      .emit(name);
}
