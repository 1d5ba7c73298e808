//===- CudaCode.h - A program's kernels on CUDA devices ------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_RUNTIME_CUDACODE_H
#define FUSEOPS_LIB_RUNTIME_CUDACODE_H

#include "Arguments.h"
#include "CudaDriver.h"

#include <map>

namespace fuseops {
namespace runtime {

/// The kernels of one program in one context.
struct CudaKernels {
  CudaContext context = nullptr;
  std::vector<CudaModule> modules;
  /// One for each of `Program::kernels`.
  std::vector<CudaFunction> functions;
  /// Copies of `Program::constants`; 0 where there is nothing to copy.
  std::vector<CudaPointer> constants;
};

/// The kernels of one program, for each context that it ran in.
class CudaCode {
public:
  CudaCode() = default;
  CudaCode(const CudaCode &) = delete;
  CudaCode &operator=(const CudaCode &) = delete;
  ~CudaCode();

  /// The kernels in the scope's context, loaded on first use.
  fuseopsStatus get(const Program &program, const CudaScope &scope,
                    const CudaKernels *&kernels);

private:
  std::mutex mutex;
  std::map<unsigned long long, std::unique_ptr<CudaKernels>> contexts;
};

/// How good code is for a device of this compute capability: 0 if it cannot
/// run; a cubin is better than PTX, newer is better than older. `sm_90a` runs
/// on 9.0 only, `sm_90` on 9.x, `sm_100f` on 10.x; PTX for `sm_80` on 8.0 and
/// all later ones.
int rankCudaCode(CodeKind kind, const std::string &arch, int major, int minor);

/// Loads the program's code for a device, -1 for the current one.
fuseopsStatus prepareCuda(Program &program, int32_t deviceId);

/// Enqueues all steps of an entry, `repetitions` times. Writes the time of each
/// step into `stepMicroseconds`, and the mean time of a repetition into
/// `microseconds`, unless NULL; then it waits for the end.
fuseopsStatus runOnCuda(Program &program, const Entry &entry, Binding &binding,
                        void *stream, int32_t repetitions,
                        double *stepMicroseconds, double *microseconds);

} // namespace runtime
} // namespace fuseops

#endif // FUSEOPS_LIB_RUNTIME_CUDACODE_H
