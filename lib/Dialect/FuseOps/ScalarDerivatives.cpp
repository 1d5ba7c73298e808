//===- ScalarDerivatives.cpp - Symbolic derivative of a pointwise body ---===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Dialect/FuseOps/Gradients.h"
#include "FuseOps/Dialect/FuseOps/SpecialFunctions.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fuseops;
using Predicate = arith::CmpFPredicate;

/// `apply` of an adjoint. One that a select makes 0 stays 0 by that select,
/// also where `apply` multiplies by something infinite or NaN.
static Value mapAdjoint(ScalarMath &m, Value adjoint,
                        function_ref<Value(Value)> apply) {
  auto masked = adjoint.getDefiningOp<arith::SelectOp>();
  auto isZero = [](Value value) {
    return matchPattern(value, m_AnyZeroFloat());
  };
  if (masked && isZero(masked.getFalseValue()))
    return m.select(masked.getCondition(),
                    mapAdjoint(m, masked.getTrueValue(), apply),
                    m.constant(0.0));
  if (masked && isZero(masked.getTrueValue()))
    return m.select(masked.getCondition(), m.constant(0.0),
                    mapAdjoint(m, masked.getFalseValue(), apply));
  return apply(adjoint);
}

namespace {
/// Walks a block of scalar operations backwards and accumulates adjoints.
///
/// At kinks and ties, and where an operand is NaN, the conventions are
/// PyTorch's (tools/autograd/derivatives.yaml); each is tested by its name in
/// test/Transforms/differentiate-conventions.mlir:
///
///   abs       0 at both zeros and at NaN
///   maximum   half each at a tie, all to both where one is NaN; also minimum
///   maxnum    all to the first at a tie, none to a NaN beside a number; also
///             minnum
///   clampf    all to x within and at the bounds, none at NaN; to a bound where
///             it is the result and the bounds don't cross
///   select    to what was taken: the other side adds nothing, not even 0 times
///             infinity. So relu's is 0 at 0 as select(x > 0, x, 0)
///   copysign  0 at a magnitude of 0, none to the sign
///   powf      0 to the base at exponent 0; 0 to the exponent at base 0 unless
///             that is negative
///   remf      1 and -trunc(a / b), exactly, also where the remainder is 0
///   atan2     0 at the origin
///   steps     none: floor, ceil, round, roundeven, trunc, comparisons, bits,
///             integers and casts from them
///   poles     what the formula gives: sqrt's is infinite at 0
///   special   see differentiateSpecial
class ScalarAdjoints {
public:
  ScalarAdjoints(OpBuilder &builder, const IRMapping &values)
      : builder(builder), values(values) {}

  void accumulate(Value of, Value adjoint) {
    if (!adjoint || !isa<FloatType>(of.getType()))
      return;
    Value &slot = adjoints[of];
    slot = slot ? add(slot, adjoint) : adjoint;
  }
  Value lookup(Value of) const { return adjoints.lookup(of); }

  LogicalResult visit(Operation &op);

private:
  /// The sum of two adjoints; of two that the same select makes 0, one too.
  Value add(Value a, Value b);
  /// The copy of `value`, converted to the type adjoints of it have.
  Value primal(ScalarMath &m, Value value) {
    Value &converted = primalValues[{value, m.type}];
    if (!converted)
      converted = m.convert(values.lookup(value));
    return converted;
  }
  SmallVector<Value> primals(ScalarMath &m, ValueRange of) {
    return llvm::map_to_vector(of, [&](Value v) { return primal(m, v); });
  }
  Value scale(ScalarMath &m, Value g, Value factor) {
    return mapAdjoint(m, g, [&](Value v) { return m.mul(v, factor); });
  }
  Value negate(ScalarMath &m, Value g) {
    return mapAdjoint(m, g, [&](Value v) { return m.neg(v); });
  }
  /// The adjoint of each operand of an operation with one result `y`, null
  /// where there is none; nothing if the operation has no derivative.
  std::optional<SmallVector<Value>> differentiate(ScalarMath &m, Operation &op,
                                                  Value y, Value g);
  /// d result / d operand of a function of one operand; null if it has none.
  Value unaryDerivative(ScalarMath &m, Operation &op, Value x, Value y);

  OpBuilder &builder;
  const IRMapping &values;
  DenseMap<Value, Value> adjoints;
  DenseMap<std::pair<Value, Type>, Value> primalValues;
};
} // namespace

Value ScalarAdjoints::add(Value a, Value b) {
  ScalarMath m(builder, b.getLoc(), b.getType());
  auto first = a.getDefiningOp<arith::SelectOp>();
  auto second = b.getDefiningOp<arith::SelectOp>();
  auto areZero = [](Value v, Value w) {
    return matchPattern(v, m_AnyZeroFloat()) &&
           matchPattern(w, m_AnyZeroFloat());
  };
  if (first && second && first.getCondition() == second.getCondition()) {
    if (areZero(first.getFalseValue(), second.getFalseValue()))
      return m.select(first.getCondition(),
                      add(first.getTrueValue(), second.getTrueValue()),
                      first.getFalseValue());
    if (areZero(first.getTrueValue(), second.getTrueValue()))
      return m.select(first.getCondition(), first.getTrueValue(),
                      add(first.getFalseValue(), second.getFalseValue()));
  }
  return m.add(a, b);
}

static bool isStep(Operation &op) {
  // A bitcast hides what is behind it: bits have no derivative.
  return isa<arith::ConstantOp, arith::SIToFPOp, arith::UIToFPOp,
             arith::BitcastOp, math::FloorOp, math::CeilOp, math::RoundOp,
             math::RoundEvenOp, math::TruncOp>(op);
}

//===----------------------------------------------------------------------===//
// Operations with several operands
//===----------------------------------------------------------------------===//

using Adjoints = SmallVector<Value>;

static Adjoints differentiateExtremum(ScalarMath &m, Value a, Value b, Value g,
                                      bool isMaximum) {
  Value zero = m.constant(0.0);
  Value share = m.select(m.equal(a, b), m.mul(m.constant(0.5), g), g);
  Predicate loses = isMaximum ? Predicate::OLT : Predicate::OGT;
  return {m.select(m.compare(loses, a, b), zero, share),
          m.select(m.compare(loses, b, a), zero, share)};
}

static Adjoints differentiateNumberExtremum(ScalarMath &m, Value a, Value b,
                                            Value g, bool isMaximum) {
  Value zero = m.constant(0.0);
  Predicate wins = isMaximum ? Predicate::OGE : Predicate::OLE;
  Value isFirst = m.either(m.compare(wins, a, b), m.isNaN(b));
  return {m.select(isFirst, g, zero), m.select(isFirst, zero, g)};
}

static Adjoints differentiateClamp(ScalarMath &m, ArrayRef<Value> x, Value g) {
  Value low = x[1], high = x[2], zero = m.constant(0.0);
  Value isInside = m.both(m.compare(Predicate::OGE, x[0], low),
                          m.compare(Predicate::OLE, x[0], high));
  Value isLow = m.both(m.less(x[0], low), m.less(low, high));
  Value isHigh = m.either(m.greater(x[0], high), m.less(high, low));
  return {m.select(isInside, g, zero), m.select(isLow, g, zero),
          m.select(isHigh, g, zero)};
}

static Value differentiateCopySign(ScalarMath &m, Value a, Value y) {
  Value zero = m.constant(0.0);
  return m.select(m.equal(a, zero), zero, m.div(y, a));
}

std::optional<Adjoints>
ScalarAdjoints::differentiate(ScalarMath &m, Operation &op, Value y, Value g) {
  Adjoints x = primals(m, op.getOperands());
  using Result = std::optional<Adjoints>;
  return TypeSwitch<Operation *, Result>(&op)
      .Case<arith::AddFOp>([&](auto) -> Result { return Adjoints{g, g}; })
      .Case<arith::SubFOp>(
          [&](auto) -> Result { return Adjoints{g, negate(m, g)}; })
      .Case<arith::MulFOp>([&](auto) -> Result {
        return Adjoints{scale(m, g, x[1]), scale(m, g, x[0])};
      })
      .Case<arith::DivFOp>([&](auto) -> Result {
        Value quotient =
            mapAdjoint(m, g, [&](Value v) { return m.div(v, x[1]); });
        // Not quotient * y, which is inf * 0 next to 0.
        return Adjoints{quotient, negate(m, scale(m, g, m.div(y, x[1])))};
      })
      .Case<arith::RemFOp>([&](auto) -> Result {
        // What is taken off is a multiple of b, while a / b may round up to
        // one. Where there is no remainder, at b = 0, the quotient is infinite.
        Value rest = arith::RemFOp::create(m.builder, m.loc, x[0], x[1]);
        Value count = m.roundEven(m.div(m.sub(x[0], rest), x[1]));
        Value ratio = m.trunc(m.div(x[0], x[1]));
        count = m.select(m.equal(rest, rest), count, ratio);
        return Adjoints{g, negate(m, scale(m, g, count))};
      })
      .Case<math::FmaOp>([&](auto) -> Result {
        return Adjoints{scale(m, g, x[1]), scale(m, g, x[0]), g};
      })
      .Case<arith::MaximumFOp, arith::MinimumFOp>([&](auto extremum) -> Result {
        bool isMaximum = isa<arith::MaximumFOp>(*extremum);
        return differentiateExtremum(m, x[0], x[1], g, isMaximum);
      })
      .Case<arith::MaxNumFOp, arith::MinNumFOp>([&](auto extremum) -> Result {
        bool isMaximum = isa<arith::MaxNumFOp>(*extremum);
        return differentiateNumberExtremum(m, x[0], x[1], g, isMaximum);
      })
      .Case<math::ClampFOp>(
          [&](auto) -> Result { return differentiateClamp(m, x, g); })
      .Case<math::CopySignOp>([&](auto) -> Result {
        return Adjoints{scale(m, g, differentiateCopySign(m, x[0], y)),
                        Value()};
      })
      .Case<math::PowFOp>([&](auto) -> Result {
        Value power = m.pow(x[0], m.sub(x[1], m.constant(1.0)));
        Value base = scale(m, g, m.mul(x[1], power));
        Value exponent = scale(m, g, m.mul(y, m.log(x[0])));
        Value zero = m.constant(0.0);
        Value isFlat =
            m.both(m.equal(x[0], zero), m.compare(Predicate::OGE, x[1], zero));
        return Adjoints{m.select(m.equal(x[1], zero), zero, base),
                        m.select(isFlat, zero, exponent)};
      })
      .Case<math::Atan2Op>([&](auto) -> Result {
        Value square = m.add(m.square(x[0]), m.square(x[1]));
        Value share = scale(m, g, m.reciprocal(square));
        Value zero = m.constant(0.0);
        share = m.select(m.equal(square, zero), zero, share);
        return Adjoints{scale(m, share, x[1]),
                        negate(m, scale(m, share, x[0]))};
      })
      .Default(Result());
}

//===----------------------------------------------------------------------===//
// Functions of one operand
//===----------------------------------------------------------------------===//

Value ScalarAdjoints::unaryDerivative(ScalarMath &m, Operation &op, Value x,
                                      Value y) {
  constexpr double kLn2 = 0.69314718055994530942;
  constexpr double kLn10 = 2.30258509299404568402;
  constexpr double kTwoOverSqrtPi = 1.12837916709551257390;
  auto one = [&] { return m.constant(1.0); };
  auto ofScaled = [&](double factor) {
    return m.reciprocal(m.mul(m.constant(factor), x));
  };
  return TypeSwitch<Operation *, Value>(&op)
      .Case<arith::NegFOp>([&](auto) { return m.constant(-1.0); })
      .Case<math::AbsFOp>([&](auto) { return special::sign(m, x); })
      .Case<math::ExpOp>([&](auto) { return y; })
      .Case<math::Exp2Op>([&](auto) { return m.mul(m.constant(kLn2), y); })
      // Not y + 1, which cancels for negative x.
      .Case<math::ExpM1Op>([&](auto) { return m.exp(x); })
      .Case<math::LogOp>([&](auto) { return m.reciprocal(x); })
      .Case<math::Log2Op>([&](auto) { return ofScaled(kLn2); })
      .Case<math::Log10Op>([&](auto) { return ofScaled(kLn10); })
      .Case<math::Log1pOp>([&](auto) { return m.reciprocal(m.add(one(), x)); })
      .Case<math::SqrtOp>([&](auto) { return m.div(m.constant(0.5), y); })
      .Case<math::RsqrtOp>(
          [&](auto) { return m.mul(m.constant(-0.5), m.mul(y, m.square(y))); })
      .Case<math::CbrtOp>([&](auto) {
        return m.reciprocal(m.mul(m.constant(3.0), m.square(y)));
      })
      .Case<math::TanhOp>([&](auto) { return m.sub(one(), m.square(y)); })
      .Case<math::SinOp>([&](auto) { return m.cos(x); })
      .Case<math::CosOp>([&](auto) { return m.neg(m.sin(x)); })
      .Case<math::TanOp>([&](auto) { return m.add(one(), m.square(y)); })
      .Case<math::SinhOp>([&](auto) -> Value {
        return math::CoshOp::create(builder, m.loc, x);
      })
      .Case<math::CoshOp>([&](auto) -> Value {
        return math::SinhOp::create(builder, m.loc, x);
      })
      .Case<math::AsinOp>(
          [&](auto) { return m.rsqrt(m.sub(one(), m.square(x))); })
      .Case<math::AcosOp>(
          [&](auto) { return m.neg(m.rsqrt(m.sub(one(), m.square(x)))); })
      .Case<math::AtanOp>(
          [&](auto) { return m.reciprocal(m.add(one(), m.square(x))); })
      .Case<math::AsinhOp>(
          [&](auto) { return m.rsqrt(m.add(m.square(x), one())); })
      .Case<math::AcoshOp>(
          [&](auto) { return m.rsqrt(m.sub(m.square(x), one())); })
      .Case<math::AtanhOp>(
          [&](auto) { return m.reciprocal(m.sub(one(), m.square(x))); })
      .Case<math::ErfOp, math::ErfcOp>([&](auto) {
        double sign = isa<math::ErfOp>(op) ? 1.0 : -1.0;
        return m.mul(m.constant(sign * kTwoOverSqrtPi),
                     special::expMinusSquare(m, x));
      })
      .Default(Value());
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

LogicalResult ScalarAdjoints::visit(Operation &op) {
  if (llvm::none_of(op.getResults(), [&](Value v) { return lookup(v); }) ||
      isStep(op))
    return success();
  if (auto both = dyn_cast<math::SincosOp>(op)) {
    // Two results: what cosine and sine each give.
    for (auto [result, isSine] :
         {std::pair(both.getSin(), true), std::pair(both.getCos(), false)})
      if (Value g = lookup(result)) {
        ScalarMath m(builder, op.getLoc(), g.getType());
        Value x = primal(m, both.getOperand());
        accumulate(both.getOperand(), isSine
                                          ? scale(m, g, m.cos(x))
                                          : negate(m, scale(m, g, m.sin(x))));
      }
    return success();
  }
  Value g = lookup(op.getResult(0));
  ScalarMath m(builder, op.getLoc(), g.getType());

  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
    ScalarMath to(builder, op.getLoc(),
                  getComputeType(op.getOperand(0).getType()));
    accumulate(op.getOperand(0),
               mapAdjoint(to, g, [&](Value v) { return to.convert(v); }));
    return success();
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Value condition = values.lookup(select.getCondition());
    Value zero = m.constant(0.0);
    accumulate(select.getTrueValue(), m.select(condition, g, zero));
    accumulate(select.getFalseValue(), m.select(condition, zero, g));
    return success();
  }
  if (auto power = dyn_cast<math::FPowIOp>(op)) {
    // n x^(n - 1), 0 at n = 0.
    Value x = primal(m, power.getLhs()), n = values.lookup(power.getRhs());
    Value one = arith::ConstantOp::create(
        builder, op.getLoc(), builder.getIntegerAttr(n.getType(), 1));
    Value lower = math::FPowIOp::create(
        builder, op.getLoc(), x,
        arith::SubIOp::create(builder, op.getLoc(), n, one));
    Value factor = arith::SIToFPOp::create(builder, op.getLoc(), m.type, n);
    Value isFlat = m.equal(factor, m.constant(0.0));
    accumulate(power.getLhs(), m.select(isFlat, m.constant(0.0),
                                        scale(m, g, m.mul(factor, lower))));
    return success();
  }
  std::optional<Adjoints> found;
  Value result = primal(m, op.getResult(0));
  if (auto special = dyn_cast<SpecialOp>(op)) {
    FailureOr<Adjoints> derivatives =
        differentiateSpecial(m, special, primals(m, op.getOperands()), result);
    if (failed(derivatives))
      return failure();
    for (Value &derivative : *derivatives)
      if (derivative)
        derivative = scale(m, g, derivative);
    found = *derivatives;
  } else if (op.getNumResults() == 1 &&
             llvm::all_of(op.getOperandTypes(), llvm::IsaPred<FloatType>)) {
    found = differentiate(m, op, result, g);
    if (!found && op.getNumOperands() == 1)
      if (Value derivative =
              unaryDerivative(m, op, primal(m, op.getOperand(0)), result))
        found = Adjoints{scale(m, g, derivative)};
  }
  if (!found)
    return op.emitOpError() << "has no derivative, but a gradient through it "
                               "is asked for";
  for (auto [operand, adjoint] : llvm::zip(op.getOperands(), *found))
    accumulate(operand, adjoint);
  return success();
}

FailureOr<SmallVector<Value>> mlir::fuseops::buildScalarAdjoints(
    OpBuilder &builder, Block &body, const IRMapping &values,
    ArrayRef<Value> adjoints, ArrayRef<Value> inputs) {
  ScalarAdjoints state(builder, values);
  for (auto [value, adjoint] :
       llvm::zip(body.getTerminator()->getOperands(), adjoints))
    if (adjoint)
      state.accumulate(value, adjoint);
  for (Operation &op : llvm::reverse(body.without_terminator()))
    if (failed(state.visit(op)))
      return failure();
  SmallVector<Value> results;
  for (Value input : inputs)
    results.push_back(state.lookup(input));
  return results;
}

//===----------------------------------------------------------------------===//
// PointwiseOp
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>>
PointwiseOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                            ArrayRef<bool> needed) {
  SmallVector<Value> results(getNumOperands());
  // Operands of the backward operation: the inputs, then the gradients there
  // are.
  SmallVector<Value> operands(getInputs());
  for (Value gradient : gradients)
    if (gradient)
      operands.push_back(gradient);
  SmallVector<unsigned> wanted;
  for (auto [index, input] : llvm::enumerate(getInputs()))
    if (needed[index])
      wanted.push_back(index);
  if (operands.size() == getInputs().size() || wanted.empty())
    return results;

  auto space = cast<RankedTensorType>(getOutputs().front().getType());
  Block &body = getBody().front();
  auto op = PointwiseOp::create(builder, getLoc(), TypeRange(), operands);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&op.getBody());
  for (Value operand : operands)
    block->addArgument(
        getComputeType(
            cast<RankedTensorType>(operand.getType()).getElementType()),
        getLoc());
  IRMapping values;
  for (auto [from, to] : llvm::zip(body.getArguments(), block->getArguments()))
    values.map(from, to);
  for (Operation &inner : body.without_terminator())
    builder.clone(inner, values);
  SmallVector<Value> adjoints;
  unsigned next = getInputs().size();
  for (auto [gradient, yielded] :
       llvm::zip(gradients, body.getTerminator()->getOperands()))
    adjoints.push_back(
        gradient ? convertFloat(builder, getLoc(), block->getArgument(next++),
                                getComputeType(yielded.getType()))
                 : Value());
  SmallVector<Value> arguments;
  for (unsigned index : wanted)
    arguments.push_back(body.getArgument(index));
  FailureOr<SmallVector<Value>> scalars =
      buildScalarAdjoints(builder, body, values, adjoints, arguments);
  if (failed(scalars))
    return failure();

  // Yield what is not zero. A gradient that is reduced afterwards stays wide.
  SmallVector<Value> yielded;
  SmallVector<Type> types;
  SmallVector<unsigned> produced;
  for (auto [index, scalar] : llvm::zip(wanted, *scalars)) {
    if (!scalar)
      continue;
    auto input = cast<RankedTensorType>(getInputs()[index].getType());
    Type element = input.getShape() == space.getShape() ? input.getElementType()
                                                        : scalar.getType();
    types.push_back(space.clone(element));
    yielded.push_back(
        convertFloat(builder, getLoc(), scalar, getComputeType(element)));
    produced.push_back(index);
  }
  YieldOp::create(builder, getLoc(), yielded);
  // An operand that no adjoint needs is neither read nor saved.
  for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(*block)))
    if (isOpTriviallyDead(&inner))
      inner.erase();
  SmallVector<Value> read;
  llvm::BitVector unread(block->getNumArguments());
  for (auto [operand, argument] : llvm::zip(operands, block->getArguments())) {
    if (argument.use_empty())
      unread.set(argument.getArgNumber());
    else
      read.push_back(operand);
  }
  block->eraseArguments(unread);
  builder.setInsertionPoint(op);
  auto withResults = PointwiseOp::create(builder, getLoc(), types, read);
  withResults.getBody().takeBody(op.getBody());
  op.erase();
  builder.setInsertionPointAfter(withResults);
  if (produced.empty()) {
    withResults.erase();
    return results;
  }
  for (auto [index, full] : llvm::zip(produced, withResults.getResults())) {
    FailureOr<Value> gradient =
        reduceToShape(builder, getLoc(), full,
                      cast<RankedTensorType>(getInputs()[index].getType()));
    if (failed(gradient))
      return failure();
    results[index] = *gradient;
  }
  return results;
}
