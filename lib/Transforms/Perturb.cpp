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

} // namespace

/// `x + x * (u * sin(frequency * i))` for the element x at linear index i, with
/// the unit roundoff u of the element type.
static PointwiseOp perturb(OpBuilder &builder, Value value, double frequency) {
  auto element =
      cast<FloatType>(cast<RankedTensorType>(value.getType()).getElementType());
  double roundoff =
      std::ldexp(1.0, -static_cast<int>(element.getFPMantissaWidth()));
  return PointwiseOp::build(
      builder, value.getLoc(), value.getType(), value,
      [=](OpBuilder &b, Location loc,
          ValueRange scalars) -> SmallVector<Value> {
        Value x = scalars.front();
        auto constant = [&](double number) -> Value {
          return arith::ConstantOp::create(b, loc,
                                           b.getFloatAttr(x.getType(), number));
        };
        Value index = LinearIndexOp::create(b, loc, b.getI64Type());
        Value phase = arith::MulFOp::create(
            b, loc, arith::SIToFPOp::create(b, loc, x.getType(), index),
            constant(frequency));
        Value noise = arith::MulFOp::create(
            b, loc, math::SinOp::create(b, loc, phase), constant(roundoff));
        return {arith::AddFOp::create(b, loc, x,
                                      arith::MulFOp::create(b, loc, x, noise))};
      });
}

void PerturbPass::runOnOperation() {
  std::mt19937_64 random(seed);
  // Not a multiple of pi: each element draws another number.
  std::uniform_real_distribution<double> draw(1.0, 2.0);
  OpBuilder builder(&getContext());
  for (Region *region :
       {&getOperation().getForward(), &getOperation().getBackward()})
    for (Block &block : *region)
      for (Operation &op :
           llvm::make_early_inc_range(block.without_terminator())) {
        builder.setInsertionPointAfter(&op);
        for (Value value : op.getResults()) {
          auto type = dyn_cast<RankedTensorType>(value.getType());
          // FP8 data keep their values: a quantize is a rounding by itself.
          if (!type || !isa<FloatType>(type.getElementType()) ||
              type.getElementTypeBitWidth() < 16 ||
              op.hasTrait<OpTrait::ConstantLike>())
            continue;
          PointwiseOp noisy = perturb(builder, value, draw(random));
          value.replaceAllUsesExcept(noisy.getResult(0), noisy);
        }
      }
}
