//===- Describe.cpp - The C ABI: describe programs -----------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "DType.h"
#include "Status.h"

using namespace fuseops::runtime;

/// Finds an entry, or fails with the reason.
static const Entry *findEntry(const fuseopsProgram *program, int32_t index) {
  if (!program) {
    fail(FUSEOPS_INVALID_ARGUMENT, "expected a program, but got NULL");
    return nullptr;
  }
  if (index < 0 || static_cast<size_t>(index) >= program->entries.size()) {
    fail(FUSEOPS_INVALID_ARGUMENT, "expected an entry below %zu, but got %d",
         program->entries.size(), index);
    return nullptr;
  }
  return &program->entries[index];
}

static fuseopsStatus checkIndex(const char *what, size_t count, int32_t index) {
  if (index < 0 || static_cast<size_t>(index) >= count)
    return fail(FUSEOPS_INVALID_ARGUMENT,
                "expected an %s below %zu, but got %d", what, count, index);
  return FUSEOPS_OK;
}

static fuseopsStatus checkResult(const void *result) {
  if (!result)
    return fail(FUSEOPS_INVALID_ARGUMENT,
                "expected where to put the description, but got NULL");
  return FUSEOPS_OK;
}

static fuseopsStatus checkSymbol(const fuseopsProgram &program,
                                 int64_t symbol) {
  if (symbol < program.symbolMin || symbol > program.symbolMax)
    return fail(FUSEOPS_INVALID_ARGUMENT,
                "expected a size of %lld to %lld, but got %lld",
                static_cast<long long>(program.symbolMin),
                static_cast<long long>(program.symbolMax),
                static_cast<long long>(symbol));
  return FUSEOPS_OK;
}

static fuseopsStatus evaluateOrFail(const fuseopsExtent &extent, int64_t symbol,
                                    int64_t &value) {
  if (!evaluate(extent, symbol, value))
    return fail(FUSEOPS_INVALID_ARGUMENT,
                "the sizes for size %lld are too large",
                static_cast<long long>(symbol));
  return FUSEOPS_OK;
}

static void describeTensor(const Tensor &tensor, fuseopsTensorInfo &info) {
  info.name = tensor.name.c_str();
  info.dl_dtype = getDLDataType(tensor.dtype);
  info.dtype = tensor.dtype;
  info.rank = static_cast<int32_t>(tensor.shape.size());
  info.shape = tensor.shape.data();
  info.alias_input = -1;
  info.alias_output = -1;
  info.is_none = 0;
}

static fuseopsStatus writeShape(const fuseopsProgram &program,
                                const Tensor &tensor, int64_t symbol,
                                int64_t *shape) {
  if (fuseopsStatus status = checkSymbol(program, symbol))
    return status;
  // A scalar's shape is no number at all, and may be written nowhere.
  if (!tensor.shape.empty())
    if (fuseopsStatus status = checkResult(shape))
      return status;
  for (size_t i = 0; i < tensor.shape.size(); ++i)
    if (fuseopsStatus status =
            evaluateOrFail(tensor.shape[i], symbol, shape[i]))
      return status;
  return FUSEOPS_OK;
}

const char *fuseopsProgramTarget(const fuseopsProgram *program) {
  return program->targetName.c_str();
}

int32_t fuseopsProgramDeviceType(const fuseopsProgram *program) {
  return program->isCuda() ? kDLCUDA : kDLCPU;
}

const char *fuseopsProgramName(const fuseopsProgram *program) {
  return program->name.c_str();
}

const char *fuseopsProgramCompiler(const fuseopsProgram *program) {
  return program->compiler.c_str();
}

const char *fuseopsProgramReport(const fuseopsProgram *program) {
  return program->report.c_str();
}

void fuseopsProgramSymbolRange(const fuseopsProgram *program, int64_t *minimum,
                               int64_t *maximum) {
  if (minimum)
    *minimum = program->symbolMin;
  if (maximum)
    *maximum = program->symbolMax;
}

int32_t fuseopsProgramNumEntries(const fuseopsProgram *program) {
  return static_cast<int32_t>(program->entries.size());
}

int32_t fuseopsProgramFindEntry(const fuseopsProgram *program,
                                const char *name) {
  for (size_t i = 0; i < program->entries.size(); ++i)
    if (name && program->entries[i].name == name)
      return static_cast<int32_t>(i);
  return -1;
}

fuseopsStatus fuseopsEntryDescribe(const fuseopsProgram *program,
                                   int32_t entryIndex, fuseopsEntryInfo *info) {
  const Entry *entry = findEntry(program, entryIndex);
  if (!entry)
    return FUSEOPS_INVALID_ARGUMENT;
  if (fuseopsStatus status = checkResult(info))
    return status;
  info->name = entry->name.c_str();
  info->num_inputs = static_cast<int32_t>(entry->inputs.size());
  info->num_outputs = static_cast<int32_t>(entry->outputs.size());
  info->num_results = entry->numResults;
  info->num_gradients = entry->numGradients;
  info->num_steps = static_cast<int32_t>(entry->steps.size());
  return FUSEOPS_OK;
}

fuseopsStatus fuseopsEntryInput(const fuseopsProgram *program,
                                int32_t entryIndex, int32_t index,
                                fuseopsTensorInfo *info) {
  const Entry *entry = findEntry(program, entryIndex);
  if (!entry)
    return FUSEOPS_INVALID_ARGUMENT;
  if (fuseopsStatus status = checkIndex("input", entry->inputs.size(), index))
    return status;
  if (fuseopsStatus status = checkResult(info))
    return status;
  describeTensor(entry->tensors[entry->inputs[index]], *info);
  return FUSEOPS_OK;
}

fuseopsStatus fuseopsEntryOutput(const fuseopsProgram *program,
                                 int32_t entryIndex, int32_t index,
                                 fuseopsTensorInfo *info) {
  const Entry *entry = findEntry(program, entryIndex);
  if (!entry)
    return FUSEOPS_INVALID_ARGUMENT;
  if (fuseopsStatus status = checkIndex("output", entry->outputs.size(), index))
    return status;
  if (fuseopsStatus status = checkResult(info))
    return status;
  if (entry->outputs[index] < 0) {
    *info = {"", {kDLFloat, 32, 1}, FUSEOPS_F32, 0, nullptr, -1, -1, 1};
    return FUSEOPS_OK;
  }
  describeTensor(entry->tensors[entry->outputs[index]], *info);
  info->alias_input = entry->aliasInput[index];
  info->alias_output = entry->aliasOutput[index];
  return FUSEOPS_OK;
}

fuseopsStatus fuseopsEntryInputShape(const fuseopsProgram *program,
                                     int32_t entryIndex, int32_t index,
                                     int64_t symbol, int64_t *shape) {
  const Entry *entry = findEntry(program, entryIndex);
  if (!entry)
    return FUSEOPS_INVALID_ARGUMENT;
  if (fuseopsStatus status = checkIndex("input", entry->inputs.size(), index))
    return status;
  return writeShape(*program, entry->tensors[entry->inputs[index]], symbol,
                    shape);
}

fuseopsStatus fuseopsEntryOutputShape(const fuseopsProgram *program,
                                      int32_t entryIndex, int32_t index,
                                      int64_t symbol, int64_t *shape) {
  const Entry *entry = findEntry(program, entryIndex);
  if (!entry)
    return FUSEOPS_INVALID_ARGUMENT;
  if (fuseopsStatus status = checkIndex("output", entry->outputs.size(), index))
    return status;
  if (entry->outputs[index] < 0)
    return fail(FUSEOPS_INVALID_ARGUMENT,
                "entry `%s`: output %d is none and has no shape",
                entry->name.c_str(), index);
  return writeShape(*program, entry->tensors[entry->outputs[index]], symbol,
                    shape);
}

fuseopsStatus fuseopsEntryStep(const fuseopsProgram *program,
                               int32_t entryIndex, int32_t index,
                               int64_t symbol, fuseopsStepInfo *info) {
  const Entry *entry = findEntry(program, entryIndex);
  if (!entry)
    return FUSEOPS_INVALID_ARGUMENT;
  if (fuseopsStatus status = checkIndex("step", entry->steps.size(), index))
    return status;
  if (fuseopsStatus status = checkResult(info))
    return status;
  if (fuseopsStatus status = checkSymbol(*program, symbol))
    return status;
  const Step &step = entry->steps[index];
  info->name = step.name.c_str();
  info->template_name = step.templateName.c_str();
  info->num_members = static_cast<int32_t>(step.memberNames.size());
  info->members = step.memberNames.data();
  info->is_library = step.isMatmul;
  if (fuseopsStatus status = evaluateOrFail(step.bytes, symbol, info->bytes))
    return status;
  return evaluateOrFail(step.flops, symbol, info->flops);
}

fuseopsStatus fuseopsEntryTraffic(const fuseopsProgram *program,
                                  int32_t entryIndex, int64_t symbol,
                                  int64_t *floorBytes, int64_t *unfusedBytes) {
  const Entry *entry = findEntry(program, entryIndex);
  if (!entry)
    return FUSEOPS_INVALID_ARGUMENT;
  if (fuseopsStatus status = checkSymbol(*program, symbol))
    return status;
  int64_t ignored;
  if (fuseopsStatus status = evaluateOrFail(entry->floorBytes, symbol,
                                            floorBytes ? *floorBytes : ignored))
    return status;
  return evaluateOrFail(entry->unfusedBytes, symbol,
                        unfusedBytes ? *unfusedBytes : ignored);
}

fuseopsStatus fuseopsEntryInferSymbol(const fuseopsProgram *program,
                                      int32_t entryIndex,
                                      const DLTensor *const *inputs,
                                      int32_t numInputs, int64_t *symbol) {
  return guarded([&]() -> fuseopsStatus {
    const Entry *entry = findEntry(program, entryIndex);
    if (!entry)
      return FUSEOPS_INVALID_ARGUMENT;
    if (!symbol)
      return fail(FUSEOPS_INVALID_ARGUMENT,
                  "expected where to put the size, but got NULL");
    return inferSymbol(*program, *entry, inputs, numInputs, *symbol);
  });
}

fuseopsStatus fuseopsEntryWorkspaceBytesFor(const fuseopsProgram *program,
                                            int32_t entryIndex, int64_t symbol,
                                            const DLTensor *const *inputs,
                                            int32_t numInputs, size_t *bytes) {
  return guarded([&]() -> fuseopsStatus {
    const Entry *entry = findEntry(program, entryIndex);
    if (!entry)
      return FUSEOPS_INVALID_ARGUMENT;
    if (!bytes)
      return fail(FUSEOPS_INVALID_ARGUMENT,
                  "expected where to put the bytes, but got NULL");
    int64_t needed;
    if (fuseopsStatus status =
            countWorkspace(*program, *entry, symbol, inputs, numInputs, needed))
      return status;
    *bytes = static_cast<size_t>(needed);
    return FUSEOPS_OK;
  });
}

fuseopsStatus fuseopsEntryWorkspaceBytes(const fuseopsProgram *program,
                                         int32_t entryIndex, int64_t symbol,
                                         size_t *bytes) {
  const Entry *entry = findEntry(program, entryIndex);
  if (!entry)
    return FUSEOPS_INVALID_ARGUMENT;
  if (!bytes)
    return fail(FUSEOPS_INVALID_ARGUMENT,
                "expected where to put the bytes, but got NULL");
  int64_t needed, libraryOffset;
  if (fuseopsStatus status =
          getWorkspaceBytes(*program, *entry, symbol, needed, libraryOffset))
    return status;
  *bytes = static_cast<size_t>(needed);
  return FUSEOPS_OK;
}
