//===- Assembler.cpp - PTX to cubin by nvJitLink or ptxas -----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTools.h"
#include "FuseOps/Target/NVPTX.h"

#include "mlir/IR/Diagnostics.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

#include <dlfcn.h>

using namespace mlir;
using namespace mlir::fuseops;

namespace {

/// The part of nvJitLink's C interface (nvJitLink 13.0, section "Functions")
/// that is used, so that building needs no CUDA toolkit.
struct NvJitLink {
  using Handle = void *;
  static constexpr int kInputPTX = 2;

  int (*create)(Handle *, uint32_t, const char **) = nullptr;
  int (*destroy)(Handle *) = nullptr;
  int (*addData)(Handle, int, const void *, size_t, const char *) = nullptr;
  int (*complete)(Handle) = nullptr;
  int (*cubinSize)(Handle, size_t *) = nullptr;
  int (*cubin)(Handle, void *) = nullptr;
  int (*errorLogSize)(Handle, size_t *) = nullptr;
  int (*errorLog)(Handle, char *) = nullptr;
  int (*infoLogSize)(Handle, size_t *) = nullptr;
  int (*infoLog)(Handle, char *) = nullptr;

  /// Opens the library; false if it isn't one or lacks a function. It stays
  /// open: loading it takes longer than assembling most kernels.
  bool open(const std::string &path) {
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return false;
    auto get = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(
          dlsym(library, name));
      return function != nullptr;
    };
    return get(create, "nvJitLinkCreate") && get(destroy, "nvJitLinkDestroy") &&
           get(addData, "nvJitLinkAddData") &&
           get(complete, "nvJitLinkComplete") &&
           get(cubinSize, "nvJitLinkGetLinkedCubinSize") &&
           get(cubin, "nvJitLinkGetLinkedCubin") &&
           get(errorLogSize, "nvJitLinkGetErrorLogSize") &&
           get(errorLog, "nvJitLinkGetErrorLog") &&
           get(infoLogSize, "nvJitLinkGetInfoLogSize") &&
           get(infoLog, "nvJitLinkGetInfoLog");
  }

  static std::string readLog(Handle handle, int (*getSize)(Handle, size_t *),
                             int (*get)(Handle, char *)) {
    size_t size = 0;
    if (getSize(handle, &size) || size == 0)
      return {};
    std::string text(size + 1, '\0');
    if (get(handle, text.data()))
      return {};
    text.resize(strnlen(text.c_str(), text.size()));
    return text;
  }
};

/// What one tool made of the PTX. No cubin: it refused, and `log` says why.
struct Attempt {
  SmallVector<char> cubin;
  std::string log;
};

Attempt runNvJitLink(const NvJitLink &library, StringRef ptx, StringRef chip) {
  std::string arch = ("-arch=" + chip).str();
  const char *options[] = {arch.c_str(), "-O3", "-verbose"};
  NvJitLink::Handle handle = nullptr;
  if (library.create(&handle, std::size(options), options))
    return {{}, "the library doesn't know `" + chip.str() + "`"};
  llvm::scope_exit destroy([&] { library.destroy(&handle); });
  // The text must end in a zero byte, which StringRef doesn't promise.
  std::string text = ptx.str();
  int error = library.addData(handle, NvJitLink::kInputPTX, text.c_str(),
                              text.size() + 1, "kernels.ptx");
  if (!error)
    error = library.complete(handle);
  if (error) {
    std::string log =
        NvJitLink::readLog(handle, library.errorLogSize, library.errorLog);
    return {{}, log.empty() ? "error " + std::to_string(error) : log};
  }
  Attempt attempt;
  attempt.log =
      NvJitLink::readLog(handle, library.infoLogSize, library.infoLog);
  size_t size = 0;
  if (library.cubinSize(handle, &size) || size == 0)
    return {{}, "the linked cubin is empty"};
  attempt.cubin.resize(size);
  if (library.cubin(handle, attempt.cubin.data()))
    return {{}, "the linked cubin can't be read"};
  return attempt;
}

std::string readText(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

Attempt runPtxas(StringRef ptxas, StringRef ptx, StringRef chip) {
  SmallString<64> input, output, log;
  int descriptor = -1;
  if (llvm::sys::fs::createTemporaryFile("fuseops", "ptx", descriptor, input))
    return {{}, "no temporary file can be written"};
  llvm::FileRemover removeInput(input);
  {
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << ptx;
    stream.close();
    if (stream.has_error()) {
      stream.clear_error();
      return {{}, "no temporary file can be written"};
    }
  }
  if (llvm::sys::fs::createTemporaryFile("fuseops", "cubin", output))
    return {{}, "no temporary file can be written"};
  llvm::FileRemover removeOutput(output);
  if (llvm::sys::fs::createTemporaryFile("fuseops", "log", log))
    return {{}, "no temporary file can be written"};
  llvm::FileRemover removeLog(log);

  std::string arch = ("-arch=" + chip).str();
  StringRef arguments[] = {ptxas, "-v", "-O3", arch, input, "-o", output};
  std::optional<StringRef> redirects[] = {StringRef(), log.str(), log.str()};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(ptxas, arguments, std::nullopt,
                                         redirects, /*SecondsToWait=*/0,
                                         /*MemoryLimit=*/0, &message);
  Attempt attempt;
  attempt.log = readText(log) + message;
  if (status != 0)
    return attempt;
  std::string cubin = readText(output);
  attempt.cubin.assign(cubin.begin(), cubin.end());
  return attempt;
}

/// Accepts a cubin, or says what about its log makes it unacceptable.
FailureOr<Assembly> accept(Location loc, Attempt attempt, StringRef tool,
                           const AssemblerOptions &options) {
  Assembly assembly;
  assembly.cubin = std::move(attempt.cubin);
  assembly.tool = tool.str();
  assembly.log = std::move(attempt.log);
  assembly.usage = parseAssemblerLog(assembly.log);
  static const llvm::Regex performanceLoss("\\(C75[0-9][0-9]\\)");
  SmallVector<StringRef> lines;
  StringRef(assembly.log).split(lines, '\n');
  for (StringRef line : lines)
    if (performanceLoss.match(line))
      return emitError(loc) << "`" << tool << "` says: " << line.trim();
  for (const KernelUsage &kernel : assembly.usage) {
    if (kernel.spillBytes == 0)
      continue;
    InFlightDiagnostic diagnostic =
        options.refuseSpills ? emitError(loc) : emitWarning(loc);
    diagnostic << "kernel `" << kernel.name << "` spills " << kernel.spillBytes
               << " bytes at " << kernel.registers << " registers";
    if (options.refuseSpills)
      return failure();
  }
  return assembly;
}

} // namespace

FailureOr<Assembly>
mlir::fuseops::assembleToCubin(Location loc, StringRef ptx, StringRef chip,
                               const AssemblerOptions &options) {
  // A tool older than the chip refuses it, so the next one gets its turn.
  std::string refusal;
  // What is to be linked has a fixed number of registers, so nvJitLink ignores
  // `setmaxnreg` (C7504). ptxas and the driver see whole programs.
  bool movesRegisters = ptx.contains("setmaxnreg");
  if (options.useNvJitLink && !movesRegisters) {
    for (const std::string &path : findNvJitLink(options)) {
      NvJitLink library;
      if (!library.open(path))
        continue;
      Attempt attempt = runNvJitLink(library, ptx, chip);
      if (!attempt.cubin.empty())
        return accept(loc, std::move(attempt), path, options);
      refusal = "`" + path + "`: " + StringRef(attempt.log).trim().str();
      break;
    }
  }
  if (options.usePtxas) {
    for (const std::string &path : findPtxas(options)) {
      Attempt attempt = runPtxas(path, ptx, chip);
      if (!attempt.cubin.empty())
        return accept(loc, std::move(attempt), path, options);
      refusal = "`" + path + "`: " + StringRef(attempt.log).trim().str();
    }
  }
  if (!refusal.empty())
    return emitError(loc) << "PTX for `" << chip << "` was refused by "
                          << refusal;
  return Assembly();
}

SmallVector<KernelUsage> mlir::fuseops::parseAssemblerLog(StringRef log) {
  // ptxas:     Compiling entry function 'NAME' for 'sm_90a'
  //            N bytes stack frame, N bytes spill stores, N bytes spill loads
  //            Used N registers, used N barriers, N bytes smem
  // nvJitLink: Function properties for 'NAME':
  //            used N registers, …, N stack, N bytes smem, …, N bytes lmem
  static const llvm::Regex entry("entry function '([^']+)'");
  static const llvm::Regex properties("Function properties for '([^']+)'");
  static const llvm::Regex registers("[Uu]sed ([0-9]+) registers");
  static const llvm::Regex spills(
      "([0-9]+) bytes spill stores, ([0-9]+) bytes spill loads");
  static const llvm::Regex shared("([0-9]+) bytes smem");
  static const llvm::Regex local("([0-9]+) bytes lmem");
  // nvJitLink's log has ptxas's before its own: a kernel may come twice.
  SmallVector<KernelUsage> kernels;
  KernelUsage *current = nullptr;
  SmallVector<StringRef> lines, groups;
  log.split(lines, '\n');
  auto number = [&](unsigned index) {
    unsigned value = 0;
    groups[index].getAsInteger(10, value);
    return value;
  };
  for (StringRef line : lines) {
    if (entry.match(line, &groups) || properties.match(line, &groups)) {
      StringRef name = groups[1];
      current = llvm::find_if(kernels, [&](const KernelUsage &kernel) {
        return kernel.name == name;
      });
      if (current == kernels.end()) {
        kernels.emplace_back();
        current = &kernels.back();
        current->name = name.str();
      }
      continue;
    }
    if (!current)
      continue;
    KernelUsage &kernel = *current;
    if (spills.match(line, &groups))
      kernel.spillBytes = number(1) + number(2);
    if (!registers.match(line, &groups))
      continue;
    kernel.registers = number(1);
    if (shared.match(line, &groups))
      kernel.sharedBytes = number(1);
    // Our kernels have no local arrays, so local memory is spilled registers.
    if (local.match(line, &groups))
      kernel.spillBytes = std::max(kernel.spillBytes, number(1));
  }
  return kernels;
}

std::string mlir::fuseops::formatUsage(ArrayRef<KernelUsage> usage) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const KernelUsage &kernel : usage)
    stream << kernel.name << ": " << kernel.registers << " registers, "
           << kernel.spillBytes << " bytes spilled, " << kernel.sharedBytes
           << " bytes shared\n";
  return text;
}
