//===- CPU.cpp - Machine code for the CPU ---------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Target/CPU.h"

#include "LLVMModule.h"
#include "Linker.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::fuseops;

namespace {

/// A level of the x86-64 psABI and the features that it needs beyond the ones
/// before it (psABI, section 3.1.1, by LLVM's names).
struct Level {
  StringRef name;
  ArrayRef<StringRef> features;
};

constexpr StringRef kV2[] = {"cx16",   "popcnt", "sahf", "sse3",
                             "sse4.1", "sse4.2", "ssse3"};
constexpr StringRef kV3[] = {"avx", "avx2",  "bmi",   "bmi2", "f16c",
                             "fma", "lzcnt", "movbe", "xsave"};
constexpr StringRef kV4[] = {"avx512bw", "avx512cd", "avx512dq", "avx512f",
                             "avx512vl"};
constexpr Level kLevels[] = {
    {"x86-64-v2", kV2}, {"x86-64-v3", kV3}, {"x86-64-v4", kV4}};

Machine machineOf(StringRef level) {
  Machine machine;
  machine.triple = "x86_64-unknown-linux-gnu";
  machine.cpu = level.str();
  // LLVM would split the emitter's 512-bit vectors for an unknown v4 chip.
  machine.vectorWidth = level == "x86-64-v4" ? 512 : 0;
  return machine;
}

FailureOr<SmallVector<char>> emitObject(Operation *kernels, StringRef level,
                                        Effort effort) {
  auto emit = [&](StringRef level) {
    Machine machine = machineOf(level);
    machine.effort = effort;
    return generateCode(
        kernels, machine, llvm::CodeGenFileType::ObjectFile,
        [](llvm::Module &) { return success(); },
        [](const llvm::Module &) { return success(); });
  };
  StringRef highest = std::end(kLevels)[-1].name;
  if (level != highest)
    return emit(level);
  // LLVM 22 can't broadcast four f16 there, but on the level below, whose code
  // runs there too.
  std::vector<Diagnostic> said;
  FailureOr<SmallVector<char>> object = failure();
  MLIRContext *context = kernels->getContext();
  {
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      said.push_back(std::move(diagnostic));
    });
    object = emit(level);
  }
  if (failed(object))
    return emit(std::end(kLevels)[-2].name);
  for (Diagnostic &diagnostic : said)
    context->getDiagEngine().emit(std::move(diagnostic));
  return object;
}

} // namespace

FailureOr<std::string> mlir::fuseops::resolveCPU(Location loc, StringRef cpu) {
  if (cpu != "native") {
    for (const Level &level : kLevels)
      if (level.name == cpu)
        return cpu.str();
    return emitError(loc) << "expected CPU `native`, `x86-64-v2`, `x86-64-v3` "
                             "or `x86-64-v4`, but got `"
                          << cpu << "`";
  }
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  StringRef best;
  for (const Level &level : kLevels) {
    if (!llvm::all_of(level.features,
                      [&](StringRef name) { return features.lookup(name); }))
      break;
    best = level.name;
  }
  if (best.empty())
    return emitError(loc) << "this machine doesn't run `x86-64-v2`, the lowest "
                             "level that kernels are compiled for";
  return best.str();
}

bool mlir::fuseops::hasNativeHalf(StringRef level) {
  return level != "x86-64-v2";
}

FailureOr<SmallVector<char>>
mlir::fuseops::compileToObject(Operation *kernels, StringRef cpu,
                               std::string &archUsed, Effort effort) {
  FailureOr<std::string> level = resolveCPU(kernels->getLoc(), cpu);
  if (failed(level))
    return failure();
  archUsed = *level;
  return emitObject(kernels, *level, effort);
}

FailureOr<SmallVector<char>>
mlir::fuseops::compileToSharedObject(Operation *kernels, StringRef cpu,
                                     std::string &archUsed, Effort effort) {
  FailureOr<SmallVector<char>> object =
      compileToObject(kernels, cpu, archUsed, effort);
  if (failed(object))
    return failure();
  OwningOpRef<ModuleOp> empty = ModuleOp::create(kernels->getLoc());
  FailureOr<SmallVector<char>> emptyObject =
      emitObject(*empty, archUsed, effort);
  if (failed(emptyObject))
    return failure();
  return linkSharedObject(kernels->getLoc(), *object, *emptyObject);
}
