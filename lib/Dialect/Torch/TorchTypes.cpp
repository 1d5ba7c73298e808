//===- TorchTypes.cpp - The types and their syntax -----------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/Torch/Torch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fuseops::torch;

// A type inside another one: torch types come without the `!torch.` prefix.
static Type parseNestedType(AsmParser &parser);
static void printNestedType(AsmPrinter &printer, Type type);

#define GET_TYPEDEF_CLASSES
#include "FuseOps/Dialect/Torch/TorchTypes.cpp.inc"

static Type parseNestedType(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  OptionalParseResult qualified = parser.parseOptionalType(type);
  if (qualified.has_value())
    return succeeded(*qualified) ? type : Type();
  StringRef mnemonic;
  OptionalParseResult nested = generatedTypeParser(parser, &mnemonic, type);
  if (nested.has_value())
    return succeeded(*nested) ? type : Type();
  parser.emitError(loc, "unknown torch type `") << mnemonic << "`";
  return {};
}

static void printNestedType(AsmPrinter &printer, Type type) {
  if (isa<TorchDialect>(type.getDialect()))
    (void)generatedTypePrinter(type, printer);
  else
    printer << type;
}

template <typename T>
static Type parseWrapper(AsmParser &parser) {
  if (parser.parseLess())
    return {};
  Type element = parseNestedType(parser);
  if (!element || parser.parseGreater())
    return {};
  return T::get(parser.getContext(), element);
}

template <typename T>
static Type parseSequence(AsmParser &parser) {
  SmallVector<Type> types;
  auto parseElement = [&]() -> ParseResult {
    types.push_back(parseNestedType(parser));
    return success(static_cast<bool>(types.back()));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseElement))
    return {};
  return T::get(parser.getContext(), types);
}

static void printSequence(AsmPrinter &printer, ArrayRef<Type> types) {
  printer << '<';
  llvm::interleaveComma(types, printer,
                        [&](Type type) { printNestedType(printer, type); });
  printer << '>';
}

Type TorchListType::parse(AsmParser &parser) {
  return parseWrapper<TorchListType>(parser);
}
void TorchListType::print(AsmPrinter &printer) const {
  printSequence(printer, getElementType());
}

Type TorchOptionalType::parse(AsmParser &parser) {
  return parseWrapper<TorchOptionalType>(parser);
}
void TorchOptionalType::print(AsmPrinter &printer) const {
  printSequence(printer, getElementType());
}

Type TorchTupleType::parse(AsmParser &parser) {
  return parseSequence<TorchTupleType>(parser);
}
void TorchTupleType::print(AsmPrinter &printer) const {
  printSequence(printer, getElementTypes());
}

Type TorchUnionType::parse(AsmParser &parser) {
  return parseSequence<TorchUnionType>(parser);
}
void TorchUnionType::print(AsmPrinter &printer) const {
  printSequence(printer, getElementTypes());
}

Type TorchDictType::parse(AsmParser &parser) {
  if (parser.parseLess())
    return {};
  Type key = parseNestedType(parser);
  if (!key || parser.parseComma())
    return {};
  Type value = parseNestedType(parser);
  if (!value || parser.parseGreater())
    return {};
  return get(parser.getContext(), key, value);
}
void TorchDictType::print(AsmPrinter &printer) const {
  printSequence(printer, {getKeyType(), getValueType()});
}

static LogicalResult verifyTensor(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> sizes, Type dtype) {
  for (int64_t size : sizes)
    if (size < 0 && !ShapedType::isDynamic(size))
      return emitError() << "expected a size of at least 0, but got " << size;
  if (dtype && !isa<IntegerType, FloatType, ComplexType>(dtype) &&
      !isa<TorchDialect>(dtype.getDialect()))
    return emitError() << "expected a number as dtype, but got " << dtype;
  return success();
}

LogicalResult
ValueTensorType::verify(function_ref<InFlightDiagnostic()> emitError, bool,
                        ArrayRef<int64_t> sizes, Type dtype) {
  return verifyTensor(emitError, sizes, dtype);
}
LogicalResult
MutableTensorType::verify(function_ref<InFlightDiagnostic()> emitError, bool,
                          ArrayRef<int64_t> sizes, Type dtype) {
  return verifyTensor(emitError, sizes, dtype);
}

// `` | `<` (`*` | `[` sizes `]`) `,` (`unk` | dtype) `>`
template <typename T>
static Type parseTensor(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalLess()))
    return T::get(parser.getContext(), /*hasSizes=*/false, {}, Type());
  SmallVector<int64_t> sizes;
  auto parseSize = [&]() -> ParseResult {
    sizes.push_back(ShapedType::kDynamic);
    if (succeeded(parser.parseOptionalQuestion()))
      return success();
    SMLoc sizeLoc = parser.getCurrentLocation();
    if (parser.parseInteger(sizes.back()))
      return failure();
    if (sizes.back() < 0)
      return parser.emitError(sizeLoc,
                              "expected a size of at least 0, but got ")
             << sizes.back();
    return success();
  };
  bool hasSizes = failed(parser.parseOptionalStar());
  if (hasSizes &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseSize))
    return {};
  if (parser.parseComma())
    return {};
  Type dtype;
  if (failed(parser.parseOptionalKeyword("unk")) && parser.parseType(dtype))
    return {};
  if (parser.parseGreater())
    return {};
  return T::getChecked([&] { return parser.emitError(loc); },
                       parser.getContext(), hasSizes, sizes, dtype);
}

template <typename T>
static void printTensor(T type, AsmPrinter &printer) {
  if (!type.getHasSizes() && !type.getDtype())
    return;
  printer << '<';
  if (type.getHasSizes()) {
    auto printSize = [&](int64_t size) {
      if (ShapedType::isDynamic(size))
        printer << '?';
      else
        printer << size;
    };
    printer << '[';
    llvm::interleave(type.getSizes(), printSize, [&] { printer << ','; });
    printer << ']';
  } else {
    printer << '*';
  }
  printer << ',';
  if (type.getDtype())
    printer << type.getDtype();
  else
    printer << "unk";
  printer << '>';
}

Type ValueTensorType::parse(AsmParser &parser) {
  return parseTensor<ValueTensorType>(parser);
}
void ValueTensorType::print(AsmPrinter &printer) const {
  printTensor(*this, printer);
}
Type MutableTensorType::parse(AsmParser &parser) {
  return parseTensor<MutableTensorType>(parser);
}
void MutableTensorType::print(AsmPrinter &printer) const {
  printTensor(*this, printer);
}

Type mlir::fuseops::torch::getMutableForm(Type type) {
  auto tensor = dyn_cast<ValueTensorType>(type);
  if (!tensor)
    return {};
  return MutableTensorType::get(type.getContext(), tensor.getHasSizes(),
                                tensor.getSizes(), tensor.getDtype());
}

Type TorchDialect::parseType(DialectAsmParser &parser) const {
  SMLoc loc = parser.getCurrentLocation();
  StringRef mnemonic;
  Type type;
  OptionalParseResult result = generatedTypeParser(parser, &mnemonic, type);
  if (result.has_value())
    return succeeded(*result) ? type : Type();
  parser.emitError(loc, "unknown torch type `") << mnemonic << "`";
  return {};
}

void TorchDialect::printType(Type type, DialectAsmPrinter &printer) const {
  (void)generatedTypePrinter(type, printer);
}

void TorchDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "FuseOps/Dialect/Torch/TorchTypes.cpp.inc"
      >();
}
