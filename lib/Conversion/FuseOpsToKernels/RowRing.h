//===- RowRing.h - Inputs of row kernels that are fetched ahead ----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_ROWRING_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_ROWRING_H

#include "Schedule.h"

namespace mlir::fuseops {

/// What a CUDA row kernel fetches ahead of its rows: `stages` slots of shared
/// memory, each with the rows that a block handles at once of every input. A
/// thread has places of its own in a slot, of what it alone will read.
struct RowRing {
  RowRing(const KernelGroup &group, const Schedule &schedule);

  /// An input of every column, or of one element for each row.
  struct Input {
    Value value;
    Access access;
    int64_t places; ///< of each thread
    int64_t bytes;  ///< of one place
    int64_t offset; ///< of the first place in a slot
  };

  explicit operator bool() const { return stages != 0; }
  int64_t getBytes() const { return stages * slotBytes; }
  /// The input that `value` is, or null.
  const Input *find(Value value) const;

  int64_t stages;
  SmallVector<Input> inputs;
  int64_t slotBytes = 0;
};

/// Bytes that `cp.async` copies at once; 0 where it cannot copy `bytes`.
int64_t getCopyBytes(int64_t bytes);

/// Checks the schedule's `stages` of a row kernel that has `beside` bytes of
/// other shared memory. Fails with an error at the group where the inputs have
/// no such ring, or it takes more than `sharedLimit` bytes.
LogicalResult verifyRowStages(const KernelGroup &group,
                              const Schedule &schedule, int64_t beside,
                              int64_t sharedLimit);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_ROWRING_H
