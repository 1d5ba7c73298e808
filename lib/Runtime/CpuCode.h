//===- CpuCode.h - A program's shared objects, loaded --------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_RUNTIME_CPUCODE_H
#define FUSEOPS_LIB_RUNTIME_CPUCODE_H

#include "Arguments.h"

namespace fuseops {
namespace runtime {

/// A generated kernel of the CPU target.
using CpuKernel = void (*)(void *const *tensors, int64_t rows, int64_t count,
                           int64_t worker, int64_t workers);

/// The kernels of one program. Objects stay loaded as long as it lives.
class CpuCode {
public:
  CpuCode() = default;
  CpuCode(const CpuCode &) = delete;
  CpuCode &operator=(const CpuCode &) = delete;
  ~CpuCode();

  /// Loads the best code for this machine and finds every kernel in it.
  fuseopsStatus load(const Program &program);

  /// One for each of `Program::kernels`.
  std::vector<CpuKernel> kernels;

private:
  fuseopsStatus loadObject(const Code &code);

  /// Handles of the loader.
  std::vector<void *> objects;
};

/// The best architecture of this machine that code may name: x86-64-v4, …
const char *getCpuArch();

/// Loads the program's code unless that was done.
fuseopsStatus prepareCpu(Program &program);

/// Runs all steps of an entry. Writes the time of each, in microseconds, into
/// `stepMicroseconds` unless it is NULL.
fuseopsStatus runOnCpu(const Program &program, const Entry &entry,
                       const Binding &binding, double *stepMicroseconds);

} // namespace runtime
} // namespace fuseops

#endif // FUSEOPS_LIB_RUNTIME_CPUCODE_H
