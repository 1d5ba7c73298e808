//===- Literal.cpp - Tensors in the program -----------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Float8.h"
#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "FuseOps/Dialect/Torch/Torch.h"
#include "TorchCall.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace mlir::fuseops;

/// The number that all elements of `dense` are.
static TorchNumber getSplatNumber(DenseElementsAttr dense) {
  if (isa<FloatType>(dense.getElementType())) {
    APFloat number = dense.getSplatValue<APFloat>();
    bool losesInfo = false;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return TorchNumber::get(number.convertToDouble());
  }
  auto integer = cast<IntegerType>(dense.getElementType());
  APInt number = dense.getSplatValue<APInt>();
  bool isSigned = !integer.isUnsigned() && integer.getWidth() > 1;
  return TorchNumber::getInteger(
      isSigned ? number.getSExtValue()
               : static_cast<int64_t>(number.getZExtValue()));
}

/// `value` as elements of `type`, which has the same bits; fails where the
/// number of bytes isn't right.
static FailureOr<ElementsAttr> getElements(ElementsAttr value,
                                           RankedTensorType type) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  if (!resource) {
    auto dense = cast<DenseElementsAttr>(value);
    return ElementsAttr(dense.getElementType() == type.getElementType()
                            ? dense
                            : dense.bitcast(type.getElementType()));
  }
  ArrayRef<char> data = resource.getRawHandle().getBlob()->getData();
  if (static_cast<int64_t>(data.size()) != getNumBytes(type).constant)
    return failure();
  if (value.getElementType() == type.getElementType())
    return value;
  return ElementsAttr(
      DenseResourceElementsAttr::get(type, resource.getRawHandle()));
}

static LogicalResult convertLiteral(TorchCall &call) {
  auto literal = dyn_cast<torch::LiteralOp>(call.getOperation());
  if (!literal)
    return call.refuse("expected a literal");
  ElementsAttr value = literal.getValue();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    StringRef key = resource.getRawHandle().getKey();
    if (key == "__elided__")
      return call.refuse("weights are elided (`__elided__`): print the module "
                         "with its resources");
    if (!resource.getRawHandle().getBlob())
      return call.refuse("the resource `" + key + "` has no data");
  } else if (!isa<DenseElementsAttr>(value)) {
    return call.refuse("expected `dense` or `dense_resource` elements");
  }
  FailureOr<RankedTensorType> type = call.resultType();
  if (failed(type))
    return failure();
  if (!call.isResultUsed(0))
    return success();
  if (value.getShapedType().getShape() != type->getShape())
    return call.refuse("expected a constant of the result's shape");
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (dense && dense.isSplat()) {
    TorchValue splat;
    splat.kind = TorchValue::Kind::Splat;
    splat.type = *type;
    splat.constant = getSplatNumber(dense);
    return call.set(0, splat);
  }
  FloatType format = getFloat8(literal->getResult(0).getType());
  RankedTensorType stored = format ? type->clone(format) : *type;
  FailureOr<ElementsAttr> elements = getElements(value, stored);
  if (failed(elements))
    return call.refuse("expected a resource of as many bytes as " +
                       print(stored) + " has");
  Value constant =
      ConstantOp::create(call.builder, call.getLoc(), stored, *elements);
  return call.set(0, broadcastTo(call.builder, call.getLoc(), constant, *type));
}

void mlir::fuseops::addLiteralHandlers(TorchHandlers &handlers) {
  handlers.add("vtensor.literal", 0, 0, convertLiteral);
}
