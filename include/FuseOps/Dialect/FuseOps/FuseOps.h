//===- FuseOps.h - The FuseOps dialect: types, attributes, operations ----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_FUSEOPS_H
#define FUSEOPS_DIALECT_FUSEOPS_FUSEOPS_H

#include "FuseOps/Dialect/FuseOps/Extent.h"
#include "FuseOps/Dialect/FuseOps/ScalarMath.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "FuseOps/Dialect/FuseOps/FuseOpsDialect.h.inc"
#include "FuseOps/Dialect/FuseOps/FuseOpsEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "FuseOps/Dialect/FuseOps/FuseOpsTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "FuseOps/Dialect/FuseOps/FuseOpsAttributes.h.inc"

namespace mlir::fuseops {

class GluOpInterface;
class ReturnOp;
class ScalarMath;

namespace detail {
/// Default of FusibleOpInterface::getIterationSpace: the operand or result with
/// the most elements (a dynamic extent counts as more than any static one).
RankedTensorType largestTensor(Operation *op);
/// Default of FusibleOpInterface::decompose: a clone of `op` on `operands`.
SmallVector<Value> cloneWith(Operation *op, OpBuilder &builder,
                             ValueRange operands);
/// What every gated linear unit does: its verifier, the space of its result (in
/// the blocks of an interleaved input), its decomposition and its gradients.
LogicalResult verifyGlu(Operation *op);
RankedTensorType getGluSpace(GluOpInterface glu);
SmallVector<Value> decomposeGlu(GluOpInterface glu, OpBuilder &builder,
                                ValueRange operands);
SmallVector<Value> buildGluGradients(GluOpInterface glu, OpBuilder &builder,
                                     ValueRange gradients,
                                     ArrayRef<bool> needed);
} // namespace detail

/// Name of the argument attribute that says that nobody asks for a gradient.
constexpr StringLiteral kFrozenAttr = "fuseops.frozen";
/// Name of the argument attribute of the seed and offset of random operations.
constexpr StringLiteral kRandomStateAttr = "fuseops.random_state";

/// Name of the argument attribute of state, such as delayed scaling's: the
/// number of the result that replaces it; a unit attribute where backward's
/// gradient of the argument is what replaces it.
constexpr StringLiteral kStateAttr = "fuseops.state";
/// Name of the argument attribute of weights: what forward's products have on
/// their right, and quantize as a weight.
constexpr StringLiteral kWeightAttr = "fuseops.weight";
/// Name of the attribute of a state argument of scales that lists what the
/// caller may call their tensors: `name.input`, `name.weight`, `name.gradient`.
constexpr StringLiteral kTensorsAttr = "fuseops.tensors";
/// Name of what the caller calls a contraction, for `kTensorsAttr`.
constexpr StringLiteral kNameAttr = "fuseops.name";
/// Name of the argument attribute of what the fusible of a fusible's
/// `kPrepareAttr` computes: the number of its result.
constexpr StringLiteral kPreparedAttr = "fuseops.prepared";
/// Name of the attribute that names the fusible that quantizes the weights, and
/// of its arguments': the number among the weights that each is.
constexpr StringLiteral kPrepareAttr = "fuseops.prepare";
/// Name of the recipe of a fusible or of one contraction.
constexpr StringLiteral kRecipeAttr = "fuseops.recipe";

/// Marks an operation that backward computes again instead of reading a saved
/// value. Only the report reads it: eager execution would not compute it.
constexpr StringLiteral kRecomputedAttr = "fuseops.recomputed";

/// Whether tensors may have elements of type `type`: f16, bf16, f32, f64, the
/// FP8 types of quantized data, i1, i8, ui8, i16, i32, i64.
bool isElementType(Type type);

/// The type in which an element of type `type` is computed: f32 for narrower
/// floats, i8 for ui8, the type itself otherwise.
Type getComputeType(Type type);

/// The type in which elements of type `element` are reduced: i64 for integers,
/// the compute type of floats.
Type getAccumulatorType(Type element);

/// Converts a scalar or vector `value` that stands for elements of type `from`,
/// in its compute or accumulator type, to the compute type of `to`, as PyTorch
/// converts: a float rounds once to a narrower compute type and is truncated to
/// an integer, an integer wraps, and to i1 whatever is not 0 is true.
Value convertElement(OpBuilder &builder, Location loc, Value value, Type from,
                     Type to);

/// The tensor type of `type`'s shape with its element type's compute type.
RankedTensorType getComputeTensor(Type type);

/// A tensor type of `shape`. Where that has a `?` it is the one of `like`: its
/// encoding, which says what the `?` counts, is that of `like`.
RankedTensorType getTensorLike(RankedTensorType like, ArrayRef<int64_t> shape,
                               Type elementType);

/// `type` with its last extent replaced by `columns`.
RankedTensorType withColumns(RankedTensorType type, int64_t columns,
                             Type elementType);

/// Extent of the last dimension; 1 for a scalar.
int64_t getColumns(RankedTensorType type);

/// The shape of the blocks of `rows` x `columns` of `type`, a matrix, with
/// `element`s: `ceil` of each extent. Of a dynamic extent that counts blocks of
/// more than one row the encoding is `#fuseops.blocks`.
RankedTensorType getBlocksType(RankedTensorType type, int64_t rows,
                               int64_t columns, Type element);

/// Whether `from` broadcasts to `to` by NumPy's rules, a dynamic extent only to
/// a dynamic one that counts the same.
bool isBroadcastableTo(RankedTensorType from, RankedTensorType to);

} // namespace mlir::fuseops

#include "FuseOps/Dialect/FuseOps/FuseOpsInterfaces.h.inc"

#define GET_OP_CLASSES
#include "FuseOps/Dialect/FuseOps/FuseOpsOps.h.inc"

#endif // FUSEOPS_DIALECT_FUSEOPS_FUSEOPS_H
