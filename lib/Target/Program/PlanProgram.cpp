//===- PlanProgram.cpp - The entries of a lowered fusible -----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DType.h"
#include "Workspace.h"

#include "FuseOps/Conversion/KernelToLLVM.h"
#include "FuseOps/Dialect/FuseOps/Contraction.h"
#include "FuseOps/Target/Program.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fuseops;

static SmallVector<Extent> getExtents(RankedTensorType type) {
  return llvm::map_to_vector(
      llvm::seq<unsigned>(type.getRank()),
      [&](unsigned dim) { return getExtent(type, dim); });
}

Extent ProgramTensor::getBytes() const {
  Extent bytes = {getElementBytes(elementType), 0};
  for (Extent extent : shape)
    bytes = multiply(bytes, extent);
  return bytes;
}

SmallVector<int> ProgramStep::getTensors() const {
  SmallVector<int> used(tensors);
  for (int index : {a, aScale, b, bScale, bias, out})
    if (index >= 0)
      used.push_back(index);
  return used;
}

namespace {

/// The constants of a program, each once.
class ConstantPlanner {
public:
  explicit ConstantPlanner(ProgramPlan &plan) : plan(plan) {}

  int add(ConstantOp op) {
    auto [it, isNew] = numbers.try_emplace(op.getValue(), numbers.size());
    if (isNew)
      plan.constants.push_back(op.getBytes());
    return it->second;
  }

private:
  ProgramPlan &plan;
  DenseMap<Attribute, int> numbers;
};

/// Plans one region.
class EntryPlanner {
public:
  EntryPlanner(FusibleOp fusible, StringRef name, llvm::StringSet<> &stepNames,
               ConstantPlanner &constants)
      : fusible(fusible), stepNames(stepNames), constants(constants) {
    entry.name = name.str();
  }

  /// `inputNames` are those of the block's arguments, `outputNames` those of
  /// the values that it returns and saves.
  FailureOr<ProgramEntry> plan(Block &block, ReturnOp returnOp,
                               ArrayRef<std::string> inputNames,
                               ArrayRef<std::string> outputNames);

private:
  FailureOr<int> addTensor(Value value, StringRef name, TensorRole role,
                           Location loc);
  LogicalResult checkSymbol();
  LogicalResult planOp(Operation &op);
  LogicalResult planReshape(ReshapeOp op);
  LogicalResult planConstant(ConstantOp op);
  LogicalResult planLaunch(LaunchOp op);
  LogicalResult planContraction(Operation *op, const Contraction &product);
  LogicalResult planScaledMatmul(ScaledMatmulOp op);
  ProgramStep startMatmul(Operation *op);
  LogicalResult addMatmul(Operation *op, ProgramStep &step);
  LogicalResult addOutput(Value value, StringRef name, Location loc);
  std::string makeUnique(StringRef name);
  void countFloor();
  int getRoot(int index) const {
    return entry.tensors[index].alias < 0 ? index : entry.tensors[index].alias;
  }

  FusibleOp fusible;
  llvm::StringSet<> &stepNames;
  ConstantPlanner &constants;
  ProgramEntry entry;
  DenseMap<Value, int> indices;
};

} // namespace

FailureOr<int> EntryPlanner::addTensor(Value value, StringRef name,
                                       TensorRole role, Location loc) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !getProgramDType(type.getElementType()))
    return emitError(loc) << "expected `" << name
                          << "` to be a tensor of a type that programs hold, "
                             "but got "
                          << value.getType();
  int index = entry.tensors.size();
  ProgramTensor &tensor = entry.tensors.emplace_back();
  tensor.name = name.str();
  tensor.elementType = type.getElementType();
  tensor.shape = getExtents(type);
  tensor.role = role;
  // A value that is returned twice keeps its first tensor.
  indices.try_emplace(value, index);
  return index;
}

std::string EntryPlanner::makeUnique(StringRef name) {
  std::string unique = name.str();
  for (unsigned i = 1; !stepNames.insert(unique).second; ++i)
    unique = (name + "_" + Twine(i)).str();
  return unique;
}

LogicalResult EntryPlanner::planReshape(ReshapeOp op) {
  int root = getRoot(indices.lookup(op.getInput()));
  // A copy: adding a tensor moves the ones before it.
  std::string name = entry.tensors[root].name;
  FailureOr<int> index =
      addTensor(op.getResult(), name, entry.tensors[root].role, op.getLoc());
  if (failed(index))
    return failure();
  entry.tensors[*index].alias = root;
  return success();
}

LogicalResult EntryPlanner::planConstant(ConstantOp op) {
  int number = constants.add(op);
  FailureOr<int> index =
      addTensor(op.getResult(), ("constant" + Twine(number)).str(),
                TensorRole::Constant, op.getLoc());
  if (failed(index))
    return failure();
  entry.tensors[*index].constant = number;
  return success();
}

LogicalResult EntryPlanner::planLaunch(LaunchOp op) {
  ProgramStep step(op.getLoc());
  step.kernel = op.getKernel().getLeafReference().str();
  step.name = makeUnique(step.kernel);
  step.templateName = stringifyKernelTemplate(op.getKernelTemplate()).str();
  for (StringRef member : op.getMembers().getAsValueRange<StringAttr>())
    step.members.push_back(member.str());
  step.bytes = Extent::fromArray(op.getBytes());
  if (!op.getFlops().empty())
    step.flops = Extent::fromArray(op.getFlops());
  entry.unfusedBytes =
      entry.unfusedBytes + Extent::fromArray(op.getUnfusedBytes());
  step.grid = {Extent::fromArray(op.getRows()),
               static_cast<int64_t>(op.getRowsPerWorker()),
               static_cast<int64_t>(op.getMaxWorkers())};
  step.threadsX = op.getThreadsX();
  step.threadsY = op.getThreadsY();
  step.sharedBytes = op.getSharedBytes();
  step.maps = llvm::to_vector(op.getMaps().getAsRange<TensorMapAttr>());
  Operation *kernel =
      SymbolTable::lookupNearestSymbolFrom(op, op.getKernelAttr());
  step.startsEarly = kernel && kernel->hasAttr(kStartsEarlyAttr);
  // A grid of no rows has no workers, whatever else it says.
  step.countGrid = {Extent::fromArray(op.getCountRows()),
                    static_cast<int64_t>(op.getCountRowsPerWorker()),
                    std::max<int64_t>(1, op.getCountMaxWorkers())};
  for (Value input : op.getInputs())
    step.tensors.push_back(indices.lookup(input));
  for (auto [position, output] : llvm::enumerate(op.getOutputs())) {
    FailureOr<int> index =
        addTensor(output, (step.name + "." + Twine(position)).str(),
                  TensorRole::Workspace, op.getLoc());
    if (failed(index))
      return failure();
    step.tensors.push_back(*index);
  }
  entry.steps.push_back(std::move(step));
  return success();
}

ProgramStep EntryPlanner::startMatmul(Operation *op) {
  ProgramStep step(op->getLoc());
  StringRef mnemonic = op->getName().stripDialect();
  step.name = makeUnique(entry.name + "_" + mnemonic.str());
  step.templateName = stringifyKernelTemplate(KernelTemplate::Library).str();
  step.members.push_back(op->getName().getStringRef().str());
  return step;
}

LogicalResult EntryPlanner::addMatmul(Operation *op, ProgramStep &step) {
  FailureOr<int> out = addTensor(op->getResult(0), step.name,
                                 TensorRole::Workspace, op->getLoc());
  if (failed(out))
    return failure();
  step.out = *out;
  for (int index : step.getTensors())
    step.bytes = step.bytes + entry.tensors[index].getBytes();
  step.flops = multiply(multiply(multiply(step.m, step.n), step.k), {2, 0});
  entry.unfusedBytes = entry.unfusedBytes + step.bytes;
  entry.steps.push_back(std::move(step));
  return success();
}

LogicalResult EntryPlanner::planContraction(Operation *op,
                                            const Contraction &product) {
  for (Value operand : op->getOperands())
    if (!isa<RankedTensorType>(operand.getType()))
      return op->emitError()
             << "expected plain tensors, but got " << operand.getType();
  ProgramStep step = startMatmul(op);
  // An operand of higher rank is the matrix of its rows.
  auto lhsType = cast<RankedTensorType>(product.lhs.getType());
  auto rhsType = cast<RankedTensorType>(product.rhs.getType());
  Extent lhsRows = getNumElements(lhsType, 1),
         lhsColumns = {getColumns(lhsType), 0};
  Extent rhsRows = getNumElements(rhsType, 1),
         rhsColumns = {getColumns(rhsType), 0};
  step.m = product.transposeLhs ? lhsColumns : lhsRows;
  step.k = product.transposeLhs ? lhsRows : lhsColumns;
  step.n = product.transposeRhs ? rhsRows : rhsColumns;
  step.transposeA = product.transposeLhs;
  step.transposeB = product.transposeRhs;
  step.a = indices.lookup(product.lhs);
  step.b = indices.lookup(product.rhs);
  if (product.bias)
    step.bias = indices.lookup(product.bias);
  return addMatmul(op, step);
}

LogicalResult EntryPlanner::planScaledMatmul(ScaledMatmulOp op) {
  for (ScaleKind kind : {op.getLhsScale(), op.getRhsScale()})
    if (kind == ScaleKind::MX1x32)
      return op.emitError() << "expected scales that a library multiplies, but "
                               "got `"
                            << stringifyScaleKind(kind) << "`";
  ProgramStep step = startMatmul(op);
  step.m = getExtent(op.getLhs().getType(), 0);
  step.k = getExtent(op.getLhs().getType(), 1);
  step.n = getExtent(op.getRhs().getType(), 0);
  step.transposeB = true;
  step.a = indices.lookup(op.getLhs());
  step.b = indices.lookup(op.getRhs());
  step.aScale = indices.lookup(op.getLhsScaleInv());
  step.bScale = indices.lookup(op.getRhsScaleInv());
  step.aScaleKind = op.getLhsScale();
  step.bScaleKind = op.getRhsScale();
  step.fastAccumulate = op.getFastAccumulate();
  if (op.getBias())
    step.bias = indices.lookup(op.getBias());
  return addMatmul(op, step);
}

LogicalResult EntryPlanner::planOp(Operation &op) {
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return planReshape(reshape);
  if (auto constant = dyn_cast<ConstantOp>(op))
    return planConstant(constant);
  if (auto launch = dyn_cast<LaunchOp>(op))
    return planLaunch(launch);
  if (std::optional<Contraction> product = Contraction::get(&op))
    return planContraction(&op, *product);
  if (auto scaled = dyn_cast<ScaledMatmulOp>(op))
    return planScaledMatmul(scaled);
  return op.emitError() << "expected a lowered program of launches, library "
                           "calls and reshapes, but got `"
                        << op.getName() << "`";
}

LogicalResult EntryPlanner::addOutput(Value value, StringRef name,
                                      Location loc) {
  if (!value) {
    entry.outputs.push_back(-1);
    return success();
  }
  int root = getRoot(indices.lookup(value));
  ProgramTensor &storage = entry.tensors[root];
  if (storage.role == TensorRole::Workspace) {
    storage.role = TensorRole::Output;
    storage.name = name.str();
    storage.shape = getExtents(cast<RankedTensorType>(value.getType()));
    entry.outputs.push_back(root);
    return success();
  }
  if (storage.role == TensorRole::Constant)
    return emitError(loc) << "expected `" << name
                          << "` to be computed, but it is a constant";
  // An input, or an earlier output: the caller has it already.
  FailureOr<int> index = addTensor(value, name, TensorRole::Output, loc);
  if (failed(index))
    return failure();
  entry.tensors[*index].alias = root;
  entry.outputs.push_back(*index);
  return success();
}

/// A run takes the symbol from its inputs, and a number of blocks does not tell
/// it.
LogicalResult EntryPlanner::checkSymbol() {
  auto hasExtent = [&](function_ref<bool(const Extent &)> test) {
    return llvm::any_of(entry.inputs, [&](int index) {
      return llvm::any_of(entry.tensors[index].shape, test);
    });
  };
  bool hasBlocks = hasExtent([](const Extent &extent) {
    return extent.perBlock32 || extent.perBlock128;
  });
  if (!hasBlocks ||
      hasExtent([](const Extent &extent) { return extent.perSymbol != 0; }))
    return success();
  return fusible.emitError()
         << "expected entry `" << entry.name
         << "` to have an input with `?` rows beside those that count blocks "
            "of rows";
}

/// Each input that is read once, and each output that is written once.
void EntryPlanner::countFloor() {
  llvm::DenseSet<int> counted;
  for (const ProgramStep &step : entry.steps) {
    for (int index : step.getTensors()) {
      int root = getRoot(index);
      if (entry.tensors[root].role != TensorRole::Workspace &&
          counted.insert(root).second)
        entry.floorBytes = entry.floorBytes + entry.tensors[root].getBytes();
    }
  }
}

FailureOr<ProgramEntry> EntryPlanner::plan(Block &block, ReturnOp returnOp,
                                           ArrayRef<std::string> inputNames,
                                           ArrayRef<std::string> outputNames) {
  for (auto [argument, name] :
       llvm::zip_equal(block.getArguments(), inputNames)) {
    FailureOr<int> index =
        addTensor(argument, name, TensorRole::Input, fusible.getLoc());
    if (failed(index))
      return failure();
    entry.inputs.push_back(*index);
  }
  if (failed(checkSymbol()))
    return failure();
  for (Operation &op : block.without_terminator())
    if (failed(planOp(op)))
      return failure();
  SmallVector<Value> outputs = returnOp.getValuesOrNull();
  entry.numResults = outputs.size();
  llvm::append_range(outputs, returnOp.getSaved());
  for (auto [value, name] : llvm::zip_equal(outputs, outputNames))
    if (failed(addOutput(value, name, returnOp.getLoc())))
      return failure();
  for (ProgramTensor &tensor : entry.tensors)
    if (tensor.alias >= 0 && tensor.role == TensorRole::Workspace)
      tensor.role = entry.tensors[tensor.alias].role;
  planWorkspace(entry);
  countFloor();
  return std::move(entry);
}

/// The argument's name in the source, where its location tells it.
static std::string getArgumentName(BlockArgument argument) {
  auto loc = dyn_cast<NameLoc>(argument.getLoc());
  StringRef name = loc ? loc.getName().getValue() : StringRef();
  if (!name.empty() && llvm::all_of(name, [](char c) {
        return llvm::isAlnum(c) || c == '_' || c == '.';
      }))
    return name.str();
  return "arg" + std::to_string(argument.getArgNumber());
}

static SmallVector<std::string> getArgumentNames(FusibleOp fusible) {
  return llvm::map_to_vector(fusible.getForward().getArguments(),
                             getArgumentName);
}

/// `prefix0`, `prefix1`, ….
static SmallVector<std::string> makeNames(StringRef prefix, size_t count) {
  SmallVector<std::string> names;
  for (size_t i = 0; i < count; ++i)
    names.push_back((prefix + Twine(i)).str());
  return names;
}

FailureOr<ProgramPlan> mlir::fuseops::planProgram(FusibleOp fusible,
                                                  FusibleOp prepare) {
  ProgramPlan plan;
  plan.name = fusible.getSymName().str();
  plan.symbolMin = fusible.getSymbolMin().value_or(0);
  plan.symbolMax = fusible.getSymbolMax().value_or(INT64_MAX);
  llvm::StringSet<> stepNames;
  ConstantPlanner constants(plan);

  SmallVector<std::string> arguments = getArgumentNames(fusible);
  SmallVector<std::string> results =
      makeNames("result", fusible.getResultTypes().size());
  SmallVector<std::string> saved =
      makeNames("saved", fusible.getForwardReturn().getSaved().size());
  SmallVector<std::string> gradients;
  for (auto [index, name] : llvm::enumerate(results))
    if (fusible.resultHasGradient(index))
      gradients.push_back("grad_" + name);

  SmallVector<std::string> outputs(results);
  llvm::append_range(outputs, saved);
  FailureOr<ProgramEntry> forward =
      EntryPlanner(fusible, "forward", stepNames, constants)
          .plan(fusible.getForward().front(), fusible.getForwardReturn(),
                arguments, outputs);
  if (failed(forward))
    return failure();
  plan.entries.push_back(std::move(*forward));
  if (fusible.hasBackward()) {
    SmallVector<std::string> inputs(gradients);
    llvm::append_range(inputs, saved);
    for (std::string &name : arguments)
      name = "grad_" + name;
    FailureOr<ProgramEntry> backward =
        EntryPlanner(fusible, "backward", stepNames, constants)
            .plan(fusible.getBackward().front(), fusible.getBackwardReturn(),
                  inputs, arguments);
    if (failed(backward))
      return failure();
    backward->numGradients = gradients.size();
    plan.entries.push_back(std::move(*backward));
  }
  if (prepare) {
    FailureOr<ProgramEntry> entry =
        EntryPlanner(prepare, "prepare", stepNames, constants)
            .plan(prepare.getForward().front(), prepare.getForwardReturn(),
                  getArgumentNames(prepare),
                  makeNames("result", prepare.getResultTypes().size()));
    if (failed(entry))
      return failure();
    plan.entries.push_back(std::move(*entry));
  }
  return plan;
}
