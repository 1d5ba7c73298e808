//===- TorchOps.cpp - The operations with a syntax of their own ----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/Torch/Torch.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::fuseops::torch;

// An integer attribute without its type, so that `-1` needs no suffix.
static ParseResult parseInteger(OpAsmParser &parser, IntegerAttr &value) {
  int64_t integer;
  if (parser.parseInteger(integer))
    return failure();
  value = parser.getBuilder().getI64IntegerAttr(integer);
  return success();
}

static void printInteger(OpAsmPrinter &printer, Operation *,
                         IntegerAttr value) {
  printer << value.getInt();
}

LogicalResult BindSymbolicShapeOp::verify() {
  AffineMap map = getShapeExpressions();
  if (map.getNumSymbols() != getShapeSymbols().size() || map.getNumDims() != 0)
    return emitOpError("expected expressions of ")
           << getShapeSymbols().size() << " symbols, but got "
           << map.getNumSymbols() << " symbols and " << map.getNumDims()
           << " dimensions";
  ValueTensorType type = getOperand().getType();
  if (type.getHasSizes() && map.getNumResults() != type.getSizes().size())
    return emitOpError("expected ")
           << type.getSizes().size() << " expressions, but got "
           << map.getNumResults();
  return success();
}

#define GET_OP_CLASSES
#include "FuseOps/Dialect/Torch/TorchOps.cpp.inc"
