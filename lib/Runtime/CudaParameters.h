//===- CudaParameters.h - The parameters of a kernel on CUDA
//-----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_RUNTIME_CUDAPARAMETERS_H
#define FUSEOPS_LIB_RUNTIME_CUDAPARAMETERS_H

#include "Arguments.h"
#include "CudaDriver.h"

namespace fuseops {
namespace runtime {

/// The parameters of one launch. What one after the other binds is held in the
/// same memory.
class CudaParameters {
public:
  /// Binds the tensors, tensor maps, rows and count of `step`, and writes its
  /// thread blocks; where those are 0 the parameters are of no use. `binding`
  /// has to live until the launch.
  fuseopsStatus bind(const CudaDriver &driver, const Entry &entry,
                     const Step &step, const Binding &binding,
                     int64_t &workers);

  /// What the driver takes: where each parameter is, in order.
  void **getPointers() { return pointers.data(); }
  size_t size() const { return pointers.size(); }

private:
  int64_t rows = 0, count = 0;
  std::vector<CudaTensorMap> maps;
  std::vector<void *> pointers;
};

} // namespace runtime
} // namespace fuseops

#endif // FUSEOPS_LIB_RUNTIME_CUDAPARAMETERS_H
