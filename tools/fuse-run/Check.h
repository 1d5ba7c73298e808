//===- Check.h - Compares a run with the reference ------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_TOOLS_FUSE_RUN_CHECK_H
#define FUSEOPS_TOOLS_FUSE_RUN_CHECK_H

#include "Trial.h"

namespace fuserun {

/// A tensor that was compared.
struct Comparison {
  std::string entry, name, dtype, shape;
  /// `max |a - b| / (|b| + rms(b))` over all elements; infinite where one has
  /// a NaN that the other hasn't.
  double error = 0;
  /// `rms(b)`: the error says nothing where the reference is 0 but for
  /// rounding.
  double rms = 0;
  double tolerance = 0;

  bool isOk() const { return error <= tolerance; }
};

/// The outcome of a check.
struct CheckResult {
  std::vector<Comparison> tensors;
  /// How the tolerance comes about, with its numbers.
  std::string formula;

  bool isOk() const;
};

/// Compares every result, gradient and saved tensor. The tolerance follows from
/// the dtypes, the number of steps and the length of the sums.
llvm::Expected<CheckResult> compare(const Session &session, const Trial &trial,
                                    const Session &reference,
                                    const Trial &expected);

} // namespace fuserun

#endif // FUSEOPS_TOOLS_FUSE_RUN_CHECK_H
