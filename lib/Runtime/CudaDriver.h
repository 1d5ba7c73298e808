//===- CudaDriver.h - The CUDA driver, loaded at run time ----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Declares the little of the driver's stable ABI that is used (cuda.h of CUDA
// 12 and 13), so that building FuseOps needs no CUDA and running it no GPU.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_RUNTIME_CUDADRIVER_H
#define FUSEOPS_LIB_RUNTIME_CUDADRIVER_H

#include "FuseOps-c/Runtime.h"

#include <cstdint>
#include <string>

namespace fuseops {
namespace runtime {

// The driver's handles are pointers to structures that nobody sees.
using CudaDevice = int;
using CudaResult = int;
using CudaPointer = unsigned long long;
using CudaContext = struct CudaContextOpaque *;
using CudaModule = struct CudaModuleOpaque *;
using CudaFunction = struct CudaFunctionOpaque *;
using CudaStream = struct CudaStreamOpaque *;
using CudaEvent = struct CudaEventOpaque *;

// Values of cuda.h.
constexpr int kCudaAttributeMajor = 75;
constexpr int kCudaAttributeMinor = 76;
constexpr int kCudaFunctionMaxDynamicShared = 8;
constexpr int kCudaJitErrorLog = 5;
constexpr int kCudaJitErrorLogBytes = 6;
constexpr int kCudaMemoryDevice = 2;

/// CUlaunchAttribute, of which one is used: the launch may start while the
/// kernel before it on the stream ends.
struct alignas(8) CudaLaunchAttribute {
  int id = 6; // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
  char padding[4] = {};
  int value = 1;
  char rest[60] = {};
};

/// CUlaunchConfig.
struct CudaLaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  CudaStream stream;
  CudaLaunchAttribute *attributes;
  unsigned numAttributes;
};

/// CUDA_MEMCPY2D.
struct CudaCopy2D {
  size_t sourceX, sourceY;
  int sourceKind;
  const void *sourceHost;
  CudaPointer sourceDevice;
  void *sourceArray;
  size_t sourcePitch;
  size_t targetX, targetY;
  int targetKind;
  void *targetHost;
  CudaPointer targetDevice;
  void *targetArray;
  size_t targetPitch;
  size_t rowBytes, rows;
};

/// CUtensorMap: what the tensor memory accelerator is told of a matrix.
struct alignas(64) CudaTensorMap {
  uint64_t words[16];
};

/// The driver's functions.
struct CudaDriver {
  CudaResult (*init)(unsigned);
  CudaResult (*getErrorString)(CudaResult, const char **);
  CudaResult (*deviceGetCount)(int *);
  CudaResult (*deviceGet)(CudaDevice *, int);
  CudaResult (*deviceGetName)(char *, int, CudaDevice);
  CudaResult (*deviceGetAttribute)(int *, int, CudaDevice);
  CudaResult (*primaryRetain)(CudaContext *, CudaDevice);
  CudaResult (*contextGetCurrent)(CudaContext *);
  CudaResult (*contextGetDevice)(CudaDevice *);
  CudaResult (*contextPush)(CudaContext);
  CudaResult (*contextPop)(CudaContext *);
  CudaResult (*contextSynchronize)();
  CudaResult (*moduleLoad)(CudaModule *, const void *, unsigned, int *,
                           void **);
  CudaResult (*moduleUnload)(CudaModule);
  CudaResult (*moduleGetFunction)(CudaFunction *, CudaModule, const char *);
  CudaResult (*functionSetAttribute)(CudaFunction, int, int);
  CudaResult (*launch)(CudaFunction, unsigned, unsigned, unsigned, unsigned,
                       unsigned, unsigned, unsigned, CudaStream, void **,
                       void **);
  CudaResult (*allocate)(CudaPointer *, size_t);
  CudaResult (*free)(CudaPointer);
  CudaResult (*copyToDevice)(CudaPointer, const void *, size_t);
  CudaResult (*copyToHost)(void *, CudaPointer, size_t);
  CudaResult (*copyOnDevice)(CudaPointer, CudaPointer, size_t, CudaStream);
  CudaResult (*copyRows)(const CudaCopy2D *, CudaStream);
  CudaResult (*set)(CudaPointer, unsigned char, size_t, CudaStream);
  CudaResult (*streamSynchronize)(CudaStream);
  CudaResult (*eventCreate)(CudaEvent *, unsigned);
  CudaResult (*eventDestroy)(CudaEvent);
  CudaResult (*eventRecord)(CudaEvent, CudaStream);
  CudaResult (*eventSynchronize)(CudaEvent);
  CudaResult (*eventElapsed)(float *, CudaEvent, CudaEvent);
  // Newer drivers only; NULL where missing.
  CudaResult (*contextGetId)(CudaContext, unsigned long long *);
  CudaResult (*functionLoad)(CudaFunction);
  CudaResult (*launchExtended)(const CudaLaunchConfig *, CudaFunction, void **,
                               void **);
  CudaResult (*tensorMapEncode)(CudaTensorMap *, int type, unsigned rank,
                                void *address, const uint64_t *sizes,
                                const uint64_t *strides, const uint32_t *box,
                                const uint32_t *elementStrides, int interleave,
                                int swizzle, int promotion, int fill);

  /// The driver, loaded and initialised on first use. Fails with
  /// FUSEOPS_UNAVAILABLE where there is none, or no device.
  static fuseopsStatus get(const CudaDriver *&driver);

  /// FUSEOPS_OK, or an error whose sentence says what failed and why.
  fuseopsStatus check(CudaResult result, const char *what) const;
};

/// Makes a context of a device current for as long as it lives: the current
/// one if it is of that device, else the device's primary one.
class CudaScope {
public:
  CudaScope() = default;
  CudaScope(const CudaScope &) = delete;
  CudaScope &operator=(const CudaScope &) = delete;
  ~CudaScope();

  /// Enters; a negative device means the current context's, else device 0.
  fuseopsStatus enter(int32_t deviceId);

  /// Enters a context that is known.
  fuseopsStatus enter(CudaContext wanted);

  const CudaDriver *driver = nullptr;
  CudaContext context = nullptr;
  CudaDevice device = 0;
  /// Tells contexts apart, also when a new one has the address of an old one.
  unsigned long long contextId = 0;

private:
  bool isPushed = false;
};

/// Writes a device's compute capability.
fuseopsStatus getCapability(const CudaDriver &driver, CudaDevice device,
                            int &major, int &minor);

} // namespace runtime
} // namespace fuseops

#endif // FUSEOPS_LIB_RUNTIME_CUDADRIVER_H
