//===- Core.h - Building blocks of decompositions ------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_DIALECT_FUSEOPS_CORE_H
#define FUSEOPS_LIB_DIALECT_FUSEOPS_CORE_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Dialect/FuseOps/ScalarMath.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::fuseops {

/// Writes core operations that compute in one type: f64 if the operation has an
/// f64 operand, else f32.
struct Core {
  Core(Operation *op, OpBuilder &builder, ValueRange operands)
      : builder(builder), loc(op->getLoc()), type(builder.getF32Type()) {
    auto visit = [&](Type operand) {
      if (auto tensor = dyn_cast<RankedTensorType>(operand))
        if (tensor.getElementType().isF64())
          type = tensor.getElementType();
    };
    llvm::for_each(operands.getTypes(), visit);
    llvm::for_each(op->getResultTypes(), visit);
  }

  using Body = function_ref<Value(ScalarMath &, ArrayRef<Value>)>;
  using Bodies =
      function_ref<SmallVector<Value>(ScalarMath &, ArrayRef<Value>)>;

  /// `body` over the scalars converted to the compute type; each of its values
  /// gives a result.
  ResultRange pointwise(TypeRange results, ValueRange operands, Bodies body) {
    auto build = [&](OpBuilder &b, Location l,
                     ValueRange args) -> SmallVector<Value> {
      ScalarMath m(b, l, type);
      SmallVector<Value> scalars;
      for (Value arg : args)
        scalars.push_back(isa<FloatType>(arg.getType()) ? m.convert(arg) : arg);
      SmallVector<Value> values = body(m, scalars);
      for (auto [value, result] : llvm::zip_equal(values, results))
        value = convertFloat(b, l, value,
                             getComputeType(getElementTypeOrSelf(result)));
      return values;
    };
    return PointwiseOp::build(builder, loc, results, operands, build)
        .getResults();
  }

  /// The same with one result.
  Value pointwise(Type result, ValueRange operands, Body body) {
    return pointwise(TypeRange(result), operands,
                     [&](ScalarMath &m, ArrayRef<Value> scalars) {
                       return SmallVector<Value>{body(m, scalars)};
                     })
        .front();
  }

  /// `type`'s shape in the compute type.
  RankedTensorType wide(Value value) {
    return cast<RankedTensorType>(value.getType()).clone(type);
  }
  RankedTensorType rowStat(Value value) {
    return withColumns(cast<RankedTensorType>(value.getType()), 1, type);
  }
  Value sumColumns(Value value) {
    return ReduceColumnsOp::create(builder, loc, rowStat(value), value,
                                   ReductionKind::Sum);
  }

  OpBuilder &builder;
  Location loc;
  Type type;
};

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_DIALECT_FUSEOPS_CORE_H
