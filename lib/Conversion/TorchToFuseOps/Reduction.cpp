//===- Reduction.cpp - Sums and means -----------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchCall.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mlir::fuseops;

namespace {
enum class Dimensions { Last, AllButLast };
} // namespace

/// Which dimensions operand 1 lists; refuses what isn't a whole row or column.
static FailureOr<Dimensions> getDimensions(TorchCall &call, int64_t rank) {
  if (call.isNone(1))
    return call.refuse("expected a list of dimensions, but got None");
  FailureOr<SmallVector<int64_t>> listed = call.integers(1);
  if (failed(listed))
    return failure();
  SmallVector<int64_t> dims;
  for (int64_t dim : *listed)
    dims.push_back(dim < 0 ? dim + rank : dim);
  llvm::sort(dims);
  if (rank > 0 && dims.size() == 1 && dims.front() == rank - 1)
    return Dimensions::Last;
  if (rank > 1 && llvm::equal(dims, llvm::seq<int64_t>(0, rank - 1)))
    return Dimensions::AllButLast;
  return call.refuse("expected the last dimension, or all others");
}

static TorchHandler convertReduction(bool isMean) {
  return [=](TorchCall &call) -> LogicalResult {
    OpBuilder &builder = call.builder;
    Location loc = call.getLoc();
    FailureOr<Value> input = call.floatTensor(0);
    if (failed(input))
      return failure();
    auto type = cast<RankedTensorType>(input->getType());
    FailureOr<Dimensions> dims = getDimensions(call, type.getRank());
    if (failed(dims))
      return failure();
    FailureOr<bool> keepsDim = call.booleanOr(2, false);
    if (failed(keepsDim))
      return failure();
    FailureOr<RankedTensorType> result = call.floatResultType();
    if (failed(result))
      return failure();
    // A dtype operand converts the input first.
    Type element = result->getElementType();
    if (element != type.getElementType()) {
      type = type.clone(element);
      input = CastOp::create(builder, loc, type, *input).getResult();
    }

    if (*dims == Dimensions::AllButLast) {
      if (isMean)
        return call.refuse("expected the last dimension for a mean");
      auto row = RankedTensorType::get(type.getShape().take_back(), element);
      Value sum =
          ReduceRowsOp::create(builder, loc, row, *input, ReductionKind::Sum);
      if (*keepsDim && row != *result) {
        SmallVector<int64_t> shape(type.getRank(), 1);
        shape.back() = type.getShape().back();
        sum = ReshapeOp::create(builder, loc,
                                RankedTensorType::get(shape, element), sum);
      }
      return call.set(0, sum);
    }

    // The mean rounds once: the sum stays in the type it's accumulated in.
    RankedTensorType column = withColumns(type, 1, element);
    Value reduced = ReduceColumnsOp::create(
        builder, loc, isMean ? getComputeTensor(column) : column, *input,
        ReductionKind::Sum);
    if (isMean) {
      double count = static_cast<double>(getColumns(type));
      reduced = call.pointwise(
          column, reduced, [&](ScalarMath &math, ArrayRef<Value> scalars) {
            return math.div(scalars[0], math.constant(count));
          });
    }
    if (!*keepsDim) {
      auto shape = RankedTensorType::get(type.getShape().drop_back(), element);
      if (shape != *result)
        return call.set(0, reduced);
      reduced = ReshapeOp::create(builder, loc, shape, reduced);
    }
    return call.set(0, reduced);
  };
}

void mlir::fuseops::addReductionHandlers(TorchHandlers &handlers) {
  handlers.add("aten.sum.dim_IntList", 2, 4,
               convertReduction(/*isMean=*/false));
  handlers.add("aten.mean.dim", 2, 4, convertReduction(/*isMean=*/true));
}
