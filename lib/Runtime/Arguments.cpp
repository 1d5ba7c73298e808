//===- Arguments.cpp - Checks a run's tensors and finds each tensor's memory
//===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "DType.h"
#include "Status.h"

#include <cstdarg>
#include <cstdio>

using namespace fuseops::runtime;

namespace {

/// An input or output with its place, for the sentences.
struct Argument {
  const Entry &entry;
  const Tensor &tensor;
  const DLTensor *value;
  bool isInput;
  int32_t index;
};

/// Bytes that a run reads or writes.
struct Range {
  uintptr_t begin, end;
  const char *name;
};

} // namespace

static long long print(int64_t value) { return value; }

/// Fails with ``entry `e`: expected input 0 (`x`) …``.
__attribute__((format(printf, 2, 3))) static fuseopsStatus
reject(const Argument &argument, const char *format, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof(buffer), format, arguments);
  va_end(arguments);
  return fail(FUSEOPS_INVALID_ARGUMENT, "entry `%s`: expected %s %d (`%s`) %s",
              argument.entry.name.c_str(),
              argument.isInput ? "input" : "output", argument.index,
              argument.tensor.name.c_str(), buffer);
}

static const char *describeDevice(int32_t type) {
  switch (type) {
  case kDLCPU:
    return "the CPU";
  case kDLCUDA:
    return "a CUDA device";
  case kDLCUDAHost:
    return "pinned CPU memory";
  case kDLCUDAManaged:
    return "managed CUDA memory";
  }
  return "another kind of device";
}

static std::string describeType(DLDataType type) {
  for (unsigned i = 0; i < kNumDTypes; ++i) {
    DLDataType known = getDLDataType(static_cast<fuseopsDType>(i));
    if (known.code == type.code && known.bits == type.bits && type.lanes == 1)
      return fuseopsDTypeName(i);
  }
  return "DLPack type code " + std::to_string(type.code) + " of " +
         std::to_string(type.bits) + " bits and " + std::to_string(type.lanes) +
         " lanes";
}

static fuseopsStatus checkPresence(const Argument &argument) {
  if (!argument.value)
    return reject(argument, "to be a tensor, but got NULL");
  int32_t rank = static_cast<int32_t>(argument.tensor.shape.size());
  if (argument.value->ndim != rank)
    return reject(argument, "to have %d dimensions, but got %d", rank,
                  argument.value->ndim);
  if (rank != 0 && !argument.value->shape)
    return reject(argument, "to have a shape, but got NULL");
  return FUSEOPS_OK;
}

/// Takes the symbol from the first extent that tells it; blocks do not.
static fuseopsStatus readSymbol(const Program &program,
                                const Argument &argument, bool &isKnown,
                                int64_t &symbol) {
  if (isKnown)
    return FUSEOPS_OK;
  for (size_t i = 0; i < argument.tensor.shape.size(); ++i) {
    const fuseopsExtent &extent = argument.tensor.shape[i];
    if (extent.per_symbol == 0 || extent.per_block32 || extent.per_block128)
      continue;
    int64_t size = argument.value->shape[i], scaled;
    if (size < 0 || __builtin_sub_overflow(size, extent.constant, &scaled) ||
        scaled < 0 || scaled % extent.per_symbol != 0)
      return reject(argument,
                    "to have %lld + %lld * S elements in dimension %zu, but "
                    "got %lld",
                    print(extent.constant), print(extent.per_symbol), i,
                    print(size));
    symbol = scaled / extent.per_symbol;
    isKnown = true;
    if (symbol < program.symbolMin || symbol > program.symbolMax)
      return reject(argument,
                    "to give a size of %lld to %lld in dimension %zu, but got "
                    "%lld",
                    print(program.symbolMin), print(program.symbolMax), i,
                    print(symbol));
    return FUSEOPS_OK;
  }
  return FUSEOPS_OK;
}

static fuseopsStatus checkShape(const Argument &argument, int64_t symbol) {
  for (size_t i = 0; i < argument.tensor.shape.size(); ++i) {
    int64_t expected;
    if (!evaluate(argument.tensor.shape[i], symbol, expected))
      return reject(argument, "to be of a size that memory can hold");
    if (argument.value->shape[i] != expected)
      return reject(argument,
                    "to have %lld elements in dimension %zu, but got %lld",
                    print(expected), i, print(argument.value->shape[i]));
  }
  return FUSEOPS_OK;
}

static uintptr_t getAddress(const DLTensor &value) {
  return reinterpret_cast<uintptr_t>(value.data) + value.byte_offset;
}

static fuseopsStatus checkDevice(const Program &program,
                                 const Argument &argument, bool &isKnown,
                                 int32_t &deviceId) {
  const DLDevice &device = argument.value->device;
  bool isHost =
      device.device_type == kDLCPU || device.device_type == kDLCUDAHost;
  bool isCuda =
      device.device_type == kDLCUDA || device.device_type == kDLCUDAManaged;
  if (program.isCuda() ? !isCuda : !isHost)
    return reject(argument, "to be on %s, but got %s",
                  describeDevice(program.isCuda() ? kDLCUDA : kDLCPU),
                  describeDevice(device.device_type));
  // Managed memory is on every device.
  if (device.device_type != kDLCUDA)
    return FUSEOPS_OK;
  if (!isKnown) {
    isKnown = true;
    deviceId = device.device_id;
  }
  if (device.device_id != deviceId)
    return reject(argument, "to be on CUDA device %d, but got device %d",
                  deviceId, device.device_id);
  return FUSEOPS_OK;
}

/// Checks one tensor for a known symbol and writes the bytes that it covers.
static fuseopsStatus checkTensor(const Program &program,
                                 const Argument &argument, int64_t symbol,
                                 bool &isDeviceKnown, int32_t &deviceId,
                                 Range &range) {
  const DLTensor &value = *argument.value;
  if (fuseopsStatus status =
          checkDevice(program, argument, isDeviceKnown, deviceId))
    return status;
  fuseopsDType dtype = argument.tensor.dtype;
  if (!acceptsDLDataType(dtype, value.dtype))
    return reject(argument, "to have dtype %s, but got %s",
                  fuseopsDTypeName(dtype), describeType(value.dtype).c_str());
  if (fuseopsStatus status = checkShape(argument, symbol))
    return status;
  int32_t dimension;
  int64_t bytes, expected, elementBytes = fuseopsDTypeSize(dtype), before = 0;
  bool isDense = isPacked(value, dimension, expected);
  if (!isDense && !argument.isInput)
    return reject(argument,
                  "to be packed and row-major, with stride %lld in dimension "
                  "%d, but got %lld",
                  print(expected), dimension, print(value.strides[dimension]));
  if (!argument.tensor.countBytes(symbol, bytes) ||
      (!isDense && !findSpan(value, elementBytes, before, bytes)))
    return reject(argument, "to be of a size that memory can hold");
  if (bytes != 0 && !value.data)
    return reject(argument, "to have memory, but its data is NULL");
  uintptr_t address = getAddress(value);
  uintptr_t alignment =
      program.isCuda() && !argument.isInput ? kCudaAlignment : elementBytes;
  if (bytes != 0 && address % alignment != 0)
    return reject(argument, "to be aligned to %zu bytes, but got address %#zx",
                  static_cast<size_t>(alignment), static_cast<size_t>(address));
  range = {address - before, address + static_cast<uintptr_t>(bytes),
           argument.tensor.name.c_str()};
  return FUSEOPS_OK;
}

/// Finds where kernels read each input: where it is if it is packed (and on
/// CUDA aligned for their widest load), else a copy in the workspace, which
/// grows by it.
static fuseopsStatus placeInputs(const Program &program, const Entry &entry,
                                 const DLTensor *const *inputs, int64_t symbol,
                                 const void *workspace, int64_t &workspaceBytes,
                                 std::vector<Packing> &packings,
                                 std::vector<void *> &pointers) {
  packings.clear();
  pointers.clear();
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    Argument argument = {entry, entry.tensors[entry.inputs[i]], inputs[i],
                         /*isInput=*/true, static_cast<int32_t>(i)};
    int32_t dimension;
    int64_t bytes, expected;
    if (!argument.tensor.countBytes(symbol, bytes))
      return reject(argument, "to be of a size that memory can hold");
    uintptr_t address = getAddress(*inputs[i]);
    if (bytes == 0 || (isPacked(*inputs[i], dimension, expected) &&
                       (!program.isCuda() || address % kCudaAlignment == 0))) {
      pointers.push_back(reinterpret_cast<void *>(address));
      continue;
    }
    packings.emplace_back();
    if (!planPacking(*inputs[i], fuseopsDTypeSize(argument.tensor.dtype),
                     packings.back()))
      return reject(argument,
                    "to have at most %d dimensions that its strides keep apart",
                    Packing::kMaxRank);
    workspaceBytes = alignWorkspace(workspaceBytes);
    packings.back().target = reinterpret_cast<void *>(
        reinterpret_cast<uintptr_t>(workspace) + workspaceBytes);
    pointers.push_back(packings.back().target);
    if (__builtin_add_overflow(workspaceBytes, bytes, &workspaceBytes))
      return reject(argument, "to be of a size that memory can hold");
  }
  return FUSEOPS_OK;
}

static bool overlap(const Range &a, const Range &b) {
  return a.begin < b.end && b.begin < a.end;
}

/// `ranges` are the inputs, then from `firstWritten` on all that is written.
static fuseopsStatus checkOverlap(const Entry &entry,
                                  const std::vector<Range> &ranges,
                                  size_t firstWritten) {
  for (size_t i = firstWritten; i < ranges.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (overlap(ranges[i], ranges[j]))
        return fail(FUSEOPS_INVALID_ARGUMENT,
                    "entry `%s`: expected `%s` to have memory of its own, but "
                    "it overlaps `%s`",
                    entry.name.c_str(), ranges[i].name, ranges[j].name);
  return FUSEOPS_OK;
}

static fuseopsStatus checkNumber(const Entry &entry, const char *what,
                                 size_t expected, int32_t actual,
                                 const DLTensor *const *tensors) {
  if (static_cast<int64_t>(expected) != actual)
    return fail(FUSEOPS_INVALID_ARGUMENT,
                "entry `%s`: expected %zu %s, but got %d", entry.name.c_str(),
                expected, what, actual);
  if (expected != 0 && !tensors)
    return fail(FUSEOPS_INVALID_ARGUMENT,
                "entry `%s`: expected %zu %s, but got NULL", entry.name.c_str(),
                expected, what);
  return FUSEOPS_OK;
}

static fuseopsStatus readSymbolOfInputs(const Program &program,
                                        const Entry &entry,
                                        const DLTensor *const *inputs,
                                        int32_t numInputs, bool &isKnown,
                                        int64_t &symbol) {
  if (fuseopsStatus status =
          checkNumber(entry, "inputs", entry.inputs.size(), numInputs, inputs))
    return status;
  for (int32_t i = 0; i < numInputs; ++i) {
    Argument argument = {entry, entry.tensors[entry.inputs[i]], inputs[i],
                         /*isInput=*/true, i};
    if (fuseopsStatus status = checkPresence(argument))
      return status;
    if (fuseopsStatus status = readSymbol(program, argument, isKnown, symbol))
      return status;
  }
  return FUSEOPS_OK;
}

fuseopsStatus fuseops::runtime::inferSymbol(const Program &program,
                                            const Entry &entry,
                                            const DLTensor *const *inputs,
                                            int32_t numInputs,
                                            int64_t &symbol) {
  bool isKnown = false;
  symbol = program.symbolMin;
  if (fuseopsStatus status = readSymbolOfInputs(program, entry, inputs,
                                                numInputs, isKnown, symbol))
    return status;
  for (int32_t i = 0; i < numInputs; ++i) {
    Argument argument = {entry, entry.tensors[entry.inputs[i]], inputs[i],
                         /*isInput=*/true, i};
    if (fuseopsStatus status = checkShape(argument, symbol))
      return status;
  }
  return FUSEOPS_OK;
}

fuseopsStatus
fuseops::runtime::countWorkspace(const Program &program, const Entry &entry,
                                 int64_t symbol, const DLTensor *const *inputs,
                                 int32_t numInputs, int64_t &bytes) {
  int64_t ignored;
  if (fuseopsStatus status =
          getWorkspaceBytes(program, entry, symbol, bytes, ignored))
    return status;
  if (fuseopsStatus status =
          checkNumber(entry, "inputs", entry.inputs.size(), numInputs, inputs))
    return status;
  for (int32_t i = 0; i < numInputs; ++i) {
    Argument argument = {entry, entry.tensors[entry.inputs[i]], inputs[i],
                         /*isInput=*/true, i};
    if (fuseopsStatus status = checkPresence(argument))
      return status;
    if (fuseopsStatus status = checkShape(argument, symbol))
      return status;
  }
  std::vector<Packing> packings;
  std::vector<void *> pointers;
  return placeInputs(program, entry, inputs, symbol, nullptr, bytes, packings,
                     pointers);
}

/// Finds the workspace, the library's part and the copies of inputs in it, and
/// appends its range.
static fuseopsStatus bindWorkspace(const Program &program, const Entry &entry,
                                   const RunArguments &arguments,
                                   Binding &binding, std::vector<Range> &ranges,
                                   std::vector<void *> &inputPointers) {
  int64_t needed, libraryOffset;
  if (fuseopsStatus status = getWorkspaceBytes(program, entry, binding.symbol,
                                               needed, libraryOffset))
    return status;
  if (fuseopsStatus status = placeInputs(
          program, entry, arguments.inputs, binding.symbol, arguments.workspace,
          needed, binding.packings, inputPointers))
    return status;
  if (needed == 0)
    return FUSEOPS_OK;
  if (arguments.workspaceBytes < static_cast<uint64_t>(needed))
    return fail(FUSEOPS_INVALID_ARGUMENT,
                "entry `%s`: expected a workspace of %lld bytes, but got %zu",
                entry.name.c_str(), print(needed), arguments.workspaceBytes);
  uintptr_t address = reinterpret_cast<uintptr_t>(arguments.workspace);
  if (address == 0)
    return fail(FUSEOPS_INVALID_ARGUMENT,
                "entry `%s`: expected a workspace, but got NULL",
                entry.name.c_str());
  size_t alignment = program.isCuda() ? kWorkspaceAlignment : 16;
  if (address % alignment != 0)
    return fail(FUSEOPS_INVALID_ARGUMENT,
                "entry `%s`: expected a workspace aligned to %zu bytes, but "
                "got address %#zx",
                entry.name.c_str(), alignment, static_cast<size_t>(address));
  ranges.push_back(
      {address, address + static_cast<uintptr_t>(needed), "the workspace"});
  binding.libraryWorkspace =
      static_cast<char *>(arguments.workspace) + libraryOffset;
  return FUSEOPS_OK;
}

fuseopsStatus fuseops::runtime::bindArguments(const Program &program,
                                              const Entry &entry,
                                              const RunArguments &arguments,
                                              Binding &binding) {
  bool isSymbolKnown = false, isDeviceKnown = false;
  binding.symbol = program.symbolMin;
  binding.deviceId = -1;
  if (fuseopsStatus status = readSymbolOfInputs(
          program, entry, arguments.inputs, arguments.numInputs, isSymbolKnown,
          binding.symbol))
    return status;
  if (fuseopsStatus status =
          checkNumber(entry, "outputs", entry.outputs.size(),
                      arguments.numOutputs, arguments.outputs))
    return status;
  for (int32_t i = 0; i < arguments.numOutputs; ++i) {
    if (!entry.ownsOutput(i))
      continue;
    Argument argument = {entry, entry.tensors[entry.outputs[i]],
                         arguments.outputs[i], /*isInput=*/false, i};
    if (fuseopsStatus status = checkPresence(argument))
      return status;
    if (fuseopsStatus status =
            readSymbol(program, argument, isSymbolKnown, binding.symbol))
      return status;
  }

  // Reused by all runs of a thread, so that a run allocates nothing.
  static thread_local std::vector<Range> ranges;
  static thread_local std::vector<void *> inputPointers, outputPointers;
  ranges.clear();
  outputPointers.assign(entry.outputs.size(), nullptr);
  for (int32_t i = 0; i < arguments.numInputs; ++i) {
    Argument argument = {entry, entry.tensors[entry.inputs[i]],
                         arguments.inputs[i], /*isInput=*/true, i};
    ranges.emplace_back();
    if (fuseopsStatus status =
            checkTensor(program, argument, binding.symbol, isDeviceKnown,
                        binding.deviceId, ranges.back()))
      return status;
  }
  size_t firstWritten = ranges.size();
  for (int32_t i = 0; i < arguments.numOutputs; ++i) {
    if (!entry.ownsOutput(i))
      continue;
    Argument argument = {entry, entry.tensors[entry.outputs[i]],
                         arguments.outputs[i], /*isInput=*/false, i};
    ranges.emplace_back();
    if (fuseopsStatus status =
            checkTensor(program, argument, binding.symbol, isDeviceKnown,
                        binding.deviceId, ranges.back()))
      return status;
    outputPointers[i] = reinterpret_cast<void *>(ranges.back().begin);
  }
  if (fuseopsStatus status = bindWorkspace(program, entry, arguments, binding,
                                           ranges, inputPointers))
    return status;
  if (fuseopsStatus status = checkOverlap(entry, ranges, firstWritten))
    return status;
  if (fuseopsStatus status = entry.checkTensorMaps(binding.symbol))
    return status;

  binding.pointers.resize(entry.tensors.size());
  for (size_t i = 0; i < entry.tensors.size(); ++i) {
    const Tensor &tensor = entry.tensors[i];
    if (tensor.alias != -1)
      continue;
    if (tensor.role == Role::Input) {
      binding.pointers[i] = inputPointers[tensor.slot];
      continue;
    }
    if (tensor.role == Role::Output) {
      binding.pointers[i] = outputPointers[tensor.slot];
      continue;
    }
    if (tensor.role == Role::Constant) {
      // On CUDA the device's copy takes its place.
      binding.pointers[i] =
          const_cast<uint8_t *>(program.constants[tensor.constant].data);
      continue;
    }
    int64_t offset;
    if (fuseopsStatus status =
            entry.placeInWorkspace(i, binding.symbol, offset))
      return status;
    binding.pointers[i] = static_cast<char *>(arguments.workspace) + offset;
  }
  for (size_t i = 0; i < entry.tensors.size(); ++i)
    if (entry.tensors[i].alias != -1)
      binding.pointers[i] = binding.pointers[entry.tensors[i].root];
  return FUSEOPS_OK;
}

fuseopsStatus fuseops::runtime::bindKernel(const Step &step,
                                           const Binding &binding,
                                           int64_t &rows, int64_t &count) {
  const KernelStep &kernel = step.kernel;
  int64_t countRows;
  if (!evaluate(kernel.grid.rows, binding.symbol, rows) ||
      !evaluate(kernel.countGrid.rows, binding.symbol, countRows))
    return fail(FUSEOPS_INVALID_ARGUMENT,
                "step `%s`: its rows for size %lld are too many",
                step.name.c_str(), print(binding.symbol));
  count = kernel.countGrid.countWorkers(countRows);
  return FUSEOPS_OK;
}

fuseopsStatus fuseops::runtime::bindMatmul(const Entry &entry, const Step &step,
                                           const Binding &binding,
                                           MatmulArguments &arguments) {
  const MatmulStep &matmul = step.matmul;
  if (fuseopsStatus status =
          entry.describeMatmul(step, binding.symbol, arguments))
    return status;
  auto bind = [&](int32_t index, auto &pointer) {
    if (index >= 0)
      pointer = binding.pointers[index];
  };
  bind(matmul.a, arguments.a);
  bind(matmul.b, arguments.b);
  bind(matmul.bias, arguments.bias);
  bind(matmul.out, arguments.out);
  bind(matmul.aScale, arguments.aScales.values);
  bind(matmul.bScale, arguments.bScales.values);
  return FUSEOPS_OK;
}
