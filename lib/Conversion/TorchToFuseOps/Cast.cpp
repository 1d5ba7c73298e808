//===- Cast.cpp - Dtype conversions -------------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Float8.h"
#include "PointwiseTable.h"

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
  Operation *op = call.getOperation();
  FloatType format = getFloat8(op->getResult(0).getType());
  if (format && format != getFloat8(op->getOperand(0).getType()))
    return convertToFloat8(call, format);
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

void mlir::fuseops::addCastHandlers(TorchHandlers &handlers) {
  handlers.add("aten._to_copy", 1, 7, convertCast);
  handlers.add("aten.to.device", 3, 6, convertCast);
  handlers.add("aten.to.dtype", 2, 5, convertCast);
  handlers.add("aten.to.dtype_layout", 2, 8, convertCast);
  handlers.add("aten.to.other", 2, 5, convertCast);
  handlers.add("aten.type_as", 2, 2, convertCast);
  for (StringRef dtype :
       {"Float", "Double", "Half", "Int", "Long", "Short", "Char", "Byte"})
    handlers.add(("aten._cast_" + dtype).str(), 1, 2, convertCast);
  handlers.add("prims.convert_element_type", 2, 2, convertCast);
}
