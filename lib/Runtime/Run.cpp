//===- Run.cpp - The C ABI: load and run programs ------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "CpuCode.h"
#include "CudaCode.h"
#include "Status.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

using namespace fuseops::runtime;

fuseopsStatus fuseopsProgramLoad(const void *data, size_t size,
                                 fuseopsProgram **program) {
  return guarded([&]() -> fuseopsStatus {
    if (!data || !program)
      return fail(FUSEOPS_INVALID_ARGUMENT,
                  "expected a program and where to put it, but got NULL");
    *program = nullptr;
    auto loaded = std::make_unique<fuseopsProgram>();
    if (fuseopsStatus status = loadProgram(data, size, *loaded))
      return status;
    *program = loaded.release();
    return FUSEOPS_OK;
  });
}

/// Reads a whole file.
static fuseopsStatus readFile(const char *path, std::vector<char> &bytes) {
  std::FILE *file = std::fopen(path, "rb");
  if (!file)
    return fail(FUSEOPS_INVALID_ARGUMENT, "`%s` cannot be opened: %s", path,
                std::strerror(errno));
  constexpr size_t step = 1 << 20;
  size_t size = 0, count;
  do {
    bytes.resize(size + step);
    count = std::fread(bytes.data() + size, 1, step, file);
    size += count;
  } while (count == step);
  bool isBad = std::ferror(file) != 0;
  std::fclose(file);
  bytes.resize(size);
  if (isBad)
    return fail(FUSEOPS_INVALID_ARGUMENT, "`%s` cannot be read", path);
  return FUSEOPS_OK;
}

fuseopsStatus fuseopsProgramLoadFile(const char *path,
                                     fuseopsProgram **program) {
  return guarded([&]() -> fuseopsStatus {
    if (!path || !program)
      return fail(FUSEOPS_INVALID_ARGUMENT,
                  "expected a path and where to put the program, but got NULL");
    *program = nullptr;
    std::vector<char> bytes;
    if (fuseopsStatus status = readFile(path, bytes))
      return status;
    if (bytes.empty())
      return fail(FUSEOPS_INVALID_PROGRAM, "`%s`: the file is empty", path);
    fuseopsStatus status =
        fuseopsProgramLoad(bytes.data(), bytes.size(), program);
    return status ? addContext(status, path) : status;
  });
}

void fuseopsProgramDestroy(fuseopsProgram *program) { delete program; }

fuseopsStatus fuseopsProgramPrepare(fuseopsProgram *program, int32_t deviceId) {
  return guarded([&]() -> fuseopsStatus {
    if (!program)
      return fail(FUSEOPS_INVALID_ARGUMENT, "expected a program, but got NULL");
    return program->isCuda() ? prepareCuda(*program, deviceId)
                             : prepareCpu(*program);
  });
}

/// Runs an entry `repetitions` times, with the times that are asked for.
static fuseopsStatus run(fuseopsProgram *program, int32_t index,
                         const RunArguments &arguments, void *stream,
                         int32_t repetitions, double *stepMicroseconds,
                         double *microseconds) {
  if (!program)
    return fail(FUSEOPS_INVALID_ARGUMENT, "expected a program, but got NULL");
  if (index < 0 || static_cast<size_t>(index) >= program->entries.size())
    return fail(FUSEOPS_INVALID_ARGUMENT,
                "expected an entry below %zu, but got %d",
                program->entries.size(), index);
  if (repetitions < 1)
    return fail(FUSEOPS_INVALID_ARGUMENT,
                "expected at least 1 repetition, but got %d", repetitions);
  const Entry &entry = program->entries[index];
  // Its vector keeps its memory from run to run.
  static thread_local Binding binding;
  if (fuseopsStatus status = bindArguments(*program, entry, arguments, binding))
    return status;
  if (program->isCuda())
    return runOnCuda(*program, entry, binding, stream, repetitions,
                     stepMicroseconds, microseconds);
  if (fuseopsStatus status = prepareCpu(*program))
    return status;
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin = Clock::now();
  for (int32_t i = 0; i < repetitions; ++i)
    if (fuseopsStatus status =
            runOnCpu(*program, entry, binding, stepMicroseconds))
      return status;
  if (microseconds)
    *microseconds =
        std::chrono::duration<double, std::micro>(Clock::now() - begin)
            .count() /
        repetitions;
  return FUSEOPS_OK;
}

fuseopsStatus fuseopsRun(fuseopsProgram *program, int32_t entry,
                         const DLTensor *const *inputs, int32_t numInputs,
                         const DLTensor *const *outputs, int32_t numOutputs,
                         void *workspace, size_t workspaceBytes, void *stream) {
  return guarded([&] {
    return run(
        program, entry,
        {inputs, numInputs, outputs, numOutputs, workspace, workspaceBytes},
        stream, 1, nullptr, nullptr);
  });
}

fuseopsStatus fuseopsRunProfiled(fuseopsProgram *program, int32_t entry,
                                 const DLTensor *const *inputs,
                                 int32_t numInputs,
                                 const DLTensor *const *outputs,
                                 int32_t numOutputs, void *workspace,
                                 size_t workspaceBytes, void *stream,
                                 double *stepMicroseconds) {
  return guarded([&]() -> fuseopsStatus {
    // An entry of no steps writes no times; whether there is such an entry,
    // `run` says.
    fuseopsEntryInfo info = {};
    bool isEmpty = fuseopsEntryDescribe(program, entry, &info) == FUSEOPS_OK &&
                   info.num_steps == 0;
    if (!stepMicroseconds && !isEmpty)
      return fail(FUSEOPS_INVALID_ARGUMENT,
                  "expected where to put the times, but got NULL");
    return run(
        program, entry,
        {inputs, numInputs, outputs, numOutputs, workspace, workspaceBytes},
        stream, 1, stepMicroseconds, nullptr);
  });
}

fuseopsStatus fuseopsRunRepeated(fuseopsProgram *program, int32_t entry,
                                 const DLTensor *const *inputs,
                                 int32_t numInputs,
                                 const DLTensor *const *outputs,
                                 int32_t numOutputs, void *workspace,
                                 size_t workspaceBytes, void *stream,
                                 int32_t repetitions, double *microseconds) {
  return guarded([&]() -> fuseopsStatus {
    if (!microseconds)
      return fail(FUSEOPS_INVALID_ARGUMENT,
                  "expected where to put the time, but got NULL");
    return run(
        program, entry,
        {inputs, numInputs, outputs, numOutputs, workspace, workspaceBytes},
        stream, repetitions, nullptr, microseconds);
  });
}
