//===- Access.h - Where the elements of a tensor are in memory -----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_ACCESS_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_ACCESS_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"

namespace mlir::fuseops {

/// A tensor laid over memory: element (i0, i1, …) is
/// `base[offset + i0 * strides[0] + i1 * strides[1] + …]`.
struct View {
  Value tensor;
  RankedTensorType type;
  Extent offset;
  SmallVector<Extent> strides;

  /// All of `tensor` in row-major order, under the shape of `type`.
  static View packed(Value tensor, RankedTensorType type);
  /// The elements that a slice, a permutation or a concatenation's input takes.
  View slice(int64_t dim, int64_t first, int64_t step,
             RankedTensorType to) const;
  View permute(ArrayRef<int64_t> order, RankedTensorType to) const;
  /// The view of an input of a permutation to this view.
  View unpermute(ArrayRef<int64_t> order, RankedTensorType from) const;
};

/// How `value` lies over a tensor in memory that it is sliced, permuted or
/// reshaped from; no value where it is computed.
std::optional<View> findView(Value value);

/// Part of a row number: the index within one dimension, or within some
/// neighbouring ones, is `row / divisor % extent`.
struct RowDigit {
  Extent divisor;
  /// None for the outermost dimension, which needs no remainder.
  std::optional<Extent> extent;
  Extent stride;
  /// Where only a part of the dimension is there: it begins at index `start`
  /// and has `count` elements; an index outside reads the nearest. A count of
  /// 0: all of it.
  int64_t start = 0, count = 0;
};

/// Where the elements of a tensor are for a kernel that visits rows and
/// columns: `base[offset + the digits times their strides + column *
/// columnStride]`.
struct Access {
  Value tensor; ///< the group's block argument, or the yielded value
  Extent offset;
  SmallVector<RowDigit> rows;
  Extent columnStride; ///< 0: one element for the whole row
  Type element;
  int64_t columns = 1;

  /// Whether neighbouring columns are neighbours in memory.
  bool isContiguous() const { return columnStride == Extent{1, 0}; }
  bool hasColumns() const { return columnStride != Extent{0, 0}; }
  /// Whether rows of neighbouring numbers are one pitch apart.
  bool isLinear() const {
    return llvm::all_of(rows, [](const RowDigit &digit) {
      return digit.divisor == Extent{1, 0} && !digit.extent && !digit.count;
    });
  }
  /// The largest power of two that divides the number of each row's first
  /// element.
  int64_t getRowAlignment() const;
};

/// The largest power of two that divides `value`; 2^20 for 0.
int64_t powerOfTwoIn(int64_t value);

/// The access to `view`, broadcast by NumPy's rules to `space`, by a kernel
/// whose rows are the leading dimensions of `space`.
Access getAccessIn(const View &view, RankedTensorType space);

/// The same, for a view that is only `count` elements from `start` on of
/// dimension `part` of `space`.
Access getPartialAccessIn(const View &view, RankedTensorType space,
                          int64_t part, int64_t start, int64_t count);

/// The digit of a row of `space` that is the index in dimension `dim`.
RowDigit getDigit(RankedTensorType space, int64_t dim);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_ACCESS_H
