//===- Report.cpp - What the compiler has to say about a program ----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "FuseOps/Transforms/FusibleEdits.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::fuseops;

namespace json = llvm::json;

/// `[constant, per_symbol, per_block32, per_block128]`, the last two only where
/// there is a block.
static json::Array toJSON(Extent extent) {
  return json::Array(extent.asArray());
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

/// What a step reads and writes, by name. The first step with a tensor that
/// does not come from the caller writes it; `written` holds those so far.
static void describeTraffic(const ProgramEntry &entry, const ProgramStep &step,
                            llvm::DenseSet<int> &written,
                            json::Object &object) {
  json::Array reads, writes;
  llvm::SmallSetVector<int, 8> tensors;
  for (int index : step.getTensors()) {
    while (entry.tensors[index].alias >= 0)
      index = entry.tensors[index].alias;
    tensors.insert(index);
  }
  for (int index : tensors) {
    const ProgramTensor &tensor = entry.tensors[index];
    bool isGiven =
        tensor.role == TensorRole::Input || tensor.role == TensorRole::Constant;
    bool isWritten = !isGiven && written.insert(index).second;
    (isWritten ? writes : reads).push_back(tensor.name);
  }
  object["reads"] = std::move(reads);
  object["writes"] = std::move(writes);
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
  json::Array kernels, tensors, outputs;
  llvm::DenseSet<int> written;
  for (const ProgramStep &step : entry.steps) {
    json::Object object = describeStep(step, code);
    describeTraffic(entry, step, written, object);
    kernels.push_back(std::move(object));
  }
  for (const ProgramTensor &tensor : entry.tensors)
    tensors.push_back(describeTensor(tensor));
  for (int index : entry.outputs) {
    while (index >= 0 && entry.tensors[index].alias >= 0)
      index = entry.tensors[index].alias;
    if (index >= 0)
      outputs.push_back(entry.tensors[index].name);
  }
  return json::Object{{"name", entry.name},
                      {"kernels", std::move(kernels)},
                      {"tensors", std::move(tensors)},
                      {"outputs", std::move(outputs)},
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

/// Of a state argument: the result that replaces it, null where backward's
/// gradient does, and the names of the tensors that its scales are of.
static void describeState(FusibleOp fusible, unsigned index,
                          json::Object &object) {
  Attribute state = getArgumentAttr(fusible, index, kStateAttr);
  if (!state)
    return;
  object["role"] = "state";
  auto next = dyn_cast<IntegerAttr>(state);
  object["next"] = next ? json::Value(next.getInt()) : json::Value(nullptr);
  auto names = dyn_cast_or_null<ArrayAttr>(
      getArgumentAttr(fusible, index, kTensorsAttr));
  if (!names)
    return;
  json::Array tensors;
  for (StringRef name : names.getAsValueRange<StringAttr>())
    tensors.push_back(name);
  object["tensors"] = std::move(tensors);
}

static json::Array describeArguments(FusibleOp fusible,
                                     const ProgramEntry &entry,
                                     ArrayRef<ArgumentRole> roles) {
  json::Array arguments;
  for (auto [position, index] : llvm::enumerate(entry.inputs)) {
    json::Object object = describeTensor(entry.tensors[index]);
    if (position < roles.size()) {
      object["role"] = roles[position].role;
      if (roles[position].contraction)
        object["contraction"] = roles[position].contraction;
    }
    describeState(fusible, position, object);
    if (auto number = dyn_cast_or_null<IntegerAttr>(
            getArgumentAttr(fusible, position, kPreparedAttr))) {
      object["role"] = "prepared";
      object["prepared"] = number.getInt();
    }
    arguments.push_back(std::move(object));
  }
  return arguments;
}

/// The inputs of `prepare`, which are arguments of forward or its own state,
/// and for each output the argument of forward that it is, null for next state.
static json::Object describePrepare(FusibleOp fusible, FusibleOp prepare) {
  SmallVector<int64_t> weights;
  json::Array arguments, outputs;
  for (size_t i = 0; i < prepare.getResultTypes().size(); ++i)
    outputs.push_back(nullptr);
  for (size_t i = 0; i < fusible.getArgumentTypes().size(); ++i) {
    if (getArgumentAttr(fusible, i, kWeightAttr) &&
        !getArgumentAttr(fusible, i, kStateAttr))
      weights.push_back(i);
    if (auto number = dyn_cast_or_null<IntegerAttr>(
            getArgumentAttr(fusible, i, kPreparedAttr)))
      outputs[number.getInt()] = static_cast<int64_t>(i);
  }
  for (size_t i = 0; i < prepare.getArgumentTypes().size(); ++i) {
    json::Object object;
    if (auto weight = dyn_cast_or_null<IntegerAttr>(
            getArgumentAttr(prepare, i, kPrepareAttr))) {
      object["role"] = "weight";
      object["argument"] = weights[weight.getInt()];
    }
    describeState(prepare, i, object);
    arguments.push_back(std::move(object));
  }
  return json::Object{{"arguments", std::move(arguments)},
                      {"outputs", std::move(outputs)}};
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

std::string mlir::fuseops::writeReport(
    const CompileOptions &options, FusibleOp fusible, FusibleOp prepare,
    const ProgramPlan &plan, const GeneratedCode &code,
    ArrayRef<ArgumentRole> roles, ArrayRef<Extent> reductions,
    const OutputPrecisions &precisions, ArrayRef<CollectedRemark> remarks) {
  json::Object report{
      {"compiler", FUSEOPS_VERSION},
      {"name", plan.name},
      {"target", options.target.getName()},
      {"arch", code.arch},
      {"recipe", options.recipe},
      {"symbol", json::Array{plan.symbolMin, plan.symbolMax}},
      {"arguments", describeArguments(fusible, plan.entries.front(), roles)},
      {"saved", describeSaved(plan.entries.front())},
      {"least_precise_dtype", getLeastPreciseType(plan)}};
  if (options.target.isCUDA())
    report["assembler"] = code.assembler;
  json::Array entries, lengths, fused, refused, quantized, choices;
  if (prepare)
    report["prepare"] = describePrepare(fusible, prepare);
  for (const ProgramEntry &entry : plan.entries)
    entries.push_back(describeEntry(entry, code));
  for (Extent length : reductions)
    lengths.push_back(toJSON(length));
  for (const CollectedRemark &remark : remarks) {
    bool isQuantization = StringRef(remark.name) == "Quantize";
    if (isQuantization || remark.name == "Saved") {
      json::Object object = describeRemark(remark);
      object["kind"] = remark.kind;
      (isQuantization ? quantized : choices).push_back(std::move(object));
    } else if (remark.kind == "Passed")
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
  report["quantized"] = std::move(quantized);
  report["saved_choices"] = std::move(choices);
  return llvm::formatv("{0:2}", json::Value(std::move(report))).str() + "\n";
}
