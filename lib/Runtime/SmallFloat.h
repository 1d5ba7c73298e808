//===- SmallFloat.h - Conversions of f16 and bf16 ------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_RUNTIME_SMALLFLOAT_H
#define FUSEOPS_LIB_RUNTIME_SMALLFLOAT_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace fuseops {
namespace runtime {

inline uint32_t getBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float makeFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline float bf16ToFloat(uint16_t bits) {
  return makeFloat(static_cast<uint32_t>(bits) << 16);
}

/// Rounds to nearest, ties to even.
inline uint16_t floatToBf16(float value) {
  uint32_t bits = getBits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return static_cast<uint16_t>((bits >> 16) | 0x40); // Stays a quiet NaN.
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}

inline float f16ToFloat(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u)
    return makeFloat(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x400u)
    return makeFloat(sign | ((magnitude << 13) + (112u << 23)));
  // Subnormals are multiples of 2^-24.
  float value = static_cast<float>(magnitude) * 0x1p-24f;
  return makeFloat(sign | getBits(value));
}

/// Rounds to nearest, ties to even.
inline uint16_t floatToF16(float value) {
  uint32_t bits = getBits(value);
  uint32_t sign = (bits >> 16) & 0x8000u;
  bits &= 0x7fffffffu;
  if (bits > 0x7f800000u)
    return static_cast<uint16_t>(sign | 0x7e00u | ((bits >> 13) & 0x1ffu));
  if (bits >= 0x477ff000u) // 65520, half way beyond the largest number.
    return static_cast<uint16_t>(sign | 0x7c00u);
  if (bits < 0x38800000u) {
    // Below 2^-14: adding 0.5 leaves the multiple of 2^-24, rounded, in the
    // low bits of the sum.
    float sum = makeFloat(bits) + 0.5f;
    return static_cast<uint16_t>(sign | (getBits(sum) - 0x3f000000u));
  }
  uint32_t rounded = bits + 0xfffu + ((bits >> 13) & 1);
  return static_cast<uint16_t>(sign | ((rounded - (112u << 23)) >> 13));
}

/// The float from which rounding to f16 or bf16 gives what rounding `value`
/// itself would: the last bit tells that bits were lost (round to odd).
inline float doubleToFloatOdd(double value) {
  float nearest = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(nearest) == value)
    return nearest;
  uint32_t bits = getBits(nearest);
  // Truncate toward zero, then set the last bit.
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value))
    --bits;
  return makeFloat(bits | 1);
}

} // namespace runtime
} // namespace fuseops

#endif // FUSEOPS_LIB_RUNTIME_SMALLFLOAT_H
