//===- Report.h - What the compiler has to say about a program ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_COMPILER_REPORT_H
#define FUSEOPS_LIB_COMPILER_REPORT_H

#include "Codegen.h"
#include "SourceFacts.h"

#include "FuseOps/Compiler/Compiler.h"
#include "FuseOps/Target/Program.h"

namespace mlir::fuseops {

/// The report as JSON; docs/Report.md says what its fields mean.
std::string writeReport(const CompileOptions &options, FusibleOp fusible,
                        FusibleOp prepare, const ProgramPlan &plan,
                        const GeneratedCode &code, ArrayRef<ArgumentRole> roles,
                        ArrayRef<Extent> reductions,
                        const OutputPrecisions &precisions,
                        ArrayRef<CollectedRemark> remarks);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_COMPILER_REPORT_H
