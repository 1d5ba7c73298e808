//===- Session.cpp - A loaded program and the tensors of its runs ---------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

using namespace fuserun;
using llvm::Error;
using llvm::Expected;

static constexpr int32_t kDevice = 0;
static constexpr int32_t kWarmUpRuns = 3;
// A GPU's clocks rise in so many microseconds.
static constexpr double kWarmUpMicroseconds = 5e4, kMostWarmUpRuns = 500;
// A run of more microseconds than this is repeated less often.
static constexpr double kSlowRun = 2e5;
static constexpr int32_t kSlowRepetitions = 3;

Error fuserun::toError(fuseopsStatus status) {
  if (status == FUSEOPS_OK)
    return Error::success();
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 fuseopsLastError());
}

//===----------------------------------------------------------------------===//
// DeviceBuffer
//===----------------------------------------------------------------------===//

Expected<std::shared_ptr<DeviceBuffer>>
DeviceBuffer::allocate(int32_t deviceType, size_t bytes) {
  std::shared_ptr<DeviceBuffer> buffer(new DeviceBuffer(deviceType, bytes));
  if (Error error = toError(
          fuseopsDeviceAllocate(deviceType, kDevice, bytes, &buffer->pointer)))
    return std::move(error);
  return buffer;
}

DeviceBuffer::~DeviceBuffer() {
  fuseopsDeviceFree(deviceType, kDevice, pointer);
}

Error DeviceBuffer::poison() {
  if (size == 0)
    return Error::success();
  return toError(fuseopsDeviceMemset(deviceType, kDevice, pointer, 0xff, size));
}

Error DeviceBuffer::write(llvm::ArrayRef<uint8_t> bytes) {
  if (size == 0)
    return Error::success();
  return toError(fuseopsDeviceCopyToDevice(deviceType, kDevice, pointer,
                                           bytes.data(), size));
}

Error DeviceBuffer::read(std::vector<uint8_t> &bytes) const {
  bytes.resize(size);
  if (size == 0)
    return Error::success();
  return toError(fuseopsDeviceCopyToHost(deviceType, kDevice, bytes.data(),
                                         pointer, size));
}

//===----------------------------------------------------------------------===//
// Session
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<Session>> Session::load(llvm::StringRef bytes,
                                                 int64_t size) {
  std::unique_ptr<Session> session(new Session());
  if (Error error = toError(
          fuseopsProgramLoad(bytes.data(), bytes.size(), &session->program)))
    return std::move(error);
  session->size = size;
  Expected<llvm::json::Value> report =
      llvm::json::parse(fuseopsProgramReport(session->program));
  if (!report)
    llvm::consumeError(report.takeError());
  else if (llvm::json::Object *object = report->getAsObject())
    session->report = std::move(*object);
  if (Error error = toError(fuseopsProgramPrepare(session->program, kDevice)))
    return std::move(error);
  return session;
}

Session::~Session() { fuseopsProgramDestroy(program); }

int32_t Session::findEntry(const char *name) const {
  return fuseopsProgramFindEntry(program, name);
}

fuseopsEntryInfo Session::describe(int32_t entry) const {
  fuseopsEntryInfo info = {};
  fuseopsEntryDescribe(program, entry, &info);
  return info;
}

fuseopsStepInfo Session::describeStep(int32_t entry, int32_t step) const {
  fuseopsStepInfo info = {};
  fuseopsEntryStep(program, entry, step, size, &info);
  return info;
}

void Session::getTraffic(int32_t entry, int64_t &floor,
                         int64_t &unfused) const {
  floor = unfused = 0;
  fuseopsEntryTraffic(program, entry, size, &floor, &unfused);
}

Expected<double> Session::countHostBytes() const {
  int32_t forward = findEntry("forward");
  double total = 0, largest = 0;
  for (int32_t i = 0; forward >= 0 && i < describe(forward).num_inputs; ++i) {
    Expected<HostTensor> tensor = describeInput(forward, i);
    if (!tensor)
      return tensor.takeError();
    double elements = 1;
    for (int64_t extent : tensor->shape)
      elements *= static_cast<double>(extent);
    total += elements * static_cast<double>(fuseopsDTypeSize(tensor->dtype));
    largest = std::max(largest, elements);
  }
  size_t workspace = 0;
  if (Error error = toError(
          fuseopsEntryWorkspaceBytes(program, forward, size, &workspace)))
    return std::move(error);
  // One tensor at a time is made of doubles.
  total += largest * sizeof(double);
  if (fuseopsProgramDeviceType(program) == kDLCPU)
    total += static_cast<double>(workspace);
  return total;
}

Expected<HostTensor> Session::describeInput(int32_t entry,
                                            int32_t index) const {
  fuseopsTensorInfo info;
  if (Error error = toError(fuseopsEntryInput(program, entry, index, &info)))
    return std::move(error);
  HostTensor tensor = {info.name, info.dtype, {}, {}};
  tensor.shape.resize(info.rank);
  if (Error error = toError(fuseopsEntryInputShape(program, entry, index, size,
                                                   tensor.shape.data())))
    return std::move(error);
  return tensor;
}

Expected<DeviceTensor> Session::upload(int32_t entry, int32_t index,
                                       const HostTensor &tensor) const {
  DeviceTensor result;
  if (Error error =
          toError(fuseopsEntryInput(program, entry, index, &result.info)))
    return std::move(error);
  result.shape = tensor.shape;
  auto buffer = DeviceBuffer::allocate(fuseopsProgramDeviceType(program),
                                       tensor.bytes.size());
  if (!buffer)
    return buffer.takeError();
  result.buffer = *buffer;
  if (Error error = result.buffer->write(tensor.bytes))
    return std::move(error);
  return result;
}

Expected<HostTensor> Session::download(const DeviceTensor &tensor) const {
  HostTensor result = {tensor.info.name, tensor.info.dtype, tensor.shape, {}};
  if (Error error = tensor.buffer->read(result.bytes))
    return std::move(error);
  return result;
}

namespace {

/// The arguments of a run as the C ABI takes them.
struct RunArguments {
  std::vector<DLTensor> storage;
  std::vector<const DLTensor *> inputs, outputs;

  RunArguments(int32_t deviceType, llvm::ArrayRef<DeviceTensor> in,
               llvm::ArrayRef<DeviceTensor> out) {
    storage.reserve(in.size() + out.size());
    auto add = [&](const DeviceTensor &tensor) {
      storage.push_back({tensor.buffer->getPointer(),
                         {static_cast<DLDeviceType>(deviceType), kDevice},
                         static_cast<int32_t>(tensor.shape.size()),
                         tensor.info.dl_dtype,
                         const_cast<int64_t *>(tensor.shape.data()),
                         nullptr,
                         0});
      return &storage.back();
    };
    for (const DeviceTensor &tensor : in)
      inputs.push_back(add(tensor));
    for (const DeviceTensor &tensor : out) {
      bool isOwned = !tensor.info.is_none && tensor.info.alias_input < 0 &&
                     tensor.info.alias_output < 0;
      outputs.push_back(isOwned ? add(tensor) : nullptr);
    }
  }
};

} // namespace

Expected<std::shared_ptr<DeviceBuffer>>
Session::allocateWorkspace(int32_t entry) const {
  size_t bytes = 0;
  if (Error error =
          toError(fuseopsEntryWorkspaceBytes(program, entry, size, &bytes)))
    return std::move(error);
  auto workspace =
      DeviceBuffer::allocate(fuseopsProgramDeviceType(program), bytes);
  if (!workspace)
    return workspace.takeError();
  if (Error error = (*workspace)->poison())
    return std::move(error);
  return workspace;
}

Expected<std::vector<DeviceTensor>>
Session::run(int32_t entry, llvm::ArrayRef<DeviceTensor> inputs) const {
  int32_t deviceType = fuseopsProgramDeviceType(program);
  std::vector<DeviceTensor> outputs(describe(entry).num_outputs);
  for (auto [index, output] : llvm::enumerate(outputs)) {
    if (Error error =
            toError(fuseopsEntryOutput(program, entry, index, &output.info)))
      return std::move(error);
    if (output.info.is_none)
      continue;
    output.shape.resize(output.info.rank);
    if (Error error = toError(fuseopsEntryOutputShape(
            program, entry, index, size, output.shape.data())))
      return std::move(error);
    if (output.info.alias_input >= 0) {
      output.buffer = inputs[output.info.alias_input].buffer;
      continue;
    }
    if (output.info.alias_output >= 0) {
      output.buffer = outputs[output.info.alias_output].buffer;
      continue;
    }
    size_t bytes = fuseopsDTypeSize(output.info.dtype);
    for (int64_t extent : output.shape)
      bytes *= extent;
    auto buffer = DeviceBuffer::allocate(deviceType, bytes);
    if (!buffer)
      return buffer.takeError();
    output.buffer = *buffer;
    if (Error error = output.buffer->poison())
      return std::move(error);
  }
  auto workspace = allocateWorkspace(entry);
  if (!workspace)
    return workspace.takeError();
  RunArguments arguments(deviceType, inputs, outputs);
  if (Error error = toError(fuseopsRun(
          program, entry, arguments.inputs.data(), arguments.inputs.size(),
          arguments.outputs.data(), arguments.outputs.size(),
          (*workspace)->getPointer(), (*workspace)->getSize(), nullptr)))
    return std::move(error);
  // Before the workspace goes away.
  if (Error error = toError(fuseopsDeviceSynchronize(deviceType, kDevice)))
    return std::move(error);
  return outputs;
}

Expected<double> Session::profile(int32_t entry,
                                  llvm::ArrayRef<DeviceTensor> inputs,
                                  llvm::ArrayRef<DeviceTensor> outputs,
                                  const DeviceBuffer &workspace) const {
  RunArguments arguments(fuseopsProgramDeviceType(program), inputs, outputs);
  std::vector<double> steps(describe(entry).num_steps);
  if (Error error = toError(fuseopsRunProfiled(
          program, entry, arguments.inputs.data(), arguments.inputs.size(),
          arguments.outputs.data(), arguments.outputs.size(),
          workspace.getPointer(), workspace.getSize(), nullptr, steps.data())))
    return std::move(error);
  return std::accumulate(steps.begin(), steps.end(), 0.0);
}

Expected<EntryTimes> Session::time(int32_t entry,
                                   llvm::ArrayRef<DeviceTensor> inputs,
                                   llvm::ArrayRef<DeviceTensor> outputs,
                                   int32_t repetitions) const {
  auto workspace = allocateWorkspace(entry);
  if (!workspace)
    return workspace.takeError();
  RunArguments arguments(fuseopsProgramDeviceType(program), inputs, outputs);
  EntryTimes times;
  std::vector<double> run(describe(entry).num_steps);
  std::vector<std::vector<double>> samples(run.size());
  int32_t warmUps = kWarmUpRuns;
  for (int32_t i = 0; i < warmUps + repetitions; ++i) {
    if (Error error = toError(fuseopsRunProfiled(
            program, entry, arguments.inputs.data(), arguments.inputs.size(),
            arguments.outputs.data(), arguments.outputs.size(),
            (*workspace)->getPointer(), (*workspace)->getSize(), nullptr,
            run.data())))
      return std::move(error);
    double total = std::accumulate(run.begin(), run.end(), 0.0);
    if (i == 0 && total > kSlowRun) {
      warmUps = 1;
      repetitions = std::min(repetitions, kSlowRepetitions);
    } else if (i == 0) {
      double runs = kWarmUpMicroseconds / std::max(total, 1.0);
      warmUps += static_cast<int32_t>(std::min(runs, kMostWarmUpRuns));
    }
    for (size_t step = 0; i >= warmUps && step < run.size(); ++step)
      samples[step].push_back(run[step]);
  }
  for (std::vector<double> &sample : samples) {
    std::nth_element(sample.begin(), sample.begin() + sample.size() / 2,
                     sample.end());
    times.steps.push_back(sample[sample.size() / 2]);
  }
  if (Error error = toError(fuseopsRunRepeated(
          program, entry, arguments.inputs.data(), arguments.inputs.size(),
          arguments.outputs.data(), arguments.outputs.size(),
          (*workspace)->getPointer(), (*workspace)->getSize(), nullptr,
          repetitions, &times.whole)))
    return std::move(error);
  return times;
}
