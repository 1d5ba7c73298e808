//===- TorchCall.cpp - One torch operation and what it becomes ----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchCall.h"
#include "FuseOps/Dialect/Torch/Torch.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::fuseops;

RankedTensorType mlir::fuseops::convertTorchType(Type type,
                                                 std::string &reason) {
  llvm::raw_string_ostream os(reason);
  auto tensor = dyn_cast<torch::ValueTensorType>(type);
  if (!tensor) {
    os << "expected a `!torch.vtensor`, but got `" << type << "`";
    return {};
  }
  Type dtype = tensor.getDtype();
  if (!tensor.getHasSizes() || !dtype) {
    os << "expected a known rank and dtype, but got `" << type << "`";
    return {};
  }
  if (auto integer = dyn_cast<IntegerType>(dtype)) {
    dtype = IntegerType::get(type.getContext(), integer.getWidth());
  } else if (!isa<FloatType>(dtype)) {
    os << "expected a dtype of real numbers, but got `" << type << "`";
    return {};
  }
  ArrayRef<int64_t> sizes = tensor.getSizes();
  if (llvm::count_if(sizes, ShapedType::isDynamic) > 1) {
    os << "expected at most one symbolic size, but got `" << type << "`";
    return {};
  }
  if (!sizes.empty() && ShapedType::isDynamic(sizes.back())) {
    os << "expected a last size that isn't symbolic, but got `" << type << "`";
    return {};
  }
  return RankedTensorType::get(sizes, dtype);
}

bool mlir::fuseops::isComputeFloat(Type type) {
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

std::string mlir::fuseops::spell(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}

TorchCall::TorchCall(Operation *op, TorchValues &state, OpBuilder &builder)
    : state(state), builder(builder), op(op) {
  auto custom = dyn_cast<torch::OperatorOp>(op);
  name = custom ? custom.getName() : op->getName().getStringRef();
  name.consume_front("torch.");
}

/// The innermost place of `loc` that isn't inside an installed package.
static std::optional<FileLineColLoc> findUserPlace(Location loc) {
  if (auto file = dyn_cast<FileLineColLoc>(loc)) {
    StringRef path = file.getFilename().getValue();
    bool isPackage =
        path.contains("site-packages/") || path.contains("dist-packages/");
    return isPackage ? std::nullopt : std::optional(file);
  }
  if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    auto place = findUserPlace(call.getCallee());
    return place ? place : findUserPlace(call.getCaller());
  }
  if (auto named = dyn_cast<NameLoc>(loc))
    return findUserPlace(named.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (auto place = findUserPlace(part))
        return place;
  return std::nullopt;
}

/// The place that a diagnostic at `loc` names first.
static Location getFirstPlace(Location loc) {
  while (auto call = dyn_cast<CallSiteLoc>(loc))
    loc = call.getCallee();
  return loc;
}

LogicalResult TorchCall::refuse(const Twine &reason) const {
  bool isTorch = isa<torch::TorchDialect>(op->getDialect());
  InFlightDiagnostic diagnostic =
      emitError(op->getLoc()) << "cannot convert `" << (isTorch ? "torch." : "")
                              << name << "`: " << reason;
  // Without a location of its own the operation's place is the IR file.
  std::optional<FileLineColLoc> place = findUserPlace(op->getLoc());
  if (place && Location(*place) != getFirstPlace(op->getLoc()))
    diagnostic.attachNote(*place) << "called here in the user's program";
  return diagnostic;
}

std::string TorchCall::describe(Value value) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (Operation *definition = value.getDefiningOp()) {
    os << "the result of `";
    if (auto custom = dyn_cast<torch::OperatorOp>(definition))
      os << custom.getName();
    else
      os << definition->getName();
    os << "`";
  } else {
    os << "an argument of the function";
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Constant operands
//===----------------------------------------------------------------------===//

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
                " to be a constant integer, but got " + describe(operand));
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
                " to be a constant bool, but got " + describe(operand));
}

FailureOr<double> TorchCall::number(unsigned index) const {
  Value operand = op->getOperand(index);
  if (std::optional<int64_t> constant = getInteger(operand))
    return static_cast<double>(*constant);
  if (auto constant = operand.getDefiningOp<torch::ConstantFloatOp>())
    return constant.getValue().convertToDouble();
  if (auto constant = operand.getDefiningOp<torch::ConstantBoolOp>())
    return constant.getValue() ? 1.0 : 0.0;
  return refuse("expected operand " + Twine(index) +
                " to be a constant number, but got " + describe(operand));
}

FailureOr<double> TorchCall::numberOr(unsigned index, double otherwise) const {
  return isNone(index) ? FailureOr<double>(otherwise) : number(index);
}

FailureOr<StringRef> TorchCall::string(unsigned index) const {
  Value operand = op->getOperand(index);
  if (auto constant = operand.getDefiningOp<torch::ConstantStrOp>())
    return constant.getValue();
  return refuse("expected operand " + Twine(index) +
                " to be a constant string, but got " + describe(operand));
}

FailureOr<SmallVector<int64_t>> TorchCall::integers(unsigned index) const {
  Value operand = op->getOperand(index);
  auto list = operand.getDefiningOp<torch::ListConstructOp>();
  SmallVector<int64_t> result;
  if (list)
    for (Value element : list.getElements())
      if (std::optional<int64_t> constant = getInteger(element))
        result.push_back(*constant);
  if (!list || result.size() != list.getElements().size())
    return refuse("expected operand " + Twine(index) +
                  " to be a list of constant integers");
  return result;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

FailureOr<TorchValue> TorchCall::value(unsigned index) const {
  Value operand = op->getOperand(index);
  auto it = state.values.find(operand);
  if (it != state.values.end())
    return it->second;
  std::string text;
  llvm::raw_string_ostream(text) << operand.getType();
  return refuse("expected operand " + Twine(index) +
                " to be a tensor, but got `" + text + "`");
}

FailureOr<Value> TorchCall::tensor(unsigned index) const {
  FailureOr<TorchValue> found = value(index);
  if (failed(found))
    return failure();
  switch (found->kind) {
  case TorchValue::Kind::Tensor:
    return found->values.front();
  case TorchValue::Kind::Transposed:
    return refuse("operand " + Twine(index) +
                  " is a transpose, which only a matrix product takes");
  case TorchValue::Kind::List:
    return refuse("expected operand " + Twine(index) +
                  " to be a tensor, but got a list");
  case TorchValue::Kind::Splat:
    return refuse("operand " + Twine(index) +
                  " is a tensor constant, which only arithmetic takes");
  }
  return failure();
}

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << "`" << type << "`";
  return text;
}

FailureOr<TorchValue> TorchCall::floatOrSplat(unsigned index) const {
  FailureOr<TorchValue> found = value(index);
  if (failed(found))
    return failure();
  if (found->kind != TorchValue::Kind::Splat && failed(tensor(index)))
    return failure();
  if (!isComputeFloat(found->type.getElementType()))
    return refuse("expected operand " + Twine(index) +
                  " to be f16, bf16, f32 or f64, but got " +
                  print(found->type));
  return found;
}

FailureOr<Value> TorchCall::floatTensor(unsigned index) const {
  FailureOr<Value> found = tensor(index);
  if (failed(found) || failed(floatOrSplat(index)))
    return failure();
  return found;
}

FailureOr<Value> TorchCall::optionalFloatTensor(unsigned index) const {
  return isNone(index) ? FailureOr<Value>(Value()) : floatTensor(index);
}

FailureOr<TorchValue> TorchCall::floatMatrix(unsigned index) const {
  FailureOr<TorchValue> found = value(index);
  if (failed(found))
    return failure();
  if (found->kind != TorchValue::Kind::Transposed) {
    if (failed(floatTensor(index)))
      return failure();
  } else if (!isComputeFloat(found->type.getElementType())) {
    return refuse("expected operand " + Twine(index) +
                  " to be f16, bf16, f32 or f64, but got " +
                  print(found->type));
  }
  if (found->type.getRank() < 2)
    return refuse("expected operand " + Twine(index) +
                  " to have at least two dimensions, but got " +
                  print(found->type));
  return found;
}

FailureOr<SmallVector<Value>> TorchCall::tensorList(unsigned index) const {
  Value operand = op->getOperand(index);
  SmallVector<Value> result;
  if (auto list = operand.getDefiningOp<torch::ListConstructOp>()) {
    for (Value element : list.getElements()) {
      auto it = state.values.find(element);
      if (it == state.values.end() ||
          it->second.kind != TorchValue::Kind::Tensor)
        return refuse("expected operand " + Twine(index) +
                      " to be a list of tensors");
      result.push_back(it->second.values.front());
    }
    return result;
  }
  FailureOr<TorchValue> found = value(index);
  if (failed(found))
    return failure();
  if (found->kind != TorchValue::Kind::List)
    return refuse("expected operand " + Twine(index) +
                  " to be a list of tensors");
  return found->values;
}

FailureOr<int64_t> TorchCall::dimension(unsigned index, int64_t rank) const {
  FailureOr<int64_t> dim = integer(index);
  if (failed(dim))
    return failure();
  if (*dim < -rank || *dim >= rank)
    return refuse("expected a dimension of " + Twine(rank) + ", but got " +
                  Twine(*dim));
  return *dim < 0 ? *dim + rank : *dim;
}

LogicalResult TorchCall::lastDimension(unsigned index, int64_t rank) const {
  FailureOr<int64_t> dim = dimension(index, rank);
  if (failed(dim))
    return failure();
  if (*dim != rank - 1)
    return refuse("expected the last dimension, but got dimension " +
                  Twine(*dim) + " of " + Twine(rank));
  return success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

FailureOr<RankedTensorType> TorchCall::resultType(unsigned index) const {
  if (index >= op->getNumResults())
    return refuse("expected at least " + Twine(index + 1) +
                  " results, but got " + Twine(op->getNumResults()));
  std::string reason;
  if (RankedTensorType type =
          convertTorchType(op->getResult(index).getType(), reason))
    return type;
  return refuse(reason);
}

FailureOr<RankedTensorType> TorchCall::floatResultType(unsigned index) const {
  FailureOr<RankedTensorType> type = resultType(index);
  if (succeeded(type) && !isComputeFloat(type->getElementType()))
    return refuse("expected a result of f16, bf16, f32 or f64, but got " +
                  print(*type));
  return type;
}

bool TorchCall::isResultUsed(unsigned index) const {
  return index < op->getNumResults() && !op->getResult(index).use_empty();
}

LogicalResult TorchCall::set(unsigned index, Value value) const {
  TorchValue result;
  result.values.push_back(value);
  result.type = cast<RankedTensorType>(value.getType());
  return set(index, std::move(result));
}

LogicalResult TorchCall::set(unsigned index, TorchValue value) const {
  if (value.kind == TorchValue::Kind::List) {
    if (index >= op->getNumResults())
      return refuse("expected a result, but got none");
  } else {
    FailureOr<RankedTensorType> type = resultType(index);
    if (failed(type))
      return failure();
    if (*type != value.type)
      return refuse("expected a result of " + print(value.type) + ", but got " +
                    print(*type));
  }
  state.values[op->getResult(index)] = std::move(value);
  return success();
}

Value TorchCall::pointwise(
    RankedTensorType result, ValueRange operands,
    function_ref<Value(ScalarMath &, ArrayRef<Value>)> body) const {
  auto isDouble = [](Type type) { return getElementTypeOrSelf(type).isF64(); };
  bool isWide = isDouble(result) || llvm::any_of(operands.getTypes(), isDouble);
  Type compute =
      isWide ? Type(builder.getF64Type()) : Type(builder.getF32Type());
  auto build = [&](OpBuilder &inner, Location loc,
                   ValueRange scalars) -> SmallVector<Value> {
    ScalarMath math(inner, loc, compute);
    SmallVector<Value> converted;
    for (Value scalar : scalars)
      converted.push_back(math.convert(scalar));
    return {convertFloat(inner, loc, body(math, converted),
                         getComputeType(result.getElementType()))};
  };
  return PointwiseOp::build(builder, getLoc(), result, operands, build)
      ->getResult(0);
}

const TorchHandlers &TorchHandlers::get() {
  static const TorchHandlers handlers = [] {
    TorchHandlers all;
    addCastHandlers(all);
    addContractionHandlers(all);
    addLayoutHandlers(all);
    addNormHandlers(all);
    addPointwiseHandlers(all);
    addRandomHandlers(all);
    addReductionHandlers(all);
    return all;
  }();
  return handlers;
}
