//===- fuse-run.cpp - Compiles or loads a program, runs, checks, times ----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Table.h"

#include "FuseOps/Compiler/Compiler.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::fuseops;
using namespace fuserun;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace cl = llvm::cl;

static cl::OptionCategory category("fuse-run options");
static cl::opt<std::string> inputPath(cl::Positional, cl::desc("FILE|PROGRAM"),
                                      cl::cat(category));
static cl::opt<std::string>
    targetText("target", cl::cat(category), cl::value_desc("target"),
               cl::desc("cpu (the default), cpu:x86-64-v3, cuda, cuda:sm_90a "
                        "or reference"));
static cl::opt<int64_t> symbolSize("size", cl::init(512), cl::cat(category),
                                   cl::desc("The value of every `?`"));
static cl::opt<uint64_t> randomSeed("seed", cl::init(0), cl::cat(category),
                                    cl::desc("Seed of the random inputs"));
static cl::opt<bool>
    wantsCheck("check", cl::cat(category),
               cl::desc("Compare every result and gradient with the unfused "
                        "f64 reference"));
static cl::opt<std::string> timeText(
    "time", cl::ValueOptional, cl::cat(category), cl::value_desc("runs"),
    cl::desc("Time each kernel over that many runs, by default 20, slow ones "
             "over 3"));
static cl::opt<bool> wantsJSON("json", cl::cat(category),
                               cl::desc("Print one JSON object"));
static cl::opt<bool> listDevices("list-devices", cl::cat(category),
                                 cl::desc("Print the devices of this machine"));
static cl::opt<std::string>
    recipe("recipe", cl::init("none"), cl::cat(category),
           cl::desc("Quantization recipe of programs that carry none"));
static cl::opt<bool> generateProducts(
    "generate-products", cl::cat(category),
    cl::desc("Make kernels of contractions with what is computed of them, on "
             "sm_90a"));
static cl::opt<std::string>
    entryName("entry", cl::cat(category), cl::value_desc("name"),
              cl::desc("The fusible to run, where there is more than one"));
static cl::opt<std::string>
    schedulesPath("schedules", cl::cat(category), cl::value_desc("file"),
                  cl::desc("Measured schedules, as fuse-compile --tune writes "
                           "them"));
static cl::opt<std::string>
    sourcePath("source", cl::cat(category), cl::value_desc("file"),
               cl::desc("The source of PROGRAM, for --check"));

static constexpr int kDone = 0;
static constexpr int kFailed = 1;
static constexpr int kWrongUse = 2;
static constexpr int kDefaultRuns = 20;
static constexpr StringRef kMagic("FUSEOPS\0", 8);

/// Bytes of the copy that bandwidths are compared with: more than any cache.
static constexpr size_t kCopyBytesCUDA = size_t(1) << 30;
static constexpr size_t kCopyBytesCPU = size_t(1) << 27;

namespace {

/// What the command line asks for. A copy, because the linker within the
/// compiler resets all options of the process.
struct Job {
  std::string path, sourcePath, recipe, entry, schedules;
  TargetSpec target;
  bool namesTarget = false, namesChip = false;
  bool wantsCheck = false, wantsJSON = false, generateProducts = false;
  int64_t size = 0;
  uint64_t seed = 0;
  /// How often each kernel is timed; 0 is never.
  int repetitions = 0;
  std::string text;
  bool isProgram = false;
};

} // namespace

static int rejectUse(const llvm::Twine &reason) {
  llvm::errs() << "fuse-run: " << reason << "\n";
  return kWrongUse;
}

static int printDevices() {
  llvm::outs() << "cpu:0 " << getDeviceText(fuseopsDeviceArch, kDLCPU, 0) << " "
               << getChip(kDLCPU) << "\n";
  int32_t count = 0;
  if (fuseopsDeviceCount(kDLCUDA, &count) != FUSEOPS_OK)
    count = 0;
  for (int32_t i = 0; i < count; ++i)
    llvm::outs() << "cuda:" << i << " "
                 << getDeviceText(fuseopsDeviceArch, kDLCUDA, i) << " "
                 << getDeviceText(fuseopsDeviceName, kDLCUDA, i) << "\n";
  return kDone;
}

/// Compiles to a program. Errors and warnings are printed.
static Expected<std::string> compile(const Job &job, StringRef source,
                                     StringRef path, const TargetSpec &target) {
  CompileOptions options;
  options.target = target;
  options.recipe = job.recipe;
  options.entry = job.entry;
  options.schedules = job.schedules;
  options.generateProducts = job.generateProducts;
  Compiler compiler;
  auto result = compiler.compile(source, path, options);
  std::string messages = compiler.formatMessages();
  if (mlir::failed(result))
    return llvm::createStringError(StringRef(messages).trim().str());
  llvm::errs() << messages;
  return std::move(result->output);
}

/// The bandwidth of a copy within the device, in TB/s.
static Expected<double> measureCopy(int32_t deviceType) {
  bool isCUDA = deviceType == kDLCUDA;
  double tbps = 0;
  if (Error error = toError(fuseopsDeviceMeasureCopy(
          deviceType, 0, isCUDA ? kCopyBytesCUDA : kCopyBytesCPU, kDefaultRuns,
          &tbps)))
    return std::move(error);
  return tbps;
}

/// Compares with the reference, compiled from the source.
static Expected<CheckResult> check(const Job &job, const Session &session,
                                   const TrialInputs &inputs,
                                   const Trial &trial) {
  std::string source = job.text, path = job.path;
  if (job.isProgram) {
    path = job.sourcePath;
    auto file = llvm::MemoryBuffer::getFile(path);
    if (!file)
      return llvm::createStringError("cannot read `" + path +
                                     "`: " + file.getError().message());
    source = (*file)->getBuffer().str();
  }
  TargetSpec target = {TargetSpec::Reference, "native"};
  auto program = compile(job, source, path, target);
  if (!program)
    return program.takeError();
  auto reference = Session::load(*program, session.getSize());
  if (!reference)
    return reference.takeError();
  auto expected = runTrial(**reference, inputs);
  if (!expected)
    return expected.takeError();
  return compare(session, trial, **reference, *expected);
}

/// Runs the job; true if an asked check failed.
static Expected<bool> run(Job &job) {
  std::string program = job.text;
  if (!job.isProgram) {
    if (Error error = prepareTarget(job.target, job.namesChip))
      return std::move(error);
    auto compiled = compile(job, job.text, job.path, job.target);
    if (!compiled)
      return compiled.takeError();
    program = std::move(*compiled);
  }
  auto session = Session::load(program, job.size);
  if (!session)
    return session.takeError();
  StringRef targetName = fuseopsProgramTarget((*session)->getProgram());
  if (job.isProgram && job.namesTarget && job.target.getName() != targetName)
    return llvm::createStringError(
        "expected a program for `" + job.target.getName().str() +
        "`, but it was compiled for `" + targetName.str() + "`");
  if (Error error = checkMemory(**session))
    return std::move(error);
  auto inputs = makeInputs(**session, job.seed);
  if (!inputs)
    return inputs.takeError();
  auto trial = runTrial(**session, *inputs);
  if (!trial)
    return trial.takeError();
  RunReport report = {job.path, "", job.seed, **session, *trial, {}, {}};
  report.chip = getChip(fuseopsProgramDeviceType((*session)->getProgram()));
  if (job.wantsCheck) {
    auto result = check(job, **session, *inputs, *trial);
    if (!result)
      return result.takeError();
    report.check = std::move(*result);
  }
  if (job.repetitions) {
    if (Error error = timeTrial(**session, *trial, job.repetitions))
      return std::move(error);
    auto copy = measureCopy(fuseopsProgramDeviceType((*session)->getProgram()));
    if (!copy)
      return copy.takeError();
    report.copyTbps = *copy;
  }
  if (job.wantsJSON)
    printJSON(report, llvm::outs());
  else
    printTable(report, llvm::outs());
  return report.check && !report.check->isOk();
}

/// Reads the command line. Returns a reason if it is wrong.
static std::string readOptions(Job &job) {
  std::string error;
  if (inputPath.empty())
    return "expected a file to run, but got none";
  job.namesTarget = !targetText.empty();
  job.namesChip = StringRef(targetText).contains(':');
  auto target =
      TargetSpec::parse(job.namesTarget ? StringRef(targetText) : "cpu", error);
  if (mlir::failed(target))
    return error;
  job.target = *target;
  job.path = inputPath;
  job.sourcePath = sourcePath;
  job.recipe = recipe;
  job.entry = entryName;
  job.schedules = schedulesPath;
  job.generateProducts = generateProducts;
  job.wantsCheck = wantsCheck;
  job.wantsJSON = wantsJSON;
  job.size = symbolSize;
  job.seed = randomSeed;
  if (symbolSize < 0)
    return "expected a size of 0 or more, but got " +
           std::to_string(symbolSize);
  if (failed(verifyRecipe(recipe, error)))
    return error;
  if (timeText.getNumOccurrences()) {
    job.repetitions = kDefaultRuns;
    if (!timeText.empty() &&
        (StringRef(timeText).getAsInteger(10, job.repetitions) ||
         job.repetitions < 1))
      return "expected a number of runs to time, but got `" + timeText + "`";
  }
  return "";
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::setBugReportMsg("fuse-run crashed; scripts/bug_report.sh collects what "
                        "a report needs\n");
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "fuse-run " << FUSEOPS_VERSION << "\n";
  });
  if (!cl::ParseCommandLineOptions(
          argc, argv,
          "Runs a program of FuseOps or torch-mlir IR, or a compiled one, on "
          "random inputs\n",
          &llvm::errs()))
    return kWrongUse;
  if (listDevices)
    return printDevices();
  Job job;
  if (std::string reason = readOptions(job); !reason.empty())
    return rejectUse(reason);
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(inputPath);
  if (!file) {
    llvm::errs() << "error: cannot read `" << inputPath
                 << "`: " << file.getError().message() << "\n";
    return kFailed;
  }
  job.text = (*file)->getBuffer().str();
  job.isProgram = StringRef(job.text).starts_with(kMagic);
  if (job.isProgram && wantsCheck && sourcePath.empty())
    return rejectUse("--check of a compiled program needs its source: give "
                     "--source=FILE");
  Expected<bool> hasFailed = run(job);
  if (hasFailed)
    return *hasFailed ? kFailed : kDone;
  std::string reason = llvm::toString(hasFailed.takeError());
  // The compiler's messages say where and that they are errors.
  if (!StringRef(reason).contains("error: "))
    llvm::errs() << job.path << ": error: ";
  llvm::errs() << reason << "\n";
  return kFailed;
}
