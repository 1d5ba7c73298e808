//===- FinalizeKernel.cpp - Writes the finalize kernel of reductions over rows ===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementBuilder.h"
#include "KernelEmitter.h"
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

/// Writes one finalize kernel. Each column is summed by one thread, over the
/// partial results in order, so that the result depends on nothing else.
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

  FailureOr<func::FuncOp> emit(StringRef name);

private:
  void declare(StringRef name);
  void emitColumn(Value column);

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
  unsigned numPointers =
      reductions.size() + arguments.size() + outputs.size();
  SmallVector<Type> types(isCuda ? numPointers : 1, pointerType);
  types.append(isCuda ? 2 : 4, b.getI64Type());
  kernel = func::FuncOp::create(b, loc, name, b.getFunctionType(types, {}));
  if (isCuda) {
    kernel->setAttr(kBlockAttr,
                    b.getDenseI32ArrayAttr({kFinalizeColumns, 1, 1}));
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

void FinalizeKernel::emitColumn(Value column) {
  Element element;
  element.row = elements.constant(0);
  element.column = column;
  SmallVector<Value> initial;
  for (ReduceRowsOp op : reductions)
    initial.push_back(elements.identity(op.getKind(), getAccumulatorType(op)));
  auto loop = scf::ForOp::create(b, loc, elements.constant(0), count,
                                 elements.constant(1), initial);
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(loop.getBody());
    Value index = arith::AddIOp::create(
        b, loc,
        arith::MulIOp::create(b, loc, loop.getInductionVar(),
                              elements.constant(columns)),
        column);
    SmallVector<Value> sums;
    for (auto [op, pointer, soFar] :
         llvm::zip(reductions, partials, loop.getRegionIterArgs())) {
      Value part =
          elements.loadRaw(pointer, index, getAccumulatorType(op), 1);
      sums.push_back(elements.combine(op.getKind(), soFar, part));
    }
    scf::YieldOp::create(b, loc, sums);
  }
  for (auto [op, sum] : llvm::zip(reductions, loop.getResults())) {
    // What reads it sees the compute type of the result's element type.
    Type computed = getComputeType(
        cast<RankedTensorType>(op.getType()).getElementType());
    Value value = sum;
    if (value.getType().getIntOrFloatBitWidth() <
        computed.getIntOrFloatBitWidth())
      value = arith::ExtFOp::create(b, loc, computed, value);
    else if (value.getType() != computed)
      value = arith::TruncFOp::create(b, loc, computed, value);
    element.values[op.getResult()] = value;
  }
  for (const Store &store : group.getStores())
    if (llvm::is_contained(outputs, store.output))
      elements.store(elements.compute(store.value, element), store.access,
                     element);
}

FailureOr<func::FuncOp> FinalizeKernel::emit(StringRef name) {
  OpBuilder::InsertionGuard restore(b);
  declare(name);
  Value from = arith::MulIOp::create(b, loc, worker,
                                     elements.constant(kFinalizeColumns));
  if (isCuda) {
    Value thread = arith::ExtUIOp::create(
        b, loc, b.getI64Type(),
        NVVM::ThreadIdXOp::create(b, loc, b.getI32Type()));
    Value column = arith::AddIOp::create(b, loc, from, thread);
    Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                         column, elements.constant(columns));
    auto guard = scf::IfOp::create(b, loc, exists, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(guard.thenBlock());
    emitColumn(column);
  } else {
    Value to = arith::MinSIOp::create(
        b, loc,
        arith::AddIOp::create(b, loc, from,
                              elements.constant(kFinalizeColumns)),
        elements.constant(columns));
    auto loop = scf::ForOp::create(b, loc, from, to, elements.constant(1));
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(loop.getBody());
    emitColumn(loop.getInductionVar());
  }
  b.setInsertionPointToEnd(&kernel.getBody().front());
  func::ReturnOp::create(b, loc);
  return kernel;
}

FailureOr<func::FuncOp> mlir::fuseops::emitFinalizeKernel(
    const KernelGroup &group, int64_t columns, ArrayRef<Value> arguments,
    ArrayRef<unsigned> outputs, KernelDevice device, StringRef name,
    OpBuilder &builder) {
  return FinalizeKernel(group, columns, arguments, outputs, device, builder)
      .emit(name);
}
