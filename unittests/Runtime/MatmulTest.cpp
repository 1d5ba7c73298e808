//===- MatmulTest.cpp - Matrix products against a plain loop -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Matmul.h"
#include "SmallFloat.h"

#include "gtest/gtest.h"

#include <chrono>
#include <random>
#include <vector>

using namespace fuseops::runtime;

namespace {

/// Elements of one type, read and written as doubles.
struct Buffer {
  Buffer(fuseopsDType dtype, int64_t elements)
      : dtype(dtype), bytes(elements * fuseopsDTypeSize(dtype) + 1) {}

  double get(int64_t i) const {
    switch (dtype) {
    case FUSEOPS_F64:
      return reinterpret_cast<const double *>(bytes.data())[i];
    case FUSEOPS_F32:
      return reinterpret_cast<const float *>(bytes.data())[i];
    case FUSEOPS_F16:
      return f16ToFloat(reinterpret_cast<const uint16_t *>(bytes.data())[i]);
    default:
      return bf16ToFloat(reinterpret_cast<const uint16_t *>(bytes.data())[i]);
    }
  }
  void set(int64_t i, double value) {
    switch (dtype) {
    case FUSEOPS_F64:
      reinterpret_cast<double *>(bytes.data())[i] = value;
      break;
    case FUSEOPS_F32:
      reinterpret_cast<float *>(bytes.data())[i] = static_cast<float>(value);
      break;
    case FUSEOPS_F16:
      reinterpret_cast<uint16_t *>(bytes.data())[i] =
          floatToF16(doubleToFloatOdd(value));
      break;
    default:
      reinterpret_cast<uint16_t *>(bytes.data())[i] =
          floatToBf16(doubleToFloatOdd(value));
    }
  }

  fuseopsDType dtype;
  std::vector<char> bytes;
};

/// A product with random operands and what it should give.
struct Product {
  Product(int64_t m, int64_t n, int64_t k, fuseopsDType operands,
          fuseopsDType result, bool hasBias, bool transposeA, bool transposeB)
      : a(operands, m * k), b(operands, k * n), bias(result, n),
        out(result, m * n) {
    std::mt19937 random(static_cast<unsigned>(m * 31 + n * 7 + k));
    std::uniform_real_distribution<double> values(-1, 1);
    for (int64_t i = 0; i < m * k; ++i)
      a.set(i, values(random));
    for (int64_t i = 0; i < k * n; ++i)
      b.set(i, values(random));
    for (int64_t i = 0; i < n; ++i)
      bias.set(i, values(random));
    for (int64_t i = 0; i < m * n; ++i)
      out.set(i, 777);
    arguments = {a.bytes.data(),
                 b.bytes.data(),
                 hasBias ? bias.bytes.data() : nullptr,
                 out.bytes.data(),
                 operands,
                 operands,
                 result,
                 result,
                 m,
                 n,
                 k,
                 transposeA,
                 transposeB};
  }

  /// Writes what element (i, j) should be, and the sum of its terms' sizes.
  void compute(int64_t i, int64_t j, double &sum, double &size) const {
    sum = arguments.bias ? bias.get(j) : 0;
    size = std::fabs(sum);
    for (int64_t l = 0; l < arguments.k; ++l) {
      double term = a.get(arguments.transposeA ? l * arguments.m + i
                                               : i * arguments.k + l) *
                    b.get(arguments.transposeB ? j * arguments.k + l
                                               : l * arguments.n + j);
      sum += term;
      size += std::fabs(term);
    }
  }

  /// Allows half a unit of the result's last place for its rounding, and the
  /// accumulator's rounding of each sum.
  void check() const {
    static constexpr double unit[] = {0x1p-53, 0x1p-24, 0x1p-11, 0x1p-8};
    // Below its normal range, f16 has steps of 2^-24.
    static constexpr double smallest[] = {0, 0, 0x1p-25, 0};
    double accumulator = arguments.aType == FUSEOPS_F64 ? 0x1p-53 : 0x1p-24;
    for (int64_t i = 0; i < arguments.m; ++i)
      for (int64_t j = 0; j < arguments.n; ++j) {
        double want, size, got = out.get(i * arguments.n + j);
        compute(i, j, want, size);
        double tolerance =
            (arguments.k + 2) * accumulator * size +
            std::max(std::fabs(want) * unit[arguments.outType] * 1.01,
                     smallest[arguments.outType]);
        ASSERT_NEAR(got, want, tolerance)
            << arguments.m << "x" << arguments.n << "x" << arguments.k << " at "
            << i << "," << j << " of " << fuseopsDTypeName(arguments.aType)
            << " to " << fuseopsDTypeName(arguments.outType);
      }
  }

  Buffer a, b, bias, out;
  MatmulArguments arguments;
};

constexpr int64_t kShapes[][3] = {
    {0, 0, 0},       {0, 3, 2},     {3, 0, 2},   {2, 3, 0},     {1, 1, 1},
    {1, 17, 5},      {9, 1, 3},     {8, 32, 16}, {13, 33, 129}, {65, 70, 1},
    {129, 130, 131}, {5, 257, 300}, {300, 5, 40}};
constexpr fuseopsDType kTypes[] = {FUSEOPS_F64, FUSEOPS_F32, FUSEOPS_F16,
                                   FUSEOPS_BF16};

} // namespace

TEST(Matmul, OwnAgainstPlainLoop) {
  for (const auto &shape : kShapes)
    for (fuseopsDType operands : kTypes)
      for (fuseopsDType result : kTypes)
        for (int flags = 0; flags < 8; ++flags) {
          Product product(shape[0], shape[1], shape[2], operands, result,
                          flags & 1, flags & 2, flags & 4);
          runOwnMatmul(product.arguments);
          product.check();
        }
}

TEST(Matmul, OwnWithMixedOperands) {
  for (fuseopsDType aType : kTypes)
    for (fuseopsDType bType : kTypes) {
      Product product(7, 9, 11, aType, FUSEOPS_F32, true, false, true);
      Buffer b(bType, 9 * 11);
      for (int64_t i = 0; i < 9 * 11; ++i) {
        // Values that every type holds.
        b.set(i, static_cast<double>(i % 8) / 4);
        product.b.set(i, static_cast<double>(i % 8) / 4);
      }
      product.arguments.b = b.bytes.data();
      product.arguments.bType = bType;
      runOwnMatmul(product.arguments);
      product.check();
    }
}

TEST(Matmul, OneDnnAgainstPlainLoop) {
  if (!isOneDnnAvailable())
    GTEST_SKIP() << "oneDNN was not found";
  int numRun = 0;
  for (const auto &shape : kShapes)
    for (fuseopsDType operands : kTypes)
      for (fuseopsDType result : kTypes)
        for (int flags = 0; flags < 8; ++flags) {
          Product product(shape[0], shape[1], shape[2], operands, result,
                          flags & 1, flags & 2, flags & 4);
          if (!runOneDnnMatmul(product.arguments))
            continue;
          ++numRun;
          product.check();
        }
  // f32 at least.
  EXPECT_GT(numRun, 50);
}

TEST(Matmul, NegativeZeroAndInfinity) {
  float a[2] = {-0.0f, INFINITY}, b[1] = {1}, out[2];
  MatmulArguments arguments;
  arguments.a = a;
  arguments.b = b;
  arguments.out = out;
  arguments.m = 2;
  arguments.n = arguments.k = 1;
  runOwnMatmul(arguments);
  EXPECT_EQ(out[1], INFINITY);
  EXPECT_EQ(out[0], 0);
}

TEST(SmallFloat, F16RoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = f16ToFloat(static_cast<uint16_t>(bits));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(f16ToFloat(floatToF16(value))));
    else
      EXPECT_EQ(floatToF16(value), bits);
  }
}

TEST(SmallFloat, F16Rounding) {
  EXPECT_EQ(floatToF16(65519.9f), 0x7bff);
  EXPECT_EQ(floatToF16(65520.0f), 0x7c00);
  EXPECT_EQ(floatToF16(0x1p-25f), 0); // A tie, to even.
  EXPECT_EQ(floatToF16(0x1.8p-25f), 1);
  EXPECT_EQ(floatToF16(1 + 0x1p-11f), 0x3c00); // A tie, to even.
  EXPECT_EQ(floatToF16(1 + 0x3p-11f), 0x3c02); // A tie, to even.
  EXPECT_EQ(floatToF16(-0x1.ff8p-15f), 0x83ff);
}

TEST(SmallFloat, Bf16) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = bf16ToFloat(static_cast<uint16_t>(bits));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBf16(value))));
    else
      EXPECT_EQ(floatToBf16(value), bits);
  }
  EXPECT_EQ(floatToBf16(1 + 0x1p-8f), 0x3f80); // A tie, to even.
  EXPECT_EQ(floatToBf16(1 + 0x3p-8f), 0x3f82);
  EXPECT_EQ(floatToBf16(3.4e38f), 0x7f80);
}

// Rounding twice would give 1, the tie's even neighbour.
TEST(SmallFloat, DoubleIsRoundedOnce) {
  double value = 1 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(floatToBf16(doubleToFloatOdd(value)), 0x3f81);
  EXPECT_EQ(floatToBf16(doubleToFloatOdd(-value)), 0xbf81);
  EXPECT_EQ(floatToBf16(doubleToFloatOdd(1e300)), 0x7f80);
  EXPECT_EQ(floatToF16(doubleToFloatOdd(1 + 0x1p-11 - 0x1p-40)), 0x3c00);
}

// Printed, not checked: speed depends on the machine.
TEST(Matmul, Speed) {
  for (fuseopsDType dtype : kTypes) {
    constexpr int64_t size = 512;
    Product product(size, size, size, dtype, dtype, false, false, true);
    auto time = [&](auto &&run) {
      run();
      auto begin = std::chrono::steady_clock::now();
      run();
      std::chrono::duration<double> seconds =
          std::chrono::steady_clock::now() - begin;
      return 2e-9 * size * size * size / seconds.count();
    };
    double own = time([&] { runOwnMatmul(product.arguments); });
    double library = 0;
    if (runOneDnnMatmul(product.arguments))
      library = time([&] { runOneDnnMatmul(product.arguments); });
    std::printf("%s: own %.1f GFLOP/s, oneDNN %.1f GFLOP/s\n",
                fuseopsDTypeName(dtype), own, library);
  }
}
