//===- ScheduleFile.cpp - Reads and writes measured schedules -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Compiler/ScheduleFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::fuseops;
using llvm::Expected;
using llvm::StringRef;

namespace json = llvm::json;

/// What the file's format is called, with its version.
static constexpr StringRef kFormat = "fuseops-schedules-1";

/// Refuses keys of `value`, an object, that aren't `known`: a misspelt one
/// would be passed over.
static bool hasOnly(const json::Value &value, json::Path path,
                    llvm::ArrayRef<StringRef> known) {
  const json::Object *object = value.getAsObject();
  for (const auto &[key, unused] : object ? *object : json::Object())
    if (!llvm::is_contained(known, StringRef(key))) {
      path.field(key).report("unknown key");
      return false;
    }
  return true;
}

namespace mlir::fuseops {
static bool fromJSON(const json::Value &value, ScheduleEntry &entry,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("key", entry.key) && map.map("target", entry.target) &&
         map.map("schedule", entry.schedule) &&
         map.mapOptional("kernel", entry.kernel) &&
         map.mapOptional("device", entry.device) &&
         map.mapOptional("sizes", entry.sizes) &&
         map.mapOptional("microseconds", entry.microseconds) &&
         map.mapOptional("default_microseconds", entry.defaultMicroseconds) &&
         hasOnly(value, path,
                 {"key", "target", "schedule", "kernel", "device", "sizes",
                  "microseconds", "default_microseconds"});
}
} // namespace mlir::fuseops

namespace {
/// The file as it is written.
struct Document {
  std::string format;
  std::vector<ScheduleEntry> kernels;
};

bool fromJSON(const json::Value &value, Document &document, json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("format", document.format))
    return false;
  if (document.format != kFormat) {
    path.field("format").report("expected `fuseops-schedules-1`");
    return false;
  }
  return map.map("kernels", document.kernels) &&
         hasOnly(value, path, {"format", "kernels"});
}
} // namespace

Expected<ScheduleFile> ScheduleFile::parse(StringRef text, StringRef path) {
  auto fail = [&](const llvm::Twine &reason) {
    return llvm::createStringError("cannot read schedules from `" + path +
                                   "`: " + reason);
  };
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return fail(llvm::toString(value.takeError()));
  json::Path::Root root("file");
  Document document;
  if (!fromJSON(*value, document, root))
    return fail(llvm::toString(root.getError()));
  ScheduleFile file;
  for (ScheduleEntry &entry : document.kernels) {
    std::pair<std::string, std::string> place(entry.target, entry.key);
    if (!file.entries.try_emplace(place, std::move(entry)).second)
      return fail("expected one entry for kernel `" + place.second + "` on `" +
                  place.first + "`, but got two");
  }
  return file;
}

Expected<ScheduleFile> ScheduleFile::load(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return llvm::createStringError("cannot read schedules from `" + path +
                                   "`: " + file.getError().message());
  return parse((*file)->getBuffer(), path);
}

const ScheduleEntry *ScheduleFile::find(StringRef key, StringRef target) const {
  auto found = entries.find({target.str(), key.str()});
  return found == entries.end() ? nullptr : &found->second;
}

void ScheduleFile::set(ScheduleEntry entry) {
  std::pair<std::string, std::string> place(entry.target, entry.key);
  entries[place] = std::move(entry);
}

/// `{"a": 1, "b": 2}`.
static std::string formatSchedule(const std::map<std::string, int64_t> &map) {
  std::string text;
  for (const auto &[key, value] : map)
    text += llvm::formatv("{0}{1}: {2}", text.empty() ? "" : ", ",
                          json::Value(key), value);
  return "{" + text + "}";
}

/// `[1, 2]`, of times with their nanoseconds.
static std::string formatList(llvm::ArrayRef<int64_t> sizes) {
  return "[" +
         llvm::join(
             llvm::map_range(sizes,
                             [](int64_t size) { return std::to_string(size); }),
             ", ") +
         "]";
}
static std::string formatList(llvm::ArrayRef<double> times) {
  return "[" +
         llvm::join(
             llvm::map_range(times,
                             [](double time) {
                               return llvm::formatv("{0:F3}", time).str();
                             }),
             ", ") +
         "]";
}

std::string ScheduleFile::format() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "{\"format\": " << json::Value(kFormat) << ", \"kernels\": [";
  const char *separator = "\n";
  for (const auto &[place, entry] : entries) {
    // What is edited comes first, and on one line.
    stream << separator << "{\"key\": " << json::Value(entry.key)
           << ", \"target\": " << json::Value(entry.target)
           << ", \"schedule\": " << formatSchedule(entry.schedule)
           << ",\n \"kernel\": " << json::Value(entry.kernel)
           << ",\n \"device\": " << json::Value(entry.device)
           << ", \"sizes\": " << formatList(entry.sizes)
           << ", \"microseconds\": " << formatList(entry.microseconds)
           << ", \"default_microseconds\": "
           << formatList(entry.defaultMicroseconds) << "}";
    separator = ",\n";
  }
  stream << "\n]}\n";
  return text;
}
