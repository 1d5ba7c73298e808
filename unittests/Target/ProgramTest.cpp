//===- ProgramTest.cpp - A lowered program as its file --------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernels.h"

#include "FuseOps/Format/ProgramFile.h"
#include "FuseOps/Format/Program_generated.h"
#include "FuseOps/Target/Program.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fuseops;

namespace schema = ::fuseops::schema;

static constexpr StringRef kProgram = R"mlir(
fuseops.fusible @f(%x: tensor<?x64xbf16>, %w: tensor<8x32x64xbf16>) -> tensor<?x64xbf16> attributes {frozen_results = array<i64: 0>}
forward {
  %y = fuseops.launch @kernels::@copy(%x, %w) {
    bytes = array<i64: 0, 256>, kernel_template = #fuseops<kernel_template pointwise>,
    maps = [#fuseops.tensor_map<tensor = 2, columns = [60, 0, 1], rows = [1, 2, 3, 4], pitch = [64, 8, 16, 32], box_columns = 32, box_rows = 8, swizzle = 64>,
            #fuseops.tensor_map<tensor = 1, columns = [64], rows = [32], pitch = [64], box_columns = 64, box_rows = 16, swizzle = 128, batch = [8], batch_pitch = 2048>],
    max_workers = 64 : i64, members = ["copy"], rows = array<i64: 0, 1>, rows_per_worker = 8 : i64,
    shared_bytes = 232448 : i64, threads_x = 32 : i64, unfused_bytes = array<i64: 0, 256>}
    : (tensor<?x64xbf16>, tensor<8x32x64xbf16>) -> tensor<?x64xbf16>
  fuseops.return %y : tensor<?x64xbf16>
}
)mlir";

static void expectExtent(const schema::Extent *found, Extent expected) {
  ASSERT_NE(found, nullptr);
  Extent extent = {found->constant(), found->per_symbol(), found->per_block32(),
                   found->per_block128()};
  EXPECT_EQ(extent.asArray(), expected.asArray());
}

TEST(Program, HoldsTheTensorMapsOfALaunch) {
  TestContext context;
  OwningOpRef<ModuleOp> module = context.parse(kProgram);
  ASSERT_TRUE(module);
  FailureOr<ProgramPlan> plan =
      planProgram(*module->getOps<FusibleOp>().begin());
  ASSERT_TRUE(succeeded(plan)) << context.getDiagnostics();
  std::string file = writeProgram(*plan, "cuda", {}, "{}");
  const uint8_t *buffer;
  size_t size;
  std::string error;
  ASSERT_TRUE(::fuseops::runtime::unwrapProgram(file.data(), file.size(),
                                                buffer, size, error))
      << error;
  const schema::Step &step =
      *schema::GetProgram(buffer)->entries()->Get(0)->steps()->Get(0);
  const schema::KernelStep *kernel = step.step_as_KernelStep();
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->shared_bytes(), 232448);
  ASSERT_NE(kernel->maps(), nullptr);
  ASSERT_EQ(kernel->maps()->size(), 2u);

  const schema::TensorMap &first = *kernel->maps()->Get(0);
  EXPECT_EQ(first.tensor(), 2);
  expectExtent(first.columns(), {60, 0, 1});
  expectExtent(first.rows(), {1, 2, 3, 4});
  expectExtent(first.pitch(), {64, 8, 16, 32});
  EXPECT_EQ(first.box_columns(), 32);
  EXPECT_EQ(first.box_rows(), 8);
  EXPECT_EQ(first.swizzle(), 64);
  expectExtent(first.batch(), {});
  EXPECT_EQ(first.batch_pitch(), 0);

  const schema::TensorMap &second = *kernel->maps()->Get(1);
  EXPECT_EQ(second.tensor(), 1);
  expectExtent(second.columns(), {64});
  expectExtent(second.rows(), {32});
  expectExtent(second.pitch(), {64});
  EXPECT_EQ(second.swizzle(), 128);
  expectExtent(second.batch(), {8});
  EXPECT_EQ(second.batch_pitch(), 2048);
}
