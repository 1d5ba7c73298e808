//===- SourceFacts.h - What a program's source says about its tensors -----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Facts that lowering drops and that the report keeps: what each argument is
// for, so that a tool can choose sensible numbers, and how long reductions are,
// so that it can choose a sensible tolerance.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_COMPILER_SOURCEFACTS_H
#define FUSEOPS_LIB_COMPILER_SOURCEFACTS_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace mlir::fuseops {

/// Fails at the first value whose tensor is larger than a 64-bit address space
/// has room for (2^48 bytes, or that for each row where a size is dynamic), so
/// that nothing that counts bytes overflows.
LogicalResult verifySizes(ModuleOp module);

/// What an argument is for.
struct ArgumentRole {
  /// `data`, `weight`, `gamma`, `bias`, `random_state`, `index`, `scale_inv`.
  StringRef role = "data";
  /// Of a weight: the length of the sums that it is a factor in.
  int64_t contraction = 0;
};

/// One role for each plain tensor that the arguments are at the boundary.
SmallVector<ArgumentRole> getArgumentRoles(FusibleOp fusible);

/// The lengths of the reductions in both regions, each once.
SmallVector<Extent> getReductionLengths(FusibleOp fusible);

/// For each plain tensor that a region returns or saves, in the order of the
/// program's outputs: the least precise floating-point type among the values
/// that it depends on, itself included; null where there is none.
struct OutputPrecisions {
  SmallVector<FloatType> forward, backward;
};

/// The precisions of both regions; quantized values count as their data's type
/// in what reads them.
OutputPrecisions getOutputPrecisions(FusibleOp fusible);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_COMPILER_SOURCEFACTS_H
