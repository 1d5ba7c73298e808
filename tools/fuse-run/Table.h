//===- Table.h - Prints what ran, how fast and how exactly ----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_TOOLS_FUSE_RUN_TABLE_H
#define FUSEOPS_TOOLS_FUSE_RUN_TABLE_H

#include "Check.h"

#include "llvm/Support/raw_ostream.h"

#include <optional>

namespace fuserun {

/// All that a run has to tell.
struct RunReport {
  std::string path;
  std::string chip;
  uint64_t seed = 0;
  const Session &session;
  const Trial &trial;
  std::optional<CheckResult> check;
  /// Bandwidth of a copy on the same device, where times were measured.
  std::optional<double> copyTbps;
};

/// A table of the kernels, the totals, and the comparisons.
void printTable(const RunReport &report, llvm::raw_ostream &os);

/// The same as one JSON object.
void printJSON(const RunReport &report, llvm::raw_ostream &os);

} // namespace fuserun

#endif // FUSEOPS_TOOLS_FUSE_RUN_TABLE_H
