//===- DecomposeNorms.cpp - Norms written in core operations -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core.h"
#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Dialect/FuseOps/ScalarMath.h"

using namespace mlir;
using namespace mlir::fuseops;

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// gamma, or 1 + gamma.
static Value gammaFactor(ScalarMath &m, Value gamma, bool zeroCentered) {
  return zeroCentered ? m.add(m.constant(1.0), gamma) : gamma;
}

SmallVector<Value> RmsNormOp::decompose(OpBuilder &builder,
                                        ValueRange operands) {
  Value x = operands[0];
  Core core(*this, builder, operands);
  double n = getColumns(cast<RankedTensorType>(x.getType()));
  double eps = getEps().convertToDouble();
  Value square = core.pointwise(
      core.wide(x), x, [](ScalarMath &m, auto v) { return m.mul(v[0], v[0]); });
  Value rstd = core.pointwise(core.rowStat(x), core.sumColumns(square),
                              [&](ScalarMath &m, auto v) {
                                Value mean = m.div(v[0], m.constant(n));
                                return m.rsqrt(m.add(mean, m.constant(eps)));
                              });
  SmallVector<Value> inputs = {x, rstd};
  llvm::append_range(inputs, operands.drop_front());
  Value y =
      core.pointwise(getResult().getType(), inputs, [&](ScalarMath &m, auto v) {
        Value h = m.mul(v[0], v[1]);
        return getGamma()
                   ? m.mul(h, gammaFactor(m, v[2], getZeroCenteredGamma()))
                   : h;
      });
  return {y, rstd};
}

SmallVector<Value> L2NormOp::decompose(OpBuilder &builder,
                                       ValueRange operands) {
  Value x = operands[0];
  Core core(*this, builder, operands);
  double eps = getEps().convertToDouble();
  Value squares = core.pointwise(
      core.wide(x), x, [](ScalarMath &m, auto v) { return m.square(v[0]); });
  Value factor = core.pointwise(core.rowStat(x), core.sumColumns(squares),
                                [&](ScalarMath &m, auto v) {
                                  return m.rsqrt(m.add(v[0], m.constant(eps)));
                                });
  Value y =
      core.pointwise(getResult().getType(), {x, factor},
                     [](ScalarMath &m, auto v) { return m.mul(v[0], v[1]); });
  return {y, factor};
}

SmallVector<Value> LayerNormOp::decompose(OpBuilder &builder,
                                          ValueRange operands) {
  Value x = operands[0];
  Core core(*this, builder, operands);
  double n = getColumns(cast<RankedTensorType>(x.getType()));
  double eps = getEps().convertToDouble();
  Value wide = core.pointwise(core.wide(x), x,
                              [](ScalarMath &, auto v) { return v[0]; });
  Value mean = core.pointwise(
      core.rowStat(x), core.sumColumns(wide),
      [&](ScalarMath &m, auto v) { return m.div(v[0], m.constant(n)); });
  Value square =
      core.pointwise(core.wide(x), {x, mean}, [](ScalarMath &m, auto v) {
        Value d = m.sub(v[0], v[1]);
        return m.mul(d, d);
      });
  Value rstd = core.pointwise(
      core.rowStat(x), core.sumColumns(square), [&](ScalarMath &m, auto v) {
        Value variance = m.div(v[0], m.constant(n));
        return m.rsqrt(m.add(variance, m.constant(eps)));
      });
  SmallVector<Value> inputs = {x, mean, rstd};
  llvm::append_range(inputs, operands.drop_front());
  Value y =
      core.pointwise(getResult().getType(), inputs, [&](ScalarMath &m, auto v) {
        Value h = m.mul(m.sub(v[0], v[1]), v[2]);
        unsigned next = 3;
        if (getGamma())
          h = m.mul(h, gammaFactor(m, v[next++], getZeroCenteredGamma()));
        return getBeta() ? m.add(h, v[next]) : h;
      });
  return {y, mean, rstd};
}

/// Both norm gradients: `mean` is null for rms_norm.
static SmallVector<Value> decomposeNormGrad(Operation *op, OpBuilder &builder,
                                            ValueRange operands, Value gradient,
                                            Value x, Value mean, Value rstd,
                                            Value gamma, bool zeroCentered) {
  Core core(op, builder, operands);
  double n = getColumns(cast<RankedTensorType>(x.getType()));
  // h is the normalized input, g the gradient that it gets.
  SmallVector<Value> inputs = {x, rstd};
  if (mean)
    inputs.push_back(mean);
  Value h = core.pointwise(core.wide(x), inputs, [&](ScalarMath &m, auto v) {
    return m.mul(mean ? m.sub(v[0], v[2]) : v[0], v[1]);
  });
  inputs = {gradient};
  if (gamma)
    inputs.push_back(gamma);
  Value g = core.pointwise(core.wide(x), inputs, [&](ScalarMath &m, auto v) {
    return gamma ? m.mul(v[0], gammaFactor(m, v[1], zeroCentered)) : v[0];
  });
  auto product = [](ScalarMath &m, ArrayRef<Value> v) {
    return m.mul(v[0], v[1]);
  };
  // Divided once a row, not once an element.
  auto meanOf = [&](Value value) {
    return core.pointwise(
        core.rowStat(x), core.sumColumns(value),
        [&](ScalarMath &m, auto v) { return m.div(v[0], m.constant(n)); });
  };
  inputs = {g, h, rstd, meanOf(core.pointwise(core.wide(x), {g, h}, product))};
  if (mean)
    inputs.push_back(meanOf(g));
  SmallVector<Value> results = {core.pointwise(
      op->getResult(0).getType(), inputs, [&](ScalarMath &m, auto v) {
        Value d = m.sub(v[0], m.mul(v[1], v[3]));
        if (mean)
          d = m.sub(d, v[4]);
        return m.mul(v[2], d);
      })};
  if (gamma)
    results.push_back(ReduceRowsOp::create(
        builder, op->getLoc(), op->getResult(1).getType(),
        core.pointwise(core.wide(x), {gradient, h}, product),
        ReductionKind::Sum));
  return results;
}

SmallVector<Value> RmsNormGradOp::decompose(OpBuilder &builder,
                                            ValueRange operands) {
  return decomposeNormGrad(
      *this, builder, operands, operands[0], operands[1], Value(), operands[2],
      getGamma() ? operands[3] : Value(), getZeroCenteredGamma());
}
SmallVector<Value> LayerNormGradOp::decompose(OpBuilder &builder,
                                              ValueRange operands) {
  return decomposeNormGrad(
      *this, builder, operands, operands[0], operands[1], operands[2],
      operands[3], getGamma() ? operands[4] : Value(), getZeroCenteredGamma());
}
