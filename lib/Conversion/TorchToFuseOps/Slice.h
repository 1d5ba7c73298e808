//===- Slice.h - A dimension that is cut --------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_CONVERSION_TORCHTOFUSEOPS_SLICE_H
#define FUSEOPS_CONVERSION_TORCHTOFUSEOPS_SLICE_H

#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "TorchCall.h"

namespace mlir::fuseops {

/// Equally spaced elements of a dimension.
struct Range {
  int64_t offset = 0, count = 0, step = 1;
};

/// The tensor of a slice, and its sliced dimension.
struct Sliced {
  Value value;
  RankedTensorType type;
  int64_t multiple = 1;
  /// The dimension of `type`; a dimension of symbolic size is whole only.
  int64_t dim = 0;
  bool isSymbolic = false;
  /// Its size; unknown where it's symbolic.
  int64_t extent = 0;
};

/// Operand 0 and the dimension that operand `dimIndex` names, 0 for None.
FailureOr<Sliced> getSliced(TorchCall &call, unsigned dimIndex);

/// Refuses to cut a dimension of symbolic size.
LogicalResult refuseSymbolic(TorchCall &call);

/// The elements of `range`.
Value buildSlice(TorchCall &call, const Sliced &sliced, Range range);

/// `value` without its dimension `dim` of size 1.
Value dropDim(TorchCall &call, Value value, int64_t dim);

/// The range of torch.slice (start, end, step) at operands `first` and on.
FailureOr<Range> getRange(TorchCall &call, unsigned first, int64_t extent);

/// Constant indices, diagonals and rotations.
void addGatherHandlers(TorchHandlers &handlers);

/// Joining tensors, and writing a part of one.
void addConcatHandlers(TorchHandlers &handlers);
/// Elements added at the edges.
void addPaddingHandlers(TorchHandlers &handlers);
/// Joins `parts` along `dim`; those of no elements are left out.
Value buildConcat(TorchCall &call, RankedTensorType result, int64_t dim,
                  ArrayRef<Value> parts);

} // namespace mlir::fuseops

#endif // FUSEOPS_CONVERSION_TORCHTOFUSEOPS_SLICE_H
