//===- WriteProgram.cpp - A program's plan and code as its file -----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DType.h"

#include "FuseOps/Format/ProgramFile.h"
#include "FuseOps/Format/Program_generated.h"
#include "FuseOps/Target/Program.h"

using namespace mlir;
using namespace mlir::fuseops;

namespace schema = ::fuseops::schema;

template <typename T>
using Offset = flatbuffers::Offset<T>;

namespace {

/// Writes tables, innermost first, as a FlatBuffer wants it.
class Writer {
public:
  Offset<schema::Program> writeProgram(const ProgramPlan &plan,
                                       StringRef target,
                                       ArrayRef<ProgramCode> code,
                                       StringRef report);
  flatbuffers::FlatBufferBuilder builder;

private:
  Offset<flatbuffers::String> writeString(StringRef text) {
    return builder.CreateString(text.data(), text.size());
  }
  static schema::Extent convert(Extent extent) {
    return {extent.constant, extent.perSymbol, extent.perBlock32,
            extent.perBlock128};
  }
  static schema::Grid convert(const ProgramGrid &grid) {
    return {convert(grid.rows), grid.rowsPerWorker, grid.maxWorkers};
  }
  Offset<schema::Tensor> writeTensor(const ProgramTensor &tensor);
  Offset<schema::TensorMap> writeTensorMap(TensorMapAttr map);
  Offset<schema::Step> writeStep(const ProgramStep &step);
  Offset<schema::Entry> writeEntry(const ProgramEntry &entry);
};

} // namespace

/// What the memory that a program is loaded into is aligned to at most.
static constexpr size_t kConstantAlignment = 16;

static std::vector<int32_t> toVector(ArrayRef<int> values) {
  return {values.begin(), values.end()};
}

static schema::Role convertRole(TensorRole role) {
  switch (role) {
  case TensorRole::Input:
    return schema::Role_Input;
  case TensorRole::Output:
    return schema::Role_Output;
  case TensorRole::Workspace:
    return schema::Role_Workspace;
  case TensorRole::Constant:
    return schema::Role_Constant;
  }
  llvm_unreachable("unknown role");
}

static schema::ScaleKind convertScaleKind(ScaleKind kind) {
  switch (kind) {
  case ScaleKind::PerTensor:
    return schema::ScaleKind_PerTensor;
  case ScaleKind::PerRow:
    return schema::ScaleKind_PerRow;
  case ScaleKind::Block1x128:
    return schema::ScaleKind_Block1x128;
  case ScaleKind::Block128x128:
    return schema::ScaleKind_Block128x128;
  case ScaleKind::MX1x32:
    break;
  }
  llvm_unreachable("no library multiplies these");
}

Offset<schema::Tensor> Writer::writeTensor(const ProgramTensor &tensor) {
  std::vector<schema::Extent> shape;
  shape.reserve(tensor.shape.size());
  for (Extent extent : tensor.shape)
    shape.push_back(convert(extent));
  auto name = writeString(tensor.name);
  auto extents = builder.CreateVectorOfStructs(shape);
  schema::Extent offset = convert(tensor.offset);
  return schema::CreateTensor(
      builder, name,
      static_cast<schema::DType>(*getProgramDType(tensor.elementType)), extents,
      convertRole(tensor.role), tensor.alias, &offset, tensor.constant);
}

Offset<schema::TensorMap> Writer::writeTensorMap(TensorMapAttr map) {
  schema::Extent columns = convert(Extent::fromArray(map.getColumns()));
  schema::Extent rows = convert(Extent::fromArray(map.getRows()));
  schema::Extent pitch = convert(Extent::fromArray(map.getPitch()));
  schema::Extent batch = convert(Extent::fromArray(map.getBatch()));
  return schema::CreateTensorMap(builder, map.getTensor(), &columns, &rows,
                                 &pitch, map.getBoxColumns(), map.getBoxRows(),
                                 map.getSwizzle(), &batch, map.getBatchPitch());
}

Offset<schema::Step> Writer::writeStep(const ProgramStep &step) {
  Offset<void> kind;
  if (step.isMatmul()) {
    schema::Extent m = convert(step.m), n = convert(step.n),
                   k = convert(step.k);
    kind = schema::CreateMatmulStep(
               builder, step.a, step.b, step.bias, step.out, &m, &n, &k,
               step.transposeA, step.transposeB, step.aScale, step.bScale,
               convertScaleKind(step.aScaleKind),
               convertScaleKind(step.bScaleKind), step.fastAccumulate)
               .Union();
  } else {
    auto kernel = writeString(step.kernel);
    auto tensors = builder.CreateVector(toVector(step.tensors));
    std::vector<Offset<schema::TensorMap>> mapTables;
    mapTables.reserve(step.maps.size());
    for (TensorMapAttr map : step.maps)
      mapTables.push_back(writeTensorMap(map));
    auto maps = builder.CreateVector(mapTables);
    schema::Grid grid = convert(step.grid);
    schema::Grid countGrid = convert(step.countGrid);
    kind = schema::CreateKernelStep(
               builder, kernel, tensors, &grid, step.threadsX, step.threadsY,
               step.sharedBytes, &countGrid, step.startsEarly, maps)
               .Union();
  }
  std::vector<Offset<flatbuffers::String>> members;
  members.reserve(step.members.size());
  for (StringRef member : step.members)
    members.push_back(writeString(member));
  auto name = writeString(step.name);
  auto templateName = writeString(step.templateName);
  auto memberNames = builder.CreateVector(members);
  schema::Extent bytes = convert(step.bytes), flops = convert(step.flops);
  return schema::CreateStep(builder,
                            step.isMatmul() ? schema::StepKind_MatmulStep
                                            : schema::StepKind_KernelStep,
                            kind, name, templateName, memberNames, &bytes,
                            &flops);
}

Offset<schema::Entry> Writer::writeEntry(const ProgramEntry &entry) {
  std::vector<Offset<schema::Tensor>> tensors;
  tensors.reserve(entry.tensors.size());
  for (const ProgramTensor &tensor : entry.tensors)
    tensors.push_back(writeTensor(tensor));
  std::vector<Offset<schema::Step>> steps;
  steps.reserve(entry.steps.size());
  for (const ProgramStep &step : entry.steps)
    steps.push_back(writeStep(step));
  auto name = writeString(entry.name);
  auto tensorTables = builder.CreateVector(tensors);
  auto inputs = builder.CreateVector(toVector(entry.inputs));
  auto outputs = builder.CreateVector(toVector(entry.outputs));
  auto stepTables = builder.CreateVector(steps);
  schema::Extent workspace = convert(entry.workspace);
  schema::Extent floorBytes = convert(entry.floorBytes);
  schema::Extent unfusedBytes = convert(entry.unfusedBytes);
  return schema::CreateEntry(builder, name, tensorTables, inputs, outputs,
                             entry.numResults, entry.numGradients, &workspace,
                             stepTables, &floorBytes, &unfusedBytes);
}

Offset<schema::Program> Writer::writeProgram(const ProgramPlan &plan,
                                             StringRef target,
                                             ArrayRef<ProgramCode> code,
                                             StringRef report) {
  std::vector<Offset<schema::Code>> codes;
  codes.reserve(code.size());
  for (const ProgramCode &item : code) {
    auto arch = writeString(item.arch);
    auto data = builder.CreateVector(
        reinterpret_cast<const uint8_t *>(item.data.data()), item.data.size());
    auto kind = item.kind == ProgramCode::SharedObject
                    ? schema::CodeKind_SharedObject
                : item.kind == ProgramCode::Cubin ? schema::CodeKind_Cubin
                                                  : schema::CodeKind_PTX;
    codes.push_back(schema::CreateCode(builder, kind, arch, data));
  }
  std::vector<Offset<schema::Entry>> entries;
  entries.reserve(plan.entries.size());
  for (const ProgramEntry &entry : plan.entries)
    entries.push_back(writeEntry(entry));
  auto compiler = writeString(FUSEOPS_VERSION);
  auto targetName = writeString(target);
  auto name = writeString(plan.name);
  auto codeTables = builder.CreateVector(codes);
  auto entryTables = builder.CreateVector(entries);
  std::vector<Offset<schema::Constant>> constants;
  constants.reserve(plan.constants.size());
  for (const std::vector<uint8_t> &bytes : plan.constants) {
    builder.ForceVectorAlignment(bytes.size(), 1, kConstantAlignment);
    constants.push_back(
        schema::CreateConstant(builder, builder.CreateVector(bytes)));
  }
  auto constantTables = builder.CreateVector(constants);
  auto reportText = writeString(report);
  return schema::CreateProgram(builder, ::fuseops::runtime::kProgramVersion,
                               compiler, targetName, name, plan.symbolMin,
                               plan.symbolMax, codeTables, entryTables,
                               reportText, constantTables);
}

std::string mlir::fuseops::writeProgram(const ProgramPlan &plan,
                                        StringRef target,
                                        ArrayRef<ProgramCode> code,
                                        StringRef report) {
  Writer writer;
  schema::FinishProgramBuffer(writer.builder,
                              writer.writeProgram(plan, target, code, report));
  return ::fuseops::runtime::wrapProgram(writer.builder.GetBufferPointer(),
                                         writer.builder.GetSize());
}
