//===- DType.cpp - What the runtime knows about element types -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DType.h"

using namespace fuseops::runtime;

namespace {
struct DTypeRecord {
  const char *name;
  uint8_t code;
  uint8_t bits;
};
} // namespace

// In the order of `fuseopsDType`.
static constexpr DTypeRecord kDTypes[kNumDTypes] = {
    {"f64", kDLFloat, 64},
    {"f32", kDLFloat, 32},
    {"f16", kDLFloat, 16},
    {"bf16", kDLBfloat, 16},
    {"f8E4M3FN", kDLFloat8_e4m3fn, 8},
    {"f8E5M2", kDLFloat8_e5m2, 8},
    {"f8E8M0FNU", kDLFloat8_e8m0fnu, 8},
    {"i1", kDLBool, 8},
    {"i8", kDLInt, 8},
    {"u8", kDLUInt, 8},
    {"i16", kDLInt, 16},
    {"i32", kDLInt, 32},
    {"i64", kDLInt, 64},
};

static bool isDType(int32_t dtype) {
  return dtype >= 0 && dtype < static_cast<int32_t>(kNumDTypes);
}

DLDataType fuseops::runtime::getDLDataType(fuseopsDType dtype) {
  return {kDTypes[dtype].code, kDTypes[dtype].bits, 1};
}

bool fuseops::runtime::acceptsDLDataType(fuseopsDType dtype, DLDataType type) {
  if (type.lanes != 1 || type.bits != kDTypes[dtype].bits)
    return false;
  bool mayBeBytes = dtype >= FUSEOPS_F8E4M3FN && dtype <= FUSEOPS_I1;
  return type.code == kDTypes[dtype].code ||
         (mayBeBytes && type.code == kDLUInt);
}

const char *fuseopsDTypeName(int32_t dtype) {
  return isDType(dtype) ? kDTypes[dtype].name : "unknown";
}

size_t fuseopsDTypeSize(int32_t dtype) {
  return isDType(dtype) ? kDTypes[dtype].bits / 8 : 0;
}
