//===- SymbolicSize.cpp - The one symbolic size of a torch function -------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SymbolicSize.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"

#include <limits>

using namespace mlir;
using namespace mlir::fuseops;

FailureOr<SymbolicSize> SymbolicSize::find(func::FuncOp function) {
  SymbolicSize size;
  for (auto bind : function.getOps<torch::BindSymbolicShapeOp>()) {
    auto argument = dyn_cast<BlockArgument>(bind.getOperand());
    torch::ValueTensorType type = bind.getOperand().getType();
    if (!argument || !type.getHasSizes())
      continue;
    for (auto [extent, expression] :
         llvm::zip(type.getSizes(), bind.getShapeExpressions().getResults())) {
      if (!ShapedType::isDynamic(extent))
        continue;
      auto position = dyn_cast<AffineSymbolExpr>(expression);
      if (!position) {
        std::string text;
        llvm::raw_string_ostream(text) << expression;
        return emitError(bind.getLoc())
               << "expected a symbol as the size of argument "
               << argument.getArgNumber() << ", but got the expression `"
               << text << "`";
      }
      auto symbol = bind.getShapeSymbols()[position.getPosition()]
                        .getDefiningOp<torch::SymbolicIntOp>();
      if (!symbol)
        return emitError(bind.getLoc())
               << "expected the size of argument " << argument.getArgNumber()
               << " to be a `torch.symbolic_int`";
      if (size.symbol && size.symbol.getSymbolName() != symbol.getSymbolName())
        return emitError(bind.getLoc())
               << "expected one symbolic size, but got `"
               << size.symbol.getSymbolName() << "` and `"
               << symbol.getSymbolName() << "`";
      size.symbol = symbol;
    }
  }
  return size;
}

IntegerAttr SymbolicSize::getMin(Builder &builder) {
  if (!symbol)
    return {};
  // torch.export assumes at least 2 for its own reasoning about strides and
  // broadcasting: no program of ours depends on it.
  int64_t min = symbol.getMinVal();
  return builder.getI64IntegerAttr(min == 2 ? 0 : min);
}

IntegerAttr SymbolicSize::getMax(Builder &builder) {
  if (!symbol || symbol.getMaxVal() >=
                     static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    return {};
  return builder.getI64IntegerAttr(symbol.getMaxVal());
}
