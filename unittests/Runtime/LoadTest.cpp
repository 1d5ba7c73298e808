//===- LoadTest.cpp - Programs are checked before they are used ----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Format/ProgramFile.h"
#include "TestProgram.h"

#include "gtest/gtest.h"

#include <cstdio>

using namespace fuseops;
using namespace fuseops::test;

// Never loaded as code, and short, so that every byte can be altered.
static schema::ProgramT makeSmallProgram() {
  ProgramOptions options;
  options.code = "no code";
  return makeProgram(options);
}

/// Expects that the program is refused with a sentence that has `text`.
static void expectInvalid(const schema::ProgramT &program, const char *text) {
  fuseopsStatus status;
  ProgramPointer loaded = load(makeFile(program), status);
  EXPECT_EQ(status, FUSEOPS_INVALID_PROGRAM);
  EXPECT_EQ(loaded, nullptr);
  EXPECT_NE(std::string(fuseopsLastError()).find(text), std::string::npos)
      << fuseopsLastError();
}

TEST(Load, RefusesEveryTruncation) {
  std::string file = makeFile(makeSmallProgram());
  for (size_t size = 0; size < file.size(); ++size) {
    fuseopsStatus status;
    ProgramPointer loaded = load(file.substr(0, size), status);
    EXPECT_EQ(status, FUSEOPS_INVALID_PROGRAM) << size;
  }
  fuseopsStatus status;
  load(file + "x", status);
  EXPECT_EQ(status, FUSEOPS_INVALID_PROGRAM);
}

TEST(Load, RefusesEveryAlteredByte) {
  std::string file = makeFile(makeSmallProgram());
  for (size_t i = 0; i < file.size(); ++i) {
    std::string altered = file;
    altered[i] ^= 1 << (i % 8);
    fuseopsStatus status;
    load(altered, status);
    EXPECT_EQ(status, FUSEOPS_INVALID_PROGRAM) << i;
  }
}

// Here the hash is right again, so that the other checks are all there is.
TEST(Load, SurvivesEveryAlteredBufferByte) {
  std::string buffer = serialize(makeSmallProgram());
  size_t accepted = 0;
  for (size_t i = 0; i < buffer.size(); ++i) {
    for (int mask : {0xff, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80}) {
      std::string altered = buffer;
      altered[i] ^= mask;
      fuseopsStatus status;
      ProgramPointer loaded =
          load(runtime::wrapProgram(
                   reinterpret_cast<const uint8_t *>(altered.data()),
                   altered.size()),
               status);
      EXPECT_TRUE(status == FUSEOPS_OK || status == FUSEOPS_INVALID_PROGRAM);
      if (!loaded)
        continue;
      ++accepted;
      describeAll(*loaded);
    }
  }
  // Letters of names may change.
  EXPECT_GT(accepted, 0u);
}

TEST(Load, SurvivesTruncatedBuffers) {
  std::string buffer = serialize(makeSmallProgram());
  for (size_t size = 0; size < buffer.size(); ++size) {
    fuseopsStatus status;
    ProgramPointer loaded =
        load(runtime::wrapProgram(
                 reinterpret_cast<const uint8_t *>(buffer.data()), size),
             status);
    if (loaded)
      describeAll(*loaded);
  }
}

TEST(Load, FrameHoldsTheBuffer) {
  std::string buffer = "any bytes";
  std::string file = runtime::wrapProgram(
      reinterpret_cast<const uint8_t *>(buffer.data()), buffer.size());
  const uint8_t *found;
  size_t size;
  std::string error;
  ASSERT_TRUE(
      runtime::unwrapProgram(file.data(), file.size(), found, size, error));
  EXPECT_EQ(std::string(reinterpret_cast<const char *>(found), size), buffer);
  // The published values of FNV-1a.
  EXPECT_EQ(runtime::hashProgram(nullptr, 0), 0xcbf29ce484222325ull);
  EXPECT_EQ(runtime::hashProgram(reinterpret_cast<const uint8_t *>("a"), 1),
            0xaf63dc4c8601ec8cull);
}

TEST(Load, RefusesOtherVersion) {
  ProgramOptions options;
  options.version = 99;
  std::string text =
      "version " + std::to_string(runtime::kProgramVersion) + ", but got 99";
  expectInvalid(makeProgram(options), text.c_str());
}

TEST(Load, RefusesUnknownTarget) {
  ProgramOptions options;
  options.target = "tpu";
  expectInvalid(makeProgram(options), "but got `tpu`");
}

TEST(Load, RefusesCodeOfAnotherTarget) {
  ProgramOptions options;
  options.target = "cuda";
  expectInvalid(makeProgram(options), "does not fit the target `cuda`");
}

TEST(Load, RefusesTensorsThatDoNotExist) {
  schema::ProgramT program = makeSmallProgram();
  program.entries[0]->steps[0]->step.AsKernelStep()->tensors[0] = 99;
  expectInvalid(program, "tensor 99 does not exist");
  program = makeSmallProgram();
  program.entries[0]->outputs[0] = -2;
  expectInvalid(program, "output 0 is tensor -2");
  program = makeSmallProgram();
  program.entries[2]->steps[0]->step.AsMatmulStep()->a = -1;
  expectInvalid(program, "tensor -1 does not exist");
}

TEST(Load, RefusesAliasCycle) {
  schema::ProgramT program = makeSmallProgram();
  program.entries[0]->tensors[5]->alias = 6;
  program.entries[0]->tensors[6]->alias = 5;
  expectInvalid(program, "is an alias of itself");
}

TEST(Load, RefusesAliasOfAnotherSize) {
  schema::ProgramT program = makeSmallProgram();
  program.entries[0]->tensors[6]->shape = {makeExtent(0, 5)};
  expectInvalid(program, "whose storage it is");
}

TEST(Load, RefusesNegativeExtent) {
  schema::ProgramT program = makeSmallProgram();
  program.entries[0]->tensors[1]->shape = {makeExtent(-4, 0)};
  expectInvalid(program, "neither negative nor too large");
}

TEST(Load, RefusesSizesThatOverflow) {
  schema::ProgramT program = makeSmallProgram();
  schema::Extent large = makeExtent(int64_t(1) << 40);
  program.entries[0]->tensors[1]->shape = {large, large};
  expectInvalid(program, "tensor `b` is too large");
}

TEST(Load, RefusesWorkspaceThatDoesNotFit) {
  schema::ProgramT program = makeSmallProgram();
  program.entries[0]->workspace =
      std::make_unique<schema::Extent>(makeExtent(300, 0));
  expectInvalid(program, "to lie in the workspace of 300 bytes");
}

TEST(Load, RefusesOutputInWorkspace) {
  schema::ProgramT program = makeSmallProgram();
  program.entries[0]->outputs[1] = 4;
  expectInvalid(program, "lies in the workspace");
}

TEST(Load, RefusesWrongConstants) {
  schema::ProgramT program = makeSmallProgram();
  auto tensor = std::make_unique<schema::TensorT>();
  tensor->name = "c";
  tensor->dtype = schema::DType_F32;
  tensor->shape = {makeExtent(4, 0)};
  tensor->role = schema::Role_Constant;
  schema::EntryT &entry = *program.entries[0];
  entry.tensors.push_back(std::move(tensor));
  schema::TensorT &added = *entry.tensors.back();
  expectInvalid(program, "tensor `c` is constant -1, which does not exist");
  added.constant = 0;
  expectInvalid(program, "tensor `c` is constant 0, which does not exist");

  program.constants.push_back(std::make_unique<schema::ConstantT>());
  program.constants[0]->data.resize(8);
  expectInvalid(program, "expected constant `c` to have 16 bytes, but got 8");
  program.constants[0]->data.resize(16);
  fuseopsStatus status;
  EXPECT_NE(load(makeFile(program), status), nullptr) << fuseopsLastError();

  entry.outputs[1] = static_cast<int32_t>(entry.tensors.size()) - 1;
  expectInvalid(program, "(`c`) lies in the program");
  entry.outputs[1] = 3;
  added.role = schema::Role_Workspace;
  expectInvalid(program, "tensor `c` is constant 0, which does not exist");
}

TEST(Load, RefusesUnlistedInput) {
  schema::ProgramT program = makeSmallProgram();
  program.entries[0]->inputs.pop_back();
  expectInvalid(program, "tensor `b` is an input, but the entry does not list");
}

TEST(Load, RefusesProductOfOtherSizes) {
  schema::ProgramT program = makeSmallProgram();
  program.entries[2]->steps[0]->step.AsMatmulStep()->k =
      std::make_unique<schema::Extent>(makeExtent(5, 0));
  expectInvalid(program, "elements");
}

TEST(Load, RefusesProductOfIntegers) {
  schema::ProgramT program = makeSmallProgram();
  program.entries[2]->tensors[0]->dtype = schema::DType_I32;
  expectInvalid(program, "to be f64, f32, f16 or bf16, but got i32");
}

TEST(Load, RefusesRepeatedNames) {
  schema::ProgramT program = makeSmallProgram();
  program.entries[0]->steps[1]->name = "scale";
  expectInvalid(program, "step `scale`: expected a unique name");
}

TEST(Load, RefusesBadGrids) {
  schema::ProgramT program = makeSmallProgram();
  program.entries[0]->steps[0]->step.AsKernelStep()->grid =
      std::make_unique<schema::Grid>(makeExtent(0, 1), 0, 1);
  expectInvalid(program, "rows_per_worker of at least 1, but got 0");
}

/// A program whose first kernel has a tensor map of `x`, [S, 4] of f32.
static schema::ProgramT makeProgramOfMaps() {
  ProgramOptions options;
  options.target = "cuda";
  options.kind = schema::CodeKind_PTX;
  options.arch = "sm_90a";
  options.code = "no code";
  schema::ProgramT program = makeProgram(options);
  auto map = std::make_unique<schema::TensorMapT>();
  map->columns = makeSize(4);
  map->rows = makeSize(0, 1);
  map->pitch = makeSize(4);
  map->box_columns = 4;
  map->box_rows = 64;
  map->swizzle = 32;
  map->batch = makeSize(1);
  map->batch_pitch = 16;
  schema::KernelStepT &kernel =
      *program.entries[0]->steps[0]->step.AsKernelStep();
  kernel.maps.push_back(std::move(map));
  // All that a block may have on sm_90.
  kernel.shared_bytes = 232448;
  return program;
}

TEST(Load, RefusesBadTensorMaps) {
  fuseopsStatus status;
  EXPECT_NE(load(makeFile(makeProgramOfMaps()), status), nullptr)
      << fuseopsLastError();
  auto refuses = [](void (*change)(schema::TensorMapT &), const char *text) {
    schema::ProgramT program = makeProgramOfMaps();
    change(*program.entries[0]->steps[0]->step.AsKernelStep()->maps[0]);
    expectInvalid(program, text);
  };
  using Map = schema::TensorMapT;
  refuses([](Map &map) { map.tensor = 3; },
          "step `scale`: expected a tensor map of one of 3 tensors, but got 3");
  refuses([](Map &map) { map.tensor = -1; }, "3 tensors, but got -1");
  refuses([](Map &map) { map.columns = makeSize(-1); },
          "the columns of a tensor map to be neither negative nor too large");
  refuses([](Map &map) { map.columns = makeSize((int64_t(1) << 32) + 1); },
          "step `scale`: expected the tensor map of `x` to have at most 2^32 "
          "columns, rows and matrices");
  const char *pitch = "a pitch that is a multiple of 16 bytes below 2^40";
  refuses([](Map &map) { map.pitch = makeSize(6); }, pitch);
  refuses([](Map &map) { map.pitch = makeSize(0); }, pitch);
  refuses([](Map &map) { map.pitch.reset(); }, pitch);
  refuses([](Map &map) { map.pitch = makeSize(int64_t(1) << 38); }, pitch);
  refuses([](Map &map) { map.pitch = makeSize(INT64_MAX - 3); },
          "the pitch of a tensor map to be neither negative nor too large");
  refuses([](Map &map) { map.pitch = makeSize(0, -4); },
          "the pitch of a tensor map to be neither negative nor too large");
  refuses([](Map &map) { map.columns = makeSize(5); },
          "step `scale`: expected the tensor map of `x` to have a pitch of at "
          "least its 5 columns and below 2^40 bytes");
  refuses([](Map &map) { map.pitch = makeSize(0, 1); },
          "a pitch of at least its 4 columns and below 2^40 bytes");
  refuses(
      [](Map &map) {
        map.columns = makeSize(0, 1);
        map.pitch = makeSize(0, int64_t(1) << 38);
      },
      "a pitch of at least its 1 columns and below 2^40 bytes");
  refuses([](Map &map) { map.batch_pitch = 2; }, pitch);
  refuses([](Map &map) { map.batch_pitch = -16; }, pitch);
  const char *box = "boxes of 1 to 256 rows and columns";
  refuses([](Map &map) { map.box_columns = 260; }, box);
  refuses([](Map &map) { map.box_rows = 0; }, box);
  refuses([](Map &map) { map.box_columns = 6; },
          "boxes whose rows are multiples of 16 bytes, but got 6");
  refuses([](Map &map) { map.swizzle = 16; },
          "a swizzle of 0, 32, 64 or 128 bytes, but got 16");
  refuses([](Map &map) { map.box_columns = 12; },
          "boxes whose rows are at most the bytes of its swizzle, but got 12");
  refuses([](Map &map) { map.rows = makeSize(-1); },
          "the rows of a tensor map to be neither negative nor too large");
  refuses([](Map &map) { map.batch = makeSize(0, -1); },
          "the batch of a tensor map to be neither negative nor too large");
  refuses(
      [](Map &map) { map.rows = makeSize(0, 2); },
      "step `scale`: expected `x` to hold the 1 x 2 x 4 elements of its tensor "
      "map");
  refuses([](Map &map) { map.batch = makeSize(0, 2); },
          "expected `x` to hold the 2 x 1 x 4 elements of its tensor map");
  refuses([](Map &map) { map.rows = makeSize((int64_t(1) << 32) + 1); },
          "to have at most 2^32 columns, rows and matrices");
}

/// Which sizes have rows of a multiple of 16 bytes is known when one runs.
TEST(Load, AcceptsTensorMapsOfUnknownRows) {
  schema::ProgramT program = makeProgramOfMaps();
  schema::TensorMapT &map =
      *program.entries[0]->steps[0]->step.AsKernelStep()->maps[0];
  map.columns = makeSize(0, 1);
  map.rows = makeSize(4);
  map.pitch = makeSize(0, 1);
  map.batch_pitch = 0;
  fuseopsStatus status;
  EXPECT_NE(load(makeFile(program), status), nullptr) << fuseopsLastError();
}

TEST(Load, RefusesTensorMapsOnTheCpu) {
  schema::ProgramT program = makeSmallProgram();
  program.entries[0]->steps[0]->step.AsKernelStep()->maps.push_back(
      std::make_unique<schema::TensorMapT>());
  expectInvalid(program, "expected at most 256 tensor maps, and none but on "
                         "CUDA, but got 1");
}

TEST(Load, SurvivesEveryAlteredByteOfTensorMaps) {
  std::string buffer = serialize(makeProgramOfMaps());
  for (size_t i = 0; i < buffer.size(); ++i) {
    std::string altered = buffer;
    altered[i] ^= 0xff;
    fuseopsStatus status;
    load(runtime::wrapProgram(reinterpret_cast<const uint8_t *>(altered.data()),
                              altered.size()),
         status);
    EXPECT_TRUE(status == FUSEOPS_OK || status == FUSEOPS_INVALID_PROGRAM) << i;
  }
}

TEST(Load, SaysWhatIsWrongWithAFile) {
  fuseopsProgram *program = nullptr;
  EXPECT_EQ(fuseopsProgramLoadFile("/no/such/file", &program),
            FUSEOPS_INVALID_ARGUMENT);
  EXPECT_NE(std::string(fuseopsLastError()).find("No such file"),
            std::string::npos);
  EXPECT_EQ(program, nullptr);
  EXPECT_EQ(fuseopsProgramLoad(nullptr, 0, &program), FUSEOPS_INVALID_ARGUMENT);
}

TEST(Load, ReadsFiles) {
  std::string path = testing::TempDir() + "fuseops-load-test.fuseops";
  std::string bytes = makeFile(makeProgram());
  std::FILE *file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
  fuseopsProgram *program = nullptr;
  EXPECT_EQ(fuseopsProgramLoadFile(path.c_str(), &program), FUSEOPS_OK)
      << fuseopsLastError();
  fuseopsProgramDestroy(program);
  std::remove(path.c_str());
}
