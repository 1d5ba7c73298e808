//===- CublasLtLibrary.h - cuBLASLt, loaded at run time ------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_RUNTIME_CUBLASLTLIBRARY_H
#define FUSEOPS_LIB_RUNTIME_CUBLASLTLIBRARY_H

#include "CudaDriver.h"

#include <map>
#include <mutex>

namespace fuseops {
namespace runtime {
namespace cublaslt {

// Values of cublasLt.h, cublas_api.h and library_types.h (CUDA 12 and 13).
constexpr int kReal32 = 0, kReal64 = 1, kReal16 = 2, kBfloat16 = 14;
constexpr int kE4M3 = 28, kE5M2 = 29;
constexpr int kCompute32 = 68, kCompute64 = 70;
constexpr int32_t kOperationNone = 0, kOperationTranspose = 1;
constexpr int kDescTransA = 3, kDescTransB = 4, kDescEpilogue = 7;
constexpr int kDescBiasPointer = 8, kDescBiasType = 26;
constexpr int kDescScalePointerA = 17, kDescScalePointerB = 18;
constexpr int kDescFastAccumulation = 25;
constexpr int kDescScaleModeA = 31, kDescScaleModeB = 32;
constexpr int32_t kScaleScalar = 0, kScaleOuterVector = 3;
constexpr int32_t kScaleVector128 = 4, kScaleBlock128x128 = 5;
constexpr uint32_t kEpilogueBias = 4;
constexpr int kPreferWorkspace = 1;
constexpr int kPreferReduction = 3;
// Parts of a product are added in f32, never in the result's type.
constexpr uint32_t kReduceInComputeType = 2;
constexpr int kPreferAlignments[] = {5, 6, 7, 8};

using Handle = struct CublasLtHandleOpaque *;
using Description = struct CublasLtDescriptionOpaque *;
using Layout = struct CublasLtLayoutOpaque *;
using Preference = struct CublasLtPreferenceOpaque *;

struct Algorithm {
  uint64_t data[8];
};

/// cublasLtMatmulHeuristicResult_t.
struct Heuristic {
  Algorithm algorithm;
  size_t workspaceBytes;
  int state;
  float waves;
  int reserved[4];
};

/// The functions of libcublasLt, and a handle for each context.
struct Library {
  size_t (*getVersion)();
  int (*create)(Handle *);
  int (*createDescription)(Description *, int compute, int scale);
  int (*destroyDescription)(Description);
  int (*setDescription)(Description, int, const void *, size_t);
  int (*createLayout)(Layout *, int type, uint64_t, uint64_t, int64_t);
  int (*destroyLayout)(Layout);
  int (*createPreference)(Preference *);
  int (*destroyPreference)(Preference);
  int (*setPreference)(Preference, int, const void *, size_t);
  int (*findAlgorithm)(Handle, Description, Layout, Layout, Layout, Layout,
                       Preference, int, Heuristic *, int *);
  int (*matmul)(Handle, Description, const void *alpha, const void *a, Layout,
                const void *b, Layout, const void *beta, const void *c, Layout,
                void *d, Layout, const Algorithm *, void *, size_t, CudaStream);

  std::mutex mutex;
  std::map<unsigned long long, Handle> handles;
  std::string error;

  static fuseopsStatus get(Library *&library);
  fuseopsStatus getHandle(const CudaScope &scope, Handle &handle);

private:
  void load();
};

} // namespace cublaslt
} // namespace runtime
} // namespace fuseops

#endif // FUSEOPS_LIB_RUNTIME_CUBLASLTLIBRARY_H
