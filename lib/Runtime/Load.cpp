//===- Load.cpp - Decodes a program file and checks all of it -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuCode.h"
#include "CudaCode.h"
#include "DType.h"
#include "FuseOps/Format/ProgramFile.h"
#include "FuseOps/Format/Program_generated.h"
#include "Program.h"
#include "Status.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>

using namespace fuseops;
using namespace fuseops::runtime;

// Beyond these a program is surely damaged; they bound what a check costs.
static constexpr size_t kMaxRank = 32;
static constexpr size_t kMaxKernelTensors = 2048;
static constexpr int64_t kMaxWorkers = INT32_MAX;
static constexpr int32_t kMaxSharedBytes = 1 << 20;

// How many values of the symbol a program is checked for when it is loaded. A
// run checks the sizes for its own value again.
static constexpr int64_t kCheckedSymbols = 4;

namespace {

/// Decodes one program. Each function returns false once the last error is
/// set.
class Decoder {
public:
  Decoder(Program &program) : program(program) {}

  fuseopsStatus decode(const schema::Program &file);

private:
  bool invalid(const char *format, ...) __attribute__((format(printf, 2, 3)));
  bool decodeExtent(const schema::Extent *in, const char *what,
                    fuseopsExtent &out);
  bool decodeTensor(const schema::Tensor &in, Tensor &out);
  bool decodeGrid(const schema::Grid *in, Grid &out);
  bool decodeKernel(const schema::KernelStep &in, KernelStep &out);
  bool decodeMatmul(const schema::MatmulStep &in, MatmulStep &out);
  bool decodeStep(const schema::Step &in, Step &out);
  bool decodeCode(const schema::Code &in, Code &out);
  bool decodeEntry(const schema::Entry &in);
  bool resolveAliases();
  bool resolveInputs(const schema::Entry &in);
  bool resolveOutputs(const schema::Entry &in);
  bool checkSizes(int64_t symbol);
  bool isTensor(int32_t index) const {
    return index >= 0 && static_cast<size_t>(index) < entry->tensors.size();
  }

  Program &program;
  Entry *entry = nullptr;
  /// Where in the program the decoder is, for the sentence.
  std::string where;
  std::map<std::string, int32_t> kernelIndices;
  std::set<std::string> stepNames;
};

} // namespace

/// Copies a structure of the file. In a damaged one it may lie at an odd
/// address, which the verifier does not see.
template <typename Struct>
static Struct copyStruct(const Struct *in) {
  Struct out;
  std::memcpy(static_cast<void *>(&out), static_cast<const void *>(in),
              sizeof(Struct));
  return out;
}

bool Decoder::invalid(const char *format, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof(buffer), format, arguments);
  va_end(arguments);
  fail(FUSEOPS_INVALID_PROGRAM, "%s%s%s", where.c_str(),
       where.empty() ? "" : ": ", buffer);
  return false;
}

static std::string describeExtent(const fuseopsExtent &extent) {
  return std::to_string(extent.constant) + " + " +
         std::to_string(extent.per_symbol) + " * S + " +
         std::to_string(extent.per_block32) + " * ceil(S / 32) + " +
         std::to_string(extent.per_block128) + " * ceil(S / 128)";
}

bool Decoder::decodeExtent(const schema::Extent *in, const char *what,
                           fuseopsExtent &out) {
  out = {};
  if (in) {
    schema::Extent extent = copyStruct(in);
    out = {extent.constant(), extent.per_symbol(), extent.per_block32(),
           extent.per_block128()};
  }
  int64_t smallest;
  bool isGrowing =
      out.per_symbol >= 0 && out.per_block32 >= 0 && out.per_block128 >= 0;
  if (!isGrowing || !evaluate(out, program.symbolMin, smallest))
    return invalid("expected %s to be neither negative nor too large, but got "
                   "%s",
                   what, describeExtent(out).c_str());
  return true;
}

bool Decoder::decodeTensor(const schema::Tensor &in, Tensor &out) {
  out.name = in.name()->str();
  if (in.dtype() >= static_cast<int>(kNumDTypes))
    return invalid("tensor `%s` has unknown dtype %d", out.name.c_str(),
                   static_cast<int>(in.dtype()));
  if (in.role() > schema::Role_Constant)
    return invalid("tensor `%s` has unknown role %d", out.name.c_str(),
                   static_cast<int>(in.role()));
  out.dtype = static_cast<fuseopsDType>(in.dtype());
  out.role = static_cast<Role>(in.role());
  if (in.shape()->size() > kMaxRank)
    return invalid("expected tensor `%s` to have at most %zu dimensions, but "
                   "got %u",
                   out.name.c_str(), kMaxRank, in.shape()->size());
  std::string extentName = "each extent of tensor `" + out.name + "`";
  out.shape.resize(in.shape()->size());
  for (size_t i = 0; i < out.shape.size(); ++i)
    if (!decodeExtent(in.shape()->Get(i), extentName.c_str(), out.shape[i]))
      return false;
  out.alias = in.alias();
  if (out.alias != -1 && !isTensor(out.alias))
    return invalid("tensor `%s` is an alias of tensor %d, which does not exist",
                   out.name.c_str(), out.alias);
  out.constant = in.constant();
  bool isConstant = out.role == Role::Constant && out.alias == -1;
  if (isConstant != (out.constant != -1) ||
      (isConstant && (out.constant < 0 || static_cast<size_t>(out.constant) >=
                                              program.constants.size())))
    return invalid("tensor `%s` is constant %d, which does not exist",
                   out.name.c_str(), out.constant);
  std::string offsetName = "the offset of tensor `" + out.name + "`";
  return decodeExtent(in.offset(), offsetName.c_str(), out.offset);
}

bool Decoder::decodeGrid(const schema::Grid *in, Grid &out) {
  if (!in)
    return true;
  schema::Grid grid = copyStruct(in);
  if (grid.rows_per_worker() < 1)
    return invalid("expected rows_per_worker of at least 1, but got %lld",
                   static_cast<long long>(grid.rows_per_worker()));
  if (grid.max_workers() < 1 || grid.max_workers() > kMaxWorkers)
    return invalid("expected max_workers of 1 to %lld, but got %lld",
                   static_cast<long long>(kMaxWorkers),
                   static_cast<long long>(grid.max_workers()));
  out.rowsPerWorker = grid.rows_per_worker();
  out.maxWorkers = grid.max_workers();
  return decodeExtent(&grid.rows(), "the rows of a grid", out.rows);
}

bool Decoder::decodeKernel(const schema::KernelStep &in, KernelStep &out) {
  std::string name = in.kernel()->str();
  if (name.empty())
    return invalid("expected a kernel name, but got an empty one");
  auto [it, isNew] = kernelIndices.try_emplace(
      name, static_cast<int32_t>(program.kernels.size()));
  if (isNew)
    program.kernels.push_back(name);
  out.kernel = it->second;
  if (in.tensors()->size() > kMaxKernelTensors)
    return invalid("expected at most %zu tensors, but got %u",
                   kMaxKernelTensors, in.tensors()->size());
  for (int32_t index : *in.tensors()) {
    if (!isTensor(index))
      return invalid("tensor %d does not exist", index);
    out.tensors.push_back(index);
  }
  if (!in.grid())
    return invalid("expected a grid, but got none");
  if (!decodeGrid(in.grid(), out.grid) ||
      !decodeGrid(in.count_grid(), out.countGrid))
    return false;
  out.threadsX = in.threads_x();
  out.threadsY = in.threads_y();
  if (out.threadsX < 1 || out.threadsY < 1 || out.threadsX > 1024 ||
      out.threadsY > 1024 || out.threadsX * out.threadsY > 1024)
    return invalid("expected 1 to 1024 threads, but got %d x %d", out.threadsX,
                   out.threadsY);
  out.startsEarly = in.starts_early();
  out.sharedBytes = in.shared_bytes();
  if (out.sharedBytes < 0 || out.sharedBytes > kMaxSharedBytes)
    return invalid("expected 0 to %d bytes of shared memory, but got %d",
                   kMaxSharedBytes, out.sharedBytes);
  return true;
}

bool Decoder::decodeMatmul(const schema::MatmulStep &in, MatmulStep &out) {
  out.a = in.a();
  out.b = in.b();
  out.bias = in.bias();
  out.out = in.out();
  out.transposeA = in.transpose_a();
  out.transposeB = in.transpose_b();
  out.aScale = in.a_scale();
  out.bScale = in.b_scale();
  out.fastAccumulate = in.fast_accumulate();
  bool isScaled = out.aScale != -1 || out.bScale != -1;
  if (isScaled && (!program.isCuda() || out.transposeA || !out.transposeB))
    return invalid("expected a product of FP8, [m, k] x [n, k], on CUDA");
  for (schema::ScaleKind kind : {in.a_scale_kind(), in.b_scale_kind()})
    if (kind > schema::ScaleKind_Block128x128)
      return invalid("unknown kind of scale %d", static_cast<int>(kind));
  out.aScaleKind = static_cast<ScaleKind>(in.a_scale_kind());
  out.bScaleKind = static_cast<ScaleKind>(in.b_scale_kind());
  auto check = [&](int32_t index, bool accepts(fuseopsDType),
                   const char *expected) {
    if (!isTensor(index))
      return invalid("tensor %d does not exist", index);
    const Tensor &tensor = entry->tensors[index];
    return accepts(tensor.dtype) ||
           invalid("expected `%s` to be %s, but got %s", tensor.name.c_str(),
                   expected, fuseopsDTypeName(tensor.dtype));
  };
  const char *plain = "f64, f32, f16 or bf16";
  auto *isFactor = isScaled ? isFp8DType : isMatmulDType;
  for (int32_t index : {out.a, out.b})
    if (!check(index, isFactor, isScaled ? "FP8" : plain))
      return false;
  return check(out.out, isMatmulDType, plain) &&
         (out.bias == -1 || check(out.bias, isMatmulDType, plain)) &&
         (!isScaled || (check(out.aScale, isScaleDType, "f32") &&
                        check(out.bScale, isScaleDType, "f32"))) &&
         decodeExtent(in.m(), "m", out.m) && decodeExtent(in.n(), "n", out.n) &&
         decodeExtent(in.k(), "k", out.k);
}

bool Decoder::decodeStep(const schema::Step &in, Step &out) {
  out.name = in.name()->str();
  where = "entry `" + entry->name + "`, step `" + out.name + "`";
  if (!stepNames.insert(out.name).second)
    return invalid("expected a unique name, but an earlier step has it");
  if (in.template_name())
    out.templateName = in.template_name()->str();
  if (in.members())
    for (const flatbuffers::String *member : *in.members())
      out.members.push_back(member->str());
  for (const std::string &member : out.members)
    out.memberNames.push_back(member.c_str());
  if (!decodeExtent(in.bytes(), "its bytes", out.bytes) ||
      !decodeExtent(in.flops(), "its flops", out.flops))
    return false;
  if (const schema::KernelStep *kernel = in.step_as_KernelStep())
    return decodeKernel(*kernel, out.kernel);
  if (const schema::MatmulStep *matmul = in.step_as_MatmulStep()) {
    out.isMatmul = true;
    entry->hasMatmul = true;
    return decodeMatmul(*matmul, out.matmul);
  }
  return invalid("unknown kind of step %d", static_cast<int>(in.step_type()));
}

/// Finds the root of each tensor.
bool Decoder::resolveAliases() {
  std::vector<Tensor> &tensors = entry->tensors;
  for (size_t i = 0; i < tensors.size(); ++i) {
    int32_t root = static_cast<int32_t>(i);
    for (size_t length = 0; tensors[root].alias != -1; ++length) {
      // Earlier tensors know their root, so a chain is followed only once.
      if (tensors[root].root != -1) {
        root = tensors[root].root;
        break;
      }
      if (length == tensors.size())
        return invalid("tensor `%s` is an alias of itself",
                       tensors[i].name.c_str());
      root = tensors[root].alias;
    }
    tensors[i].root = root;
  }
  return true;
}

bool Decoder::resolveInputs(const schema::Entry &in) {
  for (int32_t index : *in.inputs()) {
    if (!isTensor(index))
      return invalid("input %zu is tensor %d, which does not exist",
                     entry->inputs.size(), index);
    Tensor &tensor = entry->tensors[index];
    if (tensor.role != Role::Input || tensor.alias != -1 || tensor.slot != -1)
      return invalid("expected input %zu (`%s`) to be a tensor of its own with "
                     "the role of an input",
                     entry->inputs.size(), tensor.name.c_str());
    tensor.slot = static_cast<int32_t>(entry->inputs.size());
    entry->inputs.push_back(index);
  }
  return true;
}

bool Decoder::resolveOutputs(const schema::Entry &in) {
  for (int32_t index : *in.outputs()) {
    int32_t position = static_cast<int32_t>(entry->outputs.size());
    entry->outputs.push_back(index);
    entry->aliasInput.push_back(-1);
    entry->aliasOutput.push_back(-1);
    if (index == -1)
      continue;
    if (!isTensor(index))
      return invalid("output %d is tensor %d, which does not exist", position,
                     index);
    Tensor &root = entry->tensors[entry->tensors[index].root];
    if (root.role == Role::Workspace || root.role == Role::Constant)
      return invalid("output %d (`%s`) lies in the %s", position,
                     entry->tensors[index].name.c_str(),
                     root.role == Role::Workspace ? "workspace" : "program");
    if (root.role == Role::Input)
      entry->aliasInput.back() = root.slot;
    else if (root.slot != -1)
      entry->aliasOutput.back() = root.slot;
    else
      root.slot = position;
  }
  for (const Tensor &tensor : entry->tensors)
    if (tensor.alias == -1 && tensor.role != Role::Workspace &&
        tensor.role != Role::Constant && tensor.slot == -1)
      return invalid("tensor `%s` is an %s, but the entry does not list it",
                     tensor.name.c_str(),
                     tensor.role == Role::Input ? "input" : "output");
  return true;
}

/// Checks for one value of the symbol that sizes fit together.
bool Decoder::checkSizes(int64_t symbol) {
  const std::vector<Tensor> &tensors = entry->tensors;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor &tensor = tensors[i];
    int64_t bytes, rootBytes, offset;
    if (!tensor.countBytes(symbol, bytes) ||
        !tensors[tensor.root].countBytes(symbol, rootBytes))
      return invalid("tensor `%s` is too large", tensor.name.c_str());
    if (bytes != rootBytes)
      return invalid("expected `%s` to have the %lld bytes of `%s`, whose "
                     "storage it is, but got %lld",
                     tensor.name.c_str(), static_cast<long long>(rootBytes),
                     tensors[tensor.root].name.c_str(),
                     static_cast<long long>(bytes));
    if (tensor.constant != -1 &&
        static_cast<uint64_t>(bytes) != program.constants[tensor.constant].size)
      return invalid("expected constant `%s` to have %lld bytes, but got %zu",
                     tensor.name.c_str(), static_cast<long long>(bytes),
                     program.constants[tensor.constant].size);
    if (tensor.alias == -1 && tensor.role == Role::Workspace &&
        entry->placeInWorkspace(i, symbol, offset))
      return false;
  }
  for (const Step &step : entry->steps) {
    MatmulArguments ignored;
    if (step.isMatmul && entry->describeMatmul(step, symbol, ignored))
      return false;
  }
  return true;
}

bool Decoder::decodeEntry(const schema::Entry &in) {
  program.entries.emplace_back();
  entry = &program.entries.back();
  entry->name = in.name()->str();
  where = "entry `" + entry->name + "`";
  for (size_t i = 0; i + 1 < program.entries.size(); ++i)
    if (program.entries[i].name == entry->name)
      return invalid("expected a unique name, but an earlier entry has it");
  // Sized first, so that an alias may name a later tensor.
  entry->tensors.resize(in.tensors()->size());
  for (size_t i = 0; i < entry->tensors.size(); ++i)
    if (!decodeTensor(*in.tensors()->Get(i), entry->tensors[i]))
      return false;
  if (!decodeExtent(in.workspace(), "the workspace", entry->workspace) ||
      !decodeExtent(in.floor_bytes(), "floor_bytes", entry->floorBytes) ||
      !decodeExtent(in.unfused_bytes(), "unfused_bytes", entry->unfusedBytes) ||
      !resolveAliases() || !resolveInputs(in) || !resolveOutputs(in))
    return false;
  entry->numResults = in.num_results();
  entry->numGradients = in.num_gradients();
  if (entry->numResults < 0 ||
      static_cast<size_t>(entry->numResults) > entry->outputs.size())
    return invalid("expected 0 to %zu results, but got %d",
                   entry->outputs.size(), entry->numResults);
  if (entry->numGradients < 0 ||
      static_cast<size_t>(entry->numGradients) > entry->inputs.size())
    return invalid("expected 0 to %zu gradients, but got %d",
                   entry->inputs.size(), entry->numGradients);
  entry->steps.resize(in.steps()->size());
  for (size_t i = 0; i < entry->steps.size(); ++i)
    if (!decodeStep(*in.steps()->Get(i), entry->steps[i]))
      return false;
  where = "entry `" + entry->name + "`";
  for (int64_t i = 0;
       i < kCheckedSymbols && i <= program.symbolMax - program.symbolMin; ++i)
    if (!checkSizes(program.symbolMin + i))
      return false;
  return true;
}

bool Decoder::decodeCode(const schema::Code &in, Code &out) {
  if (in.kind() > schema::CodeKind_PTX)
    return invalid("unknown kind of code %d", static_cast<int>(in.kind()));
  out.kind = static_cast<CodeKind>(in.kind());
  out.arch = in.arch()->str();
  if ((out.kind == CodeKind::SharedObject) == program.isCuda())
    return invalid("code for `%s` does not fit the target `%s`",
                   out.arch.c_str(), program.targetName.c_str());
  out.data = in.data()->data();
  out.size = in.data()->size();
  if (out.size == 0 || out.arch.empty())
    return invalid("expected code with an architecture, but it is empty");
  return true;
}

fuseopsStatus Decoder::decode(const schema::Program &file) {
  program.targetName = file.target()->str();
  program.compiler = file.compiler()->str();
  program.name = file.name()->str();
  if (file.report())
    program.report = file.report()->str();
  if (program.targetName == "cpu")
    program.target = Target::Cpu;
  else if (program.targetName == "cuda")
    program.target = Target::Cuda;
  else if (program.targetName == "reference")
    program.target = Target::Reference;
  else
    return fail(FUSEOPS_INVALID_PROGRAM,
                "expected target `cpu`, `cuda` or `reference`, but got `%s`",
                program.targetName.c_str());
  program.symbolMin = file.symbol_min();
  program.symbolMax = file.symbol_max();
  if (program.symbolMin < 0 || program.symbolMin > program.symbolMax)
    return fail(FUSEOPS_INVALID_PROGRAM,
                "expected a range of sizes, but got %lld to %lld",
                static_cast<long long>(program.symbolMin),
                static_cast<long long>(program.symbolMax));
  program.code.resize(file.code()->size());
  for (size_t i = 0; i < program.code.size(); ++i)
    if (!decodeCode(*file.code()->Get(i), program.code[i]))
      return FUSEOPS_INVALID_PROGRAM;
  if (file.constants())
    for (const schema::Constant *constant : *file.constants())
      program.constants.push_back(
          {constant->data()->data(), constant->data()->size()});
  // No reallocation: `entry` points into it.
  program.entries.reserve(file.entries()->size());
  for (const schema::Entry *in : *file.entries())
    if (!decodeEntry(*in))
      return FUSEOPS_INVALID_PROGRAM;
  if (program.code.empty() && !program.kernels.empty())
    return fail(FUSEOPS_INVALID_PROGRAM,
                "expected code for kernel `%s`, but the program has none",
                program.kernels.front().c_str());
  return FUSEOPS_OK;
}

fuseopsStatus fuseops::runtime::loadProgram(const void *data, size_t size,
                                            Program &program) {
  const uint8_t *flatbuffer;
  size_t flatbufferSize;
  std::string error;
  if (!unwrapProgram(data, size, flatbuffer, flatbufferSize, error))
    return fail(FUSEOPS_INVALID_PROGRAM, "%s", error.c_str());
  program.storage.resize((flatbufferSize + 7) / 8);
  // An empty vector has no pointer to copy to.
  if (flatbufferSize != 0)
    std::memcpy(program.storage.data(), flatbuffer, flatbufferSize);
  flatbuffers::Verifier verifier(
      reinterpret_cast<const uint8_t *>(program.storage.data()),
      flatbufferSize);
  if (flatbufferSize < 8 || !schema::VerifyProgramBuffer(verifier))
    return fail(FUSEOPS_INVALID_PROGRAM,
                "the program is not a valid FlatBuffer of its schema");
  const schema::Program &file = *schema::GetProgram(program.storage.data());
  if (file.version() != kProgramVersion)
    return fail(FUSEOPS_INVALID_PROGRAM,
                "expected a program of version %u, but got %u", kProgramVersion,
                file.version());
  if (fuseopsStatus status = Decoder(program).decode(file))
    return status;
  if (program.isCuda())
    program.cuda = std::make_unique<CudaCode>();
  return FUSEOPS_OK;
}
