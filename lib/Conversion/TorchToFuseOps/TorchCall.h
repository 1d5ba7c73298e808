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
#include "TorchMath.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <optional>
#include <string>

namespace mlir::fuseops {

/// What a torch value became.
///
/// A size that is k times the symbolic one, as flattening makes it, is two
/// dimensions here, `?` and k: every `?` of a program stands for one number,
/// and the operations of FuseOps that go row by row don't mind.
struct TorchValue {
  enum class Kind {
    /// `values[0]`.
    Tensor,
    /// A list of tensors, `values`.
    List,
    /// A tensor whose elements are all `constant`.
    Splat,
  };
  Kind kind = Kind::Tensor;
  SmallVector<Value> values;
  TorchNumber constant;
  /// The type of the tensor; null for a list.
  RankedTensorType type;
  /// How many times the symbolic size the symbolic dimension is in PyTorch.
  int64_t multiple = 1;
  /// Whether PyTorch has a number here, of rank 0: it doesn't take part in type
  /// promotion as a tensor does.
  bool isNumber = false;

  bool isSplat() const { return kind == Kind::Splat; }
  /// The rank that PyTorch sees.
  int64_t getRank() const { return type.getRank() - (multiple > 1); }
  /// The dimension of `type` that PyTorch calls `dim`, the first of two for the
  /// symbolic one.
  int64_t getDim(int64_t dim) const;
  /// Whether PyTorch's dimension `dim` is two of `type`.
  bool isSplit(int64_t dim) const;
  /// The dimensions of `type` that PyTorch's `dims` are.
  SmallVector<int64_t> getDims(ArrayRef<int64_t> dims) const;

  static TorchValue get(Value value, int64_t multiple = 1);
};

/// The values of one function under conversion.
struct TorchValues {
  llvm::DenseMap<Value, TorchValue> values;
  /// Results of what couldn't be converted: their users stay silent.
  llvm::DenseSet<Value> failed;
  /// What is written to arguments, in the order of the first writes.
  llvm::MapVector<Value, Value> written;
  /// Returns the program's random state, which the first call adds as the last
  /// argument.
  std::function<Value()> getRandomState;
  /// Random operations so far.
  int64_t numRandom = 0;
  /// The symbolic size as a tensor, where something computes with it.
  Value symbol;
};

/// The tensor type of a `!torch.vtensor` or `!torch.tensor`, whose symbolic
/// size is `multiple` times the program's, or of a number; null, with `reason`
/// set, where FuseOps has none. FP8 is held in bf16 (Float8.h).
RankedTensorType convertTorchType(Type type, std::string &reason,
                                  int64_t multiple = 1);

/// A Python number's type as a tensor of rank 0; null for another type.
RankedTensorType getNumberType(Type type);

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
  /// As `number`, with all bits of an integer.
  FailureOr<TorchNumber> exactNumber(unsigned index) const;
  FailureOr<StringRef> string(unsigned index) const;
  FailureOr<SmallVector<int64_t>> integers(unsigned index) const;
  FailureOr<SmallVector<bool>> booleans(unsigned index) const;

  /// An integer that is a constant or computed from the symbolic size.
  FailureOr<Extent> size(unsigned index) const;
  FailureOr<SmallVector<Extent>> sizes(unsigned index) const;
  /// The integer `value`, where it's a constant or computed from sizes.
  std::optional<Extent> evaluate(Value value) const;

  FailureOr<TorchValue> value(unsigned index) const;
  /// As `value`; a number is a splat of rank 0, or a tensor of rank 0 where
  /// it's not constant.
  FailureOr<TorchValue> valueOrNumber(unsigned index) const;
  /// A tensor of any element type. A splat becomes an operation.
  FailureOr<Value> tensor(unsigned index) const;
  /// A tensor of an element type that FuseOps computes with.
  FailureOr<Value> floatTensor(unsigned index) const;
  /// As `floatTensor`; a null value where the operand is None.
  FailureOr<Value> optionalFloatTensor(unsigned index) const;
  /// As `floatTensor`, or a splat.
  FailureOr<TorchValue> floatOrSplat(unsigned index) const;
  FailureOr<SmallVector<TorchValue>> tensorList(unsigned index) const;
  /// The operand's dimension number as PyTorch counts, from the front: checks
  /// that it's a dimension of a tensor of `rank`. A tensor of rank 0 has
  /// dimension 0.
  FailureOr<int64_t> dimension(unsigned index, int64_t rank) const;
  /// The dimensions that the operand lists, in its order; all of them where
  /// it's None or, with `isEmptyAll`, an empty list.
  FailureOr<SmallVector<int64_t>> dimensions(unsigned index, int64_t rank,
                                             bool isEmptyAll = true) const;

  /// The type of a result; its symbolic size is that of the operands.
  FailureOr<RankedTensorType> resultType(unsigned index = 0) const;
  /// As `resultType`, with a symbolic size of `multiple` times the program's.
  FailureOr<RankedTensorType> resultType(unsigned index,
                                         int64_t multiple) const;
  /// As `resultType`, of an element type that FuseOps computes with.
  FailureOr<RankedTensorType> floatResultType(unsigned index = 0) const;
  /// How many times the symbolic size the operands' is; refuses where they
  /// differ.
  FailureOr<int64_t> multiple() const;
  bool isResultUsed(unsigned index) const;
  /// Makes `value` the result; its type has to be the result's.
  LogicalResult set(unsigned index, Value value) const;
  LogicalResult set(unsigned index, TorchValue value) const;
  /// As `set`, with elements of another type than the program declares.
  LogicalResult setUndeclared(unsigned index, Value value) const;
  /// As `set`, with `value` reshaped where only dimensions of 1 differ, and
  /// converted to the result's elements.
  LogicalResult setConverted(unsigned index, Value value) const;
  /// An integer computed from the symbolic size, as a tensor of rank 0.
  Value buildSize(Extent size) const;
  /// The tensor of a value that is no list.
  Value materialize(const TorchValue &value) const;

  /// A pointwise operation of `operands`, computed in f32 (f64 where a tensor
  /// is f64) and rounded once.
  Value
  pointwise(RankedTensorType result, ValueRange operands,
            function_ref<Value(ScalarMath &, ArrayRef<Value>)> body) const;

  TorchValues &state;
  OpBuilder &builder;

private:
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
    /// Whether tensors may be FP8: what only moves or converts elements.
    bool takesFloat8;
  };

  /// Adds a conversion that takes `minOperands` to `maxOperands` operands.
  void add(StringRef name, unsigned minOperands, unsigned maxOperands,
           TorchHandler handler) {
    entries[name] = {std::move(handler), minOperands, maxOperands, takesFloat8};
  }
  /// Says it of the conversions that are added from here on.
  void setTakesFloat8(bool takes) { takesFloat8 = takes; }
  /// The conversion of an operation, or null.
  const Entry *lookup(StringRef name) const {
    auto it = entries.find(name);
    return it == entries.end() ? nullptr : &it->second;
  }
  /// The names of all operations that have one, in no order.
  auto names() const { return entries.keys(); }

  /// All conversions.
  static const TorchHandlers &get();

private:
  llvm::StringMap<Entry> entries;
  bool takesFloat8 = false;
};

/// `value` with dimension i being its `order[i]`, as one permutation where it's
/// permuted already.
Value buildPermute(TorchCall &call, Value value, ArrayRef<int64_t> order);
/// A type as a message shows it.
std::string print(Type type);
/// Where a value comes from, for a message.
std::string describeValue(Value value);
/// The number that `value` is, where it's a constant.
std::optional<TorchNumber> getConstantNumber(Value value);
/// The elements of a list that the program spells out; fails otherwise.
FailureOr<OperandRange> getListElements(Value list);

void addBitViewHandlers(TorchHandlers &handlers);
void addCastHandlers(TorchHandlers &handlers);
void addContractionHandlers(TorchHandlers &handlers);
void addLayoutHandlers(TorchHandlers &handlers);
void addLiteralHandlers(TorchHandlers &handlers);
void addLossHandlers(TorchHandlers &handlers);
void addNormHandlers(TorchHandlers &handlers);
void addNormBackwardHandlers(TorchHandlers &handlers);
void addPointwiseHandlers(TorchHandlers &handlers);
void addRandomHandlers(TorchHandlers &handlers);
void addReductionHandlers(TorchHandlers &handlers);
void addScaledProductHandlers(TorchHandlers &handlers);
void addShuffleHandlers(TorchHandlers &handlers);
void addSliceHandlers(TorchHandlers &handlers);
void addSoftmaxHandlers(TorchHandlers &handlers);
void addTensorFactoryHandlers(TorchHandlers &handlers);

} // namespace mlir::fuseops

#endif // FUSEOPS_CONVERSION_TORCHTOFUSEOPS_TORCHCALL_H
