//===- Compiler.h - From source text to code, program or report -----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_COMPILER_COMPILER_H
#define FUSEOPS_COMPILER_COMPILER_H

#include "FuseOps/Compiler/Pipelines.h"
#include "FuseOps/Target/NVPTX.h"

#include <string>
#include <vector>

namespace mlir::fuseops {

/// What a compilation gives.
enum class Emit { IR, PTX, Cubin, Object, Program, Report };

/// The kind of output of that name (`ptx`, …); none for another word.
std::optional<Emit> symbolizeEmit(StringRef name);

/// How to compile.
struct CompileOptions : PipelineOptions {
  Emit emit = Emit::Program;
  /// Where to stop when IR is asked for.
  Phase compileTo = Phase::Target;
  /// The fusible that becomes the program; where empty, the only public one.
  std::string entry;
  /// The file of measured schedules that kernels get; empty for none.
  std::string schedules;
  /// Where the CUDA assembler is.
  AssemblerOptions assembler = AssemblerOptions::fromEnvironment();
};

/// A diagnostic, kept as text.
struct Message {
  enum Severity { Error, Warning, Remark, Note } severity;
  /// `file:line:column`; empty where it has none.
  std::string location;
  std::string text;

  /// `location: error: text`.
  std::string format() const;
};

/// An MLIR remark: a decision of a pass with its reason.
struct CollectedRemark {
  /// `Passed`, `Missed`, `Failure` or `Analysis`.
  std::string kind;
  std::string pass, name, location;
  /// All arguments in one line.
  std::string text;
  std::vector<std::pair<std::string, std::string>> arguments;
};

/// What `Compiler::compile` made.
struct CompileResult {
  /// What `CompileOptions::emit` asked for: text or bytes.
  std::string output;
  /// JSON; empty where only IR was asked for.
  std::string report;
  std::vector<CollectedRemark> remarks;
};

/// Compiles one program after the other, each in a context of its own, so that
/// a failed one leaves nothing behind. Not for several threads at once.
class Compiler {
public:
  Compiler();

  /// Compiles source text, pretty or generic, that diagnostics call `name`.
  /// Fails with the reasons in `getMessages()`.
  FailureOr<CompileResult> compile(StringRef source, StringRef name,
                                   const CompileOptions &options);

  /// The same from a file.
  FailureOr<CompileResult> compileFile(StringRef path,
                                       const CompileOptions &options);

  /// Errors, warnings and notes of the last compilation, in order.
  ArrayRef<Message> getMessages() const { return messages; }

  /// One line a message.
  std::string formatMessages() const;

private:
  LogicalResult fail(const Twine &text);

  DialectRegistry registry;
  std::vector<Message> messages;
};

} // namespace mlir::fuseops

#endif // FUSEOPS_COMPILER_COMPILER_H
