//===- QuantizedLayout.cpp - Quantizing what is joined and what is split -===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Analysis/OperationShape.h"
#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "FuseOps/Transforms/FusibleEdits.h"
#include "QuantizedMoves.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::fuseops;

/// Rows and columns that one scale covers; 0 for all of them.
static std::pair<int64_t, int64_t> getCovered(ScaleKind scale) {
  switch (scale) {
  case ScaleKind::PerTensor:
    return {0, 0};
  case ScaleKind::PerRow:
    return {1, 0};
  case ScaleKind::Block1x128:
    return {1, 128};
  case ScaleKind::Block128x128:
    return {128, 128};
  case ScaleKind::MX1x32:
    return {1, 32};
  }
  llvm_unreachable("unknown kind of scale");
}

/// Whether no scale of `type` covers both sides of a boundary in front of
/// `position` along `dim` of the matrix.
static bool isBoundary(QuantizedType type, int64_t dim, int64_t position) {
  if (type.getScale() == ScaleKind::PerTensor)
    return true;
  std::pair<int64_t, int64_t> block = getCovered(type.getScale());
  auto divides = [&](int64_t ownDim) {
    int64_t covered = ownDim == 0 ? block.first : block.second;
    // The columns of 128x128 scales are padded to a multiple of 4.
    if (type.getScale() == ScaleKind::Block128x128 && ownDim == 1)
      covered *= 4;
    return covered != 0 && position % covered == 0;
  };
  return (!type.hasRowCopy() || divides(dim)) &&
         (!type.hasColCopy() || divides(1 - dim));
}

namespace {
/// Where a dimension of the matrix is in one part of a quantized tensor.
struct PartDim {
  /// Dimension of the part; -1 for a scale of the whole tensor.
  int64_t dim;
  /// Elements of the matrix to one of the part.
  int64_t covered;
};
} // namespace

static PartDim getPartDim(QuantizedType type, unsigned part, int64_t dim) {
  bool isColCopy = part >= 2 || !type.hasRowCopy();
  int64_t ownDim = isColCopy ? 1 - dim : dim;
  if (part % 2 == 0)
    return {ownDim, 1};
  auto [rows, columns] = getCovered(type.getScale());
  if (type.getScale() == ScaleKind::PerTensor)
    return {-1, 1};
  // Scales of 1x128 lie transposed.
  bool isTransposed = type.getScale() == ScaleKind::Block1x128;
  return {isTransposed ? 1 - ownDim : ownDim, ownDim == 0 ? rows : columns};
}

/// Whether kernels see the part transposed: they go row by row, and its columns
/// are `?`.
static bool isSeenTransposed(RankedTensorType part) {
  return part.getRank() == 2 && part.isDynamicDim(1);
}

/// Joins what stands for one part of each input along the part's `dim`; what
/// `isTransposed` as rows of the transpose.
static Value joinParts(OpBuilder &builder, Location loc, RankedTensorType type,
                       ArrayRef<Value> parts, int64_t dim, bool isTransposed) {
  if (!isTransposed)
    return ConcatOp::create(builder, loc, type, parts, dim);
  SmallVector<Value> seen = llvm::map_to_vector(
      parts, [&](Value part) { return permute(builder, loc, part, {1, 0}); });
  auto seenType =
      RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)},
                            type.getElementType(), type.getEncoding());
  Value joined = ConcatOp::create(builder, loc, seenType, seen, 1 - dim);
  return permute(builder, loc, joined, {1, 0});
}

/// The slice of type `type` of a part.
static Value slicePart(OpBuilder &builder, Location loc, RankedTensorType type,
                       Value part, int64_t dim, int64_t offset) {
  if (!isSeenTransposed(type))
    return SliceOp::create(builder, loc, type, part, dim, offset);
  auto seenType =
      RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)},
                            type.getElementType(), type.getEncoding());
  Value seen = permute(builder, loc, part, {1, 0});
  Value slice = SliceOp::create(builder, loc, seenType, seen, 1 - dim, offset);
  return permute(builder, loc, slice, {1, 0});
}

/// A layout operation on matrices of rows behind a reshape that keeps columns:
/// its dimension in the matrix; none where it has no place there.
static std::optional<int64_t> getMatrixDim(Value input, Value moved,
                                           int64_t dim) {
  auto matrix = cast<RankedTensorType>(input.getType());
  auto type = cast<RankedTensorType>(moved.getType());
  if (getColumns(matrix) != getColumns(type) || type.getRank() < 2)
    return std::nullopt;
  if (dim == type.getRank() - 1)
    return 1;
  // Rows that are moved together are the outermost ones.
  if (dim == 0 && type.hasStaticShape())
    return 0;
  return std::nullopt;
}

/// The extent along the matrix's dimension `dim` of a tensor that is the matrix
/// of its rows.
static int64_t getMatrixExtent(Value value, int64_t dim) {
  auto type = cast<RankedTensorType>(value.getType());
  return dim == 1 ? getColumns(type) : getNumElements(type, 1).constant;
}

/// `type` with another extent along `dim`.
static QuantizedType withExtent(QuantizedType type, int64_t dim,
                                int64_t extent) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = extent;
  return QuantizedType::get(type.getContext(), shape, type.getElementType(),
                            type.getScale(), type.getCopies());
}

/// Whether a kernel of this region computes `value`, which is not only moved.
static bool isComputed(Value value) {
  Operation *op = skipReshapes(value).getDefiningOp();
  return isa_and_present<FusibleOpInterface>(op) &&
         !isa<ConcatOp, SliceOp, PermuteOp>(op);
}

/// A quantize of `value`, as a matrix of type `type`, by the rules of `op`.
static Value quantizeLike(QuantizeOp op, Value value, QuantizedType type,
                          RewriterBase &rewriter) {
  value = reshapeTo(rewriter, op.getLoc(), value, type.getShape());
  return QuantizeOp::create(rewriter, op.getLoc(), type, value, op.getScale(),
                            op.getPowerOfTwo(), op.getEpsilon());
}

/// The dimension of the matrix along which `concat` joins whole blocks.
static std::optional<int64_t> getJoinedDim(QuantizeOp op, ConcatOp concat) {
  std::optional<int64_t> dim =
      getMatrixDim(op.getInput(), concat.getResult(), concat.getDim());
  int64_t position = 0;
  for (Value input : concat.getInputs().drop_back()) {
    if (!dim)
      return std::nullopt;
    position += getMatrixExtent(input, *dim);
    if (!isBoundary(op.getResult().getType(), *dim, position))
      return std::nullopt;
  }
  return dim;
}

/// Whether the matrices that `concat` joins are of one type.
static bool joinsEqual(ConcatOp concat) {
  return llvm::all_equal(concat.getInputs().getTypes());
}

/// Whether `op`, which quantizes what `concat` joins, can quantize each input.
/// Tiles, which write transposed copies, have one number of columns; a scale of
/// a column is known when the whole value is.
static bool canJoin(QuantizeOp op, ConcatOp concat) {
  QuantizedType type = op.getResult().getType();
  bool hasCol = type.hasColCopy();
  return !hasOwnScale(op) && getJoinedDim(op, concat) &&
         (!hasCol ||
          (joinsEqual(concat) && type.getScale() != ScaleKind::PerRow));
}

/// Whether `op` reduces what `concat` joins, and can reduce the inputs.
static bool canReduceParts(Operation *op, ConcatOp concat) {
  auto type = cast<RankedTensorType>(concat.getType());
  bool joinsColumns =
      static_cast<int64_t>(concat.getDim()) == type.getRank() - 1;
  if (isa<AmaxOp>(op))
    return joinsEqual(concat);
  return isa<ReduceRowsOp>(op) && joinsColumns &&
         getColumns(cast<RankedTensorType>(op->getOperand(0).getType())) ==
             getColumns(type);
}

/// Whether no kernel has to read what is joined: all that quantize or reduce
/// `value`, which `concat` joins, can have its inputs instead. Otherwise one
/// that reads all of it does as much in one pass.
static bool isOnlyRead(Value value, ConcatOp concat) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (isa<ReshapeOp>(user))
      return isOnlyRead(user->getResult(0), concat);
    if (auto quantize = dyn_cast<QuantizeOp>(user))
      return canJoin(quantize, concat);
    return !isa<FusibleOpInterface>(user) || isOpTriviallyDead(user) ||
           canReduceParts(user, concat);
  });
}

bool mlir::fuseops::moveThroughConcat(QuantizeOp op, RewriterBase &rewriter) {
  auto concat = skipReshapes(op.getInput()).getDefiningOp<ConcatOp>();
  if (!concat || !llvm::all_of(concat.getInputs(), isComputed) ||
      !isOnlyRead(concat.getResult(), concat))
    return false;
  std::optional<int64_t> dim = getJoinedDim(op, concat);
  QuantizedType type = op.getResult().getType();
  rewriter.setInsertionPoint(op);
  SmallVector<SmallVector<Value>> parts(type.getParts().size());
  for (Value input : concat.getInputs()) {
    QuantizedType own = withExtent(type, *dim, getMatrixExtent(input, *dim));
    auto unpack =
        UnpackQuantizedOp::create(rewriter, op.getLoc(), getPartTypes(own),
                                  quantizeLike(op, input, own, rewriter));
    for (auto [part, value] : llvm::zip_equal(parts, unpack.getParts()))
      part.push_back(value);
  }
  SmallVector<Value> joined;
  for (auto [index, partType] : llvm::enumerate(type.getParts())) {
    PartDim place = getPartDim(type, index, *dim);
    if (place.dim < 0) {
      joined.push_back(parts[index].front());
      continue;
    }
    // Of joined columns a kernel writes the transposed data by rows.
    bool isData = index % 2 == 0 && place.dim != *dim;
    joined.push_back(
        joinParts(rewriter, op.getLoc(), partType, parts[index], place.dim,
                  isSeenTransposed(partType) || (isData && *dim == 1)));
  }
  rewriter.replaceOpWithNewOp<PackQuantizedOp>(op, type, joined);
  return true;
}

/// Whether anything quantizes `value` as a whole.
static bool isQuantized(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<QuantizeOp>(user) ||
           (isa<ReshapeOp>(user) && isQuantized(user->getResult(0)));
  });
}

/// The largest magnitudes of neighbours in equal tensors.
static Value buildMagnitudes(OpBuilder &builder, Location loc,
                             ValueRange tensors) {
  return PointwiseOp::build(
             builder, loc, tensors.front().getType(), tensors,
             [](OpBuilder &b, Location l, ValueRange scalars) {
               Value largest;
               for (Value scalar : scalars) {
                 Value magnitude = math::AbsFOp::create(b, l, scalar);
                 largest = largest ? arith::MaximumFOp::create(b, l, largest,
                                                               magnitude)
                                   : magnitude;
               }
               return SmallVector<Value>{largest};
             })
      .getResult(0);
}

bool mlir::fuseops::reduceBeforeConcat(Operation *op, RewriterBase &rewriter) {
  auto concat = skipReshapes(op->getOperand(0)).getDefiningOp<ConcatOp>();
  if (!concat || !canReduceParts(op, concat) ||
      !llvm::all_of(concat.getInputs(), isComputed) || isQuantized(concat))
    return false;
  rewriter.setInsertionPoint(op);
  if (isa<AmaxOp>(op)) {
    // A maximum that takes in NaN is NaN, as amax is.
    Value magnitudes =
        buildMagnitudes(rewriter, op->getLoc(), concat.getInputs());
    rewriter.modifyOpInPlace(op, [&] { op->setOperand(0, magnitudes); });
    return true;
  }
  auto reduction = cast<ReduceRowsOp>(op);
  SmallVector<Value> reduced =
      llvm::map_to_vector(concat.getInputs(), [&](Value input) -> Value {
        auto type = cast<RankedTensorType>(input.getType());
        return ReduceRowsOp::create(
            rewriter, op->getLoc(),
            RankedTensorType::get({getColumns(type)},
                                  reduction.getType().getElementType()),
            input, reduction.getKind());
      });
  rewriter.replaceOpWithNewOp<ConcatOp>(op, reduction.getType(), reduced,
                                        /*dim=*/0);
  return true;
}

/// Whether `a` and `b` quantize by the same rules.
static bool haveSameRules(QuantizeOp a, QuantizeOp b) {
  QuantizedType type = a.getResult().getType(), other = b.getResult().getType();
  return a.getScale() == b.getScale() &&
         a.getPowerOfTwo() == b.getPowerOfTwo() &&
         a.getEpsilon() == b.getEpsilon() &&
         type.getElementType() == other.getElementType() &&
         type.getScale() == other.getScale();
}

namespace {
/// A slice of a matrix that is quantized.
struct QuantizedSlice {
  SliceOp slice;
  int64_t dim, offset, size;

  /// Nothing where `op` does not quantize a slice of whole blocks.
  static std::optional<QuantizedSlice> get(QuantizeOp op);
};
} // namespace

std::optional<QuantizedSlice> QuantizedSlice::get(QuantizeOp op) {
  auto slice = skipReshapes(op.getInput()).getDefiningOp<SliceOp>();
  if (!slice || slice.getStep() != 1)
    return std::nullopt;
  std::optional<int64_t> dim =
      getMatrixDim(op.getInput(), slice.getResult(), slice.getDim());
  if (!dim)
    return std::nullopt;
  int64_t size = getMatrixExtent(slice.getResult(), *dim);
  int64_t whole = getMatrixExtent(slice.getInput(), *dim);
  // A slice of the outermost dimension is one of as many rows as that has.
  auto type = cast<RankedTensorType>(slice.getType());
  int64_t offset = slice.getOffset();
  if (*dim == 0 && type.getDimSize(0) != 0)
    offset *= size / type.getDimSize(0);
  QuantizedType quantized = op.getResult().getType();
  if (!isBoundary(quantized, *dim, offset) ||
      (offset + size != whole && !isBoundary(quantized, *dim, offset + size)))
    return std::nullopt;
  return QuantizedSlice{slice, *dim, offset, size};
}

/// Whether all that reads `value` are slices that are quantized as `op` is.
static bool isSplit(Value value, QuantizeOp op) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (!isa<SliceOp>(user))
      return false;
    SmallVector<Operation *> readers(user->getUsers());
    while (!readers.empty()) {
      Operation *reader = readers.pop_back_val();
      if (isa<ReshapeOp>(reader)) {
        llvm::append_range(readers, reader->getUsers());
        continue;
      }
      auto quantize = dyn_cast<QuantizeOp>(reader);
      if (!quantize || !haveSameRules(quantize, op) ||
          !QuantizedSlice::get(quantize))
        return false;
    }
    return true;
  });
}

/// Whether kernels can slice the parts: the transposed copy of `?` rows would
/// be permuted, sliced and permuted back in one, which they cannot.
static bool canSliceParts(QuantizedType type) {
  return !type.hasColCopy() || !ShapedType::isDynamicShape(type.getShape());
}

bool mlir::fuseops::moveThroughSlice(QuantizeOp op, RewriterBase &rewriter) {
  std::optional<QuantizedSlice> slice = QuantizedSlice::get(op);
  if (!slice || hasOwnScale(op) || !canSliceParts(op.getResult().getType()))
    return false;
  Value source = slice->slice.getInput();
  QuantizedType type = op.getResult().getType();
  QuantizedType whole =
      withExtent(type, slice->dim, getMatrixExtent(source, slice->dim));
  bool isQuantized =
      llvm::any_of(op->getBlock()->getOps<QuantizeOp>(), [&](QuantizeOp other) {
        return skipReshapes(other.getInput()) == skipReshapes(source) &&
               haveSameRules(other, op) &&
               other.getResult().getType().getShape() == whole.getShape();
      });
  if (!isQuantized && !(isComputed(source) && isSplit(source, op)))
    return false;
  // Behind what it slices, for the others of the same matrix to be one with it.
  rewriter.setInsertionPointAfterValue(source);
  if (Value scale = op.getScale())
    if (Operation *producer = scale.getDefiningOp();
        producer && source.getDefiningOp() &&
        source.getDefiningOp()->isBeforeInBlock(producer))
      rewriter.setInsertionPointAfter(producer);
  Value quantized = quantizeLike(op, source, whole, rewriter);
  rewriter.setInsertionPoint(op);
  auto unpack = UnpackQuantizedOp::create(rewriter, op.getLoc(),
                                          getPartTypes(whole), quantized);
  SmallVector<Value> parts;
  for (auto [index, partType] : llvm::enumerate(type.getParts())) {
    PartDim place = getPartDim(type, index, slice->dim);
    Value part = unpack.getResult(index);
    parts.push_back(place.dim < 0
                        ? part
                        : slicePart(rewriter, op.getLoc(), partType, part,
                                    place.dim, slice->offset / place.covered));
  }
  rewriter.replaceOpWithNewOp<PackQuantizedOp>(op, type, parts);
  return true;
}

bool mlir::fuseops::crossesBoundary(QuantizeOp op) {
  Value tensor = skipReshapes(op.getInput());
  if (auto concat = tensor.getDefiningOp<ConcatOp>())
    return !getJoinedDim(op, concat);
  return tensor.getDefiningOp<SliceOp>() && !QuantizedSlice::get(op);
}
