//===- MathToLibdevice.cpp - Math functions as calls of libdevice ---------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What no CUDA chip has an instruction for, and `fuseops-expand-math` no
// expansion: the functions of libdevice, CUDA's libm in LLVM bitcode, which
// `translateToPTX` links.
//
//===----------------------------------------------------------------------===//

#include "MathToLibdevice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::fuseops;

/// The name of an operation's f64 function without `__nv_`; empty if libdevice
/// has none. LLVM's own `arith.remf` for PTX is exact for small quotients only.
static StringRef getFunction(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
      .Case("arith.remf", "fmod")
      .Case("math.acos", "acos")
      .Case("math.acosh", "acosh")
      .Case("math.asin", "asin")
      .Case("math.asinh", "asinh")
      .Case("math.atan", "atan")
      .Case("math.atan2", "atan2")
      .Case("math.atanh", "atanh")
      .Case("math.cbrt", "cbrt")
      .Case("math.cos", "cos")
      .Case("math.cosh", "cosh")
      .Case("math.erf", "erf")
      .Case("math.erfc", "erfc")
      .Case("math.exp", "exp")
      .Case("math.exp2", "exp2")
      .Case("math.expm1", "expm1")
      .Case("math.log", "log")
      .Case("math.log10", "log10")
      .Case("math.log1p", "log1p")
      .Case("math.log2", "log2")
      .Case("math.powf", "pow")
      .Case("math.sin", "sin")
      .Case("math.sinh", "sinh")
      .Case("math.tan", "tan")
      .Case("math.tanh", "tanh")
      .Default("");
}

/// Declares `name`, which takes and returns `count` and one `type`.
static func::FuncOp declare(ModuleOp kernels, StringRef name, Type type,
                            unsigned count) {
  if (auto function = kernels.lookupSymbol<func::FuncOp>(name))
    return function;
  OpBuilder builder = OpBuilder::atBlockBegin(kernels.getBody());
  SmallVector<Type> inputs(count, type);
  auto function = func::FuncOp::create(builder, kernels.getLoc(), name,
                                       builder.getFunctionType(inputs, type));
  function.setPrivate();
  return function;
}

static void callLibdevice(RewriterBase &rewriter, ModuleOp kernels,
                          Operation *op, StringRef function) {
  Location loc = op->getLoc();
  Type type = op->getResult(0).getType();
  bool isDouble = getElementTypeOrSelf(type).isF64();
  Type computed = isDouble ? rewriter.getF64Type() : rewriter.getF32Type();
  func::FuncOp callee =
      declare(kernels, ("__nv_" + function + (isDouble ? "" : "f")).str(),
              computed, op->getNumOperands());
  rewriter.setInsertionPoint(op);
  auto apply = [&](ValueRange operands) -> Value {
    Type element = operands.front().getType();
    SmallVector<Value> wide(operands);
    if (element != computed)
      for (Value &operand : wide)
        operand = arith::ExtFOp::create(rewriter, loc, computed, operand);
    Value result =
        func::CallOp::create(rewriter, loc, callee, wide).getResult(0);
    if (element == computed)
      return result;
    return arith::TruncFOp::create(rewriter, loc, element, result);
  };
  auto vector = dyn_cast<VectorType>(type);
  if (!vector) {
    rewriter.replaceOp(op, apply(op->getOperands()));
    return;
  }
  SmallVector<ValueRange> elements;
  for (Value operand : op->getOperands())
    elements.push_back(
        vector::ToElementsOp::create(rewriter, loc, operand).getResults());
  SmallVector<Value> results;
  for (int64_t i = 0; i < vector.getNumElements(); ++i)
    results.push_back(apply(llvm::map_to_vector(
        elements, [&](ValueRange values) -> Value { return values[i]; })));
  rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, vector, results);
}

void mlir::fuseops::convertMathToLibdevice(ModuleOp kernels) {
  SmallVector<Operation *> worklist;
  kernels.walk([&](Operation *op) {
    if (!getFunction(op).empty())
      worklist.push_back(op);
  });
  IRRewriter rewriter(kernels.getContext());
  for (Operation *op : worklist)
    callLibdevice(rewriter, kernels, op, getFunction(op));
}
