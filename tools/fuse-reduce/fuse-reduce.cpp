//===- fuse-reduce.cpp - Shrinks a program that shows a fault ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reducer.h"

#include "FuseOps/Compiler/Pipelines.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace mlir::fuseops;
namespace cl = llvm::cl;

static cl::OptionCategory category("fuse-reduce options");
static cl::opt<std::string> inputPath(cl::Positional, cl::Required,
                                      cl::desc("<program>"), cl::cat(category));
static cl::opt<std::string> outputPath("o", cl::init("-"),
                                       cl::desc("Where the result goes"),
                                       cl::value_desc("file"),
                                       cl::cat(category));
static cl::opt<std::string>
    command("test", cl::Required,
            cl::desc("Shell command that fails on a program that shows the "
                     "fault; the program's path is added at its end"),
            cl::value_desc("command"), cl::cat(category));
static cl::opt<std::string>
    pattern("match", cl::desc("What the command must print besides failing"),
            cl::value_desc("regex"), cl::cat(category));
static cl::opt<unsigned>
    timeout("timeout", cl::init(60),
            cl::desc("Seconds after which the command counts as failed"),
            cl::value_desc("seconds"), cl::cat(category));

namespace {

/// Runs the command on modules.
class FaultTest {
public:
  LogicalResult prepare() {
    llvm::Regex regex(pattern);
    std::string error;
    if (!pattern.empty() && !regex.isValid(error))
      return fail("`" + pattern + "` is no regular expression: " + error);
    if (std::error_code code =
            llvm::sys::fs::createTemporaryFile("fuse-reduce", "mlir", program))
      return fail("cannot make a temporary file: " + code.message());
    if (std::error_code code =
            llvm::sys::fs::createTemporaryFile("fuse-reduce", "txt", output))
      return fail("cannot make a temporary file: " + code.message());
    removers.emplace_back(program);
    removers.emplace_back(output);
    return success();
  }

  bool operator()(ModuleOp module) {
    std::error_code code;
    {
      llvm::raw_fd_ostream stream(program, code);
      stream << module << '\n';
    }
    std::string line = command + " \"$0\"";
    std::optional<StringRef> redirects[] = {StringRef(""), StringRef(output),
                                            StringRef(output)};
    int status =
        llvm::sys::ExecuteAndWait("/bin/sh", {"sh", "-c", line, program},
                                  std::nullopt, redirects, timeout);
    if (code || status == 0)
      return false;
    auto text = llvm::MemoryBuffer::getFile(output);
    return pattern.empty() ||
           (text && llvm::Regex(pattern).match((*text)->getBuffer()));
  }

  static LogicalResult fail(const Twine &text) {
    llvm::errs() << "error: " << text << '\n';
    return failure();
  }

private:
  SmallString<128> program, output;
  std::vector<llvm::FileRemover> removers;
};

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "Shrinks a program that shows a fault\n");
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(inputPath, ParserConfig(&context));
  FaultTest test;
  if (!module || failed(test.prepare()))
    return 1;
  if (!test(*module)) {
    (void)FaultTest::fail("expected the command to fail on `" + inputPath +
                          "`, but it does not");
    return 1;
  }
  Reducer reducer(module.release(), std::ref(test));
  OwningOpRef<ModuleOp> reduced = reducer.reduce();
  llvm::errs() << "kept " << reducer.getNumKept() << " of "
               << reducer.getNumAsked() << " changes\n";
  llvm::Error error =
      llvm::writeToOutput(outputPath, [&](llvm::raw_ostream &os) {
        os << *reduced << '\n';
        return llvm::Error::success();
      });
  if (!error)
    return 0;
  (void)FaultTest::fail("cannot write `" + outputPath + "`: " +
                        llvm::errorToErrorCode(std::move(error)).message());
  return 1;
}
