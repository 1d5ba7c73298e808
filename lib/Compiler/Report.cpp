//===- Report.cpp - What the compiler has to say about a program ----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::fuseops;

namespace json = llvm::json;

/// `[constant, per_symbol]`.
static json::Array toJSON(Extent extent) {
  return json::Array{extent.constant, extent.perSymbol};
}

static std::string toString(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static json::Object describeTensor(const ProgramTensor &tensor) {
  json::Array shape;
  for (Extent extent : tensor.shape)
    shape.push_back(toJSON(extent));
  return json::Object{{"name", tensor.name},
                      {"dtype", toString(tensor.elementType)},
                      {"shape", std::move(shape)},
                      {"bytes", toJSON(tensor.getBytes())}};
}

static json::Object describeStep(const ProgramStep &step,
                                 const GeneratedCode &code) {
  json::Object object{{"name", step.name},
                      {"template", step.templateName},
                      {"members", json::Array(step.members)},
                      {"bytes", toJSON(step.bytes)},
                      {"flops", toJSON(step.flops)}};
  for (const KernelUsage &usage : code.usage) {
    if (usage.name != step.kernel)
      continue;
    object["registers"] = usage.registers;
    object["spill_bytes"] = usage.spillBytes;
    object["shared_bytes"] = usage.sharedBytes;
  }
  return object;
}

static json::Object describeEntry(const ProgramEntry &entry,
                                  const GeneratedCode &code) {
  json::Array kernels;
  for (const ProgramStep &step : entry.steps)
    kernels.push_back(describeStep(step, code));
  return json::Object{{"name", entry.name},
                      {"kernels", std::move(kernels)},
                      {"workspace_bytes", toJSON(entry.workspace)},
                      {"floor_bytes", toJSON(entry.floorBytes)},
                      {"unfused_bytes", toJSON(entry.unfusedBytes)}};
}

/// What forward saves; one that is an argument or a result costs nothing.
static json::Array describeSaved(const ProgramEntry &entry) {
  json::Array saved;
  for (int index : ArrayRef(entry.outputs).drop_front(entry.numResults)) {
    const ProgramTensor &tensor = entry.tensors[index];
    json::Object object = describeTensor(tensor);
    object["alias"] = tensor.alias < 0
                          ? json::Value(nullptr)
                          : json::Value(entry.tensors[tensor.alias].name);
    saved.push_back(std::move(object));
  }
  return saved;
}

static json::Array describeArguments(const ProgramEntry &entry,
                                     ArrayRef<ArgumentRole> roles) {
  json::Array arguments;
  for (auto [position, index] : llvm::enumerate(entry.inputs)) {
    json::Object object = describeTensor(entry.tensors[index]);
    if (position < roles.size()) {
      object["role"] = roles[position].role;
      if (roles[position].contraction)
        object["contraction"] = roles[position].contraction;
    }
    arguments.push_back(std::move(object));
  }
  return arguments;
}

static json::Object describeRemark(const CollectedRemark &remark) {
  json::Object arguments;
  for (const auto &[key, value] : remark.arguments)
    arguments[key] = value;
  return json::Object{{"name", remark.name},
                      {"pass", remark.pass},
                      {"location", remark.location},
                      {"text", remark.text},
                      {"arguments", std::move(arguments)}};
}

/// The floating-point type with the fewest bits of precision of all tensors.
static std::string getLeastPreciseType(const ProgramPlan &plan) {
  FloatType least;
  for (const ProgramEntry &entry : plan.entries)
    for (const ProgramTensor &tensor : entry.tensors) {
      auto type = dyn_cast<FloatType>(tensor.elementType);
      // A power of two is a scale, not a rounded value.
      if (type && !isa<Float8E8M0FNUType>(type) &&
          (!least || type.getFPMantissaWidth() < least.getFPMantissaWidth()))
        least = type;
    }
  return least ? toString(least) : "";
}

/// One dtype for each output of an entry.
static json::Array describePrecisions(ArrayRef<FloatType> types) {
  json::Array names;
  for (FloatType type : types)
    names.push_back(type ? toString(type) : "");
  return names;
}

std::string mlir::fuseops::writeReport(const CompileOptions &options,
                                       const ProgramPlan &plan,
                                       const GeneratedCode &code,
                                       ArrayRef<ArgumentRole> roles,
                                       ArrayRef<Extent> reductions,
                                       const OutputPrecisions &precisions,
                                       ArrayRef<CollectedRemark> remarks) {
  json::Object report{
      {"compiler", FUSEOPS_VERSION},
      {"name", plan.name},
      {"target", options.target.getName()},
      {"arch", code.arch},
      {"recipe", options.recipe},
      {"symbol", json::Array{plan.symbolMin, plan.symbolMax}},
      {"arguments", describeArguments(plan.entries.front(), roles)},
      {"saved", describeSaved(plan.entries.front())},
      {"least_precise_dtype", getLeastPreciseType(plan)}};
  if (options.target.isCUDA())
    report["assembler"] = code.assembler;
  json::Array entries, lengths, fused, refused;
  for (const ProgramEntry &entry : plan.entries)
    entries.push_back(describeEntry(entry, code));
  for (Extent length : reductions)
    lengths.push_back(toJSON(length));
  for (const CollectedRemark &remark : remarks) {
    if (remark.kind == "Passed")
      fused.push_back(describeRemark(remark));
    else if (remark.kind != "Analysis")
      refused.push_back(describeRemark(remark));
  }
  report["precisions"] =
      json::Object{{"forward", describePrecisions(precisions.forward)},
                   {"backward", describePrecisions(precisions.backward)}};
  report["entries"] = std::move(entries);
  report["reductions"] = std::move(lengths);
  report["fused"] = std::move(fused);
  report["refused"] = std::move(refused);
  return llvm::formatv("{0:2}", json::Value(std::move(report))).str() + "\n";
}
