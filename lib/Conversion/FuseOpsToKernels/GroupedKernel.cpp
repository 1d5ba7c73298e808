//===- GroupedKernel.cpp - Writes the kernel of a grouped product ---------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupedKernel.h"
#include "ElementBuilder.h"
#include "FuseOps/Dialect/FuseOps/ScalarMath.h"
#include "SumRuns.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fuseops;

namespace {
/// Columns and rows of the result that a CUDA block computes at once.
constexpr int64_t kCudaColumns = 32;
constexpr int64_t kCudaRows = 8;

RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Writes the kernel of one grouped product: each element of the result is a
/// loop over what is contracted, in runs, in f32 (f64 for f64).
///
/// The sizes are read where they lie, on the device: a row of the result looks
/// for its group, or a group for its rows, by adding them up.
class GroupedKernel {
public:
  GroupedKernel(GroupedMatmulOp op, KernelDevice device, OpBuilder &builder)
      : b(builder), loc(op.getLoc()), op(op),
        isCuda(device == KernelDevice::CUDA) {
    wide = b.getF32Type();
    for (Value operand : {op.getLhs(), op.getRhs(), op.getResult()})
      if (tensorType(operand).getElementType().isF64())
        wide = b.getF64Type();
  }

  func::FuncOp emit(StringRef name);

private:
  void declare(StringRef name);
  void forRows(function_ref<void(Value row)> body);
  void forColumns(function_ref<void(Value column)> body);
  void emitRow(Value row);
  void emitMatrixRow(Value row);
  std::pair<Value, Value> findGroup(Value row);
  std::pair<Value, Value> findRows(Value group);
  Value sizeOf(Value group);
  Value dot(Value from, Value to, function_ref<Value(Value)> lhsIndex,
            function_ref<Value(Value)> rhsIndex);
  void forRange(Value from, Value to, Value step,
                function_ref<void(Value)> body);

  Value constant(int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
  /// row * pitch + column
  Value at(Value row, int64_t pitch, Value column) {
    return add(mul(row, constant(pitch)), column);
  }
  Value address(Value pointer, Value index, Type element) {
    return LLVM::GEPOp::create(b, loc, pointer.getType(), element, pointer,
                               index);
  }
  Value load(Value pointer, Value index, Type element) {
    return LLVM::LoadOp::create(b, loc, element,
                                address(pointer, index, element),
                                getElementBytes(element));
  }
  Value loadWide(Value pointer, Value index, Value tensor) {
    Type element = tensorType(tensor).getElementType();
    if (!isFp8(element))
      return convertFloat(b, loc, load(pointer, index, element), wide);
    // LLVM knows no FP8.
    Value stored = arith::BitcastOp::create(
        b, loc, element, load(pointer, index, b.getI8Type()));
    Value single = arith::ExtFOp::create(b, loc, b.getF32Type(), stored);
    return convertFloat(b, loc, single, wide);
  }
  void store(Value sum, Value index) {
    Type element = op.getType().getElementType();
    LLVM::StoreOp::create(b, loc, convertFloat(b, loc, sum, element),
                          address(result, index, element),
                          getElementBytes(element));
  }

  OpBuilder &b;
  Location loc;
  GroupedMatmulOp op;
  bool isCuda;
  Type wide;

  func::FuncOp kernel;
  Value lhs, rhs, sizes, result;
  Value rows, operandRows, worker, workers;
};
} // namespace

void GroupedKernel::declare(StringRef name) {
  Type pointerType = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Type> types(isCuda ? 4 : 1, pointerType);
  types.append(isCuda ? 2 : 4, b.getI64Type());
  kernel = func::FuncOp::create(b, loc, name, b.getFunctionType(types, {}));
  if (isCuda)
    kernel->setAttr(kBlockAttr,
                    b.getDenseI32ArrayAttr({kCudaColumns, kCudaRows, 1}));
  b.setInsertionPointToStart(kernel.addEntryBlock());
  for (auto [number, pointer] :
       llvm::enumerate(std::array<Value *, 4>{&lhs, &rhs, &sizes, &result})) {
    if (isCuda) {
      *pointer = kernel.getArgument(number);
      continue;
    }
    Value slot = LLVM::GEPOp::create(
        b, loc, pointerType, pointerType, kernel.getArgument(0),
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
    *pointer = LLVM::LoadOp::create(b, loc, pointerType, slot);
  }
  unsigned scalar = isCuda ? 4 : 1;
  rows = kernel.getArgument(scalar);
  operandRows = kernel.getArgument(scalar + 1);
  if (!isCuda) {
    worker = kernel.getArgument(scalar + 2);
    workers = kernel.getArgument(scalar + 3);
    return;
  }
  auto toI64 = [&](Value id) {
    return arith::ExtUIOp::create(b, loc, b.getI64Type(), id);
  };
  worker = toI64(NVVM::BlockIdXOp::create(b, loc, b.getI32Type()));
  workers = toI64(NVVM::GridDimXOp::create(b, loc, b.getI32Type()));
}

void GroupedKernel::forRange(Value from, Value to, Value step,
                             function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, loc, from, to, step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

/// Rows of the result, dealt out to workers one by one, or to threads.
void GroupedKernel::forRows(function_ref<void(Value row)> body) {
  Value from = worker, step = workers;
  if (isCuda) {
    Value thread = arith::ExtUIOp::create(
        b, loc, b.getI64Type(),
        NVVM::ThreadIdYOp::create(b, loc, b.getI32Type()));
    from = at(worker, kCudaRows, thread);
    step = mul(workers, constant(kCudaRows));
  }
  forRange(from, rows, step, body);
}

void GroupedKernel::forColumns(function_ref<void(Value column)> body) {
  Value from = constant(0), step = constant(1);
  if (isCuda) {
    from = arith::ExtUIOp::create(
        b, loc, b.getI64Type(),
        NVVM::ThreadIdXOp::create(b, loc, b.getI32Type()));
    step = constant(kCudaColumns);
  }
  forRange(from, constant(getColumns(op.getType())), step, body);
}

/// The group that row `row` belongs to, and whether there is one: how many
/// groups end at or before it.
std::pair<Value, Value> GroupedKernel::findGroup(Value row) {
  Value zero = constant(0);
  Value numGroups = constant(getColumns(tensorType(op.getSizes())));
  auto loop = scf::ForOp::create(b, loc, zero, numGroups, constant(1),
                                 ValueRange{zero, zero});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value end = add(loop.getRegionIterArg(0), sizeOf(loop.getInductionVar()));
    Value isPast =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, end, row);
    Value group = add(loop.getRegionIterArg(1),
                      arith::ExtUIOp::create(b, loc, b.getI64Type(), isPast));
    scf::YieldOp::create(b, loc, ValueRange{end, group});
  }
  Value group = loop.getResult(1);
  Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, group,
                                       numGroups);
  return {group, exists};
}

/// A group's size; what is negative counts as 0.
Value GroupedKernel::sizeOf(Value group) {
  return arith::MaxSIOp::create(b, loc, constant(0),
                                load(sizes, group, b.getI64Type()));
}

/// The first row of a group and the one behind its last that there is.
std::pair<Value, Value> GroupedKernel::findRows(Value group) {
  auto loop = scf::ForOp::create(b, loc, constant(0), group, constant(1),
                                 ValueRange{constant(0)});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value end = add(loop.getRegionIterArg(0), sizeOf(loop.getInductionVar()));
    scf::YieldOp::create(b, loc, end);
  }
  Value first = loop.getResult(0), end = add(first, sizeOf(group));
  return {first, arith::MinSIOp::create(b, loc, end, operandRows)};
}

/// The sum of lhs[lhsIndex(i)] * rhs[rhsIndex(i)] over i.
Value GroupedKernel::dot(Value from, Value to,
                         function_ref<Value(Value)> lhsIndex,
                         function_ref<Value(Value)> rhsIndex) {
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(wide));
  auto sumUp = [&](Value first, Value end) -> SmallVector<Value> {
    auto loop =
        scf::ForOp::create(b, loc, first, end, constant(1), ValueRange{zero});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value i = loop.getInductionVar();
    Value x = loadWide(lhs, lhsIndex(i), op.getLhs());
    Value y = loadWide(rhs, rhsIndex(i), op.getRhs());
    Value sum = math::FmaOp::create(b, loc, x, y, loop.getRegionIterArg(0));
    scf::YieldOp::create(b, loc, sum);
    return loop.getResults();
  };
  auto add = [&](ValueRange sum, ValueRange run) -> SmallVector<Value> {
    return {arith::AddFOp::create(b, loc, sum[0], run[0])};
  };
  return combineRuns(b, loc, from, to, kRunTerms, zero, sumUp, add).front();
}

/// result[row, j] = sum over k of lhs[row, k] * rhs[group of row][k, j]
void GroupedKernel::emitRow(Value row) {
  auto [group, exists] = findGroup(row);
  // A row of no group contracts nothing.
  int64_t depth = getColumns(tensorType(op.getLhs()));
  int64_t columns = getColumns(op.getType());
  Value to =
      arith::SelectOp::create(b, loc, exists, constant(depth), constant(0));
  Value matrix = mul(group, constant(depth * columns));
  forColumns([&](Value column) {
    Value sum = dot(
        constant(0), to, [&](Value k) { return at(row, depth, k); },
        [&](Value k) {
          return add(matrix, op.getTransposeRhs() ? at(column, depth, k)
                                                  : at(k, columns, column));
        });
    store(sum, at(row, columns, column));
  });
}

/// result[group, i, j] = sum over the group's rows r of lhs[r, i] * rhs[r, j],
/// where `row` counts groups and i.
void GroupedKernel::emitMatrixRow(Value row) {
  int64_t height = op.getType().getDimSize(1);
  int64_t columns = getColumns(op.getType());
  Value group = arith::DivUIOp::create(b, loc, row, constant(height));
  Value line = arith::RemUIOp::create(b, loc, row, constant(height));
  std::pair<Value, Value> range = findRows(group);
  forColumns([&](Value column) {
    Value sum = dot(
        range.first, range.second, [&](Value r) { return at(r, height, line); },
        [&](Value r) { return at(r, columns, column); });
    store(sum, at(row, columns, column));
  });
}

func::FuncOp GroupedKernel::emit(StringRef name) {
  OpBuilder::InsertionGuard restore(b);
  declare(name);
  forRows([&](Value row) {
    if (op.getTransposeLhs())
      emitMatrixRow(row);
    else
      emitRow(row);
  });
  b.setInsertionPointToEnd(&kernel.getBody().front());
  func::ReturnOp::create(b, loc);
  return kernel;
}

Schedule mlir::fuseops::getGroupedSchedule(KernelDevice device) {
  Schedule schedule;
  schedule.workers = 64;
  if (device == KernelDevice::CPU)
    return schedule;
  schedule.threads = kCudaColumns;
  schedule.rows = schedule.rowsPerWorker = kCudaRows;
  schedule.workers = 1 << 16;
  return schedule;
}

func::FuncOp mlir::fuseops::emitGroupedKernel(GroupedMatmulOp op,
                                              KernelDevice device,
                                              StringRef name,
                                              OpBuilder &builder) {
  return GroupedKernel(op, device, builder).emit(name);
}
