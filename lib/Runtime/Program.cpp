//===- Program.cpp - Sizes of a loaded program ----------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "CpuCode.h"
#include "CudaCode.h"
#include "ScaledMatmul.h"
#include "Status.h"

#include <algorithm>

using namespace fuseops::runtime;

// Sizes end here, so that sums of a few of them cannot overflow.
static constexpr int64_t kLargestSize = int64_t(1) << 60;

Program::Program() = default;
Program::~Program() = default;

bool fuseops::runtime::evaluate(const fuseopsExtent &extent, int64_t symbol,
                                int64_t &value) {
  value = extent.constant;
  auto add = [&](int64_t factor, int64_t count) {
    int64_t product;
    return !__builtin_mul_overflow(factor, count, &product) &&
           !__builtin_add_overflow(value, product, &value);
  };
  auto countBlocks = [&](int64_t size) {
    return symbol / size + (symbol % size != 0);
  };
  return add(extent.per_symbol, symbol) &&
         add(extent.per_block32, countBlocks(32)) &&
         add(extent.per_block128, countBlocks(128)) && value >= 0 &&
         value <= kLargestSize;
}

bool Tensor::countElements(int64_t symbol, int64_t &elements) const {
  elements = 1;
  bool isEmpty = false, isTooLarge = false;
  for (const fuseopsExtent &extent : shape) {
    int64_t size;
    if (!evaluate(extent, symbol, size))
      return false;
    if (size == 0) {
      isEmpty = true;
      continue;
    }
    isTooLarge |= __builtin_mul_overflow(elements, size, &elements) ||
                  elements > kLargestSize;
    if (isTooLarge)
      elements = 1;
  }
  if (isEmpty)
    elements = 0;
  return isEmpty || !isTooLarge;
}

bool Tensor::countBytes(int64_t symbol, int64_t &bytes) const {
  int64_t elements;
  return countElements(symbol, elements) &&
         !__builtin_mul_overflow(
             elements, static_cast<int64_t>(fuseopsDTypeSize(dtype)), &bytes) &&
         bytes <= kLargestSize;
}

fuseopsStatus Entry::describeMatmul(const Step &step, int64_t symbol,
                                    MatmulArguments &arguments) const {
  const MatmulStep &matmul = step.matmul;
  int64_t &m = arguments.m, &n = arguments.n, &k = arguments.k;
  if (!evaluate(matmul.m, symbol, m) || !evaluate(matmul.n, symbol, n) ||
      !evaluate(matmul.k, symbol, k))
    return fail(FUSEOPS_INVALID_PROGRAM,
                "step `%s`: its sizes are negative or too large",
                step.name.c_str());
  struct Operand {
    int32_t index;
    int64_t rows, columns;
    fuseopsDType &dtype;
  };
  for (const Operand &operand :
       {Operand{matmul.a, m, k, arguments.aType},
        Operand{matmul.b, k, n, arguments.bType},
        Operand{matmul.bias, 1, n, arguments.biasType},
        Operand{matmul.out, m, n, arguments.outType}}) {
    if (operand.index < 0)
      continue;
    const Tensor &tensor = tensors[operand.index];
    operand.dtype = tensor.dtype;
    int64_t elements, expected;
    if (__builtin_mul_overflow(operand.rows, operand.columns, &expected) ||
        !tensor.countElements(symbol, elements) || elements != expected)
      return fail(FUSEOPS_INVALID_PROGRAM,
                  "step `%s`: expected `%s` to hold %lld x %lld elements",
                  step.name.c_str(), tensor.name.c_str(),
                  static_cast<long long>(operand.rows),
                  static_cast<long long>(operand.columns));
  }
  arguments.transposeA = matmul.transposeA;
  arguments.transposeB = matmul.transposeB;
  arguments.isScaled = matmul.aScale >= 0;
  return arguments.isScaled ? describeScales(step, symbol, arguments)
                            : FUSEOPS_OK;
}

fuseopsStatus Entry::describeScales(const Step &step, int64_t symbol,
                                    MatmulArguments &arguments) const {
  const MatmulStep &matmul = step.matmul;
  for (int64_t size : {arguments.m, arguments.n, arguments.k})
    if (size > kLargestScaledSize)
      return fail(FUSEOPS_INVALID_PROGRAM,
                  "step `%s`: expected sizes of at most %lld in a product of "
                  "FP8, but got %lld",
                  step.name.c_str(), static_cast<long long>(kLargestScaledSize),
                  static_cast<long long>(size));
  arguments.fastAccumulate = matmul.fastAccumulate;
  arguments.aScales.kind = matmul.aScaleKind;
  arguments.bScales.kind = matmul.bScaleKind;
  struct Operand {
    int32_t index;
    int64_t rows;
    MatmulScales &scales;
  };
  for (const Operand &operand :
       {Operand{matmul.aScale, arguments.m, arguments.aScales},
        Operand{matmul.bScale, arguments.n, arguments.bScales}}) {
    const Tensor &tensor = tensors[operand.index];
    int64_t elements, blocks = operand.rows / 128 + (operand.rows % 128 != 0);
    bool isCounted = tensor.countElements(symbol, elements);
    int64_t rowBlocks = arguments.k / 128 + (arguments.k % 128 != 0);
    operand.scales.pitch = isCounted && blocks != 0 ? elements / blocks : 0;
    bool isShort = operand.scales.kind == ScaleKind::Block128x128 &&
                   blocks != 0 && operand.scales.pitch < rowBlocks;
    if (!isCounted || isShort ||
        elements != countScales(operand.scales.kind, operand.rows, arguments.k,
                                operand.scales.pitch))
      return fail(FUSEOPS_INVALID_PROGRAM,
                  "step `%s`: expected `%s` to hold the scales of %lld x %lld "
                  "elements",
                  step.name.c_str(), tensor.name.c_str(),
                  static_cast<long long>(operand.rows),
                  static_cast<long long>(arguments.k));
  }
  return FUSEOPS_OK;
}

fuseopsStatus Entry::sizeTensorMap(const Step &step, const TensorMap &map,
                                   int64_t symbol,
                                   TensorMapSizes &sizes) const {
  const Tensor &tensor = tensors[step.kernel.tensors[map.tensor]];
  int64_t &columns = sizes.columns, &rows = sizes.rows;
  int64_t &pitch = sizes.pitch, &batch = sizes.batch;
  batch = 1;
  if (!evaluate(map.columns, symbol, columns) || columns > kMaxMapSize ||
      !evaluate(map.rows, symbol, rows) || rows > kMaxMapSize ||
      (map.batchPitch != 0 &&
       (!evaluate(map.batch, symbol, batch) || batch > kMaxMapSize)))
    return fail(FUSEOPS_INVALID_PROGRAM,
                "step `%s`: expected the tensor map of `%s` to have at most "
                "2^32 columns, rows and matrices",
                step.name.c_str(), tensor.name.c_str());
  int64_t bytes = fuseopsDTypeSize(tensor.dtype);
  if (!evaluate(map.pitch, symbol, pitch) || pitch < columns ||
      pitch > kMaxMapPitchBytes / bytes)
    return fail(FUSEOPS_INVALID_PROGRAM,
                "step `%s`: expected the tensor map of `%s` to have a pitch of "
                "at least its %lld columns and below 2^40 bytes",
                step.name.c_str(), tensor.name.c_str(),
                static_cast<long long>(columns));
  if (sizes.isEmpty())
    return FUSEOPS_OK;
  // One behind the last element of the last row of the last matrix.
  int64_t end = columns, offset, elements;
  auto add = [&](int64_t count, int64_t distance) {
    return !__builtin_mul_overflow(count, distance, &offset) &&
           !__builtin_add_overflow(end, offset, &end);
  };
  if (!add(rows - 1, pitch) || !add(batch - 1, map.batchPitch) ||
      !tensor.countElements(symbol, elements) || end > elements)
    return fail(FUSEOPS_INVALID_PROGRAM,
                "step `%s`: expected `%s` to hold the %lld x %lld x %lld "
                "elements of its tensor map",
                step.name.c_str(), tensor.name.c_str(),
                static_cast<long long>(batch), static_cast<long long>(rows),
                static_cast<long long>(columns));
  return FUSEOPS_OK;
}

fuseopsStatus Entry::checkTensorMaps(int64_t symbol) const {
  for (const Step &step : steps)
    for (const TensorMap &map : step.kernel.maps) {
      TensorMapSizes sizes;
      if (fuseopsStatus status = sizeTensorMap(step, map, symbol, sizes))
        return status;
      const Tensor &tensor = tensors[step.kernel.tensors[map.tensor]];
      int64_t bytes = fuseopsDTypeSize(tensor.dtype);
      if (!sizes.isEmpty() &&
          sizes.pitch * bytes % static_cast<int64_t>(kCudaAlignment) != 0)
        return fail(FUSEOPS_INVALID_ARGUMENT,
                    "entry `%s`, step `%s`: expected `%s` to have rows of a "
                    "multiple of %zu bytes, but got %lld bytes for size %lld",
                    name.c_str(), step.name.c_str(), tensor.name.c_str(),
                    static_cast<size_t>(kCudaAlignment),
                    static_cast<long long>(sizes.pitch * bytes),
                    static_cast<long long>(symbol));
    }
  return FUSEOPS_OK;
}

fuseopsStatus Entry::placeInWorkspace(int32_t index, int64_t symbol,
                                      int64_t &offset) const {
  const Tensor &tensor = tensors[index];
  int64_t size, bytes;
  if (!evaluate(tensor.offset, symbol, offset) ||
      !evaluate(workspace, symbol, size) || !tensor.countBytes(symbol, bytes))
    return fail(FUSEOPS_INVALID_PROGRAM,
                "entry `%s`: the workspace offset of `%s` is negative or too "
                "large",
                name.c_str(), tensor.name.c_str());
  offset = alignWorkspace(offset);
  if (bytes != 0 && offset + bytes > size)
    return fail(FUSEOPS_INVALID_PROGRAM,
                "entry `%s`: expected `%s` to lie in the workspace of %lld "
                "bytes, but got %lld bytes at offset %lld",
                name.c_str(), tensor.name.c_str(), static_cast<long long>(size),
                static_cast<long long>(bytes), static_cast<long long>(offset));
  return FUSEOPS_OK;
}

fuseopsStatus fuseops::runtime::getWorkspaceBytes(const Program &program,
                                                  const Entry &entry,
                                                  int64_t symbol,
                                                  int64_t &bytes,
                                                  int64_t &libraryOffset) {
  if (symbol < program.symbolMin || symbol > program.symbolMax)
    return fail(FUSEOPS_INVALID_ARGUMENT,
                "expected a size of %lld to %lld, but got %lld",
                static_cast<long long>(program.symbolMin),
                static_cast<long long>(program.symbolMax),
                static_cast<long long>(symbol));
  if (!evaluate(entry.workspace, symbol, bytes))
    return fail(FUSEOPS_INVALID_ARGUMENT,
                "entry `%s`: the workspace for size %lld is too large",
                entry.name.c_str(), static_cast<long long>(symbol));
  libraryOffset = bytes;
  if (!program.isCuda() || !entry.hasMatmul)
    return FUSEOPS_OK;
  libraryOffset = alignWorkspace(bytes);
  // Products follow each other, so that the largest padding is enough.
  int64_t padding = 0;
  for (const Step &step : entry.steps) {
    if (!step.isMatmul || step.matmul.aScale < 0)
      continue;
    MatmulArguments arguments;
    if (fuseopsStatus status = entry.describeMatmul(step, symbol, arguments))
      return status;
    padding = std::max(padding, PaddedMatmul(arguments).countBytes());
  }
  bytes = libraryOffset + kLibraryWorkspaceBytes + padding;
  return FUSEOPS_OK;
}
