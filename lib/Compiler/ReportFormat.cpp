//===- ReportFormat.cpp - The report as text and as a page ---------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Compiler/ReportFormat.h"

#include "FuseOps/Compiler/ReportPage.h.inc"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace mlir::fuseops;

std::optional<ReportFormat>
mlir::fuseops::symbolizeReportFormat(StringRef name) {
  return StringSwitch<std::optional<ReportFormat>>(name)
      .Case("json", ReportFormat::JSON)
      .Case("text", ReportFormat::Text)
      .Case("html", ReportFormat::HTML)
      .Default(std::nullopt);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// A size with the symbols that it depends on: `16384 + 8192*S`.
static std::string formatExtent(const json::Array &extent) {
  static constexpr StringLiteral symbols[] = {"", "*S", "*ceil(S/32)",
                                              "*ceil(S/128)"};
  SmallVector<std::string> terms;
  for (auto [factor, symbol] : zip(extent, symbols))
    if (int64_t number = factor.getAsInteger().value_or(0))
      terms.push_back(formatv("{0}{1}", number, symbol).str());
  return terms.empty() ? "0" : join(terms, " + ");
}

static std::string formatExtent(const json::Object &object, StringRef key) {
  const json::Array *extent = object.getArray(key);
  return extent ? formatExtent(*extent) : "";
}

/// The string, number or list of strings under `key`; empty without one.
static std::string formatField(const json::Object &object, StringRef key) {
  if (std::optional<StringRef> text = object.getString(key))
    return text->str();
  if (std::optional<int64_t> number = object.getInteger(key))
    return std::to_string(*number);
  std::string list;
  if (const json::Array *values = object.getArray(key))
    for (const json::Value &value : *values)
      list +=
          (list.empty() ? "" : ", ") + value.getAsString().value_or("").str();
  return list;
}

/// Rows under a header, each column as wide as its widest cell.
static void writeTable(raw_ostream &os, ArrayRef<StringRef> header,
                       ArrayRef<std::vector<std::string>> rows) {
  if (rows.empty()) {
    os << "  none\n";
    return;
  }
  SmallVector<size_t> widths;
  for (auto [column, title] : enumerate(header)) {
    widths.push_back(title.size());
    for (const auto &row : rows)
      widths.back() = std::max(widths.back(), row[column].size());
  }
  auto writeRow = [&](auto &&cells) {
    std::string line;
    for (auto [cell, width] : zip(cells, widths))
      line.append("  ").append(cell).append(width - cell.size(), ' ');
    os << StringRef(line).rtrim() << "\n";
  };
  writeRow(header);
  for (const auto &row : rows)
    writeRow(row);
}

/// The objects of the array under `key`.
static SmallVector<const json::Object *> objectsOf(const json::Object &object,
                                                   StringRef key) {
  SmallVector<const json::Object *> objects;
  if (const json::Array *values = object.getArray(key))
    for (const json::Value &value : *values)
      if (const json::Object *element = value.getAsObject())
        objects.push_back(element);
  return objects;
}

static std::string writeText(const json::Object &report) {
  std::string text;
  raw_string_ostream os(text);
  os << "@" << formatField(report, "name") << ", target "
     << formatField(report, "target") << " " << formatField(report, "arch")
     << ", recipe " << formatField(report, "recipe") << "\n";
  for (const json::Object *entry : objectsOf(report, "entries")) {
    os << "\n"
       << formatField(*entry, "name") << ": floor "
       << formatExtent(*entry, "floor_bytes") << " bytes, op by op "
       << formatExtent(*entry, "unfused_bytes") << ", workspace "
       << formatExtent(*entry, "workspace_bytes") << "\n";
    std::vector<std::vector<std::string>> rows;
    for (const json::Object *kernel : objectsOf(*entry, "kernels"))
      rows.push_back(
          {formatField(*kernel, "name"), formatField(*kernel, "template"),
           formatExtent(*kernel, "bytes"), formatField(*kernel, "registers"),
           formatField(*kernel, "spill_bytes"),
           formatField(*kernel, "members")});
    writeTable(
        os, {"kernel", "template", "bytes", "registers", "spilled", "members"},
        rows);
  }
  std::vector<std::vector<std::string>> saved, refused;
  for (const json::Object *tensor : objectsOf(report, "saved"))
    saved.push_back(
        {formatField(*tensor, "name"), formatField(*tensor, "dtype"),
         formatExtent(*tensor, "bytes"), formatField(*tensor, "alias")});
  for (const json::Object *remark : objectsOf(report, "refused"))
    refused.push_back({formatField(*remark, "pass"),
                       formatField(*remark, "location"),
                       formatField(*remark, "text")});
  os << "\nsaved for backward:\n";
  writeTable(os, {"tensor", "dtype", "bytes", "alias"}, saved);
  os << "\nfusions refused:\n";
  writeTable(os, {"pass", "place", "reason"}, refused);
  return text;
}

//===----------------------------------------------------------------------===//
// HTML
//===----------------------------------------------------------------------===//

/// The page of ReportPage.html around the report.
static std::string writePage(StringRef report) {
  // What ends a script may stand in a location or a name.
  std::string data;
  for (char c : report)
    data += c == '<' ? "\\u003c" : std::string(1, c);
  auto [before, after] = StringRef(kReportPage).split("@REPORT@");
  return (before + data + after).str();
}

std::string mlir::fuseops::formatReport(StringRef report, ReportFormat format) {
  switch (format) {
  case ReportFormat::JSON:
    return report.str();
  case ReportFormat::HTML:
    return writePage(report);
  case ReportFormat::Text:
    break;
  }
  json::Value value = cantFail(json::parse(report));
  return writeText(*value.getAsObject());
}
