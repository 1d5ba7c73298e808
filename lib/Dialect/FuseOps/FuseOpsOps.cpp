//===- FuseOpsOps.cpp - Syntax and verifiers of the named operations -----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "Verify.h"

using namespace mlir;
using namespace mlir::fuseops;

//===----------------------------------------------------------------------===//
// Words and numbers in the syntax
//===----------------------------------------------------------------------===//

static ParseResult parseDouble(OpAsmParser &parser, FloatAttr &attr) {
  double value;
  if (parser.parseFloat(value))
    return failure();
  attr = parser.getBuilder().getF64FloatAttr(value);
  return success();
}
static void printDouble(OpAsmPrinter &printer, Operation *, FloatAttr attr) {
  printer.printFloat(attr.getValue());
}

static ParseResult parseInteger(OpAsmParser &parser, IntegerAttr &attr) {
  int64_t value;
  if (parser.parseInteger(value))
    return failure();
  attr = parser.getBuilder().getI64IntegerAttr(value);
  return success();
}
static void printInteger(OpAsmPrinter &printer, Operation *, IntegerAttr attr) {
  printer << attr.getInt();
}

/// `step(n)`, left out where it is 1.
static ParseResult parseStep(OpAsmParser &parser, IntegerAttr &attr) {
  if (failed(parser.parseOptionalKeyword("step"))) {
    attr = parser.getBuilder().getI64IntegerAttr(1);
    return success();
  }
  return failure(parser.parseLParen() || parseInteger(parser, attr) ||
                 parser.parseRParen());
}
static void printStep(OpAsmPrinter &printer, Operation *, IntegerAttr attr) {
  if (attr.getInt() != 1)
    printer << " step(" << attr.getInt() << ")";
}

/// Parses one of an enumeration's words; `expected` lists them for the error.
template <typename AttrT, typename SymbolizeFn>
static ParseResult parseWord(OpAsmParser &parser, AttrT &attr,
                             SymbolizeFn symbolize, StringRef expected) {
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  auto kind = symbolize(word);
  if (!kind)
    return parser.emitError(loc)
           << "expected " << expected << ", but got `" << word << "`";
  attr = AttrT::get(parser.getContext(), *kind);
  return success();
}

static ParseResult parseGeluKind(OpAsmParser &parser, GeluKindAttr &attr) {
  return parseWord(
      parser, attr, [](StringRef word) { return symbolizeGeluKind(word); },
      "`none` or `tanh`");
}
static void printGeluKind(OpAsmPrinter &printer, Operation *,
                          GeluKindAttr attr) {
  printer << stringifyGeluKind(attr.getValue());
}

/// `approximate(none)`; the tanh form is not written.
static ParseResult parseOptionalGeluKind(OpAsmParser &parser,
                                         GeluKindAttr &attr) {
  if (failed(parser.parseOptionalKeyword("approximate"))) {
    attr = GeluKindAttr::get(parser.getContext(), GeluKind::Tanh);
    return success();
  }
  return failure(parser.parseLParen() || parseGeluKind(parser, attr) ||
                 parser.parseRParen());
}
static void printOptionalGeluKind(OpAsmPrinter &printer, Operation *,
                                  GeluKindAttr attr) {
  if (attr.getValue() != GeluKind::Tanh)
    printer << "approximate(" << stringifyGeluKind(attr.getValue()) << ")";
}

static ParseResult parsePairOrder(OpAsmParser &parser, PairOrderAttr &attr) {
  return parseWord(
      parser, attr, [](StringRef word) { return symbolizePairOrder(word); },
      "`half` or `interleaved`");
}
static void printPairOrder(OpAsmPrinter &printer, Operation *,
                           PairOrderAttr attr) {
  printer << stringifyPairOrder(attr.getValue());
}

static ParseResult parseHalfOrder(OpAsmParser &parser, HalfOrderAttr &attr) {
  return parseWord(
      parser, attr, [](StringRef word) { return symbolizeHalfOrder(word); },
      "`first` or `last`");
}
static void printHalfOrder(OpAsmPrinter &printer, Operation *,
                           HalfOrderAttr attr) {
  printer << stringifyHalfOrder(attr.getValue());
}

static ParseResult parseReductionKind(OpAsmParser &parser,
                                      ReductionKindAttr &attr) {
  return parseWord(
      parser, attr, [](StringRef word) { return symbolizeReductionKind(word); },
      "`sum`, `max` or `min`");
}
static void printReductionKind(OpAsmPrinter &printer, Operation *,
                               ReductionKindAttr attr) {
  printer << stringifyReductionKind(attr.getValue());
}

#define GET_OP_CLASSES
#include "FuseOps/Dialect/FuseOps/FuseOpsOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Rules shared by several operations
//===----------------------------------------------------------------------===//

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

LogicalResult mlir::fuseops::verifyRowVector(Operation *op, StringRef name,
                                             Value value, int64_t columns) {
  if (!value)
    return success();
  RankedTensorType type = tensorType(value);
  if (type.getRank() != 1 || type.getDimSize(0) != columns)
    return op->emitOpError() << "expected `" << name << "` to have shape ["
                             << columns << "], but got " << type;
  return success();
}

LogicalResult mlir::fuseops::verifyRowStat(Operation *op, StringRef name,
                                           Value value, RankedTensorType rows) {
  RankedTensorType expected = withColumns(
      rows, 1,
      rows.getElementType().isF64() ? rows.getElementType()
                                    : Float32Type::get(op->getContext()));
  if (value.getType() != expected)
    return op->emitOpError() << "expected `" << name << "` to be " << expected
                             << ", but got " << value.getType();
  return success();
}

LogicalResult mlir::fuseops::verifySameShape(Operation *op, StringRef name,
                                             Value value,
                                             RankedTensorType expected) {
  if (tensorType(value).getShape() == expected.getShape())
    return success();
  return op->emitOpError() << "expected `" << name << "` to have the shape of "
                           << expected << ", but got " << value.getType();
}

LogicalResult mlir::fuseops::verifyHasColumns(Operation *op,
                                              RankedTensorType type,
                                              StringRef name) {
  if (type.getRank() == 0)
    return op->emitOpError()
           << "expected `" << name
           << "` to have at least one dimension, but got " << type;
  return success();
}

static LogicalResult verifyBroadcast(Operation *op, Value lhs, Value rhs,
                                     Value result) {
  for (auto [name, value] : {std::pair<StringRef, Value>{"lhs", lhs},
                             std::pair<StringRef, Value>{"rhs", rhs}})
    if (!isBroadcastableTo(tensorType(value), tensorType(result)))
      return op->emitOpError()
             << "expected `" << name << "` to broadcast to the shape of "
             << result.getType() << ", but got " << value.getType();
  // The result may not be larger than what the operands make it.
  RankedTensorType type = tensorType(result);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t fromEnd = type.getRank() - dim;
    auto extent = [&](Value value) -> int64_t {
      RankedTensorType operand = tensorType(value);
      return operand.getRank() < fromEnd
                 ? 1
                 : operand.getDimSize(operand.getRank() - fromEnd);
    };
    if (extent(lhs) != type.getDimSize(dim) &&
        extent(rhs) != type.getDimSize(dim))
      return op->emitOpError() << "expected a result of the operands' common "
                                  "shape, but got "
                               << type;
  }
  return success();
}

LogicalResult AddOp::verify() {
  return verifyBroadcast(*this, getLhs(), getRhs(), getResult());
}
LogicalResult MulOp::verify() {
  return verifyBroadcast(*this, getLhs(), getRhs(), getResult());
}

LogicalResult BiasOp::verify() {
  RankedTensorType type = tensorType(getInput());
  if (failed(verifyHasColumns(*this, type)))
    return failure();
  return verifyRowVector(*this, "bias", getBias(), getColumns(type));
}

LogicalResult DropoutOp::verify() {
  RankedTensorType state = tensorType(getRandomState());
  if (state.getRank() != 1 || state.getDimSize(0) != 2)
    return emitOpError() << "expected `random_state` to be tensor<2xi64>, seed "
                            "and offset, but got "
                         << state;
  double p = getP().convertToDouble();
  // Also for NaN. NOLINTNEXTLINE(readability-simplify-boolean-expr)
  if (!(p >= 0.0 && p < 1.0))
    return emitOpError() << "expected 0 <= p < 1, but got " << p;
  return success();
}

LogicalResult CastOp::verify() {
  return verifySameShape(*this, "result", getResult(), tensorType(getInput()));
}

LogicalResult mlir::fuseops::verifyRowScale(Operation *op, StringRef name,
                                            Value scale,
                                            RankedTensorType rows) {
  if (!scale)
    return success();
  return verifySameShape(op, name, scale,
                         withColumns(rows, 1, rows.getElementType()));
}

LogicalResult SreluOp::verify() {
  if (!getScale())
    return success();
  RankedTensorType type = tensorType(getInput());
  return failure(failed(verifyHasColumns(*this, type)) ||
                 failed(verifyRowScale(*this, "scale", getScale(), type)));
}

bool IdentityOp::commutesWithQuantize(ScaleKind) { return true; }

//===----------------------------------------------------------------------===//
// Norms and reductions
//===----------------------------------------------------------------------===//

LogicalResult LayerNormOp::verify() {
  RankedTensorType type = tensorType(getInput());
  int64_t columns = getColumns(type);
  return failure(failed(verifyHasColumns(*this, type)) ||
                 failed(verifySameShape(*this, "result", getResult(), type)) ||
                 failed(verifyRowVector(*this, "gamma", getGamma(), columns)) ||
                 failed(verifyRowVector(*this, "beta", getBeta(), columns)) ||
                 failed(verifyRowStat(*this, "mean", getMean(), type)) ||
                 failed(verifyRowStat(*this, "rstd", getRstd(), type)));
}

LogicalResult L2NormOp::verify() {
  RankedTensorType type = tensorType(getInput());
  return failure(failed(verifyHasColumns(*this, type)) ||
                 failed(verifySameShape(*this, "result", getResult(), type)) ||
                 failed(verifyRowStat(*this, "reciprocal_norm",
                                      getReciprocalNorm(), type)));
}

LogicalResult RmsNormOp::verify() {
  RankedTensorType type = tensorType(getInput());
  return failure(
      failed(verifyHasColumns(*this, type)) ||
      failed(verifySameShape(*this, "result", getResult(), type)) ||
      failed(verifyRowVector(*this, "gamma", getGamma(), getColumns(type))) ||
      failed(verifyRowStat(*this, "rstd", getRstd(), type)));
}

/// What the gradients of both norms have in common.
template <typename OpT>
static LogicalResult verifyNormGrad(OpT op) {
  RankedTensorType type = tensorType(op.getInput());
  if (failed(verifyHasColumns(op, type)) ||
      failed(verifySameShape(op, "gradient", op.getGradient(), type)) ||
      failed(verifySameShape(op, "result", op.getResult(), type)) ||
      failed(verifyRowVector(op, "gamma", op.getGamma(), getColumns(type))) ||
      failed(verifyRowVector(op, "gamma_gradient", op.getGammaGradient(),
                             getColumns(type))) ||
      failed(verifyRowStat(op, "rstd", op.getRstd(), type)))
    return failure();
  if (!op.getGamma() != !op.getGammaGradient())
    return op.emitOpError()
           << "expected a gamma gradient where there is a gamma, and none "
              "where there is none";
  return success();
}
LogicalResult LayerNormGradOp::verify() {
  if (failed(verifyRowStat(*this, "mean", getMean(), tensorType(getInput()))))
    return failure();
  return verifyNormGrad(*this);
}
LogicalResult RmsNormGradOp::verify() { return verifyNormGrad(*this); }

/// What both reductions have in common; `length` counts what is reduced.
static LogicalResult verifyReduction(Operation *op, ReductionKind kind,
                                     Value input, Value result, Extent length) {
  RankedTensorType type = tensorType(input), own = tensorType(result);
  if (failed(verifyHasColumns(op, type)))
    return failure();
  if (isa<FloatType>(type.getElementType()) !=
      isa<FloatType>(own.getElementType()))
    return op->emitOpError() << "expected `input` and `result` to be both of "
                                "floats or both of integers, but got "
                             << type << " and " << own;
  if (kind != ReductionKind::Sum && length == Extent())
    return op->emitOpError() << "expected an input with elements, since `"
                             << stringifyReductionKind(kind)
                             << "` of nothing is not defined, but got " << type;
  return success();
}

LogicalResult ReduceRowsOp::verify() {
  RankedTensorType input = tensorType(getInput());
  if (failed(verifyReduction(*this, getKind(), getInput(), getResult(),
                             getNumElements(input, 1))))
    return failure();
  RankedTensorType result = tensorType(getResult());
  if (result.getRank() == 0 && getColumns(input) == 1)
    return success();
  return verifyRowVector(*this, "result", getResult(), getColumns(input));
}

LogicalResult ReduceColumnsOp::verify() {
  RankedTensorType input = tensorType(getInput());
  if (failed(verifyReduction(*this, getKind(), getInput(), getResult(),
                             {getColumns(input), 0})))
    return failure();
  return verifySameShape(*this, "result", getResult(),
                         withColumns(input, 1, input.getElementType()));
}
