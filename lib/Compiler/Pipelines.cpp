//===- Pipelines.cpp - The phases of the compiler -------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Compiler/Pipelines.h"

#include "FuseOps/Conversion/KernelToLLVM.h"
#include "FuseOps/Transforms/Passes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::fuseops;

std::optional<Phase> mlir::fuseops::symbolizePhase(StringRef name) {
  return llvm::StringSwitch<std::optional<Phase>>(name)
      .Case("input", Phase::Input)
      .Case("differentiate", Phase::Differentiate)
      .Case("quantize", Phase::Quantize)
      .Case("saved", Phase::Saved)
      .Case("fusion", Phase::Fusion)
      .Case("lowering", Phase::Lowering)
      .Case("target", Phase::Target)
      .Default(std::nullopt);
}

StringRef mlir::fuseops::stringifyPhase(Phase phase) {
  switch (phase) {
  case Phase::Input:
    return "input";
  case Phase::Differentiate:
    return "differentiate";
  case Phase::Quantize:
    return "quantize";
  case Phase::Saved:
    return "saved";
  case Phase::Fusion:
    return "fusion";
  case Phase::Lowering:
    return "lowering";
  case Phase::Target:
    return "target";
  }
  llvm_unreachable("unknown phase");
}

StringRef TargetSpec::getName() const {
  switch (kind) {
  case CPU:
    return "cpu";
  case CUDA:
    return "cuda";
  case Reference:
    return "reference";
  }
  llvm_unreachable("unknown kind of target");
}

FailureOr<TargetSpec> TargetSpec::parse(StringRef text, std::string &error) {
  auto [name, arch] = text.split(':');
  bool hasArch = text.contains(':');
  if (name == "cpu" &&
      (!hasArch ||
       llvm::is_contained({"native", "x86-64-v2", "x86-64-v3", "x86-64-v4"},
                          arch)))
    return TargetSpec{CPU, hasArch ? arch.str() : "native"};
  if (name == "cuda" && (!hasArch || succeeded(KernelTarget::cuda(arch))))
    return TargetSpec{CUDA, hasArch ? arch.str() : "sm_90a"};
  if (text == "reference")
    return TargetSpec{Reference, "native"};
  error = "expected target `cpu`, `cpu:` with `native`, `x86-64-v2`, "
          "`x86-64-v3` or `x86-64-v4`, `cuda`, `cuda:` with a chip such as "
          "`sm_90a`, or `reference`, but got `" +
          text.str() + "`";
  return failure();
}

LogicalResult mlir::fuseops::verifyRecipe(StringRef recipe,
                                          std::string &error) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  return success(succeeded(parseRecipe(&context, recipe, error)));
}

/// The passes of a phase as a pipeline's text.
static std::string getPasses(Phase phase, const PipelineOptions &options) {
  bool isReference = options.target.kind == TargetSpec::Reference;
  switch (phase) {
  case Phase::Input:
    return "convert-torch-to-fuseops";
  case Phase::Differentiate:
    return "fuseops-differentiate";
  case Phase::Quantize:
    return "fuseops.fusible(fuseops-quantize{recipe=\"" + options.recipe +
           "\"},fuseops-propagate-quantization)" +
           (options.prepare ? ",fuseops-prepare-weights" : "");
  case Phase::Saved:
    return "fuseops.fusible(fuseops-plan-saved)";
  case Phase::Fusion: {
    // No library reads the sizes of groups on the device.
    bool isHopper = options.target.isCUDA() && options.target.arch == "sm_90a";
    StringRef fuse = isReference                ? "{fuse=false}"
                     : options.generateProducts ? "{generate=all}"
                     : isHopper                 ? "{generate=grouped}"
                                                : "";
    std::string chip = options.target.isCUDA()
                           ? "{chip=" + options.target.arch + "}"
                           : std::string();
    return ("fuseops.fusible(" +
            Twine(isReference ? "fuseops-reference," : "") +
            "fuseops-expand-grouped,fuseops-expand-contractions" + chip +
            ",fuseops-expand-quantized,fuseops-forward-fusion" + fuse +
            ",fuseops-backward-fusion" + fuse + ")")
        .str();
  }
  case Phase::Lowering:
    // The reference runs on the CPU, op by op.
    if (isReference)
      return "convert-fuseops-to-kernels{target=cpu}";
    return "convert-fuseops-to-kernels{target=" +
           (options.target.isCUDA() ? "cuda chip=" + options.target.arch
                                    : std::string("cpu")) +
           "},fuseops-merge-launches";
  case Phase::Target:
    return "";
  }
  llvm_unreachable("unknown phase");
}

LogicalResult
mlir::fuseops::buildCompilePipeline(OpPassManager &manager,
                                    const PipelineOptions &options, Phase first,
                                    Phase last, std::string &error) {
  if (options.generateProducts &&
      options.target.kind != TargetSpec::Reference &&
      !(options.target.isCUDA() && options.target.arch == "sm_90a")) {
    error = "expected target `cuda:sm_90a` for generated products, but got `" +
            options.target.getName().str() + ":" + options.target.arch + "`";
    return failure();
  }
  registerPasses();
  llvm::raw_string_ostream stream(error);
  for (int i = static_cast<int>(first); i <= static_cast<int>(last); ++i) {
    std::string passes = getPasses(static_cast<Phase>(i), options);
    if (!passes.empty() && failed(parsePassPipeline(passes, manager, stream)))
      return failure();
  }
  return success();
}
