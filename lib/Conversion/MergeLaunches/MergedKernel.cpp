//===- MergedKernel.cpp - Writes one launch that does what several do ----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MergedKernel.h"

#include "FuseOps/Conversion/KernelToLLVM.h"
#include "FuseOps/Conversion/MergeLaunches.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::fuseops;

static func::FuncOp getKernel(LaunchOp op, ModuleOp kernels) {
  return kernels.lookupSymbol<func::FuncOp>(op.getKernel().getLeafReference());
}

bool mlir::fuseops::isCudaLaunch(LaunchOp op, ModuleOp kernels) {
  func::FuncOp kernel = getKernel(op, kernels);
  return kernel && kernel->hasAttr(kBlockAttr);
}

int64_t mlir::fuseops::countWorkers(LaunchOp op) {
  Extent rows = Extent::fromArray(op.getRows());
  if (!rows.isConstant())
    return 0;
  return std::min<int64_t>(
      op.getMaxWorkers(),
      llvm::divideCeil(rows.constant, int64_t(op.getRowsPerWorker())));
}

namespace {
/// Writes the kernel. What its launches launched is copied into it.
class MergedKernel {
public:
  MergedKernel(ArrayRef<LaunchOp> order, ModuleOp kernels, OpBuilder &builder)
      : kernels(kernels), b(builder), loc(builder.getUnknownLoc()),
        isCuda(isCudaLaunch(order.front(), kernels)) {
    SmallVector<Location> locations;
    for (LaunchOp launch : order) {
      locations.push_back(launch.getLoc());
      outputs.insert(launch.getOutputs().begin(), launch.getOutputs().end());
    }
    for (LaunchOp launch : order)
      for (Value input : launch.getInputs())
        if (!outputs.contains(skipReshapes(input)))
          inputs.insert(input);
    loc = b.getFusedLoc(locations);
  }

  func::FuncOp emit(ArrayRef<MergedPart> parts);
  /// To be called when the copied kernels are gone, one of which had the name.
  void setName(StringRef name);
  ValueRange getInputs() const { return inputs.getArrayRef(); }
  ValueRange getOutputs() const { return outputs.getArrayRef(); }

private:
  static Value skipReshapes(Value value) {
    while (auto reshape = value.getDefiningOp<ReshapeOp>())
      value = reshape.getInput();
    return value;
  }
  Value constant(int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  }
  Value add(Value lhs, Value rhs) {
    return arith::AddIOp::create(b, loc, lhs, rhs);
  }
  void declare();
  void emitParts(ArrayRef<MergedPart> parts, int64_t firstWorker);
  void emitPart(const MergedPart &part, int64_t firstWorker);
  void copyKernel(LaunchOp launch, Value ownWorker, int64_t workers);
  void mapPointers(LaunchOp launch, func::FuncOp own, IRMapping &mapping);
  DenseMap<StringAttr, Value> shareMemory(func::FuncOp own);
  Value getIndex(Operation *index, func::FuncOp own, Value ownWorker,
                 int64_t workers);
  Value countPartials(LaunchOp launch);
  Value evaluate(Extent extent);

  ModuleOp kernels;
  OpBuilder &b;
  Location loc;
  bool isCuda;
  llvm::SetVector<Value> inputs, outputs;

  func::FuncOp kernel;
  DenseMap<Value, Value> pointers;
  Value worker, symbol;
  /// Shared memory of the block, of which each copied kernel has all.
  LLVM::GlobalOp memory;
};
} // namespace

/// The function with the parameters of any memory kernel: `count` is the
/// symbol.
void MergedKernel::declare() {
  Type pointerType = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Value> tensors(inputs.begin(), inputs.end());
  tensors.append(outputs.begin(), outputs.end());
  SmallVector<Type> types(isCuda ? tensors.size() : 1, pointerType);
  unsigned scalar = types.size();
  types.append(isCuda ? 2 : 4, b.getI64Type());
  kernel = func::FuncOp::create(b, loc, "merged", b.getFunctionType(types, {}));
  if (isCuda)
    kernel->setAttr(kBlockAttr, b.getDenseI32ArrayAttr({kMergedThreads, 1, 1}));
  b.setInsertionPointToStart(kernel.addEntryBlock());
  for (auto [number, tensor] : llvm::enumerate(tensors)) {
    if (isCuda) {
      pointers[tensor] = kernel.getArgument(number);
      continue;
    }
    Value slot = LLVM::GEPOp::create(
        b, loc, pointerType, pointerType, kernel.getArgument(0),
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
    pointers[tensor] = LLVM::LoadOp::create(b, loc, pointerType, slot);
  }
  symbol = kernel.getArgument(scalar + 1);
  worker = isCuda ? Value(arith::ExtUIOp::create(
                        b, loc, b.getI64Type(),
                        NVVM::BlockIdXOp::create(b, loc, b.getI32Type())))
                  : kernel.getArgument(scalar + 2);
}

func::FuncOp MergedKernel::emit(ArrayRef<MergedPart> parts) {
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToEnd(kernels.getBody());
  declare();
  emitParts(parts, 0);
  func::ReturnOp::create(b, loc);
  return kernel;
}

void MergedKernel::setName(StringRef name) {
  kernel.setName(name);
  if (!memory)
    return;
  std::string symbol = (name + "_shared").str();
  (void)SymbolTable::replaceAllSymbolUses(memory.getSymNameAttr(),
                                          b.getStringAttr(symbol), kernel);
  memory.setSymName(symbol);
}

/// Lets each worker find its part: the first ones, from `firstWorker` on, that
/// of `parts.front()`.
void MergedKernel::emitParts(ArrayRef<MergedPart> parts, int64_t firstWorker) {
  if (parts.size() == 1)
    return emitPart(parts.front(), firstWorker);
  int64_t end = firstWorker + parts.front().workers;
  Value isOurs = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                       worker, constant(end));
  auto branch = scf::IfOp::create(b, loc, isOurs, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(branch.thenBlock());
  emitPart(parts.front(), firstWorker);
  b.setInsertionPointToStart(branch.elseBlock());
  emitParts(parts.drop_front(), end);
}

void MergedKernel::emitPart(const MergedPart &part, int64_t firstWorker) {
  Value ownWorker =
      part.workers == 1
          ? constant(0)
          : arith::SubIOp::create(b, loc, worker, constant(firstWorker));
  for (auto [number, launch] : llvm::enumerate(part.launches)) {
    // The next kernel reads what this one wrote, and has its shared memory.
    if (isCuda && number > 0)
      NVVM::Barrier0Op::create(b, loc);
    copyKernel(launch, ownWorker, part.workers);
  }
}

void MergedKernel::copyKernel(LaunchOp launch, Value ownWorker,
                              int64_t workers) {
  func::FuncOp own = getKernel(launch, kernels);
  if (own->hasAttr(kStartsEarlyAttr))
    kernel->setAttr(kStartsEarlyAttr, b.getUnitAttr());
  IRMapping mapping;
  mapPointers(launch, own, mapping);
  unsigned scalar = isCuda ? own.getNumArguments() - 2 : 1;
  mapping.map(own.getArgument(scalar),
              constant(Extent::fromArray(launch.getRows()).constant));
  mapping.map(own.getArgument(scalar + 1), countPartials(launch));
  if (!isCuda) {
    mapping.map(own.getArgument(scalar + 2), ownWorker);
    mapping.map(own.getArgument(scalar + 3), constant(workers));
  }
  DenseMap<StringAttr, Value> places = shareMemory(own);
  SmallVector<Operation *> copies;
  for (Operation &op : own.getBody().front().without_terminator())
    copies.push_back(b.clone(op, mapping));
  if (!isCuda)
    return;
  IRRewriter rewriter(b.getContext());
  for (Operation *copy : copies)
    copy->walk([&](Operation *op) {
      if (auto address = dyn_cast<LLVM::AddressOfOp>(op)) {
        if (Value place = places.lookup(address.getGlobalNameAttr().getAttr()))
          rewriter.replaceOp(op, place);
        return;
      }
      if (Value index = getIndex(op, own, ownWorker, workers))
        rewriter.replaceOp(op, index);
    });
}

/// The kernel's pointers: of CUDA its arguments, of the CPU one array.
void MergedKernel::mapPointers(LaunchOp launch, func::FuncOp own,
                               IRMapping &mapping) {
  SmallVector<Value> given;
  for (Value input : launch.getInputs()) {
    Value computed = pointers.lookup(skipReshapes(input));
    given.push_back(outputs.contains(skipReshapes(input))
                        ? computed
                        : pointers.lookup(input));
  }
  for (Value output : launch.getOutputs())
    given.push_back(pointers.lookup(output));
  if (isCuda) {
    for (auto [number, pointer] : llvm::enumerate(given))
      mapping.map(own.getArgument(number), pointer);
    return;
  }
  Type pointerType = own.getArgument(0).getType();
  Value array;
  {
    // In the entry block, where LLVM keeps its elements in registers.
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(&kernel.getBody().front());
    array = LLVM::AllocaOp::create(b, loc, pointerType, pointerType,
                                   constant(given.size()));
  }
  for (auto [number, pointer] : llvm::enumerate(given)) {
    Value slot = LLVM::GEPOp::create(
        b, loc, pointerType, pointerType, array,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
    LLVM::StoreOp::create(b, loc, pointer, slot);
  }
  mapping.map(own.getArgument(0), array);
}

/// What takes the place of the number of a thread or worker: threads count as
/// in the kernel's own block, workers as in its own grid. Null of other
/// operations.
Value MergedKernel::getIndex(Operation *index, func::FuncOp own,
                             Value ownWorker, int64_t workers) {
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPoint(index);
  Type i32 = b.getI32Type();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  int32_t threadsX =
      cast<DenseI32ArrayAttr>(own->getAttr(kBlockAttr)).asArrayRef()[0];
  auto thread = [&]() -> Value {
    return NVVM::ThreadIdXOp::create(b, loc, i32);
  };
  if (isa<NVVM::ThreadIdXOp>(index))
    return arith::RemUIOp::create(b, loc, thread(), number(threadsX));
  if (isa<NVVM::ThreadIdYOp>(index))
    return arith::DivUIOp::create(b, loc, thread(), number(threadsX));
  if (isa<NVVM::BlockIdXOp>(index))
    return arith::TruncIOp::create(b, loc, i32, ownWorker);
  return isa<NVVM::GridDimXOp>(index) ? number(workers) : Value();
}

/// Puts what `own` has in shared memory into that of the merged kernel: its
/// kernels need it one after the other, or in different blocks.
DenseMap<StringAttr, Value> MergedKernel::shareMemory(func::FuncOp own) {
  DenseMap<StringAttr, Value> places;
  int64_t bytes = 0;
  own.walk([&](LLVM::AddressOfOp op) {
    auto global = kernels.lookupSymbol<LLVM::GlobalOp>(op.getGlobalName());
    if (global.getAddrSpace() != 3 || places.contains(global.getSymNameAttr()))
      return;
    if (!memory) {
      OpBuilder::InsertionGuard restore(b);
      b.setInsertionPoint(kernel);
      memory = LLVM::GlobalOp::create(
          b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), 0),
          /*isConstant=*/false, LLVM::Linkage::Internal, "merged_shared",
          Attribute(), /*alignment=*/16, /*addrSpace=*/3);
    }
    Type pointer = LLVM::LLVMPointerType::get(b.getContext(), 3);
    places[global.getSymNameAttr()] = LLVM::GEPOp::create(
        b, loc, pointer, b.getI8Type(),
        LLVM::AddressOfOp::create(b, loc, memory),
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
    auto array = cast<LLVM::LLVMArrayType>(global.getGlobalType());
    bytes += llvm::alignTo(
        array.getNumElements() * getElementBytes(array.getElementType()), 16);
  });
  if (!memory)
    return places;
  auto whole = cast<LLVM::LLVMArrayType>(memory.getGlobalType());
  memory.setGlobalType(LLVM::LLVMArrayType::get(
      b.getI8Type(), std::max<int64_t>(bytes, whole.getNumElements())));
  return places;
}

/// How many partial results `launch` reads: the workers of the grid that its
/// `count_…` describes.
Value MergedKernel::countPartials(LaunchOp launch) {
  if (!launch.getCountMaxWorkers())
    return constant(0);
  Value rows = evaluate(Extent::fromArray(launch.getCountRows()));
  if (launch.getCountRowsPerWorker() != 1)
    rows = arith::CeilDivUIOp::create(b, loc, rows,
                                      constant(launch.getCountRowsPerWorker()));
  return arith::MinUIOp::create(b, loc, rows,
                                constant(launch.getCountMaxWorkers()));
}

Value MergedKernel::evaluate(Extent extent) {
  Value sum = constant(extent.constant);
  auto addBlocks = [&](int64_t factor, int64_t size) {
    if (!factor)
      return;
    Value blocks =
        size == 1
            ? symbol
            : Value(arith::CeilDivUIOp::create(b, loc, symbol, constant(size)));
    sum = add(sum, arith::MulIOp::create(b, loc, blocks, constant(factor)));
  };
  addBlocks(extent.perSymbol, 1);
  addBlocks(extent.perBlock32, 32);
  addBlocks(extent.perBlock128, 128);
  return sum;
}

/// What people read of it: a finalize if there is one among them, and else the
/// most that one of them needs.
static LaunchOp findRepresentative(ArrayRef<LaunchOp> order) {
  auto rank = [](LaunchOp op) {
    KernelTemplate own = op.getKernelTemplate();
    return std::pair(own == KernelTemplate::Finalize,
                     static_cast<unsigned>(own));
  };
  return *std::max_element(
      order.begin(), order.end(),
      [&](LaunchOp a, LaunchOp c) { return rank(a) < rank(c); });
}

/// Erases the kernel of `launch` and its shared memory.
static void eraseKernel(LaunchOp launch, ModuleOp kernels,
                        IRRewriter &rewriter) {
  func::FuncOp kernel = getKernel(launch, kernels);
  llvm::SmallSetVector<Operation *, 2> globals;
  kernel.walk([&](LLVM::AddressOfOp op) {
    auto global = kernels.lookupSymbol<LLVM::GlobalOp>(op.getGlobalName());
    if (global.getAddrSpace() == 3)
      globals.insert(global);
  });
  rewriter.eraseOp(kernel);
  for (Operation *global : globals)
    rewriter.eraseOp(global);
}

LaunchOp mlir::fuseops::mergeLaunches(ArrayRef<MergedPart> parts,
                                      ArrayRef<LaunchOp> order,
                                      ModuleOp kernels, IRRewriter &rewriter) {
  MergedKernel merged(order, kernels, rewriter);
  func::FuncOp kernel = merged.emit(parts);
  LaunchOp representative = findRepresentative(order);
  int64_t workers = 0;
  for (const MergedPart &part : parts)
    workers += part.workers;
  Extent bytes, unfusedBytes;
  bool needsSymbol = false;
  SmallVector<Attribute> members;
  // The finalize launches of one kernel have its members, each all of them.
  llvm::SmallDenseSet<Attribute> finalized;
  for (LaunchOp launch : order) {
    bytes = bytes + Extent::fromArray(launch.getBytes());
    unfusedBytes = unfusedBytes + Extent::fromArray(launch.getUnfusedBytes());
    if (launch.getKernelTemplate() != KernelTemplate::Finalize ||
        finalized.insert(launch.getMembers()).second)
      llvm::append_range(members, launch.getMembers());
    needsSymbol |= !Extent::fromArray(launch.getCountRows()).isConstant();
  }
  LaunchOp op = LaunchOp::create(
      rewriter, kernel.getLoc(), merged.getOutputs().getTypes(),
      representative.getKernel(), representative.getKernelTemplateAttr(),
      merged.getInputs(), rewriter.getArrayAttr(members),
      rewriter.getDenseI64ArrayAttr({workers, 0}),
      /*rows_per_worker=*/rewriter.getI64IntegerAttr(1),
      /*max_workers=*/rewriter.getI64IntegerAttr(workers),
      rewriter.getI64IntegerAttr(
          isCudaLaunch(representative, kernels) ? kMergedThreads : 1),
      /*threads_y=*/rewriter.getI64IntegerAttr(1),
      /*shared_bytes=*/rewriter.getI64IntegerAttr(0),
      rewriter.getDenseI64ArrayAttr(needsSymbol ? ArrayRef<int64_t>{0, 1}
                                                : ArrayRef<int64_t>{}),
      /*count_rows_per_worker=*/rewriter.getI64IntegerAttr(1),
      // The most that the runtime counts.
      rewriter.getI64IntegerAttr(
          needsSymbol ? std::numeric_limits<int32_t>::max() : 0),
      rewriter.getDenseI64ArrayAttr(bytes.asArray()),
      rewriter.getDenseI64ArrayAttr(unfusedBytes.asArray()));
  for (auto [before, after] :
       llvm::zip_equal(merged.getOutputs(), op.getOutputs()))
    rewriter.replaceAllUsesWith(before, after);
  for (LaunchOp launch : order) {
    eraseKernel(launch, kernels, rewriter);
    rewriter.eraseOp(launch);
  }
  merged.setName(op.getKernel().getLeafReference().getValue());
  return op;
}
