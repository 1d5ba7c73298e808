//===- Trial.h - One run of a program, forward then backward --------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_TOOLS_FUSE_RUN_TRIAL_H
#define FUSEOPS_TOOLS_FUSE_RUN_TRIAL_H

#include "Session.h"

namespace fuserun {

/// What a program is given: the same numbers for every target.
struct TrialInputs {
  std::vector<HostTensor> arguments, gradients;
};

/// The tensors of a run. `times` is as long as `entries` once it was timed.
struct Trial {
  struct Entry {
    int32_t index;
    std::vector<DeviceTensor> inputs, outputs;
    EntryTimes times;
  };
  /// Forward, and backward where the program has it.
  std::vector<Entry> entries;
};

/// Random arguments and result gradients, rounded to their dtypes. What the
/// report says of an argument decides its scale.
llvm::Expected<TrialInputs> makeInputs(const Session &session, uint64_t seed);

/// Runs forward, then backward on what forward saved. Inputs are converted to
/// the program's dtypes, which are f64 in the reference.
llvm::Expected<Trial> runTrial(const Session &session,
                               const TrialInputs &inputs);

/// Times the entries of a trial.
llvm::Error timeTrial(const Session &session, Trial &trial,
                      int32_t repetitions);

} // namespace fuserun

#endif // FUSEOPS_TOOLS_FUSE_RUN_TRIAL_H
