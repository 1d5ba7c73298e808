//===- Gradients.cpp - Gradient rules of the named operations ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/Gradients.h"
#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Dialect/FuseOps/ScalarMath.h"

using namespace mlir;
using namespace mlir::fuseops;

using Gradients = FailureOr<SmallVector<Value>>;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// `value` broadcast and converted to `type`, element by element.
static Value broadcastTo(OpBuilder &builder, Location loc, Value value,
                         RankedTensorType type) {
  if (value.getType() == type)
    return value;
  auto identity = [&](OpBuilder &b, Location l,
                      ValueRange args) -> SmallVector<Value> {
    return {convertFloat(b, l, args[0], getComputeType(type.getElementType()))};
  };
  return PointwiseOp::build(builder, loc, type, value, identity).getResult(0);
}

FailureOr<Value> mlir::fuseops::reduceToShape(OpBuilder &builder, Location loc,
                                              Value gradient,
                                              RankedTensorType target) {
  RankedTensorType type = tensorType(gradient);
  if (type.getShape() == target.getShape())
    return broadcastTo(builder, loc, gradient, target);
  Type wide = getComputeType(target.getElementType());
  int64_t columns = getColumns(target);
  if (columns == 1 && getColumns(type) != 1) {
    type = withColumns(type, 1, wide);
    gradient = ReduceColumnsOp::create(builder, loc, type, gradient,
                                       ReductionKind::Sum);
    if (type.getShape() == target.getShape())
      return broadcastTo(builder, loc, gradient, target);
  }
  // What is left are leading dimensions: as the rows of a matrix they are one
  // reduction, if nothing that stays comes before them.
  int64_t missing = type.getRank() - target.getRank();
  auto targetExtent = [&](int64_t dim) -> int64_t {
    return dim < missing ? 1 : target.getDimSize(dim - missing);
  };
  int64_t numReduced = 0;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.getDimSize(dim) != targetExtent(dim))
      numReduced = dim + 1;
  // Extents of 1 behind them cost nothing, and spare a reshape.
  while (numReduced < type.getRank() - 1 && type.getDimSize(numReduced) == 1)
    ++numReduced;
  int64_t kept = 1;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (dim < numReduced && targetExtent(dim) != 1)
      return emitError(loc)
             << "cannot reduce a gradient of type " << type << " to " << target
             << ": a reduction over inner dimensions only is "
                "not supported";
    if (dim < numReduced)
      continue;
    if (type.isDynamicDim(dim))
      return emitError(loc)
             << "cannot reduce a gradient of type " << type << " to " << target
             << ": a reduction over what comes before `?` is not supported";
    kept *= type.getDimSize(dim);
  }
  if (numReduced < type.getRank() - 1) {
    Extent rows = getNumElements(type, type.getRank() - numReduced);
    auto matrix = RankedTensorType::get(
        {rows.perSymbol ? ShapedType::kDynamic : rows.constant, kept},
        type.getElementType());
    if (getNumElements(matrix) != getNumElements(type))
      return emitError(loc)
             << "cannot reduce a gradient of type " << type << " to " << target
             << ": its rows are a multiple of `?`";
    gradient = ReshapeOp::create(builder, loc, matrix, gradient);
  }
  auto reduced = target.getRank() == 0
                     ? target
                     : RankedTensorType::get({kept}, target.getElementType());
  gradient =
      ReduceRowsOp::create(builder, loc, reduced, gradient, ReductionKind::Sum);
  if (reduced != target)
    gradient = ReshapeOp::create(builder, loc, target, gradient);
  return gradient;
}

/// The rule of a unary operation whose gradient operation takes the incoming
/// gradient and the input.
template <typename GradOpT, typename... Args>
static Gradients unaryRule(Operation *op, OpBuilder &builder,
                           ValueRange gradients, ArrayRef<bool> needed,
                           Args... args) {
  if (!needed[0] || !gradients[0])
    return SmallVector<Value>{Value()};
  Value input = op->getOperand(0);
  return SmallVector<Value>{GradOpT::create(
      builder, op->getLoc(), input.getType(), gradients[0], input, args...)};
}

//===----------------------------------------------------------------------===//
// Pointwise
//===----------------------------------------------------------------------===//

Gradients GeluOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                 ArrayRef<bool> needed) {
  return unaryRule<GeluGradOp>(*this, builder, gradients, needed,
                               getApproximate());
}
Gradients SiluOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                 ArrayRef<bool> needed) {
  return unaryRule<SiluGradOp>(*this, builder, gradients, needed);
}
Gradients ReluOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                 ArrayRef<bool> needed) {
  return unaryRule<ReluGradOp>(*this, builder, gradients, needed);
}
Gradients SwigluOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                   ArrayRef<bool> needed) {
  return unaryRule<SwigluGradOp>(*this, builder, gradients, needed,
                                 getActivation());
}
Gradients GegluOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                  ArrayRef<bool> needed) {
  return unaryRule<GegluGradOp>(*this, builder, gradients, needed,
                                getActivation());
}

Gradients ScaleOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                  ArrayRef<bool> needed) {
  if (!needed[0] || !gradients[0])
    return SmallVector<Value>{Value()};
  return SmallVector<Value>{
      ScaleOp::create(builder, getLoc(), gradients[0], getByAttr())};
}

Gradients DropoutOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                    ArrayRef<bool> needed) {
  if (!needed[0] || !gradients[0])
    return SmallVector<Value>{Value(), Value()};
  return SmallVector<Value>{DropoutOp::create(builder, getLoc(), getType(),
                                              gradients[0], getRandomState(),
                                              getPAttr()),
                            Value()};
}

Gradients CastOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                 ArrayRef<bool> needed) {
  if (!needed[0] || !gradients[0])
    return SmallVector<Value>{Value()};
  return SmallVector<Value>{
      CastOp::create(builder, getLoc(), getInput().getType(), gradients[0])};
}

Gradients BiasOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                 ArrayRef<bool> needed) {
  SmallVector<Value> results(2);
  if (!gradients[0])
    return results;
  if (needed[0])
    results[0] = gradients[0];
  if (needed[1])
    results[1] = ReduceRowsOp::create(builder, getLoc(), getBias().getType(),
                                      gradients[0], ReductionKind::Sum);
  return results;
}

Gradients AddOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                ArrayRef<bool> needed) {
  SmallVector<Value> results(2);
  for (auto [index, operand] : llvm::enumerate(getOperands())) {
    if (!needed[index] || !gradients[0])
      continue;
    FailureOr<Value> gradient =
        reduceToShape(builder, getLoc(), gradients[0], tensorType(operand));
    if (failed(gradient))
      return failure();
    results[index] = *gradient;
  }
  return results;
}

Gradients MulOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                ArrayRef<bool> needed) {
  SmallVector<Value> results(2);
  for (auto [index, operand] : llvm::enumerate(getOperands())) {
    if (!needed[index] || !gradients[0])
      continue;
    RankedTensorType target = tensorType(operand);
    RankedTensorType full = tensorType(gradients[0]);
    // A product that is reduced afterwards is not rounded before.
    bool isReduced = full.getShape() != target.getShape();
    Type element = isReduced ? getComputeType(target.getElementType())
                             : target.getElementType();
    Value product = MulOp::create(builder, getLoc(), full.clone(element),
                                  gradients[0], getOperand(1 - index));
    FailureOr<Value> gradient =
        reduceToShape(builder, getLoc(), product, target);
    if (failed(gradient))
      return failure();
    results[index] = *gradient;
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Norms and reductions
//===----------------------------------------------------------------------===//

/// Statistics are saved for backward; nothing may be differentiated through
/// them.
static LogicalResult verifyNoStatGradient(Operation *op, ValueRange stats) {
  if (llvm::any_of(stats, [](Value value) { return static_cast<bool>(value); }))
    return op->emitOpError()
           << "has no gradient through its statistics, but one is asked for";
  return success();
}

Gradients LayerNormOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                      ArrayRef<bool> needed) {
  SmallVector<Value> results(getNumOperands());
  if (failed(verifyNoStatGradient(*this, gradients.drop_front())))
    return failure();
  if (!gradients[0])
    return results;
  if (needed[0] || (getGamma() && needed[1])) {
    SmallVector<Type> types = {getInput().getType()};
    if (getGamma())
      types.push_back(getGamma().getType());
    auto grad = LayerNormGradOp::create(builder, getLoc(), types, gradients[0],
                                        getInput(), getMean(), getRstd(),
                                        getGamma(), getZeroCenteredGamma());
    results[0] = grad.getResult();
    if (getGamma())
      results[1] = grad.getGammaGradient();
  }
  if (getBeta() && needed.back())
    results.back() =
        ReduceRowsOp::create(builder, getLoc(), getBeta().getType(),
                             gradients[0], ReductionKind::Sum);
  return results;
}

Gradients RmsNormOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                    ArrayRef<bool>) {
  SmallVector<Value> results(getNumOperands());
  if (failed(verifyNoStatGradient(*this, gradients.drop_front())))
    return failure();
  if (!gradients[0])
    return results;
  SmallVector<Type> types = {getInput().getType()};
  if (getGamma())
    types.push_back(getGamma().getType());
  auto grad =
      RmsNormGradOp::create(builder, getLoc(), types, gradients[0], getInput(),
                            getRstd(), getGamma(), getZeroCenteredGamma());
  results[0] = grad.getResult();
  if (getGamma())
    results[1] = grad.getGammaGradient();
  return results;
}

/// A sum's gradient is the incoming one for every summand.
template <typename OpT>
static Gradients reductionRule(OpT op, OpBuilder &builder, ValueRange gradients,
                               ArrayRef<bool> needed) {
  if (!needed[0] || !gradients[0])
    return SmallVector<Value>{Value()};
  if (op.getKind() != ReductionKind::Sum)
    return op.emitOpError() << "has no gradient for `"
                            << stringifyReductionKind(op.getKind()) << "`";
  return SmallVector<Value>{broadcastTo(builder, op.getLoc(), gradients[0],
                                        tensorType(op.getInput()))};
}
Gradients ReduceRowsOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                       ArrayRef<bool> needed) {
  return reductionRule(*this, builder, gradients, needed);
}
Gradients ReduceColumnsOp::buildGradients(OpBuilder &builder,
                                          ValueRange gradients,
                                          ArrayRef<bool> needed) {
  return reductionRule(*this, builder, gradients, needed);
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// The type of a contraction operand's gradient.
static RankedTensorType operandGradientType(Value operand) {
  if (auto quantized = dyn_cast<QuantizedType>(operand.getType()))
    return quantized.getTensorType(BFloat16Type::get(operand.getContext()));
  return tensorType(operand);
}

/// A vector as the matrix of one row; anything else as it is.
static Value asMatrix(OpBuilder &builder, Location loc, Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() != 1)
    return value;
  return ReshapeOp::create(
      builder, loc,
      RankedTensorType::get({1, getColumns(type)}, type.getElementType()),
      value);
}

Gradients LinearOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                   ArrayRef<bool> needed) {
  SmallVector<Value> results(getNumOperands());
  if (!gradients[0])
    return results;
  Value dy = asMatrix(builder, getLoc(), gradients[0]);
  RankedTensorType inputType = operandGradientType(getInput());
  if (needed[0]) {
    auto type = withColumns(tensorType(dy), getColumns(inputType),
                            inputType.getElementType());
    results[0] = MatmulOp::create(builder, getLoc(), type, dy, getWeight(),
                                  false, false);
    if (type != inputType)
      results[0] = ReshapeOp::create(builder, getLoc(), inputType, results[0]);
  }
  if (needed[1])
    results[1] =
        MatmulOp::create(builder, getLoc(), operandGradientType(getWeight()),
                         dy, asMatrix(builder, getLoc(), getInput()),
                         /*transpose_lhs=*/true, false);
  if (getBias() && needed[2])
    results[2] = ReduceRowsOp::create(builder, getLoc(), getBias().getType(),
                                      gradients[0], ReductionKind::Sum);
  return results;
}

Gradients MatmulOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                   ArrayRef<bool> needed) {
  SmallVector<Value> results(2);
  if (!gradients[0])
    return results;
  Value dy = gradients[0];
  bool tl = getTransposeLhs(), tr = getTransposeRhs();
  RankedTensorType lhsType = operandGradientType(getLhs());
  RankedTensorType rhsType = operandGradientType(getRhs());
  // A result is [rows, columns]; a higher-rank operand is reshaped to.
  auto product = [&](RankedTensorType type, Value a, Value b, bool ta,
                     bool tb) -> Value {
    auto rows = [](Value value, bool transposed) {
      RankedTensorType t = operandGradientType(value);
      return transposed ? Extent{getColumns(t), 0} : getNumElements(t, 1);
    };
    Extent m = rows(a, ta);
    auto matrix = RankedTensorType::get(
        {m.perSymbol ? ShapedType::kDynamic : m.constant, getColumns(type)},
        type.getElementType());
    bool leadingOfA = !ta && operandGradientType(a).getShape().drop_back() ==
                                 type.getShape().drop_back();
    RankedTensorType built =
        leadingOfA ? type
        : ta       ? matrix
                   : withColumns(operandGradientType(a), getColumns(type),
                                 type.getElementType());
    Value result = MatmulOp::create(builder, getLoc(), built, a, b, ta, tb);
    if (built != type)
      result = ReshapeOp::create(builder, getLoc(), type, result);
    return result;
  };
  if (needed[0])
    results[0] = tl ? product(lhsType, getRhs(), dy, tr, true)
                    : product(lhsType, dy, getRhs(), false, !tr);
  if (needed[1])
    results[1] = tr ? product(rhsType, dy, getLhs(), true, tl)
                    : product(rhsType, getLhs(), dy, !tl, false);
  return results;
}

//===----------------------------------------------------------------------===//
// Layout and quantization
//===----------------------------------------------------------------------===//

Gradients ReshapeOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                    ArrayRef<bool> needed) {
  if (!needed[0] || !gradients[0])
    return SmallVector<Value>{Value()};
  return SmallVector<Value>{
      ReshapeOp::create(builder, getLoc(), getInput().getType(), gradients[0])};
}

Gradients SliceColumnsOp::buildGradients(OpBuilder &builder,
                                         ValueRange gradients,
                                         ArrayRef<bool> needed) {
  if (!needed[0] || !gradients[0])
    return SmallVector<Value>{Value()};
  RankedTensorType type = tensorType(getInput());
  SmallVector<Value> parts;
  auto addZeros = [&](int64_t columns) {
    if (columns == 0)
      return;
    RankedTensorType part = withColumns(type, columns, type.getElementType());
    auto zero = [&](OpBuilder &b, Location l, ValueRange) {
      Type element = getComputeType(type.getElementType());
      return SmallVector<Value>{
          arith::ConstantOp::create(b, l, b.getZeroAttr(element))};
    };
    parts.push_back(
        PointwiseOp::build(builder, getLoc(), part, ValueRange(), zero)
            .getResult(0));
  };
  int64_t offset = getOffset(), columns = getColumns(getResult().getType());
  addZeros(offset);
  parts.push_back(gradients[0]);
  addZeros(getColumns(type) - offset - columns);
  return SmallVector<Value>{
      ConcatColumnsOp::create(builder, getLoc(), type, parts)};
}

Gradients ConcatColumnsOp::buildGradients(OpBuilder &builder,
                                          ValueRange gradients,
                                          ArrayRef<bool> needed) {
  SmallVector<Value> results(getNumOperands());
  int64_t offset = 0;
  for (auto [index, input] : llvm::enumerate(getInputs())) {
    if (needed[index] && gradients[0])
      results[index] = SliceColumnsOp::create(
          builder, getLoc(), input.getType(), gradients[0], offset);
    offset += getColumns(tensorType(input));
  }
  return results;
}

Gradients QuantizeOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                     ArrayRef<bool> needed) {
  SmallVector<Value> results(getNumOperands());
  if (needed[0] && gradients[0])
    results[0] =
        broadcastTo(builder, getLoc(), gradients[0], tensorType(getInput()));
  return results;
}

Gradients DequantizeOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                       ArrayRef<bool> needed) {
  if (!needed[0] || !gradients[0])
    return SmallVector<Value>{Value()};
  // In the type it comes in: a rounding here is one that nobody asked for.
  return SmallVector<Value>{gradients[0]};
}
