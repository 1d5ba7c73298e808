//===- KeptRow.h - What row kernels keep of a row that is walked over ----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_KEPTROW_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_KEPTROW_H

#include "Schedule.h"

namespace mlir::fuseops {

/// What a CUDA row kernel keeps in shared memory over all passes, where no
/// block can hold a row in registers: the first `kept` columns of every input
/// that is read in row-major vectors. They lie there as in memory, and a thread
/// reads what it has fetched itself.
struct KeptRow {
  KeptRow(const KernelGroup &group, const Schedule &schedule);

  struct Input {
    Value value;
    Access access;
    int64_t offset; ///< of the first column, in bytes
  };

  explicit operator bool() const { return columns != 0; }
  int64_t getBytes() const { return bytes; }
  /// The input that `value` is, or null.
  const Input *find(Value value) const;

  int64_t columns;
  SmallVector<Input> inputs;
  int64_t bytes = 0;
};

/// The most columns that `kept` may say, so that what is kept fits into
/// `sharedLimit` bytes with `beside` others.
int64_t countKeptColumns(const KernelGroup &group, const Schedule &schedule,
                         int64_t beside, int64_t sharedLimit);

/// Checks the schedule's `kept`. Fails with an error at the group.
LogicalResult verifyKept(const KernelGroup &group, const Schedule &schedule,
                         int64_t beside, int64_t sharedLimit);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_KEPTROW_H
