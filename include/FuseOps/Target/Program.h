//===- Program.h - The artifact: launch plan, code and report -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fusible that was lowered to launches and library calls becomes a plan,
// plain data that a report can be made of, and the plan becomes a program file
// (lib/Format/Program.fbs).
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_TARGET_PROGRAM_H
#define FUSEOPS_TARGET_PROGRAM_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"

#include <string>
#include <vector>

namespace mlir::fuseops {

/// Who provides a tensor's storage.
enum class TensorRole { Input, Output, Workspace, Constant };

/// A tensor of an entry.
struct ProgramTensor {
  std::string name;
  Type elementType;
  SmallVector<Extent> shape;
  TensorRole role = TensorRole::Workspace;
  /// Index of the tensor whose storage this one is; -1: it has its own.
  int alias = -1;
  /// Byte offset into the workspace of a workspace tensor without alias.
  Extent offset;
  /// Which of the plan's constants the storage of a constant is.
  int constant = -1;

  /// Its bytes.
  Extent getBytes() const;
};

/// How rows are cut into workers; see `fuseops.launch`.
struct ProgramGrid {
  Extent rows;
  int64_t rowsPerWorker = 1;
  int64_t maxWorkers = 1;
};

/// A launch or a library call.
struct ProgramStep {
  /// Unique in the program.
  std::string name;
  std::string templateName;
  SmallVector<std::string> members;
  Extent bytes, flops;
  Location location;
  /// Symbol of the kernel; empty for a matrix product.
  std::string kernel;
  /// The kernel's parameters.
  SmallVector<int> tensors;
  ProgramGrid grid, countGrid;
  int64_t threadsX = 1, threadsY = 1, sharedBytes = 0;
  /// The kernel's tensor maps, each of one of `tensors`.
  SmallVector<TensorMapAttr> maps;
  /// Whether the kernel waits by itself for what comes before it.
  bool startsEarly = false;
  /// The operands of a matrix product.
  int a = -1, b = -1, bias = -1, out = -1;
  /// Of FP8 operands: the scales, and what one of them covers.
  int aScale = -1, bScale = -1;
  ScaleKind aScaleKind = ScaleKind::PerTensor;
  ScaleKind bScaleKind = ScaleKind::PerTensor;
  Extent m, n, k;
  bool transposeA = false, transposeB = false, fastAccumulate = false;

  ProgramStep(Location location) : location(location) {}
  bool isMatmul() const { return kernel.empty(); }
  /// The tensors that it reads and writes.
  SmallVector<int> getTensors() const;
};

/// A region of the fusible.
struct ProgramEntry {
  std::string name;
  std::vector<ProgramTensor> tensors;
  SmallVector<int> inputs;
  /// -1 where there is none.
  SmallVector<int> outputs;
  /// How many outputs are results, and how many inputs are gradients.
  int numResults = 0, numGradients = 0;
  Extent workspace, floorBytes, unfusedBytes;
  std::vector<ProgramStep> steps;
};

/// All of a program but its code.
struct ProgramPlan {
  std::string name;
  int64_t symbolMin = 0, symbolMax = INT64_MAX;
  std::vector<ProgramEntry> entries;
  /// The bytes of each constant.
  std::vector<std::vector<uint8_t>> constants;
};

/// Machine code for one architecture.
struct ProgramCode {
  enum Kind { SharedObject, Cubin, PTX } kind;
  std::string arch;
  std::string data;
};

/// Plans the entries of a lowered fusible: storage, aliases, workspace,
/// traffic. `prepare`, if it isn't null, is the fusible that quantizes its
/// weights, and becomes the entry of that name. Fails with an error at an
/// operation that is neither a `fuseops.launch` nor a library call nor a
/// `fuseops.reshape`, or at a type that has no descriptor.
FailureOr<ProgramPlan> planProgram(FusibleOp fusible, FusibleOp prepare = {});

/// The bytes of the program file. `target` is `cpu`, `cuda` or `reference`,
/// `report` JSON.
std::string writeProgram(const ProgramPlan &plan, StringRef target,
                         ArrayRef<ProgramCode> code, StringRef report);

} // namespace mlir::fuseops

#endif // FUSEOPS_TARGET_PROGRAM_H
