//===- TorchToFuseOps.h - Torch functions to fusible programs -----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_CONVERSION_TORCHTOFUSEOPS_H
#define FUSEOPS_CONVERSION_TORCHTOFUSEOPS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::fuseops {

/// Replaces each function of `module` that holds torch operations or types by a
/// `fuseops.fusible` of the same name. Fails with one error for each operation
/// that has no conversion, at its location and with the reason; a function that
/// failed is left as it was.
LogicalResult convertTorchToFuseOps(ModuleOp module);

/// Whether there is a conversion of the operation `name`, which is spelled
/// `torch.aten.silu`. It may still refuse some operands.
bool isConvertibleTorchOp(StringRef name);

/// The names of all operations that have a conversion, sorted.
std::vector<std::string> getConvertibleTorchOps();

} // namespace mlir::fuseops

#endif // FUSEOPS_CONVERSION_TORCHTOFUSEOPS_H
