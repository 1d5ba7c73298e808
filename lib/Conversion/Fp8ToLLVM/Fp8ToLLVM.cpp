//===- Fp8ToLLVM.cpp - Small float casts as integer arithmetic ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Conversion/Fp8ToLLVM.h"

#include "BF16Pairs.h"
#include "FuseOps/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <optional>

#define DEBUG_TYPE "convert-fp8-to-llvm"

namespace mlir::fuseops {
#define GEN_PASS_DEF_CONVERTFP8TOLLVMPASS
#include "FuseOps/Conversion/Passes.h.inc"
} // namespace mlir::fuseops

using namespace mlir;
using namespace mlir::fuseops;
using IntPredicate = arith::CmpIPredicate;

namespace {

/// A binary format with a sign, subnormals and 1 + exponent + mantissa bits.
struct Format {
  unsigned width;
  unsigned mantissa;
  int bias;
  /// The code, without sign, that every larger magnitude gets: infinity, or
  /// NaN where the format has no infinity.
  unsigned overflowCode;
  unsigned nanCode;
};

constexpr Format kE4M3FN = {8, 3, 7, 0x7f, 0x7f};
constexpr Format kE5M2 = {8, 2, 15, 0x7c, 0x7f};
constexpr Format kHalf = {16, 10, 15, 0x7c00, 0x7e00};

std::optional<Format> getFormat(Type element, const Fp8ToLLVMOptions &options) {
  if (isa<Float8E4M3FNType>(element) && options.fp8)
    return kE4M3FN;
  if (isa<Float8E5M2Type>(element) && options.fp8)
    return kE5M2;
  if (element.isF16() && options.half)
    return kHalf;
  return std::nullopt;
}

/// Integer and float operations on values of one shape.
class CastBuilder {
public:
  CastBuilder(OpBuilder &builder, Location loc, Type shapeOf)
      : builder(builder), loc(loc), shapeOf(shapeOf) {}

  Type like(Type element) const {
    if (auto vector = dyn_cast<VectorType>(shapeOf))
      return vector.clone(element);
    return element;
  }
  Type intLike(unsigned width) const {
    return like(builder.getIntegerType(width));
  }
  Type f32() const { return like(builder.getF32Type()); }

  Value constant(uint32_t value) {
    return splat(intLike(32), builder.getI32IntegerAttr(int32_t(value)));
  }
  Value constantF32(float value) {
    return splat(f32(), builder.getF32FloatAttr(value));
  }
  template <typename OpTy, typename... Args>
  Value make(Args &&...args) {
    return OpTy::create(builder, loc, std::forward<Args>(args)...);
  }
  Value add(Value a, uint32_t b) { return make<arith::AddIOp>(a, constant(b)); }
  Value bitAnd(Value a, uint32_t b) {
    return make<arith::AndIOp>(a, constant(b));
  }
  Value bitOr(Value a, Value b) { return make<arith::OrIOp>(a, b); }
  Value shiftLeft(Value a, uint32_t b) {
    return make<arith::ShLIOp>(a, constant(b));
  }
  Value shiftRight(Value a, uint32_t b) {
    return make<arith::ShRUIOp>(a, constant(b));
  }
  Value compare(IntPredicate predicate, Value a, uint32_t b) {
    return make<arith::CmpIOp>(predicate, a, constant(b));
  }
  Value select(Value condition, Value a, Value b) {
    return make<arith::SelectOp>(condition, a, b);
  }
  Value bits(Value f32Value) {
    return make<arith::BitcastOp>(intLike(32), f32Value);
  }
  Value fromBits(Value i32Value) {
    return make<arith::BitcastOp>(f32(), i32Value);
  }
  /// The i32 `code` as a value of the `width`-bit float type `element`.
  Value toSmall(Value code, unsigned width, Type element) {
    Value narrow = make<arith::TruncIOp>(intLike(width), code);
    return make<arith::BitcastOp>(like(element), narrow);
  }
  /// The code of a `width`-bit float as i32.
  Value codeOf(Value small, unsigned width) {
    Value narrow = make<arith::BitcastOp>(intLike(width), small);
    return make<arith::ExtUIOp>(intLike(32), narrow);
  }

  Value f64ToF32RoundedToOdd(Value x);
  Value f32ToSmall(Value x, const Format &format, Type element);
  Value smallToF32(Value x, const Format &format);
  Value f32ToBF16(Value x);
  Value bf16ToF32(Value x);
  Value f32ToE8M0(Value x);
  Value e8m0ToF32(Value x);

private:
  Value splat(Type type, TypedAttr element) {
    if (auto vector = dyn_cast<VectorType>(type))
      return make<arith::ConstantOp>(
          DenseElementsAttr::get(vector, Attribute(element)));
    return make<arith::ConstantOp>(element);
  }

  OpBuilder &builder;
  Location loc;
  Type shapeOf;
};

} // namespace

// Rounding to odd keeps in the last bit whether anything was cut off, so that a
// second rounding to at least two bits fewer is as if it were the only one.
Value CastBuilder::f64ToF32RoundedToOdd(Value x) {
  Type f64 = like(builder.getF64Type());
  Value nearest = make<arith::TruncFOp>(f32(), x);
  Value back = make<arith::ExtFOp>(f64, nearest);
  // Compare magnitudes by the bits: all but NaN order as integers.
  Type i64 = intLike(64);
  Value mask = splat(i64, builder.getI64IntegerAttr(INT64_MAX));
  Value backBits = make<arith::BitcastOp>(i64, back);
  Value bits64 = make<arith::BitcastOp>(i64, x);
  Value backMagnitude = make<arith::AndIOp>(backBits, mask);
  Value magnitude = make<arith::AndIOp>(bits64, mask);
  Value isAbove =
      make<arith::CmpIOp>(IntPredicate::ugt, backMagnitude, magnitude);
  Value isInexact = make<arith::CmpFOp>(arith::CmpFPredicate::ONE, back, x);
  Value code = bits(nearest);
  Value below = make<arith::SubIOp>(code, constant(1));
  Value towardsZero = select(isAbove, below, code);
  Value odd = bitOr(towardsZero, constant(1));
  return fromBits(select(isInexact, odd, code));
}

Value CastBuilder::f32ToSmall(Value x, const Format &format, Type element) {
  unsigned shift = 23 - format.mantissa;
  Value all = bits(x);
  Value sign =
      bitAnd(shiftRight(all, 32 - format.width), 1u << (format.width - 1));
  Value magnitude = bitAnd(all, 0x7fffffff);
  // Normal results: rebias, add half a unit less the tie, drop the low bits.
  Value odd = bitAnd(shiftRight(magnitude, shift), 1);
  uint32_t rebias = uint32_t(format.bias - 127) << 23;
  Value rounded = add(magnitude, rebias + (1u << (shift - 1)) - 1);
  Value normal = shiftRight(make<arith::AddIOp>(rounded, odd), shift);
  normal = make<arith::MinUIOp>(normal, constant(format.overflowCode));
  // Subnormal results: adding 2^23 units of their spacing rounds in hardware.
  int spacing = 1 - format.bias - int(format.mantissa);
  uint32_t magic = uint32_t(spacing + 23 + 127) << 23;
  Value sum =
      make<arith::AddFOp>(fromBits(magnitude), fromBits(constant(magic)));
  Value subnormal = make<arith::SubIOp>(bits(sum), constant(magic));
  uint32_t smallestNormal = uint32_t(1 - format.bias + 127) << 23;
  Value isSubnormal = compare(IntPredicate::ult, magnitude, smallestNormal);
  Value code = bitOr(select(isSubnormal, subnormal, normal), sign);
  Value isNaN = compare(IntPredicate::ugt, magnitude, 0x7f800000);
  code = select(isNaN, constant(format.nanCode), code);
  return toSmall(code, format.width, element);
}

Value CastBuilder::smallToF32(Value x, const Format &format) {
  unsigned shift = 23 - format.mantissa;
  uint32_t magnitudeMask = (1u << (format.width - 1)) - 1;
  Value code = codeOf(x, format.width);
  Value magnitude = bitAnd(code, magnitudeMask);
  Value sign = shiftLeft(bitAnd(code, magnitudeMask + 1), 32 - format.width);
  Value shifted = shiftLeft(magnitude, shift);
  Value normal = add(shifted, uint32_t(127 - format.bias) << 23);
  // Subnormals get the exponent of the smallest normal number, which is then
  // taken off: no f32 subnormal occurs, which would be slow on x86.
  uint32_t smallestNormal = uint32_t(1 - format.bias + 127) << 23;
  Value raised = fromBits(add(shifted, smallestNormal));
  Value difference =
      make<arith::SubFOp>(raised, fromBits(constant(smallestNormal)));
  Value isSubnormal =
      compare(IntPredicate::ult, magnitude, 1u << format.mantissa);
  Value result = select(isSubnormal, bits(difference), normal);
  if (format.overflowCode == format.nanCode) {
    Value isNaN = compare(IntPredicate::eq, magnitude, format.nanCode);
    result = select(isNaN, constant(0x7fc00000), result);
  } else {
    Value isSpecial =
        compare(IntPredicate::uge, magnitude, format.overflowCode);
    result = select(isSpecial, bitOr(shifted, constant(0x7f800000)), result);
  }
  return fromBits(bitOr(result, sign));
}

Value CastBuilder::f32ToBF16(Value x) {
  Value all = bits(x);
  Value odd = bitAnd(shiftRight(all, 16), 1);
  Value rounded = make<arith::AddIOp>(add(all, 0x7fff), odd);
  Value isNaN = make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x);
  Value quiet = bitOr(all, constant(0x00400000));
  Value code = shiftRight(select(isNaN, quiet, rounded), 16);
  return toSmall(code, 16, builder.getBF16Type());
}

Value CastBuilder::bf16ToF32(Value x) {
  return fromBits(shiftLeft(codeOf(x, 16), 16));
}

// f8E8M0FNU holds 2^(code - 127) and NaN; the nearest one is the one that
// APFloat picks: a tie goes up, and what is below the range becomes the
// smallest.
Value CastBuilder::f32ToE8M0(Value x) {
  Value all = bits(x);
  Value magnitude = bitAnd(all, 0x7fffffff);
  // f32 subnormals from 1.5 * 2^-127 on round to 2^-126 by the same addition,
  // because 2^-127 is the mantissa's top bit.
  Value rounded = shiftRight(add(magnitude, 0x00400000), 23);
  Value isSubnormal = compare(IntPredicate::ult, magnitude, 0x00800000);
  Value isHigh = compare(IntPredicate::uge, magnitude, 0x00600000);
  Value low = make<arith::ExtUIOp>(intLike(32), isHigh);
  Value code = select(isSubnormal, low, rounded);
  Value isNaN = compare(IntPredicate::uge, magnitude, 0x7f800000);
  code = select(isNaN, constant(0xff), code);
  return toSmall(code, 8, Float8E8M0FNUType::get(builder.getContext()));
}

Value CastBuilder::e8m0ToF32(Value x) {
  Value code = codeOf(x, 8);
  Value result = shiftLeft(code, 23);
  Value isSmallest = compare(IntPredicate::eq, code, 0);
  result = select(isSmallest, constant(0x00400000), result);
  Value isNaN = compare(IntPredicate::eq, code, 0xff);
  return fromBits(select(isNaN, constant(0x7fc00000), result));
}

namespace {

bool isFp8(Type element) {
  return isa<Float8E4M3FNType, Float8E5M2Type, Float8E8M0FNUType>(element);
}

bool isFixedShape(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return !vector || !vector.isScalable();
}

/// Pattern: truncf(x) -> integer arithmetic
/// [if the result is a small format that `options` name; f64 becomes f32
/// rounded to odd first].
struct ExpandTruncF : OpRewritePattern<arith::TruncFOp> {
  ExpandTruncF(MLIRContext *context, const Fp8ToLLVMOptions &options)
      : OpRewritePattern(context), options(options) {}

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getIn();
    Type from = getElementTypeOrSelf(x.getType());
    Type to = getElementTypeOrSelf(op.getType());
    if (!isFixedShape(op.getType()))
      return rewriter.notifyMatchFailure(op, "scalable vector");
    if (op.getRoundingmode() &&
        *op.getRoundingmode() != arith::RoundingMode::to_nearest_even)
      return rewriter.notifyMatchFailure(op, "rounding mode is not nearest");
    bool isSmall = isFp8(to) || to.isBF16() || to.isF16();
    std::optional<Format> format = getFormat(to, options);
    bool isExpanded =
        format || isa<Float8E8M0FNUType>(to) || (to.isBF16() && options.bf16);
    // What isn't expanded still must not round an f64 twice.
    if (!isExpanded && !(isSmall && from.isF64()))
      return rewriter.notifyMatchFailure(op, "the cast is native");

    CastBuilder b(rewriter, op.getLoc(), op.getType());
    if (from.isF64())
      x = b.f64ToF32RoundedToOdd(x);
    else if (!from.isF32())
      x = b.make<arith::ExtFOp>(b.f32(), x);
    Value result;
    if (format)
      result = b.f32ToSmall(x, *format, to);
    else if (isa<Float8E8M0FNUType>(to))
      result = b.f32ToE8M0(x);
    else if (isExpanded)
      result = b.f32ToBF16(x);
    else
      result = b.make<arith::TruncFOp>(op.getType(), x);
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  Fp8ToLLVMOptions options;
};

/// Pattern: extf(x) -> integer arithmetic to f32, then a cast from f32
/// [if x is a small format that `options` name].
struct ExpandExtF : OpRewritePattern<arith::ExtFOp> {
  ExpandExtF(MLIRContext *context, const Fp8ToLLVMOptions &options)
      : OpRewritePattern(context), options(options) {}

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getIn();
    Type from = getElementTypeOrSelf(x.getType());
    Type to = getElementTypeOrSelf(op.getType());
    if (!isFixedShape(op.getType()))
      return rewriter.notifyMatchFailure(op, "scalable vector");
    std::optional<Format> format = getFormat(from, options);
    CastBuilder b(rewriter, op.getLoc(), op.getType());
    Value result;
    if (format)
      result = b.smallToF32(x, *format);
    else if (isa<Float8E8M0FNUType>(from))
      result = b.e8m0ToF32(x);
    else if (from.isBF16() && options.bf16)
      result = b.bf16ToF32(x);
    else
      return rewriter.notifyMatchFailure(op, "the cast is native");
    if (to.isF64())
      result = b.make<arith::ExtFOp>(op.getType(), result);
    else if (!to.isF32())
      result = b.make<arith::TruncFOp>(op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  Fp8ToLLVMOptions options;
};

struct ConvertFp8ToLLVMPass
    : mlir::fuseops::impl::ConvertFp8ToLLVMPassBase<ConvertFp8ToLLVMPass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    Fp8ToLLVMOptions options;
    options.half = expandHalf;
    RewritePatternSet set(context);
    populateFp8ToLLVMPatterns(set, options);
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

void mlir::fuseops::populateFp8ToLLVMPatterns(RewritePatternSet &patterns,
                                              const Fp8ToLLVMOptions &options) {
  patterns.add<ExpandTruncF, ExpandExtF>(patterns.getContext(), options);
  if (options.bf16)
    populateBF16PairPatterns(patterns);
}
