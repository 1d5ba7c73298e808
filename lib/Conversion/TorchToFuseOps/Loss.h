//===- Loss.h - What losses share ---------------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_CONVERSION_TORCHTOFUSEOPS_LOSS_H
#define FUSEOPS_CONVERSION_TORCHTOFUSEOPS_LOSS_H

#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "TorchCall.h"

namespace mlir::fuseops {

/// What becomes of the losses of all elements; the numbers are PyTorch's.
enum class LossReduction { None, Mean, Sum };

/// Reads a reduction, the mean where it's None.
FailureOr<LossReduction> getLossReduction(const TorchCall &call,
                                          unsigned index);

/// The sum of all elements, of rank 0, in their compute type.
FailureOr<Value> sumAll(TorchCall &call, Value value);

/// `value / count` in the compute type.
Value divideByExtent(TorchCall &call, Value value, Extent count);

/// Cross entropy and negative log likelihood.
void addClassLossHandlers(TorchHandlers &handlers);

} // namespace mlir::fuseops

#endif // FUSEOPS_CONVERSION_TORCHTOFUSEOPS_LOSS_H
