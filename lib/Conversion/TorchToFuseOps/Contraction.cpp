//===- Contraction.cpp - Matrix products --------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "FuseOps/Dialect/FuseOps/Layout.h"

using namespace mlir;
using namespace mlir::fuseops;

namespace {
/// An operand of a product: a stack of matrices, or one, each transposed or
/// not.
struct Factor {
  Value value;
  bool isTransposed = false;
  /// What `value` is if it isn't taken as transposed.
  Value untransposed;
  /// PyTorch's extents; the last two, and `?` for a symbolic one.
  int64_t rows = 1, columns = 1;
  /// The dimensions before those, as FuseOps has them.
  SmallVector<int64_t> batch;
  Type element;

  UnitAttr flag(Builder &builder) const {
    return isTransposed ? builder.getUnitAttr() : UnitAttr();
  }
};
} // namespace

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Reads an operand: a vector is a row, or a column with `isColumn`.
static FailureOr<Factor> getFactor(TorchCall &call, const TorchValue &found,
                                   bool isColumn) {
  Factor factor;
  factor.value = factor.untransposed = call.materialize(found);
  factor.element = found.type.getElementType();
  ArrayRef<int64_t> shape = found.type.getShape();
  int64_t rank = found.getRank();
  if (rank == 0)
    return call.refuse("expected operands with dimensions, but got a scalar");
  if (rank == 1) {
    if (!found.type.hasStaticShape())
      return call.refuse("expected vectors of known size, but got " +
                         print(found.type));
    int64_t size = shape[0];
    (isColumn ? factor.rows : factor.columns) = size;
    SmallVector<int64_t> matrix = {factor.rows, factor.columns};
    factor.value = reshapeTo(call.builder, call.getLoc(), factor.value, matrix);
    return factor;
  }
  int64_t row = found.getDim(rank - 2), column = found.getDim(rank - 1);
  factor.rows = shape[row];
  factor.columns = shape[column];
  llvm::append_range(factor.batch, shape.take_front(row));

  // A transpose is a flag; so is a symbolic size among the columns, since it's
  // rows that may be of any number.
  SmallVector<int64_t> swapped;
  llvm::append_range(swapped, llvm::seq<int64_t>(0, row));
  llvm::append_range(swapped, llvm::seq<int64_t>(column, found.type.getRank()));
  llvm::append_range(swapped, llvm::seq<int64_t>(row, column));
  auto moved = factor.value.getDefiningOp<PermuteOp>();
  SmallVector<int64_t> inverse(swapped.size());
  for (auto [place, dim] : llvm::enumerate(swapped))
    inverse[dim] = place;
  bool isMoved = moved && moved.getOrder() == ArrayRef(inverse);
  if (isMoved || ShapedType::isDynamic(factor.columns)) {
    factor.value = buildPermute(call, factor.value, swapped);
    factor.isTransposed = true;
  }
  return factor;
}

static FailureOr<Factor> getFactor(TorchCall &call, unsigned index,
                                   bool isColumn) {
  FailureOr<TorchValue> found = call.floatOrSplat(index);
  return failed(found) ? FailureOr<Factor>(failure())
                       : getFactor(call, *found, isColumn);
}

/// As `getFactor`, of integers too.
static FailureOr<Factor> getNumberFactor(TorchCall &call, unsigned index,
                                         bool isColumn) {
  FailureOr<TorchValue> found = call.value(index);
  if (failed(found))
    return failure();
  if (!found->type || !isa<IntegerType>(found->type.getElementType()))
    return getFactor(call, index, isColumn);
  return getFactor(call, *found, isColumn);
}

/// `lhs * rhs` of single matrices, or of rows of any rank and a matrix.
static Value buildMatmul(TorchCall &call, RankedTensorType result,
                         const Factor &lhs, const Factor &rhs) {
  return MatmulOp::create(call.builder, call.getLoc(), result, lhs.value,
                          rhs.value, lhs.flag(call.builder),
                          rhs.flag(call.builder));
}

/// `value`, a stack of matrices, with leading dimensions `batch` made one.
static FailureOr<Value> buildStack(TorchCall &call, const Factor &factor,
                                   ArrayRef<int64_t> batch, int64_t count) {
  OpBuilder &builder = call.builder;
  Location loc = call.getLoc();
  RankedTensorType type = tensorType(factor.value);
  ArrayRef<int64_t> matrix = type.getShape().drop_front(factor.batch.size());
  SmallVector<int64_t> shape(batch);
  llvm::append_range(shape, matrix);
  auto expanded = RankedTensorType::get(shape, factor.element);
  if (!isBroadcastableTo(type, expanded))
    return call.refuse("expected operands whose leading dimensions broadcast");
  Value value = builder.createOrFold<ExpandOp>(loc, expanded, factor.value);
  shape.assign(1, count);
  llvm::append_range(shape, matrix);
  return reshapeTo(builder, loc, value, shape);
}

/// Stacks of matrices: each is a group of rows with a matrix of its own.
static FailureOr<Value> buildStackedMatmul(TorchCall &call,
                                           RankedTensorType result,
                                           const Factor &lhs,
                                           const Factor &rhs) {
  OpBuilder &builder = call.builder;
  Location loc = call.getLoc();
  ArrayRef<int64_t> batch = result.getShape().drop_back(2);
  int64_t count = 1;
  for (int64_t size : batch) {
    if (ShapedType::isDynamic(size))
      return call.refuse("expected a known number of matrices, but it's "
                         "symbolic");
    count *= size;
  }
  FailureOr<Value> left = buildStack(call, lhs, batch, count);
  if (failed(left))
    return failure();
  FailureOr<Value> right = buildStack(call, rhs, batch, count);
  if (failed(right))
    return failure();
  // With a transposed left operand its rows are contracted, as those of the
  // right one are, which has to be as it is.
  int64_t rows = lhs.isTransposed ? lhs.columns : lhs.rows;
  if (ShapedType::isDynamic(rows))
    return call.refuse("expected matrices of known size, but the rows of the "
                       "left ones are symbolic");
  bool transposesRight = rhs.isTransposed;
  if (lhs.isTransposed && rhs.isTransposed) {
    SmallVector<int64_t> order = {0, 2, 1};
    right = buildPermute(call, *right, order);
    transposesRight = false;
  }
  auto flatten = [&](Value value) -> Value {
    int64_t columns = getColumns(tensorType(value));
    SmallVector<int64_t> shape = {count * rows, columns};
    return reshapeTo(builder, loc, value, shape);
  };
  left = flatten(*left);
  SmallVector<int64_t> shape = {count * lhs.rows, result.getShape().back()};
  if (lhs.isTransposed) {
    right = flatten(*right);
    shape = {count, lhs.rows, result.getShape().back()};
  }
  TorchValue sizes;
  sizes.kind = TorchValue::Kind::Splat;
  sizes.type = RankedTensorType::get({count}, builder.getI64Type());
  sizes.constant = TorchNumber::getInteger(rows);
  auto flag = [&](bool isSet) {
    return isSet ? builder.getUnitAttr() : UnitAttr();
  };
  Value product = GroupedMatmulOp::create(
      builder, loc, RankedTensorType::get(shape, result.getElementType()),
      *left, *right, call.materialize(sizes), flag(lhs.isTransposed),
      flag(transposesRight));
  return reshapeTo(builder, loc, product, result.getShape());
}

/// A product of integers, which no matrix unit computes: the sum of the
/// products of all pairs, in 64 bits.
static FailureOr<Value> buildIntegerProduct(TorchCall &call,
                                            RankedTensorType result,
                                            const Factor &lhs,
                                            const Factor &rhs) {
  OpBuilder &builder = call.builder;
  Location loc = call.getLoc();
  auto addDimension = [&](Value value, int64_t fromLast) -> Value {
    SmallVector<int64_t> shape(tensorType(value).getShape());
    shape.insert(shape.end() - fromLast, 1);
    return reshapeTo(builder, loc, value, shape);
  };
  Value left = lhs.isTransposed ? lhs.untransposed : lhs.value;
  Value right = rhs.isTransposed ? rhs.untransposed : rhs.value;
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, tensorType(right).getRank()));
  std::swap(order.back(), order[order.size() - 2]);
  left = addDimension(left, 1);
  right = addDimension(buildPermute(call, right, order), 2);
  SmallVector<int64_t> shape(result.getShape());
  shape.push_back(lhs.columns);
  auto pairs = RankedTensorType::get(shape, builder.getI64Type());
  if (!isBroadcastableTo(tensorType(left), pairs) ||
      !isBroadcastableTo(tensorType(right), pairs))
    return call.refuse("expected operands whose leading dimensions broadcast");
  auto body = [&](OpBuilder &inner, Location place,
                  ValueRange scalars) -> SmallVector<Value> {
    auto widen = [&](Value scalar, Type from) {
      return convertElement(inner, place, scalar, from, inner.getI64Type());
    };
    return {arith::MulIOp::create(inner, place, widen(scalars[0], lhs.element),
                                  widen(scalars[1], rhs.element))};
  };
  Value products =
      PointwiseOp::build(builder, loc, pairs, ValueRange{left, right}, body)
          .getResult(0);
  int64_t last = pairs.getRank() - 1;
  FailureOr<Value> sum =
      reduceDims(builder, loc, products, last, ReductionKind::Sum,
                 result.getElementType());
  if (failed(sum))
    return failure();
  return reshapeTo(builder, loc, *sum, result.getShape());
}

/// The product of two operands as a tensor of `result`'s shape; extents of 1
/// that only one of them has may be missing.
static FailureOr<Value> buildProduct(TorchCall &call, RankedTensorType result,
                                     const Factor &lhs, const Factor &rhs) {
  if (lhs.element != rhs.element)
    return call.refuse("expected operands of one dtype, but got " +
                       print(lhs.element) + " and " + print(rhs.element));
  if (lhs.columns != rhs.rows)
    return call.refuse("expected as many columns in the left operand as rows "
                       "in the right one, but got " +
                       Twine(lhs.columns) + " and " + Twine(rhs.rows));
  if (isa<IntegerType>(lhs.element))
    return buildIntegerProduct(call, result, lhs, rhs);
  bool isOne = llvm::all_of(rhs.batch, [](int64_t size) { return size == 1; });
  if (!isOne)
    return buildStackedMatmul(call, result, lhs, rhs);
  // Rows of any rank times one matrix.
  Factor rows = lhs, matrix = rhs;
  if (!lhs.batch.empty() && lhs.isTransposed) {
    rows.value = lhs.untransposed;
    rows.isTransposed = false;
  }
  if (!rhs.batch.empty())
    matrix.value = reshapeTo(
        call.builder, call.getLoc(), rhs.value,
        tensorType(rhs.value).getShape().drop_front(rhs.batch.size()));
  return buildMatmul(call, result, rows, matrix);
}

/// The shape of a product with both matrix dimensions, which a vector operand
/// hasn't.
static RankedTensorType getProductType(RankedTensorType result, int64_t lhsRank,
                                       int64_t rhsRank) {
  SmallVector<int64_t> shape(result.getShape());
  if (rhsRank == 1)
    shape.push_back(1);
  if (lhsRank == 1)
    shape.insert(shape.end() - 1, 1);
  return RankedTensorType::get(shape, result.getElementType());
}

/// mm, bmm, mv, dot and matmul: the ranks say which.
static LogicalResult convertProduct(TorchCall &call) {
  FailureOr<Factor> lhs = getNumberFactor(call, 0, /*isColumn=*/false);
  if (failed(lhs))
    return failure();
  FailureOr<Factor> rhs = getNumberFactor(call, 1, /*isColumn=*/true);
  if (failed(rhs))
    return failure();
  FailureOr<RankedTensorType> result = call.resultType();
  if (failed(result))
    return failure();
  if (isa<FloatType>(lhs->element) != isComputeFloat(result->getElementType()))
    return call.refuse("expected a result of numbers as the operands', but "
                       "got " +
                       print(*result));
  FailureOr<TorchValue> left = call.value(0), right = call.value(1);
  RankedTensorType type =
      getProductType(*result, left->getRank(), right->getRank());
  FailureOr<Value> product = buildProduct(call, type, *lhs, *rhs);
  if (failed(product))
    return failure();
  return call.set(
      0, reshapeTo(call.builder, call.getLoc(), *product, result->getShape()));
}

FailureOr<Value> mlir::fuseops::buildMatrixProduct(TorchCall &call,
                                                   RankedTensorType result,
                                                   Value lhs, Value rhs) {
  FailureOr<Factor> left =
      getFactor(call, TorchValue::get(lhs), /*isColumn=*/false);
  if (failed(left))
    return failure();
  FailureOr<Factor> right =
      getFactor(call, TorchValue::get(rhs), /*isColumn=*/true);
  return failed(right) ? FailureOr<Value>(failure())
                       : buildProduct(call, result, *left, *right);
}

static LogicalResult convertLinear(TorchCall &call) {
  FailureOr<Factor> input = getFactor(call, 0, /*isColumn=*/false);
  if (failed(input))
    return failure();
  FailureOr<Factor> weight = getFactor(call, 1, /*isColumn=*/false);
  if (failed(weight))
    return failure();
  FailureOr<Value> bias = call.optionalFloatTensor(2);
  if (failed(bias))
    return failure();
  FailureOr<RankedTensorType> result = call.floatResultType();
  if (failed(result))
    return failure();
  if (input->element != weight->element)
    return call.refuse("expected operands of one dtype, but got " +
                       print(input->element) + " and " +
                       print(weight->element));
  FailureOr<TorchValue> left = call.value(0), right = call.value(1);
  if (right->getRank() > 2)
    return call.refuse("expected a matrix as weight, but got " +
                       Twine(right->getRank()) + " dimensions");
  RankedTensorType type =
      getProductType(*result, left->getRank(), right->getRank());
  auto set = [&](Value value) {
    return call.set(
        0, reshapeTo(call.builder, call.getLoc(), value, result->getShape()));
  };
  bool isLinear = !input->isTransposed && !weight->isTransposed &&
                  (!*bias || tensorType(*bias).getRank() == 1);
  if (isLinear)
    return set(LinearOp::create(call.builder, call.getLoc(), type, input->value,
                                weight->value, *bias));
  weight->isTransposed = !weight->isTransposed;
  std::swap(weight->rows, weight->columns);
  RankedTensorType wide = *bias ? getComputeTensor(type) : type;
  FailureOr<Value> product = buildProduct(call, wide, *input, *weight);
  if (failed(product))
    return failure();
  if (!*bias)
    return set(*product);
  return set(AddOp::create(call.builder, call.getLoc(), type, *product, *bias));
}

/// `beta * operand 0 + alpha * operand 1 * operand 2`: addmm, baddbmm, addmv,
/// and addbmm, which adds up the products of a stack.
static LogicalResult convertAddProduct(TorchCall &call) {
  FailureOr<TorchValue> bias = call.floatOrSplat(0);
  if (failed(bias))
    return failure();
  FailureOr<Factor> lhs = getFactor(call, 1, /*isColumn=*/false);
  if (failed(lhs))
    return failure();
  FailureOr<Factor> rhs = getFactor(call, 2, /*isColumn=*/true);
  if (failed(rhs))
    return failure();
  FailureOr<double> beta = call.numberOr(3, 1.0);
  if (failed(beta))
    return failure();
  FailureOr<double> alpha = call.numberOr(4, 1.0);
  if (failed(alpha))
    return failure();
  FailureOr<RankedTensorType> result = call.floatResultType();
  if (failed(result))
    return failure();
  if (!isBroadcastableTo(bias->type, *result))
    return call.refuse("expected operand 0 to broadcast to the result");
  OpBuilder &builder = call.builder;
  Location loc = call.getLoc();
  FailureOr<TorchValue> left = call.value(1), right = call.value(2);

  bool isPlain = *beta == 1.0 && *alpha == 1.0 && !bias->isSplat();
  bool isLinear = isPlain && bias->type.getRank() == 1 && !lhs->isTransposed &&
                  rhs->isTransposed && rhs->batch.empty() &&
                  left->getRank() == 2 &&
                  bias->type.getShape() == result->getShape().take_back() &&
                  lhs->element == rhs->element;
  if (isLinear)
    return call.set(0, LinearOp::create(builder, loc, *result, lhs->value,
                                        rhs->value, bias->values.front()));

  // One rounding: the product stays in the type that it's accumulated in.
  RankedTensorType wide = getComputeTensor(*result);
  bool addsUp = call.getName() == "aten.addbmm";
  RankedTensorType type = wide;
  if (addsUp) {
    SmallVector<int64_t> shape(lhs->batch);
    llvm::append_range(shape, result->getShape());
    type = RankedTensorType::get(shape, wide.getElementType());
  }
  type = getProductType(type, left->getRank(), right->getRank());
  FailureOr<Value> product = buildProduct(call, type, *lhs, *rhs);
  if (failed(product))
    return failure();
  if (addsUp) {
    product = reduceDims(builder, loc, *product, 0, ReductionKind::Sum,
                         wide.getElementType());
    if (failed(product))
      return failure();
  }
  product = reshapeTo(builder, loc, *product, wide.getShape());
  if (isPlain)
    return call.set(0, AddOp::create(builder, loc, *result, *product,
                                     bias->values.front()));
  SmallVector<Value> operands = {*product};
  // With a factor of 0 PyTorch doesn't read what it multiplies.
  if (*beta != 0.0)
    operands.push_back(call.materialize(*bias));
  auto body = [&](ScalarMath &math, ArrayRef<Value> scalars) {
    Value sum = math.mul(math.constant(*alpha), scalars[0]);
    if (*beta == 0.0)
      return sum;
    return math.add(math.mul(math.constant(*beta), scalars[1]), sum);
  };
  return call.set(0, call.pointwise(*result, operands, body));
}

/// torch._grouped_mm: rows times one matrix a group; operand 2 says where the
/// groups end.
static LogicalResult convertGroupedProduct(TorchCall &call) {
  FailureOr<Factor> lhs = getFactor(call, 0, /*isColumn=*/false);
  if (failed(lhs))
    return failure();
  FailureOr<Factor> rhs = getFactor(call, 1, /*isColumn=*/false);
  if (failed(rhs))
    return failure();
  if (call.isNone(2))
    return call.refuse("expected the ends of the groups, but got None");
  FailureOr<Value> ends = call.tensor(2);
  if (failed(ends))
    return failure();
  FailureOr<RankedTensorType> result = call.floatResultType();
  if (failed(result))
    return failure();
  bool isWeightGradient = rhs->batch.empty();
  if (!call.isNone(3))
    return call.refuse("expected no bias");
  if (!lhs->batch.empty() || lhs->isTransposed != isWeightGradient ||
      (isWeightGradient && rhs->isTransposed))
    return call.refuse("expected rows in groups as left operand, transposed "
                       "where the right operand is rows, too");
  OpBuilder &builder = call.builder;
  Location loc = call.getLoc();
  RankedTensorType endType = tensorType(*ends);
  if (endType.getRank() != 1 || !endType.getElementType().isInteger())
    return call.refuse("expected a vector of integers as ends of the groups, "
                       "but got " +
                       print(endType));
  // sizes[i] = ends[i] - ends[i - 1]
  int64_t count = endType.getDimSize(0);
  Type word = builder.getI64Type();
  auto vector = [&](int64_t size) { return RankedTensorType::get(size, word); };
  Value wide = broadcastTo(builder, loc, *ends, vector(count));
  Value first = zeros(builder, loc, vector(1));
  Value starts = first;
  if (count > 1)
    starts = ConcatOp::create(
        builder, loc, vector(count),
        ValueRange{first, SliceOp::create(builder, loc, vector(count - 1), wide,
                                          0, 0)},
        0);
  auto body = [](OpBuilder &inner, Location place,
                 ValueRange scalars) -> SmallVector<Value> {
    return {arith::SubIOp::create(inner, place, scalars[0], scalars[1])};
  };
  Value sizes = PointwiseOp::build(builder, loc, vector(count),
                                   ValueRange{wide, starts}, body)
                    .getResult(0);
  return call.set(0, GroupedMatmulOp::create(
                         builder, loc, *result, lhs->value, rhs->value, sizes,
                         lhs->flag(builder), rhs->flag(builder)));
}

void mlir::fuseops::addContractionHandlers(TorchHandlers &handlers) {
  handlers.add("aten.linear", 2, 3, convertLinear);
  for (StringRef name : {"mm", "bmm", "mv", "dot", "vdot", "matmul", "_int_mm"})
    handlers.add(("aten." + name).str(), 2, 2, convertProduct);
  for (StringRef name : {"addmm", "baddbmm", "addmv", "addbmm"})
    handlers.add(("aten." + name).str(), 3, 5, convertAddProduct);
  handlers.add("aten._grouped_mm", 3, 5, convertGroupedProduct);
  addEinsumHandlers(handlers);
  addOuterProductHandlers(handlers);
}
