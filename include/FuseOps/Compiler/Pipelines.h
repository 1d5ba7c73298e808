//===- Pipelines.h - The phases of the compiler and what they need --------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_COMPILER_PIPELINES_H
#define FUSEOPS_COMPILER_PIPELINES_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

#include <optional>
#include <string>

namespace mlir::fuseops {

/// The phases, in order. The IR after each can be printed and read back.
enum class Phase {
  Input,
  Differentiate,
  Quantize,
  Saved,
  Fusion,
  Lowering,
  Target
};

/// The phase of that name; none for another word.
std::optional<Phase> symbolizePhase(StringRef name);

/// Its name, as `--compile-to=` spells it.
StringRef stringifyPhase(Phase phase);

/// What code is generated for.
struct TargetSpec {
  enum Kind { CPU, CUDA, Reference } kind = CPU;
  /// A CPU level (`native`, `x86-64-v3`, …) or a CUDA chip (`sm_90a`).
  std::string arch = "native";

  /// Reads `cpu`, `cpu:x86-64-v3`, `cuda`, `cuda:sm_90a` or `reference`; fails
  /// with a sentence in `error`.
  static FailureOr<TargetSpec> parse(StringRef text, std::string &error);
  /// `cpu`, `cuda` or `reference`.
  StringRef getName() const;
  bool isCUDA() const { return kind == CUDA; }
};

/// What the phases before `target` need to know.
struct PipelineOptions {
  TargetSpec target;
  /// The quantization recipe of programs that carry none, as
  /// `#fuseops.recipe<>` has it.
  std::string recipe = "none";
  /// Whether weights are quantized in an entry of their own, `prepare`.
  bool prepare = false;
  /// Whether contractions may be kernels of ours, with what is computed of
  /// them: on sm_90a.
  bool generateProducts = false;
};

/// Checks a text that `--recipe=` takes: what `#fuseops.recipe<>` holds. Fails
/// with a sentence in `error`.
LogicalResult verifyRecipe(StringRef recipe, std::string &error);

/// Adds the passes of the phases `first` to `last`, both included, to a pass
/// manager for modules. `Phase::Target` adds none: it's `Compiler`'s. Fails
/// with a sentence in `error` if a pass isn't in this build.
LogicalResult buildCompilePipeline(OpPassManager &manager,
                                   const PipelineOptions &options, Phase first,
                                   Phase last, std::string &error);

/// Registers every dialect that a source file or a phase may hold.
void registerDialects(DialectRegistry &registry);

/// Registers FuseOps' passes and the pipeline `fuseops-compile` by name, once.
void registerPasses();

} // namespace mlir::fuseops

#endif // FUSEOPS_COMPILER_PIPELINES_H
