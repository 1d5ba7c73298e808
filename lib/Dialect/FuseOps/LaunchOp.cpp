//===- LaunchOp.cpp - Launches and their tensor maps ----------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Dialect/FuseOps/FuseOps.h"

using namespace mlir;
using namespace mlir::fuseops;

// What cuTensorMapEncodeTiled takes (CUDA driver API, tensor map objects).
static constexpr int64_t kMaxColumns = int64_t(1) << 32;
static constexpr int64_t kMaxPitchBytes = (int64_t(1) << 40) - 16;
static constexpr int64_t kMaxBox = 256;
static constexpr int64_t kMapAlignment = 16;

LogicalResult
TensorMapAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      int64_t tensor, ArrayRef<int64_t> columns,
                      ArrayRef<int64_t> rows, ArrayRef<int64_t> pitch,
                      int64_t boxColumns, int64_t boxRows, int64_t swizzle,
                      ArrayRef<int64_t> batch, int64_t batchPitch) {
  auto isNegative = [](int64_t factor) { return factor < 0; };
  if (tensor < 0)
    return emitError() << "expected `tensor` of at least 0, but got " << tensor;
  for (ArrayRef<int64_t> size : {columns, rows, pitch, batch})
    if (size.size() > 4 || llvm::any_of(size, isNegative))
      return emitError() << "expected sizes of at most 4 factors, none of them "
                            "negative, but got ["
                         << size << "]";
  if (columns.empty() || rows.empty() || pitch.empty())
    return emitError() << "expected `columns`, `rows` and `pitch` of at least "
                          "one factor each";
  Extent width = Extent::fromArray(columns), step = Extent::fromArray(pitch);
  if (width.constant > kMaxColumns)
    return emitError() << "expected at most " << kMaxColumns
                       << " `columns`, but got [" << columns << "]";
  // What depends on S is checked where S is known.
  if (step == Extent() || (width.isConstant() && step.isConstant() &&
                           step.constant < width.constant))
    return emitError() << "expected `pitch` of at least "
                       << std::max<int64_t>(width.constant, 1) << ", but got ["
                       << pitch << "]";
  for (int64_t box : {boxColumns, boxRows})
    if (box < 1 || box > kMaxBox)
      return emitError() << "expected a box of 1 to " << kMaxBox
                         << " rows and columns, but got " << boxRows << " x "
                         << boxColumns;
  if (!llvm::is_contained({0, 32, 64, 128}, swizzle))
    return emitError() << "expected `swizzle` of 0, 32, 64 or 128 bytes, but "
                          "got "
                       << swizzle;
  if (batchPitch < 0 || batch.empty() != (batchPitch == 0))
    return emitError() << "expected `batch_pitch` of at least 1 with `batch` "
                          "and none without, but got "
                       << batchPitch;
  return success();
}

LogicalResult LaunchOp::verify() {
  SmallVector<Value> tensors(getInputs());
  llvm::append_range(tensors, getOutputs());
  for (TensorMapAttr map : getMaps().getAsRange<TensorMapAttr>()) {
    if (map.getTensor() >= static_cast<int64_t>(tensors.size()))
      return emitOpError() << "expected a tensor map of one of "
                           << tensors.size() << " tensors, but got "
                           << map.getTensor();
    Type type = tensors[map.getTensor()].getType();
    int64_t bytes = getElementBytes(getElementTypeOrSelf(type));
    auto emit = [&](StringRef what, int64_t count) {
      return emitOpError() << "expected the tensor map of tensor "
                           << map.getTensor() << " to have " << what
                           << ", but got " << count << " elements of " << bytes
                           << " bytes";
    };
    auto isPitch = [&](int64_t count, int64_t alignment) {
      int64_t size;
      return !llvm::MulOverflow(count, bytes, size) && size % alignment == 0 &&
             size <= kMaxPitchBytes;
    };
    StringRef pitch = "a pitch that is a multiple of 16 bytes below 2^40";
    // What depends on S may be a multiple for some S only.
    bool isKnown = Extent::fromArray(map.getPitch()).isConstant();
    for (int64_t factor : map.getPitch())
      if (!isPitch(factor, isKnown ? kMapAlignment : 1))
        return emit(pitch, factor);
    if (!isPitch(map.getBatchPitch(), kMapAlignment))
      return emit(pitch, map.getBatchPitch());
    int64_t boxBytes = map.getBoxColumns() * bytes;
    if (boxBytes % kMapAlignment != 0)
      return emit("boxes whose rows are multiples of 16 bytes",
                  map.getBoxColumns());
    if (map.getSwizzle() != 0 && boxBytes > map.getSwizzle())
      return emit("boxes whose rows are at most the " +
                      std::to_string(map.getSwizzle()) + " bytes of `swizzle`",
                  map.getBoxColumns());
  }
  return success();
}
