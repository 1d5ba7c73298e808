//===- PrepareWeights.cpp - Quantize weights in a program of its own -----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Transforms/FusibleEdits.h"
#include "FuseOps/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "fuseops-prepare-weights"

namespace mlir::fuseops {
#define GEN_PASS_DEF_PREPAREWEIGHTSPASS
#include "FuseOps/Transforms/Passes.h.inc"
} // namespace mlir::fuseops

using namespace mlir;
using namespace mlir::fuseops;

namespace {

/// Moves what forward computes of weights alone, up to their quantizes, to a
/// fusible of its own.
class Preparer {
public:
  explicit Preparer(FusibleOp fusible)
      : fusible(fusible), rewriter(fusible.getContext()) {}

  void run();

private:
  bool isWeight(unsigned index) {
    return getArgumentAttr(fusible, index, kWeightAttr) &&
           !getArgumentAttr(fusible, index, kStateAttr);
  }
  void findPrepared();
  FusibleOp buildPrepare();
  void takePrepared(FusibleOp prepare);

  FusibleOp fusible;
  IRRewriter rewriter;
  /// What forward computes of weights and their state alone.
  llvm::SetVector<Operation *> prepared;
  /// Arguments that it starts from.
  llvm::SetVector<Value> arguments;
  /// The quantized weights, then the results that replace state.
  SmallVector<Value> outputs;
  SmallVector<unsigned> stateResults;
};

} // namespace

void Preparer::findPrepared() {
  Block &forward = fusible.getForward().front();
  llvm::DenseSet<Value> known;
  for (BlockArgument argument : forward.getArguments())
    if (getArgumentAttr(fusible, argument.getArgNumber(), kWeightAttr))
      known.insert(argument);
  for (Operation &op : forward.without_terminator()) {
    // What takes a quantized tensor apart stays where the parts are used.
    if (op.getNumOperands() == 0 || isa<PackQuantizedOp, UnpackQuantizedOp>(op))
      continue;
    if (llvm::all_of(op.getOperands(),
                     [&](Value value) { return known.contains(value); })) {
      prepared.insert(&op);
      known.insert(op.result_begin(), op.result_end());
    }
  }
  for (Operation *op : prepared)
    if (isa<QuantizeOp>(op))
      outputs.push_back(op->getResult(0));
  if (outputs.empty())
    return;
  for (auto [index, value] :
       llvm::enumerate(fusible.getForwardReturn().getValues()))
    if (value.getDefiningOp<UpdateScaleOp>() &&
        prepared.contains(value.getDefiningOp())) {
      outputs.push_back(value);
      stateResults.push_back(index);
    }
  // Only what leads to an output.
  llvm::SetVector<Operation *> needed;
  SmallVector<Value> worklist(outputs);
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op)
      arguments.insert(value);
    else if (needed.insert(op))
      llvm::append_range(worklist, op->getOperands());
  }
  prepared.remove_if([&](Operation *op) { return !needed.contains(op); });
  SmallVector<Value> sorted(arguments.takeVector());
  llvm::sort(sorted, [](Value a, Value b) {
    return cast<BlockArgument>(a).getArgNumber() <
           cast<BlockArgument>(b).getArgNumber();
  });
  arguments.insert(sorted.begin(), sorted.end());
}

FusibleOp Preparer::buildPrepare() {
  rewriter.setInsertionPointAfter(fusible);
  Location loc = fusible.getLoc();
  SmallVector<Attribute> attrs;
  SmallVector<unsigned> weights;
  for (unsigned index = 0; index < fusible.getArgumentTypes().size(); ++index)
    if (isWeight(index))
      weights.push_back(index);
  for (Value argument : arguments) {
    unsigned index = cast<BlockArgument>(argument).getArgNumber();
    NamedAttrList list;
    list.set(kFrozenAttr, rewriter.getUnitAttr());
    if (Attribute names = getArgumentAttr(fusible, index, kTensorsAttr))
      list.set(kTensorsAttr, names);
    if (auto state = dyn_cast_or_null<IntegerAttr>(
            getArgumentAttr(fusible, index, kStateAttr))) {
      size_t number = llvm::find(stateResults, state.getInt()) -
                      stateResults.begin() + outputs.size() -
                      stateResults.size();
      list.set(kStateAttr, rewriter.getI64IntegerAttr(number));
    } else {
      list.set(kPrepareAttr, rewriter.getI64IntegerAttr(
                                 llvm::find(weights, index) - weights.begin()));
    }
    attrs.push_back(list.getDictionary(fusible.getContext()));
  }
  SmallVector<Type> inputs(ValueRange(arguments.getArrayRef()).getTypes());
  SmallVector<Type> results(ValueRange(outputs).getTypes());
  SmallVector<int64_t> frozen;
  for (size_t i = 0; i < results.size(); ++i)
    frozen.push_back(i);
  OperationState state(loc, FusibleOp::getOperationName());
  FusibleOp::build(rewriter, state, (fusible.getSymName() + "_prepare").str(),
                   rewriter.getFunctionType(inputs, results),
                   rewriter.getArrayAttr(attrs), StringAttr(), frozen,
                   ArrayRef<int64_t>(), IntegerAttr(), IntegerAttr());
  auto prepare = cast<FusibleOp>(rewriter.create(state));
  prepare.removeMissingGradientsAttr();
  Block *block = rewriter.createBlock(&prepare.getForward());
  IRMapping mapping;
  for (Value argument : arguments)
    mapping.map(argument,
                block->addArgument(argument.getType(), argument.getLoc()));
  for (Operation *op : prepared)
    rewriter.clone(*op, mapping);
  SmallVector<Value> returned = llvm::map_to_vector(
      outputs, [&](Value value) { return mapping.lookup(value); });
  ReturnOp::create(rewriter, loc, returned, ValueRange(), ArrayRef<int64_t>());
  return prepare;
}

/// Forward takes the quantized weights as arguments, and has nothing to do with
/// their state.
void Preparer::takePrepared(FusibleOp prepare) {
  size_t numQuantized = outputs.size() - stateResults.size();
  for (unsigned index : llvm::reverse(stateResults))
    eraseResult(fusible, index);
  for (auto [number, output] :
       llvm::enumerate(ArrayRef(outputs).take_front(numQuantized))) {
    NamedAttrList list;
    list.set(kFrozenAttr, rewriter.getUnitAttr());
    list.set(kPreparedAttr, rewriter.getI64IntegerAttr(number));
    BlockArgument argument =
        addArgument(fusible, output.getType(),
                    list.getDictionary(fusible.getContext()), output.getLoc());
    rewriter.replaceAllUsesWith(output, argument);
  }
  for (Operation *op : llvm::reverse(prepared))
    if (isOpTriviallyDead(op))
      rewriter.eraseOp(op);
  for (Value argument : llvm::reverse(arguments)) {
    auto blockArgument = cast<BlockArgument>(argument);
    unsigned index = blockArgument.getArgNumber();
    if (getArgumentAttr(fusible, index, kStateAttr) && argument.use_empty())
      eraseArgument(fusible, index);
  }
  fusible->setAttr(kPrepareAttr, FlatSymbolRefAttr::get(prepare));
}

void Preparer::run() {
  findPrepared();
  if (!outputs.empty())
    takePrepared(buildPrepare());
}

namespace {
struct PrepareWeightsPass
    : public fuseops::impl::PrepareWeightsPassBase<PrepareWeightsPass> {
  using Base::Base;

  void runOnOperation() override {
    for (FusibleOp fusible :
         llvm::to_vector(getOperation().getOps<FusibleOp>()))
      Preparer(fusible).run();
  }
};
} // namespace
