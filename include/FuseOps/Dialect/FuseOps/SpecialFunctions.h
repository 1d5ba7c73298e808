//===- SpecialFunctions.h - PyTorch's scalar functions --------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function is torch's (or torch.special's) of the same name, also at
// signed zeros, infinities and NaN, and has its gradient where it is written
// into the body of a `fuseops.pointwise`. Bools are i1.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_SPECIALFUNCTIONS_H
#define FUSEOPS_DIALECT_FUSEOPS_SPECIALFUNCTIONS_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Dialect/FuseOps/ScalarMath.h"

namespace mlir::fuseops {
namespace special {

//===----------------------------------------------------------------------===//
// Gamma, error, Bessel: one `fuseops.special` each
//===----------------------------------------------------------------------===//

Value lgamma(ScalarMath &m, Value x);
Value digamma(ScalarMath &m, Value x);
Value trigamma(ScalarMath &m, Value x);
Value polygamma(ScalarMath &m, int64_t order, Value x);
/// mvlgamma: log of the multivariate gamma function of dimension p.
Value multigammaln(ScalarMath &m, Value x, int64_t p);
/// Hurwitz zeta for q > 0.
Value zeta(ScalarMath &m, Value s, Value q);
Value erfinv(ScalarMath &m, Value x);
/// exp(x^2) erfc(x).
Value erfcx(ScalarMath &m, Value x);
Value ndtr(ScalarMath &m, Value x);
Value logNdtr(ScalarMath &m, Value x);
Value ndtri(ScalarMath &m, Value x);
Value i0(ScalarMath &m, Value x);
Value i0e(ScalarMath &m, Value x);
Value i1(ScalarMath &m, Value x);
Value i1e(ScalarMath &m, Value x);
/// sin(pi x) / (pi x).
Value sinc(ScalarMath &m, Value x);

//===----------------------------------------------------------------------===//
// Exponentials and logarithms
//===----------------------------------------------------------------------===//

Value entr(ScalarMath &m, Value x);
Value xlogy(ScalarMath &m, Value x, Value y);
Value xlog1py(ScalarMath &m, Value x, Value y);
Value logaddexp(ScalarMath &m, Value a, Value b);
Value logaddexp2(ScalarMath &m, Value a, Value b);
/// log(x / (1 - x)), x clamped to [eps, 1 - eps] first where eps is given.
Value logit(ScalarMath &m, Value x, std::optional<double> eps);
Value softplus(ScalarMath &m, Value x, double beta, double threshold);
Value logSigmoid(ScalarMath &m, Value x);
/// x sigmoid(x).
Value silu(ScalarMath &m, Value x);
Value mish(ScalarMath &m, Value x);
/// scale x where x > 0, else scale alpha expm1(inputScale x).
Value elu(ScalarMath &m, Value x, double alpha, double scale = 1.0,
          double inputScale = 1.0);
/// exp(-factor x^2) for a factor of 1 or 1/2, right in relative terms: the
/// rounding error of the square, which counts for a large x, is put back.
Value expMinusSquare(ScalarMath &m, Value x, double factor = 1.0);
/// x^exponent: a root, reciprocal or square where it is one.
Value powConstant(ScalarMath &m, Value x, double exponent);
/// x 2^n, n a float.
Value ldexp(ScalarMath &m, Value x, Value n);
Value hypot(ScalarMath &m, Value a, Value b);

//===----------------------------------------------------------------------===//
// Rounding, division, signs
//===----------------------------------------------------------------------===//

/// x - trunc(x).
Value frac(ScalarMath &m, Value x);
/// To `decimals` places, halves to even.
Value round(ScalarMath &m, Value x, int64_t decimals = 0);
/// The remainder with the sign of a (fmod) or of b (remainder).
Value fmod(ScalarMath &m, Value a, Value b);
Value remainder(ScalarMath &m, Value a, Value b);
/// div with rounding_mode floor, trunc.
Value floorDivide(ScalarMath &m, Value a, Value b);
Value truncDivide(ScalarMath &m, Value a, Value b);
/// min(max(x, low), high), NaN kept; a null bound is none. The gradient passes
/// at the bounds.
Value clamp(ScalarMath &m, Value x, Value low, Value high);
/// -1, 0 or 1; 0 for NaN.
Value sign(ScalarMath &m, Value x);
/// A bool: the sign bit, also of a zero or NaN.
Value signbit(ScalarMath &m, Value x);
/// 0, 1, or `atZero` where x is 0.
Value heaviside(ScalarMath &m, Value x, Value atZero);
Value nextafter(ScalarMath &m, Value from, Value to);
/// A bool.
Value isInf(ScalarMath &m, Value x);
Value isFinite(ScalarMath &m, Value x);

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Where torch raises, at a divisor of 0, the quotient and the remainder are 0;
/// the lowest integer by -1 is itself, with remainder 0.
Value truncDivideInt(OpBuilder &b, Location loc, Value x, Value y,
                     bool isUnsigned);
Value floorDivideInt(OpBuilder &b, Location loc, Value x, Value y,
                     bool isUnsigned);
/// With the sign of x (fmod) or of y (remainder).
Value fmodInt(OpBuilder &b, Location loc, Value x, Value y, bool isUnsigned);
Value remainderInt(OpBuilder &b, Location loc, Value x, Value y,
                   bool isUnsigned);
/// Shifts by n bits: nothing is left where n is negative or too large.
Value shiftLeftInt(OpBuilder &b, Location loc, Value x, Value n);
Value shiftRightInt(OpBuilder &b, Location loc, Value x, Value n,
                    bool isUnsigned);
/// x^n, 0 for a negative n, but 1 or -1 where x is.
Value powInt(OpBuilder &b, Location loc, Value x, Value n);

} // namespace special

/// What `op` computes, in `arith` and `math`; its type may be a vector.
Value expandSpecial(OpBuilder &builder, SpecialOp op);

/// d result / d operand for each operand of `op`, null where that is 0.
/// `x` are its operands and `y` its result in the block that `m.builder` writes
/// to. Fails, with an error, where it has no derivative.
FailureOr<SmallVector<Value>> differentiateSpecial(ScalarMath &m, SpecialOp op,
                                                   ArrayRef<Value> x, Value y);

} // namespace mlir::fuseops

#endif // FUSEOPS_DIALECT_FUSEOPS_SPECIALFUNCTIONS_H
