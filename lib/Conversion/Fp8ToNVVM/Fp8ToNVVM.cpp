//===- Fp8ToNVVM.cpp - FP8 casts as conversion instructions ---------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Conversion/Fp8ToNVVM.h"

#include "FuseOps/Conversion/Fp8ToLLVM.h"
#include "FuseOps/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "convert-fp8-to-nvvm"

namespace mlir::fuseops {
#define GEN_PASS_DEF_CONVERTFP8TONVVMPASS
#include "FuseOps/Conversion/Passes.h.inc"
} // namespace mlir::fuseops

using namespace mlir;
using namespace mlir::fuseops;

namespace {

bool isConvertible(Type element) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(element);
}

/// The elements of a scalar or 1-D vector; fails for any other type.
FailureOr<SmallVector<Value>> getElements(OpBuilder &builder, Location loc,
                                          Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector)
    return SmallVector<Value>{value};
  if (vector.getRank() != 1 || vector.isScalable())
    return failure();
  auto elements = vector::ToElementsOp::create(builder, loc, value);
  return llvm::to_vector_of<Value>(elements.getResults());
}

/// `x` without clamps to all finite values of `fp8` or more: the conversion
/// saturates by itself, infinity too, and NaN passes both (PTX ISA, `cvt` with
/// `.satfinite`).
Value skipClamps(Value x, Type fp8) {
  double largest = APFloat::getLargest(cast<FloatType>(fp8).getFloatSemantics())
                       .convertToDouble();
  auto getBound = [](Value value) -> std::optional<double> {
    if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
      value = broadcast.getSource();
    Attribute attribute;
    if (!matchPattern(value, m_Constant(&attribute)))
      return std::nullopt;
    if (auto splat = dyn_cast<SplatElementsAttr>(attribute))
      attribute = splat.getSplatValue<Attribute>();
    auto number = dyn_cast<FloatAttr>(attribute);
    return number ? std::optional(number.getValueAsDouble()) : std::nullopt;
  };
  while (true) {
    Operation *op = x.getDefiningOp();
    if (!isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp>(op))
      return x;
    std::optional<double> bound = getBound(op->getOperand(1));
    if (!bound ||
        !(isa<arith::MinimumFOp>(op) ? *bound >= largest : *bound <= -largest))
      return x;
    x = op->getOperand(0);
  }
}

/// Pairs of f32, of which the second becomes the high byte.
SmallVector<Value> convertPairs(OpBuilder &builder, Location loc,
                                ArrayRef<Value> elements, Type fp8) {
  SmallVector<Value> pairs;
  for (size_t i = 0; i < elements.size(); i += 2)
    pairs.push_back(NVVM::ConvertF32x2ToF8x2Op::create(
        builder, loc, builder.getI16Type(), /*high byte=*/elements[i + 1],
        /*low byte=*/elements[i], NVVM::FPRoundingMode::RN,
        NVVM::SaturationMode::SATFINITE, /*relu=*/false, fp8));
  return pairs;
}

Value toBytes(OpBuilder &builder, Location loc, ArrayRef<Value> pairs) {
  int64_t count = pairs.size();
  Value packed = vector::FromElementsOp::create(
      builder, loc, VectorType::get({count}, builder.getI16Type()), pairs);
  return vector::BitCastOp::create(
      builder, loc, VectorType::get({2 * count}, builder.getI8Type()), packed);
}

/// Pattern: truncf(x) -> nvvm.convert.f32x2.to.f8x2 of each pair, of x before
/// it was clamped to what is finite [if the result is f8E4M3FN or f8E5M2,
/// scalar or 1-D].
struct TruncFToConvert : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Type fp8 = getElementTypeOrSelf(op.getType());
    Value x = op.getIn();
    Type from = getElementTypeOrSelf(x.getType());
    if (!isConvertible(fp8))
      return rewriter.notifyMatchFailure(op, "result is not convertible FP8");
    if (from.isF64())
      return rewriter.notifyMatchFailure(op, "f64 would round twice");
    if (op.getRoundingmode() &&
        *op.getRoundingmode() != arith::RoundingMode::to_nearest_even)
      return rewriter.notifyMatchFailure(op, "rounding mode is not nearest");
    Location loc = op.getLoc();
    Type f32 = rewriter.getF32Type();
    auto vector = dyn_cast<VectorType>(op.getType());
    if (vector && (vector.getRank() != 1 || vector.isScalable()))
      return rewriter.notifyMatchFailure(op, "vector is not 1-D");
    x = skipClamps(x, fp8);
    if (!from.isF32())
      x = arith::ExtFOp::create(rewriter, loc,
                                vector ? Type(vector.clone(f32)) : f32, x);
    SmallVector<Value> elements = *getElements(rewriter, loc, x);
    bool isOdd = elements.size() % 2;
    if (isOdd)
      elements.push_back(arith::ConstantOp::create(
          rewriter, loc, rewriter.getF32FloatAttr(0)));
    SmallVector<Value> pairs = convertPairs(rewriter, loc, elements, fp8);
    if (!vector) {
      Value code = arith::TruncIOp::create(rewriter, loc, rewriter.getI8Type(),
                                           pairs.front());
      rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, fp8, code);
      return success();
    }
    Value bytes = toBytes(rewriter, loc, pairs);
    if (isOdd)
      bytes = vector::ExtractStridedSliceOp::create(
          rewriter, loc, bytes, ArrayRef<int64_t>{0},
          ArrayRef<int64_t>{vector.getNumElements()}, ArrayRef<int64_t>{1});
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, vector, bytes);
    return success();
  }
};

/// Whether all that is done with these bytes is to take one of them.
bool areTakenApart(Value bytes) {
  return llvm::all_of(bytes.getUsers(), [](Operation *user) {
    return isa<vector::ExtractOp>(user) ||
           (isa<arith::BitcastOp>(user) && areTakenApart(user->getResult(0)));
  });
}

/// Where the byte `index` of `bytes` comes from: the conversion of a pair and
/// the operand, if it is one of a vector of such pairs.
std::optional<std::pair<NVVM::ConvertF32x2ToF8x2Op, Value>>
findConverted(Value bytes, int64_t index) {
  while (auto sameBytes = bytes.getDefiningOp<arith::BitcastOp>())
    bytes = sameBytes.getIn();
  auto bytesOfPairs = bytes.getDefiningOp<vector::BitCastOp>();
  auto pairs =
      bytesOfPairs
          ? bytesOfPairs.getSource().getDefiningOp<vector::FromElementsOp>()
          : nullptr;
  if (!pairs || !pairs.getType().getElementType().isInteger(16) ||
      !areTakenApart(bytes))
    return std::nullopt;
  auto convert = pairs.getElements()[index / 2]
                     .getDefiningOp<NVVM::ConvertF32x2ToF8x2Op>();
  if (!convert)
    return std::nullopt;
  return std::pair(convert, index % 2 ? convert.getA() : convert.getB());
}

/// Pattern: bytes gathered from several conversions -> conversions of what is
/// gathered [if each is one of a pair, all of one format, which nobody wants as
/// they are]: bytes of two rows are pairs as those of two columns are, and need
/// not be moved.
struct GatherThenConvert : OpRewritePattern<vector::FromElementsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::FromElementsOp op,
                                PatternRewriter &rewriter) const override {
    VectorType type = op.getType();
    if (!type.getElementType().isInteger(8) || type.getNumElements() % 2)
      return rewriter.notifyMatchFailure(op, "result is not pairs of bytes");
    SmallVector<Value> gathered;
    Type fp8;
    for (Value byte : op.getElements()) {
      auto extract = byte.getDefiningOp<vector::ExtractOp>();
      if (!extract || extract.getNumIndices() != 1 ||
          extract.hasDynamicPosition())
        return rewriter.notifyMatchFailure(op, "bytes are of no vectors");
      auto found = findConverted(extract.getSource(),
                                 extract.getStaticPosition().front());
      if (!found || (fp8 && fp8 != found->first.getDstTy()))
        return rewriter.notifyMatchFailure(op, "bytes are no conversions");
      fp8 = found->first.getDstTy();
      gathered.push_back(found->second);
    }
    rewriter.replaceOp(
        op, toBytes(rewriter, op.getLoc(),
                    convertPairs(rewriter, op.getLoc(), gathered, fp8)));
    return success();
  }
};

/// Pattern: extf(x) -> nvvm.convert.f8x2.to.f16x2 of each pair, then extf
/// [if x is f8E4M3FN or f8E5M2, scalar or 1-D].
struct ExtFToConvert : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Type fp8 = getElementTypeOrSelf(op.getIn().getType());
    if (!isConvertible(fp8))
      return rewriter.notifyMatchFailure(op, "operand is not convertible FP8");
    auto vector = dyn_cast<VectorType>(op.getType());
    if (vector && (vector.getRank() != 1 || vector.isScalable()))
      return rewriter.notifyMatchFailure(op, "vector is not 1-D");
    Location loc = op.getLoc();
    Type i8 = rewriter.getI8Type(), f16 = rewriter.getF16Type();
    int64_t count = vector ? vector.getNumElements() : 1;
    SmallVector<Value> pairs = getPairs(rewriter, loc, op.getIn(), count);
    SmallVector<Value> elements;
    for (Value pair : pairs) {
      Value bytes = LLVM::BitcastOp::create(rewriter, loc,
                                            VectorType::get({2}, i8), pair);
      Value halves = NVVM::ConvertF8x2ToF16x2Op::create(
          rewriter, loc, VectorType::get({2}, f16), bytes, /*relu=*/false, fp8);
      auto both = vector::ToElementsOp::create(rewriter, loc, halves);
      llvm::append_range(elements, both.getResults());
    }
    elements.resize(count);
    Value half = elements.front();
    if (vector)
      half = vector::FromElementsOp::create(
          rewriter, loc, VectorType::get({count}, f16), elements);
    Type to = getElementTypeOrSelf(op.getType());
    if (to.isF16()) {
      rewriter.replaceOp(op, half);
      return success();
    }
    if (to.isBF16()) { // exact: both formats fit into bf16
      Type f32 = rewriter.getF32Type();
      half = arith::ExtFOp::create(
          rewriter, loc, vector ? Type(vector.clone(f32)) : f32, half);
      rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), half);
      return success();
    }
    rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, op.getType(), half);
    return success();
  }

private:
  /// The codes two by two as i16, the last one with a zero where it is alone.
  static SmallVector<Value> getPairs(OpBuilder &builder, Location loc, Value in,
                                     int64_t count) {
    Type i8 = builder.getI8Type(), i16 = builder.getI16Type();
    if (!isa<VectorType>(in.getType())) {
      Value code = arith::BitcastOp::create(builder, loc, i8, in);
      return {arith::ExtUIOp::create(builder, loc, i16, code)};
    }
    Value codes = arith::BitcastOp::create(builder, loc,
                                           VectorType::get({count}, i8), in);
    int64_t even = count - count % 2;
    SmallVector<Value> pairs;
    if (even) {
      Value head = codes;
      if (even != count)
        head = vector::ExtractStridedSliceOp::create(
            builder, loc, codes, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{even},
            ArrayRef<int64_t>{1});
      Value words = vector::BitCastOp::create(
          builder, loc, VectorType::get({even / 2}, i16), head);
      pairs = *getElements(builder, loc, words);
    }
    if (even != count) {
      Value last = vector::ExtractOp::create(builder, loc, codes, count - 1);
      pairs.push_back(arith::ExtUIOp::create(builder, loc, i16, last));
    }
    return pairs;
  }
};

/// Pattern: extf(x) -> words of x shifted, and masked [if x is an even vector
/// of bf16]: the f32 of the second of a pair is its word without the first,
/// where the instruction wants it moved to a register of its own.
struct ExtendBF16Pairs : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 1 || type.isScalable() ||
        type.getNumElements() % 2 || !type.getElementType().isF32() ||
        !getElementTypeOrSelf(op.getIn().getType()).isBF16())
      return rewriter.notifyMatchFailure(op, "extends no pairs of bf16 to f32");
    Location loc = op.getLoc();
    auto words =
        VectorType::get({type.getNumElements() / 2}, rewriter.getI32Type());
    auto constant = [&](uint32_t word) -> Value {
      return arith::ConstantOp::create(
          rewriter, loc, DenseElementsAttr::get(words, APInt(32, word)));
    };
    Value pairs = vector::BitCastOp::create(rewriter, loc, words, op.getIn());
    Value first = arith::ShLIOp::create(rewriter, loc, pairs, constant(16));
    Value second =
        arith::AndIOp::create(rewriter, loc, pairs, constant(0xffff0000));
    Value all = vector::InterleaveOp::create(rewriter, loc, first, second);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, type, all);
    return success();
  }
};

struct ConvertFp8ToNVVMPass
    : mlir::fuseops::impl::ConvertFp8ToNVVMPassBase<ConvertFp8ToNVVMPass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    populateFp8ToNVVMPatterns(set);
    Fp8ToLLVMOptions rest;
    rest.fp8 = rest.bf16 = false;
    populateFp8ToLLVMPatterns(set, rest);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    if (failed(applyPatternsGreedily(getOperation(), patterns)))
      signalPassFailure();
  }

  FrozenRewritePatternSet patterns;
};

} // namespace

void mlir::fuseops::populateBF16ToNVVMPatterns(RewritePatternSet &patterns) {
  patterns.add<ExtendBF16Pairs>(patterns.getContext());
}

void mlir::fuseops::populateFp8ToNVVMPatterns(RewritePatternSet &patterns) {
  patterns.add<TruncFToConvert, ExtFToConvert, GatherThenConvert>(
      patterns.getContext());
}
