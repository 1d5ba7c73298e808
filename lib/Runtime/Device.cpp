//===- Device.cpp - The C ABI: devices and their memory ------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuCode.h"
#include "CudaDriver.h"
#include "Status.h"

#include <cstdlib>
#include <cstring>

using namespace fuseops::runtime;

static fuseopsStatus failOnKind(int32_t deviceType) {
  return fail(FUSEOPS_INVALID_ARGUMENT,
              "expected device type %d (CPU) or %d (CUDA), but got %d", kDLCPU,
              kDLCUDA, deviceType);
}

static CudaPointer toCuda(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

/// Calls `onCpu`, or `onCuda` with the device's context current.
template <typename OnCpu, typename OnCuda>
static fuseopsStatus onDevice(int32_t deviceType, int32_t deviceId,
                              OnCpu &&onCpu, OnCuda &&onCuda) {
  return guarded([&]() -> fuseopsStatus {
    if (deviceType == kDLCPU)
      return onCpu();
    if (deviceType != kDLCUDA)
      return failOnKind(deviceType);
    CudaScope scope;
    if (fuseopsStatus status = scope.enter(deviceId))
      return status;
    return onCuda(*scope.driver, scope);
  });
}

static fuseopsStatus copyText(const std::string &text, char *out, size_t size) {
  if (!out || size == 0)
    return fail(FUSEOPS_INVALID_ARGUMENT,
                "expected where to put the text, but got NULL");
  size_t length = text.size() < size ? text.size() : size - 1;
  std::memcpy(out, text.data(), length);
  out[length] = 0;
  return FUSEOPS_OK;
}

fuseopsStatus fuseopsDeviceCount(int32_t deviceType, int32_t *count) {
  if (!count)
    return fail(FUSEOPS_INVALID_ARGUMENT,
                "expected where to put the count, but got NULL");
  *count = 0;
  if (deviceType == kDLCPU) {
    *count = 1;
    return FUSEOPS_OK;
  }
  if (deviceType != kDLCUDA)
    return failOnKind(deviceType);
  return guarded([&]() -> fuseopsStatus {
    const CudaDriver *driver;
    if (fuseopsStatus status = CudaDriver::get(driver))
      return status;
    return driver->check(driver->deviceGetCount(count), "counting devices");
  });
}

fuseopsStatus fuseopsDeviceName(int32_t deviceType, int32_t deviceId,
                                char *name, size_t size) {
  return onDevice(
      deviceType, deviceId, [&] { return copyText("CPU", name, size); },
      [&](const CudaDriver &driver, const CudaScope &scope) {
        char buffer[256] = "";
        if (fuseopsStatus status = driver.check(
                driver.deviceGetName(buffer, sizeof(buffer), scope.device),
                "asking for the device's name"))
          return status;
        return copyText(buffer, name, size);
      });
}

fuseopsStatus fuseopsDeviceArch(int32_t deviceType, int32_t deviceId,
                                char *arch, size_t size) {
  return onDevice(
      deviceType, deviceId, [&] { return copyText(getCpuArch(), arch, size); },
      [&](const CudaDriver &driver, const CudaScope &scope) {
        int major, minor;
        if (fuseopsStatus status =
                getCapability(driver, scope.device, major, minor))
          return status;
        return copyText("sm_" + std::to_string(10 * major + minor), arch, size);
      });
}

fuseopsStatus fuseopsDeviceAllocate(int32_t deviceType, int32_t deviceId,
                                    size_t bytes, void **pointer) {
  if (!pointer)
    return fail(FUSEOPS_INVALID_ARGUMENT,
                "expected where to put the pointer, but got NULL");
  *pointer = nullptr;
  if (bytes == 0)
    return FUSEOPS_OK;
  return onDevice(
      deviceType, deviceId,
      [&]() -> fuseopsStatus {
        if (posix_memalign(pointer, 256, bytes) == 0)
          return FUSEOPS_OK;
        *pointer = nullptr;
        return fail(FUSEOPS_RUNTIME_ERROR, "allocating %zu bytes failed",
                    bytes);
      },
      [&](const CudaDriver &driver, const CudaScope &) {
        CudaPointer address = 0;
        fuseopsStatus status = driver.check(driver.allocate(&address, bytes),
                                            "allocating device memory");
        *pointer = reinterpret_cast<void *>(address);
        return status;
      });
}

fuseopsStatus fuseopsDeviceFree(int32_t deviceType, int32_t deviceId,
                                void *pointer) {
  if (!pointer)
    return FUSEOPS_OK;
  return onDevice(
      deviceType, deviceId,
      [&] {
        std::free(pointer);
        return FUSEOPS_OK;
      },
      [&](const CudaDriver &driver, const CudaScope &) {
        return driver.check(driver.free(toCuda(pointer)),
                            "freeing device memory");
      });
}

fuseopsStatus fuseopsDeviceCopyToDevice(int32_t deviceType, int32_t deviceId,
                                        void *destination, const void *source,
                                        size_t bytes) {
  if (bytes == 0)
    return FUSEOPS_OK;
  return onDevice(
      deviceType, deviceId,
      [&] {
        std::memcpy(destination, source, bytes);
        return FUSEOPS_OK;
      },
      [&](const CudaDriver &driver, const CudaScope &) {
        if (fuseopsStatus status = driver.check(
                driver.copyToDevice(toCuda(destination), source, bytes),
                "copying to the device"))
          return status;
        // From pageable memory the last bytes may still be on their way.
        return driver.check(driver.streamSynchronize(nullptr),
                            "copying to the device");
      });
}

fuseopsStatus fuseopsDeviceCopyToHost(int32_t deviceType, int32_t deviceId,
                                      void *destination, const void *source,
                                      size_t bytes) {
  if (bytes == 0)
    return FUSEOPS_OK;
  return onDevice(
      deviceType, deviceId,
      [&] {
        std::memcpy(destination, source, bytes);
        return FUSEOPS_OK;
      },
      [&](const CudaDriver &driver, const CudaScope &) {
        if (fuseopsStatus status = driver.check(driver.contextSynchronize(),
                                                "waiting for the device"))
          return status;
        return driver.check(
            driver.copyToHost(destination, toCuda(source), bytes),
            "copying to the host");
      });
}

fuseopsStatus fuseopsDeviceMemset(int32_t deviceType, int32_t deviceId,
                                  void *pointer, uint8_t value, size_t bytes) {
  if (bytes == 0)
    return FUSEOPS_OK;
  return onDevice(
      deviceType, deviceId,
      [&] {
        std::memset(pointer, value, bytes);
        return FUSEOPS_OK;
      },
      [&](const CudaDriver &driver, const CudaScope &) {
        if (fuseopsStatus status =
                driver.check(driver.set(toCuda(pointer), value, bytes, nullptr),
                             "setting device memory"))
          return status;
        return driver.check(driver.streamSynchronize(nullptr),
                            "setting device memory");
      });
}

fuseopsStatus fuseopsDeviceSynchronize(int32_t deviceType, int32_t deviceId) {
  return onDevice(
      deviceType, deviceId, [] { return FUSEOPS_OK; },
      [](const CudaDriver &driver, const CudaScope &) {
        return driver.check(driver.contextSynchronize(),
                            "waiting for the device");
      });
}

fuseopsStatus fuseopsStreamSynchronize(int32_t deviceType, int32_t deviceId,
                                       void *stream) {
  return onDevice(
      deviceType, deviceId, [] { return FUSEOPS_OK; },
      [&](const CudaDriver &driver, const CudaScope &) {
        return driver.check(
            driver.streamSynchronize(static_cast<CudaStream>(stream)),
            "waiting for the CUDA stream");
      });
}
