//===- Shuffle.cpp - Elements moved between channels and places ----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "TorchCall.h"

using namespace mlir;
using namespace mlir::fuseops;

/// Operand 0 with the sizes `split`, its dimensions then in `order`, and those
/// made the result's.
static LogicalResult setShuffled(TorchCall &call, Value value,
                                 ArrayRef<int64_t> split,
                                 ArrayRef<int64_t> order) {
  FailureOr<RankedTensorType> result = call.resultType();
  if (failed(result))
    return failure();
  auto type = cast<RankedTensorType>(value.getType());
  if (getNumElements(type) != getNumElements(*result))
    return call.refuse("expected as many elements in the result as in the "
                       "operand, but got " +
                       print(type) + " and " + print(*result));
  value = reshapeTo(call.builder, call.getLoc(), value, split);
  value = buildPermute(call, value, order);
  return call.set(
      0, reshapeTo(call.builder, call.getLoc(), value, result->getShape()));
}

/// channel_shuffle: of the channels, in groups, the first of each group come
/// first.
static LogicalResult convertChannelShuffle(TorchCall &call) {
  FailureOr<Value> value = call.tensor(0);
  if (failed(value))
    return failure();
  FailureOr<int64_t> groups = call.integer(1);
  if (failed(groups))
    return failure();
  auto type = cast<RankedTensorType>(value->getType());
  SmallVector<int64_t> split(type.getShape());
  bool fits = split.size() >= 2 && *groups > 0 &&
              !ShapedType::isDynamic(split[1]) && split[1] % *groups == 0;
  if (!fits)
    return call.refuse("expected channels of known number in whole groups, but "
                       "got " +
                       print(type) + " and " + Twine(*groups) + " groups");
  split[1] /= *groups;
  split.insert(split.begin() + 1, *groups);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, split.size()));
  std::swap(order[1], order[2]);
  return setShuffled(call, *value, split, order);
}

/// pixel_shuffle, from [C * r * r, H, W] to [C, H * r, W * r] behind the
/// leading dimensions, and its inverse, pixel_unshuffle.
static TorchHandler convertPixelShuffle(bool isInverse) {
  return [=](TorchCall &call) -> LogicalResult {
    FailureOr<Value> value = call.tensor(0);
    if (failed(value))
      return failure();
    FailureOr<int64_t> factor = call.integer(1);
    if (failed(factor))
      return failure();
    auto type = cast<RankedTensorType>(value->getType());
    int64_t r = *factor, leading = type.getRank() - 3;
    if (leading < 0 || r <= 0 ||
        llvm::any_of(type.getShape().take_back(3), ShapedType::isDynamic))
      return call.refuse(
          "expected channels and places of known size, but got " + print(type));
    ArrayRef<int64_t> image = type.getShape().take_back(3);
    bool fits = isInverse ? image[1] % r == 0 && image[2] % r == 0
                          : image[0] % (r * r) == 0;
    if (!fits)
      return call.refuse("expected sizes that the factor " + Twine(r) +
                         " divides, but got " + print(type));
    SmallVector<int64_t> split(type.getShape().take_front(leading));
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, leading));
    // C, H, r, W, r and C, r, r, H, W.
    int64_t there[] = {0, 3, 1, 4, 2}, back[] = {0, 2, 4, 1, 3};
    if (isInverse)
      split.append({image[0], image[1] / r, r, image[2] / r, r});
    else
      split.append({image[0] / (r * r), r, r, image[1], image[2]});
    for (int64_t dim : isInverse ? back : there)
      order.push_back(leading + dim);
    return setShuffled(call, *value, split, order);
  };
}

void mlir::fuseops::addShuffleHandlers(TorchHandlers &handlers) {
  handlers.add("aten.channel_shuffle", 2, 2, convertChannelShuffle);
  handlers.add("aten.pixel_shuffle", 2, 2, convertPixelShuffle(false));
  handlers.add("aten.pixel_unshuffle", 2, 2, convertPixelShuffle(true));
}
