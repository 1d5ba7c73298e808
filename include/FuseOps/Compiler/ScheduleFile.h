//===- ScheduleFile.h - Schedules that were measured ----------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_COMPILER_SCHEDULEFILE_H
#define FUSEOPS_COMPILER_SCHEDULEFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mlir::fuseops {

/// What `fuse-compile --tune` chose for a kernel on a target.
struct ScheduleEntry {
  /// What identifies the kernel: `TunableKernel::key`.
  std::string key;
  /// `cuda:sm_90a`, `cpu:x86-64-v4`.
  std::string target;
  /// The keys of the group's `schedule` attribute; none if what the compiler
  /// chooses by itself was fastest.
  std::map<std::string, int64_t> schedule;

  // For people, and to know what need not be measured again.
  std::string kernel, device;
  /// The values of `?` that it was measured at, and the median time at each,
  /// with this schedule and without one.
  std::vector<int64_t> sizes;
  std::vector<double> microseconds, defaultMicroseconds;
};

/// A file of such entries: JSON, to be read and edited by people too.
class ScheduleFile {
public:
  /// Reads the text of a file. Fails with a sentence that names `path` and the
  /// entry for what is no such file, also for keys that it doesn't know.
  static llvm::Expected<ScheduleFile> parse(llvm::StringRef text,
                                            llvm::StringRef path);
  /// The same from a file.
  static llvm::Expected<ScheduleFile> load(llvm::StringRef path);

  /// The entry of a kernel on a target; null if there is none.
  const ScheduleEntry *find(llvm::StringRef key, llvm::StringRef target) const;
  /// Adds an entry, in the place of the one for the same kernel and target.
  void set(ScheduleEntry entry);
  /// The text of the file: entries sorted, a new one changes no other's lines.
  std::string format() const;
  size_t size() const { return entries.size(); }

private:
  /// By target and key.
  std::map<std::pair<std::string, std::string>, ScheduleEntry> entries;
};

} // namespace mlir::fuseops

#endif // FUSEOPS_COMPILER_SCHEDULEFILE_H
