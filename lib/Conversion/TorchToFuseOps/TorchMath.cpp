//===- TorchMath.cpp - Scalar expressions in any dtype of PyTorch --------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchMath.h"
#include "FuseOps/Dialect/FuseOps/SpecialFunctions.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::fuseops;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The integer nearest to 0 that `value` lies at or beyond, of those there are.
static int64_t saturate(double value) {
  if (std::isnan(value))
    return 0;
  constexpr double kLimit = 9223372036854775808.0;
  if (value >= kLimit)
    return std::numeric_limits<int64_t>::max();
  if (value < -kLimit)
    return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

TorchNumber mlir::fuseops::convertNumber(TorchNumber number, Type dtype) {
  if (dtype.isInteger(1))
    return TorchNumber::getInteger(number.isInteger ? number.integer != 0
                                                    : number.real != 0.0);
  if (auto integer = dyn_cast<IntegerType>(dtype)) {
    int64_t value = number.isInteger ? number.integer : saturate(number.real);
    unsigned width = integer.getWidth();
    APInt bits(width, static_cast<uint64_t>(value), /*isSigned=*/true,
               /*implicitTrunc=*/true);
    return TorchNumber::getInteger(
        integer.isUnsigned() ? static_cast<int64_t>(bits.getZExtValue())
                             : bits.getSExtValue());
  }
  APFloat rounded(number.real);
  bool losesInfo = false;
  rounded.convert(cast<FloatType>(dtype).getFloatSemantics(),
                  APFloat::rmNearestTiesToEven, &losesInfo);
  return TorchNumber::get(rounded.convertToDouble());
}

Value TorchMath::constant(TorchNumber number) {
  if (isFloat())
    return ScalarMath::constant(number.real);
  if (isBool())
    return flag(number.isInteger ? number.integer != 0 : number.real != 0.0);
  return bits(number.isInteger ? number.integer : saturate(number.real));
}

Value TorchMath::bits(int64_t value) {
  unsigned width = type.getIntOrFloatBitWidth();
  APInt number(width, static_cast<uint64_t>(value), /*isSigned=*/true,
               /*implicitTrunc=*/true);
  return arith::ConstantOp::create(
      builder, loc, IntegerAttr::get(builder.getIntegerType(width), number));
}

Value TorchMath::flag(bool value) {
  return arith::ConstantOp::create(
      builder, loc, builder.getIntegerAttr(builder.getI1Type(), value));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value TorchMath::add(Value a, Value b) {
  if (isFloat())
    return ScalarMath::add(a, b);
  return isBool() ? either(a, b) : build<arith::AddIOp>(a, b);
}
Value TorchMath::sub(Value a, Value b) {
  if (isFloat())
    return ScalarMath::sub(a, b);
  return build<arith::SubIOp>(a, b);
}
Value TorchMath::mul(Value a, Value b) {
  if (isFloat())
    return ScalarMath::mul(a, b);
  return isBool() ? both(a, b) : build<arith::MulIOp>(a, b);
}
Value TorchMath::neg(Value a) {
  return isFloat() ? ScalarMath::neg(a) : sub(bits(0), a);
}
Value TorchMath::abs(Value a) {
  if (isFloat())
    return ScalarMath::abs(a);
  return isUnsigned() ? a : select(lt(a, bits(0)), neg(a), a);
}

Value TorchMath::div(Value a, Value b) {
  if (isFloat())
    return ScalarMath::div(a, b);
  return special::truncDivideInt(builder, loc, a, b, isUnsigned());
}
Value TorchMath::fmod(Value a, Value b) {
  if (isFloat())
    return special::fmod(*this, a, b);
  return special::fmodInt(builder, loc, a, b, isUnsigned());
}
Value TorchMath::remainder(Value a, Value b) {
  if (isFloat())
    return special::remainder(*this, a, b);
  return special::remainderInt(builder, loc, a, b, isUnsigned());
}
Value TorchMath::floorDivide(Value a, Value b) {
  if (isFloat())
    return special::floorDivide(*this, a, b);
  return special::floorDivideInt(builder, loc, a, b, isUnsigned());
}
Value TorchMath::truncDivide(Value a, Value b) {
  return isFloat() ? special::truncDivide(*this, a, b) : div(a, b);
}

Value TorchMath::maximum(Value a, Value b) {
  if (isFloat())
    return ScalarMath::maximum(a, b);
  return select(lt(a, b), b, a);
}
Value TorchMath::minimum(Value a, Value b) {
  if (isFloat())
    return ScalarMath::minimum(a, b);
  return select(lt(b, a), b, a);
}

Value TorchMath::integerPower(Value base, Value exponent) {
  if (!isUnsigned())
    return special::powInt(builder, loc, base, exponent);
  // Twice as wide no exponent is negative, and the low bits are the same.
  unsigned width = type.getIntOrFloatBitWidth();
  Type wide = builder.getIntegerType(2 * width);
  Value power = special::powInt(
      builder, loc, arith::ExtUIOp::create(builder, loc, wide, base),
      arith::ExtUIOp::create(builder, loc, wide, exponent));
  return arith::TruncIOp::create(builder, loc, type, power);
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

Value TorchMath::compare(CmpFPredicate real, CmpIPredicate signedInteger,
                         CmpIPredicate unsignedInteger, Value a, Value b) {
  if (isFloat())
    return build<arith::CmpFOp>(real, a, b);
  return build<arith::CmpIOp>(isUnsigned() ? unsignedInteger : signedInteger, a,
                              b);
}
Value TorchMath::lt(Value a, Value b) {
  return compare(CmpFPredicate::OLT, CmpIPredicate::slt, CmpIPredicate::ult, a,
                 b);
}
Value TorchMath::le(Value a, Value b) {
  return compare(CmpFPredicate::OLE, CmpIPredicate::sle, CmpIPredicate::ule, a,
                 b);
}
Value TorchMath::gt(Value a, Value b) {
  return compare(CmpFPredicate::OGT, CmpIPredicate::sgt, CmpIPredicate::ugt, a,
                 b);
}
Value TorchMath::ge(Value a, Value b) {
  return compare(CmpFPredicate::OGE, CmpIPredicate::sge, CmpIPredicate::uge, a,
                 b);
}
Value TorchMath::eq(Value a, Value b) {
  return compare(CmpFPredicate::OEQ, CmpIPredicate::eq, CmpIPredicate::eq, a,
                 b);
}
Value TorchMath::ne(Value a, Value b) {
  return compare(CmpFPredicate::UNE, CmpIPredicate::ne, CmpIPredicate::ne, a,
                 b);
}
Value TorchMath::isNaN(Value a) {
  return isFloat() ? build<arith::CmpFOp>(CmpFPredicate::UNO, a, a)
                   : flag(false);
}
Value TorchMath::isInfinite(Value a) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return isFloat() ? eq(abs(a), constant(kInfinity)) : flag(false);
}
Value TorchMath::sign(Value a) {
  if (isBool())
    return a;
  Value zero = constant(0.0), one = constant(1.0);
  Value positive = select(gt(a, zero), one, zero);
  return isUnsigned() ? positive : select(lt(a, zero), neg(one), positive);
}
Value TorchMath::sigmoid(Value a) {
  Value one = constant(1.0);
  Value isPositive = ge(a, constant(0.0));
  Value power = exp(select(isPositive, neg(a), a));
  return div(select(isPositive, one, power), add(one, power));
}
Value TorchMath::signBit(Value a) {
  return isFloat() ? special::signbit(*this, a) : lt(a, constant(0.0));
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

Value TorchMath::detach(Value a) {
  if (!isFloat())
    return a;
  // Bits have no derivative.
  Type integer = builder.getIntegerType(type.getIntOrFloatBitWidth());
  Value pattern = arith::BitcastOp::create(builder, loc, integer, a);
  return arith::BitcastOp::create(builder, loc, type, pattern);
}

Value TorchMath::round(Value a) {
  if (!isFloat())
    return a;
  return convertFloat(builder, loc, convertFloat(builder, loc, a, dtype), type);
}

Value TorchMath::truncate(Value value, unsigned width) {
  ScalarMath math(builder, loc, value.getType());
  auto compareWith = [&](CmpFPredicate predicate, double bound) -> Value {
    return build<arith::CmpFOp>(predicate, value, math.constant(bound));
  };
  auto integer = [&](int64_t number) -> Value {
    return arith::ConstantOp::create(
        builder, loc,
        builder.getIntegerAttr(builder.getIntegerType(width), number));
  };
  // Within the bounds the conversion is defined; the least integer is a float.
  double bound = std::ldexp(1.0, static_cast<int>(width) - 1);
  Value isLow = compareWith(CmpFPredicate::ULT, -bound);
  Value isHigh = compareWith(CmpFPredicate::OGE, bound);
  Value inside = select(either(isLow, isHigh), math.constant(0.0), value);
  Value result = arith::FPToSIOp::create(builder, loc,
                                         builder.getIntegerType(width), inside);
  int64_t greatest = llvm::maxIntN(width), least = llvm::minIntN(width);
  result = select(isHigh, integer(greatest), result);
  result =
      select(compareWith(CmpFPredicate::OLT, -bound), integer(least), result);
  return result;
}

Value TorchMath::convert(Value value, Type from) {
  if (from == dtype)
    return value;
  if (isa<FloatType>(from) && isa<IntegerType>(dtype) && !isBool()) {
    unsigned width = std::max(type.getIntOrFloatBitWidth(), 32u);
    value = truncate(value, width);
    return convertElement(builder, loc, value, builder.getIntegerType(width),
                          dtype);
  }
  value = convertElement(builder, loc, value, from, dtype);
  return isFloat() ? round(value) : value;
}
