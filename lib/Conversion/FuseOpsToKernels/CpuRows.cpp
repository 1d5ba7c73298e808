//===- CpuRows.cpp - How a row kernel walks memory on the CPU ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowKernel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::fuseops;

/// Bytes of a row that leave the first cache room for the row before, and the
/// second one.
static constexpr int64_t kFirstCacheBytes = 16 << 10;
static constexpr int64_t kSecondCacheBytes = 512 << 10;

static constexpr int64_t kLineBytes = 64;

bool RowKernel::isMadeOfPairs() {
  // A sum over rows in f32 is read and written.
  int64_t pairs = 0, others = 2 * group.getRowReductions().size();
  auto count = [&](const Access &access) {
    if (access.hasColumns())
      ++(access.isContiguous() && access.element.isBF16() ? pairs : others);
  };
  for (Value value : group.getReadValues())
    if (std::optional<Access> access = group.getAccess(value))
      count(*access);
  for (const Store &store : group.getStores())
    if (!group.isFinal(store.value))
      count(store.access);
  return pairs > 0 && pairs >= others;
}

/// What the passes before the last one read of each row of `columns`, one after
/// the other in memory.
SmallVector<Access> RowKernel::findEarlyReads(int64_t columns) {
  llvm::SetVector<Value> values;
  for (unsigned level = 0; level + 1 < group.getNumLevels(); ++level)
    values.insert_range(findReads({level, columns}, Element()));
  SmallVector<Access> reads;
  for (Value value : values) {
    Access access = *group.getAccess(value);
    if (group.getPlacement(value) == Placement::Full && access.isContiguous() &&
        access.rows.size() == 1 && access.rows[0].divisor == Extent{1, 0})
      reads.push_back(access);
  }
  return reads;
}

/// The first pass over a row waits for memory, and the last one, which finds
/// the row in the cache, leaves memory idle: it asks for the next row.
void RowKernel::prefetchNextRow(Pass pass, const Element &element) {
  if (element.width == 1 || pass.level == 0 ||
      pass.level + 1 != group.getNumLevels())
    return;
  SmallVector<Access> reads = findEarlyReads(pass.columns);
  int64_t rowBytes = 0;
  for (const Access &access : reads)
    rowBytes += pass.columns * getElementBytes(access.element);
  if (rowBytes > kSecondCacheBytes)
    return;
  Element next;
  next.row = add(element.row, elements.constant(1));
  for (const Access &access : reads) {
    int64_t bytes = getElementBytes(access.element);
    for (int64_t i = 0; i < element.width; i += kLineBytes / bytes) {
      next.column = add(element.column, elements.constant(i));
      LLVM::Prefetch::create(b, loc, elements.pointerTo(access, next), /*rw=*/0,
                             /*hint=*/rowBytes <= kFirstCacheBytes ? 3 : 2,
                             /*cache=*/1);
    }
  }
}
