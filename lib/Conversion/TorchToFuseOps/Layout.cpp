//===- Layout.cpp - Aliases, reshapes, transposes and repetitions --------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "TorchCall.h"
#include "mlir/Dialect/Traits.h"

using namespace mlir;
using namespace mlir::fuseops;

/// The result is the operand: copies and detachments have no meaning in SSA.
static LogicalResult convertAlias(TorchCall &call) {
  FailureOr<TorchValue> input = call.value(0);
  return failed(input) ? failure() : call.set(0, *input);
}

/// The second operand's values, as a tensor like the first.
static LogicalResult convertCopy(TorchCall &call) {
  FailureOr<TorchValue> source = call.value(1);
  if (failed(source))
    return failure();
  FailureOr<RankedTensorType> result = call.resultType();
  if (failed(result))
    return failure();
  if (!isBroadcastableTo(source->type, *result))
    return call.refuse("expected operand 1 to broadcast to the result");
  return call.set(0, broadcastTo(call.builder, call.getLoc(),
                                 call.materialize(*source), *result));
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// How many times the symbolic size the result's is, so that it has as many
/// elements as `input`; 0 if nothing makes it so.
static int64_t findMultiple(Extent elements, RankedTensorType result) {
  int64_t rest = 1;
  for (int64_t size : result.getShape())
    if (!ShapedType::isDynamic(size))
      rest *= size;
  // With a size of 0 any number does.
  if (rest == 0)
    return elements == Extent() ? 1 : 0;
  bool isWhole = elements.constant == 0 && elements.perSymbol % rest == 0;
  return isWhole ? elements.perSymbol / rest : 0;
}

/// The result's type says the new shape, whatever the other operands compute.
static LogicalResult convertReshape(TorchCall &call) {
  FailureOr<TorchValue> input = call.value(0);
  if (failed(input))
    return failure();
  if (input->kind == TorchValue::Kind::List)
    return call.refuse("expected operand 0 to be a tensor, but got a list");
  FailureOr<RankedTensorType> result = call.resultType(0, 1);
  if (failed(result))
    return failure();
  int64_t multiple = 1;
  if (!result->hasStaticShape()) {
    multiple = findMultiple(getNumElements(input->type), *result);
    if (multiple == 0)
      return call.refuse("expected a symbolic size that is a multiple of the "
                         "operand's, but got " +
                         print(input->type) + " and " + print(*result));
    result = call.resultType(0, multiple);
  }
  input->multiple = multiple;
  if (*result == input->type)
    return call.set(0, *input);
  if (getNumElements(input->type) != getNumElements(*result) ||
      input->type.getElementType() != result->getElementType())
    return call.refuse("expected as many elements in the result as in the "
                       "operand, but got " +
                       print(input->type) + " and " + print(*result));
  input->type = *result;
  if (!input->isSplat())
    input->values.front() = reshapeTo(
        call.builder, call.getLoc(), input->values.front(), result->getShape());
  return call.set(0, *input);
}

//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

Value mlir::fuseops::buildPermute(TorchCall &call, Value value,
                                  ArrayRef<int64_t> order) {
  auto inner = value.getDefiningOp<PermuteOp>();
  if (!inner)
    return permute(call.builder, call.getLoc(), value, order);
  SmallVector<int64_t> both;
  for (int64_t dim : order)
    both.push_back(inner.getOrder()[dim]);
  return permute(call.builder, call.getLoc(), inner.getInput(), both);
}

/// Makes the result operand 0 with PyTorch's dimension i being `order[i]`.
static LogicalResult setPermuted(TorchCall &call, TorchValue input,
                                 ArrayRef<int64_t> order) {
  SmallVector<int64_t> physical = input.getDims(order);
  if (input.isSplat()) {
    FailureOr<RankedTensorType> result = call.resultType();
    if (failed(result))
      return failure();
    input.type = *result;
    return call.set(0, input);
  }
  Value moved = buildPermute(call, input.values.front(), physical);
  return call.set(0, TorchValue::get(moved, input.multiple));
}

static FailureOr<TorchValue> getPermuted(TorchCall &call,
                                         SmallVector<int64_t> &order) {
  FailureOr<TorchValue> input = call.value(0);
  if (failed(input))
    return failure();
  if (input->kind == TorchValue::Kind::List)
    return call.refuse("expected operand 0 to be a tensor, but got a list");
  llvm::append_range(order, llvm::seq<int64_t>(0, input->getRank()));
  return input;
}

/// All dimensions in reverse order.
static LogicalResult convertReverse(TorchCall &call) {
  SmallVector<int64_t> order;
  FailureOr<TorchValue> input = getPermuted(call, order);
  if (failed(input))
    return failure();
  std::reverse(order.begin(), order.end());
  return setPermuted(call, *input, order);
}

/// The last two dimensions swapped.
static LogicalResult convertMatrixTranspose(TorchCall &call) {
  SmallVector<int64_t> order;
  FailureOr<TorchValue> input = getPermuted(call, order);
  if (failed(input))
    return failure();
  if (order.size() < 2)
    return call.refuse("expected at least two dimensions");
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return setPermuted(call, *input, order);
}

static LogicalResult convertTranspose(TorchCall &call) {
  SmallVector<int64_t> order;
  FailureOr<TorchValue> input = getPermuted(call, order);
  if (failed(input))
    return failure();
  FailureOr<int64_t> first = call.dimension(1, order.size());
  if (failed(first))
    return failure();
  FailureOr<int64_t> second = call.dimension(2, order.size());
  if (failed(second))
    return failure();
  if (!order.empty())
    std::swap(order[*first], order[*second]);
  return setPermuted(call, *input, order);
}

static LogicalResult convertPermute(TorchCall &call) {
  SmallVector<int64_t> order;
  FailureOr<TorchValue> input = getPermuted(call, order);
  if (failed(input))
    return failure();
  FailureOr<SmallVector<int64_t>> dims =
      call.dimensions(1, order.size(), /*isEmptyAll=*/false);
  if (failed(dims))
    return failure();
  if (dims->size() != order.size())
    return call.refuse("expected one number for each dimension");
  return setPermuted(call, *input, *dims);
}

static LogicalResult convertMoveDim(TorchCall &call) {
  SmallVector<int64_t> order;
  FailureOr<TorchValue> input = getPermuted(call, order);
  if (failed(input))
    return failure();
  FailureOr<SmallVector<int64_t>> from =
      call.dimensions(1, order.size(), /*isEmptyAll=*/false);
  if (failed(from))
    return failure();
  FailureOr<SmallVector<int64_t>> to =
      call.dimensions(2, order.size(), /*isEmptyAll=*/false);
  if (failed(to))
    return failure();
  if (from->size() != to->size())
    return call.refuse("expected as many new places as dimensions");
  SmallVector<int64_t> moved(order.size(), -1);
  for (auto [source, target] : llvm::zip_equal(*from, *to))
    moved[target] = source;
  auto rest = llvm::make_filter_range(
      order, [&](int64_t dim) { return !llvm::is_contained(*from, dim); });
  auto next = rest.begin();
  for (int64_t &dim : moved)
    if (dim < 0)
      dim = *next++;
  return setPermuted(call, *input, moved);
}

//===----------------------------------------------------------------------===//
// Repetitions
//===----------------------------------------------------------------------===//

/// The result's type, where operand `index` lists its sizes.
static FailureOr<RankedTensorType>
getListedType(TorchCall &call, unsigned index, int64_t &multiple) {
  FailureOr<int64_t> found = call.multiple();
  if (failed(found))
    return failure();
  multiple = *found;
  FailureOr<RankedTensorType> type = call.resultType(0, multiple);
  if (failed(type) || type->hasStaticShape())
    return type;
  FailureOr<SmallVector<Extent>> sizes = call.sizes(index);
  if (failed(sizes))
    return failure();
  for (Extent size : *sizes)
    if (size.perSymbol)
      multiple = size.perSymbol;
  return call.resultType(0, multiple);
}

static LogicalResult setExpanded(TorchCall &call, RankedTensorType result,
                                 int64_t multiple) {
  FailureOr<TorchValue> input = call.value(0);
  if (failed(input))
    return failure();
  if (input->kind == TorchValue::Kind::List ||
      !isBroadcastableTo(input->type, result))
    return call.refuse("expected operand 0 to broadcast to the result");
  if (input->isSplat()) {
    input->type = result;
    input->multiple = multiple;
    return call.set(0, *input);
  }
  Value expanded = call.builder.createOrFold<ExpandOp>(call.getLoc(), result,
                                                       input->values.front());
  return call.set(0, TorchValue::get(expanded, multiple));
}

/// Broadcasts to the sizes that operand 1 lists.
static LogicalResult convertExpand(TorchCall &call) {
  int64_t multiple = 1;
  FailureOr<RankedTensorType> result = getListedType(call, 1, multiple);
  return failed(result) ? failure() : setExpanded(call, *result, multiple);
}

/// Broadcasts to the shape of operand 1.
static LogicalResult convertExpandAs(TorchCall &call) {
  FailureOr<int64_t> multiple = call.multiple();
  if (failed(multiple))
    return failure();
  FailureOr<RankedTensorType> result = call.resultType(0, *multiple);
  return failed(result) ? failure() : setExpanded(call, *result, *multiple);
}

/// The tensors of a list, all broadcast to one shape.
static LogicalResult convertBroadcastTensors(TorchCall &call) {
  FailureOr<SmallVector<TorchValue>> values = call.tensorList(0);
  if (failed(values))
    return failure();
  FailureOr<int64_t> multiple = call.multiple();
  if (failed(multiple))
    return failure();
  SmallVector<int64_t> shape;
  for (const TorchValue &value : *values) {
    SmallVector<int64_t> before = shape;
    if (!OpTrait::util::getBroadcastedShape(before, value.type.getShape(),
                                            shape))
      return call.refuse("expected tensors that broadcast");
  }
  TorchValue list;
  list.kind = TorchValue::Kind::List;
  list.multiple = *multiple;
  for (const TorchValue &value : *values)
    list.values.push_back(call.builder.createOrFold<ExpandOp>(
        call.getLoc(),
        RankedTensorType::get(shape, value.type.getElementType()),
        call.materialize(value)));
  return call.set(0, list);
}

/// `value` with dimension `dim` of size n made n * count: each element `count`
/// times in a row (`isInner`), or the whole dimension `count` times.
static Value buildRepeat(TorchCall &call, Value value, int64_t dim,
                         int64_t count, bool isInner) {
  OpBuilder &builder = call.builder;
  Location loc = call.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  int64_t place = isInner ? dim + 1 : dim;
  shape.insert(shape.begin() + place, 1);
  value = reshapeTo(builder, loc, value, shape);
  shape[place] = count;
  value = builder.createOrFold<ExpandOp>(
      loc, RankedTensorType::get(shape, type.getElementType()), value);
  shape.erase(shape.begin() + dim);
  shape[dim] = type.getDimSize(dim) * count;
  return reshapeTo(builder, loc, value, shape);
}

/// torch.repeat and torch.tile: operand 1 says how often, dimension by
/// dimension, the last ones last.
static LogicalResult convertRepeat(TorchCall &call) {
  FailureOr<Value> input = call.tensor(0);
  if (failed(input))
    return failure();
  FailureOr<SmallVector<int64_t>> counts = call.integers(1);
  if (failed(counts))
    return failure();
  Value value = *input;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  while (shape.size() < counts->size())
    shape.insert(shape.begin(), 1);
  while (counts->size() < shape.size())
    counts->insert(counts->begin(), 1);
  value = reshapeTo(call.builder, call.getLoc(), value, shape);
  for (auto [dim, count] : llvm::enumerate(*counts)) {
    if (count == 1)
      continue;
    if (ShapedType::isDynamic(shape[dim]) || count < 0)
      return call.refuse("expected to repeat a dimension of known size");
    value = buildRepeat(call, value, dim, count, /*isInner=*/false);
  }
  return call.set(0, value);
}

/// Each element of a dimension several times in a row.
static LogicalResult convertRepeatInterleave(TorchCall &call) {
  FailureOr<TorchValue> input = call.value(0);
  if (failed(input))
    return failure();
  FailureOr<int64_t> count = call.integer(1);
  if (failed(count))
    return failure();
  FailureOr<Value> tensor = call.tensor(0);
  if (failed(tensor))
    return failure();
  Value value = *tensor;
  int64_t dim = 0;
  if (call.isNone(2)) {
    Extent elements = getNumElements(input->type);
    if (elements.perSymbol)
      return call.refuse("expected a dimension, but got None");
    value = reshapeTo(call.builder, call.getLoc(), value, elements.constant);
  } else {
    FailureOr<int64_t> listed = call.dimension(2, input->getRank());
    if (failed(listed))
      return failure();
    dim = input->getDim(*listed);
  }
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == 0 || type.isDynamicDim(dim) || *count < 0)
    return call.refuse("expected to repeat a dimension of known size");
  return call.set(0, buildRepeat(call, value, dim, *count, /*isInner=*/true));
}

void mlir::fuseops::addLayoutHandlers(TorchHandlers &handlers) {
  auto add = [&](std::initializer_list<StringRef> names, unsigned min,
                 unsigned max, const TorchHandler &handler) {
    for (StringRef name : names)
      handlers.add(name, min, max, handler);
  };
  add({"aten.clone", "aten.detach", "aten.contiguous", "aten.alias",
       "aten.alias_copy", "aten.lift_fresh", "aten.lift_fresh_copy",
       "aten.detach_copy", "aten.positive", "copy.to_vtensor", "aten.conj",
       "aten.resolve_conj", "aten.resolve_neg"},
      1, 2, convertAlias);
  handlers.add("aten.copy", 2, 3, convertCopy);
  add({"aten.view", "aten.reshape", "aten._unsafe_view", "aten.view_copy",
       "aten.flatten.using_ints", "aten.unflatten.int", "aten.unsqueeze",
       "aten.unsqueeze_copy", "aten.squeeze", "aten.squeeze.dim",
       "aten.squeeze.dims", "aten.squeeze_copy", "aten.squeeze_copy.dim",
       "aten.view_as", "aten.reshape_as", "aten.ravel", "aten._reshape_alias",
       "prims.collapse", "prims.squeeze"},
      1, 3, convertReshape);
  add({"aten.t", "aten.t_copy", "aten.numpy_T"}, 1, 1, convertReverse);
  add({"aten.mT", "aten.adjoint"}, 1, 1, convertMatrixTranspose);
  add({"aten.transpose.int", "aten.transpose_copy.int", "aten.swapaxes",
       "aten.swapdims"},
      3, 3, convertTranspose);
  add({"aten.permute", "aten.permute_copy"}, 2, 2, convertPermute);
  add({"aten.movedim.int", "aten.movedim.intlist"}, 3, 3, convertMoveDim);
  add({"aten.expand", "aten.expand_copy", "aten.broadcast_to"}, 2, 3,
      convertExpand);
  handlers.add("aten.expand_as", 2, 2, convertExpandAs);
  handlers.add("aten.broadcast_tensors", 1, 1, convertBroadcastTensors);
  add({"aten.repeat", "aten.tile"}, 2, 2, convertRepeat);
  handlers.add("aten.repeat_interleave.self_int", 2, 4,
               convertRepeatInterleave);
}
