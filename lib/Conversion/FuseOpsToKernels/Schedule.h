//===- Schedule.h - How a memory kernel's work is cut --------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_SCHEDULE_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_SCHEDULE_H

#include "KernelGroup.h"

namespace mlir::fuseops {

/// What kernels are generated for.
enum class KernelDevice { CPU, CUDA };

/// How a row kernel is cut; see `fuseops.group` for the attribute's keys.
struct Schedule {
  int64_t vector = 1;        ///< elements that a thread handles at once
  int64_t threads = 1;       ///< CUDA: threads along a row
  int64_t rows = 1;          ///< CUDA: rows that a block handles at once
  int64_t rowsPerWorker = 1; ///< rows that make a worker worth starting
  int64_t workers = 1;       ///< the most blocks or tasks
  /// CUDA: a thread's part of a row stays in registers over all passes.
  bool holdsRow = false;

  /// CUDA: parts of a row that different blocks handle; then `workers` is a
  /// multiple of it, and neighbouring blocks have neighbouring parts.
  int64_t tiles = 1;

  /// Columns that a block handles at once.
  int64_t getWidth() const { return vector * threads; }
  /// Blocks that have different rows.
  int64_t getRowWorkers() const { return workers / tiles; }
  /// Vectors of a row that one thread handles.
  int64_t getVectorsPerThread(int64_t columns) const {
    return tiles > 1 ? 1
                     : (columns + vector * threads - 1) / (vector * threads);
  }
};

/// Chooses a schedule; keys of the group's `schedule` attribute override it.
/// Fails with an error where the attribute asks for what the template cannot
/// do.
FailureOr<Schedule> chooseSchedule(const KernelGroup &group,
                                   KernelDevice device);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_SCHEDULE_H
