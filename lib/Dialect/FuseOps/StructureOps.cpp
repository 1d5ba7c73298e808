//===- StructureOps.cpp - Fusible, group, pointwise: syntax and rules ----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/FuseOps.h"

using namespace mlir;
using namespace mlir::fuseops;

//===----------------------------------------------------------------------===//
// FusibleOp
//===----------------------------------------------------------------------===//

ParseResult FusibleOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> resultTypes;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name),
                             result.attributes) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true, /*allowAttrs=*/true) ||
      parser.parseOptionalArrowTypeList(resultTypes) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();

  SmallVector<Type> types;
  SmallVector<Attribute> attributes;
  bool hasAttributes = false;
  for (OpAsmParser::Argument &argument : arguments) {
    types.push_back(argument.type);
    DictionaryAttr attrs =
        argument.attrs ? argument.attrs : builder.getDictionaryAttr({});
    hasAttributes |= !attrs.empty();
    attributes.push_back(attrs);
  }
  result.addAttribute(
      getFunctionTypeAttrName(result.name),
      TypeAttr::get(builder.getFunctionType(types, resultTypes)));
  if (hasAttributes)
    result.addAttribute(getArgAttrsAttrName(result.name),
                        builder.getArrayAttr(attributes));

  Region *forward = result.addRegion();
  Region *backward = result.addRegion();
  if (parser.parseKeyword("forward") || parser.parseRegion(*forward, arguments))
    return failure();
  if (failed(parser.parseOptionalKeyword("backward")))
    return success();
  SmallVector<OpAsmParser::Argument> incoming;
  auto parseIncoming = [&]() -> ParseResult {
    (void)parser.parseOptionalKeyword("saved");
    return parser.parseArgument(incoming.emplace_back(), /*allowType=*/true);
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                     parseIncoming) ||
      parser.parseRegion(*backward, incoming))
    return failure();
  return success();
}

void FusibleOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  llvm::interleaveComma(
      getForward().getArguments(), printer, [&](BlockArgument argument) {
        DictionaryAttr attrs =
            getArgAttrs() ? cast<DictionaryAttr>(
                                (*getArgAttrs())[argument.getArgNumber()])
                          : DictionaryAttr();
        printer.printRegionArgument(
            argument, attrs ? attrs.getValue() : ArrayRef<NamedAttribute>());
      });
  printer << ')';
  printer.printOptionalArrowTypeList(getResultTypes());
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getSymNameAttrName(), getFunctionTypeAttrName(), getArgAttrsAttrName()});
  printer.printNewline();
  printer << "forward ";
  printer.printRegion(getForward(), /*printEntryBlockArgs=*/false);
  if (!hasBackward())
    return;
  printer.printNewline();
  printer << "backward (";
  unsigned numGradients = getGradientTypes().size();
  llvm::interleaveComma(getBackward().getArguments(), printer,
                        [&](BlockArgument argument) {
                          if (argument.getArgNumber() >= numGradients)
                            printer << "saved ";
                          printer.printRegionArgument(argument);
                        });
  printer << ") ";
  printer.printRegion(getBackward(), /*printEntryBlockArgs=*/false);
}

/// The type of the gradient of an argument or result of type `type`; null where
/// such a value has none: integers and quantized tensors.
static Type getGradientType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && isa<FloatType>(tensor.getElementType()) &&
      tensor.getElementTypeBitWidth() >= 16)
    return tensor;
  return {};
}

bool FusibleOp::resultHasGradient(unsigned index) {
  return getGradientType(getResultTypes()[index]) &&
         !llvm::is_contained(getFrozenResults(), index);
}

SmallVector<Type> FusibleOp::getGradientTypes() {
  SmallVector<Type> types;
  for (auto [index, type] : llvm::enumerate(getResultTypes()))
    if (resultHasGradient(index))
      types.push_back(type);
  return types;
}

bool FusibleOp::wantsGradient(unsigned index) {
  if (!getGradientType(getArgumentTypes()[index]))
    return false;
  return !getArgAttrs() ||
         !cast<DictionaryAttr>((*getArgAttrs())[index]).contains(kFrozenAttr);
}

ReturnOp FusibleOp::getForwardReturn() {
  return cast<ReturnOp>(getForward().front().getTerminator());
}
ReturnOp FusibleOp::getBackwardReturn() {
  return cast<ReturnOp>(getBackward().front().getTerminator());
}

/// What a value of a program may be: a tensor of integers or floats, or a
/// quantized one. At most one of its extents may be dynamic, and not the last:
/// it is the one symbolic row count.
static LogicalResult verifyTensor(Operation *op, Type type, const Twine &what) {
  ArrayRef<int64_t> shape;
  if (auto quantized = dyn_cast<QuantizedType>(type)) {
    shape = quantized.getShape();
  } else {
    auto tensor = cast<RankedTensorType>(type);
    shape = tensor.getShape();
    if (!tensor.getElementType().isIntOrFloat())
      return op->emitOpError() << what << " has type " << type
                               << ", but only integers and floats may be "
                                  "elements";
  }
  if (llvm::count(shape, ShapedType::kDynamic) > 1)
    return op->emitOpError() << what << " has type " << type
                             << ", but at most one extent may be `?`";
  if (!shape.empty() && ShapedType::isDynamic(shape.back()))
    return op->emitOpError() << what << " has type " << type
                             << ", but the last extent may not be `?`: only "
                                "the number of rows is symbolic";
  return success();
}

/// Every tensor that the operations of `region` compute, those of groups
/// included. The transposed copy of a quantized tensor has `?` last.
static LogicalResult verifyTensors(Region &region) {
  WalkResult walk = region.walk([](Operation *op) {
    if (isa<UnpackQuantizedOp>(op))
      return WalkResult::advance();
    for (OpResult result : op->getResults())
      if (isa<RankedTensorType>(result.getType()) &&
          failed(verifyTensor(op, result.getType(),
                              "result " + Twine(result.getResultNumber()))))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult FusibleOp::verify() {
  for (auto [index, type] : llvm::enumerate(getArgumentTypes())) {
    if (!isa<RankedTensorType, QuantizedType>(type))
      return emitOpError() << "expected argument " << index
                           << " to be a ranked or quantized tensor, but got "
                           << type;
    if (failed(verifyTensor(*this, type, "argument " + Twine(index))))
      return failure();
  }
  for (auto [index, type] : llvm::enumerate(getResultTypes())) {
    if (!isa<RankedTensorType, QuantizedType>(type))
      return emitOpError() << "expected result " << index
                           << " to be a ranked or quantized tensor, but got "
                           << type;
    if (failed(verifyTensor(*this, type, "result " + Twine(index))))
      return failure();
  }
  if (getArgAttrs() && getArgAttrs()->size() != getArgumentTypes().size())
    return emitOpError() << "expected " << getArgumentTypes().size()
                         << " argument attributes, but got "
                         << getArgAttrs()->size();
  for (int64_t index : getFrozenResults())
    if (index < 0 || index >= static_cast<int64_t>(getResultTypes().size()))
      return emitOpError() << "expected `frozen_results` below "
                           << getResultTypes().size() << ", but got " << index;
  if (getForward().front().getArgumentTypes() != TypeRange(getArgumentTypes()))
    return emitOpError() << "expected the forward region's arguments to have "
                            "the types of the signature";
  if (!getBackward().empty() && !getBackward().hasOneBlock())
    return emitOpError() << "expected the backward region to have one block";
  return success();
}

/// Verifies that `region` ends in a return, and gives it.
static FailureOr<ReturnOp> verifyTerminator(FusibleOp op, Region &region,
                                            StringRef name) {
  Block &block = region.front();
  auto returnOp = block.empty() ? ReturnOp() : dyn_cast<ReturnOp>(block.back());
  if (!returnOp)
    return op.emitOpError()
           << "expected the " << name << " region to end in `fuseops.return`";
  return returnOp;
}

LogicalResult FusibleOp::verifyRegions() {
  FailureOr<ReturnOp> forward =
      verifyTerminator(*this, getForward(), "forward");
  if (failed(forward))
    return failure();
  if (!forward->getAbsent().empty())
    return forward->emitOpError()
           << "expected a value for each result, but got `none`: only the "
              "backward region may return it";
  if (forward->getValues().getTypes() != TypeRange(getResultTypes())) {
    InFlightDiagnostic diag = forward->emitOpError()
                              << "expected the forward region to return (";
    llvm::interleaveComma(getResultTypes(), diag);
    diag << "), but got (";
    llvm::interleaveComma(forward->getValues().getTypes(), diag);
    return diag << ")";
  }
  if (failed(verifyTensors(getForward())) ||
      failed(verifyTensors(getBackward())))
    return failure();
  if (!hasBackward())
    return success();

  SmallVector<Type> expected = getGradientTypes();
  llvm::append_range(expected, forward->getSaved().getTypes());
  TypeRange found = getBackward().front().getArgumentTypes();
  if (found != TypeRange(expected)) {
    InFlightDiagnostic diag = emitOpError()
                              << "expected the backward region to take (";
    llvm::interleaveComma(expected, diag);
    diag << "): the gradients of the results, then what forward saves; but got "
            "(";
    llvm::interleaveComma(found, diag);
    return diag << ")";
  }
  FailureOr<ReturnOp> backward =
      verifyTerminator(*this, getBackward(), "backward");
  if (failed(backward))
    return failure();
  if (!backward->getSaved().empty())
    return backward->emitOpError() << "expected no saved values in the "
                                      "backward region, but got "
                                   << backward->getSaved().size();
  SmallVector<Value> gradients = backward->getValuesOrNull();
  if (gradients.size() != getArgumentTypes().size())
    return backward->emitOpError()
           << "expected one gradient or `none` for each of the "
           << getArgumentTypes().size() << " arguments, but got "
           << gradients.size();
  for (auto [index, gradient] : llvm::enumerate(gradients)) {
    Type type = getGradientType(getArgumentTypes()[index]);
    if (!gradient)
      continue;
    if (!type)
      return backward->emitOpError()
             << "expected `none` for argument " << index << ", which has type "
             << getArgumentTypes()[index] << " and so no gradient, but got "
             << gradient.getType();
    if (gradient.getType() != type)
      return backward->emitOpError()
             << "expected the gradient of argument " << index << " to be "
             << type << ", but got " << gradient.getType();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// ReturnOp
//===----------------------------------------------------------------------===//

SmallVector<Value> ReturnOp::getValuesOrNull() {
  SmallVector<Value> all(getValues().size() + getAbsent().size());
  unsigned next = 0;
  for (unsigned index = 0; index < all.size(); ++index)
    if (!llvm::is_contained(getAbsent(), index))
      all[index] = getValues()[next++];
  return all;
}

void ReturnOp::buildWithNull(OpBuilder &builder, Location loc,
                             ArrayRef<Value> values) {
  SmallVector<Value> present;
  SmallVector<int64_t> absent;
  for (auto [index, value] : llvm::enumerate(values)) {
    if (value)
      present.push_back(value);
    else
      absent.push_back(index);
  }
  ReturnOp::create(builder, loc, present, ValueRange(), absent);
}

ParseResult ReturnOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> values, saved;
  SmallVector<int64_t> absent;
  SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  int64_t index = 0;
  auto parseValue = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalKeyword("none"))) {
      absent.push_back(index++);
      return success();
    }
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult parsed = parser.parseOptionalOperand(operand);
    if (!parsed.has_value()) {
      // Nothing is returned: what follows is `save`, `:` or the end.
      if (index == 0)
        return success();
      return parser.emitError(parser.getCurrentLocation(),
                              "expected a value or `none`");
    }
    if (failed(*parsed))
      return failure();
    ++index;
    values.push_back(operand);
    return success();
  };
  if (parser.parseCommaSeparatedList(parseValue))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("save")) &&
      parser.parseOperandList(saved, OpAsmParser::Delimiter::Paren))
    return failure();
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseOptionalColonTypeList(types))
    return failure();
  if (types.size() != values.size() + saved.size())
    return parser.emitError(loc)
           << "expected " << values.size() + saved.size()
           << " types, one for each value, but got " << types.size();
  ArrayRef<Type> allTypes(types);
  if (parser.resolveOperands(values, allTypes.take_front(values.size()), loc,
                             result.operands) ||
      parser.resolveOperands(saved, allTypes.drop_front(values.size()), loc,
                             result.operands))
    return failure();
  Properties &properties = result.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {static_cast<int32_t>(values.size()),
                                    static_cast<int32_t>(saved.size())};
  properties.absent = parser.getBuilder().getDenseI64ArrayAttr(absent);
  return success();
}

void ReturnOp::print(OpAsmPrinter &printer) {
  if (!getValues().empty() || !getAbsent().empty()) {
    printer << ' ';
    llvm::interleaveComma(getValuesOrNull(), printer, [&](Value value) {
      if (value)
        printer << value;
      else
        printer << "none";
    });
  }
  if (!getSaved().empty())
    printer << " save(" << getSaved() << ')';
  printer.printOptionalAttrDict(
      (*this)->getAttrs(),
      {getOperandSegmentSizesAttrName(), getAbsentAttrName()});
  if (getNumOperands()) {
    printer << " : ";
    llvm::interleaveComma(getOperandTypes(), printer);
  }
}

LogicalResult ReturnOp::verify() {
  int64_t count = getValues().size() + getAbsent().size();
  int64_t last = -1;
  for (int64_t index : getAbsent()) {
    if (index <= last || index >= count)
      return emitOpError() << "expected `absent` to hold increasing positions "
                              "below "
                           << count << ", but got " << index;
    last = index;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// ApplyOp
//===----------------------------------------------------------------------===//

LogicalResult ApplyOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto parent = dyn_cast<FusibleOp>((*this)->getParentOp());
  if (!parent || (*this)->getParentRegion() != &parent.getForward())
    return emitOpError()
           << "expected to stand in the forward region of a `fuseops.fusible`";
  auto callee =
      symbols.lookupNearestSymbolFrom<FusibleOp>(*this, getCalleeAttr());
  if (!callee)
    return emitOpError() << "expected `" << getCallee()
                         << "` to be a `fuseops.fusible`, but there is none of "
                            "that name";
  auto check = [&](TypeRange expected, TypeRange found, StringRef what) {
    if (expected == found)
      return success();
    InFlightDiagnostic diag = emitOpError() << "expected " << what << " (";
    llvm::interleaveComma(expected, diag);
    diag << "), but got (";
    llvm::interleaveComma(found, diag);
    diag << ")";
    diag.attachNote(callee.getLoc()) << "`" << getCallee() << "` is here";
    return failure();
  };
  return failure(failed(check(TypeRange(callee.getArgumentTypes()),
                              getInputs().getTypes(), "operands")) ||
                 failed(check(TypeRange(callee.getResultTypes()),
                              getOutputs().getTypes(), "results")));
}

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
           << "expected a kernel template (`pointwise`, `row`, `row_column` or "
              "`library`), but got `"
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
        isa<LinearIndexOp>(op);
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
