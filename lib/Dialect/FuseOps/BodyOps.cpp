//===- BodyOps.cpp - Group and pointwise: syntax and rules ---------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/FuseOps.h"

using namespace mlir;
using namespace mlir::fuseops;

//===----------------------------------------------------------------------===//
// GroupOp and PointwiseOp
//===----------------------------------------------------------------------===//

/// Parses `(%a = %x, …) : (types) -> types {region}`; `bodyType` gives a body
/// argument's type from the operand's.
static ParseResult parseBindings(OpAsmParser &parser, OperationState &result,
                                 function_ref<Type(Type)> bodyType) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  FunctionType type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseAssignmentList(arguments, operands) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() ||
      parser.parseType(type) ||
      parser.resolveOperands(operands, type.getInputs(), loc, result.operands))
    return failure();
  for (auto [argument, operandType] : llvm::zip(arguments, type.getInputs())) {
    argument.type = bodyType(operandType);
    if (!argument.type)
      return parser.emitError(loc)
             << "expected a ranked tensor, but got " << operandType;
  }
  result.addTypes(type.getResults());
  return parser.parseRegion(*result.addRegion(), arguments);
}

static void printBindings(OpAsmPrinter &printer, Operation *op, Region &body,
                          ArrayRef<StringRef> elided) {
  printer << " (";
  llvm::interleaveComma(llvm::zip(body.getArguments(), op->getOperands()),
                        printer, [&](auto pair) {
                          printer.printOperand(std::get<0>(pair));
                          printer << " = ";
                          printer.printOperand(std::get<1>(pair));
                        });
  printer << ")";
  printer.printOptionalAttrDict(op->getAttrs(), elided);
  printer << " : ";
  printer.printFunctionalType(op);
  printer << ' ';
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}

ParseResult GroupOp::parse(OpAsmParser &parser, OperationState &result) {
  FlatSymbolRefAttr kernel;
  StringRef word;
  if (parser.parseAttribute(kernel))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<KernelTemplate> kernelTemplate = symbolizeKernelTemplate(word);
  if (!kernelTemplate)
    return parser.emitError(loc)
           << "expected a kernel template (`pointwise`, `row`, `row_column`, "
              "`tile`, `gemm` or `library`), but got `"
           << word << "`";
  result.addAttribute(getKernelAttrName(result.name), kernel);
  result.addAttribute(
      getKernelTemplateAttrName(result.name),
      KernelTemplateAttr::get(parser.getContext(), *kernelTemplate));
  if (succeeded(parser.parseOptionalKeyword("schedule"))) {
    DictionaryAttr schedule;
    if (parser.parseAttribute(schedule))
      return failure();
    result.addAttribute(getScheduleAttrName(result.name), schedule);
  }
  return parseBindings(parser, result, [](Type type) { return type; });
}

void GroupOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getKernelAttr() << ' '
          << stringifyKernelTemplate(getKernelTemplate());
  if (getSchedule())
    printer << " schedule " << *getSchedule();
  printBindings(printer, *this, getBody(),
                {getKernelAttrName(), getKernelTemplateAttrName(),
                 getScheduleAttrName()});
}

LogicalResult GroupOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getInputs().getTypes())
    return emitOpError()
           << "expected the body's arguments to have the operands' types";
  auto yield = cast<YieldOp>(block.getTerminator());
  if (yield.getValues().getTypes() != getOutputs().getTypes()) {
    InFlightDiagnostic diag = yield.emitOpError() << "expected to yield (";
    llvm::interleaveComma(getOutputs().getTypes(), diag);
    diag << "), but got (";
    llvm::interleaveComma(yield.getValues().getTypes(), diag);
    return diag << ")";
  }
  return success();
}

/// Type of the scalar that a pointwise body sees of a tensor of type `type`.
static Type getScalarType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? getComputeType(tensor.getElementType()) : Type();
}

ParseResult PointwiseOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseBindings(parser, result, getScalarType);
}

void PointwiseOp::print(OpAsmPrinter &printer) {
  printBindings(printer, *this, getBody(), {});
}

LogicalResult PointwiseOp::verifyRegions() {
  if (getOutputs().empty())
    return emitOpError() << "expected at least one result";
  auto shapeOf = [](Type type) { return cast<RankedTensorType>(type); };
  RankedTensorType space = shapeOf(getOutputs().front().getType());
  for (Type type : getOutputs().getTypes())
    if (shapeOf(type).getShape() != space.getShape())
      return emitOpError() << "expected all results to have the shape of "
                           << space << ", but got " << type;
  for (auto [index, type] : llvm::enumerate(getInputs().getTypes()))
    if (!isBroadcastableTo(shapeOf(type), space))
      return emitOpError() << "expected operand " << index
                           << " to broadcast to the shape of " << space
                           << ", but got " << type;
  Block &block = getBody().front();
  if (block.getNumArguments() != getInputs().size())
    return emitOpError() << "expected the body to have " << getInputs().size()
                         << " arguments, but got " << block.getNumArguments();
  for (auto [index, argument] : llvm::enumerate(block.getArguments())) {
    Type expected = getScalarType(getInputs()[index].getType());
    if (argument.getType() != expected)
      return emitOpError() << "expected body argument " << index << " to be "
                           << expected << ", but got " << argument.getType();
  }
  auto yield = cast<YieldOp>(block.getTerminator());
  if (yield.getValues().size() != getOutputs().size())
    return yield.emitOpError()
           << "expected " << getOutputs().size() << " scalars, but got "
           << yield.getValues().size();
  for (auto [index, value] : llvm::enumerate(yield.getValues())) {
    Type expected = getScalarType(getOutputs()[index].getType());
    if (value.getType() != expected)
      return yield.emitOpError() << "expected scalar " << index << " to be "
                                 << expected << ", but got " << value.getType();
  }
  for (Operation &op : block)
    for (Value operand : op.getOperands())
      if (operand.getParentBlock() != &block)
        return op.emitOpError() << "expected only values of the "
                                   "`fuseops.pointwise` body as operands";
  for (Operation &op : block.without_terminator()) {
    bool isScalar =
        llvm::all_of(op.getOperandTypes(),
                     [](Type type) { return type.isIntOrIndexOrFloat(); }) &&
        llvm::all_of(op.getResultTypes(),
                     [](Type type) { return type.isIntOrIndexOrFloat(); });
    bool isKnown =
        isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) ||
        isa<LinearIndexOp, ColumnIndexOp, SpecialOp>(op);
    if (!isScalar || !isKnown || op.getNumRegions())
      return op.emitOpError() << "expected only scalar `arith` and `math` "
                                 "operations in a `fuseops.pointwise` body";
  }
  return success();
}

PointwiseOp PointwiseOp::build(
    OpBuilder &builder, Location loc, TypeRange resultTypes,
    ValueRange operands,
    function_ref<SmallVector<Value>(OpBuilder &, Location, ValueRange)> body) {
  auto op = PointwiseOp::create(builder, loc, resultTypes, operands);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&op.getBody());
  for (Value operand : operands)
    block->addArgument(getScalarType(operand.getType()), loc);
  SmallVector<Value> results = body(builder, loc, block->getArguments());
  for (auto [result, type] : llvm::zip(results, resultTypes))
    if (isa<FloatType>(result.getType()) &&
        result.getType() != getScalarType(type))
      result = arith::ExtFOp::create(builder, loc, getScalarType(type), result);
  YieldOp::create(builder, loc, results);
  return op;
}
