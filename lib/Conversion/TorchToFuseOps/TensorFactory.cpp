//===- TensorFactory.cpp - Tensors made of numbers and of places ---------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "FuseOps/Dialect/Torch/Torch.h"
#include "TorchCall.h"

using namespace mlir;
using namespace mlir::fuseops;

/// Makes the result a tensor of one number, `value` of rank 0.
static LogicalResult setFilled(TorchCall &call, const TorchValue &value,
                               int64_t multiple) {
  FailureOr<RankedTensorType> result = call.resultType(0, multiple);
  if (failed(result))
    return failure();
  if (!value.isSplat()) {
    Value filled =
        broadcastTo(call.builder, call.getLoc(), value.values.front(), *result);
    return call.set(0, TorchValue::get(filled, multiple));
  }
  TorchValue splat = value;
  splat.isNumber = false;
  splat.type = *result;
  splat.multiple = result->hasStaticShape() ? 1 : multiple;
  return call.set(0, splat);
}

static TorchValue getSplat(double number) {
  TorchValue splat;
  splat.kind = TorchValue::Kind::Splat;
  splat.constant = TorchNumber::get(number);
  return splat;
}

/// How many times the symbolic size a result is whose sizes operand `index`
/// lists.
static FailureOr<int64_t> getListedMultiple(TorchCall &call, unsigned index) {
  FailureOr<RankedTensorType> type = call.resultType(0, 1);
  if (failed(type))
    return failure();
  if (type->hasStaticShape())
    return 1;
  FailureOr<SmallVector<Extent>> sizes = call.sizes(index);
  if (failed(sizes))
    return failure();
  for (Extent size : *sizes)
    if (size.perSymbol)
      return size.perSymbol;
  return 1;
}

/// A tensor of `number`, of the sizes at operand `index`.
static TorchHandler convertConstant(double number, unsigned index) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<int64_t> multiple = getListedMultiple(call, index);
    return failed(multiple) ? failure()
                            : setFilled(call, getSplat(number), *multiple);
  };
}

/// A tensor like operand 0, of `number`.
static TorchHandler convertConstantLike(double number) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<int64_t> multiple = call.multiple();
    return failed(multiple) ? failure()
                            : setFilled(call, getSplat(number), *multiple);
  };
}

/// A tensor of the number at operand `numberIndex`, of the sizes at operand
/// `sizesIndex`, else like operand 0.
static TorchHandler convertFull(unsigned numberIndex,
                                std::optional<unsigned> sizesIndex) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<TorchValue> number = call.valueOrNumber(numberIndex);
    if (failed(number))
      return failure();
    FailureOr<int64_t> multiple =
        sizesIndex ? getListedMultiple(call, *sizesIndex) : call.multiple();
    return failed(multiple) ? failure() : setFilled(call, *number, *multiple);
  };
}

/// A number as a tensor of rank 0.
static LogicalResult convertScalar(TorchCall &call) {
  FailureOr<TorchValue> number = call.valueOrNumber(0);
  return failed(number) ? failure() : setFilled(call, *number, 1);
}

/// A number where an operation's schema has a tensor: in type promotion it
/// stays a number.
static LogicalResult convertNumberOperand(TorchCall &call) {
  FailureOr<TorchValue> number = call.valueOrNumber(0);
  if (failed(number))
    return failure();
  FailureOr<RankedTensorType> result = call.resultType();
  if (failed(result))
    return failure();
  // Where PyTorch knows the default dtype the result has that.
  if (number->isSplat())
    number->constant =
        convertNumber(number->constant, result->getElementType());
  else
    number->values.front() = broadcastTo(call.builder, call.getLoc(),
                                         number->values.front(), *result);
  number->type = *result;
  return call.set(0, *number);
}

/// The only element of a tensor as a number.
static LogicalResult convertItem(TorchCall &call) {
  FailureOr<TorchValue> tensor = call.value(0);
  if (failed(tensor))
    return failure();
  FailureOr<Value> value = call.tensor(0);
  if (failed(value))
    return failure();
  if (getNumElements(tensor->type) != Extent{1, 0})
    return call.refuse("expected a tensor of one element, but got " +
                       print(tensor->type));
  RankedTensorType type =
      getNumberType(call.getOperation()->getResult(0).getType());
  if (!type)
    return call.refuse("expected a number as result");
  Value scalar = reshapeTo(call.builder, call.getLoc(), *value, {});
  TorchValue number =
      TorchValue::get(broadcastTo(call.builder, call.getLoc(), scalar, type));
  number.isNumber = true;
  call.state.values[call.getOperation()->getResult(0)] = number;
  return success();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// `start + i * step`: start at operand `first` if there is one, the end behind
/// it, the step behind that.
static TorchHandler convertRange(bool hasStart, bool hasStep) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<RankedTensorType> result = call.resultType();
    if (failed(result))
      return failure();
    TorchNumber start = TorchNumber::getInteger(0),
                step = TorchNumber::getInteger(1);
    if (hasStart) {
      FailureOr<TorchNumber> number = call.exactNumber(0);
      if (failed(number))
        return failure();
      start = *number;
    }
    if (hasStep) {
      FailureOr<TorchNumber> number = call.exactNumber(2);
      if (failed(number))
        return failure();
      step = *number;
    }
    // In the type that PyTorch computes in: the integer or the float.
    Type element = result->getElementType();
    Type compute = isa<IntegerType>(element) ? Type(call.builder.getI64Type())
                                             : Type(call.builder.getF64Type());
    auto body = [&](OpBuilder &inner, Location loc,
                    ValueRange) -> SmallVector<Value> {
      TorchMath math(inner, loc, compute);
      Value index = LinearIndexOp::create(inner, loc, inner.getI64Type());
      Value place = math.convert(index, inner.getI64Type());
      Value value =
          math.add(math.constant(start), math.mul(place, math.constant(step)));
      return {convertElement(inner, loc, value, compute, element)};
    };
    return call.set(0, PointwiseOp::build(call.builder, call.getLoc(), *result,
                                          ValueRange(), body)
                           .getResult(0));
  };
}

/// Whether a body keeps the element at a row and a column.
using PlaceTest =
    function_ref<Value(OpBuilder &, Location, Value row, Value column)>;

/// `input` where `test` holds, else 0, over matrices of `type`'s last two
/// dimensions.
static Value buildMasked(TorchCall &call, RankedTensorType type, Value input,
                         PlaceTest test) {
  int64_t rows = type.getDimSize(type.getRank() - 2);
  Type element = type.getElementType();
  auto body = [&](OpBuilder &inner, Location loc,
                  ValueRange scalars) -> SmallVector<Value> {
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(inner, loc,
                                       inner.getI64IntegerAttr(value));
    };
    Type word = inner.getI64Type();
    Value index = LinearIndexOp::create(inner, loc, word);
    Value column = ColumnIndexOp::create(inner, loc, word);
    Value columns = constant(getColumns(type));
    Value row = arith::DivSIOp::create(inner, loc, index, columns);
    if (type.getRank() > 2)
      row = arith::RemSIOp::create(inner, loc, row, constant(rows));
    Value zero = arith::ConstantOp::create(
        inner, loc, inner.getZeroAttr(getComputeType(element)));
    return {arith::SelectOp::create(inner, loc, test(inner, loc, row, column),
                                    scalars[0], zero)};
  };
  return PointwiseOp::build(call.builder, call.getLoc(), type, input, body)
      .getResult(0);
}

/// tril and triu: elements below or above a diagonal.
static TorchHandler convertTriangle(bool isLower) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<Value> input = call.tensor(0);
    if (failed(input))
      return failure();
    FailureOr<int64_t> diagonal = call.integerOr(1, 0);
    if (failed(diagonal))
      return failure();
    FailureOr<int64_t> multiple = call.multiple();
    if (failed(multiple))
      return failure();
    auto type = cast<RankedTensorType>(input->getType());
    if (type.hasStaticShape() && getNumElements(type) == Extent())
      return call.set(0, *input);
    if (type.getRank() < 2 || *multiple > 1 || getColumns(type) == 0 ||
        (type.getRank() > 2 && type.isDynamicDim(type.getRank() - 2)))
      return call.refuse("expected matrices of known size, but got " +
                         print(type));
    auto test = [&](OpBuilder &inner, Location loc, Value row,
                    Value column) -> Value {
      Value offset = arith::ConstantOp::create(
          inner, loc, inner.getI64IntegerAttr(*diagonal));
      Value limit = arith::AddIOp::create(inner, loc, row, offset);
      return arith::CmpIOp::create(inner, loc,
                                   isLower ? arith::CmpIPredicate::sle
                                           : arith::CmpIPredicate::sge,
                                   column, limit);
    };
    return call.set(0, buildMasked(call, type, *input, test));
  };
}

/// Ones on the diagonal.
static LogicalResult convertEye(TorchCall &call) {
  FailureOr<RankedTensorType> result = call.resultType();
  if (failed(result))
    return failure();
  TorchValue ones = getSplat(1.0);
  ones.constant = TorchNumber::getInteger(1);
  ones.type = *result;
  if (result->getRank() != 2 || !result->hasStaticShape() ||
      getNumElements(*result) == Extent())
    return call.refuse("expected a matrix of known size, but got " +
                       print(*result));
  auto test = [](OpBuilder &inner, Location loc, Value row,
                 Value column) -> Value {
    return arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq, row,
                                 column);
  };
  return call.set(0, buildMasked(call, *result, call.materialize(ones), test));
}

/// A row of zeros with a one at each element's value.
static LogicalResult convertOneHot(TorchCall &call) {
  FailureOr<Value> input = call.tensor(0);
  if (failed(input))
    return failure();
  FailureOr<RankedTensorType> result = call.resultType();
  if (failed(result))
    return failure();
  auto type = cast<RankedTensorType>(input->getType());
  if (ShapedType::isDynamic(getColumns(*result)))
    return call.refuse("expected a known number of classes");
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(1);
  Value index = reshapeTo(call.builder, call.getLoc(), *input, shape);
  auto body = [&](OpBuilder &inner, Location loc,
                  ValueRange scalars) -> SmallVector<Value> {
    Type word = inner.getI64Type();
    Value column = ColumnIndexOp::create(inner, loc, word);
    Value target =
        convertElement(inner, loc, scalars[0], type.getElementType(), word);
    Value isIt = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq,
                                       column, target);
    return {convertElement(inner, loc, isIt, inner.getI1Type(),
                           result->getElementType())};
  };
  return call.set(
      0, PointwiseOp::build(call.builder, call.getLoc(), *result, index, body)
             .getResult(0));
}

void mlir::fuseops::addTensorFactoryHandlers(TorchHandlers &handlers) {
  // What is empty may hold anything, so also zeros.
  for (StringRef name : {"zeros", "empty.memory_format"})
    handlers.add(("aten." + name).str(), 1, 6, convertConstant(0.0, 0));
  handlers.add("aten.ones", 1, 5, convertConstant(1.0, 0));
  for (StringRef name : {"new_zeros", "new_empty"})
    handlers.add(("aten." + name).str(), 2, 6, convertConstant(0.0, 1));
  handlers.add("aten.new_ones", 2, 6, convertConstant(1.0, 1));
  for (StringRef name : {"zeros_like", "empty_like"})
    handlers.add(("aten." + name).str(), 1, 6, convertConstantLike(0.0));
  handlers.add("aten.zero", 1, 1, convertConstantLike(0.0));
  handlers.add("aten.ones_like", 1, 6, convertConstantLike(1.0));
  handlers.add("aten.full", 2, 6, convertFull(1, 0));
  handlers.add("aten.new_full", 3, 7, convertFull(2, 1));
  handlers.add("aten.full_like", 2, 7, convertFull(1, std::nullopt));
  for (StringRef name : {"aten.scalar_tensor", "aten.tensor.int",
                         "aten.tensor.float", "prims.scalar_tensor"})
    handlers.add(name, 1, 5, convertScalar);
  handlers.add("prim.NumToTensor.Scalar", 1, 1, convertNumberOperand);
  for (StringRef name : {"item", "Int.Tensor", "Float.Tensor", "Bool.Tensor",
                         "_local_scalar_dense"})
    handlers.add(("aten." + name).str(), 1, 1, convertItem);
  handlers.add("aten.arange", 1, 5, convertRange(false, false));
  handlers.add("aten.arange.start", 2, 6, convertRange(true, false));
  handlers.add("aten.arange.start_step", 3, 7, convertRange(true, true));
  handlers.add("aten.tril", 1, 2, convertTriangle(/*isLower=*/true));
  handlers.add("aten.triu", 1, 2, convertTriangle(/*isLower=*/false));
  handlers.add("aten.eye", 1, 5, convertEye);
  handlers.add("aten.eye.m", 2, 6, convertEye);
  handlers.add("aten.one_hot", 2, 2, convertOneHot);
}
