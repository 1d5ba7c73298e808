//===- TorchCall.h - One torch operation and what it becomes ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_CONVERSION_TORCHTOFUSEOPS_TORCHCALL_H
#define FUSEOPS_CONVERSION_TORCHTOFUSEOPS_TORCHCALL_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Dialect/FuseOps/ScalarMath.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <optional>
#include <string>

namespace mlir::fuseops {

/// What a torch value became.
struct TorchValue {
  enum class Kind {
    /// `values[0]`.
    Tensor,
    /// The transpose of the matrix `values[0]`. No operation is made for it: a
    /// matrix product takes the transpose as a flag.
    Transposed,
    /// A list of tensors, `values`.
    List,
    /// A tensor whose elements are all `constant`.
    Splat,
  };
  Kind kind = Kind::Tensor;
  SmallVector<Value> values;
  double constant = 0.0;
  /// The type of the tensor; null for a list.
  RankedTensorType type;
};

/// The values of one function under conversion.
struct TorchValues {
  DenseMap<Value, TorchValue> values;
  /// Results of what couldn't be converted: their users stay silent.
  DenseSet<Value> failed;
  /// Returns the program's random state, which the first call adds as the last
  /// argument.
  std::function<Value()> getRandomState;
  /// Random operations so far.
  int64_t numRandom = 0;
};

/// The tensor type of a `!torch.vtensor`; null, with `reason` set, where
/// FuseOps has none.
RankedTensorType convertTorchType(Type type, std::string &reason);

/// Whether FuseOps computes with this element type.
bool isComputeFloat(Type type);

/// A number as a message spells it: `0.5`, `1e-06`.
std::string spell(double number);

/// The operation that a handler converts, also one spelled `torch.operator`.
///
/// Every accessor that fails has told the user why; so has `set`.
class TorchCall {
public:
  TorchCall(Operation *op, TorchValues &state, OpBuilder &builder);

  /// The operation's name without `torch.`: `aten.silu`.
  StringRef getName() const { return name; }
  Location getLoc() const { return op->getLoc(); }
  unsigned getNumOperands() const { return op->getNumOperands(); }
  unsigned getNumResults() const { return op->getNumResults(); }
  Operation *getOperation() const { return op; }

  /// Emits `` cannot convert `torch.X`: reason `` and a note at the place in
  /// the user's program where the location has one.
  LogicalResult refuse(const Twine &reason) const;

  /// Whether the operand is absent or None.
  bool isNone(unsigned index) const;
  FailureOr<int64_t> integer(unsigned index) const;
  FailureOr<int64_t> integerOr(unsigned index, int64_t otherwise) const;
  FailureOr<bool> booleanOr(unsigned index, bool otherwise) const;
  /// An integer, float or bool constant.
  FailureOr<double> number(unsigned index) const;
  FailureOr<double> numberOr(unsigned index, double otherwise) const;
  FailureOr<StringRef> string(unsigned index) const;
  FailureOr<SmallVector<int64_t>> integers(unsigned index) const;

  FailureOr<TorchValue> value(unsigned index) const;
  /// A tensor of any element type.
  FailureOr<Value> tensor(unsigned index) const;
  /// A tensor of an element type that FuseOps computes with.
  FailureOr<Value> floatTensor(unsigned index) const;
  /// As `floatTensor`; a null value where the operand is None.
  FailureOr<Value> optionalFloatTensor(unsigned index) const;
  /// As `floatTensor`, or a splat.
  FailureOr<TorchValue> floatOrSplat(unsigned index) const;
  /// As `floatTensor`, or a transpose.
  FailureOr<TorchValue> floatMatrix(unsigned index) const;
  FailureOr<SmallVector<Value>> tensorList(unsigned index) const;
  /// The operand's dimension number, from the front: checks that it's a
  /// dimension of a tensor of `rank`.
  FailureOr<int64_t> dimension(unsigned index, int64_t rank) const;
  /// As `dimension`, and it has to be the last one.
  LogicalResult lastDimension(unsigned index, int64_t rank) const;

  FailureOr<RankedTensorType> resultType(unsigned index = 0) const;
  /// As `resultType`, of an element type that FuseOps computes with.
  FailureOr<RankedTensorType> floatResultType(unsigned index = 0) const;
  bool isResultUsed(unsigned index) const;
  /// Makes `value` the result; its type has to be the result's.
  LogicalResult set(unsigned index, Value value) const;
  LogicalResult set(unsigned index, TorchValue value) const;

  /// A pointwise operation of `operands`, computed in f32 (f64 where a tensor
  /// is f64) and rounded once.
  Value
  pointwise(RankedTensorType result, ValueRange operands,
            function_ref<Value(ScalarMath &, ArrayRef<Value>)> body) const;

  TorchValues &state;
  OpBuilder &builder;

private:
  std::string describe(Value value) const;

  Operation *op;
  StringRef name;
};

/// Converts one operation, or refuses it.
using TorchHandler = std::function<LogicalResult(TorchCall &)>;

/// The conversions by the operation's name without `torch.`.
class TorchHandlers {
public:
  struct Entry {
    TorchHandler handler;
    unsigned minOperands, maxOperands;
  };

  /// Adds a conversion that takes `minOperands` to `maxOperands` operands.
  void add(StringRef name, unsigned minOperands, unsigned maxOperands,
           TorchHandler handler) {
    entries[name] = {std::move(handler), minOperands, maxOperands};
  }
  /// The conversion of an operation, or null.
  const Entry *lookup(StringRef name) const {
    auto it = entries.find(name);
    return it == entries.end() ? nullptr : &it->second;
  }

  /// All conversions.
  static const TorchHandlers &get();

private:
  llvm::StringMap<Entry> entries;
};

void addCastHandlers(TorchHandlers &handlers);
void addContractionHandlers(TorchHandlers &handlers);
void addLayoutHandlers(TorchHandlers &handlers);
void addNormHandlers(TorchHandlers &handlers);
void addPointwiseHandlers(TorchHandlers &handlers);
void addRandomHandlers(TorchHandlers &handlers);
void addReductionHandlers(TorchHandlers &handlers);

} // namespace mlir::fuseops

#endif // FUSEOPS_CONVERSION_TORCHTOFUSEOPS_TORCHCALL_H
