//===- NVPTX.cpp - PTX for CUDA chips -------------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Target/NVPTX.h"

#include "FuseOps/Conversion/KernelToLLVM.h"
#include "LLVMModule.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

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
    // `vprintf` and `__assertfail` are what the driver itself provides.
    if (isExternal && *callee != "vprintf" && *callee != "__assertfail") {
      op->emitError() << "call of `" << *callee
                      << "`, which no CUDA kernel can link against";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// The optimiser may have put calls of its own (memcpy, math) into the module.
LogicalResult checkDeclarations(Operation *kernels,
                                const llvm::Module &module) {
  for (const llvm::Function &function : module) {
    if (!function.isDeclaration() || function.isIntrinsic() ||
        function.use_empty() || function.getName() == "vprintf" ||
        function.getName() == "__assertfail")
      continue;
    return kernels->emitError() << "kernels call `" << function.getName()
                                << "`, which no CUDA kernel can link against";
  }
  return success();
}

} // namespace

FailureOr<std::string> mlir::fuseops::translateToPTX(Operation *kernels,
                                                     StringRef chip,
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
  FailureOr<SmallVector<char>> text =
      generateCode(kernels, machine, llvm::CodeGenFileType::AssemblyFile,
                   [&](const llvm::Module &module) {
                     return checkDeclarations(kernels, module);
                   });
  if (failed(text))
    return failure();
  return std::string(text->begin(), text->end());
}
