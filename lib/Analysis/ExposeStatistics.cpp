//===- ExposeStatistics.cpp - Takes apart what reduces rows --------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Analysis/BlockValues.h"
#include "FuseOps/Analysis/FusionPlan.h"
#include "FuseOps/Analysis/Product.h"
#include "FuseOps/Dialect/FuseOps/Layout.h"

using namespace mlir;
using namespace mlir::fuseops;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

void mlir::fuseops::decomposeInPlace(FusibleOpInterface op,
                                     RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  SmallVector<Value> results = op.decompose(rewriter, op->getOperands());
  // With an f64 operand, decompositions compute in f64 what the operation
  // declares as f32.
  for (auto [result, declared] : llvm::zip(results, op->getResultTypes()))
    result =
        broadcastTo(rewriter, op.getLoc(), result,
                    tensorType(result).clone(getElementTypeOrSelf(declared)));
  rewriter.replaceOp(op, results);
}

/// Takes apart what tiles are computed from.
static void exposeForTiles(Block &block, RewriterBase &rewriter) {
  // What tiles are computed from, as far as it has their rows and columns.
  SmallVector<std::pair<OpOperand *, IterationSpace>> worklist;
  for (Operation &op : block.without_terminator()) {
    auto permute = dyn_cast<PermuteOp>(op);
    auto reduce = dyn_cast<ReduceBlocksOp>(op);
    if ((reduce && reduce.getBlockRows() > 1) ||
        (permute && writesTransposed(permute)))
      worklist.push_back(
          {&op.getOpOperand(0), getSpace(tensorType(op.getOperand(0)))});
  }
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    auto [use, space] = worklist.pop_back_val();
    Value value = use->get();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || getSpace(type) != space || seen.contains(value))
      continue;
    Operation *op = value.getDefiningOp();
    auto fusible = dyn_cast_if_present<FusibleOpInterface>(op);
    bool isMove = isa_and_present<SliceOp, PermuteOp, ConcatOp>(op);
    if ((!fusible || isMove) && !isa_and_present<ReshapeOp>(op))
      continue;
    if (fusible && op->getNumOperands() && inspectOperation(op).needsRows) {
      if (isa<ReduceColumnsOp>(op))
        continue;
      // The use then holds the same value of core operations.
      decomposeInPlace(fusible, rewriter);
      worklist.push_back({use, space});
      continue;
    }
    seen.insert(value);
    for (OpOperand &operand : op->getOpOperands())
      worklist.push_back({&operand, space});
  }
}

/// Takes apart what reduces rows of elements that the kernel of a contraction
/// may compute.
static void exposeForProducts(Block &block, GeneratedProducts generated,
                              RewriterBase &rewriter) {
  llvm::DenseSet<Value> ofProducts;
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    auto fusible = dyn_cast<FusibleOpInterface>(op);
    if (!fusible) {
      std::optional<Product> product = Product::get(&op);
      if (product && isGenerated(*product, generated) &&
          product->findFault().empty())
        ofProducts.insert(product->getResult());
      continue;
    }
    IterationSpace space = getSpace(fusible.getIterationSpace());
    bool readsProduct = llvm::any_of(op.getOperands(), [&](Value operand) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      return ofProducts.contains(skipReshapes(operand)) && type &&
             getSpace(type) == space;
    });
    if (!readsProduct)
      continue;
    OperationShape shape = inspectOperation(&op);
    if (shape.kernelTemplate == KernelTemplate::Pointwise)
      ofProducts.insert(op.result_begin(), op.result_end());
    else if (shape.kernelTemplate == KernelTemplate::Row && shape.needsRows &&
             !shape.needsRowsTwice && !isa<ReduceColumnsOp>(op))
      decomposeInPlace(fusible, rewriter);
  }
}

void mlir::fuseops::exposeStatistics(Block &block, GeneratedProducts generated,
                                     RewriterBase &rewriter) {
  exposeForTiles(block, rewriter);
  exposeForProducts(block, generated, rewriter);
}
