//===- TorchConstant.cpp - Operands that are constants or sizes -----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/Torch/Torch.h"
#include "TorchCall.h"

using namespace mlir;
using namespace mlir::fuseops;

bool TorchCall::isNone(unsigned index) const {
  return index >= op->getNumOperands() ||
         isa<torch::TorchNoneType>(op->getOperand(index).getType());
}

/// The integer that `value` is, where it's a constant.
static std::optional<int64_t> getInteger(Value value) {
  if (auto constant = value.getDefiningOp<torch::ConstantIntOp>())
    return constant.getValue();
  return std::nullopt;
}

FailureOr<int64_t> TorchCall::integer(unsigned index) const {
  Value operand = op->getOperand(index);
  if (std::optional<int64_t> constant = getInteger(operand))
    return *constant;
  return refuse("expected operand " + Twine(index) +
                " to be a constant integer, but got " + describeValue(operand));
}

FailureOr<int64_t> TorchCall::integerOr(unsigned index,
                                        int64_t otherwise) const {
  return isNone(index) ? FailureOr<int64_t>(otherwise) : integer(index);
}

FailureOr<bool> TorchCall::booleanOr(unsigned index, bool otherwise) const {
  if (isNone(index))
    return otherwise;
  Value operand = op->getOperand(index);
  if (auto constant = operand.getDefiningOp<torch::ConstantBoolOp>())
    return constant.getValue();
  return refuse("expected operand " + Twine(index) +
                " to be a constant bool, but got " + describeValue(operand));
}

std::optional<TorchNumber> mlir::fuseops::getConstantNumber(Value value) {
  if (std::optional<int64_t> constant = getInteger(value))
    return TorchNumber::getInteger(*constant);
  if (auto constant = value.getDefiningOp<torch::ConstantFloatOp>())
    return TorchNumber::get(constant.getValue().convertToDouble());
  if (auto constant = value.getDefiningOp<torch::ConstantBoolOp>())
    return TorchNumber::getInteger(constant.getValue());
  return std::nullopt;
}

FailureOr<double> TorchCall::number(unsigned index) const {
  FailureOr<TorchNumber> exact = exactNumber(index);
  return failed(exact) ? FailureOr<double>(failure()) : exact->real;
}

FailureOr<TorchNumber> TorchCall::exactNumber(unsigned index) const {
  Value operand = op->getOperand(index);
  if (std::optional<TorchNumber> constant = getConstantNumber(operand))
    return *constant;
  return refuse("expected operand " + Twine(index) +
                " to be a constant number, but got " + describeValue(operand));
}

FailureOr<double> TorchCall::numberOr(unsigned index, double otherwise) const {
  return isNone(index) ? FailureOr<double>(otherwise) : number(index);
}

FailureOr<StringRef> TorchCall::string(unsigned index) const {
  Value operand = op->getOperand(index);
  if (auto constant = operand.getDefiningOp<torch::ConstantStrOp>())
    return constant.getValue();
  return refuse("expected operand " + Twine(index) +
                " to be a constant string, but got " + describeValue(operand));
}

FailureOr<OperandRange> mlir::fuseops::getListElements(Value list) {
  auto construct = list.getDefiningOp<torch::ListConstructOp>();
  return construct ? FailureOr<OperandRange>(construct.getElements())
                   : FailureOr<OperandRange>(failure());
}

FailureOr<SmallVector<int64_t>> TorchCall::integers(unsigned index) const {
  FailureOr<OperandRange> elements = getListElements(op->getOperand(index));
  SmallVector<int64_t> result;
  if (succeeded(elements))
    for (Value element : *elements)
      if (std::optional<int64_t> constant = getInteger(element))
        result.push_back(*constant);
  if (failed(elements) || result.size() != elements->size())
    return refuse("expected operand " + Twine(index) +
                  " to be a list of constant integers");
  return result;
}

FailureOr<SmallVector<bool>> TorchCall::booleans(unsigned index) const {
  FailureOr<OperandRange> elements = getListElements(op->getOperand(index));
  SmallVector<bool> result;
  if (succeeded(elements))
    for (Value element : *elements)
      if (auto constant = element.getDefiningOp<torch::ConstantBoolOp>())
        result.push_back(constant.getValue());
  if (failed(elements) || result.size() != elements->size())
    return refuse("expected operand " + Twine(index) +
                  " to be a list of constant bools");
  return result;
}

FailureOr<Extent> TorchCall::size(unsigned index) const {
  Value operand = op->getOperand(index);
  if (std::optional<Extent> extent = evaluate(operand))
    return *extent;
  return refuse("expected operand " + Twine(index) +
                " to be a constant or computed from sizes, but got " +
                describeValue(operand));
}

FailureOr<SmallVector<Extent>> TorchCall::sizes(unsigned index) const {
  FailureOr<OperandRange> elements = getListElements(op->getOperand(index));
  if (failed(elements))
    return refuse("expected operand " + Twine(index) +
                  " to be a list of sizes");
  SmallVector<Extent> result;
  for (Value element : *elements) {
    std::optional<Extent> extent = evaluate(element);
    if (!extent)
      return refuse("expected operand " + Twine(index) +
                    " to be a list of sizes, but got " +
                    describeValue(element));
    result.push_back(*extent);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// `lhs op rhs` for integers of the form `constant + perSymbol * S`.
static std::optional<Extent> combine(StringRef op, Extent lhs, Extent rhs) {
  if (op == "add.int")
    return lhs + rhs;
  if (op == "sub.int")
    return lhs + rhs * -1;
  if (op == "mul.int" && (!lhs.perSymbol || !rhs.perSymbol))
    return lhs.perSymbol ? lhs * rhs.constant : rhs * lhs.constant;
  bool isExact = op == "floordiv.int" && !rhs.perSymbol && rhs.constant > 0 &&
                 lhs.constant % rhs.constant == 0 &&
                 lhs.perSymbol % rhs.constant == 0;
  if (isExact)
    return Extent{lhs.constant / rhs.constant, lhs.perSymbol / rhs.constant};
  return std::nullopt;
}

std::optional<Extent> TorchCall::evaluate(Value value) const {
  if (std::optional<int64_t> constant = getInteger(value))
    return Extent{*constant, 0};
  Operation *definition = value.getDefiningOp();
  if (!definition)
    return std::nullopt;
  StringRef opName = definition->getName().getStringRef();
  if (!opName.consume_front("torch.aten."))
    return std::nullopt;
  unsigned numOperands = definition->getNumOperands();
  if (opName == "size.int" || opName == "sym_size.int") {
    auto it = state.values.find(definition->getOperand(0));
    std::optional<int64_t> dim =
        numOperands == 2 ? getInteger(definition->getOperand(1)) : std::nullopt;
    if (it == state.values.end() || !it->second.type || !dim)
      return std::nullopt;
    const TorchValue &tensor = it->second;
    int64_t rank = tensor.getRank();
    int64_t position = *dim < 0 ? *dim + rank : *dim;
    if (position < 0 || position >= rank)
      return std::nullopt;
    int64_t physical = tensor.getDim(position);
    if (tensor.type.isDynamicDim(physical))
      return Extent{0, tensor.multiple};
    return Extent{tensor.type.getDimSize(physical), 0};
  }
  if (numOperands != 2)
    return std::nullopt;
  std::optional<Extent> lhs = evaluate(definition->getOperand(0));
  std::optional<Extent> rhs = evaluate(definition->getOperand(1));
  return lhs && rhs ? combine(opName, *lhs, *rhs) : std::nullopt;
}

Value TorchCall::buildSize(Extent size) const {
  Type element = builder.getI64Type();
  auto scalar = RankedTensorType::get({}, element);
  auto constant = [&](OpBuilder &inner, Location loc, int64_t value) -> Value {
    return arith::ConstantOp::create(inner, loc,
                                     inner.getI64IntegerAttr(value));
  };
  // The symbolic size is the sum of that many ones.
  if (size.perSymbol && !state.symbol) {
    auto one = [&](OpBuilder &inner, Location loc,
                   ValueRange) -> SmallVector<Value> {
      return {constant(inner, loc, 1)};
    };
    Value ones = PointwiseOp::build(
                     builder, getLoc(),
                     RankedTensorType::get({ShapedType::kDynamic, 1}, element),
                     ValueRange(), one)
                     .getResult(0);
    state.symbol = ReduceRowsOp::create(builder, getLoc(), scalar, ones,
                                        ReductionKind::Sum);
  }
  SmallVector<Value> operands;
  if (size.perSymbol)
    operands.push_back(state.symbol);
  auto body = [&](OpBuilder &inner, Location loc,
                  ValueRange scalars) -> SmallVector<Value> {
    Value sum = constant(inner, loc, size.constant);
    if (scalars.empty())
      return {sum};
    Value product = arith::MulIOp::create(inner, loc, scalars[0],
                                          constant(inner, loc, size.perSymbol));
    return {arith::AddIOp::create(inner, loc, product, sum)};
  };
  return PointwiseOp::build(builder, getLoc(), scalar, operands, body)
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

/// The position of `?`; the rank where there is none.
static int64_t getSymbolicDim(RankedTensorType type) {
  return llvm::find_if(type.getShape(), ShapedType::isDynamic) -
         type.getShape().begin();
}

int64_t TorchValue::getDim(int64_t dim) const {
  return multiple > 1 && dim > getSymbolicDim(type) ? dim + 1 : dim;
}

bool TorchValue::isSplit(int64_t dim) const {
  return multiple > 1 && dim == getSymbolicDim(type);
}

SmallVector<int64_t> TorchValue::getDims(ArrayRef<int64_t> dims) const {
  SmallVector<int64_t> result;
  for (int64_t dim : dims) {
    result.push_back(getDim(dim));
    if (isSplit(dim))
      result.push_back(dim + 1);
  }
  return result;
}

TorchValue TorchValue::get(Value value, int64_t multiple) {
  TorchValue result;
  result.values.push_back(value);
  result.type = cast<RankedTensorType>(value.getType());
  result.multiple = result.type.hasStaticShape() ? 1 : multiple;
  return result;
}
