//===- NVPTX.cpp - PTX for CUDA chips -------------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Target/NVPTX.h"

#include "CudaTools.h"
#include "FuseOps/Conversion/KernelToLLVM.h"
#include "LLVMModule.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/Internalize.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::fuseops;

namespace {

/// Ten times the lowest PTX version that knows a chip (PTX ISA, Release Notes).
unsigned lowestPTXVersion(StringRef chip, unsigned smVersion) {
  // Family-specific chips came later than the chips.
  if (chip.ends_with("f"))
    return std::max(88u, smVersion == 110 ? 90u : 0u);
  switch (smVersion) {
  case 89: // knows the chip from 7.8 on, but its FP8 conversions from here
  case 90: // knows the chip from 8.0 on, but stores between blocks from here
    return 81;
  case 100:
  case 101:
    return 86;
  case 103:
    return 88;
  case 110:
    return 90;
  case 120:
    return 87;
  case 121:
    return 88;
  default:
    return 80;
  }
}

/// What the NVPTX backend can't select on a type: it would end the process.
bool isSelectable(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (!name.consume_front("llvm.intr."))
    return true;
  Type element = op->getNumResults() == 1
                     ? getElementTypeOrSelf(op->getResult(0).getType())
                     : Type();
  auto fastMath = dyn_cast<LLVM::FastmathFlagsInterface>(op);
  bool isApproximate =
      fastMath && bitEnumContainsAll(fastMath.getFastmathAttr().getValue(),
                                     LLVM::FastmathFlags::afn);
  bool isF32 = element && element.isF32();
  bool isNarrow = element && (element.isF16() || element.isBF16());
  return llvm::StringSwitch<bool>(name)
      .Case("exp2", isF32 || isNarrow)
      .Cases({"sin", "cos", "tanh"}, isApproximate && (isF32 || isNarrow))
      .Cases({"acos", "asin", "atan", "atan2", "cosh", "exp", "exp10"}, false)
      .Cases({"ldexp", "frexp", "log", "log10", "log2", "pow", "powi"}, false)
      .Cases({"sincos", "sinh", "tan", "modf", "lrint", "llrint"}, false)
      .Cases({"lround", "llround"}, false)
      .Default(true);
}

/// Whether a kernel may call `function`: by the driver, or by libdevice.
bool isProvided(StringRef function) {
  return function == "vprintf" || function == "__assertfail" ||
         function.starts_with("__nv_");
}

LogicalResult checkSelectable(Operation *kernels, StringRef chip) {
  WalkResult result = kernels->walk([&](Operation *op) {
    if (!isSelectable(op)) {
      std::string type;
      llvm::raw_string_ostream(type) << op->getResult(0).getType();
      op->emitError() << "`" << op->getName() << "` on `" << type
                      << "` has no instruction on `" << chip << "`";
      return WalkResult::interrupt();
    }
    auto call = dyn_cast<LLVM::CallOp>(op);
    if (!call)
      return WalkResult::advance();
    std::optional<StringRef> callee = call.getCallee();
    auto function =
        callee ? SymbolTable::lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(
                     op, call.getCalleeAttr())
               : LLVM::LLVMFuncOp();
    bool isExternal = function && function.isExternal();
    if (isExternal && !isProvided(*callee)) {
      op->emitError() << "call of `" << *callee
                      << "`, which no CUDA kernel can link against";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// What is written as PTX may need all threads of a warp (`bar.sync`, `wgmma`,
/// `stmatrix`): it must not be moved into branches, or be copied into several.
/// MLIR's operation can't say so.
void markConvergent(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *call = dyn_cast<llvm::CallInst>(&instruction);
      auto *text =
          call ? dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
      if (text && text->hasSideEffects())
        call->setConvergent();
    }
}

/// Adds the functions of libdevice that the kernels call, as parts of their
/// module: what isn't inlined is not exported.
LogicalResult linkLibdevice(Operation *kernels, llvm::Module &module,
                            const AssemblerOptions &options) {
  auto needed = llvm::find_if(module, [](const llvm::Function &function) {
    return function.isDeclaration() && function.getName().starts_with("__nv_");
  });
  if (needed == module.end())
    return success();
  SmallVector<std::string> paths;
  if (options.useLibdevice)
    paths = findLibdevice(options);
  if (paths.empty())
    return kernels->emitError()
           << "kernels call `" << needed->getName()
           << "` of libdevice.10.bc, but that is neither in `CUDA_HOME`, "
              "/usr/local/cuda nor in Python's packages: install the CUDA "
              "toolkit's nvvm folder or Python's `triton`";
  auto buffer = llvm::MemoryBuffer::getFile(paths.front());
  if (!buffer)
    return kernels->emitError() << "can't read `" << paths.front()
                                << "`: " << buffer.getError().message();
  auto library =
      llvm::parseBitcodeFile((*buffer)->getMemBufferRef(), module.getContext());
  if (!library)
    return kernels->emitError()
           << "`" << paths.front()
           << "` is no bitcode: " << llvm::toString(library.takeError());
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  bool isBroken = llvm::Linker::linkModules(
      module, std::move(*library), llvm::Linker::LinkOnlyNeeded,
      [](llvm::Module &into, const llvm::StringSet<> &added) {
        llvm::internalizeModule(into, [&](const llvm::GlobalValue &value) {
          return !added.contains(value.getName());
        });
      });
  if (isBroken)
    return kernels->emitError()
           << "libdevice in `" << paths.front() << "` can't be linked";
  return success();
}

/// The optimiser may have put calls of its own (memcpy, math) into the module.
LogicalResult checkDeclarations(Operation *kernels,
                                const llvm::Module &module) {
  for (const llvm::Function &function : module) {
    // LLVM answers what libdevice asks about the chip by `__nvvm_reflect`.
    if (!function.isDeclaration() || function.isIntrinsic() ||
        function.use_empty() || function.getName() == "vprintf" ||
        function.getName() == "__assertfail" ||
        function.getName() == "__nvvm_reflect")
      continue;
    return kernels->emitError() << "kernels call `" << function.getName()
                                << "`, which no CUDA kernel can link against";
  }
  return success();
}

} // namespace

FailureOr<std::string>
mlir::fuseops::translateToPTX(Operation *kernels, StringRef chip,
                              const AssemblerOptions &options,
                              unsigned ptxVersion) {
  FailureOr<KernelTarget> target = KernelTarget::cuda(chip);
  if (failed(target) || target->smVersion < 70)
    return kernels->emitError()
           << "expected a chip from `sm_70` on, such as `sm_90a`, but got `"
           << chip << "`";
  if (failed(checkSelectable(kernels, chip)))
    return failure();
  unsigned version =
      std::max(ptxVersion, lowestPTXVersion(chip, target->smVersion));
  Machine machine;
  machine.triple = "nvptx64-nvidia-cuda";
  machine.cpu = chip.str();
  machine.features = "+ptx" + std::to_string(version);
  FailureOr<SmallVector<char>> text = generateCode(
      kernels, machine, llvm::CodeGenFileType::AssemblyFile,
      [&](llvm::Module &module) {
        markConvergent(module);
        return linkLibdevice(kernels, module, options);
      },
      [&](const llvm::Module &module) {
        return checkDeclarations(kernels, module);
      });
  if (failed(text))
    return failure();
  return std::string(text->begin(), text->end());
}
