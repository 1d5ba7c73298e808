//===- SpecialExpansions.cpp - Values and derivatives of fuseops.special --===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpecialExpansions.h"

#include "FuseOps/Dialect/FuseOps/SpecialFunctions.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fuseops;
using Predicate = arith::CmpFPredicate;

static constexpr double kPi = 3.14159265358979323846;
static constexpr double kLn2 = 0.69314718055994530942;

//===----------------------------------------------------------------------===//
// Short expansions, in the type of their operands
//===----------------------------------------------------------------------===//

/// 0 where x is 0 and y is no NaN, else x times the logarithm.
static Value expandProduct(ScalarMath &m, Value x, Value y, Value log) {
  Value zero = m.constant(0.0);
  Value isZero = m.both(m.equal(x, zero), m.equal(y, y));
  return m.select(isZero, zero, m.mul(x, log));
}

static Value expandEntr(ScalarMath &m, Value x) {
  Value zero = m.constant(0.0);
  Value y = m.mul(m.neg(x), m.log(x));
  y = m.select(m.equal(x, zero), zero, y);
  return m.select(m.less(x, zero), m.constant(-INFINITY), y);
}

static Value expandLogit(ScalarMath &m, Value x) {
  // Near 1/2, where the logarithm is near 0, 2x - 1 is exact.
  Value one = m.constant(1.0);
  Value rest = m.sub(one, x);
  Value twice = m.fma(m.constant(2.0), x, m.constant(-1.0));
  Value isCentral = m.less(m.abs(twice), m.constant(0.5));
  return m.select(isCentral, m.log1p(m.div(twice, rest)),
                  m.log(m.div(x, rest)));
}

static Value expandHypot(ScalarMath &m, Value a, Value b) {
  a = m.abs(a);
  b = m.abs(b);
  Value zero = m.constant(0.0), infinity = m.constant(INFINITY);
  Value result;
  if (!getElementTypeOrSelf(m.type).isF64()) {
    // No square of an f32 leaves the range of f64.
    Type wide = m.builder.getF64Type();
    if (auto vector = dyn_cast<VectorType>(m.type))
      wide = vector.clone(wide);
    ScalarMath w(m.builder, m.loc, wide);
    result = w.sqrt(w.add(w.square(w.convert(a)), w.square(w.convert(b))));
    result = m.convert(result);
  } else {
    Value large = m.maximum(a, b);
    Value ratio = m.div(m.minimum(a, b), large);
    result = m.mul(large, m.sqrt(m.fma(ratio, ratio, m.constant(1.0))));
    result = m.select(m.equal(large, zero), zero, result);
  }
  // An infinite operand wins over a NaN.
  Value isInfinite = m.either(m.equal(a, infinity), m.equal(b, infinity));
  return m.select(isInfinite, infinity, result);
}

/// log_base(base^a + base^b).
static Value expandLogAddExp(ScalarMath &m, Value a, Value b, bool isBaseTwo) {
  Value distance = m.neg(m.abs(m.sub(a, b)));
  Value rest = m.log1p(isBaseTwo ? m.exp2(distance) : m.exp(distance));
  if (isBaseTwo)
    rest = m.mul(rest, m.constant(1.0 / kLn2));
  Value sum = m.add(m.maximum(a, b), rest);
  Value isSameInfinity =
      m.both(m.equal(a, b), m.equal(m.abs(a), m.constant(INFINITY)));
  return m.select(isSameInfinity, a, sum);
}

static Value expandNextAfter(ScalarMath &m, Value from, Value to) {
  OpBuilder &b = m.builder;
  Location loc = m.loc;
  Type bitsType =
      b.getIntegerType(getElementTypeOrSelf(m.type).getIntOrFloatBitWidth());
  auto constantOf = [&](int64_t value) -> Value {
    TypedAttr attr = b.getIntegerAttr(bitsType, value);
    if (auto vector = dyn_cast<VectorType>(m.type))
      attr = DenseElementsAttr::get(vector.clone(bitsType), Attribute(attr));
    return arith::ConstantOp::create(b, loc, attr);
  };
  Value one = constantOf(1), minusOne = constantOf(-1);
  auto bitcast = [&](Value value, Type type) -> Value {
    return arith::BitcastOp::create(b, loc, type, value);
  };
  Value bits = bitcast(from, one.getType());
  // Away from 0 is one more: the sign is apart.
  Value zero = m.constant(0.0);
  Value differs =
      arith::XOrIOp::create(b, loc, m.less(from, to), m.greater(from, zero));
  Value step = m.select(differs, minusOne, one);
  Value next = bitcast(arith::AddIOp::create(b, loc, bits, step), m.type);
  Value fromZero = m.copySign(bitcast(one, m.type), to);
  Value result = m.select(m.equal(from, zero), fromZero, next);
  result = m.select(m.equal(from, to), to, result);
  Value isNaN = m.compare(Predicate::UNO, from, to);
  return m.select(isNaN, m.constant(NAN), result);
}

static Value expandSinc(ScalarMath &m, Value x) {
  Value isZero = m.equal(x, m.constant(0.0));
  Value y = m.div(expandSinPi(m, x), m.mul(m.constant(kPi), x));
  return m.select(isZero, m.constant(1.0), y);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Null for those that are expanded in f64.
static Value expandInPlace(ScalarMath &m, SpecialFunction function,
                           ArrayRef<Value> x) {
  switch (function) {
  case SpecialFunction::Entr:
    return expandEntr(m, x[0]);
  case SpecialFunction::Xlogy:
    return expandProduct(m, x[0], x[1], m.log(x[1]));
  case SpecialFunction::Xlog1py:
    return expandProduct(m, x[0], x[1], m.log1p(x[1]));
  case SpecialFunction::Hypot:
    return expandHypot(m, x[0], x[1]);
  case SpecialFunction::LogAddExp:
    return expandLogAddExp(m, x[0], x[1], /*isBaseTwo=*/false);
  case SpecialFunction::LogAddExp2:
    return expandLogAddExp(m, x[0], x[1], /*isBaseTwo=*/true);
  case SpecialFunction::NextAfter:
    return expandNextAfter(m, x[0], x[1]);
  case SpecialFunction::Logit:
    return expandLogit(m, x[0]);
  default:
    return {};
  }
}

static Value expandWide(ScalarMath &m, SpecialFunction function,
                        ArrayRef<Value> x, int64_t order) {
  switch (function) {
  case SpecialFunction::Lgamma:
    return expandLgamma(m, x[0]);
  case SpecialFunction::Polygamma:
    return expandPolygamma(m, x[0], order);
  case SpecialFunction::Zeta:
    return expandZeta(m, x[0], x[1]);
  case SpecialFunction::Erfinv:
    return expandErfinv(m, x[0]);
  case SpecialFunction::Erfcx:
    return expandErfcx(m, x[0]);
  case SpecialFunction::LogNdtr:
    return expandLogNdtr(m, x[0]);
  case SpecialFunction::Ndtri:
    return expandNdtri(m, x[0]);
  case SpecialFunction::I0:
    return expandBessel(m, x[0], 0, /*isScaled=*/false);
  case SpecialFunction::I0e:
    return expandBessel(m, x[0], 0, /*isScaled=*/true);
  case SpecialFunction::I1:
    return expandBessel(m, x[0], 1, /*isScaled=*/false);
  case SpecialFunction::I1e:
    return expandBessel(m, x[0], 1, /*isScaled=*/true);
  case SpecialFunction::Sinc:
    return expandSinc(m, x[0]);
  default:
    llvm_unreachable("expanded in place");
  }
}

Value mlir::fuseops::expandSpecial(OpBuilder &builder, SpecialOp op) {
  Type type = op.getType();
  SmallVector<Value> inputs(op.getInputs());
  ScalarMath narrow(builder, op.getLoc(), type);
  if (Value result = expandInPlace(narrow, op.getFunction(), inputs))
    return result;
  Type wide = builder.getF64Type();
  if (auto vector = dyn_cast<VectorType>(type))
    wide = vector.clone(wide);
  ScalarMath m(builder, op.getLoc(), wide);
  for (Value &input : inputs)
    input = m.convert(input);
  return narrow.convert(expandWide(m, op.getFunction(), inputs, op.getOrder()));
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

/// d sinc(x) / dx: the series where its terms would cancel.
static Value differentiateSinc(ScalarMath &m, Value x, Value y) {
  SmallVector<double> series; // (-1)^k 2k pi^2k / (2k + 1)! for x^(2k - 1)
  double term = 1.0;
  for (int k = 1; k <= 10; ++k) {
    term *= -kPi * kPi / (2.0 * k * (2.0 * k + 1));
    series.push_back(2.0 * k * term);
  }
  Value small = m.mul(m.polynomial(m.square(x), series), x);
  // (cos(pi x) - sinc(x)) / x with cos(pi x) = 1 - 2 sin(pi x / 2)^2, of x less
  // a multiple of 2.
  Value half = m.mul(x, m.constant(0.5));
  half = m.sub(half, m.roundEven(half));
  Value sine = m.sin(m.mul(half, m.constant(kPi)));
  Value cosine = m.fma(m.mul(m.constant(-2.0), sine), sine, m.constant(1.0));
  Value large = m.div(m.sub(cosine, y), x);
  return m.select(m.less(m.abs(x), m.constant(0.5)), small, large);
}

/// d result / d operand of an inverse of the error function, erfcx or a scaled
/// Bessel function, which cancels or magnifies the error of an f32: in f64,
/// then.
static Value differentiateWide(ScalarMath &m, SpecialOp op, Value x) {
  Type wide = m.builder.getF64Type();
  ScalarMath w(m.builder, m.loc, wide);
  x = w.convert(x);
  auto value = [&]() -> Value {
    return SpecialOp::create(m.builder, m.loc, wide, op.getFunction(), x, 0);
  };
  Value slope;
  switch (op.getFunction()) {
  case SpecialFunction::Erfinv:
    slope = w.mul(w.constant(std::sqrt(kPi) / 2), w.exp(w.square(value())));
    break;
  case SpecialFunction::Ndtri:
    slope = w.mul(w.constant(std::sqrt(2 * kPi)),
                  w.exp(w.mul(w.constant(0.5), w.square(value()))));
    break;
  case SpecialFunction::I0e:
    slope = expandScaledBesselSlope(w, x, 0);
    break;
  case SpecialFunction::I1e:
    slope = expandScaledBesselSlope(w, x, 1);
    break;
  default:
    slope = w.fma(w.mul(w.constant(2.0), x), value(),
                  w.constant(-2.0 / std::sqrt(kPi)));
    break;
  }
  return m.convert(slope);
}

/// d result / d operand of a function of one operand.
static Value differentiateUnary(ScalarMath &m, SpecialOp op, Value x, Value y) {
  using namespace special;
  switch (op.getFunction()) {
  case SpecialFunction::Lgamma:
    return digamma(m, x);
  case SpecialFunction::Polygamma:
    return polygamma(m, op.getOrder() + 1, x);
  case SpecialFunction::Erfinv:
  case SpecialFunction::Ndtri:
  case SpecialFunction::Erfcx:
  case SpecialFunction::I0e:
  case SpecialFunction::I1e:
    return differentiateWide(m, op, x);
  case SpecialFunction::LogNdtr: {
    Value scaled = erfcx(m, m.mul(x, m.constant(-std::sqrt(0.5))));
    return m.div(m.constant(std::sqrt(2 / kPi)), scaled);
  }
  case SpecialFunction::I0:
    return i1(m, x);
  case SpecialFunction::I1: {
    Value slope = m.sub(i0(m, x), m.div(y, x));
    return m.select(m.equal(x, m.constant(0.0)), m.constant(0.5), slope);
  }
  case SpecialFunction::Sinc:
    return differentiateSinc(m, x, y);
  case SpecialFunction::Entr:
    return m.sub(m.constant(-1.0), m.log(x));
  case SpecialFunction::Logit: {
    Value one = m.constant(1.0), zero = m.constant(0.0);
    Value slope = m.reciprocal(m.mul(x, m.sub(one, x)));
    Value isOutside = m.either(m.less(x, zero), m.greater(x, one));
    return m.select(isOutside, m.constant(NAN), slope);
  }
  default:
    return {};
  }
}

FailureOr<SmallVector<Value>>
mlir::fuseops::differentiateSpecial(ScalarMath &m, SpecialOp op,
                                    ArrayRef<Value> x, Value y) {
  if (x.size() == 1)
    return SmallVector<Value>{differentiateUnary(m, op, x[0], y)};
  Value zero = m.constant(0.0);
  switch (op.getFunction()) {
  case SpecialFunction::Zeta:
    return SmallVector<Value>{
        Value(), m.mul(m.neg(x[0]),
                       special::zeta(m, m.add(x[0], m.constant(1.0)), x[1]))};
  case SpecialFunction::Xlogy:
  case SpecialFunction::Xlog1py: {
    bool isShifted = op.getFunction() == SpecialFunction::Xlog1py;
    Value log = isShifted ? m.log1p(x[1]) : m.log(x[1]);
    Value bottom = isShifted ? m.add(m.constant(1.0), x[1]) : x[1];
    Value isNone = m.both(
        m.equal(x[0], zero),
        m.compare(Predicate::OLE, x[1], m.constant(isShifted ? -1.0 : 0.0)));
    return SmallVector<Value>{m.select(isNone, zero, log), m.div(x[0], bottom)};
  }
  case SpecialFunction::Hypot:
    return SmallVector<Value>{m.div(x[0], y), m.div(x[1], y)};
  case SpecialFunction::LogAddExp:
  case SpecialFunction::LogAddExp2: {
    // The shares of both, each right in its tail.
    Value distance = m.sub(x[0], x[1]);
    if (op.getFunction() == SpecialFunction::LogAddExp2)
      distance = m.mul(distance, m.constant(kLn2));
    return SmallVector<Value>{m.sigmoid(distance), m.sigmoid(m.neg(distance))};
  }
  default:
    return op.emitOpError() << "has no derivative, but a gradient through it "
                               "is asked for";
  }
}
