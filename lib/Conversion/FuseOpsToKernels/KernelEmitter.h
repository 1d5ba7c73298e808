//===- KernelEmitter.h - Writes the kernels of a memory group ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_KERNELEMITTER_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_KERNELEMITTER_H

#include "FuseOps/Conversion/KernelToLLVM.h"
#include "KernelGroup.h"
#include "PartialResults.h"
#include "Schedule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::fuseops {

/// Emits the row kernel of `group`: every pointwise, row and row-column group
/// is one. `emitTileKernel` does the same for a tile group. Parameters: the
/// group's arguments; the counter of a schedule with `tickets`; its results but
/// the final ones; one array of partial
/// results for each reduction over rows; the number of rows; `count`, unused.
/// On the CPU the pointers come as one array, and the kernel also gets its
/// worker's number and the number of workers.
///
/// `roundIntermediates` rounds each named value to its element type as eager
/// execution does; otherwise f16 and bf16 values inside the kernel stay in f32.
func::FuncOp emitRowKernel(const KernelGroup &group, const Schedule &schedule,
                           KernelDevice device, bool roundIntermediates,
                           StringRef name, OpBuilder &builder);

func::FuncOp emitTileKernel(const KernelGroup &group, const Schedule &schedule,
                            KernelDevice device, bool roundIntermediates,
                            StringRef name, OpBuilder &builder);

/// Emits the finalize kernel of the reductions that `columns` names: it sums
/// their partial results in order and computes the results that depend on them.
/// Parameters: the partial results of each such reduction, the group arguments
/// `arguments`, the results `outputs`; the number of column chunks, or of rows;
/// `count`, the number of partial results. The outputs depend on these
/// reductions only.
func::FuncOp emitFinalizeKernel(const KernelGroup &group, FinalColumns columns,
                                ArrayRef<Value> arguments,
                                ArrayRef<unsigned> outputs, KernelDevice device,
                                StringRef name, OpBuilder &builder);

/// How a finalize kernel's columns, or its rows, are cut.
Schedule getFinalizeSchedule(FinalColumns columns, KernelDevice device);

/// CUDA: sets the fast-math flags, for `shortenMath`, of the scalars of each
/// operation whose results are rounded to 16 bits or fewer. What an operation
/// computes has the same bits in every kernel, since its own types decide.
void allowApproximations(GroupOp group);

/// Whether a worker adds up one run of rows after the other in memory, behind
/// the partial results of all workers.
bool keepsRunsInMemory(const KernelGroup &group, const Schedule &schedule,
                       ReduceRowsOp op);

/// The type of one reduction's accumulator and partial results.
Type getAccumulatorType(ReduceRowsOp op);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_KERNELEMITTER_H
