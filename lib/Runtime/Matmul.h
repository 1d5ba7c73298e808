//===- Matmul.h - Matrix products ----------------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_RUNTIME_MATMUL_H
#define FUSEOPS_LIB_RUNTIME_MATMUL_H

#include "FuseOps-c/Runtime.h"

namespace fuseops {
namespace runtime {

/// What one scale of an FP8 matrix covers.
enum class ScaleKind { PerTensor, PerRow, Block1x128, Block128x128 };

/// The scales of an FP8 operand: its values are data * scale.
struct MatmulScales {
  /// NULL for an operand without.
  const void *values = nullptr;
  ScaleKind kind = ScaleKind::PerTensor;
  /// How many scales of blocks of 128x128 lie between rows.
  int64_t pitch = 0;
};

/// out[m, n] = op(a)[m, k] * op(b)[k, n] (+ bias[n]), all packed row-major.
struct MatmulArguments {
  const void *a = nullptr;
  const void *b = nullptr;
  /// NULL for none.
  const void *bias = nullptr;
  void *out = nullptr;
  fuseopsDType aType = FUSEOPS_F32;
  fuseopsDType bType = FUSEOPS_F32;
  fuseopsDType biasType = FUSEOPS_F32;
  fuseopsDType outType = FUSEOPS_F32;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  /// a is stored [k, m].
  bool transposeA = false;
  /// b is stored [n, k].
  bool transposeB = false;
  /// Of FP8 operands, a stored [m, k] and b [n, k]; CUDA only.
  MatmulScales aScales, bScales;
  bool isScaled = false;
  /// Adds of a scaled product may be in less than f32.
  bool fastAccumulate = false;
};

/// Runs any product of f64, f32, f16 and bf16 tensors. Accumulates in f64 where
/// a or b is f64, else in f32, always in the order of k, and rounds once: the
/// result depends neither on the number of threads nor on how m and n are cut.
void runOwnMatmul(const MatmulArguments &arguments);

/// Runs a product with oneDNN. Returns false, with nothing done, where oneDNN
/// is missing or cannot run it.
bool runOneDnnMatmul(const MatmulArguments &arguments);

/// Whether oneDNN was found.
bool isOneDnnAvailable();

} // namespace runtime
} // namespace fuseops

#endif // FUSEOPS_LIB_RUNTIME_MATMUL_H
