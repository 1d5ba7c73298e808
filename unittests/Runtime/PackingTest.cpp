//===- PackingTest.cpp - Strided inputs are read by their strides --------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Packing.h"
#include "TestProgram.h"

#include "gtest/gtest.h"

#include <cstring>
#include <numeric>
#include <random>

using namespace fuseops;
using namespace fuseops::runtime;
using namespace fuseops::test;

namespace {

/// A view of random shape and strides, and the bytes that it views.
struct View {
  std::vector<char> memory;
  std::vector<int64_t> shape, strides;
  int64_t elementBytes = 1, elements = 1;
  DLTensor tensor = {};
};

} // namespace

/// Dimensions are permuted, cut with steps, turned round, and repeated.
static View makeView(std::mt19937 &random, int64_t elementBytes) {
  auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  View view;
  view.elementBytes = elementBytes;
  size_t rank = draw(0, Packing::kMaxRank);
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (draw(0, 2) != 0)
    std::shuffle(order.begin(), order.end(), random);
  view.shape.resize(rank);
  view.strides.resize(rank);
  int64_t size = 1, start = 0;
  for (size_t i = 0; i < rank; ++i) {
    int64_t &extent = view.shape[order[i]], &stride = view.strides[order[i]];
    int64_t longest = draw(0, 5) == 0 ? 70 : 6;
    extent = size < 10000 ? draw(1, longest) : draw(1, 2);
    int64_t step = draw(0, 3) == 0 ? draw(2, 3) : 1;
    stride = draw(0, 5) == 0 ? 0 : size * step;
    size *= stride == 0 ? 1 : extent * step + draw(0, 3) / 3;
    view.elements *= extent;
    if (draw(0, 5) == 0) {
      start += stride * (extent - 1);
      stride = -stride;
    }
  }
  view.memory.resize(size * elementBytes);
  for (char &byte : view.memory)
    byte = static_cast<char>(random());
  view.tensor.data = view.memory.data();
  view.tensor.ndim = static_cast<int32_t>(rank);
  view.tensor.shape = view.shape.data();
  view.tensor.strides = view.strides.data();
  view.tensor.byte_offset = start * elementBytes;
  return view;
}

/// The elements, one by one.
static std::vector<char> readView(const View &view) {
  std::vector<char> packed;
  std::vector<int64_t> index(view.shape.size());
  for (int64_t i = 0; i < view.elements; ++i) {
    int64_t offset = view.tensor.byte_offset, rest = i;
    for (size_t d = view.shape.size(); d-- > 0;) {
      offset += rest % view.shape[d] * view.strides[d] * view.elementBytes;
      rest /= view.shape[d];
    }
    packed.insert(packed.end(), view.memory.data() + offset,
                  view.memory.data() + offset + view.elementBytes);
  }
  return packed;
}

TEST(Packing, RandomViewsOnTheCpu) {
  std::mt19937 random(7);
  for (int i = 0; i < 1000; ++i) {
    View view = makeView(random, int64_t(1) << (i % 4));
    std::vector<char> expected = readView(view), actual(expected.size(), 77);
    Packing packing;
    ASSERT_TRUE(planPacking(view.tensor, view.elementBytes, packing));
    packing.target = actual.data();
    packOnCpu(packing);
    ASSERT_EQ(actual, expected) << i;
    int64_t before, after;
    ASSERT_TRUE(findSpan(view.tensor, view.elementBytes, before, after));
    EXPECT_LE(before, static_cast<int64_t>(view.tensor.byte_offset));
    EXPECT_LE(view.tensor.byte_offset + after, view.memory.size());
  }
}

TEST(Packing, RandomViewsOnCuda) {
  int32_t count = 0;
  if (fuseopsDeviceCount(kDLCUDA, &count) != FUSEOPS_OK || count == 0)
    GTEST_SKIP() << "there is no CUDA device";
  CudaScope scope;
  ASSERT_EQ(scope.enter(0), FUSEOPS_OK) << fuseopsLastError();
  std::mt19937 random(8);
  for (int i = 0; i < 400; ++i) {
    View view = makeView(random, int64_t(1) << (i % 4));
    std::vector<char> expected = readView(view), actual(expected.size(), 77);
    void *source, *target;
    ASSERT_EQ(fuseopsDeviceAllocate(kDLCUDA, 0, view.memory.size(), &source),
              FUSEOPS_OK);
    ASSERT_EQ(fuseopsDeviceAllocate(kDLCUDA, 0, actual.size(), &target),
              FUSEOPS_OK);
    fuseopsDeviceCopyToDevice(kDLCUDA, 0, source, view.memory.data(),
                              view.memory.size());
    view.tensor.data = source;
    Packing packing;
    ASSERT_TRUE(planPacking(view.tensor, view.elementBytes, packing));
    packing.target = target;
    ASSERT_EQ(packOnCuda(scope, packing, nullptr), FUSEOPS_OK)
        << fuseopsLastError();
    ASSERT_EQ(fuseopsDeviceCopyToHost(kDLCUDA, 0, actual.data(), target,
                                      actual.size()),
              FUSEOPS_OK)
        << fuseopsLastError();
    ASSERT_EQ(actual, expected) << i;
    fuseopsDeviceFree(kDLCUDA, 0, source);
    fuseopsDeviceFree(kDLCUDA, 0, target);
  }
}

TEST(Packing, ElementsAreMergedIntoWiderOnes) {
  alignas(16) float memory[8 * 12];
  int64_t shape[3] = {4, 2, 8}, strides[3] = {24, 12, 1};
  DLTensor tensor = {memory, {kDLCPU, 0}, 3, {kDLFloat, 32, 1},
                     shape,  strides,     0};
  Packing packing;
  ASSERT_TRUE(planPacking(tensor, 4, packing));
  EXPECT_EQ(packing.elementBytes, 16);
  EXPECT_EQ(packing.rank, 2);
  EXPECT_EQ(packing.elements, 16);
  EXPECT_EQ(packing.strides[0], 48);
}

TEST(Packing, TooManyDimensions) {
  std::vector<int64_t> shape(9, 2), strides(9);
  for (size_t i = 0; i < 9; ++i)
    strides[i] = 3 << (2 * i);
  float memory;
  DLTensor tensor = {&memory,      {kDLCPU, 0},    9, {kDLFloat, 32, 1},
                     shape.data(), strides.data(), 0};
  Packing packing;
  EXPECT_FALSE(planPacking(tensor, 4, packing));
}

namespace {

/// A run of `forward` with inputs of any strides.
class StridedRun : public testing::Test {
protected:
  void SetUp() override { program = load(makeProgram()); }

  /// Runs and expects y = 2 * x + b by the strides of x and b.
  void run() {
    size_t bytes, least;
    ASSERT_EQ(fuseopsEntryWorkspaceBytes(program.get(), 0, 6, &least),
              FUSEOPS_OK);
    ASSERT_EQ(
        fuseopsEntryWorkspaceBytesFor(program.get(), 0, 6, inputs, 2, &bytes),
        FUSEOPS_OK)
        << fuseopsLastError();
    EXPECT_EQ(bytes, least + copiedBytes);
    workspace.assign(bytes + 64, 0);
    char *aligned = workspace.data();
    while (reinterpret_cast<uintptr_t>(aligned) % 64)
      ++aligned;
    if (copiedBytes != 0) {
      EXPECT_EQ(fuseopsRun(program.get(), 0, inputs, 2, outputs, 4, aligned,
                           bytes - 1, nullptr),
                FUSEOPS_INVALID_ARGUMENT);
    }
    ASSERT_EQ(fuseopsRun(program.get(), 0, inputs, 2, outputs, 4, aligned,
                         bytes, nullptr),
              FUSEOPS_OK)
        << fuseopsLastError();
    std::vector<float> sums(4);
    for (int64_t i = 0; i < 24; ++i) {
      int64_t row = i / 4, column = i % 4;
      float value = at(x.tensor, row, column);
      EXPECT_EQ(y.data[i], 2 * value + at(b.tensor, column, 0)) << i;
      sums[column] += value;
    }
    EXPECT_EQ(sum.data, sums);
  }
  static float at(const DLTensor &tensor, int64_t i, int64_t j) {
    int64_t offset = i * tensor.strides[0];
    if (tensor.ndim == 2)
      offset += j * tensor.strides[1];
    return static_cast<const float *>(
        tensor.data)[offset + static_cast<int64_t>(tensor.byte_offset / 4)];
  }

  ProgramPointer program;
  TestTensor x{{6, 4}}, b{{4}, {1, 10, 100, 1000}}, y{{6, 4}}, sum{{4}};
  std::vector<float> memory = [] {
    std::vector<float> values(64);
    std::iota(values.begin(), values.end(), 1.0f);
    return values;
  }();
  const DLTensor *inputs[2] = {&x.tensor, &b.tensor};
  const DLTensor *outputs[4] = {&y.tensor, &sum.tensor, nullptr, nullptr};
  std::vector<char> workspace;
  /// What the workspace holds of copies and of gaps before them.
  size_t copiedBytes = 0;
};

} // namespace

TEST_F(StridedRun, Packed) { run(); }

TEST_F(StridedRun, Transposed) {
  x.strides = {1, 6};
  copiedBytes = 96;
  run();
}

TEST_F(StridedRun, SlicedBackwards) {
  x.tensor.data = memory.data();
  x.tensor.byte_offset = 4 * 45;
  x.strides = {-9, 2};
  copiedBytes = 96;
  run();
}

TEST_F(StridedRun, BothBroadcast) {
  x.strides = {0, 1};
  b.strides = {0};
  copiedBytes = 256 + 16;
  run();
}

TEST_F(StridedRun, SpansOfInputsAreKnown) {
  memory.resize(100);
  x.tensor.data = memory.data();
  x.strides = {10, 1};
  y.tensor.data = memory.data() + 54;
  char place[2048];
  EXPECT_EQ(fuseopsRun(program.get(), 0, inputs, 2, outputs, 4,
                       place + -reinterpret_cast<uintptr_t>(place) % 16, 1024,
                       nullptr),
            FUSEOPS_OK)
      << fuseopsLastError();
  y.tensor.data = memory.data() + 53;
  EXPECT_EQ(fuseopsRun(program.get(), 0, inputs, 2, outputs, 4,
                       place + -reinterpret_cast<uintptr_t>(place) % 16, 1024,
                       nullptr),
            FUSEOPS_INVALID_ARGUMENT);
  EXPECT_STREQ(fuseopsLastError(),
               "entry `forward`: expected `y` to have memory of its own, but "
               "it overlaps `x`");
}

TEST_F(StridedRun, StridesBeyondMemory) {
  x.strides = {INT64_MAX / 2, 1};
  EXPECT_EQ(
      fuseopsRun(program.get(), 0, inputs, 2, outputs, 4, nullptr, 0, nullptr),
      FUSEOPS_INVALID_ARGUMENT);
  EXPECT_STREQ(fuseopsLastError(), "entry `forward`: expected input 0 (`x`) to "
                                   "be of a size that memory can hold");
}
