//===- SpecialFunctions.cpp - PyTorch's scalar functions ------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is written in `arith` and `math` here is in the form whose symbolic
// derivative is PyTorch's: a select in the place of an absolute value that
// would have the derivative 0 at 0.
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/SpecialFunctions.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fuseops;
using Predicate = arith::CmpFPredicate;

/// `fuseops.special`.
static Value call(ScalarMath &m, SpecialFunction function, ValueRange inputs,
                  int64_t order = 0) {
  return SpecialOp::create(m.builder, m.loc, m.type, function, inputs, order);
}

//===----------------------------------------------------------------------===//
// Gamma, error, Bessel
//===----------------------------------------------------------------------===//

Value special::lgamma(ScalarMath &m, Value x) {
  return call(m, SpecialFunction::Lgamma, x);
}
Value special::digamma(ScalarMath &m, Value x) { return polygamma(m, 0, x); }
Value special::trigamma(ScalarMath &m, Value x) { return polygamma(m, 1, x); }
Value special::polygamma(ScalarMath &m, int64_t order, Value x) {
  return call(m, SpecialFunction::Polygamma, x, order);
}
Value special::multigammaln(ScalarMath &m, Value x, int64_t p) {
  constexpr double kLogPi = 1.14472988584940017414;
  Value sum = m.constant(kLogPi / 4 * double(p) * double(p - 1));
  for (int64_t i = 0; i < p; ++i)
    sum = m.add(sum, lgamma(m, m.sub(x, m.constant(0.5 * double(i)))));
  return sum;
}
Value special::zeta(ScalarMath &m, Value s, Value q) {
  return call(m, SpecialFunction::Zeta, {s, q});
}
Value special::erfinv(ScalarMath &m, Value x) {
  return call(m, SpecialFunction::Erfinv, x);
}
Value special::erfcx(ScalarMath &m, Value x) {
  return call(m, SpecialFunction::Erfcx, x);
}
Value special::ndtr(ScalarMath &m, Value x) {
  constexpr double kMinusSqrtHalf = -0.70710678118654752440;
  return m.mul(m.constant(0.5), m.erfc(m.mul(m.constant(kMinusSqrtHalf), x)));
}
Value special::logNdtr(ScalarMath &m, Value x) {
  return call(m, SpecialFunction::LogNdtr, x);
}
Value special::ndtri(ScalarMath &m, Value x) {
  return call(m, SpecialFunction::Ndtri, x);
}
Value special::i0(ScalarMath &m, Value x) {
  return call(m, SpecialFunction::I0, x);
}
Value special::i0e(ScalarMath &m, Value x) {
  return call(m, SpecialFunction::I0e, x);
}
Value special::i1(ScalarMath &m, Value x) {
  return call(m, SpecialFunction::I1, x);
}
Value special::i1e(ScalarMath &m, Value x) {
  return call(m, SpecialFunction::I1e, x);
}
Value special::sinc(ScalarMath &m, Value x) {
  return call(m, SpecialFunction::Sinc, x);
}

//===----------------------------------------------------------------------===//
// Exponentials and logarithms
//===----------------------------------------------------------------------===//

Value special::entr(ScalarMath &m, Value x) {
  return call(m, SpecialFunction::Entr, x);
}
Value special::xlogy(ScalarMath &m, Value x, Value y) {
  return call(m, SpecialFunction::Xlogy, {x, y});
}
Value special::xlog1py(ScalarMath &m, Value x, Value y) {
  return call(m, SpecialFunction::Xlog1py, {x, y});
}
Value special::logaddexp(ScalarMath &m, Value a, Value b) {
  return call(m, SpecialFunction::LogAddExp, {a, b});
}
Value special::logaddexp2(ScalarMath &m, Value a, Value b) {
  return call(m, SpecialFunction::LogAddExp2, {a, b});
}
Value special::hypot(ScalarMath &m, Value a, Value b) {
  return call(m, SpecialFunction::Hypot, {a, b});
}

Value special::logit(ScalarMath &m, Value x, std::optional<double> eps) {
  if (eps)
    x = clamp(m, x, m.constant(*eps), m.constant(1.0 - *eps));
  return call(m, SpecialFunction::Logit, x);
}

Value special::softplus(ScalarMath &m, Value x, double beta, double threshold) {
  Value z = beta == 1.0 ? x : m.mul(x, m.constant(beta));
  Value zero = m.constant(0.0);
  Value isPositive = m.compare(Predicate::OGE, z, zero);
  Value power = m.exp(m.select(isPositive, m.neg(z), z));
  Value y = m.add(m.select(isPositive, z, zero), m.log1p(power));
  if (beta != 1.0)
    y = m.div(y, m.constant(beta));
  Value isLinear = m.greater(z, m.constant(threshold));
  // NaN isn't positive: it comes back by its exponential.
  return m.select(isLinear, x, y);
}

Value special::logSigmoid(ScalarMath &m, Value x) {
  Value zero = m.constant(0.0);
  Value isPositive = m.compare(Predicate::OGE, x, zero);
  Value power = m.exp(m.select(isPositive, m.neg(x), x));
  return m.sub(m.select(isPositive, zero, x), m.log1p(power));
}

Value special::silu(ScalarMath &m, Value x) { return m.mul(x, m.sigmoid(x)); }

Value special::mish(ScalarMath &m, Value x) {
  // tanh(log(1 + e^x)) as a quotient in w = e^-|x|: nothing overflows, nothing
  // cancels.
  Value one = m.constant(1.0), two = m.constant(2.0);
  Value isPositive = m.compare(Predicate::OGE, x, m.constant(0.0));
  Value w = m.exp(m.select(isPositive, m.neg(x), x));
  Value numerator =
      m.select(isPositive, m.fma(two, w, one), m.mul(w, m.add(w, two)));
  Value rest = m.select(isPositive, m.mul(two, m.square(w)), two);
  return m.mul(x, m.div(numerator, m.add(numerator, rest)));
}

Value special::elu(ScalarMath &m, Value x, double alpha, double scale,
                   double inputScale) {
  Value zero = m.constant(0.0);
  Value isNegative = m.compare(Predicate::OLE, x, zero);
  // expm1 of a large x would be infinite, and so would its derivative.
  Value negative = m.select(isNegative, x, zero);
  if (inputScale != 1.0)
    negative = m.mul(negative, m.constant(inputScale));
  Value exponential = m.mul(m.expm1(negative), m.constant(alpha * scale));
  Value linear = scale == 1.0 ? x : m.mul(x, m.constant(scale));
  return m.select(isNegative, exponential, linear);
}

Value special::expMinusSquare(ScalarMath &m, Value x, double factor) {
  // Bounded, so that an infinite square doesn't make its error NaN.
  Value a = m.minimum(m.abs(x), m.constant(100.0));
  auto scaled = [&](Value v) {
    return factor == 1.0 ? m.neg(v) : m.mul(m.constant(-factor), v);
  };
  Value square = m.square(a);
  Value error = m.fma(a, a, m.neg(square));
  Value e = m.exp(scaled(square));
  return m.fma(scaled(error), e, e);
}

Value special::powConstant(ScalarMath &m, Value x, double exponent) {
  if (exponent == 0.0)
    return m.constant(1.0);
  if (exponent == 1.0)
    return x;
  if (exponent == 2.0)
    return m.square(x);
  if (exponent == 3.0)
    return m.mul(m.square(x), x);
  if (exponent == 0.5)
    return m.sqrt(x);
  if (exponent == -0.5)
    return m.rsqrt(x);
  if (exponent == -1.0)
    return m.reciprocal(x);
  if (exponent == -2.0)
    return m.square(m.reciprocal(x));
  return m.pow(x, m.constant(exponent));
}

Value special::ldexp(ScalarMath &m, Value x, Value n) {
  return m.mul(x, m.exp2(n));
}

//===----------------------------------------------------------------------===//
// Rounding, division, signs
//===----------------------------------------------------------------------===//

Value special::frac(ScalarMath &m, Value x) { return m.sub(x, m.trunc(x)); }

Value special::round(ScalarMath &m, Value x, int64_t decimals) {
  if (decimals == 0)
    return m.roundEven(x);
  Value power = m.constant(std::pow(10.0, double(std::abs(decimals))));
  if (decimals > 0)
    return m.div(m.roundEven(m.mul(x, power)), power);
  return m.mul(m.roundEven(m.div(x, power)), power);
}

Value special::fmod(ScalarMath &m, Value a, Value b) {
  return arith::RemFOp::create(m.builder, m.loc, a, b);
}

/// Whether a remainder that isn't 0 has another sign than the divisor.
static Value hasOtherSign(ScalarMath &m, Value remainder, Value divisor) {
  Value zero = m.constant(0.0);
  Value differs = arith::XOrIOp::create(
      m.builder, m.loc, m.less(remainder, zero), m.less(divisor, zero));
  return m.both(m.compare(Predicate::UNE, remainder, zero), differs);
}

Value special::remainder(ScalarMath &m, Value a, Value b) {
  Value rest = fmod(m, a, b);
  return m.select(hasOtherSign(m, rest, b), m.add(rest, b), rest);
}

Value special::floorDivide(ScalarMath &m, Value a, Value b) {
  // The exact quotient of what the remainder leaves: a / b itself may round up
  // to the next integer.
  Value zero = m.constant(0.0), one = m.constant(1.0);
  Value ratio = m.div(a, b);
  Value rest = fmod(m, a, b);
  Value quotient = m.div(m.sub(a, rest), b);
  quotient = m.select(hasOtherSign(m, rest, b), m.sub(quotient, one), quotient);
  Value floor = m.floor(quotient);
  Value isHigh = m.greater(m.sub(quotient, floor), m.constant(0.5));
  floor = m.select(isHigh, m.add(floor, one), floor);
  floor = m.select(m.equal(quotient, zero), m.copySign(zero, ratio), floor);
  // Infinite or NaN there; its floor, so that the derivative is 0.
  return m.select(m.equal(b, zero), m.floor(ratio), floor);
}

Value special::truncDivide(ScalarMath &m, Value a, Value b) {
  return m.trunc(m.div(a, b));
}

Value special::clamp(ScalarMath &m, Value x, Value low, Value high) {
  if (low && high)
    return math::ClampFOp::create(m.builder, m.loc, x, low, high);
  // Not a maximum, whose derivative at a tie is half.
  auto bound = [&](Predicate isInside, Value limit) {
    Value keeps = m.either(m.compare(isInside, x, limit), m.isNaN(x));
    return m.select(keeps, x, limit);
  };
  if (low)
    return bound(Predicate::OGE, low);
  return high ? bound(Predicate::OLE, high) : x;
}

Value special::sign(ScalarMath &m, Value x) {
  Value zero = m.constant(0.0);
  Value negative = m.select(m.less(x, zero), m.constant(-1.0), zero);
  return m.select(m.greater(x, zero), m.constant(1.0), negative);
}

Value special::signbit(ScalarMath &m, Value x) {
  return m.less(m.copySign(m.constant(1.0), x), m.constant(0.0));
}

Value special::heaviside(ScalarMath &m, Value x, Value atZero) {
  Value zero = m.constant(0.0);
  Value step = m.select(m.greater(x, zero), m.constant(1.0), zero);
  return m.select(m.equal(x, zero), atZero, step);
}

Value special::nextafter(ScalarMath &m, Value from, Value to) {
  return call(m, SpecialFunction::NextAfter, {from, to});
}

Value special::isInf(ScalarMath &m, Value x) {
  return math::IsInfOp::create(m.builder, m.loc, x);
}
Value special::isFinite(ScalarMath &m, Value x) {
  return math::IsFiniteOp::create(m.builder, m.loc, x);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static Value constantInt(OpBuilder &b, Location loc, Type type, int64_t value) {
  TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

Value special::truncDivideInt(OpBuilder &b, Location loc, Value x, Value y,
                              bool isUnsigned) {
  if (isUnsigned)
    return arith::DivUIOp::create(b, loc, x, y);
  return arith::DivSIOp::create(b, loc, x, y);
}

Value special::fmodInt(OpBuilder &b, Location loc, Value x, Value y,
                       bool isUnsigned) {
  if (isUnsigned)
    return arith::RemUIOp::create(b, loc, x, y);
  return arith::RemSIOp::create(b, loc, x, y);
}

/// Whether a remainder that isn't 0 has another sign than the divisor.
static Value hasOtherSign(OpBuilder &b, Location loc, Value remainder,
                          Value divisor) {
  Value zero = constantInt(b, loc, divisor.getType(), 0);
  Value mixed = arith::XOrIOp::create(b, loc, remainder, divisor);
  Value differs =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, mixed, zero);
  Value isInexact =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, remainder, zero);
  return arith::AndIOp::create(b, loc, isInexact, differs);
}

Value special::floorDivideInt(OpBuilder &b, Location loc, Value x, Value y,
                              bool isUnsigned) {
  Value quotient = truncDivideInt(b, loc, x, y, isUnsigned);
  if (isUnsigned)
    return quotient;
  Value rest = fmodInt(b, loc, x, y, /*isUnsigned=*/false);
  Value minusOne = constantInt(b, loc, x.getType(), -1);
  Value lower = arith::AddIOp::create(b, loc, quotient, minusOne);
  return arith::SelectOp::create(b, loc, hasOtherSign(b, loc, rest, y), lower,
                                 quotient);
}

Value special::remainderInt(OpBuilder &b, Location loc, Value x, Value y,
                            bool isUnsigned) {
  Value rest = fmodInt(b, loc, x, y, isUnsigned);
  if (isUnsigned)
    return rest;
  Value moved = arith::AddIOp::create(b, loc, rest, y);
  return arith::SelectOp::create(b, loc, hasOtherSign(b, loc, rest, y), moved,
                                 rest);
}

/// Whether `arith` shifts by n bits: 0 <= n < width.
static Value isShift(OpBuilder &b, Location loc, Value n) {
  Type type = n.getType();
  Value width = constantInt(b, loc, type,
                            getElementTypeOrSelf(type).getIntOrFloatBitWidth());
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, n, width);
}

Value special::shiftLeftInt(OpBuilder &b, Location loc, Value x, Value n) {
  Value isValid = isShift(b, loc, n);
  Value zero = constantInt(b, loc, x.getType(), 0);
  Value amount = arith::SelectOp::create(b, loc, isValid, n, zero);
  Value shifted = arith::ShLIOp::create(b, loc, x, amount);
  return arith::SelectOp::create(b, loc, isValid, shifted, zero);
}

Value special::shiftRightInt(OpBuilder &b, Location loc, Value x, Value n,
                             bool isUnsigned) {
  Value isValid = isShift(b, loc, n);
  Type type = x.getType();
  Value most = constantInt(
      b, loc, type, getElementTypeOrSelf(type).getIntOrFloatBitWidth() - 1);
  Value amount = arith::SelectOp::create(b, loc, isValid, n, most);
  if (!isUnsigned)
    return arith::ShRSIOp::create(b, loc, x, amount);
  Value shifted = arith::ShRUIOp::create(b, loc, x, amount);
  return arith::SelectOp::create(b, loc, isValid, shifted,
                                 constantInt(b, loc, type, 0));
}

Value special::powInt(OpBuilder &b, Location loc, Value x, Value n) {
  return math::IPowIOp::create(b, loc, x, n);
}

//===----------------------------------------------------------------------===//
// SpecialOp
//===----------------------------------------------------------------------===//

LogicalResult SpecialOp::verify() {
  unsigned expected = 1;
  switch (getFunction()) {
  case SpecialFunction::Zeta:
  case SpecialFunction::Xlogy:
  case SpecialFunction::Xlog1py:
  case SpecialFunction::Hypot:
  case SpecialFunction::LogAddExp:
  case SpecialFunction::LogAddExp2:
  case SpecialFunction::NextAfter:
    expected = 2;
    break;
  default:
    break;
  }
  StringRef name = stringifySpecialFunction(getFunction());
  if (getInputs().size() != expected)
    return emitOpError() << "expected " << expected << " operand"
                         << (expected == 1 ? "" : "s") << " of `" << name
                         << "`, but got " << getInputs().size();
  bool takesOrder = getFunction() == SpecialFunction::Polygamma;
  int64_t order = static_cast<int64_t>(getOrder());
  if (order < 0 || (order > 0 && !takesOrder))
    return emitOpError() << "expected an order "
                         << (takesOrder ? "from 0 on" : "of 0") << " of `"
                         << name << "`, but got " << order;
  return success();
}
