//===- ScheduleRanking.cpp - The schedules worth measuring ---------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Conversion/Schedules.h"
#include "ScheduleTemplates.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/bit.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fuseops;

LogicalResult mlir::fuseops::verifySchedule(GroupOp group,
                                            const KernelTarget &target) {
  OwningOpRef<GroupOp> copy = group.clone();
  FailureOr<KernelGroup> body = KernelGroup::create(*copy);
  return success(succeeded(body) && succeeded(chooseSchedule(*body, target)));
}

/// Keys of a kernel of rows that are changed at once: `threads`, `rows` and
/// `workers` often have to be. Tiles have fewer values, and a ring that draws
/// them is four keys.
static constexpr unsigned kMostChanges = 3, kMostTileChanges = 6;

namespace {
/// Collects what may be written down as a group's schedule.
class ScheduleRanking {
public:
  ScheduleRanking(const KernelGroup &group, const KernelTarget &target,
                  int64_t size)
      : group(group), target(target), size(size),
        chosen(chooseBase(group, target)) {}

  SmallVector<DictionaryAttr> run(unsigned limit);

private:
  struct Candidate {
    DictionaryAttr written;
    /// Steps of 5% on a logarithmic scale: the model knows no better.
    int64_t cost;
    /// Keys whose value is not the chosen one, a bit each.
    uint64_t changed;
    size_t number; ///< place in the order tried

    bool operator<(const Candidate &other) const {
      auto rank = [](const Candidate &candidate) {
        return std::make_tuple(candidate.cost,
                               llvm::popcount(candidate.changed),
                               candidate.number);
      };
      return rank(*this) < rank(other);
    }
  };

  void tryKeys(ArrayRef<ScheduleKey> keys, Schedule schedule, unsigned changes);
  DictionaryAttr write(const Schedule &schedule);
  void tryAttribute(DictionaryAttr written);

  const KernelGroup &group;
  const KernelTarget &target;
  int64_t size;
  Schedule chosen;
  SmallVector<Candidate> candidates;
};
} // namespace

/// Tries the values of `keys`, the others being those of `schedule`, with at
/// most `changes` more of them changed: beyond that there are too many.
void ScheduleRanking::tryKeys(ArrayRef<ScheduleKey> keys, Schedule schedule,
                              unsigned changes) {
  if (keys.empty())
    return tryAttribute(write(schedule));
  const ScheduleKey &key = keys.front();
  tryKeys(keys.drop_front(), schedule, changes);
  if (!key.getValues || changes == 0)
    return;
  for (int64_t value : key.getValues(group, target)) {
    if (value == chosen.*(key.field))
      continue;
    schedule.*(key.field) = value;
    tryKeys(keys.drop_front(), schedule, changes - 1);
  }
}

/// Whether it says how a product is cut.
static bool isGemmKey(const ScheduleKey &key) {
  return key.verify == verifyGemmKeys || key.field == &Schedule::stages;
}

/// The keys that are not the chosen ones', and those that say how the work is
/// cut: what is chosen for them may change.
DictionaryAttr ScheduleRanking::write(const Schedule &schedule) {
  Builder builder(group.getGroup()->getContext());
  SmallVector<NamedAttribute> entries;
  for (const ScheduleKey &key : getScheduleKeys()) {
    int64_t value = schedule.*(key.field);
    bool isTried = group.getProduct()
                       ? isGemmKey(key)
                       : key.getValues && !key.getValues(group, target).empty();
    if (value != chosen.*(key.field) ||
        (isTried && value != Schedule().*(key.field)))
      entries.push_back(
          builder.getNamedAttr(key.name, builder.getI64IntegerAttr(value)));
  }
  return builder.getDictionaryAttr(entries);
}

/// Takes in a schedule if the template and the target can do it.
void ScheduleRanking::tryAttribute(DictionaryAttr written) {
  GroupOp op = group.getGroup();
  op.setScheduleAttr(written);
  FailureOr<Schedule> schedule = chooseSchedule(group, target);
  op.removeScheduleAttr();
  if (failed(schedule))
    return;
  uint64_t changed = 0;
  for (auto [index, key] : llvm::enumerate(getScheduleKeys()))
    if ((*schedule).*(key.field) != chosen.*(key.field))
      changed |= uint64_t(1) << index;
  if (changed == 0)
    return;
  double cost = std::log(estimateTime(group, *schedule, target, size)) / 0.05;
  candidates.push_back({written, static_cast<int64_t>(std::floor(cost)),
                        changed, candidates.size()});
}

SmallVector<DictionaryAttr> ScheduleRanking::run(unsigned limit) {
  // Without an attribute the first is what is chosen.
  SmallVector<DictionaryAttr> ranked(1);
  // A block that does all of it may be a part of another launch, which is worth
  // more than any schedule of its own.
  if (target.isCUDA() && chosen.workers == 1)
    return ranked;
  {
    // What is refused is no candidate, and nobody's fault.
    ScopedDiagnosticHandler refusals(group.getGroup()->getContext(),
                                     [](Diagnostic &) { return success(); });
    if (group.getProduct())
      for (const Schedule &schedule : listGemmSchedules(group))
        tryAttribute(write(schedule));
    else
      tryKeys(getScheduleKeys(), chosen,
              group.isTile() ? kMostTileChanges : kMostChanges);
  }
  llvm::sort(candidates);
  // First the best of each set of keys: their other values are more of the
  // same.
  llvm::SmallDenseSet<uint64_t> seen;
  SmallVector<DictionaryAttr> others;
  for (const Candidate &candidate : candidates)
    (seen.insert(candidate.changed).second ? ranked : others)
        .push_back(candidate.written);
  llvm::append_range(ranked, others);
  ranked.truncate(std::min<size_t>(ranked.size(), limit));
  return ranked;
}

SmallVector<DictionaryAttr>
mlir::fuseops::rankSchedules(GroupOp group, const KernelTarget &target,
                             int64_t size, unsigned limit) {
  OwningOpRef<GroupOp> copy = group.clone();
  copy->removeScheduleAttr();
  FailureOr<KernelGroup> body = KernelGroup::create(*copy);
  if (failed(body))
    return {};
  return ScheduleRanking(*body, target, size).run(limit);
}
