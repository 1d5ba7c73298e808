//===- Pointwise.cpp - Activations and arithmetic -----------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchCall.h"

using namespace mlir;
using namespace mlir::fuseops;

/// The operand and the result type of an operation that keeps the type.
static FailureOr<Value> getOnlyOperand(TorchCall &call) {
  FailureOr<Value> input = call.floatTensor(0);
  if (failed(input))
    return failure();
  FailureOr<RankedTensorType> type = call.floatResultType();
  if (failed(type))
    return failure();
  if (*type != input->getType())
    return call.refuse("expected a result of the operand's type");
  return input;
}

template <typename OpT>
static LogicalResult convertActivation(TorchCall &call) {
  FailureOr<Value> input = getOnlyOperand(call);
  if (failed(input))
    return failure();
  return call.set(
      0, OpT::create(call.builder, call.getLoc(), input->getType(), *input));
}

static LogicalResult convertGelu(TorchCall &call) {
  FailureOr<Value> input = getOnlyOperand(call);
  if (failed(input))
    return failure();
  GeluKind kind = GeluKind::Exact;
  if (!call.isNone(1)) {
    FailureOr<StringRef> approximate = call.string(1);
    if (failed(approximate))
      return failure();
    std::optional<GeluKind> known = symbolizeGeluKind(*approximate);
    if (!known)
      return call.refuse("expected the approximation `none` or `tanh`, but "
                         "got `" +
                         *approximate + "`");
    kind = *known;
  }
  return call.set(0, GeluOp::create(call.builder, call.getLoc(),
                                    input->getType(), *input, kind));
}

/// Any scalar function of one tensor.
static TorchHandler
convertUnary(std::function<Value(ScalarMath &, Value)> function) {
  return [function](TorchCall &call) -> LogicalResult {
    FailureOr<Value> input = getOnlyOperand(call);
    if (failed(input))
      return failure();
    return call.set(
        0, call.pointwise(cast<RankedTensorType>(input->getType()), *input,
                          [&](ScalarMath &math, ArrayRef<Value> scalars) {
                            return function(math, scalars[0]);
                          }));
  };
}

template <typename OpT>
static Value buildMath(ScalarMath &math, Value x) {
  return OpT::create(math.builder, math.loc, x);
}

/// `1 / (1 + exp(-x))` through `exp(-|x|)`, which doesn't overflow: the
/// symbolic derivative would else be 0 * inf for large negative x.
static Value buildSigmoid(ScalarMath &math, Value x) {
  OpBuilder &builder = math.builder;
  Value one = math.constant(1.0);
  Value isPositive = arith::CmpFOp::create(
      builder, math.loc, arith::CmpFPredicate::OGE, x, math.constant(0.0));
  auto select = [&](Value yes, Value no) -> Value {
    return arith::SelectOp::create(builder, math.loc, isPositive, yes, no);
  };
  Value power = math.exp(select(math.neg(x), x));
  Value numerator = select(one, power);
  return math.div(numerator, math.add(one, power));
}

static LogicalResult convertPower(TorchCall &call) {
  FailureOr<Value> input = getOnlyOperand(call);
  if (failed(input))
    return failure();
  FailureOr<double> exponent = call.number(1);
  if (failed(exponent))
    return failure();
  if (*exponent == 1.0)
    return call.set(0, *input);
  static constexpr double kExponents[] = {2.0, 3.0, 0.5, -0.5, -1.0, -2.0};
  if (!llvm::is_contained(kExponents, *exponent))
    return call.refuse("expected an exponent of 1, 2, 3, 0.5, -0.5, -1 or -2, "
                       "but got " +
                       spell(*exponent));
  auto body = [&](ScalarMath &math, ArrayRef<Value> scalars) {
    Value x = scalars[0];
    if (*exponent == 0.5)
      return math.sqrt(x);
    if (*exponent == -0.5)
      return math.rsqrt(x);
    Value power = x;
    for (double e = 1.0; e < std::abs(*exponent); ++e)
      power = math.mul(power, x);
    return *exponent < 0.0 ? math.div(math.constant(1.0), power) : power;
  };
  return call.set(0, call.pointwise(cast<RankedTensorType>(input->getType()),
                                    *input, body));
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

namespace {
enum class Arithmetic { Add, Sub, ReverseSub, Mul, Div };
} // namespace

/// `lhs op rhs`; alpha scales what is added or subtracted, as in PyTorch.
static Value buildArithmetic(ScalarMath &math, Arithmetic kind, Value lhs,
                             Value rhs, double alpha) {
  auto scaled = [&](Value value) {
    return alpha == 1.0 ? value : math.mul(math.constant(alpha), value);
  };
  switch (kind) {
  case Arithmetic::Add:
    return math.add(lhs, scaled(rhs));
  case Arithmetic::Sub:
    return math.sub(lhs, scaled(rhs));
  case Arithmetic::ReverseSub:
    return math.sub(rhs, scaled(lhs));
  case Arithmetic::Mul:
    return math.mul(lhs, rhs);
  case Arithmetic::Div:
    return math.div(lhs, rhs);
  }
  llvm_unreachable("covered switch");
}

/// A tensor with the value of `operand` that is no wider than the result: a
/// rank-0 tensor doesn't take part in type promotion, but is converted first.
static Value narrowTo(TorchCall &call, RankedTensorType result,
                      const TorchValue &operand) {
  Value value = operand.values.front();
  RankedTensorType type = operand.type;
  Type element = type.getElementType();
  if (element.getIntOrFloatBitWidth() <=
      result.getElementType().getIntOrFloatBitWidth())
    return value;
  return CastOp::create(call.builder, call.getLoc(),
                        type.clone(result.getElementType()), value);
}

/// Whether `fuseops.bias` adds `bias` to `input`.
static bool isBias(Value input, Value bias, RankedTensorType result) {
  auto type = cast<RankedTensorType>(bias.getType());
  return input.getType() == result && result.getRank() >= 2 &&
         type == RankedTensorType::get(result.getShape().take_back(),
                                       result.getElementType());
}

static LogicalResult convertTensors(TorchCall &call, Arithmetic kind,
                                    RankedTensorType result, Value lhs,
                                    Value rhs, double alpha) {
  OpBuilder &builder = call.builder;
  Location loc = call.getLoc();
  for (Value operand : {lhs, rhs})
    if (!isBroadcastableTo(cast<RankedTensorType>(operand.getType()), result))
      return call.refuse("expected operands that broadcast to the result");
  if (kind == Arithmetic::Mul)
    return call.set(0, MulOp::create(builder, loc, result, lhs, rhs));
  if (kind == Arithmetic::Add && alpha == 1.0) {
    if (isBias(lhs, rhs, result))
      return call.set(0, BiasOp::create(builder, loc, result, lhs, rhs));
    if (isBias(rhs, lhs, result))
      return call.set(0, BiasOp::create(builder, loc, result, rhs, lhs));
    return call.set(0, AddOp::create(builder, loc, result, lhs, rhs));
  }
  auto body = [&](ScalarMath &math, ArrayRef<Value> scalars) {
    return buildArithmetic(math, kind, scalars[0], scalars[1], alpha);
  };
  return call.set(0, call.pointwise(result, {lhs, rhs}, body));
}

/// Arithmetic of a tensor and a number, which stands at the right or the left.
static LogicalResult convertWithNumber(TorchCall &call, Arithmetic kind,
                                       RankedTensorType result, Value input,
                                       double number, bool isNumberLeft,
                                       double alpha) {
  if (!isBroadcastableTo(cast<RankedTensorType>(input.getType()), result))
    return call.refuse("expected operands that broadcast to the result");
  if (kind == Arithmetic::Mul && input.getType() == result)
    return call.set(0,
                    ScaleOp::create(call.builder, call.getLoc(), result, input,
                                    call.builder.getF64FloatAttr(number)));
  bool isSumOfNumber =
      !isNumberLeft && (kind == Arithmetic::Add || kind == Arithmetic::Sub);
  auto body = [&](ScalarMath &math, ArrayRef<Value> scalars) {
    // alpha * number is one constant.
    Value constant = math.constant(isSumOfNumber ? alpha * number : number);
    double rest = isSumOfNumber ? 1.0 : alpha;
    return isNumberLeft
               ? buildArithmetic(math, kind, constant, scalars[0], rest)
               : buildArithmetic(math, kind, scalars[0], constant, rest);
  };
  return call.set(0, call.pointwise(result, input, body));
}

/// `alphaIndex` is the operand that is alpha, or 0.
static TorchHandler convertBinary(Arithmetic kind, unsigned alphaIndex) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<RankedTensorType> result = call.floatResultType();
    if (failed(result))
      return failure();
    FailureOr<TorchValue> lhs = call.floatOrSplat(0);
    if (failed(lhs))
      return failure();
    FailureOr<TorchValue> rhs = call.floatOrSplat(1);
    if (failed(rhs))
      return failure();
    FailureOr<double> alpha =
        alphaIndex ? call.numberOr(alphaIndex, 1.0) : FailureOr<double>(1.0);
    if (failed(alpha))
      return failure();
    bool isLeftSplat = lhs->kind == TorchValue::Kind::Splat;
    bool isRightSplat = rhs->kind == TorchValue::Kind::Splat;
    if (isLeftSplat && isRightSplat)
      return call.refuse("both operands are tensor constants");
    if (isLeftSplat || isRightSplat) {
      const TorchValue &tensor = isLeftSplat ? *rhs : *lhs;
      return convertWithNumber(
          call, kind, *result, narrowTo(call, *result, tensor),
          (isLeftSplat ? lhs : rhs)->constant, isLeftSplat, *alpha);
    }
    return convertTensors(call, kind, *result, narrowTo(call, *result, *lhs),
                          narrowTo(call, *result, *rhs), *alpha);
  };
}

static TorchHandler convertScalar(Arithmetic kind, unsigned alphaIndex) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<Value> input = getOnlyOperand(call);
    if (failed(input))
      return failure();
    FailureOr<double> number = call.number(1);
    if (failed(number))
      return failure();
    FailureOr<double> alpha =
        alphaIndex ? call.numberOr(alphaIndex, 1.0) : FailureOr<double>(1.0);
    if (failed(alpha))
      return failure();
    return convertWithNumber(call, kind,
                             cast<RankedTensorType>(input->getType()), *input,
                             *number, /*isNumberLeft=*/false, *alpha);
  };
}

void mlir::fuseops::addPointwiseHandlers(TorchHandlers &handlers) {
  handlers.add("aten.silu", 1, 1, convertActivation<SiluOp>);
  handlers.add("aten.relu", 1, 1, convertActivation<ReluOp>);
  handlers.add("aten.gelu", 1, 2, convertGelu);
  handlers.add("aten.pow.Tensor_Scalar", 2, 2, convertPower);

  auto unary = [&](StringRef name,
                   std::function<Value(ScalarMath &, Value)> function) {
    handlers.add(name, 1, 1, convertUnary(std::move(function)));
  };
  unary("aten.sigmoid", buildSigmoid);
  unary("aten.tanh", buildMath<math::TanhOp>);
  unary("aten.exp", buildMath<math::ExpOp>);
  unary("aten.log", buildMath<math::LogOp>);
  unary("aten.erf", buildMath<math::ErfOp>);
  unary("aten.sin", buildMath<math::SinOp>);
  unary("aten.cos", buildMath<math::CosOp>);
  unary("aten.rsqrt", buildMath<math::RsqrtOp>);
  unary("aten.sqrt", buildMath<math::SqrtOp>);
  unary("aten.abs", buildMath<math::AbsFOp>);
  unary("aten.neg", buildMath<arith::NegFOp>);
  unary("aten.reciprocal", [](ScalarMath &math, Value x) {
    return math.div(math.constant(1.0), x);
  });
  unary("aten.square",
        [](ScalarMath &math, Value x) { return math.mul(x, x); });

  handlers.add("aten.add.Tensor", 2, 3, convertBinary(Arithmetic::Add, 2));
  handlers.add("aten.sub.Tensor", 2, 3, convertBinary(Arithmetic::Sub, 2));
  handlers.add("aten.mul.Tensor", 2, 2, convertBinary(Arithmetic::Mul, 0));
  handlers.add("aten.div.Tensor", 2, 2, convertBinary(Arithmetic::Div, 0));
  handlers.add("aten.add.Scalar", 2, 3, convertScalar(Arithmetic::Add, 2));
  handlers.add("aten.sub.Scalar", 2, 3, convertScalar(Arithmetic::Sub, 2));
  handlers.add("aten.rsub.Scalar", 2, 3,
               convertScalar(Arithmetic::ReverseSub, 2));
  handlers.add("aten.mul.Scalar", 2, 2, convertScalar(Arithmetic::Mul, 0));
  handlers.add("aten.div.Scalar", 2, 2, convertScalar(Arithmetic::Div, 0));
}
