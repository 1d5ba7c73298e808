//===- Messages.h - Collects diagnostics and remarks ----------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_COMPILER_MESSAGES_H
#define FUSEOPS_LIB_COMPILER_MESSAGES_H

#include "FuseOps/Compiler/Compiler.h"

#include "mlir/IR/Diagnostics.h"

namespace mlir::fuseops {

/// `file:line:column` of the innermost place in a file; the text of another
/// location, empty for none.
std::string formatLocation(Location loc);

/// Appends a diagnostic and its notes.
void collectDiagnostic(Diagnostic &diagnostic, std::vector<Message> &messages);

/// From now on remarks in `context` are appended to `remarks`, which must live
/// as long.
void collectRemarks(MLIRContext &context,
                    std::vector<CollectedRemark> &remarks);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_COMPILER_MESSAGES_H
