//===- Target.h - What every code generator needs set up ------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_TARGET_TARGET_H
#define FUSEOPS_TARGET_TARGET_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::fuseops {

/// Registers LLVM's X86 and NVPTX code generators, once; any thread may call.
/// The functions of `CPU.h` and `NVPTX.h` do so themselves.
void initializeTargets();

/// Registers the translations from the builtin, `llvm` and `nvvm` dialects to
/// LLVM IR, which the context of a module given to `CPU.h` and `NVPTX.h` needs.
void registerTargetTranslations(DialectRegistry &registry);

} // namespace mlir::fuseops

#endif // FUSEOPS_TARGET_TARGET_H
