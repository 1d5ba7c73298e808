//===- Extent.h - Sizes that depend on the symbol -------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_EXTENT_H
#define FUSEOPS_DIALECT_FUSEOPS_EXTENT_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::fuseops {

/// A size: `constant + per_symbol * S + per_block32 * ceil(S / 32) +
/// per_block128 * ceil(S / 128)`.
struct Extent {
  int64_t constant = 0;
  int64_t perSymbol = 0;
  int64_t perBlock32 = 0;
  int64_t perBlock128 = 0;

  /// The inverse of `asArray`.
  static Extent fromArray(ArrayRef<int64_t> values);
  /// The four factors; without the last ones that are 0, but at least two.
  SmallVector<int64_t> asArray() const;

  /// Whether S does not matter.
  bool isConstant() const { return !perSymbol && !perBlock32 && !perBlock128; }
  /// By how much it grows where S grows by 128: what orders symbolic sizes.
  int64_t getGrowth() const {
    return 128 * perSymbol + 4 * perBlock32 + perBlock128;
  }
  /// The factors through `function`, and those of two sizes.
  Extent map(function_ref<int64_t(int64_t)> function) const {
    return {function(constant), function(perSymbol), function(perBlock32),
            function(perBlock128)};
  }
  Extent zip(const Extent &other,
             function_ref<int64_t(int64_t, int64_t)> function) const {
    return {function(constant, other.constant),
            function(perSymbol, other.perSymbol),
            function(perBlock32, other.perBlock32),
            function(perBlock128, other.perBlock128)};
  }

  Extent operator*(int64_t factor) const {
    return map([=](int64_t size) { return size * factor; });
  }
  Extent operator+(const Extent &other) const {
    return zip(other, [](int64_t a, int64_t b) { return a + b; });
  }
  bool operator==(const Extent &other) const {
    return constant == other.constant && perSymbol == other.perSymbol &&
           perBlock32 == other.perBlock32 && perBlock128 == other.perBlock128;
  }
  bool operator!=(const Extent &other) const { return !(*this == other); }
};

/// The largest number that the runtime takes.
constexpr int64_t kMaxCount = int64_t(1) << 60;

/// The product; at most one of the two is symbolic. What a product of matrices
/// computes may be more than the runtime counts: then it is `kMaxCount`.
Extent multiply(Extent a, Extent b);

/// The size of dimension `dim` of `type`: what a `?` counts is in its encoding.
Extent getExtent(RankedTensorType type, unsigned dim);

/// Number of elements of `type`, `dropped` trailing dimensions not counted.
/// A type has at most one dynamic extent.
Extent getNumElements(RankedTensorType type, unsigned dropped = 0);

/// Number of bytes of `type`, dense. An i1 is a byte.
Extent getNumBytes(RankedTensorType type);

/// Bytes of one element. An i1 is a byte.
int64_t getElementBytes(Type elementType);

} // namespace mlir::fuseops

#endif // FUSEOPS_DIALECT_FUSEOPS_EXTENT_H
