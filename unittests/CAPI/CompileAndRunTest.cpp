//===- CompileAndRunTest.cpp - From source text to a gradient through the C ABI
//===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps-c/Compiler.h"
#include "FuseOps-c/Runtime.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {
constexpr const char *kSource = R"mlir(
fuseops.fusible @squared(%x: tensor<?x5xf32>, %b: tensor<5xf32>) -> tensor<?x5xf32>
forward {
  %z = fuseops.bias %x, %b : tensor<?x5xf32>, tensor<5xf32>
  %y = fuseops.mul %z, %z : tensor<?x5xf32>, tensor<?x5xf32> -> tensor<?x5xf32>
  fuseops.return %y : tensor<?x5xf32>
}
)mlir";

/// A compilation that frees itself.
struct Compilation {
  explicit Compilation(const std::string &source,
                       const fuseopsCompileOptions *options = nullptr) {
    status = fuseopsCompile(source.data(), source.size(), "test.mlir", options,
                            &handle);
  }
  Compilation(const Compilation &) = delete;
  Compilation &operator=(const Compilation &) = delete;
  ~Compilation() { fuseopsCompilationDestroy(handle); }
  std::string diagnostics() const {
    return fuseopsCompilationDiagnostics(handle);
  }

  fuseopsCompilation *handle = nullptr;
  fuseopsCompileStatus status;
};

/// A packed f32 tensor on the CPU.
struct Tensor {
  Tensor(std::vector<int64_t> extents, std::vector<float> values)
      : shape(std::move(extents)), data(std::move(values)) {
    view = {};
    view.data = data.data();
    view.device = {kDLCPU, 0};
    view.ndim = static_cast<int32_t>(shape.size());
    view.dtype = {kDLFloat, 32, 1};
    view.shape = shape.data();
  }
  std::vector<int64_t> shape;
  std::vector<float> data;
  DLTensor view;
};

fuseopsProgram *load(const Compilation &compilation) {
  size_t size = 0;
  const char *bytes = fuseopsCompilationOutput(compilation.handle, &size);
  fuseopsProgram *program = nullptr;
  EXPECT_EQ(fuseopsProgramLoad(bytes, size, &program), FUSEOPS_OK)
      << fuseopsLastError();
  return program;
}

std::vector<char> makeWorkspace(fuseopsProgram *program, int32_t entry,
                                int64_t size) {
  size_t bytes = 0;
  EXPECT_EQ(fuseopsEntryWorkspaceBytes(program, entry, size, &bytes),
            FUSEOPS_OK);
  return std::vector<char>(bytes + 256);
}
} // namespace

TEST(CompileAndRun, ForwardAndBackward) {
  Compilation compilation(kSource);
  ASSERT_EQ(compilation.status, FUSEOPS_COMPILE_OK)
      << compilation.diagnostics();
  fuseopsProgram *program = load(compilation);
  ASSERT_TRUE(program);
  int32_t forward = fuseopsProgramFindEntry(program, "forward");
  int32_t backward = fuseopsProgramFindEntry(program, "backward");
  ASSERT_GE(forward, 0);
  ASSERT_GE(backward, 0);

  constexpr int64_t kRows = 3, kColumns = 5, kSize = kRows * kColumns;
  Tensor x({kRows, kColumns}, std::vector<float>(kSize));
  Tensor bias({kColumns}, {0.5f, -1.0f, 2.0f, 0.25f, -3.0f});
  for (int64_t i = 0; i < kSize; ++i)
    x.data[i] = std::sin(1.0f + static_cast<float>(i));
  Tensor y({kRows, kColumns}, std::vector<float>(kSize, NAN));

  // The saved value is the biased input; its descriptor follows the result's.
  fuseopsEntryInfo info;
  ASSERT_EQ(fuseopsEntryDescribe(program, forward, &info), FUSEOPS_OK);
  ASSERT_EQ(info.num_results, 1);
  Tensor saved({kRows, kColumns}, std::vector<float>(kSize, NAN));
  std::vector<const DLTensor *> inputs = {&x.view, &bias.view};
  std::vector<const DLTensor *> outputs = {&y.view};
  std::vector<const DLTensor *> kept;
  for (int32_t i = 1; i < info.num_outputs; ++i) {
    fuseopsTensorInfo output;
    ASSERT_EQ(fuseopsEntryOutput(program, forward, i, &output), FUSEOPS_OK);
    bool isAlias = output.alias_input >= 0;
    outputs.push_back(isAlias ? nullptr : &saved.view);
    kept.push_back(isAlias ? inputs[output.alias_input] : &saved.view);
  }
  std::vector<char> workspace = makeWorkspace(program, forward, kRows);
  ASSERT_EQ(fuseopsRun(program, forward, inputs.data(), 2, outputs.data(),
                       static_cast<int32_t>(outputs.size()), workspace.data(),
                       workspace.size(), nullptr),
            FUSEOPS_OK)
      << fuseopsLastError();
  for (int64_t i = 0; i < kSize; ++i) {
    float z = x.data[i] + bias.data[i % kColumns];
    EXPECT_NEAR(y.data[i], z * z, 1e-5) << i;
  }

  Tensor dy({kRows, kColumns}, std::vector<float>(kSize, 1.0f));
  Tensor dx({kRows, kColumns}, std::vector<float>(kSize, NAN));
  Tensor db({kColumns}, std::vector<float>(kColumns, NAN));
  std::vector<const DLTensor *> incoming = {&dy.view};
  incoming.insert(incoming.end(), kept.begin(), kept.end());
  const DLTensor *gradients[] = {&dx.view, &db.view};
  workspace = makeWorkspace(program, backward, kRows);
  ASSERT_EQ(fuseopsRun(program, backward, incoming.data(),
                       static_cast<int32_t>(incoming.size()), gradients, 2,
                       workspace.data(), workspace.size(), nullptr),
            FUSEOPS_OK)
      << fuseopsLastError();
  for (int64_t column = 0; column < kColumns; ++column) {
    float sum = 0;
    for (int64_t row = 0; row < kRows; ++row) {
      int64_t i = row * kColumns + column;
      float expected = 2 * (x.data[i] + bias.data[column]);
      EXPECT_NEAR(dx.data[i], expected, 1e-5) << i;
      sum += expected;
    }
    EXPECT_NEAR(db.data[column], sum, 1e-5) << column;
  }
  fuseopsProgramDestroy(program);
}

TEST(Compile, SaysWhereTheSourceIsWrong) {
  std::string wrong = kSource;
  wrong.replace(wrong.find("fuseops.mul"), 11, "fuseops.mol");
  Compilation compilation(wrong);
  EXPECT_EQ(compilation.status, FUSEOPS_COMPILE_FAILED);
  EXPECT_NE(compilation.diagnostics().find("test.mlir:5:"), std::string::npos)
      << compilation.diagnostics();
  size_t size = 1;
  fuseopsCompilationOutput(compilation.handle, &size);
  EXPECT_EQ(size, 0u);
}

TEST(Compile, NamesAWrongOption) {
  fuseopsCompileOptions options = {};
  options.struct_size = sizeof(options);
  options.target = "tpu";
  Compilation compilation(kSource, &options);
  EXPECT_EQ(compilation.status, FUSEOPS_COMPILE_INVALID_OPTIONS);
  EXPECT_NE(compilation.diagnostics().find("but got `tpu`"), std::string::npos)
      << compilation.diagnostics();
}

TEST(Compile, AFailureLeavesTheNextCompilationAlone) {
  Compilation failed("not a program");
  EXPECT_EQ(failed.status, FUSEOPS_COMPILE_FAILED);
  Compilation good(kSource);
  EXPECT_EQ(good.status, FUSEOPS_COMPILE_OK) << good.diagnostics();
}

TEST(Compile, GivesTheSameBytesFromManyThreads) {
  Compilation first(kSource);
  size_t size = 0;
  const char *bytes = fuseopsCompilationOutput(first.handle, &size);
  std::string expected(bytes, size);
  std::vector<std::thread> threads;
  std::vector<std::string> found(4);
  for (std::string &output : found)
    threads.emplace_back([&output] {
      Compilation compilation(kSource);
      size_t count = 0;
      const char *data = fuseopsCompilationOutput(compilation.handle, &count);
      output.assign(data, count);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &output : found)
    EXPECT_EQ(output, expected);
}
