//===- GemmLayout.cpp - How a product's kernel uses its shared memory -----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmLayout.h"

#include "ElementBuilder.h"

#include "FuseOps/Dialect/FuseOps/Layout.h"

using namespace mlir;
using namespace mlir::fuseops;

/// The store as the copy engine can make it: of one part of each row of the
/// result, which begin at multiples of 16 bytes.
static std::optional<MappedStore> mapStore(const KernelGroup &group,
                                           const Store &store, unsigned map) {
  const Access &access = store.access;
  int64_t bytes = getElementBytes(access.element);
  if (group.getPlacement(store.value) != Placement::Full ||
      !access.isContiguous() || !access.offset.isConstant() ||
      access.rows.size() != 1 || bytes > 4 || !isa<FloatType>(access.element))
    return std::nullopt;
  const RowDigit &rows = access.rows[0];
  int64_t offset = access.offset.constant, pitch = rows.stride.constant;
  bool isPacked = rows.divisor == Extent{1, 0} && !rows.extent && !rows.count &&
                  rows.stride.isConstant() && offset + access.columns <= pitch;
  if (!isPacked || pitch * bytes % 16 != 0)
    return std::nullopt;
  return MappedStore{&store, bytes, offset, pitch, map};
}

static bool isTransposed(const KernelGroup &group, const Store &store) {
  const Access &access = store.access;
  return group.getPlacement(store.value) == Placement::Full &&
         isFp8(access.element) && access.rows.size() == 1 &&
         access.isLinear() && access.rows[0].stride == Extent{1, 0} &&
         access.hasColumns() && !access.isContiguous();
}

int64_t mlir::fuseops::countSpanColumns(const KernelGroup &group) {
  int64_t columns = kStoreColumns;
  for (Operation *op : group.getRowOps())
    columns = std::max(columns, group.getBlocksOf(op).columns);
  return columns;
}

GemmLayout::GemmLayout(const KernelGroup &group, const Schedule &schedule)
    : tileRows(schedule.tileRows), tileColumns(schedule.tileColumns),
      stages(schedule.stages), warpgroups(schedule.warpgroups),
      storeBuffers(schedule.storeBuffers), pingPong(schedule.pingPong),
      elementBytes(getElementBytes(group.getProduct()->a.getElementType())) {
  columns = group.getSpace().columns;
  parts = group.isHalved() ? 2 : 1;
  int64_t together = countSpanColumns(group);
  cluster = together > getPartColumns() ? 2 : 1;
  spanColumns = std::min(together, getPartColumns());
  columnTiles =
      llvm::alignTo(llvm::divideCeil(columns, getPartColumns()), cluster);
  for (Operation *op : group.getRowOps())
    if (auto reduction = dyn_cast<ReduceBlocksOp>(op))
      if (static_cast<int64_t>(reduction.getBlockColumns()) > spanColumns)
        blockReductions.push_back(reduction);
  aBytes = tileRows * kStageRowBytes;
  bBytes = tileColumns * kStageRowBytes;
  bStages = stages * aBytes;
  stores = bStages + stages * bBytes;
  transposes = stores + warpgroups * 4 * storeBuffers * kStoreBytes;
  numMaps = 2;
  for (const Store &store : group.getStores()) {
    mapped.push_back(mapStore(group, store, numMaps));
    if (mapped.back())
      numMaps += countParts(store);
    transposed.push_back(isTransposed(group, store));
  }
  int64_t numTransposed = llvm::count(transposed, true);
  messages = transposes + warpgroups * 2 * kTransposedBytes * numTransposed;
  barriers = messages + warpgroups * 2 * getMessageBytes();
  groups = barriers + 16 * (stages + (cluster > 1 ? warpgroups : 0));
  const Product &product = *group.getProduct();
  groupBytes = product.isGrouped() ? 8 * (product.numGroups + 2) : 0;
}

int64_t GemmLayout::countParts(const Store &store) const {
  return store.access.columns / columns;
}

int64_t GemmLayout::countOpenStores(const KernelGroup &group) const {
  SmallVector<int64_t> counts(group.getNumLevels(), 0);
  for (const std::optional<MappedStore> &store : mapped)
    if (store)
      counts[group.getLevel(store->store->value)] += countParts(*store->store);
  return *llvm::max_element(counts);
}

/// An operand's matrix as it is stored, in boxes that fill a stage.
static TensorMapAttr mapOperand(const Product::Operand &operand,
                                const GemmLayout &layout, int64_t boxRows) {
  auto type = cast<RankedTensorType>(operand.tensor.getType());
  auto argument = cast<BlockArgument>(skipReshapes(operand.tensor));
  SmallVector<int64_t> columns = getExtent(type, type.getRank() - 1).asArray();
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
      mapOperand(product.b, layout, layout.getPartColumns())};
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
    for (int64_t part = 1; part <= layout.countParts(*mapped->store); ++part) {
      // What lies beyond a part of a row is not of this store.
      Extent columns{mapped->offset + part * layout.columns};
      maps.push_back(TensorMapAttr::get(
          product.op->getContext(), findTensor(mapped->store->output),
          columns.asArray(), group.getSpace().rows.asArray(),
          Extent{mapped->pitch}.asArray(), boxColumns, kStoreRows,
          boxColumns * mapped->elementBytes, /*batch=*/{}, /*batchPitch=*/0));
    }
  }
  return maps;
}
