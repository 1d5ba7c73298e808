//===- PointwiseTable.h - Pointwise operations as rows of a table --------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_CONVERSION_TORCHTOFUSEOPS_POINTWISETABLE_H
#define FUSEOPS_CONVERSION_TORCHTOFUSEOPS_POINTWISETABLE_H

#include "TorchCall.h"
#include "TorchMath.h"

namespace mlir::fuseops {

/// What a pointwise operation takes at one place.
struct Slot {
  enum class Kind {
    /// A tensor or a number, converted to the dtype of the computation.
    Value,
    /// A tensor whose elements aren't read: only its dtype counts.
    Dtype,
    /// As `Value`; None gives a null value.
    Optional,
    /// A tensor that is read as a bool, whatever the others are.
    Condition,
    /// A constant number or bool, which doesn't take part in promotion.
    Parameter,
    /// Anything; not read.
    Ignored,
  };
  Kind kind = Kind::Value;
  /// Parameter: the value if it's None or not there.
  std::optional<double> otherwise = std::nullopt;
  /// Whether the operand may be missing.
  bool isOptional = false;
  /// Value: whether a number is rounded to the dtype, as in a comparison; else
  /// it takes part as it is.
  bool isRounded = false;
};

namespace slots {
inline const Slot x{Slot::Kind::Value};
inline const Slot rounded{Slot::Kind::Value, std::nullopt, false, true};
/// A rounded value that may be None.
inline const Slot bound{Slot::Kind::Optional, std::nullopt, true, true};
inline const Slot dtype{Slot::Kind::Dtype};
inline const Slot condition{Slot::Kind::Condition};
inline const Slot parameter{Slot::Kind::Parameter};
inline const Slot ignored{Slot::Kind::Ignored, std::nullopt, true};
/// A parameter that has a default.
inline Slot parameterOr(double otherwise) {
  return {Slot::Kind::Parameter, otherwise, true};
}
/// A parameter that may be None.
inline const Slot maybe{Slot::Kind::Parameter, std::nullopt, true};
} // namespace slots

/// The dtype that an operation computes in and that of its result.
enum class Promotion {
  /// PyTorch's promotion of all values; it's the result's, too.
  Common,
  /// As `Common`, whatever dtype the program declares: PyTorch's fake tensor
  /// has
  /// another one than eager.
  Eager,
  /// As `Common`, bools as i64.
  Number,
  /// As `Common`, integers and bools as the default float.
  Float,
  /// As `Common` and as `Float`; the result is a bool.
  Predicate,
  FloatPredicate,
  /// The first value's dtype, which the others are converted to.
  First,
  /// f64.
  Double,
};

/// The dtypes that an operation computes in.
enum class Domain { Any, Float, Integer };

/// The operands of a body, by slot.
class PointwiseArguments {
public:
  /// The scalar of a value; null for None.
  Value operator[](unsigned slot) const { return values[slot]; }
  /// A parameter that is there or has a default.
  double number(unsigned slot) const { return *parameters[slot]; }
  std::optional<double> maybe(unsigned slot) const { return parameters[slot]; }

  SmallVector<Value> values;
  SmallVector<std::optional<double>> parameters;
};

using PointwiseBody =
    std::function<Value(TorchMath &, const PointwiseArguments &)>;

/// An operand of a pointwise operation: a tensor, or a constant.
struct PointwiseOperand {
  /// In PyTorch's promotion, a dtype counts only where no operand of a higher
  /// category has a dtype of that kind (bool, integer, float).
  enum class Category { Number, Scalar, Dimensioned };
  Category category = Category::Number;
  Type dtype;
  RankedTensorType type;
  /// Null for a constant.
  Value tensor;
  TorchNumber constant;
};

/// The operation under conversion, its operands read.
struct PointwiseCall {
  TorchCall &call;
  /// The dtype of the computation.
  Type dtype;
  RankedTensorType result;
  /// By slot; no value for None and for parameters.
  SmallVector<std::optional<PointwiseOperand>> operands;
  PointwiseArguments arguments;

  /// The tensor at `slot`, no wider than `dtype`; null for a constant and where
  /// the computation isn't one of floats.
  Value tensor(unsigned slot) const;
};

/// A named operation of FuseOps in place of the body; null where none fits.
using PointwiseNamed = std::function<Value(PointwiseCall &)>;

/// One row: operations that differ in the spelling only.
struct PointwiseRow {
  /// Names without `aten.`, separated by blanks.
  StringRef names;
  SmallVector<Slot> slots;
  Promotion promotion;
  PointwiseBody body;
  Domain domain = Domain::Any;
  PointwiseNamed named = nullptr;
};

/// Adds the conversions of `rows`.
void addPointwiseRows(TorchHandlers &handlers, ArrayRef<PointwiseRow> rows);

/// Converts an operation as `row` says.
LogicalResult convertPointwise(TorchCall &call, const PointwiseRow &row);

/// The dtype that PyTorch promotes `operands` to; `defaultFloat` is that of a
/// Python float among integers.
Type promote(ArrayRef<PointwiseOperand> operands, Type defaultFloat);

/// One result of `tensors`, computed in its dtype, which they are converted to.
Value buildPointwise(
    TorchCall &call, RankedTensorType result, ValueRange tensors,
    function_ref<Value(TorchMath &, ArrayRef<Value>)> function);

/// The approximation of gelu that the string operand `index` names.
FailureOr<GeluKind> readGeluKind(TorchCall &call, unsigned index);

/// `tensor` converted to `dtype` as PyTorch does.
Value buildCast(TorchCall &call, Value tensor, Type dtype);

void addArithmeticHandlers(TorchHandlers &handlers);
void addActivationHandlers(TorchHandlers &handlers);
void addActivationGradientHandlers(TorchHandlers &handlers);
void addComparisonHandlers(TorchHandlers &handlers);
void addUnaryHandlers(TorchHandlers &handlers);

} // namespace mlir::fuseops

#endif // FUSEOPS_CONVERSION_TORCHTOFUSEOPS_POINTWISETABLE_H
