//===- CudaDriver.cpp - The CUDA driver, loaded at run time --------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDriver.h"
#include "Status.h"

#include <dlfcn.h>
#include <mutex>
#include <type_traits>
#include <vector>

using namespace fuseops::runtime;

namespace {

struct LoadedDriver {
  CudaDriver driver;
  /// Empty if the driver may be used.
  std::string error;
};

} // namespace

/// Finds all functions; returns the first that is missing, else NULL.
static const char *findFunctions(void *library, CudaDriver &driver) {
  const char *missing = nullptr;
  auto find = [&](auto &function, const char *name, bool isRequired = true) {
    void *symbol = dlsym(library, name);
    if (!symbol && isRequired && !missing)
      missing = name;
    function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
  };
  find(driver.init, "cuInit");
  find(driver.getErrorString, "cuGetErrorString");
  find(driver.deviceGetCount, "cuDeviceGetCount");
  find(driver.deviceGet, "cuDeviceGet");
  find(driver.deviceGetName, "cuDeviceGetName");
  find(driver.deviceGetAttribute, "cuDeviceGetAttribute");
  find(driver.primaryRetain, "cuDevicePrimaryCtxRetain");
  find(driver.contextGetCurrent, "cuCtxGetCurrent");
  find(driver.contextGetDevice, "cuCtxGetDevice");
  find(driver.contextPush, "cuCtxPushCurrent_v2");
  find(driver.contextPop, "cuCtxPopCurrent_v2");
  find(driver.contextSynchronize, "cuCtxSynchronize");
  find(driver.moduleLoad, "cuModuleLoadDataEx");
  find(driver.moduleUnload, "cuModuleUnload");
  find(driver.moduleGetFunction, "cuModuleGetFunction");
  find(driver.functionSetAttribute, "cuFuncSetAttribute");
  find(driver.launch, "cuLaunchKernel");
  find(driver.allocate, "cuMemAlloc_v2");
  find(driver.free, "cuMemFree_v2");
  find(driver.copyToDevice, "cuMemcpyHtoD_v2");
  find(driver.copyToHost, "cuMemcpyDtoH_v2");
  find(driver.copyOnDevice, "cuMemcpyDtoDAsync_v2");
  find(driver.copyRows, "cuMemcpy2DAsync_v2");
  find(driver.set, "cuMemsetD8Async");
  find(driver.streamSynchronize, "cuStreamSynchronize");
  find(driver.eventCreate, "cuEventCreate");
  find(driver.eventDestroy, "cuEventDestroy_v2");
  find(driver.eventRecord, "cuEventRecord");
  find(driver.eventSynchronize, "cuEventSynchronize");
  find(driver.eventElapsed, "cuEventElapsedTime");
  find(driver.contextGetId, "cuCtxGetId", /*isRequired=*/false);
  find(driver.functionLoad, "cuFuncLoad", /*isRequired=*/false);
  find(driver.launchExtended, "cuLaunchKernelEx", /*isRequired=*/false);
  find(driver.tensorMapEncode, "cuTensorMapEncodeTiled", /*isRequired=*/false);
  return missing;
}

static LoadedDriver *loadDriver() {
  auto *loaded = new LoadedDriver();
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    loaded->error =
        std::string("the CUDA driver cannot be loaded: ") + dlerror();
    return loaded;
  }
  if (const char *missing = findFunctions(library, loaded->driver)) {
    loaded->error = std::string("the CUDA driver has no `") + missing + "`";
    return loaded;
  }
  int count = 0;
  CudaResult result = loaded->driver.init(0);
  if (result == 0)
    result = loaded->driver.deviceGetCount(&count);
  if (result != 0) {
    const char *text = nullptr;
    loaded->driver.getErrorString(result, &text);
    loaded->error = std::string("the CUDA driver cannot be used: ") +
                    (text ? text : "unknown error");
  } else if (count == 0) {
    loaded->error = "there is no CUDA device";
  }
  return loaded;
}

fuseopsStatus CudaDriver::get(const CudaDriver *&driver) {
  static LoadedDriver *loaded = loadDriver();
  driver = &loaded->driver;
  if (!loaded->error.empty())
    return fail(FUSEOPS_UNAVAILABLE, "%s", loaded->error.c_str());
  return FUSEOPS_OK;
}

fuseopsStatus CudaDriver::check(CudaResult result, const char *what) const {
  if (result == 0)
    return FUSEOPS_OK;
  const char *text = nullptr;
  if (getErrorString(result, &text) != 0 || !text)
    text = "unknown error";
  return fail(FUSEOPS_RUNTIME_ERROR, "%s failed: %s (CUDA error %d)", what,
              text, result);
}

/// The primary context of a device, retained once for the whole process.
static fuseopsStatus getPrimaryContext(const CudaDriver &driver,
                                       CudaDevice device,
                                       CudaContext &context) {
  static auto *mutex = new std::mutex;
  static auto *contexts = new std::vector<CudaContext>;
  std::lock_guard<std::mutex> lock(*mutex);
  if (contexts->size() <= static_cast<size_t>(device))
    contexts->resize(device + 1);
  CudaContext &known = (*contexts)[device];
  if (!known)
    if (fuseopsStatus status = driver.check(
            driver.primaryRetain(&known, device), "opening the CUDA device"))
      return status;
  context = known;
  return FUSEOPS_OK;
}

fuseopsStatus CudaScope::enter(int32_t deviceId) {
  if (fuseopsStatus status = CudaDriver::get(driver))
    return status;
  CudaContext current = nullptr;
  CudaDevice currentDevice = -1;
  bool hasCurrent = driver->contextGetCurrent(&current) == 0 && current &&
                    driver->contextGetDevice(&currentDevice) == 0;
  if (deviceId < 0 && hasCurrent) {
    device = currentDevice;
  } else {
    int count = 0;
    if (fuseopsStatus status =
            driver->check(driver->deviceGetCount(&count), "counting devices"))
      return status;
    int index = deviceId < 0 ? 0 : deviceId;
    if (index >= count)
      return fail(FUSEOPS_INVALID_ARGUMENT,
                  "expected a CUDA device below %d, but got %d", count, index);
    if (fuseopsStatus status = driver->check(driver->deviceGet(&device, index),
                                             "finding the CUDA device"))
      return status;
  }
  if (hasCurrent && currentDevice == device) {
    context = current;
  } else {
    CudaContext primary;
    if (fuseopsStatus status = getPrimaryContext(*driver, device, primary))
      return status;
    return enter(primary);
  }
  if (!driver->contextGetId || driver->contextGetId(context, &contextId) != 0)
    contextId = reinterpret_cast<uintptr_t>(context);
  return FUSEOPS_OK;
}

fuseopsStatus CudaScope::enter(CudaContext wanted) {
  if (fuseopsStatus status = CudaDriver::get(driver))
    return status;
  if (fuseopsStatus status = driver->check(driver->contextPush(wanted),
                                           "making the CUDA context current"))
    return status;
  isPushed = true;
  context = wanted;
  if (!driver->contextGetId || driver->contextGetId(context, &contextId) != 0)
    contextId = reinterpret_cast<uintptr_t>(context);
  return driver->check(driver->contextGetDevice(&device),
                       "asking for the CUDA device");
}

CudaScope::~CudaScope() {
  CudaContext previous;
  if (isPushed)
    driver->contextPop(&previous);
}

fuseopsStatus fuseops::runtime::getCapability(const CudaDriver &driver,
                                              CudaDevice device, int &major,
                                              int &minor) {
  if (fuseopsStatus status = driver.check(
          driver.deviceGetAttribute(&major, kCudaAttributeMajor, device),
          "asking for the compute capability"))
    return status;
  return driver.check(
      driver.deviceGetAttribute(&minor, kCudaAttributeMinor, device),
      "asking for the compute capability");
}
