//===- Tuner.h - Measures the schedules of a program's kernels ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_TOOLS_FUSE_COMPILE_TUNER_H
#define FUSEOPS_TOOLS_FUSE_COMPILE_TUNER_H

#include "FuseOps/Compiler/Compiler.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::fuseops {

/// What to measure.
struct TuneJob {
  /// The program's file.
  std::string path;
  /// How to compile it; `schedules` is the file that is read and written.
  CompileOptions options;
  /// Whether the target names its chip; else it's this machine's.
  bool namesChip = false;
  /// The values of `?` to measure at.
  std::vector<int64_t> sizes;
  /// Schedules to measure of each kernel, the compiler's own choice included.
  unsigned numCandidates = 6;
};

/// Measures schedules of each kernel of a program on this machine's device and
/// writes the choices to the schedule file, which keeps its other entries. A
/// kernel that was measured on this device at these sizes is not measured
/// again. Prints a line for each measurement to `os`. False if a schedule gave
/// other results than the default or did not compile; it is not chosen.
llvm::Expected<bool> tune(TuneJob job, llvm::raw_ostream &os);

/// Prints the schedules that `tune` would measure, without a device. True.
llvm::Expected<bool> listSchedules(const TuneJob &job, llvm::raw_ostream &os);

} // namespace mlir::fuseops

#endif // FUSEOPS_TOOLS_FUSE_COMPILE_TUNER_H
