//===- Extent.cpp - Sizes that depend on the symbol -----------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/Extent.h"

#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fuseops;

Extent Extent::fromArray(ArrayRef<int64_t> values) {
  assert(values.size() <= 4 && "a size has four factors");
  SmallVector<int64_t> all(values);
  all.resize(4);
  return {all[0], all[1], all[2], all[3]};
}

SmallVector<int64_t> Extent::asArray() const {
  SmallVector<int64_t> values = {constant, perSymbol, perBlock32, perBlock128};
  while (values.size() > 2 && values.back() == 0)
    values.pop_back();
  return values;
}

Extent mlir::fuseops::multiply(Extent a, Extent b) {
  assert((a.isConstant() || b.isConstant()) &&
         "a type has one symbolic size at most");
  Extent scaled = b.isConstant() ? a : b;
  int64_t factor = b.isConstant() ? b.constant : a.constant;
  return scaled.map([=](int64_t size) {
    int64_t product;
    return llvm::MulOverflow(size, factor, product)
               ? kMaxCount
               : std::min(product, kMaxCount);
  });
}

Extent mlir::fuseops::getExtent(RankedTensorType type, unsigned dim) {
  if (!type.isDynamicDim(dim))
    return {type.getDimSize(dim)};
  auto blocks = dyn_cast_if_present<BlocksAttr>(type.getEncoding());
  if (!blocks)
    return {0, 1};
  return blocks.getSize() == 32 ? Extent{0, 0, 1, 0} : Extent{0, 0, 0, 1};
}

Extent mlir::fuseops::getNumElements(RankedTensorType type, unsigned dropped) {
  int64_t count = 1;
  Extent symbolic = {1};
  int64_t end = type.getRank() - std::min<int64_t>(dropped, type.getRank());
  for (int64_t dim = 0; dim < end; ++dim) {
    if (type.isDynamicDim(dim))
      symbolic = getExtent(type, dim);
    else
      count *= type.getDimSize(dim);
  }
  return symbolic * count;
}

int64_t mlir::fuseops::getElementBytes(Type elementType) {
  return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

Extent mlir::fuseops::getNumBytes(RankedTensorType type) {
  return getNumElements(type) * getElementBytes(type.getElementType());
}
