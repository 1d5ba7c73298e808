//===- ScaledMatmul.cpp - What a library wants of FP8 operands -----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScaledMatmul.h"

using namespace fuseops::runtime;

// Rows of FP8, and of results of 2 bytes, that are whole 16 bytes; it is also
// more than the 4 rows that scales of blocks come in.
static constexpr int64_t kMultiple = 16;

// How many scales of blocks of 128x128 a row has to be a multiple of.
static constexpr int64_t kScaleMultiple = 4;

// What each copy is aligned to.
static constexpr int64_t kAlignment = 256;

static int64_t ceilDiv(int64_t size, int64_t block) {
  return size / block + (size % block != 0);
}

static int64_t roundUp(int64_t size, int64_t multiple) {
  return ceilDiv(size, multiple) * multiple;
}

static bool isBlock(ScaleKind kind) {
  return kind == ScaleKind::Block1x128 || kind == ScaleKind::Block128x128;
}

int64_t fuseops::runtime::countScales(ScaleKind kind, int64_t rows,
                                      int64_t columns, int64_t pitch) {
  switch (kind) {
  case ScaleKind::PerTensor:
    return 1;
  case ScaleKind::PerRow:
    return rows;
  case ScaleKind::Block1x128:
    return ceilDiv(columns, 128) * rows;
  case ScaleKind::Block128x128:
    return ceilDiv(rows, 128) * pitch;
  }
  return -1;
}

PaddedMatmul::PaddedMatmul(const MatmulArguments &arguments)
    : given(arguments), padded(arguments) {
  // Of one row cuBLASLt may make a kernel for vectors, which adds a bias to the
  // product rounded to the result's type.
  bool isWhole = isBlock(given.aScales.kind) || isBlock(given.bScales.kind) ||
                 given.m == 1;
  padded.m = isWhole ? roundUp(given.m, kMultiple) : given.m;
  padded.n = roundUp(given.n, kMultiple);
  padded.k = roundUp(given.k, kMultiple);
  auto size = [](fuseopsDType dtype) {
    return static_cast<int64_t>(fuseopsDTypeSize(dtype));
  };
  a = {given.m, given.k, padded.m, padded.k};
  b = {given.n, given.k, padded.n, padded.k};
  out = {given.m, given.n * size(given.outType), padded.m,
         padded.n * size(given.outType)};
  bias = {1, given.n * size(given.biasType), 1,
          padded.n * size(given.biasType)};
  auto getScales = [&](const MatmulScales &scales, int64_t rows,
                       int64_t paddedRows) -> Piece {
    constexpr int64_t bytes = sizeof(float);
    switch (scales.kind) {
    case ScaleKind::PerTensor:
      return {1, bytes, 1, bytes};
    case ScaleKind::PerRow:
      return {1, rows * bytes, 1, paddedRows * bytes};
    case ScaleKind::Block1x128: {
      int64_t blocks = ceilDiv(given.k, 128);
      return {blocks, rows * bytes, blocks, paddedRows * bytes};
    }
    case ScaleKind::Block128x128: {
      int64_t blocks = ceilDiv(rows, 128);
      return {blocks, scales.pitch * bytes, blocks,
              roundUp(scales.pitch, kScaleMultiple) * bytes};
    }
    }
    return {};
  };
  aScale = getScales(given.aScales, given.m, padded.m);
  bScale = getScales(given.bScales, given.n, padded.n);
}

int64_t PaddedMatmul::countBytes() const {
  int64_t bytes = 0;
  for (const Piece *piece : {&a, &b, &aScale, &bScale, &bias, &out})
    if (piece->isPadded())
      bytes += roundUp(piece->paddedRows * piece->paddedRowBytes, kAlignment);
  return bytes;
}

/// Enqueues the copy of `rows` rows of bytes.
static fuseopsStatus copyRows(const CudaScope &scope, const void *source,
                              int64_t sourcePitch, void *target,
                              int64_t targetPitch, int64_t rowBytes,
                              int64_t rows, CudaStream stream) {
  CudaCopy2D copy = {};
  copy.sourceKind = copy.targetKind = kCudaMemoryDevice;
  copy.sourceDevice = reinterpret_cast<CudaPointer>(source);
  copy.sourcePitch = static_cast<size_t>(sourcePitch);
  copy.targetDevice = reinterpret_cast<CudaPointer>(target);
  copy.targetPitch = static_cast<size_t>(targetPitch);
  copy.rowBytes = static_cast<size_t>(rowBytes);
  copy.rows = static_cast<size_t>(rows);
  return scope.driver->check(scope.driver->copyRows(&copy, stream),
                             "copying rows of a product");
}

fuseopsStatus PaddedMatmul::copyOperands(const CudaScope &scope, void *memory,
                                         CudaStream stream) {
  char *next = static_cast<char *>(memory);
  fuseopsStatus status = FUSEOPS_OK;
  auto take = [&](const Piece &piece) {
    void *target = next;
    next += roundUp(piece.paddedRows * piece.paddedRowBytes, kAlignment);
    return target;
  };
  auto pad = [&](const Piece &piece, const auto *&source) {
    if (status || !source || !piece.isPadded())
      return;
    void *target = take(piece);
    status = scope.driver->check(
        scope.driver->set(reinterpret_cast<CudaPointer>(target), 0,
                          piece.paddedRows * piece.paddedRowBytes, stream),
        "writing zeros");
    if (!status)
      status =
          copyRows(scope, source, piece.rowBytes, target, piece.paddedRowBytes,
                   piece.rowBytes, piece.rows, stream);
    source = static_cast<std::decay_t<decltype(source)>>(target);
  };
  pad(a, padded.a);
  pad(b, padded.b);
  pad(aScale, padded.aScales.values);
  pad(bScale, padded.bScales.values);
  pad(bias, padded.bias);
  if (out.isPadded())
    padded.out = take(out);
  return status;
}

fuseopsStatus PaddedMatmul::copyResult(const CudaScope &scope,
                                       CudaStream stream) const {
  if (!out.isPadded())
    return FUSEOPS_OK;
  return copyRows(scope, padded.out, out.paddedRowBytes, given.out,
                  out.rowBytes, out.rowBytes, out.rows, stream);
}
