//===- Codegen.h - Kernels to machine code --------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_COMPILER_CODEGEN_H
#define FUSEOPS_LIB_COMPILER_CODEGEN_H

#include "FuseOps/Compiler/Compiler.h"
#include "FuseOps/Conversion/KernelToLLVM.h"
#include "FuseOps/Target/Program.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::fuseops {

/// The code of a program's kernels.
struct GeneratedCode {
  SmallVector<ProgramCode, 2> code;
  std::string ptx, object;
  /// The architecture compiled for.
  std::string arch;
  /// Path of the assembler; empty without one.
  std::string assembler;
  SmallVector<KernelUsage> usage;
};

/// What kernels are generated for. Fails with an error at `loc` where `native`
/// is no level that is known.
FailureOr<KernelTarget> getKernelTarget(Location loc, const TargetSpec &target);

/// Lowers the module of kernels in `module` to the `llvm` dialect, in place.
LogicalResult lowerKernels(ModuleOp module, const TargetSpec &target);

/// Generates what `options.emit` needs from the lowered kernels in `module`.
FailureOr<GeneratedCode> generateCode(ModuleOp module,
                                      const CompileOptions &options);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_COMPILER_CODEGEN_H
