//===- ExpandQuantized.cpp - Replace quantized tensors by their plain buffers
//===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Transforms/Passes.h"

#define DEBUG_TYPE "fuseops-expand-quantized"

namespace mlir::fuseops {
#define GEN_PASS_DEF_EXPANDQUANTIZEDPASS
#include "FuseOps/Transforms/Passes.h.inc"
} // namespace mlir::fuseops

using namespace mlir;
using namespace mlir::fuseops;

/// The types with each quantized one replaced by its parts.
static SmallVector<Type> expandTypes(TypeRange types) {
  SmallVector<Type> expanded;
  for (Type type : types) {
    if (auto quantized = dyn_cast<QuantizedType>(type))
      llvm::append_range(expanded, quantized.getParts());
    else
      expanded.push_back(type);
  }
  return expanded;
}

/// Replaces each quantized argument of `block` by arguments for its parts,
/// which a `pack_quantized` joins.
static void expandArguments(Block &block, IRRewriter &rewriter) {
  rewriter.setInsertionPointToStart(&block);
  for (unsigned index = 0; index < block.getNumArguments(); ++index) {
    BlockArgument argument = block.getArgument(index);
    auto type = dyn_cast<QuantizedType>(argument.getType());
    if (!type)
      continue;
    SmallVector<Value> parts;
    unsigned next = index + 1;
    for (RankedTensorType part : type.getParts())
      parts.push_back(block.insertArgument(next++, part, argument.getLoc()));
    auto pack =
        PackQuantizedOp::create(rewriter, argument.getLoc(), type, parts);
    rewriter.replaceAllUsesWith(argument, pack);
    block.eraseArgument(index);
    index = next - 2;
  }
}

/// The values with each quantized one replaced by its parts.
static SmallVector<Value> expandValues(ValueRange values, IRRewriter &rewriter,
                                       Location loc) {
  SmallVector<Value> expanded;
  for (Value value : values) {
    auto type = dyn_cast<QuantizedType>(value.getType());
    if (!type) {
      expanded.push_back(value);
      continue;
    }
    auto unpack = UnpackQuantizedOp::create(
        rewriter, loc, expandTypes(TypeRange(Type(type))), value);
    llvm::append_range(expanded, unpack.getParts());
  }
  return expanded;
}

namespace {
struct ExpandQuantizedPass
    : public fuseops::impl::ExpandQuantizedPassBase<ExpandQuantizedPass> {
  using Base::Base;

  void runOnOperation() override {
    FusibleOp fusible = getOperation();
    IRRewriter rewriter(&getContext());
    for (Region &region : fusible->getRegions())
      if (!region.empty() && failed(expandRegion(region.front(), rewriter)))
        return signalPassFailure();
    if (fusible.getArgAttrsAttr())
      expandArgumentAttrs(fusible);
    // The parts of a quantized result have no gradient either.
    SmallVector<int64_t> frozen;
    int64_t next = 0;
    for (auto [index, type] : llvm::enumerate(fusible.getResultTypes())) {
      bool isFrozen = !fusible.resultHasGradient(index);
      for (size_t i = 0; i < expandTypes(type).size(); ++i, ++next)
        if (isFrozen)
          frozen.push_back(next);
    }
    if (!frozen.empty())
      fusible.setFrozenResults(frozen);
    expandBackwardReturn(fusible, rewriter);
    fusible.setFunctionType(
        rewriter.getFunctionType(expandTypes(fusible.getArgumentTypes()),
                                 expandTypes(fusible.getResultTypes())));
  }

  /// Each part has the attributes of its argument, with the numbers of results
  /// that are parts too.
  void expandArgumentAttrs(FusibleOp fusible) {
    Builder builder(&getContext());
    SmallVector<int64_t> firstParts;
    int64_t numParts = 0;
    for (Type type : fusible.getResultTypes()) {
      firstParts.push_back(numParts);
      numParts += expandTypes(type).size();
    }
    SmallVector<Attribute> expanded;
    int64_t numPrepared = 0;
    for (auto [type, attr] :
         llvm::zip(fusible.getArgumentTypes(), *fusible.getArgAttrs())) {
      NamedAttrList list(cast<DictionaryAttr>(attr));
      if (auto state = dyn_cast_or_null<IntegerAttr>(list.get(kStateAttr)))
        list.set(kStateAttr,
                 builder.getI64IntegerAttr(firstParts[state.getInt()]));
      for (size_t i = 0; i < expandTypes(type).size(); ++i) {
        if (list.get(kPreparedAttr))
          list.set(kPreparedAttr, builder.getI64IntegerAttr(numPrepared++));
        expanded.push_back(list.getDictionary(&getContext()));
      }
    }
    fusible.setArgAttrsAttr(builder.getArrayAttr(expanded));
  }

  LogicalResult expandRegion(Block &block, IRRewriter &rewriter) {
    expandArguments(block, rewriter);
    for (Operation &op : llvm::make_early_inc_range(block)) {
      rewriter.setInsertionPoint(&op);
      // The scales and the history of `update_scale` have no space in common.
      if (isa<QuantizeOp, DequantizeOp, UpdateScaleOp>(op)) {
        rewriter.replaceOp(&op, cast<FusibleOpInterface>(op).decompose(
                                    rewriter, op.getOperands()));
        continue;
      }
      if (auto returnOp = dyn_cast<ReturnOp>(op)) {
        SmallVector<Value> values =
            expandValues(returnOp.getValues(), rewriter, op.getLoc());
        SmallVector<Value> saved =
            expandValues(returnOp.getSaved(), rewriter, op.getLoc());
        rewriter.replaceOpWithNewOp<ReturnOp>(returnOp, values, saved,
                                              returnOp.getAbsent());
        continue;
      }
      bool touchesQuantized =
          llvm::any_of(op.getOperandTypes(), llvm::IsaPred<QuantizedType>) ||
          llvm::any_of(op.getResultTypes(), llvm::IsaPred<QuantizedType>);
      if (touchesQuantized && !isa<PackQuantizedOp, UnpackQuantizedOp>(op))
        return op.emitOpError() << "has no lowering for quantized operands";
    }
    // What packs and unpacks now meets.
    for (auto unpack :
         llvm::make_early_inc_range(block.getOps<UnpackQuantizedOp>()))
      if (auto pack = unpack.getInput().getDefiningOp<PackQuantizedOp>())
        rewriter.replaceOp(unpack, pack.getParts());
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        rewriter.eraseOp(&op);
    return success();
  }

  /// A quantized argument has no gradient, and neither have its parts.
  void expandBackwardReturn(FusibleOp fusible, IRRewriter &rewriter) {
    if (!fusible.hasBackward())
      return;
    ReturnOp returnOp = fusible.getBackwardReturn();
    SmallVector<Value> expanded;
    for (auto [type, gradient] :
         llvm::zip(fusible.getArgumentTypes(), returnOp.getValuesOrNull()))
      expanded.append(isa<QuantizedType>(type) ? expandTypes(type).size() : 1,
                      gradient);
    rewriter.setInsertionPoint(returnOp);
    ReturnOp::buildWithNull(rewriter, returnOp.getLoc(), expanded);
    rewriter.eraseOp(returnOp);
  }
};
} // namespace
