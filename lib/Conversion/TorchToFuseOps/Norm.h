//===- Norm.h - What a normalization is over ----------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_CONVERSION_TORCHTOFUSEOPS_NORM_H
#define FUSEOPS_CONVERSION_TORCHTOFUSEOPS_NORM_H

#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "TorchCall.h"

namespace mlir::fuseops {

/// A normalization over the last dimensions, which together are one row.
struct NormShape {
  TorchCall &call;
  /// The input's.
  RankedTensorType type;
  /// The elements of a row.
  int64_t columns = 1;
  /// How many dimensions they are.
  int64_t numDims = 1;

  /// Reads the input's type and the list of sizes that are normalized.
  static FailureOr<NormShape> get(TorchCall &call, unsigned inputIndex,
                                  unsigned shapeIndex);
  /// `value` with those dimensions made one; null for null.
  Value flatten(Value value) const;
  /// The input's type with those dimensions made one.
  RankedTensorType getFlatType(Type element) const;
  /// The type of one statistic a row.
  RankedTensorType getStatType() const;
};

/// Makes `stat` result `index`, in the dtype that eager gives it.
LogicalResult setStat(TorchCall &call, unsigned index, Value stat);

/// Normalizations of channels, dimension 1.
void addChannelNormHandlers(TorchHandlers &handlers);

} // namespace mlir::fuseops

#endif // FUSEOPS_CONVERSION_TORCHTOFUSEOPS_NORM_H
