//===- PointwiseArithmetic.cpp - Functions of two and more numbers -------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/SpecialFunctions.h"
#include "PointwiseTable.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fuseops;
using namespace mlir::fuseops::slots;

using Math = TorchMath;
using Args = PointwiseArguments;

//===----------------------------------------------------------------------===//
// Named operations
//===----------------------------------------------------------------------===//

/// Whether `fuseops.bias` adds `bias` to `input`.
static bool isBias(Value input, Value bias, RankedTensorType result) {
  auto type = cast<RankedTensorType>(bias.getType());
  return input.getType() == result && result.getRank() >= 2 &&
         type == RankedTensorType::get(result.getShape().take_back(),
                                       result.getElementType());
}

static Value buildNamedSum(PointwiseCall &p) {
  if (p.arguments.number(2) != 1.0)
    return {};
  OpBuilder &builder = p.call.builder;
  Location loc = p.call.getLoc();
  Value lhs = p.tensor(0), rhs = p.tensor(1);
  if (!lhs || !rhs)
    return {};
  if (isBias(lhs, rhs, p.result))
    return BiasOp::create(builder, loc, p.result, lhs, rhs);
  if (isBias(rhs, lhs, p.result))
    return BiasOp::create(builder, loc, p.result, rhs, lhs);
  return AddOp::create(builder, loc, p.result, lhs, rhs);
}

static Value buildNamedProduct(PointwiseCall &p) {
  OpBuilder &builder = p.call.builder;
  Location loc = p.call.getLoc();
  Value lhs = p.tensor(0), rhs = p.tensor(1);
  if (lhs && rhs)
    return MulOp::create(builder, loc, p.result, lhs, rhs);
  Value tensor = lhs ? lhs : rhs;
  if (!tensor || tensor.getType() != p.result)
    return {};
  const PointwiseOperand &other = *p.operands[lhs ? 1 : 0];
  TorchNumber number = other.constant;
  if (other.category != PointwiseOperand::Category::Number)
    number = convertNumber(number, p.dtype);
  return ScaleOp::create(builder, loc, p.result, tensor,
                         builder.getF64FloatAttr(number.real));
}

/// The first power.
static Value buildNamedPower(PointwiseCall &p) {
  const PointwiseOperand &exponent = *p.operands[1];
  Value base = p.tensor(0);
  bool isIdentity = base && base.getType() == p.result && !exponent.tensor &&
                    exponent.constant.real == 1.0;
  return isIdentity ? base : Value();
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// A function of two values.
static PointwiseBody binary(Value (Math::*function)(Value, Value)) {
  return [=](Math &m, const Args &a) { return (m.*function)(a[0], a[1]); };
}

template <typename OpT>
static Value buildOp(Math &m, const Args &a) {
  return m.build<OpT>(a[0], a[1]);
}

/// A function of two floats.
static PointwiseBody floats(Value (*function)(ScalarMath &, Value, Value)) {
  return [=](Math &m, const Args &a) { return function(m, a[0], a[1]); };
}

/// The float that `value` is, where it's a constant.
static std::optional<double> getConstant(Value value) {
  APFloat number(0.0);
  if (!matchPattern(value, m_ConstantFloat(&number)))
    return std::nullopt;
  bool losesInfo = false;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number.convertToDouble();
}

/// `number` times `value`, a constant where that is one.
static Value scaled(Math &m, double number, Value value) {
  if (number == 1.0)
    return value;
  if (std::optional<double> constant = getConstant(value))
    return m.constant(number * *constant);
  return m.mul(m.constant(number), value);
}

static Value buildLerp(Math &m, Value start, Value end, Value weight) {
  // Exact at both ends, as PyTorch.
  Value distance = m.sub(end, start);
  Value isNearStart = m.lt(m.abs(weight), m.constant(0.5));
  Value fromStart = m.add(start, m.mul(weight, distance));
  Value rest = m.sub(m.constant(1.0), weight);
  return m.select(isNearStart, fromStart, m.sub(end, m.mul(distance, rest)));
}

static Value buildPower(Math &m, Value x, Value y) {
  if (!m.isFloat())
    return m.integerPower(x, y);
  std::optional<double> exponent = getConstant(y);
  return exponent ? special::powConstant(m, x, *exponent)
                  : m.build<math::PowFOp>(x, y);
}

/// The gradient of a tie goes to `a`, as in PyTorch.
static Value buildNumberExtremum(Math &m, Value a, Value b, bool isMaximum) {
  Value isFirst = isMaximum ? m.ge(a, b) : m.le(a, b);
  return m.select(m.either(isFirst, m.isNaN(b)), a, b);
}

/// PyTorch's clamp: the gradient passes at the bounds, but not for NaN; `high`
/// wins where the bounds are in the wrong order, and where they are equal
/// neither has a gradient. A bound may be null.
static Value buildClamp(Math &m, Value x, Value low, Value high) {
  if (!low && !high)
    return x;
  Value isInside, bounded;
  if (low && high) {
    isInside = m.both(m.ge(x, low), m.le(x, high));
    Value isLow = m.both(m.lt(x, low), m.lt(low, high));
    Value isTie = m.both(m.lt(x, low), m.eq(low, high));
    bounded = m.select(isLow, low, m.select(isTie, m.detach(high), high));
  } else {
    isInside = low ? m.ge(x, low) : m.le(x, high);
    bounded = low ? low : high;
  }
  if (!m.isFloat())
    return m.select(isInside, x, bounded);
  Value isNaN = m.isNaN(x);
  for (Value bound : {low, high})
    if (bound && std::isnan(getConstant(bound).value_or(std::nan(""))))
      isNaN = m.either(isNaN, m.isNaN(bound));
  Value nan = m.constant(std::nan(""));
  return m.select(isInside, x, m.select(isNaN, nan, bounded));
}

static Value buildHeaviside(Math &m, Value x, Value atZero) {
  Value positive =
      m.select(m.gt(x, m.constant(0.0)), m.constant(1.0), m.constant(0.0));
  return m.select(m.isZero(x), atZero, positive);
}

static Value buildLeftShift(Math &m, const Args &a) {
  return special::shiftLeftInt(m.builder, m.loc, a[0], a[1]);
}
static Value buildRightShift(Math &m, const Args &a) {
  return special::shiftRightInt(m.builder, m.loc, a[0], a[1], m.isUnsigned());
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static SmallVector<PointwiseRow> getArithmeticRows() {
  constexpr auto kCommon = Promotion::Common;
  return {
      {"add.Tensor add.Scalar",
       {x, x, parameterOr(1.0)},
       kCommon,
       [](Math &m, const Args &a) {
         return m.add(a[0], scaled(m, a.number(2), a[1]));
       },
       Domain::Any,
       buildNamedSum},
      {"sub.Tensor sub.Scalar subtract.Tensor subtract.Scalar",
       {x, x, parameterOr(1.0)},
       kCommon,
       [](Math &m, const Args &a) {
         return m.sub(a[0], scaled(m, a.number(2), a[1]));
       }},
      {"rsub.Tensor rsub.Scalar",
       {x, x, parameterOr(1.0)},
       kCommon,
       [](Math &m, const Args &a) {
         return m.sub(a[1], scaled(m, a.number(2), a[0]));
       }},
      {"mul.Tensor mul.Scalar multiply.Tensor multiply.Scalar",
       {x, x},
       kCommon,
       binary(&Math::mul),
       Domain::Any,
       buildNamedProduct},
      {"remainder.Tensor remainder.Scalar remainder.Scalar_Tensor",
       {rounded, rounded},
       kCommon,
       binary(&Math::remainder)},
      {"fmod.Tensor fmod.Scalar",
       {rounded, rounded},
       kCommon,
       binary(&Math::fmod)},
      {"floor_divide floor_divide.Scalar",
       {x, x},
       kCommon,
       binary(&Math::floorDivide)},
      {"pow.Tensor_Tensor pow.Tensor_Scalar pow.Scalar",
       {x, x},
       kCommon,
       [](Math &m, const Args &a) { return buildPower(m, a[0], a[1]); },
       Domain::Any,
       buildNamedPower},
      {"float_power.Tensor_Tensor float_power.Tensor_Scalar "
       "float_power.Scalar",
       {x, x},
       Promotion::Double,
       [](Math &m, const Args &a) { return buildPower(m, a[0], a[1]); }},
      {"ldexp.Tensor", {x, x}, Promotion::Float, floats(special::ldexp)},
      {"lerp.Scalar",
       {x, x, parameter},
       kCommon,
       [](Math &m, const Args &a) {
         return buildLerp(m, a[0], a[1], m.constant(a.number(2)));
       },
       Domain::Float},
      {"lerp.Tensor",
       {x, x, x},
       kCommon,
       [](Math &m, const Args &a) { return buildLerp(m, a[0], a[1], a[2]); },
       Domain::Float},
      {"addcmul",
       {x, x, x, parameterOr(1.0)},
       kCommon,
       [](Math &m, const Args &a) {
         return m.add(a[0], m.mul(scaled(m, a.number(3), a[1]), a[2]));
       }},
      {"addcdiv",
       {x, x, x, parameterOr(1.0)},
       kCommon,
       [](Math &m, const Args &a) {
         return m.add(a[0], m.div(scaled(m, a.number(3), a[1]), a[2]));
       },
       Domain::Float},
      {"maximum max.other", {x, x}, kCommon, binary(&Math::maximum)},
      {"minimum min.other", {x, x}, kCommon, binary(&Math::minimum)},
      {"fmax",
       {x, x},
       kCommon,
       [](Math &m, const Args &a) {
         return buildNumberExtremum(m, a[0], a[1], /*isMaximum=*/true);
       }},
      {"fmin",
       {x, x},
       kCommon,
       [](Math &m, const Args &a) {
         return buildNumberExtremum(m, a[0], a[1], /*isMaximum=*/false);
       }},
      {"clamp clamp.Tensor clip clip.Tensor",
       {x, bound, bound},
       kCommon,
       [](Math &m, const Args &a) { return buildClamp(m, a[0], a[1], a[2]); }},
      {"clamp_min clamp_min.Tensor",
       {x, rounded},
       kCommon,
       [](Math &m, const Args &a) { return buildClamp(m, a[0], a[1], {}); }},
      {"clamp_max clamp_max.Tensor",
       {x, rounded},
       kCommon,
       [](Math &m, const Args &a) { return buildClamp(m, a[0], {}, a[1]); }},
      {"heaviside",
       {x, x},
       kCommon,
       [](Math &m, const Args &a) { return buildHeaviside(m, a[0], a[1]); }},
      {"atan2 arctan2", {x, x}, Promotion::Float, buildOp<math::Atan2Op>},
      {"copysign.Tensor copysign.Scalar",
       {x, x},
       Promotion::Float,
       buildOp<math::CopySignOp>},
      {"hypot", {x, x}, kCommon, floats(special::hypot), Domain::Float},
      {"logaddexp", {x, x}, kCommon, floats(special::logaddexp), Domain::Float},
      {"logaddexp2",
       {x, x},
       kCommon,
       floats(special::logaddexp2),
       Domain::Float},
      {"xlogy.Tensor xlogy.Scalar_Self xlogy.Scalar_Other special_xlogy "
       "special_xlogy.self_scalar special_xlogy.other_scalar",
       {x, x},
       Promotion::Float,
       floats(special::xlogy)},
      {"special_xlog1py special_xlog1py.self_scalar "
       "special_xlog1py.other_scalar",
       {x, x},
       Promotion::Float,
       floats(special::xlog1py)},
      {"special_zeta special_zeta.self_scalar special_zeta.other_scalar",
       {x, x},
       Promotion::Float,
       floats(special::zeta)},
  };
}

static SmallVector<PointwiseRow> getBitRows() {
  auto row = [](StringRef names, PointwiseBody body) {
    return PointwiseRow{
        names, {x, x}, Promotion::Common, std::move(body), Domain::Integer};
  };
  return {
      row("bitwise_and.Tensor bitwise_and.Scalar bitwise_and.Scalar_Tensor "
          "__and__.Tensor __and__.Scalar",
          buildOp<arith::AndIOp>),
      row("bitwise_or.Tensor bitwise_or.Scalar bitwise_or.Scalar_Tensor "
          "__or__.Tensor __or__.Scalar",
          buildOp<arith::OrIOp>),
      row("bitwise_xor.Tensor bitwise_xor.Scalar bitwise_xor.Scalar_Tensor "
          "__xor__.Tensor __xor__.Scalar",
          buildOp<arith::XOrIOp>),
      row("bitwise_left_shift.Tensor bitwise_left_shift.Tensor_Scalar "
          "bitwise_left_shift.Scalar_Tensor __lshift__.Tensor "
          "__lshift__.Scalar",
          buildLeftShift),
      row("bitwise_right_shift.Tensor bitwise_right_shift.Tensor_Scalar "
          "bitwise_right_shift.Scalar_Tensor __rshift__.Tensor "
          "__rshift__.Scalar",
          buildRightShift),
      {"bitwise_not",
       {x},
       Promotion::Common,
       [](Math &m, const Args &a) {
         return m.build<arith::XOrIOp>(a[0],
                                       m.isBool() ? m.flag(true) : m.bits(-1));
       },
       Domain::Integer},
  };
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

static const PointwiseRow &getDivision() {
  static const PointwiseRow row{"div.Tensor div.Scalar divide.Tensor "
                                "divide.Scalar true_divide.Tensor "
                                "true_divide.Scalar",
                                {x, x},
                                Promotion::Float,
                                binary(&Math::div)};
  return row;
}

/// Operand 2 says how the quotient is rounded.
static LogicalResult convertRoundedDivision(TorchCall &call) {
  if (call.isNone(2)) {
    PointwiseRow row = getDivision();
    row.slots.push_back(ignored);
    return convertPointwise(call, row);
  }
  FailureOr<StringRef> mode = call.string(2);
  if (failed(mode))
    return failure();
  if (*mode != "floor" && *mode != "trunc")
    return call.refuse("expected the rounding mode `floor` or `trunc`, but got "
                       "`" +
                       *mode + "`");
  bool isFloor = *mode == "floor";
  return convertPointwise(
      call,
      {"", {x, x, ignored}, Promotion::Common, [=](Math &m, const Args &a) {
         return isFloor ? m.floorDivide(a[0], a[1]) : m.truncDivide(a[0], a[1]);
       }});
}

void mlir::fuseops::addArithmeticHandlers(TorchHandlers &handlers) {
  addPointwiseRows(handlers, getArithmeticRows());
  addPointwiseRows(handlers, getBitRows());
  addPointwiseRows(handlers, getDivision());
  for (StringRef name : {"aten.div.Tensor_mode", "aten.div.Scalar_mode",
                         "aten.divide.Tensor_mode", "aten.divide.Scalar_mode"})
    handlers.add(name, 3, 3, convertRoundedDivision);
}
