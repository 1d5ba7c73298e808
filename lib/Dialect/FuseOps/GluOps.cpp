//===- GluOps.cpp - Gated linear units: rules, maths and gradients --------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Activations.h"
#include "Core.h"
#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "Verify.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fuseops;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// What all gated linear units have in common
//===----------------------------------------------------------------------===//

/// Columns of the blocks in which the halves lie.
static int64_t getBlock(GluOpInterface glu) {
  int64_t interleave = glu.getInterleave();
  return interleave ? interleave : getColumns(tensorType(glu.getInput())) / 2;
}

/// `type`'s shape with `columns` in blocks of `block`: the same where they are
/// one block.
static SmallVector<int64_t> inBlocks(RankedTensorType type, int64_t columns,
                                     int64_t block) {
  SmallVector<int64_t> shape(type.getShape().drop_back());
  if (columns != block)
    shape.push_back(block ? columns / block : 0);
  shape.push_back(block);
  return shape;
}

LogicalResult fuseops::detail::verifyGlu(Operation *op) {
  auto glu = cast<GluOpInterface>(op);
  RankedTensorType type = tensorType(glu.getInput());
  if (failed(verifyHasColumns(op, type)))
    return failure();
  if (getColumns(type) % 2)
    return op->emitOpError() << "expected `input` to have an even number of "
                                "columns, but got "
                             << type;
  int64_t half = getColumns(type) / 2;
  auto interleave = static_cast<int64_t>(glu.getInterleave());
  if (interleave < 0 || (interleave > 0 && half % interleave))
    return op->emitOpError()
           << "expected blocks that divide " << half
           << " columns, but got interleave(" << interleave << ")";
  return failure(
      failed(verifySameShape(op, "result", op->getResult(0),
                             withColumns(type, half, type.getElementType()))) ||
      failed(verifyRowScale(op, "scale", glu.getScale(), type)));
}

RankedTensorType fuseops::detail::getGluSpace(GluOpInterface glu) {
  RankedTensorType type = tensorType(glu->getResult(0));
  return RankedTensorType::get(inBlocks(type, getColumns(type), getBlock(glu)),
                               type.getElementType());
}

namespace {
/// The operands of a gated linear unit in its iteration space.
struct Halves {
  Halves(GluOpInterface glu, OpBuilder &builder, Value input, Value factors)
      : space(fuseops::detail::getGluSpace(glu)) {
    Location loc = glu.getLoc();
    RankedTensorType type = tensorType(input);
    int64_t block = getBlock(glu);
    packed = inBlocks(type, getColumns(type), 2 * block);
    if (static_cast<int64_t>(packed.size()) < space.getRank())
      packed.insert(packed.end() - 1, 1);
    input = reshapeTo(builder, loc, input, packed);
    RankedTensorType half = space.clone(type.getElementType());
    int64_t dim = space.getRank() - 1;
    a = SliceOp::create(builder, loc, half, input, dim, 0);
    b = SliceOp::create(builder, loc, half, input, dim, block);
    if (glu.getActivation() == HalfOrder::Last)
      std::swap(a, b);
    if (!factors)
      return;
    SmallVector<int64_t> shape(tensorType(factors).getShape());
    shape.resize(space.getRank(), 1);
    scale = reshapeTo(builder, loc, factors, shape);
  }

  RankedTensorType space;
  SmallVector<int64_t> packed; ///< shape of the input
  Value a, b, scale;
};
} // namespace

SmallVector<Value> fuseops::detail::decomposeGlu(GluOpInterface glu,
                                                 OpBuilder &builder,
                                                 ValueRange operands) {
  Halves halves(glu, builder, operands[0],
                operands.size() > 1 ? operands[1] : Value());
  SmallVector<Value> inputs = {halves.a, halves.b};
  if (halves.scale)
    inputs.push_back(halves.scale);
  Value result =
      Core(glu, builder, operands)
          .pointwise(halves.space, inputs, [&](ScalarMath &m, auto v) {
            Value y = m.mul(glu.activate(m, v[0]), glu.gate(m, v[1]));
            return halves.scale ? m.mul(y, v[2]) : y;
          });
  return {reshapeTo(builder, glu.getLoc(), result,
                    tensorType(glu->getResult(0)).getShape())};
}

SmallVector<Value> fuseops::detail::buildGluGradients(GluOpInterface glu,
                                                      OpBuilder &builder,
                                                      ValueRange gradients,
                                                      ArrayRef<bool> needed) {
  SmallVector<Value> results(glu->getNumOperands());
  if (!gradients[0])
    return results;
  Location loc = glu.getLoc();
  Halves halves(glu, builder, glu.getInput(), glu.getScale());
  Core core(glu, builder, glu->getOperands());
  Value dy = reshapeTo(builder, loc, gradients[0], halves.space.getShape());
  SmallVector<Value> inputs = {dy, halves.a, halves.b};
  if (halves.scale)
    inputs.push_back(halves.scale);
  bool wantsScale = glu.getScale() && needed[1];
  SmallVector<Type> types;
  if (needed[0])
    types.append(2, halves.a.getType());
  // A product that is reduced afterwards is not rounded before.
  if (wantsScale)
    types.push_back(halves.space.clone(core.type));
  if (types.empty())
    return results;
  auto body = [&](ScalarMath &m, ArrayRef<Value> v) {
    Value g = halves.scale ? m.mul(v[0], v[3]) : v[0];
    Value activated = glu.activate(m, v[1]), gated = glu.gate(m, v[2]);
    SmallVector<Value> values;
    if (needed[0]) {
      values = {glu.activationGradient(m, v[1], m.mul(g, gated)),
                glu.gateGradient(m, v[2], m.mul(g, activated))};
    }
    if (wantsScale)
      values.push_back(m.mul(v[0], m.mul(activated, gated)));
    return values;
  };
  ResultRange parts = core.pointwise(types, inputs, body);
  if (needed[0]) {
    Value da = parts[0], db = parts[1];
    if (glu.getActivation() == HalfOrder::Last)
      std::swap(da, db);
    RankedTensorType type = tensorType(glu.getInput());
    Value joined = ConcatOp::create(
        builder, loc,
        RankedTensorType::get(halves.packed, type.getElementType()),
        ValueRange{da, db}, halves.space.getRank() - 1);
    results[0] = reshapeTo(builder, loc, joined, type.getShape());
  }
  if (wantsScale) {
    Value products = reshapeTo(builder, loc, parts.back(),
                               tensorType(glu->getResult(0)).getShape());
    results[1] = ReduceColumnsOp::create(builder, loc, glu.getScale().getType(),
                                         products, ReductionKind::Sum);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Their scalar functions
//===----------------------------------------------------------------------===//

Value SwigluOp::activate(ScalarMath &m, Value a) {
  return activation::silu(m, a);
}
Value SwigluOp::activationGradient(ScalarMath &m, Value a, Value gradient) {
  return m.mul(gradient, activation::siluDerivative(m, a));
}

Value GluOp::activate(ScalarMath &m, Value a) { return m.sigmoid(a); }
Value GluOp::activationGradient(ScalarMath &m, Value a, Value gradient) {
  return m.mul(gradient, activation::sigmoidDerivative(m, a));
}

Value GegluOp::activate(ScalarMath &m, Value a) {
  return activation::gelu(m, a, getApproximate());
}
Value GegluOp::activationGradient(ScalarMath &m, Value a, Value gradient) {
  return m.mul(gradient, activation::geluDerivative(m, a, getApproximate()));
}

Value QgegluOp::activate(ScalarMath &m, Value a) {
  return activation::qgelu(m, a);
}
Value QgegluOp::activationGradient(ScalarMath &m, Value a, Value gradient) {
  return m.mul(gradient, activation::qgeluDerivative(m, a));
}

Value RegluOp::activate(ScalarMath &m, Value a) {
  return activation::relu(m, a);
}
Value RegluOp::activationGradient(ScalarMath &m, Value a, Value gradient) {
  return activation::reluGradient(m, a, gradient);
}

Value SregluOp::activate(ScalarMath &m, Value a) {
  return activation::srelu(m, a);
}
Value SregluOp::activationGradient(ScalarMath &m, Value a, Value gradient) {
  return activation::sreluGradient(m, a, gradient);
}

/// bound * tanh(x / bound)
static Value softBound(ScalarMath &m, Value x, double bound) {
  Value ratio = m.mul(x, m.constant(1.0 / bound));
  return m.mul(m.constant(bound), m.tanh(ratio));
}
static Value softBoundDerivative(ScalarMath &m, Value x, double bound) {
  return activation::sech2(m, m.mul(x, m.constant(1.0 / bound)));
}

LogicalResult SituGluOp::verify() {
  auto verifyBeta = [&](StringRef name, double beta) -> LogicalResult {
    if (std::isfinite(beta) && beta > 0.0)
      return success();
    return emitOpError() << "expected `" << name
                         << "` to be finite and positive, but got " << beta;
  };
  return failure(failed(verifyBeta("beta1", getBeta1().convertToDouble())) ||
                 failed(verifyBeta("beta2", getBeta2().convertToDouble())));
}
Value SituGluOp::activate(ScalarMath &m, Value a) {
  return m.mul(softBound(m, a, getBeta1().convertToDouble()), m.sigmoid(a));
}
Value SituGluOp::activationGradient(ScalarMath &m, Value a, Value gradient) {
  double beta = getBeta1().convertToDouble();
  Value slope =
      m.add(m.mul(softBoundDerivative(m, a, beta), m.sigmoid(a)),
            m.mul(softBound(m, a, beta), activation::sigmoidDerivative(m, a)));
  return m.mul(gradient, slope);
}
Value SituGluOp::gate(ScalarMath &m, Value b) {
  return softBound(m, b, getBeta2().convertToDouble());
}
Value SituGluOp::gateGradient(ScalarMath &m, Value b, Value gradient) {
  double beta = getBeta2().convertToDouble();
  return m.mul(gradient, softBoundDerivative(m, b, beta));
}

LogicalResult ClampedSwigluOp::verify() {
  double limit = getLimit().convertToDouble();
  // Also for NaN. NOLINTNEXTLINE(readability-simplify-boolean-expr)
  if (!(limit >= 0.0))
    return emitOpError() << "expected `limit` not to be negative, but got "
                         << limit;
  return success();
}
Value ClampedSwigluOp::activate(ScalarMath &m, Value a) {
  Value c = m.minimum(a, m.constant(getLimit().convertToDouble()));
  Value alpha = m.constant(getAlpha().convertToDouble());
  return m.mul(c, m.sigmoid(m.mul(alpha, c)));
}
Value ClampedSwigluOp::activationGradient(ScalarMath &m, Value a,
                                          Value gradient) {
  // silu'(alpha c) is the derivative of c * sigmoid(alpha * c).
  Value alpha = m.constant(getAlpha().convertToDouble());
  Value isOver = m.greater(a, m.constant(getLimit().convertToDouble()));
  Value slope = activation::siluDerivative(m, m.mul(alpha, a));
  // A select and not a factor of 0: the gradient may be infinite.
  return m.select(isOver, m.constant(0.0), m.mul(gradient, slope));
}
Value ClampedSwigluOp::gate(ScalarMath &m, Value b) {
  double limit = getLimit().convertToDouble();
  Value clamped =
      m.minimum(m.maximum(b, m.constant(-limit)), m.constant(limit));
  return m.add(clamped, m.constant(getOffset().convertToDouble()));
}
Value ClampedSwigluOp::gateGradient(ScalarMath &m, Value b, Value gradient) {
  Value isOutside =
      m.greater(m.abs(b), m.constant(getLimit().convertToDouble()));
  return m.select(isOutside, m.constant(0.0), gradient);
}
