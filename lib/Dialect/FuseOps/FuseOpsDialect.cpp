//===- FuseOpsDialect.cpp - Dialect registration, types and shape helpers ===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "Verify.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fuseops;

#include "FuseOps/Dialect/FuseOps/FuseOpsDialect.cpp.inc"
#include "FuseOps/Dialect/FuseOps/FuseOpsEnums.cpp.inc"
#include "FuseOps/Dialect/FuseOps/FuseOpsInterfaces.cpp.inc"

/// The factors of a size, as an attribute of an operation prints them.
static ParseResult parseFactors(AsmParser &parser,
                                SmallVector<int64_t> &factors) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(factors.emplace_back());
  });
}

static void printFactors(AsmPrinter &printer, ArrayRef<int64_t> factors) {
  printer << '[';
  llvm::interleaveComma(factors, printer);
  printer << ']';
}

#define GET_ATTRDEF_CLASSES
#include "FuseOps/Dialect/FuseOps/FuseOpsAttributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "FuseOps/Dialect/FuseOps/FuseOpsTypes.cpp.inc"

void FuseOpsDialect::initialize() {
  registerTypes();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "FuseOps/Dialect/FuseOps/FuseOpsAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "FuseOps/Dialect/FuseOps/FuseOpsOps.cpp.inc"
      >();
}

void FuseOpsDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "FuseOps/Dialect/FuseOps/FuseOpsTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

bool mlir::fuseops::isElementType(Type type) {
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type,
             Float8E4M3FNType, Float8E5M2Type, Float8E8M0FNUType>(type) ||
         type.isUnsignedInteger(8) ||
         llvm::any_of(ArrayRef{1u, 8u, 16u, 32u, 64u}, [&](unsigned width) {
           return type.isSignlessInteger(width);
         });
}

Type mlir::fuseops::getComputeType(Type type) {
  auto floatType = dyn_cast<FloatType>(type);
  if (floatType && floatType.getWidth() < 32)
    return Float32Type::get(type.getContext());
  if (type.isUnsignedInteger())
    return IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth());
  return type;
}

Type mlir::fuseops::getAccumulatorType(Type element) {
  return isa<IntegerType>(element) ? IntegerType::get(element.getContext(), 64)
                                   : getComputeType(element);
}

Value mlir::fuseops::convertElement(OpBuilder &builder, Location loc,
                                    Value value, Type from, Type to) {
  Type own = getElementTypeOrSelf(value.getType());
  Type type = getComputeType(to);
  if (own == type)
    return value;
  auto withElement = [&](Type element) -> Type {
    auto vector = dyn_cast<VectorType>(value.getType());
    return vector ? vector.clone(element) : element;
  };
  bool isFromFloat = isa<FloatType>(own), isToFloat = isa<FloatType>(type);
  unsigned ownWidth = own.getIntOrFloatBitWidth();
  unsigned width = type.getIntOrFloatBitWidth();
  if (type.isInteger(1)) {
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(value.getType()));
    // A NaN is true.
    if (isFromFloat)
      return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE,
                                   value, zero);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                                 zero);
  }
  Type result = withElement(type);
  if (isFromFloat && isToFloat) {
    if (ownWidth < width)
      return arith::ExtFOp::create(builder, loc, result, value);
    return arith::TruncFOp::create(builder, loc, result, value);
  }
  if (isFromFloat) {
    if (width >= 32)
      return arith::FPToSIOp::create(builder, loc, result, value);
    // Through i32, what a narrower type cannot hold wraps.
    value = arith::FPToSIOp::create(builder, loc,
                                    withElement(builder.getI32Type()), value);
    return arith::TruncIOp::create(builder, loc, result, value);
  }
  // An accumulator holds the number itself.
  bool isUnsigned = (from.isUnsignedInteger() || from.isInteger(1)) &&
                    own == getComputeType(from);
  if (isToFloat) {
    if (isUnsigned)
      return arith::UIToFPOp::create(builder, loc, result, value);
    return arith::SIToFPOp::create(builder, loc, result, value);
  }
  if (ownWidth > width)
    return arith::TruncIOp::create(builder, loc, result, value);
  if (isUnsigned)
    return arith::ExtUIOp::create(builder, loc, result, value);
  return arith::ExtSIOp::create(builder, loc, result, value);
}

RankedTensorType mlir::fuseops::getComputeTensor(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.clone(getComputeType(tensor.getElementType()));
}

RankedTensorType mlir::fuseops::getTensorLike(RankedTensorType like,
                                              ArrayRef<int64_t> shape,
                                              Type elementType) {
  bool isDynamic = llvm::any_of(shape, ShapedType::isDynamic);
  return RankedTensorType::get(shape, elementType,
                               isDynamic ? like.getEncoding() : Attribute());
}

RankedTensorType mlir::fuseops::withColumns(RankedTensorType type,
                                            int64_t columns, Type elementType) {
  SmallVector<int64_t> shape(type.getShape());
  if (!shape.empty())
    shape.back() = columns;
  return getTensorLike(type, shape, elementType);
}

int64_t mlir::fuseops::getColumns(RankedTensorType type) {
  return type.getRank() == 0 ? 1 : type.getShape().back();
}

RankedTensorType mlir::fuseops::getBlocksType(RankedTensorType type,
                                              int64_t rows, int64_t columns,
                                              Type element) {
  SmallVector<int64_t> shape(type.getShape());
  Attribute encoding;
  int64_t blocks[] = {rows, columns};
  for (auto [extent, block] : llvm::zip_equal(shape, blocks)) {
    if (!ShapedType::isDynamic(extent))
      extent = llvm::divideCeil(extent, block);
    else if (block != 1)
      encoding = BlocksAttr::get(type.getContext(), block);
  }
  return RankedTensorType::get(shape, element, encoding);
}

bool mlir::fuseops::isBroadcastableTo(RankedTensorType from,
                                      RankedTensorType to) {
  if (from.getRank() > to.getRank())
    return false;
  return llvm::all_of(
      llvm::zip(llvm::reverse(from.getShape()), llvm::reverse(to.getShape())),
      [&](auto extents) {
        auto [own, target] = extents;
        if (ShapedType::isDynamic(own) &&
            from.getEncoding() != to.getEncoding())
          return false;
        return own == target || own == 1;
      });
}

RankedTensorType mlir::fuseops::detail::largestTensor(Operation *op) {
  RankedTensorType largest;
  auto isLarger = [&](RankedTensorType type) {
    if (!largest)
      return true;
    // What is empty is the space, whatever is reduced from or broadcast to it.
    auto key = [](RankedTensorType t) {
      Extent count = getNumElements(t);
      bool isEmpty = count == Extent();
      return std::make_tuple(isEmpty, count.getGrowth(), count.constant,
                             isEmpty ? getColumns(t) : 0);
    };
    return key(type) > key(largest);
  };
  auto visit = [&](Type type) {
    if (auto quantized = dyn_cast<QuantizedType>(type))
      type = quantized.getTensorType(quantized.getElementType());
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && isLarger(tensor))
      largest = tensor;
  };
  llvm::for_each(op->getResultTypes(), visit);
  llvm::for_each(op->getOperandTypes(), visit);
  return largest;
}

SmallVector<Value> mlir::fuseops::detail::cloneWith(Operation *op,
                                                    OpBuilder &builder,
                                                    ValueRange operands) {
  IRMapping mapping;
  mapping.map(op->getOperands(), operands);
  return llvm::to_vector(
      llvm::map_range(builder.clone(*op, mapping)->getResults(),
                      [](OpResult result) -> Value { return result; }));
}
