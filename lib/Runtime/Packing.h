//===- Packing.h - Copies strided inputs into packed memory --------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels read packed row-major tensors. An input of other strides (a slice, a
// transpose, a broadcast) is copied into the workspace before the first step.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_RUNTIME_PACKING_H
#define FUSEOPS_LIB_RUNTIME_PACKING_H

#include "CudaDriver.h"

namespace fuseops {
namespace runtime {

/// One copy. Dimensions that are one piece of memory have been merged, and so
/// have elements into wider ones where alignment allows.
struct Packing {
  /// What a copy may have of dimensions.
  static constexpr int32_t kMaxRank = 8;

  const void *source = nullptr;
  void *target = nullptr;
  /// Elements, each of 1, 2, 4, 8 or 16 bytes.
  int64_t elements = 0;
  int64_t elementBytes = 0;
  /// Outermost dimension first; strides are in bytes.
  int64_t rank = 0;
  int64_t extents[kMaxRank];
  int64_t strides[kMaxRank];
};

/// Whether a tensor's elements lie in row-major order, one after the other. The
/// strides of dimensions of one element are free, and an empty tensor may have
/// any. Otherwise `dimension` is the innermost whose stride is not `expected`.
bool isPacked(const DLTensor &tensor, int32_t &dimension, int64_t &expected);

/// Writes how many bytes before and after its address a tensor that is not
/// empty reaches; false if that is more than memory.
bool findSpan(const DLTensor &tensor, int64_t elementBytes, int64_t &before,
              int64_t &after);

/// Plans the copy of a tensor that is not empty, but for its target; false if
/// its strides keep more than `kMaxRank` dimensions apart.
bool planPacking(const DLTensor &tensor, int64_t elementBytes,
                 Packing &packing);

/// Copies, on the process's threads.
void packOnCpu(const Packing &packing);

/// Loads the kernels that copy into the scope's context, which else the first
/// copy does.
fuseopsStatus prepareCudaPacking(const CudaScope &scope);

/// Enqueues the copy.
fuseopsStatus packOnCuda(const CudaScope &scope, const Packing &packing,
                         CudaStream stream);

} // namespace runtime
} // namespace fuseops

#endif // FUSEOPS_LIB_RUNTIME_PACKING_H
