//===- QuantizationOps.cpp - Verifiers of quantization ----------------- ===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "Verify.h"

using namespace mlir;
using namespace mlir::fuseops;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

LogicalResult AmaxOp::verify() {
  if (tensorType(getResult()).getRank() != 0)
    return emitOpError() << "expected a scalar result, but got "
                         << getResult().getType();
  return success();
}

LogicalResult ComputeScaleOp::verify() {
  if (!isa<Float8E4M3FNType, Float8E5M2Type>(getFormat()))
    return emitOpError() << "expected format `f8E4M3FN` or `f8E5M2`, but got "
                         << getFormat();
  return success();
}

LogicalResult QuantizeOp::verify() {
  QuantizedType result = getResult().getType();
  if (tensorType(getInput()).getShape() != result.getShape())
    return emitOpError() << "expected `input` to have the shape of " << result
                         << ", but got " << getInput().getType();
  bool perTensor = result.getScale() == ScaleKind::PerTensor;
  if (perTensor != static_cast<bool>(getScale()))
    return emitOpError() << "expected "
                         << (perTensor ? "a scale operand for"
                                       : "no scale operand for")
                         << " scale `" << stringifyScaleKind(result.getScale())
                         << "`";
  if (getScale() && tensorType(getScale()).getRank() != 0)
    return emitOpError() << "expected a scalar scale, but got "
                         << getScale().getType();
  return success();
}

LogicalResult DequantizeOp::verify() {
  QuantizedType input = getInput().getType();
  if (tensorType(getResult()).getShape() != input.getShape())
    return emitOpError() << "expected `result` to have the shape of " << input
                         << ", but got " << getResult().getType();
  return success();
}

/// The parts have to be those of `type`.
static LogicalResult verifyParts(Operation *op, QuantizedType type,
                                 TypeRange parts) {
  SmallVector<RankedTensorType> expected = type.getParts();
  if (llvm::equal(expected, parts))
    return success();
  InFlightDiagnostic diag = op->emitOpError() << "expected parts (";
  llvm::interleaveComma(expected, diag);
  diag << ") of " << type << ", but got (";
  llvm::interleaveComma(parts, diag);
  return diag << ")";
}
LogicalResult PackQuantizedOp::verify() {
  return verifyParts(*this, getResult().getType(), getParts().getTypes());
}
LogicalResult UnpackQuantizedOp::verify() {
  return verifyParts(*this, getInput().getType(), getParts().getTypes());
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

static LogicalResult verifyBlocks(Operation *op, RankedTensorType whole,
                                  RankedTensorType blocks, int64_t rows,
                                  int64_t columns) {
  using Block = std::pair<int64_t, int64_t>;
  if (!llvm::is_contained({Block{1, 32}, Block{32, 1}, Block{1, 128},
                           Block{128, 1}, Block{128, 128}},
                          Block{rows, columns}))
    return op->emitOpError() << "expected blocks of 1x32, 32x1, 1x128, 128x1 "
                                "or 128x128, but got "
                             << rows << "x" << columns;
  if (whole.getRank() != 2)
    return op->emitOpError()
           << "expected a tensor of rank 2, but got " << whole;
  RankedTensorType expected =
      getBlocksType(whole, rows, columns, blocks.getElementType());
  if (blocks != expected)
    return op->emitOpError()
           << "expected blocks of type " << expected << ", but got " << blocks;
  return success();
}

LogicalResult ReduceBlocksOp::verify() {
  if (getInput().getType().getElementType() !=
      getResult().getType().getElementType())
    return emitOpError() << "expected the element type of "
                         << getInput().getType() << " in the result, but got "
                         << getResult().getType();
  return verifyBlocks(*this, getInput().getType(), getResult().getType(),
                      getBlockRows(), getBlockColumns());
}

LogicalResult ExpandBlocksOp::verify() {
  if (getInput().getType().getElementType() !=
      getResult().getType().getElementType())
    return emitOpError() << "expected the element type of "
                         << getInput().getType() << " in the result, but got "
                         << getResult().getType();
  return verifyBlocks(*this, getResult().getType(), getInput().getType(),
                      getBlockRows(), getBlockColumns());
}

//===----------------------------------------------------------------------===//
// Delayed scaling
//===----------------------------------------------------------------------===//

LogicalResult UpdateScaleOp::verify() {
  RankedTensorType scale = getScale().getType(),
                   history = getHistory().getType();
  if (!isa<Float8E4M3FNType, Float8E5M2Type>(getFormat()))
    return emitOpError() << "expected format `f8E4M3FN` or `f8E5M2`, but got "
                         << getFormat();
  if (scale.getRank() != 1 || history.getRank() != 2 ||
      !scale.hasStaticShape() || !history.hasStaticShape() ||
      history.getDimSize(0) < 1 ||
      history.getDimSize(1) != scale.getDimSize(0) ||
      history.getElementType() != scale.getElementType())
    return emitOpError() << "expected scales [N] and a history [H, N] of one "
                            "element type, but got "
                         << scale << " and " << history;
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

LogicalResult ScaledMatmulOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  for (auto [name, type, scale, kind] :
       {std::tuple("lhs", lhs, getLhsScaleInv().getType(), getLhsScale()),
        std::tuple("rhs", rhs, getRhsScaleInv().getType(), getRhsScale())}) {
    if (type.getRank() != 2 ||
        !isa<Float8E4M3FNType, Float8E5M2Type>(type.getElementType()))
      return emitOpError() << "expected `" << name
                           << "` to be an FP8 matrix, but got " << type;
    auto quantized =
        QuantizedType::get(getContext(), type.getShape(), type.getElementType(),
                           kind, Copies::Row);
    RankedTensorType expected = quantized.getParts()[1];
    if (scale != expected)
      return emitOpError() << "expected `" << name << "_scale_inv` of type "
                           << expected << ", but got " << scale;
  }
  if (lhs.getDimSize(1) != rhs.getDimSize(1))
    return emitOpError() << "expected operands with equal contracted extents, "
                            "but got "
                         << lhs << " and " << rhs;
  if (rhs.isDynamicDim(0))
    return emitOpError() << "expected a result with a static number of "
                            "columns, but `rhs` is "
                         << rhs;
  if (failed(verifyRowVector(*this, "bias", getBias(), rhs.getDimSize(0))))
    return failure();
  return verifySameShape(
      *this, "result", getResult(),
      RankedTensorType::get({lhs.getDimSize(0), rhs.getDimSize(0)},
                            lhs.getElementType()));
}
