//===- PointwiseTable.cpp - Converts the rows of the pointwise table -----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PointwiseTable.h"

using namespace mlir;
using namespace mlir::fuseops;

//===----------------------------------------------------------------------===//
// Promotion
//===----------------------------------------------------------------------===//

/// 0 for bools, 1 for integers, 2 for floats.
static int getKind(Type dtype) {
  return isa<FloatType>(dtype) ? 2 : (dtype.isInteger(1) ? 0 : 1);
}

/// The narrowest dtype that holds both, as PyTorch's table says it.
static Type promoteTypes(Type a, Type b) {
  if (a == b)
    return a;
  if (getKind(a) != getKind(b))
    return getKind(a) > getKind(b) ? a : b;
  unsigned widthA = a.getIntOrFloatBitWidth();
  unsigned widthB = b.getIntOrFloatBitWidth();
  if (widthA != widthB)
    return widthA > widthB ? a : b;
  // f16 with bf16; i8 with ui8.
  MLIRContext *context = a.getContext();
  return isa<FloatType>(a) ? Type(Float32Type::get(context))
                           : Type(IntegerType::get(context, 16));
}

Type mlir::fuseops::promote(ArrayRef<PointwiseOperand> operands,
                            Type defaultFloat) {
  using Category = PointwiseOperand::Category;
  auto promoteCategory = [&](Category category) {
    Type result;
    for (const PointwiseOperand &operand : operands) {
      if (operand.category != category)
        continue;
      bool isFloat =
          category == Category::Number && getKind(operand.dtype) == 2;
      Type dtype = isFloat ? defaultFloat : operand.dtype;
      result = result ? promoteTypes(result, dtype) : dtype;
    }
    return result;
  };
  // A lower category widens only to another kind of number.
  Type result;
  for (Category category :
       {Category::Dimensioned, Category::Scalar, Category::Number}) {
    Type dtype = promoteCategory(category);
    if (!result)
      result = dtype;
    else if (dtype && getKind(dtype) > getKind(result))
      result = dtype;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The operand at `index`, a tensor or a number.
static FailureOr<PointwiseOperand> readOperand(TorchCall &call,
                                               unsigned index) {
  FailureOr<TorchValue> value = call.valueOrNumber(index);
  if (failed(value))
    return failure();
  if (value->kind == TorchValue::Kind::List)
    return call.refuse("expected operand " + Twine(index) +
                       " to be a tensor, but got a list");
  PointwiseOperand operand;
  operand.type = value->type;
  operand.dtype = value->type.getElementType();
  if (value->isSplat())
    operand.constant = value->constant;
  else
    operand.tensor = value->values.front();
  if (!value->isNumber)
    operand.category = value->type.getRank() == 0
                           ? PointwiseOperand::Category::Scalar
                           : PointwiseOperand::Category::Dimensioned;
  if (!isComputeFloat(operand.dtype) && !isa<IntegerType>(operand.dtype))
    return call.refuse(
        "expected operand " + Twine(index) +
        " to have a float, an integer or a bool dtype, but got " +
        print(value->type));
  return operand;
}

/// Reads the operands of `pointwise` that `slots` describe.
static LogicalResult readOperands(PointwiseCall &pointwise,
                                  ArrayRef<Slot> slots) {
  TorchCall &call = pointwise.call;
  for (auto [index, slot] : llvm::enumerate(slots)) {
    std::optional<PointwiseOperand> &operand =
        pointwise.operands.emplace_back(std::nullopt);
    std::optional<double> &parameter =
        pointwise.arguments.parameters.emplace_back(slot.otherwise);
    pointwise.arguments.values.push_back(Value());
    bool isNone = call.isNone(index);
    switch (slot.kind) {
    case Slot::Kind::Ignored:
      continue;
    case Slot::Kind::Parameter: {
      if (isNone && slot.isOptional)
        continue;
      FailureOr<double> number = call.number(index);
      if (failed(number))
        return failure();
      parameter = *number;
      continue;
    }
    case Slot::Kind::Optional:
      if (isNone)
        continue;
      [[fallthrough]];
    case Slot::Kind::Value:
    case Slot::Kind::Dtype:
    case Slot::Kind::Condition:
      FailureOr<PointwiseOperand> read = readOperand(call, index);
      if (failed(read))
        return failure();
      if (!isBroadcastableTo(read->type, pointwise.result))
        return call.refuse("expected operand " + Twine(index) +
                           " to broadcast to " + print(pointwise.result) +
                           ", but got " + print(read->type));
      if (slot.kind == Slot::Kind::Dtype)
        read->tensor = Value();
      operand = *read;
    }
  }
  return success();
}

/// The dtype that the row computes in; null, with an error, where there is
/// none.
static Type getComputationType(PointwiseCall &pointwise,
                               const PointwiseRow &row) {
  SmallVector<PointwiseOperand> values;
  for (auto [slot, operand] : llvm::zip(row.slots, pointwise.operands))
    if (operand && slot.kind != Slot::Kind::Condition)
      values.push_back(*operand);
  OpBuilder &builder = pointwise.call.builder;
  Type declared = pointwise.result.getElementType();
  Type defaultFloat =
      isComputeFloat(declared) ? declared : Type(builder.getF32Type());
  switch (row.promotion) {
  case Promotion::Common:
  case Promotion::Eager:
  case Promotion::Predicate:
    return promote(values, defaultFloat);
  case Promotion::Number: {
    Type dtype = promote(values, defaultFloat);
    return dtype.isInteger(1) ? builder.getI64Type() : dtype;
  }
  case Promotion::Float:
  case Promotion::FloatPredicate: {
    Type dtype = promote(values, defaultFloat);
    return isa<FloatType>(dtype) ? dtype : defaultFloat;
  }
  case Promotion::First:
    return values.front().dtype;
  case Promotion::Double:
    return builder.getF64Type();
  }
  llvm_unreachable("covered switch");
}

Value PointwiseCall::tensor(unsigned slot) const {
  const std::optional<PointwiseOperand> &operand = operands[slot];
  if (!operand || !operand->tensor || !isa<FloatType>(dtype))
    return {};
  // The named operations compute in the widest type and round once.
  bool isKept =
      isa<FloatType>(operand->dtype) &&
      operand->dtype.getIntOrFloatBitWidth() <= dtype.getIntOrFloatBitWidth();
  return isKept ? operand->tensor : buildCast(call, operand->tensor, dtype);
}

/// The result of a pointwise operation of one result, without what its body
/// doesn't use.
static Value finish(PointwiseOp op) {
  for (Operation &inner :
       llvm::make_early_inc_range(llvm::reverse(op.getBody().front())))
    if (isOpTriviallyDead(&inner))
      inner.erase();
  return op.getResult(0);
}

Value mlir::fuseops::buildPointwise(
    TorchCall &call, RankedTensorType result, ValueRange tensors,
    function_ref<Value(TorchMath &, ArrayRef<Value>)> function) {
  auto body = [&](OpBuilder &builder, Location loc,
                  ValueRange scalars) -> SmallVector<Value> {
    TorchMath math(builder, loc, result.getElementType());
    SmallVector<Value> converted;
    for (auto [scalar, tensor] : llvm::zip(scalars, tensors))
      converted.push_back(
          math.convert(scalar, getElementTypeOrSelf(tensor.getType())));
    return {function(math, converted)};
  };
  return finish(
      PointwiseOp::build(call.builder, call.getLoc(), result, tensors, body));
}

Value mlir::fuseops::buildCast(TorchCall &call, Value tensor, Type dtype) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getElementType() == dtype)
    return tensor;
  if (isComputeFloat(type.getElementType()) && isComputeFloat(dtype))
    return CastOp::create(call.builder, call.getLoc(), type.clone(dtype),
                          tensor);
  return buildPointwise(call, type.clone(dtype), tensor,
                        [](TorchMath &, ArrayRef<Value> v) { return v[0]; });
}

FailureOr<GeluKind> mlir::fuseops::readGeluKind(TorchCall &call,
                                                unsigned index) {
  if (call.isNone(index))
    return GeluKind::Exact;
  FailureOr<StringRef> approximate = call.string(index);
  if (failed(approximate))
    return failure();
  if (std::optional<GeluKind> kind = symbolizeGeluKind(*approximate))
    return *kind;
  return call.refuse("expected the approximation `none` or `tanh`, but got `" +
                     *approximate + "`");
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

/// Builds the row's body over the tensors of `pointwise`.
static Value buildBody(PointwiseCall &pointwise, const PointwiseRow &row) {
  SmallVector<Value> tensors;
  for (const std::optional<PointwiseOperand> &operand : pointwise.operands)
    if (operand && operand->tensor)
      tensors.push_back(operand->tensor);
  auto body = [&](OpBuilder &builder, Location loc,
                  ValueRange scalars) -> SmallVector<Value> {
    TorchMath math(builder, loc, pointwise.dtype);
    TorchMath condition(builder, loc, builder.getI1Type());
    PointwiseArguments arguments = pointwise.arguments;
    unsigned next = 0;
    for (auto [slot, operand, value] :
         llvm::zip(row.slots, pointwise.operands, arguments.values)) {
      if (!operand)
        continue;
      TorchMath &own = slot.kind == Slot::Kind::Condition ? condition : math;
      if (operand->tensor) {
        value = own.convert(scalars[next++], operand->dtype);
        continue;
      }
      bool isRounded =
          operand->category != PointwiseOperand::Category::Number ||
          slot.isRounded;
      value =
          own.constant(isRounded ? convertNumber(operand->constant, own.dtype)
                                 : operand->constant);
    }
    return {row.body(math, arguments)};
  };
  return finish(PointwiseOp::build(pointwise.call.builder,
                                   pointwise.call.getLoc(), pointwise.result,
                                   tensors, body));
}

LogicalResult mlir::fuseops::convertPointwise(TorchCall &call,
                                              const PointwiseRow &row) {
  FailureOr<RankedTensorType> result = call.resultType();
  if (failed(result))
    return failure();
  PointwiseCall pointwise{call, Type(), *result, {}, {}};
  if (failed(readOperands(pointwise, row.slots)))
    return failure();
  pointwise.dtype = getComputationType(pointwise, row);
  bool isFloat = isa<FloatType>(pointwise.dtype);
  if (row.domain == Domain::Float && !isFloat)
    return call.refuse("expected a float dtype, but got " +
                       print(pointwise.dtype));
  if (row.domain == Domain::Integer && isFloat)
    return call.refuse("expected an integer or a bool dtype, but got " +
                       print(pointwise.dtype));
  bool isPredicate = row.promotion == Promotion::Predicate ||
                     row.promotion == Promotion::FloatPredicate;
  Type element = isPredicate ? Type(call.builder.getI1Type()) : pointwise.dtype;
  bool isDeclared = element == result->getElementType();
  if (row.promotion == Promotion::Eager)
    pointwise.result = result->clone(element);
  else if (!isDeclared)
    return call.refuse("expected a result of dtype " + print(element) +
                       ", but got " + print(*result));
  Value value = row.named ? row.named(pointwise) : Value();
  if (!value)
    value = buildBody(pointwise, row);
  return isDeclared ? call.set(0, value) : call.setUndeclared(0, value);
}

void mlir::fuseops::addPointwiseRows(TorchHandlers &handlers,
                                     ArrayRef<PointwiseRow> rows) {
  for (const PointwiseRow &row : rows) {
    auto isRequired = [](const Slot &slot) { return !slot.isOptional; };
    unsigned minOperands = llvm::count_if(row.slots, isRequired);
    SmallVector<StringRef> names;
    row.names.split(names, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef name : names)
      handlers.add(
          ("aten." + name).str(), minOperands, row.slots.size(),
          [row](TorchCall &call) { return convertPointwise(call, row); });
  }
}

void mlir::fuseops::addPointwiseHandlers(TorchHandlers &handlers) {
  addActivationHandlers(handlers);
  addActivationGradientHandlers(handlers);
  addArithmeticHandlers(handlers);
  addComparisonHandlers(handlers);
  addUnaryHandlers(handlers);
}
