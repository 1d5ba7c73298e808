//===- BitView.cpp - The bits of a tensor as another dtype ---------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "TorchCall.h"

using namespace mlir;
using namespace mlir::fuseops;

/// The bits of `scalar`, an element of dtype `dtype` in its compute type.
static Value getBits(OpBuilder &builder, Location loc, Value scalar,
                     Type dtype) {
  if (isa<IntegerType>(dtype))
    return scalar;
  if (scalar.getType() != dtype)
    scalar = arith::TruncFOp::create(builder, loc, dtype, scalar);
  Type bits = builder.getIntegerType(dtype.getIntOrFloatBitWidth());
  return arith::BitcastOp::create(builder, loc, bits, scalar);
}

/// view.dtype: each element is cut into as many of the result's as it has room
/// for, lowest bits first.
static LogicalResult convertBitView(TorchCall &call) {
  FailureOr<Value> input = call.tensor(0);
  if (failed(input))
    return failure();
  FailureOr<RankedTensorType> result = call.resultType();
  if (failed(result))
    return failure();
  Operation *op = call.getOperation();
  auto type = cast<RankedTensorType>(input->getType());
  Type from = type.getElementType(), to = result->getElementType();
  unsigned width = from.getIntOrFloatBitWidth();
  unsigned part = to.getIntOrFloatBitWidth();
  // Only what a kernel stores bit by bit: f16 and bf16 go through f32.
  bool isStored = isa<IntegerType>(to) || to.isF32() || to.isF64();
  if (!isStored || part < 8 || width < part)
    return call.refuse("expected a view as integers, f32 or f64 that are no "
                       "wider, but got " +
                       print(op->getOperand(0).getType()) + " as " +
                       print(op->getResult(0).getType()));
  int64_t parts = width / part;
  OpBuilder &builder = call.builder;
  Location loc = call.getLoc();
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(1);
  Value value = reshapeTo(builder, loc, *input, shape);
  shape.back() = parts;
  auto body = [&](OpBuilder &inner, Location place,
                  ValueRange scalars) -> SmallVector<Value> {
    Value bits = getBits(inner, place, scalars[0], from);
    if (parts > 1) {
      Type index = inner.getI64Type();
      Value column = ColumnIndexOp::create(inner, place, index);
      Value shift = arith::MulIOp::create(
          inner, place, column,
          arith::ConstantOp::create(inner, place,
                                    inner.getI64IntegerAttr(part)));
      if (width < 64)
        bits = arith::ExtUIOp::create(inner, place, index, bits);
      bits = arith::ShRUIOp::create(inner, place, bits, shift);
      bits = arith::TruncIOp::create(inner, place, inner.getIntegerType(part),
                                     bits);
    }
    if (isa<FloatType>(to))
      bits = arith::BitcastOp::create(inner, place, to, bits);
    return {bits};
  };
  Value cut = PointwiseOp::build(builder, loc, RankedTensorType::get(shape, to),
                                 value, body)
                  .getResult(0);
  return call.set(0, reshapeTo(builder, loc, cut, result->getShape()));
}

void mlir::fuseops::addBitViewHandlers(TorchHandlers &handlers) {
  handlers.add("aten.view.dtype", 2, 2, convertBitView);
}
