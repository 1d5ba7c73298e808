//===- Perturb.cpp - Add the noise of one rounding to every value --------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Transforms/Passes.h"

#include "FuseOps/Dialect/FuseOps/Layout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <random>

#define DEBUG_TYPE "fuseops-perturb"

namespace mlir::fuseops {
#define GEN_PASS_DEF_PERTURBPASS
#include "FuseOps/Transforms/Passes.h.inc"
} // namespace mlir::fuseops

using namespace mlir;
using namespace mlir::fuseops;

namespace {

struct PerturbPass : mlir::fuseops::impl::PerturbPassBase<PerturbPass> {
  using Base::Base;

  void runOnOperation() override;
};

/// Where what rounds is, and with which noise.
class Perturber {
public:
  Perturber(MLIRContext *context, uint64_t seed, double magnitude,
            bool overflows)
      : builder(context), random(seed), magnitude(magnitude),
        overflows(overflows) {}

  void decompose(Block &block);
  void perturb(Block &block);

private:
  Value makeNoise(OpBuilder &b, Location loc, Value x);
  Value addNoise(OpBuilder &b, Location loc, Value x, Value noise,
                 double roundoff);
  Value limit(OpBuilder &b, Location loc, Value x, Type type);
  Value perturbTensor(Value value, double roundoff);
  void perturbBody(PointwiseOp pointwise);

  OpBuilder builder;
  std::mt19937_64 random;
  /// How many times as large as a rounding the noise is.
  double magnitude;
  /// Whether what a type cannot hold becomes infinite.
  bool overflows;
};

} // namespace

static Value makeConstant(OpBuilder &b, Location loc, Type type,
                          double number) {
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, number));
}

/// Replaces operations by core operations, whose roundings are seen.
void Perturber::decompose(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    auto fusible = dyn_cast<FusibleOpInterface>(op);
    auto isPlain = [](Type type) { return isa<RankedTensorType>(type); };
    // A cast is a rounding that stays one.
    if (!fusible || isa<PointwiseOp, CastOp>(op) ||
        !llvm::all_of(op.getOperandTypes(), isPlain) ||
        !llvm::all_of(op.getResultTypes(), isPlain))
      continue;
    builder.setInsertionPoint(&op);
    SmallVector<Value> parts = fusible.decompose(builder, op.getOperands());
    for (auto [part, result] : llvm::zip(parts, op.getResults()))
      part = broadcastTo(builder, op.getLoc(), part,
                         cast<RankedTensorType>(result.getType()));
    op.replaceAllUsesWith(parts);
    op.erase();
  }
}

static double getRoundoff(Type type) {
  return std::ldexp(
      1.0, -static_cast<int>(cast<FloatType>(type).getFPMantissaWidth()));
}

/// How far from the right number a scalar operation of this kind may be, in
/// roundoffs: elementary functions are right to a few units in the last place.
static double getErrorFactor(Operation &op) {
  if (isa<SpecialOp>(op))
    return 16;
  return isa<math::MathDialect>(op.getDialect()) &&
                 !isa<math::FmaOp, math::SqrtOp>(op)
             ? 8
             : 1;
}

/// A number between -1 and 1, drawn by the bits of x. Equal values get the
/// same, as they are rounded by the same amount: in a sum over them it does not
/// cancel.
Value Perturber::makeNoise(OpBuilder &b, Location loc, Value x) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  constexpr unsigned kBits = 20;
  // No rational of pi: each hash draws another number.
  std::uniform_real_distribution<double> draw(1, 2);
  double frequency = draw(random), start = draw(random) * 3;
  unsigned width = x.getType().getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(width);
  auto bits = [&](uint64_t number) -> Value {
    APInt value(64, number);
    return arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(integer, value.trunc(width)));
  };
  Value pattern = arith::BitcastOp::create(b, loc, integer, x);
  Value product = arith::MulIOp::create(b, loc, pattern, bits(kMultiplier));
  Value hash = arith::ShRUIOp::create(b, loc, product, bits(width - kBits));
  Value position = arith::SIToFPOp::create(b, loc, x.getType(), hash);
  auto constant = [&](double number) {
    return makeConstant(b, loc, x.getType(), number);
  };
  Value phase = math::FmaOp::create(b, loc, position, constant(frequency),
                                    constant(start));
  return math::SinOp::create(b, loc, phase);
}

/// `x * (1 + magnitude * roundoff * noise)`.
Value Perturber::addNoise(OpBuilder &b, Location loc, Value x, Value noise,
                          double roundoff) {
  auto constant = [&](double number) {
    return makeConstant(b, loc, x.getType(), number);
  };
  Value change =
      arith::MulFOp::create(b, loc, noise, constant(magnitude * roundoff));
  // A factor, and no summand, so that an infinity stays one.
  return arith::MulFOp::create(
      b, loc, x, arith::AddFOp::create(b, loc, constant(1), change));
}

/// `x`, or an infinity of its sign where it is past what `type` holds, as it is
/// where a kernel has it in that type: the reference has f64 in its place.
Value Perturber::limit(OpBuilder &b, Location loc, Value x, Type type) {
  if (!overflows)
    return x;
  auto constant = [&](double number) {
    return makeConstant(b, loc, x.getType(), number);
  };
  double largest =
      APFloat::getLargest(cast<FloatType>(type).getFloatSemantics())
          .convertToDouble();
  Value size = math::AbsFOp::create(b, loc, x);
  Value isPast = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, size,
                                       constant(largest));
  Value infinity = math::CopySignOp::create(
      b, loc, constant(std::numeric_limits<double>::infinity()), x);
  return arith::SelectOp::create(b, loc, isPast, infinity, x);
}

/// The tensor with noise; itself where it holds no floats, or FP8 data, which
/// keep their values. f16 has few exponents: what is not 0 is rounded by up to
/// half of its least number too.
Value Perturber::perturbTensor(Value value, double roundoff) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !isa<FloatType>(type.getElementType()) ||
      type.getElementTypeBitWidth() < 16)
    return value;
  auto body = [&](OpBuilder &b, Location loc,
                  ValueRange scalars) -> SmallVector<Value> {
    Value x = scalars[0], noise = makeNoise(b, loc, x);
    Value noisy = addNoise(b, loc, x, noise, roundoff);
    Type element = type.getElementType();
    if (!element.isF16())
      return {limit(b, loc, noisy, element)};
    auto constant = [&](double number) {
      return makeConstant(b, loc, x.getType(), number);
    };
    Value moved = math::FmaOp::create(
        b, loc, noise, constant(std::ldexp(magnitude, -25)), noisy);
    Value isZero = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x,
                                         constant(0));
    return {limit(b, loc, arith::SelectOp::create(b, loc, isZero, x, moved),
                  element)};
  };
  return PointwiseOp::build(builder, value.getLoc(), type, value, body)
      .getResult(0);
}

/// Each scalar operation that rounds gets noise. Those that only choose or
/// negate don't round, nor do conversions from integers of ordinary size.
void Perturber::perturbBody(PointwiseOp pointwise) {
  Block &body = pointwise.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    if (op.getNumResults() != 1 || !isa<FloatType>(op.getResult(0).getType()) ||
        isa<arith::ConstantOp, arith::NegFOp, arith::SelectOp, arith::ExtFOp,
            arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
            arith::MinNumFOp, arith::SIToFPOp, arith::UIToFPOp,
            arith::BitcastOp, math::AbsFOp, math::CopySignOp, math::FloorOp,
            math::CeilOp, math::TruncOp, math::RoundEvenOp>(op))
      continue;
    // The reference keeps roundings to fewer bits than f32's.
    if (isa<arith::TruncFOp>(op) && !op.getResult(0).getType().isF32())
      continue;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(&op);
    Value exact = op.getResult(0);
    Value noise = makeNoise(builder, op.getLoc(), exact);
    Value noisy = addNoise(builder, op.getLoc(), exact, noise,
                           getErrorFactor(op) * getRoundoff(exact.getType()));
    noisy = limit(builder, op.getLoc(), noisy, exact.getType());
    // What makes the noise reads the value as it was.
    llvm::SmallPtrSet<Operation *, 8> made;
    made.insert(noisy.getDefiningOp());
    for (Operation *next = op.getNextNode(); next != noisy.getDefiningOp();
         next = next->getNextNode())
      made.insert(next);
    exact.replaceAllUsesExcept(noisy, made);
  }
}

/// How many terms, elements of its first operand or products with elements of
/// its second one, an operation sums up for an element of its result; none if
/// it sums up nothing. A symbol counts as `kSymbol`.
static std::optional<double> countTerms(Operation &op) {
  constexpr int64_t kSymbol = 32;
  auto type = op.getNumOperands() == 0
                  ? RankedTensorType()
                  : dyn_cast<RankedTensorType>(op.getOperand(0).getType());
  if (!type)
    return std::nullopt;
  auto getRows = [&]() -> int64_t {
    Extent rows = getNumElements(type, 1);
    return rows.constant + rows.getGrowth() * kSymbol / 128;
  };
  if (auto reduce = dyn_cast<ReduceRowsOp>(op);
      reduce && reduce.getKind() == ReductionKind::Sum)
    return getRows();
  if (auto reduce = dyn_cast<ReduceColumnsOp>(op);
      reduce && reduce.getKind() == ReductionKind::Sum)
    return getColumns(type);
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return matmul.getTransposeLhs() ? getRows() : getColumns(type);
  if (auto matmul = dyn_cast<GroupedMatmulOp>(op))
    return matmul.getTransposeLhs() ? getRows() : getColumns(type);
  if (isa<LinearOp, GroupedLinearOp>(op))
    return getColumns(type);
  return std::nullopt;
}

void Perturber::perturb(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    auto pointwise = dyn_cast<PointwiseOp>(op);
    if (pointwise)
      perturbBody(pointwise);
    std::optional<double> terms = countTerms(op);
    if (!pointwise && !terms)
      continue;
    // Each step of an accumulation rounds the sum so far, which is as large as
    // the square root of its number of terms is times one of them, or, where
    // all have one sign, as the result.
    double steps = std::sqrt(std::max(terms.value_or(1), 1.0));
    if (terms) {
      builder.setInsertionPoint(&op);
      // Of both factors: where those of one are equal, so is their noise, and
      // what of it the sum keeps is as small as the sum.
      bool isProduct = !isa<ReduceRowsOp, ReduceColumnsOp>(op);
      for (OpOperand &operand : op.getOpOperands().take_front(1 + isProduct)) {
        Value input = operand.get();
        // FP8 has no room for noise.
        if (auto element = dyn_cast<FloatType>(getElementTypeOrSelf(input));
            element && element.getWidth() > 8)
          operand.set(perturbTensor(
              input, steps * getRoundoff(getComputeType(element))));
      }
    }
    builder.setInsertionPointAfter(&op);
    for (Value value : op.getResults()) {
      // The last scalar of a body has this noise already.
      Type element = getElementTypeOrSelf(value);
      if (pointwise && getComputeType(element) == element)
        continue;
      if (!isa<FloatType>(element))
        continue;
      Value noisy = perturbTensor(
          value, std::max(getRoundoff(element),
                          steps * getRoundoff(getComputeType(element))));
      if (noisy != value)
        value.replaceAllUsesExcept(noisy, noisy.getDefiningOp());
    }
  }
}

void PerturbPass::runOnOperation() {
  Perturber perturber(&getContext(), seed, magnitude, overflows);
  for (Region *region :
       {&getOperation().getForward(), &getOperation().getBackward()})
    for (Block &block : *region) {
      perturber.decompose(block);
      perturber.perturb(block);
    }
}
