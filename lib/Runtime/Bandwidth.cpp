//===- Bandwidth.cpp - The bandwidth of a copy within a device -----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDriver.h"
#include "Status.h"
#include "ThreadPool.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

using namespace fuseops::runtime;

namespace {
constexpr int kWarmUps = 3;

/// The median of the times, in microseconds.
double medianOf(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// Two buffers of device memory and two events, freed at the end.
struct CudaBuffers {
  explicit CudaBuffers(const CudaDriver &driver) : driver(driver) {}
  ~CudaBuffers() {
    for (CudaPointer pointer : pointers)
      if (pointer)
        driver.free(pointer);
    for (CudaEvent event : events)
      if (event)
        driver.eventDestroy(event);
  }

  const CudaDriver &driver;
  CudaPointer pointers[2] = {0, 0};
  CudaEvent events[2] = {nullptr, nullptr};
};
} // namespace

static fuseopsStatus timeCuda(int32_t deviceId, size_t bytes, int32_t runs,
                              std::vector<double> &times) {
  CudaScope scope;
  if (fuseopsStatus status = scope.enter(deviceId))
    return status;
  const CudaDriver &driver = *scope.driver;
  CudaBuffers buffers(driver);
  auto check = [&](CudaResult result) {
    return driver.check(result, "measuring a copy");
  };
  for (int i = 0; i < 2; ++i) {
    if (fuseopsStatus status =
            check(driver.allocate(&buffers.pointers[i], bytes)))
      return status;
    if (fuseopsStatus status = check(driver.eventCreate(&buffers.events[i], 0)))
      return status;
    // Pages that were never written may be read faster than memory is.
    if (fuseopsStatus status =
            check(driver.set(buffers.pointers[i], 1, bytes, nullptr)))
      return status;
  }
  for (int32_t run = -kWarmUps; run < runs; ++run) {
    float milliseconds = 0;
    CudaResult result = driver.eventRecord(buffers.events[0], nullptr);
    if (!result)
      result = driver.copyOnDevice(buffers.pointers[1], buffers.pointers[0],
                                   bytes, nullptr);
    if (!result)
      result = driver.eventRecord(buffers.events[1], nullptr);
    if (!result)
      result = driver.eventSynchronize(buffers.events[1]);
    if (!result)
      result = driver.eventElapsed(&milliseconds, buffers.events[0],
                                   buffers.events[1]);
    if (fuseopsStatus status = check(result))
      return status;
    if (run >= 0)
      times.push_back(milliseconds * 1e3);
  }
  return FUSEOPS_OK;
}

static void timeCpu(size_t bytes, int32_t runs, std::vector<double> &times) {
  constexpr size_t kChunk = 1 << 20;
  std::vector<char> from(bytes, 1), to(bytes, 2);
  int64_t chunks = static_cast<int64_t>((bytes + kChunk - 1) / kChunk);
  for (int32_t run = -kWarmUps; run < runs; ++run) {
    auto start = std::chrono::steady_clock::now();
    parallelFor(chunks, [&](int64_t chunk) {
      size_t offset = static_cast<size_t>(chunk) * kChunk;
      std::memcpy(to.data() + offset, from.data() + offset,
                  std::min(kChunk, bytes - offset));
    });
    std::chrono::duration<double, std::micro> time =
        std::chrono::steady_clock::now() - start;
    if (run >= 0)
      times.push_back(time.count());
  }
}

fuseopsStatus fuseopsDeviceMeasureCopy(int32_t deviceType, int32_t deviceId,
                                       size_t bytes, int32_t runs,
                                       double *tbps) {
  return guarded([&]() -> fuseopsStatus {
    if (!tbps || bytes == 0 || runs <= 0)
      return fail(FUSEOPS_INVALID_ARGUMENT,
                  "expected a positive size and number of runs, and where to "
                  "put the bandwidth, but got %zu, %d and %s",
                  bytes, runs, tbps ? "a pointer" : "NULL");
    std::vector<double> times;
    if (deviceType == kDLCUDA) {
      if (fuseopsStatus status = timeCuda(deviceId, bytes, runs, times))
        return status;
    } else if (deviceType == kDLCPU) {
      timeCpu(bytes, runs, times);
    } else {
      return fail(FUSEOPS_INVALID_ARGUMENT,
                  "expected device type %d (CPU) or %d (CUDA), but got %d",
                  kDLCPU, kDLCUDA, deviceType);
    }
    *tbps = 2.0 * static_cast<double>(bytes) / medianOf(times) / 1e6;
    return FUSEOPS_OK;
  });
}
