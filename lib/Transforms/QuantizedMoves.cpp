//===- QuantizedMoves.cpp - What a quantize commutes with ----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizedMoves.h"
#include "FuseOps/Analysis/OperationShape.h"
#include "FuseOps/Transforms/FusibleEdits.h"

using namespace mlir;
using namespace mlir::fuseops;

//===----------------------------------------------------------------------===//
// Reasons
//===----------------------------------------------------------------------===//

StringRef mlir::fuseops::getStopReasonText(StopReason reason) {
  switch (reason) {
  case StopReason::Argument:
    return "no kernel of this region computes an argument";
  case StopReason::Library:
    return "a library computes the product";
  case StopReason::Collective:
    return "the value comes from other processes";
  case StopReason::OwnScale:
    return "the scale is computed from the whole value first";
  case StopReason::Dequantized:
    return "quantizing what was dequantized is not exact by the rules";
  case StopReason::Transposed:
    return "what reads it does not read it transposed, and FP8 data with "
           "scales "
           "of rows is not transposed";
  case StopReason::Reshaped:
    return "the reshape changes the columns, and so what a scale covers";
  case StopReason::Boundary:
    return "what one scale covers crosses a boundary";
  case StopReason::Moved:
    return "the elements come from other places";
  }
  llvm_unreachable("unknown reason");
}

bool mlir::fuseops::hasOwnScale(QuantizeOp op) {
  Value tensor = skipReshapes(op.getInput());
  Value scale = op.getScale();
  auto compute = scale ? scale.getDefiningOp<ComputeScaleOp>() : nullptr;
  auto amax = compute ? compute.getAmax().getDefiningOp<AmaxOp>() : nullptr;
  return amax && skipReshapes(amax.getInput()) == tensor;
}

std::optional<StopReason> mlir::fuseops::getStopReason(QuantizeOp op) {
  Value tensor = skipReshapes(op.getInput());
  Operation *producer = tensor.getDefiningOp();
  if (!producer)
    return StopReason::Argument;
  if (isa<QuantizableOpInterface>(producer) &&
      !isa<FusibleOpInterface>(producer))
    return StopReason::Library;
  if (isa<GroupedMatmulOp, GroupedLinearOp>(producer))
    return StopReason::Library;
  if (!isa<FusibleOpInterface>(producer))
    return StopReason::Collective;
  if (hasOwnScale(op))
    return StopReason::OwnScale;
  if (isa<DequantizeOp>(producer))
    return StopReason::Dequantized;
  if (auto permute = dyn_cast<PermuteOp>(producer))
    return permute.getOrder().size() == 2 ? StopReason::Transposed
                                          : StopReason::Moved;
  if (isa<ConcatOp, SliceOp>(producer))
    return crossesBoundary(op) ? StopReason::Boundary : StopReason::Moved;
  if (getColumns(cast<RankedTensorType>(tensor.getType())) !=
      getColumns(cast<RankedTensorType>(op.getInput().getType())))
    return StopReason::Reshaped;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static QuantizedType withCopies(QuantizedType type, Copies copies) {
  return QuantizedType::get(type.getContext(), type.getShape(),
                            type.getElementType(), type.getScale(), copies);
}

SmallVector<Type> mlir::fuseops::getPartTypes(QuantizedType type) {
  return llvm::map_to_vector(
      type.getParts(), [](RankedTensorType part) -> Type { return part; });
}

Value mlir::fuseops::selectCopies(OpBuilder &builder, Value value,
                                  Copies copies) {
  auto type = cast<QuantizedType>(value.getType());
  if (type.getCopies() == copies)
    return value;
  auto unpack = UnpackQuantizedOp::create(builder, value.getLoc(),
                                          getPartTypes(type), value);
  ValueRange parts = unpack.getParts();
  // Each copy is two parts, the row copy first.
  parts = copies == Copies::Row ? parts.take_front(2) : parts.take_back(2);
  return PackQuantizedOp::create(builder, value.getLoc(),
                                 withCopies(type, copies), parts);
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

bool mlir::fuseops::foldDequantized(QuantizeOp op, RewriterBase &rewriter) {
  auto dequantize = skipReshapes(op.getInput()).getDefiningOp<DequantizeOp>();
  if (!dequantize || dequantize.getResult() != op.getInput())
    return false;
  auto first = dequantize.getInput().getDefiningOp<QuantizeOp>();
  QuantizedType type = op.getResult().getType();
  // The product with scale_inv and then with scale is off by less than half a
  // unit of FP8 in f32, whose exponents reach further than any scale's; bf16
  // and f16 lose the least ones (rule fp8_c4).
  auto wide = cast<RankedTensorType>(dequantize.getResult().getType());
  if (!first || !op.getScale() || first.getScale() != op.getScale() ||
      withCopies(first.getResult().getType(), type.getCopies()) != type ||
      wide.getElementTypeBitWidth() < 32)
    return false;
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<QuantizeOp>(
      op, type, first.getInput(), first.getScale(), first.getPowerOfTwo(),
      first.getEpsilon());
  return true;
}

bool mlir::fuseops::moveThroughCommuting(QuantizeOp op,
                                         RewriterBase &rewriter) {
  auto moved = op.getInput().getDefiningOp<QuantizableOpInterface>();
  if (!moved || moved->getNumOperands() != 1 ||
      moved->getOperand(0).getType() != op.getInput().getType() ||
      !moved.commutesWithQuantize(op.getResult().getType().getScale()))
    return false;
  rewriter.modifyOpInPlace(
      op, [&] { op.getInputMutable().assign(moved->getOperand(0)); });
  return true;
}

/// Whether a product can read its operand `use` transposed.
static bool isTransposable(OpOperand &use) {
  if (isa<MatmulOp>(use.getOwner()))
    return true;
  auto linear = dyn_cast<LinearOp>(use.getOwner());
  return linear && !linear.getBias();
}

/// Makes the product of `use` read `value` transposed in its place.
static void readTransposed(OpOperand &use, Value value,
                           RewriterBase &rewriter) {
  Operation *op = use.getOwner();
  bool transposed[] = {false, true}, isFast;
  if (auto matmul = dyn_cast<MatmulOp>(op)) {
    transposed[0] = matmul.getTransposeLhs();
    transposed[1] = matmul.getTransposeRhs();
    isFast = matmul.getFastAccumulate();
  } else {
    isFast = cast<LinearOp>(op).getFastAccumulate();
  }
  Value operands[] = {op->getOperand(0), op->getOperand(1)};
  operands[use.getOperandNumber()] = value;
  transposed[use.getOperandNumber()] ^= true;
  rewriter.setInsertionPoint(op);
  auto matmul = MatmulOp::create(
      rewriter, op->getLoc(), op->getResult(0).getType(), operands[0],
      operands[1], transposed[0], transposed[1], isFast);
  matmul->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, matmul);
}

bool mlir::fuseops::moveThroughTranspose(QuantizeOp op,
                                         RewriterBase &rewriter) {
  auto permute = op.getInput().getDefiningOp<PermuteOp>();
  if (!permute || permute.getOrder() != ArrayRef<int64_t>{1, 0} ||
      !llvm::all_of(op->getUses(), isTransposable))
    return false;
  QuantizedType type = op.getResult().getType();
  Copies copies = type.getCopies();
  if (copies != Copies::RowCol)
    copies = copies == Copies::Row ? Copies::Col : Copies::Row;
  auto shape = cast<RankedTensorType>(permute.getInput().getType()).getShape();
  auto swapped = QuantizedType::get(
      op.getContext(), shape, type.getElementType(), type.getScale(), copies);
  rewriter.setInsertionPoint(op);
  auto moved =
      QuantizeOp::create(rewriter, op.getLoc(), swapped, permute.getInput(),
                         op.getScale(), op.getPowerOfTwo(), op.getEpsilon());
  while (!op->use_empty())
    readTransposed(*op->use_begin(), moved.getResult(), rewriter);
  rewriter.eraseOp(op);
  return true;
}
