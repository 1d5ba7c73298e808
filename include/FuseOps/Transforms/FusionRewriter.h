//===- FusionRewriter.h - Applies a fusion plan to a region --------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_TRANSFORMS_FUSIONREWRITER_H
#define FUSEOPS_TRANSFORMS_FUSIONREWRITER_H

#include "FuseOps/Analysis/FusionPlan.h"
#include "mlir/IR/Region.h"

namespace mlir::fuseops {

/// Plans `region` and wraps each group of the plan into a `fuseops.group` whose
/// kernel is named `<prefix>_<number>`. Each decision is a remark of category
/// `category`. With `fuse` false each operation gets a group of its own; with
/// contractions of `generated` may be kernels of template `gemm`.
void fuseRegion(Region &region, StringRef prefix, StringRef category, bool fuse,
                GeneratedProducts generated);

} // namespace mlir::fuseops

#endif // FUSEOPS_TRANSFORMS_FUSIONREWRITER_H
