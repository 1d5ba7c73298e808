//===- Reducer.cpp - Makes a module smaller as long as it shows a fault --===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reducer.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <set>

using namespace mlir;
using namespace mlir::fuseops;

// What extents are tried, smallest first.
static constexpr int64_t kExtents[] = {1, 2, 3, 4, 8, 16, 32, 64};
// What a symbolic extent becomes.
static constexpr int64_t kStaticRows = 4;

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

static FusibleOp getFusible(ModuleOp module, StringRef name) {
  for (FusibleOp fusible : module.getOps<FusibleOp>())
    if (fusible.getSymName() == name)
      return fusible;
  return {};
}

/// All operations of a fusible in order, those of pointwise bodies too, without
/// terminators.
static SmallVector<Operation *> getOperations(FusibleOp fusible) {
  SmallVector<Operation *> operations;
  fusible->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != fusible && !op->hasTrait<OpTrait::IsTerminator>())
      operations.push_back(op);
  });
  return operations;
}

/// Erases operations that nobody uses, and private fusibles that nobody
/// applies.
static void eraseDead(ModuleOp module) {
  bool hasChanged = true;
  while (hasChanged) {
    hasChanged = false;
    for (FusibleOp fusible :
         llvm::make_early_inc_range(module.getOps<FusibleOp>())) {
      if (fusible.isPrivate() &&
          SymbolTable::symbolKnownUseEmpty(fusible, module)) {
        fusible.erase();
        hasChanged = true;
        continue;
      }
      SmallVector<Operation *> operations = getOperations(fusible);
      for (Operation *op : llvm::reverse(operations))
        if (isOpTriviallyDead(op)) {
          op->erase();
          hasChanged = true;
        }
    }
  }
}

static void setTypes(FusibleOp fusible) {
  fusible.setFunctionType(FunctionType::get(
      fusible.getContext(), fusible.getForward().getArgumentTypes(),
      TypeRange(fusible.getForwardReturn().getValues())));
}

static void eraseResult(FusibleOp fusible, unsigned index) {
  fusible.getForwardReturn().getValuesMutable().erase(index);
  SmallVector<int64_t> frozen;
  for (int64_t result : fusible.getFrozenResults())
    if (result != static_cast<int64_t>(index))
      frozen.push_back(result - (result > static_cast<int64_t>(index)));
  if (frozen.empty())
    fusible.removeFrozenResultsAttr();
  else
    fusible.setFrozenResults(frozen);
  setTypes(fusible);
}

static void eraseArgument(FusibleOp fusible, unsigned index) {
  fusible.getForward().eraseArgument(index);
  if (ArrayAttr attrs = fusible.getArgAttrsAttr()) {
    SmallVector<Attribute> rest(attrs.getValue());
    rest.erase(rest.begin() + index);
    fusible.setArgAttrsAttr(ArrayAttr::get(fusible.getContext(), rest));
  }
  setTypes(fusible);
}

static Value addArgument(FusibleOp fusible, Type type) {
  Value argument = fusible.getForward().addArgument(type, fusible.getLoc());
  if (ArrayAttr attrs = fusible.getArgAttrsAttr()) {
    SmallVector<Attribute> all(attrs.getValue());
    all.push_back(DictionaryAttr::get(fusible.getContext()));
    fusible.setArgAttrsAttr(ArrayAttr::get(fusible.getContext(), all));
  }
  setTypes(fusible);
  return argument;
}

/// Replaces an application by the callee's operations.
static bool inlineApply(ApplyOp apply) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<FusibleOp>(
      apply, apply.getCalleeAttr());
  if (!callee)
    return false;
  IRMapping mapping;
  mapping.map(callee.getForward().getArguments(), apply.getInputs());
  OpBuilder builder(apply);
  for (Operation &op : callee.getForward().front().without_terminator())
    builder.clone(op, mapping);
  for (auto [output, value] :
       llvm::zip(apply.getOutputs(), callee.getForwardReturn().getValues()))
    output.replaceAllUsesWith(mapping.lookup(value));
  apply.erase();
  return true;
}

/// Values of `type` that may stand for a result of `op`: its operands, then its
/// block's arguments.
static SmallVector<Value> getSubstitutes(Operation *op, Type type) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getBlock()->getArguments());
  llvm::erase_if(values, [&](Value value) { return value.getType() != type; });
  return values;
}

/// Replaces each extent `from` of a tensor, in all types, by `to`.
static void replaceExtents(ModuleOp module, int64_t from, int64_t to) {
  AttrTypeReplacer replacer;
  auto replace = [=](ArrayRef<int64_t> shape) {
    return llvm::map_to_vector(
        shape, [=](int64_t extent) { return extent == from ? to : extent; });
  };
  replacer.addReplacement([=](RankedTensorType type) -> Type {
    return type.clone(replace(type.getShape()));
  });
  replacer.addReplacement([=](QuantizedType type) -> Type {
    return QuantizedType::get(type.getContext(), replace(type.getShape()),
                              type.getElementType(), type.getScale(),
                              type.getCopies());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

bool Reducer::attempt(function_ref<bool(ModuleOp)> change) {
  OwningOpRef<ModuleOp> copy(module->clone());
  if (!change(*copy))
    return false;
  eraseDead(*copy);
  {
    // A copy that is not valid is no candidate, and nobody's error.
    ScopedDiagnosticHandler silence(copy->getContext(),
                                    [](Diagnostic &) { return success(); });
    if (failed(verify(*copy)))
      return false;
  }
  ++numAsked;
  if (!showsFault(*copy))
    return false;
  ++numKept;
  module = std::move(copy);
  return true;
}

bool Reducer::dropBackward(StringRef fusible) {
  return attempt([&](ModuleOp copy) {
    FusibleOp op = getFusible(copy, fusible);
    if (!op.hasBackward())
      return false;
    op.getBackward().dropAllReferences();
    op.getBackward().getBlocks().clear();
    op.getForwardReturn().getSavedMutable().clear();
    return true;
  });
}

bool Reducer::dropResults(StringRef fusible) {
  auto countResults = [&] {
    return getFusible(*module, fusible).getResultTypes().size();
  };
  // One result is often enough.
  for (size_t kept = 0, count = countResults(); count > 1 && kept < count;
       ++kept)
    if (attempt([&](ModuleOp copy) {
          for (size_t i = count; i-- > 0;)
            if (i != kept)
              eraseResult(getFusible(copy, fusible), i);
          return true;
        }))
      return true;
  bool hasChanged = false;
  for (size_t i = countResults(); i-- > 0;)
    hasChanged |= attempt([&](ModuleOp copy) {
      eraseResult(getFusible(copy, fusible), i);
      return true;
    });
  return hasChanged;
}

bool Reducer::liftResults(StringRef fusible) {
  bool hasChanged = false;
  for (size_t i = 0;
       i < getFusible(*module, fusible).getForwardReturn().getValues().size();
       ++i) {
    auto lift = [&](unsigned operand) {
      return attempt([&](ModuleOp copy) {
        FusibleOp op = getFusible(copy, fusible);
        OpOperand &result = op.getForwardReturn().getValuesMutable()[i];
        Operation *maker = result.get().getDefiningOp();
        if (!maker || operand >= maker->getNumOperands())
          return false;
        result.set(maker->getOperand(operand));
        setTypes(op);
        return true;
      });
    };
    Operation *maker = getFusible(*module, fusible)
                           .getForwardReturn()
                           .getValues()[i]
                           .getDefiningOp();
    for (unsigned k = 0; maker && k < maker->getNumOperands(); ++k)
      if (lift(k)) {
        hasChanged = true;
        break;
      }
  }
  return hasChanged;
}

bool Reducer::dropArguments(StringRef fusible) {
  bool hasChanged = false;
  for (size_t i = getFusible(*module, fusible).getArgumentTypes().size();
       i-- > 0;)
    hasChanged |= attempt([&](ModuleOp copy) {
      FusibleOp op = getFusible(copy, fusible);
      if (!op.getForward().getArgument(i).use_empty())
        return false;
      eraseArgument(op, i);
      return true;
    });
  return hasChanged;
}

bool Reducer::inlineApplied(StringRef fusible) {
  return attempt([&](ModuleOp copy) {
    for (Operation *op : getOperations(getFusible(copy, fusible)))
      if (auto apply = dyn_cast<ApplyOp>(op))
        return inlineApply(apply);
    return false;
  });
}

bool Reducer::replaceOperations(StringRef fusible) {
  bool hasChanged = false;
  // From the end: what only a removed operation used goes with it.
  for (size_t i = getOperations(getFusible(*module, fusible)).size();
       i-- > 0;) {
    SmallVector<Operation *> operations =
        getOperations(getFusible(*module, fusible));
    if (i >= operations.size())
      continue;
    Operation *op = operations[i];
    for (unsigned result = 0; result < op->getNumResults(); ++result) {
      if (op->getResult(result).use_empty())
        continue;
      Type type = op->getResult(result).getType();
      bool isScalar = isa<PointwiseOp>(op->getParentOp());
      unsigned numSubstitutes = getSubstitutes(op, type).size();
      // The last try is an argument that does not exist yet.
      bool isReplaced = false;
      for (unsigned k = 0; k < numSubstitutes + !isScalar && !isReplaced; ++k)
        isReplaced = attempt([&](ModuleOp copy) {
          FusibleOp parent = getFusible(copy, fusible);
          Operation *target = getOperations(parent)[i];
          SmallVector<Value> substitutes = getSubstitutes(target, type);
          if (k == substitutes.size() &&
              target->getBlock() != &parent.getForward().front())
            return false;
          Value substitute = k < substitutes.size() ? substitutes[k]
                                                    : addArgument(parent, type);
          target->getResult(result).replaceAllUsesWith(substitute);
          return true;
        });
      hasChanged |= isReplaced;
      if (isReplaced)
        break;
    }
  }
  return hasChanged;
}

bool Reducer::shrinkExtents() {
  std::set<int64_t, std::greater<>> extents;
  module->walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto shaped = dyn_cast<ShapedType>(type))
        extents.insert(shaped.getShape().begin(), shaped.getShape().end());
    for (Region &region : op->getRegions())
      for (Type type : region.getArgumentTypes())
        if (auto shaped = dyn_cast<ShapedType>(type))
          extents.insert(shaped.getShape().begin(), shaped.getShape().end());
  });
  bool hasChanged = false;
  for (int64_t extent : extents) {
    auto shrink = [&](int64_t smaller) {
      return attempt([&](ModuleOp copy) {
        replaceExtents(copy, extent, smaller);
        return true;
      });
    };
    if (ShapedType::isDynamic(extent)) {
      hasChanged |= shrink(kStaticRows);
      continue;
    }
    for (int64_t smaller : kExtents)
      if (smaller < extent && shrink(smaller)) {
        hasChanged = true;
        break;
      }
  }
  return hasChanged;
}

OwningOpRef<ModuleOp> Reducer::reduce() {
  bool hasChanged = true;
  while (hasChanged) {
    hasChanged = false;
    std::vector<std::string> names;
    for (FusibleOp fusible : module->getOps<FusibleOp>())
      names.push_back(fusible.getSymName().str());
    for (const std::string &name : names)
      for (auto step : {&Reducer::dropBackward, &Reducer::dropResults,
                        &Reducer::liftResults, &Reducer::inlineApplied,
                        &Reducer::replaceOperations, &Reducer::dropArguments})
        // One that nothing applies any more is gone.
        if (getFusible(*module, name))
          hasChanged |= (this->*step)(name);
    hasChanged |= shrinkExtents();
  }
  return std::move(module);
}
