//===- RunTest.cpp - Programs run on the CPU -----------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestProgram.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <thread>

using namespace fuseops;
using namespace fuseops::test;

namespace {

/// The arguments of one run of `forward`.
struct Forward {
  explicit Forward(int64_t rows)
      : x({rows, 4}), b({4}, {1, 10, 100, 1000}), y({rows, 4}), sum({4}),
        rows(rows) {
    for (size_t i = 0; i < x.data.size(); ++i)
      x.data[i] = static_cast<float>(i % 97);
    EXPECT_EQ(fuseopsDeviceAllocate(kDLCPU, 0, 512, &workspace), FUSEOPS_OK);
  }
  ~Forward() { fuseopsDeviceFree(kDLCPU, 0, workspace); }

  fuseopsStatus run(fuseopsProgram *program) {
    return fuseopsRun(program, 0, inputs, 2, outputs, 4, workspace, 512,
                      nullptr);
  }

  void check() const {
    std::vector<float> expectedSum(4);
    for (int64_t i = 0; i < rows * 4; ++i) {
      EXPECT_EQ(y.data[i], 2 * x.data[i] + b.data[i % 4]) << i;
      expectedSum[i % 4] += x.data[i];
    }
    EXPECT_EQ(sum.data, expectedSum);
  }

  TestTensor x, b, y, sum;
  int64_t rows;
  void *workspace = nullptr;
  const DLTensor *inputs[2] = {&x.tensor, &b.tensor};
  const DLTensor *outputs[4] = {&y.tensor, &sum.tensor, nullptr, nullptr};
};

} // namespace

TEST(Run, Kernels) {
  ProgramPointer program = load(makeProgram());
  for (int64_t rows : {0, 1, 2, 3, 7, 15, 16, 1000}) {
    Forward forward(rows);
    ASSERT_EQ(forward.run(program.get()), FUSEOPS_OK) << fuseopsLastError();
    forward.check();
  }
}

// So that the offset may grow with S by less than 256 bytes a row.
TEST(Run, WorkspaceOffsetsAreRoundedUp) {
  schema::ProgramT source = makeProgram();
  source.entries[0]->tensors[4]->offset =
      std::make_unique<schema::Extent>(makeExtent(100, 4));
  source.entries[0]->workspace =
      std::make_unique<schema::Extent>(makeExtent(436, 4));
  ProgramPointer program = load(source);
  Forward forward(13);
  ASSERT_EQ(forward.run(program.get()), FUSEOPS_OK) << fuseopsLastError();
  forward.check();
}

TEST(Run, AliasesAreNotTouched) {
  ProgramPointer program = load(makeProgram());
  TestTensor dy({3, 4}, std::vector<float>(12, 5)), x({3, 4}), dx({3, 4});
  const DLTensor *inputs[2] = {&dy.tensor, &x.tensor};
  const DLTensor *outputs[2] = {&dx.tensor, nullptr};
  ASSERT_EQ(
      fuseopsRun(program.get(), 1, inputs, 2, outputs, 2, nullptr, 0, nullptr),
      FUSEOPS_OK)
      << fuseopsLastError();
  EXPECT_EQ(dx.data, std::vector<float>(12, -12345.0f));
  EXPECT_EQ(dy.data, std::vector<float>(12, 5));
}

TEST(Run, Product) {
  for (const char *target : {"cpu", "reference"}) {
    ProgramOptions options;
    options.target = target;
    ProgramPointer program = load(makeProgram(options));
    TestTensor a({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
    TestTensor w({3, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1});
    TestTensor c({3}, {100, 200, 300}), out({2, 3});
    const DLTensor *inputs[3] = {&a.tensor, &w.tensor, &c.tensor};
    const DLTensor *outputs[1] = {&out.tensor};
    ASSERT_EQ(fuseopsRun(program.get(), 2, inputs, 3, outputs, 1, nullptr, 0,
                         nullptr),
              FUSEOPS_OK)
        << fuseopsLastError();
    EXPECT_EQ(out.data, (std::vector<float>{101, 202, 310, 105, 206, 326}));
  }
}

TEST(Run, InfersTheSymbol) {
  ProgramPointer program = load(makeProgram());
  Forward forward(11);
  int64_t symbol = -1;
  ASSERT_EQ(
      fuseopsEntryInferSymbol(program.get(), 0, forward.inputs, 2, &symbol),
      FUSEOPS_OK);
  EXPECT_EQ(symbol, 11);
}

TEST(Run, ManyThreadsRunOneProgram) {
  ProgramPointer program = load(makeProgram());
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (int j = 0; j < 50; ++j) {
        Forward forward(10 * i + j);
        ASSERT_EQ(forward.run(program.get()), FUSEOPS_OK);
        forward.check();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Run, ByteOffsetAndFreeStrides) {
  ProgramPointer program = load(makeProgram());
  Forward forward(1);
  // One row: its stride says nothing.
  forward.x.strides[0] = 77;
  forward.b.data = {0, 0, 1, 10, 100, 1000};
  forward.b.tensor.data = forward.b.data.data();
  forward.b.tensor.byte_offset = 2 * sizeof(float);
  ASSERT_EQ(forward.run(program.get()), FUSEOPS_OK) << fuseopsLastError();
  EXPECT_EQ(forward.y.data[3], 2 * forward.x.data[3] + 1000);
}

TEST(Run, Profiled) {
  ProgramPointer program = load(makeProgram());
  Forward forward(100);
  double steps[3] = {-1, -1, -1}, mean = -1;
  ASSERT_EQ(fuseopsRunProfiled(program.get(), 0, forward.inputs, 2,
                               forward.outputs, 4, forward.workspace, 512,
                               nullptr, steps),
            FUSEOPS_OK);
  for (double step : steps)
    EXPECT_GE(step, 0);
  forward.check();
  ASSERT_EQ(fuseopsRunRepeated(program.get(), 0, forward.inputs, 2,
                               forward.outputs, 4, forward.workspace, 512,
                               nullptr, 10, &mean),
            FUSEOPS_OK);
  EXPECT_GT(mean, 0);
}

TEST(Run, ManyProgramsAreLoadedAtOnce) {
  std::vector<ProgramPointer> programs;
  for (int i = 0; i < 10; ++i) {
    programs.push_back(load(makeProgram()));
    ASSERT_EQ(fuseopsProgramPrepare(programs.back().get(), 0), FUSEOPS_OK)
        << fuseopsLastError();
    if (i % 3 == 1)
      programs.erase(programs.begin());
  }
  for (ProgramPointer &program : programs) {
    Forward forward(5);
    ASSERT_EQ(forward.run(program.get()), FUSEOPS_OK);
    forward.check();
  }
}

TEST(Run, CodeForAnotherMachineIsUnavailable) {
  ProgramOptions options;
  options.arch = "z80";
  ProgramPointer program = load(makeProgram(options));
  EXPECT_EQ(fuseopsProgramPrepare(program.get(), 0), FUSEOPS_UNAVAILABLE);
  EXPECT_NE(std::string(fuseopsLastError()).find("has code for `z80`"),
            std::string::npos)
      << fuseopsLastError();
}

TEST(Run, MissingKernelIsInvalid) {
  ProgramOptions options;
  options.kernel = "no_such_kernel";
  ProgramPointer program = load(makeProgram(options));
  EXPECT_EQ(fuseopsProgramPrepare(program.get(), 0), FUSEOPS_INVALID_PROGRAM);
  EXPECT_NE(std::string(fuseopsLastError()).find("`no_such_kernel`"),
            std::string::npos)
      << fuseopsLastError();
}

TEST(Run, CodeThatIsNoObjectFails) {
  ProgramOptions options;
  options.code = "no code";
  ProgramPointer program = load(makeProgram(options));
  EXPECT_EQ(fuseopsProgramPrepare(program.get(), 0), FUSEOPS_RUNTIME_ERROR);
  EXPECT_NE(std::string(fuseopsLastError()).find("cannot be loaded"),
            std::string::npos)
      << fuseopsLastError();
}
