//===- RowBlocks.cpp - Blocks along the rows of a row kernel -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block of some columns of one row is visited at once: on CUDA by
// neighbouring threads with a vector each, on the CPU as neighbouring vectors.
// So its largest element is known where its elements are, in the same pass.
//
//===----------------------------------------------------------------------===//

#include "RowKernel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fuseops;

/// Columns of the widest block that `pass` may compute something of; 0 if there
/// is none.
int64_t RowKernel::getBlockColumns(Pass pass) {
  int64_t widest = 0;
  for (Operation *op : group.getRowOps())
    if (BlockShape shape = group.getBlocksOf(op);
        group.getLevel(op->getResult(0)) <= pass.level &&
        shape.matrix.columns == pass.columns)
      widest = std::max(widest, shape.columns);
  return widest;
}

/// Those vectors of `visited` that lie in the block of one of them, `element`.
MutableArrayRef<Element> RowKernel::vectorsOfBlock(const Element &element,
                                                   int64_t columns) {
  auto blockOf = [&](const Element &vector) {
    int64_t offset = 0;
    for (const Element *before = visited.begin(); before != &vector; ++before)
      offset += before->width;
    return offset / columns;
  };
  int64_t own = blockOf(element);
  Element *first = visited.begin();
  while (blockOf(*first) != own)
    ++first;
  Element *last = first;
  while (last != visited.end() && blockOf(*last) == own)
    ++last;
  return {first, last};
}

/// The block of `element`, in the matrix of blocks.
Element &RowKernel::getBlock(const Element &element, int64_t columns) {
  const Element &first = vectorsOfBlock(element, columns).front();
  std::unique_ptr<Element> &block = blocks[{first.column, columns}];
  if (!block) {
    block = std::make_unique<Element>();
    block->row = first.row;
    block->column = arith::DivUIOp::create(b, loc, first.column,
                                           elements.constant(columns));
    block->isValid = first.isValid;
  }
  return *block;
}

/// `value` of the block of `element`; all threads of the block get it.
Value RowKernel::computeBlock(Value value, const Element &element) {
  int64_t columns = group.getBlock(value).columns;
  Element &block = getBlock(element, columns);
  if (Value known = block.values.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (auto reduction = dyn_cast_if_present<ReduceBlocksOp>(op)) {
    Value result = reduceBlock(reduction, vectorsOfBlock(element, columns));
    block.values[value] = result;
    return result;
  }
  if (isa_and_present<PointwiseOp>(op))
    for (Value operand : op->getOperands())
      if (group.getPlacement(operand) == Placement::Block)
        computeBlock(operand, element);
  return elements.compute(value, block);
}

/// The largest element of a block, of which this thread has `vectors`.
Value RowKernel::reduceBlock(ReduceBlocksOp op,
                             MutableArrayRef<Element> vectors) {
  constexpr ReductionKind kind = ReductionKind::Max;
  Value total;
  for (Element &vector : vectors) {
    Value value = elements.compute(op.getInput(), vector);
    if (total && total.getType() != value.getType()) {
      total = elements.combineAll(kind, total);
      value = elements.combineAll(kind, value);
    }
    total = total ? elements.combine(kind, total, value) : value;
  }
  // Either all elements of a vector exist or none.
  total = elements.addend(kind, elementOf(op.getInput()),
                          elements.combineAll(kind, total),
                          vectors.front().isValid);
  int64_t threads = countBlockThreads(op.getBlockColumns());
  total =
      elements.combineLanes(kind, total, std::min<int64_t>(threads, 32) / 2, 1);
  return combineWarpsOfBlock(total, threads / 32);
}

/// Vectors of one or two elements leave a block to several warps, which meet in
/// shared memory. Every thread comes here, also one without a row or a column.
Value RowKernel::combineWarpsOfBlock(Value value, int64_t warps) {
  if (warps <= 1)
    return value;
  SmallVector<Type> types;
  for (Operation *op : group.getRowOps())
    if (auto reduction = dyn_cast<ReduceBlocksOp>(op))
      types.push_back(getAccumulatorType(elementOf(reduction.getInput())));
  Shared shared = elements.getShared(frame.kernel, "_blocks", types,
                                     schedule.threads * schedule.rows / 32);
  auto bits = [&](Value number, int64_t mask) -> Value {
    return arith::AndIOp::create(b, loc, number, elements.constant(mask));
  };
  Value thread = add(frame.threadX,
                     mul(frame.threadY, elements.constant(schedule.threads)));
  Value warp = arith::ShRUIOp::create(b, loc, thread, elements.constant(5));
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        bits(thread, 31), elements.constant(0));
  // The block before may still be read.
  NVVM::Barrier0Op::create(b, loc);
  auto write = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(write.thenBlock());
    elements.storeSlot(value, shared, warp);
  }
  NVVM::Barrier0Op::create(b, loc);
  Value first = bits(warp, -warps);
  Value total;
  for (int64_t i = 0; i < warps; ++i) {
    Value part = elements.loadSlot(shared, add(first, elements.constant(i)),
                                   value.getType());
    total = total ? elements.combine(ReductionKind::Max, total, part) : part;
  }
  return total;
}

/// What has one element a block and is known first in `pass`.
SmallVector<Store> RowKernel::blockStoresIn(Pass pass) {
  return llvm::filter_to_vector(group.getStores(), [&](const Store &store) {
    BlockShape shape = group.getBlock(store.value);
    return !group.isFinal(store.value) && shape.isVisited() &&
           group.getLevel(store.value) == pass.level &&
           shape.matrix.columns == pass.columns;
  });
}

/// Whether the thread has the first vector of its block; null where it has all.
Value RowKernel::isFirstOfBlock(int64_t columns) {
  int64_t threads = countBlockThreads(columns);
  if (threads == 1)
    return {};
  Value number = arith::AndIOp::create(b, loc, frame.threadX,
                                       elements.constant(threads - 1));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, number,
                               elements.constant(0));
}

/// Writes what `vectors`, which have been visited, know of their blocks: after
/// all else, since a branch would keep apart what should be under way together.
void RowKernel::storeBlocks(Pass pass, MutableArrayRef<Element> vectors) {
  SmallVector<Store> stores = blockStoresIn(pass);
  for (Element &element : vectors)
    for (const Store &store : stores) {
      visited = isCuda ? MutableArrayRef<Element>(element) : vectors;
      int64_t columns = group.getBlock(store.value).columns;
      if (&vectorsOfBlock(element, columns).front() != &element)
        continue;
      Value value = computeBlock(store.value, element);
      Element block;
      block.row = element.row;
      block.column = getBlock(element, columns).column;
      block.isValid = both(element.isValid, isFirstOfBlock(columns));
      elements.store(value, store.access, block);
    }
}

/// Writes what blocks are joined with: the first worker does, since no row has
/// it.
void RowKernel::storeFills() {
  for (const Store &store : group.getStores()) {
    if (group.isFinal(store.value) ||
        group.getPlacement(store.value) != Placement::Block ||
        group.getBlock(store.value).isVisited())
      continue;
    auto isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                         frame.worker, elements.constant(0));
    auto guard = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(guard.thenBlock());
    Value from = elements.constant(0);
    int64_t threads = 1;
    if (isCuda) {
      threads = schedule.threads * schedule.rows;
      from = add(frame.threadX,
                 mul(frame.threadY, elements.constant(schedule.threads)));
    }
    auto type = cast<RankedTensorType>(store.value.getType());
    auto loop = scf::ForOp::create(b, loc, from,
                                   elements.constant(getNumElements(type)),
                                   elements.constant(threads));
    b.setInsertionPointToStart(loop.getBody());
    Value width = elements.constant(getColumns(type));
    Element element;
    element.row = arith::DivUIOp::create(b, loc, loop.getInductionVar(), width);
    element.column =
        arith::RemUIOp::create(b, loc, loop.getInductionVar(), width);
    elements.store(elements.compute(store.value, element), store.access,
                   element);
  }
}

/// Visits the columns from `from` on, which is where a block begins and which
/// are too few for another iteration. All threads do, so that they can exchange
/// what they have.
SmallVector<Value> RowKernel::visitRest(int64_t from, Pass pass, Value row,
                                        Value isActive,
                                        SmallVector<Value> partial) {
  SmallVector<Element> rest;
  if (isCuda) {
    int64_t end = schedule.getVectorsPerThread(pass.columns);
    for (int64_t i = from / schedule.getWidth(); i < end; ++i) {
      Element &element = rest.emplace_back(locate(row, i, pass.columns));
      element.isValid = both(element.isValid, isActive);
      if (schedule.prefetch)
        readAhead(pass, element, i);
    }
  } else {
    // Vectors, and at the end of the row ever shorter ones.
    for (int64_t width = schedule.vector; from < pass.columns; from += width) {
      while (width > pass.columns - from)
        width /= 2;
      Element &element = rest.emplace_back();
      element.row = row;
      element.column = elements.constant(from);
      element.width = width;
    }
  }
  partial = visitTogether(pass, rest, partial);
  storeBlocks(pass, rest);
  return partial;
}
