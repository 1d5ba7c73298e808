//===- Fp8Test.cpp - Small float casts against APFloat --------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernels.h"

#include "llvm/ADT/APFloat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::fuseops;
using llvm::APFloat;

namespace {

struct Format {
  const char *type;
  unsigned width;
  const llvm::fltSemantics &semantics;
};

const Format kFormats[] = {
    {"f8E4M3FN", 8, APFloat::Float8E4M3FN()},
    {"f8E5M2", 8, APFloat::Float8E5M2()},
    {"f8E8M0FNU", 8, APFloat::Float8E8M0FNU()},
    {"f16", 16, APFloat::IEEEhalf()},
    {"bf16", 16, APFloat::BFloat()},
};

/// Kernels `to_<type>`, `to64_<type>`, `from_<type>`: codes in i16 memory for
/// every format, so that one test body serves all.
std::string castKernels(unsigned width) {
  std::string text;
  for (const Format &format : kFormats) {
    std::string type = format.type;
    bool isByte = format.width == 8;
    std::string store =
        isByte ? "%c = arith.bitcast %t : VT(" + type + ") to VT(i8)\n" +
                     "%y = arith.extui %c : VT(i8) to VT(i16)"
               : "%y = arith.bitcast %t : VT(" + type + ") to VT(i16)";
    std::string load =
        isByte ? "%c = arith.trunci %x : VT(i16) to VT(i8)\n%t = arith.bitcast "
                 "%c : VT(i8) to VT(" +
                     type + ")\n"
               : "%t = arith.bitcast %x : VT(i16) to VT(" + type + ")\n";
    text += mapKernel(
        "to_" + type, "f32", "i16",
        "%t = arith.truncf %x : VT(f32) to VT(" + type + ")\n" + store, width);
    text += mapKernel(
        "to64_" + type, "f64", "i16",
        "%t = arith.truncf %x : VT(f64) to VT(" + type + ")\n" + store, width);
    text += mapKernel("from_" + type, "i16", "f32",
                      load + "%y = arith.extf %t : VT(" + type + ") to VT(f32)",
                      width);
    text += mapKernel("from64_" + type, "i16", "f64",
                      load + "%y = arith.extf %t : VT(" + type + ") to VT(f64)",
                      width);
  }
  return text;
}

struct Expected {
  uint64_t code;
  bool isNaN;
};

Expected convert(APFloat value, const Format &format) {
  bool losesInfo;
  value.convert(format.semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return {value.bitcastToAPInt().getZExtValue(), value.isNaN()};
}

bool isNaNCode(uint64_t code, const Format &format) {
  return APFloat(format.semantics, llvm::APInt(format.width, code)).isNaN();
}

/// A negative number or zero has no code in f8E8M0FNU, and nothing to say
/// there.
bool isMeaningful(double value, const Format &format) {
  return StringRef(format.type) != "f8E8M0FNU" || value > 0 ||
         std::isnan(value);
}

template <typename Real>
void checkTruncation(const OpenedKernels &kernels, const std::string &name,
                     const Format &format, const std::vector<Real> &inputs) {
  std::vector<uint16_t> codes =
      kernels.map<Real, uint16_t>(name.c_str(), inputs);
  size_t wrong = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!isMeaningful(inputs[i], format))
      continue;
    Expected expected = convert(APFloat(inputs[i]), format);
    bool same = expected.isNaN ? isNaNCode(codes[i], format)
                               : codes[i] == expected.code;
    if (same || ++wrong > 5)
      continue;
    char hex[64];
    std::snprintf(hex, sizeof hex, "%a", double(inputs[i]));
    ADD_FAILURE() << name << "(" << hex << ") gives " << codes[i]
                  << ", but expected " << expected.code;
  }
  EXPECT_EQ(wrong, 0u) << name << " of " << inputs.size();
}

std::vector<float> floatInputs() {
  std::vector<float> inputs = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f};
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 2039) {
    uint32_t pattern = uint32_t(bits);
    float value;
    std::memcpy(&value, &pattern, sizeof value);
    inputs.push_back(value);
  }
  return inputs;
}

/// Each finite value, each point half way to the next, and their neighbours.
template <typename Real>
std::vector<Real> halfwayInputs(const Format &format) {
  std::vector<Real> inputs;
  for (unsigned code = 0; code < (1u << format.width); ++code) {
    APFloat value(format.semantics, llvm::APInt(format.width, code));
    APFloat next = value;
    if (value.isNaN() || value.isInfinity())
      continue;
    if (code + 1 < (1u << format.width))
      next = APFloat(format.semantics, llvm::APInt(format.width, code + 1));
    double a = value.convertToDouble();
    double b = next.isFinite() ? next.convertToDouble() : a * 1.0625;
    double half = a + (b - a) / 2;
    for (double x : {a, half, 2 * b - a}) {
      Real point = Real(x);
      inputs.push_back(point);
      inputs.push_back(std::nextafter(point, Real(INFINITY)));
      inputs.push_back(std::nextafter(point, -Real(INFINITY)));
    }
    // f32 would round these to the tie, and the tie to even: once too often.
    inputs.push_back(Real(half * (1 + 0x1p-40)));
    inputs.push_back(Real(half * (1 - 0x1p-40)));
  }
  return inputs;
}

class Fp8Test : public ::testing::TestWithParam<const char *> {};

TEST_P(Fp8Test, CastsAgreeWithAPFloat) {
  TestContext context;
  OwningOpRef<ModuleOp> module = context.parse(castKernels(16));
  OpenedKernels kernels(context, *module, GetParam());
  ASSERT_TRUE(kernels.isOpen());
  std::vector<float> sweep = floatInputs();
  ASSERT_GE(sweep.size(), size_t(1) << 20);
  for (const Format &format : kFormats) {
    std::string type = format.type;
    checkTruncation(kernels, "to_" + type, format, sweep);
    checkTruncation(kernels, "to_" + type, format,
                    halfwayInputs<float>(format));
    std::vector<double> points = halfwayInputs<double>(format);
    for (double x : {0x1p-150, 0x1.8p-150, 0x1p-1074, 1e300, -1e300, 0x1p+128,
                     0x1.fffffefp+127, double(NAN), double(INFINITY)})
      points.push_back(x);
    checkTruncation(kernels, "to64_" + type, format, points);

    std::vector<uint16_t> codes;
    for (unsigned code = 0; code < (1u << format.width); ++code)
      codes.push_back(uint16_t(code));
    auto singles =
        kernels.map<uint16_t, float>(("from_" + type).c_str(), codes);
    auto doubles =
        kernels.map<uint16_t, double>(("from64_" + type).c_str(), codes);
    for (unsigned code : codes) {
      APFloat value(format.semantics, llvm::APInt(format.width, code));
      if (value.isNaN()) {
        EXPECT_TRUE(std::isnan(singles[code])) << type << " " << code;
        EXPECT_TRUE(std::isnan(doubles[code])) << type << " " << code;
        continue;
      }
      EXPECT_EQ(doubles[code], value.convertToDouble()) << type << " " << code;
      EXPECT_EQ(double(singles[code]), doubles[code]) << type << " " << code;
      EXPECT_EQ(std::signbit(singles[code]), value.isNegative());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Fp8Test,
                         ::testing::Values("native", "x86-64-v2", "x86-64-v3"));

TEST(Fp8, OddWidthsAndScalars) {
  for (unsigned width : {0u, 1u, 3u}) {
    TestContext context;
    OwningOpRef<ModuleOp> module = context.parse(castKernels(width));
    OpenedKernels kernels(context, *module, "native");
    ASSERT_TRUE(kernels.isOpen());
    std::vector<float> inputs = {0.3f, -448.0f, 1e-3f};
    for (const Format &format : kFormats) {
      std::vector<float> padded(48, inputs[width % 3]);
      checkTruncation(kernels, std::string("to_") + format.type, format,
                      padded);
    }
  }
}

TEST(Fp8, CanonicalNaN) {
  TestContext context;
  OwningOpRef<ModuleOp> module = context.parse(castKernels(16));
  OpenedKernels kernels(context, *module, "native");
  ASSERT_TRUE(kernels.isOpen());
  std::vector<float> nans = {NAN, -NAN};
  std::vector<uint16_t> expected = {0x7f, 0x7f};
  EXPECT_EQ((kernels.map<float, uint16_t>("to_f8E4M3FN", nans)), expected);
  EXPECT_EQ((kernels.map<float, uint16_t>("to_f8E5M2", nans)), expected);
}

} // namespace
