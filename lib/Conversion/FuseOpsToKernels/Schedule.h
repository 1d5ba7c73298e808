//===- Schedule.h - How a memory kernel's work is cut --------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_SCHEDULE_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_SCHEDULE_H

#include "FuseOps/Conversion/KernelToLLVM.h"
#include "KernelGroup.h"

namespace mlir::fuseops {

/// What kernels are generated for.
enum class KernelDevice { CPU, CUDA };

/// How a row or tile kernel is cut. The keys of the group's `schedule`
/// attribute are the table `kScheduleKeys` (Schedule.cpp); `fuseops.group`
/// documents them.
struct Schedule {
  int64_t vector = 1;        ///< elements that a thread handles at once
  int64_t threads = 1;       ///< CUDA: threads along a row
  int64_t rows = 1;          ///< CUDA: rows that a block handles at once
  int64_t rowsPerWorker = 1; ///< rows that make a worker worth starting
  int64_t workers = 1;       ///< the most blocks or tasks
  /// CUDA: a thread's part of a row stays in registers over all passes.
  bool holdsRow = false;
  /// CPU: rows that are reduced are added up in runs (SumRuns.h), since a
  /// worker may have many.
  bool sumsInRuns = false;

  /// CUDA: parts of a row that different blocks handle; then `workers` is a
  /// multiple of it, and neighbouring blocks have neighbouring parts.
  int64_t tiles = 1;

  /// CUDA: slots of the ring that inputs are fetched ahead into, of tiles or of
  /// rows that are held; 0 loads them when they are read.
  int64_t stages = 0;
  /// CUDA: blocks that one processor shall hold, which bounds the registers; 0
  /// leaves that to the assembler.
  int64_t residents = 0;
  /// CUDA tiles: 1 leaves what is reduced over rows as a partial result of each
  /// tile, so that a block may visit any tiles; 0 as one of each block.
  int64_t tilePartials = 0;
  /// CUDA tiles with `stages`: 1 draws tiles from a counter in memory, so that
  /// a block that gets on faster visits more of them.
  int64_t tickets = 0;
  /// CUDA rows: 1 reads what a visit needs before it computes anything, and
  /// what every row needs before the first.
  int64_t prefetch = 0;
  /// CUDA rows that are not held: visits to columns in one iteration; 0 for
  /// what is chosen.
  int64_t unroll = 0;
  /// CUDA rows that are not held: columns whose inputs stay in shared memory
  /// over all passes, and are fetched while the row before is visited last.
  int64_t kept = 0;
  /// CUDA rows: 1 stores vectors so that the cache gives them up first.
  int64_t streams = 0;

  /// Products: rows and columns of the result that make a tile.
  int64_t tileRows = 0, tileColumns = 0;
  /// Products: warpgroups that multiply.
  int64_t warpgroups = 0;
  /// Products: 1 gives each of two warpgroups every second tile, so that one
  /// multiplies while the other stores; 0 cuts a tile's rows among them.
  int64_t pingPong = 0;
  /// Products: tiles along a column that are visited together.
  int64_t raster = 0;
  /// Products: buffers that a warp stores from.
  int64_t storeBuffers = 0;

  /// Whether warps begin a row while others still read the sums of the last.
  bool overlapsRows() const { return stages || prefetch || kept; }
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

/// The group's schedule: what is chosen for it, overridden by the keys of its
/// `schedule` attribute. Fails with an error where the attribute asks for what
/// the template or the target cannot do.
FailureOr<Schedule> chooseSchedule(const KernelGroup &group,
                                   const KernelTarget &target);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_SCHEDULE_H
