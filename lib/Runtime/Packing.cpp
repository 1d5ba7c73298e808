//===- Packing.cpp - Plans the copy of strided inputs; copies on the CPU -===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Packing.h"
#include "ThreadPool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace fuseops::runtime;

// Elements of a piece of work, and rows of a tile of a transposition.
static constexpr int64_t kPieceElements = 1 << 14;
static constexpr int64_t kTileRows = 32;

bool fuseops::runtime::isPacked(const DLTensor &tensor, int32_t &dimension,
                                int64_t &expected) {
  if (!tensor.strides || std::find(tensor.shape, tensor.shape + tensor.ndim,
                                   0) != tensor.shape + tensor.ndim)
    return true;
  expected = 1;
  for (dimension = tensor.ndim - 1; dimension >= 0; --dimension) {
    int64_t extent = tensor.shape[dimension];
    if (extent != 1 && tensor.strides[dimension] != expected)
      return false;
    expected *= extent;
  }
  return true;
}

bool fuseops::runtime::findSpan(const DLTensor &tensor, int64_t elementBytes,
                                int64_t &before, int64_t &after) {
  before = 0;
  after = elementBytes;
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    int64_t reach;
    if (__builtin_mul_overflow(tensor.shape[i] - 1, tensor.strides[i],
                               &reach) ||
        __builtin_mul_overflow(reach, elementBytes, &reach) ||
        (reach < 0 ? __builtin_sub_overflow(before, reach, &before)
                   : __builtin_add_overflow(after, reach, &after)))
      return false;
  }
  return true;
}

bool fuseops::runtime::planPacking(const DLTensor &tensor, int64_t elementBytes,
                                   Packing &packing) {
  packing.source = static_cast<const char *>(tensor.data) + tensor.byte_offset;
  packing.elementBytes = elementBytes;
  packing.elements = 1;
  packing.rank = 0;
  int64_t &rank = packing.rank;
  int64_t packedBytes = elementBytes;
  for (int32_t i = 0; i < tensor.ndim; ++i)
    packedBytes *= tensor.shape[i];
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    int64_t extent = tensor.shape[i];
    packedBytes /= extent;
    if (extent == 1)
      continue;
    packing.elements *= extent;
    int64_t stride =
        tensor.strides ? tensor.strides[i] * elementBytes : packedBytes;
    if (rank != 0 && packing.strides[rank - 1] % extent == 0 &&
        packing.strides[rank - 1] / extent == stride) {
      packing.extents[rank - 1] *= extent;
      packing.strides[rank - 1] = stride;
      continue;
    }
    if (rank == Packing::kMaxRank)
      return false;
    packing.extents[rank] = extent;
    packing.strides[rank++] = stride;
  }

  // Two elements are one of twice the size, if all pairs lie so.
  auto canWiden = [&] {
    int64_t last = rank - 1, wide = 2 * packing.elementBytes;
    if (rank == 0 || wide > 16 ||
        packing.strides[last] != packing.elementBytes ||
        packing.extents[last] % 2 != 0 ||
        reinterpret_cast<uintptr_t>(packing.source) % wide != 0)
      return false;
    return std::all_of(packing.strides, packing.strides + last,
                       [=](int64_t stride) { return stride % wide == 0; });
  };
  while (canWiden()) {
    packing.elementBytes *= 2;
    packing.elements /= 2;
    packing.strides[rank - 1] = packing.elementBytes;
    packing.extents[rank - 1] /= 2;
    if (packing.extents[rank - 1] == 1)
      --rank;
  }
  return true;
}

namespace {

struct Element16 {
  uint64_t words[2];
};

/// Copies by rows of the innermost dimension. Where another dimension's
/// elements lie closer, as in a transpose, by tiles of that many rows, so that
/// what is read together lies together.
template <typename Element>
class Copier {
public:
  explicit Copier(const Packing &packing) : packing(packing) {
    int64_t packed = 1;
    for (int64_t i = packing.rank - 1; i >= 0; --i) {
      packedStrides[i] = packed;
      packed *= packing.extents[i];
    }
    if (packing.rank != 0) {
      columns = packing.extents[packing.rank - 1];
      columnStride = packing.strides[packing.rank - 1];
    }
    constexpr int64_t adjacent = sizeof(Element);
    int64_t closest = std::abs(columnStride);
    if (closest > adjacent)
      for (int64_t i = 0; i + 1 < packing.rank; ++i)
        if (std::abs(packing.strides[i]) < closest) {
          tiled = i;
          closest = std::abs(packing.strides[i]);
        }
    chunks = divideUp(columns, kPieceElements);
    pieces = chunks;
    for (int64_t i = 0; i + 1 < packing.rank; ++i)
      pieces *= countSteps(i);
  }

  void run() const {
    int64_t tileElements =
        std::min(columns, kPieceElements) * (tiled < 0 ? 1 : kTileRows);
    int64_t group = std::max<int64_t>(1, kPieceElements / tileElements);
    parallelFor(divideUp(pieces, group), [this, group](int64_t task) {
      int64_t end = std::min(pieces, (task + 1) * group);
      for (int64_t piece = task * group; piece < end; ++piece)
        copy(piece);
    });
  }

private:
  static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }
  int64_t countSteps(int64_t dimension) const {
    return dimension == tiled ? divideUp(packing.extents[dimension], kTileRows)
                              : packing.extents[dimension];
  }
  void copy(int64_t piece) const;

  const Packing &packing;
  int64_t packedStrides[Packing::kMaxRank];
  int64_t columns = 1, columnStride = sizeof(Element);
  /// The dimension that tiles cut, -1 if none.
  int64_t tiled = -1;
  int64_t chunks, pieces;
};

} // namespace

template <typename Element>
void Copier<Element>::copy(int64_t piece) const {
  const char *source = static_cast<const char *>(packing.source);
  Element *target = static_cast<Element *>(packing.target);
  int64_t first = piece % chunks * kPieceElements;
  int64_t count = std::min(kPieceElements, columns - first);
  source += first * columnStride;
  target += first;
  int64_t rows = 1, rowStride = 0, packedRowStride = 0, rest = piece / chunks;
  for (int64_t i = packing.rank - 2; i >= 0; --i) {
    int64_t steps = countSteps(i), index = rest % steps;
    rest /= steps;
    if (i == tiled) {
      index *= kTileRows;
      rows = std::min(kTileRows, packing.extents[i] - index);
      rowStride = packing.strides[i];
      packedRowStride = packedStrides[i];
    }
    source += index * packing.strides[i];
    target += index * packedStrides[i];
  }
  if (columnStride == sizeof(Element)) {
    std::memcpy(target, source, count * sizeof(Element));
    return;
  }
  for (int64_t column = 0; column < count; ++column)
    for (int64_t row = 0; row < rows; ++row)
      target[row * packedRowStride + column] =
          *reinterpret_cast<const Element *>(source + column * columnStride +
                                             row * rowStride);
}

void fuseops::runtime::packOnCpu(const Packing &packing) {
  switch (packing.elementBytes) {
  case 1:
    return Copier<uint8_t>(packing).run();
  case 2:
    return Copier<uint16_t>(packing).run();
  case 4:
    return Copier<uint32_t>(packing).run();
  case 8:
    return Copier<uint64_t>(packing).run();
  case 16:
    return Copier<Element16>(packing).run();
  }
}
