//===- Contraction.h - What products are made of ------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_CONVERSION_TORCHTOFUSEOPS_CONTRACTION_H
#define FUSEOPS_CONVERSION_TORCHTOFUSEOPS_CONTRACTION_H

#include "TorchCall.h"

namespace mlir::fuseops {

/// `lhs * rhs` as torch.matmul of at least two dimensions each, of type
/// `result`; refuses what has no product.
FailureOr<Value> buildMatrixProduct(TorchCall &call, RankedTensorType result,
                                    Value lhs, Value rhs);

/// Einstein sums.
void addEinsumHandlers(TorchHandlers &handlers);
/// Products of each element with each other one.
void addOuterProductHandlers(TorchHandlers &handlers);

} // namespace mlir::fuseops

#endif // FUSEOPS_CONVERSION_TORCHTOFUSEOPS_CONTRACTION_H
