//===- ElementReductions.cpp - Steps of reductions on vectors ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::fuseops;

Value ElementBuilder::identity(ReductionKind kind, Type element,
                               int64_t width) {
  bool isMax = kind == ReductionKind::Max;
  Type type = getAccumulatorType(element);
  TypedAttr value;
  if (kind == ReductionKind::Sum) {
    value = b.getZeroAttr(type);
  } else if (isa<FloatType>(type)) {
    double infinity = std::numeric_limits<double>::infinity();
    value = b.getFloatAttr(type, isMax ? -infinity : infinity);
  } else {
    // Of the element's own type, so that it still is one when narrowed.
    unsigned bits = element.getIntOrFloatBitWidth();
    bool isSigned = element.isSignlessInteger() && bits > 1;
    APInt smallest = APInt::getSignedMinValue(bits).sext(64);
    APInt largest = APInt::getSignedMaxValue(bits).sext(64);
    if (!isSigned) {
      smallest = APInt::getMinValue(64);
      largest = APInt::getMaxValue(bits).zext(64);
    }
    value = b.getIntegerAttr(type, isMax ? smallest : largest);
  }
  return splat(arith::ConstantOp::create(b, loc, value), width);
}

Value ElementBuilder::addend(ReductionKind kind, Type element, Value value,
                             Value isValid) {
  value = convertElement(b, loc, value, element, getAccumulatorType(element));
  if (!isValid)
    return value;
  auto vector = dyn_cast<VectorType>(value.getType());
  return arith::SelectOp::create(
      b, loc, isValid, value,
      identity(kind, element, vector ? vector.getNumElements() : 1));
}

Value ElementBuilder::combine(ReductionKind kind, Value lhs, Value rhs) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(lhs.getType()));
  switch (kind) {
  case ReductionKind::Sum:
    if (isFloat)
      return arith::AddFOp::create(b, loc, lhs, rhs);
    return arith::AddIOp::create(b, loc, lhs, rhs);
  case ReductionKind::Max:
    if (isFloat)
      return arith::MaximumFOp::create(b, loc, lhs, rhs);
    return arith::MaxSIOp::create(b, loc, lhs, rhs);
  case ReductionKind::Min:
    if (isFloat)
      return arith::MinimumFOp::create(b, loc, lhs, rhs);
    return arith::MinSIOp::create(b, loc, lhs, rhs);
  }
  llvm_unreachable("every kind is handled");
}

Value ElementBuilder::combineAll(ReductionKind kind, Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector)
    return value;
  // Whatever order the lanes have, so that every kernel has the same sum.
  value = toMemory(value);
  // Halves are combined until one element is left.
  int64_t width = vector.getNumElements();
  while (width > 1) {
    width /= 2;
    auto half = [&](int64_t offset) -> Value {
      return vector::ExtractStridedSliceOp::create(
          b, loc, value, ArrayRef<int64_t>{offset}, ArrayRef<int64_t>{width},
          ArrayRef<int64_t>{1});
    };
    value = combine(kind, half(0), half(width));
  }
  return vector::ExtractOp::create(b, loc, value, ArrayRef<int64_t>{0});
}

Value ElementBuilder::combineLanes(ReductionKind kind, Value value,
                                   int64_t from, int64_t to) {
  for (int64_t offset = from; offset >= to; offset /= 2)
    value = combine(kind, value, shuffle(value, offset));
  return value;
}

/// A warp exchanges 32 bits at once.
Value ElementBuilder::shuffle(Value value, int64_t offset) {
  if (auto vector = dyn_cast<VectorType>(value.getType())) {
    if (vector.getElementTypeBitWidth() == 16 &&
        vector.getNumElements() % 2 == 0) {
      Type words =
          VectorType::get({vector.getNumElements() / 2}, b.getI32Type());
      value = vector::BitCastOp::create(b, loc, words, value);
      return vector::BitCastOp::create(b, loc, vector, shuffle(value, offset));
    }
    SmallVector<Value> parts;
    for (int64_t i = 0; i < vector.getNumElements(); ++i)
      parts.push_back(shuffle(
          vector::ExtractOp::create(b, loc, value, ArrayRef<int64_t>{i}),
          offset));
    return vector::FromElementsOp::create(b, loc, vector, parts);
  }
  auto number = [&](int64_t n) -> Value {
    return arith::ConstantOp::create(
        b, loc, b.getI32IntegerAttr(static_cast<int32_t>(n)));
  };
  auto exchange = [&](Value word) -> Value {
    return NVVM::ShflOp::create(b, loc, word.getType(), number(-1), word,
                                number(offset), number(31),
                                NVVM::ShflKind::bfly, UnitAttr());
  };
  Type type = value.getType(), i32 = b.getI32Type(), i64 = b.getI64Type();
  auto toI64 = [&](Value word) -> Value {
    return arith::ExtUIOp::create(b, loc, i64, word);
  };
  if (type.getIntOrFloatBitWidth() == 32)
    return exchange(value);
  if (type != i64)
    value = arith::BitcastOp::create(b, loc, i64, value);
  Value low = exchange(arith::TruncIOp::create(b, loc, i32, value));
  Value high = arith::ShRUIOp::create(b, loc, value, constant(32));
  high = toI64(exchange(arith::TruncIOp::create(b, loc, i32, high)));
  high = arith::ShLIOp::create(b, loc, high, constant(32));
  value = arith::OrIOp::create(b, loc, high, toI64(low));
  return type == i64 ? value
                     : Value(arith::BitcastOp::create(b, loc, type, value));
}
