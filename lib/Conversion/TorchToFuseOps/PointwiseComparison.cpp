//===- PointwiseComparison.cpp - Comparisons, logic and choices ----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PointwiseTable.h"

using namespace mlir;
using namespace mlir::fuseops;
using namespace mlir::fuseops::slots;

using Math = TorchMath;
using Args = PointwiseArguments;

/// Of what kernels compute in f32 PyTorch compares what it has stored: a value
/// is equal to its own maximum, which is rounded too.
static PointwiseRow comparison(StringRef names,
                               Value (Math::*function)(Value, Value)) {
  return {
      names, {x, rounded}, Promotion::Predicate, [=](Math &m, const Args &a) {
        return (m.*function)(m.round(a[0]), m.round(a[1]));
      }};
}

/// A property of one number.
static PointwiseRow test(StringRef name,
                         std::function<Value(Math &, Value)> function) {
  return {name, {x}, Promotion::Predicate, [function](Math &m, const Args &a) {
            return function(m, a[0]);
          }};
}

static Value isNonZero(Math &m, Value x) { return m.ne(x, m.constant(0.0)); }

template <typename OpT>
static PointwiseRow logical(StringRef name) {
  return {name, {x, x}, Promotion::Predicate, [](Math &m, const Args &a) {
            return m.build<OpT>(isNonZero(m, a[0]), isNonZero(m, a[1]));
          }};
}

/// `|a - b| <= atol + |rtol * b|`, also for infinities that are equal.
static Value buildIsClose(Math &m, const Args &a) {
  Value distance = m.abs(m.sub(a[0], a[1]));
  Value relative = m.abs(m.mul(m.constant(a.number(2)), a[1]));
  Value allowed = m.add(m.constant(a.number(3)), relative);
  Value isFinite =
      m.negate(m.either(m.isNaN(distance), m.isInfinite(distance)));
  Value close =
      m.either(m.eq(a[0], a[1]), m.both(isFinite, m.le(distance, allowed)));
  if (a.number(4) == 0.0)
    return close;
  return m.either(close, m.both(m.isNaN(a[0]), m.isNaN(a[1])));
}

static SmallVector<PointwiseRow> getComparisonRows() {
  return {
      comparison("eq.Tensor eq.Scalar", &Math::eq),
      comparison("ne.Tensor ne.Scalar not_equal.Tensor not_equal.Scalar",
                 &Math::ne),
      comparison("lt.Tensor lt.Scalar less.Tensor less.Scalar", &Math::lt),
      comparison("le.Tensor le.Scalar less_equal.Tensor less_equal.Scalar",
                 &Math::le),
      comparison("gt.Tensor gt.Scalar greater.Tensor greater.Scalar",
                 &Math::gt),
      comparison("ge.Tensor ge.Scalar greater_equal.Tensor "
                 "greater_equal.Scalar",
                 &Math::ge),
      logical<arith::AndIOp>("logical_and"),
      logical<arith::OrIOp>("logical_or"),
      logical<arith::XOrIOp>("logical_xor"),
      test("logical_not", [](Math &m, Value x) { return m.isZero(x); }),
      test("isnan", [](Math &m, Value x) { return m.isNaN(x); }),
      test("isinf", [](Math &m, Value x) { return m.isInfinite(x); }),
      test("isfinite",
           [](Math &m, Value x) {
             return m.negate(m.either(m.isNaN(x), m.isInfinite(x)));
           }),
      test("isposinf",
           [](Math &m, Value x) {
             return m.both(m.isInfinite(x), m.gt(x, m.constant(0.0)));
           }),
      test("isneginf",
           [](Math &m, Value x) {
             return m.both(m.isInfinite(x), m.lt(x, m.constant(0.0)));
           }),
      {"isreal",
       {dtype},
       Promotion::Predicate,
       [](Math &m, const Args &) { return m.flag(true); }},
      test("signbit", [](Math &m, Value x) { return m.signBit(x); }),
      {"isclose",
       {x, x, parameterOr(1e-5), parameterOr(1e-8), parameterOr(0.0)},
       Promotion::FloatPredicate,
       buildIsClose},
      {"where.self where.ScalarSelf where.ScalarOther where.Scalar",
       {condition, x, x},
       Promotion::Common,
       [](Math &m, const Args &a) { return m.select(a[0], a[1], a[2]); }},
      {"masked_fill.Scalar masked_fill.Tensor",
       {x, condition, x},
       Promotion::First,
       [](Math &m, const Args &a) { return m.select(a[1], a[2], a[0]); }},
  };
}

void mlir::fuseops::addComparisonHandlers(TorchHandlers &handlers) {
  addPointwiseRows(handlers, getComparisonRows());
}
