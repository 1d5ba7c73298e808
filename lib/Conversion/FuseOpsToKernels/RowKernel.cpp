//===- RowKernel.cpp - Writes the row kernel of a memory group -----------===//
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
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fuseops;

Type mlir::fuseops::getAccumulatorType(ReduceRowsOp op) {
  return getComputeType(
      cast<RankedTensorType>(op.getInput().getType()).getElementType());
}

namespace {
/// One visit to a row's columns: values of this level and this many columns.
struct Pass {
  unsigned level;
  int64_t columns;
};

int64_t columnsOf(Value value) {
  return getColumns(cast<RankedTensorType>(value.getType()));
}

/// Writes one row kernel.
///
/// A row is visited in as many passes as its reductions depend on one another.
/// Pass p computes the reductions over columns of level p and writes the results
/// that are known by then; values between them are computed again in each pass,
/// or, where the schedule holds the row, kept in registers.
class RowKernel {
public:
  RowKernel(const KernelGroup &group, const Schedule &schedule,
            KernelDevice device, bool roundIntermediates, OpBuilder &builder)
      : b(builder), loc(group.getGroup().getLoc()), group(group),
        schedule(schedule), isCuda(device == KernelDevice::CUDA),
        elements(group, device, roundIntermediates, builder, loc) {}

  func::FuncOp emit(StringRef name);

private:
  void declare(StringRef name);
  void bindParameters();
  void emitRows();
  void emitRow(Value row, Value isActive, MutableArrayRef<Value> accumulators);
  void computeRowValues(unsigned level, Value row);
  void storeRowValues(Value row, Value isActive);
  void holdRow(Value row, Value isActive);
  void emitPass(Pass pass, Value row, Value isActive,
                MutableArrayRef<Value> accumulators);
  SmallVector<Value> visitElement(Pass pass, Element &element,
                                  ArrayRef<Value> partial);
  void accumulateRows(Pass pass, Element &element);
  SmallVector<Value> forColumns(Value from, int64_t to, int64_t step,
                                int64_t width, Pass pass, Value row,
                                Value isActive, SmallVector<Value> partial);
  void combineThreads(Pass pass, SmallVectorImpl<Value> &values);
  void initializePartials();
  void storeHeldPartials(ValueRange accumulators);
  Value combineRows(ReductionKind kind, Value value);
  Value getRowScratch();

  SmallVector<ReduceColumnsOp> reductionsIn(Pass pass);
  /// Whether pass `pass` reads or writes `value` of every column.
  bool isVisitedIn(Pass pass, Value value);
  /// The numbers of columns that level `level` has work for.
  llvm::SmallSetVector<int64_t, 2> widthsAt(unsigned level);
  /// Row reductions of one value a row are summed in a register; those of full
  /// values too where the row is held, else in memory.
  bool isInRegisters(ReduceRowsOp op) {
    return group.getPlacement(op.getInput()) != Placement::Full ||
           schedule.holdsRow;
  }
  int64_t vectorsHeld(ReduceRowsOp op) {
    return group.getPlacement(op.getInput()) == Placement::Full
               ? schedule.getVectorsPerThread(columnsOf(op.getInput()))
               : 1;
  }
  Value toI64(Value value) {
    return arith::ExtUIOp::create(b, loc, b.getI64Type(), value);
  }
  Value mul(Value a, Value c) { return arith::MulIOp::create(b, loc, a, c); }
  Value add(Value a, Value c) { return arith::AddIOp::create(b, loc, a, c); }
  Value less(Value a, Value c) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, a, c);
  }
  Value both(Value a, Value c) {
    if (!a || !c)
      return a ? a : c;
    return arith::AndIOp::create(b, loc, a, c);
  }

  OpBuilder &b;
  Location loc;
  const KernelGroup &group;
  const Schedule &schedule;
  bool isCuda;
  ElementBuilder elements;

  func::FuncOp kernel;
  Value rows, worker, workers;
  Value threadX, threadY;
  SmallVector<Value> partials; ///< one pointer for each reduction over rows
  /// The row's elements, where it is held, by number of columns.
  llvm::SmallDenseMap<int64_t, SmallVector<Element>> held;
};
} // namespace

//===----------------------------------------------------------------------===//
// Frame
//===----------------------------------------------------------------------===//

/// Pointer parameters of the kernel: arguments, results, partial results.
static unsigned countPointers(const KernelGroup &group) {
  unsigned count = group.getGroup().getInputs().size();
  auto yield =
      cast<YieldOp>(group.getGroup().getBody().front().getTerminator());
  for (Value value : yield.getValues())
    count += !group.isFinal(value);
  return count + group.getRowReductions().size();
}

void RowKernel::declare(StringRef name) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  SmallVector<Type> types(isCuda ? countPointers(group) : 1, pointer);
  types.append(isCuda ? 2 : 4, i64);
  kernel = func::FuncOp::create(b, loc, name, b.getFunctionType(types, {}));
  if (isCuda) {
    kernel->setAttr(kBlockAttr,
                    b.getDenseI32ArrayAttr(
                        {static_cast<int32_t>(schedule.threads),
                         static_cast<int32_t>(schedule.rows), 1}));
  }
  b.setInsertionPointToStart(kernel.addEntryBlock());
}

void RowKernel::bindParameters() {
  unsigned numPointers = countPointers(group);
  unsigned next = 0;
  auto pointer = [&]() -> Value {
    if (isCuda)
      return kernel.getArgument(next++);
    // The CPU kernel gets one array of pointers.
    Type type = kernel.getArgument(0).getType();
    Value slot = LLVM::GEPOp::create(
        b, loc, type, type, kernel.getArgument(0),
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(next++)});
    return LLVM::LoadOp::create(b, loc, type, slot);
  };
  GroupOp op = group.getGroup();
  for (BlockArgument argument : op.getBody().getArguments())
    elements.pointers[argument] = pointer();
  auto yield = cast<YieldOp>(op.getBody().front().getTerminator());
  for (Value value : yield.getValues())
    if (!group.isFinal(value))
      elements.pointers[value] = pointer();
  for (size_t i = 0; i < group.getRowReductions().size(); ++i)
    partials.push_back(pointer());

  unsigned scalar = isCuda ? numPointers : 1;
  rows = kernel.getArgument(scalar);
  if (!isCuda) {
    worker = kernel.getArgument(scalar + 2);
    workers = kernel.getArgument(scalar + 3);
    return;
  }
  Type i32 = b.getI32Type();
  threadX = toI64(NVVM::ThreadIdXOp::create(b, loc, i32));
  threadY = toI64(NVVM::ThreadIdYOp::create(b, loc, i32));
  worker = toI64(NVVM::BlockIdXOp::create(b, loc, i32));
  workers = toI64(NVVM::GridDimXOp::create(b, loc, i32));
}

func::FuncOp RowKernel::emit(StringRef name) {
  OpBuilder::InsertionGuard restore(b);
  declare(name);
  bindParameters();
  emitRows();
  func::ReturnOp::create(b, loc);
  return kernel;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

void RowKernel::emitRows() {
  initializePartials();
  SmallVector<Value> accumulators;
  for (ReduceRowsOp op : group.getRowReductions()) {
    if (!isInRegisters(op))
      continue;
    bool isFull = group.getPlacement(op.getInput()) == Placement::Full;
    Type type = elements.widened(getAccumulatorType(op),
                                 isFull ? schedule.vector : 1);
    for (int64_t i = 0; i < vectorsHeld(op); ++i)
      accumulators.push_back(elements.identity(op.getKind(), type));
  }
  Value from, to, step;
  if (isCuda) {
    Value perBlock = elements.constant(schedule.rows);
    from = mul(worker, perBlock);
    to = rows;
    step = mul(workers, perBlock);
  } else {
    // Neighbouring rows to one task.
    Value chunk = arith::DivSIOp::create(
        b, loc,
        add(rows, arith::SubIOp::create(b, loc, workers, elements.constant(1))),
        workers);
    from = mul(worker, chunk);
    to = arith::MinSIOp::create(b, loc, rows, add(from, chunk));
    step = elements.constant(1);
  }
  auto loop = scf::ForOp::create(b, loc, from, to, step, accumulators);
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(loop.getBody());
    Value row = loop.getInductionVar();
    Value isActive;
    if (isCuda && schedule.rows > 1) {
      // All threads stay for the shuffles: those without a row repeat the last.
      row = add(row, threadY);
      isActive = less(row, rows);
      row = arith::MinSIOp::create(
          b, loc, row,
          arith::SubIOp::create(b, loc, rows, elements.constant(1)));
    }
    SmallVector<Value> updated(loop.getRegionIterArgs());
    emitRow(row, isActive, updated);
    // A loop without results has its terminator already.
    if (!updated.empty())
      scf::YieldOp::create(b, loc, updated);
  }
  storeHeldPartials(loop.getResults());
}

/// Lays out the elements that each thread keeps over all passes.
void RowKernel::holdRow(Value row, Value isActive) {
  held.clear();
  llvm::SmallSetVector<int64_t, 2> widths;
  for (unsigned level = 0; level < group.getNumLevels(); ++level)
    for (int64_t columns : widthsAt(level))
      widths.insert(columns);
  int64_t stride = schedule.vector * schedule.threads;
  for (int64_t columns : widths)
    for (int64_t i = 0; i < schedule.getVectorsPerThread(columns); ++i) {
      Element &element = held[columns].emplace_back();
      element.row = row;
      element.width = schedule.vector;
      element.column = add(mul(threadX, elements.constant(schedule.vector)),
                           elements.constant(i * stride));
      if ((i + 1) * stride > columns) {
        element.isValid = less(element.column, elements.constant(columns));
        element.column = arith::MinSIOp::create(
            b, loc, element.column,
            elements.constant(columns - schedule.vector));
      }
      element.isValid = both(element.isValid, isActive);
    }
}

void RowKernel::emitRow(Value row, Value isActive,
                        MutableArrayRef<Value> accumulators) {
  DenseMap<Value, Value> outside = elements.rowValues;
  if (schedule.holdsRow)
    holdRow(row, isActive);
  for (unsigned level = 0; level < group.getNumLevels(); ++level) {
    computeRowValues(level, row);
    for (int64_t columns : widthsAt(level))
      emitPass({level, columns}, row, isActive, accumulators);
  }
  // One value a row: every thread of the row knows it, and all but the first
  // leave it alone.
  unsigned next = 0;
  for (ReduceRowsOp op : group.getRowReductions()) {
    if (!isInRegisters(op))
      continue;
    if (group.getPlacement(op.getInput()) == Placement::Full) {
      next += vectorsHeld(op);
      continue;
    }
    Value value = elements.rowValues.lookup(op.getInput());
    value = elements.masked(op.getKind(), value, isActive);
    accumulators[next] =
        elements.combine(op.getKind(), accumulators[next], value);
    ++next;
  }
  storeRowValues(row, isActive);
  elements.rowValues = outside;
}

/// Computes what has one value a row, or one in all, and is known from `level`
/// on. The results of reductions are entered by the pass before.
void RowKernel::computeRowValues(unsigned level, Value row) {
  Element element;
  element.row = row;
  auto isRowValue = [&](Value value) {
    Placement placement = group.getPlacement(value);
    return placement == Placement::PerRow || placement == Placement::Scalar;
  };
  auto enter = [&](Value value) {
    if (isRowValue(value) && !group.isPartlyBroadcast(value) &&
        !elements.rowValues.contains(value) && group.getAccess(value))
      elements.rowValues[value] =
          elements.load(*group.getAccess(value), element);
  };
  for (Operation *op : group.getRowOps()) {
    if (level == 0)
      llvm::for_each(op->getOperands(), enter);
    auto pointwise = dyn_cast<PointwiseOp>(op);
    if (!pointwise || !isRowValue(pointwise.getResult(0)) ||
        group.getLevel(pointwise.getResult(0)) != level)
      continue;
    elements.computeBody(pointwise,
                         elements.computeOperands(pointwise, element), element,
                         elements.rowValues);
  }
  if (level == 0)
    for (const Store &store : group.getStores())
      if (!group.isFinal(store.value))
        enter(store.value);
}

void RowKernel::storeRowValues(Value row, Value isActive) {
  Element element;
  element.row = row;
  element.column = elements.constant(0);
  element.isValid = isActive;
  if (isCuda && schedule.threads > 1)
    element.isValid =
        both(isActive, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                             threadX, elements.constant(0)));
  for (const Store &store : group.getStores())
    if (!group.isFinal(store.value) &&
        store.access.placement == Placement::PerRow)
      elements.store(elements.rowValues.lookup(store.value), store.access,
                     element);
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

bool RowKernel::isVisitedIn(Pass pass, Value value) {
  return group.getPlacement(value) == Placement::Full &&
         group.getLevel(value) == pass.level &&
         columnsOf(value) == pass.columns;
}

SmallVector<ReduceColumnsOp> RowKernel::reductionsIn(Pass pass) {
  SmallVector<ReduceColumnsOp> reductions;
  for (Operation *op : group.getRowOps())
    if (auto reduction = dyn_cast<ReduceColumnsOp>(op))
      if (group.getLevel(reduction.getInput()) == pass.level &&
          columnsOf(reduction.getInput()) == pass.columns)
        reductions.push_back(reduction);
  return reductions;
}

llvm::SmallSetVector<int64_t, 2> RowKernel::widthsAt(unsigned level) {
  llvm::SmallSetVector<int64_t, 2> widths;
  auto visit = [&](Value value) {
    if (group.getLevel(value) == level)
      widths.insert(columnsOf(value));
  };
  for (Operation *op : group.getRowOps())
    if (auto reduction = dyn_cast<ReduceColumnsOp>(op))
      visit(reduction.getInput());
  for (const Store &store : group.getStores())
    if (!group.isFinal(store.value) &&
        store.access.placement == Placement::Full)
      visit(store.value);
  for (ReduceRowsOp op : group.getRowReductions())
    if (group.getPlacement(op.getInput()) == Placement::Full)
      visit(op.getInput());
  return widths;
}

/// What a pass does with one element; returns the updated partial results of its
/// reductions over columns.
SmallVector<Value> RowKernel::visitElement(Pass pass, Element &element,
                                           ArrayRef<Value> partial) {
  SmallVector<Value> updated;
  for (auto [reduction, soFar] : llvm::zip(reductionsIn(pass), partial)) {
    Value value = elements.compute(reduction.getInput(), element);
    value = elements.masked(reduction.getKind(), value, element.isValid);
    updated.push_back(elements.combine(reduction.getKind(), soFar, value));
  }
  for (const Store &store : group.getStores())
    if (!group.isFinal(store.value) && isVisitedIn(pass, store.value))
      elements.store(elements.compute(store.value, element), store.access,
                     element);
  return updated;
}

/// Adds one element to the reductions over rows that are kept in memory.
void RowKernel::accumulateRows(Pass pass, Element &element) {
  for (size_t i = 0; i < partials.size(); ++i) {
    ReduceRowsOp op = group.getRowReductions()[i];
    if (isInRegisters(op) || !isVisitedIn(pass, op.getInput()))
      continue;
    Value value = elements.compute(op.getInput(), element);
    value = elements.masked(op.getKind(), value, element.isValid);
    Value soFar = elements.loadRaw(partials[i], element.column,
                                   getAccumulatorType(op), element.width);
    elements.storeRaw(elements.combine(op.getKind(), soFar, value), partials[i],
                      element.column);
  }
}

SmallVector<Value> RowKernel::forColumns(Value from, int64_t to, int64_t step,
                                         int64_t width, Pass pass, Value row,
                                         Value isActive,
                                         SmallVector<Value> partial) {
  auto loop = scf::ForOp::create(b, loc, from, elements.constant(to),
                                 elements.constant(step), partial);
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(loop.getBody());
  Element element;
  element.row = row;
  element.column = loop.getInductionVar();
  element.width = width;
  element.isValid = isActive;
  SmallVector<Value> updated =
      visitElement(pass, element, SmallVector<Value>(loop.getRegionIterArgs()));
  accumulateRows(pass, element);
  // A loop without results has its terminator already.
  if (!partial.empty())
    scf::YieldOp::create(b, loc, updated);
  return SmallVector<Value>(loop.getResults());
}

void RowKernel::emitPass(Pass pass, Value row, Value isActive,
                         MutableArrayRef<Value> accumulators) {
  int64_t columns = pass.columns;
  SmallVector<ReduceColumnsOp> reductions = reductionsIn(pass);
  auto identities = [&](int64_t width) {
    SmallVector<Value> values;
    for (ReduceColumnsOp op : reductions) {
      Type element = getComputeType(
          cast<RankedTensorType>(op.getInput().getType()).getElementType());
      values.push_back(elements.identity(op.getKind(),
                                         elements.widened(element, width)));
    }
    return values;
  };
  auto collapse = [&](SmallVectorImpl<Value> &values) {
    for (auto [op, value] : llvm::zip(reductions, values))
      value = elements.combineAll(op.getKind(), value);
  };

  int64_t width = schedule.vector;
  SmallVector<Value> partial = identities(width);
  if (schedule.holdsRow) {
    for (auto [i, element] : llvm::enumerate(held[columns])) {
      partial = visitElement(pass, element, partial);
      unsigned next = 0;
      for (ReduceRowsOp op : group.getRowReductions()) {
        if (isVisitedIn(pass, op.getInput())) {
          Value value = elements.compute(op.getInput(), element);
          value = elements.masked(op.getKind(), value, element.isValid);
          Value &slot = accumulators[next + i];
          slot = elements.combine(op.getKind(), slot, value);
        }
        next += vectorsHeld(op);
      }
    }
    collapse(partial);
  } else if (isCuda) {
    Value from = mul(threadX, elements.constant(width));
    partial = forColumns(from, columns, width * schedule.threads, width, pass,
                         row, isActive, partial);
    collapse(partial);
  } else {
    int64_t vectorEnd = columns - columns % width;
    if (vectorEnd > 0)
      partial = forColumns(elements.constant(0), vectorEnd, width, width, pass,
                           row, isActive, partial);
    collapse(partial);
    if (vectorEnd < columns)
      partial = forColumns(elements.constant(vectorEnd), columns, 1, 1, pass,
                           row, isActive, partial);
  }
  combineThreads(pass, partial);
  for (auto [op, value] : llvm::zip(reductions, partial)) {
    // The reduction's own element type may be narrower or wider.
    Type element = getComputeType(
        cast<RankedTensorType>(op.getType()).getElementType());
    if (value.getType() != element)
      value = value.getType().getIntOrFloatBitWidth() <
                      element.getIntOrFloatBitWidth()
                  ? arith::ExtFOp::create(b, loc, element, value).getResult()
                  : arith::TruncFOp::create(b, loc, element, value).getResult();
    elements.rowValues[op.getResult()] = value;
  }
}

/// Combines the threads of a row, in an order that depends on the schedule only:
/// within a warp by shuffles, between warps through shared memory.
void RowKernel::combineThreads(Pass pass, SmallVectorImpl<Value> &values) {
  if (!isCuda || schedule.threads == 1 || values.empty())
    return;
  SmallVector<ReduceColumnsOp> reductions = reductionsIn(pass);
  auto i32Constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  int64_t lanes = std::min<int64_t>(schedule.threads, 32);
  for (auto [op, value] : llvm::zip(reductions, values))
    for (int64_t offset = lanes / 2; offset > 0; offset /= 2) {
      Value other = NVVM::ShflOp::create(b, loc, value.getType(),
                                         i32Constant(-1), value,
                                         i32Constant(offset), i32Constant(31),
                                         NVVM::ShflKind::bfly, UnitAttr());
      value = elements.combine(op.getKind(), value, other);
    }
  int64_t warps = schedule.threads / 32;
  if (warps <= 1)
    return;
  // With several warps a row there is one row a block.
  auto type = LLVM::LLVMArrayType::get(b.getF32Type(), warps * values.size());
  std::string name = (kernel.getSymName() + "_level" + Twine(pass.level) +
                      "_columns" + Twine(pass.columns))
                         .str();
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPoint(kernel);
    LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/false,
                           LLVM::Linkage::Internal, name, Attribute(),
                           /*alignment=*/16, /*addrSpace=*/3);
  }
  Type pointer = LLVM::LLVMPointerType::get(b.getContext(), 3);
  Value shared = LLVM::AddressOfOp::create(b, loc, pointer, name);
  Value warp = arith::ShRUIOp::create(b, loc, threadX, elements.constant(5));
  Value lane = arith::AndIOp::create(b, loc, threadX, elements.constant(31));
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lane,
                                        elements.constant(0));
  // The row before may still be reading.
  NVVM::Barrier0Op::create(b, loc);
  auto write = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(write.thenBlock());
    for (auto [i, value] : llvm::enumerate(values))
      elements.storeRaw(value, shared,
                        add(warp, elements.constant(i * warps)));
  }
  NVVM::Barrier0Op::create(b, loc);
  for (auto [i, op] : llvm::enumerate(reductions)) {
    Value total;
    for (int64_t w = 0; w < warps; ++w) {
      Value part = elements.loadRaw(shared, elements.constant(i * warps + w),
                                    b.getF32Type(), 1);
      total = total ? elements.combine(op.getKind(), total, part) : part;
    }
    values[i] = total;
  }
}

//===----------------------------------------------------------------------===//
// Partial results
//===----------------------------------------------------------------------===//

/// Moves each pointer to partial results to this worker's own, and writes the
/// neutral element where they are kept in memory.
void RowKernel::initializePartials() {
  for (size_t i = 0; i < partials.size(); ++i) {
    ReduceRowsOp op = group.getRowReductions()[i];
    Value &pointer = partials[i];
    bool isFull = group.getPlacement(op.getInput()) == Placement::Full;
    Type type = getAccumulatorType(op);
    int64_t columns = columnsOf(op.getInput());
    Value first = mul(worker, elements.constant(isFull ? columns : 1));
    pointer = LLVM::GEPOp::create(b, loc, pointer.getType(), type, pointer,
                                  ArrayRef<LLVM::GEPArg>{first});
    if (isInRegisters(op))
      continue;
    auto fill = [&](Value from, int64_t to, int64_t step, int64_t width) {
      auto loop = scf::ForOp::create(b, loc, from, elements.constant(to),
                                     elements.constant(step));
      OpBuilder::InsertionGuard restore(b);
      b.setInsertionPointToStart(loop.getBody());
      elements.storeRaw(
          elements.identity(op.getKind(), elements.widened(type, width)),
          pointer, loop.getInductionVar());
    };
    int64_t width = schedule.vector;
    if (isCuda) {
      fill(mul(threadX, elements.constant(width)), columns,
           width * schedule.threads, width);
      continue;
    }
    int64_t vectorEnd = columns - columns % width;
    fill(elements.constant(0), vectorEnd, width, width);
    fill(elements.constant(vectorEnd), columns, 1, 1);
  }
}

/// Combines the rows that a block handles at once, in order: each thread's value
/// becomes, in those of the first row, that of all rows.
Value RowKernel::combineRows(ReductionKind kind, Value value) {
  if (!isCuda || schedule.rows == 1)
    return value;
  auto vector = dyn_cast<VectorType>(value.getType());
  int64_t width = vector ? vector.getNumElements() : 1;
  Value shared = getRowScratch();
  Value lane = mul(threadX, elements.constant(width));
  Value own = add(mul(threadY, elements.constant(schedule.threads * width)),
                  lane);
  NVVM::Barrier0Op::create(b, loc);
  elements.storeRaw(value, shared, own);
  NVVM::Barrier0Op::create(b, loc);
  Value total;
  for (int64_t row = 0; row < schedule.rows; ++row) {
    Value index =
        add(lane, elements.constant(row * schedule.threads * width));
    Value part = elements.loadRaw(shared, index, b.getF32Type(), width);
    total = total ? elements.combine(kind, total, part) : part;
  }
  return total;
}

/// Shared memory for one vector of each thread.
Value RowKernel::getRowScratch() {
  std::string name = (kernel.getSymName() + "_rows").str();
  auto module = kernel->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPoint(kernel);
    auto type = LLVM::LLVMArrayType::get(
        b.getF32Type(), schedule.rows * schedule.threads * schedule.vector);
    LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/false,
                           LLVM::Linkage::Internal, name, Attribute(),
                           /*alignment=*/16, /*addrSpace=*/3);
  }
  Type pointer = LLVM::LLVMPointerType::get(b.getContext(), 3);
  return LLVM::AddressOfOp::create(b, loc, pointer, name);
}

void RowKernel::storeHeldPartials(ValueRange accumulators) {
  auto isZero = [&](Value thread) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread,
                                 elements.constant(0));
  };
  unsigned next = 0;
  for (size_t number = 0; number < partials.size(); ++number) {
    ReduceRowsOp op = group.getRowReductions()[number];
    Value pointer = partials[number];
    int64_t columns = columnsOf(op.getInput());
    if (!isInRegisters(op))
      continue;
    bool isFull = group.getPlacement(op.getInput()) == Placement::Full;
    for (int64_t i = 0; i < vectorsHeld(op); ++i) {
      Value value = combineRows(op.getKind(), accumulators[next++]);
      Value column = elements.constant(0), mayStore;
      if (isCuda && schedule.rows > 1)
        mayStore = isZero(threadY);
      if (isFull) {
        int64_t stride = schedule.vector * schedule.threads;
        column = add(mul(threadX, elements.constant(schedule.vector)),
                     elements.constant(i * stride));
        if ((i + 1) * stride > columns)
          mayStore = both(mayStore, less(column, elements.constant(columns)));
      } else if (isCuda && schedule.threads > 1) {
        mayStore = both(mayStore, isZero(threadX));
      }
      if (!mayStore) {
        elements.storeRaw(value, pointer, column);
        continue;
      }
      auto guard =
          scf::IfOp::create(b, loc, mayStore, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard restore(b);
      b.setInsertionPointToStart(guard.thenBlock());
      elements.storeRaw(value, pointer, column);
    }
  }
}

func::FuncOp mlir::fuseops::emitRowKernel(const KernelGroup &group,
                                          const Schedule &schedule,
                                          KernelDevice device,
                                          bool roundIntermediates,
                                          StringRef name, OpBuilder &builder) {
  return RowKernel(group, schedule, device, roundIntermediates, builder)
      .emit(name);
}
