//===- CublasLtLibrary.cpp - cuBLASLt, loaded at run time ----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CublasLtLibrary.h"
#include "Status.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <glob.h>
#include <type_traits>
#include <vector>

using namespace fuseops::runtime;
using namespace fuseops::runtime::cublaslt;

/// Opens the first library that a pattern of paths names.
static void *openMatching(const std::string &pattern) {
  glob_t found;
  void *library = nullptr;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc && !library; ++i)
      library = dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
    globfree(&found);
  }
  return library;
}

/// Looks where CUDA, the loader and Python packages keep cuBLASLt.
static void *openLibrary() {
  if (const char *path = std::getenv("FUSEOPS_CUBLASLT"))
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
  // A framework in this process has one already, where it found it.
  for (const char *name : {"libcublasLt.so.13", "libcublasLt.so.12"})
    if (void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD))
      return library;
  std::vector<std::string> folders;
  if (const char *home = std::getenv("CUDA_HOME"))
    for (const char *folder : {"/lib64/", "/lib/"})
      folders.push_back(std::string(home) + folder);
  folders.emplace_back("/usr/local/cuda/lib64/");
  folders.emplace_back("");
  for (const std::string &folder : folders)
    for (const char *name : {"libcublasLt.so.13", "libcublasLt.so.12"})
      if (void *library =
              dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL))
        return library;
  std::vector<std::string> sites;
  if (const char *list = std::getenv("FUSEOPS_PYTHON_SITE")) {
    std::string paths = list;
    for (size_t begin = 0; begin <= paths.size();) {
      size_t end = std::min(paths.find(':', begin), paths.size());
      if (end > begin)
        sites.push_back(paths.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  if (const char *environment = std::getenv("VIRTUAL_ENV"))
    sites.push_back(std::string(environment) + "/lib/python3*/site-packages");
  for (const char *site :
       {"/opt/*/.venv/lib/python3*/site-packages",
        "/opt/*/lib/python3*/site-packages",
        "/usr/local/lib/python3*/dist-packages",
        "/usr/local/lib/python3*/site-packages",
        "/usr/lib/python3*/dist-packages", "/usr/lib/python3/dist-packages"})
    sites.emplace_back(site);
  for (const std::string &site : sites)
    for (const char *path : {"/nvidia/cu13/lib/libcublasLt.so.13",
                             "/nvidia/cublas/lib/libcublasLt.so.1[23]"})
      if (void *library = openMatching(site + path))
        return library;
  return nullptr;
}

void Library::load() {
  void *library = openLibrary();
  if (!library) {
    error = "cuBLASLt, which runs the program's matrix products, was not "
            "found; FUSEOPS_CUBLASLT may name it";
    return;
  }
  auto find = [&](auto &function, const char *name) {
    void *symbol = dlsym(library, name);
    if (!symbol && error.empty())
      error = std::string("cuBLASLt has no `") + name + "`";
    function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
  };
  find(getVersion, "cublasLtGetVersion");
  find(create, "cublasLtCreate");
  find(createDescription, "cublasLtMatmulDescCreate");
  find(destroyDescription, "cublasLtMatmulDescDestroy");
  find(setDescription, "cublasLtMatmulDescSetAttribute");
  find(createLayout, "cublasLtMatrixLayoutCreate");
  find(destroyLayout, "cublasLtMatrixLayoutDestroy");
  find(createPreference, "cublasLtMatmulPreferenceCreate");
  find(destroyPreference, "cublasLtMatmulPreferenceDestroy");
  find(setPreference, "cublasLtMatmulPreferenceSetAttribute");
  find(findAlgorithm, "cublasLtMatmulAlgoGetHeuristic");
  find(matmul, "cublasLtMatmul");
}

fuseopsStatus Library::get(Library *&library) {
  // Never unloaded, and its handles never destroyed: at the end of the process
  // the driver may be gone before this library.
  static Library *loaded = [] {
    auto *result = new Library();
    result->load();
    return result;
  }();
  library = loaded;
  if (!loaded->error.empty())
    return fail(FUSEOPS_UNAVAILABLE, "%s", loaded->error.c_str());
  return FUSEOPS_OK;
}

fuseopsStatus Library::getHandle(const CudaScope &scope, Handle &handle) {
  std::lock_guard<std::mutex> lock(mutex);
  Handle &known = handles[scope.contextId];
  if (!known)
    if (int result = create(&known)) {
      known = nullptr;
      return fail(FUSEOPS_RUNTIME_ERROR,
                  "starting cuBLASLt failed with status %d", result);
    }
  handle = known;
  return FUSEOPS_OK;
}
