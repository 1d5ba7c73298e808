//===- Verify.h - Checks that the verifiers of several operations share ---===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_DIALECT_FUSEOPS_VERIFY_H
#define FUSEOPS_LIB_DIALECT_FUSEOPS_VERIFY_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"

namespace mlir::fuseops {

/// `value` has to be a row vector of `columns` elements; it may be null.
LogicalResult verifyRowVector(Operation *op, StringRef name, Value value,
                              int64_t columns);

/// `value` has to hold one value a row of `rows`, f32, or f64 where `rows` is.
LogicalResult verifyRowStat(Operation *op, StringRef name, Value value,
                            RankedTensorType rows);

/// `scale`, which may be null, has to hold one factor a row of `rows`.
LogicalResult verifyRowScale(Operation *op, StringRef name, Value scale,
                             RankedTensorType rows);

/// `value` has to have the shape of `expected`.
LogicalResult verifySameShape(Operation *op, StringRef name, Value value,
                              RankedTensorType expected);

/// A scale kind in text, such as `block<1x128>`.
ParseResult parseScaleWord(AsmParser &parser, ScaleKind &kind);
void printScaleWord(AsmPrinter &printer, ScaleKind kind);

/// `type`, which is that of `name`, has to have a last dimension.
LogicalResult verifyHasColumns(Operation *op, RankedTensorType type,
                               StringRef name = "input");

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_DIALECT_FUSEOPS_VERIFY_H
