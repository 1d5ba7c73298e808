//===- CudaCode.cpp - Loads a program's kernels on CUDA devices ----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaCode.h"
#include "CublasLt.h"
#include "Status.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace fuseops::runtime;

static void unload(const CudaDriver &driver, const CudaKernels &kernels) {
  for (CudaModule module : kernels.modules)
    driver.moduleUnload(module);
  for (CudaPointer constant : kernels.constants)
    if (constant)
      driver.free(constant);
}

CudaCode::~CudaCode() {
  for (auto &[id, kernels] : contexts) {
    // The context may be gone, as at the end of the process; then so is the
    // code in it, and these calls fail.
    CudaScope scope;
    if (scope.enter(kernels->context) == FUSEOPS_OK && scope.contextId == id)
      unload(*scope.driver, *kernels);
  }
}

int fuseops::runtime::rankCudaCode(CodeKind kind, const std::string &arch,
                                   int major, int minor) {
  size_t digits = arch.find('_');
  if (kind == CodeKind::SharedObject || digits == std::string::npos)
    return 0;
  char *end = nullptr;
  long number = std::strtol(arch.c_str() + digits + 1, &end, 10);
  if (number <= 0 || number > 9999)
    return 0;
  std::string suffix = end;
  int device = 10 * major + minor;
  bool isExact = number == device;
  bool isFamily = number / 10 == major && number <= device;
  bool canRun;
  if (suffix == "a")
    canRun = isExact;
  else if (suffix == "f")
    canRun = isFamily;
  else if (!suffix.empty())
    canRun = false;
  else
    canRun = kind == CodeKind::PTX ? number <= device : isFamily;
  if (!canRun)
    return 0;
  int rank = static_cast<int>(number) * 3;
  rank += suffix == "a" ? 2 : suffix == "f" ? 1 : 0;
  return kind == CodeKind::Cubin ? rank + 100000 : rank;
}

/// The code that runs best on a device; NULL, with the error set, if none does.
static const Code *chooseCode(const Program &program, int major, int minor) {
  const Code *best = nullptr;
  int bestRank = 0;
  std::string offered;
  for (const Code &code : program.code) {
    int rank = rankCudaCode(code.kind, code.arch, major, minor);
    if (rank > bestRank) {
      best = &code;
      bestRank = rank;
    }
    offered += std::string(offered.empty() ? "" : ", ") +
               (code.kind == CodeKind::PTX ? "PTX" : "a cubin") + " for `" +
               code.arch + "`";
  }
  if (!best)
    fail(FUSEOPS_UNAVAILABLE,
         "expected code for compute capability %d.%d, but the program has %s",
         major, minor, offered.empty() ? "none" : offered.c_str());
  return best;
}

static fuseopsStatus loadModule(const CudaDriver &driver, const Code &code,
                                CudaModule &module) {
  // A cubin wants alignment, PTX a final zero.
  std::vector<uint64_t> image(code.size / sizeof(uint64_t) + 1);
  std::memcpy(image.data(), code.data, code.size);
  char log[2048] = "";
  int options[] = {kCudaJitErrorLog, kCudaJitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
  CudaResult result =
      driver.moduleLoad(&module, image.data(), 2, options, values);
  if (fuseopsStatus status = driver.check(result, "loading the code")) {
    addContext(status, ("the code for `" + code.arch + "`").c_str());
    if (log[0])
      addContext(status, log);
    return status;
  }
  return FUSEOPS_OK;
}

/// Loads modules, finds functions and lets them have the shared memory that
/// their steps ask for.
static fuseopsStatus loadKernels(const Program &program, const CudaScope &scope,
                                 CudaKernels &kernels) {
  const CudaDriver &driver = *scope.driver;
  kernels.context = scope.context;
  for (const Constant &constant : program.constants) {
    kernels.constants.push_back(0);
    if (constant.size == 0)
      continue;
    CudaPointer &copy = kernels.constants.back();
    if (fuseopsStatus status =
            driver.check(driver.allocate(&copy, constant.size),
                         "allocating memory for a constant"))
      return status;
    if (fuseopsStatus status = driver.check(
            driver.copyToDevice(copy, constant.data, constant.size),
            "copying a constant to the device"))
      return status;
  }
  if (program.kernels.empty())
    return FUSEOPS_OK;
  int major, minor;
  if (fuseopsStatus status = getCapability(driver, scope.device, major, minor))
    return status;
  const Code *best = chooseCode(program, major, minor);
  if (!best)
    return FUSEOPS_UNAVAILABLE;
  for (const Code &code : program.code) {
    if (code.kind != best->kind || code.arch != best->arch)
      continue;
    CudaModule module;
    if (fuseopsStatus status = loadModule(driver, code, module))
      return status;
    kernels.modules.push_back(module);
  }
  for (const std::string &name : program.kernels) {
    CudaFunction function = nullptr;
    for (size_t i = 0; i < kernels.modules.size() && !function; ++i)
      if (driver.moduleGetFunction(&function, kernels.modules[i],
                                   name.c_str()) != 0)
        function = nullptr;
    if (!function)
      return fail(FUSEOPS_INVALID_PROGRAM,
                  "the code for `%s` has no kernel `%s`", best->arch.c_str(),
                  name.c_str());
    // Under lazy loading a first launch would load, which a capture forbids.
    if (driver.functionLoad)
      if (fuseopsStatus status =
              driver.check(driver.functionLoad(function), "loading a kernel"))
        return addContext(status, name.c_str());
    kernels.functions.push_back(function);
  }
  std::vector<int32_t> sharedBytes(program.kernels.size());
  for (const Entry &entry : program.entries)
    for (const Step &step : entry.steps)
      if (!step.isMatmul)
        sharedBytes[step.kernel.kernel] =
            std::max(sharedBytes[step.kernel.kernel], step.kernel.sharedBytes);
  // Without asking a kernel gets 48 KB, what it declares itself counted in,
  // which only its code knows.
  for (size_t i = 0; i < sharedBytes.size(); ++i)
    if (sharedBytes[i] > 0)
      if (fuseopsStatus status =
              driver.check(driver.functionSetAttribute(
                               kernels.functions[i],
                               kCudaFunctionMaxDynamicShared, sharedBytes[i]),
                           "asking for shared memory"))
        return addContext(status, program.kernels[i].c_str());
  return FUSEOPS_OK;
}

fuseopsStatus CudaCode::get(const Program &program, const CudaScope &scope,
                            const CudaKernels *&kernels) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = contexts.find(scope.contextId);
  if (found == contexts.end()) {
    auto loaded = std::make_unique<CudaKernels>();
    if (fuseopsStatus status = loadKernels(program, scope, *loaded)) {
      unload(*scope.driver, *loaded);
      return status;
    }
    found = contexts.emplace(scope.contextId, std::move(loaded)).first;
  }
  kernels = found->second.get();
  return FUSEOPS_OK;
}

fuseopsStatus fuseops::runtime::prepareCuda(Program &program,
                                            int32_t deviceId) {
  CudaScope scope;
  if (fuseopsStatus status = scope.enter(deviceId))
    return status;
  const CudaKernels *kernels;
  if (fuseopsStatus status = program.cuda->get(program, scope, kernels))
    return status;
  if (fuseopsStatus status = prepareCudaPacking(scope))
    return status;
  for (const Entry &entry : program.entries)
    if (entry.hasMatmul)
      return prepareCublasLt(scope);
  return FUSEOPS_OK;
}
