//===- Passes.h - Passes that leave the FuseOps dialect
//--------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_CONVERSION_PASSES_H
#define FUSEOPS_CONVERSION_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace mlir::fuseops {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "FuseOps/Conversion/Passes.h.inc"

} // namespace mlir::fuseops

#endif // FUSEOPS_CONVERSION_PASSES_H
