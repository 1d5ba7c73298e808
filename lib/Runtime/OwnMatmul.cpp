//===- OwnMatmul.cpp - Blocked matrix product for the CPU ----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Each task owns one tile of the output. It walks k in blocks, packs its part
// of a and b into panels of the accumulation type, and lets a kernel of MR rows
// by 128 bytes add to the tile, which is rounded and written at the end.
//
//===----------------------------------------------------------------------===//

#include "Matmul.h"
#include "SmallFloat.h"
#include "ThreadPool.h"

#include <algorithm>
#include <vector>

using namespace fuseops::runtime;

// A tile, its accumulators and both packed blocks stay in a core's L2 cache.
static constexpr int64_t kTile = 128;
static constexpr int64_t kBlockK = 128;

// Products of fewer large tiles than this are cut into small ones, so that all
// threads have work. No matter for the result.
static constexpr int64_t kFewTiles = 32;

static constexpr int kMaxRows = 8;

namespace {

/// Adds a panel of a times a panel of b to `c`, rows of `stride` elements.
template <typename T>
using MicroKernel = void (*)(const T *a, const T *b, int64_t depth, T *c,
                             int64_t stride);

template <typename T>
struct Micro {
  MicroKernel<T> run;
  /// Rows of a panel of a.
  int rows;
};

/// Elements of a row of a panel of b: two vectors of 64 bytes.
template <typename T>
constexpr int kColumns = 128 / sizeof(T);

template <typename T>
struct VectorOf;
template <>
struct VectorOf<float> {
  typedef float Type __attribute__((vector_size(64)));
};
template <>
struct VectorOf<double> {
  typedef double Type __attribute__((vector_size(64)));
};

} // namespace

template <typename T, int Rows>
__attribute__((always_inline)) static inline void
accumulate(const T *a, const T *b, int64_t depth, T *c, int64_t stride) {
  using Vector = typename VectorOf<T>::Type;
  Vector low[Rows], high[Rows];
  for (int row = 0; row < Rows; ++row) {
    std::memcpy(&low[row], c + row * stride, sizeof(Vector));
    std::memcpy(&high[row], c + row * stride + kColumns<T> / 2, sizeof(Vector));
  }
  for (int64_t k = 0; k < depth; ++k) {
    Vector lowB, highB;
    std::memcpy(&lowB, b + k * kColumns<T>, sizeof(Vector));
    std::memcpy(&highB, b + k * kColumns<T> + kColumns<T> / 2, sizeof(Vector));
    for (int row = 0; row < Rows; ++row) {
      low[row] += lowB * a[k * Rows + row];
      high[row] += highB * a[k * Rows + row];
    }
  }
  for (int row = 0; row < Rows; ++row) {
    std::memcpy(c + row * stride, &low[row], sizeof(Vector));
    std::memcpy(c + row * stride + kColumns<T> / 2, &high[row], sizeof(Vector));
  }
}

#if defined(__x86_64__)
// Without it clang cuts 512-bit vectors in two.
#if defined(__clang__)
#define FUSEOPS_WIDE_VECTORS __attribute__((min_vector_width(512)))
#else
#define FUSEOPS_WIDE_VECTORS
#endif
template <typename T>
FUSEOPS_WIDE_VECTORS __attribute__((target("arch=x86-64-v4"))) static void
accumulateV4(const T *a, const T *b, int64_t depth, T *c, int64_t stride) {
  accumulate<T, 8>(a, b, depth, c, stride);
}

template <typename T>
__attribute__((target("arch=x86-64-v3"))) static void
accumulateV3(const T *a, const T *b, int64_t depth, T *c, int64_t stride) {
  accumulate<T, 3>(a, b, depth, c, stride);
}
#endif

template <typename T>
static void accumulateBaseline(const T *a, const T *b, int64_t depth, T *c,
                               int64_t stride) {
  accumulate<T, 1>(a, b, depth, c, stride);
}

template <typename T>
static Micro<T> chooseMicro() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4"))
    return {accumulateV4<T>, 8};
  if (__builtin_cpu_supports("x86-64-v3"))
    return {accumulateV3<T>, 3};
#endif
  return {accumulateBaseline<T>, 1};
}

namespace {

// How each element type is read and written.
struct F64 {
  using Storage = double;
  static double load(double value) { return value; }
  static double store(double value) { return value; }
  static double store(float value) { return value; }
};
struct F32 {
  using Storage = float;
  static float load(float value) { return value; }
  static float store(double value) { return static_cast<float>(value); }
  static float store(float value) { return value; }
};
struct F16 {
  using Storage = uint16_t;
  static float load(uint16_t bits) { return f16ToFloat(bits); }
  static uint16_t store(double value) {
    return floatToF16(doubleToFloatOdd(value));
  }
  static uint16_t store(float value) { return floatToF16(value); }
};
struct BF16 {
  using Storage = uint16_t;
  static float load(uint16_t bits) { return bf16ToFloat(bits); }
  static uint16_t store(double value) {
    return floatToBf16(doubleToFloatOdd(value));
  }
  static uint16_t store(float value) { return floatToBf16(value); }
};

/// A matrix in memory: element (i, j) is at `i * rowStride + j * columnStride`.
struct Matrix {
  const void *data;
  fuseopsDType dtype;
  int64_t rowStride, columnStride;
};

} // namespace

/// Calls `body` with the element type of `dtype`.
template <typename Body>
static void dispatch(fuseopsDType dtype, Body &&body) {
  switch (dtype) {
  case FUSEOPS_F64:
    return body(F64());
  case FUSEOPS_F32:
    return body(F32());
  case FUSEOPS_F16:
    return body(F16());
  default:
    return body(BF16());
  }
}

/// Writes `count` lines of `depth` elements as panels of `width` lines, the
/// elements of one depth beside each other; lines that lack are zero.
template <typename Element, typename T>
static void pack(const typename Element::Storage *source, int64_t lineStride,
                 int64_t depthStride, int64_t count, int64_t depth,
                 int64_t width, T *packed) {
  for (int64_t first = 0; first < count; first += width) {
    int64_t lines = std::min(width, count - first);
    const typename Element::Storage *panel = source + first * lineStride;
    T *out = packed + first * depth;
    if (lineStride == 1) {
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t line = 0; line < lines; ++line)
          out[k * width + line] = Element::load(panel[k * depthStride + line]);
    } else {
      for (int64_t line = 0; line < lines; ++line)
        for (int64_t k = 0; k < depth; ++k)
          out[k * width + line] =
              Element::load(panel[line * lineStride + k * depthStride]);
    }
    for (int64_t k = 0; k < depth; ++k)
      std::fill(out + k * width + lines, out + (k + 1) * width, T(0));
  }
}

/// Packs lines [`first`, `first + count`) at depths from `firstDepth`.
template <typename T>
static void packMatrix(const Matrix &matrix, int64_t lineStride,
                       int64_t depthStride, int64_t first, int64_t count,
                       int64_t firstDepth, int64_t depth, int64_t width,
                       T *packed) {
  dispatch(matrix.dtype, [&](auto element) {
    using Element = decltype(element);
    using Storage = typename Element::Storage;
    const Storage *source = static_cast<const Storage *>(matrix.data) +
                            first * lineStride + firstDepth * depthStride;
    pack<Element, T>(source, lineStride, depthStride, count, depth, width,
                     packed);
  });
}

/// Adds the bias, rounds and writes a tile.
template <typename T>
static void writeTile(const MatmulArguments &arguments, const T *tile,
                      int64_t stride, int64_t row, int64_t column, int64_t rows,
                      int64_t columns) {
  T bias[kTile] = {};
  if (arguments.bias)
    dispatch(arguments.biasType, [&](auto element) {
      using Element = decltype(element);
      const auto *source =
          static_cast<const typename Element::Storage *>(arguments.bias);
      for (int64_t j = 0; j < columns; ++j)
        bias[j] = static_cast<T>(Element::load(source[column + j]));
    });
  dispatch(arguments.outType, [&](auto element) {
    using Element = decltype(element);
    auto *out = static_cast<typename Element::Storage *>(arguments.out);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        T value = tile[i * stride + j];
        // Not always: adding 0 would turn a negative zero into a positive one.
        if (arguments.bias)
          value += bias[j];
        out[(row + i) * arguments.n + column + j] = Element::store(value);
      }
  });
}

/// Computes one tile of the output.
template <typename T>
static void runTile(const MatmulArguments &arguments, const Micro<T> &micro,
                    const Matrix &a, const Matrix &b, int64_t row,
                    int64_t column, int64_t rows, int64_t columns) {
  constexpr int64_t stride = kTile;
  // Kept by each thread, so that a run allocates nothing.
  static thread_local std::vector<T> tile, packedA, packedB;
  tile.assign((kTile + kMaxRows) * stride, T(0));
  packedA.resize((kTile + kMaxRows) * kBlockK);
  packedB.resize(kTile * kBlockK);
  for (int64_t k = 0; k < arguments.k; k += kBlockK) {
    int64_t depth = std::min(kBlockK, arguments.k - k);
    packMatrix(a, a.rowStride, a.columnStride, row, rows, k, depth, micro.rows,
               packedA.data());
    packMatrix(b, b.columnStride, b.rowStride, column, columns, k, depth,
               kColumns<T>, packedB.data());
    for (int64_t j = 0; j < columns; j += kColumns<T>)
      for (int64_t i = 0; i < rows; i += micro.rows)
        micro.run(packedA.data() + i * depth, packedB.data() + j * depth, depth,
                  tile.data() + i * stride + j, stride);
  }
  writeTile(arguments, tile.data(), stride, row, column, rows, columns);
}

template <typename T>
static void runTyped(const MatmulArguments &arguments) {
  static const Micro<T> micro = chooseMicro<T>();
  int64_t m = arguments.m, n = arguments.n, k = arguments.k;
  Matrix a = {arguments.a, arguments.aType, arguments.transposeA ? 1 : k,
              arguments.transposeA ? m : 1};
  Matrix b = {arguments.b, arguments.bType, arguments.transposeB ? 1 : n,
              arguments.transposeB ? k : 1};
  auto divide = [](int64_t size, int64_t part) {
    return (size + part - 1) / part;
  };
  int64_t size = kTile;
  if (divide(m, size) * divide(n, size) < kFewTiles)
    size = kTile / 2;
  int64_t tileRows = divide(m, size), tileColumns = divide(n, size);
  parallelFor(tileRows * tileColumns, [&](int64_t index) {
    int64_t row = index / tileColumns * size;
    int64_t column = index % tileColumns * size;
    runTile<T>(arguments, micro, a, b, row, column, std::min(size, m - row),
               std::min(size, n - column));
  });
}

void fuseops::runtime::runOwnMatmul(const MatmulArguments &arguments) {
  if (arguments.m == 0 || arguments.n == 0)
    return;
  if (arguments.aType == FUSEOPS_F64 || arguments.bType == FUSEOPS_F64)
    runTyped<double>(arguments);
  else
    runTyped<float>(arguments);
}
