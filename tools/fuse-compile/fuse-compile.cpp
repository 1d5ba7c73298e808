//===- fuse-compile.cpp - IR file to PTX, cubin, object or program --------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuner.h"

#include "FuseOps/Compiler/Compiler.h"
#include "FuseOps/Compiler/ReportFormat.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::fuseops;

namespace cl = llvm::cl;

static cl::OptionCategory category("fuse-compile options");
static cl::opt<std::string> inputPath(cl::Positional, cl::desc("FILE"),
                                      cl::cat(category));
static cl::opt<std::string>
    targetText("target", cl::init("cpu"), cl::cat(category),
               cl::value_desc("target"),
               cl::desc("cpu, cpu:x86-64-v3, cuda, cuda:sm_90a or reference"));
static cl::opt<std::string>
    emitText("emit", cl::cat(category), cl::value_desc("kind"),
             cl::desc("What to write: program (the default), report, ptx, "
                      "cubin or obj"));
static cl::opt<std::string> compileTo(
    "compile-to", cl::cat(category), cl::value_desc("phase"),
    cl::desc("Stop after this phase and write the IR: input, differentiate, "
             "quantize, saved, fusion, lowering or target"));
static cl::opt<std::string>
    recipe("recipe", cl::init("none"), cl::cat(category),
           cl::desc("Quantization recipe of programs that carry none: none, "
                    "delayed, current, block, rowwise or mx, and what differs "
                    "from its defaults, such as `delayed, history = 16`"));
static cl::opt<bool>
    prepareWeights("prepare", cl::cat(category),
                   cl::desc("Quantize weights in an entry of their own"));
static cl::opt<bool> generateProducts(
    "generate-products", cl::cat(category),
    cl::desc("Make kernels of contractions with what is computed of them, on "
             "sm_90a; else the library computes them"));
static cl::opt<std::string>
    entryName("entry", cl::cat(category), cl::value_desc("name"),
              cl::desc("The fusible to compile, where there is more than one"));
static cl::opt<std::string> outputPath(
    "o", cl::cat(category), cl::value_desc("path"),
    cl::desc("Where to write, `-` for the standard output. Text goes there "
             "unless this is given, the rest beside FILE"));
static cl::opt<bool>
    printRemarks("print-remarks", cl::cat(category),
                 cl::desc("Print what was fused, what was not, and why"));
static cl::opt<std::string>
    reportText("report", cl::cat(category), cl::ValueOptional,
               cl::value_desc("format"),
               cl::desc("Write the report: json (also --emit=report), text or "
                        "html"));
static cl::opt<std::string>
    schedulesPath("schedules", cl::cat(category), cl::value_desc("file"),
                  cl::desc("Give kernels the schedules of this file"));
static cl::opt<bool>
    wantsTune("tune", cl::cat(category),
              cl::desc("Measure schedules of each kernel on this machine and "
                       "write the fastest to the file of --schedules"));
static cl::opt<bool>
    listsSchedules("list-schedules", cl::cat(category),
                   cl::desc("Print the schedules that --tune would measure, "
                            "best first by the cost model"));
static cl::list<int64_t>
    symbolSizes("size", cl::CommaSeparated, cl::cat(category),
                cl::desc("With --tune: the values of every `?` to measure at, "
                         "by default 4096"));
static cl::opt<unsigned> numCandidates(
    "candidates", cl::init(6), cl::cat(category),
    cl::desc("With --tune: how many schedules of each kernel to measure, the "
             "one that it has by default included"));

static constexpr int64_t kTunedSize = 4096;
static constexpr int kDone = 0;
static constexpr int kFailed = 1;
static constexpr int kWrongUse = 2;

static int rejectUse(const Twine &reason) {
  llvm::errs() << "fuse-compile: " << reason << "\n";
  return kWrongUse;
}

/// A reason if what the command line says beside --tune is wrong.
static std::string checkTuneOptions(const CompileOptions &options) {
  if (compileTo.getNumOccurrences() || emitText.getNumOccurrences() ||
      reportText.getNumOccurrences() || outputPath.getNumOccurrences())
    return "expected --tune and --list-schedules without --compile-to, --emit, "
           "--report and -o: they compile no program";
  if (wantsTune && listsSchedules)
    return "expected either --tune or --list-schedules, but got both";
  if (wantsTune && options.schedules.empty())
    return "expected --schedules=FILE with --tune, where the schedules go";
  if (options.target.kind == TargetSpec::Reference)
    return "expected target `cpu` or `cuda`: the reference has no schedules";
  if (numCandidates < 2)
    return "expected --candidates of 2 or more, but got " +
           std::to_string(numCandidates);
  for (int64_t size : symbolSizes)
    if (size <= 0)
      return "expected --size of 1 or more, but got " + std::to_string(size);
  return "";
}

/// Measures, or lists what would be measured, instead of compiling.
static int runTune(const CompileOptions &options) {
  TuneJob job;
  job.path = inputPath;
  job.options = options;
  job.namesChip = StringRef(targetText).contains(':');
  job.sizes.assign(symbolSizes.begin(), symbolSizes.end());
  if (job.sizes.empty())
    job.sizes.push_back(kTunedSize);
  job.numCandidates = numCandidates;
  llvm::Expected<bool> isSound = listsSchedules
                                     ? listSchedules(job, llvm::outs())
                                     : tune(std::move(job), llvm::outs());
  if (isSound)
    return *isSound ? kDone : kFailed;
  std::string reason = llvm::toString(isSound.takeError());
  // The compiler's messages say that they are errors.
  if (!StringRef(reason).contains("error: "))
    llvm::errs() << "error: ";
  llvm::errs() << reason << "\n";
  return kFailed;
}

/// Fills `options` and `format` from the command line. Returns a reason if it
/// is wrong.
static std::string readOptions(CompileOptions &options, ReportFormat &format) {
  std::string error;
  if (inputPath.empty())
    return "expected a file to compile, but got none";
  FailureOr<TargetSpec> target = TargetSpec::parse(targetText, error);
  if (failed(target))
    return error;
  options.target = *target;
  if (failed(verifyRecipe(recipe, error)))
    return error;
  options.recipe = recipe;
  options.prepare = prepareWeights;
  options.generateProducts = generateProducts;
  if (!reportText.empty()) {
    std::optional<ReportFormat> found = symbolizeReportFormat(reportText);
    if (!found)
      return "expected a report as `json`, `text` or `html`, but got `" +
             reportText + "`";
    format = *found;
  }
  options.entry = entryName;
  options.schedules = schedulesPath;
  if (wantsTune || listsSchedules)
    return checkTuneOptions(options);
  if (symbolSizes.getNumOccurrences() || numCandidates.getNumOccurrences())
    return "expected --size and --candidates with --tune or --list-schedules "
           "only";
  if (compileTo.getNumOccurrences()) {
    std::optional<Phase> phase = symbolizePhase(compileTo);
    if (!phase)
      return "expected phase `input`, `differentiate`, `quantize`, `saved`, "
             "`fusion`, `lowering` or `target`, but got `" +
             compileTo + "`";
    if (emitText.getNumOccurrences() || reportText.getNumOccurrences())
      return "expected either --compile-to or --emit, but got both";
    options.compileTo = *phase;
    options.emit = Emit::IR;
    return "";
  }
  std::string word = emitText;
  if (word.empty())
    word = reportText.getNumOccurrences() ? "report" : "program";
  std::optional<Emit> emit = symbolizeEmit(word);
  if (!emit)
    return "expected kind `program`, `report`, `ptx`, `cubin`, `obj` or `ir`, "
           "but got `" +
           word + "`";
  options.emit = *emit;
  bool isCUDA = options.target.isCUDA();
  if (!isCUDA && (*emit == Emit::PTX || *emit == Emit::Cubin))
    return "--emit=" + word + " needs --target=cuda";
  if (isCUDA && *emit == Emit::Object)
    return "--emit=obj needs a CPU target";
  return "";
}

/// Where output of a kind goes unless told: text to the standard output.
static std::string getOutputPath(Emit emit) {
  StringRef extension;
  switch (emit) {
  case Emit::Program:
    extension = "fuseops";
    break;
  case Emit::Cubin:
    extension = "cubin";
    break;
  case Emit::Object:
    extension = "o";
    break;
  case Emit::IR:
  case Emit::PTX:
  case Emit::Report:
    return "-";
  }
  if (!outputPath.empty() || inputPath == "-")
    return "-";
  SmallString<128> path(inputPath);
  llvm::sys::path::replace_extension(path, extension);
  return path.str().str();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::setBugReportMsg("fuse-compile crashed; scripts/bug_report.sh collects "
                        "what a report needs\n");
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](raw_ostream &os) {
    os << "fuse-compile " << FUSEOPS_VERSION << "\n";
  });
  if (!cl::ParseCommandLineOptions(
          argc, argv, "Compiles a program of FuseOps or torch-mlir IR\n",
          &llvm::errs()))
    return kWrongUse;
  CompileOptions options;
  ReportFormat format = ReportFormat::JSON;
  if (std::string reason = readOptions(options, format); !reason.empty())
    return rejectUse(reason);
  if (wantsTune || listsSchedules)
    return runTune(options);

  // The linker within the compiler resets all options of the process.
  std::string path =
      outputPath.empty() ? getOutputPath(options.emit) : outputPath;
  bool wantsRemarks = printRemarks;
  Emit emit = options.emit;
  Compiler compiler;
  FailureOr<CompileResult> result = compiler.compileFile(inputPath, options);
  llvm::errs() << compiler.formatMessages();
  if (failed(result))
    return kFailed;
  if (wantsRemarks)
    for (const CollectedRemark &remark : result->remarks)
      llvm::errs() << (remark.location.empty() ? "" : remark.location + ": ")
                   << "remark: " << remark.kind << " [" << remark.pass << "] "
                   << remark.name << ": " << remark.text << "\n";
  // A temporary file that is renamed: nothing is left of a failure.
  llvm::Error error = llvm::writeToOutput(path, [&](raw_ostream &os) {
    os << (emit == Emit::Report ? formatReport(result->output, format)
                                : result->output);
    return llvm::Error::success();
  });
  if (error) {
    llvm::errs() << "error: cannot write `" << path
                 << "`: " << llvm::errorToErrorCode(std::move(error)).message()
                 << "\n";
    return kFailed;
  }
  return kDone;
}
