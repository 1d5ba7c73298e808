//===- LoadSteps.cpp - Decodes and checks the steps of an entry
//-------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DType.h"
#include "Decoder.h"

using namespace fuseops;
using namespace fuseops::runtime;

// Beyond these a program is surely damaged; they bound what a check costs.
static constexpr size_t kMaxKernelTensors = 2048;
static constexpr size_t kMaxMaps = 256;
static constexpr int64_t kMaxWorkers = INT32_MAX;
static constexpr int32_t kMaxSharedBytes = 1 << 20;

// What cuTensorMapEncodeTiled takes.
static constexpr int32_t kMaxMapBox = 256;

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

static bool isConstant(const fuseopsExtent &extent) {
  return !extent.per_symbol && !extent.per_block32 && !extent.per_block128;
}

/// What cuTensorMapEncodeTiled would refuse, for any symbol, is refused here.
bool Decoder::decodeTensorMap(const schema::TensorMap &in,
                              const KernelStep &kernel, TensorMap &out) {
  if (in.tensor() < 0 ||
      static_cast<size_t>(in.tensor()) >= kernel.tensors.size())
    return invalid("expected a tensor map of one of %zu tensors, but got %d",
                   kernel.tensors.size(), in.tensor());
  const Tensor &tensor = entry->tensors[kernel.tensors[in.tensor()]];
  auto refuse = [&](const char *expected, int64_t value) {
    return invalid("expected the tensor map of `%s` to have %s, but got %lld",
                   tensor.name.c_str(), expected,
                   static_cast<long long>(value));
  };
  int64_t bytes = fuseopsDTypeSize(tensor.dtype);
  auto isPitch = [&](int64_t pitch) {
    return pitch > 0 && pitch <= kMaxMapPitchBytes / bytes &&
           pitch * bytes % static_cast<int64_t>(kCudaAlignment) == 0;
  };
  const char *pitch = "a pitch that is a multiple of 16 bytes below 2^40";
  if (!decodeExtent(in.columns(), "the columns of a tensor map", out.columns) ||
      !decodeExtent(in.rows(), "the rows of a tensor map", out.rows) ||
      !decodeExtent(in.pitch(), "the pitch of a tensor map", out.pitch) ||
      !decodeExtent(in.batch(), "the batch of a tensor map", out.batch))
    return false;
  if (isConstant(out.pitch) && !isPitch(out.pitch.constant))
    return refuse(pitch, out.pitch.constant);
  if (in.batch_pitch() != 0 && !isPitch(in.batch_pitch()))
    return refuse(pitch, in.batch_pitch());
  for (int32_t size : {in.box_columns(), in.box_rows()})
    if (size < 1 || size > kMaxMapBox)
      return refuse("boxes of 1 to 256 rows and columns", size);
  if (in.box_columns() * bytes % static_cast<int64_t>(kCudaAlignment) != 0)
    return refuse("boxes whose rows are multiples of 16 bytes",
                  in.box_columns());
  if (in.swizzle() != 0 && in.swizzle() != 32 && in.swizzle() != 64 &&
      in.swizzle() != 128)
    return refuse("a swizzle of 0, 32, 64 or 128 bytes", in.swizzle());
  if (in.swizzle() != 0 && in.box_columns() * bytes > in.swizzle())
    return refuse("boxes whose rows are at most the bytes of its swizzle",
                  in.box_columns());
  out.tensor = in.tensor();
  out.boxColumns = in.box_columns();
  out.boxRows = in.box_rows();
  out.swizzle = in.swizzle();
  out.batchPitch = in.batch_pitch();
  return true;
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
  size_t numMaps = in.maps() ? in.maps()->size() : 0;
  if (numMaps > (program.isCuda() ? kMaxMaps : 0))
    return invalid("expected at most %zu tensor maps, and none but on CUDA, "
                   "but got %zu",
                   kMaxMaps, numMaps);
  out.maps.resize(numMaps);
  for (size_t i = 0; i < numMaps; ++i)
    if (!decodeTensorMap(*in.maps()->Get(i), out, out.maps[i]))
      return false;
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
