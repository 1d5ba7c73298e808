//===- BF16Pairs.cpp - Casts of bf16 that are pairs in words -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A word of two bf16 holds the f32 of the second in its upper half, and that of
// the first one shift away. A vector that has all first ones before all second
// ones is so made of words, and they of it, within each lane. In the order of
// memory each cast would move elements between lanes, which costs x86 more than
// the arithmetic.
//
//===----------------------------------------------------------------------===//

#include "BF16Pairs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"

#include <numeric>

using namespace mlir;

namespace {

/// `value` where it is a permutation of one even vector of bf16 that
/// `sourceOf` describes: which element of the operand is at a place.
Value getPermuted(Value value,
                  function_ref<int64_t(int64_t, int64_t)> sourceOf) {
  auto shuffle = value.getDefiningOp<vector::ShuffleOp>();
  if (!shuffle || !shuffle.getType().getElementType().isBF16())
    return {};
  int64_t width = shuffle.getType().getNumElements();
  auto source = dyn_cast<VectorType>(shuffle.getV1().getType());
  if (width % 2 != 0 || source != shuffle.getType())
    return {};
  for (auto [place, element] : llvm::enumerate(shuffle.getMask()))
    if (element != sourceOf(place, width))
      return {};
  return shuffle.getV1();
}

/// First ones of pairs, then second ones.
int64_t getSplitSource(int64_t place, int64_t width) {
  return place < width / 2 ? 2 * place : 2 * place - width + 1;
}

/// Pairs of one of the first half and one of the second.
int64_t getJoinedSource(int64_t place, int64_t width) {
  return place / 2 + place % 2 * (width / 2);
}

SmallVector<int64_t> countFrom(int64_t first, int64_t count) {
  SmallVector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

Value makeWords(OpBuilder &builder, Location loc, int64_t count,
                uint32_t word) {
  auto type = VectorType::get(count, builder.getI32Type());
  return arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, APInt(32, word)));
}

/// Pattern: extf(shuffle x) -> x's words shifted, and masked
/// [if the shuffle splits the pairs of x].
struct ExtendSplitPairs : public OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Value pairs = getPermuted(op.getIn(), getSplitSource);
    if (!pairs || !getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "extends no split pairs");
    Location loc = op.getLoc();
    auto type = cast<VectorType>(op.getType());
    int64_t count = type.getNumElements() / 2;
    Value words = vector::BitCastOp::create(
        rewriter, loc, VectorType::get(count, rewriter.getI32Type()), pairs);
    Value first = arith::ShLIOp::create(rewriter, loc, words,
                                        makeWords(rewriter, loc, count, 16));
    Value second = arith::AndIOp::create(
        rewriter, loc, words, makeWords(rewriter, loc, count, 0xffff0000));
    Value all = vector::ShuffleOp::create(rewriter, loc, first, second,
                                          countFrom(0, 2 * count));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, type, all);
    return success();
  }
};

/// Pattern: shuffle x -> words of extf(x) [if the shuffle joins pairs of bf16].
struct JoinPairs : public OpRewritePattern<vector::ShuffleOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::ShuffleOp op,
                                PatternRewriter &rewriter) const override {
    Value halves = getPermuted(op, getJoinedSource);
    if (!halves)
      return rewriter.notifyMatchFailure(op, "joins no pairs of bf16");
    Location loc = op.getLoc();
    VectorType type = op.getType();
    int64_t count = type.getNumElements() / 2;
    Value wide = arith::ExtFOp::create(
        rewriter, loc, type.clone(rewriter.getF32Type()), halves);
    Value bits = arith::BitcastOp::create(
        rewriter, loc, type.clone(rewriter.getI32Type()), wide);
    Value first = vector::ShuffleOp::create(rewriter, loc, bits, bits,
                                            countFrom(0, count));
    Value second = vector::ShuffleOp::create(rewriter, loc, bits, bits,
                                             countFrom(count, count));
    first = arith::ShRUIOp::create(rewriter, loc, first,
                                   makeWords(rewriter, loc, count, 16));
    Value words = arith::OrIOp::create(rewriter, loc, first, second);
    rewriter.replaceOpWithNewOp<vector::BitCastOp>(op, type, words);
    return success();
  }
};

} // namespace

void mlir::fuseops::populateBF16PairPatterns(RewritePatternSet &patterns) {
  // Before the casts that keep the order.
  patterns.add<ExtendSplitPairs, JoinPairs>(patterns.getContext(),
                                            /*benefit=*/2);
}
