//===- KernelFrame.cpp - Parameters and indices of a memory kernel -------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFrame.h"

#include "FuseOps/Conversion/KernelToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::fuseops;

/// The values that the kernel itself writes: not the final ones.
static SmallVector<Value> directResults(const KernelGroup &group) {
  auto yield =
      cast<YieldOp>(group.getGroup().getBody().front().getTerminator());
  return llvm::filter_to_vector(
      yield.getValues(), [&](Value value) { return !group.isFinal(value); });
}

/// The function with its parameters, and its entry block.
static func::FuncOp declare(OpBuilder &b, Location loc,
                            const Schedule &schedule, bool isCuda,
                            StringRef name, unsigned numPointers,
                            unsigned numInputs, unsigned numMaps) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Type> types(isCuda ? numPointers + numMaps : 1, pointer);
  types.append(isCuda ? 2 : 4, b.getI64Type());
  auto kernel =
      func::FuncOp::create(b, loc, name, b.getFunctionType(types, {}));
  if (isCuda) {
    kernel->setAttr(kBlockAttr, b.getDenseI32ArrayAttr(
                                    {static_cast<int32_t>(schedule.threads),
                                     static_cast<int32_t>(schedule.rows), 1}));
    if (schedule.residents)
      kernel->setAttr(kResidentsAttr, b.getI32IntegerAttr(schedule.residents));
    // The runtime refuses outputs that overlap inputs, and slots of the
    // workspace that are in use at once are disjoint.
    for (unsigned i = 0; i < numPointers; ++i)
      kernel.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                        b.getUnitAttr());
    for (unsigned i = 0; i < numInputs; ++i)
      kernel.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(),
                        b.getUnitAttr());
    for (unsigned i = 0; i < numMaps; ++i)
      kernel.setArgAttr(numPointers + i, kTensorMapAttr, b.getUnitAttr());
  }
  b.setInsertionPointToStart(kernel.addEntryBlock());
  return kernel;
}

KernelFrame KernelFrame::open(ElementBuilder &elements,
                              const KernelGroup &group,
                              const Schedule &schedule, bool isCuda,
                              StringRef name, unsigned numMaps) {
  OpBuilder &b = elements.b;
  Location loc = elements.loc;
  GroupOp op = group.getGroup();
  SmallVector<Value> results = directResults(group);
  size_t numReductions =
      group.getRowReductions().size() + group.getColumnReductions().size();
  unsigned numInputs = op.getInputs().size();
  unsigned numPointers =
      numInputs + schedule.tickets + results.size() + numReductions;
  KernelFrame frame;
  frame.kernel =
      declare(b, loc, schedule, isCuda, name, numPointers, numInputs, numMaps);
  unsigned next = 0;
  auto pointer = [&]() -> Value {
    if (isCuda)
      return frame.kernel.getArgument(next++);
    // The CPU kernel gets one array of pointers.
    Type type = frame.kernel.getArgument(0).getType();
    Value slot = LLVM::GEPOp::create(
        b, loc, type, type, frame.kernel.getArgument(0),
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(next++)});
    return LLVM::LoadOp::create(b, loc, type, slot);
  };
  for (BlockArgument argument : op.getBody().getArguments())
    elements.pointers[argument] = pointer();
  if (schedule.tickets)
    frame.tickets = pointer();
  for (Value value : results)
    elements.pointers[value] = pointer();
  for (size_t i = 0; i < numReductions; ++i)
    frame.partials.push_back(pointer());

  for (unsigned i = 0; i < numMaps; ++i)
    frame.maps.push_back(frame.kernel.getArgument(next++));

  unsigned scalar = isCuda ? numPointers + numMaps : 1;
  frame.rows = frame.kernel.getArgument(scalar);
  frame.count = frame.kernel.getArgument(scalar + 1);
  elements.rows = frame.rows;
  if (!isCuda) {
    frame.worker = frame.kernel.getArgument(scalar + 2);
    frame.workers = frame.kernel.getArgument(scalar + 3);
    return frame;
  }
  auto toI64 = [&](Value id) -> Value {
    return arith::ExtUIOp::create(b, loc, b.getI64Type(), id);
  };
  Type i32 = b.getI32Type();
  frame.threadX = toI64(NVVM::ThreadIdXOp::create(b, loc, i32));
  frame.threadY = toI64(NVVM::ThreadIdYOp::create(b, loc, i32));
  frame.worker = toI64(NVVM::BlockIdXOp::create(b, loc, i32));
  frame.workers = toI64(NVVM::GridDimXOp::create(b, loc, i32));
  return frame;
}
