//===- Numbers.h - Elements of every dtype, and random ones ---------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_TOOLS_FUSE_RUN_NUMBERS_H
#define FUSEOPS_TOOLS_FUSE_RUN_NUMBERS_H

#include "FuseOps-c/Runtime.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace fuserun {

/// A tensor in host memory, packed.
struct HostTensor {
  std::string name;
  int32_t dtype = FUSEOPS_F32;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;

  int64_t count() const;
};

/// Whether a `fuseopsDType` is a floating-point type.
bool isFloat(int32_t dtype);

/// Half the distance from 1 to the next larger number; 0 for integers.
double getUnitRoundoff(int32_t dtype);

/// The `fuseopsDType` of that spelling, -1 if there is none.
int32_t findDType(llvm::StringRef name);

/// The elements as doubles, exactly (64-bit integers beyond 2^53 are rounded).
std::vector<double> decode(const HostTensor &tensor);

/// Fills `tensor.bytes`, rounding to nearest even.
void encode(HostTensor &tensor, llvm::ArrayRef<double> values);

/// The same elements in another dtype.
HostTensor convert(const HostTensor &tensor, int32_t dtype);

/// How a tensor is filled.
struct Distribution {
  double mean = 0, deviation = 1;
};

/// Fills a tensor with normal numbers that depend on `seed` and its shape only.
void fillNormal(HostTensor &tensor, Distribution distribution, uint64_t seed);

/// Fills a tensor of integers or bools with numbers of one to eight bits, so
/// that there are small ones and large ones, and equal ones. They depend on
/// `seed`, the tensor's dtype and its shape only.
void fillIntegers(HostTensor &tensor, uint64_t seed);

/// A seed for one of several tensors.
uint64_t mixSeed(uint64_t seed, uint64_t index);

} // namespace fuserun

#endif // FUSEOPS_TOOLS_FUSE_RUN_NUMBERS_H
