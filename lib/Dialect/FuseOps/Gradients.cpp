//===- Gradients.cpp - Gradient rules of the named operations ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/Gradients.h"
#include "Activations.h"
#include "Core.h"
#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "FuseOps/Dialect/FuseOps/ScalarMath.h"

using namespace mlir;
using namespace mlir::fuseops;

using Gradients = FailureOr<SmallVector<Value>>;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
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
Gradients QgeluOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                  ArrayRef<bool> needed) {
  if (!needed[0] || !gradients[0])
    return SmallVector<Value>{Value()};
  return SmallVector<Value>{
      Core(*this, builder, getOperation()->getOperands())
          .pointwise(getType(), {gradients[0], getInput()},
                     [](ScalarMath &m, auto v) {
                       return m.mul(v[0], activation::qgeluDerivative(m, v[1]));
                     })};
}
Gradients IdentityOp::buildGradients(OpBuilder &, ValueRange gradients,
                                     ArrayRef<bool> needed) {
  return SmallVector<Value>{needed[0] ? gradients[0] : Value()};
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

/// Whether a gradient comes through results but the first: the rules are for
/// the normalized values only.
static bool hasStatGradient(ValueRange gradients) {
  return llvm::any_of(gradients.drop_front(),
                      [](Value value) { return static_cast<bool>(value); });
}

Gradients LayerNormOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                      ArrayRef<bool> needed) {
  if (hasStatGradient(gradients))
    return buildDecompositionGradients(*this, builder, gradients, needed);
  SmallVector<Value> results(getNumOperands());
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
                                    ArrayRef<bool> needed) {
  if (hasStatGradient(gradients))
    return buildDecompositionGradients(*this, builder, gradients, needed);
  SmallVector<Value> results(getNumOperands());
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

/// PyTorch's rule of amax and amin: the elements that tie for the result share
/// its gradient equally. Where the result is NaN none does, and dividing by
/// their number makes every gradient NaN.
template <typename OpT>
static Value extremeRule(OpT op, OpBuilder &builder, Value gradient) {
  Location loc = op.getLoc();
  RankedTensorType type = op.getInput().getType();
  RankedTensorType reduced = op.getResult().getType();
  Type element = getComputeType(type.getElementType());
  Value extreme = op.getResult();
  // A result that was rounded may equal none of the elements.
  if (reduced.getElementType() != type.getElementType() &&
      reduced.getElementType() != element)
    extreme = OpT::create(builder, loc, reduced.clone(type.getElementType()),
                          op.getInput(), op.getKind());
  // A kernel that computes the elements compares what it would store, as the
  // result is rounded where it is stored: rounding keeps the order.
  auto isTied = [&](OpBuilder &b, Location l,
                    ValueRange args) -> SmallVector<Value> {
    auto round = [&](Value value) {
      if (!isa<BFloat16Type, Float16Type>(type.getElementType()))
        return value;
      return convertFloat(b, l,
                          convertFloat(b, l, value, type.getElementType()),
                          value.getType());
    };
    return {arith::CmpFOp::create(b, l, arith::CmpFPredicate::OEQ,
                                  round(args[0]), round(args[1]))};
  };
  Value ties = PointwiseOp::build(builder, loc, type.clone(builder.getI1Type()),
                                  ValueRange{op.getInput(), extreme}, isTied)
                   .getResult(0);
  Value count = OpT::create(builder, loc, reduced.clone(builder.getI64Type()),
                            ties, ReductionKind::Sum);
  auto divide = [&](OpBuilder &b, Location l,
                    ValueRange args) -> SmallVector<Value> {
    Value number = convertElement(b, l, args[1], b.getI64Type(), element);
    return {arith::DivFOp::create(b, l, convertFloat(b, l, args[0], element),
                                  number)};
  };
  Value share = PointwiseOp::build(builder, loc, reduced.clone(element),
                                   ValueRange{gradient, count}, divide)
                    .getResult(0);
  auto choose = [&](OpBuilder &b, Location l,
                    ValueRange args) -> SmallVector<Value> {
    Value weight = convertElement(b, l, args[1], b.getI1Type(), element);
    return {arith::MulFOp::create(b, l, args[0], weight)};
  };
  return PointwiseOp::build(builder, loc, type, ValueRange{share, ties}, choose)
      .getResult(0);
}

Gradients L2NormOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                   ArrayRef<bool> needed) {
  if (hasStatGradient(gradients))
    return buildDecompositionGradients(*this, builder, gradients, needed);
  if (!needed[0] || !gradients[0])
    return SmallVector<Value>{Value()};
  Value x = getInput(), g = gradients[0], r = getReciprocalNorm();
  Core core(*this, builder, x);
  Value sum = core.sumColumns(
      core.pointwise(core.wide(x), {g, x, r}, [](ScalarMath &m, auto v) {
        return m.mul(v[0], m.mul(v[1], v[2]));
      }));
  return SmallVector<Value>{
      core.pointwise(x.getType(), {g, x, r, sum}, [](ScalarMath &m, auto v) {
        Value h = m.mul(v[1], v[2]);
        return m.mul(v[2], m.sub(v[0], m.mul(h, v[3])));
      })};
}

/// A sum's gradient is the incoming one for every summand.
template <typename OpT>
static Gradients reductionRule(OpT op, OpBuilder &builder, ValueRange gradients,
                               ArrayRef<bool> needed) {
  if (!needed[0] || !gradients[0])
    return SmallVector<Value>{Value()};
  if (op.getKind() != ReductionKind::Sum)
    return SmallVector<Value>{extremeRule(op, builder, gradients[0])};
  return SmallVector<Value>{
      broadcastTo(builder, op.getLoc(), gradients[0], op.getInput().getType())};
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

/// The type of a contraction operand's gradient; of a quantized one, that of
/// the result's gradient, `dy`.
static RankedTensorType operandGradientType(Value operand, Value dy) {
  if (auto quantized = dyn_cast<QuantizedType>(operand.getType()))
    return quantized.getTensorType(tensorType(dy).getElementType());
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

/// `value` as an operand of a product that reads its row or its transposed
/// copy: a quantized one that lacks that copy is dequantized.
static Value asReadable(OpBuilder &builder, Location loc, Value value,
                        bool readsRowCopy, Type element) {
  auto type = dyn_cast<QuantizedType>(value.getType());
  if (!type || (readsRowCopy ? type.hasRowCopy() : type.hasColCopy()))
    return value;
  return DequantizeOp::create(builder, loc, type.getTensorType(element), value);
}

Gradients LinearOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                   ArrayRef<bool> needed) {
  SmallVector<Value> results(getNumOperands());
  if (!gradients[0])
    return results;
  Value dy = asMatrix(builder, getLoc(), gradients[0]);
  RankedTensorType inputType = operandGradientType(getInput(), dy);
  if (needed[0]) {
    auto type = withColumns(tensorType(dy), getColumns(inputType),
                            inputType.getElementType());
    Value weight =
        asReadable(builder, getLoc(), getWeight(), /*readsRowCopy=*/false,
                   tensorType(dy).getElementType());
    results[0] =
        MatmulOp::create(builder, getLoc(), type, dy, weight, false, false);
    if (type != inputType)
      results[0] = ReshapeOp::create(builder, getLoc(), inputType, results[0]);
  }
  if (needed[1]) {
    Value input =
        asReadable(builder, getLoc(), getInput(),
                   /*readsRowCopy=*/false, tensorType(dy).getElementType());
    results[1] = MatmulOp::create(builder, getLoc(),
                                  operandGradientType(getWeight(), dy), dy,
                                  asMatrix(builder, getLoc(), input),
                                  /*transpose_lhs=*/true, false);
  }
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
  RankedTensorType lhsType = operandGradientType(getLhs(), dy);
  RankedTensorType rhsType = operandGradientType(getRhs(), dy);
  // Products have operands of one type: a gradient of a wide result is rounded
  // to theirs, as PyTorch's is.
  Type element = lhsType.getElementType();
  if (element == rhsType.getElementType() &&
      element != tensorType(dy).getElementType())
    dy = CastOp::create(builder, getLoc(), tensorType(dy).clone(element), dy);
  // A result is [rows, columns]; a higher-rank operand is reshaped to.
  auto product = [&](RankedTensorType type, Value a, Value b, bool ta,
                     bool tb) -> Value {
    Type common = tensorType(dy).getElementType();
    a = asReadable(builder, getLoc(), a, /*readsRowCopy=*/!ta, common);
    b = asReadable(builder, getLoc(), b, /*readsRowCopy=*/tb, common);
    auto rows = [&](Value value, bool transposed) {
      RankedTensorType t = operandGradientType(value, dy);
      return transposed ? Extent{getColumns(t), 0} : getNumElements(t, 1);
    };
    Extent m = rows(a, ta);
    auto matrix = RankedTensorType::get(
        {m.perSymbol ? ShapedType::kDynamic : m.constant, getColumns(type)},
        type.getElementType());
    bool leadingOfA =
        !ta && operandGradientType(a, dy).getShape().drop_back() ==
                   type.getShape().drop_back();
    RankedTensorType built =
        leadingOfA ? type
        : ta       ? matrix
                   : withColumns(operandGradientType(a, dy), getColumns(type),
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
// Quantization
//===----------------------------------------------------------------------===//

// fp8_g1: straight through, also where the data is clipped.
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
