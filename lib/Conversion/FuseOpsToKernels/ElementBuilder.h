//===- ElementBuilder.h - Loads, stores and scalar bodies on vectors -----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_ELEMENTBUILDER_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_ELEMENTBUILDER_H

#include "KernelGroup.h"
#include "Schedule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::fuseops {

/// Part of a row's and of a column's number; null is zero.
struct Place {
  Value row, column;
};

/// The elements that one step of a kernel computes: `width` neighbours of one
/// row, from column `column` on.
struct Element {
  Value row;
  Value column;
  /// None, or what `row` and `column` are the sums of, from what most elements
  /// share to what is this one's own: where an address is such a sum too, it is
  /// taken in these steps, most of which are computed once.
  SmallVector<Place, 4> parts;
  /// Of a tile kernel for CUDA: where in the tile the element is, or would be
  /// if the matrix had it.
  Place inTile;
  int64_t width = 1;
  /// Null, or whether these elements exist: those of a tail read what the last
  /// ones read and are stored nowhere.
  Value isValid;
  /// What has been computed of these elements.
  DenseMap<Value, Value> values;
  /// What has been read of them, as it is in memory.
  DenseMap<Value, Value> stored;
};

bool isFp8(Type type);

/// Shared memory of a thread block.
struct Shared {
  Value pointer;
  Type slot; ///< the widest type that a slot holds
};

struct ColumnSearch;

/// Writes what kernels are made of at the insertion point: the same operations
/// on scalars and on vectors, for the CPU and for CUDA.
class ElementBuilder {
public:
  ElementBuilder(const KernelGroup &group, KernelDevice device,
                 bool roundIntermediates, OpBuilder &builder, Location loc)
      : b(builder), loc(loc), group(group), device(device),
        roundIntermediates(roundIntermediates) {}

  Value constant(int64_t value);
  /// An extent as a number.
  Value constant(Extent extent);
  /// `type` itself, or a vector of `width` of it.
  Type widened(Type type, int64_t width);
  Value splat(Value scalar, int64_t width);
  /// `value`, of one or several neighbours each, for `width` elements.
  Value repeat(Value value, int64_t width);
  /// Which of `width` neighbours each lane of a vector has.
  SmallVector<int64_t> laneOrder(int64_t width);
  /// A vector from or for memory, where neighbours are in order.
  Value toLanes(Value inMemory);
  Value toMemory(Value lanes);

  /// The elements of `value` at `element`, in its compute type.
  Value compute(Value value, Element &element);
  /// The operation's operands at `element`.
  SmallVector<Value> computeOperands(PointwiseOp op, Element &element);
  /// `value`, computed for `output`, rounded where that is seen rounded.
  Value roundResult(Value output, Value value);
  /// The operation's results for operands that are scalars or vectors.
  void computeBody(PointwiseOp op, ValueRange operands, Element &element,
                   DenseMap<Value, Value> &results);

  /// Loads what `value`, which is in memory, has at `element`, so that
  /// `compute` finds it there.
  void read(Value value, Element &element);
  Value load(const Access &access, const Element &element);
  /// `width` elements as `load` gives them, from where the caller has put them;
  /// `pointer` is a multiple of their size.
  Value loadFrom(Value pointer, Type element, int64_t width);
  void store(Value value, const Access &access, const Element &element);
  /// `value` in the type that elements of type `element` have in memory.
  Value toStored(Value value, Type element);
  /// Where `element` lies.
  Value pointerTo(const Access &access, const Element &element);
  /// Loads or stores in the accumulator's type, without conversion. `index` is
  /// a multiple of `aligned`, as is the pointer.
  Value loadRaw(Value pointer, Value index, Type type, int64_t width,
                int64_t aligned = 1);
  void storeRaw(Value value, Value pointer, Value index, int64_t aligned = 1);
  /// CUDA: shared memory of `kernel`, `count` slots that hold a value of any of
  /// `types` each. What has one name is one memory.
  Shared getShared(func::FuncOp kernel, const Twine &name, TypeRange types,
                   int64_t count);
  Value loadSlot(const Shared &shared, Value slot, Type type);
  void storeSlot(Value value, const Shared &shared, Value slot);

  /// `width` neutral elements of a reduction of `element`s, in their
  /// accumulator type.
  Value identity(ReductionKind kind, Type element, int64_t width);
  /// What a reduction of `element`s takes in of `value`, in their accumulator
  /// type: the neutral element where `isValid`, if there is one, does not hold.
  Value addend(ReductionKind kind, Type element, Value value, Value isValid);
  /// One step of a reduction, and all elements of a vector in a fixed order.
  Value combine(ReductionKind kind, Value lhs, Value rhs);
  Value combineAll(ReductionKind kind, Value value);
  /// CUDA: the value of the thread of the warp whose number differs by the bit
  /// `offset`.
  Value shuffle(Value value, int64_t offset);
  /// CUDA: combines the values of the threads of a warp whose numbers differ in
  /// the bits from `from` down to `to`.
  Value combineLanes(ReductionKind kind, Value value, int64_t from, int64_t to);

  OpBuilder &b;
  Location loc;
  /// CUDA: vectors are stored so that the cache gives them up first.
  bool streamsStores = false;
  /// CPU: a vector has the elements of even columns before those of odd ones,
  /// so that two bf16 of a word become f32, and f32 become such a word, in
  /// place.
  bool splitsPairs = false;
  /// Number of rows that the kernel visits; null where it has one.
  Value rows;
  /// Pointer of each tensor: group arguments and yielded values.
  DenseMap<Value, Value> pointers;
  /// Scalars, and the values of the row being computed.
  DenseMap<Value, Value> rowValues;
  /// Of a tile kernel: the elements of what an operation expands.
  std::function<Value(ExpandBlocksOp op, const Element &element)> readBlock;

private:
  Value address(Value pointer, Value index, Type element);
  /// Elements as they are in memory, in their compute type.
  Value toComputed(Value stored, Type element);
  /// Loads in the type that elements have in memory.
  Value loadStored(const Access &access, const Element &element);
  /// Loads as many elements as `element` has, of one or of all columns.
  Value loadWide(const Access &access, const Element &element);
  /// `value`, repeated where it is one of all columns.
  Value widen(Value value, const Element &element);
  Value computeConcat(ConcatOp op, const Element &element);
  Value indices(ArrayRef<int64_t> values);
  Value firstIndexOf(Operation *index, Placement placement, int64_t pitch,
                     const Element &element);
  SmallVector<Value>
  computeSearch(const ColumnSearch &search, const Element &element,
                int64_t width,
                function_ref<SmallVector<Value>(Value answer)> emit);
  Value scale(Value number, Extent stride);
  Value indexOf(const Access &access, const Element &element);
  Value advance(Value pointer, const Access &access, const Place &part);
  Value indexIn(const RowDigit &digit, const Element &element);
  bool storeWords(Value value, Value pointer, Value isValid);
  Value neighbour(Value first, const Access &access, int64_t number);
  int64_t alignmentOf(const Access &access, int64_t width);
  Value narrow(Value value, Type element);

  const KernelGroup &group;
  KernelDevice device;
  bool roundIntermediates;
};

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_ELEMENTBUILDER_H
