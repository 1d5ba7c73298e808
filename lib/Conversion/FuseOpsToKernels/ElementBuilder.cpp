//===- ElementBuilder.cpp - Loads, stores and scalar bodies on vectors ---===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace mlir::fuseops;

static bool isFp8(Type type) {
  auto floatType = dyn_cast<FloatType>(type);
  return floatType && floatType.getWidth() == 8;
}

/// The type that an element has in memory: LLVM knows neither FP8 nor bits.
static Type getStorageType(Type element) {
  if (isFp8(element) || element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  return element;
}

Value ElementBuilder::constant(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
}

Type ElementBuilder::widened(Type type, int64_t width) {
  return width == 1 ? type : VectorType::get({width}, type);
}

Value ElementBuilder::splat(Value scalar, int64_t width) {
  if (width == 1)
    return scalar;
  return vector::BroadcastOp::create(b, loc, widened(scalar.getType(), width),
                                     scalar);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value ElementBuilder::address(Value pointer, Value index, Type element) {
  return LLVM::GEPOp::create(b, loc, pointer.getType(), getStorageType(element),
                             pointer, ArrayRef<LLVM::GEPArg>{index});
}

Value ElementBuilder::indexOf(const Access &access, Element &element) {
  Value index = constant(access.offset);
  bool hasRow = access.placement == Placement::Full ||
                access.placement == Placement::PerRow;
  bool hasColumn = access.placement == Placement::Full ||
                   access.placement == Placement::RowVector;
  if (hasRow) {
    Value row = element.row;
    if (access.digits) {
      row = constant(0);
      for (RowDigit digit : *access.digits) {
        Value part = arith::DivUIOp::create(b, loc, element.row,
                                            constant(digit.divisor));
        if (digit.extent)
          part = arith::RemUIOp::create(b, loc, part, constant(digit.extent));
        part = arith::MulIOp::create(b, loc, part, constant(digit.stride));
        row = arith::AddIOp::create(b, loc, row, part);
      }
    }
    index = arith::AddIOp::create(
        b, loc, index,
        arith::MulIOp::create(b, loc, row, constant(access.pitch)));
  }
  if (hasColumn)
    index = arith::AddIOp::create(b, loc, index, element.column);
  return index;
}

int64_t ElementBuilder::alignmentOf(const Access &access, int64_t width) {
  int64_t bytes = getElementBytes(access.element);
  // Only CUDA schedules see to it that vectors are aligned.
  return device == KernelDevice::CUDA ? std::min<int64_t>(16, width * bytes)
                                      : bytes;
}

Value ElementBuilder::load(const Access &access, Element &element) {
  bool isWide = access.placement == Placement::Full ||
                access.placement == Placement::RowVector;
  int64_t width = isWide ? element.width : 1;
  Value pointer = address(pointers.lookup(access.tensor),
                          indexOf(access, element), access.element);
  Value value = LLVM::LoadOp::create(
      b, loc, widened(getStorageType(access.element), width), pointer,
      alignmentOf(access, width));
  if (access.element.isInteger(1)) {
    Value zero =
        arith::ConstantOp::create(b, loc, b.getZeroAttr(value.getType()));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
  }
  if (isFp8(access.element))
    value =
        arith::BitcastOp::create(b, loc, widened(access.element, width), value);
  Type computed = getComputeType(access.element);
  if (computed != access.element)
    value = arith::ExtFOp::create(b, loc, widened(computed, width), value);
  return value;
}

/// Rounds to `element`. FP8 saturates (rule fp8_r2): its instructions do, where
/// arith's truncation would give NaN.
Value ElementBuilder::narrow(Value value, Type element) {
  auto type = cast<FloatType>(getElementTypeOrSelf(value));
  if (type == element)
    return value;
  auto vector = dyn_cast<VectorType>(value.getType());
  int64_t width = vector ? vector.getNumElements() : 1;
  auto target = cast<FloatType>(element);
  if (isFp8(element) && !isa<Float8E8M0FNUType>(element)) {
    double largest =
        APFloat::getLargest(target.getFloatSemantics()).convertToDouble();
    auto bound = [&](double v) {
      return splat(arith::ConstantOp::create(b, loc, b.getFloatAttr(type, v)),
                   width);
    };
    value = arith::MaximumFOp::create(b, loc, value, bound(-largest));
    value = arith::MinimumFOp::create(b, loc, value, bound(largest));
  }
  if (type.getWidth() < target.getWidth())
    return arith::ExtFOp::create(b, loc, widened(element, width), value);
  return arith::TruncFOp::create(b, loc, widened(element, width), value);
}

void ElementBuilder::store(Value value, const Access &access,
                           Element &element) {
  auto vector = dyn_cast<VectorType>(value.getType());
  int64_t width = vector ? vector.getNumElements() : 1;
  Type storage = getStorageType(access.element);
  if (access.element.isInteger(1)) {
    value = arith::ExtUIOp::create(b, loc, widened(storage, width), value);
  } else if (isa<FloatType>(access.element)) {
    value = narrow(value, access.element);
    if (isFp8(access.element))
      value = arith::BitcastOp::create(b, loc, widened(storage, width), value);
  }
  auto write = [&] {
    Value pointer = address(pointers.lookup(access.tensor),
                            indexOf(access, element), access.element);
    LLVM::StoreOp::create(b, loc, value, pointer, alignmentOf(access, width));
  };
  if (!element.isValid) {
    write();
    return;
  }
  auto guard = scf::IfOp::create(b, loc, element.isValid,
                                 /*withElseRegion=*/false);
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(guard.thenBlock());
  write();
}

Value ElementBuilder::loadRaw(Value pointer, Value index, Type type,
                              int64_t width) {
  int64_t bytes = getElementBytes(type);
  return LLVM::LoadOp::create(b, loc, widened(type, width),
                              address(pointer, index, type),
                              /*alignment=*/bytes);
}

void ElementBuilder::storeRaw(Value value, Value pointer, Value index) {
  Type type = getElementTypeOrSelf(value);
  LLVM::StoreOp::create(b, loc, value, address(pointer, index, type),
                        /*alignment=*/getElementBytes(type));
}

//===----------------------------------------------------------------------===//
// Scalar bodies
//===----------------------------------------------------------------------===//

Value ElementBuilder::compute(Value value, Element &element) {
  if (Value known = element.values.lookup(value))
    return known;
  Placement placement = group.getPlacement(value);
  Value result;
  if (Value scalar = rowValues.lookup(value)) {
    result = splat(scalar, element.width);
  } else if (std::optional<Access> access = group.getAccess(value)) {
    result = load(*access, element);
    if (placement == Placement::PerRow || placement == Placement::Scalar)
      result = splat(result, element.width);
  } else {
    auto op = cast<PointwiseOp>(value.getDefiningOp());
    computeBody(op, computeOperands(op, element), element, element.values);
    return element.values.lookup(value);
  }
  element.values[value] = result;
  return result;
}

SmallVector<Value> ElementBuilder::computeOperands(PointwiseOp op,
                                                   Element &element) {
  SmallVector<Value> operands;
  for (Value operand : op.getInputs()) {
    if (!group.isPartlyBroadcast(operand)) {
      operands.push_back(compute(operand, element));
      continue;
    }
    Access access = group.getPartialAccess(
        operand, cast<RankedTensorType>(op.getResult(0).getType()));
    Value value = load(access, element);
    if (access.placement == Placement::PerRow)
      value = splat(value, element.width);
    operands.push_back(value);
  }
  return operands;
}

void ElementBuilder::computeBody(PointwiseOp op, ValueRange operands,
                                 Element &element,
                                 DenseMap<Value, Value> &results) {
  int64_t width = 1;
  for (Value operand : operands)
    if (auto vector = dyn_cast<VectorType>(operand.getType()))
      width = vector.getNumElements();
  if (operands.empty())
    width = element.width;
  Block &body = op.getBody().front();
  IRMapping mapping;
  mapping.map(body.getArguments(), operands);
  for (Operation &inner : body.without_terminator()) {
    if (isa<arith::ConstantOp>(inner)) {
      Operation *scalar = b.clone(inner);
      mapping.map(inner.getResult(0), splat(scalar->getResult(0), width));
      continue;
    }
    if (isa<LinearIndexOp>(inner)) {
      // Of the operation's own iteration space, not of its kernel's.
      Placement placement = group.getPlacement(op.getResult(0));
      bool hasRow =
          placement == Placement::Full || placement == Placement::PerRow;
      bool hasColumn =
          placement == Placement::Full || placement == Placement::RowVector;
      int64_t pitch =
          getColumns(cast<RankedTensorType>(op.getResult(0).getType()));
      Value first = constant(0);
      if (hasRow)
        first = arith::MulIOp::create(b, loc, element.row, constant(pitch));
      if (hasColumn)
        first = arith::AddIOp::create(b, loc, first, element.column);
      Value index = splat(first, width);
      if (width > 1) {
        SmallVector<int64_t> steps(width);
        std::iota(steps.begin(), steps.end(), 0);
        Value step =
            arith::ConstantOp::create(b, loc, b.getI64VectorAttr(steps));
        index = arith::AddIOp::create(b, loc, index, step);
      }
      mapping.map(inner.getResult(0), index);
      continue;
    }
    Operation *clone = b.clone(inner, mapping);
    for (Value result : clone->getResults())
      result.setType(widened(result.getType(), width));
  }
  auto yield = cast<YieldOp>(body.getTerminator());
  for (auto [output, scalar] : llvm::zip(op.getOutputs(), yield.getValues())) {
    Value value = mapping.lookup(scalar);
    Type elementType =
        cast<RankedTensorType>(output.getType()).getElementType();
    Type computed = getComputeType(elementType);
    // FP8 is never kept wide: what reads it has to see what is stored.
    if (isa<FloatType>(elementType) && elementType != computed &&
        (roundIntermediates || isFp8(elementType)))
      value = arith::ExtFOp::create(b, loc, widened(computed, width),
                                    narrow(value, elementType));
    results[output] = value;
  }
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Value ElementBuilder::identity(ReductionKind kind, Type type) {
  double value = kind == ReductionKind::Sum
                     ? 0.0
                     : -std::numeric_limits<double>::infinity();
  auto vector = dyn_cast<VectorType>(type);
  Value scalar = arith::ConstantOp::create(
      b, loc, b.getFloatAttr(getElementTypeOrSelf(type), value));
  return splat(scalar, vector ? vector.getNumElements() : 1);
}

Value ElementBuilder::combine(ReductionKind kind, Value lhs, Value rhs) {
  if (kind == ReductionKind::Sum)
    return arith::AddFOp::create(b, loc, lhs, rhs);
  return arith::MaximumFOp::create(b, loc, lhs, rhs);
}

Value ElementBuilder::combineAll(ReductionKind kind, Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector)
    return value;
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

Value ElementBuilder::masked(ReductionKind kind, Value value, Value isValid) {
  if (!isValid)
    return value;
  return arith::SelectOp::create(b, loc, isValid, value,
                                 identity(kind, value.getType()));
}
