//===- Messages.cpp - Collects diagnostics and remarks --------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Messages.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::fuseops;

std::string Message::format() const {
  static constexpr StringRef kWords[] = {"error", "warning", "remark", "note"};
  std::string line = location.empty() ? "" : location + ": ";
  return line + kWords[severity].str() + ": " + text;
}

std::string mlir::fuseops::formatLocation(Location loc) {
  if (auto place = loc->findInstanceOf<FileLineColRange>()) {
    // The module that a file is has no line.
    if (place.getStartLine() == 0)
      return place.getFilename().str();
    return (place.getFilename().getValue() + ":" + Twine(place.getStartLine()) +
            ":" + Twine(place.getStartColumn()))
        .str();
  }
  if (auto name = loc->findInstanceOf<NameLoc>())
    return name.getName().str();
  return "";
}

static Message::Severity convertSeverity(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return Message::Error;
  case DiagnosticSeverity::Warning:
    return Message::Warning;
  case DiagnosticSeverity::Remark:
    return Message::Remark;
  case DiagnosticSeverity::Note:
    return Message::Note;
  }
  llvm_unreachable("unknown severity");
}

void mlir::fuseops::collectDiagnostic(Diagnostic &diagnostic,
                                      std::vector<Message> &messages) {
  auto add = [&](const Diagnostic &item) {
    messages.push_back({convertSeverity(item.getSeverity()),
                        formatLocation(item.getLocation()), item.str()});
  };
  add(diagnostic);
  for (const Diagnostic &note : diagnostic.getNotes())
    add(note);
}

namespace {

/// Copies remarks; their strings live only as long as the passes that emit
/// them.
class RemarkCollector : public remark::detail::MLIRRemarkStreamerBase {
public:
  RemarkCollector(std::vector<CollectedRemark> &remarks) : remarks(remarks) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    CollectedRemark &copy = remarks.emplace_back();
    copy.kind = remark.getRemarkTypeString().str();
    copy.pass = remark.getCombinedCategoryName().str();
    copy.name = remark.getRemarkName().str();
    copy.location = formatLocation(remark.getLocation());
    for (const remark::detail::Remark::Arg &argument : remark.getArgs()) {
      copy.arguments.emplace_back(argument.key, argument.val);
      copy.text += copy.text.empty() ? "" : ", ";
      if (argument.key != "Reason" && argument.key != "Remark")
        copy.text += argument.key + " = ";
      copy.text += argument.val;
    }
  }

private:
  std::vector<CollectedRemark> &remarks;
};

} // namespace

void mlir::fuseops::collectRemarks(MLIRContext &context,
                                   std::vector<CollectedRemark> &remarks) {
  remark::RemarkCategories categories;
  categories.passed = categories.missed = categories.analysis =
      categories.failed = ".*";
  // It can only fail if the context has an engine, and this one is new.
  (void)remark::enableOptimizationRemarks(
      context, std::make_unique<RemarkCollector>(remarks),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}
