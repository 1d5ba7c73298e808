//===- Program.h - A loaded program ---------------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The FlatBuffer is decoded once into plain structures, each index and extent
// checked on the way, so that nothing that runs has to check the file again.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_RUNTIME_PROGRAM_H
#define FUSEOPS_LIB_RUNTIME_PROGRAM_H

#include "FuseOps-c/Runtime.h"
#include "Matmul.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fuseops {
namespace runtime {

class CpuCode;
class CudaCode;

enum class Target { Cpu, Cuda, Reference };
enum class Role { Input, Output, Workspace, Constant };
enum class CodeKind { SharedObject, Cubin, PTX };

/// Writes the size for a symbol. Returns false if that is negative or beyond
/// 2^60.
bool evaluate(const fuseopsExtent &extent, int64_t symbol, int64_t &value);

struct Tensor {
  std::string name;
  fuseopsDType dtype;
  std::vector<fuseopsExtent> shape;
  Role role;
  int32_t alias = -1;
  fuseopsExtent offset = {};
  /// Index into `Program::constants` of a constant without alias.
  int32_t constant = -1;
  /// Index of the tensor at the end of the chain of aliases, maybe itself.
  int32_t root = -1;
  /// Index among the entry's inputs or outputs that provides the storage of a
  /// root; -1 for workspace.
  int32_t slot = -1;

  /// Writes the number of elements; false if too large.
  bool countElements(int64_t symbol, int64_t &elements) const;
  /// Writes the number of bytes; false if too large.
  bool countBytes(int64_t symbol, int64_t &bytes) const;
};

struct Grid {
  fuseopsExtent rows = {};
  int64_t rowsPerWorker = 1;
  int64_t maxWorkers = 1;

  int64_t countWorkers(int64_t rowCount) const {
    int64_t wanted = rowCount / rowsPerWorker + (rowCount % rowsPerWorker != 0);
    return wanted < maxWorkers ? wanted : maxWorkers;
  }
};

/// A matrix in a kernel's tensor that the tensor memory accelerator of a CUDA
/// chip copies boxes of; see Program.fbs.
struct TensorMap {
  /// Index into `KernelStep::tensors`.
  int32_t tensor = 0;
  fuseopsExtent columns = {}, rows = {}, pitch = {};
  int32_t boxColumns = 1;
  int32_t boxRows = 1;
  int32_t swizzle = 0;
  /// How many matrices there are, if `batchPitch` is not 0.
  fuseopsExtent batch = {};
  int64_t batchPitch = 0;
};

/// The sizes of a tensor map; without a batch it has one matrix.
struct TensorMapSizes {
  int64_t columns, rows, pitch, batch;

  bool isEmpty() const { return columns == 0 || rows == 0 || batch == 0; }
};

/// The most columns, rows or matrices that a tensor map has.
constexpr int64_t kMaxMapSize = int64_t(1) << 32;
/// The most bytes from one row of it to the next, or from one matrix.
constexpr int64_t kMaxMapPitchBytes = (int64_t(1) << 40) - 16;

struct KernelStep {
  /// Index into `Program::kernels`.
  int32_t kernel = 0;
  std::vector<int32_t> tensors;
  Grid grid;
  int32_t threadsX = 1;
  int32_t threadsY = 1;
  int32_t sharedBytes = 0;
  Grid countGrid;
  std::vector<TensorMap> maps;
  /// CUDA: the kernel waits by itself for what comes before it on the stream.
  bool startsEarly = false;
};

struct MatmulStep {
  int32_t a = -1;
  int32_t b = -1;
  int32_t bias = -1;
  int32_t out = -1;
  fuseopsExtent m, n, k;
  bool transposeA = false;
  bool transposeB = false;
  /// -1 where operands have no scales.
  int32_t aScale = -1;
  int32_t bScale = -1;
  ScaleKind aScaleKind = ScaleKind::PerTensor;
  ScaleKind bScaleKind = ScaleKind::PerTensor;
  bool fastAccumulate = false;
};

struct Step {
  std::string name;
  std::string templateName;
  std::vector<std::string> members;
  /// What the C ABI hands out.
  std::vector<const char *> memberNames;
  fuseopsExtent bytes = {};
  fuseopsExtent flops = {};
  bool isMatmul = false;
  KernelStep kernel;
  MatmulStep matmul;
};

struct Entry {
  std::string name;
  std::vector<Tensor> tensors;
  std::vector<int32_t> inputs;
  /// -1 where the output is none.
  std::vector<int32_t> outputs;
  /// For each output, the input (earlier output) that it is, else -1.
  std::vector<int32_t> aliasInput;
  std::vector<int32_t> aliasOutput;
  int32_t numResults = 0;
  int32_t numGradients = 0;
  fuseopsExtent workspace = {};
  std::vector<Step> steps;
  fuseopsExtent floorBytes = {};
  fuseopsExtent unfusedBytes = {};
  bool hasMatmul = false;

  /// Whether the caller provides the storage of this output.
  bool ownsOutput(int32_t index) const {
    return outputs[index] >= 0 && aliasInput[index] < 0 &&
           aliasOutput[index] < 0;
  }
  /// Describes a product but for its memory, and checks that the operands and
  /// scales hold as many elements as its sizes say.
  fuseopsStatus describeMatmul(const Step &step, int64_t symbol,
                               MatmulArguments &arguments) const;
  /// The same of its scales.
  fuseopsStatus describeScales(const Step &step, int64_t symbol,
                               MatmulArguments &arguments) const;
  /// Writes the sizes of a tensor map, and checks that its matrices lie in its
  /// tensor.
  fuseopsStatus sizeTensorMap(const Step &step, const TensorMap &map,
                              int64_t symbol, TensorMapSizes &sizes) const;
  /// Checks that all tensor maps have rows that begin at multiples of 16 bytes:
  /// where their pitch has the symbol, not for each.
  fuseopsStatus checkTensorMaps(int64_t symbol) const;
  /// Writes the offset of workspace tensor `index`, rounded up to the alignment
  /// that tensors in the workspace have, and checks that it fits.
  fuseopsStatus placeInWorkspace(int32_t index, int64_t symbol,
                                 int64_t &offset) const;
};

struct Code {
  CodeKind kind;
  std::string arch;
  const uint8_t *data;
  size_t size;
};

/// A tensor that is part of the program.
struct Constant {
  const uint8_t *data;
  size_t size;
};

struct Program {
  Program();
  ~Program();

  /// The FlatBuffer, aligned as its verifier wants it; `Code` and
  /// `Constant` point into it.
  std::vector<uint64_t> storage;
  Target target = Target::Cpu;
  std::string targetName;
  std::string compiler;
  std::string name;
  std::string report;
  int64_t symbolMin = 0;
  int64_t symbolMax = INT64_MAX;
  std::vector<Code> code;
  std::vector<Constant> constants;
  std::vector<Entry> entries;
  /// Names of all kernels that steps launch.
  std::vector<std::string> kernels;

  /// Loaded code of the CPU target, made on first use under the mutex.
  std::unique_ptr<CpuCode> cpu;
  std::mutex cpuMutex;
  /// Of the CUDA target; it guards itself.
  std::unique_ptr<CudaCode> cuda;

  bool isCuda() const { return target == Target::Cuda; }
};

/// Bytes that tensors in the workspace are aligned to.
constexpr int64_t kWorkspaceAlignment = 256;
inline int64_t alignWorkspace(int64_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment *
         kWorkspaceAlignment;
}

/// Bytes that kernels on CUDA expect each tensor to be aligned to: their widest
/// load.
constexpr uintptr_t kCudaAlignment = 16;

/// Bytes that a CUDA run with matrix products leaves to the library, after the
/// entry's own workspace; operands that are padded come behind them.
constexpr int64_t kLibraryWorkspaceBytes = 32 << 20;

/// Reads a program file; on success `program` is complete and checked.
fuseopsStatus loadProgram(const void *data, size_t size, Program &program);

/// Writes the bytes of workspace that a run needs, and where in it the
/// library's part begins.
fuseopsStatus getWorkspaceBytes(const Program &program, const Entry &entry,
                                int64_t symbol, int64_t &bytes,
                                int64_t &libraryOffset);

} // namespace runtime
} // namespace fuseops

/// The C ABI's program.
struct fuseopsProgram : fuseops::runtime::Program {};

#endif // FUSEOPS_LIB_RUNTIME_PROGRAM_H
