//===- Cast.cpp - Dtype conversions and tensor constants ----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/Torch/Torch.h"
#include "PointwiseTable.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace mlir::fuseops;

/// The result's type says the dtype, whatever the operands are.
static LogicalResult convertCast(TorchCall &call) {
  FailureOr<TorchValue> input = call.value(0);
  if (failed(input))
    return failure();
  FailureOr<RankedTensorType> result = call.resultType();
  if (failed(result))
    return failure();
  if (*result == input->type)
    return call.set(0, *input);
  if (!input->type)
    return call.refuse("expected operand 0 to be a tensor, but got a list");
  Type from = input->type.getElementType(), to = result->getElementType();
  auto isNumber = [](Type type) {
    return isComputeFloat(type) || isa<IntegerType>(type);
  };
  if (!isNumber(from) || !isNumber(to)) {
    std::string text;
    llvm::raw_string_ostream(text) << "`" << from << "` to `" << to << "`";
    return call.refuse("expected a conversion between f16, bf16, f32, f64, "
                       "integers and bools, but got " +
                       text);
  }
  if (input->kind == TorchValue::Kind::Splat) {
    input->constant = convertNumber(input->constant, to);
    input->type = input->type.clone(to);
    return call.set(0, *input);
  }
  FailureOr<Value> tensor = call.tensor(0);
  if (failed(tensor))
    return failure();
  return call.set(0, buildCast(call, *tensor, to));
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
  }
  FailureOr<RankedTensorType> type = call.resultType();
  if (failed(type))
    return failure();
  if (!call.isResultUsed(0))
    return success();
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense || !dense.isSplat())
    return call.refuse("a tensor constant of different elements isn't "
                       "supported: pass it as an argument");
  if (dense.getType().getShape() != type->getShape())
    return call.refuse("expected a constant of the result's shape");
  TorchValue splat;
  splat.kind = TorchValue::Kind::Splat;
  splat.type = *type;
  if (isa<FloatType>(dense.getElementType())) {
    APFloat number = dense.getSplatValue<APFloat>();
    bool losesInfo = false;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    splat.constant = TorchNumber::get(number.convertToDouble());
  } else if (auto integer = dyn_cast<IntegerType>(dense.getElementType())) {
    APInt number = dense.getSplatValue<APInt>();
    bool isSigned = !integer.isUnsigned() && integer.getWidth() > 1;
    splat.constant = TorchNumber::getInteger(
        isSigned ? number.getSExtValue()
                 : static_cast<int64_t>(number.getZExtValue()));
  } else {
    return call.refuse("expected a constant of real numbers");
  }
  return call.set(0, splat);
}

void mlir::fuseops::addCastHandlers(TorchHandlers &handlers) {
  handlers.add("aten._to_copy", 1, 7, convertCast);
  handlers.add("aten.to.dtype", 2, 5, convertCast);
  handlers.add("aten.to.dtype_layout", 2, 8, convertCast);
  handlers.add("aten.to.other", 2, 5, convertCast);
  handlers.add("aten.type_as", 2, 2, convertCast);
  handlers.add("prims.convert_element_type", 2, 2, convertCast);
  handlers.add("vtensor.literal", 0, 0, convertLiteral);
}
