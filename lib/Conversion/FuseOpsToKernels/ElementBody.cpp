//===- ElementBody.cpp - Scalar bodies on vectors ------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

/// A comparison of the column with a number that a row has, as in the gradient
/// of a cross entropy: at most one element of the row is meant.
struct mlir::fuseops::ColumnSearch {
  /// That of the body whose arguments are `mapping`'s, if there is one.
  static std::optional<ColumnSearch> find(Block &body, IRMapping &mapping);

  bool isEqual() const {
    return arith::CmpIOp(compare).getPredicate() == arith::CmpIPredicate::eq;
  }

  arith::CmpIOp compare;
  Value column; ///< that is looked for
};

std::optional<ColumnSearch> ColumnSearch::find(Block &body,
                                               IRMapping &mapping) {
  for (auto compare : body.getOps<arith::CmpIOp>()) {
    if (compare.getPredicate() != arith::CmpIPredicate::eq &&
        compare.getPredicate() != arith::CmpIPredicate::ne)
      continue;
    Value index = compare.getLhs(), column = compare.getRhs();
    if (!index.getDefiningOp<ColumnIndexOp>())
      std::swap(index, column);
    if (!index.getDefiningOp<ColumnIndexOp>() || !isa<BlockArgument>(column))
      continue;
    column = mapping.lookup(column);
    if (auto broadcast = column.getDefiningOp<vector::BroadcastOp>())
      column = broadcast.getSource();
    if (!isa<VectorType>(column.getType()))
      return ColumnSearch{compare, column};
  }
  return std::nullopt;
}

/// Computes a body that searches a column: which lane is meant, if one at all,
/// is found once for all, in 32 bits. On CUDA what is computed where none is
/// has a branch of its own, without the search.
SmallVector<Value> ElementBuilder::computeSearch(
    const ColumnSearch &search, const Element &element, int64_t width,
    function_ref<SmallVector<Value>(Value answer)> emit) {
  Type i32 = b.getI32Type();
  Value distance = arith::SubIOp::create(b, loc, search.column, element.column);
  Value isHere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                       distance, constant(width));
  Value lane = arith::SelectOp::create(
      b, loc, isHere, arith::TruncIOp::create(b, loc, i32, distance),
      arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(-1)));
  auto compareLanes = [&]() -> Value {
    SmallVector<int32_t> numbers;
    for (int64_t number : laneOrder(width))
      numbers.push_back(static_cast<int32_t>(number));
    return arith::CmpIOp::create(
        b, loc,
        search.isEqual() ? arith::CmpIPredicate::eq : arith::CmpIPredicate::ne,
        splat(lane, width),
        arith::ConstantOp::create(b, loc, b.getI32VectorAttr(numbers)));
  };
  if (device != KernelDevice::CUDA)
    return emit(compareLanes());
  SmallVector<Value> found, others;
  auto emitBranch = [&](SmallVector<Value> &results, bool isFound) {
    return [&, isFound](OpBuilder &, Location) {
      results = emit(isFound ? compareLanes()
                             : arith::ConstantOp::create(
                                   b, loc,
                                   DenseElementsAttr::get(
                                       VectorType::get({width}, b.getI1Type()),
                                       !search.isEqual())));
      scf::YieldOp::create(b, loc, results);
    };
  };
  return scf::IfOp::create(b, loc, isHere, emitBranch(found, true),
                           emitBranch(others, false))
      .getResults();
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
  auto emitBody = [&](arith::CmpIOp search, Value answer) {
    IRMapping values = mapping;
    if (search)
      values.map(search.getResult(), answer);
    for (Operation &inner : body.without_terminator()) {
      if (search && &inner == search.getOperation())
        continue;
      if (isa<arith::ConstantOp>(inner)) {
        Value scalar = b.clone(inner)->getResult(0);
        values.map(inner.getResult(0), inFours ? scalar : splat(scalar, width));
      } else if (isa<LinearIndexOp, ColumnIndexOp>(inner)) {
        Value index =
            splat(firstIndexOf(&inner, placement, pitch, element), width);
        if (width > 1 && hasColumn)
          index =
              arith::AddIOp::create(b, loc, index, indices(laneOrder(width)));
        values.map(inner.getResult(0), index);
      } else if (inFours && isNumberOfFour(inner)) {
        Value first = firstIndexOf(inner.getOperand(0).getDefiningOp(),
                                   placement, pitch, element);
        first = arith::ShRUIOp::create(b, loc, first, constant(2));
        SmallVector<int64_t> numbers(width / 4);
        std::iota(numbers.begin(), numbers.end(), 0);
        values.map(inner.getResult(0),
                   arith::AddIOp::create(b, loc, splat(first, width / 4),
                                         indices(numbers)));
      } else if (inFours && isNumberInFour(inner)) {
        SmallVector<int64_t> numbers = laneOrder(width);
        for (int64_t &number : numbers)
          number %= 4;
        values.map(inner.getResult(0), indices(numbers));
      } else {
        cloneScalar(*this, inner, inFours ? 1 : width, values);
      }
    }
    return llvm::map_to_vector(
        body.getTerminator()->getOperands(),
        [&](Value scalar) { return repeat(values.lookup(scalar), width); });
  };
  std::optional<ColumnSearch> search;
  if (width > 1 && hasColumn && !inFours)
    search = ColumnSearch::find(body, mapping);
  SmallVector<Value> computed =
      search ? computeSearch(*search, element, width,
                             [&](Value answer) {
                               return emitBody(search->compare, answer);
                             })
             : emitBody(arith::CmpIOp(), Value());
  for (auto [output, value] : llvm::zip(op.getOutputs(), computed))
    results[output] = roundResult(output, value);
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
