//===- DType.h - What the runtime knows about element types ---------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_RUNTIME_DTYPE_H
#define FUSEOPS_LIB_RUNTIME_DTYPE_H

#include "FuseOps-c/Runtime.h"

namespace fuseops {
namespace runtime {

/// How many element types there are; valid ones are below it.
constexpr unsigned kNumDTypes = 13;

/// The DLPack type that stands for `dtype`.
DLDataType getDLDataType(fuseopsDType dtype);

/// Whether a tensor of DLPack type `type` may be passed where `dtype` is
/// expected. FP8 and bool also come as `uint8`, for frameworks whose DLPack is
/// older.
bool acceptsDLDataType(fuseopsDType dtype, DLDataType type);

/// Whether a matrix product may read or write it.
inline bool isMatmulDType(fuseopsDType dtype) { return dtype <= FUSEOPS_BF16; }

/// Whether a product with scales may read it, and whether scales are of it.
inline bool isFp8DType(fuseopsDType dtype) {
  return dtype == FUSEOPS_F8E4M3FN || dtype == FUSEOPS_F8E5M2;
}
inline bool isScaleDType(fuseopsDType dtype) { return dtype == FUSEOPS_F32; }

} // namespace runtime
} // namespace fuseops

#endif // FUSEOPS_LIB_RUNTIME_DTYPE_H
