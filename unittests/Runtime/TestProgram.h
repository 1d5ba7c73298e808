//===- TestProgram.h - Programs for the runtime's tests ------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_UNITTESTS_RUNTIME_TESTPROGRAM_H
#define FUSEOPS_UNITTESTS_RUNTIME_TESTPROGRAM_H

#include "FuseOps-c/Runtime.h"
#include "FuseOps/Format/ProgramFile.h"
#include "FuseOps/Format/Program_generated.h"

#include <memory>
#include <string>
#include <vector>

namespace fuseops {
namespace test {

/// What a test wants of its program; the rest is the same for all.
struct ProgramOptions {
  std::string target = "cpu";
  schema::CodeKind kind = schema::CodeKind_SharedObject;
  /// The best architecture of this machine if empty.
  std::string arch;
  /// Bytes of the code; the shared object of TestKernels.c if empty.
  std::string code;
  std::string kernel = "scale_add";
  uint32_t version = runtime::kProgramVersion;
  int64_t symbolMin = 0;
  int64_t symbolMax = 1000;
};

/// A size; see Program.fbs.
inline schema::Extent makeExtent(int64_t constant, int64_t perSymbol = 0,
                                 int64_t perBlock32 = 0,
                                 int64_t perBlock128 = 0) {
  return {constant, perSymbol, perBlock32, perBlock128};
}

/// The same where a table has it.
inline std::unique_ptr<schema::Extent> makeSize(int64_t constant,
                                                int64_t perSymbol = 0) {
  return std::make_unique<schema::Extent>(makeExtent(constant, perSymbol));
}

/// A program of three entries over S rows of 4 columns:
///   forward(x, b) -> y = 2 * x + b, sum of x's rows; saves x, y as [4 * S]
///   backward(dy, x) -> dy, none
///   product(a[S, 4], w[3, 4], c[3]) -> a * w^T + c
schema::ProgramT makeProgram(const ProgramOptions &options = {});

/// The FlatBuffer of a program, without the frame.
std::string serialize(const schema::ProgramT &program);

/// The program file.
std::string makeFile(const schema::ProgramT &program);

struct Destroyer {
  void operator()(fuseopsProgram *program) const {
    fuseopsProgramDestroy(program);
  }
};
using ProgramPointer = std::unique_ptr<fuseopsProgram, Destroyer>;

/// Loads a file; NULL with the status in `status` if that fails.
ProgramPointer load(const std::string &file, fuseopsStatus &status);

/// Loads a program that must be right.
ProgramPointer load(const schema::ProgramT &program);

/// Calls every function that describes, so that a sanitizer sees all that a
/// program holds.
void describeAll(const fuseopsProgram &program);

/// A tensor that owns its memory, f32 on the CPU unless told otherwise.
struct TestTensor {
  explicit TestTensor(std::vector<int64_t> sizes,
                      std::vector<float> values = {});
  std::vector<int64_t> shape, strides;
  std::vector<float> data;
  DLTensor tensor;
};

} // namespace test
} // namespace fuseops

#endif // FUSEOPS_UNITTESTS_RUNTIME_TESTPROGRAM_H
