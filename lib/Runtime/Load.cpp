//===- Load.cpp - Decodes a program file and checks all of it -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuCode.h"
#include "CudaCode.h"
#include "DType.h"
#include "Decoder.h"
#include "FuseOps/Format/ProgramFile.h"
#include "Status.h"

#include <cstdarg>
#include <cstdio>

using namespace fuseops;
using namespace fuseops::runtime;

// Beyond this a program is surely damaged; it bounds what a check costs.
static constexpr size_t kMaxRank = 32;

// How many values of the symbol a program is checked for when it is loaded. A
// run checks the sizes for its own value again.
static constexpr int64_t kCheckedSymbols = 4;

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
    TensorMapSizes sizes;
    for (const TensorMap &map : step.kernel.maps)
      if (entry->sizeTensorMap(step, map, symbol, sizes))
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
