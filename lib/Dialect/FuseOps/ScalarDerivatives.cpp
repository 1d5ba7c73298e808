//===- ScalarDerivatives.cpp - Symbolic derivative of a pointwise body ---===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Dialect/FuseOps/Gradients.h"
#include "FuseOps/Dialect/FuseOps/ScalarMath.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fuseops;

namespace {
/// Walks a block of scalar operations backwards and accumulates adjoints.
///
/// At kinks and ties the conventions are PyTorch's: a tie of maximum or minimum
/// gives each side half, abs has derivative 0 at 0 and NaN at NaN, rounding
/// functions have derivative 0.
class ScalarAdjoints {
public:
  ScalarAdjoints(OpBuilder &builder, const IRMapping &values)
      : builder(builder), values(values) {}

  void accumulate(Value of, Value adjoint) {
    if (!isa<FloatType>(of.getType()))
      return;
    Value &slot = adjoints[of];
    if (!slot) {
      slot = adjoint;
      return;
    }
    slot = arith::AddFOp::create(builder, adjoint.getLoc(), slot, adjoint);
  }
  Value lookup(Value of) const { return adjoints.lookup(of); }

  LogicalResult visit(Operation &op);

private:
  /// The copy of `value`, converted to the type adjoints of it have.
  Value primal(ScalarMath &m, Value value) {
    return m.convert(values.lookup(value));
  }
  Value compare(ScalarMath &m, arith::CmpFPredicate predicate, Value a,
                Value b) {
    return arith::CmpFOp::create(builder, m.loc, predicate, a, b);
  }
  Value select(ScalarMath &m, Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, m.loc, condition, a, b);
  }
  void visitExtremum(ScalarMath &m, Operation &op, Value g, bool isMaximum);
  /// d result / d operand of a function of one operand; null if it has none.
  Value unaryDerivative(ScalarMath &m, Operation &op, Value x, Value y);

  OpBuilder &builder;
  const IRMapping &values;
  DenseMap<Value, Value> adjoints;
};
} // namespace

void ScalarAdjoints::visitExtremum(ScalarMath &m, Operation &op, Value g,
                                   bool isMaximum) {
  Value a = primal(m, op.getOperand(0)), b = primal(m, op.getOperand(1));
  Value zero = m.constant(0.0);
  Value half = m.mul(m.constant(0.5), g);
  Value isTie = compare(m, arith::CmpFPredicate::OEQ, a, b);
  auto smaller =
      isMaximum ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OGT;
  Value tieOrWhole = select(m, isTie, half, g);
  Value loses[] = {compare(m, smaller, a, b), compare(m, smaller, b, a)};
  if (isa<arith::MaxNumFOp, arith::MinNumFOp>(op)) {
    // A NaN loses against any number.
    Value operands[] = {a, b};
    for (auto [loss, operand] : llvm::zip(loses, operands)) {
      Value isNaN = compare(m, arith::CmpFPredicate::UNO, operand, operand);
      loss = arith::OrIOp::create(builder, m.loc, loss, isNaN);
    }
  }
  for (unsigned i = 0; i < 2; ++i)
    accumulate(op.getOperand(i), select(m, loses[i], zero, tieOrWhole));
}

Value ScalarAdjoints::unaryDerivative(ScalarMath &m, Operation &op, Value x,
                                      Value y) {
  constexpr double kLn2 = 0.69314718055994530942;
  constexpr double kLn10 = 2.30258509299404568402;
  constexpr double kTwoOverSqrtPi = 1.12837916709551257390;
  Location loc = m.loc;
  auto one = [&] { return m.constant(1.0); };
  auto reciprocal = [&](Value v) { return m.div(one(), v); };
  auto square = [&](Value v) { return m.mul(v, v); };
  return TypeSwitch<Operation *, Value>(&op)
      .Case<math::ExpOp>([&](auto) { return y; })
      .Case<math::Exp2Op>([&](auto) { return m.mul(m.constant(kLn2), y); })
      .Case<math::ExpM1Op>([&](auto) { return m.add(y, one()); })
      .Case<math::LogOp>([&](auto) { return reciprocal(x); })
      .Case<math::Log2Op>(
          [&](auto) { return reciprocal(m.mul(m.constant(kLn2), x)); })
      .Case<math::Log10Op>(
          [&](auto) { return reciprocal(m.mul(m.constant(kLn10), x)); })
      .Case<math::Log1pOp>([&](auto) { return reciprocal(m.add(one(), x)); })
      .Case<math::SqrtOp>([&](auto) { return m.div(m.constant(0.5), y); })
      .Case<math::RsqrtOp>(
          [&](auto) { return m.mul(m.constant(-0.5), m.mul(y, m.mul(y, y))); })
      .Case<math::CbrtOp>(
          [&](auto) { return reciprocal(m.mul(m.constant(3.0), square(y))); })
      .Case<math::TanhOp>([&](auto) { return m.sub(one(), square(y)); })
      .Case<math::SinOp>(
          [&](auto) -> Value { return math::CosOp::create(builder, loc, x); })
      .Case<math::CosOp>(
          [&](auto) { return m.neg(math::SinOp::create(builder, loc, x)); })
      .Case<math::TanOp>([&](auto) { return m.add(one(), square(y)); })
      .Case<math::SinhOp>(
          [&](auto) -> Value { return math::CoshOp::create(builder, loc, x); })
      .Case<math::CoshOp>(
          [&](auto) -> Value { return math::SinhOp::create(builder, loc, x); })
      .Case<math::AsinOp>(
          [&](auto) { return m.rsqrt(m.sub(one(), square(x))); })
      .Case<math::AcosOp>(
          [&](auto) { return m.neg(m.rsqrt(m.sub(one(), square(x)))); })
      .Case<math::AtanOp>(
          [&](auto) { return reciprocal(m.add(one(), square(x))); })
      .Case<math::AsinhOp>(
          [&](auto) { return m.rsqrt(m.add(square(x), one())); })
      .Case<math::AcoshOp>(
          [&](auto) { return m.rsqrt(m.sub(square(x), one())); })
      .Case<math::AtanhOp>(
          [&](auto) { return reciprocal(m.sub(one(), square(x))); })
      .Case<math::ErfOp, math::ErfcOp>([&](auto) {
        double sign = isa<math::ErfOp>(op) ? 1.0 : -1.0;
        return m.mul(m.constant(sign * kTwoOverSqrtPi),
                     m.exp(m.neg(square(x))));
      })
      .Case<math::AbsFOp>([&](auto) {
        // x * 0 keeps NaN and is 0 at both zeros.
        Value zero = m.constant(0.0);
        Value atZero = m.mul(x, zero);
        Value negative =
            select(m, compare(m, arith::CmpFPredicate::OLT, x, zero),
                   m.constant(-1.0), atZero);
        return select(m, compare(m, arith::CmpFPredicate::OGT, x, zero), one(),
                      negative);
      })
      .Case<arith::NegFOp>([&](auto) { return m.constant(-1.0); })
      .Default(Value());
}

LogicalResult ScalarAdjoints::visit(Operation &op) {
  if (llvm::none_of(op.getResults(), [&](Value v) { return lookup(v); }))
    return success();
  if (op.getNumResults() != 1)
    return op.emitOpError() << "has no derivative, but a gradient through it "
                               "is asked for";
  Value g = lookup(op.getResult(0));
  ScalarMath m(builder, op.getLoc(), g.getType());
  auto operandIs = [&](unsigned index) {
    return primal(m, op.getOperand(index));
  };
  Value result = values.lookup(op.getResult(0));

  if (isa<arith::ConstantOp, arith::SIToFPOp, arith::UIToFPOp, math::FloorOp,
          math::CeilOp, math::RoundOp, math::RoundEvenOp, math::TruncOp>(op))
    return success();
  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
    Type type = getComputeType(op.getOperand(0).getType());
    accumulate(op.getOperand(0), convertFloat(builder, op.getLoc(), g, type));
    return success();
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Value condition = values.lookup(select.getCondition());
    Value zero = m.constant(0.0);
    accumulate(select.getTrueValue(), this->select(m, condition, g, zero));
    accumulate(select.getFalseValue(), this->select(m, condition, zero, g));
    return success();
  }
  if (isa<arith::AddFOp, arith::SubFOp>(op)) {
    accumulate(op.getOperand(0), g);
    accumulate(op.getOperand(1), isa<arith::AddFOp>(op) ? g : m.neg(g));
    return success();
  }
  if (isa<arith::MulFOp>(op)) {
    accumulate(op.getOperand(0), m.mul(g, operandIs(1)));
    accumulate(op.getOperand(1), m.mul(g, operandIs(0)));
    return success();
  }
  if (isa<arith::DivFOp>(op)) {
    Value quotient = m.div(g, operandIs(1));
    accumulate(op.getOperand(0), quotient);
    accumulate(op.getOperand(1), m.neg(m.mul(quotient, m.convert(result))));
    return success();
  }
  if (isa<math::FmaOp>(op)) {
    accumulate(op.getOperand(0), m.mul(g, operandIs(1)));
    accumulate(op.getOperand(1), m.mul(g, operandIs(0)));
    accumulate(op.getOperand(2), g);
    return success();
  }
  if (isa<arith::MaximumFOp, arith::MaxNumFOp>(op)) {
    visitExtremum(m, op, g, /*isMaximum=*/true);
    return success();
  }
  if (isa<arith::MinimumFOp, arith::MinNumFOp>(op)) {
    visitExtremum(m, op, g, /*isMaximum=*/false);
    return success();
  }
  if (isa<math::CopySignOp>(op)) {
    // result = |a| * sign(b): the slope is result's sign times a's.
    Value a = operandIs(0);
    Value sign = math::CopySignOp::create(builder, op.getLoc(), m.constant(1.0),
                                          m.convert(result));
    Value signA =
        math::CopySignOp::create(builder, op.getLoc(), m.constant(1.0), a);
    accumulate(op.getOperand(0), m.mul(g, m.mul(sign, signA)));
    return success();
  }
  if (isa<math::PowFOp>(op)) {
    Value a = operandIs(0), b = operandIs(1), zero = m.constant(0.0);
    Value power = math::PowFOp::create(builder, op.getLoc(), a,
                                       m.sub(b, m.constant(1.0)));
    Value isZero = compare(m, arith::CmpFPredicate::OEQ, b, zero);
    accumulate(op.getOperand(0),
               select(m, isZero, zero, m.mul(g, m.mul(b, power))));
    Value log = math::LogOp::create(builder, op.getLoc(), a);
    Value baseZero = compare(m, arith::CmpFPredicate::OEQ, a, zero);
    Value exponent = compare(m, arith::CmpFPredicate::OGE, b, zero);
    Value none =
        arith::AndIOp::create(builder, op.getLoc(), baseZero, exponent);
    accumulate(op.getOperand(1),
               select(m, none, zero, m.mul(g, m.mul(m.convert(result), log))));
    return success();
  }
  if (isa<math::Atan2Op>(op)) {
    Value y = operandIs(0), x = operandIs(1);
    Value scale = m.div(g, m.add(m.mul(x, x), m.mul(y, y)));
    accumulate(op.getOperand(0), m.mul(scale, x));
    accumulate(op.getOperand(1), m.neg(m.mul(scale, y)));
    return success();
  }
  if (op.getNumOperands() == 1) {
    if (Value derivative =
            unaryDerivative(m, op, operandIs(0), m.convert(result))) {
      accumulate(op.getOperand(0), m.mul(g, derivative));
      return success();
    }
  }
  return op.emitOpError() << "has no derivative, but a gradient through it is "
                             "asked for";
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
