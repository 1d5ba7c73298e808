//===- FusibleEdits.cpp - Changes of a fusible's signature ---------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Transforms/FusibleEdits.h"

using namespace mlir;
using namespace mlir::fuseops;

/// Rebuilds backward's terminator with these gradients.
static void replaceGradients(FusibleOp fusible, ArrayRef<Value> gradients) {
  IRRewriter rewriter(fusible.getContext());
  ReturnOp returnOp = fusible.getBackwardReturn();
  rewriter.setInsertionPoint(returnOp);
  ReturnOp::buildWithNull(rewriter, returnOp.getLoc(), gradients);
  rewriter.eraseOp(returnOp);
}

BlockArgument mlir::fuseops::addArgument(FusibleOp fusible, Type type,
                                         DictionaryAttr attrs, Location loc) {
  Builder builder(fusible.getContext());
  size_t count = fusible.getArgumentTypes().size();
  SmallVector<Attribute> all(count, builder.getDictionaryAttr({}));
  if (ArrayAttr own = fusible.getArgAttrsAttr())
    all.assign(own.begin(), own.end());
  all.push_back(attrs ? attrs : builder.getDictionaryAttr({}));
  fusible.setArgAttrsAttr(builder.getArrayAttr(all));
  SmallVector<Type> types(fusible.getArgumentTypes());
  types.push_back(type);
  fusible.setFunctionType(
      builder.getFunctionType(types, fusible.getResultTypes()));
  if (fusible.hasBackward()) {
    SmallVector<Value> gradients =
        fusible.getBackwardReturn().getValuesOrNull();
    gradients.push_back(Value());
    replaceGradients(fusible, gradients);
  }
  return fusible.getForward().front().addArgument(type, loc);
}

Attribute mlir::fuseops::getArgumentAttr(FusibleOp fusible, unsigned index,
                                         StringRef name) {
  ArrayAttr all = fusible.getArgAttrsAttr();
  return all ? cast<DictionaryAttr>(all[index]).get(name) : Attribute();
}

void mlir::fuseops::setArgumentAttr(FusibleOp fusible, unsigned index,
                                    StringRef name, Attribute value) {
  Builder builder(fusible.getContext());
  SmallVector<Attribute> all(fusible.getArgumentTypes().size(),
                             builder.getDictionaryAttr({}));
  if (ArrayAttr own = fusible.getArgAttrsAttr())
    all.assign(own.begin(), own.end());
  NamedAttrList list(cast<DictionaryAttr>(all[index]));
  list.set(name, value);
  all[index] = list.getDictionary(fusible.getContext());
  fusible.setArgAttrsAttr(builder.getArrayAttr(all));
}

unsigned mlir::fuseops::addResult(FusibleOp fusible, Value value) {
  Builder builder(fusible.getContext());
  SmallVector<Type> types(fusible.getResultTypes());
  unsigned number = types.size();
  types.push_back(value.getType());
  fusible.setFunctionType(
      builder.getFunctionType(fusible.getArgumentTypes(), types));
  SmallVector<int64_t> frozen(fusible.getFrozenResults());
  frozen.push_back(number);
  fusible.setFrozenResults(frozen);
  fusible.getForwardReturn().getValuesMutable().append(value);
  return number;
}

/// The numbers in `indices` but `erased`, those behind it one less.
static SmallVector<int64_t> withoutIndex(ArrayRef<int64_t> indices,
                                         int64_t erased) {
  SmallVector<int64_t> kept;
  for (int64_t index : indices)
    if (index != erased)
      kept.push_back(index > erased ? index - 1 : index);
  return kept;
}

void mlir::fuseops::eraseResult(FusibleOp fusible, unsigned index) {
  Builder builder(fusible.getContext());
  SmallVector<Type> types(fusible.getResultTypes());
  types.erase(types.begin() + index);
  fusible.setFunctionType(
      builder.getFunctionType(fusible.getArgumentTypes(), types));
  fusible.setFrozenResults(withoutIndex(fusible.getFrozenResults(), index));
  if (!fusible.getMissingGradients().empty())
    fusible.setMissingGradients(
        withoutIndex(fusible.getMissingGradients(), index));
  fusible.getForwardReturn().getValuesMutable().erase(index);
  for (unsigned i = 0; i < fusible.getArgumentTypes().size(); ++i)
    if (auto state = dyn_cast_or_null<IntegerAttr>(
            getArgumentAttr(fusible, i, kStateAttr)))
      if (state.getInt() > index)
        setArgumentAttr(fusible, i, kStateAttr,
                        builder.getI64IntegerAttr(state.getInt() - 1));
}

void mlir::fuseops::eraseArgument(FusibleOp fusible, unsigned index) {
  Builder builder(fusible.getContext());
  if (fusible.hasBackward()) {
    SmallVector<Value> gradients =
        fusible.getBackwardReturn().getValuesOrNull();
    gradients.erase(gradients.begin() + index);
    replaceGradients(fusible, gradients);
  }
  SmallVector<Type> types(fusible.getArgumentTypes());
  types.erase(types.begin() + index);
  fusible.setFunctionType(
      builder.getFunctionType(types, fusible.getResultTypes()));
  if (ArrayAttr own = fusible.getArgAttrsAttr()) {
    SmallVector<Attribute> all(own.begin(), own.end());
    all.erase(all.begin() + index);
    fusible.setArgAttrsAttr(builder.getArrayAttr(all));
  }
  fusible.getForward().front().eraseArgument(index);
}

void mlir::fuseops::setGradient(FusibleOp fusible, unsigned index,
                                Value value) {
  SmallVector<Value> gradients = fusible.getBackwardReturn().getValuesOrNull();
  gradients[index] = value;
  replaceGradients(fusible, gradients);
}

void mlir::fuseops::inlineGroups(FusibleOp fusible) {
  IRRewriter rewriter(fusible.getContext());
  SmallVector<GroupOp> groups;
  fusible.walk([&](GroupOp group) { groups.push_back(group); });
  for (GroupOp group : groups) {
    Block &body = group.getBody().front();
    auto yield = cast<YieldOp>(body.getTerminator());
    rewriter.inlineBlockBefore(&body, group, group.getInputs());
    rewriter.replaceOp(group, yield.getValues());
    rewriter.eraseOp(yield);
  }
}

Value SavedValues::getForward(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !fusible.hasBackward() ||
      argument.getOwner() != &fusible.getBackward().front())
    return {};
  unsigned numGradients = fusible.getGradientTypes().size();
  if (argument.getArgNumber() < numGradients)
    return {};
  return fusible.getForwardReturn()
      .getSaved()[argument.getArgNumber() - numGradients];
}

BlockArgument SavedValues::save(Value value) {
  Block &backward = fusible.getBackward().front();
  unsigned numGradients = fusible.getGradientTypes().size();
  ReturnOp returnOp = fusible.getForwardReturn();
  for (auto [index, saved] : llvm::enumerate(returnOp.getSaved()))
    if (saved == value)
      return backward.getArgument(numGradients + index);
  returnOp.getSavedMutable().append(value);
  return backward.addArgument(value.getType(), value.getLoc());
}

void SavedValues::dropUnused() {
  Block &backward = fusible.getBackward().front();
  unsigned numGradients = fusible.getGradientTypes().size();
  MutableOperandRange saved = fusible.getForwardReturn().getSavedMutable();
  for (unsigned index = saved.size(); index-- > 0;)
    if (backward.getArgument(numGradients + index).use_empty()) {
      backward.eraseArgument(numGradients + index);
      saved.erase(index);
    }
}
