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

  /// One result, `body` over the scalars converted to the compute type.
  Value pointwise(Type result, ValueRange operands, Body body) {
    auto build = [&](OpBuilder &b, Location l,
                     ValueRange args) -> SmallVector<Value> {
      ScalarMath m(b, l, type);
      SmallVector<Value> scalars;
      for (Value arg : args)
        scalars.push_back(isa<FloatType>(arg.getType()) ? m.convert(arg) : arg);
      Type element = cast<RankedTensorType>(result).getElementType();
      return {convertFloat(b, l, body(m, scalars), getComputeType(element))};
    };
    return PointwiseOp::build(builder, loc, result, operands, build)
        .getResult(0);
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
