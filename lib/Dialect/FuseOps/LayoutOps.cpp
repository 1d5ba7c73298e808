//===- LayoutOps.cpp - Verifiers, folds and gradients of layout operations ===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core.h"
#include "FuseOps/Dialect/FuseOps/Gradients.h"
#include "FuseOps/Dialect/FuseOps/Layout.h"

using namespace mlir;
using namespace mlir::fuseops;

using Gradients = FailureOr<SmallVector<Value>>;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// `type` with extent `extent` along `dim`.
static RankedTensorType withExtent(RankedTensorType type, int64_t dim,
                                   int64_t extent) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = extent;
  return getTensorLike(type, shape, type.getElementType());
}

/// Checks that an operation's `dim` is a dimension of `type`.
static LogicalResult verifyDim(Operation *op, int64_t dim,
                               RankedTensorType type) {
  if (dim >= 0 && dim < type.getRank())
    return success();
  return op->emitOpError() << "expected `dim` to be a dimension of " << type
                           << ", but got " << dim;
}

//===----------------------------------------------------------------------===//
// ReshapeOp
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  RankedTensorType input = tensorType(getInput());
  RankedTensorType result = tensorType(getResult());
  if (input.getElementType() != result.getElementType())
    return emitOpError() << "expected one element type, but got " << input
                         << " and " << result;
  if (getNumElements(input) != getNumElements(result))
    return emitOpError() << "expected the same number of elements, but got "
                         << input << " and " << result;
  return success();
}

bool ReshapeOp::commutesWithQuantize(ScaleKind scale) {
  bool keepsRows =
      getColumns(tensorType(getInput())) == getColumns(tensorType(getResult()));
  return scale == ScaleKind::PerTensor ||
         (keepsRows && scale != ScaleKind::Block128x128);
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  // Pattern: reshape(x) -> x if the type stays
  if (getInput().getType() == getType())
    return getInput();
  // Pattern: reshape(reshape(x)) -> reshape(x)
  if (auto inner = getInput().getDefiningOp<ReshapeOp>()) {
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return {};
}

Gradients ReshapeOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                    ArrayRef<bool> needed) {
  if (!needed[0] || !gradients[0])
    return SmallVector<Value>{Value()};
  return SmallVector<Value>{reshapeTo(builder, getLoc(), gradients[0],
                                      tensorType(getInput()).getShape())};
}

//===----------------------------------------------------------------------===//
// SliceOp
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::verify() {
  RankedTensorType input = tensorType(getInput());
  RankedTensorType result = tensorType(getResult());
  int64_t dim = getDim(), offset = getOffset(), step = getStep();
  if (failed(verifyDim(*this, dim, input)))
    return failure();
  if (step == 0)
    return emitOpError() << "expected `step` not to be 0";
  if (result.getRank() != input.getRank() ||
      result != withExtent(input, dim, result.getDimSize(dim)))
    return emitOpError()
           << "expected `result` to differ from `input`, which is " << input
           << ", in dimension " << dim << " only, but got " << result;
  if (input.isDynamicDim(dim) || result.isDynamicDim(dim))
    return emitOpError() << "expected to slice a dimension of known size, but "
                            "dimension "
                         << dim << " is symbolic in " << input << " or "
                         << result;
  int64_t count = result.getDimSize(dim), extent = input.getDimSize(dim);
  int64_t last = offset + (count - 1) * step;
  auto isOutside = [&](int64_t index) { return index < 0 || index >= extent; };
  if (count == 0 ? offset < 0 || offset > extent
                 : isOutside(offset) || isOutside(last))
    return emitOpError() << "expected indices " << offset << " to " << last
                         << " to lie within dimension " << dim
                         << " of `input`, which is " << input;
  return success();
}

SmallVector<Value> SliceOp::decompose(OpBuilder &builder, ValueRange operands) {
  return fuseops::detail::cloneWith(*this, builder, operands);
}

/// `gradient` with zeros before and behind it along `dim`, as wide as `type`.
static Value padWithZeros(OpBuilder &builder, Location loc, Value gradient,
                          int64_t dim, int64_t before, RankedTensorType type) {
  RankedTensorType inner = tensorType(gradient);
  int64_t behind = type.getDimSize(dim) - inner.getDimSize(dim) - before;
  SmallVector<Value> parts;
  auto addZeros = [&](int64_t extent) {
    if (extent)
      parts.push_back(zeros(builder, loc, withExtent(inner, dim, extent)));
  };
  addZeros(before);
  parts.push_back(gradient);
  addZeros(behind);
  if (parts.size() == 1)
    return gradient;
  return ConcatOp::create(builder, loc, type, parts, dim);
}

Gradients SliceOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                  ArrayRef<bool> needed) {
  if (!needed[0] || !gradients[0])
    return SmallVector<Value>{Value()};
  Location loc = getLoc();
  RankedTensorType type = tensorType(getInput());
  Value gradient = gradients[0];
  int64_t dim = getDim(), offset = getOffset(), step = getStep();
  int64_t count = getType().getDimSize(dim);
  if (count == 0)
    return SmallVector<Value>{zeros(builder, loc, type)};
  if (step < 0) {
    gradient = SliceOp::create(builder, loc, gradient.getType(), gradient, dim,
                               count - 1, -1);
    offset += (count - 1) * step;
    step = -step;
  }
  if (step > 1 && count > 1) {
    // Zeros between neighbours: each element gets a dimension of its own. Where
    // it fits, at its place in there, so that slices of one step join.
    int64_t place = offset % step;
    if (offset - place + count * step > type.getDimSize(dim))
      place = 0;
    offset -= place;
    RankedTensorType inner = tensorType(gradient);
    SmallVector<int64_t> shape(inner.getShape());
    shape.insert(shape.begin() + dim + 1, 1);
    gradient = reshapeTo(builder, loc, gradient, shape);
    shape[dim + 1] = step;
    RankedTensorType spread =
        getTensorLike(inner, shape, inner.getElementType());
    gradient = padWithZeros(builder, loc, gradient, dim + 1, place, spread);
    shape.erase(shape.begin() + dim + 1);
    shape[dim] = count * step;
    gradient = reshapeTo(builder, loc, gradient, shape);
    // The zeros behind the last one may not all fit.
    int64_t kept = std::min(count * step, type.getDimSize(dim) - offset);
    RankedTensorType fitting = withExtent(type, dim, kept);
    if (gradient.getType() != fitting)
      gradient = SliceOp::create(builder, loc, fitting, gradient, dim, 0);
  }
  return SmallVector<Value>{
      padWithZeros(builder, loc, gradient, dim, offset, type)};
}

//===----------------------------------------------------------------------===//
// ConcatOp
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::verify() {
  RankedTensorType result = tensorType(getResult());
  int64_t dim = getDim();
  if (getInputs().empty())
    return emitOpError() << "expected at least one input";
  if (failed(verifyDim(*this, dim, result)))
    return failure();
  int64_t extent = 0;
  for (Value input : getInputs()) {
    RankedTensorType type = tensorType(input);
    if (type.getRank() != result.getRank() ||
        type != withExtent(result, dim, type.getDimSize(dim)))
      return emitOpError() << "expected inputs that differ from " << result
                           << " in dimension " << dim << " only, but got "
                           << type;
    if (type.isDynamicDim(dim))
      return emitOpError() << "expected to join along a dimension of known "
                              "size, but dimension "
                           << dim << " of " << type << " is symbolic";
    extent += type.getDimSize(dim);
  }
  if (extent != result.getDimSize(dim))
    return emitOpError() << "expected `result` to have extent " << extent
                         << " in dimension " << dim << ", but got " << result;
  return success();
}

bool ConcatOp::isScattered() {
  if (static_cast<int64_t>(getDim()) == tensorType(getResult()).getRank() - 1)
    return true;
  return llvm::all_equal(getInputs().getTypes());
}

RankedTensorType ConcatOp::getIterationSpace() {
  if (!isScattered())
    return tensorType(getResult());
  // The widest input.
  RankedTensorType widest = tensorType(getInputs().front());
  for (Value input : getInputs())
    if (getColumns(tensorType(input)) > getColumns(widest))
      widest = tensorType(input);
  return widest;
}

SmallVector<Value> ConcatOp::decompose(OpBuilder &builder,
                                       ValueRange operands) {
  return fuseops::detail::cloneWith(*this, builder, operands);
}

Gradients ConcatOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                   ArrayRef<bool> needed) {
  SmallVector<Value> results(getNumOperands());
  int64_t offset = 0;
  for (auto [index, input] : llvm::enumerate(getInputs())) {
    if (needed[index] && gradients[0])
      results[index] = SliceOp::create(builder, getLoc(), input.getType(),
                                       gradients[0], getDim(), offset);
    offset += tensorType(input).getDimSize(getDim());
  }
  return results;
}

//===----------------------------------------------------------------------===//
// PermuteOp
//===----------------------------------------------------------------------===//

LogicalResult PermuteOp::verify() {
  RankedTensorType input = tensorType(getInput());
  RankedTensorType result = tensorType(getResult());
  SmallVector<bool> seen(input.getRank());
  SmallVector<int64_t> shape;
  for (int64_t dim : getOrder()) {
    if (dim < 0 || dim >= input.getRank() || seen[dim])
      return emitOpError() << "expected `order` to name each dimension of "
                           << input << " once, but got [" << getOrder() << "]";
    seen[dim] = true;
    shape.push_back(input.getDimSize(dim));
  }
  RankedTensorType expected =
      getTensorLike(input, shape, input.getElementType());
  if (static_cast<int64_t>(shape.size()) != input.getRank())
    return emitOpError() << "expected `order` to name each dimension of "
                         << input << " once, but got [" << getOrder() << "]";
  if (result != expected)
    return emitOpError() << "expected `result` to be " << expected
                         << ", but got " << result;
  return success();
}

OpFoldResult PermuteOp::fold(FoldAdaptor) {
  // Pattern: permute(x) -> x if the order is that of x
  if (llvm::equal(getOrder(), llvm::seq<int64_t>(0, getOrder().size())))
    return getInput();
  return {};
}

SmallVector<Value> PermuteOp::decompose(OpBuilder &builder,
                                        ValueRange operands) {
  return fuseops::detail::cloneWith(*this, builder, operands);
}

Gradients PermuteOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                    ArrayRef<bool> needed) {
  if (!needed[0] || !gradients[0])
    return SmallVector<Value>{Value()};
  SmallVector<int64_t> inverse(getOrder().size());
  for (auto [index, dim] : llvm::enumerate(getOrder()))
    inverse[dim] = index;
  return SmallVector<Value>{permute(builder, getLoc(), gradients[0], inverse)};
}

//===----------------------------------------------------------------------===//
// ExpandOp
//===----------------------------------------------------------------------===//

LogicalResult ExpandOp::verify() {
  RankedTensorType input = tensorType(getInput());
  RankedTensorType result = tensorType(getResult());
  if (input.getElementType() != result.getElementType() ||
      !isBroadcastableTo(input, result))
    return emitOpError() << "expected `input` to broadcast to " << result
                         << ", but got " << input;
  return success();
}

OpFoldResult ExpandOp::fold(FoldAdaptor) {
  // Pattern: expand(x) -> x if the type stays
  return getInput().getType() == getType() ? getInput() : OpFoldResult();
}

SmallVector<Value> ExpandOp::decompose(OpBuilder &builder,
                                       ValueRange operands) {
  auto copy = [](OpBuilder &, Location, ValueRange scalars) {
    return SmallVector<Value>{scalars[0]};
  };
  return {PointwiseOp::build(builder, getLoc(), getType(), operands[0], copy)
              .getResult(0)};
}

Gradients ExpandOp::buildGradients(OpBuilder &builder, ValueRange gradients,
                                   ArrayRef<bool> needed) {
  if (!needed[0] || !gradients[0])
    return SmallVector<Value>{Value()};
  FailureOr<Value> gradient =
      reduceToShape(builder, getLoc(), gradients[0], tensorType(getInput()));
  if (failed(gradient))
    return failure();
  return SmallVector<Value>{*gradient};
}
