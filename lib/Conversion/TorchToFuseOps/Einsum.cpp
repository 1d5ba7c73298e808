//===- Einsum.cpp - Einstein sums ----------------------------------------===//
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

namespace {
/// An equation with a letter for each dimension.
struct Equation {
  SmallVector<std::string> operands;
  std::string result;

  /// Reads `ij,jk->ik` for operands of these ranks. `...` stands for letters
  /// that the equation hasn't; without an arrow they come first in the result,
  /// then the letters that occur once, in their order.
  static FailureOr<Equation> parse(TorchCall &call, StringRef text,
                                   ArrayRef<int64_t> ranks);
};
} // namespace

constexpr StringLiteral kEllipsis("...");

/// The letters that `...` stands for, `text` having none of them.
static std::string getFreshLetters(StringRef text, int64_t count) {
  std::string fresh;
  for (char letter = 'A'; letter <= 'z'; ++letter)
    if (llvm::isAlpha(letter) && !text.contains(letter) &&
        static_cast<int64_t>(fresh.size()) < count)
      fresh.push_back(letter);
  return fresh;
}

/// `part` with `letters` in the place of `...`.
static std::string replaceEllipsis(StringRef part, StringRef letters) {
  auto [before, after] = part.split(kEllipsis);
  if (before == part)
    return part.str();
  return (before + letters + after).str();
}

FailureOr<Equation> Equation::parse(TorchCall &call, StringRef text,
                                    ArrayRef<int64_t> ranks) {
  std::string packed = pick(text, [](char c) { return c != ' '; });
  auto [left, right] = StringRef(packed).split("->");
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  if (parts.size() != ranks.size())
    return call.refuse("expected " + Twine(parts.size()) +
                       " operands, but got " + Twine(ranks.size()));
  SmallVector<int64_t> hidden;
  for (auto [part, rank] : llvm::zip_equal(parts, ranks)) {
    bool hasEllipsis = part.contains(kEllipsis);
    int64_t letters = part.size() - (hasEllipsis ? kEllipsis.size() : 0);
    if (!llvm::all_of(replaceEllipsis(part, ""), llvm::isAlpha) ||
        letters > rank || (letters < rank && !hasEllipsis))
      return call.refuse("expected a letter for each of " + Twine(rank) +
                         " dimensions, but got `" + part + "`");
    hidden.push_back(rank - letters);
  }
  int64_t most = *llvm::max_element(hidden);
  std::string fresh = getFreshLetters(packed, most);
  if (static_cast<int64_t>(fresh.size()) < most)
    return call.refuse("expected at most 52 different dimensions");
  Equation equation;
  for (auto [part, count] : llvm::zip_equal(parts, hidden))
    equation.operands.push_back(
        replaceEllipsis(part, StringRef(fresh).take_back(count)));
  if (StringRef(packed).contains("->")) {
    equation.result = replaceEllipsis(right, fresh);
    return equation;
  }
  equation.result = fresh;
  for (char letter = 'A'; letter <= 'z'; ++letter)
    if (left.count(letter) == 1 && llvm::isAlpha(letter))
      equation.result.push_back(letter);
  return equation;
}

/// The first two dimensions that share a letter.
static std::optional<std::pair<size_t, size_t>> findPair(StringRef letters) {
  for (auto [first, letter] : llvm::enumerate(letters)) {
    size_t second = letters.find(letter, first + 1);
    if (second != StringRef::npos)
      return std::pair(first, second);
  }
  return std::nullopt;
}

/// The tensor with one dimension for each letter: the diagonal of those that
/// share one.
static FailureOr<Lettered> takeDiagonals(TorchCall &call, Lettered tensor) {
  while (auto pair = findPair(tensor.letters)) {
    auto [first, second] = *pair;
    char letter = tensor.letters[first];
    int64_t size = tensor.getType().getDimSize(first);
    if (size != tensor.getType().getDimSize(second) ||
        ShapedType::isDynamic(size))
      return call.refuse("expected one known size for `" + Twine(letter) + "`");
    // Side by side the two are one dimension, whose elements `size + 1` apart
    // are the diagonal.
    SmallVector<int64_t> order, shape;
    std::string letters;
    for (size_t dim = 0; dim < tensor.letters.size(); ++dim) {
      if (dim == first || dim == second)
        continue;
      order.push_back(dim);
      shape.push_back(tensor.getType().getDimSize(dim));
      letters.push_back(tensor.letters[dim]);
    }
    order.append({static_cast<int64_t>(first), static_cast<int64_t>(second)});
    shape.push_back(size * size);
    Value flat = reshapeTo(call.builder, call.getLoc(),
                           buildPermute(call, tensor.value, order), shape);
    shape.back() = size;
    auto type = RankedTensorType::get(shape, tensor.getType().getElementType());
    Value diagonal = SliceOp::create(call.builder, call.getLoc(), type, flat,
                                     shape.size() - 1, 0, size + 1);
    tensor = {diagonal, letters + letter};
  }
  return tensor;
}

/// The tensor without the dimensions of 1 that broadcast to another's size.
static Lettered dropBroadcast(TorchCall &call, const Lettered &tensor,
                              ArrayRef<Lettered> all) {
  Lettered rest;
  SmallVector<int64_t> shape;
  for (char letter : tensor.letters) {
    bool isBroadcast = tensor.getSize(letter) == 1 &&
                       llvm::any_of(all, [&](const Lettered &other) {
                         return other.has(letter) && other.getSize(letter) != 1;
                       });
    if (isBroadcast)
      continue;
    rest.letters.push_back(letter);
    shape.push_back(tensor.getSize(letter));
  }
  rest.value = reshapeTo(call.builder, call.getLoc(), tensor.value, shape);
  return rest;
}

/// The operands, each with one dimension a letter.
static FailureOr<SmallVector<Lettered>>
readOperands(TorchCall &call, ArrayRef<TorchValue> values,
             const Equation &equation) {
  SmallVector<Lettered> tensors;
  Type element = values.front().type.getElementType();
  for (auto [value, letters] : llvm::zip_equal(values, equation.operands)) {
    if (value.type.getElementType() != element ||
        !(isComputeFloat(element) || isa<IntegerType>(element)))
      return call.refuse("expected operands of one dtype, but got " +
                         print(value.type) + " and " + print(element));
    FailureOr<Lettered> tensor =
        takeDiagonals(call, {call.materialize(value), letters});
    if (failed(tensor))
      return failure();
    tensors.push_back(*tensor);
  }
  SmallVector<Lettered> dropped;
  for (const Lettered &tensor : tensors)
    dropped.push_back(dropBroadcast(call, tensor, tensors));
  return dropped;
}

static LogicalResult convertEinsum(TorchCall &call) {
  FailureOr<StringRef> text = call.string(0);
  if (failed(text))
    return failure();
  FailureOr<SmallVector<TorchValue>> values = call.tensorList(1);
  if (failed(values))
    return failure();
  auto ranks = llvm::map_to_vector(
      *values, [](const TorchValue &value) { return value.type.getRank(); });
  FailureOr<Equation> equation = Equation::parse(call, *text, ranks);
  if (failed(equation))
    return failure();
  FailureOr<SmallVector<Lettered>> tensors =
      readOperands(call, *values, *equation);
  if (failed(tensors))
    return failure();

  // What later operands or the result need is kept.
  SmallVector<std::string> needed(tensors->size(), equation->result);
  for (size_t i = tensors->size() - 1; i > 0; --i)
    needed[i - 1] = needed[i] + (*tensors)[i].letters;
  FailureOr<Lettered> whole = sumAlone(call, tensors->front(), needed.front());
  for (size_t i = 1; succeeded(whole) && i < tensors->size(); ++i) {
    FailureOr<Lettered> next =
        sumAlone(call, (*tensors)[i], needed[i] + whole->letters);
    if (failed(next))
      return failure();
    whole = contract(call, *whole, *next, needed[i]);
  }
  if (failed(whole))
    return failure();
  const std::string &result = equation->result;
  if (whole->letters.size() != result.size() ||
      !llvm::all_of(result, [&](char c) { return whole->has(c); }))
    return call.refuse("expected the result's letters to be the operands', but "
                       "got `" +
                       result + "`");
  return call.set(0, arrange(call, *whole, result).value);
}

void mlir::fuseops::addEinsumHandlers(TorchHandlers &handlers) {
  handlers.add("aten.einsum", 2, 3, convertEinsum);
}
