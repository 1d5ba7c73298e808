//===- MergeLaunches.cpp - Run small launches as parts of one ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Conversion/MergeLaunches.h"
#include "FuseOps/Conversion/KernelToLLVM.h"
#include "FuseOps/Conversion/Passes.h"
#include "MergedKernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "fuseops-merge-launches"

namespace mlir::fuseops {
#define GEN_PASS_DEF_MERGELAUNCHESPASS
#include "FuseOps/Conversion/Passes.h.inc"
} // namespace mlir::fuseops

using namespace mlir;
using namespace mlir::fuseops;

/// A kernel's parameters are 4 KiB at most, and more kernels than one may read
/// take long to compile.
static constexpr int64_t kMaxTensors = 256;

/// The operation behind any reshapes that gives `value`; null of arguments.
static Operation *getGiver(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value.getDefiningOp();
}

static int64_t countTensors(LaunchOp op) {
  return static_cast<int64_t>(op.getNumOperands() + op.getNumResults());
}

/// Whether each tensor of `op`, but for partial results, has few elements.
static bool hasFewElements(LaunchOp op) {
  auto isSmall = [](Value value) {
    Extent elements = getNumElements(cast<RankedTensorType>(value.getType()));
    return elements.isConstant() && elements.constant <= kSmallElements;
  };
  bool isFinalize = op.getKernelTemplate() == KernelTemplate::Finalize;
  return (isFinalize || llvm::all_of(op.getInputs(), isSmall)) &&
         llvm::all_of(op.getOutputs(), isSmall);
}

namespace {
/// The launches of one region.
class RegionMerger {
public:
  RegionMerger(Block &block, ModuleOp kernels, IRRewriter &rewriter)
      : block(block), kernels(kernels), rewriter(rewriter) {}

  void run();

private:
  bool isMergeable(LaunchOp op);
  bool isSmall(Operation *op);
  bool isWide(Operation *op);
  void placeViews();
  bool readsPending(Operation *op) const;
  void takeReady(ArrayRef<Operation *> later);
  void runPending(Operation *position, LaunchOp wide);
  void merge(Operation *position, LaunchOp wide, ArrayRef<LaunchOp> small);
  void moveViews(Operation *giver);

  Block &block;
  ModuleOp kernels;
  IRRewriter &rewriter;
  /// Operations whose place is found.
  DenseSet<Operation *> placed;
  /// Small launches that can run where we are, in order.
  llvm::SetVector<LaunchOp> pending;
};
} // namespace

bool RegionMerger::isMergeable(LaunchOp op) {
  int64_t threads = isCudaLaunch(op, kernels) ? kMergedThreads : 1;
  return static_cast<int64_t>(op.getThreadsX() * op.getThreadsY()) == threads &&
         op.getSharedBytes() == 0 && op.getMaps().empty() &&
         countTensors(op) <= kMaxTensors;
}

/// Whether one block, or one task, does all of it in no time.
bool RegionMerger::isSmall(Operation *op) {
  auto launch = dyn_cast<LaunchOp>(op);
  return launch && isMergeable(launch) && countWorkers(launch) == 1 &&
         launch.getKernelTemplate() != KernelTemplate::Tile &&
         launch.getKernelTemplate() != KernelTemplate::Library &&
         hasFewElements(launch);
}

/// Whether it is the finalize launch of many columns: a short one that others
/// may run beside.
bool RegionMerger::isWide(Operation *op) {
  auto launch = dyn_cast<LaunchOp>(op);
  return launch && isMergeable(launch) && countWorkers(launch) > 1 &&
         launch.getKernelTemplate() == KernelTemplate::Finalize;
}

/// Constants go first, and reshapes behind what they read: they compute
/// nothing.
void RegionMerger::placeViews() {
  for (auto constant : llvm::to_vector(block.getOps<ConstantOp>()))
    rewriter.moveOpBefore(constant, &block.front());
  for (auto reshape : llvm::to_vector(block.getOps<ReshapeOp>())) {
    if (Operation *giver = reshape.getInput().getDefiningOp())
      rewriter.moveOpAfter(reshape, giver);
    else
      rewriter.moveOpBefore(reshape, &block.front());
  }
}

bool RegionMerger::readsPending(Operation *op) const {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    auto giver = dyn_cast_if_present<LaunchOp>(getGiver(operand));
    return giver && pending.contains(giver);
  });
}

/// Adds those small launches of `later` that need nothing but what is placed or
/// pending.
void RegionMerger::takeReady(ArrayRef<Operation *> later) {
  for (Operation *op : later) {
    if (placed.contains(op) || !isSmall(op))
      continue;
    bool isReady = llvm::all_of(op->getOperands(), [&](Value operand) {
      Operation *giver = getGiver(operand);
      return !giver || isa<ConstantOp>(giver) || placed.contains(giver) ||
             pending.contains(dyn_cast<LaunchOp>(giver));
    });
    if (isReady)
      pending.insert(cast<LaunchOp>(op));
  }
}

/// Each launch waits until another operation reads it, and then runs with all
/// that can run there. So there are as few as can be.
void RegionMerger::run() {
  placeViews();
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    if (!isa<ReshapeOp, ConstantOp>(op))
      ops.push_back(&op);
  for (auto [number, op] : llvm::enumerate(ops)) {
    // Pending ones wait; the others have run already.
    if (placed.contains(op))
      continue;
    if (isSmall(op)) {
      pending.insert(cast<LaunchOp>(op));
      continue;
    }
    ArrayRef<Operation *> later = ArrayRef(ops).drop_front(number + 1);
    if (readsPending(op)) {
      takeReady(later);
      runPending(op, LaunchOp());
    }
    if (isWide(op)) {
      takeReady(later);
      placed.insert(op);
      runPending(op, cast<LaunchOp>(op));
      continue;
    }
    placed.insert(op);
  }
}

/// Moves reshapes of what `giver` gives behind it.
void RegionMerger::moveViews(Operation *giver) {
  for (Operation *user : llvm::to_vector(giver->getUsers()))
    if (isa<ReshapeOp>(user)) {
      rewriter.moveOpAfter(user, giver);
      moveViews(user);
    }
}

/// Runs the pending launches before `position`, beside `wide` if that is there,
/// as one launch if it holds them.
void RegionMerger::runPending(Operation *position, LaunchOp wide) {
  SmallVector<LaunchOp> launches = pending.takeVector();
  placed.insert(launches.begin(), launches.end());
  // Alone it may stay where it is.
  if (launches.size() + (wide ? 1 : 0) < 2)
    return;
  SmallVector<LaunchOp> together;
  int64_t tensors = wide ? countTensors(wide) : 0;
  for (LaunchOp launch : launches) {
    int64_t own = countTensors(launch);
    if (tensors + own > kMaxTensors) {
      merge(position, LaunchOp(), together);
      together.clear();
      tensors = wide ? countTensors(wide) : 0;
    }
    together.push_back(launch);
    tensors += own;
  }
  merge(position, wide, together);
}

/// Launches that read one another run in one worker, in order; the others side
/// by side.
static SmallVector<MergedPart> findParts(LaunchOp wide,
                                         ArrayRef<LaunchOp> small) {
  SmallVector<MergedPart> parts;
  if (wide)
    parts.push_back({{wide}, countWorkers(wide)});
  llvm::EquivalenceClasses<Operation *> chains;
  for (LaunchOp launch : small)
    chains.insert(launch);
  for (LaunchOp launch : small)
    for (Value input : launch.getInputs())
      if (Operation *giver = getGiver(input); giver && chains.contains(giver))
        chains.unionSets(giver, launch);
  llvm::DenseMap<Operation *, size_t> numbers;
  for (LaunchOp launch : small) {
    auto [number, isNew] =
        numbers.try_emplace(chains.getLeaderValue(launch), parts.size());
    if (isNew)
      parts.push_back({{}, 1});
    parts[number->second].launches.push_back(launch);
  }
  return parts;
}

static StringRef getKernelName(LaunchOp op) {
  return op.getKernel().getLeafReference().getValue();
}

/// One remark for each launch that is no longer one.
static void reportMerge(LaunchOp merged, ArrayRef<std::string> names) {
  StringRef name = getKernelName(merged);
  for (const std::string &part : names)
    if (part != name)
      remark::passed(merged.getLoc(),
                     remark::RemarkOpts::name("Merge").category(DEBUG_TYPE))
          << remark::reason("`@{0}` runs as a part of `@{1}`", part, name);
}

void RegionMerger::merge(Operation *position, LaunchOp wide,
                         ArrayRef<LaunchOp> small) {
  SmallVector<LaunchOp> order;
  if (wide)
    order.push_back(wide);
  llvm::append_range(order, small);
  if (order.empty())
    return;
  LaunchOp op = order.front();
  if (order.size() == 1) {
    // What runs later may read it.
    if (op != position)
      rewriter.moveOpBefore(op, position);
  } else {
    SmallVector<std::string> names = llvm::map_to_vector(
        order, [](LaunchOp launch) { return getKernelName(launch).str(); });
    rewriter.setInsertionPoint(position);
    op = mergeLaunches(findParts(wide, small), order, kernels, rewriter);
    reportMerge(op, names);
  }
  placed.insert(op);
  moveViews(op);
}

namespace {
struct MergeLaunchesPass
    : public fuseops::impl::MergeLaunchesPassBase<MergeLaunchesPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto kernels = module.lookupSymbol<ModuleOp>(kKernelsModule);
    if (!kernels)
      return;
    IRRewriter rewriter(&getContext());
    module.walk([&](FusibleOp fusible) {
      for (Region *region : {&fusible.getForward(), &fusible.getBackward()})
        if (!region->empty())
          RegionMerger(region->front(), kernels, rewriter).run();
    });
  }
};
} // namespace
