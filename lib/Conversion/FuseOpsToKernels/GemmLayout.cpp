//===- GemmLayout.cpp - How a product's kernel uses its shared memory -----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmLayout.h"

#include "FuseOps/Dialect/FuseOps/Layout.h"

using namespace mlir;
using namespace mlir::fuseops;

/// The store as the copy engine can make it: of whole rows of the result, one
/// after the other, that begin at multiples of 16 bytes.
static std::optional<MappedStore> mapStore(const KernelGroup &group,
                                           const Store &store) {
  const Access &access = store.access;
  int64_t bytes = getElementBytes(access.element);
  bool isPacked = access.offset == Extent() && access.isContiguous() &&
                  access.rows.size() == 1 &&
                  access.rows[0].divisor == Extent{1, 0} &&
                  !access.rows[0].extent && !access.rows[0].count &&
                  access.rows[0].stride == Extent{group.getSpace().columns, 0};
  if (group.getPlacement(store.value) != Placement::Full || !isPacked ||
      bytes > 4 || !isa<FloatType>(access.element) ||
      group.getSpace().columns * bytes % 16 != 0)
    return std::nullopt;
  return MappedStore{&store, bytes};
}

GemmLayout::GemmLayout(const KernelGroup &group, const Schedule &schedule)
    : tileRows(schedule.tileRows), tileColumns(schedule.tileColumns),
      stages(schedule.stages), warpgroups(schedule.warpgroups),
      storeBuffers(schedule.storeBuffers), pingPong(schedule.pingPong),
      elementBytes(getElementBytes(group.getProduct()->a.getElementType())) {
  columnTiles = llvm::divideCeil(group.getProduct()->n, tileColumns);
  aBytes = tileRows * kStageRowBytes;
  bBytes = tileColumns * kStageRowBytes;
  bStages = stages * aBytes;
  stores = bStages + stages * bBytes;
  barriers = stores + warpgroups * 4 * storeBuffers * kStoreBytes;
  for (const Store &store : group.getStores())
    mapped.push_back(mapStore(group, store));
}

int64_t GemmLayout::countStores() const {
  int64_t boxes = 0;
  for (const std::optional<MappedStore> &store : mapped)
    if (store)
      boxes += kStoreColumns / store->getBoxColumns();
  return boxes * (getOwnRows() / kMmaRows) * (tileColumns / kStoreColumns);
}

/// An operand's matrix as it is stored, in boxes that fill a stage.
static TensorMapAttr mapOperand(const Product::Operand &operand,
                                const GemmLayout &layout, int64_t boxRows) {
  auto type = cast<RankedTensorType>(operand.tensor.getType());
  auto argument = cast<BlockArgument>(skipReshapes(operand.tensor));
  int64_t columns = getColumns(type);
  return TensorMapAttr::get(
      type.getContext(), argument.getArgNumber(), columns,
      getNumElements(type, 1).asArray(), columns, layout.getDepth(),
      operand.isKMajor ? boxRows : layout.getDepth(), kStageRowBytes,
      /*batch=*/{}, /*batchPitch=*/0);
}

SmallVector<TensorMapAttr>
mlir::fuseops::getGemmMaps(const KernelGroup &group, const GemmLayout &layout) {
  const Product &product = *group.getProduct();
  SmallVector<TensorMapAttr> maps = {
      mapOperand(product.a, layout, layout.tileRows),
      mapOperand(product.b, layout, layout.tileColumns)};
  int64_t columns = group.getSpace().columns;
  GroupOp op = group.getGroup();
  auto yield = cast<YieldOp>(op.getBody().front().getTerminator());
  // What a finalize kernel computes is no output of this one.
  auto findTensor = [&](unsigned output) -> int64_t {
    return op.getInputs().size() +
           llvm::count_if(yield.getValues().take_front(output),
                          [&](Value value) { return !group.isFinal(value); });
  };
  for (const std::optional<MappedStore> &mapped : layout.mapped) {
    if (!mapped)
      continue;
    int64_t boxColumns = mapped->getBoxColumns();
    maps.push_back(TensorMapAttr::get(
        product.op->getContext(), findTensor(mapped->store->output), columns,
        product.m.asArray(), columns, boxColumns, kStoreRows,
        boxColumns * mapped->elementBytes, /*batch=*/{}, /*batchPitch=*/0));
  }
  return maps;
}
