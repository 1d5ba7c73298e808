//===- RunErrorTest.cpp - Wrong arguments of a run get a sentence --------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestProgram.h"

#include "gtest/gtest.h"

using namespace fuseops;
using namespace fuseops::test;

namespace {

/// A run of `forward` whose arguments a test spoils.
class RunError : public testing::Test {
protected:
  void SetUp() override {
    program = load(makeProgram());
    workspace.resize(1024 + 256);
    aligned = workspace.data();
    while (reinterpret_cast<uintptr_t>(aligned) % 256)
      ++aligned;
  }

  /// Expects that the run is refused with exactly this sentence.
  void expect(const std::string &sentence) {
    EXPECT_EQ(fuseopsRun(program.get(), entry, inputs, numInputs, outputs,
                         numOutputs, aligned, workspaceBytes, nullptr),
              FUSEOPS_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(fuseopsLastError()), sentence);
  }

  ProgramPointer program;
  TestTensor x{{6, 4}}, b{{4}}, y{{6, 4}}, sum{{4}};
  const DLTensor *inputs[2] = {&x.tensor, &b.tensor};
  const DLTensor *outputs[4] = {&y.tensor, &sum.tensor, nullptr, nullptr};
  int32_t entry = 0, numInputs = 2, numOutputs = 4;
  std::vector<char> workspace;
  char *aligned = nullptr;
  size_t workspaceBytes = 512;
};

} // namespace

TEST_F(RunError, Entry) {
  entry = 3;
  expect("expected an entry below 3, but got 3");
}

TEST_F(RunError, NumberOfInputs) {
  numInputs = 1;
  expect("entry `forward`: expected 2 inputs, but got 1");
}

TEST_F(RunError, NumberOfOutputs) {
  numOutputs = 2;
  expect("entry `forward`: expected 4 outputs, but got 2");
}

TEST_F(RunError, MissingInput) {
  inputs[1] = nullptr;
  expect("entry `forward`: expected input 1 (`b`) to be a tensor, but got "
         "NULL");
}

TEST_F(RunError, MissingOutput) {
  outputs[1] = nullptr;
  expect("entry `forward`: expected output 1 (`sum`) to be a tensor, but got "
         "NULL");
}

TEST_F(RunError, Rank) {
  x.tensor.ndim = 1;
  expect("entry `forward`: expected input 0 (`x`) to have 2 dimensions, but "
         "got 1");
}

TEST_F(RunError, Extent) {
  x.shape[1] = 5;
  expect("entry `forward`: expected input 0 (`x`) to have 4 elements in "
         "dimension 1, but got 5");
}

TEST_F(RunError, NegativeExtent) {
  x.shape[0] = -1;
  expect("entry `forward`: expected input 0 (`x`) to have 0 + 1 * S elements "
         "in dimension 0, but got -1");
}

TEST_F(RunError, SymbolRange) {
  x.shape[0] = 1001;
  expect("entry `forward`: expected input 0 (`x`) to give a size of 0 to 1000 "
         "in dimension 0, but got 1001");
}

TEST_F(RunError, SymbolOfOutput) {
  y.shape[0] = 7;
  expect("entry `forward`: expected output 0 (`y`) to have 6 elements in "
         "dimension 0, but got 7");
}

TEST_F(RunError, DType) {
  b.tensor.dtype = {kDLBfloat, 16, 1};
  expect("entry `forward`: expected input 1 (`b`) to have dtype f32, but got "
         "bf16");
}

TEST_F(RunError, UnknownDType) {
  b.tensor.dtype = {kDLFloat, 32, 4};
  expect("entry `forward`: expected input 1 (`b`) to have dtype f32, but got "
         "DLPack type code 2 of 32 bits and 4 lanes");
}

TEST_F(RunError, Device) {
  b.tensor.device = {kDLCUDA, 0};
  expect("entry `forward`: expected input 1 (`b`) to be on the CPU, but got a "
         "CUDA device");
}

// Nothing of the run is started, whichever step has the map.
TEST_F(RunError, RowsOfATensorMap) {
  ProgramOptions options;
  options.target = "cuda";
  options.kind = schema::CodeKind_PTX;
  options.arch = "sm_90a";
  options.code = "no code";
  schema::ProgramT file = makeProgram(options);
  auto map = std::make_unique<schema::TensorMapT>();
  map->columns = makeSize(0, 1);
  map->rows = makeSize(4);
  map->pitch = makeSize(0, 1);
  map->box_columns = map->box_rows = 4;
  file.entries[0]->steps[1]->step.AsKernelStep()->maps.push_back(
      std::move(map));
  program = load(file);
  for (TestTensor *tensor : {&x, &b, &y, &sum})
    tensor->tensor.device = {kDLCUDA, 0};
  expect("entry `forward`, step `partial_sums`: expected `x` to have rows of a "
         "multiple of 16 bytes, but got 24 bytes for size 6");
}

TEST_F(RunError, StridesOfAnOutput) {
  y.strides = {1, 6};
  expect("entry `forward`: expected output 0 (`y`) to be packed and row-major, "
         "with stride 1 in dimension 1, but got 6");
}

TEST_F(RunError, BroadcastOutput) {
  y.strides[0] = 0;
  expect("entry `forward`: expected output 0 (`y`) to be packed and row-major, "
         "with stride 4 in dimension 0, but got 0");
}

TEST_F(RunError, NullData) {
  x.tensor.data = nullptr;
  expect("entry `forward`: expected input 0 (`x`) to have memory, but its data "
         "is NULL");
}

TEST_F(RunError, Alignment) {
  b.tensor.data = reinterpret_cast<char *>(b.data.data()) + 2;
  EXPECT_EQ(fuseopsRun(program.get(), 0, inputs, 2, outputs, 4, aligned, 512,
                       nullptr),
            FUSEOPS_INVALID_ARGUMENT);
  EXPECT_NE(std::string(fuseopsLastError()).find("to be aligned to 4 bytes"),
            std::string::npos);
}

TEST_F(RunError, WorkspaceSize) {
  workspaceBytes = 511;
  expect("entry `forward`: expected a workspace of 512 bytes, but got 511");
}

TEST_F(RunError, NoWorkspace) {
  aligned = nullptr;
  expect("entry `forward`: expected a workspace, but got NULL");
}

TEST_F(RunError, OutputOverInput) {
  y.tensor.data = x.data.data();
  expect("entry `forward`: expected `y` to have memory of its own, but it "
         "overlaps `x`");
}

TEST_F(RunError, OutputOverOutput) {
  sum.tensor.data = y.data.data() + 20;
  expect("entry `forward`: expected `sum` to have memory of its own, but it "
         "overlaps `y`");
}

TEST_F(RunError, WorkspaceOverOutput) {
  y.tensor.data = aligned;
  expect("entry `forward`: expected `the workspace` to have memory of its own, "
         "but it overlaps `y`");
}

TEST_F(RunError, NullProgram) {
  EXPECT_EQ(
      fuseopsRun(nullptr, 0, inputs, 2, outputs, 4, aligned, 512, nullptr),
      FUSEOPS_INVALID_ARGUMENT);
  EXPECT_EQ(fuseopsRunProfiled(program.get(), 0, inputs, 2, outputs, 4, aligned,
                               512, nullptr, nullptr),
            FUSEOPS_INVALID_ARGUMENT);
}

// One tensor may be two inputs: both are only read.
TEST_F(RunError, InputsMayShareMemory) {
  b.tensor.data = x.data.data();
  EXPECT_EQ(fuseopsRun(program.get(), 0, inputs, 2, outputs, 4, aligned, 512,
                       nullptr),
            FUSEOPS_OK)
      << fuseopsLastError();
}
