//===- Gather.cpp - Elements at places that the program knows ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Slice.h"

using namespace mlir;
using namespace mlir::fuseops;

namespace {
/// A constant tensor of integers.
struct Places {
  SmallVector<int64_t> shape;
  SmallVector<int64_t> values;
};
} // namespace

/// More pieces than this are a table to look things up in, not a layout.
static constexpr size_t kMaxPieces = 64;

static FailureOr<Places> getPlaces(TorchCall &call, const TorchValue &index) {
  Places places;
  if (!index.type || !index.type.getElementType().isInteger(64))
    return call.refuse("expected indices of i64");
  if (index.isSplat() && index.type.hasStaticShape()) {
    llvm::append_range(places.shape, index.type.getShape());
    places.values.assign(index.type.getNumElements(), index.constant.integer);
    return places;
  }
  Value source = index.isSplat() ? Value() : index.values.front();
  while (source && source.getDefiningOp<ReshapeOp>())
    source = source.getDefiningOp<ReshapeOp>().getInput();
  auto constant = source ? source.getDefiningOp<ConstantOp>() : ConstantOp();
  if (!constant)
    return call.refuse("expected indices that are constants of the program");
  llvm::append_range(places.shape, index.type.getShape());
  std::vector<uint8_t> bytes = constant.getBytes();
  places.values.resize(bytes.size() / sizeof(int64_t));
  std::memcpy(places.values.data(), bytes.data(), bytes.size());
  return places;
}

/// The slices that give the places in order: each as long as can be.
static SmallVector<Range> getRuns(ArrayRef<int64_t> places) {
  SmallVector<Range> runs;
  for (size_t first = 0; first < places.size();) {
    Range run{places[first], 1, 1};
    size_t next = first + 1;
    if (next < places.size() && places[next] != places[first])
      run.step = places[next] - places[first];
    for (; next < places.size() && places[next] - places[next - 1] == run.step;
         ++next)
      ++run.count;
    if (run.count == 1)
      run.step = 1;
    runs.push_back(run);
    first += run.count;
  }
  return runs;
}

/// The elements of dimension `dim` at `places`.
static FailureOr<Value> buildGather(TorchCall &call, Value value, int64_t dim,
                                    ArrayRef<int64_t> places) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t extent = type.getDimSize(dim);
  SmallVector<int64_t> checked;
  for (int64_t place : places) {
    if (place < -extent || place >= extent)
      return call.refuse("expected indices within " + Twine(extent) +
                         ", but got " + Twine(place));
    checked.push_back(place < 0 ? place + extent : place);
  }
  SmallVector<Range> runs = getRuns(checked);
  if (runs.size() > kMaxPieces)
    return call.refuse("expected indices in at most " + Twine(kMaxPieces) +
                       " evenly spaced runs, but got " + Twine(runs.size()));
  Sliced sliced{value, type, 1, dim, false, extent};
  SmallVector<Value> parts;
  for (Range run : runs)
    parts.push_back(buildSlice(call, sliced, run));
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = places.size();
  auto result = RankedTensorType::get(shape, type.getElementType());
  if (parts.empty())
    return zeros(call.builder, call.getLoc(), result);
  if (parts.size() == 1)
    return parts.front();
  return Value(
      ConcatOp::create(call.builder, call.getLoc(), result, parts, dim));
}

/// torch.index_select with constant indices.
static LogicalResult convertIndexSelect(TorchCall &call) {
  FailureOr<Sliced> sliced = getSliced(call, 1);
  if (failed(sliced))
    return failure();
  FailureOr<TorchValue> index = call.value(2);
  if (failed(index))
    return failure();
  FailureOr<Places> places = getPlaces(call, *index);
  if (failed(places))
    return failure();
  if (sliced->isSymbolic)
    return refuseSymbolic(call);
  FailureOr<Value> gathered =
      buildGather(call, sliced->value, sliced->dim, places->values);
  return failed(gathered) ? failure() : call.set(0, *gathered);
}

/// The place in `shape`'s row-major order, for element `number` of a tensor of
/// shape `outer` that `shape` broadcasts to.
static int64_t getBroadcastPlace(ArrayRef<int64_t> shape,
                                 ArrayRef<int64_t> outer, int64_t number) {
  int64_t place = 0, stride = 1;
  for (size_t i = 0; i < outer.size(); ++i) {
    int64_t size = outer[outer.size() - 1 - i];
    int64_t position = number % size;
    number /= size;
    if (i >= shape.size())
      continue;
    int64_t own = shape[shape.size() - 1 - i];
    place += (own == 1 ? 0 : position) * stride;
    stride *= own;
  }
  return place;
}

/// Indexing of the first dimensions by constant tensors, one each.
static LogicalResult convertIndex(TorchCall &call) {
  FailureOr<TorchValue> input = call.value(0);
  if (failed(input))
    return failure();
  FailureOr<Value> tensor = call.tensor(0);
  if (failed(tensor))
    return failure();
  FailureOr<SmallVector<TorchValue>> indices = call.tensorList(1);
  if (failed(indices))
    return failure();
  FailureOr<RankedTensorType> result = call.resultType();
  if (failed(result))
    return failure();
  int64_t count = indices->size();
  if (count == 0 || count > input->type.getRank() || input->multiple > 1)
    return call.refuse("expected an index for each of the first dimensions");
  SmallVector<Places> all;
  for (const TorchValue &index : *indices) {
    FailureOr<Places> places = getPlaces(call, index);
    if (failed(places))
      return failure();
    all.push_back(*places);
  }
  ArrayRef<int64_t> shape = input->type.getShape();
  if (llvm::any_of(shape.take_front(count), ShapedType::isDynamic))
    return refuseSymbolic(call);
  ArrayRef<int64_t> outer = result->getShape().drop_back(shape.size() - count);
  int64_t numPlaces = 1, numRows = 1;
  for (int64_t size : outer)
    numPlaces *= size;
  for (int64_t size : shape.take_front(count))
    numRows *= size;
  SmallVector<int64_t> rows(numPlaces);
  for (int64_t number = 0; number < numPlaces; ++number)
    for (int64_t dim = 0; dim < count; ++dim) {
      const Places &places = all[dim];
      int64_t place =
          places.values[getBroadcastPlace(places.shape, outer, number)];
      if (place < -shape[dim] || place >= shape[dim])
        return call.refuse("expected indices within " + Twine(shape[dim]) +
                           ", but got " + Twine(place));
      rows[number] =
          rows[number] * shape[dim] + (place < 0 ? place + shape[dim] : place);
    }
  SmallVector<int64_t> flat = {numRows};
  llvm::append_range(flat, shape.drop_front(count));
  FailureOr<Value> gathered = buildGather(
      call, reshapeTo(call.builder, call.getLoc(), *tensor, flat), 0, rows);
  if (failed(gathered))
    return failure();
  return call.set(
      0, reshapeTo(call.builder, call.getLoc(), *gathered, result->getShape()));
}

//===----------------------------------------------------------------------===//
// Diagonals and rotations
//===----------------------------------------------------------------------===//

/// The diagonal of two dimensions, as the last one: equally spaced elements of
/// the matrix's row-major order.
static FailureOr<Value> buildDiagonal(TorchCall &call, Value value,
                                      int64_t offset, int64_t first,
                                      int64_t second) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t rows = type.getDimSize(first), columns = type.getDimSize(second);
  if (first == second || ShapedType::isDynamic(rows) ||
      ShapedType::isDynamic(columns))
    return call.refuse("expected two dimensions of known size");
  SmallVector<int64_t> order, shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (dim != first && dim != second) {
      order.push_back(dim);
      shape.push_back(type.getDimSize(dim));
    }
  order.append({first, second});
  shape.push_back(rows * columns);
  Value flat = reshapeTo(call.builder, call.getLoc(),
                         buildPermute(call, value, order), shape);
  int64_t row = std::max<int64_t>(-offset, 0);
  int64_t column = std::max<int64_t>(offset, 0);
  Range range{row * columns + column, 0, columns + 1};
  range.count = std::max<int64_t>(std::min(rows - row, columns - column), 0);
  if (range.count <= 1)
    range.step = 1;
  if (range.count == 0)
    range.offset = 0;
  auto flatType = cast<RankedTensorType>(flat.getType());
  Sliced sliced{flat,  flatType,      1, flatType.getRank() - 1,
                false, rows * columns};
  return buildSlice(call, sliced, range);
}

static LogicalResult convertDiagonal(TorchCall &call) {
  FailureOr<TorchValue> input = call.value(0);
  if (failed(input))
    return failure();
  FailureOr<Value> tensor = call.tensor(0);
  if (failed(tensor))
    return failure();
  FailureOr<int64_t> offset = call.integerOr(1, 0);
  if (failed(offset))
    return failure();
  FailureOr<int64_t> first = call.isNone(2)
                                 ? FailureOr<int64_t>(0)
                                 : call.dimension(2, input->getRank());
  if (failed(first))
    return failure();
  FailureOr<int64_t> second = call.isNone(3)
                                  ? FailureOr<int64_t>(1)
                                  : call.dimension(3, input->getRank());
  if (failed(second))
    return failure();
  if (input->multiple > 1)
    return refuseSymbolic(call);
  FailureOr<Value> diagonal =
      buildDiagonal(call, *tensor, *offset, *first, *second);
  return failed(diagonal) ? failure() : call.set(0, *diagonal);
}

static LogicalResult convertTrace(TorchCall &call) {
  FailureOr<Value> tensor = call.tensor(0);
  if (failed(tensor))
    return failure();
  FailureOr<RankedTensorType> result = call.resultType();
  if (failed(result))
    return failure();
  if (cast<RankedTensorType>(tensor->getType()).getRank() != 2)
    return call.refuse("expected a matrix");
  FailureOr<Value> diagonal = buildDiagonal(call, *tensor, 0, 0, 1);
  if (failed(diagonal))
    return failure();
  FailureOr<Value> sum =
      reduceDims(call.builder, call.getLoc(), *diagonal, 0, ReductionKind::Sum,
                 result->getElementType());
  return failed(sum) ? failure() : call.setConverted(0, *sum);
}

/// Rotates dimensions: what leaves at one end comes in at the other.
static LogicalResult convertRoll(TorchCall &call) {
  FailureOr<TorchValue> input = call.value(0);
  if (failed(input))
    return failure();
  FailureOr<Value> tensor = call.tensor(0);
  if (failed(tensor))
    return failure();
  FailureOr<SmallVector<int64_t>> shifts = call.integers(1);
  if (failed(shifts))
    return failure();
  Value value = *tensor;
  SmallVector<int64_t> dims;
  bool isFlat = call.isNone(2);
  if (!isFlat) {
    FailureOr<SmallVector<int64_t>> listed = call.integers(2);
    if (failed(listed))
      return failure();
    isFlat = listed->empty();
    for (int64_t dim : *listed)
      dims.push_back(input->getDim(dim < 0 ? dim + input->getRank() : dim));
  }
  if (isFlat) {
    if (!input->type.hasStaticShape())
      return refuseSymbolic(call);
    value = reshapeTo(call.builder, call.getLoc(), value,
                      input->type.getNumElements());
    dims.push_back(0);
  }
  if (dims.size() != shifts->size())
    return call.refuse("expected as many shifts as dimensions");
  for (auto [dim, shift] : llvm::zip_equal(dims, *shifts)) {
    auto type = cast<RankedTensorType>(value.getType());
    if (dim < 0 || dim >= type.getRank() || type.isDynamicDim(dim))
      return refuseSymbolic(call);
    int64_t extent = type.getDimSize(dim);
    if (extent == 0 || shift % extent == 0)
      continue;
    int64_t moved = ((shift % extent) + extent) % extent;
    Sliced sliced{value, type, 1, dim, false, extent};
    Value parts[] = {buildSlice(call, sliced, {extent - moved, moved, 1}),
                     buildSlice(call, sliced, {0, extent - moved, 1})};
    value = ConcatOp::create(call.builder, call.getLoc(), type,
                             ValueRange(parts), dim);
  }
  return call.set(
      0, reshapeTo(call.builder, call.getLoc(), value, input->type.getShape()));
}

void mlir::fuseops::addGatherHandlers(TorchHandlers &handlers) {
  handlers.add("aten.index_select", 3, 3, convertIndexSelect);
  handlers.add("aten.index.Tensor_hacked_twin", 2, 2, convertIndex);
  handlers.add("aten.diagonal", 1, 4, convertDiagonal);
  handlers.add("aten.diagonal_copy", 1, 4, convertDiagonal);
  handlers.add("aten.trace", 1, 1, convertTrace);
  handlers.add("aten.roll", 2, 3, convertRoll);
}
