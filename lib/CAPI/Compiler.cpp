//===- Compiler.cpp - C ABI of the compiler -------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps-c/Compiler.h"

#include "FuseOps/Compiler/Compiler.h"

#include <cstring>
#include <mutex>

using namespace mlir;
using namespace mlir::fuseops;

struct fuseopsCompilation {
  CompileResult result;
  std::string diagnostics;
};

/// Reads the caller's options, of which an older caller has fewer. Returns a
/// reason if one is wrong.
static std::string readOptions(const fuseopsCompileOptions *given,
                               CompileOptions &options) {
  fuseopsCompileOptions all = {};
  if (given)
    std::memcpy(&all, given, std::min(given->struct_size, sizeof(all)));
  std::string error;
  FailureOr<TargetSpec> target =
      TargetSpec::parse(all.target ? all.target : "cpu", error);
  if (failed(target))
    return error;
  options.target = *target;
  if (all.emit) {
    std::optional<Emit> emit = symbolizeEmit(all.emit);
    if (!emit)
      return "expected kind `program`, `report`, `ptx`, `cubin`, `obj` or "
             "`ir`, but got `" +
             std::string(all.emit) + "`";
    options.emit = *emit;
  }
  if (all.compile_to) {
    std::optional<Phase> phase = symbolizePhase(all.compile_to);
    if (!phase)
      return "expected phase `input`, `differentiate`, `quantize`, `saved`, "
             "`fusion`, `lowering` or `target`, but got `" +
             std::string(all.compile_to) + "`";
    options.compileTo = *phase;
  }
  if (all.recipe) {
    if (failed(verifyRecipe(all.recipe, error)))
      return error;
    options.recipe = all.recipe;
  }
  if (all.entry)
    options.entry = all.entry;
  options.prepare = all.prepare != 0;
  if (all.schedules)
    options.schedules = all.schedules;
  if (all.python_sites) {
    SmallVector<StringRef> sites;
    StringRef(all.python_sites).split(sites, ':', -1, /*KeepEmpty=*/false);
    SmallVectorImpl<std::string> &known = options.assembler.pythonSites;
    known.insert(known.begin(), sites.begin(), sites.end());
  }
  return "";
}

fuseopsCompileStatus fuseopsCompile(const char *source, size_t size,
                                    const char *name,
                                    const fuseopsCompileOptions *options,
                                    fuseopsCompilation **result) {
  // The linker within the compiler has global state.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  auto *compilation = new fuseopsCompilation();
  *result = compilation;
  CompileOptions compileOptions;
  if (std::string reason = readOptions(options, compileOptions);
      !reason.empty()) {
    compilation->diagnostics = "error: " + reason + "\n";
    return FUSEOPS_COMPILE_INVALID_OPTIONS;
  }
  Compiler compiler;
  FailureOr<CompileResult> compiled = compiler.compile(
      StringRef(source, size), name ? name : "source", compileOptions);
  compilation->diagnostics = compiler.formatMessages();
  if (failed(compiled))
    return FUSEOPS_COMPILE_FAILED;
  compilation->result = std::move(*compiled);
  return FUSEOPS_COMPILE_OK;
}

const char *fuseopsCompilationOutput(const fuseopsCompilation *compilation,
                                     size_t *size) {
  if (size)
    *size = compilation->result.output.size();
  return compilation->result.output.c_str();
}

const char *fuseopsCompilationReport(const fuseopsCompilation *compilation) {
  return compilation->result.report.c_str();
}

const char *
fuseopsCompilationDiagnostics(const fuseopsCompilation *compilation) {
  return compilation->diagnostics.c_str();
}

void fuseopsCompilationDestroy(fuseopsCompilation *compilation) {
  delete compilation;
}

const char *fuseopsCompilerVersion() { return FUSEOPS_VERSION; }
