//===- Tuning.cpp - Schedules of a program's kernels ----------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Compiler/Tuning.h"

#include "Codegen.h"

#include "FuseOps/Conversion/Schedules.h"
#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Target/CPU.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SHA256.h"

#define DEBUG_TYPE "fuseops-schedules"

using namespace mlir;
using namespace mlir::fuseops;

/// Runs `function` and puts the text of its errors into `text`.
static LogicalResult collectErrors(MLIRContext *context, std::string &text,
                                   function_ref<LogicalResult()> function) {
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    text += (text.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  return function();
}

FailureOr<std::string>
mlir::fuseops::resolveScheduleTarget(const TargetSpec &target,
                                     std::string &error) {
  if (target.isCUDA())
    return "cuda:" + target.arch;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  FailureOr<std::string> level;
  (void)collectErrors(&context, error, [&] {
    return level = resolveCPU(UnknownLoc::get(&context), target.arch);
  });
  if (failed(level))
    return failure();
  return "cpu:" + *level;
}

/// A program of one kernel: the group's inputs are its arguments, its outputs
/// the results, of which nobody wants a gradient.
static OwningOpRef<ModuleOp> isolateKernel(GroupOp group) {
  Location loc = group.getLoc();
  OpBuilder builder(group.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto fusible = FusibleOp::create(
      builder, loc, "kernel",
      builder.getFunctionType(group.getInputs().getTypes(),
                              group.getOutputs().getTypes()),
      /*arg_attrs=*/ArrayAttr(), /*sym_visibility=*/StringAttr(),
      llvm::to_vector(llvm::seq<int64_t>(0, group.getNumResults())),
      /*missing_gradients=*/ArrayRef<int64_t>(), /*symbol_min=*/IntegerAttr(),
      /*symbol_max=*/IntegerAttr());
  Block *body = builder.createBlock(&fusible.getForward());
  IRMapping mapping;
  for (Value input : group.getInputs())
    mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
  auto copy = cast<GroupOp>(builder.clone(*group, mapping));
  copy.setKernel("kernel");
  copy.removeScheduleAttr();
  ReturnOp::create(builder, loc, copy.getOutputs(), ValueRange());
  return module;
}

static std::string printModule(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  // Unlike `<<`, with the data of resources.
  module->print(stream);
  return text;
}

static std::string getKey(StringRef text) {
  std::array<uint8_t, 32> hash =
      llvm::SHA256::hash(arrayRefFromStringRef(text));
  return llvm::toHex(ArrayRef(hash).take_front(8), /*LowerCase=*/true);
}

static bool isTunable(GroupOp group) {
  return group.getKernelTemplate() != KernelTemplate::Library;
}

/// What people call it.
static std::string describe(GroupOp group) {
  std::string members;
  for (Operation &op : group.getBody().front().without_terminator()) {
    StringRef name = op.getName().stripDialect();
    if (!members.empty())
      members += " + ";
    members += name;
  }
  auto fusible = group->getParentOfType<FusibleOp>();
  return ("@" + group.getKernel() + " of @" + fusible.getSymName() + ", " +
          stringifyKernelTemplate(group.getKernelTemplate()) + ": " + members)
      .str();
}

static std::map<std::string, int64_t> toMap(DictionaryAttr schedule) {
  std::map<std::string, int64_t> map;
  for (NamedAttribute entry :
       schedule ? schedule.getValue() : ArrayRef<NamedAttribute>())
    map[entry.getName().str()] = cast<IntegerAttr>(entry.getValue()).getInt();
  return map;
}

static DictionaryAttr toAttribute(const std::map<std::string, int64_t> &map,
                                  MLIRContext *context) {
  Builder builder(context);
  SmallVector<NamedAttribute> entries;
  for (const auto &[key, value] : map)
    entries.push_back(
        builder.getNamedAttr(key, builder.getI64IntegerAttr(value)));
  return builder.getDictionaryAttr(entries);
}

FailureOr<std::vector<TunableKernel>>
mlir::fuseops::listTunableKernels(Compiler &compiler, StringRef source,
                                  StringRef name, const CompileOptions &options,
                                  int64_t size, unsigned limit) {
  CompileOptions plan = options;
  plan.emit = Emit::IR;
  plan.compileTo = Phase::Fusion;
  plan.schedules.clear();
  FailureOr<CompileResult> planned = compiler.compile(source, name, plan);
  if (failed(planned))
    return failure();
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto module =
      parseSourceString<ModuleOp>(planned->output, ParserConfig(&context));
  if (!module)
    return failure();
  FailureOr<KernelTarget> target =
      getKernelTarget(module->getLoc(), options.target);
  if (failed(target))
    return failure();
  std::vector<TunableKernel> kernels;
  llvm::StringSet<> keys;
  module->walk([&](GroupOp group) {
    if (!isTunable(group))
      return;
    OwningOpRef<ModuleOp> alone = isolateKernel(group);
    TunableKernel kernel{describe(group), getKey(printModule(*alone)), {}};
    if (!keys.insert(kernel.key).second)
      return;
    for (DictionaryAttr schedule : rankSchedules(group, *target, size, limit)) {
      alone->walk([&](GroupOp copy) { copy.setScheduleAttr(schedule); });
      kernel.candidates.push_back({toMap(schedule), printModule(*alone)});
    }
    kernels.push_back(std::move(kernel));
  });
  return kernels;
}

/// Checks the schedule that an entry gives to a group; an error says where it
/// is from.
static LogicalResult verifyEntry(GroupOp group, const KernelTarget &target,
                                 const ScheduleEntry &entry, StringRef path) {
  std::string reason;
  if (succeeded(collectErrors(group.getContext(), reason,
                              [&] { return verifySchedule(group, target); })))
    return success();
  return group.emitError()
         << "entry `" << entry.key << "` of `" << path
         << "` is refused: " << reason
         << "; measure it again with `fuse-compile --tune`, or remove "
            "it";
}

LogicalResult mlir::fuseops::applySchedules(ModuleOp module,
                                            const CompileOptions &options) {
  if (options.schedules.empty() || options.target.kind == TargetSpec::Reference)
    return success();
  llvm::Expected<ScheduleFile> file = ScheduleFile::load(options.schedules);
  if (!file)
    return emitError(UnknownLoc::get(module.getContext()))
           << llvm::toString(file.takeError());
  std::string reason;
  FailureOr<std::string> name = resolveScheduleTarget(options.target, reason);
  if (failed(name))
    return emitError(UnknownLoc::get(module.getContext())) << reason;
  FailureOr<KernelTarget> target =
      getKernelTarget(module.getLoc(), options.target);
  if (failed(target))
    return failure();
  WalkResult result = module.walk([&](GroupOp group) {
    // What is written in the program goes before the file.
    if (!isTunable(group) || group.getSchedule())
      return WalkResult::advance();
    std::string key = getKey(printModule(*isolateKernel(group)));
    const ScheduleEntry *entry = file->find(key, *name);
    remark::RemarkOpts about =
        remark::RemarkOpts::name("Schedule").category(DEBUG_TYPE);
    if (!entry) {
      remark::missed(group.getLoc(), about) << remark::reason(
          "`{0}` has no entry `{1}` for `{2}`: `@{3}` has the "
          "schedule that is chosen without",
          options.schedules, key, *name, group.getKernel());
      return WalkResult::advance();
    }
    remark::passed(group.getLoc(), about) << remark::reason(
        "`@{0}` has the schedule of entry `{1}`", group.getKernel(), key);
    if (entry->schedule.empty())
      return WalkResult::advance();
    group.setScheduleAttr(toAttribute(entry->schedule, module.getContext()));
    if (failed(verifyEntry(group, *target, *entry, options.schedules)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
