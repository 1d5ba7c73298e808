//===- ElementBody.cpp - Scalar bodies on vectors ------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace mlir::fuseops;

/// Whether `value` is the constant `number`.
static bool isNumber(Value value, int64_t number) {
  IntegerAttr::ValueType constant;
  return matchPattern(value, m_ConstantInt(&constant)) && constant == number;
}

static int64_t widthOf(Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? vector.getNumElements() : 1;
}

/// Whether `op` is `linear_index >> 2`: the number of four elements.
static bool isNumberOfFour(Operation &op) {
  auto shift = dyn_cast<arith::ShRUIOp>(op);
  return shift && shift.getLhs().getDefiningOp<LinearIndexOp>() &&
         isNumber(shift.getRhs(), 2);
}

/// Whether `op` is `linear_index & 3`: which of the four it is.
static bool isNumberInFour(Operation &op) {
  auto mask = dyn_cast<arith::AndIOp>(op);
  return mask && mask.getLhs().getDefiningOp<LinearIndexOp>() &&
         isNumber(mask.getRhs(), 3);
}

SmallVector<int64_t> ElementBuilder::laneOrder(int64_t width) {
  SmallVector<int64_t> order(width);
  std::iota(order.begin(), order.end(), 0);
  if (splitsPairs && width > 1)
    for (int64_t i = 0; i < width; ++i)
      order[i] = i < width / 2 ? 2 * i : 2 * i - width + 1;
  return order;
}

Value ElementBuilder::toLanes(Value inMemory) {
  int64_t width = widthOf(inMemory);
  if (!splitsPairs || width == 1)
    return inMemory;
  return vector::ShuffleOp::create(b, loc, inMemory, inMemory,
                                   laneOrder(width));
}

Value ElementBuilder::toMemory(Value lanes) {
  int64_t width = widthOf(lanes);
  if (!splitsPairs || width == 1)
    return lanes;
  SmallVector<int64_t> places(width);
  for (auto [lane, number] : llvm::enumerate(laneOrder(width)))
    places[number] = lane;
  return vector::ShuffleOp::create(b, loc, lanes, lanes, places);
}

Value ElementBuilder::indices(ArrayRef<int64_t> values) {
  if (values.size() == 1)
    return constant(values.front());
  return arith::ConstantOp::create(b, loc, b.getI64VectorAttr(values));
}

Value ElementBuilder::repeat(Value value, int64_t width) {
  int64_t count = widthOf(value);
  if (count == width || count == 1)
    return count == width ? value : splat(value, width);
  SmallVector<int64_t> lanes = laneOrder(width);
  for (int64_t &lane : lanes)
    lane = lane * count / width;
  return vector::ShuffleOp::create(b, loc, value, value, lanes);
}

/// The index of the element's first lane, in the operation's own iteration
/// space, not in its kernel's.
Value ElementBuilder::firstIndexOf(Operation *index, Placement placement,
                                   int64_t pitch, const Element &element) {
  Value first = constant(0);
  if (isa<LinearIndexOp>(index) &&
      (placement == Placement::Full || placement == Placement::PerRow))
    first = arith::MulIOp::create(b, loc, element.row, constant(pitch));
  if (placement == Placement::Full || placement == Placement::RowVector)
    first = arith::AddIOp::create(b, loc, first, element.column);
  return first;
}

/// Clones `inner` for as many elements as its operands have values, at least
/// `least`.
static void cloneScalar(ElementBuilder &builder, Operation &inner,
                        int64_t least, IRMapping &mapping) {
  int64_t width = least;
  for (Value operand : inner.getOperands())
    width = std::max(width, widthOf(mapping.lookup(operand)));
  SmallVector<Value> operands;
  for (Value operand : inner.getOperands())
    operands.push_back(builder.repeat(mapping.lookup(operand), width));
  Operation *clone = builder.b.clone(inner, mapping);
  clone->setOperands(operands);
  for (Value result : clone->getResults())
    result.setType(builder.widened(result.getType(), width));
}

/// `inner` where it asks which element of a row has the index that the row
/// says: which lane that is, if one at all, is found once for all, in 32 bits.
/// Null elsewhere.
static Value compareColumn(ElementBuilder &builder, Operation &inner,
                           Value firstColumn, ArrayRef<int64_t> lanes,
                           IRMapping &mapping) {
  auto compare = dyn_cast<arith::CmpIOp>(inner);
  if (!compare || lanes.size() == 1 ||
      (compare.getPredicate() != arith::CmpIPredicate::eq &&
       compare.getPredicate() != arith::CmpIPredicate::ne))
    return Value();
  bool isFirst =
      isa_and_present<ColumnIndexOp>(compare.getLhs().getDefiningOp());
  Value index = isFirst ? compare.getLhs() : compare.getRhs();
  Value other = isFirst ? compare.getRhs() : compare.getLhs();
  if (!isa_and_present<ColumnIndexOp>(index.getDefiningOp()))
    return Value();
  other = mapping.lookup(other);
  if (auto broadcast = other.getDefiningOp<vector::BroadcastOp>())
    other = broadcast.getSource();
  if (isa<VectorType>(other.getType()))
    return Value();
  OpBuilder &b = builder.b;
  Location loc = builder.loc;
  Type i32 = b.getI32Type();
  Value distance = arith::SubIOp::create(b, loc, other, firstColumn);
  Value isHere = arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::ult, distance,
      builder.constant(static_cast<int64_t>(lanes.size())));
  Value lane = arith::SelectOp::create(
      b, loc, isHere, arith::TruncIOp::create(b, loc, i32, distance),
      arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(-1)));
  Value numbers = arith::ConstantOp::create(
      b, loc, b.getI32VectorAttr(SmallVector<int32_t>(lanes)));
  return arith::CmpIOp::create(
      b, loc, compare.getPredicate(),
      builder.splat(lane, static_cast<int64_t>(lanes.size())), numbers);
}

/// On the CPU, where the body says which four elements one is of, what depends
/// on that alone is computed once for them: the four words of a random number.
void ElementBuilder::computeBody(PointwiseOp op, ValueRange operands,
                                 Element &element,
                                 DenseMap<Value, Value> &results) {
  int64_t width = 1;
  for (Value operand : operands)
    width = std::max(width, widthOf(operand));
  if (operands.empty())
    width = element.width;
  Placement placement = group.getPlacement(op.getResult(0));
  bool hasColumn =
      placement == Placement::Full || placement == Placement::RowVector;
  int64_t pitch = getColumns(cast<RankedTensorType>(op.getResult(0).getType()));
  Block &body = op.getBody().front();
  // Vectors begin at a multiple of their width.
  bool inFours = width % 4 == 0 && hasColumn && pitch % 4 == 0 &&
                 llvm::any_of(body, isNumberOfFour);
  IRMapping mapping;
  for (auto [argument, operand] : llvm::zip(body.getArguments(), operands)) {
    auto broadcast = operand.getDefiningOp<vector::BroadcastOp>();
    mapping.map(argument,
                inFours && broadcast ? broadcast.getSource() : operand);
  }
  for (Operation &inner : body.without_terminator()) {
    if (isa<arith::ConstantOp>(inner)) {
      Value scalar = b.clone(inner)->getResult(0);
      mapping.map(inner.getResult(0), inFours ? scalar : splat(scalar, width));
    } else if (isa<LinearIndexOp, ColumnIndexOp>(inner)) {
      Value index =
          splat(firstIndexOf(&inner, placement, pitch, element), width);
      if (width > 1 && hasColumn)
        index = arith::AddIOp::create(b, loc, index, indices(laneOrder(width)));
      mapping.map(inner.getResult(0), index);
    } else if (inFours && isNumberOfFour(inner)) {
      Value first = firstIndexOf(inner.getOperand(0).getDefiningOp(), placement,
                                 pitch, element);
      first = arith::ShRUIOp::create(b, loc, first, constant(2));
      SmallVector<int64_t> numbers(width / 4);
      std::iota(numbers.begin(), numbers.end(), 0);
      mapping.map(inner.getResult(0),
                  arith::AddIOp::create(b, loc, splat(first, width / 4),
                                        indices(numbers)));
    } else if (inFours && isNumberInFour(inner)) {
      SmallVector<int64_t> numbers = laneOrder(width);
      for (int64_t &number : numbers)
        number %= 4;
      mapping.map(inner.getResult(0), indices(numbers));
    } else if (Value found = compareColumn(*this, inner, element.column,
                                           hasColumn ? laneOrder(width)
                                                     : SmallVector<int64_t>{0},
                                           mapping)) {
      mapping.map(inner.getResult(0), found);
    } else {
      cloneScalar(*this, inner, inFours ? 1 : width, mapping);
    }
  }
  auto yield = cast<YieldOp>(body.getTerminator());
  for (auto [output, scalar] : llvm::zip(op.getOutputs(), yield.getValues()))
    results[output] =
        roundResult(output, repeat(mapping.lookup(scalar), width));
}

/// What reads a value sees what is stored, here and in other kernels, where
/// there is something stored. FP8 is never kept wide (fp8_r4).
Value ElementBuilder::roundResult(Value output, Value value) {
  Type element = cast<RankedTensorType>(output.getType()).getElementType();
  Type computed = getComputeType(element);
  bool isRounded =
      isa<FloatType>(element) && element != computed &&
      (roundIntermediates || isFp8(element) || group.isStored(output));
  if (!isRounded)
    return value;
  return arith::ExtFOp::create(b, loc, widened(computed, widthOf(value)),
                               narrow(value, element));
}
