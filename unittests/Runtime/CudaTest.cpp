//===- CudaTest.cpp - The CUDA part, with and without a device -----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaCode.h"
#include "TestProgram.h"

#include "gtest/gtest.h"

#include <cstring>

using namespace fuseops;
using namespace fuseops::runtime;
using namespace fuseops::test;

// What the three kernels of TestKernels.c do, by hand: a thread a column, a
// block every `gridDim.x`-th row.
static const char *const kPtx = R"(
.version 7.0
.target sm_80
.address_size 64

.visible .entry scale_add(.param .u64 px, .param .u64 pb, .param .u64 py,
                          .param .s64 prows, .param .s64 pcount) {
  .reg .pred %p<3>;
  .reg .b32 %r<5>;
  .reg .f32 %f<5>;
  .reg .b64 %a<20>;
  ld.param.u64 %a1, [px];
  ld.param.u64 %a2, [pb];
  ld.param.u64 %a3, [py];
  ld.param.u64 %a4, [prows];
  mov.u32 %r1, %tid.x;
  setp.ge.u32 %p1, %r1, 4;
  @%p1 bra done;
  mul.wide.u32 %a5, %r1, 4;
  add.s64 %a6, %a2, %a5;
  ld.global.f32 %f1, [%a6];
  mov.u32 %r2, %ctaid.x;
  cvt.u64.u32 %a7, %r2;
  mov.u32 %r3, %nctaid.x;
  cvt.u64.u32 %a8, %r3;
loop:
  setp.ge.s64 %p2, %a7, %a4;
  @%p2 bra done;
  shl.b64 %a9, %a7, 4;
  add.s64 %a9, %a9, %a5;
  add.s64 %a10, %a1, %a9;
  add.s64 %a11, %a3, %a9;
  ld.global.f32 %f2, [%a10];
  fma.rn.f32 %f3, %f2, 0f40000000, %f1;
  st.global.f32 [%a11], %f3;
  add.s64 %a7, %a7, %a8;
  bra loop;
done:
  ret;
}

.visible .entry column_partial(.param .u64 px, .param .u64 pp,
                               .param .s64 prows, .param .s64 pcount) {
  .reg .pred %p<3>;
  .reg .b32 %r<5>;
  .reg .f32 %f<5>;
  .reg .b64 %a<20>;
  ld.param.u64 %a1, [px];
  ld.param.u64 %a2, [pp];
  ld.param.u64 %a4, [prows];
  mov.u32 %r1, %tid.x;
  setp.ge.u32 %p1, %r1, 4;
  @%p1 bra done;
  mul.wide.u32 %a5, %r1, 4;
  mov.u32 %r2, %ctaid.x;
  cvt.u64.u32 %a7, %r2;
  shl.b64 %a12, %a7, 4;
  add.s64 %a12, %a12, %a5;
  add.s64 %a12, %a12, %a2;
  mov.u32 %r3, %nctaid.x;
  cvt.u64.u32 %a8, %r3;
  mov.f32 %f1, 0f00000000;
loop:
  setp.ge.s64 %p2, %a7, %a4;
  @%p2 bra store;
  shl.b64 %a9, %a7, 4;
  add.s64 %a9, %a9, %a5;
  add.s64 %a10, %a1, %a9;
  ld.global.f32 %f2, [%a10];
  add.f32 %f1, %f1, %f2;
  add.s64 %a7, %a7, %a8;
  bra loop;
store:
  st.global.f32 [%a12], %f1;
done:
  ret;
}

.visible .entry finalize(.param .u64 pp, .param .u64 ps, .param .s64 prows,
                         .param .s64 pcount) {
  .reg .pred %p<3>;
  .reg .b32 %r<5>;
  .reg .f32 %f<5>;
  .reg .b64 %a<20>;
  ld.param.u64 %a1, [pp];
  ld.param.u64 %a2, [ps];
  ld.param.u64 %a4, [pcount];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %a5, %r1, 4;
  add.s64 %a6, %a2, %a5;
  mov.u64 %a7, 0;
  mov.f32 %f1, 0f00000000;
loop:
  setp.ge.s64 %p2, %a7, %a4;
  @%p2 bra store;
  shl.b64 %a9, %a7, 4;
  add.s64 %a9, %a9, %a5;
  add.s64 %a10, %a1, %a9;
  ld.global.f32 %f2, [%a10];
  add.f32 %f1, %f1, %f2;
  add.s64 %a7, %a7, 1;
  bra loop;
store:
  st.global.f32 [%a6], %f1;
  ret;
}
)";

// y = x by tensor maps: each block loads a box of 8 rows into shared memory and
// stores it.
static const char *const kMapPtx = R"(
.version 8.0
.target sm_90
.address_size 64

.extern .shared .align 128 .b8 box[];

.visible .entry scale_add(.param .u64 px, .param .u64 pb, .param .u64 py,
                          .param .align 64 .b8 source[128],
                          .param .align 64 .b8 target[128],
                          .param .s64 prows, .param .s64 pcount) {
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .b64 %d<3>;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra done;
  mov.b64 %d1, source;
  cvta.param.u64 %d1, %d1;
  mov.b64 %d2, target;
  cvta.param.u64 %d2, %d2;
  mov.u32 %r2, box;
  add.u32 %r3, %r2, 128;
  mov.u32 %r4, %ctaid.x;
  shl.b32 %r4, %r4, 3;
  mov.u32 %r5, 0;
  mbarrier.init.shared::cta.b64 [%r3], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 128;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
      [%r2], [%d1, {%r5, %r4}], [%r3];
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], %r5;
  @!%p2 bra wait;
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
      [%d2, {%r5, %r4}], [%r2];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
done:
  ret;
}
)";

static schema::ProgramT makeCudaProgram() {
  ProgramOptions options;
  options.target = "cuda";
  options.kind = schema::CodeKind_PTX;
  options.arch = "sm_80";
  options.code = kPtx;
  return makeProgram(options);
}

static bool hasDevice() {
  int32_t count = 0;
  return fuseopsDeviceCount(kDLCUDA, &count) == FUSEOPS_OK && count > 0;
}

namespace {

/// A copy of a tensor on the device, copied back on demand.
struct DeviceTensor {
  explicit DeviceTensor(TestTensor &host)
      : host(host), bytes(host.data.size() * sizeof(float)),
        tensor(host.tensor) {
    EXPECT_EQ(fuseopsDeviceAllocate(kDLCUDA, 0, bytes, &tensor.data),
              FUSEOPS_OK);
    EXPECT_EQ(fuseopsDeviceCopyToDevice(kDLCUDA, 0, tensor.data,
                                        host.data.data(), bytes),
              FUSEOPS_OK);
    tensor.device = {kDLCUDA, 0};
  }
  ~DeviceTensor() { fuseopsDeviceFree(kDLCUDA, 0, tensor.data); }
  void copyBack() {
    EXPECT_EQ(fuseopsDeviceCopyToHost(kDLCUDA, 0, host.data.data(), tensor.data,
                                      bytes),
              FUSEOPS_OK);
  }

  TestTensor &host;
  size_t bytes;
  DLTensor tensor;
};

} // namespace

TEST(Cuda, CodeIsRanked) {
  auto cubin = [](const char *arch, int major, int minor) {
    return rankCudaCode(CodeKind::Cubin, arch, major, minor);
  };
  auto ptx = [](const char *arch, int major, int minor) {
    return rankCudaCode(CodeKind::PTX, arch, major, minor);
  };
  EXPECT_GT(cubin("sm_90a", 9, 0), cubin("sm_90", 9, 0));
  EXPECT_GT(cubin("sm_90", 9, 0), ptx("sm_90a", 9, 0));
  EXPECT_GT(ptx("sm_90", 9, 0), ptx("sm_80", 9, 0));
  EXPECT_GT(cubin("sm_89", 8, 9), cubin("sm_80", 8, 9));
  EXPECT_GT(cubin("sm_100f", 10, 3), 0);
  EXPECT_EQ(cubin("sm_90a", 10, 0), 0);
  EXPECT_EQ(cubin("sm_90", 10, 0), 0);
  EXPECT_EQ(cubin("sm_89", 8, 0), 0);
  EXPECT_EQ(ptx("sm_90a", 10, 0), 0);
  EXPECT_EQ(ptx("sm_90", 8, 9), 0);
  EXPECT_GT(ptx("compute_90", 12, 0), 0);
  EXPECT_EQ(ptx("nonsense", 9, 0), 0);
  EXPECT_EQ(ptx("sm_90x", 9, 0), 0);
}

TEST(Cuda, WithoutADriverItIsUnavailable) {
  if (hasDevice())
    GTEST_SKIP() << "there is a device";
  int32_t count = 7;
  EXPECT_EQ(fuseopsDeviceCount(kDLCUDA, &count), FUSEOPS_UNAVAILABLE);
  EXPECT_EQ(count, 0);
  void *pointer = nullptr;
  EXPECT_EQ(fuseopsDeviceAllocate(kDLCUDA, 0, 16, &pointer),
            FUSEOPS_UNAVAILABLE);
  ProgramPointer program = load(makeCudaProgram());
  EXPECT_EQ(fuseopsProgramPrepare(program.get(), 0), FUSEOPS_UNAVAILABLE);
  EXPECT_NE(std::string(fuseopsLastError()).find("CUDA"), std::string::npos)
      << fuseopsLastError();
}

TEST(Cuda, CpuTensorsAreRefused) {
  ProgramPointer program = load(makeCudaProgram());
  TestTensor dy({3, 4}), x({3, 4});
  const DLTensor *inputs[2] = {&dy.tensor, &x.tensor};
  const DLTensor *outputs[2] = {nullptr, nullptr};
  EXPECT_EQ(
      fuseopsRun(program.get(), 1, inputs, 2, outputs, 2, nullptr, 0, nullptr),
      FUSEOPS_INVALID_ARGUMENT);
  EXPECT_STREQ(fuseopsLastError(), "entry `backward`: expected input 0 (`dy`) "
                                   "to be on a CUDA device, but got the CPU");
}

TEST(Cuda, Kernels) {
  if (!hasDevice())
    GTEST_SKIP() << "there is no CUDA device";
  ProgramPointer program = load(makeCudaProgram());
  void *workspace = nullptr;
  ASSERT_EQ(fuseopsDeviceAllocate(kDLCUDA, 0, 512, &workspace), FUSEOPS_OK);
  for (int64_t rows : {1, 2, 7, 1000}) {
    TestTensor x({rows, 4}), b({4}, {1, 10, 100, 1000}), y({rows, 4}), sum({4});
    std::vector<float> expectedSum(4);
    for (int64_t i = 0; i < rows * 4; ++i)
      expectedSum[i % 4] += x.data[i] = static_cast<float>(i % 97);
    DeviceTensor deviceX(x), deviceB(b), deviceY(y), deviceSum(sum);
    const DLTensor *inputs[2] = {&deviceX.tensor, &deviceB.tensor};
    const DLTensor *outputs[4] = {&deviceY.tensor, &deviceSum.tensor, nullptr,
                                  nullptr};
    ASSERT_EQ(fuseopsRun(program.get(), 0, inputs, 2, outputs, 4, workspace,
                         512, nullptr),
              FUSEOPS_OK)
        << fuseopsLastError();
    double steps[3] = {-1, -1, -1}, mean = -1;
    ASSERT_EQ(fuseopsRunProfiled(program.get(), 0, inputs, 2, outputs, 4,
                                 workspace, 512, nullptr, steps),
              FUSEOPS_OK)
        << fuseopsLastError();
    ASSERT_EQ(fuseopsRunRepeated(program.get(), 0, inputs, 2, outputs, 4,
                                 workspace, 512, nullptr, 100, &mean),
              FUSEOPS_OK)
        << fuseopsLastError();
    std::printf("%lld rows: %.2f us a run, steps %.2f %.2f %.2f us\n",
                static_cast<long long>(rows), mean, steps[0], steps[1],
                steps[2]);
    deviceY.copyBack();
    deviceSum.copyBack();
    for (int64_t i = 0; i < rows * 4; ++i)
      EXPECT_EQ(y.data[i], 2 * x.data[i] + b.data[i % 4]) << i;
    EXPECT_EQ(sum.data, expectedSum);
  }
  fuseopsDeviceFree(kDLCUDA, 0, workspace);
}

TEST(Cuda, Products) {
  if (!hasDevice())
    GTEST_SKIP() << "there is no CUDA device";
  ProgramPointer program = load(makeCudaProgram());
  fuseopsStatus status = fuseopsProgramPrepare(program.get(), 0);
  if (status == FUSEOPS_UNAVAILABLE)
    GTEST_SKIP() << fuseopsLastError();
  ASSERT_EQ(status, FUSEOPS_OK) << fuseopsLastError();
  size_t bytes;
  ASSERT_EQ(fuseopsEntryWorkspaceBytes(program.get(), 2, 2, &bytes),
            FUSEOPS_OK);
  void *workspace = nullptr;
  ASSERT_EQ(fuseopsDeviceAllocate(kDLCUDA, 0, bytes, &workspace), FUSEOPS_OK);
  TestTensor a({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  TestTensor w({3, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1});
  TestTensor c({3}, {100, 200, 300}), out({2, 3});
  DeviceTensor deviceA(a), deviceW(w), deviceC(c), deviceOut(out);
  const DLTensor *inputs[3] = {&deviceA.tensor, &deviceW.tensor,
                               &deviceC.tensor};
  const DLTensor *outputs[1] = {&deviceOut.tensor};
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(fuseopsRun(program.get(), 2, inputs, 3, outputs, 1, workspace,
                         bytes, nullptr),
              FUSEOPS_OK)
        << fuseopsLastError();
  deviceOut.copyBack();
  EXPECT_EQ(out.data, (std::vector<float>{101, 202, 310, 105, 206, 326}));
  fuseopsDeviceFree(kDLCUDA, 0, workspace);
}

TEST(Cuda, TensorMaps) {
  if (!hasDevice())
    GTEST_SKIP() << "there is no CUDA device";
  ProgramOptions options;
  options.target = "cuda";
  options.kind = schema::CodeKind_PTX;
  options.arch = "sm_90";
  options.code = kMapPtx;
  schema::ProgramT file = makeProgram(options);
  file.entries.resize(1);
  file.entries[0]->steps.resize(1);
  schema::KernelStepT &kernel = *file.entries[0]->steps[0]->step.AsKernelStep();
  *kernel.grid = schema::Grid(makeExtent(0, 1), 8, 1000);
  // A box, and a barrier.
  kernel.shared_bytes = 136;
  for (int32_t tensor : {0, 2}) {
    auto map = std::make_unique<schema::TensorMapT>();
    map->tensor = tensor;
    map->columns = makeSize(4);
    map->rows = makeSize(0, 1);
    map->pitch = makeSize(4);
    map->box_columns = 4;
    map->box_rows = 8;
    kernel.maps.push_back(std::move(map));
  }
  ProgramPointer program = load(file);
  fuseopsStatus status = fuseopsProgramPrepare(program.get(), 0);
  if (status == FUSEOPS_UNAVAILABLE)
    GTEST_SKIP() << fuseopsLastError();
  ASSERT_EQ(status, FUSEOPS_OK) << fuseopsLastError();
  void *workspace = nullptr;
  ASSERT_EQ(fuseopsDeviceAllocate(kDLCUDA, 0, 512, &workspace), FUSEOPS_OK);
  for (int64_t rows : {1, 7, 8, 9, 1000}) {
    TestTensor x({rows, 4}), b({4}), y({rows, 4}), sum({4});
    for (int64_t i = 0; i < rows * 4; ++i)
      x.data[i] = static_cast<float>(i);
    DeviceTensor deviceX(x), deviceB(b), deviceY(y), deviceSum(sum);
    const DLTensor *inputs[2] = {&deviceX.tensor, &deviceB.tensor};
    const DLTensor *outputs[4] = {&deviceY.tensor, &deviceSum.tensor, nullptr,
                                  nullptr};
    ASSERT_EQ(fuseopsRun(program.get(), 0, inputs, 2, outputs, 4, workspace,
                         512, nullptr),
              FUSEOPS_OK)
        << fuseopsLastError();
    deviceY.copyBack();
    EXPECT_EQ(y.data, x.data) << rows;
  }
  fuseopsDeviceFree(kDLCUDA, 0, workspace);
}

TEST(Cuda, BrokenPtxHasTheCompilersLog) {
  if (!hasDevice())
    GTEST_SKIP() << "there is no CUDA device";
  ProgramOptions options;
  options.target = "cuda";
  options.kind = schema::CodeKind_PTX;
  options.arch = "sm_80";
  options.code = ".version 7.0\n.target sm_80\nnonsense\n";
  ProgramPointer program = load(makeProgram(options));
  EXPECT_EQ(fuseopsProgramPrepare(program.get(), 0), FUSEOPS_RUNTIME_ERROR);
  EXPECT_NE(std::string(fuseopsLastError()).find("loading the code failed"),
            std::string::npos);
  std::printf("%s\n", fuseopsLastError());
}

TEST(Cuda, DevicesDescribeThemselves) {
  if (!hasDevice())
    GTEST_SKIP() << "there is no CUDA device";
  char name[64], arch[16];
  ASSERT_EQ(fuseopsDeviceName(kDLCUDA, 0, name, sizeof(name)), FUSEOPS_OK);
  ASSERT_EQ(fuseopsDeviceArch(kDLCUDA, 0, arch, sizeof(arch)), FUSEOPS_OK);
  EXPECT_EQ(std::strncmp(arch, "sm_", 3), 0);
  std::printf("%s, %s\n", name, arch);
  EXPECT_EQ(fuseopsDeviceSynchronize(kDLCUDA, 0), FUSEOPS_OK);
  EXPECT_EQ(fuseopsStreamSynchronize(kDLCUDA, 0, nullptr), FUSEOPS_OK);
  EXPECT_EQ(fuseopsDeviceName(kDLCUDA, 1000, name, sizeof(name)),
            FUSEOPS_INVALID_ARGUMENT);
}
