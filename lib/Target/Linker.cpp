//===- Linker.cpp - Linking one object into a shared object ---------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Linker.h"

#include "mlir/IR/Diagnostics.h"

#include "lld/Common/Driver.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace mlir::fuseops;
namespace fs = llvm::sys::fs;

namespace {

/// A folder of its own for lld's files, gone when this is.
class TemporaryFolder {
public:
  TemporaryFolder() { isMade = !fs::createUniqueDirectory("fuseops", path); }
  ~TemporaryFolder() {
    if (isMade)
      (void)fs::remove_directories(path);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  explicit operator bool() const { return isMade; }
  std::string file(StringRef name) const {
    SmallString<128> result(path);
    llvm::sys::path::append(result, name);
    return result.str().str();
  }

private:
  SmallString<64> path;
  bool isMade = false;
};

LogicalResult writeFile(Location loc, const std::string &path,
                        ArrayRef<char> content) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    stream.write(content.data(), content.size());
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (error)
    return emitError(loc) << "can't write `" << path
                          << "`: " << error.message();
  return success();
}

LogicalResult runLinker(Location loc, ArrayRef<std::string> arguments) {
  // lld keeps its state in globals.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  SmallVector<const char *> pointers = {"ld.lld", "-shared", "--threads=1"};
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  std::string output, errors;
  llvm::raw_string_ostream outputStream(output), errorStream(errors);
  lld::Result result = lld::lldMain(pointers, outputStream, errorStream,
                                    {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return emitError(loc) << "kernels can't be linked: "
                          << StringRef(errors).trim();
  return success();
}

/// Which functions an object takes from elsewhere. compiler-rt's and libgcc's
/// (`__…`) are an error: nothing offers them when the result is opened.
FailureOr<bool> needsLibm(Location loc, ArrayRef<char> object) {
  llvm::MemoryBufferRef buffer(StringRef(object.data(), object.size()),
                               "kernels.o");
  auto file = llvm::object::ObjectFile::createObjectFile(buffer);
  if (!file)
    return emitError(loc) << "object can't be read back: "
                          << llvm::toString(file.takeError());
  bool needs = false;
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    auto name = symbol.getName();
    if (!flags || !name) {
      llvm::consumeError(flags.takeError());
      llvm::consumeError(name.takeError());
      continue;
    }
    if (!(*flags & llvm::object::SymbolRef::SF_Undefined) || name->empty() ||
        *name == "_GLOBAL_OFFSET_TABLE_")
      continue;
    if (name->starts_with("__"))
      return emitError(loc) << "kernels call `" << *name
                            << "`, which neither libm nor libc has";
    needs = true;
  }
  return needs;
}

} // namespace

FailureOr<SmallVector<char>>
mlir::fuseops::linkSharedObject(Location loc, ArrayRef<char> object,
                                ArrayRef<char> emptyObject) {
  FailureOr<bool> libm = needsLibm(loc, object);
  if (failed(libm))
    return failure();
  TemporaryFolder folder;
  if (!folder)
    return emitError(loc) << "no temporary folder can be made";
  std::string input = folder.file("kernels.o");
  std::string output = folder.file("kernels.so");
  if (failed(writeFile(loc, input, object)))
    return failure();
  SmallVector<std::string> arguments = {"-soname=fuseops_kernels.so",
                                        "--hash-style=gnu",
                                        "-znow",
                                        "-O1",
                                        input,
                                        "-o",
                                        output};
  if (*libm) {
    std::string empty = folder.file("empty.o");
    std::string standIn = folder.file("libm.so.6");
    if (failed(writeFile(loc, empty, emptyObject)) ||
        failed(runLinker(loc, {"-soname=libm.so.6", empty, "-o", standIn})))
      return failure();
    arguments.append({"--no-as-needed", standIn});
  }
  if (failed(runLinker(loc, arguments)))
    return failure();
  auto result = llvm::MemoryBuffer::getFile(output);
  if (!result)
    return emitError(loc) << "can't read `" << output
                          << "`: " << result.getError().message();
  StringRef bytes = (*result)->getBuffer();
  return SmallVector<char>(bytes.begin(), bytes.end());
}
