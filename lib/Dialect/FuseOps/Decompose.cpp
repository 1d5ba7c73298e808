//===- Decompose.cpp - Pointwise operations written in core operations ---===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Activations.h"
#include "Core.h"
#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Dialect/FuseOps/ScalarMath.h"

using namespace mlir;
using namespace mlir::fuseops;

//===----------------------------------------------------------------------===//
// Pointwise operations
//===----------------------------------------------------------------------===//

SmallVector<Value> PointwiseOp::decompose(OpBuilder &builder,
                                          ValueRange operands) {
  return fuseops::detail::cloneWith(*this, builder, operands);
}

SmallVector<Value> AddOp::decompose(OpBuilder &builder, ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [](ScalarMath &m, auto v) {
                return m.add(v[0], v[1]);
              })};
}
SmallVector<Value> MulOp::decompose(OpBuilder &builder, ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [](ScalarMath &m, auto v) {
                return m.mul(v[0], v[1]);
              })};
}
SmallVector<Value> BiasOp::decompose(OpBuilder &builder, ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [](ScalarMath &m, auto v) {
                return m.add(v[0], v[1]);
              })};
}
SmallVector<Value> ScaleOp::decompose(OpBuilder &builder, ValueRange operands) {
  double by = getBy().convertToDouble();
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [&](ScalarMath &m, auto v) {
                return m.mul(v[0], m.constant(by));
              })};
}
SmallVector<Value> CastOp::decompose(OpBuilder &builder, ValueRange operands) {
  // The rounding is in the body: it stays when the value never leaves a kernel.
  Type element = cast<RankedTensorType>(getType()).getElementType();
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [&](ScalarMath &m, auto v) {
                return convertFloat(m.builder, m.loc, v[0], element);
              })};
}
SmallVector<Value> GeluOp::decompose(OpBuilder &builder, ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [&](ScalarMath &m, auto v) {
                return activation::gelu(m, v[0], getApproximate());
              })};
}
SmallVector<Value> GeluGradOp::decompose(OpBuilder &builder,
                                         ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [&](ScalarMath &m, auto v) {
                return m.mul(v[0], activation::geluDerivative(
                                       m, v[1], getApproximate()));
              })};
}
SmallVector<Value> SiluOp::decompose(OpBuilder &builder, ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [](ScalarMath &m, auto v) {
                return activation::silu(m, v[0]);
              })};
}
SmallVector<Value> SiluGradOp::decompose(OpBuilder &builder,
                                         ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [](ScalarMath &m, auto v) {
                return m.mul(v[0], activation::siluDerivative(m, v[1]));
              })};
}
SmallVector<Value> QgeluOp::decompose(OpBuilder &builder, ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [](ScalarMath &m, auto v) {
                return activation::qgelu(m, v[0]);
              })};
}
SmallVector<Value> SreluOp::decompose(OpBuilder &builder, ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [](ScalarMath &m, auto v) {
                Value y = activation::srelu(m, v[0]);
                return v.size() > 1 ? m.mul(y, v[1]) : y;
              })};
}
SmallVector<Value> IdentityOp::decompose(OpBuilder &builder,
                                         ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands,
                         [](ScalarMath &, auto v) -> Value { return v[0]; })};
}
SmallVector<Value> ReluOp::decompose(OpBuilder &builder, ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [](ScalarMath &m, auto v) {
                return activation::relu(m, v[0]);
              })};
}
SmallVector<Value> ReluGradOp::decompose(OpBuilder &builder,
                                         ValueRange operands) {
  return {Core(*this, builder, operands)
              .pointwise(getType(), operands, [](ScalarMath &m, auto v) {
                return activation::reluGradient(m, v[1], v[0]);
              })};
}

//===----------------------------------------------------------------------===//
// Core operations that are their own decomposition
//===----------------------------------------------------------------------===//

SmallVector<Value> ReduceRowsOp::decompose(OpBuilder &builder,
                                           ValueRange operands) {
  return fuseops::detail::cloneWith(*this, builder, operands);
}
SmallVector<Value> ReduceColumnsOp::decompose(OpBuilder &builder,
                                              ValueRange operands) {
  return fuseops::detail::cloneWith(*this, builder, operands);
}
