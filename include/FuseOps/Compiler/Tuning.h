//===- Tuning.h - The kernels of a program and what to try for each -------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_COMPILER_TUNING_H
#define FUSEOPS_COMPILER_TUNING_H

#include "FuseOps/Compiler/Compiler.h"
#include "FuseOps/Compiler/ScheduleFile.h"

namespace mlir::fuseops {

/// A kernel of a program, cut out of it to be measured alone.
struct TunableKernel {
  /// A schedule of it, and a program of this kernel alone that has it.
  struct Candidate {
    std::map<std::string, int64_t> schedule;
    std::string source;
  };

  /// What it is, for people: `@forward_0 of @f, row: rms_norm`.
  std::string name;
  /// What it computes: 16 hexadecimal digits of the SHA-256 of the text of its
  /// group, without its name and its schedule.
  std::string key;
  /// Worth measuring, best first by the cost model. The first has no schedule:
  /// it is what the compiler chooses by itself.
  std::vector<Candidate> candidates;
};

/// The memory kernels of a program in order, each key once, with at most
/// `limit` candidates where `?` is `size`. Fails with the reasons in
/// `compiler.getMessages()`.
FailureOr<std::vector<TunableKernel>>
listTunableKernels(Compiler &compiler, StringRef source, StringRef name,
                   const CompileOptions &options, int64_t size, unsigned limit);

/// What a schedule file calls a target: with its chip, or the CPU level that
/// `native` is here. Fails with a sentence in `error`.
FailureOr<std::string> resolveScheduleTarget(const TargetSpec &target,
                                             std::string &error);

/// Gives each group of a planned module that has no schedule the one that the
/// file `options.schedules` has for it. Fails with an error for a file that
/// cannot be read, and where the template or the target refuses a schedule.
LogicalResult applySchedules(ModuleOp module, const CompileOptions &options);

} // namespace mlir::fuseops

#endif // FUSEOPS_COMPILER_TUNING_H
