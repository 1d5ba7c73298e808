//===- ExpandScalars.cpp - Rare scalar operations into common ones --------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Conversion/ExpandMath.h"
#include "FuseOps/Dialect/FuseOps/SpecialFunctions.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fuseops;
using IntPredicate = arith::CmpIPredicate;

namespace {

/// Integer arithmetic on scalars or vectors.
struct IntBuilder {
  OpBuilder &b;
  Location loc;
  Type type;

  Value constant(int64_t value) {
    TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), value);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(b, loc, attr);
  }
  Value compare(IntPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value bitAnd(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
};

/// The one constant that a value is, also when it was broadcast.
std::optional<APInt> getConstant(Value value) {
  if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
    value = broadcast.getSource();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant;
  return std::nullopt;
}

/// Pattern: special f(x) -> what it computes
struct ExpandSpecial : OpRewritePattern<SpecialOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(SpecialOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, expandSpecial(rewriter, op));
    return success();
  }
};

/// Pattern: clampf x, low, high -> minimum(maximum(x, low), high)
struct ExpandClamp : OpRewritePattern<math::ClampFOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(math::ClampFOp op,
                                PatternRewriter &rewriter) const override {
    Value low = arith::MaximumFOp::create(rewriter, op.getLoc(), op.getValue(),
                                          op.getMin());
    rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, low, op.getMax());
    return success();
  }
};

/// Pattern: sincos x -> sin x, cos x
struct ExpandSinCos : OpRewritePattern<math::SincosOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(math::SincosOp op,
                                PatternRewriter &rewriter) const override {
    Value sin = math::SinOp::create(rewriter, op.getLoc(), op.getOperand());
    Value cos = math::CosOp::create(rewriter, op.getLoc(), op.getOperand());
    rewriter.replaceOp(op, {sin, cos});
    return success();
  }
};

/// Pattern: isinf x -> |x| = infinity
struct ExpandIsInf : OpRewritePattern<math::IsInfOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(math::IsInfOp op,
                                PatternRewriter &rewriter) const override {
    ScalarMath m(rewriter, op.getLoc(), op.getOperand().getType());
    rewriter.replaceOp(op,
                       m.equal(m.abs(op.getOperand()), m.constant(INFINITY)));
    return success();
  }
};

/// Pattern: isnormal x -> smallest normal number <= |x| < infinity
struct ExpandIsNormal : OpRewritePattern<math::IsNormalOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(math::IsNormalOp op,
                                PatternRewriter &rewriter) const override {
    ScalarMath m(rewriter, op.getLoc(), op.getOperand().getType());
    Value a = m.abs(op.getOperand());
    auto type = cast<FloatType>(getElementTypeOrSelf(m.type));
    double smallest = APFloat::getSmallestNormalized(type.getFloatSemantics())
                          .convertToDouble();
    rewriter.replaceOp(op, m.both(m.compare(ScalarMath::Predicate::OGE, a,
                                            m.constant(smallest)),
                                  m.less(a, m.constant(INFINITY))));
    return success();
  }
};

/// Pattern: fpowi x, n -> powf(x, n) in f64, where an i32 is exact
struct ExpandFPowI : OpRewritePattern<math::FPowIOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(math::FPowIOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = op.getType();
    Type wide = rewriter.getF64Type();
    if (auto vector = dyn_cast<VectorType>(type))
      wide = vector.clone(wide);
    Value x = convertFloat(rewriter, loc, op.getLhs(), wide);
    Value n = arith::SIToFPOp::create(rewriter, loc, wide, op.getRhs());
    Value power = math::PowFOp::create(rewriter, loc, x, n);
    rewriter.replaceOp(op, convertFloat(rewriter, loc, power, type));
    return success();
  }
};

/// Pattern: ipowi x, n -> squares and products; 0 for n < 0, but 1 or -1 where
/// x is
struct ExpandIPowI : OpRewritePattern<math::IPowIOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(math::IPowIOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    IntBuilder i{rewriter, op.getLoc(), type};
    Value x = op.getLhs(), n = op.getRhs();
    std::optional<APInt> exponent = getConstant(n);
    Value zero = i.constant(0), one = i.constant(1), minusOne = i.constant(-1);
    // The sign bit is no part of an exponent.
    unsigned bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth() - 1;
    if (exponent)
      bits = exponent->isNegative() ? 1 : exponent->getActiveBits();
    // LLVM's loop vectorizer asks of each square whether its two factors are
    // uniform, which takes 2^bits steps; a frozen value it knows not to be.
    Value result = one;
    Value square = LLVM::FreezeOp::create(rewriter, op.getLoc(), x);
    for (unsigned bit = 0; bit < bits; ++bit) {
      Value isSet = i.compare(IntPredicate::ne,
                              i.bitAnd(n, i.constant(int64_t(1) << bit)), zero);
      result = i.mul(result, i.select(isSet, square, one));
      square = i.mul(square, square);
    }
    if (exponent && !exponent->isNegative()) {
      rewriter.replaceOp(op, result);
      return success();
    }
    Value isOdd = i.compare(IntPredicate::ne, i.bitAnd(n, one), zero);
    Value ofMinusOne = i.select(isOdd, minusOne, one);
    Value inverse =
        i.select(i.compare(IntPredicate::eq, x, minusOne), ofMinusOne, zero);
    inverse = i.select(i.compare(IntPredicate::eq, x, one), one, inverse);
    Value isNegative = i.compare(IntPredicate::slt, n, zero);
    rewriter.replaceOp(op, i.select(isNegative, inverse, result));
    return success();
  }
};

/// Pattern: floordivsi x, y -> divsi, less 1 where it was rounded up
struct ExpandFloorDiv : OpRewritePattern<arith::FloorDivSIOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(arith::FloorDivSIOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, special::floorDivideInt(rewriter, op.getLoc(),
                                                   op.getLhs(), op.getRhs(),
                                                   /*isUnsigned=*/false));
    return success();
  }
};

/// Pattern: ceildivsi x, y -> divsi, plus 1 where it was rounded down; and
/// ceildivui
template <typename OpTy, bool isUnsigned>
struct ExpandCeilDiv : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IntBuilder i{rewriter, loc, op.getType()};
    Value x = op.getLhs(), y = op.getRhs();
    Value quotient = special::truncDivideInt(rewriter, loc, x, y, isUnsigned);
    Value rest = special::fmodInt(rewriter, loc, x, y, isUnsigned);
    Value zero = i.constant(0);
    Value isLow = i.compare(IntPredicate::ne, rest, zero);
    if (!isUnsigned) {
      Value mixed = arith::XOrIOp::create(rewriter, loc, rest, y);
      isLow = i.bitAnd(isLow, i.compare(IntPredicate::sge, mixed, zero));
    }
    rewriter.replaceOp(
        op, i.select(isLow, i.add(quotient, i.constant(1)), quotient));
    return success();
  }
};

} // namespace

void mlir::fuseops::populateExpandScalarPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandSpecial, ExpandClamp, ExpandSinCos, ExpandIsInf,
               ExpandIsNormal, ExpandFPowI, ExpandIPowI, ExpandFloorDiv,
               ExpandCeilDiv<arith::CeilDivSIOp, /*isUnsigned=*/false>,
               ExpandCeilDiv<arith::CeilDivUIOp, /*isUnsigned=*/true>>(
      patterns.getContext());
}

void mlir::fuseops::guardIntegerDivisions(Operation *root) {
  IRRewriter rewriter(root->getContext());
  SmallVector<Operation *> divisions;
  root->walk([&](Operation *op) {
    if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
      divisions.push_back(op);
  });
  for (Operation *op : divisions) {
    bool isSigned = isa<arith::DivSIOp, arith::RemSIOp>(op);
    Value x = op->getOperand(0), y = op->getOperand(1);
    // Index arithmetic is the kernel's own.
    if (getElementTypeOrSelf(y).isIndex())
      continue;
    std::optional<APInt> divisor = getConstant(y);
    if (divisor && !divisor->isZero() && !(isSigned && divisor->isAllOnes()))
      continue;
    rewriter.setInsertionPoint(op);
    IntBuilder i{rewriter, op->getLoc(), y.getType()};
    unsigned width = getElementTypeOrSelf(y).getIntOrFloatBitWidth();
    Value zero = i.constant(0), one = i.constant(1);
    Value isZero = i.compare(IntPredicate::eq, y, zero);
    Value isUnsafe = isZero;
    if (isSigned) {
      Value lowest = i.constant(APInt::getSignedMinValue(width).getSExtValue());
      Value overflows =
          i.bitAnd(i.compare(IntPredicate::eq, x, lowest),
                   i.compare(IntPredicate::eq, y, i.constant(-1)));
      isUnsafe =
          arith::OrIOp::create(rewriter, op->getLoc(), isZero, overflows);
    }
    // By 1, the remainder is 0 and the lowest integer stays.
    Value safe = i.select(isUnsafe, one, y);
    rewriter.modifyOpInPlace(op, [&] { op->setOperand(1, safe); });
    if (isa<arith::RemSIOp, arith::RemUIOp>(op))
      continue;
    rewriter.setInsertionPointAfter(op);
    auto select = arith::SelectOp::create(rewriter, op->getLoc(), isZero, zero,
                                          op->getResult(0));
    rewriter.replaceAllUsesExcept(op->getResult(0), select, select);
  }
}
