//===- ContractionOps.cpp - Verifiers of matrix products -----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/Contraction.h"
#include "Verify.h"

using namespace mlir;
using namespace mlir::fuseops;

std::optional<Contraction> Contraction::get(Operation *op) {
  if (auto linear = dyn_cast<LinearOp>(op))
    return Contraction{linear.getInput(),      linear.getWeight(),
                       linear.getBias(),
                       /*transposeLhs=*/false,
                       /*transposeRhs=*/true,  linear.getFastAccumulate()};
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return Contraction{matmul.getLhs(),          matmul.getRhs(),
                       /*bias=*/Value(),         matmul.getTransposeLhs(),
                       matmul.getTransposeRhs(), matmul.getFastAccumulate()};
  return std::nullopt;
}

/// The high-precision tensor type of a contraction's operand.
static RankedTensorType operandType(Value value) {
  if (auto quantized = dyn_cast<QuantizedType>(value.getType()))
    return quantized.getTensorType(BFloat16Type::get(value.getContext()));
  return cast<RankedTensorType>(value.getType());
}

static LogicalResult verifyOperandElements(Operation *op, StringRef name,
                                           Value value) {
  auto element = dyn_cast<FloatType>(operandType(value).getElementType());
  if (!element || element.getWidth() < 16)
    return op->emitOpError()
           << "expected `" << name
           << "` to be a tensor of f16, bf16, f32 or f64, or quantized, but "
              "got "
           << value.getType();
  return success();
}

/// A quantized operand has to have the copy that the product reads.
static LogicalResult verifyCopy(Operation *op, StringRef name, Value value,
                                bool readsRowCopy) {
  auto type = dyn_cast<QuantizedType>(value.getType());
  if (!type || (readsRowCopy ? type.hasRowCopy() : type.hasColCopy()))
    return success();
  return op->emitOpError() << "expected `" << name << "` to have the copy `"
                           << (readsRowCopy ? "row" : "col")
                           << "`, which the product reads, but got "
                           << value.getType();
}

LogicalResult LinearOp::verify() {
  if (failed(verifyOperandElements(*this, "input", getInput())) ||
      failed(verifyOperandElements(*this, "weight", getWeight())) ||
      failed(verifyCopy(*this, "input", getInput(), true)) ||
      failed(verifyCopy(*this, "weight", getWeight(), true)))
    return failure();
  RankedTensorType input = operandType(getInput());
  RankedTensorType weight = operandType(getWeight());
  if (failed(verifyHasColumns(*this, input)))
    return failure();
  if (weight.getRank() != 2 || weight.getDimSize(1) != getColumns(input))
    return emitOpError() << "expected `weight` to have shape [N, "
                         << getColumns(input) << "], but got "
                         << getWeight().getType();
  RankedTensorType expected =
      withColumns(input, weight.getDimSize(0), input.getElementType());
  return failure(
      failed(verifySameShape(*this, "result", getResult(), expected)) ||
      failed(verifyRowVector(*this, "bias", getBias(), weight.getDimSize(0))));
}

LogicalResult MatmulOp::verify() {
  Contraction product = *Contraction::get(*this);
  if (failed(verifyOperandElements(*this, "lhs", getLhs())) ||
      failed(verifyOperandElements(*this, "rhs", getRhs())) ||
      failed(verifyCopy(*this, "lhs", getLhs(), product.readsRowCopyOfLhs())) ||
      failed(verifyCopy(*this, "rhs", getRhs(), product.readsRowCopyOfRhs())))
    return failure();
  RankedTensorType lhs = operandType(getLhs()), rhs = operandType(getRhs());
  if (lhs.getRank() < 2 || rhs.getRank() < 2)
    return emitOpError() << "expected operands of rank 2 or more, but got "
                         << lhs << " and " << rhs;
  Extent lhsK =
      getTransposeLhs() ? getNumElements(lhs, 1) : Extent{getColumns(lhs), 0};
  Extent rhsK =
      getTransposeRhs() ? Extent{getColumns(rhs), 0} : getNumElements(rhs, 1);
  if (lhsK != rhsK)
    return emitOpError() << "expected operands with equal contracted extents, "
                            "but got "
                         << lhs << " and " << rhs;
  Extent columns =
      getTransposeRhs() ? getNumElements(rhs, 1) : Extent{getColumns(rhs), 0};
  if (!columns.isConstant())
    return emitOpError() << "expected a result with a static number of "
                            "columns, but `rhs` is "
                         << rhs;
  RankedTensorType expected =
      getTransposeLhs()
          ? RankedTensorType::get({getColumns(lhs), columns.constant},
                                  lhs.getElementType())
          : withColumns(lhs, columns.constant, lhs.getElementType());
  return verifySameShape(*this, "result", getResult(), expected);
}

SmallVector<unsigned> LinearOp::getQuantizableOperands() { return {0, 1}; }
SmallVector<unsigned> MatmulOp::getQuantizableOperands() { return {0, 1}; }
