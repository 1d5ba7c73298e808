//===- TorchMath.h - Scalar expressions in any dtype of PyTorch ----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_CONVERSION_TORCHTOFUSEOPS_TORCHMATH_H
#define FUSEOPS_CONVERSION_TORCHTOFUSEOPS_TORCHMATH_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Dialect/FuseOps/ScalarMath.h"

namespace mlir::fuseops {

/// A constant of PyTorch: an integer keeps all its bits.
struct TorchNumber {
  double real = 0.0;
  int64_t integer = 0;
  bool isInteger = false;

  static TorchNumber get(double value) {
    TorchNumber number;
    number.real = value;
    return number;
  }
  static TorchNumber getInteger(int64_t value) {
    TorchNumber number;
    number.real = static_cast<double>(value);
    number.integer = value;
    number.isInteger = true;
    return number;
  }
};

/// Scalar expressions computed as PyTorch computes in one dtype: f16 and bf16
/// in f32, integers in two's complement without traps, bools as i1, where a sum
/// is `or` and a product is `and`.
///
/// A comparison with NaN is false, but `ne`.
class TorchMath : public ScalarMath {
public:
  TorchMath(OpBuilder &builder, Location loc, Type dtype)
      : ScalarMath(builder, loc, getComputeType(dtype)), dtype(dtype) {}

  bool isFloat() const { return isa<FloatType>(dtype); }
  bool isBool() const { return dtype.isInteger(1); }
  bool isUnsigned() const { return isBool() || dtype.isUnsignedInteger(); }

  Value constant(double value) { return constant(TorchNumber::get(value)); }
  Value constant(TorchNumber number);
  /// The bits of `value` as an integer constant.
  Value bits(int64_t value);
  Value flag(bool value);

  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value neg(Value a);
  Value abs(Value a);
  /// Integers: rounded to 0. A division by 0 is 0, the least integer divided by
  /// -1 is itself.
  Value div(Value a, Value b);
  /// Integers: `a - div(a, b) * b`; 0 where `b` is 0.
  Value fmod(Value a, Value b);
  /// The remainder that has the sign of `b`, and the division that goes with
  /// it.
  Value remainder(Value a, Value b);
  Value floorDivide(Value a, Value b);
  /// The quotient rounded to 0.
  Value truncDivide(Value a, Value b);
  /// NaN if either is NaN; a tie gives each half of the gradient.
  Value maximum(Value a, Value b);
  Value minimum(Value a, Value b);
  /// Integer `base` to the power of integer `exponent`, modulo 2 to the width.
  Value integerPower(Value base, Value exponent);
  Value square(Value a) { return mul(a, a); }

  Value lt(Value a, Value b);
  Value le(Value a, Value b);
  Value gt(Value a, Value b);
  Value ge(Value a, Value b);
  Value eq(Value a, Value b);
  Value ne(Value a, Value b);
  Value isNaN(Value a);
  Value isInfinite(Value a);
  Value isZero(Value a) { return eq(a, constant(0.0)); }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  Value both(Value a, Value b) {
    return arith::AndIOp::create(builder, loc, a, b);
  }
  Value either(Value a, Value b) {
    return arith::OrIOp::create(builder, loc, a, b);
  }
  /// The negation of a condition.
  Value negate(Value condition) {
    return arith::XOrIOp::create(builder, loc, condition, flag(true));
  }
  /// -1, 0 or 1, as PyTorch's sign: 0 for NaN.
  Value sign(Value a);
  /// As ScalarMath's, through a select whose derivative is also right at 0.
  Value sigmoid(Value a);
  /// The sign bit of a float, whether an integer is negative.
  Value signBit(Value a);
  /// `a` without a derivative.
  Value detach(Value a);
  /// `a` rounded to the dtype; an integer is none.
  Value round(Value a);

  template <typename OpT, typename... Args>
  Value build(Args... args) {
    return OpT::create(builder, loc, args...);
  }

  /// `value`, a scalar of a tensor of dtype `from`, as PyTorch converts it to
  /// this dtype: a float rounds to it, or is truncated to an integer; an
  /// integer wraps; a bool is whether it's not 0. What PyTorch leaves
  /// undefined: a float saturates to i64 or i32 (narrower integers wrap from
  /// i32) and NaN is 0.
  Value convert(Value value, Type from);
  /// A float that is no tensor's.
  Value convert(Value value) { return ScalarMath::convert(value); }

  /// What PyTorch calls the tensor's dtype.
  Type dtype;

private:
  Value compare(arith::CmpFPredicate real, arith::CmpIPredicate signedInteger,
                arith::CmpIPredicate unsignedInteger, Value a, Value b);
  /// `float` without its fraction, as i32 or i64.
  Value truncate(Value value, unsigned width);
};

/// `number` as `dtype` holds it.
TorchNumber convertNumber(TorchNumber number, Type dtype);

} // namespace mlir::fuseops

#endif // FUSEOPS_CONVERSION_TORCHTOFUSEOPS_TORCHMATH_H
