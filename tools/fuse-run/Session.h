//===- Session.h - A loaded program and the tensors of its runs -----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_TOOLS_FUSE_RUN_SESSION_H
#define FUSEOPS_TOOLS_FUSE_RUN_SESSION_H

#include "Numbers.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <memory>

namespace fuserun {

/// Memory of a device.
class DeviceBuffer {
public:
  static llvm::Expected<std::shared_ptr<DeviceBuffer>>
  allocate(int32_t deviceType, size_t bytes);
  ~DeviceBuffer();

  /// Every byte 0xff: NaN in each format, and nothing that a kernel writes.
  llvm::Error poison();
  llvm::Error write(llvm::ArrayRef<uint8_t> bytes);
  llvm::Error read(std::vector<uint8_t> &bytes) const;
  void *getPointer() const { return pointer; }
  size_t getSize() const { return size; }

private:
  DeviceBuffer(int32_t deviceType, size_t size)
      : deviceType(deviceType), size(size) {}

  int32_t deviceType;
  size_t size;
  void *pointer = nullptr;
};

/// An input or output of an entry and where it is.
struct DeviceTensor {
  fuseopsTensorInfo info = {};
  std::vector<int64_t> shape;
  /// Shared with the tensor that it is an alias of; null where it is none.
  std::shared_ptr<DeviceBuffer> buffer;
};

/// How long an entry took.
struct EntryTimes {
  /// The median of each step, and the mean of a whole run.
  std::vector<double> steps;
  double whole = 0;
};

/// A program at one size.
class Session {
public:
  /// Loads a program file's bytes. `size` is the value of its symbol.
  static llvm::Expected<std::unique_ptr<Session>> load(llvm::StringRef bytes,
                                                       int64_t size);
  ~Session();

  /// The entry of that name, -1 if there is none.
  int32_t findEntry(const char *name) const;
  fuseopsEntryInfo describe(int32_t entry) const;
  fuseopsStepInfo describeStep(int32_t entry, int32_t step) const;
  void getTraffic(int32_t entry, int64_t &floor, int64_t &unfused) const;
  const fuseopsProgram *getProgram() const { return program; }
  int64_t getSize() const { return size; }
  /// The compiler's report; an empty object if there is none.
  const llvm::json::Object &getReport() const { return report; }

  /// About the bytes of host memory that a run of forward needs.
  llvm::Expected<double> countHostBytes() const;
  /// Input `index` with its shape, still without elements.
  llvm::Expected<HostTensor> describeInput(int32_t entry, int32_t index) const;
  llvm::Expected<DeviceTensor> upload(int32_t entry, int32_t index,
                                      const HostTensor &tensor) const;
  llvm::Expected<HostTensor> download(const DeviceTensor &tensor) const;

  /// Runs an entry on poisoned outputs and workspace, and gives its outputs.
  llvm::Expected<std::vector<DeviceTensor>>
  run(int32_t entry, llvm::ArrayRef<DeviceTensor> inputs) const;

  /// Memory for the workspace of an entry, poisoned.
  llvm::Expected<std::shared_ptr<DeviceBuffer>>
  allocateWorkspace(int32_t entry) const;

  /// Runs an entry once into the outputs that `run` gave, and tells how long
  /// its steps took together, in microseconds.
  llvm::Expected<double> profile(int32_t entry,
                                 llvm::ArrayRef<DeviceTensor> inputs,
                                 llvm::ArrayRef<DeviceTensor> outputs,
                                 const DeviceBuffer &workspace) const;

  /// Runs an entry again and again into the outputs that `run` gave.
  llvm::Expected<EntryTimes> time(int32_t entry,
                                  llvm::ArrayRef<DeviceTensor> inputs,
                                  llvm::ArrayRef<DeviceTensor> outputs,
                                  int32_t repetitions) const;

private:
  Session() = default;

  fuseopsProgram *program = nullptr;
  int64_t size = 0;
  llvm::json::Object report;
};

/// `status` with the runtime's sentence.
llvm::Error toError(fuseopsStatus status);

} // namespace fuserun

#endif // FUSEOPS_TOOLS_FUSE_RUN_SESSION_H
