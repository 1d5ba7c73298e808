//===- PointwiseUnary.cpp - Functions of one number ----------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/SpecialFunctions.h"
#include "PointwiseTable.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fuseops;
using namespace mlir::fuseops::slots;

using Math = TorchMath;
using Args = PointwiseArguments;

static constexpr double kPi = 3.14159265358979323846;

/// A function of one value that is computed in floats.
static PointwiseRow floats(StringRef names,
                           std::function<Value(Math &, Value)> function) {
  return {names, {x}, Promotion::Float, [function](Math &m, const Args &a) {
            return function(m, a[0]);
          }};
}

template <typename OpT>
static PointwiseRow floats(StringRef names) {
  return floats(names,
                [](Math &m, Value x) -> Value { return m.build<OpT>(x); });
}

/// A function that keeps the dtype.
static PointwiseRow keeping(StringRef names,
                            std::function<Value(Math &, Value)> function) {
  PointwiseRow row = floats(names, std::move(function));
  row.promotion = Promotion::Common;
  return row;
}

/// A rounding, which leaves integers alone.
template <typename OpT>
static PointwiseRow rounding(StringRef names) {
  return keeping(names, [](Math &m, Value x) -> Value {
    return m.isFloat() ? m.build<OpT>(x) : x;
  });
}

static Value buildNanToNum(Math &m, const Args &a) {
  Value x = a[0];
  if (!m.isFloat())
    return x;
  double greatest =
      APFloat::getLargest(cast<FloatType>(m.dtype).getFloatSemantics())
          .convertToDouble();
  Value zero = m.constant(0.0);
  Value high = m.constant(a.maybe(2).value_or(greatest));
  Value low = m.constant(a.maybe(3).value_or(-greatest));
  Value infinite = m.select(m.lt(x, zero), low, high);
  x = m.select(m.isInfinite(x), infinite, x);
  return m.select(m.isNaN(a[0]), m.constant(a.number(1)), x);
}

static Value buildAngle(Math &m, Value x) {
  Value zero = m.constant(0.0);
  Value angle = m.select(m.lt(x, zero), m.constant(kPi), zero);
  return m.select(m.isNaN(x), m.constant(std::nan("")), angle);
}

/// The next number of the dtype from `a` towards `b`.
static Value buildNextAfter(Math &m, const Args &args) {
  Value a = args[0], b = args[1];
  Type integer = m.builder.getIntegerType(m.dtype.getIntOrFloatBitWidth());
  Math bits(m.builder, m.loc, integer);
  auto toBits = [&](Value value) -> Value {
    value = convertFloat(m.builder, m.loc, value, m.dtype);
    return arith::BitcastOp::create(m.builder, m.loc, integer, value);
  };
  Value zero = m.constant(0.0), one = bits.bits(1);
  Value pattern = toBits(a);
  Value grows = m.build<arith::CmpIOp>(arith::CmpIPredicate::eq, m.lt(a, b),
                                       m.gt(a, zero));
  Value next = m.select(grows, bits.add(pattern, one), bits.sub(pattern, one));
  Value least = bits.either(toBits(m.build<math::CopySignOp>(zero, b)), one);
  next = m.select(m.isZero(a), least, next);
  Value result = convertFloat(
      m.builder, m.loc,
      arith::BitcastOp::create(m.builder, m.loc, m.dtype, next), m.type);
  result = m.select(m.eq(a, b), b, result);
  Value isNaN = m.either(m.isNaN(a), m.isNaN(b));
  return m.select(isNaN, m.constant(std::nan("")), result);
}

static SmallVector<PointwiseRow> getElementaryRows() {
  return {
      floats<math::AcosOp>("acos arccos"),
      floats<math::AcoshOp>("acosh arccosh"),
      floats<math::AsinOp>("asin arcsin"),
      floats<math::AsinhOp>("asinh arcsinh"),
      floats<math::AtanOp>("atan arctan"),
      floats<math::AtanhOp>("atanh arctanh"),
      floats<math::CosOp>("cos"),
      floats<math::CoshOp>("cosh"),
      floats<math::ErfOp>("erf special_erf"),
      floats<math::ErfcOp>("erfc special_erfc"),
      floats<math::ExpOp>("exp"),
      floats<math::Exp2Op>("exp2 special_exp2"),
      floats<math::ExpM1Op>("expm1 special_expm1"),
      floats<math::LogOp>("log"),
      floats<math::Log10Op>("log10"),
      floats<math::Log1pOp>("log1p special_log1p"),
      floats<math::Log2Op>("log2"),
      floats<math::RsqrtOp>("rsqrt"),
      floats<math::SinOp>("sin"),
      floats<math::SinhOp>("sinh"),
      floats<math::SqrtOp>("sqrt"),
      floats<math::TanOp>("tan"),
      floats<math::TanhOp>("tanh"),
      floats("erfinv special_erfinv", special::erfinv),
      floats("lgamma special_gammaln", special::lgamma),
      floats("digamma special_digamma special_psi", special::digamma),
      floats("i0 special_i0", special::i0),
      floats("special_i0e", special::i0e),
      floats("special_i1", special::i1),
      floats("special_i1e", special::i1e),
      floats("sinc special_sinc", special::sinc),
      floats("special_entr", special::entr),
      floats("special_erfcx", special::erfcx),
      floats("special_log_ndtr", special::logNdtr),
      floats("special_ndtri", special::ndtri),
      floats("special_ndtr", special::ndtr),
      floats("sigmoid special_expit",
             [](Math &m, Value x) { return m.sigmoid(x); }),
      floats("reciprocal",
             [](Math &m, Value x) { return m.div(m.constant(1.0), x); }),
      floats(
          "rad2deg",
          [](Math &m, Value x) { return m.mul(x, m.constant(180.0 / kPi)); }),
      floats(
          "deg2rad",
          [](Math &m, Value x) { return m.mul(x, m.constant(kPi / 180.0)); }),
      floats("angle", buildAngle),
  };
}

static SmallVector<PointwiseRow> getOtherRows() {
  return {
      rounding<math::CeilOp>("ceil"),
      rounding<math::FloorOp>("floor"),
      rounding<math::RoundEvenOp>("round"),
      rounding<math::TruncOp>("trunc fix"),
      keeping("abs absolute", [](Math &m, Value x) { return m.abs(x); }),
      keeping("neg negative", [](Math &m, Value x) { return m.neg(x); }),
      keeping("sign sgn", [](Math &m, Value x) { return m.sign(x); }),
      {"positive real conj _conj conj_physical resolve_conj resolve_neg",
       {x},
       Promotion::Common,
       [](Math &, const Args &a) { return a[0]; },
       Domain::Any,
       [](PointwiseCall &p) { return p.operands[0]->tensor; }},
      {"mvlgamma special_multigammaln",
       {x, parameter},
       Promotion::Float,
       [](Math &m, const Args &a) {
         return special::multigammaln(m, a[0],
                                      static_cast<int64_t>(a.number(1)));
       }},
      {"square",
       {x},
       Promotion::Number,
       [](Math &m, const Args &a) { return m.square(a[0]); }},
      {"frac",
       {x},
       Promotion::Common,
       [](Math &m, const Args &a) { return special::frac(m, a[0]); },
       Domain::Float},
      {"round.decimals special_round",
       {x, parameterOr(0.0)},
       Promotion::Common,
       [](Math &m, const Args &a) {
         auto decimals = static_cast<int64_t>(a.number(1));
         return m.isFloat() ? special::round(m, a[0], decimals) : a[0];
       }},
      {"nan_to_num",
       {x, parameterOr(0.0), maybe, maybe},
       Promotion::Common,
       buildNanToNum},
      {"logit special_logit",
       {x, maybe},
       Promotion::Float,
       [](Math &m, const Args &a) {
         return special::logit(m, a[0], a.maybe(1));
       }},
      {"nextafter", {x, x}, Promotion::Common, buildNextAfter, Domain::Float},
      {"fill.Scalar fill.Tensor",
       {dtype, x},
       Promotion::First,
       [](Math &, const Args &a) { return a[1]; }},
  };
}

/// The exponent of frexp, an integer as wide as the float.
static Value buildExponent(Math &m, Math &bits, Value x) {
  bool isDouble = m.type.isF64();
  int digits = isDouble ? 52 : 23, bias = isDouble ? 1022 : 126;
  Value isSmall = m.lt(m.abs(x), m.constant(std::ldexp(1.0, 1 - bias)));
  Value larger = m.mul(x, m.constant(std::ldexp(1.0, digits)));
  Value pattern = arith::BitcastOp::create(m.builder, m.loc, bits.type,
                                           m.select(isSmall, larger, x));
  Value shifted = m.build<arith::ShRUIOp>(pattern, bits.bits(digits));
  Value field = bits.both(shifted, bits.bits(2 * bias + 3));
  Value shift = m.select(isSmall, bits.bits(bias + digits), bits.bits(bias));
  Value isSpecial =
      m.either(m.isZero(x), m.either(m.isNaN(x), m.isInfinite(x)));
  return m.select(isSpecial, bits.bits(0), bits.sub(field, shift));
}

/// `x = mantissa * 2^exponent` with a mantissa of at least 1/2 and below 1; of
/// 0, infinity and NaN the exponent is 0.
static LogicalResult convertFrexp(TorchCall &call) {
  FailureOr<Value> input = call.floatTensor(0);
  if (failed(input))
    return failure();
  FailureOr<RankedTensorType> mantissa = call.resultType(0);
  if (failed(mantissa))
    return failure();
  FailureOr<RankedTensorType> exponent = call.resultType(1);
  if (failed(exponent))
    return failure();
  auto body = [&](OpBuilder &builder, Location loc,
                  ValueRange scalars) -> SmallVector<Value> {
    Math m(builder, loc, getElementTypeOrSelf(input->getType()));
    Math bits(builder, loc,
              builder.getIntegerType(m.type.getIntOrFloatBitWidth()));
    Math narrow(builder, loc, exponent->getElementType());
    Value power = buildExponent(m, bits, scalars[0]);
    // In two steps: 2^-power may be no float.
    Value half = m.build<arith::ShRSIOp>(power, bits.bits(1));
    Value result = scalars[0];
    for (Value part : {half, bits.sub(power, half)}) {
      Value number =
          arith::SIToFPOp::create(builder, loc, m.type, bits.neg(part));
      result = m.mul(result, m.build<math::Exp2Op>(number));
    }
    return {result, narrow.convert(power, bits.dtype)};
  };
  auto op = PointwiseOp::build(call.builder, call.getLoc(),
                               {*mantissa, *exponent}, *input, body);
  return failed(call.set(0, op.getResult(0))) ? failure()
                                              : call.set(1, op.getResult(1));
}

/// Operand 0 is the order, which is a property of the function.
static LogicalResult convertPolygamma(TorchCall &call) {
  FailureOr<int64_t> order = call.integer(0);
  if (failed(order))
    return failure();
  if (*order < 0)
    return call.refuse("expected an order of at least 0, but got " +
                       Twine(*order));
  return convertPointwise(
      call, {"", {ignored, x}, Promotion::Float, [=](Math &m, const Args &a) {
               return special::polygamma(m, *order, a[1]);
             }});
}

void mlir::fuseops::addUnaryHandlers(TorchHandlers &handlers) {
  addPointwiseRows(handlers, getElementaryRows());
  addPointwiseRows(handlers, getOtherRows());
  handlers.add("aten.frexp.Tensor", 1, 1, convertFrexp);
  handlers.add("aten.polygamma", 2, 2, convertPolygamma);
  handlers.add("aten.special_polygamma", 2, 2, convertPolygamma);
}
