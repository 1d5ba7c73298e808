//===- Table.cpp - Prints what ran, how fast and how exactly --------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace fuserun;
using llvm::formatv;

namespace json = llvm::json;

namespace {

/// Bytes that an entry moves: as it is, at least, and op by op.
struct Traffic {
  int64_t moved = 0, floor = 0, unfused = 0;

  void add(const Traffic &other) {
    moved += other.moved;
    floor += other.floor;
    unfused += other.unfused;
  }
};

} // namespace

static Traffic getTraffic(const Session &session, int32_t entry) {
  Traffic traffic;
  session.getTraffic(entry, traffic.floor, traffic.unfused);
  for (int32_t i = 0; i < session.describe(entry).num_steps; ++i)
    traffic.moved += session.describeStep(entry, i).bytes;
  return traffic;
}

static std::string formatBytes(int64_t bytes) {
  auto value = static_cast<double>(bytes);
  if (bytes < 1 << 10)
    return formatv("{0} B", bytes);
  if (bytes < 1 << 20)
    return formatv("{0:F1} KiB", value / (1 << 10));
  return formatv("{0:F1} MiB", value / (1 << 20));
}

/// Names of operations without their dialect, in order.
static std::string formatMembers(const fuseopsStepInfo &step) {
  std::string text;
  for (int32_t i = 0; i < step.num_members; ++i) {
    llvm::StringRef member = step.members[i];
    member.consume_front("fuseops.");
    text += (i ? " + " : "") + member.str();
  }
  return text;
}

static void printTraffic(llvm::StringRef name, const Traffic &traffic,
                         llvm::raw_ostream &os) {
  os << name << ": " << formatBytes(traffic.moved) << " moved, floor "
     << formatBytes(traffic.floor);
  if (traffic.floor)
    os << formatv(" ({0:F2}x)", static_cast<double>(traffic.moved) /
                                    static_cast<double>(traffic.floor));
  if (traffic.unfused) {
    int64_t saved = traffic.unfused - traffic.moved;
    os << ", op by op " << formatBytes(traffic.unfused) << ": "
       << formatBytes(std::max<int64_t>(saved, 0)) << " saved"
       << formatv(" ({0:F0}%)", 100 * static_cast<double>(saved) /
                                    static_cast<double>(traffic.unfused));
  }
  os << "\n";
}

/// Rows of cells in columns as wide as their widest cell.
static void printColumns(llvm::ArrayRef<std::vector<std::string>> rows,
                         llvm::ArrayRef<bool> isRight, llvm::raw_ostream &os) {
  std::vector<size_t> widths(isRight.size());
  for (const std::vector<std::string> &row : rows)
    for (auto [width, cell] : llvm::zip_equal(widths, row))
      width = std::max(width, cell.size());
  for (const std::vector<std::string> &row : rows) {
    std::string line;
    for (auto [index, cell] : llvm::enumerate(row)) {
      std::string padding(widths[index] - cell.size(), ' ');
      line += (isRight[index] ? padding + cell : cell + padding) + "  ";
    }
    os << llvm::StringRef(line).rtrim() << "\n";
  }
}

/// Floating-point operations of a contraction, bytes of any other kernel.
static std::string formatRate(const fuseopsStepInfo &step,
                              double microseconds) {
  if (microseconds <= 0)
    return "";
  if (step.flops)
    return formatv("{0:F0} GFLOP/s",
                   static_cast<double>(step.flops) / microseconds / 1e3);
  return formatv("{0:F1} GB/s",
                 static_cast<double>(step.bytes) / microseconds / 1e3);
}

static void printKernels(const RunReport &report, llvm::raw_ostream &os) {
  std::vector<std::vector<std::string>> rows = {
      {"entry", "kernel", "template", "members", "bytes", "time us", "rate"}};
  for (const Trial::Entry &entry : report.trial.entries) {
    fuseopsEntryInfo info = report.session.describe(entry.index);
    for (int32_t i = 0; i < info.num_steps; ++i) {
      fuseopsStepInfo step = report.session.describeStep(entry.index, i);
      std::string time, rate;
      if (!entry.times.steps.empty()) {
        double microseconds = entry.times.steps[i];
        time = formatv("{0:F1}", microseconds);
        rate = formatRate(step, microseconds);
      }
      rows.push_back({info.name, step.name, step.template_name,
                      formatMembers(step), formatBytes(step.bytes), time,
                      rate});
    }
  }
  printColumns(rows, {false, false, false, false, true, true, true}, os);
}

static void printCheck(const CheckResult &check, llvm::raw_ostream &os) {
  std::vector<std::vector<std::string>> rows = {
      {"entry", "tensor", "dtype", "shape", "error", "tolerance", ""}};
  for (const Comparison &tensor : check.tensors)
    rows.push_back({tensor.entry, tensor.name, tensor.dtype, tensor.shape,
                    formatv("{0:e2}", tensor.error),
                    formatv("{0:e2}", tensor.tolerance),
                    tensor.isOk() ? "ok" : "FAIL"});
  os << "\n";
  printColumns(rows, {false, false, false, false, true, true, false}, os);
  os << "error: max |a - b| / (|b| + rms(b)) against the f64 reference\n"
     << "tolerance: " << check.formula << "\n";
  os << "check: " << (check.isOk() ? "ok" : "FAILED") << "\n";
}

void fuserun::printTable(const RunReport &report, llvm::raw_ostream &os) {
  const Session &session = report.session;
  const fuseopsProgram *program = session.getProgram();
  os << "program " << fuseopsProgramName(program) << " of " << report.path
     << ", target " << fuseopsProgramTarget(program) << " on " << report.chip
     << ", size " << session.getSize() << ", seed " << report.seed << "\n\n";
  printKernels(report, os);
  os << "\n";
  Traffic total;
  for (const Trial::Entry &entry : report.trial.entries) {
    Traffic traffic = getTraffic(session, entry.index);
    total.add(traffic);
    std::string name = session.describe(entry.index).name;
    printTraffic(name, traffic, os);
    if (!entry.times.steps.empty())
      os << name << ": " << formatv("{0:F1}", entry.times.whole)
         << " us a run\n";
  }
  printTraffic("total", total, os);
  if (report.copyTbps)
    os << formatv("a copy here moves {0:F1} GB/s\n", *report.copyTbps * 1e3);
  if (report.check)
    printCheck(*report.check, os);
}

/// JSON has no infinity.
static json::Value orNull(double value) {
  return std::isfinite(value) ? json::Value(value) : json::Value(nullptr);
}

static json::Object describeEntry(const RunReport &report,
                                  const Trial::Entry &entry) {
  const Session &session = report.session;
  fuseopsEntryInfo info = session.describe(entry.index);
  bool isTimed = !entry.times.steps.empty() || entry.times.whole > 0;
  json::Array kernels;
  for (int32_t i = 0; i < info.num_steps; ++i) {
    fuseopsStepInfo step = session.describeStep(entry.index, i);
    json::Array members;
    for (int32_t m = 0; m < step.num_members; ++m)
      members.push_back(step.members[m]);
    json::Object kernel{{"name", step.name},
                        {"template", step.template_name},
                        {"members", std::move(members)},
                        {"is_library", step.is_library != 0},
                        {"bytes", step.bytes},
                        {"flops", step.flops}};
    kernel["time_us"] =
        isTimed ? json::Value(entry.times.steps[i]) : json::Value(nullptr);
    kernels.push_back(std::move(kernel));
  }
  Traffic traffic = getTraffic(session, entry.index);
  int64_t inputBytes = 0;
  for (const DeviceTensor &input : entry.inputs)
    inputBytes += static_cast<int64_t>(input.buffer->getSize());
  std::string dtype =
      entry.inputs.empty() ? "" : fuseopsDTypeName(entry.inputs[0].info.dtype);
  return json::Object{{"name", info.name},
                      {"dtype", dtype},
                      {"kernels", std::move(kernels)},
                      {"bytes", traffic.moved},
                      {"input_bytes", inputBytes},
                      {"floor_bytes", traffic.floor},
                      {"unfused_bytes", traffic.unfused},
                      {"time_us", isTimed ? json::Value(entry.times.whole)
                                          : json::Value(nullptr)}};
}

static json::Object describeCheck(const CheckResult &check) {
  json::Array tensors;
  for (const Comparison &tensor : check.tensors)
    tensors.push_back(json::Object{{"entry", tensor.entry},
                                   {"name", tensor.name},
                                   {"dtype", tensor.dtype},
                                   {"shape", tensor.shape},
                                   {"error", orNull(tensor.error)},
                                   {"rms", tensor.rms},
                                   {"tolerance", tensor.tolerance},
                                   {"ok", tensor.isOk()}});
  return json::Object{{"ok", check.isOk()},
                      {"tolerance", check.formula},
                      {"tensors", std::move(tensors)}};
}

void fuserun::printJSON(const RunReport &report, llvm::raw_ostream &os) {
  const fuseopsProgram *program = report.session.getProgram();
  json::Array entries;
  for (const Trial::Entry &entry : report.trial.entries)
    entries.push_back(describeEntry(report, entry));
  json::Object object{{"file", report.path},
                      {"program", fuseopsProgramName(program)},
                      {"target", fuseopsProgramTarget(program)},
                      {"chip", report.chip},
                      {"size", report.session.getSize()},
                      {"seed", static_cast<int64_t>(report.seed)},
                      {"entries", std::move(entries)}};
  if (report.copyTbps)
    object["copy_tbps"] = *report.copyTbps;
  if (report.check)
    object["check"] = describeCheck(*report.check);
  os << formatv("{0:2}", json::Value(std::move(object))) << "\n";
}
