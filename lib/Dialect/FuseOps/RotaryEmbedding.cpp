//===- RotaryEmbedding.cpp - Rotary embedding: rules, maths, gradients ---===//
//--------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core.h"
#include "FuseOps/Dialect/FuseOps/Gradients.h"
#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "Verify.h"

using namespace mlir;
using namespace mlir::fuseops;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

LogicalResult RotaryEmbeddingOp::verify() {
  RankedTensorType type = tensorType(getInput());
  if (failed(verifyHasColumns(*this, type)))
    return failure();
  if (getColumns(type) % 2)
    return emitOpError() << "expected `input` to have an even number of "
                            "columns, but got "
                         << type;
  RankedTensorType pairs =
      withColumns(type, getColumns(type) / 2, type.getElementType());
  for (auto [name, angle] : {std::pair<StringRef, Value>{"cosine", getCosine()},
                             std::pair<StringRef, Value>{"sine", getSine()}})
    if (!isBroadcastableTo(tensorType(angle), pairs) ||
        tensorType(angle).getRank() == 0 ||
        getColumns(tensorType(angle)) != getColumns(pairs))
      return emitOpError() << "expected `" << name
                           << "` to have one column for each pair and to "
                              "broadcast to the shape of "
                           << pairs << ", but got " << angle.getType();
  return success();
}

/// `type`'s shape with its last extent D as [D / 2, `last`].
static SmallVector<int64_t> asPairs(RankedTensorType type, int64_t last) {
  SmallVector<int64_t> shape(type.getShape());
  shape.back() /= 2;
  shape.push_back(last);
  return shape;
}

RankedTensorType RotaryEmbeddingOp::getIterationSpace() {
  RankedTensorType type = getType();
  if (getPairs() == PairOrder::Interleaved)
    return RankedTensorType::get(asPairs(type, 2), type.getElementType());
  return withColumns(type, getColumns(type) / 2, type.getElementType());
}

SmallVector<Value> RotaryEmbeddingOp::decompose(OpBuilder &builder,
                                                ValueRange operands) {
  Location loc = getLoc();
  Core core(*this, builder, operands);
  RankedTensorType space = getIterationSpace();
  int64_t dim = space.getRank() - 1;
  double sign = getConjugate() ? -1.0 : 1.0;
  // Of v, a pair, its cosine and its sine.
  auto first = [&](ScalarMath &m, ArrayRef<Value> v) {
    return m.sub(m.mul(v[0], v[2]), m.mul(m.mul(m.constant(sign), v[1]), v[3]));
  };
  auto second = [&](ScalarMath &m, ArrayRef<Value> v) {
    return m.add(m.mul(v[1], v[2]), m.mul(m.mul(m.constant(sign), v[0]), v[3]));
  };
  if (getPairs() == PairOrder::Half) {
    int64_t half = getColumns(space);
    Value a = SliceOp::create(builder, loc, space, operands[0], dim, 0);
    Value b = SliceOp::create(builder, loc, space, operands[0], dim, half);
    ResultRange rotated =
        core.pointwise({space, space}, {a, b, operands[1], operands[2]},
                       [&](ScalarMath &m, ArrayRef<Value> v) {
                         return SmallVector<Value>{first(m, v), second(m, v)};
                       });
    return {ConcatOp::create(builder, loc, getType(), rotated, dim)};
  }
  // Each pair is a row of two elements: both are read for each.
  Value pairs = reshapeTo(builder, loc, operands[0], space.getShape());
  auto single =
      RankedTensorType::get(asPairs(getType(), 1), space.getElementType());
  Value a = SliceOp::create(builder, loc, single, pairs, dim, 0);
  Value b = SliceOp::create(builder, loc, single, pairs, dim, 1);
  SmallVector<Value> inputs = {a, b};
  for (Value angle : operands.drop_front()) {
    SmallVector<int64_t> shape(tensorType(angle).getShape());
    shape.push_back(1);
    inputs.push_back(reshapeTo(builder, loc, angle, shape));
  }
  Value rotated =
      core.pointwise(space, inputs, [&](ScalarMath &m, ArrayRef<Value> v) {
        Value column =
            ColumnIndexOp::create(m.builder, m.loc, m.builder.getI64Type());
        Value zero = arith::ConstantOp::create(m.builder, m.loc,
                                               m.builder.getI64IntegerAttr(0));
        Value isFirst = arith::CmpIOp::create(
            m.builder, m.loc, arith::CmpIPredicate::eq, column, zero);
        return m.select(isFirst, first(m, v), second(m, v));
      });
  return {reshapeTo(builder, loc, rotated, getType().getShape())};
}

FailureOr<SmallVector<Value>>
RotaryEmbeddingOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                  ArrayRef<bool> needed) {
  SmallVector<Value> results(getNumOperands());
  if (!gradients[0])
    return results;
  if (needed[0])
    results[0] = RotaryEmbeddingOp::create(builder, getLoc(), getType(),
                                           gradients[0], getCosine(), getSine(),
                                           getPairs(), !getConjugate());
  if (!needed[1] && !needed[2])
    return results;
  FailureOr<SmallVector<Value>> angles = buildDecompositionGradients(
      *this, builder, gradients, {false, needed[1], needed[2]});
  if (failed(angles))
    return failure();
  results[1] = (*angles)[1];
  results[2] = (*angles)[2];
  return results;
}
