//===- Einsum.cpp - Einstein sums of one or two tensors ------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::fuseops;

namespace {
/// A tensor whose dimensions have letters.
struct Lettered {
  Value value;
  std::string letters;

  RankedTensorType getType() const {
    return cast<RankedTensorType>(value.getType());
  }
  bool has(char letter) const { return StringRef(letters).contains(letter); }
  int64_t getSize(char letter) const {
    return getType().getDimSize(StringRef(letters).find(letter));
  }
};
} // namespace

/// Letters of `from` that `test` holds for.
static std::string pick(StringRef from, function_ref<bool(char)> test) {
  std::string picked;
  for (char letter : from)
    if (test(letter))
      picked.push_back(letter);
  return picked;
}

/// The tensor with its dimensions in the order of `letters`.
static Lettered arrange(TorchCall &call, const Lettered &tensor,
                        StringRef letters) {
  SmallVector<int64_t> order;
  for (char letter : letters)
    order.push_back(StringRef(tensor.letters).find(letter));
  return {buildPermute(call, tensor.value, order), letters.str()};
}

/// Sums over the letters that neither the result nor the other tensor has.
static FailureOr<Lettered> sumAlone(TorchCall &call, const Lettered &tensor,
                                    StringRef others) {
  SmallVector<int64_t> dims, shape;
  Lettered rest;
  for (auto [dim, letter] : llvm::enumerate(tensor.letters)) {
    if (!others.contains(letter)) {
      dims.push_back(dim);
      continue;
    }
    rest.letters.push_back(letter);
    shape.push_back(tensor.getType().getDimSize(dim));
  }
  if (dims.empty())
    return tensor;
  FailureOr<Value> sum =
      reduceDims(call.builder, call.getLoc(), tensor.value, dims,
                 ReductionKind::Sum, tensor.getType().getElementType());
  if (failed(sum))
    return failure();
  rest.value = reshapeTo(call.builder, call.getLoc(), *sum, shape);
  return rest;
}

/// The tensor with these groups of dimensions made one each; a symbolic group
/// stays as it is where it's the first.
static FailureOr<Value> group(TorchCall &call, const Lettered &tensor,
                              ArrayRef<std::string> groups) {
  SmallVector<int64_t> shape;
  for (auto [index, letters] : llvm::enumerate(groups)) {
    int64_t size = 1;
    bool isSymbolic = llvm::any_of(letters, [&](char letter) {
      return ShapedType::isDynamic(tensor.getSize(letter));
    });
    if (isSymbolic && index == 0) {
      for (char letter : letters)
        shape.push_back(tensor.getSize(letter));
      continue;
    }
    if (isSymbolic)
      return call.refuse("expected a symbolic size among the first dimensions "
                         "of the result");
    for (char letter : letters)
      size *= tensor.getSize(letter);
    shape.push_back(size);
  }
  return reshapeTo(call.builder, call.getLoc(), tensor.value, shape);
}

/// The sum of products of two tensors over the letters that `result` hasn't.
static FailureOr<Lettered> contract(TorchCall &call, const Lettered &lhs,
                                    const Lettered &rhs, StringRef result) {
  auto isShared = [&](char letter) { return rhs.has(letter); };
  auto isKept = [&](char letter) { return result.contains(letter); };
  std::string batch =
      pick(lhs.letters, [&](char c) { return isShared(c) && isKept(c); });
  std::string summed =
      pick(lhs.letters, [&](char c) { return isShared(c) && !isKept(c); });
  std::string rows = pick(lhs.letters, [&](char c) { return !isShared(c); });
  std::string columns = pick(rhs.letters, [&](char c) { return !lhs.has(c); });
  for (char letter : batch + summed)
    if (lhs.getSize(letter) != rhs.getSize(letter))
      return call.refuse("expected one size for `" + Twine(letter) + "`");

  SmallVector<std::string> lhsGroups = {rows, summed};
  SmallVector<std::string> rhsGroups = {summed, columns};
  if (!batch.empty()) {
    lhsGroups.insert(lhsGroups.begin(), batch);
    rhsGroups.insert(rhsGroups.begin(), batch);
  }
  FailureOr<Value> left =
      group(call, arrange(call, lhs, llvm::join(lhsGroups, "")), lhsGroups);
  if (failed(left))
    return failure();
  FailureOr<Value> right =
      group(call, arrange(call, rhs, llvm::join(rhsGroups, "")), rhsGroups);
  if (failed(right))
    return failure();
  auto leftType = cast<RankedTensorType>(left->getType());
  auto rightType = cast<RankedTensorType>(right->getType());
  RankedTensorType type =
      withColumns(leftType, getColumns(rightType), leftType.getElementType());
  FailureOr<Value> product = buildMatrixProduct(call, type, *left, *right);
  if (failed(product))
    return failure();
  Lettered whole;
  SmallVector<int64_t> shape;
  whole.letters = batch + rows + columns;
  for (char letter : whole.letters)
    shape.push_back(lhs.has(letter) ? lhs.getSize(letter)
                                    : rhs.getSize(letter));
  whole.value = reshapeTo(call.builder, call.getLoc(), *product, shape);
  return whole;
}

/// Splits `ij,jk->ik`; without an arrow the result has the letters that occur
/// once, in their order.
static LogicalResult parseEquation(TorchCall &call, StringRef equation,
                                   SmallVectorImpl<std::string> &operands,
                                   std::string &result) {
  std::string text = pick(equation, [](char c) { return c != ' '; });
  auto [left, right] = StringRef(text).split("->");
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  for (StringRef part : parts) {
    bool isPlain = llvm::all_of(part, llvm::isAlpha);
    bool isUnique =
        llvm::all_of(part, [&](char c) { return part.count(c) == 1; });
    if (!isPlain || !isUnique)
      return call.refuse("expected letters that occur once in an operand, but "
                         "got `" +
                         part + "`");
    operands.push_back(part.str());
  }
  result = right.str();
  if (StringRef(text).contains("->"))
    return success();
  for (char letter = 'A'; letter <= 'z'; ++letter)
    if (left.count(letter) == 1 && llvm::isAlpha(letter))
      result.push_back(letter);
  return success();
}

static LogicalResult convertEinsum(TorchCall &call) {
  FailureOr<StringRef> equation = call.string(0);
  if (failed(equation))
    return failure();
  FailureOr<SmallVector<TorchValue>> values = call.tensorList(1);
  if (failed(values))
    return failure();
  SmallVector<std::string> operands;
  std::string result;
  if (failed(parseEquation(call, *equation, operands, result)))
    return failure();
  if (operands.size() != values->size() || operands.empty() ||
      operands.size() > 2)
    return call.refuse("expected one or two operands, but got " +
                       Twine(values->size()));
  SmallVector<Lettered> tensors;
  for (auto [value, letters] : llvm::zip_equal(*values, operands)) {
    if (static_cast<int64_t>(letters.size()) != value.type.getRank())
      return call.refuse("expected a letter for each dimension, but got `" +
                         letters + "` and " + print(value.type));
    tensors.push_back({call.materialize(value), letters});
  }
  bool areFloats = llvm::all_of(tensors, [](const Lettered &tensor) {
    return isComputeFloat(tensor.getType().getElementType());
  });
  if (tensors.size() == 2 && !areFloats)
    return call.refuse("expected operand 1 to be f16, bf16, f32 or f64, but "
                       "got " +
                       print(tensors.front().getType()));
  for (auto [index, tensor] : llvm::enumerate(tensors)) {
    std::string others = result;
    if (tensors.size() == 2)
      others += operands[1 - index];
    FailureOr<Lettered> rest = sumAlone(call, tensor, others);
    if (failed(rest))
      return failure();
    tensors[index] = *rest;
  }
  Lettered whole = tensors.front();
  if (tensors.size() == 2) {
    FailureOr<Lettered> product =
        contract(call, tensors[0], tensors[1], result);
    if (failed(product))
      return failure();
    whole = *product;
  }
  if (whole.letters.size() != result.size() ||
      !llvm::all_of(result, [&](char c) { return whole.has(c); }))
    return call.refuse("expected the result's letters to be the operands', but "
                       "got `" +
                       result + "`");
  return call.set(0, arrange(call, whole, result).value);
}

void mlir::fuseops::addEinsumHandlers(TorchHandlers &handlers) {
  handlers.add("aten.einsum", 2, 3, convertEinsum);
}
