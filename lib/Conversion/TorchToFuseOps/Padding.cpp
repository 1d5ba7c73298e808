//===- Padding.cpp - Elements added at the edges of a tensor -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Slice.h"

using namespace mlir;
using namespace mlir::fuseops;

namespace {
/// What is added: a number, the element at the edge, the elements at the other
/// edge, or those before this edge in reverse.
enum class Fill { Constant, Replicate, Circular, Reflect };

/// The padding of one dimension; a negative size cuts.
struct Edges {
  int64_t before = 0, behind = 0;
};
} // namespace

/// `sliced` with `edges`; null, with an error, where they don't fit.
static Value buildPadded(TorchCall &call, const Sliced &sliced, Edges edges,
                         Fill fill, TorchNumber number) {
  int64_t cutBefore = std::max<int64_t>(-edges.before, 0);
  int64_t cutBehind = std::max<int64_t>(-edges.behind, 0);
  Range kept{cutBefore, sliced.extent - cutBefore - cutBehind, 1};
  int64_t most = std::max(edges.before, edges.behind);
  if (kept.count < 0) {
    (void)call.refuse("expected to cut no more than there is");
    return {};
  }
  // Of what is cut nothing comes back on the other side.
  int64_t available = fill == Fill::Circular ? kept.count : sliced.extent;
  int64_t needed = fill == Fill::Replicate ? 1
                   : fill == Fill::Reflect ? most + 1
                                           : most;
  bool canRepeat = fill == Fill::Constant || most <= 0 || needed <= available;
  if (!canRepeat) {
    (void)call.refuse("expected to repeat no more than there is");
    return {};
  }
  SmallVector<int64_t> shape(sliced.type.getShape());
  auto getType = [&](int64_t extent) {
    shape[sliced.dim] = extent;
    return RankedTensorType::get(shape, sliced.type.getElementType());
  };
  SmallVector<Value> parts;
  auto add = [&](int64_t count, bool isBehind) {
    if (count <= 0)
      return;
    int64_t last = sliced.extent - 1;
    if (fill == Fill::Constant) {
      TorchValue filling;
      filling.kind = TorchValue::Kind::Splat;
      filling.type = getType(count);
      filling.constant = number;
      parts.push_back(call.materialize(filling));
    } else if (fill == Fill::Replicate) {
      Value edge = buildSlice(call, sliced, {isBehind ? last : 0, 1, 1});
      parts.push_back(call.builder.createOrFold<ExpandOp>(
          call.getLoc(), getType(count), edge));
    } else if (fill == Fill::Circular) {
      int64_t first = isBehind ? 0 : kept.count - count;
      parts.push_back(
          buildSlice(call, sliced, {kept.offset + first, count, 1}));
    } else {
      parts.push_back(
          buildSlice(call, sliced, {isBehind ? last - 1 : count, count, -1}));
    }
  };
  add(edges.before, /*isBehind=*/false);
  parts.push_back(buildSlice(call, sliced, kept));
  add(edges.behind, /*isBehind=*/true);
  return buildConcat(call, getType(sliced.extent + edges.before + edges.behind),
                     sliced.dim, parts);
}

/// Operand 1 lists pairs of sizes, what is added before and behind, last
/// dimension first.
static LogicalResult setPadded(TorchCall &call, Fill fill,
                               unsigned numberIndex) {
  FailureOr<TorchValue> input = call.value(0);
  if (failed(input))
    return failure();
  FailureOr<Value> tensor = call.tensor(0);
  if (failed(tensor))
    return failure();
  FailureOr<SmallVector<int64_t>> pads = call.integers(1);
  if (failed(pads))
    return failure();
  TorchNumber number;
  if (!call.isNone(numberIndex)) {
    FailureOr<TorchNumber> given = call.exactNumber(numberIndex);
    if (failed(given))
      return failure();
    number = *given;
  }
  int64_t rank = input->getRank();
  if (pads->size() % 2 || static_cast<int64_t>(pads->size()) > 2 * rank)
    return call.refuse("expected two sizes for each padded dimension");
  Value value = *tensor;
  for (size_t pair = 0; pair < pads->size() / 2; ++pair) {
    Edges edges{(*pads)[2 * pair], (*pads)[2 * pair + 1]};
    int64_t dim = input->getDim(rank - 1 - static_cast<int64_t>(pair));
    if (edges.before == 0 && edges.behind == 0)
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    if (type.isDynamicDim(dim))
      return refuseSymbolic(call);
    Sliced sliced{value, type,  input->multiple,
                  dim,   false, type.getDimSize(dim)};
    value = buildPadded(call, sliced, edges, fill, number);
    if (!value)
      return failure();
  }
  return call.set(0, value);
}

/// pad (sizes, mode, number).
static LogicalResult convertPad(TorchCall &call) {
  FailureOr<StringRef> mode = StringRef("constant");
  if (!call.isNone(2))
    mode = call.string(2);
  if (failed(mode))
    return failure();
  if (*mode == "constant")
    return setPadded(call, Fill::Constant, 3);
  if (*mode == "replicate")
    return setPadded(call, Fill::Replicate, 3);
  if (*mode == "circular")
    return setPadded(call, Fill::Circular, 3);
  if (*mode == "reflect")
    return setPadded(call, Fill::Reflect, 3);
  return call.refuse("expected the mode constant, replicate, circular or "
                     "reflect, but got `" +
                     *mode + "`");
}

void mlir::fuseops::addPaddingHandlers(TorchHandlers &handlers) {
  handlers.add("aten.constant_pad_nd", 2, 3, [](TorchCall &call) {
    return setPadded(call, Fill::Constant, 2);
  });
  handlers.add("aten.pad", 2, 4, convertPad);
}
