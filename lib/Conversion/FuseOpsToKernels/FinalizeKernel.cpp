//===- FinalizeKernel.cpp - Writes kernels that end reductions -----------===//
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
/// A reduction of `element`s that the kernel ends.
struct Reduction {
  ReductionKind kind;
  Type element;
  Value result;
};

template <typename OpTy>
Reduction describe(OpTy op) {
  return {op.getKind(), op.getInput().getType().getElementType(),
          op.getResult()};
}

SmallVector<Reduction> reductionsOf(const KernelGroup &group,
                                    FinalColumns columns) {
  SmallVector<Reduction> reductions;
  if (!columns) {
    for (ReduceColumnsOp op : group.getColumnReductions())
      reductions.push_back(describe(op));
    return reductions;
  }
  for (ReduceRowsOp op : group.getRowReductions())
    if (getColumns(op.getInput().getType()) == *columns)
      reductions.push_back(describe(op));
  return reductions;
}

/// Columns, or rows, and strips of a CUDA block: each strip combines every 16th
/// partial result, the first then combines the strips. Where there are fewer
/// columns, the lanes of a warp that are left over make more strips of them.
constexpr int64_t kCudaColumns = 32;
constexpr int64_t kCudaStrips = 16;
static_assert(kCudaColumns * kCudaStrips == kMergedThreads);
/// Columns of a CPU task.
constexpr int64_t kCpuColumns = 256;

/// Writes one finalize kernel. The order in which partial results are combined
/// depends on their number only.
class FinalizeKernel {
public:
  FinalizeKernel(const KernelGroup &group, FinalColumns columns,
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
  FinalColumns columns;
  ArrayRef<Value> arguments;
  ArrayRef<unsigned> outputs;
  bool isCuda;
  SmallVector<Reduction> reductions;
  ElementBuilder elements;

  func::FuncOp kernel;
  SmallVector<Value> partials;
  /// Results of each reduction, and the partial results of one.
  Value width, count;
  Value worker;
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
  width =
      columns ? elements.constant(*columns) : Value(kernel.getArgument(scalar));
  elements.rows = kernel.getArgument(scalar);
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
  for (const Reduction &own : reductions)
    initial.push_back(elements.identity(own.kind, own.element, 1));
  auto combine = [&](ValueRange sums, ValueRange others) {
    SmallVector<Value> combined;
    for (auto [own, sum, other] : llvm::zip(reductions, sums, others))
      combined.push_back(elements.combine(own.kind, sum, other));
    return combined;
  };
  auto combineRun = [&](Value first, Value end) -> SmallVector<Value> {
    auto loop = scf::ForOp::create(b, loc, first, end, elements.constant(step),
                                   initial);
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(loop.getBody());
    Value index = arith::AddIOp::create(
        b, loc, arith::MulIOp::create(b, loc, loop.getInductionVar(), width),
        column);
    SmallVector<Value> parts;
    for (auto [own, pointer] : llvm::zip(reductions, partials))
      parts.push_back(
          elements.loadRaw(pointer, index, getAccumulatorType(own.element), 1));
    scf::YieldOp::create(b, loc, combine(loop.getRegionIterArgs(), parts));
    return loop.getResults();
  };
  if (llvm::none_of(reductions, [](const Reduction &own) {
        return isRounded(own.kind, own.element);
      }))
    return combineRun(from, count);
  return combineRuns(b, loc, from, count, step * kRunTerms, initial, combineRun,
                     combine);
}

/// Combines what the lanes of a warp have of one column: each `lanes`th lane.
void FinalizeKernel::combineLanes(MutableArrayRef<Value> sums, int64_t lanes) {
  for (auto [own, sum] : llvm::zip(reductions, sums))
    for (int64_t offset = lanes; offset < kCudaColumns; offset *= 2)
      sum = elements.combine(own.kind, sum, elements.shuffle(sum, offset));
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
      total =
          total ? elements.combine(reductions[number].kind, total, part) : part;
    }
    sum = total;
  }
}

/// Computes and stores what depends on the reductions of one column, or row.
void FinalizeKernel::storeColumn(Value column, ValueRange sums) {
  Element element;
  element.row = columns ? elements.constant(0) : column;
  element.column = columns ? column : elements.constant(0);
  for (auto [own, sum] : llvm::zip(reductions, sums))
    // What reads it sees the compute type of the result's element type.
    element.values[own.result] = convertElement(
        b, loc, sum, own.element, getElementTypeOrSelf(own.result));
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
  auto lanes = static_cast<int64_t>(llvm::PowerOf2Ceil(
      std::clamp<int64_t>(columns.value_or(kCudaColumns), 1, kCudaColumns)));
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
  Value last = columns
                   ? elements.constant(*columns - 1)
                   : arith::SubIOp::create(b, loc, width, elements.constant(1));
  Value read = arith::MinSIOp::create(b, loc, column, last);
  SmallVector<Value> sums =
      combinePartials(read, first, kCudaStrips * stripsInWarp);
  combineLanes(sums, lanes);
  combineStrips(sums, thread, strip);
  auto less = [&](Value value, Value end) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, value, end);
  };
  Value mayStore = arith::AndIOp::create(b, loc, less(column, width),
                                         less(first, elements.constant(1)));
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
      width);
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

Schedule mlir::fuseops::getFinalizeSchedule(FinalColumns columns,
                                            KernelDevice device) {
  bool isCuda = device == KernelDevice::CUDA;
  int64_t each = isCuda ? kCudaColumns : kCpuColumns;
  Schedule schedule;
  schedule.threads = isCuda ? kCudaColumns : 1;
  schedule.rows = isCuda ? kCudaStrips : 1;
  if (!columns) {
    schedule.rowsPerWorker = each;
    schedule.workers = std::numeric_limits<int32_t>::max();
    return schedule;
  }
  // Without columns there is nothing to launch.
  schedule.workers = std::max<int64_t>(1, llvm::divideCeil(*columns, each));
  return schedule;
}

func::FuncOp mlir::fuseops::emitFinalizeKernel(
    const KernelGroup &group, FinalColumns columns, ArrayRef<Value> arguments,
    ArrayRef<unsigned> outputs, KernelDevice device, StringRef name,
    OpBuilder &builder) {
  return FinalizeKernel(group, columns, arguments, outputs, device, builder)
      .emit(name);
}
