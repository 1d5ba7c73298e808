//===- ConstantOp.cpp - Tensors that are part of the program -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace mlir::fuseops;

LogicalResult ConstantOp::verify() {
  RankedTensorType type = getType();
  if (!type.hasStaticShape())
    return emitOpError() << "expected a tensor of known size, but got " << type;
  if (isa<DenseElementsAttr>(getValue()))
    return success();
  auto resource = dyn_cast<DenseResourceElementsAttr>(getValue());
  if (!resource)
    return emitOpError() << "expected `dense` or `dense_resource` elements";
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob)
    return emitOpError() << "expected the resource `"
                         << resource.getRawHandle().getKey()
                         << "` to have data";
  Extent bytes = getNumBytes(type);
  if (static_cast<int64_t>(blob->getData().size()) != bytes.constant)
    return emitOpError() << "expected a resource of " << bytes.constant
                         << " bytes, but got " << blob->getData().size();
  return success();
}

std::vector<uint8_t> ConstantOp::getBytes() {
  auto copy = [](ArrayRef<char> data) {
    return std::vector<uint8_t>(data.begin(), data.end());
  };
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(getValue()))
    return copy(resource.getRawHandle().getBlob()->getData());
  auto dense = cast<DenseElementsAttr>(getValue());
  if (dense.getElementType().isInteger(1)) {
    auto values = dense.getValues<bool>();
    return std::vector<uint8_t>(values.begin(), values.end());
  }
  std::vector<uint8_t> bytes = copy(dense.getRawData());
  if (!dense.isSplat())
    return bytes;
  std::vector<uint8_t> all;
  for (int64_t i = 0; i < dense.getNumElements(); ++i)
    all.insert(all.end(), bytes.begin(), bytes.end());
  return all;
}
