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
                      int64_t tensor, int64_t columns, ArrayRef<int64_t> rows,
                      int64_t pitch, int64_t boxColumns, int64_t boxRows,
                      int64_t swizzle, ArrayRef<int64_t> batch,
                      int64_t batchPitch) {
  auto isNegative = [](int64_t factor) { return factor < 0; };
  if (tensor < 0)
    return emitError() << "expected `tensor` of at least 0, but got " << tensor;
  if (columns < 0 || columns > kMaxColumns)
    return emitError() << "expected `columns` of 0 to " << kMaxColumns
                       << ", but got " << columns;
  for (ArrayRef<int64_t> size : {rows, batch})
    if (size.size() > 4 || llvm::any_of(size, isNegative))
      return emitError() << "expected sizes of at most 4 factors, none of them "
                            "negative, but got ["
                         << size << "]";
  if (rows.empty())
    return emitError() << "expected `rows` of at least one factor";
  if (pitch < 1 || pitch < columns)
    return emitError() << "expected `pitch` of at least "
                       << std::max<int64_t>(columns, 1) << ", but got "
                       << pitch;
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
    for (int64_t pitch : {map.getPitch(), map.getBatchPitch()}) {
      int64_t pitchBytes;
      if (llvm::MulOverflow(pitch, bytes, pitchBytes) ||
          pitchBytes % kMapAlignment != 0 || pitchBytes > kMaxPitchBytes)
        return emit("a pitch that is a multiple of 16 bytes below 2^40", pitch);
    }
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
