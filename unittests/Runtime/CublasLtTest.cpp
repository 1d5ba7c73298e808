//===- CublasLtTest.cpp - FP8 products through a cuBLASLt in host memory -===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CublasLt.h"
#include "ScaledMatmul.h"
#include "SmallFloat.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdlib>
#include <random>

using namespace fuseops::runtime;

static constexpr size_t kWorkspaceBytes = 1024;

namespace {

/// The library is opened once, by the first product.
struct FakeLibrary : testing::Environment {
  void SetUp() override {
    setenv("FUSEOPS_CUBLASLT", FUSEOPS_FAKE_CUBLASLT, /*overwrite=*/1);
  }
};

/// An environment variable of the fake library, for as long as it lives.
struct Setting {
  Setting(const char *name, const char *value) : name(name) {
    setenv(name, value, 1);
  }
  ~Setting() { unsetenv(name); }
  const char *name;
};

/// A driver whose device is the host.
struct HostDriver {
  HostDriver() {
    driver.set = [](CudaPointer target, unsigned char value, size_t bytes,
                    CudaStream) -> CudaResult {
      std::memset(reinterpret_cast<void *>(target), value, bytes);
      return 0;
    };
    driver.copyOnDevice = [](CudaPointer target, CudaPointer source,
                             size_t bytes, CudaStream) -> CudaResult {
      std::memcpy(reinterpret_cast<void *>(target),
                  reinterpret_cast<void *>(source), bytes);
      return 0;
    };
    driver.copyRows = [](const CudaCopy2D *copy, CudaStream) -> CudaResult {
      for (size_t row = 0; row < copy->rows; ++row)
        std::memcpy(reinterpret_cast<char *>(copy->targetDevice) +
                        row * copy->targetPitch,
                    reinterpret_cast<char *>(copy->sourceDevice) +
                        row * copy->sourcePitch,
                    copy->rowBytes);
      return 0;
    };
    scope.driver = &driver;
  }
  CudaDriver driver = {};
  CudaScope scope;
};

/// An FP8 matrix whose values are known: small numbers, so that sums are exact.
struct Matrix {
  Matrix(int64_t rows, int64_t columns, fuseopsDType dtype, ScaleKind kind,
         std::mt19937 &random)
      : rows(rows), columns(columns), kind(kind), data(rows * columns) {
    // 1, 1.5, 2, 3 and their negatives, in both formats.
    static constexpr uint8_t kE4M3[] = {0x38, 0x3C, 0x40, 0x44};
    static constexpr uint8_t kE5M2[] = {0x3C, 0x3E, 0x40, 0x42};
    const uint8_t *codes = dtype == FUSEOPS_F8E4M3FN ? kE4M3 : kE5M2;
    for (uint8_t &code : data)
      code = codes[random() % 4] | (random() % 2 ? 0x80 : 0);
    pitch = (columns + 127) / 128;
    scales.resize(countScales(kind, rows, columns, pitch));
    for (float &scale : scales)
      scale = std::ldexp(1.0f, static_cast<int>(random() % 4) - 2);
  }

  double get(int64_t row, int64_t column) const {
    uint8_t code = data[row * columns + column];
    static constexpr double kValues[] = {1, 1.5, 2, 3};
    int index = isE5M2() ? (code & 0x7F) - 0x3C : (code & 0x7F) - 0x38;
    double value = kValues[isE5M2() ? index / 2 : index / 4];
    return (code & 0x80 ? -value : value) * getScale(row, column);
  }

  int64_t rows, columns, pitch;
  ScaleKind kind;
  fuseopsDType dtype = FUSEOPS_F8E4M3FN;
  std::vector<uint8_t> data;
  std::vector<float> scales;

private:
  bool isE5M2() const { return dtype == FUSEOPS_F8E5M2; }
  double getScale(int64_t row, int64_t column) const {
    switch (kind) {
    case ScaleKind::PerTensor:
      return scales[0];
    case ScaleKind::PerRow:
      return scales[row];
    case ScaleKind::Block1x128:
      return scales[column / 128 * rows + row];
    case ScaleKind::Block128x128:
      return scales[row / 128 * pitch + column / 128];
    }
    return 0;
  }
};

/// What a test multiplies.
struct Shape {
  int64_t m, n, k;
};

} // namespace

static const auto *const kEnvironment =
    testing::AddGlobalTestEnvironment(new FakeLibrary());

static double readResult(const std::vector<uint8_t> &bytes, fuseopsDType dtype,
                         int64_t index) {
  uint16_t half;
  float single;
  if (dtype == FUSEOPS_F32) {
    std::memcpy(&single, bytes.data() + 4 * index, 4);
    return single;
  }
  std::memcpy(&half, bytes.data() + 2 * index, 2);
  return dtype == FUSEOPS_F16 ? f16ToFloat(half) : bf16ToFloat(half);
}

static double roundTo(fuseopsDType dtype, double value) {
  auto single = static_cast<float>(value);
  if (dtype == FUSEOPS_F32)
    return single;
  return dtype == FUSEOPS_F16 ? f16ToFloat(floatToF16(single))
                              : bf16ToFloat(floatToBf16(single));
}

/// Runs one product and compares each element; a status other than FUSEOPS_OK
/// is returned.
static fuseopsStatus check(Shape shape, ScaleKind aKind, ScaleKind bKind,
                           fuseopsDType aType, fuseopsDType bType,
                           fuseopsDType outType, bool hasBias) {
  std::mt19937 random(static_cast<unsigned>(shape.m * 1000 + shape.n));
  Matrix a(shape.m, shape.k, aType, aKind, random);
  Matrix b(shape.n, shape.k, bType, bKind, random);
  a.dtype = aType;
  b.dtype = bType;
  std::vector<uint8_t> out(shape.m * shape.n * fuseopsDTypeSize(outType));
  std::vector<float> biasSingle(shape.n);
  std::vector<uint16_t> biasHalf(shape.n);
  for (int64_t i = 0; i < shape.n; ++i) {
    biasSingle[i] = static_cast<float>(i % 7) - 3;
    biasHalf[i] = outType == FUSEOPS_F16 ? floatToF16(biasSingle[i])
                                         : floatToBf16(biasSingle[i]);
  }
  MatmulArguments arguments;
  arguments.a = a.data.data();
  arguments.b = b.data.data();
  if (hasBias)
    arguments.bias = outType == FUSEOPS_F32
                         ? static_cast<void *>(biasSingle.data())
                         : biasHalf.data();
  arguments.out = out.data();
  arguments.aType = aType;
  arguments.bType = bType;
  arguments.outType = arguments.biasType = outType;
  arguments.m = shape.m;
  arguments.n = shape.n;
  arguments.k = shape.k;
  arguments.transposeB = arguments.isScaled = true;
  arguments.aScales = {a.scales.data(), aKind, a.pitch};
  arguments.bScales = {b.scales.data(), bKind, b.pitch};

  HostDriver host;
  size_t bytes = PaddedMatmul(arguments).countBytes();
  std::vector<uint8_t> memory(kWorkspaceBytes + bytes + 256, 0xFF);
  auto address = reinterpret_cast<uintptr_t>(memory.data());
  auto *workspace = reinterpret_cast<char *>((address + 255) / 256 * 256);
  if (fuseopsStatus status =
          runCublasLt(host.scope, arguments, workspace, kWorkspaceBytes,
                      workspace + kWorkspaceBytes, nullptr))
    return status;
  for (int64_t row = 0; row < shape.m; ++row)
    for (int64_t column = 0; column < shape.n; ++column) {
      double sum = hasBias ? biasSingle[column] : 0;
      for (int64_t k = 0; k < shape.k; ++k)
        sum += a.get(row, k) * b.get(column, k);
      EXPECT_EQ(readResult(out, outType, row * shape.n + column),
                roundTo(outType, sum))
          << shape.m << "x" << shape.n << "x" << shape.k << " at " << row
          << ", " << column;
      if (testing::Test::HasFailure())
        return FUSEOPS_OK;
    }
  return FUSEOPS_OK;
}

static const std::pair<ScaleKind, ScaleKind> kPairs[] = {
    {ScaleKind::PerTensor, ScaleKind::PerTensor},
    {ScaleKind::PerRow, ScaleKind::PerRow},
    {ScaleKind::Block1x128, ScaleKind::Block1x128},
    {ScaleKind::Block1x128, ScaleKind::Block128x128},
    {ScaleKind::Block128x128, ScaleKind::Block1x128}};

TEST(CublasLt, EveryPairOfScales) {
  for (auto [aKind, bKind] : kPairs)
    for (Shape shape :
         {Shape{16, 32, 144}, Shape{33, 50, 300}, Shape{1, 16, 16},
          Shape{1, 1, 1}, Shape{130, 140, 7}, Shape{5, 8, 0}})
      for (fuseopsDType outType : {FUSEOPS_BF16, FUSEOPS_F16, FUSEOPS_F32})
        for (bool hasBias : {false, true})
          EXPECT_EQ(check(shape, aKind, bKind, FUSEOPS_F8E4M3FN,
                          FUSEOPS_F8E4M3FN, outType, hasBias),
                    FUSEOPS_OK)
              << fuseopsLastError();
}

TEST(CublasLt, BothFormats) {
  for (auto [aKind, bKind] : kPairs)
    for (auto [aType, bType] : {std::pair(FUSEOPS_F8E4M3FN, FUSEOPS_F8E5M2),
                                std::pair(FUSEOPS_F8E5M2, FUSEOPS_F8E4M3FN)})
      EXPECT_EQ(check({18, 20, 40}, aKind, bKind, aType, bType, FUSEOPS_BF16,
                      /*hasBias=*/false),
                FUSEOPS_OK)
          << fuseopsLastError();
}

TEST(CublasLt, NoRows) {
  EXPECT_EQ(check({0, 16, 16}, ScaleKind::PerRow, ScaleKind::PerRow,
                  FUSEOPS_F8E4M3FN, FUSEOPS_F8E4M3FN, FUSEOPS_BF16, true),
            FUSEOPS_OK);
}

TEST(CublasLt, WithoutAnEpilogueTheBiasIsInTheResultBefore) {
  Setting setting("FAKE_CUBLASLT_NO_BIAS", "1");
  EXPECT_EQ(check({48, 64, 160}, ScaleKind::PerRow, ScaleKind::PerRow,
                  FUSEOPS_F8E4M3FN, FUSEOPS_F8E4M3FN, FUSEOPS_BF16, true),
            FUSEOPS_OK)
      << fuseopsLastError();
}

TEST(CublasLt, SaysWhatItLacks) {
  EXPECT_EQ(check({32, 32, 32}, ScaleKind::PerTensor, ScaleKind::PerRow,
                  FUSEOPS_F8E4M3FN, FUSEOPS_F8E5M2, FUSEOPS_BF16, false),
            FUSEOPS_UNAVAILABLE);
  EXPECT_STREQ(fuseopsLastError(),
               "cuBLASLt has no 32 x 32 x 32 product of f8E4M3FN and f8E5M2 "
               "with scales per_tensor and per_row that gives bf16 (status "
               "15)");
}

TEST(CublasLt, OlderLibrariesHaveOneScaleATensor) {
  Setting setting("FAKE_CUBLASLT_VERSION", "120500");
  auto multiply = [](ScaleKind kind) {
    return check({64, 32, 32}, kind, kind, FUSEOPS_F8E4M3FN, FUSEOPS_F8E4M3FN,
                 FUSEOPS_F16, false);
  };
  EXPECT_EQ(multiply(ScaleKind::PerTensor), FUSEOPS_OK) << fuseopsLastError();
  EXPECT_EQ(multiply(ScaleKind::PerRow), FUSEOPS_UNAVAILABLE);
  EXPECT_STREQ(fuseopsLastError(),
               "expected cuBLASLt 12.9 or later, which multiplies FP8 with "
               "scales of rows and of blocks, but got version 12.5.0");
}
