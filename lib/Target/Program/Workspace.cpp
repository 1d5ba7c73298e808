//===- Workspace.cpp - Places intermediate tensors by liveness ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workspace.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::fuseops;

// What the runtime rounds each offset up to.
static constexpr int64_t kAlignment = 256;
// The symbol that slots are compared at.
static constexpr int64_t kTypicalSymbol = 4096;

namespace {

/// A piece of workspace that one tensor after the other uses.
struct Slot {
  Extent size;
  bool isFree = false;
  SmallVector<int> tensors;
};

} // namespace

static int64_t estimate(Extent extent) {
  return extent.constant + extent.getGrowth() * (kTypicalSymbol / 128);
}

static Extent maximum(Extent a, Extent b) {
  return a.zip(b, [](int64_t x, int64_t y) { return std::max(x, y); });
}

/// Takes the free slot that `need` makes grow least, among those the smallest.
/// Growing a slot is never more than a new one would be.
static Slot &takeSlot(SmallVectorImpl<Slot> &slots, Extent need) {
  Slot *best = nullptr;
  auto cost = [&](const Slot &slot) {
    int64_t size = estimate(slot.size);
    return std::pair(estimate(maximum(slot.size, need)) - size, size);
  };
  for (Slot &slot : slots)
    if (slot.isFree && (!best || cost(slot) < cost(*best)))
      best = &slot;
  if (!best)
    best = &slots.emplace_back();
  best->isFree = false;
  best->size = maximum(best->size, need);
  return *best;
}

void mlir::fuseops::planWorkspace(ProgramEntry &entry) {
  auto getRoot = [&](int index) {
    return entry.tensors[index].alias < 0 ? index : entry.tensors[index].alias;
  };
  SmallVector<int> lastUse(entry.tensors.size(), -1);
  for (auto [position, step] : llvm::enumerate(entry.steps))
    for (int index : step.getTensors())
      lastUse[getRoot(index)] = position;

  SmallVector<Slot> slots;
  SmallVector<int> slotOf(entry.tensors.size(), -1);
  for (auto [position, step] : llvm::enumerate(entry.steps)) {
    SmallVector<int> tensors = step.getTensors();
    for (int index : tensors) {
      int root = getRoot(index);
      const ProgramTensor &tensor = entry.tensors[root];
      if (tensor.role != TensorRole::Workspace || slotOf[root] >= 0)
        continue;
      Slot &slot = takeSlot(slots, tensor.getBytes());
      slot.tensors.push_back(root);
      slotOf[root] = &slot - slots.data();
    }
    // Only now: a step's results may not overwrite what it reads.
    for (int index : tensors)
      if (int root = getRoot(index);
          slotOf[root] >= 0 && lastUse[root] == static_cast<int>(position))
        slots[slotOf[root]].isFree = true;
  }

  for (const Slot &slot : slots) {
    for (int index : slot.tensors)
      entry.tensors[index].offset = entry.workspace;
    // One alignment more, because the runtime rounds the offset up.
    Extent rounded = slot.size;
    rounded.constant = llvm::alignTo(rounded.constant, kAlignment) + kAlignment;
    entry.workspace = entry.workspace + rounded;
  }
}
