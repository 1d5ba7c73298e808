//===- CpuExecutor.cpp - Runs an entry's steps on the CPU ----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuCode.h"
#include "Matmul.h"
#include "Status.h"
#include "ThreadPool.h"

#include <chrono>

using namespace fuseops::runtime;

using Clock = std::chrono::steady_clock;

// Multiply-adds, about 50 us of work, below which our own product is faster.
static constexpr double kSmallProduct = 1 << 21;

static fuseopsStatus runKernel(const Program &program, const Step &step,
                               const Binding &binding) {
  const KernelStep &kernel = step.kernel;
  int64_t rows, count;
  if (fuseopsStatus status = bindKernel(step, binding, rows, count))
    return status;
  int64_t workers = kernel.grid.countWorkers(rows);
  if (workers == 0)
    return FUSEOPS_OK;
  // Reused by all runs of a thread, so that a run allocates nothing.
  static thread_local std::vector<void *> tensors;
  tensors.clear();
  for (int32_t index : kernel.tensors)
    tensors.push_back(binding.pointers[index]);
  CpuKernel function = program.cpu->kernels[kernel.kernel];
  void *const *pointers = tensors.data();
  parallelFor(workers, [=](int64_t worker) {
    function(pointers, rows, count, worker, workers);
  });
  return FUSEOPS_OK;
}

static fuseopsStatus runMatmul(const Program &program, const Entry &entry,
                               const Step &step, const Binding &binding) {
  MatmulArguments arguments;
  if (fuseopsStatus status = bindMatmul(entry, step, binding, arguments))
    return status;
  if (arguments.m == 0 || arguments.n == 0)
    return FUSEOPS_OK;
  // The reference is what everything else is compared with: one product, ours.
  // A small one is over before the library's threads have met.
  bool isSmall = static_cast<double>(arguments.m) * arguments.n * arguments.k <
                 kSmallProduct;
  if (program.target == Target::Reference || isSmall ||
      !runOneDnnMatmul(arguments))
    runOwnMatmul(arguments);
  return FUSEOPS_OK;
}

fuseopsStatus fuseops::runtime::runOnCpu(const Program &program,
                                         const Entry &entry,
                                         const Binding &binding,
                                         double *stepMicroseconds) {
  for (const Packing &packing : binding.packings)
    packOnCpu(packing);
  for (size_t i = 0; i < entry.steps.size(); ++i) {
    const Step &step = entry.steps[i];
    Clock::time_point begin;
    if (stepMicroseconds)
      begin = Clock::now();
    fuseopsStatus status = step.isMatmul
                               ? runMatmul(program, entry, step, binding)
                               : runKernel(program, step, binding);
    if (status)
      return status;
    if (stepMicroseconds)
      stepMicroseconds[i] =
          std::chrono::duration<double, std::micro>(Clock::now() - begin)
              .count();
  }
  return FUSEOPS_OK;
}
