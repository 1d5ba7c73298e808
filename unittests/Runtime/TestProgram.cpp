//===- TestProgram.cpp - Programs for the runtime's tests ----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestProgram.h"
#include "CpuCode.h"
#include "FuseOps/Format/ProgramFile.h"

#include "gtest/gtest.h"

#include <fstream>
#include <iterator>

using namespace fuseops;
using namespace fuseops::test;
using schema::Extent;

static std::string readKernels() {
  std::ifstream file(FUSEOPS_TEST_KERNELS, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

static int32_t addTensor(schema::EntryT &entry, const char *name,
                         std::vector<Extent> shape, schema::Role role,
                         int32_t alias = -1, int64_t offset = 0) {
  auto tensor = std::make_unique<schema::TensorT>();
  tensor->name = name;
  tensor->dtype = schema::DType_F32;
  tensor->shape = std::move(shape);
  tensor->role = role;
  tensor->alias = alias;
  tensor->offset = std::make_unique<Extent>(makeExtent(offset, 0));
  entry.tensors.push_back(std::move(tensor));
  int32_t index = static_cast<int32_t>(entry.tensors.size()) - 1;
  if (role == schema::Role_Input && alias == -1)
    entry.inputs.push_back(index);
  return index;
}

static std::unique_ptr<schema::StepT> makeStep(const char *name) {
  auto step = std::make_unique<schema::StepT>();
  step->name = name;
  step->template_name = "pointwise";
  step->members = {"first", "second"};
  step->bytes = std::make_unique<Extent>(makeExtent(16, 32));
  step->flops = std::make_unique<Extent>(makeExtent(0, 0));
  return step;
}

static void addKernel(schema::EntryT &entry, const char *name,
                      const std::string &kernel, std::vector<int32_t> tensors,
                      schema::Grid grid,
                      const schema::Grid *countGrid = nullptr) {
  auto step = makeStep(name);
  schema::KernelStepT launch;
  launch.kernel = kernel;
  launch.tensors = std::move(tensors);
  launch.grid = std::make_unique<schema::Grid>(grid);
  launch.threads_x = 32;
  if (countGrid)
    launch.count_grid = std::make_unique<schema::Grid>(*countGrid);
  step->step.Set(std::move(launch));
  entry.steps.push_back(std::move(step));
}

static std::unique_ptr<schema::EntryT> makeEntry(const char *name) {
  auto entry = std::make_unique<schema::EntryT>();
  entry->name = name;
  entry->workspace = std::make_unique<Extent>(makeExtent(0, 0));
  entry->floor_bytes = std::make_unique<Extent>(makeExtent(32, 32));
  entry->unfused_bytes = std::make_unique<Extent>(makeExtent(64, 64));
  return entry;
}

static std::unique_ptr<schema::EntryT> makeForward(const std::string &kernel) {
  auto entry = makeEntry("forward");
  Extent rows = makeExtent(0, 1), columns = makeExtent(4, 0);
  int32_t x = addTensor(*entry, "x", {rows, columns}, schema::Role_Input);
  int32_t b = addTensor(*entry, "b", {columns}, schema::Role_Input);
  int32_t y = addTensor(*entry, "y", {rows, columns}, schema::Role_Output);
  int32_t sum = addTensor(*entry, "sum", {columns}, schema::Role_Output);
  int32_t partial = addTensor(*entry, "partial", {makeExtent(5, 0), columns},
                              schema::Role_Workspace, -1, 256);
  int32_t saved =
      addTensor(*entry, "saved", {rows, columns}, schema::Role_Output, x);
  int32_t flat =
      addTensor(*entry, "flat", {makeExtent(0, 4)}, schema::Role_Output, y);
  entry->outputs = {y, sum, saved, flat};
  entry->num_results = 2;
  entry->workspace = std::make_unique<Extent>(makeExtent(512, 0));
  schema::Grid grid(rows, 3, 5);
  addKernel(*entry, "scale", kernel, {x, b, y}, grid);
  addKernel(*entry, "partial_sums", "column_partial", {x, partial}, grid);
  addKernel(*entry, "sums", "finalize", {partial, sum},
            schema::Grid(columns, 1, 8), &grid);
  return entry;
}

static std::unique_ptr<schema::EntryT> makeBackward() {
  auto entry = makeEntry("backward");
  Extent rows = makeExtent(0, 1), columns = makeExtent(4, 0);
  int32_t dy = addTensor(*entry, "dy", {rows, columns}, schema::Role_Input);
  addTensor(*entry, "x", {rows, columns}, schema::Role_Input);
  int32_t dx =
      addTensor(*entry, "dx", {rows, columns}, schema::Role_Output, dy);
  entry->outputs = {dx, -1};
  entry->num_results = 2;
  entry->num_gradients = 1;
  return entry;
}

static std::unique_ptr<schema::EntryT> makeProduct() {
  auto entry = makeEntry("product");
  Extent rows = makeExtent(0, 1), depth = makeExtent(4, 0),
         columns = makeExtent(3, 0);
  schema::MatmulStepT product;
  product.a = addTensor(*entry, "a", {rows, depth}, schema::Role_Input);
  product.b = addTensor(*entry, "w", {columns, depth}, schema::Role_Input);
  product.bias = addTensor(*entry, "c", {columns}, schema::Role_Input);
  product.out = addTensor(*entry, "out", {rows, columns}, schema::Role_Output);
  product.m = std::make_unique<Extent>(rows);
  product.n = std::make_unique<Extent>(columns);
  product.k = std::make_unique<Extent>(depth);
  product.transpose_b = true;
  entry->outputs = {product.out};
  entry->num_results = 1;
  auto step = makeStep("gemm");
  step->template_name = "library";
  step->flops = std::make_unique<Extent>(makeExtent(0, 24));
  step->step.Set(std::move(product));
  entry->steps.push_back(std::move(step));
  return entry;
}

schema::ProgramT test::makeProgram(const ProgramOptions &options) {
  schema::ProgramT program;
  program.version = options.version;
  program.compiler = "0.0.test";
  program.target = options.target;
  program.name = "test";
  program.symbol_min = options.symbolMin;
  program.symbol_max = options.symbolMax;
  program.report = "{}";
  auto code = std::make_unique<schema::CodeT>();
  code->kind = options.kind;
  code->arch = options.arch.empty() ? runtime::getCpuArch() : options.arch;
  std::string bytes = options.code.empty() ? readKernels() : options.code;
  code->data.assign(bytes.begin(), bytes.end());
  program.code.push_back(std::move(code));
  program.entries.push_back(makeForward(options.kernel));
  program.entries.push_back(makeBackward());
  program.entries.push_back(makeProduct());
  return program;
}

std::string test::serialize(const schema::ProgramT &program) {
  flatbuffers::FlatBufferBuilder builder;
  schema::FinishProgramBuffer(builder,
                              schema::Program::Pack(builder, &program));
  return {reinterpret_cast<const char *>(builder.GetBufferPointer()),
          builder.GetSize()};
}

std::string test::makeFile(const schema::ProgramT &program) {
  std::string buffer = serialize(program);
  return runtime::wrapProgram(reinterpret_cast<const uint8_t *>(buffer.data()),
                              buffer.size());
}

ProgramPointer test::load(const std::string &file, fuseopsStatus &status) {
  fuseopsProgram *program = nullptr;
  status = fuseopsProgramLoad(file.data(), file.size(), &program);
  return ProgramPointer(program);
}

ProgramPointer test::load(const schema::ProgramT &program) {
  fuseopsStatus status;
  ProgramPointer loaded = load(makeFile(program), status);
  EXPECT_EQ(status, FUSEOPS_OK) << fuseopsLastError();
  return loaded;
}

/// Reads a string to its end.
static size_t readText(const char *text) { return std::string(text).size(); }

static void describeTensor(const fuseopsTensorInfo &info, size_t &sum) {
  sum += readText(info.name) + fuseopsDTypeSize(info.dtype);
  for (int32_t i = 0; i < info.rank; ++i)
    sum += info.shape[i].constant + info.shape[i].per_symbol;
}

void test::describeAll(const fuseopsProgram &program) {
  size_t sum = readText(fuseopsProgramTarget(&program)) +
               readText(fuseopsProgramName(&program)) +
               readText(fuseopsProgramCompiler(&program)) +
               readText(fuseopsProgramReport(&program));
  int64_t symbol, maximum;
  fuseopsProgramSymbolRange(&program, &symbol, &maximum);
  for (int32_t i = 0; i < fuseopsProgramNumEntries(&program); ++i) {
    fuseopsEntryInfo entry;
    ASSERT_EQ(fuseopsEntryDescribe(&program, i, &entry), FUSEOPS_OK);
    std::vector<int64_t> shape(32);
    for (int32_t j = 0; j < entry.num_inputs; ++j) {
      fuseopsTensorInfo info;
      ASSERT_EQ(fuseopsEntryInput(&program, i, j, &info), FUSEOPS_OK);
      describeTensor(info, sum);
      fuseopsEntryInputShape(&program, i, j, symbol, shape.data());
    }
    for (int32_t j = 0; j < entry.num_outputs; ++j) {
      fuseopsTensorInfo info;
      ASSERT_EQ(fuseopsEntryOutput(&program, i, j, &info), FUSEOPS_OK);
      describeTensor(info, sum);
      fuseopsEntryOutputShape(&program, i, j, maximum, shape.data());
    }
    for (int32_t j = 0; j < entry.num_steps; ++j) {
      fuseopsStepInfo info;
      if (fuseopsEntryStep(&program, i, j, symbol, &info) != FUSEOPS_OK)
        continue;
      sum += readText(info.name) + readText(info.template_name);
      for (int32_t k = 0; k < info.num_members; ++k)
        sum += readText(info.members[k]);
    }
    int64_t floorBytes, unfusedBytes;
    size_t workspaceBytes;
    fuseopsEntryTraffic(&program, i, symbol, &floorBytes, &unfusedBytes);
    fuseopsEntryWorkspaceBytes(&program, i, maximum, &workspaceBytes);
  }
  // Makes the compiler keep the reads.
  volatile size_t sink = sum;
  (void)sink;
}

TestTensor::TestTensor(std::vector<int64_t> sizes, std::vector<float> values)
    : shape(std::move(sizes)), strides(shape.size()), data(std::move(values)) {
  int64_t elements = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = elements;
    elements *= shape[i];
  }
  // Outputs start as something that no test expects.
  data.resize(elements, -12345.0f);
  tensor = {data.data(),
            {kDLCPU, 0},
            static_cast<int32_t>(shape.size()),
            {kDLFloat, 32, 1},
            shape.data(),
            strides.data(),
            0};
}
