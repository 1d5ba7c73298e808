//===- HopperBuilder.cpp - Instructions of sm_90a -------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HopperBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fuseops;

//===----------------------------------------------------------------------===//
// Numbers and control flow
//===----------------------------------------------------------------------===//

Value HopperBuilder::constant(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
}

Value HopperBuilder::add(Value x, Value y) {
  return arith::AddIOp::create(b, loc, x, y);
}

Value HopperBuilder::add(Value x, int64_t y) {
  return y ? add(x, constant(y)) : x;
}

Value HopperBuilder::sub(Value x, Value y) {
  return arith::SubIOp::create(b, loc, x, y);
}

Value HopperBuilder::mul(Value x, Value y) {
  return arith::MulIOp::create(b, loc, x, y);
}

Value HopperBuilder::mul(Value x, int64_t y) { return mul(x, constant(y)); }

Value HopperBuilder::divide(Value x, Value y) {
  return arith::DivUIOp::create(b, loc, x, y);
}

Value HopperBuilder::remainder(Value x, Value y) {
  return arith::RemUIOp::create(b, loc, x, y);
}

Value HopperBuilder::shiftLeft(Value x, int64_t bits) {
  return arith::ShLIOp::create(b, loc, x, constant(bits));
}

Value HopperBuilder::shiftRight(Value x, int64_t bits) {
  return arith::ShRUIOp::create(b, loc, x, constant(bits));
}

Value HopperBuilder::bitAnd(Value x, int64_t mask) {
  return arith::AndIOp::create(b, loc, x, constant(mask));
}

Value HopperBuilder::bitOr(Value x, Value y) {
  return arith::OrIOp::create(b, loc, x, y);
}

Value HopperBuilder::bitXor(Value x, Value y) {
  return arith::XOrIOp::create(b, loc, x, y);
}

Value HopperBuilder::bitXor(Value x, int64_t mask) {
  return bitXor(x, constant(mask));
}

Value HopperBuilder::minimum(Value x, Value y) {
  return arith::MinSIOp::create(b, loc, x, y);
}

Value HopperBuilder::select(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}

Value HopperBuilder::isEqual(Value x, int64_t y) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x,
                               constant(y));
}

Value HopperBuilder::isNotEqual(Value x, int64_t y) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, x,
                               constant(y));
}

Value HopperBuilder::isLess(Value x, Value y) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
}

void HopperBuilder::when(Value condition, function_ref<void()> body) {
  auto guard = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(guard.thenBlock());
  body();
}

SmallVector<Value> HopperBuilder::loop(
    Value from, Value to, Value step, ValueRange state,
    function_ref<SmallVector<Value>(Value index, ValueRange state)> body) {
  auto loop = scf::ForOp::create(b, loc, from, to, step, state);
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!next.empty())
    scf::YieldOp::create(b, loc, next);
  return loop.getResults();
}

SmallVector<Value> HopperBuilder::loopBelow(
    Value from, function_ref<Value()> to, Value step, ValueRange state,
    function_ref<SmallVector<Value>(Value index, ValueRange state)> body) {
  SmallVector<Value> first = {from};
  llvm::append_range(first, state);
  TypeRange types = ValueRange(first).getTypes();
  SmallVector<Location> locations(first.size(), loc);
  auto loop = scf::WhileOp::create(b, loc, types, first);
  OpBuilder::InsertionGuard restore(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locations);
  Value goesOn = isLess(before->getArgument(0), to());
  scf::ConditionOp::create(b, loc, goesOn, before->getArguments());
  Block *after = b.createBlock(&loop.getAfter(), {}, types, locations);
  Value index = after->getArgument(0);
  SmallVector<Value> next = {add(index, step)};
  llvm::append_range(next, body(index, after->getArguments().drop_front()));
  scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(loop.getResults().drop_front());
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Value HopperBuilder::ptx(StringRef text, StringRef constraints,
                         ValueRange operands, Type result) {
  auto op = LLVM::InlineAsmOp::create(
      b, loc, result ? TypeRange(result) : TypeRange(), operands, text,
      constraints, /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
      ArrayAttr());
  return result ? op.getResult(0) : Value();
}

Value HopperBuilder::shuffle(Value value, Value lane) {
  return NVVM::ShflOp::create(b, loc, value.getType(), constant(-1), value,
                              lane, constant(31), NVVM::ShflKind::idx,
                              UnitAttr());
}

Value HopperBuilder::uniform(Value value) {
  return shuffle(value, constant(0));
}

Value HopperBuilder::readThread() {
  return ptx("mov.u32 $0, %tid.x;", "=r", {}, b.getI32Type());
}

Value HopperBuilder::opaque(Value value) {
  return ptx("", "=r,0", value, b.getI32Type());
}

Value HopperBuilder::permute(Value x, Value y, Value selector) {
  return ptx("prmt.b32 $0, $1, $2, $3;", "=r,r,r,r", {x, y, selector},
             b.getI32Type());
}

void HopperBuilder::syncWarp() {
  NVVM::SyncWarpOp::create(b, loc, constant(-1));
}

void HopperBuilder::syncNamed(Value id, int64_t threads) {
  ptx("bar.sync $0, " + std::to_string(threads) + ";", "r,~{memory}", id);
}

void HopperBuilder::arriveNamed(Value id, int64_t threads) {
  ptx("bar.arrive $0, " + std::to_string(threads) + ";", "r,~{memory}", id);
}

void HopperBuilder::decreaseRegisters(int64_t count) {
  ptx("setmaxnreg.dec.sync.aligned.u32 " + std::to_string(count) + ";", "", {});
}

void HopperBuilder::increaseRegisters(int64_t count) {
  ptx("setmaxnreg.inc.sync.aligned.u32 " + std::to_string(count) + ";", "", {});
}

//===----------------------------------------------------------------------===//
// Barriers in memory
//===----------------------------------------------------------------------===//

void HopperBuilder::initBarrier(Value barrier, int64_t arrivals) {
  ptx("mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}",
      {barrier, constant(arrivals)});
}

void HopperBuilder::fenceBarriers() {
  ptx("fence.mbarrier_init.release.cluster;", "~{memory}", {});
}

void HopperBuilder::arrive(Value barrier) {
  ptx("mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}", barrier);
}

void HopperBuilder::expect(Value barrier, int64_t bytes) {
  ptx("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}",
      {barrier, constant(bytes)});
}

Value HopperBuilder::tryWait(Value barrier, Value parity) {
  return ptx("mbarrier.try_wait.parity.shared::cta.b64 $0, [$1], $2;",
             "=b,r,r,~{memory}", {barrier, parity}, b.getI1Type());
}

void HopperBuilder::wait(Value barrier, Value parity) {
  Value isPending = arith::XOrIOp::create(
      b, loc, tryWait(barrier, parity),
      arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
  when(isPending, [&] {
    auto now = [&] {
      return ptx("mov.u32 $0, %globaltimer_lo;", "=r", {}, b.getI32Type());
    };
    Value start = now();
    auto again = scf::WhileOp::create(b, loc, TypeRange(), ValueRange());
    OpBuilder::InsertionGuard restore(b);
    b.createBlock(&again.getBefore());
    Value isDone = tryWait(barrier, parity);
    Value goesOn = arith::XOrIOp::create(
        b, loc, isDone, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
    scf::ConditionOp::create(b, loc, goesOn, ValueRange());
    b.createBlock(&again.getAfter());
    Value isLate =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt,
                              sub(now(), start), constant(2000000000));
    when(isLate, [&] {
      Value nowhere =
          arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(16));
      ptx("st.global.b32 [$0], $1;", "l,r,~{memory}", {nowhere, barrier});
    });
    scf::YieldOp::create(b, loc);
  });
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

Value HopperBuilder::mapShared(Value address, Value rank) {
  return ptx("mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r", {address, rank},
             b.getI32Type());
}

void HopperBuilder::storeRemote(Value address, Value value, Value barrier) {
  ptx("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [$0], $1, "
      "[$2];",
      "r,r,r,~{memory}", {address, value, barrier});
}

void HopperBuilder::syncCluster() {
  ptx("barrier.cluster.arrive.release.aligned;", "~{memory}", {});
  ptx("barrier.cluster.wait.acquire.aligned;", "~{memory}", {});
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void HopperBuilder::prefetchMap(Value map) {
  ptx("prefetch.tensormap [$0];", "l,~{memory}", map);
}

void HopperBuilder::prefetchLine(Value pointer) {
  ptx("prefetch.global.L2 [$0];", "l,~{memory}", pointer);
}

void HopperBuilder::load(Value target, Value map, Value x, Value y,
                         Value barrier) {
  ptx("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::"
      "bytes [$0], [$1, {$2, $3}], [$4];",
      "r,l,r,r,r,~{memory}", {target, map, x, y, barrier});
}

void HopperBuilder::store(Value map, Value x, Value y, Value source) {
  ptx("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$0, {$1, $2}], "
      "[$3];",
      "l,r,r,r,~{memory}", {map, x, y, source});
}

void HopperBuilder::commitStores() {
  ptx("cp.async.bulk.commit_group;", "~{memory}", {});
}

void HopperBuilder::waitStoresRead(int64_t pending) {
  ptx("cp.async.bulk.wait_group.read " + std::to_string(pending) + ";",
      "~{memory}", {});
}

void HopperBuilder::waitStores() {
  ptx("cp.async.bulk.wait_group 0;", "~{memory}", {});
}

void HopperBuilder::fenceShared() {
  ptx("fence.proxy.async.shared::cta;", "~{memory}", {});
}

void HopperBuilder::storeMatrices(Value address, ArrayRef<Value> words,
                                  bool transposes) {
  SmallVector<Value> operands = {address};
  llvm::append_range(operands, words);
  ptx("stmatrix.sync.aligned.m8n8.x4" +
          std::string(transposes ? ".trans" : "") +
          ".shared.b16 [$0], {$1, $2, $3, $4};",
      "r,r,r,r,r,~{memory}", operands);
}

/// An address of shared memory for `type`, and what it is a multiple of.
static std::pair<Value, unsigned> toPointer(OpBuilder &b, Location loc,
                                            Value address, Type type) {
  auto vector = dyn_cast<VectorType>(type);
  int64_t bits = (vector ? vector.getNumElements() : 1) *
                 getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext(), 3);
  return {LLVM::IntToPtrOp::create(b, loc, pointer, address), bits / 8};
}

Value HopperBuilder::loadShared(Value address, Type type) {
  auto [pointer, alignment] = toPointer(b, loc, address, type);
  return LLVM::LoadOp::create(b, loc, type, pointer, alignment);
}

void HopperBuilder::storeShared(Value address, Value value) {
  auto [pointer, alignment] = toPointer(b, loc, address, value.getType());
  LLVM::StoreOp::create(b, loc, value, pointer, alignment);
}

void HopperBuilder::storePair(Value address, Value first, Value second) {
  ptx("st.shared.v2.f32 [$0], {$1, $2};", "r,f,f,~{memory}",
      {address, first, second});
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// An instruction that reads and writes all `sums`: so none of their other
/// uses moves across it.
void HopperBuilder::runOnSums(StringRef text, MutableArrayRef<Value> sums,
                              StringRef constraints, ValueRange operands) {
  std::string all;
  for (size_t i = 0; i < sums.size(); ++i)
    all += i ? ",=f" : "=f";
  for (size_t i = 0; i < sums.size(); ++i)
    all += "," + std::to_string(i);
  all += (constraints.empty() ? "" : "," + constraints.str()) + ",~{memory}";
  SmallVector<Value> inputs(sums);
  llvm::append_range(inputs, operands);
  Type type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(sums.size(), b.getF32Type()));
  Value results = ptx(text, all, inputs, type);
  for (auto [i, sum] : llvm::enumerate(sums))
    sum = LLVM::ExtractValueOp::create(b, loc, results, int64_t(i));
}

void HopperBuilder::pin(MutableArrayRef<Value> sums) { runOnSums("", sums); }

void HopperBuilder::fenceMma(MutableArrayRef<Value> sums) {
  runOnSums("wgmma.fence.sync.aligned;", sums);
}

void HopperBuilder::commitMma() {
  ptx("wgmma.commit_group.sync.aligned;", "~{memory}", {});
}

void HopperBuilder::waitMma(MutableArrayRef<Value> sums, int64_t pending) {
  runOnSums("wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";",
            sums);
}

void HopperBuilder::mma(MutableArrayRef<Value> sums, const MmaTypes &types,
                        int64_t columns, int64_t depth, Value a, Value bs,
                        bool adds) {
  size_t count = sums.size();
  std::string text =
      ("wgmma.mma_async.sync.aligned.m64n" + Twine(columns) + "k" +
       Twine(depth) + ".f32." + types.a + "." + types.b + " {")
          .str();
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(i);
  auto operand = [&](size_t number) {
    return "$" + std::to_string(2 * count + number);
  };
  text += "}, " + operand(0) + ", " + operand(1) + ", " + operand(2) + ", 1, 1";
  bool isNarrow = types.a == "e4m3" || types.a == "e5m2";
  if (!isNarrow)
    text += std::string(types.transposesA ? ", 1" : ", 0") +
            (types.transposesB ? ", 1" : ", 0");
  Value predicate = arith::ConstantOp::create(b, loc, b.getBoolAttr(adds));
  runOnSums(text + ";", sums, "l,l,b", {a, bs, predicate});
}

Value HopperBuilder::describe(Value low) {
  // Eight rows take 1024 bytes; the swizzle of 128 bytes is mode 1.
  constexpr uint64_t kHigh = uint64_t(64) << 32 | uint64_t(1) << 62;
  Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), low);
  Value high = arith::ConstantOp::create(
      b, loc, b.getI64IntegerAttr(static_cast<int64_t>(kHigh)));
  return arith::OrIOp::create(b, loc, wide, high);
}
