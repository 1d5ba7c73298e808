//===- KernelToLLVM.h - Kernels to the LLVM dialect
//------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_CONVERSION_KERNELTOLLVM_H
#define FUSEOPS_CONVERSION_KERNELTOLLVM_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::fuseops {

/// What a module of kernels is compiled for.
struct KernelTarget {
  /// CUDA chip number (`90` for sm_90a); 0 is the CPU.
  unsigned smVersion = 0;
  /// CPU only: false expands casts between f16 and f32 (no F16C: x86-64-v2).
  bool nativeHalf = true;

  /// True for a CUDA chip.
  bool isCUDA() const { return smVersion != 0; }
  /// The CPU.
  static KernelTarget cpu(bool nativeHalf = true) { return {0, nativeHalf}; }
  /// A CUDA chip by its name, `sm_90a`; fails for any other text.
  static FailureOr<KernelTarget> cuda(StringRef chip);
};

/// Name of the module that holds the kernels of a lowered program.
constexpr StringLiteral kKernelsModule = "kernels";

/// Name of the attribute that gives a CUDA kernel's block size, an i32 array of
/// three; `nvvm.maxntid` may stand on an `llvm.func` only.
constexpr StringLiteral kBlockAttr = "fuseops.block";

/// Name of the attribute that says how many thread blocks of a CUDA kernel one
/// processor shall hold, an i32: it bounds the registers.
constexpr StringLiteral kResidentsAttr = "fuseops.residents";

/// Name of the unit attribute of a CUDA kernel that may start while the kernel
/// before it ends, on sm_90 and later: its first instruction waits for all that
/// came before.
constexpr StringLiteral kStartsEarlyAttr = "fuseops.starts_early";

/// Name of the attribute that gives the thread blocks of a CUDA kernel's
/// cluster, an i32 array of three, on sm_90 and later.
constexpr StringLiteral kClusterAttr = "fuseops.cluster";

/// Name of the unit attribute of a CUDA kernel's argument, a pointer, that is a
/// tensor map: 128 bytes in the parameters themselves, on sm_90 and later.
constexpr StringLiteral kTensorMapAttr = "fuseops.tensor_map";

/// Converts `kernels` in place to the `llvm` and `nvvm` dialects. A public
/// `func.func` is a kernel: exported, and given `nvvm.kernel` for CUDA; a
/// private one becomes internal. Neither may be named as a libm function. Fails
/// with an error at the operation that has no lowering for `target`; the module
/// is then half converted and of no use.
LogicalResult convertKernelToLLVM(ModuleOp kernels, const KernelTarget &target);

} // namespace mlir::fuseops

#endif // FUSEOPS_CONVERSION_KERNELTOLLVM_H
