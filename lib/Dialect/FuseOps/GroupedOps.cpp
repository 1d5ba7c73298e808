//===- GroupedOps.cpp - Grouped products: rules and gradients -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "Verify.h"

using namespace mlir;
using namespace mlir::fuseops;

using Gradients = FailureOr<SmallVector<Value>>;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// `sizes` has to hold one number for each of `groups` groups.
static LogicalResult verifySizes(Operation *op, Value sizes, int64_t groups) {
  RankedTensorType type = tensorType(sizes);
  if (type.getRank() == 1 && type.getDimSize(0) == groups)
    return success();
  return op->emitOpError() << "expected `sizes` to be tensor<" << groups
                           << "xi64>, one size a group, but got " << type;
}

static bool isFp8(RankedTensorType type) {
  return type.getElementTypeBitWidth() == 8;
}

LogicalResult GroupedMatmulOp::verify() {
  RankedTensorType lhs = tensorType(getLhs()), rhs = tensorType(getRhs());
  if (isFp8(lhs) != isFp8(rhs))
    return emitOpError() << "expected both operands to be FP8 or none, but got "
                         << lhs << " and " << rhs;
  if (isFp8(lhs) && (getTransposeLhs() || !getTransposeRhs()))
    return emitOpError() << "expected FP8 operands with `transpose_rhs` only, "
                            "so that what is contracted lies side by side";
  if (getFastAccumulate() && !isFp8(lhs))
    return emitOpError() << "expected FP8 operands with `fast_accumulate`, but "
                            "got "
                         << lhs;
  if (failed(verifyHasColumns(*this, lhs, "lhs")))
    return failure();
  if (getTransposeLhs()) {
    if (getTransposeRhs())
      return emitOpError() << "expected one operand to be transposed at most: "
                              "with `transpose_lhs` both hold rows";
    if (rhs.getRank() == 0 || getNumElements(lhs, 1) != getNumElements(rhs, 1))
      return emitOpError() << "expected operands with as many rows, but got "
                           << lhs << " and " << rhs;
    RankedTensorType result = getType();
    if (result.getRank() != 3 || result.getDimSize(1) != getColumns(lhs) ||
        result.getDimSize(2) != getColumns(rhs))
      return emitOpError() << "expected `result` to have shape [G, "
                           << getColumns(lhs) << ", " << getColumns(rhs)
                           << "], but got " << result;
    return verifySizes(*this, getSizes(), result.getDimSize(0));
  }
  int64_t contracted = getTransposeRhs() ? 2 : 1;
  if (rhs.getRank() != 3 || rhs.getDimSize(contracted) != getColumns(lhs))
    return emitOpError() << "expected `rhs` to have shape ["
                         << (getTransposeRhs() ? "G, N, " : "G, ")
                         << getColumns(lhs) << (getTransposeRhs() ? "" : ", N")
                         << "], but got " << rhs;
  RankedTensorType expected =
      withColumns(lhs, rhs.getDimSize(3 - contracted), lhs.getElementType());
  return failure(
      failed(verifySizes(*this, getSizes(), rhs.getDimSize(0))) ||
      failed(verifySameShape(*this, "result", getResult(), expected)));
}

LogicalResult GroupedLinearOp::verify() {
  RankedTensorType input = tensorType(getInput());
  RankedTensorType weight = tensorType(getWeight());
  if (failed(verifyHasColumns(*this, input)))
    return failure();
  if (weight.getRank() != 3 || weight.getDimSize(2) != getColumns(input))
    return emitOpError() << "expected `weight` to have shape [G, N, "
                         << getColumns(input) << "], but got " << weight;
  if (getBiasScale() && !getBias())
    return emitOpError() << "expected a bias where there is a `bias_scale`";
  if (getBias() &&
      tensorType(getBias()).getShape() != weight.getShape().drop_back())
    return emitOpError() << "expected `bias` to have shape ["
                         << weight.getDimSize(0) << ", " << weight.getDimSize(1)
                         << "], but got " << getBias().getType();
  RankedTensorType expected =
      withColumns(input, weight.getDimSize(1), input.getElementType());
  return failure(
      failed(verifySizes(*this, getSizes(), weight.getDimSize(0))) ||
      failed(verifyRowScale(*this, "bias_scale", getBiasScale(), input)) ||
      failed(verifySameShape(*this, "result", getResult(), expected)));
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

namespace {
/// Writes grouped products with one operation's sizes.
struct Products {
  OpBuilder &builder;
  Location loc;
  Value sizes;

  /// rows of `rows` times op(`matrices`), in the shape and type of `like`.
  Value byGroup(Value rows, Value matrices, bool transpose, Value like) {
    RankedTensorType type = tensorType(like);
    Value result = GroupedMatmulOp::create(
        builder, loc,
        withColumns(tensorType(rows), getColumns(type), type.getElementType()),
        rows, matrices, sizes, false, transpose);
    return reshapeTo(builder, loc, result, type.getShape());
  }
  /// The products of the groups' rows, one matrix a group, in type `type`.
  Value overRows(Value lhs, Value rhs, RankedTensorType type) {
    return GroupedMatmulOp::create(builder, loc, type, lhs, rhs, sizes, true,
                                   false);
  }
  /// [G, N] as G matrices of one row.
  Value asRows(Value bias) {
    RankedTensorType type = tensorType(bias);
    return reshapeTo(builder, loc, bias,
                     {type.getDimSize(0), 1, type.getDimSize(1)});
  }
  /// `scale`, or a one for each row of `rows`.
  Value factors(Value scale, Value rows) {
    if (scale)
      return scale;
    RankedTensorType type = tensorType(rows);
    auto one = [&](OpBuilder &b, Location l, ValueRange) {
      Type element = getComputeType(type.getElementType());
      return SmallVector<Value>{
          arith::ConstantOp::create(b, l, b.getFloatAttr(element, 1.0))};
    };
    return PointwiseOp::build(builder, loc,
                              withColumns(type, 1, type.getElementType()),
                              ValueRange(), one)
        .getResult(0);
  }
};
} // namespace

Gradients GroupedMatmulOp::buildGradients(OpBuilder &builder,
                                          ValueRange gradients,
                                          ArrayRef<bool> needed) {
  SmallVector<Value> results(3);
  if (!gradients[0])
    return results;
  Products products{builder, getLoc(), getSizes()};
  Value dy = gradients[0], lhs = getLhs(), rhs = getRhs();
  if (isFp8(tensorType(lhs)) && (needed[0] || needed[1]))
    return emitOpError() << "has no gradient for its FP8 operands";
  if (getTransposeLhs()) {
    if (needed[0])
      results[0] = products.byGroup(rhs, dy, true, lhs);
    if (needed[1])
      results[1] = products.byGroup(lhs, dy, false, rhs);
    return results;
  }
  if (needed[0])
    results[0] = products.byGroup(dy, rhs, !getTransposeRhs(), lhs);
  if (needed[1])
    results[1] = getTransposeRhs()
                     ? products.overRows(dy, lhs, tensorType(rhs))
                     : products.overRows(lhs, dy, tensorType(rhs));
  return results;
}

Gradients GroupedLinearOp::buildGradients(OpBuilder &builder,
                                          ValueRange gradients,
                                          ArrayRef<bool> needed) {
  SmallVector<Value> results(getNumOperands());
  if (!gradients[0])
    return results;
  Products products{builder, getLoc(), getSizes()};
  Value dy = gradients[0];
  if (needed[0])
    results[0] = products.byGroup(dy, getWeight(), false, getInput());
  if (needed[1])
    results[1] = products.overRows(dy, getInput(), tensorType(getWeight()));
  if (getBias() && needed[3]) {
    RankedTensorType type = tensorType(getBias());
    auto rows = RankedTensorType::get(
        {type.getDimSize(0), 1, type.getDimSize(1)}, type.getElementType());
    Value sums =
        products.overRows(products.factors(getBiasScale(), dy), dy, rows);
    results[3] = reshapeTo(builder, getLoc(), sums, type.getShape());
  }
  if (getBiasScale() && needed[4])
    results[4] =
        products.byGroup(dy, products.asRows(getBias()), true, getBiasScale());
  return results;
}

Value GroupedLinearOp::expand(OpBuilder &builder) {
  Products products{builder, getLoc(), getSizes()};
  Value result = products.byGroup(getInput(), getWeight(), true, getResult());
  if (!getBias())
    return result;
  Value bias = products.byGroup(products.factors(getBiasScale(), getInput()),
                                products.asRows(getBias()), false, getResult());
  return AddOp::create(builder, getLoc(), getType(), result, bias);
}
