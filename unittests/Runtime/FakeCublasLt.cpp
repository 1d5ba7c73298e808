//===- FakeCublasLt.cpp - cuBLASLt's FP8 products as its documentation has them
//===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Multiplies in host memory, element by element, and refuses what cuBLASLt
// refuses: so that the runtime's use of it can be tested without a GPU. Written
// from "Narrow Precision Data Types Usage" and `cublasLtMatmul()`.
//
//===----------------------------------------------------------------------===//

#include "SmallFloat.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>

using namespace fuseops::runtime;

namespace {

enum Status { Success = 0, InvalidValue = 7, NotSupported = 15 };
enum Type { F32 = 0, F16 = 2, BF16 = 14, E4M3 = 28, E5M2 = 29 };
enum Mode { Scalar = 0, OuterVector = 3, Vector128 = 4, Block128 = 5 };

struct Description {
  std::map<int, uint64_t> attributes;

  template <typename T>
  T get(int attribute, T otherwise) const {
    auto found = attributes.find(attribute);
    T value = otherwise;
    if (found != attributes.end())
      std::memcpy(&value, &found->second, sizeof(T));
    return value;
  }
  bool hasBias() const { return get<uint32_t>(7, 1) == 4; }
  int mode(int operand) const { return get<int32_t>(31 + operand, Scalar); }
  const float *scales(int operand) const {
    return get<const float *>(17 + operand, nullptr);
  }
};

/// A column-major matrix.
struct Layout {
  int type;
  int64_t rows, columns, pitch;
};

struct Heuristic {
  uint64_t algorithm[8];
  size_t workspaceBytes;
  int state;
  float waves;
  int reserved[4];
};

} // namespace

static int64_t ceilDiv(int64_t size, int64_t block) {
  return (size + block - 1) / block;
}

static size_t sizeOf(int type) {
  return type == F32 ? 4 : type == F16 || type == BF16 ? 2 : 1;
}

static double decode(uint8_t bits, int exponentBits) {
  int mantissaBits = 7 - exponentBits, bias = (1 << (exponentBits - 1)) - 1;
  int exponent = (bits >> mantissaBits) & ((1 << exponentBits) - 1);
  double mantissa = (bits & ((1 << mantissaBits) - 1)) /
                    static_cast<double>(1 << mantissaBits);
  double value = exponent ? std::ldexp(1 + mantissa, exponent - bias)
                          : std::ldexp(mantissa, 1 - bias);
  return bits & 0x80 ? -value : value;
}

static double load(const void *data, int type, int64_t index) {
  switch (type) {
  case E4M3:
    return decode(static_cast<const uint8_t *>(data)[index], 4);
  case E5M2:
    return decode(static_cast<const uint8_t *>(data)[index], 5);
  case F16:
    return f16ToFloat(static_cast<const uint16_t *>(data)[index]);
  case BF16:
    return bf16ToFloat(static_cast<const uint16_t *>(data)[index]);
  default:
    return static_cast<const float *>(data)[index];
  }
}

static void store(void *data, int type, int64_t index, double value) {
  auto single = static_cast<float>(value);
  if (type == F16)
    static_cast<uint16_t *>(data)[index] = floatToF16(single);
  else if (type == BF16)
    static_cast<uint16_t *>(data)[index] = floatToBf16(single);
  else
    static_cast<float *>(data)[index] = single;
}

/// The scale of element `depth` of row `outer` of A (column of B).
static double scaleOf(const Description &description, int operand,
                      int64_t outer, int64_t numOuter, int64_t depth,
                      int64_t numDepth) {
  const float *scales = description.scales(operand);
  switch (description.mode(operand)) {
  case OuterVector:
    return scales[outer];
  case Vector128:
    return scales[depth / 128 * numOuter + outer];
  case Block128:
    return scales[outer / 128 * (ceilDiv(ceilDiv(numDepth, 128), 4) * 4) +
                  depth / 128];
  default:
    return *scales;
  }
}

static bool isAligned(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer) % 16 == 0;
}

/// What its documentation demands of a product of FP8.
static bool isSupported(const Description &description, const Layout &a,
                        const Layout &b, const Layout &d) {
  bool isFp8 = (a.type == E4M3 || a.type == E5M2) &&
               (b.type == E4M3 || b.type == E5M2) &&
               !(a.type == E5M2 && b.type == E5M2);
  bool isTransposed = description.get<int32_t>(3, 0) == 1 &&
                      description.get<int32_t>(4, 0) == 0;
  bool isWhole = a.pitch % 16 == 0 && b.pitch % 16 == 0 && a.rows % 16 == 0 &&
                 d.pitch * sizeOf(d.type) % 16 == 0;
  int modeA = description.mode(0), modeB = description.mode(1);
  auto isBlock = [](int mode) { return mode == Vector128 || mode == Block128; };
  bool areModes = isBlock(modeA) && isBlock(modeB)
                      ? modeA == Vector128 || modeB == Vector128
                      : modeA == modeB && !isBlock(modeA);
  if (isBlock(modeA) && (d.rows % 4 != 0 || d.columns % 4 != 0))
    return false;
  int expectedBias = d.type == F32 ? BF16 : d.type;
  if (description.hasBias() && description.get<int32_t>(26, -1) != expectedBias)
    return false;
  if (description.hasBias() && std::getenv("FAKE_CUBLASLT_NO_BIAS"))
    return false;
  return isFp8 && isTransposed && isWhole && areModes &&
         isAligned(description.scales(0)) && isAligned(description.scales(1));
}

extern "C" {
#pragma GCC visibility push(default)

size_t cublasLtGetVersion() {
  const char *version = std::getenv("FAKE_CUBLASLT_VERSION");
  return version ? std::strtoul(version, nullptr, 10) : 130100;
}

int cublasLtCreate(void **handle) {
  *handle = handle;
  return Success;
}

int cublasLtMatmulDescCreate(Description **description, int compute,
                             int scale) {
  *description = new Description();
  return compute == 68 && scale == F32 ? Success : InvalidValue;
}

int cublasLtMatmulDescDestroy(Description *description) {
  delete description;
  return Success;
}

int cublasLtMatmulDescSetAttribute(Description *description, int attribute,
                                   const void *value, size_t bytes) {
  // Those of older libraries end at 30.
  if (attribute > 30 && cublasLtGetVersion() < 120800)
    return InvalidValue;
  bool isPointer = attribute == 8 || attribute == 17 || attribute == 18;
  if (bytes != (isPointer ? 8 : attribute == 25 ? 1 : 4))
    return InvalidValue;
  uint64_t &stored = description->attributes[attribute];
  stored = 0;
  std::memcpy(&stored, value, bytes);
  return Success;
}

int cublasLtMatrixLayoutCreate(Layout **layout, int type, uint64_t rows,
                               uint64_t columns, int64_t pitch) {
  *layout = new Layout{type, static_cast<int64_t>(rows),
                       static_cast<int64_t>(columns), pitch};
  return Success;
}

int cublasLtMatrixLayoutDestroy(Layout *layout) {
  delete layout;
  return Success;
}

int cublasLtMatmulPreferenceCreate(void **preference) {
  *preference = preference;
  return Success;
}

int cublasLtMatmulPreferenceDestroy(void *) { return Success; }

int cublasLtMatmulPreferenceSetAttribute(void *, int, const void *, size_t) {
  return Success;
}

int cublasLtMatmulAlgoGetHeuristic(void *, const Description *description,
                                   const Layout *a, const Layout *b,
                                   const Layout *, const Layout *d, void *, int,
                                   Heuristic *heuristic, int *found) {
  *found = isSupported(*description, *a, *b, *d);
  heuristic->state = Success;
  return *found ? Success : NotSupported;
}

/// d = beta * c + a^T * b, a [k, m], b [k, n], all column-major.
int cublasLtMatmul(void *, const Description *description, const float *alpha,
                   const void *a, const Layout *layoutA, const void *b,
                   const Layout *layoutB, const float *beta, const void *c,
                   const Layout *, void *d, const Layout *layoutD, const void *,
                   void *, size_t, void *) {
  if (!isSupported(*description, *layoutA, *layoutB, *layoutD) ||
      !isAligned(a) || !isAligned(b) || !isAligned(d))
    return NotSupported;
  int64_t m = layoutD->rows, n = layoutD->columns, depth = layoutA->rows;
  auto *bias = description->get<const void *>(8, nullptr);
  for (int64_t column = 0; column < n; ++column)
    for (int64_t row = 0; row < m; ++row) {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k)
        sum += load(a, layoutA->type, row * layoutA->pitch + k) *
               scaleOf(*description, 0, row, m, k, depth) *
               load(b, layoutB->type, column * layoutB->pitch + k) *
               scaleOf(*description, 1, column, n, k, depth);
      sum *= *alpha;
      int64_t index = column * layoutD->pitch + row;
      if (*beta != 0)
        sum += *beta * load(c, layoutD->type, index);
      if (description->hasBias())
        sum += load(bias, description->get<int32_t>(26, -1), row);
      store(d, layoutD->type, index, sum);
    }
  return Success;
}

#pragma GCC visibility pop
}
