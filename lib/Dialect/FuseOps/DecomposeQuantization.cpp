//===- DecomposeQuantization.cpp - Quantization written in core operations ===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core.h"
#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "FuseOps/Dialect/FuseOps/ScalarMath.h"
#include "llvm/ADT/APFloat.h"

#include <limits>

using namespace mlir;
using namespace mlir::fuseops;

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

static double maxValue(Type format) {
  return APFloat::getLargest(cast<FloatType>(format).getFloatSemantics())
      .convertToDouble();
}

/// The largest magnitude of each row; 0 of no elements.
static Value rowAmax(Core &core, Value x) {
  RankedTensorType type = core.rowStat(x);
  if (getColumns(core.wide(x)) == 0)
    return zeros(core.builder, core.loc, type);
  Value magnitude = core.pointwise(
      core.wide(x), x, [](ScalarMath &m, auto v) { return m.abs(v[0]); });
  return ReduceColumnsOp::create(core.builder, core.loc, type, magnitude,
                                 ReductionKind::Max);
}

SmallVector<Value> AmaxOp::decompose(OpBuilder &builder, ValueRange operands) {
  Core core(*this, builder, operands);
  if (getNumElements(core.wide(operands[0])) == Extent())
    return {zeros(builder, getLoc(), getType())};
  Value rows = rowAmax(core, operands[0]);
  Value all = ReduceRowsOp::create(builder, getLoc(),
                                   RankedTensorType::get({}, core.type), rows,
                                   ReductionKind::Max);
  // Of no elements the maximum is -inf, and amax is 0.
  return {core.pointwise(getType(), all, [](ScalarMath &m, auto v) {
    return m.maximum(v[0], m.constant(0.0));
  })};
}

namespace {
/// How a scale comes from an amax.
struct ScaleRule {
  double numerator; ///< the format's largest value, less the margin
  bool powerOfTwo = false;
  double epsilon = 0.0;
};
} // namespace

/// The scale of an amax, on scalars, in f32 whatever the program computes in:
/// the rules are about f32 numbers. `otherwise` is the scale where the amax
/// gives none.
static Value scaleFromAmax(ScalarMath &wide, Value amax, ScaleRule rule,
                           Value otherwise) {
  OpBuilder &b = wide.builder;
  Location l = wide.loc;
  ScalarMath m(b, l, b.getF32Type());
  amax = m.convert(amax);
  if (rule.epsilon > 0.0)
    amax = m.maximum(amax, m.constant(rule.epsilon)); // fp8_s4
  Value infinity = m.constant(std::numeric_limits<double>::infinity());
  Value zero = m.constant(0.0);
  Value scale = m.div(m.constant(rule.numerator), amax);
  Value largest = m.constant(std::numeric_limits<float>::max());
  Value overflows =
      arith::CmpFOp::create(b, l, arith::CmpFPredicate::OEQ, scale, infinity);
  scale = arith::SelectOp::create(b, l, overflows, largest, scale); // fp8_s2
  if (rule.powerOfTwo) {                                            // fp8_s3
    Value bits = arith::BitcastOp::create(b, l, b.getI32Type(), scale);
    Value mask = arith::ConstantOp::create(
        b, l, b.getI32IntegerAttr(static_cast<int32_t>(0xFF800000u)));
    bits = arith::AndIOp::create(b, l, bits, mask);
    scale = arith::BitcastOp::create(b, l, b.getF32Type(), bits);
  }
  Value isPositive =
      arith::CmpFOp::create(b, l, arith::CmpFPredicate::OGT, amax, zero);
  Value isFinite =
      arith::CmpFOp::create(b, l, arith::CmpFPredicate::OLT, amax, infinity);
  Value isUsable = arith::AndIOp::create(b, l, isPositive, isFinite);
  return arith::SelectOp::create(b, l, isUsable, scale,
                                 m.convert(otherwise)); // fp8_s1, fp8_h3
}

SmallVector<Value> ComputeScaleOp::decompose(OpBuilder &builder,
                                             ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [&](ScalarMath &m, auto v) {
                ScaleRule rule{maxValue(getFormat()), getPowerOfTwo(),
                               getEpsilon().convertToDouble()};
                return m.convert(scaleFromAmax(m, v[0], rule, m.constant(1.0)));
              })};
}

SmallVector<Value> UpdateScaleOp::decompose(OpBuilder &builder,
                                            ValueRange operands) {
  Core core(*this, builder, operands);
  auto historyType = cast<RankedTensorType>(operands[1].getType());
  int64_t calls = historyType.getDimSize(0),
          tensors = historyType.getDimSize(1);
  auto rows = [&](int64_t count) {
    return RankedTensorType::get({count, tensors}, builder.getF32Type());
  };
  // fp8_h1: the oldest amax leaves, this call's enters.
  Value newest = ReshapeOp::create(builder, getLoc(), rows(1), operands[2]);
  Value history = newest;
  if (calls > 1) {
    Value kept = SliceOp::create(builder, getLoc(), rows(calls - 1),
                                 operands[1], /*dim=*/0, /*offset=*/1);
    history = ConcatOp::create(builder, getLoc(), historyType,
                               ValueRange{kept, newest}, /*dim=*/0);
  }
  // fp8_h2: the amax that the next scale comes from.
  Value amax = operands[2];
  if (!getMostRecent())
    amax = ReduceRowsOp::create(builder, getLoc(), amax.getType(), history,
                                ReductionKind::Max);
  double numerator = std::ldexp(maxValue(getFormat()), -getMargin());
  Value scale = core.pointwise(
      operands[0].getType(), {operands[0], amax}, [&](ScalarMath &m, auto v) {
        return m.convert(scaleFromAmax(m, v[1], {numerator}, v[0]));
      });
  return {scale, history};
}

SmallVector<Value> QuantizeOp::decompose(OpBuilder &builder,
                                         ValueRange operands) {
  QuantizedType type = getResult().getType();
  SmallVector<RankedTensorType> parts = type.getParts();
  Core core(*this, builder, operands);
  Value scale;
  if (type.getScale() == ScaleKind::PerTensor) {
    scale = operands[1];
  } else {
    Value amax = rowAmax(core, operands[0]);
    scale = core.pointwise(
        core.rowStat(operands[0]), amax, [&](ScalarMath &m, auto v) {
          ScaleRule rule{maxValue(type.getElementType()), getPowerOfTwo(),
                         getEpsilon().convertToDouble()};
          return m.convert(scaleFromAmax(m, v[0], rule, m.constant(1.0)));
        });
  }
  double largest = maxValue(type.getElementType());
  Value data = core.pointwise(
      parts[0], {operands[0], scale}, [&](ScalarMath &wide, auto v) {
        // The product is rounded to f32, then clamped, then rounded to FP8.
        ScalarMath m(wide.builder, wide.loc, wide.builder.getF32Type());
        Value product = m.convert(wide.mul(v[0], v[1]));
        return m.minimum(m.maximum(product, m.constant(-largest)), // fp8_r2
                         m.constant(largest));
      });
  Value inverse = core.pointwise(parts[1], scale, [](ScalarMath &wide, auto v) {
    ScalarMath m(wide.builder, wide.loc, wide.builder.getF32Type());
    return m.div(m.constant(1.0), m.convert(v[0]));
  });
  return {PackQuantizedOp::create(builder, getLoc(), type,
                                  ValueRange{data, inverse})};
}

SmallVector<Value> DequantizeOp::decompose(OpBuilder &builder,
                                           ValueRange operands) {
  QuantizedType type = getInput().getType();
  SmallVector<Type> partTypes(llvm::map_range(
      type.getParts(), [](RankedTensorType part) -> Type { return part; }));
  auto parts =
      UnpackQuantizedOp::create(builder, getLoc(), partTypes, operands[0]);
  Core core(*this, builder, parts.getResults());
  return {
      core.pointwise(getType(), {parts.getResult(0), parts.getResult(1)},
                     [](ScalarMath &m, auto v) { return m.mul(v[0], v[1]); })};
}
