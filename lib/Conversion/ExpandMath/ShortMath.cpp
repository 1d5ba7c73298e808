//===- ShortMath.cpp - Shorter forms where nobody sees a difference ------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Fast-math flags say what an operation's result is good for: they were set by
// the types of the tensor operation that it is part of, so that a value has the
// same bits in whatever kernel it is computed. Here they are used up.
//
// exp `afn`: 2^(x log2(e)) by the chip's instruction is two instructions, its
// exact range reduction eight more, which is what kernels of bf16 activations
// wait for. Rounding the product is a relative error of at most 2^-24 |x|,
// 2^-17 before exp overflows, and what is below 2^-126 becomes 0. The factor is
// one of the constants of a polynomial that x is, if it is one: these are
// rounded instead of the product.
//
//===----------------------------------------------------------------------===//

#include "FloatBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fuseops;
using Flags = arith::FastMathFlags;

namespace {

constexpr float kLog2E = 0x1.715476p+0f;

Value skipBroadcast(Value value) {
  auto broadcast = value.getDefiningOp<vector::BroadcastOp>();
  return broadcast ? broadcast.getSource() : value;
}

bool isOne(Value value) {
  return matchPattern(skipBroadcast(value), m_OneFloat());
}

bool isZero(Value value) {
  return matchPattern(skipBroadcast(value), m_AnyZeroFloat());
}

std::optional<float> matchNumber(Value value) {
  APFloat number(0.0f);
  if (!matchPattern(skipBroadcast(value), m_ConstantFloat(&number)))
    return std::nullopt;
  return number.convertToFloat();
}

/// The exponential of 1 + exp(x).
math::ExpOp matchOnePlusExp(Value value) {
  auto sum = value.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return nullptr;
  if (isOne(sum.getLhs()))
    return sum.getRhs().getDefiningOp<math::ExpOp>();
  return isOne(sum.getRhs()) ? sum.getLhs().getDefiningOp<math::ExpOp>()
                             : nullptr;
}

/// The x of select(x >= 0, -x, x), which is -|x|.
Value matchMinusMagnitude(Value value) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  if (!select)
    return nullptr;
  Value x = select.getFalseValue();
  auto negation = select.getTrueValue().getDefiningOp<arith::NegFOp>();
  auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
  bool matches = negation && negation.getOperand() == x && compare &&
                 compare.getPredicate() == arith::CmpFPredicate::OGE &&
                 compare.getLhs() == x && isZero(compare.getRhs());
  return matches ? x : nullptr;
}

/// Whether a flag is set.
template <typename OpTy>
bool has(OpTy op, Flags flag) {
  return arith::bitEnumContainsAll(op.getFastmath(), flag);
}

/// The x of select(x >= 0, 1, e) / (1 + e), e = exp(-|x|), which is sigmoid(x).
/// In its short form 1 / (1 + exp(-x)) does: what it loses is below 2^-126.
Value matchShortSigmoid(arith::DivFOp op) {
  math::ExpOp exponential = matchOnePlusExp(op.getRhs());
  auto numerator = op.getLhs().getDefiningOp<arith::SelectOp>();
  if (!exponential || !has(exponential, Flags::afn) || !numerator ||
      !isOne(numerator.getTrueValue()) ||
      numerator.getFalseValue() != exponential.getResult())
    return nullptr;
  Value x = matchMinusMagnitude(exponential.getOperand());
  auto argument = exponential.getOperand().getDefiningOp<arith::SelectOp>();
  return x && argument.getCondition() == numerator.getCondition() ? x : nullptr;
}

/// The product of two factors that may be rounded with a sum.
arith::MulFOp matchProduct(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  return product && has(product, Flags::contract) ? product : nullptr;
}

/// The number and the other factor of a product with a constant.
std::pair<float, Value> splitProduct(Value value) {
  if (arith::MulFOp product = matchProduct(value)) {
    if (std::optional<float> number = matchNumber(product.getLhs()))
      return {*number, product.getRhs()};
    if (std::optional<float> number = matchNumber(product.getRhs()))
      return {*number, product.getLhs()};
  }
  return {1.0f, value};
}

/// Whether a factor of `value` becomes one of its constants.
bool takesFactor(Value value) {
  if (matchNumber(value))
    return true;
  if (arith::MulFOp product = matchProduct(value))
    return takesFactor(product.getLhs()) || takesFactor(product.getRhs());
  auto sum = value.getDefiningOp<arith::AddFOp>();
  return sum && has(sum, Flags::contract) && takesFactor(sum.getLhs()) &&
         takesFactor(sum.getRhs());
}

/// `value` times `factor`, which its constants take where there are some: of a
/// product with a sum those of the sum, which take the product's as well.
Value scale(FloatBuilder &b, Value value, float factor) {
  if (std::optional<float> number = matchNumber(value))
    return b.constant(*number * factor);
  auto [number, other] = splitProduct(value);
  if (other != value)
    return scale(b, other, number * factor);
  if (!takesFactor(value))
    return b.mul(value, b.constant(factor));
  if (arith::MulFOp product = matchProduct(value)) {
    Value lhs = product.getLhs(), rhs = product.getRhs();
    if (!takesFactor(rhs))
      std::swap(lhs, rhs);
    auto [number, other] = splitProduct(lhs);
    return b.mul(other, scale(b, rhs, number * factor));
  }
  auto sum = value.getDefiningOp<arith::AddFOp>();
  auto [left, lhs] = splitProduct(sum.getLhs());
  auto [right, rhs] = splitProduct(sum.getRhs());
  if (lhs != sum.getLhs())
    return b.fma(lhs, b.constant(left * factor),
                 scale(b, sum.getRhs(), factor));
  if (rhs != sum.getRhs())
    return b.fma(rhs, b.constant(right * factor),
                 scale(b, sum.getLhs(), factor));
  return b.add(scale(b, lhs, factor), scale(b, rhs, factor));
}

/// What a division becomes; nothing if it stays.
Value shorten(FloatBuilder &b, arith::DivFOp op) {
  if (!has(op, Flags::afn) || !matchOnePlusExp(op.getRhs()))
    return nullptr;
  if (Value x = matchShortSigmoid(op)) {
    Value e = b.approximateNormalExp2(scale(b, x, -kLog2E));
    return b.approximateReciprocal(b.add(e, b.constant(1.0f)));
  }
  if (isOne(op.getLhs()))
    return b.approximateReciprocal(op.getRhs());
  return b.quickDivide(op.getLhs(), op.getRhs());
}

Value shorten(FloatBuilder &b, math::ExpOp op) {
  if (!has(op, Flags::afn))
    return nullptr;
  Value x = op.getOperand();
  Value magnitude = matchMinusMagnitude(x);
  Value power = magnitude ? b.mul(b.abs(magnitude), b.constant(-kLog2E))
                          : scale(b, x, kLog2E);
  return b.approximateNormalExp2(power);
}

/// a * b + c, a * b - c, c + a * b and c - a * b with one rounding. Who else
/// uses the product has no part in it. Of two products neither is taken, so
/// that the difference of equal ones is 0.
template <typename OpTy>
Value contract(FloatBuilder &b, OpTy op) {
  constexpr bool isDifference = std::is_same_v<OpTy, arith::SubFOp>;
  Value lhs = op.getLhs(), rhs = op.getRhs();
  arith::MulFOp left = matchProduct(lhs), right = matchProduct(rhs);
  if (!has(op, Flags::contract) || !left == !right)
    return nullptr;
  if (left)
    return b.fma(left.getLhs(), left.getRhs(),
                 isDifference ? b.negate(rhs) : rhs);
  Value factor = right.getLhs();
  return b.fma(isDifference ? b.negate(factor) : factor, right.getRhs(), lhs);
}

/// Leaves nothing that LLVM would contract by its own rules, which ask who else
/// uses a product.
void dropFlags(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<arith::AddFOp, arith::SubFOp, arith::MulFOp>([](auto op) {
        op.setFastmath(arith::bitEnumClear(op.getFastmath(), Flags::contract));
      });
}

} // namespace

void mlir::fuseops::shortenMath(Operation *root) {
  // Uses before definitions: each is matched before what it is made of changes.
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
            math::ExpOp>(op) &&
        getElementTypeOrSelf(op->getResult(0).getType()).isF32())
      ops.push_back(op);
  });
  IRRewriter rewriter(root->getContext());
  for (Operation *op : llvm::reverse(ops)) {
    if (op->use_empty()) { // Of what has become shorter.
      rewriter.eraseOp(op);
      continue;
    }
    rewriter.setInsertionPoint(op);
    FloatBuilder b(rewriter, op->getLoc(), op->getResult(0).getType(),
                   MathTarget::NVVM);
    Value shorter = llvm::TypeSwitch<Operation *, Value>(op)
                        .Case<arith::DivFOp, math::ExpOp>(
                            [&](auto op) { return shorten(b, op); })
                        .Case<arith::AddFOp, arith::SubFOp>(
                            [&](auto op) { return contract(b, op); })
                        .Default([](Operation *) { return Value(); });
    if (shorter)
      rewriter.replaceOp(op, shorter);
  }
  root->walk(dropFlags);
}
