//===- CpuCode.cpp - Loads a program's shared objects --------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuCode.h"
#include "Status.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

using namespace fuseops::runtime;

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

static const char *getMachine() {
  static const utsname *names = [] {
    auto *result = new utsname();
    if (uname(result) != 0)
      std::strcpy(result->machine, "unknown");
    return result;
  }();
  return names->machine;
}

/// How good code of an architecture is for this machine; 0 if it cannot run.
static int rankArch(const std::string &arch) {
#if defined(__x86_64__)
  if (arch == "x86-64-v4")
    return __builtin_cpu_supports("x86-64-v4") ? 4 : 0;
  if (arch == "x86-64-v3")
    return __builtin_cpu_supports("x86-64-v3") ? 3 : 0;
  if (arch == "x86-64-v2")
    return __builtin_cpu_supports("x86-64-v2") ? 2 : 0;
  if (arch == "x86-64")
    return 1;
#endif
  return arch == getMachine() ? 1 : 0;
}

const char *fuseops::runtime::getCpuArch() {
  for (const char *arch : {"x86-64-v4", "x86-64-v3", "x86-64-v2", "x86-64"})
    if (rankArch(arch) > 0)
      return arch;
  return getMachine();
}

CpuCode::~CpuCode() {
  for (void *object : objects)
    dlclose(object);
}

static int createMemoryFile() {
  int file = memfd_create("fuseops", MFD_CLOEXEC | MFD_EXEC);
  if (file < 0 && errno == EINVAL)
    file = memfd_create("fuseops", MFD_CLOEXEC); // Before Linux 6.3.
  return file;
}

/// A path of the descriptor that was never used before. The loader knows
/// objects by their path, also ones that stay after dlclose, and would hand out
/// an old one again. `/` and `/./` spell a number that nobody else has.
static std::string getUniquePath(int file) {
  static std::atomic<uint64_t> counter{0};
  // The address tells copies of the runtime in one process apart.
  uint64_t number = ++counter + reinterpret_cast<uintptr_t>(&counter);
  std::string path = "/proc/self/fd";
  for (; number != 0; number >>= 1)
    path += number & 1 ? "/." : "/";
  return path + "/" + std::to_string(file);
}

/// Writes `code` into a new file. An anonymous one cannot be loaded where the
/// system forbids executable memory files, so the second try is a real one.
static int writeFile(const Code &code, bool isAnonymous, std::string &path) {
  int file;
  if (isAnonymous) {
    file = createMemoryFile();
    path = getUniquePath(file);
  } else {
    const char *folder = std::getenv("TMPDIR");
    path = std::string(folder && *folder ? folder : "/tmp") + "/fuseopsXXXXXX";
    file = mkostemp(&path[0], 02000000 /*O_CLOEXEC*/);
  }
  if (file < 0)
    return -1;
  size_t written = 0;
  while (written < code.size) {
    ssize_t count = write(file, code.data + written, code.size - written);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    written += static_cast<size_t>(count);
  }
  if (written == code.size)
    return file;
  if (!isAnonymous)
    unlink(path.c_str());
  close(file);
  return -1;
}

fuseopsStatus CpuCode::loadObject(const Code &code) {
  std::string error;
  for (bool isAnonymous : {true, false}) {
    std::string path;
    int file = writeFile(code, isAnonymous, path);
    if (file < 0) {
      error = std::strerror(errno);
      continue;
    }
    void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      error = dlerror();
    if (!isAnonymous)
      unlink(path.c_str());
    // What is loaded is mapped; the descriptor has done its work.
    close(file);
    if (handle) {
      objects.push_back(handle);
      return FUSEOPS_OK;
    }
  }
  return fail(FUSEOPS_RUNTIME_ERROR, "the code for `%s` cannot be loaded: %s",
              code.arch.c_str(), error.c_str());
}

fuseopsStatus CpuCode::load(const Program &program) {
  if (program.kernels.empty())
    return FUSEOPS_OK;
  const Code *best = nullptr;
  std::string offered;
  for (const Code &code : program.code) {
    if (!best || rankArch(code.arch) > rankArch(best->arch))
      best = &code;
    offered += (offered.empty() ? "`" : ", `") + code.arch + "`";
  }
  if (!best || rankArch(best->arch) == 0)
    return fail(FUSEOPS_UNAVAILABLE,
                "expected code that runs on this machine (`%s`), but the "
                "program has code for %s",
                getCpuArch(), offered.c_str());
  for (const Code &code : program.code)
    if (code.arch == best->arch)
      if (fuseopsStatus status = loadObject(code))
        return status;
  for (const std::string &name : program.kernels) {
    void *symbol = nullptr;
    for (size_t i = 0; i < objects.size() && !symbol; ++i)
      symbol = dlsym(objects[i], name.c_str());
    if (!symbol)
      return fail(FUSEOPS_INVALID_PROGRAM,
                  "the code for `%s` has no kernel `%s`", best->arch.c_str(),
                  name.c_str());
    kernels.push_back(reinterpret_cast<CpuKernel>(symbol));
  }
  return FUSEOPS_OK;
}

fuseopsStatus fuseops::runtime::prepareCpu(Program &program) {
  // A failure repeats on every call, with its sentence: nothing is kept then.
  std::lock_guard<std::mutex> lock(program.cpuMutex);
  if (program.cpu)
    return FUSEOPS_OK;
  auto code = std::make_unique<CpuCode>();
  if (fuseopsStatus status = code->load(program))
    return status;
  program.cpu = std::move(code);
  return FUSEOPS_OK;
}
