//===- Float8.h - How torch programs hold FP8 values --------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inside a converted program an FP8 tensor of PyTorch is one of bf16, which
// holds every FP8 value, the infinities among them: what PyTorch computes with
// such a tensor is a product, or a conversion. Arguments and results are FP8.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_CONVERSION_TORCHTOFUSEOPS_FLOAT8_H
#define FUSEOPS_CONVERSION_TORCHTOFUSEOPS_FLOAT8_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::fuseops {

class TorchCall;

/// The dtype of a torch tensor of f8E4M3FN or f8E5M2; null for another type.
FloatType getFloat8(Type type);

/// Converts operand 0 to `format`.
LogicalResult convertToFloat8(TorchCall &call, FloatType format);

} // namespace mlir::fuseops

#endif // FUSEOPS_CONVERSION_TORCHTOFUSEOPS_FLOAT8_H
