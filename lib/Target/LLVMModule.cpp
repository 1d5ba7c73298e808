//===- LLVMModule.cpp - From the LLVM dialect to optimised machine code ---===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LLVMModule.h"

#include "FuseOps/Target/Target.h"

#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

using namespace mlir;
using namespace mlir::fuseops;

namespace {

/// Everything that one code generation holds. It outlives the recovery from a
/// fatal error, which unwinds nothing.
struct Generation {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
  SmallVector<std::string> errors;
  SmallVector<char> code;
};

/// Collects LLVM's errors; remarks and warnings aren't about the user's input.
void collectDiagnostic(const llvm::DiagnosticInfo *info, void *errors) {
  if (info->getSeverity() != llvm::DS_Error)
    return;
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::DiagnosticPrinterRawOStream printer(stream);
  info->print(printer);
  static_cast<SmallVector<std::string> *>(errors)->push_back(text);
}

/// Called by report_fatal_error, which would end the process.
void onFatalError(void *errors, const char *reason, bool) {
  static_cast<SmallVector<std::string> *>(errors)->push_back(reason);
  if (auto *recovery = llvm::CrashRecoveryContext::GetCurrent())
    recovery->HandleExit(/*RetCode=*/1);
}

/// Runs `work` such that a fatal error of LLVM's returns false. The handlers
/// are the process's, so one thread at a time.
bool runRecoverably(SmallVector<std::string> &errors,
                    function_ref<void()> work) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  llvm::CrashRecoveryContext::Enable();
  llvm::install_fatal_error_handler(onFatalError, &errors);
  llvm::CrashRecoveryContext recovery;
  bool finished = recovery.RunSafely(work);
  llvm::remove_fatal_error_handler();
  llvm::CrashRecoveryContext::Disable();
  return finished;
}

LogicalResult createMachine(Operation *kernels, const Machine &machine,
                            Generation &generation) {
  llvm::Triple triple(machine.triple);
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return kernels->emitError()
           << "no code generator for `" << machine.triple << "`: " << error;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, "", ""));
  if (!subtarget || !subtarget->isCPUStringValid(machine.cpu))
    return kernels->emitError()
           << "LLVM doesn't know the chip `" << machine.cpu << "`";
  llvm::TargetOptions options;
  // Only operations that carry `contract` may be fused.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  generation.machine.reset(target->createTargetMachine(
      triple, machine.cpu, machine.features, options, llvm::Reloc::PIC_,
      std::nullopt,
      machine.effort == Effort::Full ? llvm::CodeGenOptLevel::Aggressive
                                     : llvm::CodeGenOptLevel::None));
  if (!generation.machine)
    return kernels->emitError()
           << "no code generator for `" << machine.cpu << "`";
  return success();
}

void prepareFunctions(Generation &generation, const Machine &machine) {
  llvm::Module &module = *generation.module;
  module.setTargetTriple(generation.machine->getTargetTriple());
  module.setDataLayout(generation.machine->createDataLayout());
  bool isX86 = generation.machine->getTargetTriple().isX86();
  if (isX86)
    module.setPICLevel(llvm::PICLevel::BigPIC);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    if (isX86) {
      function.addFnAttr("target-cpu", machine.cpu);
      function.addFnAttr(llvm::Attribute::NoUnwind);
      function.addFnAttr("no-trapping-math", "true");
    }
    if (machine.vectorWidth)
      function.addFnAttr("prefer-vector-width",
                         std::to_string(machine.vectorWidth));
  }
}

void optimise(llvm::Module &module, llvm::TargetMachine &machine,
              Effort effort) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = true;
  // To interleave, LLVM 22 asks of each value whether it is uniform, in time
  // exponential in the depth of the expression (isUniformAcrossVFsAndUFs).
  tuning.LoopInterleaving = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  llvm::ModulePassManager passes =
      effort == Effort::Full
          ? builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
          : builder.buildO0DefaultPipeline(llvm::OptimizationLevel::O0);
  passes.run(module, modules);
}

} // namespace

FailureOr<SmallVector<char>> mlir::fuseops::generateCode(
    Operation *kernels, const Machine &machine, llvm::CodeGenFileType fileType,
    function_ref<LogicalResult(llvm::Module &)> link,
    function_ref<LogicalResult(const llvm::Module &)> check) {
  initializeTargets();
  auto generation = std::make_unique<Generation>();
  generation->context.setDiagnosticHandlerCallBack(collectDiagnostic,
                                                   &generation->errors);
  if (failed(createMachine(kernels, machine, *generation)))
    return failure();
  generation->module =
      translateModuleToLLVMIR(kernels, generation->context, "kernels");
  if (!generation->module)
    return kernels->emitError() << "module could not be translated to LLVM IR";
  prepareFunctions(*generation, machine);
  if (failed(link(*generation->module)) || failed(check(*generation->module)))
    return failure();

  LogicalResult status = success();
  bool finished = runRecoverably(generation->errors, [&] {
    optimise(*generation->module, *generation->machine, machine.effort);
    if (failed(status = check(*generation->module)))
      return;
    llvm::raw_svector_ostream stream(generation->code);
    llvm::legacy::PassManager passes;
    if (generation->machine->addPassesToEmitFile(passes, stream, nullptr,
                                                 fileType)) {
      generation->errors.push_back("the target emits no such file");
      return;
    }
    passes.run(*generation->module);
  });
  for (StringRef error : generation->errors)
    kernels->emitError() << "LLVM can't generate code for `" << machine.cpu
                         << "`: " << error.trim();
  if (!finished && generation->errors.empty())
    kernels->emitError() << "LLVM crashed while it generated code for `"
                         << machine.cpu << "`";
  if (!finished) {
    // The objects are in an unknown state: to destroy them could crash.
    (void)generation.release();
    return failure();
  }
  if (failed(status) || !generation->errors.empty())
    return failure();
  return std::move(generation->code);
}
