//===- Float8.cpp - Conversions to FP8 and products of FP8 tensors -------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Float8.h"

#include "Contraction.h"
#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "FuseOps/Dialect/Torch/Torch.h"
#include "TorchCall.h"

#include <limits>

using namespace mlir;
using namespace mlir::fuseops;

FloatType mlir::fuseops::getFloat8(Type type) {
  Type dtype;
  if (auto tensor = dyn_cast<torch::ValueTensorType>(type))
    dtype = tensor.getDtype();
  else if (auto written = dyn_cast<torch::MutableTensorType>(type))
    dtype = written.getDtype();
  if (isa_and_present<Float8E4M3FNType, Float8E5M2Type>(dtype))
    return cast<FloatType>(dtype);
  return {};
}

/// `x` rounded to `format` as PyTorch does: unlike a quantization it doesn't
/// saturate. What is too large becomes NaN where the format has no infinity.
static Value roundToFloat8(ScalarMath &math, Value x, FloatType format) {
  Value code = arith::TruncFOp::create(math.builder, math.loc, format, x);
  Value rounded =
      arith::ExtFOp::create(math.builder, math.loc, math.type, code);
  Value size = math.abs(x);
  if (isa<Float8E4M3FNType>(format)) {
    // Half way from 448 to the next step, 480, goes to 448, which is even.
    Value isLarge = math.greater(size, math.constant(464.0));
    Value nan = math.constant(std::numeric_limits<double>::quiet_NaN());
    return math.select(isLarge, nan, rounded);
  }
  // Half way from 57344 to 65536 goes up.
  Value isLarge =
      math.compare(ScalarMath::Predicate::OGE, size, math.constant(61440.0));
  Value infinity = math.constant(std::numeric_limits<double>::infinity());
  return math.select(isLarge, math.copySign(infinity, x), rounded);
}

LogicalResult mlir::fuseops::convertToFloat8(TorchCall &call,
                                             FloatType format) {
  FailureOr<Value> input = call.tensor(0);
  if (failed(input))
    return failure();
  FailureOr<RankedTensorType> result = call.resultType();
  if (failed(result))
    return failure();
  Type from = getElementTypeOrSelf(*input);
  if (!isComputeFloat(from) && !isa<IntegerType>(from))
    return call.refuse("expected a conversion from f16, bf16, f32, f64, "
                       "integers or bools, but got " +
                       print(input->getType()));
  // From f64 PyTorch, too, rounds to f32 first.
  Type f32 = call.builder.getF32Type();
  auto body = [&](OpBuilder &builder, Location loc,
                  ValueRange scalars) -> SmallVector<Value> {
    ScalarMath math(builder, loc, f32);
    Value x = convertElement(builder, loc, scalars[0], from, f32);
    return {roundToFloat8(math, x, format)};
  };
  return call.set(
      0, PointwiseOp::build(call.builder, call.getLoc(), *result, *input, body)
             .getResult(0));
}

/// _scaled_mm (lhs, rhs, lhs scale, rhs scale, bias, result scale, dtype, fast
/// accumulation): scales of the whole operand, or of rows and of columns.
static LogicalResult convertScaledProduct(TorchCall &call) {
  SmallVector<Value> factors;
  for (unsigned index : {0, 1}) {
    Type type = call.getOperation()->getOperand(index).getType();
    if (!getFloat8(type))
      return call.refuse("expected operand " + Twine(index) +
                         " to be f8E4M3FN or f8E5M2, but got " + print(type));
    FailureOr<Value> factor = call.tensor(index);
    if (failed(factor))
      return failure();
    factors.push_back(*factor);
  }
  FailureOr<RankedTensorType> result = call.resultType();
  if (failed(result))
    return failure();
  if (getFloat8(call.getOperation()->getResult(0).getType()) ||
      !isComputeFloat(result->getElementType()) || !call.isNone(5))
    return call.refuse("expected a result of f16, bf16 or f32 without a scale");
  SmallVector<Value> operands(1);
  for (unsigned index : {2, 3}) {
    FailureOr<Value> scale = call.floatTensor(index);
    if (failed(scale))
      return failure();
    auto type = cast<RankedTensorType>(scale->getType());
    if (getNumElements(type) == Extent{1, 0})
      scale = reshapeTo(call.builder, call.getLoc(), *scale, {});
    else if (!isBroadcastableTo(type, *result) || type.getRank() != 2)
      return call.refuse("expected one scale, or one for each row of the left "
                         "and each column of the right operand, but got " +
                         print(type));
    operands.push_back(*scale);
  }
  FailureOr<Value> bias = call.optionalFloatTensor(4);
  if (failed(bias))
    return failure();
  if (*bias) {
    if (!isBroadcastableTo(cast<RankedTensorType>(bias->getType()), *result))
      return call.refuse("expected a bias that broadcasts to the result");
    operands.push_back(*bias);
  }
  FailureOr<Value> product = buildMatrixProduct(
      call, result->clone(call.builder.getF32Type()), factors[0], factors[1]);
  if (failed(product))
    return failure();
  operands[0] = *product;
  auto body = [](ScalarMath &math, ArrayRef<Value> s) {
    Value scaled = math.mul(math.mul(s[0], s[1]), s[2]);
    return s.size() == 4 ? math.add(scaled, s[3]) : scaled;
  };
  return call.set(0, call.pointwise(*result, operands, body));
}

void mlir::fuseops::addScaledProductHandlers(TorchHandlers &handlers) {
  handlers.add("aten._scaled_mm", 4, 8, convertScaledProduct);
}
