//===- LLVMModule.h - From the LLVM dialect to optimised machine code -----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_TARGET_LLVMMODULE_H
#define FUSEOPS_LIB_TARGET_LLVMMODULE_H

#include "FuseOps/Target/CPU.h"

#include "mlir/IR/Operation.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"

#include <memory>
#include <string>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace mlir::fuseops {

/// The machine that code is generated for.
struct Machine {
  std::string triple;
  std::string cpu;
  std::string features;
  /// The `prefer-vector-width` attribute of each function, 0 for none.
  unsigned vectorWidth = 0;
  /// How fast the code has to be.
  Effort effort = Effort::Full;
};

/// Translates `kernels` to LLVM IR, optimises it and emits it: assembly
/// text or an object. Each error and fatal error of LLVM becomes an error at
/// `kernels`; after a fatal one the process goes on, and what LLVM held is
/// lost. `link` may add a library to the module; `check` sees it then, before
/// it is optimised, and again before it is emitted.
FailureOr<SmallVector<char>>
generateCode(Operation *kernels, const Machine &machine,
             llvm::CodeGenFileType fileType,
             function_ref<LogicalResult(llvm::Module &)> link,
             function_ref<LogicalResult(const llvm::Module &)> check);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_TARGET_LLVMMODULE_H
