//===- QuantizationTypes.cpp - Quantized tensor types and recipes --- ===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "Verify.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::fuseops;

//===----------------------------------------------------------------------===//
// QuantizedType
//===----------------------------------------------------------------------===//

ParseResult mlir::fuseops::parseScaleWord(AsmParser &parser, ScaleKind &kind) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  std::string spelled = word.str();
  if (succeeded(parser.parseOptionalLess())) {
    SmallVector<int64_t> block;
    if (parser.parseDimensionList(block, /*allowDynamic=*/false,
                                  /*withTrailingX=*/false) ||
        parser.parseGreater())
      return failure();
    spelled += "<";
    llvm::raw_string_ostream os(spelled);
    llvm::interleave(block, os, "x");
    os << ">";
  }
  std::optional<ScaleKind> known = symbolizeScaleKind(spelled);
  if (!known)
    return parser.emitError(loc)
           << "expected scale `per_tensor`, `per_row`, `block<1x128>`, "
              "`block<128x128>` or `mx<1x32>`, but got `"
           << spelled << "`";
  kind = *known;
  return success();
}

void mlir::fuseops::printScaleWord(AsmPrinter &printer, ScaleKind kind) {
  printer << stringifyScaleKind(kind);
}

Type QuantizedType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  if (parser.parseLess() || parser.parseDimensionList(shape) ||
      parser.parseType(element) || parser.parseComma() ||
      parser.parseKeyword("scale") || parser.parseEqual())
    return {};
  ScaleKind scale{};
  if (parseScaleWord(parser, scale) || parser.parseComma() ||
      parser.parseKeyword("copies") || parser.parseEqual())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return {};
  std::optional<Copies> copies = symbolizeCopies(word);
  if (!copies) {
    parser.emitError(loc) << "expected copies `row`, `col` or `row_col`, but "
                             "got `"
                          << word << "`";
    return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<QuantizedType>(parser.getContext(), ArrayRef(shape),
                                          element, scale, *copies);
}

void QuantizedType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  printer << "x" << getElementType()
          << ", scale = " << stringifyScaleKind(getScale())
          << ", copies = " << stringifyCopies(getCopies()) << ">";
}

LogicalResult
QuantizedType::verify(function_ref<InFlightDiagnostic()> emitError,
                      ArrayRef<int64_t> shape, Type elementType, ScaleKind,
                      Copies) {
  if (shape.size() != 2)
    return emitError() << "expected a quantized tensor of rank 2, but got rank "
                       << shape.size();
  if (!isa<Float8E4M3FNType, Float8E5M2Type>(elementType))
    return emitError()
           << "expected element type `f8E4M3FN` or `f8E5M2`, but got "
           << elementType;
  return success();
}

/// The scale_inv of a copy of type `data`.
static RankedTensorType getScaleType(RankedTensorType data, ScaleKind scale) {
  Type f32 = Float32Type::get(data.getContext());
  switch (scale) {
  case ScaleKind::PerTensor:
    return RankedTensorType::get({}, f32);
  case ScaleKind::PerRow:
    return RankedTensorType::get({data.getDimSize(0), 1}, f32);
  case ScaleKind::Block1x128: {
    RankedTensorType grid = getBlocksType(data, 1, 128, f32);
    return getTensorLike(grid, {grid.getDimSize(1), grid.getDimSize(0)}, f32);
  }
  case ScaleKind::Block128x128: {
    RankedTensorType grid = getBlocksType(data, 128, 128, f32);
    if (grid.isDynamicDim(1))
      return grid;
    return withColumns(grid, llvm::alignTo(grid.getDimSize(1), 4), f32);
  }
  case ScaleKind::MX1x32:
    return getBlocksType(data, 1, 32, Float8E8M0FNUType::get(f32.getContext()));
  }
  llvm_unreachable("unknown scale");
}

// fp8_c2, fp8_t3: what the consumer reads is what quantize writes.
SmallVector<RankedTensorType> QuantizedType::getParts() const {
  SmallVector<RankedTensorType> parts;
  auto addCopy = [&](int64_t rows, int64_t columns) {
    parts.push_back(RankedTensorType::get({rows, columns}, getElementType()));
    parts.push_back(getScaleType(parts.back(), getScale()));
  };
  if (hasRowCopy())
    addCopy(getShape()[0], getShape()[1]);
  if (hasColCopy())
    addCopy(getShape()[1], getShape()[0]);
  return parts;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

LogicalResult BlocksAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t size) {
  if (size != 32 && size != 128)
    return emitError() << "expected blocks of 32 or 128, but got " << size;
  return success();
}

RecipeAttr RecipeAttr::getDefault(MLIRContext *context, RecipeKind kind) {
  bool isBlock = kind == RecipeKind::Block || kind == RecipeKind::MX;
  bool isE4M3 = isBlock || kind == RecipeKind::Rowwise;
  return get(context, kind, isE4M3 ? RecipeFormat::E4M3 : RecipeFormat::Hybrid,
             /*powerOfTwo=*/isBlock,
             FloatAttr::get(Float32Type::get(context), 0.0), /*margin=*/0,
             /*history=*/1024, AmaxAlgorithm::Max,
             /*highPrecisionWgrad=*/false);
}

LogicalResult RecipeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 RecipeKind kind, RecipeFormat, bool powerOfTwo,
                                 FloatAttr epsilon, int64_t margin,
                                 int64_t history, AmaxAlgorithm, bool) {
  if (!epsilon.getType().isF32() || !epsilon.getValue().isFinite() ||
      epsilon.getValue().isNegative())
    return emitError() << "expected an epsilon of f32 of at least 0, but got "
                       << epsilon;
  if (history < 1)
    return emitError() << "expected a history of at least 1, but got "
                       << history;
  if (margin < 0 || margin > 127)
    return emitError() << "expected a margin from 0 to 127, but got " << margin;
  if (kind == RecipeKind::MX && !powerOfTwo)
    return emitError() << "expected `power_of_two` of recipe `mx`, whose "
                          "scales have no mantissa";
  return success();
}

/// Parses a word of an enumeration.
template <typename T>
static ParseResult parseWord(AsmParser &parser, T &value,
                             std::optional<T> (*symbolize)(StringRef),
                             StringRef expected) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<T> found = symbolize(word);
  if (!found)
    return parser.emitError(loc)
           << "expected " << expected << ", but got `" << word << "`";
  value = *found;
  return success();
}

/// What differs from the kind's default is written, `key = value`.
Attribute RecipeAttr::parse(AsmParser &parser, Type) {
  RecipeKind kind;
  if (parser.parseLess() ||
      parseWord<RecipeKind>(parser, kind, symbolizeRecipeKind,
                            "recipe `none`, `delayed`, `current`, `block`, "
                            "`rowwise` or `mx`"))
    return {};
  MLIRContext *context = parser.getContext();
  RecipeAttr base = getDefault(context, kind);
  RecipeFormat format = base.getFormat();
  bool powerOfTwo = base.getPowerOfTwo(), wgrad = base.getHighPrecisionWgrad();
  double epsilon = 0.0;
  int64_t margin = base.getMargin(), history = base.getHistory();
  AmaxAlgorithm algorithm = base.getAmaxAlgorithm();
  auto parseBool = [&](bool &value) -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    if (parser.parseKeyword(&word))
      return failure();
    if (word != "true" && word != "false")
      return parser.emitError(loc)
             << "expected `true` or `false`, but got `" << word << "`";
    value = word == "true";
    return success();
  };
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return {};
    ParseResult result =
        llvm::StringSwitch<function_ref<ParseResult()>>(key)
            .Case("format",
                  [&] {
                    return parseWord<RecipeFormat>(parser, format,
                                                   symbolizeRecipeFormat,
                                                   "`hybrid` or `e4m3`");
                  })
            .Case("power_of_two", [&] { return parseBool(powerOfTwo); })
            .Case("high_precision_wgrad", [&] { return parseBool(wgrad); })
            .Case("epsilon", [&] { return parser.parseFloat(epsilon); })
            .Case("margin", [&] { return parser.parseInteger(margin); })
            .Case("history", [&] { return parser.parseInteger(history); })
            .Case("amax_algorithm",
                  [&] {
                    return parseWord<AmaxAlgorithm>(parser, algorithm,
                                                    symbolizeAmaxAlgorithm,
                                                    "`max` or `most_recent`");
                  })
            .Default([&]() -> ParseResult {
              return parser.emitError(loc)
                     << "expected `format`, `power_of_two`, "
                        "`high_precision_wgrad`, `epsilon`, `margin`, "
                        "`history` or `amax_algorithm`, but got `"
                     << key << "`";
            })();
    if (failed(result))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<RecipeAttr>(
      context, kind, format, powerOfTwo,
      FloatAttr::get(Float32Type::get(context), static_cast<float>(epsilon)),
      margin, history, algorithm, wgrad);
}

void RecipeAttr::print(AsmPrinter &printer) const {
  RecipeAttr base = getDefault(getContext(), getKind());
  printer << "<" << stringifyRecipeKind(getKind());
  auto word = [](bool value) { return value ? "true" : "false"; };
  if (getFormat() != base.getFormat())
    printer << ", format = " << stringifyRecipeFormat(getFormat());
  if (getPowerOfTwo() != base.getPowerOfTwo())
    printer << ", power_of_two = " << word(getPowerOfTwo());
  if (getEpsilon() != base.getEpsilon())
    printer << ", epsilon = " << getEpsilon().getValue();
  if (getMargin() != base.getMargin())
    printer << ", margin = " << getMargin();
  if (getHistory() != base.getHistory())
    printer << ", history = " << getHistory();
  if (getAmaxAlgorithm() != base.getAmaxAlgorithm())
    printer << ", amax_algorithm = "
            << stringifyAmaxAlgorithm(getAmaxAlgorithm());
  if (getHighPrecisionWgrad() != base.getHighPrecisionWgrad())
    printer << ", high_precision_wgrad = " << word(getHighPrecisionWgrad());
  printer << ">";
}
