//===- OuterProduct.cpp - Products of each element with each ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "PointwiseTable.h"

using namespace mlir;
using namespace mlir::fuseops;

/// `lhs[..., i] * rhs[..., j]` in the type `result`.
static FailureOr<Value> buildPairs(TorchCall &call, RankedTensorType result,
                                   Value lhs, Value rhs) {
  auto addDimension = [&](Value value, int64_t fromLast) {
    SmallVector<int64_t> shape(
        cast<RankedTensorType>(value.getType()).getShape());
    shape.insert(shape.end() - fromLast, 1);
    return reshapeTo(call.builder, call.getLoc(), value, shape);
  };
  lhs = addDimension(lhs, 0);
  rhs = addDimension(rhs, 1);
  for (Value operand : {lhs, rhs})
    if (!isBroadcastableTo(cast<RankedTensorType>(operand.getType()), result))
      return call.refuse("expected operands of equal leading sizes");
  return buildPointwise(call, result, {lhs, rhs},
                        [](TorchMath &math, ArrayRef<Value> scalars) {
                          return math.mul(scalars[0], scalars[1]);
                        });
}

/// outer: two vectors of any dtypes; the result has the one that they promote
/// to.
static LogicalResult convertOuter(TorchCall &call) {
  FailureOr<Value> lhs = call.tensor(0);
  if (failed(lhs))
    return failure();
  FailureOr<Value> rhs = call.tensor(1);
  if (failed(rhs))
    return failure();
  FailureOr<RankedTensorType> result = call.resultType();
  if (failed(result))
    return failure();
  bool areVectors = llvm::all_of(ValueRange{*lhs, *rhs}, [](Value value) {
    return cast<RankedTensorType>(value.getType()).getRank() == 1;
  });
  if (!areVectors)
    return call.refuse("expected two vectors");
  FailureOr<Value> pairs = buildPairs(call, *result, *lhs, *rhs);
  return failed(pairs) ? failure() : call.set(0, *pairs);
}

/// bilinear: each row's pairs, flattened, times a matrix.
static LogicalResult convertBilinear(TorchCall &call) {
  SmallVector<Value> operands;
  for (unsigned index = 0; index < 3; ++index) {
    FailureOr<Value> operand = call.floatTensor(index);
    if (failed(operand))
      return failure();
    operands.push_back(*operand);
  }
  FailureOr<Value> bias = call.optionalFloatTensor(3);
  if (failed(bias))
    return failure();
  FailureOr<RankedTensorType> result = call.floatResultType();
  if (failed(result))
    return failure();
  auto weight = cast<RankedTensorType>(operands[2].getType());
  if (weight.getRank() != 3 || !weight.hasStaticShape() ||
      weight.getElementType() != result->getElementType())
    return call.refuse("expected three known sizes of the weight and the "
                       "result's dtype, but got " +
                       print(weight));
  int64_t outputs = weight.getDimSize(0), left = weight.getDimSize(1);
  int64_t right = weight.getDimSize(2);
  SmallVector<int64_t> shape(result->getShape().drop_back());
  shape.append({left, right});
  FailureOr<Value> pairs =
      buildPairs(call, RankedTensorType::get(shape, weight.getElementType()),
                 operands[0], operands[1]);
  if (failed(pairs))
    return failure();
  shape.pop_back();
  shape.back() = left * right;
  OpBuilder &builder = call.builder;
  Location loc = call.getLoc();
  Value matrix = reshapeTo(builder, loc, operands[2], {outputs, left * right});
  return call.set(0, LinearOp::create(builder, loc, *result,
                                      reshapeTo(builder, loc, *pairs, shape),
                                      matrix, *bias));
}

void mlir::fuseops::addOuterProductHandlers(TorchHandlers &handlers) {
  handlers.add("aten.outer", 2, 2, convertOuter);
  handlers.add("aten.bilinear", 3, 4, convertBilinear);
}
