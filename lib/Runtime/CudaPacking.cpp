//===- CudaPacking.cpp - Copies strided inputs on a CUDA device ----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Packing.h"
#include "Status.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

using namespace fuseops::runtime;

static constexpr unsigned kThreads = 256;
static constexpr int64_t kMaxBlocks = 1 << 20;

// The driver assembles this text once for each size of element and context.
// A thread takes every `threads`-th element, and splits its index from the
// innermost dimension outwards; by 32 bits where that is enough, which is
// several times faster. `dimensions` holds 8 extents, then 8 strides.
static const char *const kHeader = R"(
.version 7.0
.target sm_80
.address_size 64
)";
static const char *const kKernel = R"(
.visible .entry pack@BYTES(.param .u64 source, .param .u64 target,
                           .param .u64 elements, .param .u64 rank,
                           .param .align 8 .b8 dimensions[128]) {
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %d<17>;
  .reg .@TYPE %v<2>;
  ld.param.u64 %d1, [source];
  ld.param.u64 %d2, [target];
  ld.param.u64 %d3, [elements];
  ld.param.u64 %d4, [rank];
  mov.u64 %d5, dimensions;
  shl.b64 %d4, %d4, 3;
  add.s64 %d4, %d5, %d4;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mul.wide.u32 %d6, %r1, %r2;
  cvt.u64.u32 %d7, %r3;
  add.s64 %d6, %d6, %d7;
  mul.wide.u32 %d7, %r4, %r2;
element:
  setp.ge.u64 %p1, %d6, %d3;
  @%p1 bra done;
  mov.u64 %d8, %d6;
  mov.u64 %d9, %d1;
  mov.u64 %d10, %d4;
dimension:
  setp.eq.u64 %p1, %d10, %d5;
  @%p1 bra copy;
  sub.s64 %d10, %d10, 8;
  ld.param.u64 %d11, [%d10];
  ld.param.u64 %d12, [%d10+64];
  or.b64 %d13, %d8, %d11;
  shr.u64 %d13, %d13, 32;
  setp.eq.u64 %p2, %d13, 0;
  @%p2 bra narrow;
  div.u64 %d14, %d8, %d11;
  bra divided;
narrow:
  cvt.u32.u64 %r5, %d8;
  cvt.u32.u64 %r6, %d11;
  div.u32 %r7, %r5, %r6;
  cvt.u64.u32 %d14, %r7;
divided:
  mul.lo.s64 %d15, %d14, %d11;
  sub.s64 %d15, %d8, %d15;
  mad.lo.s64 %d9, %d15, %d12, %d9;
  mov.u64 %d8, %d14;
  bra dimension;
copy:
  mul.lo.s64 %d16, %d6, @BYTES;
  add.s64 %d16, %d2, %d16;
  ld.global.@MOVE @VALUE, [%d9];
  st.global.@MOVE [%d16], @VALUE;
  add.s64 %d6, %d6, %d7;
  bra element;
done:
  ret;
}
)";

namespace {

/// How PTX moves an element of a size.
struct Width {
  int64_t bytes;
  const char *type, *move, *value;
};

} // namespace

static constexpr Width kWidths[] = {{1, "b16", "b8", "%v0"},
                                    {2, "b16", "b16", "%v0"},
                                    {4, "b32", "b32", "%v0"},
                                    {8, "b64", "b64", "%v0"},
                                    {16, "b64", "v2.b64", "{%v0, %v1}"}};
static constexpr size_t kNumWidths = std::size(kWidths);

using Kernels = std::array<CudaFunction, kNumWidths>;

static std::string writePtx() {
  std::string text = kHeader;
  for (const Width &width : kWidths) {
    std::string kernel = kKernel;
    std::pair<const char *, std::string> words[] = {
        {"@BYTES", std::to_string(width.bytes)},
        {"@TYPE", width.type},
        {"@MOVE", width.move},
        {"@VALUE", width.value}};
    for (const auto &[word, value] : words)
      for (size_t at; (at = kernel.find(word)) != std::string::npos;)
        kernel.replace(at, std::string(word).size(), value);
    text += kernel;
  }
  return text;
}

static fuseopsStatus loadKernels(const CudaDriver &driver, Kernels &kernels) {
  static const std::string ptx = writePtx();
  CudaModule module;
  if (fuseopsStatus status = driver.check(
          driver.moduleLoad(&module, ptx.c_str(), 0, nullptr, nullptr),
          "loading the kernels that pack"))
    return status;
  for (size_t i = 0; i < kNumWidths; ++i) {
    std::string name = "pack" + std::to_string(kWidths[i].bytes);
    CudaResult result =
        driver.moduleGetFunction(&kernels[i], module, name.c_str());
    // Under lazy loading a first launch would load, which a capture forbids.
    if (result == 0 && driver.functionLoad)
      result = driver.functionLoad(kernels[i]);
    if (fuseopsStatus status =
            driver.check(result, "finding a kernel that packs"))
      return status;
  }
  return FUSEOPS_OK;
}

/// The kernels in the scope's context. They stay loaded as long as it lives.
static fuseopsStatus getKernels(const CudaScope &scope, Kernels &kernels) {
  static auto *mutex = new std::mutex;
  static auto *contexts = new std::map<unsigned long long, Kernels>;
  std::lock_guard<std::mutex> lock(*mutex);
  auto found = contexts->find(scope.contextId);
  if (found == contexts->end()) {
    if (fuseopsStatus status = loadKernels(*scope.driver, kernels))
      return status;
    found = contexts->emplace(scope.contextId, kernels).first;
  }
  kernels = found->second;
  return FUSEOPS_OK;
}

fuseopsStatus fuseops::runtime::prepareCudaPacking(const CudaScope &scope) {
  Kernels kernels;
  return getKernels(scope, kernels);
}

fuseopsStatus fuseops::runtime::packOnCuda(const CudaScope &scope,
                                           const Packing &packing,
                                           CudaStream stream) {
  Kernels kernels;
  if (fuseopsStatus status = getKernels(scope, kernels))
    return status;
  size_t width = 0;
  while (kWidths[width].bytes != packing.elementBytes)
    ++width;
  int64_t dimensions[2 * Packing::kMaxRank] = {};
  std::copy_n(packing.extents, packing.rank, dimensions);
  std::copy_n(packing.strides, packing.rank, dimensions + Packing::kMaxRank);
  auto *source = const_cast<void *>(packing.source);
  void *target = packing.target;
  int64_t elements = packing.elements, rank = packing.rank;
  void *parameters[] = {&source, &target, &elements, &rank, dimensions};
  int64_t blocks = std::min((elements + kThreads - 1) / kThreads, kMaxBlocks);
  return scope.driver->check(
      scope.driver->launch(kernels[width], static_cast<unsigned>(blocks), 1, 1,
                           kThreads, 1, 1, 0, stream, parameters, nullptr),
      "packing an input");
}
