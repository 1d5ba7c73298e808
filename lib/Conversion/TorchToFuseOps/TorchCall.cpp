//===- TorchCall.cpp - One torch operation and what it becomes ----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchCall.h"
#include "Float8.h"
#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "FuseOps/Dialect/Torch/Torch.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::fuseops;

RankedTensorType mlir::fuseops::getNumberType(Type type) {
  Builder builder(type.getContext());
  Type element;
  if (isa<torch::TorchIntType>(type))
    element = builder.getI64Type();
  else if (isa<torch::TorchFloatType>(type))
    element = builder.getF64Type();
  else if (isa<torch::TorchBoolType>(type))
    element = builder.getI1Type();
  return element ? RankedTensorType::get({}, element) : RankedTensorType();
}

RankedTensorType mlir::fuseops::convertTorchType(Type type, std::string &reason,
                                                 int64_t multiple) {
  llvm::raw_string_ostream os(reason);
  if (RankedTensorType number = getNumberType(type))
    return number;
  if (auto written = dyn_cast<torch::MutableTensorType>(type))
    type = torch::ValueTensorType::get(type.getContext(), written.getHasSizes(),
                                       written.getSizes(), written.getDtype());
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
  auto integer = dyn_cast<IntegerType>(dtype);
  if (integer && !integer.isUnsigned())
    dtype = IntegerType::get(type.getContext(), integer.getWidth());
  if (getFloat8(type))
    dtype = BFloat16Type::get(type.getContext());
  if (!isElementType(dtype)) {
    os << "expected a dtype of real numbers, but got `" << type << "`";
    return {};
  }
  SmallVector<int64_t> sizes;
  for (int64_t size : tensor.getSizes()) {
    sizes.push_back(size);
    if (ShapedType::isDynamic(size) && multiple > 1)
      sizes.push_back(multiple);
  }
  if (llvm::count_if(sizes, ShapedType::isDynamic) > 1) {
    os << "expected at most one symbolic size, but got `" << type << "`";
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

std::string mlir::fuseops::describeValue(Value value) {
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
// Tensors
//===----------------------------------------------------------------------===//

FailureOr<TorchValue> TorchCall::value(unsigned index) const {
  Value operand = op->getOperand(index);
  auto it = state.values.find(operand);
  if (it != state.values.end() && !it->second.isNumber)
    return it->second;
  return refuse("expected operand " + Twine(index) +
                " to be a tensor, but got " + print(operand.getType()));
}

FailureOr<TorchValue> TorchCall::valueOrNumber(unsigned index) const {
  Value operand = op->getOperand(index);
  auto it = state.values.find(operand);
  if (it != state.values.end())
    return it->second;
  TorchValue number;
  number.type = getNumberType(operand.getType());
  number.isNumber = true;
  if (std::optional<TorchNumber> constant = getConstantNumber(operand)) {
    number.kind = TorchValue::Kind::Splat;
    number.constant = *constant;
    return number;
  }
  if (std::optional<Extent> extent = evaluate(operand)) {
    number.values.push_back(buildSize(*extent));
    return number;
  }
  return refuse("expected operand " + Twine(index) +
                " to be a tensor or a number, but got " +
                describeValue(operand));
}

std::string mlir::fuseops::print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << "`" << type << "`";
  return text;
}

Value TorchCall::materialize(const TorchValue &value) const {
  if (!value.isSplat())
    return value.values.front();
  auto build = [&](OpBuilder &inner, Location loc,
                   ValueRange) -> SmallVector<Value> {
    TorchMath math(inner, loc, value.type.getElementType());
    return {math.constant(value.constant)};
  };
  return PointwiseOp::build(builder, getLoc(), value.type, ValueRange(), build)
      ->getResult(0);
}

FailureOr<Value> TorchCall::tensor(unsigned index) const {
  FailureOr<TorchValue> found = value(index);
  if (failed(found))
    return failure();
  if (found->kind == TorchValue::Kind::List)
    return refuse("expected operand " + Twine(index) +
                  " to be a tensor, but got a list");
  return materialize(*found);
}

FailureOr<TorchValue> TorchCall::floatOrSplat(unsigned index) const {
  FailureOr<TorchValue> found = value(index);
  if (failed(found))
    return failure();
  if (found->kind == TorchValue::Kind::List)
    return refuse("expected operand " + Twine(index) +
                  " to be a tensor, but got a list");
  if (!isComputeFloat(found->type.getElementType()))
    return refuse("expected operand " + Twine(index) +
                  " to be f16, bf16, f32 or f64, but got " +
                  print(found->type));
  return found;
}

FailureOr<Value> TorchCall::floatTensor(unsigned index) const {
  FailureOr<TorchValue> found = floatOrSplat(index);
  return failed(found) ? FailureOr<Value>(failure()) : materialize(*found);
}

FailureOr<Value> TorchCall::optionalFloatTensor(unsigned index) const {
  return isNone(index) ? FailureOr<Value>(Value()) : floatTensor(index);
}

FailureOr<SmallVector<TorchValue>> TorchCall::tensorList(unsigned index) const {
  Value operand = op->getOperand(index);
  SmallVector<TorchValue> result;
  FailureOr<OperandRange> elements = getListElements(operand);
  if (succeeded(elements)) {
    for (Value element : *elements) {
      auto it = state.values.find(element);
      if (it == state.values.end() ||
          it->second.kind == TorchValue::Kind::List || it->second.isNumber)
        return refuse("expected operand " + Twine(index) +
                      " to be a list of tensors");
      result.push_back(it->second);
    }
    return result;
  }
  FailureOr<TorchValue> found = value(index);
  if (failed(found))
    return failure();
  if (found->kind != TorchValue::Kind::List)
    return refuse("expected operand " + Twine(index) +
                  " to be a list of tensors");
  for (Value element : found->values)
    result.push_back(TorchValue::get(element, found->multiple));
  return result;
}

FailureOr<int64_t> TorchCall::dimension(unsigned index, int64_t rank) const {
  FailureOr<int64_t> dim = integer(index);
  if (failed(dim))
    return failure();
  int64_t limit = std::max<int64_t>(rank, 1);
  if (*dim < -limit || *dim >= limit)
    return refuse("expected a dimension of " + Twine(rank) + ", but got " +
                  Twine(*dim));
  return *dim < 0 ? *dim + limit : *dim;
}

FailureOr<SmallVector<int64_t>>
TorchCall::dimensions(unsigned index, int64_t rank, bool isEmptyAll) const {
  SmallVector<int64_t> dims;
  if (!isNone(index)) {
    if (isa<torch::TorchIntType>(op->getOperand(index).getType())) {
      FailureOr<int64_t> dim = dimension(index, rank);
      if (failed(dim))
        return failure();
      if (rank > 0)
        dims.push_back(*dim);
      return dims;
    }
    FailureOr<SmallVector<int64_t>> listed = integers(index);
    if (failed(listed))
      return failure();
    int64_t limit = std::max<int64_t>(rank, 1);
    for (int64_t dim : *listed) {
      if (dim < -limit || dim >= limit)
        return refuse("expected dimensions of " + Twine(rank) + ", but got " +
                      Twine(dim));
      dim = dim < 0 ? dim + limit : dim;
      if (llvm::is_contained(dims, dim))
        return refuse("expected different dimensions, but got " + Twine(dim) +
                      " twice");
      if (rank > 0)
        dims.push_back(dim);
    }
    if (!dims.empty() || !isEmptyAll)
      return dims;
  }
  llvm::append_range(dims, llvm::seq<int64_t>(0, rank));
  return dims;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

FailureOr<int64_t> TorchCall::multiple() const {
  int64_t found = 0;
  auto visit = [&](Value operand) {
    auto it = state.values.find(operand);
    if (it == state.values.end())
      return true;
    const TorchValue &value = it->second;
    bool isSymbolic =
        value.type ? !value.type.hasStaticShape() : value.multiple > 1;
    if (!isSymbolic)
      return true;
    bool agrees = found == 0 || found == value.multiple;
    found = value.multiple;
    return agrees;
  };
  for (Value operand : op->getOperands()) {
    FailureOr<OperandRange> elements = getListElements(operand);
    bool agrees =
        succeeded(elements) ? llvm::all_of(*elements, visit) : visit(operand);
    if (!agrees)
      return refuse("expected every `?` to stand for the same size");
  }
  return std::max<int64_t>(found, 1);
}

FailureOr<RankedTensorType> TorchCall::resultType(unsigned index) const {
  FailureOr<int64_t> found = multiple();
  return failed(found) ? FailureOr<RankedTensorType>(failure())
                       : resultType(index, *found);
}

FailureOr<RankedTensorType> TorchCall::resultType(unsigned index,
                                                  int64_t multiple) const {
  if (index >= op->getNumResults())
    return refuse("expected at least " + Twine(index + 1) +
                  " results, but got " + Twine(op->getNumResults()));
  std::string reason;
  if (RankedTensorType type =
          convertTorchType(op->getResult(index).getType(), reason, multiple))
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
  FailureOr<int64_t> found = multiple();
  return failed(found) ? failure() : set(index, TorchValue::get(value, *found));
}

LogicalResult TorchCall::set(unsigned index, TorchValue value) const {
  if (value.kind == TorchValue::Kind::List) {
    if (index >= op->getNumResults())
      return refuse("expected a result, but got none");
  } else {
    FailureOr<RankedTensorType> type = resultType(index, value.multiple);
    if (failed(type))
      return failure();
    if (*type != value.type)
      return refuse("expected a result of " + print(value.type) + ", but got " +
                    print(*type));
  }
  state.values[op->getResult(index)] = std::move(value);
  return success();
}

LogicalResult TorchCall::setUndeclared(unsigned index, Value value) const {
  FailureOr<int64_t> found = multiple();
  if (succeeded(found))
    state.values[op->getResult(index)] = TorchValue::get(value, *found);
  return found;
}

LogicalResult TorchCall::setConverted(unsigned index, Value value) const {
  FailureOr<RankedTensorType> type = resultType(index);
  if (failed(type))
    return failure();
  auto present = cast<RankedTensorType>(value.getType());
  auto drop = [](RankedTensorType tensor) {
    return llvm::to_vector(llvm::make_filter_range(
        tensor.getShape(), [](int64_t size) { return size != 1; }));
  };
  if (drop(present) != drop(*type))
    return set(index, value);
  value = reshapeTo(builder, getLoc(), value, type->getShape());
  bool isRounding = value.getType() != *type &&
                    isComputeFloat(present.getElementType()) &&
                    isComputeFloat(type->getElementType());
  if (isRounding)
    return set(index, CastOp::create(builder, getLoc(), *type, value));
  return set(index, broadcastTo(builder, getLoc(), value, *type));
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
    for (auto [scalar, operand] : llvm::zip_equal(scalars, operands))
      converted.push_back(convertElement(
          inner, loc, scalar, getElementTypeOrSelf(operand), compute));
    return {convertElement(inner, loc, body(math, converted), compute,
                           result.getElementType())};
  };
  return PointwiseOp::build(builder, getLoc(), result, operands, build)
      ->getResult(0);
}

const TorchHandlers &TorchHandlers::get() {
  static const TorchHandlers handlers = [] {
    TorchHandlers all;
    all.setTakesFloat8(true);
    addCastHandlers(all);
    addLayoutHandlers(all);
    addLiteralHandlers(all);
    addScaledProductHandlers(all);
    addShuffleHandlers(all);
    addSliceHandlers(all);
    all.setTakesFloat8(false);
    addBitViewHandlers(all);
    addContractionHandlers(all);
    addLossHandlers(all);
    addNormBackwardHandlers(all);
    addNormHandlers(all);
    addPointwiseHandlers(all);
    addRandomHandlers(all);
    addReductionHandlers(all);
    addSoftmaxHandlers(all);
    addTensorFactoryHandlers(all);
    return all;
  }();
  return handlers;
}
