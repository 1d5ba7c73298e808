//===- CudaParametersTest.cpp - What a kernel on CUDA is told
//--------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver is one of this file, which writes down what it is asked to encode.
//
//===----------------------------------------------------------------------===//

#include "CudaParameters.h"
#include "TestProgram.h"

#include "gtest/gtest.h"

using namespace fuseops;
using namespace fuseops::runtime;
using namespace fuseops::test;

namespace {

/// A call of cuTensorMapEncodeTiled. What lies behind `rank` stays empty.
struct Encoding {
  int type;
  void *address;
  std::vector<uint64_t> sizes, strides;
  std::vector<uint32_t> box, elementStrides;
  int interleave, swizzle, promotion, fill;
};

std::vector<Encoding> encodings;
CudaResult encodeResult;

CudaResult encode(CudaTensorMap *map, int type, unsigned rank, void *address,
                  const uint64_t *sizes, const uint64_t *strides,
                  const uint32_t *box, const uint32_t *elementStrides,
                  int interleave, int swizzle, int promotion, int fill) {
  EXPECT_EQ(reinterpret_cast<uintptr_t>(map) % 64, 0u);
  map->words[0] = encodings.size() + 1;
  encodings.push_back({type,
                       address,
                       {sizes, sizes + rank},
                       {strides, strides + rank - 1},
                       {box, box + rank},
                       {elementStrides, elementStrides + rank},
                       interleave,
                       swizzle,
                       promotion,
                       fill});
  return encodeResult;
}

CudaResult describe(CudaResult, const char **text) {
  *text = "invalid argument";
  return 0;
}

/// Runs the first step of a program of tensor maps: x[S, 4], b[4] -> y[S, 4].
class CudaParametersTest : public ::testing::Test {
protected:
  void SetUp() override {
    encodings.clear();
    encodeResult = 0;
    driver.tensorMapEncode = encode;
    driver.getErrorString = describe;
    ProgramOptions options;
    options.target = "cuda";
    options.kind = schema::CodeKind_PTX;
    options.arch = "sm_90a";
    options.code = "no code";
    file = makeProgram(options);
  }

  schema::KernelStepT &kernel() {
    return *file.entries[0]->steps[0]->step.AsKernelStep();
  }

  /// Adds a map of all rows of tensor `index`, which the caller may change.
  schema::TensorMapT &addMap(int32_t index) {
    auto map = std::make_unique<schema::TensorMapT>();
    map->tensor = index;
    map->columns = makeSize(4);
    map->rows = makeSize(0, 1);
    map->pitch = makeSize(4);
    map->box_columns = 4;
    map->box_rows = 64;
    kernel().maps.push_back(std::move(map));
    return *kernel().maps.back();
  }

  /// Binds the step for a symbol.
  fuseopsStatus bind(int64_t symbol) {
    program = load(file);
    if (!program)
      return FUSEOPS_INVALID_PROGRAM;
    const Entry &entry = program->entries[0];
    binding.symbol = symbol;
    for (size_t i = 0; i < entry.tensors.size(); ++i)
      binding.pointers.push_back(memory + 16 * i);
    return parameters.bind(driver, entry, entry.steps[0], binding, workers);
  }

  template <typename T>
  T read(size_t index) {
    return *static_cast<T *>(parameters.getPointers()[index]);
  }

  schema::ProgramT file;
  ProgramPointer program;
  CudaDriver driver = {};
  Binding binding;
  CudaParameters parameters;
  int64_t workers = -1;
  alignas(16) char memory[256];
};

} // namespace

TEST_F(CudaParametersTest, TensorsComeFirstThenRowsAndCount) {
  ASSERT_EQ(bind(7), FUSEOPS_OK) << fuseopsLastError();
  EXPECT_EQ(workers, 3);
  ASSERT_EQ(parameters.size(), 5u);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(read<void *>(i), memory + 16 * i) << i;
  EXPECT_EQ(read<int64_t>(3), 7);
  EXPECT_EQ(read<int64_t>(4), 0);
  EXPECT_TRUE(encodings.empty());
}

TEST_F(CudaParametersTest, MapsStandBetweenTensorsAndRows) {
  addMap(2).swizzle = 64;
  schema::TensorMapT &part = addMap(0);
  part.columns = makeSize(3);
  part.box_rows = 1;
  part.swizzle = 32;
  ASSERT_EQ(bind(7), FUSEOPS_OK) << fuseopsLastError();
  ASSERT_EQ(parameters.size(), 7u);
  EXPECT_EQ(read<void *>(2), memory + 32);
  EXPECT_EQ(read<CudaTensorMap>(3).words[0], 1u);
  EXPECT_EQ(read<CudaTensorMap>(4).words[0], 2u);
  EXPECT_EQ(read<int64_t>(5), 7);
  EXPECT_EQ(read<int64_t>(6), 0);

  ASSERT_EQ(encodings.size(), 2u);
  // Values of cuda.h.
  EXPECT_EQ(encodings[0].type, 7);
  EXPECT_EQ(encodings[0].address, memory + 32);
  EXPECT_EQ(encodings[0].sizes, (std::vector<uint64_t>{4, 7}));
  EXPECT_EQ(encodings[0].strides, (std::vector<uint64_t>{16}));
  EXPECT_EQ(encodings[0].box, (std::vector<uint32_t>{4, 64}));
  EXPECT_EQ(encodings[0].elementStrides, (std::vector<uint32_t>{1, 1}));
  EXPECT_EQ(encodings[0].interleave, 0);
  EXPECT_EQ(encodings[0].swizzle, 2);
  EXPECT_EQ(encodings[0].promotion, 3);
  EXPECT_EQ(encodings[0].fill, 0);
  EXPECT_EQ(encodings[1].address, memory);
  EXPECT_EQ(encodings[1].sizes, (std::vector<uint64_t>{3, 7}));
  EXPECT_EQ(encodings[1].box, (std::vector<uint32_t>{4, 1}));
  EXPECT_EQ(encodings[1].swizzle, 1);
}

TEST_F(CudaParametersTest, ABatchIsTheThirdDimension) {
  schema::TensorMapT &map = addMap(0);
  map.rows = makeSize(1);
  map.batch = makeSize(0, 1);
  map.batch_pitch = 4;
  ASSERT_EQ(bind(7), FUSEOPS_OK) << fuseopsLastError();
  ASSERT_EQ(encodings.size(), 1u);
  EXPECT_EQ(encodings[0].sizes, (std::vector<uint64_t>{4, 1, 7}));
  EXPECT_EQ(encodings[0].strides, (std::vector<uint64_t>{16, 16}));
  EXPECT_EQ(encodings[0].box, (std::vector<uint32_t>{4, 64, 1}));
  EXPECT_EQ(encodings[0].elementStrides, (std::vector<uint32_t>{1, 1, 1}));
  EXPECT_EQ(encodings[0].swizzle, 0);
}

// x as [4, S], which has as many elements.
TEST_F(CudaParametersTest, RowsMayBeAsLongAsTheSymbolSays) {
  schema::TensorMapT &map = addMap(0);
  map.columns = makeSize(0, 1);
  map.rows = makeSize(4);
  map.pitch = makeSize(0, 1);
  *kernel().grid = schema::Grid(makeExtent(4), 4, 5);
  for (int64_t columns : {8, 12}) {
    encodings.clear();
    ASSERT_EQ(bind(columns), FUSEOPS_OK) << fuseopsLastError();
    ASSERT_EQ(encodings.size(), 1u);
    uint64_t size = columns;
    EXPECT_EQ(encodings[0].sizes, (std::vector<uint64_t>{size, 4}));
    EXPECT_EQ(encodings[0].strides, (std::vector<uint64_t>{4 * size}));
  }
  // A stride of 0 would be refused.
  encodings.clear();
  ASSERT_EQ(bind(0), FUSEOPS_OK) << fuseopsLastError();
  EXPECT_EQ(workers, 1);
  ASSERT_EQ(encodings.size(), 1u);
  EXPECT_EQ(encodings[0].address, memory + 16);
  EXPECT_EQ(encodings[0].sizes, (std::vector<uint64_t>{1, 1}));
  EXPECT_EQ(encodings[0].strides, (std::vector<uint64_t>{16}));
}

TEST_F(CudaParametersTest, ElementTypesHaveTheirMaps) {
  // Bytes of an element, and its CUtensorMapDataType in cuda.h.
  struct Case {
    schema::DType dtype;
    int64_t bytes;
    int type;
  };
  for (const Case &element :
       {Case{schema::DType_BF16, 2, 9}, Case{schema::DType_F16, 2, 6},
        Case{schema::DType_F32, 4, 7}, Case{schema::DType_F64, 8, 8},
        Case{schema::DType_F8E4M3FN, 1, 0}, Case{schema::DType_F8E5M2, 1, 0},
        Case{schema::DType_I1, 1, 0}, Case{schema::DType_I32, 4, 3},
        Case{schema::DType_I64, 8, 5}}) {
    SetUp();
    schema::TensorMapT &map = addMap(0);
    schema::TensorT &x = *file.entries[0]->tensors[0];
    x.dtype = element.dtype;
    x.shape = {makeExtent(0, 1), makeExtent(16)};
    // What is saved has the shape of its storage.
    schema::TensorT &saved = *file.entries[0]->tensors[5];
    saved.dtype = x.dtype;
    saved.shape = x.shape;
    map.columns = makeSize(16);
    map.pitch = makeSize(16);
    map.box_columns = 16;
    map.swizzle = 128;
    ASSERT_EQ(bind(7), FUSEOPS_OK) << fuseopsLastError();
    ASSERT_EQ(encodings.size(), 1u);
    EXPECT_EQ(encodings[0].type, element.type) << element.dtype;
    EXPECT_EQ(encodings[0].strides[0], 16u * element.bytes);
    EXPECT_EQ(encodings[0].swizzle, 3);
  }
}

// Rows and their distance may be other sizes of the symbol.
TEST_F(CudaParametersTest, RowsMayBePadded) {
  file.entries[0]->tensors[1]->shape = {makeExtent(0, 0, 64)};
  schema::TensorMapT &map = addMap(1);
  map.columns = makeSize(0, 1);
  map.rows = makeSize(2);
  map.pitch = std::make_unique<schema::Extent>(makeExtent(0, 0, 32));
  ASSERT_EQ(bind(33), FUSEOPS_OK) << fuseopsLastError();
  ASSERT_EQ(encodings.size(), 1u);
  EXPECT_EQ(encodings[0].sizes, (std::vector<uint64_t>{33, 2}));
  EXPECT_EQ(encodings[0].strides, (std::vector<uint64_t>{256}));
}

TEST_F(CudaParametersTest, AnEmptyMatrixIsEncodedWhereThereIsMemory) {
  addMap(0);
  *kernel().grid = schema::Grid(makeExtent(3), 3, 5);
  ASSERT_EQ(bind(0), FUSEOPS_OK) << fuseopsLastError();
  EXPECT_EQ(workers, 1);
  ASSERT_EQ(encodings.size(), 1u);
  // `b` is not empty.
  EXPECT_EQ(encodings[0].address, memory + 16);
  EXPECT_EQ(encodings[0].sizes, (std::vector<uint64_t>{1, 1}));
  EXPECT_EQ(encodings[0].strides, (std::vector<uint64_t>{16}));
}

TEST_F(CudaParametersTest, NothingIsLaunchedOnEmptyTensorsAlone) {
  addMap(0);
  *kernel().grid = schema::Grid(makeExtent(3), 3, 5);
  kernel().tensors = {0, 2};
  ASSERT_EQ(bind(0), FUSEOPS_OK) << fuseopsLastError();
  EXPECT_EQ(workers, 0);
  EXPECT_TRUE(encodings.empty());
}

TEST_F(CudaParametersTest, NoRowsNeedNoMaps) {
  addMap(0);
  driver.tensorMapEncode = nullptr;
  ASSERT_EQ(bind(0), FUSEOPS_OK) << fuseopsLastError();
  EXPECT_EQ(workers, 0);
}

TEST_F(CudaParametersTest, LaunchesUseTheSameMemory) {
  addMap(0);
  ASSERT_EQ(bind(7), FUSEOPS_OK) << fuseopsLastError();
  void **pointers = parameters.getPointers();
  void *map = pointers[3];
  const Entry &entry = program->entries[0];
  ASSERT_EQ(parameters.bind(driver, entry, entry.steps[0], binding, workers),
            FUSEOPS_OK);
  EXPECT_EQ(parameters.getPointers(), pointers);
  EXPECT_EQ(pointers[3], map);
}

TEST_F(CudaParametersTest, AnOldDriverIsNamed) {
  addMap(0);
  driver.tensorMapEncode = nullptr;
  EXPECT_EQ(bind(7), FUSEOPS_UNAVAILABLE);
  EXPECT_STREQ(fuseopsLastError(),
               "expected a CUDA driver of version 12 or later: this one has no "
               "`cuTensorMapEncodeTiled`");
}

TEST_F(CudaParametersTest, WhatTheDriverRefusesIsNamed) {
  addMap(2);
  encodeResult = 1;
  EXPECT_EQ(bind(7), FUSEOPS_RUNTIME_ERROR);
  EXPECT_STREQ(fuseopsLastError(), "`y`: encoding its tensor map failed: "
                                   "invalid argument (CUDA error 1)");
}

// When a program is loaded only its first sizes are checked.
TEST_F(CudaParametersTest, RowsBeyondTheTensorAreRefused) {
  file.entries[0]->tensors[1]->shape = {makeExtent(16)};
  addMap(1);
  EXPECT_EQ(bind(4), FUSEOPS_OK) << fuseopsLastError();
  EXPECT_EQ(bind(5), FUSEOPS_INVALID_PROGRAM);
  EXPECT_STREQ(fuseopsLastError(), "step `scale`: expected `b` to hold the 1 x "
                                   "5 x 4 elements of its tensor map");
}
