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

using namespace mlir;
using namespace mlir::fuseops;

bool mlir::fuseops::isFp8(Type type) {
  auto floatType = dyn_cast<FloatType>(type);
  return floatType && floatType.getWidth() == 8;
}

/// The type that an element has in memory: LLVM knows neither FP8 nor bits nor
/// signs.
static Type getStorageType(Type element) {
  if (isFp8(element) || element.isInteger(1) || element.isUnsignedInteger())
    return IntegerType::get(element.getContext(), 8 * getElementBytes(element));
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

Value ElementBuilder::constant(Extent extent) {
  if (extent.isConstant())
    return constant(extent.constant);
  // The rows that the kernel visits tell the symbol, or its number of blocks.
  Extent all = group.getSpace().rows;
  auto divide = [&](int64_t factor) -> Value {
    Value count = rows;
    if (all.constant)
      count = arith::SubIOp::create(b, loc, count, constant(all.constant));
    if (factor != 1)
      count = arith::DivUIOp::create(b, loc, count, constant(factor));
    return count;
  };
  Value symbol = all.perSymbol ? divide(all.perSymbol) : Value();
  auto countBlocks = [&](int64_t own, int64_t size) -> Value {
    if (!symbol)
      return divide(own);
    return arith::CeilDivUIOp::create(b, loc, symbol, constant(size));
  };
  Value sum;
  auto add = [&](Value count, int64_t factor) {
    if (factor != 1)
      count = arith::MulIOp::create(b, loc, count, constant(factor));
    sum = sum ? Value(arith::AddIOp::create(b, loc, sum, count)) : count;
  };
  assert(
      (symbol || (!extent.perSymbol && (!extent.perBlock32 || all.perBlock32) &&
                  (!extent.perBlock128 || all.perBlock128))) &&
      "what a kernel reads has no size that it has not");
  if (extent.perSymbol)
    add(symbol, extent.perSymbol);
  if (extent.perBlock32)
    add(countBlocks(all.perBlock32, 32), extent.perBlock32);
  if (extent.perBlock128)
    add(countBlocks(all.perBlock128, 128), extent.perBlock128);
  if (extent.constant)
    sum = arith::AddIOp::create(b, loc, sum, constant(extent.constant));
  return sum;
}

Value ElementBuilder::indexIn(const RowDigit &digit, const Element &element) {
  Value index = element.row;
  if (digit.divisor != Extent{1, 0})
    index = arith::DivUIOp::create(b, loc, index, constant(digit.divisor));
  if (digit.extent)
    index = arith::RemUIOp::create(b, loc, index, constant(*digit.extent));
  return index;
}

Value ElementBuilder::scale(Value number, Extent stride) {
  return stride == Extent{1, 0}
             ? number
             : arith::MulIOp::create(b, loc, number, constant(stride));
}

Value ElementBuilder::indexOf(const Access &access, const Element &element) {
  Value index = constant(access.offset);
  auto add = [&](Value part, Extent stride) {
    index = arith::AddIOp::create(b, loc, index, scale(part, stride));
  };
  for (const RowDigit &digit : access.rows) {
    Value part = indexIn(digit, element);
    if (digit.count) {
      part = arith::SubIOp::create(b, loc, part, constant(digit.start));
      part = arith::MaxSIOp::create(b, loc, part, constant(0));
      part = arith::MinSIOp::create(b, loc, part, constant(digit.count - 1));
    }
    add(part, digit.stride);
  }
  if (access.hasColumns())
    add(element.column, access.columnStride);
  return index;
}

/// `pointer`, as many rows and columns further as `part` says, of an access
/// that is linear.
Value ElementBuilder::advance(Value pointer, const Access &access,
                              const Place &part) {
  auto step = [&](Value count, Extent stride) {
    if (count)
      pointer = address(pointer, scale(count, stride), access.element);
  };
  for (const RowDigit &digit : access.rows)
    step(part.row, digit.stride);
  if (access.hasColumns())
    step(part.column, access.columnStride);
  return pointer;
}

Value ElementBuilder::pointerTo(const Access &access, const Element &element) {
  Value pointer = pointers.lookup(access.tensor);
  if (element.parts.empty() || !access.isLinear())
    return address(pointer, indexOf(access, element), access.element);
  pointer = address(pointer, constant(access.offset), access.element);
  for (const Place &part : element.parts)
    pointer = advance(pointer, access, part);
  return pointer;
}

int64_t ElementBuilder::alignmentOf(const Access &access, int64_t width) {
  int64_t bytes = getElementBytes(access.element);
  // Only CUDA schedules see to it that vectors are aligned.
  return device == KernelDevice::CUDA ? std::min<int64_t>(16, width * bytes)
                                      : bytes;
}

Value ElementBuilder::loadStored(const Access &access, const Element &element) {
  int64_t width = access.hasColumns() ? element.width : 1;
  Type storage = getStorageType(access.element);
  Value first = pointerTo(access, element);
  if (width == 1 || access.isContiguous())
    return toLanes(LLVM::LoadOp::create(b, loc, widened(storage, width), first,
                                        alignmentOf(access, width)));
  SmallVector<Value> values;
  for (int64_t i : laneOrder(width))
    values.push_back(LLVM::LoadOp::create(
        b, loc, storage, neighbour(first, access, i), alignmentOf(access, 1)));
  return vector::FromElementsOp::create(b, loc, widened(storage, width),
                                        values);
}

/// Where the element `number` columns after that at `first` lies.
Value ElementBuilder::neighbour(Value first, const Access &access,
                                int64_t number) {
  return address(first, constant(access.columnStride * number), access.element);
}

Value ElementBuilder::load(const Access &access, const Element &element) {
  return toComputed(loadStored(access, element), access.element);
}

Value ElementBuilder::loadFrom(Value pointer, Type element, int64_t width) {
  Value stored = LLVM::LoadOp::create(
      b, loc, widened(getStorageType(element), width), pointer,
      std::min<int64_t>(16, width * getElementBytes(element)));
  return toComputed(stored, element);
}

Value ElementBuilder::toComputed(Value stored, Type element) {
  auto vector = dyn_cast<VectorType>(stored.getType());
  int64_t width = vector ? vector.getNumElements() : 1;
  if (element.isInteger(1)) {
    Value zero =
        arith::ConstantOp::create(b, loc, b.getZeroAttr(stored.getType()));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, stored,
                                 zero);
  }
  if (isFp8(element))
    stored = arith::BitcastOp::create(b, loc, widened(element, width), stored);
  Type computed = getComputeType(element);
  if (isa<FloatType>(computed) && computed != element)
    stored = arith::ExtFOp::create(b, loc, widened(computed, width), stored);
  return stored;
}

/// Rounds to `element`. FP8 saturates (rule fp8_r2): its instructions do, where
/// arith's truncation would give NaN.
Value ElementBuilder::narrow(Value value, Type element) {
  auto type = cast<FloatType>(getElementTypeOrSelf(value));
  if (type == element)
    return value;
  auto wide = value.getDefiningOp<arith::ExtFOp>();
  if (wide && getElementTypeOrSelf(wide.getIn()) == element)
    return wide.getIn();
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

Value ElementBuilder::toStored(Value value, Type element) {
  auto vector = dyn_cast<VectorType>(value.getType());
  int64_t width = vector ? vector.getNumElements() : 1;
  Type stored = widened(getStorageType(element), width);
  if (element.isInteger(1))
    return arith::ExtUIOp::create(b, loc, stored, value);
  if (isa<FloatType>(element))
    value = narrow(value, element);
  return isFp8(element) ? arith::BitcastOp::create(b, loc, stored, value)
                        : value;
}

/// Stores a vector of 4, 8 or 16 bytes, which are aligned, by one instruction:
/// `st.global.cs`, which LLVM does not know, or under the predicate `isValid`,
/// if there is one, where LLVM would move into a branch what the value is
/// computed of. False where neither is asked for or `value` is no such vector.
bool ElementBuilder::storeWords(Value value, Value pointer, Value isValid) {
  if (device != KernelDevice::CUDA || !(streamsStores || isValid))
    return false;
  auto type = dyn_cast<VectorType>(value.getType());
  int64_t bits =
      type ? type.getNumElements() * type.getElementTypeBitWidth() : 0;
  if (bits != 32 && bits != 64 && bits != 128)
    return false;
  int64_t count = bits / 32;
  Value words = LLVM::BitcastOp::create(
      b, loc, VectorType::get({count}, b.getI32Type()), value);
  SmallVector<Value> operands = {LLVM::AddrSpaceCastOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), 1), pointer)};
  std::string predicate, list, constraints = "l";
  for (int64_t i = 0; i < count; ++i) {
    operands.push_back(
        vector::ExtractOp::create(b, loc, words, ArrayRef<int64_t>{i}));
    list += (i ? ", $" : "$") + std::to_string(i + 1);
    constraints += ",r";
  }
  std::string suffix = streamsStores ? ".cs" : "";
  if (count > 1) {
    suffix += ".v" + std::to_string(count);
    list = "{" + list + "}";
  }
  if (isValid) {
    operands.push_back(isValid);
    predicate = "@$" + std::to_string(count + 1) + " ";
    constraints += ",b";
  }
  LLVM::InlineAsmOp::create(
      b, loc, TypeRange(), operands,
      predicate + "st.global" + suffix + ".b32 [$0], " + list + ";",
      constraints + ",~{memory}", /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr(), ArrayAttr());
  return true;
}

void ElementBuilder::store(Value value, const Access &access,
                           const Element &element) {
  auto vector = dyn_cast<VectorType>(value.getType());
  int64_t width = vector ? vector.getNumElements() : 1;
  value = toStored(value, access.element);
  if (access.isContiguous() &&
      storeWords(value, pointerTo(access, element), element.isValid))
    return;
  auto write = [&] {
    Value first = pointerTo(access, element);
    if (width == 1 || access.isContiguous()) {
      LLVM::StoreOp::create(b, loc, toMemory(value), first,
                            alignmentOf(access, width));
      return;
    }
    for (auto [lane, number] : llvm::enumerate(laneOrder(width)))
      LLVM::StoreOp::create(
          b, loc,
          vector::ExtractOp::create(b, loc, value,
                                    ArrayRef<int64_t>{int64_t(lane)}),
          neighbour(first, access, number), alignmentOf(access, 1));
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
                              int64_t width, int64_t aligned) {
  // A bool is a byte in memory: a vector of bits would be packed.
  Type stored = type.isInteger(1) ? b.getI8Type() : type;
  Value value = LLVM::LoadOp::create(
      b, loc, widened(stored, width), address(pointer, index, type),
      std::min<int64_t>(16, aligned * getElementBytes(type)));
  return stored == type
             ? value
             : arith::TruncIOp::create(b, loc, widened(type, width), value);
}

void ElementBuilder::storeRaw(Value value, Value pointer, Value index,
                              int64_t aligned) {
  Type type = getElementTypeOrSelf(value);
  if (type.isInteger(1)) {
    auto vector = dyn_cast<VectorType>(value.getType());
    Type bytes = widened(b.getI8Type(), vector ? vector.getNumElements() : 1);
    value = arith::ExtUIOp::create(b, loc, bytes, value);
  }
  LLVM::StoreOp::create(b, loc, value, address(pointer, index, type),
                        std::min<int64_t>(16, aligned * getElementBytes(type)));
}

Shared ElementBuilder::getShared(func::FuncOp kernel, const Twine &name,
                                 TypeRange types, int64_t count) {
  std::string symbol = (kernel.getSymName() + name).str();
  Type widest = *llvm::max_element(types, [](Type a, Type c) {
    return getElementBytes(a) < getElementBytes(c);
  });
  if (!kernel->getParentOfType<ModuleOp>().lookupSymbol(symbol)) {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPoint(kernel);
    LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(widest, count),
                           /*isConstant=*/false, LLVM::Linkage::Internal,
                           symbol, Attribute(), /*alignment=*/16,
                           /*addrSpace=*/3);
  }
  Type pointer = LLVM::LLVMPointerType::get(b.getContext(), 3);
  return {LLVM::AddressOfOp::create(b, loc, pointer, symbol), widest};
}

Value ElementBuilder::loadSlot(const Shared &shared, Value slot, Type type) {
  return LLVM::LoadOp::create(b, loc, type,
                              address(shared.pointer, slot, shared.slot),
                              getElementBytes(type));
}

void ElementBuilder::storeSlot(Value value, const Shared &shared, Value slot) {
  LLVM::StoreOp::create(b, loc, value,
                        address(shared.pointer, slot, shared.slot),
                        getElementBytes(value.getType()));
}

//===----------------------------------------------------------------------===//
// Scalar bodies
//===----------------------------------------------------------------------===//

Value ElementBuilder::compute(Value value, Element &element) {
  if (Value known = element.values.lookup(value))
    return known;
  Value result;
  if (Value scalar = rowValues.lookup(value)) {
    result = splat(scalar, element.width);
  } else if (std::optional<Access> access = group.getAccess(value)) {
    Value stored = element.stored.lookup(value);
    result = stored ? widen(toComputed(stored, access->element), element)
                    : loadWide(*access, element);
  } else if (auto concat = value.getDefiningOp<ConcatOp>()) {
    result = computeConcat(concat, element);
  } else if (auto expand = value.getDefiningOp<ExpandBlocksOp>()) {
    result = readBlock(expand, element);
  } else {
    auto op = cast<PointwiseOp>(value.getDefiningOp());
    computeBody(op, computeOperands(op, element), element, element.values);
    return element.values.lookup(value);
  }
  element.values[value] = result;
  return result;
}

void ElementBuilder::read(Value value, Element &element) {
  if (!element.stored.contains(value))
    element.stored[value] = loadStored(*group.getAccess(value), element);
}

Value ElementBuilder::loadWide(const Access &access, const Element &element) {
  return widen(load(access, element), element);
}

Value ElementBuilder::widen(Value value, const Element &element) {
  return isa<VectorType>(value.getType()) ? value : splat(value, element.width);
}

/// Each element from the input that it comes from. All are read, each at its
/// nearest element.
Value ElementBuilder::computeConcat(ConcatOp op, const Element &element) {
  Value index = indexIn(getDigit(op.getType(), op.getDim()), element);
  Value result;
  for (const Access &access : group.getPartAccesses(op)) {
    Value part = loadWide(access, element);
    if (!result) {
      result = part;
      continue;
    }
    const auto *partial = llvm::find_if(
        access.rows, [](const RowDigit &digit) { return digit.count != 0; });
    int64_t start = partial->start;
    Value isReached = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                            index, constant(start));
    result = arith::SelectOp::create(b, loc, isReached, part, result);
  }
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
    operands.push_back(loadWide(access, element));
  }
  return operands;
}
