//===- Compiler.cpp - From source text to code, program or report ---------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Compiler/Compiler.h"

#include "Codegen.h"
#include "Messages.h"
#include "Report.h"
#include "SourceFacts.h"

#include "FuseOps/Compiler/Tuning.h"
#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Target/Program.h"
#include "FuseOps/Transforms/FusibleEdits.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::fuseops;

// What a program file begins with (FuseOps/Runtime/ProgramFile.h).
static constexpr StringRef kProgramMagic("FUSEOPS\0", 8);

// Brackets within brackets that a source may have.
static constexpr size_t kMaxNesting = 500;

std::optional<Emit> mlir::fuseops::symbolizeEmit(StringRef name) {
  return llvm::StringSwitch<std::optional<Emit>>(name)
      .Case("ir", Emit::IR)
      .Case("ptx", Emit::PTX)
      .Case("cubin", Emit::Cubin)
      .Case("obj", Emit::Object)
      .Case("program", Emit::Program)
      .Case("report", Emit::Report)
      .Default(std::nullopt);
}

namespace {

/// One compilation.
class Compilation {
public:
  Compilation(MLIRContext &context, const CompileOptions &options,
              CompileResult &result)
      : context(context), options(options), result(result) {}

  LogicalResult run(StringRef source, StringRef name);

private:
  LogicalResult runPhases(Phase first, Phase last);
  template <typename OpTy>
  bool holds();
  FailureOr<FusibleOp> selectEntry();
  FusibleOp getPrepare(FusibleOp fusible);
  FusibleOp getProgram();
  LogicalResult finish();

  MLIRContext &context;
  const CompileOptions &options;
  CompileResult &result;
  OwningOpRef<ModuleOp> module;
  SmallVector<ArgumentRole> roles;
  SmallVector<Extent> reductions;
  OutputPrecisions precisions;
};

} // namespace

LogicalResult Compilation::runPhases(Phase first, Phase last) {
  PassManager manager(&context);
  std::string error;
  if (failed(buildCompilePipeline(manager, options, first, last, error)))
    return emitError(UnknownLoc::get(&context)) << StringRef(error).trim();
  return manager.run(*module);
}

/// The fusible that quantizes another's weights; null if it has none.
FusibleOp Compilation::getPrepare(FusibleOp fusible) {
  auto name = fusible->getAttrOfType<FlatSymbolRefAttr>(kPrepareAttr);
  return name ? module->lookupSymbol<FusibleOp>(name.getAttr()) : FusibleOp();
}

/// The fusible that is the program, and does not prepare another's weights.
FusibleOp Compilation::getProgram() {
  SmallVector<FusibleOp> fusibles(module->getOps<FusibleOp>());
  SmallVector<FusibleOp> others = llvm::map_to_vector(
      fusibles, [&](FusibleOp fusible) { return getPrepare(fusible); });
  for (FusibleOp fusible : llvm::reverse(fusibles))
    if (!llvm::is_contained(others, fusible))
      return fusible;
  return {};
}

/// The fusible that becomes the program. Others that were public are private
/// from here on, and so go away unless it applies them.
FailureOr<FusibleOp> Compilation::selectEntry() {
  SmallVector<FusibleOp> candidates, prepares;
  for (FusibleOp fusible : module->getOps<FusibleOp>())
    prepares.push_back(getPrepare(fusible));
  for (FusibleOp fusible : module->getOps<FusibleOp>())
    if (llvm::is_contained(prepares, fusible))
      continue;
    else if (options.entry.empty()
                 ? SymbolTable::getSymbolVisibility(fusible) ==
                       SymbolTable::Visibility::Public
                 : fusible.getSymName() == options.entry)
      candidates.push_back(fusible);
  if (candidates.empty()) {
    if (!options.entry.empty())
      return module->emitError()
             << "no `fuseops.fusible` is named `" << options.entry << "`";
    return module->emitError()
           << "expected a public `fuseops.fusible`, or a function of torch "
              "operations, but the module has neither";
  }
  if (candidates.size() > 1) {
    InFlightDiagnostic diag = candidates[1].emitError()
                              << "expected one public `fuseops.fusible`, but "
                                 "got "
                              << candidates.size() << " (";
    llvm::interleaveComma(candidates, diag, [&](FusibleOp fusible) {
      diag << "`" << fusible.getSymName() << "`";
    });
    return diag << "): name the one to compile as the entry";
  }
  FusibleOp prepare = getPrepare(candidates.front());
  for (FusibleOp fusible : module->getOps<FusibleOp>())
    SymbolTable::setSymbolVisibility(
        fusible, fusible == candidates.front() || fusible == prepare
                     ? SymbolTable::Visibility::Public
                     : SymbolTable::Visibility::Private);
  return candidates.front();
}

/// Prints or packs what was asked for.
LogicalResult Compilation::finish() {
  FusibleOp fusible = getProgram(), prepare = getPrepare(fusible);
  FailureOr<ProgramPlan> plan = planProgram(fusible, prepare);
  if (failed(plan) || failed(lowerKernels(*module, options.target)))
    return failure();
  llvm::raw_string_ostream stream(result.output);
  if (options.emit == Emit::IR) {
    // Unlike `<<`, with the data of resources.
    module->print(stream);
    stream << "\n";
    return success();
  }
  FailureOr<GeneratedCode> code = generateCode(*module, options);
  if (failed(code))
    return failure();
  result.report = writeReport(options, fusible, prepare, *plan, *code, roles,
                              reductions, precisions, result.remarks);
  switch (options.emit) {
  case Emit::PTX:
    result.output = code->ptx;
    break;
  case Emit::Cubin:
    result.output = code->code.front().data;
    break;
  case Emit::Object:
    result.output = code->object;
    break;
  case Emit::Report:
    result.output = result.report;
    break;
  case Emit::IR:
  case Emit::Program:
    result.output = writeProgram(*plan, options.target.getName(), code->code,
                                 result.report);
    break;
  }
  return success();
}

/// Whether the module has an operation of that kind anywhere.
template <typename OpTy>
bool Compilation::holds() {
  return module->walk([](OpTy) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Calls `read` with a fusible as it was before it was planned.
static void readFacts(FusibleOp fusible,
                      function_ref<void(FusibleOp fusible)> read) {
  OwningOpRef<FusibleOp> copy = fusible.clone();
  inlineGroups(*copy);
  read(*copy);
}

LogicalResult Compilation::run(StringRef source, StringRef name) {
  module = parseSourceString<ModuleOp>(source, ParserConfig(&context), name);
  if (!module || failed(runPhases(Phase::Input, Phase::Input)))
    return failure();
  if (failed(verifySizes(*module)))
    return failure();
  Phase last = options.emit == Emit::IR ? options.compileTo : Phase::Target;
  if (last == Phase::Target || !options.entry.empty()) {
    FailureOr<FusibleOp> fusible = selectEntry();
    if (failed(fusible))
      return failure();
    readFacts(*fusible,
              [&](FusibleOp copy) { roles = getArgumentRoles(copy); });
  }
  // What --compile-to=fusion printed has its plan already, and what lowering or
  // target printed its kernels: both may have been edited. A group that was
  // written without a backward is differentiated, which says that it can't be.
  bool isPlanned = holds<GroupOp>(), isLowered = holds<LaunchOp>();
  Phase before = isPlanned ? Phase::Differentiate : Phase::Saved;
  if (!isLowered && last >= Phase::Differentiate &&
      failed(runPhases(Phase::Differentiate, std::min(last, before))))
    return failure();
  // Gradients may be larger than anything in the source.
  if (failed(verifySizes(*module)))
    return failure();
  if (FusibleOp fusible = getProgram())
    readFacts(fusible, [&](FusibleOp copy) {
      reductions = getReductionLengths(copy);
      precisions = getOutputPrecisions(copy);
    });
  if (!isLowered && last >= Phase::Fusion &&
      (failed(runPhases(Phase::Fusion, Phase::Fusion)) ||
       failed(applySchedules(*module, options))))
    return failure();
  if (!isLowered && last >= Phase::Lowering &&
      failed(runPhases(Phase::Lowering, Phase::Lowering)))
    return failure();
  if (last == Phase::Target)
    return finish();
  llvm::raw_string_ostream stream(result.output);
  module->print(stream);
  stream << "\n";
  return success();
}

Compiler::Compiler() { registerDialects(registry); }

LogicalResult Compiler::fail(const Twine &text) {
  messages.push_back({Message::Error, "", text.str()});
  return failure();
}

/// Why `emit` and the target don't go together; empty if they do.
static StringRef explainMismatch(const CompileOptions &options) {
  bool isCUDA = options.target.isCUDA();
  if (!isCUDA && (options.emit == Emit::PTX || options.emit == Emit::Cubin))
    return "only the target `cuda` has PTX and cubins";
  if (isCUDA && options.emit == Emit::Object)
    return "the target `cuda` has no object files: emit a cubin";
  return "";
}

/// Where `source` nests deeper than the parser, which recurses, has stack for;
/// no value if it doesn't. Brackets in strings and comments count too: no
/// program has as many.
static std::optional<size_t> findDeepNesting(StringRef source) {
  size_t depth = 0;
  for (size_t i = 0; i < source.size(); ++i) {
    StringRef rest = source.substr(i);
    if (rest.starts_with("->") || rest.starts_with("<=") ||
        rest.starts_with(">="))
      ++i;
    else if (StringRef("([{<").contains(source[i]) && ++depth > kMaxNesting)
      return i;
    else if (StringRef(")]}>").contains(source[i]) && depth > 0)
      --depth;
  }
  return std::nullopt;
}

FailureOr<CompileResult> Compiler::compile(StringRef source, StringRef name,
                                           const CompileOptions &options) {
  messages.clear();
  if (StringRef reason = explainMismatch(options); !reason.empty())
    return fail(reason);
  if (std::optional<size_t> position = findDeepNesting(source)) {
    StringRef before = source.take_front(*position);
    size_t line = before.count('\n') + 1;
    size_t column = before.size() - (before.rfind('\n') + 1) + 1;
    messages.push_back({Message::Error,
                        (name + ":" + Twine(line) + ":" + Twine(column)).str(),
                        ("expected at most " + Twine(kMaxNesting) +
                         " nested brackets, but "
                         "got more")
                            .str()});
    return failure();
  }
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    collectDiagnostic(diagnostic, messages);
  });
  CompileResult result;
  collectRemarks(context, result.remarks);
  if (succeeded(Compilation(context, options, result).run(source, name)))
    return result;
  if (llvm::none_of(messages, [](const Message &message) {
        return message.severity == Message::Error;
      }))
    return fail("the compiler failed and gave no reason");
  return failure();
}

FailureOr<CompileResult> Compiler::compileFile(StringRef path,
                                               const CompileOptions &options) {
  messages.clear();
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!file)
    return fail("cannot read `" + path + "`: " + file.getError().message());
  if ((*file)->getBuffer().starts_with(kProgramMagic))
    return fail("expected source text in `" + path +
                "`, but got a compiled program");
  return compile((*file)->getBuffer(), path, options);
}

std::string Compiler::formatMessages() const {
  std::string text;
  for (const Message &message : messages)
    text += message.format() + "\n";
  return text;
}
