//===- ScaledMatmulTest.cpp - Operands of FP8 products, padded -----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScaledMatmul.h"
#include "Program.h"

#include "TestProgram.h"
#include "gtest/gtest.h"

#include <cstring>

using namespace fuseops;
using namespace fuseops::runtime;
using namespace fuseops::test;

//===----------------------------------------------------------------------===//
// Copies, by a driver whose device is the host
//===----------------------------------------------------------------------===//

static CudaResult setOnHost(CudaPointer target, unsigned char value,
                            size_t bytes, CudaStream) {
  std::memset(reinterpret_cast<void *>(target), value, bytes);
  return 0;
}

static CudaResult copyRowsOnHost(const CudaCopy2D *copy, CudaStream) {
  EXPECT_EQ(copy->sourceKind, kCudaMemoryDevice);
  EXPECT_EQ(copy->targetKind, kCudaMemoryDevice);
  EXPECT_LE(copy->rowBytes, copy->sourcePitch);
  EXPECT_LE(copy->rowBytes, copy->targetPitch);
  for (size_t row = 0; row < copy->rows; ++row)
    std::memcpy(
        reinterpret_cast<char *>(copy->targetDevice) + row * copy->targetPitch,
        reinterpret_cast<char *>(copy->sourceDevice) + row * copy->sourcePitch,
        copy->rowBytes);
  return 0;
}

namespace {

/// A product [m, k] x [n, k] of bytes that count from 1 on.
struct Product {
  Product(int64_t m, int64_t n, int64_t k, ScaleKind aKind, ScaleKind bKind)
      : a(m * k), b(n * k), bias(n), out(m * n) {
    auto count = [](auto &values) {
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<std::decay_t<decltype(values[i])>>(i % 200 + 1);
    };
    int64_t pitch = (k + 127) / 128;
    aScales.resize(countScales(aKind, m, k, pitch));
    bScales.resize(countScales(bKind, n, k, pitch));
    count(a);
    count(b);
    count(aScales);
    count(bScales);
    count(bias);
    arguments.a = a.data();
    arguments.b = b.data();
    arguments.bias = bias.data();
    arguments.out = out.data();
    arguments.aType = arguments.bType = FUSEOPS_F8E4M3FN;
    arguments.outType = arguments.biasType = FUSEOPS_BF16;
    arguments.m = m;
    arguments.n = n;
    arguments.k = k;
    arguments.transposeB = arguments.isScaled = true;
    arguments.aScales = {aScales.data(), aKind, pitch};
    arguments.bScales = {bScales.data(), bKind, pitch};
    driver.set = setOnHost;
    driver.copyRows = copyRowsOnHost;
    scope.driver = &driver;
  }

  /// Pads, in memory that is not 0 before.
  void pad(PaddedMatmul &padded) {
    memory.assign(padded.countBytes() + 64, 0x5A);
    ASSERT_EQ(padded.copyOperands(scope, memory.data(), nullptr), FUSEOPS_OK);
    for (size_t i = memory.size() - 64; i < memory.size(); ++i)
      EXPECT_EQ(memory[i], 0x5A) << "behind what it counted";
  }

  std::vector<uint8_t> a, b, memory;
  std::vector<float> aScales, bScales;
  std::vector<uint16_t> bias, out;
  MatmulArguments arguments;
  CudaDriver driver = {};
  CudaScope scope;
};

} // namespace

/// The padded matrix holds the rows of the given one, then zeros.
template <typename T>
static void expectPadded(const void *padded, const std::vector<T> &given,
                         int64_t rows, int64_t columns, int64_t paddedRows,
                         int64_t paddedColumns) {
  const T *values = static_cast<const T *>(padded);
  for (int64_t row = 0; row < paddedRows; ++row)
    for (int64_t column = 0; column < paddedColumns; ++column)
      ASSERT_EQ(values[row * paddedColumns + column],
                row < rows && column < columns ? given[row * columns + column]
                                               : T(0))
          << row << ", " << column;
}

TEST(ScaledMatmul, WholeSizesStayWhereTheyAre) {
  for (auto [aKind, bKind] :
       {std::pair(ScaleKind::PerTensor, ScaleKind::PerTensor),
        std::pair(ScaleKind::PerRow, ScaleKind::PerRow),
        std::pair(ScaleKind::Block1x128, ScaleKind::Block1x128)}) {
    Product product(16, 32, 144, aKind, bKind);
    PaddedMatmul padded(product.arguments);
    EXPECT_EQ(padded.countBytes(), 0);
    product.pad(padded);
    EXPECT_EQ(padded.get().a, product.a.data());
    EXPECT_EQ(padded.get().bScales.values, product.bScales.data());
    EXPECT_EQ(padded.get().out, product.out.data());
    EXPECT_EQ(padded.get().m, 16);
  }
}

TEST(ScaledMatmul, OddSizesAreCopiedIntoZeros) {
  constexpr int64_t m = 33, n = 50, k = 140;
  Product product(m, n, k, ScaleKind::Block1x128, ScaleKind::Block128x128);
  PaddedMatmul padded(product.arguments);
  product.pad(padded);
  const MatmulArguments &made = padded.get();
  EXPECT_EQ(made.m, 48);
  EXPECT_EQ(made.n, 64);
  EXPECT_EQ(made.k, 144);
  expectPadded(made.a, product.a, m, k, 48, 144);
  expectPadded(made.b, product.b, n, k, 64, 144);
  expectPadded(made.bias, product.bias, 1, n, 1, 64);
  // Two blocks of 128 along k: they run along m, and in rows of 4 along k.
  expectPadded(made.aScales.values, product.aScales, 2, m, 2, 48);
  expectPadded(made.bScales.values, product.bScales, 1, 2, 1, 4);

  auto *out = static_cast<uint16_t *>(made.out);
  for (int64_t i = 0; i < 48 * 64; ++i)
    out[i] = static_cast<uint16_t>(i);
  ASSERT_EQ(padded.copyResult(product.scope, nullptr), FUSEOPS_OK);
  for (int64_t row = 0; row < m; ++row)
    for (int64_t column = 0; column < n; ++column)
      ASSERT_EQ(product.out[row * n + column], row * 64 + column);
}

TEST(ScaledMatmul, ScalesOfRowsHaveOneForEachPaddedRow) {
  Product product(3, 5, 16, ScaleKind::PerRow, ScaleKind::PerRow);
  PaddedMatmul padded(product.arguments);
  product.pad(padded);
  // Only blocks need whole multiples of rows.
  EXPECT_EQ(padded.get().m, 3);
  EXPECT_EQ(padded.get().a, product.a.data());
  EXPECT_EQ(padded.get().aScales.values, product.aScales.data());
  expectPadded(padded.get().b, product.b, 5, 16, 16, 16);
  expectPadded(padded.get().bScales.values, product.bScales, 1, 5, 1, 16);
}

TEST(ScaledMatmul, OneRowIsNoVector) {
  Product product(1, 16, 16, ScaleKind::PerTensor, ScaleKind::PerTensor);
  PaddedMatmul padded(product.arguments);
  product.pad(padded);
  EXPECT_EQ(padded.get().m, 16);
  expectPadded(padded.get().a, product.a, 1, 16, 16, 16);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// The entry `product` with FP8 operands and scales of rows: a[S, 4], w[3, 4].
static schema::ProgramT makeScaledProgram() {
  ProgramOptions options;
  options.target = "cuda";
  options.kind = schema::CodeKind_PTX;
  options.arch = "sm_90";
  options.code = "none";
  schema::ProgramT program = makeProgram(options);
  schema::EntryT &entry = *program.entries[2];
  schema::MatmulStepT &step = *entry.steps[0]->step.AsMatmulStep();
  entry.tensors[step.a]->dtype = schema::DType_F8E4M3FN;
  entry.tensors[step.b]->dtype = schema::DType_F8E5M2;
  auto addScales = [&](const char *name, schema::Extent rows) {
    auto scales = std::make_unique<schema::TensorT>();
    scales->name = name;
    scales->dtype = schema::DType_F32;
    scales->shape = {rows, makeExtent(1)};
    scales->role = schema::Role_Input;
    entry.tensors.push_back(std::move(scales));
    int32_t index = static_cast<int32_t>(entry.tensors.size() - 1);
    entry.inputs.push_back(index);
    return index;
  };
  step.a_scale = addScales("a_scale", makeExtent(0, 1));
  step.b_scale = addScales("w_scale", makeExtent(3));
  step.a_scale_kind = step.b_scale_kind = schema::ScaleKind_PerRow;
  return program;
}

static void expectInvalid(const schema::ProgramT &program, const char *text) {
  fuseopsStatus status;
  EXPECT_EQ(load(makeFile(program), status), nullptr);
  EXPECT_EQ(status, FUSEOPS_INVALID_PROGRAM);
  EXPECT_NE(std::string(fuseopsLastError()).find(text), std::string::npos)
      << fuseopsLastError();
}

TEST(ScaledMatmul, WorkspaceHoldsTheCopies) {
  ProgramPointer program = load(makeScaledProgram());
  size_t bytes;
  ASSERT_EQ(fuseopsEntryWorkspaceBytes(program.get(), 2, 100, &bytes),
            FUSEOPS_OK);
  // a [100, 16], w [16, 16], the scales of w, the bias and the result, f32.
  size_t copies = 1792 + 256 + 256 + 256 + 6400;
  EXPECT_EQ(bytes, static_cast<size_t>(kLibraryWorkspaceBytes) + copies);
}

TEST(ScaledMatmul, RefusesOtherTargets) {
  schema::ProgramT program = makeScaledProgram();
  program.target = "reference";
  program.code[0]->kind = schema::CodeKind_SharedObject;
  expectInvalid(program, "expected a product of FP8, [m, k] x [n, k], on CUDA");
}

TEST(ScaledMatmul, RefusesOperandsOfOtherForms) {
  schema::ProgramT program = makeScaledProgram();
  program.entries[2]->steps[0]->step.AsMatmulStep()->transpose_b = false;
  expectInvalid(program, "expected a product of FP8, [m, k] x [n, k], on CUDA");
  program = makeScaledProgram();
  program.entries[2]->tensors[0]->dtype = schema::DType_BF16;
  expectInvalid(program, "expected `a` to be FP8, but got bf16");
  program = makeScaledProgram();
  program.entries[2]->steps[0]->step.AsMatmulStep()->a_scale = -1;
  expectInvalid(program, "tensor -1 does not exist");
  program = makeScaledProgram();
  program.entries[2]->tensors.back()->dtype = schema::DType_F16;
  expectInvalid(program, "expected `w_scale` to be f32, but got f16");
}

TEST(ScaledMatmul, RefusesOtherNumbersOfScales) {
  schema::ProgramT program = makeScaledProgram();
  program.entries[2]->tensors.back()->shape[0] = makeExtent(4);
  expectInvalid(program,
                "expected `w_scale` to hold the scales of 3 x 4 elements");
  program = makeScaledProgram();
  program.entries[2]->steps[0]->step.AsMatmulStep()->b_scale_kind =
      schema::ScaleKind_PerTensor;
  expectInvalid(program,
                "expected `w_scale` to hold the scales of 3 x 4 elements");
  program = makeScaledProgram();
  program.entries[2]->steps[0]->step.AsMatmulStep()->b_scale_kind =
      static_cast<schema::ScaleKind>(9);
  expectInvalid(program, "unknown kind of scale 9");
}
