//===- FuseOpsToKernels.cpp - Turns groups into kernels and a launch plan ===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Conversion/Passes.h"
#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "GemmKernel.h"
#include "GroupedKernel.h"
#include "KeptRow.h"
#include "KernelEmitter.h"
#include "KernelGroup.h"
#include "PartialResults.h"
#include "RowRing.h"
#include "Schedule.h"
#include "ScheduleTemplates.h"
#include "TileLayout.h"
#include "TileRing.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "convert-fuseops-to-kernels"

namespace mlir::fuseops {
#define GEN_PASS_DEF_CONVERTFUSEOPSTOKERNELSPASS
#include "FuseOps/Conversion/Passes.h.inc"
} // namespace mlir::fuseops

using namespace mlir;
using namespace mlir::fuseops;

namespace {
Extent sizeOf(Value value) {
  return getNumBytes(cast<RankedTensorType>(value.getType()));
}

/// What a step reads and writes, each tensor once; of those in `reads` a part.
Extent
bytesOf(ValueRange inputs, ValueRange outputs,
        const DenseMap<Value, Extent> &reads = DenseMap<Value, Extent>()) {
  llvm::SmallSetVector<Value, 8> tensors(inputs.begin(), inputs.end());
  tensors.insert(outputs.begin(), outputs.end());
  Extent bytes;
  for (Value value : tensors) {
    auto part = reads.find(value);
    bytes = bytes + (part != reads.end() ? part->second : sizeOf(value));
  }
  return bytes;
}

/// The part of an argument of a group that the group reads: its slices, where
/// there is nothing else and they are no more than all of it.
Extent bytesRead(BlockArgument argument) {
  Extent whole = sizeOf(argument);
  Extent slices;
  for (Operation *user : argument.getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice || slice.getStep() != 1)
      return whole;
    slices = slices + sizeOf(slice);
  }
  bool isLess = slices.constant <= whole.constant &&
                slices.getGrowth() <= whole.getGrowth();
  return isLess ? slices : whole;
}

/// Lowers one group to one launch, or to a launch and its finalize launches.
class GroupLowering {
public:
  GroupLowering(GroupOp group, ModuleOp kernels, const KernelTarget &target,
                bool roundIntermediates)
      : group(group), kernels(kernels), target(target),
        device(target.isCUDA() ? KernelDevice::CUDA : KernelDevice::CPU),
        roundIntermediates(roundIntermediates), rewriter(group.getContext()) {}

  LogicalResult run();

private:
  LogicalResult lowerLibraryGroup();
  void lowerGroupedProduct(GroupedMatmulOp op);
  LogicalResult lowerKernelGroup();
  void describeGemm(const KernelGroup &body, const Schedule &schedule,
                    LaunchOp op);
  Value makeTickets();
  std::string makeUnique(const Twine &name);
  StringRef nameKernel();
  LogicalResult verifyTemplate(const KernelGroup &body);
  LaunchOp launch(Operation *kernel, KernelTemplate kernelTemplate,
                  TypeRange types, ValueRange inputs, const Schedule &schedule,
                  Extent rows);
  LogicalResult finalize(const KernelGroup &body, LaunchOp producer,
                         const Schedule &schedule, ValueRange partials,
                         SmallVectorImpl<Value> &results);

  GroupOp group;
  ModuleOp kernels;
  KernelTarget target;
  KernelDevice device;
  bool roundIntermediates;
  IRRewriter rewriter;
  std::string kernelName;
  SmallVector<StringRef> members;
  Extent unfusedBytes;
  /// What the group reads of its inputs.
  DenseMap<Value, Extent> reads;
};
} // namespace

LogicalResult GroupLowering::run() {
  for (Operation &op : group.getBody().front().without_terminator()) {
    for (Type type :
         llvm::concat<const Type>(llvm::to_vector(op.getOperandTypes()),
                                  llvm::to_vector(op.getResultTypes())))
      if (!isa<RankedTensorType>(type))
        return op.emitOpError()
               << "expected only ranked tensors in a group, but got " << type;
    if (isa<ReshapeOp>(op))
      continue;
    members.push_back(op.getName().getStringRef());
    // Op by op these are views, as they are in eager execution.
    if (!isa<SliceOp, PermuteOp, ExpandOp, ExpandBlocksOp>(op) &&
        !op.hasAttr(kRecomputedAttr))
      unfusedBytes = unfusedBytes + bytesOf(op.getOperands(), op.getResults());
  }
  for (auto [argument, input] : llvm::zip_equal(
           group.getBody().front().getArguments(), group.getInputs())) {
    auto [read, isFirst] = reads.try_emplace(input, bytesRead(argument));
    if (!isFirst)
      read->second = sizeOf(input);
  }
  return group.getKernelTemplate() == KernelTemplate::Library
             ? lowerLibraryGroup()
             : lowerKernelGroup();
}

/// A grouped product is a kernel of its own: the library would want the sizes
/// on the host.
void GroupLowering::lowerGroupedProduct(GroupedMatmulOp op) {
  OpBuilder builder = OpBuilder::atBlockEnd(kernels.getBody());
  func::FuncOp kernel = emitGroupedKernel(op, device, nameKernel(), builder);
  Extent rows = getNumElements(op.getType(), 1);
  // One pointer for each operand, of which two may be one input.
  SmallVector<Value> inputs;
  for (Value operand : op.getOperands())
    inputs.push_back(
        group.getInputs()[cast<BlockArgument>(operand).getArgNumber()]);
  rewriter.setInsertionPoint(group);
  LaunchOp call =
      launch(kernel, group.getKernelTemplate(), group.getResultTypes(), inputs,
             getGroupedSchedule(device), rows);
  call.setCountRows(
      getNumElements(cast<RankedTensorType>(op.getLhs().getType()), 1)
          .asArray());
  // The most that the runtime counts; there are no more rows to contract.
  call.setCountMaxWorkers(std::numeric_limits<int32_t>::max());
  rewriter.replaceOp(group, call.getOutputs());
}

LogicalResult GroupLowering::lowerLibraryGroup() {
  Block &body = group.getBody().front();
  Operation &op = body.front();
  if (isa<AllReduceOp, AllGatherOp, ReduceScatterOp>(op))
    return op.emitOpError() << "communicates between processes, which needs a "
                               "distributed runtime that this build lacks";
  if (!llvm::hasSingleElement(body.without_terminator()) ||
      !isa<LinearOp, MatmulOp, GroupedMatmulOp, ScaledMatmulOp>(op))
    return group.emitOpError() << "expected one contraction in a group of "
                                  "template `library`";
  if (isa<ScaledMatmulOp>(op) && device != KernelDevice::CUDA)
    return op.emitOpError() << "expected target `cuda`, the only one that "
                               "multiplies FP8";
  if (auto grouped = dyn_cast<GroupedMatmulOp>(op)) {
    lowerGroupedProduct(grouped);
    return success();
  }
  rewriter.setInsertionPoint(group);
  IRMapping mapping;
  mapping.map(body.getArguments(), group.getInputs());
  Operation *call = rewriter.clone(op, mapping);
  rewriter.replaceOp(group, call->getResults());
  return success();
}

/// A name that no kernel has yet: each program of the module numbers its
/// kernels from 0, and who edits a plan may give two groups one name.
std::string GroupLowering::makeUnique(const Twine &name) {
  std::string base = name.str();
  if (!kernels.lookupSymbol(base))
    return base;
  base = (group->getParentOfType<FusibleOp>().getSymName() + "_" + base).str();
  std::string unique = base;
  for (unsigned i = 1; kernels.lookupSymbol(unique); ++i)
    unique = (base + "_" + Twine(i)).str();
  return unique;
}

StringRef GroupLowering::nameKernel() {
  kernelName = makeUnique(group.getKernel());
  return kernelName;
}

/// The template that was written down has to be able to do what the group does.
LogicalResult GroupLowering::verifyTemplate(const KernelGroup &body) {
  KernelTemplate needed = KernelTemplate::Pointwise;
  if (body.getNumLevels() > 1)
    needed = KernelTemplate::Row;
  if (!body.getRowReductions().empty())
    needed = KernelTemplate::RowColumn;
  for (Operation *op : body.getRowOps())
    if (BlockShape shape = body.getBlocksOf(op); shape.isVisited())
      needed = std::max(needed, shape.rows == 1 ? KernelTemplate::Row
                                                : KernelTemplate::Tile);
  KernelTemplate given = group.getKernelTemplate();
  if (given == KernelTemplate::Finalize || given < needed)
    return group.emitOpError()
           << "expected template `" << stringifyKernelTemplate(needed)
           << "`, which its operations need, but got `"
           << stringifyKernelTemplate(given) << "`";
  if (given != KernelTemplate::Tile)
    return success();
  for (const Store &store : body.getStores()) {
    auto type = cast<RankedTensorType>(store.value.getType());
    if (body.getPlacement(store.value) == Placement::Full &&
        getColumns(type) != body.getSpace().columns)
      return group.emitOpError()
             << "expected one number of columns in a kernel of tiles, but got "
             << body.getSpace().columns << " and " << getColumns(type);
  }
  return success();
}

LaunchOp GroupLowering::launch(Operation *kernel, KernelTemplate kernelTemplate,
                               TypeRange types, ValueRange inputs,
                               const Schedule &schedule, Extent rows) {
  MLIRContext *context = rewriter.getContext();
  auto symbol = SymbolRefAttr::get(
      context, kKernelsModule,
      {FlatSymbolRefAttr::get(SymbolTable::getSymbolName(kernel))});
  auto op = LaunchOp::create(
      rewriter, group.getLoc(), types, symbol,
      KernelTemplateAttr::get(context, kernelTemplate), inputs,
      rewriter.getStrArrayAttr(members),
      rewriter.getDenseI64ArrayAttr(rows.asArray()),
      rewriter.getI64IntegerAttr(schedule.rowsPerWorker),
      rewriter.getI64IntegerAttr(schedule.workers),
      rewriter.getI64IntegerAttr(schedule.threads),
      rewriter.getI64IntegerAttr(schedule.rows), rewriter.getI64IntegerAttr(0),
      rewriter.getDenseI64ArrayAttr({}), rewriter.getI64IntegerAttr(1),
      rewriter.getI64IntegerAttr(0), rewriter.getDenseI64ArrayAttr({}),
      rewriter.getDenseI64ArrayAttr({}));
  op.setBytes(bytesOf(op.getInputs(), op.getOutputs(), reads).asArray());
  op.setUnfusedBytes(unfusedBytes.asArray());
  return op;
}

/// A counter of zero for one launch, in the workspace: so launches on different
/// streams, and of a graph, have one each, and nobody has to leave it as it
/// was. It is a kernel of its own that writes it, since only the end of a
/// kernel makes sure that every block of the next sees it.
Value GroupLowering::makeTickets() {
  OpBuilder builder = OpBuilder::atBlockEnd(kernels.getBody());
  Location loc = group.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  auto kernel =
      func::FuncOp::create(builder, loc, kernelName + "_tickets",
                           builder.getFunctionType({pointer, i64, i64}, {}));
  kernel->setAttr(kBlockAttr, builder.getDenseI32ArrayAttr({1, 1, 1}));
  builder.setInsertionPointToStart(kernel.addEntryBlock());
  Value zero =
      arith::ConstantOp::create(builder, loc, IntegerAttr::get(i64, 0));
  LLVM::StoreOp::create(builder, loc, zero, kernel.getArgument(0),
                        /*alignment=*/8);
  func::ReturnOp::create(builder, loc);
  LaunchOp op =
      launch(kernel, KernelTemplate::Pointwise, RankedTensorType::get({1}, i64),
             ValueRange(), Schedule(), Extent{1, 0});
  // No operation of the program is in it.
  op.setMembersAttr(rewriter.getStrArrayAttr({}));
  op.setBytes(Extent().asArray());
  op.setUnfusedBytes(Extent().asArray());
  return op.getOutputs().front();
}

/// A memory group, or a contraction and what is computed of its result.
LogicalResult GroupLowering::lowerKernelGroup() {
  bool isGemm = group.getKernelTemplate() == KernelTemplate::Gemm;
  if (isGemm && !target.isCUDA())
    return group.emitOpError() << "expected target `cuda` for template `gemm`";
  FailureOr<KernelGroup> body = KernelGroup::create(group);
  if (failed(body) || (!isGemm && failed(verifyTemplate(*body))))
    return failure();
  FailureOr<Schedule> schedule = chooseSchedule(*body, target);
  if (failed(schedule))
    return failure();
  if (target.isCUDA())
    allowApproximations(group);
  OpBuilder builder = OpBuilder::atBlockEnd(kernels.getBody());
  auto emit = isGemm           ? emitGemmKernel
              : body->isTile() ? emitTileKernel
                               : emitRowKernel;
  func::FuncOp kernel =
      emit(*body, *schedule, device, roundIntermediates, nameKernel(), builder);

  auto yield = cast<YieldOp>(group.getBody().front().getTerminator());
  SmallVector<Type> types;
  SmallVector<unsigned> direct;
  for (auto [index, value] : llvm::enumerate(yield.getValues()))
    if (!body->isFinal(value)) {
      types.push_back(group.getResult(index).getType());
      direct.push_back(index);
    }
  for (ReduceRowsOp op : body->getRowReductions())
    types.push_back(getPartialsType(*body, *schedule, op));
  for (ReduceColumnsOp op : body->getColumnReductions())
    types.push_back(getPartialsType(*schedule, op));

  rewriter.setInsertionPoint(group);
  SmallVector<Value> inputs(group.getInputs());
  if (schedule->tickets)
    inputs.push_back(makeTickets());
  LaunchOp main = launch(kernel, group.getKernelTemplate(), types, inputs,
                         *schedule, body->getSpace().rows * schedule->tiles);
  // Partial results stay in the cache: they are not counted as traffic.
  ValueRange directResults = main.getOutputs().take_front(direct.size());
  main.setBytes(bytesOf(group.getInputs(), directResults, reads).asArray());
  if (isGemm)
    describeGemm(*body, *schedule, main);
  else if (target.isCUDA())
    main.setSharedBytes(body->isTile()
                            ? TileRing(*body, *schedule).getBytes()
                            : RowRing(*body, *schedule).getBytes() +
                                  KeptRow(*body, *schedule).getBytes());

  SmallVector<Value> results(group.getNumResults());
  for (auto [index, value] : llvm::zip(direct, main.getOutputs()))
    results[index] = value;
  ValueRange partials = main.getOutputs().drop_front(direct.size());
  if (!partials.empty() &&
      failed(finalize(*body, main, *schedule, partials, results)))
    return failure();
  rewriter.replaceOp(group, results);
  return success();
}

/// What the launch of a product has beside that of a memory kernel.
void GroupLowering::describeGemm(const KernelGroup &body,
                                 const Schedule &schedule, LaunchOp op) {
  GemmLayout layout(body, schedule);
  op.setSharedBytes(layout.getBytes());
  SmallVector<TensorMapAttr> maps = getGemmMaps(body, layout);
  op.setMapsAttr(
      rewriter.getArrayAttr(SmallVector<Attribute>(maps.begin(), maps.end())));
  const Product &product = *body.getProduct();
  Extent depth = product.k;
  op.setFlops(multiply(multiply(product.m, {product.n}), multiply(depth, {2}))
                  .asArray());
  if (depth.isConstant())
    return;
  op.setCountRows(depth.asArray());
  // The most that the runtime counts.
  op.setCountMaxWorkers(std::numeric_limits<int32_t>::max());
}

LogicalResult GroupLowering::finalize(const KernelGroup &body,
                                      LaunchOp producer,
                                      const Schedule &schedule,
                                      ValueRange partials,
                                      SmallVectorImpl<Value> &results) {
  FailureOr<SmallVector<FinalResults>> parts = findFinalResults(body);
  if (failed(parts))
    return failure();
  Extent mainUnfused = unfusedBytes;
  unfusedBytes = Extent();
  ArrayRef<ReduceRowsOp> rowReductions = body.getRowReductions();
  for (auto [number, part] : llvm::enumerate(*parts)) {
    FinalColumns columns = part.columns;
    OpBuilder builder = OpBuilder::atBlockEnd(kernels.getBody());
    std::string name =
        makeUnique(kernelName + "_finalize" +
                   (parts->size() > 1 ? "_" + Twine(number) : Twine()));
    func::FuncOp kernel =
        emitFinalizeKernel(body, columns, part.arguments.getArrayRef(),
                           part.outputs, device, name, builder);
    if (target.smVersion >= 90)
      kernel->setAttr(kStartsEarlyAttr, rewriter.getUnitAttr());
    SmallVector<Value> inputs;
    for (size_t i = 0; i < rowReductions.size(); ++i) {
      ReduceRowsOp op = rowReductions[i];
      if (getColumns(op.getInput().getType()) == columns)
        inputs.push_back(partials[i]);
    }
    if (!columns)
      llvm::append_range(inputs, partials.drop_front(rowReductions.size()));
    size_t numPartials = inputs.size();
    for (Value argument : part.arguments)
      inputs.push_back(
          group.getInputs()[cast<BlockArgument>(argument).getArgNumber()]);
    SmallVector<Type> types;
    for (unsigned output : part.outputs)
      types.push_back(group.getResult(output).getType());
    Schedule chunks = getFinalizeSchedule(columns, device);
    Extent rows = body.getSpace().rows;
    if (columns)
      rows = Extent{*columns == 0 ? 0 : chunks.workers, 0};
    LaunchOp launched =
        launch(kernel, KernelTemplate::Finalize, types, inputs, chunks, rows);
    // The partial results of one kernel's reductions with as many columns are
    // as many.
    PartialCount count = countPartials(body, schedule, columns);
    launched.setCountRows(count.parts.asArray());
    launched.setCountRowsPerWorker(count.partsPerOne);
    launched.setCountMaxWorkers(count.most);
    launched.setBytes(
        bytesOf(ValueRange(launched.getInputs()).drop_front(numPartials),
                launched.getOutputs(), reads)
            .asArray());
    for (auto [output, value] : llvm::zip(part.outputs, launched.getOutputs()))
      results[output] = value;
  }
  unfusedBytes = mainUnfused;
  return success();
}

namespace {
struct ConvertFuseOpsToKernelsPass
    : public fuseops::impl::ConvertFuseOpsToKernelsPassBase<
          ConvertFuseOpsToKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (target != "cpu" && target != "cuda") {
      module.emitError() << "expected target `cpu` or `cuda`, but got `"
                         << target << "`";
      return signalPassFailure();
    }
    FailureOr<KernelTarget> kernelTarget =
        target == "cuda" ? KernelTarget::cuda(chip) : KernelTarget::cpu();
    if (failed(kernelTarget)) {
      module.emitError() << "expected a chip such as `sm_90a`, but got `"
                         << chip << "`";
      return signalPassFailure();
    }
    SmallVector<GroupOp> groups;
    module.walk([&](GroupOp group) { groups.push_back(group); });
    if (groups.empty())
      return;
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto kernels = ModuleOp::create(builder, module.getLoc(), kKernelsModule);
    for (GroupOp group : groups)
      if (failed(
              GroupLowering(group, kernels, *kernelTarget, roundIntermediates)
                  .run()))
        return signalPassFailure();
  }
};
} // namespace
