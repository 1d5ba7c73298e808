//===- Product.cpp - A contraction as its kernel sees it ------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Analysis/Product.h"

#include "FuseOps/Dialect/FuseOps/Contraction.h"

using namespace mlir;
using namespace mlir::fuseops;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

std::optional<Product> Product::get(Operation *op) {
  Product product;
  product.op = op;
  if (auto scaled = dyn_cast<ScaledMatmulOp>(op)) {
    product.a = {scaled.getLhs(), true, scaled.getLhsScaleInv(),
                 scaled.getLhsScale()};
    product.b = {scaled.getRhs(), true, scaled.getRhsScaleInv(),
                 scaled.getRhsScale()};
    product.bias = scaled.getBias();
    product.fastAccumulate = scaled.getFastAccumulate();
  } else if (auto grouped = dyn_cast<GroupedMatmulOp>(op)) {
    product.contractsGroups = grouped.getTransposeLhs();
    product.a.tensor = grouped.getLhs();
    product.a.isKMajor = !product.contractsGroups;
    product.b.tensor = grouped.getRhs();
    product.b.isKMajor = grouped.getTransposeRhs();
    product.fastAccumulate = grouped.getFastAccumulate();
    product.sizes = grouped.getSizes();
    product.numGroups = getColumns(tensorType(product.sizes));
    if (ShapedType::isDynamic(product.numGroups))
      return std::nullopt;
  } else {
    std::optional<Contraction> contraction = Contraction::get(op);
    if (!contraction || isa<QuantizedType>(contraction->lhs.getType()) ||
        isa<QuantizedType>(contraction->rhs.getType()))
      return std::nullopt;
    product.a.tensor = contraction->lhs;
    product.a.isKMajor = !contraction->transposeLhs;
    product.b.tensor = contraction->rhs;
    product.b.isKMajor = contraction->transposeRhs;
    product.bias = contraction->bias;
  }
  RankedTensorType a = tensorType(product.a.tensor);
  Extent rows = getNumElements(a, 1);
  Extent columns = getExtent(a, a.getRank() - 1);
  product.m = product.a.isKMajor ? rows : columns;
  product.k = product.a.isKMajor ? columns : rows;
  product.n = getColumns(tensorType(product.getResult()));
  if (ShapedType::isDynamic(product.n))
    return std::nullopt;
  return product;
}

/// What is expected of one operand.
static StringRef findFault(const Product::Operand &operand) {
  Type element = operand.getElementType();
  RankedTensorType type = tensorType(operand.tensor);
  bool isNarrow = isa<Float8E4M3FNType, Float8E5M2Type>(element);
  if (!isNarrow && !element.isF16() && !element.isBF16())
    return "operands of f16, bf16, f8E4M3FN or f8E5M2";
  if (isNarrow && !operand.isKMajor)
    return "operands of 8 bits whose contracted elements lie side by side";
  // Rows of `?` elements are the runtime's to check.
  if (!ShapedType::isDynamic(getColumns(type)) &&
      getColumns(type) * getElementBytes(element) % 16 != 0)
    return "operands with rows of a multiple of 16 bytes";
  if (operand.scale && operand.scaleKind == ScaleKind::MX1x32)
    return "operands with scales of f32";
  return "";
}

bool Product::hasOpenRows() const {
  return ShapedType::isDynamic(getColumns(tensorType(a.tensor))) ||
         ShapedType::isDynamic(getColumns(tensorType(b.tensor)));
}

/// Rows of a `[G, K, N]` matrix that are beside one another in a stage of 128
/// bytes of a: those of the next group must not come with them.
static constexpr int64_t kGroupRows = 64;

StringRef Product::findFault() const {
  if (isGrouped() && !(contractsGroups ? m : k).isConstant())
    return "groups of rows with a fixed number of elements";
  if (isGrouped() && !contractsGroups && !b.isKMajor &&
      k.constant % kGroupRows != 0)
    return "groups of rows with a multiple of 64 elements where matrices are "
           "not transposed";
  for (const Operand *operand : {&a, &b})
    if (StringRef fault = ::findFault(*operand); !fault.empty())
      return fault;
  Type left = a.getElementType(), right = b.getElementType();
  if (getElementBytes(left) != getElementBytes(right) ||
      (getElementBytes(left) == 2 && left != right))
    return "operands of one type, or both of 8 bits";
  if (n == 0 || n % 8 != 0)
    return "a multiple of 8 columns";
  if (getElementTypeOrSelf(getResult()).isF64())
    return "a result of at most f32";
  return "";
}
