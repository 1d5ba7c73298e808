//===- ReportFormat.h - The report as text and as a page -----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_COMPILER_REPORTFORMAT_H
#define FUSEOPS_COMPILER_REPORTFORMAT_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir::fuseops {

/// How a report is written: as it is in the program file, as tables to read, or
/// as one HTML page that needs nothing else, with the kernels drawn.
enum class ReportFormat { JSON, Text, HTML };

/// The format called `json`, `text` or `html`.
std::optional<ReportFormat> symbolizeReportFormat(llvm::StringRef name);

/// Writes `report`, JSON that a compilation made, in another format.
std::string formatReport(llvm::StringRef report, ReportFormat format);

} // namespace mlir::fuseops

#endif // FUSEOPS_COMPILER_REPORTFORMAT_H
