//===- TorchToFuseOps.cpp - Torch functions to fusible programs ----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Conversion/TorchToFuseOps.h"

#include "Float8.h"
#include "FuseOps/Conversion/Passes.h"
#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "FuseOps/Dialect/Torch/Torch.h"
#include "SymbolicSize.h"
#include "TorchCall.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#define DEBUG_TYPE "convert-torch-to-fuseops"

namespace mlir::fuseops {
#define GEN_PASS_DEF_CONVERTTORCHTOFUSEOPSPASS
#include "FuseOps/Conversion/Passes.h.inc"
} // namespace mlir::fuseops

using namespace mlir;
using namespace mlir::fuseops;

/// Whether `type` is a torch type or holds one.
static bool isTorchType(Type type) {
  return isa<torch::TorchDialect>(type.getDialect());
}

static bool holdsTorch(func::FuncOp function) {
  FunctionType type = function.getFunctionType();
  if (llvm::any_of(type.getInputs(), isTorchType) ||
      llvm::any_of(type.getResults(), isTorchType))
    return true;
  auto visit = [](Operation *op) {
    return isa_and_present<torch::TorchDialect>(op->getDialect())
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  return function.walk(visit).wasInterrupted();
}

/// Whether a type is neither a tensor nor a list of tensors: its values are the
/// parameters of operations, and handlers read them where they're constants.
static bool isParameterType(Type type) {
  if (auto list = dyn_cast<torch::TorchListType>(type))
    return isParameterType(list.getElementType());
  if (auto optional = dyn_cast<torch::TorchOptionalType>(type))
    return isParameterType(optional.getElementType());
  return isa<torch::TorchIntType, torch::TorchFloatType, torch::TorchBoolType,
             torch::TorchStrType, torch::TorchNoneType, torch::TorchNumberType,
             torch::TorchDeviceType, torch::TorchGeneratorType>(type);
}

/// Whether an operation computes nothing that a fusible needs: constants,
/// lists, sizes, and checks of what the types say already.
static bool isIgnored(Operation *op) {
  if (isa<torch::ListConstructOp, torch::BindSymbolicShapeOp,
          torch::RuntimeAssertOp>(op))
    return true;
  if (isa<torch::OperatorOp>(op) || op->getNumRegions() ||
      !isa_and_present<torch::TorchDialect>(op->getDialect()))
    return false;
  if (op->getNumResults())
    return llvm::all_of(op->getResultTypes(), isParameterType);
  StringRef name = op->getName().getStringRef();
  return name.starts_with("torch.aten._assert_") ||
         name.starts_with("torch.aten.sym_constrain_range");
}

/// The type of the first operand or result that is FP8; null where none is.
static Type findFloat8(Operation *op) {
  for (TypeRange types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (getFloat8(type))
        return type;
  return {};
}

namespace {
/// Builds the fusible of one function.
class FunctionImporter {
public:
  explicit FunctionImporter(func::FuncOp function)
      : function(function), builder(function) {}

  /// Builds the fusible before the function; on failure nothing is left of it.
  LogicalResult run();

private:
  LogicalResult createFusible();
  void convert(Operation *op);
  /// `value`, in PyTorch of type `type`, as the caller may have it.
  FailureOr<Value> getResult(TorchCall &call, Value value, Type type);
  void convertOverwrite(torch::OverwriteTensorContentsOp op);
  LogicalResult convertReturn(func::ReturnOp op);
  Value getRandomState();
  /// What an attribute of the function says of the fusible's results.
  DenseI64ArrayAttr getResultList(StringRef attribute);
  void setArgumentAttributes();
  void eraseDeadOps();

  func::FuncOp function;
  OpBuilder builder;
  FusibleOp fusible;
  Block *body = nullptr;
  TorchValues state;
  Value randomState;
  bool hasFailed = false;
};
} // namespace

LogicalResult FunctionImporter::createFusible() {
  if (!function.getBody().hasOneBlock())
    return emitError(function.getLoc())
           << "cannot convert function `" << function.getSymName()
           << "`: expected one block, but got "
           << function.getBody().getBlocks().size();
  // The verifier lets an operation that it doesn't know end the block.
  Block &block = function.getBody().front();
  if (block.empty() || !isa<func::ReturnOp>(block.back()))
    return emitError(function.getLoc())
           << "cannot convert function `" << function.getSymName()
           << "`: expected a `func.return` at its end";
  SmallVector<Type> types;
  SmallVector<Location> locs;
  for (BlockArgument argument : function.getArguments()) {
    std::string reason;
    RankedTensorType type = convertTorchType(argument.getType(), reason);
    if (type && type.getRank() && type.isDynamicDim(type.getRank() - 1)) {
      reason = "expected a last size that isn't symbolic, but got " +
               print(argument.getType());
      type = {};
    }
    if (!type) {
      emitError(argument.getLoc())
          << "cannot convert argument " << argument.getArgNumber() << " of `"
          << function.getSymName() << "`: " << reason;
      hasFailed = true;
      continue;
    }
    FloatType format = getFloat8(argument.getType());
    types.push_back(format ? type.clone(format) : type);
    locs.push_back(argument.getLoc());
  }
  FailureOr<SymbolicSize> size = SymbolicSize::find(function);
  if (hasFailed || failed(size))
    return failure();

  fusible = FusibleOp::create(
      builder, function.getLoc(), function.getSymNameAttr(),
      TypeAttr::get(builder.getFunctionType(types, {})), ArrayAttr(),
      function.getSymVisibilityAttr(), getResultList("fuseops.frozen_results"),
      getResultList("fuseops.missing_gradients"), size->getMin(builder),
      size->getMax(builder));
  if (Attribute recipe = function->getDiscardableAttr(kRecipeAttr))
    fusible->setDiscardableAttr(kRecipeAttr, recipe);
  body = builder.createBlock(&fusible.getForward(), {}, types, locs);
  for (auto [argument, value] :
       llvm::zip(function.getArguments(), body->getArguments())) {
    Value held = value;
    if (getFloat8(argument.getType()))
      held = broadcastTo(
          builder, argument.getLoc(), value,
          cast<RankedTensorType>(value.getType()).clone(builder.getBF16Type()));
    TorchValue converted = TorchValue::get(held);
    converted.isNumber = getNumberType(argument.getType()) != nullptr;
    state.values[argument] = std::move(converted);
  }
  state.getRandomState = [this] { return getRandomState(); };
  return success();
}

Value FunctionImporter::getRandomState() {
  if (!randomState)
    randomState = body->addArgument(
        RankedTensorType::get({2}, builder.getI64Type()), function.getLoc());
  return randomState;
}

void FunctionImporter::convert(Operation *op) {
  TorchCall call(op, state, builder);
  Operation *last = body->empty() ? nullptr : &body->back();
  const TorchHandlers::Entry *entry =
      isa_and_present<torch::TorchDialect>(op->getDialect())
          ? TorchHandlers::get().lookup(call.getName())
          : nullptr;
  auto fail = [&] {
    state.failed.insert(op->result_begin(), op->result_end());
  };
  auto hasFailedValue = [&](Value value) {
    return state.failed.contains(value);
  };
  if (!entry && isIgnored(op)) {
    if (llvm::any_of(op->getOperands(), hasFailedValue))
      fail();
    return;
  }
  LogicalResult result = failure();
  if (!entry) {
    result = call.refuse("not a fusible operation");
  } else if (llvm::any_of(op->getOperands(), hasFailedValue)) {
    // The reason was given where the operand was made.
    fail();
    return;
  } else if (op->getNumOperands() < entry->minOperands ||
             op->getNumOperands() > entry->maxOperands) {
    result = call.refuse("expected " + Twine(entry->minOperands) + " to " +
                         Twine(entry->maxOperands) + " operands, but got " +
                         Twine(op->getNumOperands()));
  } else if (Type type = entry->takesFloat8 ? Type() : findFloat8(op)) {
    result = call.refuse("expected f16, bf16, f32, f64, integers or bools, but "
                         "got " +
                         print(type));
  } else {
    result = entry->handler(call);
  }
  if (succeeded(result)) {
    // A contraction has recipe and name of the call that it stems from.
    for (StringRef name : {StringRef(kRecipeAttr), StringRef(kNameAttr)})
      if (Attribute kept = op->getDiscardableAttr(name))
        for (Operation *made = body->empty() ? nullptr : &body->back();
             made != last; made = made->getPrevNode())
          if (isa<LinearOp, MatmulOp, GroupedMatmulOp>(made))
            made->setDiscardableAttr(name, kept);
    return;
  }
  hasFailed = true;
  fail();
}

FailureOr<Value> FunctionImporter::getResult(TorchCall &call, Value value,
                                             Type type) {
  if (FloatType format = getFloat8(type)) {
    if (isa<Float8E5M2Type>(format))
      return call.refuse("expected no results of f8E5M2, whose infinities a "
                         "kernel doesn't store, but got " +
                         print(type));
    auto held = cast<RankedTensorType>(value.getType());
    return broadcastTo(builder, value.getLoc(), value, held.clone(format));
  }
  Value source = value;
  while (auto reshape = source.getDefiningOp<ReshapeOp>())
    source = reshape.getInput();
  if (!source.getDefiningOp<ConstantOp>())
    return value;
  // A result has memory of its own: the program's is not the caller's.
  auto copy = [](OpBuilder &, Location,
                 ValueRange scalars) -> SmallVector<Value> {
    return {scalars[0]};
  };
  return PointwiseOp::build(builder, value.getLoc(), value.getType(), value,
                            copy)
      .getResult(0);
}

void FunctionImporter::convertOverwrite(torch::OverwriteTensorContentsOp op) {
  TorchCall call(op, state, builder);
  if (state.failed.contains(op.getValue()))
    return;
  FailureOr<Value> value = call.tensor(0);
  if (failed(value))
    hasFailed = true;
  else
    state.written[op.getOverwritten()] = *value;
}

LogicalResult FunctionImporter::convertReturn(func::ReturnOp op) {
  TorchCall call(op, state, builder);
  SmallVector<Value> values;
  // A program without effects returns what it would write, first.
  auto push = [&](Value value, Type type) -> LogicalResult {
    FailureOr<Value> result = getResult(call, value, type);
    if (succeeded(result))
      values.push_back(*result);
    return result;
  };
  for (auto [argument, value] : state.written)
    if (failed(push(value, argument.getType())))
      return failure();
  for (auto [index, operand] : llvm::enumerate(op.getOperands())) {
    if (state.failed.contains(operand))
      return failure();
    if (isa<torch::TorchNoneType>(operand.getType()))
      continue;
    FailureOr<TorchValue> value = call.valueOrNumber(index);
    if (failed(value))
      return failure();
    if (value->kind == TorchValue::Kind::List)
      return call.refuse("expected tensors, but result " + Twine(index) +
                         " is a list");
    if (value->multiple > 1)
      return call.refuse("expected results of symbolic size to be as large as "
                         "the arguments', but result " +
                         Twine(index) + " is " + Twine(value->multiple) +
                         " times as large");
    if (failed(push(call.materialize(*value), operand.getType())))
      return failure();
  }
  SmallVector<Type> types(ValueRange(values).getTypes());
  ReturnOp::create(builder, op.getLoc(), ValueRange(values), ValueRange(),
                   ArrayRef<int64_t>());

  fusible.setFunctionType(
      builder.getFunctionType(body->getArgumentTypes(), types));
  setArgumentAttributes();
  return success();
}

DenseI64ArrayAttr FunctionImporter::getResultList(StringRef attribute) {
  return function->getAttrOfType<DenseI64ArrayAttr>(attribute);
}

void FunctionImporter::setArgumentAttributes() {
  auto mark = [&](StringRef name) {
    return builder.getDictionaryAttr(
        builder.getNamedAttr(name, builder.getUnitAttr()));
  };
  SmallVector<Attribute> attributes(body->getNumArguments(),
                                    builder.getDictionaryAttr({}));
  bool hasAny = randomState != nullptr;
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (function.getArgAttr(index, kFrozenAttr)) {
      attributes[index] = mark(kFrozenAttr);
      hasAny = true;
    }
  if (randomState)
    attributes.back() = mark(kRandomStateAttr);
  if (hasAny)
    fusible.setArgAttrsAttr(builder.getArrayAttr(attributes));
}

void FunctionImporter::eraseDeadOps() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

LogicalResult FunctionImporter::run() {
  if (failed(createFusible()))
    return failure();
  for (Operation &op : function.getBody().front()) {
    if (auto returned = dyn_cast<func::ReturnOp>(op))
      hasFailed |= failed(convertReturn(returned));
    else if (auto overwrite = dyn_cast<torch::OverwriteTensorContentsOp>(op))
      convertOverwrite(overwrite);
    else
      convert(&op);
  }
  if (hasFailed) {
    fusible.erase();
    return failure();
  }
  eraseDeadOps();
  return success();
}

LogicalResult mlir::fuseops::convertTorchToFuseOps(ModuleOp module) {
  bool hasFailed = false;
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (!holdsTorch(function))
      continue;
    if (succeeded(FunctionImporter(function).run()))
      function.erase();
    else
      hasFailed = true;
  }
  return failure(hasFailed);
}

bool mlir::fuseops::isConvertibleTorchOp(StringRef name) {
  return name.consume_front("torch.") && TorchHandlers::get().lookup(name);
}

std::vector<std::string> mlir::fuseops::getConvertibleTorchOps() {
  std::vector<std::string> names;
  for (StringRef name : TorchHandlers::get().names())
    names.push_back(("torch." + name).str());
  llvm::sort(names);
  return names;
}

namespace {
struct ConvertTorchToFuseOpsPass
    : fuseops::impl::ConvertTorchToFuseOpsPassBase<ConvertTorchToFuseOpsPass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(convertTorchToFuseOps(getOperation())))
      signalPassFailure();
  }
};
} // namespace
