//===- Program.cpp - Sizes of a loaded program ----------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "CpuCode.h"
#include "CudaCode.h"
#include "Status.h"

using namespace fuseops::runtime;

// Sizes end here, so that sums of a few of them cannot overflow.
static constexpr int64_t kLargestSize = int64_t(1) << 60;

Program::Program() = default;
Program::~Program() = default;

bool fuseops::runtime::evaluate(const fuseopsExtent &extent, int64_t symbol,
                                int64_t &value) {
  int64_t scaled;
  return !__builtin_mul_overflow(extent.per_symbol, symbol, &scaled) &&
         !__builtin_add_overflow(scaled, extent.constant, &value) &&
         value >= 0 && value <= kLargestSize;
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

fuseopsStatus Entry::checkMatmul(const Step &step, int64_t symbol, int64_t &m,
                                 int64_t &n, int64_t &k) const {
  const MatmulStep &matmul = step.matmul;
  if (!evaluate(matmul.m, symbol, m) || !evaluate(matmul.n, symbol, n) ||
      !evaluate(matmul.k, symbol, k))
    return fail(FUSEOPS_INVALID_PROGRAM,
                "step `%s`: its sizes are negative or too large",
                step.name.c_str());
  struct Operand {
    int32_t index;
    int64_t rows, columns;
  };
  for (const Operand &operand :
       {Operand{matmul.a, m, k}, Operand{matmul.b, k, n},
        Operand{matmul.bias, 1, n}, Operand{matmul.out, m, n}}) {
    if (operand.index < 0)
      continue;
    const Tensor &tensor = tensors[operand.index];
    int64_t elements, expected;
    if (__builtin_mul_overflow(operand.rows, operand.columns, &expected) ||
        !tensor.countElements(symbol, elements) || elements != expected)
      return fail(FUSEOPS_INVALID_PROGRAM,
                  "step `%s`: expected `%s` to hold %lld x %lld elements",
                  step.name.c_str(), tensor.name.c_str(),
                  static_cast<long long>(operand.rows),
                  static_cast<long long>(operand.columns));
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
  if (program.isCuda() && entry.hasMatmul) {
    libraryOffset = alignWorkspace(bytes);
    bytes = libraryOffset + kLibraryWorkspaceBytes;
  }
  return FUSEOPS_OK;
}
