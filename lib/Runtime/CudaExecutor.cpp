//===- CudaExecutor.cpp - Runs an entry's steps on a CUDA device ---------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CublasLt.h"
#include "CudaCode.h"
#include "CudaParameters.h"
#include "Status.h"

using namespace fuseops::runtime;

namespace {

/// Events that mark times on a stream, destroyed at the end.
class Timer {
public:
  Timer(const CudaDriver &driver, CudaStream stream)
      : driver(driver), stream(stream) {}
  Timer(const Timer &) = delete;
  Timer &operator=(const Timer &) = delete;
  ~Timer() {
    for (CudaEvent event : events)
      driver.eventDestroy(event);
  }

  fuseopsStatus create(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      CudaEvent event;
      if (fuseopsStatus status = driver.check(driver.eventCreate(&event, 0),
                                              "creating a CUDA event"))
        return status;
      events.push_back(event);
    }
    return FUSEOPS_OK;
  }
  fuseopsStatus mark(size_t index) {
    return driver.check(driver.eventRecord(events[index], stream),
                        "recording a CUDA event");
  }
  fuseopsStatus wait() {
    return driver.check(driver.eventSynchronize(events.back()),
                        "waiting for the CUDA stream");
  }
  /// Writes the time from mark `index` to the next one.
  fuseopsStatus read(size_t index, double &microseconds) {
    float milliseconds = 0;
    fuseopsStatus status = driver.check(
        driver.eventElapsed(&milliseconds, events[index], events[index + 1]),
        "reading CUDA events");
    microseconds = 1e3 * static_cast<double>(milliseconds);
    return status;
  }

private:
  const CudaDriver &driver;
  CudaStream stream;
  std::vector<CudaEvent> events;
};

} // namespace

/// A kernel that starts early waits by itself: its launch is then no time
/// between the kernel before and it. What comes after waits for all of it.
static CudaResult submit(const CudaDriver &driver, CudaFunction function,
                         const KernelStep &kernel, unsigned blocks,
                         void **parameters, CudaStream stream,
                         bool startsEarly) {
  auto threadsX = static_cast<unsigned>(kernel.threadsX);
  auto threadsY = static_cast<unsigned>(kernel.threadsY);
  auto sharedBytes = static_cast<unsigned>(kernel.sharedBytes);
  if (!startsEarly || !driver.launchExtended)
    return driver.launch(function, blocks, 1, 1, threadsX, threadsY, 1,
                         sharedBytes, stream, parameters, nullptr);
  CudaLaunchAttribute attribute;
  CudaLaunchConfig config = {blocks, 1,           1,      threadsX,   threadsY,
                             1,      sharedBytes, stream, &attribute, 1};
  return driver.launchExtended(&config, function, parameters, nullptr);
}

/// `followsKernel` is whether a kernel of this run is the last of the stream.
static fuseopsStatus launchKernel(const CudaScope &scope,
                                  const CudaKernels &kernels,
                                  const Entry &entry, const Step &step,
                                  const Binding &binding, CudaStream stream,
                                  bool &followsKernel) {
  const KernelStep &kernel = step.kernel;
  // Reused by all launches of a thread, so that a run allocates nothing.
  static thread_local CudaParameters parameters;
  int64_t workers;
  if (fuseopsStatus status =
          parameters.bind(*scope.driver, entry, step, binding, workers))
    return status;
  if (workers == 0)
    return FUSEOPS_OK;
  CudaResult result =
      submit(*scope.driver, kernels.functions[kernel.kernel], kernel,
             static_cast<unsigned>(workers), parameters.getPointers(), stream,
             kernel.startsEarly && followsKernel);
  followsKernel = true;
  return scope.driver->check(result, "launching the kernel");
}

static fuseopsStatus launchMatmul(const CudaScope &scope, const Entry &entry,
                                  const Step &step, const Binding &binding,
                                  CudaStream stream) {
  MatmulArguments arguments;
  if (fuseopsStatus status = bindMatmul(entry, step, binding, arguments))
    return status;
  return runCublasLt(
      scope, arguments, binding.libraryWorkspace, kLibraryWorkspaceBytes,
      static_cast<char *>(binding.libraryWorkspace) + kLibraryWorkspaceBytes,
      stream);
}

static fuseopsStatus launchEntry(const CudaScope &scope,
                                 const CudaKernels &kernels, const Entry &entry,
                                 const Binding &binding, CudaStream stream,
                                 Timer *stepTimer) {
  for (const Packing &packing : binding.packings)
    if (fuseopsStatus status = packOnCuda(scope, packing, stream))
      return status;
  bool followsKernel = false;
  for (size_t i = 0; i < entry.steps.size(); ++i) {
    const Step &step = entry.steps[i];
    followsKernel &= !step.isMatmul;
    if (stepTimer)
      if (fuseopsStatus status = stepTimer->mark(i))
        return status;
    fuseopsStatus status =
        step.isMatmul ? launchMatmul(scope, entry, step, binding, stream)
                      : launchKernel(scope, kernels, entry, step, binding,
                                     stream, followsKernel);
    if (status)
      return addContext(status, ("step `" + step.name + "`").c_str());
  }
  return stepTimer ? stepTimer->mark(entry.steps.size()) : FUSEOPS_OK;
}

fuseopsStatus fuseops::runtime::runOnCuda(Program &program, const Entry &entry,
                                          Binding &binding, void *streamPointer,
                                          int32_t repetitions,
                                          double *stepMicroseconds,
                                          double *microseconds) {
  auto *stream = static_cast<CudaStream>(streamPointer);
  CudaScope scope;
  if (fuseopsStatus status = scope.enter(binding.deviceId))
    return status;
  const CudaKernels *kernels;
  if (fuseopsStatus status = program.cuda->get(program, scope, kernels))
    return status;
  for (size_t i = 0; i < entry.tensors.size(); ++i) {
    int32_t constant = entry.tensors[entry.tensors[i].root].constant;
    if (constant != -1)
      binding.pointers[i] =
          reinterpret_cast<void *>(kernels->constants[constant]);
  }
  Timer stepTimer(*scope.driver, stream), timer(*scope.driver, stream);
  if (stepMicroseconds)
    if (fuseopsStatus status = stepTimer.create(entry.steps.size() + 1))
      return status;
  if (microseconds) {
    if (fuseopsStatus status = timer.create(2))
      return status;
    if (fuseopsStatus status = timer.mark(0))
      return status;
  }
  for (int32_t i = 0; i < repetitions; ++i)
    if (fuseopsStatus status =
            launchEntry(scope, *kernels, entry, binding, stream,
                        stepMicroseconds ? &stepTimer : nullptr))
      return status;
  if (microseconds) {
    if (fuseopsStatus status = timer.mark(1))
      return status;
    if (fuseopsStatus status = timer.wait())
      return status;
    if (fuseopsStatus status = timer.read(0, *microseconds))
      return status;
    *microseconds /= repetitions;
  }
  if (!stepMicroseconds)
    return FUSEOPS_OK;
  if (fuseopsStatus status = stepTimer.wait())
    return status;
  for (size_t i = 0; i < entry.steps.size(); ++i)
    if (fuseopsStatus status = stepTimer.read(i, stepMicroseconds[i]))
      return status;
  return FUSEOPS_OK;
}
