//===- Contraction.cpp - Matrix products and transposes ----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchCall.h"

using namespace mlir;
using namespace mlir::fuseops;

/// Whether `lhs` and `rhs` have one element type; refuses otherwise.
static LogicalResult checkElements(TorchCall &call, const TorchValue &lhs,
                                   const TorchValue &rhs) {
  if (lhs.type.getElementType() == rhs.type.getElementType())
    return success();
  return call.refuse("expected operands of one dtype");
}

static Value buildMatmul(TorchCall &call, RankedTensorType result,
                         const TorchValue &lhs, const TorchValue &rhs) {
  auto flag = [&](const TorchValue &operand) {
    return operand.kind == TorchValue::Kind::Transposed
               ? call.builder.getUnitAttr()
               : UnitAttr();
  };
  return MatmulOp::create(call.builder, call.getLoc(), result,
                          lhs.values.front(), rhs.values.front(), flag(lhs),
                          flag(rhs));
}

/// `lhs * rhs + bias` with one rounding: the product stays in the type that it
/// is accumulated in until the sum.
static Value buildMatmulWithBias(TorchCall &call, RankedTensorType result,
                                 const TorchValue &lhs, const TorchValue &rhs,
                                 Value bias) {
  Value product = buildMatmul(call, getComputeTensor(result), lhs, rhs);
  return AddOp::create(call.builder, call.getLoc(), result, product, bias);
}

static LogicalResult convertProduct(TorchCall &call) {
  FailureOr<TorchValue> lhs = call.floatMatrix(0);
  if (failed(lhs))
    return failure();
  FailureOr<TorchValue> rhs = call.floatMatrix(1);
  if (failed(rhs))
    return failure();
  FailureOr<RankedTensorType> result = call.floatResultType();
  if (failed(result))
    return failure();
  if (rhs->type.getRank() != 2)
    return call.refuse("expected a matrix as right operand, but got " +
                       Twine(rhs->type.getRank()) + " dimensions");
  if (failed(checkElements(call, *lhs, *rhs)))
    return failure();
  return call.set(0, buildMatmul(call, *result, *lhs, *rhs));
}

static LogicalResult convertLinear(TorchCall &call) {
  FailureOr<TorchValue> input = call.floatMatrix(0);
  if (failed(input) || failed(call.tensor(0)))
    return failure();
  FailureOr<TorchValue> weight = call.floatMatrix(1);
  if (failed(weight))
    return failure();
  if (weight->type.getRank() != 2)
    return call.refuse("expected a matrix as weight, but got " +
                       Twine(weight->type.getRank()) + " dimensions");
  FailureOr<Value> bias = call.optionalFloatTensor(2);
  if (failed(bias))
    return failure();
  FailureOr<RankedTensorType> result = call.floatResultType();
  if (failed(result) || failed(checkElements(call, *input, *weight)))
    return failure();
  if (weight->kind == TorchValue::Kind::Transposed) {
    // weight^T is the matrix that the transpose was made of.
    TorchValue matrix;
    matrix.values = weight->values;
    matrix.type = cast<RankedTensorType>(matrix.values.front().getType());
    if (!*bias)
      return call.set(0, buildMatmul(call, *result, *input, matrix));
    return call.set(0,
                    buildMatmulWithBias(call, *result, *input, matrix, *bias));
  }
  return call.set(0, LinearOp::create(call.builder, call.getLoc(), *result,
                                      input->values.front(),
                                      weight->values.front(), *bias));
}

static LogicalResult convertAddmm(TorchCall &call) {
  FailureOr<Value> bias = call.floatTensor(0);
  if (failed(bias))
    return failure();
  FailureOr<TorchValue> lhs = call.floatMatrix(1);
  if (failed(lhs))
    return failure();
  FailureOr<TorchValue> rhs = call.floatMatrix(2);
  if (failed(rhs))
    return failure();
  FailureOr<double> beta = call.numberOr(3, 1.0);
  if (failed(beta))
    return failure();
  FailureOr<double> alpha = call.numberOr(4, 1.0);
  if (failed(alpha))
    return failure();
  FailureOr<RankedTensorType> result = call.floatResultType();
  if (failed(result) || failed(checkElements(call, *lhs, *rhs)))
    return failure();
  if (lhs->type.getRank() != 2 || rhs->type.getRank() != 2)
    return call.refuse("expected two matrices");
  if (*beta != 1.0 || *alpha != 1.0)
    return call.refuse("expected beta and alpha to be 1, but got " +
                       spell(*beta) + " and " + spell(*alpha));
  auto biasType = cast<RankedTensorType>(bias->getType());
  if (biasType.getRank() == 1 && lhs->kind == TorchValue::Kind::Tensor &&
      rhs->kind == TorchValue::Kind::Transposed)
    return call.set(0, LinearOp::create(call.builder, call.getLoc(), *result,
                                        lhs->values.front(),
                                        rhs->values.front(), *bias));
  if (!isBroadcastableTo(biasType, *result))
    return call.refuse("expected operand 0 to broadcast to the result");
  return call.set(0, buildMatmulWithBias(call, *result, *lhs, *rhs, *bias));
}

/// Makes the result the transpose of operand 0, a matrix.
static LogicalResult transpose(TorchCall &call) {
  FailureOr<TorchValue> input = call.value(0);
  if (failed(input))
    return failure();
  bool isTransposed = input->kind == TorchValue::Kind::Transposed;
  if (!isTransposed && failed(call.tensor(0)))
    return failure();
  if (input->type.getRank() != 2)
    return call.refuse("expected a matrix to transpose, but got " +
                       Twine(input->type.getRank()) + " dimensions");
  ArrayRef<int64_t> shape = input->type.getShape();
  input->type =
      RankedTensorType::get({shape[1], shape[0]}, input->type.getElementType());
  input->kind =
      isTransposed ? TorchValue::Kind::Tensor : TorchValue::Kind::Transposed;
  return call.set(0, *input);
}

static LogicalResult convertT(TorchCall &call) {
  FailureOr<TorchValue> input = call.value(0);
  if (failed(input))
    return failure();
  bool isVector = input->type && input->type.getRank() < 2;
  return isVector ? call.set(0, *input) : transpose(call);
}

static LogicalResult convertTranspose(TorchCall &call) {
  FailureOr<TorchValue> input = call.value(0);
  if (failed(input))
    return failure();
  if (!input->type)
    return call.refuse("expected operand 0 to be a tensor, but got a list");
  FailureOr<int64_t> first = call.dimension(1, input->type.getRank());
  if (failed(first))
    return failure();
  FailureOr<int64_t> second = call.dimension(2, input->type.getRank());
  if (failed(second))
    return failure();
  return *first == *second ? call.set(0, *input) : transpose(call);
}

static LogicalResult convertPermute(TorchCall &call) {
  FailureOr<TorchValue> input = call.value(0);
  if (failed(input))
    return failure();
  FailureOr<SmallVector<int64_t>> dims = call.integers(1);
  if (failed(dims))
    return failure();
  int64_t rank = input->type ? input->type.getRank() : -1;
  if (static_cast<int64_t>(dims->size()) != rank)
    return call.refuse("expected one number for each dimension");
  bool isIdentity = true;
  for (auto [index, dim] : llvm::enumerate(*dims))
    isIdentity &= static_cast<int64_t>(index) == (dim < 0 ? dim + rank : dim);
  return isIdentity ? call.set(0, *input) : transpose(call);
}

void mlir::fuseops::addContractionHandlers(TorchHandlers &handlers) {
  handlers.add("aten.linear", 2, 3, convertLinear);
  handlers.add("aten.mm", 2, 2, convertProduct);
  handlers.add("aten.matmul", 2, 2, convertProduct);
  handlers.add("aten.addmm", 3, 5, convertAddmm);
  handlers.add("aten.t", 1, 1, convertT);
  handlers.add("aten.numpy_T", 1, 1, convertT);
  handlers.add("aten.mT", 1, 1, transpose);
  handlers.add("aten.transpose.int", 3, 3, convertTranspose);
  handlers.add("aten.permute", 2, 2, convertPermute);
}
