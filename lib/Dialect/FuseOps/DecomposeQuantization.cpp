//===- DecomposeQuantization.cpp - Quantization written in core operations ===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core.h"
#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "ScaleRules.h"

using namespace mlir;
using namespace mlir::fuseops;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// f32 scalars in the body of a pointwise operation.
static ScalarMath inF32(ScalarMath &m) {
  return ScalarMath(m.builder, m.loc, m.builder.getF32Type());
}

static Value magnitude(Core &core, Value x) {
  return core.pointwise(core.wide(x), x,
                        [](ScalarMath &m, auto v) { return m.abs(v[0]); });
}

//===----------------------------------------------------------------------===//
// Amax and scales
//===----------------------------------------------------------------------===//

/// The largest magnitude of each row, or of each column; 0 of no elements.
static Value reduceAmax(Core &core, Value x, bool ofColumns) {
  RankedTensorType type =
      ofColumns ? RankedTensorType::get({getColumns(core.wide(x))}, core.type)
                : core.rowStat(x);
  // fp8_a3: what has no elements is not reduced.
  bool isEmpty = ofColumns ? getNumElements(core.wide(x), 1) == Extent()
                           : getColumns(core.wide(x)) == 0;
  if (isEmpty)
    return zeros(core.builder, core.loc, type);
  if (ofColumns)
    return ReduceRowsOp::create(core.builder, core.loc, type,
                                magnitude(core, x), ReductionKind::Max);
  return ReduceColumnsOp::create(core.builder, core.loc, type,
                                 magnitude(core, x), ReductionKind::Max);
}

SmallVector<Value> AmaxOp::decompose(OpBuilder &builder, ValueRange operands) {
  Core core(*this, builder, operands);
  if (getNumElements(core.wide(operands[0])) == Extent())
    return {zeros(builder, getLoc(), getType())};
  // fp8_a1, fp8_a2: before any rounding to FP8, and NaN stays.
  Value rows = reduceAmax(core, operands[0], /*ofColumns=*/false);
  Value all = ReduceRowsOp::create(builder, getLoc(),
                                   RankedTensorType::get({}, core.type), rows,
                                   ReductionKind::Max);
  // Of no elements the maximum is -inf, and amax is 0.
  return {core.pointwise(getType(), all, [](ScalarMath &m, auto v) {
    return m.maximum(v[0], m.constant(0.0));
  })};
}

SmallVector<Value> ComputeScaleOp::decompose(OpBuilder &builder,
                                             ValueRange operands) {
  ScaleRule rule{getMaxValue(getFormat()), getPowerOfTwo(),
                 getEpsilon().convertToDouble()};
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [&](ScalarMath &m, auto v) {
                ScalarMath f32 = inF32(m);
                return m.convert(buildScale(f32, f32.convert(v[0]), rule,
                                            f32.constant(1.0)));
              })};
}

SmallVector<Value> UpdateScaleOp::decompose(OpBuilder &builder,
                                            ValueRange operands) {
  Core core(*this, builder, operands);
  RankedTensorType historyType = tensorType(operands[1]);
  int64_t calls = historyType.getDimSize(0),
          tensors = historyType.getDimSize(1);
  auto rows = [&](int64_t count) {
    return RankedTensorType::get({count, tensors},
                                 historyType.getElementType());
  };
  // fp8_h1: the oldest amax leaves, this call's enters.
  Value amax = operands[2];
  Value history = ReshapeOp::create(builder, getLoc(), rows(1), amax);
  if (calls > 1) {
    Value kept = SliceOp::create(builder, getLoc(), rows(calls - 1),
                                 operands[1], /*dim=*/0, /*offset=*/1);
    history = ConcatOp::create(builder, getLoc(), historyType,
                               ValueRange{kept, history}, /*dim=*/0);
    // fp8_h2: the amax that the next scale comes from.
    if (!getMostRecent()) {
      Value past = ReduceRowsOp::create(builder, getLoc(), amax.getType(), kept,
                                        ReductionKind::Max);
      amax = core.pointwise(
          amax.getType(), {past, amax},
          [](ScalarMath &m, auto v) { return m.maximum(v[0], v[1]); });
    }
  }
  ScaleRule rule{std::ldexp(getMaxValue(getFormat()), -getMargin())};
  Value scale = core.pointwise(
      operands[0].getType(), {operands[0], amax}, [&](ScalarMath &m, auto v) {
        ScalarMath f32 = inF32(m);
        return m.convert(
            buildScale(f32, f32.convert(v[1]), rule, f32.convert(v[0])));
      });
  return {scale, history};
}

//===----------------------------------------------------------------------===//
// Quantize
//===----------------------------------------------------------------------===//

/// The rows and columns of `input` that one scale of a copy covers, for scales
/// of blocks.
static std::pair<int64_t, int64_t> getBlock(ScaleKind scale,
                                            bool isTransposed) {
  if (scale == ScaleKind::Block128x128)
    return {128, 128};
  int64_t size = scale == ScaleKind::MX1x32 ? 32 : 128;
  return isTransposed ? std::pair(size, int64_t(1))
                      : std::pair(int64_t(1), size);
}

/// Whether the transposed copy has the scales of the row copy.
static bool sharesScales(ScaleKind scale) {
  return scale == ScaleKind::PerTensor || scale == ScaleKind::Block128x128;
}

/// Whether scale_inv of a copy, whose scales are of blocks, is the transpose of
/// the blocks of `input`.
static bool liesTransposed(ScaleKind scale, bool isTransposed) {
  return isTransposed != (scale == ScaleKind::Block1x128);
}

namespace {
/// Writes a `quantize` in core operations.
class QuantizeBuilder {
public:
  QuantizeBuilder(QuantizeOp op, OpBuilder &builder, ValueRange operands)
      : op(op), type(op.getResult().getType()), core(op, builder, operands),
        input(operands[0]) {
    if (operands.size() > 1)
      given = operands[1];
  }

  Value build();

private:
  /// What multiplies the elements, and scale_inv, both with one element for
  /// each of the scales, in the order of `input`.
  struct Scales {
    Value multiplier, inverse;
  };
  /// One copy, in the order of `input`.
  struct Copy {
    Value data, inverse;
  };

  Copy buildCopy(bool isTransposed);
  Scales buildScales(bool isTransposed);
  Value buildAmax(bool isTransposed);
  Value layOut(Value inverse, RankedTensorType part, bool isTransposed);
  Value transpose(Value value) {
    return permute(core.builder, core.loc, value, {1, 0});
  }
  bool isBlock() const {
    return type.getScale() != ScaleKind::PerTensor &&
           type.getScale() != ScaleKind::PerRow;
  }

  QuantizeOp op;
  QuantizedType type;
  Core core;
  Value input, given;
};
} // namespace

Value QuantizeBuilder::buildAmax(bool isTransposed) {
  if (!isBlock())
    return reduceAmax(core, input, /*ofColumns=*/isTransposed);
  auto [rows, columns] = getBlock(type.getScale(), isTransposed);
  // fp8_t1: the last block is what is left.
  return ReduceBlocksOp::create(
      core.builder, core.loc,
      getBlocksType(tensorType(input), rows, columns, core.type),
      magnitude(core, input), rows, columns);
}

QuantizeBuilder::Scales QuantizeBuilder::buildScales(bool isTransposed) {
  Type f32 = core.builder.getF32Type();
  Type format = type.getElementType();
  auto invert = [&](Value scale, bool isPower) {
    return core.pointwise(tensorType(scale).clone(f32), scale,
                          [&](ScalarMath &m, auto v) { // fp8_s6
                            ScalarMath f = inF32(m);
                            Value number = f.convert(v[0]);
                            return m.convert(isPower
                                                 ? buildPowerInverse(f, number)
                                                 : f.reciprocal(number));
                          });
  };
  if (given)
    return {given, invert(given, /*isPower=*/false)};
  Value amax = buildAmax(isTransposed);
  RankedTensorType grid = tensorType(amax).clone(f32);
  if (type.getScale() == ScaleKind::MX1x32) {
    auto buildInverse = [&](ScalarMath &m, Value a) {
      ScalarMath f = inF32(m);
      return buildMXScaleInverse(f, f.convert(a), format);
    };
    Value inverse =
        core.pointwise(grid.clone(Float8E8M0FNUType::get(f32.getContext())),
                       amax, [&](ScalarMath &m, auto v) {
                         return m.convert(buildInverse(m, v[0]));
                       });
    Value multiplier = core.pointwise(grid, amax, [&](ScalarMath &m, auto v) {
      return m.convert(inF32(m).reciprocal(buildInverse(m, v[0])));
    });
    return {multiplier, inverse};
  }
  ScaleRule rule{getMaxValue(format), op.getPowerOfTwo(),
                 op.getEpsilon().convertToDouble()};
  Value scale = core.pointwise(grid, amax, [&](ScalarMath &m, auto v) {
    ScalarMath f = inF32(m);
    return m.convert(buildScale(f, f.convert(v[0]), rule, f.constant(1.0)));
  });
  return {scale, invert(scale, op.getPowerOfTwo())};
}

QuantizeBuilder::Copy QuantizeBuilder::buildCopy(bool isTransposed) {
  Scales scales = buildScales(isTransposed);
  Value multiplier = scales.multiplier;
  if (isBlock()) {
    auto [rows, columns] = getBlock(type.getScale(), isTransposed);
    multiplier = ExpandBlocksOp::create(
        core.builder, core.loc,
        tensorType(input).clone(tensorType(multiplier).getElementType()),
        multiplier, rows, columns);
  }
  Type format = type.getElementType();
  Value data = core.pointwise(
      type.getTensorType(format), {input, multiplier},
      [&](ScalarMath &m, auto v) { // fp8_r1
        ScalarMath f = inF32(m);
        return m.convert(buildClamp(f, f.convert(m.mul(v[0], v[1])), format));
      });
  return {data, scales.inverse};
}

/// The scales as the consumer reads them.
Value QuantizeBuilder::layOut(Value inverse, RankedTensorType part,
                              bool isTransposed) {
  if (!isBlock()) // A column's scale is a row's of the transposed copy.
    return reshapeTo(core.builder, core.loc, inverse, part.getShape());
  if (liesTransposed(type.getScale(), isTransposed)) // fp8_c2
    inverse = transpose(inverse);
  RankedTensorType own = tensorType(inverse);
  if (own == part)
    return inverse;
  int64_t padding = part.getDimSize(1) - own.getDimSize(1); // fp8_t3
  Value rest = zeros(core.builder, core.loc,
                     withColumns(own, padding, own.getElementType()));
  return ConcatOp::create(core.builder, core.loc, part,
                          ValueRange{inverse, rest}, /*dim=*/1);
}

Value QuantizeBuilder::build() {
  SmallVector<RankedTensorType> partTypes = type.getParts();
  SmallVector<Value> parts;
  Copy row;
  if (type.hasRowCopy()) {
    row = buildCopy(/*isTransposed=*/false);
    parts = {row.data, layOut(row.inverse, partTypes[1], false)};
  }
  if (type.hasColCopy()) { // fp8_c1
    bool isShared = row.data && sharesScales(type.getScale());
    Copy col = isShared ? row : buildCopy(/*isTransposed=*/true);
    parts.push_back(transpose(col.data));
    parts.push_back(layOut(col.inverse, partTypes.back(), true));
  }
  return PackQuantizedOp::create(core.builder, core.loc, type, parts);
}

SmallVector<Value> QuantizeOp::decompose(OpBuilder &builder,
                                         ValueRange operands) {
  return {QuantizeBuilder(*this, builder, operands).build()};
}

//===----------------------------------------------------------------------===//
// Dequantize
//===----------------------------------------------------------------------===//

SmallVector<Value> DequantizeOp::decompose(OpBuilder &builder,
                                           ValueRange operands) {
  QuantizedType type = getInput().getType();
  Location loc = getLoc();
  SmallVector<Type> partTypes(llvm::map_range(
      type.getParts(), [](RankedTensorType part) -> Type { return part; }));
  auto parts = UnpackQuantizedOp::create(builder, loc, partTypes, operands[0]);
  Core core(*this, builder, parts.getResults());
  // fp8_c3: the row copy where there is one.
  bool isTransposed = !type.hasRowCopy();
  Value data = parts.getResult(0), scale = parts.getResult(1);
  if (isTransposed)
    data = permute(builder, loc, data, {1, 0});
  RankedTensorType whole = tensorType(data);
  if (type.getScale() == ScaleKind::PerRow && isTransposed)
    scale = reshapeTo(builder, loc, scale, {getColumns(whole)});
  if (type.getScale() != ScaleKind::PerTensor &&
      type.getScale() != ScaleKind::PerRow) {
    auto [rows, columns] = getBlock(type.getScale(), isTransposed);
    RankedTensorType grid =
        getBlocksType(whole, rows, columns, tensorType(scale).getElementType());
    bool isSwapped = liesTransposed(type.getScale(), isTransposed);
    // The zeros that pad are no scales.
    RankedTensorType stored = tensorType(scale);
    int64_t stride = isSwapped ? grid.getDimSize(0) : getColumns(grid);
    if (getColumns(stored) != stride)
      scale = SliceOp::create(
          builder, loc, withColumns(stored, stride, stored.getElementType()),
          scale, /*dim=*/1, /*offset=*/0);
    if (isSwapped)
      scale = permute(builder, loc, scale, {1, 0});
    scale = ExpandBlocksOp::create(
        builder, loc, whole.clone(grid.getElementType()), scale, rows, columns);
  }
  return {core.pointwise(getType(), {data, scale}, [](ScalarMath &m, auto v) {
    return m.mul(v[0], v[1]); // fp8_r5
  })};
}
