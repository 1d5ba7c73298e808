//===- KernelGroup.h - A memory group in core operations, ready for a kernel
//===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_KERNELGROUP_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_KERNELGROUP_H

#include "Access.h"
#include "FuseOps/Analysis/BlockValues.h"
#include "FuseOps/Analysis/OperationShape.h"
#include "FuseOps/Analysis/Product.h"
#include "FuseOps/Dialect/FuseOps/FuseOps.h"

namespace mlir::fuseops {

/// How a tensor lies over the iteration space of a kernel.
enum class Placement {
  Full,      ///< one element for each row and column
  PerRow,    ///< one element for each row
  RowVector, ///< one element for each column
  Scalar,    ///< one element
  Block      ///< one element for each block, or what is joined with such
};

/// A value that the kernel writes to one of its results.
struct Store {
  Value value;
  Access access;
  unsigned output; ///< number of the group's result
};

/// Columns of a contraction's result that the group reads as one matrix: all of
/// them, or a half of a GLU's input.
struct ProductPart {
  Value value;
  int64_t offset; ///< its first column
};

/// The body of a memory group, decomposed into core operations, and what the
/// kernel templates need to know of it.
class KernelGroup {
public:
  /// Decomposes the body of `group` in place. Fails with an error where no
  /// memory template can compute it.
  static FailureOr<KernelGroup> create(GroupOp group);

  GroupOp getGroup() const { return group; }
  IterationSpace getSpace() const { return space; }
  /// Whether a tile kernel computes it.
  bool isTile() const {
    return GroupOp(group).getKernelTemplate() == KernelTemplate::Tile;
  }
  /// The contraction whose result the others read, of template `gemm`.
  const std::optional<Product> &getProduct() const { return product; }
  ArrayRef<ProductPart> getProductParts() const { return productParts; }
  /// Whether the group reads the halves of the contraction's columns, element
  /// by element, in place of all of them.
  bool isHalved() const {
    return product && productParts.front().value != product->getResult();
  }
  /// Whether a block of the kernel sees parts of rows only.
  bool isOfTiles() const { return isTile() || product; }
  /// Which blocks `value` stands for; none where it has Placement::Block too:
  /// what is only joined with values of blocks.
  BlockShape getBlock(Value value) const { return blocks.lookup(value); }
  /// The blocks that `op` reduces or expands; not visited where it does
  /// neither.
  BlockShape getBlocksOf(Operation *op) const;
  Placement getPlacement(Value value) const;

  /// Passes over a row or tile that have to be made before `value` is known. A
  /// row kernel knows blocks along its row in the pass that reduces them.
  unsigned getLevel(Value value) const { return levels.lookup(value); }
  unsigned getNumLevels() const { return numLevels; }
  /// Whether `value` needs the result of a reduction over rows, or of one along
  /// rows of which each tile has a part: it is computed by a finalize kernel.
  bool isFinal(Value value) const {
    return finals.contains(value) || rowFinals.contains(value);
  }

  /// Core operations of the row or tile kernel, in order.
  ArrayRef<Operation *> getRowOps() const { return rowOps; }
  /// Pointwise operations of the finalize kernel, in order.
  ArrayRef<PointwiseOp> getFinalOps() const { return finalOps; }
  ArrayRef<ReduceRowsOp> getRowReductions() const { return rowReductions; }
  /// Beside a contraction: the reductions along rows that a finalize kernel
  /// ends.
  ArrayRef<ReduceColumnsOp> getColumnReductions() const {
    return columnReductions;
  }
  /// Whether `op` gives one element of the whole matrix, so that it is no
  /// matter which rows anyone sees. A kernel of rows adds them up one by one.
  bool isWhole(ReduceRowsOp op) const;
  /// The value whose elements `op` takes in.
  Value getReduced(ReduceRowsOp op) const;
  ArrayRef<Store> getStores() const { return stores; }
  /// What the row or tile kernel reads of memory or writes as it computed it,
  /// each value once. What is joined is read at other places, by the
  /// operation itself.
  SmallVector<Value> getReadValues() const;
  /// Whether the kernel writes all of `value` to memory.
  bool isStored(Value value) const;

  /// How `value`, a group argument or what is sliced, permuted or reshaped from
  /// one, lies in memory; no value where it is computed.
  std::optional<Access> getAccess(Value value) const;

  /// Whether `value` is broadcast over some leading dimensions only, so that it
  /// depends on the operation which of its rows it reads.
  bool isPartlyBroadcast(Value value) const;
  /// The access of such a value by an operation with results of type `context`.
  Access getPartialAccess(Value value, RankedTensorType context) const;
  /// The accesses to the inputs of a concatenation that is read, one for each
  /// that is not empty.
  SmallVector<Access> getPartAccesses(ConcatOp op) const;

private:
  LogicalResult findProduct();
  LogicalResult decompose();
  void findProductParts();
  LogicalResult findSpace();
  LogicalResult findLevels();
  LogicalResult addFinal(Operation &op);
  LogicalResult findStores();
  LogicalResult findStores(Value value, const View &view, unsigned output);
  LogicalResult verifyReads(Operation &op) const;
  bool isProduct(Operation *op) const { return product && product->op == op; }

  GroupOp group;
  std::optional<Product> product;
  SmallVector<ProductPart> productParts;
  IterationSpace space;
  DenseMap<Value, BlockShape> blocks;
  DenseMap<Value, unsigned> levels;
  unsigned numLevels = 1;
  DenseSet<Value> finals;
  DenseSet<Value> rowFinals; ///< of reductions along rows
  SmallVector<Operation *> rowOps;
  SmallVector<PointwiseOp> finalOps;
  SmallVector<ReduceRowsOp> rowReductions;
  SmallVector<ReduceColumnsOp> columnReductions;
  SmallVector<Store> stores;
};

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_KERNELGROUP_H
