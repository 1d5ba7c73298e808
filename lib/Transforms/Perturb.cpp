//===- Perturb.cpp - Add the noise of one rounding to every value --------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Transforms/Passes.h"

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
  Perturber(MLIRContext *context, uint64_t seed)
      : builder(context), random(seed) {}

  void decompose(Block &block);
  void perturb(Block &block);

private:
  Value addNoise(OpBuilder &b, Location loc, Value x, double roundoff);
  Value perturbTensor(Value value, FloatType rounded);
  void perturbBody(PointwiseOp pointwise);

  OpBuilder builder;
  std::mt19937_64 random;
};

} // namespace

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
    for (auto [part, result] : llvm::zip(parts, op.getResults())) {
      Type from = getElementTypeOrSelf(part), to = getElementTypeOrSelf(result);
      if (from != to)
        part = PointwiseOp::build(
                   builder, op.getLoc(), result.getType(), part,
                   [=](OpBuilder &b, Location loc, ValueRange scalars) {
                     return SmallVector<Value>{
                         convertElement(b, loc, scalars[0], from, to)};
                   })
                   .getResult(0);
    }
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

/// `x * (1 + roundoff * sin(frequency * i + start))` for the element at index
/// i, with a frequency and a start of its own.
Value Perturber::addNoise(OpBuilder &b, Location loc, Value x,
                          double roundoff) {
  // No rational of pi: each element draws another number.
  std::uniform_real_distribution<double> draw(1, 2);
  double frequency = draw(random), start = draw(random) * 3;
  auto constant = [&](double number) -> Value {
    return arith::ConstantOp::create(b, loc,
                                     b.getFloatAttr(x.getType(), number));
  };
  Value index = LinearIndexOp::create(b, loc, b.getI64Type());
  Value position = arith::SIToFPOp::create(b, loc, x.getType(), index);
  Value phase = math::FmaOp::create(b, loc, position, constant(frequency),
                                    constant(start));
  Value noise = arith::MulFOp::create(
      b, loc, math::SinOp::create(b, loc, phase), constant(roundoff));
  // A factor, and no summand, so that an infinity stays one.
  return arith::MulFOp::create(
      b, loc, x, arith::AddFOp::create(b, loc, constant(1), noise));
}

/// The tensor with the noise of a rounding to `rounded`; itself where it holds
/// no floats, or FP8 data, which keep their values.
Value Perturber::perturbTensor(Value value, FloatType rounded) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !isa<FloatType>(type.getElementType()) ||
      type.getElementTypeBitWidth() < 16)
    return value;
  double roundoff = getRoundoff(rounded ? rounded : type.getElementType());
  return PointwiseOp::build(builder, value.getLoc(), type, value,
                            [&](OpBuilder &b, Location loc,
                                ValueRange scalars) -> SmallVector<Value> {
                              return {addNoise(b, loc, scalars[0], roundoff)};
                            })
      .getResult(0);
}

/// Each scalar operation that rounds gets noise. Those that only choose or
/// negate don't round, nor do conversions from integers of ordinary size.
void Perturber::perturbBody(PointwiseOp pointwise) {
  Block &body = pointwise.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    if (op.getNumResults() != 1 || !isa<FloatType>(op.getResult(0).getType()) ||
        isa<arith::ConstantOp, arith::NegFOp, arith::SelectOp, arith::ExtFOp,
            arith::TruncFOp, arith::MaximumFOp, arith::MinimumFOp,
            arith::MaxNumFOp, arith::MinNumFOp, arith::SIToFPOp,
            arith::UIToFPOp, arith::BitcastOp, math::AbsFOp, math::CopySignOp,
            math::FloorOp, math::CeilOp, math::TruncOp, math::RoundEvenOp>(op))
      continue;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(&op);
    Value exact = op.getResult(0);
    Value noisy = addNoise(builder, op.getLoc(), exact,
                           getErrorFactor(op) * getRoundoff(exact.getType()));
    // What makes the noise reads the value as it was.
    llvm::SmallPtrSet<Operation *, 8> made;
    made.insert(noisy.getDefiningOp());
    for (Operation *next = op.getNextNode(); next != noisy.getDefiningOp();
         next = next->getNextNode())
      made.insert(next);
    exact.replaceAllUsesExcept(noisy, made);
  }
}

/// Whether an operation sums up terms, which rounds.
static bool isSum(Operation &op) {
  if (auto reduce = dyn_cast<ReduceRowsOp>(op))
    return reduce.getKind() == ReductionKind::Sum;
  if (auto reduce = dyn_cast<ReduceColumnsOp>(op))
    return reduce.getKind() == ReductionKind::Sum;
  return isa<MatmulOp, LinearOp>(op);
}

void Perturber::perturb(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    auto pointwise = dyn_cast<PointwiseOp>(op);
    if (pointwise)
      perturbBody(pointwise);
    else if (!isSum(op))
      continue;
    // The roundings of an accumulation are at most those of its terms.
    if (isSum(op)) {
      builder.setInsertionPoint(&op);
      Value input = op.getOperand(0);
      if (auto element = dyn_cast<FloatType>(getElementTypeOrSelf(input)))
        op.setOperand(
            0, perturbTensor(input, cast<FloatType>(getComputeType(element))));
    }
    builder.setInsertionPointAfter(&op);
    for (Value value : op.getResults()) {
      // The last scalar of a body has this noise already.
      Type element = getElementTypeOrSelf(value);
      if (pointwise && getComputeType(element) == element)
        continue;
      Value noisy = perturbTensor(value, FloatType());
      if (noisy != value)
        value.replaceAllUsesExcept(noisy, noisy.getDefiningOp());
    }
  }
}

void PerturbPass::runOnOperation() {
  Perturber perturber(&getContext(), seed);
  for (Region *region :
       {&getOperation().getForward(), &getOperation().getBackward()})
    for (Block &block : *region) {
      perturber.decompose(block);
      perturber.perturb(block);
    }
}
