//===- Arguments.h - Checks a run's tensors and finds each tensor's memory ===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_RUNTIME_ARGUMENTS_H
#define FUSEOPS_LIB_RUNTIME_ARGUMENTS_H

#include "Matmul.h"
#include "Packing.h"
#include "Program.h"

namespace fuseops {
namespace runtime {

/// What the caller hands to a run.
struct RunArguments {
  const DLTensor *const *inputs;
  int32_t numInputs;
  const DLTensor *const *outputs;
  int32_t numOutputs;
  void *workspace;
  size_t workspaceBytes;
};

/// A run whose arguments have been checked.
struct Binding {
  int64_t symbol = 0;
  int32_t deviceId = 0;
  /// Memory of each tensor of the entry.
  std::vector<void *> pointers;
  /// The part of the workspace that is the library's, and behind it that of
  /// padded operands.
  void *libraryWorkspace = nullptr;
  /// The inputs that are copied into the workspace before the first step.
  std::vector<Packing> packings;
};

/// Writes the symbol that the inputs' shapes give.
fuseopsStatus inferSymbol(const Program &program, const Entry &entry,
                          const DLTensor *const *inputs, int32_t numInputs,
                          int64_t &symbol);

/// Writes the bytes of workspace that a run with these inputs needs.
fuseopsStatus countWorkspace(const Program &program, const Entry &entry,
                             int64_t symbol, const DLTensor *const *inputs,
                             int32_t numInputs, int64_t &bytes);

/// Checks all of a run's arguments, in the order: number, presence, rank,
/// symbol, device, dtype, shape, layout, alignment, workspace, overlap, rows of
/// tensor maps.
fuseopsStatus bindArguments(const Program &program, const Entry &entry,
                            const RunArguments &arguments, Binding &binding);

/// Writes what a kernel is told: its rows, and the partial results that a
/// finalize kernel reads.
fuseopsStatus bindKernel(const Step &step, const Binding &binding,
                         int64_t &rows, int64_t &count);

/// Writes the sizes and operands of a matrix product, checked.
fuseopsStatus bindMatmul(const Entry &entry, const Step &step,
                         const Binding &binding, MatmulArguments &arguments);

} // namespace runtime
} // namespace fuseops

#endif // FUSEOPS_LIB_RUNTIME_ARGUMENTS_H
