//===- ScheduleTemplates.h - Schedules of each CUDA template -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_SCHEDULETEMPLATES_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_SCHEDULETEMPLATES_H

#include "Schedule.h"

namespace mlir::fuseops {

/// Processors of an H200.
constexpr int64_t kProcessors = 132;
/// The bandwidth of a copy within an H200, as measured.
constexpr double kBytesPerMicrosecond = 4.2e6;

/// A key of the group's `schedule` attribute. A new one is a field of
/// `Schedule` whose initial value leaves the kernel as it is, a line of
/// `kScheduleKeys`, and its meaning in the description of `fuseops.group`.
struct ScheduleKey {
  StringLiteral name;
  int64_t Schedule::*field;
  int64_t least; ///< 1, or 0 of what can be turned off
  /// Refuses by reason what the value asks for: called with all keys read,
  /// where this one is written down. Null if the template's check is all there
  /// is.
  LogicalResult (*verify)(const KernelGroup &group, const KernelTarget &target,
                          const Schedule &schedule);
  /// The values that are worth a measurement, beside the one that is chosen.
  /// Null if there are none.
  SmallVector<int64_t> (*getValues)(const KernelGroup &group,
                                    const KernelTarget &target) = nullptr;
};

/// All keys.
ArrayRef<ScheduleKey> getScheduleKeys();

/// What is chosen for a group: the schedule that its attribute's keys override.
Schedule chooseBase(const KernelGroup &group, const KernelTarget &target);

/// The largest power of two that divides every row that the group walks over,
/// and where it begins.
int64_t countAlignedColumns(const KernelGroup &group);
/// The most elements that a thread can read and write at once: on CUDA every
/// vector access is aligned, so the width divides the row, its pitch and its
/// offset; 16 bytes of the narrowest element are one access.
int64_t chooseCudaVector(const KernelGroup &group);

/// Elements that one thread of a row kernel would hold: of every tensor it
/// reads, and of the accumulators of reductions over rows.
int64_t countHeldElements(const KernelGroup &group, const Schedule &schedule);

/// What a kernel is expected to take, in microseconds, where `?` is `size`: by
/// the bytes that it moves, what the schedule keeps in flight, and the waves of
/// its blocks. It orders candidates; it doesn't predict times.
double estimateTime(const KernelGroup &group, const Schedule &schedule,
                    const KernelTarget &target, int64_t size);

/// What is chosen for a kernel of rows (also pointwise and row-column).
Schedule chooseCudaRows(const KernelGroup &group);
/// Whether a schedule that is written down keeps a row in registers.
bool mayHoldRow(const KernelGroup &group, const Schedule &schedule);

/// A block for each task: the processors draw what is next.
constexpr int64_t kTasks = int64_t(1) << 20;

/// Whether a reduction over rows takes in a value of every column.
bool hasWideRowReduction(const KernelGroup &group);

/// Whether something has one element a block of columns.
bool hasBlocks(const KernelGroup &group);

/// Shared memory of a kernel of rows beside what is fetched ahead, at most:
/// where warps and rows are combined.
int64_t getBytesBesideRing(const KernelGroup &group, const Schedule &schedule);

/// What has been fastest for kernels like this one, the best first; the first
/// that its tensors and the target allow is taken instead of `plain`, which is
/// what the templates choose.
SmallVector<Schedule> listFastSchedules(const KernelGroup &group,
                                        const KernelTarget &target,
                                        const Schedule &plain);
/// Checks a schedule of rows that is written down, and completes it. Fails with
/// an error at the group.
LogicalResult verifyCudaRows(const KernelGroup &group,
                             const KernelTarget &target, Schedule &schedule);

/// Checks the keys that only kernels of rows have. Fails with an error at the
/// group.
LogicalResult verifyRowKeys(const KernelGroup &group,
                            const KernelTarget &target,
                            const Schedule &schedule);

/// What is chosen for a kernel of tiles: a tile a block; where columns are
/// summed, blocks that stay in one column of tiles and walk down.
Schedule chooseCudaTiles(const KernelGroup &group);
/// Checks a schedule of tiles, chosen or written down. Fails with an error at
/// the group.
LogicalResult verifyCudaTiles(const KernelGroup &group,
                              const Schedule &schedule);

/// What is chosen for a product: a tile that wastes few columns, with as many
/// stages as fit.
Schedule chooseGemm(const KernelGroup &group);
/// The schedules of a product that are worth a measurement beside the one that
/// is chosen, whether or not they can be made.
SmallVector<Schedule> listGemmSchedules(const KernelGroup &group);
/// `estimateTime` of a product, by the work of its tiles.
double estimateGemm(const KernelGroup &group, const Schedule &schedule,
                    int64_t size);
/// An extent where `?` is `size`.
double evaluateExtent(Extent extent, int64_t size);
/// Checks that the template can make the group's product, and its schedule.
/// Fails with an error at the group.
LogicalResult verifyGemm(const KernelGroup &group, const KernelTarget &target,
                         Schedule &schedule);
/// Checks the keys that only products have. Fails with an error at the group.
LogicalResult verifyGemmKeys(const KernelGroup &group,
                             const KernelTarget &target,
                             const Schedule &schedule);

/// Tiles of the group's matrix along a column; none where no type says how many
/// that is.
std::optional<Extent> countTileRows(const KernelGroup &group);
/// Check the keys of that name. Fail with an error at the group.
LogicalResult verifyTilePartials(const KernelGroup &group,
                                 const KernelTarget &target,
                                 const Schedule &schedule);
LogicalResult verifyTickets(const KernelGroup &group,
                            const KernelTarget &target,
                            const Schedule &schedule);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_SCHEDULETEMPLATES_H
