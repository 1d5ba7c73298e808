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

/// `compute_scale` on scalars, in f32 whatever the program computes in: the
/// rules fp8_s1 to fp8_s3 are about f32 numbers.
static Value scaleFromAmax(OpBuilder &b, Location l, Value amax, Type format,
                           bool powerOfTwo) {
  ScalarMath m(b, l, b.getF32Type());
  amax = m.convert(amax);
  Value infinity = m.constant(std::numeric_limits<double>::infinity());
  Value zero = m.constant(0.0);
  Value scale = m.div(m.constant(maxValue(format)), amax);
  Value largest = m.constant(std::numeric_limits<float>::max());
  Value overflows =
      arith::CmpFOp::create(b, l, arith::CmpFPredicate::OEQ, scale, infinity);
  scale = arith::SelectOp::create(b, l, overflows, largest, scale); // fp8_s2
  if (powerOfTwo) {                                                 // fp8_s3
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
                                 m.constant(1.0)); // fp8_s1
}

SmallVector<Value> ComputeScaleOp::decompose(OpBuilder &builder,
                                             ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [&](ScalarMath &m, auto v) {
                return m.convert(scaleFromAmax(m.builder, m.loc, v[0],
                                               getFormat(), getPowerOfTwo()));
              })};
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
          return m.convert(scaleFromAmax(m.builder, m.loc, v[0],
                                         type.getElementType(), false));
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
