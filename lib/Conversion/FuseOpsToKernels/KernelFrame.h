//===- KernelFrame.h - Parameters and indices of a memory kernel ---------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_KERNELFRAME_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_KERNELFRAME_H

#include "ElementBuilder.h"

namespace mlir::fuseops {

/// Columns of a tensor value.
inline int64_t columnsOf(Value value) {
  return getColumns(cast<RankedTensorType>(value.getType()));
}

/// Element type of a tensor value.
inline Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

/// A kernel with the parameters that `emitMemoryKernel` names, and which part
/// of the work it is asked for.
struct KernelFrame {
  func::FuncOp kernel;
  Value rows, count, worker, workers;
  Value threadX, threadY; ///< CUDA only
  Value tickets;          ///< the counter of a schedule with `tickets`
  /// One pointer for each reduction over rows, then for each along rows.
  SmallVector<Value> partials;
  SmallVector<Value> maps; ///< addresses of tensor maps

  /// Makes the function, leaves the builder in its entry block and tells
  /// `elements` where each tensor is.
  static KernelFrame open(ElementBuilder &elements, const KernelGroup &group,
                          const Schedule &schedule, bool isCuda, StringRef name,
                          unsigned numMaps = 0);
};

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_KERNELFRAME_H
