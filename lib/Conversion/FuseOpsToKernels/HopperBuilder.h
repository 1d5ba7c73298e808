//===- HopperBuilder.h - Instructions of sm_90a ---------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_HOPPERBUILDER_H
#define FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_HOPPERBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace mlir::fuseops {

/// The types of a product's operands, as `wgmma` names them.
struct MmaTypes {
  StringRef a, b;
  bool transposesA = false; ///< 16-bit types: the rows of a lie side by side
  bool transposesB = false;
};

/// Writes numbers of 32 bits and the instructions of a warp-specialised
/// kernel at the insertion point (PTX ISA, sections `mbarrier`, `wgmma`,
/// `cp.async.bulk`). Addresses of shared memory are numbers of 32 bits. What
/// NVVM has no operation for, or one that hides what an instruction waits for,
/// is inline PTX, one instruction each.
class HopperBuilder {
public:
  HopperBuilder(OpBuilder &builder, Location loc) : b(builder), loc(loc) {}

  Value constant(int64_t value);
  Value add(Value x, Value y);
  Value add(Value x, int64_t y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  Value mul(Value x, int64_t y);
  Value divide(Value x, Value y);
  Value remainder(Value x, Value y);
  Value shiftLeft(Value x, int64_t bits);
  Value shiftRight(Value x, int64_t bits);
  Value bitAnd(Value x, int64_t mask);
  Value bitOr(Value x, Value y);
  Value bitXor(Value x, Value y);
  Value bitXor(Value x, int64_t mask);
  Value minimum(Value x, Value y);
  Value select(Value condition, Value x, Value y);
  Value isEqual(Value x, int64_t y);
  Value isNotEqual(Value x, int64_t y);
  Value isLess(Value x, Value y);
  /// Does `body` where `condition` holds.
  void when(Value condition, function_ref<void()> body);
  /// `from`, `from + step`, … below `to`, with values that each iteration gets
  /// and gives on; returns the last ones.
  SmallVector<Value>
  loop(Value from, Value to, Value step, ValueRange state,
       function_ref<SmallVector<Value>(Value index, ValueRange state)> body);

  /// The same, below what `to` finds out each time anew: no register keeps it.
  SmallVector<Value> loopBelow(
      Value from, function_ref<Value()> to, Value step, ValueRange state,
      function_ref<SmallVector<Value>(Value index, ValueRange state)> body);

  /// The number of the thread, as if it were another each time.
  Value readThread();
  /// The value that the first thread of the warp has: known to be one for all.
  Value uniform(Value value);
  /// `value` of 32 bits: what is computed of it is computed after this, and no
  /// register keeps it from before.
  Value opaque(Value value);
  /// The value of the thread of the warp of number `lane`.
  Value shuffle(Value value, Value lane);
  /// Bytes of two words, chosen by the four digits of `selector`.
  Value permute(Value x, Value y, Value selector);
  void syncWarp();
  /// Waits for `threads` threads that come to barrier `id`, with or without
  /// waiting themselves.
  void syncNamed(Value id, int64_t threads);
  void arriveNamed(Value id, int64_t threads);
  void decreaseRegisters(int64_t count);
  void increaseRegisters(int64_t count);

  void initBarrier(Value barrier, int64_t arrivals);
  /// Makes barriers that were initialised known to the copy engine.
  void fenceBarriers();
  void arrive(Value barrier);
  /// Arrives, and expects `bytes` of copies.
  void expect(Value barrier, int64_t bytes);
  /// Waits for the end of the phase of `parity`. A wait of two seconds is a
  /// fault: then the kernel writes to an address that nothing has, so that it
  /// ends with an error. (ptxas 13.0 spills registers around a `trap`.)
  void wait(Value barrier, Value parity);

  /// The address that `address` of shared memory has in the cluster's block of
  /// number `rank`.
  Value mapShared(Value address, Value rank);
  /// Stores 32 bits in another block's memory and tells a barrier there, which
  /// counts their bytes.
  void storeRemote(Value address, Value value, Value barrier);
  /// Waits for all threads of the cluster.
  void syncCluster();

  void prefetchMap(Value map);
  /// Has the L2 cache fetch the line of an address in global memory.
  void prefetchLine(Value pointer);
  /// Copies a box from column `x` and row `y` on to shared memory, or back.
  void load(Value target, Value map, Value x, Value y, Value barrier);
  void store(Value map, Value x, Value y, Value source);
  void commitStores();
  /// Waits until all but the last `pending` stores have read, or have written.
  void waitStoresRead(int64_t pending);
  void waitStores();
  /// Makes what this thread wrote to shared memory visible to the copy engine.
  void fenceShared();
  /// Stores four 8x8 matrices of 16 bits, whose rows, or columns, lie where the
  /// threads say.
  void storeMatrices(Value address, ArrayRef<Value> words,
                     bool transposes = false);
  Value loadShared(Value address, Type type);
  void storeShared(Value address, Value value);
  void storePair(Value address, Value first, Value second);

  /// Has `sums` computed here, not where they are read.
  void pin(MutableArrayRef<Value> sums);
  /// Makes sums ready to be added to.
  void fenceMma(MutableArrayRef<Value> sums);
  /// sums[64, columns] += a * b; where `adds` does not hold, sums = a * b.
  void mma(MutableArrayRef<Value> sums, const MmaTypes &types, int64_t columns,
           int64_t depth, Value a, Value b, bool adds);
  void commitMma();
  /// Waits until all but the last `pending` groups have given their `sums`.
  void waitMma(MutableArrayRef<Value> sums, int64_t pending);
  /// The 64-bit description of an operand in rows of 128 bytes, swizzled:
  /// `low` has its address, and its distance between parts of 128 bytes.
  Value describe(Value low);

  OpBuilder &b;
  Location loc;

private:
  Value ptx(StringRef text, StringRef constraints, ValueRange operands,
            Type result = {});
  Value tryWait(Value barrier, Value parity);
  void runOnSums(StringRef text, MutableArrayRef<Value> sums,
                 StringRef constraints = "", ValueRange operands = {});
};

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_CONVERSION_FUSEOPSTOKERNELS_HOPPERBUILDER_H
