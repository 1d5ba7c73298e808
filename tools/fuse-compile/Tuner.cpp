//===- Tuner.cpp - Measures the schedules of a program's kernels ----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuner.h"

#include "Check.h"
#include "Machine.h"

#include "FuseOps/Compiler/Tuning.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fuseops;
using namespace fuserun;
using llvm::Error;
using llvm::Expected;

namespace json = llvm::json;

/// Runs go around buffers of at least so many bytes: more than any cache, so
/// that each run reads memory.
static constexpr int64_t kRotatedBytesCUDA = int64_t(1) << 29;
static constexpr int64_t kRotatedBytesCPU = int64_t(1) << 27;
static constexpr int64_t kMostSets = 64;

static constexpr int32_t kWarmUpRuns = 3;
static constexpr int32_t kRuns = 21;
// Kernels that take more microseconds than this are run less often.
static constexpr double kSlowRun = 1e5;
static constexpr int32_t kSlowRuns = 5;

/// By how much a schedule has to beat the compiler's own choice: less is noise.
static constexpr double kLeastGain = 0.02;

/// Of random inputs, where the first ones gave other results.
static constexpr uint64_t kSeeds = 3;

namespace {

/// A candidate that compiled and was right so far.
struct Contender {
  const TunableKernel::Candidate *candidate;
  std::string program;
  /// The median at each size.
  std::vector<double> microseconds = {};
};

/// Measures the candidates of one kernel.
class KernelTuner {
public:
  KernelTuner(const TuneJob &job, const TunableKernel &kernel,
              llvm::raw_ostream &os)
      : job(job), kernel(kernel), os(os) {}

  Error run(ScheduleEntry &entry);
  bool isSound() const { return sound; }

private:
  Error compile();
  Error measure(int64_t size);
  Expected<std::string> findFault(const Session &session,
                                  const Session &byDefault);
  Error timeRuns(ArrayRef<std::unique_ptr<Session>> sessions,
                 ArrayRef<Trial> sets);
  void refuse(const TunableKernel::Candidate &candidate, const Twine &reason);

  const TuneJob &job;
  const TunableKernel &kernel;
  llvm::raw_ostream &os;
  std::vector<Contender> contenders;
  bool sound = true;
};

} // namespace

static std::string format(const std::map<std::string, int64_t> &schedule) {
  if (schedule.empty())
    return "default";
  std::string text;
  for (const auto &[key, value] : schedule)
    text += (text.empty() ? "{" : ", ") + key + " = " + std::to_string(value);
  return text + "}";
}

/// Bytes that the kernels of a report spill, as the assembler says.
static int64_t countSpilledBytes(StringRef report) {
  Expected<json::Value> value = json::parse(report);
  if (!value) {
    llvm::consumeError(value.takeError());
    return 0;
  }
  int64_t bytes = 0;
  const json::Array *entries = value->getAsObject()->getArray("entries");
  for (const json::Value &entry : *entries)
    for (const json::Value &step : *entry.getAsObject()->getArray("kernels"))
      bytes += step.getAsObject()->getInteger("spill_bytes").value_or(0);
  return bytes;
}

/// A schedule that the compiler offers and that doesn't work is its fault.
void KernelTuner::refuse(const TunableKernel::Candidate &candidate,
                         const Twine &reason) {
  sound = false;
  os << "  " << format(candidate.schedule) << ": " << reason << "\n";
}

Error KernelTuner::compile() {
  CompileOptions options;
  options.target = job.options.target;
  for (const TunableKernel::Candidate &candidate : kernel.candidates) {
    Compiler compiler;
    FailureOr<CompileResult> result =
        compiler.compile(candidate.source, kernel.name, options);
    if (succeeded(result)) {
      int64_t spilled = countSpilledBytes(result->report);
      // The default runs whatever it does.
      if (spilled && !contenders.empty())
        os << "  " << format(candidate.schedule) << ": spills " << spilled
           << " bytes, not measured\n";
      else
        contenders.push_back({&candidate, std::move(result->output)});
      continue;
    }
    std::string reason = StringRef(compiler.formatMessages()).trim().str();
    // Without the default there is nothing to compare with.
    if (contenders.empty())
      return llvm::createStringError(reason);
    refuse(candidate, "does not compile: " + reason);
  }
  return Error::success();
}

/// Whether two runs of a program gave the same bits.
static Expected<bool> areEqual(const Session &session, const Trial &a,
                               const Trial &b) {
  for (auto [left, right] :
       llvm::zip_equal(a.entries[0].outputs, b.entries[0].outputs)) {
    if (left.info.is_none)
      continue;
    Expected<HostTensor> x = session.download(left);
    if (!x)
      return x.takeError();
    Expected<HostTensor> y = session.download(right);
    if (!y)
      return y.takeError();
    if (x->bytes != y->bytes)
      return false;
  }
  return true;
}

/// Why a candidate's results are wrong; empty if they aren't. They are the same
/// in every run, bit by bit. From the default's they may differ by rounding,
/// and where a value is rounded to the other side of a step, such as a scale
/// that is a power of two, by more: but not with other numbers again.
Expected<std::string> KernelTuner::findFault(const Session &session,
                                             const Session &byDefault) {
  std::string fault;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Expected<TrialInputs> inputs = makeInputs(byDefault, seed);
    if (!inputs)
      return inputs.takeError();
    Expected<Trial> expected = runTrial(byDefault, *inputs);
    if (!expected)
      return expected.takeError();
    Expected<Trial> found = runTrial(session, *inputs);
    if (!found)
      return found.takeError();
    Expected<Trial> again = runTrial(session, *inputs);
    if (!again)
      return again.takeError();
    Expected<bool> isSame = areEqual(session, *found, *again);
    if (!isSame)
      return isSame.takeError();
    if (!*isSame)
      return "two runs differ";
    Expected<CheckResult> result =
        compare(session, *found, byDefault, *expected);
    if (!result)
      return result.takeError();
    if (result->isOk())
      return "";
    auto wrong = llvm::find_if(result->tensors, [](const Comparison &tensor) {
      return !tensor.isOk();
    });
    fault = llvm::formatv("`{0}` differs from the default's by {1:e2}, more "
                          "than {2:e2}",
                          wrong->name, wrong->error, wrong->tolerance);
  }
  return fault;
}

/// One run of each contender after the other, so that what disturbs the machine
/// disturbs all, and each on the buffers that were used longest ago.
Error KernelTuner::timeRuns(ArrayRef<std::unique_ptr<Session>> sessions,
                            ArrayRef<Trial> sets) {
  std::vector<std::shared_ptr<DeviceBuffer>> workspaces;
  for (const std::unique_ptr<Session> &session : sessions) {
    auto workspace = session->allocateWorkspace(sets[0].entries[0].index);
    if (!workspace)
      return workspace.takeError();
    workspaces.push_back(*workspace);
  }
  std::vector<std::vector<double>> samples(sessions.size());
  int32_t runs = kRuns;
  size_t set = 0;
  for (int32_t run = -kWarmUpRuns; run < runs; ++run)
    for (size_t i = 0; i < sessions.size(); ++i) {
      const Trial::Entry &buffers = sets[set++ % sets.size()].entries[0];
      Expected<double> time = sessions[i]->profile(
          buffers.index, buffers.inputs, buffers.outputs, *workspaces[i]);
      if (!time)
        return time.takeError();
      if (run < 0 && *time > kSlowRun)
        runs = kSlowRuns;
      if (run >= 0)
        samples[i].push_back(*time);
    }
  for (auto [contender, sample] : llvm::zip_equal(contenders, samples)) {
    auto middle = sample.begin() + sample.size() / 2;
    std::nth_element(sample.begin(), middle, sample.end());
    contender.microseconds.push_back(*middle);
  }
  return Error::success();
}

Error KernelTuner::measure(int64_t size) {
  std::vector<std::unique_ptr<Session>> sessions;
  for (const Contender &contender : contenders) {
    auto session = Session::load(contender.program, size);
    if (!session)
      return session.takeError();
    sessions.push_back(std::move(*session));
  }
  if (Error error = checkMemory(*sessions[0]))
    return error;
  Expected<TrialInputs> inputs = makeInputs(*sessions[0], /*seed=*/0);
  if (!inputs)
    return inputs.takeError();
  int64_t bytes, unfused;
  sessions[0]->getTraffic(sessions[0]->findEntry("forward"), bytes, unfused);
  int64_t rotated =
      job.options.target.isCUDA() ? kRotatedBytesCUDA : kRotatedBytesCPU;
  int64_t numSets = std::clamp<int64_t>(
      1 + rotated / std::max<int64_t>(1, bytes), 2, kMostSets);
  std::vector<Trial> sets;
  for (int64_t i = 0; i < numSets; ++i) {
    Expected<Trial> trial = runTrial(*sessions[0], *inputs);
    if (!trial)
      return trial.takeError();
    sets.push_back(std::move(*trial));
  }
  for (size_t i = sessions.size(); i-- > 1;) {
    Expected<std::string> fault = findFault(*sessions[i], *sessions[0]);
    if (!fault)
      return fault.takeError();
    if (fault->empty())
      continue;
    refuse(*contenders[i].candidate, "at size " + Twine(size) + ": " + *fault);
    sessions.erase(sessions.begin() + i);
    contenders.erase(contenders.begin() + i);
  }
  return timeRuns(sessions, sets);
}

/// The geometric mean over the sizes of the time relative to the default's.
static double rate(const Contender &contender, const Contender &byDefault) {
  double sum = 0;
  for (auto [time, reference] :
       llvm::zip_equal(contender.microseconds, byDefault.microseconds))
    sum += std::log(time / reference);
  return std::exp(sum / static_cast<double>(contender.microseconds.size()));
}

Error KernelTuner::run(ScheduleEntry &entry) {
  if (Error error = compile())
    return error;
  for (int64_t size : job.sizes)
    if (Error error = measure(size))
      return error;
  const Contender *best = &contenders.front();
  for (const Contender &contender : contenders)
    if (rate(contender, contenders.front()) <
        rate(*best, contenders.front()) -
            (best == &contenders.front() ? kLeastGain : 0))
      best = &contender;
  for (const Contender &contender : contenders) {
    os << "  " << format(contender.candidate->schedule) << ":";
    for (double time : contender.microseconds)
      os << " " << llvm::formatv("{0:F1}", time);
    os << " us" << (&contender == best ? ", chosen" : "") << "\n";
  }
  entry.schedule = best->candidate->schedule;
  entry.sizes = job.sizes;
  entry.microseconds = best->microseconds;
  entry.defaultMicroseconds = contenders.front().microseconds;
  return Error::success();
}

/// The file's entries, none if it is still to be written.
static Expected<ScheduleFile> loadOrCreate(StringRef path) {
  if (!llvm::sys::fs::exists(path))
    return ScheduleFile();
  return ScheduleFile::load(path);
}

/// Writes a temporary file that is renamed: no reader sees half of it.
static Error write(const ScheduleFile &file, StringRef path) {
  return llvm::writeToOutput(path, [&](raw_ostream &os) {
    os << file.format();
    return Error::success();
  });
}

/// The kernels of the job's program.
static Expected<std::vector<TunableKernel>> listKernels(const TuneJob &job) {
  auto source = llvm::MemoryBuffer::getFileOrSTDIN(job.path);
  if (!source)
    return llvm::createStringError("cannot read `" + job.path +
                                   "`: " + source.getError().message());
  Compiler compiler;
  auto kernels = listTunableKernels(compiler, (*source)->getBuffer(), job.path,
                                    job.options, *llvm::max_element(job.sizes),
                                    job.numCandidates);
  if (failed(kernels))
    return llvm::createStringError(
        StringRef(compiler.formatMessages()).trim().str());
  return *kernels;
}

Expected<bool> mlir::fuseops::listSchedules(const TuneJob &job,
                                            llvm::raw_ostream &os) {
  auto kernels = listKernels(job);
  if (!kernels)
    return kernels.takeError();
  for (const TunableKernel &kernel : *kernels) {
    os << kernel.name << " (" << kernel.key << ")\n";
    for (const TunableKernel::Candidate &candidate : kernel.candidates)
      os << "  " << format(candidate.schedule) << "\n";
  }
  return true;
}

Expected<bool> mlir::fuseops::tune(TuneJob job, llvm::raw_ostream &os) {
  if (Error error = prepareTarget(job.options.target, job.namesChip))
    return std::move(error);
  auto kernels = listKernels(job);
  if (!kernels)
    return kernels.takeError();
  Expected<ScheduleFile> file = loadOrCreate(job.options.schedules);
  if (!file)
    return file.takeError();
  std::string reason;
  FailureOr<std::string> target =
      resolveScheduleTarget(job.options.target, reason);
  if (failed(target))
    return llvm::createStringError(reason);
  std::string device = getChip(job.options.target.isCUDA() ? kDLCUDA : kDLCPU);
  bool isSound = true;
  for (const TunableKernel &kernel : *kernels) {
    os << kernel.name << " (" << kernel.key << ")";
    const ScheduleEntry *known = file->find(kernel.key, *target);
    if (known && known->device == device && known->sizes == job.sizes) {
      os << ": measured before, " << format(known->schedule) << "\n";
      continue;
    }
    os << "\n";
    os.flush();
    KernelTuner tuner(job, kernel, os);
    ScheduleEntry entry;
    entry.key = kernel.key;
    entry.target = *target;
    entry.kernel = kernel.name;
    entry.device = device;
    if (Error error = tuner.run(entry))
      return llvm::joinErrors(
          llvm::createStringError("cannot measure " + kernel.name),
          std::move(error));
    isSound &= tuner.isSound();
    file->set(std::move(entry));
    // After each kernel: what was measured isn't lost.
    if (Error error = write(*file, job.options.schedules))
      return std::move(error);
  }
  return isSound;
}
