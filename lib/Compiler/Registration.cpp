//===- Registration.cpp - Dialects and passes of the compiler -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Compiler/Pipelines.h"
#include "FuseOps/Conversion/Passes.h"
#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Dialect/Torch/Torch.h"
#include "FuseOps/Target/Target.h"
#include "FuseOps/Transforms/Passes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassRegistry.h"

#include <mutex>

using namespace mlir;
using namespace mlir::fuseops;

namespace {

/// Options of the pipeline `fuseops-compile`.
struct CompilePipelineOptions
    : public PassPipelineOptions<CompilePipelineOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("what code is generated for"),
                             llvm::cl::init("cpu")};
  Option<std::string> recipe{*this, "recipe",
                             llvm::cl::desc("quantization recipe"),
                             llvm::cl::init("none")};
  Option<bool> prepare{
      *this, "prepare",
      llvm::cl::desc("quantize weights in a program of their own"),
      llvm::cl::init(false)};
  Option<std::string> to{*this, "to", llvm::cl::desc("last phase"),
                         llvm::cl::init("lowering")};
};

} // namespace

void mlir::fuseops::registerDialects(DialectRegistry &registry) {
  registry
      .insert<FuseOpsDialect, torch::TorchDialect, arith::ArithDialect,
              cf::ControlFlowDialect, func::FuncDialect, index::IndexDialect,
              LLVM::LLVMDialect, math::MathDialect, NVVM::NVVMDialect,
              scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  registerTargetTranslations(registry);
}

/// Builds the pipeline from its options' text; a wrong one is an error.
static LogicalResult
buildFromText(OpPassManager &manager, StringRef text,
              function_ref<LogicalResult(const Twine &)> emitError) {
  CompilePipelineOptions options;
  if (failed(options.parseFromString(text)))
    return failure();
  std::string error;
  PipelineOptions pipeline;
  pipeline.recipe = options.recipe;
  pipeline.prepare = options.prepare;
  if (failed(verifyRecipe(options.recipe, error)))
    return emitError(error);
  FailureOr<TargetSpec> target = TargetSpec::parse(options.target, error);
  if (failed(target))
    return emitError(error);
  pipeline.target = *target;
  std::optional<Phase> phase = symbolizePhase(options.to);
  if (!phase)
    return emitError("expected a phase, but got `" + options.to + "`");
  if (failed(
          buildCompilePipeline(manager, pipeline, Phase::Input, *phase, error)))
    return emitError(error);
  return success();
}

void mlir::fuseops::registerPasses() {
  static std::once_flag once;
  std::call_once(once, [] {
    registerFuseOpsConversionPasses();
    registerFuseOpsTransformsPasses();
    registerPassPipeline(
        "fuseops-compile", "The phases of fuse-compile, up to one of them",
        buildFromText,
        [](function_ref<void(const mlir::detail::PassOptions &)> visit) {
          visit(CompilePipelineOptions());
        });
  });
}
