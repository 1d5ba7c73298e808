//===- Numbers.cpp - Elements of every dtype, and random ones -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Parallel.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace fuserun;

namespace {

/// A floating-point format of up to 16 bits.
struct SmallFormat {
  int exponentBits, mantissaBits;
  /// The largest finite number's code.
  uint32_t largest;
  /// Whether codes above it begin with infinity.
  bool hasInfinity;

  int getBias() const { return (1 << (exponentBits - 1)) - 1; }
  uint32_t getSign() const { return 1u << (exponentBits + mantissaBits); }
};

} // namespace

static const SmallFormat *getSmallFormat(int32_t dtype) {
  static constexpr SmallFormat kF16 = {5, 10, 0x7bff, true};
  static constexpr SmallFormat kBF16 = {8, 7, 0x7f7f, true};
  static constexpr SmallFormat kF8E4M3FN = {4, 3, 0x7e, false};
  static constexpr SmallFormat kF8E5M2 = {5, 2, 0x7b, true};
  switch (dtype) {
  case FUSEOPS_F16:
    return &kF16;
  case FUSEOPS_BF16:
    return &kBF16;
  case FUSEOPS_F8E4M3FN:
    return &kF8E4M3FN;
  case FUSEOPS_F8E5M2:
    return &kF8E5M2;
  default:
    return nullptr;
  }
}

static double decodeSmall(const SmallFormat &format, uint32_t code) {
  double sign = code & format.getSign() ? -1 : 1;
  uint32_t magnitude = code & (format.getSign() - 1);
  if (magnitude > format.largest)
    return format.hasInfinity && magnitude == format.largest + 1
               ? sign * std::numeric_limits<double>::infinity()
               : std::numeric_limits<double>::quiet_NaN();
  int exponent = static_cast<int>(magnitude >> format.mantissaBits);
  double mantissa = magnitude & ((1u << format.mantissaBits) - 1);
  if (exponent != 0)
    mantissa += 1u << format.mantissaBits;
  return sign * std::ldexp(mantissa, std::max(exponent, 1) - format.getBias() -
                                         format.mantissaBits);
}

static uint32_t encodeSmall(const SmallFormat &format, double value) {
  uint32_t sign = std::signbit(value) ? format.getSign() : 0;
  double magnitude = std::fabs(value);
  if (std::isnan(value))
    return sign | (format.getSign() - 1);
  if (magnitude == 0)
    return sign;
  int exponent = std::isinf(value)
                     ? std::numeric_limits<int>::max() / 2
                     : std::max(std::ilogb(magnitude), 1 - format.getBias());
  uint32_t overflow = format.largest + 1; // Infinity, or the only NaN.
  if (exponent > format.getBias() + 1)
    return sign | overflow;
  // A carry out of the mantissa goes into the exponent, as it should.
  auto rounded = static_cast<uint32_t>(
      std::nearbyint(std::ldexp(magnitude, format.mantissaBits - exponent)));
  uint32_t code = static_cast<uint32_t>(exponent + format.getBias() - 1)
                  << format.mantissaBits;
  return sign | std::min(code + rounded, overflow);
}

int64_t HostTensor::count() const {
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  return elements;
}

bool fuserun::isFloat(int32_t dtype) { return dtype <= FUSEOPS_F8E8M0FNU; }

double fuserun::getUnitRoundoff(int32_t dtype) {
  if (dtype == FUSEOPS_F64)
    return 0x1p-53;
  if (dtype == FUSEOPS_F32)
    return 0x1p-24;
  if (const SmallFormat *format = getSmallFormat(dtype))
    return std::ldexp(1.0, -format->mantissaBits - 1);
  return 0;
}

int32_t fuserun::findDType(llvm::StringRef name) {
  for (int32_t dtype = 0; fuseopsDTypeSize(dtype) != 0; ++dtype)
    if (name.equals_insensitive(fuseopsDTypeName(dtype)))
      return dtype;
  return -1;
}

/// Calls `function` with a value of the C++ type of a dtype that has one.
template <typename Function>
static bool withType(int32_t dtype, Function &&function) {
  switch (dtype) {
  case FUSEOPS_F64:
    function(double());
    return true;
  case FUSEOPS_F32:
    function(float());
    return true;
  case FUSEOPS_I1:
  case FUSEOPS_U8:
    function(uint8_t());
    return true;
  case FUSEOPS_I8:
    function(int8_t());
    return true;
  case FUSEOPS_I16:
    function(int16_t());
    return true;
  case FUSEOPS_I32:
    function(int32_t());
    return true;
  case FUSEOPS_I64:
    function(int64_t());
    return true;
  default:
    return false;
  }
}

std::vector<double> fuserun::decode(const HostTensor &tensor) {
  std::vector<double> values(tensor.count());
  const uint8_t *data = tensor.bytes.data();
  bool isDone = withType(tensor.dtype, [&](auto zero) {
    for (size_t i = 0; i < values.size(); ++i) {
      decltype(zero) element;
      std::memcpy(&element, data + i * sizeof(element), sizeof(element));
      values[i] = static_cast<double>(element);
    }
  });
  if (isDone)
    return values;
  // Every code once, then by table.
  size_t size = fuseopsDTypeSize(tensor.dtype);
  std::vector<double> table(size_t(1) << (8 * size));
  const SmallFormat *format = getSmallFormat(tensor.dtype);
  for (size_t code = 0; code < table.size(); ++code)
    if (format)
      table[code] = decodeSmall(*format, code);
    else // f8E8M0FNU
      table[code] = code == 0xff
                        ? std::numeric_limits<double>::quiet_NaN()
                        : std::ldexp(1.0, static_cast<int>(code) - 127);
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t code = 0;
    std::memcpy(&code, data + i * size, size);
    values[i] = table[code];
  }
  return values;
}

/// Writes the elements of `values` to `data`.
static void encode(int32_t dtype, llvm::ArrayRef<double> values,
                   uint8_t *data) {
  bool isDone = withType(dtype, [&](auto zero) {
    for (size_t i = 0; i < values.size(); ++i) {
      auto element = static_cast<decltype(zero)>(values[i]);
      std::memcpy(data + i * sizeof(element), &element, sizeof(element));
    }
  });
  if (isDone)
    return;
  const SmallFormat *format = getSmallFormat(dtype);
  size_t size = fuseopsDTypeSize(dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t code =
        format ? encodeSmall(*format, values[i])
               : static_cast<uint16_t>(std::lround(std::log2(values[i])) + 127);
    std::memcpy(data + i * size, &code, size);
  }
}

void fuserun::encode(HostTensor &tensor, llvm::ArrayRef<double> values) {
  tensor.bytes.resize(values.size() * fuseopsDTypeSize(tensor.dtype));
  ::encode(tensor.dtype, values, tensor.bytes.data());
}

HostTensor fuserun::convert(const HostTensor &tensor, int32_t dtype) {
  if (tensor.dtype == dtype)
    return tensor;
  HostTensor result = {tensor.name, dtype, tensor.shape, {}};
  encode(result, decode(tensor));
  return result;
}

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
/// generators, OOPSLA 2014).
static uint64_t nextRandom(uint64_t &state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t fuserun::mixSeed(uint64_t seed, uint64_t index) {
  uint64_t state = seed * 0x2545f4914f6cdd1du + index;
  return nextRandom(state);
}

void fuserun::fillIntegers(HostTensor &tensor, uint64_t seed) {
  bool isUnsigned = tensor.dtype == FUSEOPS_U8 || tensor.dtype == FUSEOPS_I1;
  std::vector<double> values(tensor.count());
  for (double &value : values) {
    uint64_t bits = nextRandom(seed);
    int64_t range = tensor.dtype == FUSEOPS_I1 ? 2 : 2 << (bits >> 61);
    auto number = static_cast<int64_t>(bits % range);
    value = static_cast<double>(isUnsigned ? number : number - range / 2);
  }
  encode(tensor, values);
}

/// Normal numbers of one seed.
static void drawNormal(llvm::MutableArrayRef<double> values,
                       Distribution distribution, uint64_t seed) {
  for (size_t i = 0; i < values.size(); i += 2) {
    // Box and Muller; floats are exact enough and twice as fast.
    float radius = std::sqrt(
        -2 *
        std::log(static_cast<float>((nextRandom(seed) >> 40) + 1) * 0x1p-24f));
    float angle =
        static_cast<float>(nextRandom(seed) >> 40) * (0x1p-24f * 6.2831853f);
    values[i] =
        distribution.mean + distribution.deviation * radius * std::cos(angle);
    if (i + 1 < values.size())
      values[i + 1] =
          distribution.mean + distribution.deviation * radius * std::sin(angle);
  }
}

void fuserun::fillNormal(HostTensor &tensor, Distribution distribution,
                         uint64_t seed) {
  // Parts have seeds of their own, so that the numbers are the same however
  // many threads draw them.
  constexpr size_t kPart = size_t(1) << 16;
  size_t count = tensor.count();
  size_t bytes = fuseopsDTypeSize(tensor.dtype);
  tensor.bytes.resize(count * bytes);
  llvm::parallelFor(0, llvm::divideCeil(count, kPart), [&](size_t part) {
    std::vector<double> values(std::min(kPart, count - part * kPart));
    drawNormal(values, distribution, part ? mixSeed(seed, part) : seed);
    ::encode(tensor.dtype, values, tensor.bytes.data() + part * kPart * bytes);
  });
}
