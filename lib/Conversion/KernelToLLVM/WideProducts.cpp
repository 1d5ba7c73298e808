//===- WideProducts.cpp - Products of two words in wide lanes ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// x86 multiplies the lower words of 64-bit lanes. In the rounds of Philox one
// product follows another with an exclusive or between them: as long as words
// stay in such lanes, a round is two products and two shifts.
//
//===----------------------------------------------------------------------===//

#include "WideProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace {

/// A vector of `word` in 64-bit lanes.
Value makeLanes(OpBuilder &builder, Location loc, Type type, uint64_t word) {
  return arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(cast<VectorType>(type), APInt(64, word)));
}

/// The i64 lanes of a vector of i32; null where `type` is none.
Type getWideType(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || !vector.getElementType().isInteger(32))
    return {};
  return vector.clone(IntegerType::get(type.getContext(), 64));
}

/// Pattern: mului_extended(a, b) -> words of extui(a) * extui(b)
/// [if they are vectors of i32].
struct WidenProduct : public OpRewritePattern<arith::MulUIExtendedOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::MulUIExtendedOp op,
                                PatternRewriter &rewriter) const override {
    Type narrow = op.getLow().getType();
    Type wide = getWideType(narrow);
    if (!wide)
      return rewriter.notifyMatchFailure(op, "multiplies no vectors of i32");
    Location loc = op.getLoc();
    Value product = arith::MulIOp::create(
        rewriter, loc, arith::ExtUIOp::create(rewriter, loc, wide, op.getLhs()),
        arith::ExtUIOp::create(rewriter, loc, wide, op.getRhs()));
    Value upper = arith::ShRUIOp::create(rewriter, loc, product,
                                         makeLanes(rewriter, loc, wide, 32));
    rewriter.replaceOp(op,
                       {arith::TruncIOp::create(rewriter, loc, narrow, product),
                        arith::TruncIOp::create(rewriter, loc, narrow, upper)});
    return success();
  }
};

/// Pattern: extui(xori(a, b)) -> xori(extui(a), extui(b))
/// [if they are vectors of i32 and nothing else reads the xori].
struct WidenXor : public OpRewritePattern<arith::ExtUIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtUIOp op,
                                PatternRewriter &rewriter) const override {
    auto exclusive = op.getIn().getDefiningOp<arith::XOrIOp>();
    Type wide = op.getType();
    if (!exclusive || !exclusive->hasOneUse() ||
        getWideType(exclusive.getType()) != wide)
      return rewriter.notifyMatchFailure(op, "extends no xori of words");
    Location loc = op.getLoc();
    rewriter.replaceOpWithNewOp<arith::XOrIOp>(
        op, arith::ExtUIOp::create(rewriter, loc, wide, exclusive.getLhs()),
        arith::ExtUIOp::create(rewriter, loc, wide, exclusive.getRhs()));
    return success();
  }
};

/// Pattern: extui(broadcast(x)) -> broadcast(extui(x))
/// [if x is an i32 that becomes 64-bit lanes].
struct WidenBroadcast : public OpRewritePattern<arith::ExtUIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtUIOp op,
                                PatternRewriter &rewriter) const override {
    auto broadcast = op.getIn().getDefiningOp<vector::BroadcastOp>();
    Type wide = op.getType();
    if (!broadcast || !broadcast.getSourceType().isInteger(32) ||
        getWideType(broadcast.getType()) != wide)
      return rewriter.notifyMatchFailure(op, "extends no broadcast word");
    Value scalar = arith::ExtUIOp::create(
        rewriter, op.getLoc(), rewriter.getI64Type(), broadcast.getSource());
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(op, wide, scalar);
    return success();
  }
};

/// Pattern: extui(trunci(x)) -> andi(x, 2^32 - 1)
/// [if x is a vector of i64, and only its lower words pass].
struct MaskWords : public OpRewritePattern<arith::ExtUIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtUIOp op,
                                PatternRewriter &rewriter) const override {
    auto words = op.getIn().getDefiningOp<arith::TruncIOp>();
    Type wide = op.getType();
    if (!words || words.getIn().getType() != wide ||
        getWideType(words.getType()) != wide)
      return rewriter.notifyMatchFailure(op, "extends no words of lanes");
    rewriter.replaceOpWithNewOp<arith::AndIOp>(
        op, words.getIn(), makeLanes(rewriter, op.getLoc(), wide, 0xffffffff));
    return success();
  }
};

} // namespace

void mlir::fuseops::populateWideProductPatterns(RewritePatternSet &patterns) {
  patterns.add<WidenProduct, WidenXor, WidenBroadcast, MaskWords>(
      patterns.getContext());
}
