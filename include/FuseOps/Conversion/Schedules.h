//===- Schedules.h - The schedules of a kernel ----------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_CONVERSION_SCHEDULES_H
#define FUSEOPS_CONVERSION_SCHEDULES_H

#include "FuseOps/Conversion/KernelToLLVM.h"
#include "FuseOps/Dialect/FuseOps/FuseOps.h"

namespace mlir::fuseops {

/// At most `limit` schedules of a memory group that are worth measuring, best
/// first by a cost model with `?` being `size`. Each is what the group's
/// `schedule` attribute may hold; the first is null, which is what lowering
/// chooses without one. Empty, with an error, if no template computes the
/// group.
SmallVector<DictionaryAttr> rankSchedules(GroupOp group,
                                          const KernelTarget &target,
                                          int64_t size, unsigned limit);

/// Checks a memory group and its `schedule` attribute as lowering does. Fails
/// with an error at the group.
LogicalResult verifySchedule(GroupOp group, const KernelTarget &target);

} // namespace mlir::fuseops

#endif // FUSEOPS_CONVERSION_SCHEDULES_H
