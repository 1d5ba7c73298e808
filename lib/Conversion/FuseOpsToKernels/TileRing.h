//===- TileRing.h - Inputs of tile kernels that are fetched ahead --------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_TILERING_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_TILERING_H

#include "Schedule.h"

namespace mlir::fuseops {

/// What a CUDA tile kernel fetches ahead of its tiles: `stages` slots of shared
/// memory, each with a tile of every input.
struct TileRing {
  TileRing(const KernelGroup &group, const Schedule &schedule);

  /// An input, and where in a slot its tile begins.
  struct Input {
    Value value;
    Access access;
    int64_t offset;
  };

  explicit operator bool() const { return stages != 0; }
  int64_t getBytes() const { return stages * slotBytes; }

  int64_t stages;
  SmallVector<Input> inputs;
  int64_t slotBytes = 0;
};

/// Shared memory that a block of a chip can have.
int64_t getSharedLimit(unsigned smVersion);

/// Checks the schedule's `stages`. Fails with an error at the group where the
/// template, the chip or the inputs have no such ring.
LogicalResult verifyStages(const KernelGroup &group, const KernelTarget &target,
                           const Schedule &schedule);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_TILERING_H
