//===- Codegen.cpp - Kernels to machine code ------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Codegen.h"

#include "FuseOps/Conversion/KernelToLLVM.h"
#include "FuseOps/Target/CPU.h"
#include "FuseOps/Target/NVPTX.h"

using namespace mlir;
using namespace mlir::fuseops;

/// The nested modules that hold functions.
static SmallVector<ModuleOp> getKernelModules(ModuleOp module) {
  SmallVector<ModuleOp> modules;
  for (ModuleOp nested : module.getOps<ModuleOp>())
    if (!nested.getBody()->empty())
      modules.push_back(nested);
  return modules;
}

FailureOr<KernelTarget>
mlir::fuseops::getKernelTarget(Location loc, const TargetSpec &target) {
  if (target.isCUDA())
    return KernelTarget::cuda(target.arch);
  FailureOr<std::string> level = resolveCPU(loc, target.arch);
  if (failed(level))
    return failure();
  return KernelTarget::cpu(hasNativeHalf(*level));
}

LogicalResult mlir::fuseops::lowerKernels(ModuleOp module,
                                          const TargetSpec &target) {
  FailureOr<KernelTarget> kernelTarget =
      getKernelTarget(module.getLoc(), target);
  if (failed(kernelTarget))
    return failure();
  // No pass manager loads what the conversion creates.
  module.getContext()->loadAllAvailableDialects();
  for (ModuleOp kernels : getKernelModules(module))
    if (failed(convertKernelToLLVM(kernels, *kernelTarget)))
      return failure();
  return success();
}

static std::string toString(ArrayRef<char> bytes) {
  return {bytes.begin(), bytes.end()};
}

static LogicalResult generateCUDA(ModuleOp kernels,
                                  const CompileOptions &options,
                                  GeneratedCode &result) {
  result.arch = options.target.arch;
  FailureOr<std::string> ptx =
      translateToPTX(kernels, result.arch, options.assembler);
  if (failed(ptx))
    return failure();
  result.ptx = std::move(*ptx);
  if (options.emit == Emit::PTX)
    return success();
  FailureOr<Assembly> assembly = assembleToCubin(
      kernels.getLoc(), result.ptx, result.arch, options.assembler);
  if (failed(assembly))
    return failure();
  result.assembler = assembly->tool;
  result.usage = assembly->usage;
  if (options.emit == Emit::Cubin && assembly->cubin.empty())
    return kernels.emitError()
           << "no cubin without an assembler: neither nvJitLink nor ptxas is "
              "in "
              "`CUDA_HOME`, /usr/local/cuda or Python's packages";
  if (!assembly->cubin.empty())
    result.code.push_back(
        {ProgramCode::Cubin, result.arch, toString(assembly->cubin)});
  // For chips that the cubin doesn't run on, where the driver may compile it.
  result.code.push_back({ProgramCode::PTX, result.arch, result.ptx});
  return success();
}

static LogicalResult generateCPU(ModuleOp kernels,
                                 const CompileOptions &options,
                                 GeneratedCode &result) {
  bool wantsObject = options.emit == Emit::Object;
  Effort effort = options.target.kind == TargetSpec::Reference ? Effort::Little
                                                               : Effort::Full;
  FailureOr<SmallVector<char>> bytes =
      wantsObject
          ? compileToObject(kernels, options.target.arch, result.arch, effort)
          : compileToSharedObject(kernels, options.target.arch, result.arch,
                                  effort);
  if (failed(bytes))
    return failure();
  if (wantsObject)
    result.object = toString(*bytes);
  else
    result.code.push_back(
        {ProgramCode::SharedObject, result.arch, toString(*bytes)});
  return success();
}

FailureOr<GeneratedCode>
mlir::fuseops::generateCode(ModuleOp module, const CompileOptions &options) {
  GeneratedCode result;
  result.arch = options.target.arch;
  SmallVector<ModuleOp> modules = getKernelModules(module);
  bool wantsCode = options.emit == Emit::PTX || options.emit == Emit::Cubin ||
                   options.emit == Emit::Object;
  if (modules.empty() && wantsCode)
    return module.emitError() << "the program has no kernels to emit code of";
  // One fusible is lowered to one module of kernels.
  for (ModuleOp kernels : modules)
    if (failed(options.target.isCUDA() ? generateCUDA(kernels, options, result)
                                       : generateCPU(kernels, options, result)))
      return failure();
  return result;
}
