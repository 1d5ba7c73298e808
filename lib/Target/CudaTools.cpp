//===- CudaTools.cpp - Finding nvJitLink, ptxas and libdevice -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTools.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::fuseops;
namespace fs = llvm::sys::fs;

/// Adds `root/lib/python3.N/<leaf>` for each N there is, newest first.
static void addPythonSites(StringRef root, StringRef leaf,
                           SmallVectorImpl<std::string> &sites) {
  SmallVector<std::string> found;
  std::error_code error;
  SmallString<128> lib(root);
  llvm::sys::path::append(lib, "lib");
  for (fs::directory_iterator it(lib, error), end; it != end && !error;
       it.increment(error)) {
    if (!llvm::sys::path::filename(it->path()).starts_with("python3"))
      continue;
    SmallString<128> site(it->path());
    llvm::sys::path::append(site, leaf);
    if (fs::is_directory(site))
      found.push_back(site.str().str());
  }
  // A folder's order is arbitrary; longer names are newer versions (3.9, 3.11).
  llvm::sort(found, [](const std::string &a, const std::string &b) {
    return a.size() != b.size() ? a.size() > b.size() : a > b;
  });
  sites.append(found.begin(), found.end());
}

AssemblerOptions AssemblerOptions::fromEnvironment() {
  AssemblerOptions options;
  if (auto home = llvm::sys::Process::GetEnv("CUDA_HOME"))
    options.cudaHome = *home;
  if (auto venv = llvm::sys::Process::GetEnv("VIRTUAL_ENV"))
    addPythonSites(*venv, "site-packages", options.pythonSites);
  addPythonSites("/usr/local", "site-packages", options.pythonSites);
  addPythonSites("/usr/local", "dist-packages", options.pythonSites);
  addPythonSites("/usr", "dist-packages", options.pythonSites);
  return options;
}

static SmallVector<std::string> findFiles(StringRef explicitPath,
                                          const AssemblerOptions &options,
                                          ArrayRef<StringRef> inToolkit,
                                          ArrayRef<StringRef> inSite) {
  SmallVector<std::string> found;
  auto add = [&](StringRef root, StringRef leaf) {
    SmallString<128> path(root);
    // An empty leaf would leave a separator at the end.
    if (!leaf.empty())
      llvm::sys::path::append(path, leaf);
    std::string text = path.str().str();
    if (fs::exists(path) && !llvm::is_contained(found, text))
      found.push_back(std::move(text));
  };
  if (!explicitPath.empty())
    add(explicitPath, "");
  SmallVector<StringRef> toolkits;
  if (!options.cudaHome.empty())
    toolkits.push_back(options.cudaHome);
  toolkits.push_back("/usr/local/cuda");
  for (StringRef toolkit : toolkits)
    for (StringRef leaf : inToolkit)
      add(toolkit, leaf);
  for (StringRef site : options.pythonSites)
    for (StringRef leaf : inSite)
      add(site, leaf);
  return found;
}

SmallVector<std::string>
mlir::fuseops::findNvJitLink(const AssemblerOptions &options) {
  return findFiles(options.nvJitLink, options,
                   {"lib64/libnvJitLink.so.13", "lib/libnvJitLink.so.13",
                    "lib64/libnvJitLink.so.12", "lib64/libnvJitLink.so"},
                   {"nvidia/cu13/lib/libnvJitLink.so.13",
                    "nvidia/nvjitlink/lib/libnvJitLink.so.12"});
}

SmallVector<std::string>
mlir::fuseops::findPtxas(const AssemblerOptions &options) {
  return findFiles(
      options.ptxas, options, {"bin/ptxas"},
      {"nvidia/cu13/bin/ptxas", "triton/backends/nvidia/bin/ptxas"});
}

SmallVector<std::string>
mlir::fuseops::findLibdevice(const AssemblerOptions &options) {
  return findFiles(options.libdevice, options,
                   {"nvvm/libdevice/libdevice.10.bc"},
                   {"nvidia/cu13/nvvm/libdevice/libdevice.10.bc",
                    "nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc",
                    "triton/backends/nvidia/lib/libdevice.10.bc"});
}
