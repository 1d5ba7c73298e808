//===- Reduction.h - A reduction over any dimensions --------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_CONVERSION_TORCHTOFUSEOPS_REDUCTION_H
#define FUSEOPS_CONVERSION_TORCHTOFUSEOPS_REDUCTION_H

#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "TorchCall.h"

namespace mlir::fuseops {

/// An operation that reduces operand 0, and steps that such operations share.
/// A reduced dimension stays, with extent 1.
struct ReductionCall {
  TorchCall &call;
  Value input;
  int64_t multiple = 1;
  /// The dimensions of `input` that are reduced.
  SmallVector<int64_t> dims;

  /// Reads operand 0 and the dimensions at operand `dimsIndex`: an integer, a
  /// list, or all where it's None, empty or not there.
  static FailureOr<ReductionCall> get(TorchCall &call,
                                      std::optional<unsigned> dimsIndex);

  RankedTensorType getType() const;
  Type getElement() const;
  /// How many elements are reduced to one.
  Extent getCount() const;
  /// Converts the input to elements of type `element`.
  void convertInput(Type element);

  FailureOr<Value> reduce(Value value, ReductionKind kind, Type element) const;
  /// A pointwise operation over the widest of `operands`.
  Value apply(ValueRange operands, Type element,
              function_ref<Value(ScalarMath &, ArrayRef<Value>)> body) const;
  /// The mean of the input in its compute type.
  FailureOr<Value> buildMean() const;
  /// `sum / max(count - correction, 0)`.
  Value divideByCount(Value sum, double correction, Type element) const;
};

/// Variances, norms and logsumexp.
void addStatisticsHandlers(TorchHandlers &handlers);

} // namespace mlir::fuseops

#endif // FUSEOPS_CONVERSION_TORCHTOFUSEOPS_REDUCTION_H
