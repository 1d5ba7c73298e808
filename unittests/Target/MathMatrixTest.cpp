//===- MathMatrixTest.cpp - Every scalar operation on both targets --------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All of `math` and of `arith` on floats and integers, on f32 and f64, scalars
// and vectors: run on the CPU against libm, compiled for CUDA.
//
//===----------------------------------------------------------------------===//

#include "TestKernels.h"

#include "FuseOps/Target/NVPTX.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

using namespace mlir;
using namespace mlir::fuseops;

namespace {

/// An operation, its value in a wider type, and the ulp that it may be off.
struct Unary {
  const char *op;
  long double (*f)(long double);
  double ulp;
};

long double rsqrtOf(long double x) { return 1 / std::sqrt(x); }
long double negOf(long double x) { return -x; }
long double evenOf(long double x) { return std::nearbyint(x); }

const Unary kUnary[] = {
    {"arith.negf", negOf, 0},      {"math.absf", std::fabs, 0},
    {"math.acos", std::acos, 2},   {"math.acosh", std::acosh, 4},
    {"math.asin", std::asin, 2},   {"math.asinh", std::asinh, 4},
    {"math.atan", std::atan, 2},   {"math.atanh", std::atanh, 4},
    {"math.cbrt", std::cbrt, 3},   {"math.ceil", std::ceil, 0},
    {"math.cos", std::cos, 2},     {"math.cosh", std::cosh, 4},
    {"math.erf", std::erf, 2},     {"math.erfc", std::erfc, 5},
    {"math.exp", std::exp, 2},     {"math.exp2", std::exp2, 2},
    {"math.expm1", std::expm1, 2}, {"math.floor", std::floor, 0},
    {"math.log", std::log, 2},     {"math.log10", std::log10, 3},
    {"math.log1p", std::log1p, 2}, {"math.log2", std::log2, 3},
    {"math.round", std::round, 0}, {"math.roundeven", evenOf, 0},
    {"math.rsqrt", rsqrtOf, 1.6},  {"math.sin", std::sin, 2},
    {"math.sinh", std::sinh, 4},   {"math.sqrt", std::sqrt, 0.51},
    {"math.tan", std::tan, 3},     {"math.tanh", std::tanh, 4},
    {"math.trunc", std::trunc, 0},
};

struct Binary {
  const char *op;
  long double (*f)(long double, long double);
  double ulp;
};

bool isAnyNaN(long double x, long double y) {
  return std::isnan(x) || std::isnan(y);
}
/// IEEE's: -0 is less than 0.
long double maximumOf(long double x, long double y) {
  if (isAnyNaN(x, y))
    return NAN;
  return x == y ? (std::signbit(x) ? y : x) : std::fmax(x, y);
}
long double minimumOf(long double x, long double y) {
  if (isAnyNaN(x, y))
    return NAN;
  return x == y ? (std::signbit(x) ? x : y) : std::fmin(x, y);
}
long double addOf(long double x, long double y) { return x + y; }
long double subOf(long double x, long double y) { return x - y; }
long double mulOf(long double x, long double y) { return x * y; }
long double divOf(long double x, long double y) { return x / y; }

const Binary kBinary[] = {
    {"arith.addf", addOf, 0.51},         {"arith.subf", subOf, 0.51},
    {"arith.mulf", mulOf, 0.51},         {"arith.divf", divOf, 0.51},
    {"arith.remf", std::fmod, 0},        {"arith.maximumf", maximumOf, 0},
    {"arith.minimumf", minimumOf, 0},    {"arith.maxnumf", std::fmax, 0},
    {"arith.minnumf", std::fmin, 0},     {"math.atan2", std::atan2, 2},
    {"math.copysign", std::copysign, 0}, {"math.powf", std::pow, 2},
};

const double kConstants[] = {2, -1.5,     0.3,       -3,  1e-30, 40,   0,
                             1, INFINITY, -INFINITY, NAN, -0.0,  -0.5, 1e30};

template <typename T>
std::vector<T> makeInputs() {
  std::vector<T> inputs = {T(0),
                           T(-0.0),
                           T(INFINITY),
                           T(-INFINITY),
                           T(NAN),
                           std::numeric_limits<T>::denorm_min(),
                           -std::numeric_limits<T>::denorm_min(),
                           std::numeric_limits<T>::min(),
                           std::numeric_limits<T>::max(),
                           std::numeric_limits<T>::lowest()};
  for (double x : {0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 0.999999, 1.0000005})
    inputs.insert(inputs.end(), {T(x), T(-x)});
  for (int i = -300; i <= 300; ++i)
    inputs.push_back(T(i) * T(0.0773));
  for (int e = -44; e <= 38; ++e)
    inputs.insert(inputs.end(), {T(std::pow(10.0, e)) * T(1.7),
                                 -T(std::pow(10.0, e)) * T(2.3)});
  return inputs;
}

template <typename T>
double errorInUlp(T got, long double expected) {
  if (std::isnan(expected) || std::isnan(got))
    return std::isnan(expected) && std::isnan(got) ? 0 : INFINITY;
  T rounded = T(expected);
  if (rounded == got)
    return std::signbit(rounded) == std::signbit(got) ? 0 : INFINITY;
  if (std::isinf(got)) // beside the largest finite value
    return std::fabs(expected) > 0.9999999L * std::numeric_limits<T>::max() &&
                   std::signbit(got) == std::signbit(rounded)
               ? 1
               : INFINITY;
  int exponent;
  std::frexp(expected, &exponent);
  int lowest = std::numeric_limits<T>::min_exponent;
  long double unit = std::ldexp(1.0L, std::max(exponent, lowest) -
                                          std::numeric_limits<T>::digits);
  return double(std::fabs((long double)(got)-expected) / unit);
}

/// `dense<…>` or the number, as text with all digits.
std::string spell(double value, StringRef type, unsigned width) {
  char digits[64];
  if (std::isnan(value) || std::isinf(value)) {
    bool isF32 = type == "f32";
    uint64_t bits = 0;
    if (isF32) {
      float narrow = float(value);
      std::memcpy(&bits, &narrow, sizeof narrow);
    } else {
      std::memcpy(&bits, &value, sizeof value);
    }
    std::snprintf(digits, sizeof digits, "0x%0*llX", isF32 ? 8 : 16,
                  static_cast<unsigned long long>(bits));
  } else {
    std::snprintf(digits, sizeof digits, "%.17e", value);
  }
  return width ? "dense<" + std::string(digits) + ">" : digits;
}

/// `name` without its dialect and dots.
std::string kernelName(StringRef op, unsigned index) {
  return "k_" + op.split('.').second.str() + "_" + std::to_string(index);
}

std::string unaryKernels(StringRef type, unsigned width) {
  std::string text;
  for (const Unary &unary : kUnary)
    text += mapKernel(kernelName(unary.op, 0), type, type,
                      std::string("%y = ") + unary.op + " %x : VT(" +
                          type.str() + ")",
                      width);
  return text;
}

/// x op c and c op x for each of the first `count` constants c.
std::string binaryKernels(StringRef type, unsigned width,
                          unsigned count = std::size(kConstants)) {
  std::string text, vt = " : VT(" + type.str() + ")\n";
  for (const Binary &binary : kBinary)
    for (unsigned i = 0; i < 2 * count; ++i)
      text += mapKernel(
          kernelName(binary.op, i), type, type,
          "%c = arith.constant " + spell(kConstants[i / 2], type, width) + vt +
              "%y = " + binary.op + (i % 2 ? " %c, %x" : " %x, %c") + vt,
          width);
  return text;
}

/// What has another signature, as kernels from x to 1, 0 or a float.
struct Other {
  const char *name;
  const char *body; // with T for the type, and B for i1
  long double (*f)(long double);
};

long double fmaOf(long double x) { return x * 3 + x; }
long double clampOf(long double x) {
  return std::isnan(x) ? x : std::fmin(std::fmax(x, -1.5L), 2.0L);
}
long double cubeOf(long double x) { return x * x * x; }
long double inverseOf(long double x) { return 1 / (x * x); }
long double sincosOf(long double x) { return std::sin(x) * std::cos(x); }
long double isNaNOf(long double x) { return std::isnan(x); }
long double isInfOf(long double x) { return std::isinf(x); }
long double isFiniteOf(long double x) { return std::isfinite(x); }
long double hypotOf(long double x) { return std::hypot(x, 2.0L); }

const Other kOthers[] = {
    {"fma", "%c = arith.constant {3} : VT(T)\n%y = math.fma %x, %c, %x : VT(T)",
     fmaOf},
    {"clampf",
     "%c = arith.constant {-1.5} : VT(T)\n%d = arith.constant {2} : VT(T)\n"
     "%y = math.clampf %x to [%c, %d] : VT(T)",
     clampOf},
    {"fpowi",
     "%e = arith.constant [3] : VT(i32)\n%y = math.fpowi %x, %e : VT(T), "
     "VT(i32)",
     cubeOf},
    {"fpowi_negative",
     "%e = arith.constant [-2] : VT(i32)\n%y = math.fpowi %x, %e : VT(T), "
     "VT(i32)",
     inverseOf},
    {"sincos",
     "%s, %d = math.sincos %x : VT(T)\n%y = arith.mulf %s, %d : VT(T)",
     sincosOf},
    {"isnan",
     "%b = math.isnan %x : VT(T)\n%y = arith.uitofp %b : VT(i1) to VT(T)",
     isNaNOf},
    {"isinf",
     "%b = math.isinf %x : VT(T)\n%y = arith.uitofp %b : VT(i1) to VT(T)",
     isInfOf},
    {"isnormal",
     "%b = math.isnormal %x : VT(T)\n%y = arith.uitofp %b : VT(i1) to VT(T)",
     nullptr},
    {"isfinite",
     "%b = math.isfinite %x : VT(T)\n%y = arith.uitofp %b : VT(i1) to VT(T)",
     isFiniteOf},
    {"hypot",
     "%c = arith.constant {2} : VT(T)\n%y = fuseops.special hypot(%x, %c) : "
     "VT(T)",
     hypotOf},
};

std::string otherKernels(StringRef type, unsigned width) {
  std::string text;
  for (const Other &other : kOthers) {
    std::string body;
    for (StringRef rest = other.body; !rest.empty();) {
      if (rest.consume_front("VT(T)")) {
        body += "VT(" + type.str() + ")";
      } else if (rest.consume_front("{")) {
        auto [number, after] = rest.split('}');
        double value;
        (void)number.getAsDouble(value);
        body += spell(value, type, width);
        rest = after;
      } else if (rest.consume_front("[")) {
        auto [number, after] = rest.split(']');
        // `clampf … to [low, high]` has names in its brackets.
        int64_t value;
        if (number.getAsInteger(10, value))
          body += "[" + number.str() + "]";
        else
          body += width ? "dense<" + number.str() + ">" : number.str();
        rest = after;
      } else {
        body += rest.front();
        rest = rest.drop_front();
      }
    }
    text += mapKernel(std::string("o_") + other.name, type, type, body, width);
  }
  return text;
}

template <typename T>
void checkCPU(StringRef type, unsigned width) {
  TestContext context;
  OwningOpRef<ModuleOp> module =
      context.parse(unaryKernels(type, width) + binaryKernels(type, width) +
                    otherKernels(type, width));
  ASSERT_TRUE(module);
  OpenedKernels kernels(context, *module, "native");
  ASSERT_TRUE(kernels.isOpen());
  std::vector<T> inputs = makeInputs<T>();
  auto check = [&](const std::string &kernel, double ulp,
                   function_ref<long double(long double)> f) {
    std::vector<T> results = kernels.map<T, T>(kernel.c_str(), inputs);
    for (size_t i = 0; i < inputs.size(); ++i) {
      // Which zero maxnum and minnum give is open.
      bool isZero = StringRef(kernel).contains("num") && results[i] == 0 &&
                    f(inputs[i]) == 0;
      double error = isZero ? 0 : errorInUlp(results[i], f(inputs[i]));
      if (error > ulp) {
        ADD_FAILURE() << kernel << " on " << type.str() << " x " << width
                      << " of " << inputs[i] << " gives " << results[i]
                      << ", but expected " << f(inputs[i]) << " (" << error
                      << " ulp)";
        break;
      }
    }
  };
  for (const Unary &unary : kUnary)
    check(kernelName(unary.op, 0), unary.ulp, unary.f);
  for (const Binary &binary : kBinary)
    for (unsigned i = 0; i < 2 * std::size(kConstants); ++i) {
      long double c = T(kConstants[i / 2]);
      check(kernelName(binary.op, i), binary.ulp, [&](long double x) {
        return i % 2 ? binary.f(c, x) : binary.f(x, c);
      });
    }
  for (const Other &other : kOthers)
    check(std::string("o_") + other.name, 3, [&](long double x) {
      // Whether it is normal depends on the type.
      return other.f ? other.f(x) : std::isnormal(T(x));
    });
}

TEST(MathMatrix, CPUInF32) {
  for (unsigned width : {0u, 16u})
    checkCPU<float>("f32", width);
}

TEST(MathMatrix, CPUInF64) {
  for (unsigned width : {0u, 8u})
    checkCPU<double>("f64", width);
}

TEST(MathMatrix, CUDA) {
  for (const char *type : {"f32", "f64"})
    for (unsigned width : {0u, 2u}) {
      TestContext context;
      OwningOpRef<ModuleOp> module = context.parse(
          unaryKernels(type, width) + binaryKernels(type, width, 1) +
          otherKernels(type, width));
      ASSERT_TRUE(module);
      ASSERT_TRUE(succeeded(
          convertKernelToLLVM(*module, *KernelTarget::cuda("sm_90a"))))
          << context.getDiagnostics();
      FailureOr<std::string> ptx = translateToPTX(
          *module, "sm_90a", AssemblerOptions::fromEnvironment());
      ASSERT_TRUE(succeeded(ptx)) << context.getDiagnostics();
      EXPECT_EQ(ptx->find(".extern .func"), std::string::npos);
    }
}

TEST(MathMatrix, NarrowTypesOnCUDAComputeInF32) {
  for (const char *type : {"f16", "bf16"}) {
    TestContext context;
    OwningOpRef<ModuleOp> module = context.parse(unaryKernels(type, 2));
    ASSERT_TRUE(module);
    EXPECT_TRUE(
        succeeded(convertKernelToLLVM(*module, *KernelTarget::cuda("sm_90a"))))
        << context.getDiagnostics();
    EXPECT_TRUE(succeeded(
        translateToPTX(*module, "sm_90a", AssemblerOptions::fromEnvironment())))
        << context.getDiagnostics();
  }
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Both operands are the input: x, and a constant.
struct Integer {
  const char *op;
  std::function<__int128(__int128, __int128, unsigned)> f;
};

__int128 truncate(__int128 value, unsigned bits) {
  unsigned __int128 mask = (static_cast<unsigned __int128>(1) << bits) - 1;
  unsigned __int128 low = static_cast<unsigned __int128>(value) & mask;
  bool isNegative = (low >> (bits - 1)) & 1;
  return isNegative ? __int128(low | ~mask) : __int128(low);
}

__int128 unsignedOf(__int128 value, unsigned bits) {
  return value & ((static_cast<__int128>(1) << bits) - 1);
}

__int128 powerOf(__int128 x, __int128 n, unsigned bits) {
  if (n < 0)
    return x == 1 ? 1 : x == -1 ? (n % 2 ? -1 : 1) : 0;
  __int128 result = 1;
  for (; n; --n)
    result = truncate(result * x, bits);
  return result;
}

const Integer kIntegers[] = {
    {"arith.divsi", [](auto x, auto y, auto) { return y ? x / y : 0; }},
    {"arith.remsi", [](auto x, auto y, auto) { return y ? x % y : 0; }},
    {"arith.divui",
     [](auto x, auto y, auto b) {
       return y ? unsignedOf(x, b) / unsignedOf(y, b) : 0;
     }},
    {"arith.remui",
     [](auto x, auto y, auto b) {
       return y ? unsignedOf(x, b) % unsignedOf(y, b) : 0;
     }},
    {"arith.floordivsi",
     [](auto x, auto y, auto) {
       return y ? x / y - (x % y && (x < 0) != (y < 0)) : 0;
     }},
    {"arith.ceildivsi",
     [](auto x, auto y, auto) {
       return y ? x / y + (x % y && (x < 0) == (y < 0)) : 0;
     }},
    {"arith.ceildivui",
     [](auto x, auto y, auto b) {
       auto u = unsignedOf(x, b), v = unsignedOf(y, b);
       return v ? u / v + (u % v != 0) : 0;
     }},
    {"arith.andi", [](auto x, auto y, auto) { return x & y; }},
    {"arith.ori", [](auto x, auto y, auto) { return x | y; }},
    {"arith.xori", [](auto x, auto y, auto) { return x ^ y; }},
    {"arith.maxsi", [](auto x, auto y, auto) { return std::max(x, y); }},
    {"arith.minui",
     [](auto x, auto y, auto b) {
       return std::min(unsignedOf(x, b), unsignedOf(y, b));
     }},
    {"math.ipowi", powerOf},
};

template <typename T>
void checkIntegers(StringRef type, unsigned width) {
  constexpr unsigned kBits = 8 * sizeof(T);
  T lowest = std::numeric_limits<T>::min(), largest = ~lowest;
  const T constants[] = {0, 1, -1, 3, -7, lowest, largest, 5};
  std::string text, vt = " : VT(" + type.str() + ")\n";
  for (const Integer &integer : kIntegers)
    for (unsigned i = 0; i < 2 * std::size(constants); ++i) {
      std::string c = std::to_string(constants[i / 2]);
      text += mapKernel(
          kernelName(integer.op, i), type, type,
          "%c = arith.constant " + (width ? "dense<" + c + ">" : c) + vt +
              "%y = " + integer.op + (i % 2 ? " %c, %x" : " %x, %c") + vt,
          width);
    }
  for (const char *op : {"math.ctlz", "math.cttz", "math.ctpop", "math.absi"})
    text += mapKernel(kernelName(op, 0), type, type,
                      "%y = " + std::string(op) + " %x" + vt, width);
  TestContext context;
  OwningOpRef<ModuleOp> module = context.parse(text);
  ASSERT_TRUE(module);
  OwningOpRef<ModuleOp> forCUDA = module->clone();
  OpenedKernels kernels(context, *module, "native");
  ASSERT_TRUE(kernels.isOpen());
  std::vector<T> inputs = {0, 1, 2, 3, 7, 10, 100, largest, lowest};
  for (size_t i = 0; i < 9; ++i)
    inputs.push_back(T(-inputs[i]));
  for (const Integer &integer : kIntegers)
    for (unsigned i = 0; i < 2 * std::size(constants); ++i) {
      // The loop of the oracle would take too long.
      bool isPower = StringRef(integer.op) == "math.ipowi";
      std::vector<T> results =
          kernels.map<T, T>(kernelName(integer.op, i).c_str(), inputs);
      for (size_t k = 0; k < inputs.size(); ++k) {
        __int128 x = i % 2 ? constants[i / 2] : inputs[k];
        __int128 y = i % 2 ? inputs[k] : constants[i / 2];
        if (isPower && y > 1000)
          continue;
        EXPECT_EQ(results[k], T(truncate(integer.f(x, y, kBits), kBits)))
            << integer.op << " on " << type.str() << " x " << width << " of "
            << int64_t(x) << " and " << int64_t(y);
      }
    }
  ASSERT_TRUE(
      succeeded(convertKernelToLLVM(*forCUDA, *KernelTarget::cuda("sm_90a"))))
      << context.getDiagnostics();
  EXPECT_TRUE(succeeded(translateToPTX(*forCUDA, "sm_90a", {})))
      << context.getDiagnostics();
}

TEST(MathMatrix, Integers) {
  checkIntegers<int8_t>("i8", 16);
  checkIntegers<int16_t>("i16", 0);
  checkIntegers<int32_t>("i32", 8);
  checkIntegers<int64_t>("i64", 0);
  checkIntegers<int64_t>("i64", 4);
}

} // namespace
