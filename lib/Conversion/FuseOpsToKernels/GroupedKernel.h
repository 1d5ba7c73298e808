//===- GroupedKernel.h - Writes the kernel of a grouped product -----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_GROUPEDKERNEL_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_GROUPEDKERNEL_H

#include "FuseOps/Conversion/KernelToLLVM.h"
#include "Schedule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::fuseops {

/// Emits the kernel of a grouped product, whose sizes it reads on the device.
/// Parameters: the operands, the result, the number of rows of the result (of
/// all matrices, where it holds one a group); `count`, the number of rows of
/// the first operand.
func::FuncOp emitGroupedKernel(GroupedMatmulOp op, KernelDevice device,
                               StringRef name, OpBuilder &builder);

/// How its rows are dealt out.
Schedule getGroupedSchedule(KernelDevice device);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_GROUPEDKERNEL_H
