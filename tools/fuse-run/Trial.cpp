//===- Trial.cpp - One run of a program, forward then backward ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Trial.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace fuserun;
using llvm::Error;
using llvm::Expected;

// Seeds of gradients are apart from those of arguments.
static constexpr uint64_t kGradientSeeds = 1 << 20;

static void fillArgument(HostTensor &tensor, const llvm::json::Object *facts,
                         uint64_t seed, uint64_t index) {
  llvm::StringRef role;
  int64_t contraction = 0;
  if (facts) {
    role = facts->getString("role").value_or("");
    contraction = facts->getInteger("contraction").value_or(0);
  }
  if (role == "random_state") {
    std::vector<double> state(tensor.count());
    if (!state.empty())
      state[0] = static_cast<double>(seed);
    return encode(tensor, state);
  }
  if (!isFloat(tensor.dtype))
    return fillIntegers(tensor, mixSeed(seed, index));
  Distribution distribution;
  if (role == "gamma")
    distribution = {1, 0.1};
  else if (role == "bias" || (role.empty() && tensor.shape.size() <= 1))
    distribution = {0, 0.1};
  else if (role == "scale_inv")
    distribution = {1, 0.05};
  else if (role == "weight" || (role.empty() && tensor.shape.size() == 2))
    distribution.deviation =
        1 / std::sqrt(static_cast<double>(std::max<int64_t>(
                1, contraction ? contraction : tensor.shape.back())));
  fillNormal(tensor, distribution, mixSeed(seed, index));
}

Expected<TrialInputs> fuserun::makeInputs(const Session &session,
                                          uint64_t seed) {
  TrialInputs inputs;
  int32_t forward = session.findEntry("forward");
  if (forward < 0)
    return llvm::createStringError(
        "expected a program with an entry `forward`, but it has none");
  const llvm::json::Array *facts = session.getReport().getArray("arguments");
  for (int32_t i = 0; i < session.describe(forward).num_inputs; ++i) {
    Expected<HostTensor> tensor = session.describeInput(forward, i);
    if (!tensor)
      return tensor.takeError();
    bool isKnown = facts && static_cast<size_t>(i) < facts->size();
    fillArgument(*tensor, isKnown ? (*facts)[i].getAsObject() : nullptr, seed,
                 i);
    inputs.arguments.push_back(std::move(*tensor));
  }
  int32_t backward = session.findEntry("backward");
  if (backward < 0)
    return inputs;
  for (int32_t i = 0; i < session.describe(backward).num_gradients; ++i) {
    Expected<HostTensor> tensor = session.describeInput(backward, i);
    if (!tensor)
      return tensor.takeError();
    fillNormal(*tensor, {}, mixSeed(seed, kGradientSeeds + i));
    inputs.gradients.push_back(std::move(*tensor));
  }
  return inputs;
}

/// Uploads `tensors` as the first inputs of an entry.
static Error uploadAll(const Session &session, int32_t entry,
                       llvm::ArrayRef<HostTensor> tensors,
                       std::vector<DeviceTensor> &inputs) {
  for (auto [index, tensor] : llvm::enumerate(tensors)) {
    Expected<HostTensor> expected = session.describeInput(entry, index);
    if (!expected)
      return expected.takeError();
    if (expected->shape != tensor.shape)
      return llvm::createStringError(
          "expected input " + std::to_string(index) + " (`" + expected->name +
          "`) of the reference to have the program's shape: is the source "
          "another one?");
    Expected<DeviceTensor> input =
        session.upload(entry, index, convert(tensor, expected->dtype));
    if (!input)
      return input.takeError();
    inputs.push_back(std::move(*input));
  }
  return Error::success();
}

static Error runEntry(const Session &session, Trial::Entry &entry) {
  auto expected = static_cast<size_t>(session.describe(entry.index).num_inputs);
  if (entry.inputs.size() != expected)
    return llvm::createStringError(
        "expected " + std::to_string(expected) + " inputs, but got " +
        std::to_string(entry.inputs.size()) + ": is the source another one?");
  auto outputs = session.run(entry.index, entry.inputs);
  if (!outputs)
    return outputs.takeError();
  entry.outputs = std::move(*outputs);
  return Error::success();
}

Expected<Trial> fuserun::runTrial(const Session &session,
                                  const TrialInputs &inputs) {
  Trial trial;
  Trial::Entry forward = {session.findEntry("forward"), {}, {}, {}};
  if (Error error =
          uploadAll(session, forward.index, inputs.arguments, forward.inputs))
    return std::move(error);
  if (Error error = runEntry(session, forward))
    return std::move(error);
  int32_t numResults = session.describe(forward.index).num_results;
  trial.entries.push_back(std::move(forward));

  Trial::Entry backward = {session.findEntry("backward"), {}, {}, {}};
  if (backward.index < 0)
    return trial;
  if (Error error =
          uploadAll(session, backward.index, inputs.gradients, backward.inputs))
    return std::move(error);
  llvm::append_range(
      backward.inputs,
      llvm::ArrayRef(trial.entries.front().outputs).drop_front(numResults));
  if (Error error = runEntry(session, backward))
    return std::move(error);
  trial.entries.push_back(std::move(backward));
  return trial;
}

Error fuserun::timeTrial(const Session &session, Trial &trial,
                         int32_t repetitions) {
  for (Trial::Entry &entry : trial.entries) {
    Expected<EntryTimes> times =
        session.time(entry.index, entry.inputs, entry.outputs, repetitions);
    if (!times)
      return times.takeError();
    entry.times = std::move(*times);
  }
  return Error::success();
}
