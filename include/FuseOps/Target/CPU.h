//===- CPU.h - Machine code for the CPU -----------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_TARGET_CPU_H
#define FUSEOPS_TARGET_CPU_H

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace mlir::fuseops {

/// How hard the compiler works for fast code: for a program that is run once to
/// compare with, compiling takes longer than running.
enum class Effort { Little, Full };

/// The level that `cpu` names, one of `x86-64-v2`, `x86-64-v3`, `x86-64-v4`;
/// `native` is the highest that this machine runs. Fails with an error at `loc`
/// for any other text, and for `native` on a machine that runs none of them.
FailureOr<std::string> resolveCPU(Location loc, StringRef cpu);

/// True if a level converts between f16 and f32 in hardware; false asks for
/// `KernelTarget::cpu(/*nativeHalf=*/false)`.
bool hasNativeHalf(StringRef level);

/// Optimises `kernels`, a module of the `llvm` dialect, and returns an ELF
/// relocatable object. `archUsed` becomes the level compiled for. Errors are
/// emitted at the module.
FailureOr<SmallVector<char>> compileToObject(Operation *kernels, StringRef cpu,
                                             std::string &archUsed,
                                             Effort effort = Effort::Full);

/// As `compileToObject`, linked into a shared object that exports each function
/// and needs only libm and libc when it is opened.
FailureOr<SmallVector<char>>
compileToSharedObject(Operation *kernels, StringRef cpu, std::string &archUsed,
                      Effort effort = Effort::Full);

} // namespace mlir::fuseops

#endif // FUSEOPS_TARGET_CPU_H
