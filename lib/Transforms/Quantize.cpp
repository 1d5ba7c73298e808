//===- Quantize.cpp - Quantize the operands of contractions --------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Analysis/OperationShape.h"
#include "FuseOps/Dialect/FuseOps/Contraction.h"
#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "FuseOps/Transforms/FusibleEdits.h"
#include "FuseOps/Transforms/Passes.h"
#include "Recipe.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "fuseops-quantize"

namespace mlir::fuseops {
#define GEN_PASS_DEF_QUANTIZEPASS
#include "FuseOps/Transforms/Passes.h.inc"
} // namespace mlir::fuseops

using namespace mlir;
using namespace mlir::fuseops;

// Products with fewer columns than this gain nothing from FP8.
static constexpr int64_t kMinColumns = 16;

/// Why a contraction stays in high precision, in the order tested.
static constexpr StringLiteral kConditionTexts[] = {
    "",
    "its recipe is `none`",
    "products of groups have no quantized operands",
    "an operand is quantized already",
    "its operands are not f16, bf16 or f32",
    "an operand or the result has fewer than 16 columns",
    "the number of rows of an operand is a multiple of `?`",
    "the recipe computes weight gradients in high precision",
    "an operand has no state: backward computes it, and it is no gradient",
};

namespace {

/// An operand that is to be quantized.
struct Request {
  OpOperand *use;
  Copies copy;
  RecipeAttr recipe;
  FloatType element;
  ScaleKind scale;
  /// What is quantized, behind reshapes, in the region that computes it.
  Value tensor;
  bool isForward, isWeight;
};

/// Tensors that share the state of delayed scaling.
struct StateGroup {
  RecipeAttr recipe;
  FloatType element;
  bool isForward, isWeight;
  llvm::SetVector<Value> tensors;
  /// Of each tensor: the name of the contraction that asked first, and what
  /// the tensor is there.
  SmallVector<Attribute> names;
  SmallVector<Value> scales;
};

/// Quantizes the contractions of one fusible.
class Quantizer {
public:
  Quantizer(FusibleOp fusible, RecipeAttr recipe)
      : fusible(fusible), recipe(recipe), saved(fusible),
        builder(fusible.getContext()) {}

  LogicalResult run();

private:
  RecipeAttr getRecipe(Operation *op);
  void findWeights();
  void findGradients();
  unsigned findObstacle(Operation *op, RecipeAttr recipe, bool isForward);
  void planContraction(Operation *op, bool isForward);
  Request makeRequest(OpOperand &operand, RecipeAttr recipe);
  Value getOrigin(Value value);
  bool isWeight(OpOperand &operand, bool isForward);
  StateGroup &getStateGroup(const Request &request);
  void buildStates();
  void updateStates(StateGroup &group, BlockArgument scale,
                    BlockArgument history);
  Value getScale(const Request &request);
  void quantizeOperand(const Request &request);
  void finishContraction(Operation *op);

  FusibleOp fusible;
  RecipeAttr recipe;
  SavedValues saved;
  OpBuilder builder;
  /// Arguments that forward contractions have on their right.
  llvm::SetVector<Value> weights;
  /// Values of backward that depend on an incoming gradient.
  llvm::DenseSet<Value> gradients;
  std::vector<Request> requests;
  llvm::SetVector<Operation *> contractions;
  std::vector<StateGroup> states;
  /// Of recipe `current`: the scale of a tensor for a format.
  DenseMap<std::tuple<Value, Type, Attribute>, Value> scales;
};

} // namespace

/// The matrix of the rows of `type`; null where its rows are a multiple of `?`.
static RankedTensorType getMatrixType(RankedTensorType type) {
  Extent rows = getNumElements(type, 1);
  if (rows != Extent{rows.constant} && rows != Extent{0, 1})
    return {};
  return RankedTensorType::get(
      {rows.perSymbol ? ShapedType::kDynamic : rows.constant, getColumns(type)},
      type.getElementType());
}

/// What a weight is made of: an argument, seen by operations that only move or
/// convert its elements.
static Value getWeightArgument(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ReshapeOp, PermuteOp, CastOp>(op))
      return {};
    value = op->getOperand(0);
  }
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? value : Value();
}

/// Products of groups count too, which a recipe may ask for but not change.
static bool isContraction(Operation *op) {
  if (isa<GroupedMatmulOp, GroupedLinearOp>(op))
    return true;
  auto quantizable = dyn_cast<QuantizableOpInterface>(op);
  return quantizable && !quantizable.getQuantizableOperands().empty();
}

RecipeAttr Quantizer::getRecipe(Operation *op) {
  if (auto own = op->getAttrOfType<RecipeAttr>(kRecipeAttr))
    return own;
  if (auto own = fusible->getAttrOfType<RecipeAttr>(kRecipeAttr))
    return own;
  return recipe;
}

void Quantizer::findWeights() {
  for (Operation &op : fusible.getForward().front())
    if (isContraction(&op))
      if (Value argument = getWeightArgument(op.getOperand(1)))
        weights.insert(argument);
}

void Quantizer::findGradients() {
  if (!fusible.hasBackward())
    return;
  Block &backward = fusible.getBackward().front();
  unsigned numGradients = fusible.getGradientTypes().size();
  for (BlockArgument argument :
       backward.getArguments().take_front(numGradients))
    gradients.insert(argument);
  for (Operation &op : backward)
    if (llvm::any_of(op.getOperands(),
                     [&](Value value) { return gradients.contains(value); }))
      gradients.insert(op.result_begin(), op.result_end());
}

/// The tensor behind reshapes and, in backward, what it was in forward.
Value Quantizer::getOrigin(Value value) {
  value = skipReshapes(value);
  if (Value forward = saved.getForward(value))
    return skipReshapes(forward);
  return value;
}

bool Quantizer::isWeight(OpOperand &operand, bool isForward) {
  if (isForward && operand.getOperandNumber() != 1)
    return false;
  Value origin = getOrigin(operand.get());
  if (origin.getParentRegion() != &fusible.getForward())
    return false;
  Value argument = getWeightArgument(origin);
  return argument && weights.contains(argument);
}

/// Which condition keeps a contraction in high precision; 0 if none does.
unsigned Quantizer::findObstacle(Operation *op, RecipeAttr recipe,
                                 bool isForward) {
  if (recipe.getKind() == RecipeKind::None)
    return 1;
  if (isa<GroupedMatmulOp, GroupedLinearOp>(op))
    return 2;
  OpOperand *operands[] = {&op->getOpOperand(0), &op->getOpOperand(1)};
  SmallVector<RankedTensorType> types;
  for (OpOperand *operand : operands) {
    auto type = dyn_cast<RankedTensorType>(operand->get().getType());
    if (!type)
      return 3;
    types.push_back(type);
  }
  for (RankedTensorType type : types)
    if (!isa<Float16Type, BFloat16Type, Float32Type>(type.getElementType()))
      return 4;
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  for (RankedTensorType type : {types[0], types[1], result})
    if (getColumns(type) < kMinColumns)
      return 5;
  for (RankedTensorType type : types)
    if (!getMatrixType(type))
      return 6;
  if (isForward)
    return 0;
  bool hasWeight = llvm::any_of(operands, [&](OpOperand *operand) {
    return isWeight(*operand, isForward);
  });
  if (!hasWeight && recipe.getHighPrecisionWgrad())
    return 7;
  if (recipe.getKind() == RecipeKind::Delayed)
    for (OpOperand *operand : operands) {
      Value origin = getOrigin(operand->get());
      if (origin.getParentRegion() != &fusible.getForward() &&
          !gradients.contains(origin))
        return 8;
    }
  return 0;
}

Request Quantizer::makeRequest(OpOperand &operand, RecipeAttr recipe) {
  Contraction contraction = *Contraction::get(operand.getOwner());
  bool readsRow = operand.getOperandNumber() == 0
                      ? contraction.readsRowCopyOfLhs()
                      : contraction.readsRowCopyOfRhs();
  Value tensor = getOrigin(operand.get());
  Region *forward = &fusible.getForward();
  bool weight =
      isWeight(operand, operand.getOwner()->getParentRegion() == forward);
  return {&operand,
          readsRow ? Copies::Row : Copies::Col,
          recipe,
          getFormat(recipe, gradients.contains(tensor)),
          getScaleKind(recipe, weight),
          tensor,
          tensor.getParentRegion() == forward,
          weight};
}

/// What a tensor of delayed scaling is called, by the first contraction that
/// reads it.
static StringAttr getTensorName(Operation *op, const Request &request) {
  auto name = op->getAttrOfType<StringAttr>(kNameAttr);
  StringRef suffix = request.isWeight    ? "weight"
                     : request.isForward ? "input"
                                         : "output_gradient";
  return StringAttr::get(op->getContext(),
                         (name ? name.getValue() + "." : Twine()) + suffix);
}

void Quantizer::planContraction(Operation *op, bool isForward) {
  if (!isContraction(op))
    return;
  RecipeAttr recipe = getRecipe(op);
  // A program without a recipe is not worth a remark.
  if (recipe.getKind() == RecipeKind::None && !op->hasAttr(kRecipeAttr))
    return;
  remark::RemarkOpts options =
      remark::RemarkOpts::name("Quantize").category(DEBUG_TYPE);
  StringRef name = op->getName().getStringRef();
  if (unsigned condition = findObstacle(op, recipe, isForward)) {
    remark::missed(op->getLoc(), options)
        << remark::reason("{0} stays in high precision: condition {1}, {2}",
                          name, condition, kConditionTexts[condition]);
    return;
  }
  Request lhs = makeRequest(op->getOpOperand(0), recipe);
  Request rhs = makeRequest(op->getOpOperand(1), recipe);
  remark::passed(op->getLoc(), options)
      << remark::reason("{0} multiplies {1} {2} and {3} {4}", name, lhs.element,
                        stringifyScaleKind(lhs.scale), rhs.element,
                        stringifyScaleKind(rhs.scale));
  for (const Request &request : {lhs, rhs}) {
    if (recipe.getKind() == RecipeKind::Delayed) {
      StateGroup &group = getStateGroup(request);
      if (group.tensors.insert(request.tensor))
        group.names.push_back(getTensorName(op, request));
    }
    requests.push_back(request);
  }
  contractions.insert(op);
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

StateGroup &Quantizer::getStateGroup(const Request &request) {
  for (StateGroup &group : states)
    if (std::tuple(group.recipe, group.element, group.isForward,
                   group.isWeight) ==
        std::tuple(request.recipe, request.element, request.isForward,
                   request.isWeight))
      return group;
  return states.emplace_back(StateGroup{request.recipe,
                                        request.element,
                                        request.isForward,
                                        request.isWeight,
                                        {},
                                        {},
                                        {}});
}

/// Rolls the state of `group` at the end of its region.
void Quantizer::updateStates(StateGroup &group, BlockArgument scale,
                             BlockArgument history) {
  RankedTensorType f32 = RankedTensorType::get({}, builder.getF32Type());
  auto one = RankedTensorType::get({1}, builder.getF32Type());
  SmallVector<Value> amaxes;
  for (Value tensor : group.tensors) {
    builder.setInsertionPointAfterValue(tensor);
    Value amax = AmaxOp::create(builder, tensor.getLoc(), f32, tensor);
    amaxes.push_back(ReshapeOp::create(builder, tensor.getLoc(), one, amax));
  }
  Region &region =
      group.isForward ? fusible.getForward() : fusible.getBackward();
  builder.setInsertionPoint(region.front().getTerminator());
  Location loc = fusible.getLoc();
  Value amax = amaxes.front();
  if (amaxes.size() > 1)
    amax = ConcatOp::create(builder, loc, scale.getType(), amaxes, /*dim=*/0);
  SavedValues values(fusible);
  Value scaleHere = scale, historyHere = history;
  if (!group.isForward) {
    scaleHere = values.save(scale);
    historyHere = values.save(history);
  }
  auto update = UpdateScaleOp::create(
      builder, loc, TypeRange{scale.getType(), history.getType()}, scaleHere,
      historyHere, amax, group.element, group.recipe.getMargin(),
      group.recipe.getAmaxAlgorithm() == AmaxAlgorithm::MostRecent);
  for (auto [argument, next] : {std::pair(scale, update.getNextScale()),
                                {history, update.getNextHistory()}}) {
    unsigned index = argument.getArgNumber();
    if (group.isWeight)
      setArgumentAttr(fusible, index, kWeightAttr, builder.getUnitAttr());
    if (group.isForward) {
      unsigned result = addResult(fusible, next);
      setArgumentAttr(fusible, index, kStateAttr,
                      builder.getI64IntegerAttr(result));
      setArgumentAttr(fusible, index, kFrozenAttr, builder.getUnitAttr());
    } else {
      setGradient(fusible, index, next);
      setArgumentAttr(fusible, index, kStateAttr, builder.getUnitAttr());
    }
  }
}

/// Adds the state arguments of delayed scaling, what reads each tensor's scale,
/// and what replaces them.
void Quantizer::buildStates() {
  Type f32 = builder.getF32Type();
  for (StateGroup &group : states) {
    int64_t count = group.tensors.size();
    Location loc = fusible.getLoc();
    BlockArgument scale = addArgument(
        fusible, RankedTensorType::get({count}, f32), DictionaryAttr(), loc);
    BlockArgument history = addArgument(
        fusible, RankedTensorType::get({group.recipe.getHistory(), count}, f32),
        DictionaryAttr(), loc);
    setArgumentAttr(fusible, scale.getArgNumber(), kTensorsAttr,
                    builder.getArrayAttr(group.names));
    Value here = group.isForward ? Value(scale) : Value(saved.save(scale));
    builder.setInsertionPointToStart(group.isForward
                                         ? &fusible.getForward().front()
                                         : &fusible.getBackward().front());
    for (int64_t i = 0; i < count; ++i) {
      Value slice = here;
      if (count > 1)
        slice = SliceOp::create(builder, loc, RankedTensorType::get({1}, f32),
                                here, /*dim=*/0, /*offset=*/i);
      group.scales.push_back(ReshapeOp::create(
          builder, loc, RankedTensorType::get({}, f32), slice));
    }
    updateStates(group, scale, history);
  }
}

/// The scale of `request`'s tensor, in the region that computes the tensor;
/// null where quantizing computes it.
Value Quantizer::getScale(const Request &request) {
  if (request.scale != ScaleKind::PerTensor)
    return {};
  if (request.recipe.getKind() == RecipeKind::Delayed) {
    StateGroup &group = getStateGroup(request);
    size_t index =
        llvm::find(group.tensors, request.tensor) - group.tensors.begin();
    return group.scales[index];
  }
  Value &scale = scales[{request.tensor, request.element, request.recipe}];
  if (scale)
    return scale;
  builder.setInsertionPointAfterValue(request.tensor);
  Location loc = request.use->getOwner()->getLoc();
  auto type = RankedTensorType::get({}, builder.getF32Type());
  Value amax = AmaxOp::create(builder, loc, type, request.tensor);
  scale = ComputeScaleOp::create(builder, loc, type, amax, request.element,
                                 request.recipe.getPowerOfTwo(),
                                 request.recipe.getEpsilon().getValue());
  return scale;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

void Quantizer::quantizeOperand(const Request &request) {
  Operation *op = request.use->getOwner();
  Value scale = getScale(request);
  if (scale && scale.getParentRegion() != op->getParentRegion())
    scale = saved.save(scale);
  builder.setInsertionPoint(op);
  Value value = request.use->get();
  RankedTensorType matrix =
      getMatrixType(cast<RankedTensorType>(value.getType()));
  value = reshapeTo(builder, op->getLoc(), value, matrix.getShape());
  auto type = QuantizedType::get(builder.getContext(), matrix.getShape(),
                                 request.element, request.scale, request.copy);
  // A per-tensor scale follows its own rules, where it is computed.
  bool ownScale = request.scale != ScaleKind::PerTensor;
  request.use->set(QuantizeOp::create(
      builder, op->getLoc(), type, value, scale,
      ownScale && request.recipe.getPowerOfTwo(),
      ownScale ? request.recipe.getEpsilon().getValue() : APFloat(0.0f)));
}

/// Quantized operands are matrices, and so is their product.
void Quantizer::finishContraction(Operation *op) {
  Value result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  RankedTensorType matrix = getMatrixType(type);
  if (type != matrix) {
    result.setType(matrix);
    builder.setInsertionPointAfter(op);
    auto reshape = ReshapeOp::create(builder, op->getLoc(), type, result);
    result.replaceAllUsesExcept(reshape, reshape);
  }
  RecipeKind kind = getRecipe(op).getKind();
  bool isForward = op->getParentRegion() == &fusible.getForward();
  bool isFast =
      isForward && kind != RecipeKind::Block && kind != RecipeKind::MX;
  if (auto linear = dyn_cast<LinearOp>(op))
    linear.setFastAccumulate(isFast);
  else
    cast<MatmulOp>(op).setFastAccumulate(isFast);
}

LogicalResult Quantizer::run() {
  findWeights();
  findGradients();
  for (Region &region : fusible->getRegions())
    if (!region.empty())
      for (Operation &op : region.front())
        planContraction(&op, &region == &fusible.getForward());
  if (requests.empty())
    return success();
  // What this program's forward saves has to be what that of the program with
  // all gradients saves, whose products ask for more copies.
  if (!fusible.getMissingGradients().empty())
    return fusible.emitOpError()
           << "has `missing_gradients`: expected no recipe, whose saved FP8 "
              "copies depend on all gradients";
  buildStates();
  for (const Request &request : requests)
    quantizeOperand(request);
  llvm::for_each(contractions, [&](Operation *op) { finishContraction(op); });
  for (Value weight : weights)
    setArgumentAttr(fusible, cast<BlockArgument>(weight).getArgNumber(),
                    kWeightAttr, builder.getUnitAttr());
  return success();
}

namespace {
struct QuantizePass : public fuseops::impl::QuantizePassBase<QuantizePass> {
  using Base::Base;

  void runOnOperation() override {
    std::string error;
    FailureOr<RecipeAttr> parsed = parseRecipe(&getContext(), recipe, error);
    if (failed(parsed)) {
      getOperation()->emitError() << error;
      return signalPassFailure();
    }
    if (failed(Quantizer(getOperation(), *parsed).run()))
      signalPassFailure();
  }
};
} // namespace
