//===- Check.cpp - Compares a run with the reference ----------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <map>

using namespace fuserun;
using llvm::Error;
using llvm::Expected;

namespace {

/// What the tolerance of a program depends on.
struct Precision {
  /// For each output of an entry, the least precise dtype that it depends on.
  std::map<std::string, std::vector<int32_t>> dtypes;
  /// Length of the longest sum.
  double longestSum = 1;

  /// The unit roundoff of an output's own dtype and of all that it depends on.
  double getRoundoff(llvm::StringRef entry, size_t output,
                     int32_t dtype) const {
    double own = getUnitRoundoff(dtype);
    auto found = dtypes.find(entry.str());
    return found == dtypes.end() || output >= found->second.size()
               ? own
               : std::max(own, getUnitRoundoff(found->second[output]));
  }

  /// A rounding for each step adds up like a random walk, with a few for the
  /// operations within; sums accumulate in f32.
  double getTolerance(double roundoff, int32_t numSteps) const {
    return roundoff * (4 + 4 * std::sqrt(numSteps)) +
           0x1p-24 * 4 * std::sqrt(longestSum);
  }
};

} // namespace

bool CheckResult::isOk() const {
  return llvm::all_of(tensors,
                      [](const Comparison &tensor) { return tensor.isOk(); });
}

static Precision getPrecision(const Session &session) {
  const llvm::json::Object &report = session.getReport();
  Precision precision;
  if (const llvm::json::Object *entries = report.getObject("precisions"))
    for (const auto &[entry, names] : *entries)
      if (const llvm::json::Array *array = names.getAsArray())
        for (const llvm::json::Value &name : *array)
          precision.dtypes[entry.str()].push_back(
              findDType(name.getAsString().value_or("")));
  if (const llvm::json::Array *lengths = report.getArray("reductions"))
    for (const llvm::json::Value &value : *lengths)
      if (const llvm::json::Array *extent = value.getAsArray();
          extent && extent->size() == 2) {
        double length = (*extent)[0].getAsNumber().value_or(0) +
                        (*extent)[1].getAsNumber().value_or(0) *
                            static_cast<double>(session.getSize());
        precision.longestSum = std::max(precision.longestSum, length);
      }
  return precision;
}

static double measureRMS(llvm::ArrayRef<double> expected) {
  double squares = 0;
  size_t numFinite = 0;
  for (double value : expected)
    if (std::isfinite(value)) {
      squares += value * value;
      ++numFinite;
    }
  return numFinite ? std::sqrt(squares / static_cast<double>(numFinite)) : 0;
}

static double measureError(llvm::ArrayRef<double> found,
                           llvm::ArrayRef<double> expected, double rms) {
  double worst = 0;
  for (auto [a, b] : llvm::zip_equal(found, expected)) {
    if (a == b || (std::isnan(a) && std::isnan(b)))
      continue;
    double error = std::fabs(a - b) / (std::fabs(b) + rms);
    // A NaN, or a number where all of the reference is zero.
    if (!(error <= worst))
      worst = std::isnan(error) ? INFINITY : error;
  }
  return worst;
}

static std::string formatShape(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return "[" + text + "]";
}

/// Compares one output of an entry; none has nothing to compare.
static Error compareOutput(const Session &session, const DeviceTensor &found,
                           const Session &reference,
                           const DeviceTensor &expected, double tolerance,
                           Comparison comparison,
                           std::vector<Comparison> &comparisons) {
  if (found.info.is_none && expected.info.is_none)
    return Error::success();
  if (found.info.is_none != expected.info.is_none ||
      found.shape != expected.shape)
    return llvm::createStringError(
        "output `" + std::string(found.info.name) +
        "` differs in shape from the reference's: is the source another one?");
  Expected<HostTensor> a = session.download(found);
  if (!a)
    return a.takeError();
  Expected<HostTensor> b = reference.download(expected);
  if (!b)
    return b.takeError();
  comparison.name = found.info.name;
  comparison.dtype = fuseopsDTypeName(found.info.dtype);
  comparison.shape = formatShape(found.shape);
  std::vector<double> values = decode(*b);
  comparison.rms = measureRMS(values);
  comparison.error = measureError(decode(*a), values, comparison.rms);
  if (isFloat(found.info.dtype))
    comparison.tolerance = tolerance;
  else if (a->bytes != b->bytes)
    // Also where doubles cannot tell two 64-bit integers apart.
    comparison.error = std::max(comparison.error, 0x1p-53);
  comparisons.push_back(std::move(comparison));
  return Error::success();
}

/// Whether a saved tensor can be compared: it is no alias, and the reference
/// saves the like.
static bool isComparable(const DeviceTensor &found,
                         const DeviceTensor &expected) {
  return found.info.alias_input < 0 && found.info.alias_output < 0 &&
         found.shape == expected.shape &&
         isFloat(found.info.dtype) == isFloat(expected.info.dtype);
}

Expected<CheckResult> fuserun::compare(const Session &session,
                                       const Trial &trial,
                                       const Session &reference,
                                       const Trial &expected) {
  CheckResult result;
  Precision precision = getPrecision(session);
  int32_t numSteps = 0;
  std::string steps;
  for (auto [entry, referenceEntry] :
       llvm::zip(trial.entries, expected.entries)) {
    fuseopsEntryInfo info = session.describe(entry.index);
    numSteps += info.num_steps;
    steps += (steps.empty() ? "" : ", ") + std::to_string(numSteps) + " " +
             info.name;
    size_t count = entry.outputs.size();
    bool comparesSaved = count == referenceEntry.outputs.size();
    if (referenceEntry.outputs.size() < static_cast<size_t>(info.num_results))
      return llvm::createStringError("the reference has fewer results: is the "
                                     "source another one?");
    for (size_t i = 0; i < count; ++i) {
      const DeviceTensor &found = entry.outputs[i];
      bool isSaved = i >= static_cast<size_t>(info.num_results);
      if (isSaved &&
          (!comparesSaved || !isComparable(found, referenceEntry.outputs[i])))
        continue;
      Comparison comparison;
      comparison.entry = info.name;
      double roundoff = precision.getRoundoff(info.name, i, found.info.dtype);
      if (Error error = compareOutput(
              session, found, reference, referenceEntry.outputs[i],
              precision.getTolerance(roundoff, numSteps), std::move(comparison),
              result.tensors))
        return std::move(error);
    }
  }
  result.formula = llvm::formatv(
      "u * (4 + 4 * sqrt(steps)) + 2^-24 * 4 * sqrt(K): u the largest unit "
      "roundoff of the tensor's dtype and those that it depends on, steps {0}, "
      "K {1}; 0 for integers and bools",
      steps, static_cast<int64_t>(precision.longestSum));
  return result;
}
