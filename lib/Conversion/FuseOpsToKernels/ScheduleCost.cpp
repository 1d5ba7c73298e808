//===- ScheduleCost.cpp - What a schedule is expected to cost ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeptRow.h"
#include "RowRing.h"
#include "ScheduleTemplates.h"
#include "TileLayout.h"
#include "TileRing.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fuseops;

// An H200's, estimated: what it takes from a load to its use, and from a
// barrier to the next instruction.
static constexpr double kLoadMicroseconds = 0.8;
static constexpr double kBarrierMicroseconds = 0.3;
// Of hand-written row kernels, the same with a block a row and with as many
// blocks as are resident: 86.6% and 81.4% of the copy bandwidth.
static constexpr double kEqualShareLoss = 0.06;

// What a processor of compute capability 8 to 10 has (CUDA C++ Programming
// Guide, compute capabilities).
static constexpr int64_t kRegisters = 65536;
static constexpr int64_t kResidentThreads = 2048;
static constexpr int64_t kResidentBlocks = 32;

/// What a processor needs for one visit to an element: some 20 instructions, of
/// which it issues 128 a cycle.
static constexpr double kVisitMicroseconds = 1e-4;

/// Registers of addresses, indices and the scalar body, beside held elements.
static constexpr int64_t kOtherRegisters = 32;

namespace {
/// The cost of one kernel on CUDA.
class CudaCost {
public:
  CudaCost(const KernelGroup &group, const Schedule &schedule, int64_t size)
      : group(group), schedule(schedule), size(size) {}

  double getMicroseconds() const;

private:
  double countBytes(ValueRange values) const;
  double countPartialBytes() const;
  int64_t countElementsInFlight() const;
  int64_t countSharedBytes() const;
  int64_t countRegisters() const;
  int64_t getRegisterLimit() const;
  int64_t countResidentBlocks() const;

  const KernelGroup &group;
  const Schedule &schedule;
  int64_t size;
};
} // namespace

double mlir::fuseops::evaluateExtent(Extent extent, int64_t size) {
  return static_cast<double>(extent.constant + extent.perSymbol * size +
                             extent.perBlock32 * llvm::divideCeil(size, 32) +
                             extent.perBlock128 * llvm::divideCeil(size, 128));
}

double CudaCost::countBytes(ValueRange values) const {
  double bytes = 0;
  for (Value value : values)
    bytes += evaluateExtent(
        getNumBytes(cast<RankedTensorType>(value.getType())), size);
  return bytes;
}

/// Each worker with rows of its own, or each tile, writes one f32 a column, and
/// the finalize kernel reads it: `2 * workers * columns * 4`.
double CudaCost::countPartialBytes() const {
  auto workers = static_cast<double>(schedule.getRowWorkers());
  if (schedule.tilePartials)
    workers =
        std::ceil(evaluateExtent(group.getSpace().rows, size) / kTileSize);
  double bytes = 0;
  for (ReduceRowsOp op : group.getRowReductions())
    bytes += 2.0 * 4 * workers *
             static_cast<double>(getColumns(op.getInput().getType()));
  return bytes;
}

/// Elements that a thread has asked for before it uses the first: all that it
/// holds, else one vector of each tensor. The assembler orders the loads of
/// several visits one after the other, to use few registers, unless it is told
/// how many blocks the registers are for.
int64_t CudaCost::countElementsInFlight() const {
  if (group.isTile()) // A strip of the tile, of each input.
    return kTileSize * kTileSize / schedule.threads;
  if (schedule.holdsRow)
    return std::max(countHeldElements(group, schedule), schedule.vector);
  Schedule once = schedule;
  once.tiles = 2; // One vector a thread.
  int64_t visits =
      schedule.residents ? std::max<int64_t>(2, schedule.unroll) : 1;
  return visits * std::max(countHeldElements(group, once), schedule.vector);
}

/// Shared memory of a block: a tile's arrays and what a ring fetches ahead.
int64_t CudaCost::countSharedBytes() const {
  if (!group.isTile())
    return RowRing(group, schedule).getBytes() +
           KeptRow(group, schedule).getBytes();
  return TileLayout(group, schedule.threads).getLeastBytes() +
         TileRing(group, schedule).getBytes();
}

/// Registers that a thread needs: what it holds is f32, also where it comes
/// from a ring. A tile stays in registers through its passes, with what is
/// computed of it: 122 to 127 of 512 threads, 255 of 256 (ptxas).
int64_t CudaCost::countRegisters() const {
  return kOtherRegisters + (group.isTile() ? 3 : 1) * countElementsInFlight();
}

/// Registers that a thread may have.
int64_t CudaCost::getRegisterLimit() const {
  int64_t threads = schedule.threads * schedule.rows;
  return std::min<int64_t>(
      255, kRegisters / (std::max<int64_t>(1, schedule.residents) * threads));
}

/// Occupancy: the blocks that a processor runs at once, by its threads, its
/// registers and its shared memory.
int64_t CudaCost::countResidentBlocks() const {
  int64_t threads = schedule.threads * schedule.rows;
  int64_t registers = std::min(countRegisters(), getRegisterLimit());
  int64_t blocks = std::min({kResidentBlocks, kResidentThreads / threads,
                             kRegisters / (registers * threads)});
  if (int64_t shared = countSharedBytes())
    blocks = std::min(blocks, kMostSharedBytes / shared);
  return std::max<int64_t>(1, blocks);
}

double CudaCost::getMicroseconds() const {
  GroupOp op = group.getGroup();
  double read = std::max(1.0, countBytes(op.getInputs()));
  double moved = read + countBytes(op.getOutputs());

  // A task is what a block handles at once: some rows or a part of them, or a
  // tile.
  double rows = std::max(1.0, evaluateExtent(group.getSpace().rows, size));
  auto columns = static_cast<double>(group.getSpace().columns);
  double rowsPerTask = group.isTile() ? kTileSize : schedule.rows;
  double tasks = std::max(1.0, std::ceil(rows / rowsPerTask) * schedule.tiles);
  double blocks = std::min(tasks, static_cast<double>(schedule.workers));

  // Loads in flight (Little's law): what a block has asked for comes after
  // `answer`, the time of a load, and of a barrier for each level after the
  // first where a row spans warps. Then its processor computes, which resident
  // blocks share:
  //   work = resident * elements of a task * levels * time of a visit.
  // A block without a ring does one after the other, with a ring both at once,
  // and `stages` of its tasks, as far as it has more than one, are asked for.
  // So a processor reads, until it reaches its share of the memory's bandwidth,
  //   resident * asked / (answer + work), with a ring
  //   resident * read of a task / max(answer / stages, work).
  auto resident = static_cast<double>(countResidentBlocks());
  double barriers = schedule.threads > 32 ? group.getNumLevels() - 1 : 0;
  double answer = kLoadMicroseconds + kBarrierMicroseconds * barriers;
  double visits = rows * columns / tasks * group.getNumLevels();
  double work = resident * visits * kVisitMicroseconds;
  double threads = schedule.threads * schedule.rows;
  double asked = read / tasks;
  double ahead = std::min<double>(schedule.stages, tasks / blocks);
  double period = std::max(answer / std::max(1.0, ahead), work);
  if (ahead <= 1) {
    // What doesn't fit into registers is asked for in turns.
    double turn = threads * countElementsInFlight() * read / (rows * columns);
    period = answer * std::max(1.0, asked / turn) + work;
  }
  double processors = kProcessors;
  double rate = std::min(kBytesPerMicrosecond,
                         processors * resident * asked / period * moved / read);

  // Waves: blocks deal the tasks among them, and run in waves of what is
  // resident, each as long as its longest block:
  //   steps = ceil(tasks / blocks) * ceil(blocks / slots), of which
  //   tasks / slots would do. Blocks that draw tasks end within half of one.
  double slots = processors * resident;
  double steps = std::ceil(tasks / blocks) * std::ceil(blocks / slots);
  if (schedule.tickets)
    steps = tasks / std::min(blocks, slots) + 0.5;
  double waste = steps / std::max(1.0, tasks / slots);
  // Blocks that stay until the end and have equal shares.
  if (!schedule.tickets && blocks < tasks)
    waste *= 1 + kEqualShareLoss * std::min(1.0, slots / blocks);
  // What doesn't fit is spilled, which nothing makes up for.
  if (countRegisters() > getRegisterLimit())
    waste *= 2;

  return moved / rate * waste + countPartialBytes() / kBytesPerMicrosecond;
}

/// CPU: the time of a row's vectors, of which the wide ones spill beyond the 32
/// registers of AVX-512, and of partial results by worker; few tasks leave
/// threads idle at the end, many cost their start.
static double estimateCpu(const KernelGroup &group, const Schedule &schedule) {
  // Relative to the 16 elements of a register.
  double vectors = 16.0 / static_cast<double>(schedule.vector);
  double cost = schedule.vector < 16 ? vectors : 1 + 0.1 * (1 - vectors);
  cost += 1.0 / static_cast<double>(schedule.workers);
  double start = group.getRowReductions().empty() ? 1e-4 : 1e-2;
  return cost + start * static_cast<double>(schedule.workers);
}

double mlir::fuseops::estimateTime(const KernelGroup &group,
                                   const Schedule &schedule,
                                   const KernelTarget &target, int64_t size) {
  if (!target.isCUDA())
    return estimateCpu(group, schedule);
  return group.getProduct() ? estimateGemm(group, schedule, size)
                            : CudaCost(group, schedule, size).getMicroseconds();
}
