//===- StructureOps.cpp - Fusible, return, apply: syntax and rules ----===//
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

static bool hasSymbolicColumns(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() &&
         tensor.isDynamicDim(tensor.getRank() - 1);
}

/// What a value of a program may be: a tensor of integers or floats, or a
/// quantized one. At most one of its extents may be dynamic: it is the one
/// symbolic row count, or the number of blocks of rows.
static LogicalResult verifyTensor(Operation *op, Type type, const Twine &what) {
  ArrayRef<int64_t> shape;
  if (auto quantized = dyn_cast<QuantizedType>(type)) {
    shape = quantized.getShape();
  } else {
    auto tensor = cast<RankedTensorType>(type);
    shape = tensor.getShape();
    Attribute encoding = tensor.getEncoding();
    if (encoding && (!isa<BlocksAttr>(encoding) || tensor.hasStaticShape()))
      return op->emitOpError()
             << what << " has type " << type
             << ", but the only encoding is `#fuseops.blocks`, of a `?`";
    if (!isElementType(tensor.getElementType()))
      return op->emitOpError()
             << what << " has type " << type
             << ", but elements may only be f16, bf16, f32, f64, FP8, i1, i8, "
                "ui8, i16, i32 or i64";
  }
  if (llvm::count(shape, ShapedType::kDynamic) > 1)
    return op->emitOpError() << what << " has type " << type
                             << ", but at most one extent may be `?`";
  bool mayBeTransposed = isa<RankedTensorType>(type) && shape.size() == 2;
  if (!mayBeTransposed && !shape.empty() && ShapedType::isDynamic(shape.back()))
    return op->emitOpError() << what << " has type " << type
                             << ", but the last extent may not be `?`: only "
                                "the number of rows is symbolic";
  return success();
}

/// The transposed copy of a quantized tensor has `?` last. What moves such a
/// tensor, or multiplies it, is all that may touch it.
static bool mayHaveSymbolicColumns(Operation *op) {
  return isa<PermuteOp, PackQuantizedOp, UnpackQuantizedOp, ScaledMatmulOp,
             GroupOp, LaunchOp, ReturnOp, YieldOp>(op);
}

/// Every tensor that the operations of `region` read and compute, those of
/// groups included.
static LogicalResult verifyTensors(FusibleOp fusible, Region &region) {
  auto verifyColumns = [&](Operation *op, Type type, const Twine &what) {
    if (!hasSymbolicColumns(type) || mayHaveSymbolicColumns(op))
      return success();
    return LogicalResult(op->emitOpError()
                         << what << " has type " << type
                         << ", but the last extent may not be `?`: only the "
                            "number of rows is symbolic");
  };
  WalkResult walk = region.walk([&](Operation *op) {
    for (OpResult result : op->getResults()) {
      std::string what = ("result " + Twine(result.getResultNumber())).str();
      if (isa<RankedTensorType>(result.getType()) &&
          (failed(verifyTensor(op, result.getType(), what)) ||
           failed(verifyColumns(op, result.getType(), what))))
        return WalkResult::interrupt();
    }
    for (OpOperand &operand : op->getOpOperands())
      if (failed(verifyColumns(op, operand.get().getType(),
                               "operand " + Twine(operand.getOperandNumber()))))
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
  for (auto [name, indices] : {std::pair("frozen_results", getFrozenResults()),
                               {"missing_gradients", getMissingGradients()}})
    for (int64_t index : indices)
      if (index < 0 || index >= static_cast<int64_t>(getResultTypes().size()))
        return emitOpError()
               << "expected `" << name << "` below " << getResultTypes().size()
               << ", but got " << index;
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
  if (failed(verifyTensors(*this, getForward())) ||
      failed(verifyTensors(*this, getBackward())))
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
