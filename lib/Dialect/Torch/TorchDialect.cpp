//===- TorchDialect.cpp - Operations in torch-mlir's default form --------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/Torch/Torch.h"

using namespace mlir;
using namespace mlir::fuseops::torch;

#include "FuseOps/Dialect/Torch/TorchDialect.cpp.inc"

static ParseResult parseDefaultForm(OpAsmParser &parser,
                                    OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> operandTypes;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(operands) ||
      parser.parseOptionalAttrDict(state.attributes))
    return failure();
  if (failed(parser.parseOptionalColon())) {
    if (operands.empty())
      return success();
    return parser.emitError(loc, "expected `:` and the types of the operands");
  }
  if (!operands.empty() && parser.parseTypeList(operandTypes))
    return failure();
  bool hasArrow = succeeded(parser.parseOptionalArrow());
  if ((hasArrow || operands.empty()) && parser.parseTypeList(state.types))
    return failure();
  return parser.resolveOperands(operands, operandTypes, loc, state.operands);
}

static void printDefaultForm(Operation *op, OpAsmPrinter &printer) {
  if (op->getNumOperands())
    printer << ' ' << op->getOperands();
  printer.printOptionalAttrDict(op->getAttrs());
  if (op->getNumOperands() || op->getNumResults())
    printer << " : ";
  llvm::interleaveComma(op->getOperandTypes(), printer);
  if (!op->getNumResults())
    return;
  if (op->getNumOperands())
    printer << " -> ";
  llvm::interleaveComma(op->getResultTypes(), printer);
}

std::optional<Dialect::ParseOpHook>
TorchDialect::getParseOperationHook(StringRef) const {
  return ParseOpHook(parseDefaultForm);
}

llvm::unique_function<void(Operation *, OpAsmPrinter &)>
TorchDialect::getOperationPrinter(Operation *op) const {
  // The default form has no place for these: the generic form holds them.
  if (op->getNumRegions() || op->getNumSuccessors() ||
      op->getPropertiesAsAttribute())
    return nullptr;
  return printDefaultForm;
}

void TorchDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "FuseOps/Dialect/Torch/TorchOps.cpp.inc"
      >();
  allowUnknownOperations();
}
