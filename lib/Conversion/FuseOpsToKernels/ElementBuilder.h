//===- ElementBuilder.h - Loads, stores and scalar bodies on vectors -----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_ELEMENTBUILDER_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_ELEMENTBUILDER_H

#include "KernelGroup.h"
#include "Schedule.h"

namespace mlir::fuseops {

/// The elements that one step of a kernel computes: `width` neighbours of one
/// row, from column `column` on.
struct Element {
  Value row;
  Value column;
  int64_t width = 1;
  /// Null, or whether these elements exist: those of a tail read what the last
  /// ones read and are stored nowhere.
  Value isValid;
  /// What has been computed of these elements.
  DenseMap<Value, Value> values;
};

/// Writes what kernels are made of at the insertion point: the same operations
/// on scalars and on vectors, for the CPU and for CUDA.
class ElementBuilder {
public:
  ElementBuilder(const KernelGroup &group, KernelDevice device,
                 bool roundIntermediates, OpBuilder &builder, Location loc)
      : b(builder), loc(loc), group(group), device(device),
        roundIntermediates(roundIntermediates) {}

  Value constant(int64_t value);
  /// `type` itself, or a vector of `width` of it.
  Type widened(Type type, int64_t width);
  Value splat(Value scalar, int64_t width);

  /// The elements of `value` at `element`, in its compute type.
  Value compute(Value value, Element &element);
  /// The operation's operands at `element`.
  SmallVector<Value> computeOperands(PointwiseOp op, Element &element);
  /// The operation's results for operands that are scalars or vectors.
  void computeBody(PointwiseOp op, ValueRange operands, Element &element,
                   DenseMap<Value, Value> &results);

  Value load(const Access &access, Element &element);
  void store(Value value, const Access &access, Element &element);
  /// Loads or stores in the accumulator's type, without conversion.
  Value loadRaw(Value pointer, Value index, Type type, int64_t width);
  void storeRaw(Value value, Value pointer, Value index);

  /// Neutral element and step of a reduction.
  Value identity(ReductionKind kind, Type type);
  Value combine(ReductionKind kind, Value lhs, Value rhs);
  /// All elements of a vector combined in a fixed order.
  Value combineAll(ReductionKind kind, Value value);
  /// `value` where it exists, else the neutral element.
  Value masked(ReductionKind kind, Value value, Value isValid);

  OpBuilder &b;
  Location loc;
  /// Pointer of each tensor: group arguments and yielded values.
  DenseMap<Value, Value> pointers;
  /// Scalars, and the values of the row being computed.
  DenseMap<Value, Value> rowValues;

private:
  Value address(Value pointer, Value index, Type element);
  Value indexOf(const Access &access, Element &element);
  int64_t alignmentOf(const Access &access, int64_t width);
  Value narrow(Value value, Type element);

  const KernelGroup &group;
  KernelDevice device;
  bool roundIntermediates;
};

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_ELEMENTBUILDER_H
