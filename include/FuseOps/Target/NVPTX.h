//===- NVPTX.h - PTX and cubins for CUDA chips ----------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_TARGET_NVPTX_H
#define FUSEOPS_TARGET_NVPTX_H

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace mlir::fuseops {

/// Where the CUDA tools are looked for. Tried are, in this order, the
/// explicit paths, `cudaHome`, /usr/local/cuda, and the Python packages
/// below `pythonSites`.
struct AssemblerOptions {
  /// A path to libnvJitLink.so, used before any other where not empty.
  std::string nvJitLink;
  /// A path to libdevice.10.bc, used before any other where not empty.
  std::string libdevice;
  /// A path to ptxas, used before any other where not empty.
  std::string ptxas;
  /// The root of a CUDA toolkit.
  std::string cudaHome;
  /// site-packages folders that may hold nvidia/cu13 and triton.
  SmallVector<std::string> pythonSites;
  /// Leave nvJitLink out, or ptxas, or libdevice.
  bool useNvJitLink = true;
  bool usePtxas = true;
  bool useLibdevice = true;
  /// Spills are reported as a warning; true makes them an error.
  bool refuseSpills = false;

  /// `CUDA_HOME`, and the site-packages of `VIRTUAL_ENV` and of the system.
  static AssemblerOptions fromEnvironment();
};

/// Returns the PTX of `kernels`, a module of the `llvm` and `nvvm` dialects,
/// for `chip`, for example `sm_90a`. Functions `__nv_…` that the kernels call
/// are linked from libdevice. `ptxVersion` is ten times the PTX version, 0 the
/// lowest, from 8.0 on, that knows the chip. Whatever LLVM can't select is an
/// error: at the operation where that is known beforehand, else at the module;
/// so is a libdevice that is needed and nowhere.
FailureOr<std::string> translateToPTX(Operation *kernels, StringRef chip,
                                      const AssemblerOptions &options,
                                      unsigned ptxVersion = 0);

/// What the assembler says about one kernel.
struct KernelUsage {
  std::string name;
  unsigned registers = 0;
  unsigned spillBytes = 0;
  unsigned sharedBytes = 0;
};

/// The result of `assembleToCubin`.
struct Assembly {
  /// The cubin; empty if this machine has no assembler, in which case PTX is
  /// what a program carries, for the driver's compiler.
  SmallVector<char> cubin;
  /// The path of the library or program that made it; empty without one.
  std::string tool;
  /// The tool's log.
  std::string log;
  /// One entry a kernel, in the log's order.
  SmallVector<KernelUsage> usage;
};

/// Assembles `ptx` for `chip`. Fails with an error at `loc` if the assembler
/// refuses it or issues a C75xx warning (serialised wgmma, ignored setmaxnreg).
FailureOr<Assembly> assembleToCubin(Location loc, StringRef ptx, StringRef chip,
                                    const AssemblerOptions &options);

/// The kernels in a log of `ptxas -v` or of nvJitLink's `-verbose`.
SmallVector<KernelUsage> parseAssemblerLog(StringRef log);

/// One line a kernel, `name: 32 registers, 0 bytes spilled, 128 bytes shared`.
std::string formatUsage(ArrayRef<KernelUsage> usage);

} // namespace mlir::fuseops

#endif // FUSEOPS_TARGET_NVPTX_H
