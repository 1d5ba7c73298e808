//===- DescribeTest.cpp - Programs say what they hold --------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DType.h"
#include "TestProgram.h"

#include "gtest/gtest.h"

using namespace fuseops;
using namespace fuseops::test;

TEST(Describe, Program) {
  ProgramPointer program = load(makeProgram());
  EXPECT_STREQ(fuseopsProgramTarget(program.get()), "cpu");
  EXPECT_EQ(fuseopsProgramDeviceType(program.get()), kDLCPU);
  EXPECT_STREQ(fuseopsProgramName(program.get()), "test");
  EXPECT_STREQ(fuseopsProgramCompiler(program.get()), "0.0.test");
  EXPECT_STREQ(fuseopsProgramReport(program.get()), "{}");
  EXPECT_EQ(fuseopsProgramNumEntries(program.get()), 3);
  EXPECT_EQ(fuseopsProgramFindEntry(program.get(), "backward"), 1);
  EXPECT_EQ(fuseopsProgramFindEntry(program.get(), "sideward"), -1);
  int64_t minimum, maximum;
  fuseopsProgramSymbolRange(program.get(), &minimum, &maximum);
  EXPECT_EQ(minimum, 0);
  EXPECT_EQ(maximum, 1000);
}

TEST(Describe, Entry) {
  ProgramPointer program = load(makeProgram());
  fuseopsEntryInfo forward, backward;
  ASSERT_EQ(fuseopsEntryDescribe(program.get(), 0, &forward), FUSEOPS_OK);
  EXPECT_STREQ(forward.name, "forward");
  EXPECT_EQ(forward.num_inputs, 2);
  EXPECT_EQ(forward.num_outputs, 4);
  EXPECT_EQ(forward.num_results, 2);
  EXPECT_EQ(forward.num_steps, 3);
  ASSERT_EQ(fuseopsEntryDescribe(program.get(), 1, &backward), FUSEOPS_OK);
  EXPECT_EQ(backward.num_gradients, 1);
  EXPECT_EQ(fuseopsEntryDescribe(program.get(), 3, &forward),
            FUSEOPS_INVALID_ARGUMENT);
  EXPECT_EQ(fuseopsEntryDescribe(program.get(), -1, &forward),
            FUSEOPS_INVALID_ARGUMENT);
}

TEST(Describe, Tensors) {
  ProgramPointer program = load(makeProgram());
  fuseopsTensorInfo info;
  ASSERT_EQ(fuseopsEntryInput(program.get(), 0, 0, &info), FUSEOPS_OK);
  EXPECT_STREQ(info.name, "x");
  EXPECT_EQ(info.dtype, FUSEOPS_F32);
  EXPECT_EQ(info.dl_dtype.code, kDLFloat);
  EXPECT_EQ(info.dl_dtype.bits, 32);
  ASSERT_EQ(info.rank, 2);
  EXPECT_EQ(info.shape[0].per_symbol, 1);
  EXPECT_EQ(info.shape[1].constant, 4);
  int64_t shape[2];
  ASSERT_EQ(fuseopsEntryInputShape(program.get(), 0, 0, 7, shape), FUSEOPS_OK);
  EXPECT_EQ(shape[0], 7);
  EXPECT_EQ(shape[1], 4);
  EXPECT_EQ(fuseopsEntryInputShape(program.get(), 0, 0, 1001, shape),
            FUSEOPS_INVALID_ARGUMENT);
  EXPECT_EQ(fuseopsEntryInput(program.get(), 0, 2, &info),
            FUSEOPS_INVALID_ARGUMENT);
}

TEST(Describe, BlocksOfRows) {
  schema::ProgramT source = makeProgram();
  schema::EntryT &backward = *source.entries[1];
  schema::TensorT &gradient = *backward.tensors[backward.outputs[0]];
  gradient.shape = {makeExtent(0, 0, 1, 0), makeExtent(2, 0, 0, 3)};
  gradient.alias = -1;
  ProgramPointer program = load(source);
  for (auto [symbol, rows, columns] :
       {std::tuple(0, 0, 2), std::tuple(1, 1, 5), std::tuple(32, 1, 5),
        std::tuple(33, 2, 5), std::tuple(128, 4, 5), std::tuple(129, 5, 8)}) {
    int64_t shape[2];
    ASSERT_EQ(fuseopsEntryOutputShape(program.get(), 1, 0, symbol, shape),
              FUSEOPS_OK);
    EXPECT_EQ(shape[0], rows);
    EXPECT_EQ(shape[1], columns);
  }
}

TEST(Describe, AliasesAndNone) {
  ProgramPointer program = load(makeProgram());
  fuseopsTensorInfo info;
  fuseopsEntryOutput(program.get(), 0, 0, &info);
  EXPECT_EQ(info.alias_input, -1);
  EXPECT_EQ(info.alias_output, -1);
  EXPECT_EQ(info.is_none, 0);
  fuseopsEntryOutput(program.get(), 0, 2, &info);
  EXPECT_EQ(info.alias_input, 0);
  EXPECT_EQ(info.alias_output, -1);
  fuseopsEntryOutput(program.get(), 0, 3, &info);
  EXPECT_EQ(info.alias_input, -1);
  EXPECT_EQ(info.alias_output, 0);
  EXPECT_EQ(info.rank, 1);
  fuseopsEntryOutput(program.get(), 1, 1, &info);
  EXPECT_EQ(info.is_none, 1);
  int64_t shape[2];
  EXPECT_EQ(fuseopsEntryOutputShape(program.get(), 1, 1, 7, shape),
            FUSEOPS_INVALID_ARGUMENT);
}

TEST(Describe, Steps) {
  ProgramPointer program = load(makeProgram());
  fuseopsStepInfo info;
  ASSERT_EQ(fuseopsEntryStep(program.get(), 0, 0, 10, &info), FUSEOPS_OK);
  EXPECT_STREQ(info.name, "scale");
  EXPECT_STREQ(info.template_name, "pointwise");
  ASSERT_EQ(info.num_members, 2);
  EXPECT_STREQ(info.members[1], "second");
  EXPECT_EQ(info.is_library, 0);
  EXPECT_EQ(info.bytes, 16 + 32 * 10);
  ASSERT_EQ(fuseopsEntryStep(program.get(), 2, 0, 10, &info), FUSEOPS_OK);
  EXPECT_EQ(info.is_library, 1);
  EXPECT_EQ(info.flops, 240);
}

TEST(Describe, TrafficAndWorkspace) {
  ProgramPointer program = load(makeProgram());
  int64_t floorBytes, unfusedBytes;
  ASSERT_EQ(
      fuseopsEntryTraffic(program.get(), 0, 2, &floorBytes, &unfusedBytes),
      FUSEOPS_OK);
  EXPECT_EQ(floorBytes, 96);
  EXPECT_EQ(unfusedBytes, 192);
  size_t bytes;
  ASSERT_EQ(fuseopsEntryWorkspaceBytes(program.get(), 0, 2, &bytes),
            FUSEOPS_OK);
  EXPECT_EQ(bytes, 512u);
  ASSERT_EQ(fuseopsEntryWorkspaceBytes(program.get(), 2, 2, &bytes),
            FUSEOPS_OK);
  EXPECT_EQ(bytes, 0u);
}

TEST(Describe, WorkspaceOfCudaProductsHasTheLibrarysPart) {
  ProgramOptions options;
  options.target = "cuda";
  options.kind = schema::CodeKind_PTX;
  options.arch = "sm_80";
  ProgramPointer program = load(makeProgram(options));
  EXPECT_EQ(fuseopsProgramDeviceType(program.get()), kDLCUDA);
  size_t bytes;
  ASSERT_EQ(fuseopsEntryWorkspaceBytes(program.get(), 2, 2, &bytes),
            FUSEOPS_OK);
  EXPECT_EQ(bytes, size_t(32) << 20);
  ASSERT_EQ(fuseopsEntryWorkspaceBytes(program.get(), 0, 2, &bytes),
            FUSEOPS_OK);
  EXPECT_EQ(bytes, 512u);
}

TEST(Describe, DTypes) {
  EXPECT_STREQ(fuseopsDTypeName(FUSEOPS_BF16), "bf16");
  EXPECT_STREQ(fuseopsDTypeName(77), "unknown");
  EXPECT_EQ(fuseopsDTypeSize(FUSEOPS_F64), 8u);
  EXPECT_EQ(fuseopsDTypeSize(FUSEOPS_I1), 1u);
  EXPECT_EQ(fuseopsDTypeSize(-1), 0u);
  EXPECT_STREQ(fuseopsStatusName(FUSEOPS_UNAVAILABLE), "unavailable");
}

TEST(Describe, DTypesOfDLPack) {
  using runtime::acceptsDLDataType;
  constexpr DLDataType kByte = {kDLUInt, 8, 1}, kBool = {kDLBool, 8, 1};
  for (fuseopsDType dtype : {FUSEOPS_F8E4M3FN, FUSEOPS_I1, FUSEOPS_U8})
    EXPECT_TRUE(acceptsDLDataType(dtype, kByte)) << fuseopsDTypeName(dtype);
  EXPECT_TRUE(acceptsDLDataType(FUSEOPS_I1, kBool));
  EXPECT_FALSE(acceptsDLDataType(FUSEOPS_U8, kBool));
  EXPECT_FALSE(acceptsDLDataType(FUSEOPS_I8, kByte));
  EXPECT_FALSE(acceptsDLDataType(FUSEOPS_I32, {kDLUInt, 32, 1}));
  for (int32_t dtype = 0; fuseopsDTypeSize(dtype) != 0; ++dtype) {
    auto type = static_cast<fuseopsDType>(dtype);
    EXPECT_TRUE(acceptsDLDataType(type, runtime::getDLDataType(type)));
  }
}
