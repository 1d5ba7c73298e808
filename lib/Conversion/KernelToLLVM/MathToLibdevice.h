//===- MathToLibdevice.h - Math functions as calls of libdevice -----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_KERNELTOLLVM_MATHTOLIBDEVICE_H
#define FUSEOPS_LIB_CONVERSION_KERNELTOLLVM_MATHTOLIBDEVICE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::fuseops {

/// Makes each math function that is no instruction, and `arith.remf`, a call of
/// libdevice for each element: f64 in f64, all others in f32.
void convertMathToLibdevice(ModuleOp kernels);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_KERNELTOLLVM_MATHTOLIBDEVICE_H
