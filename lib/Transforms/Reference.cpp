//===- Reference.cpp - Turn a program into its f64 oracle ----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Transforms/FusibleEdits.h"
#include "FuseOps/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

#include "FuseOps/Dialect/FuseOps/Layout.h"

#define DEBUG_TYPE "fuseops-reference"

namespace mlir::fuseops {
#define GEN_PASS_DEF_REFERENCEPASS
#include "FuseOps/Transforms/Passes.h.inc"
} // namespace mlir::fuseops

using namespace mlir;
using namespace mlir::fuseops;

/// f16, bf16 and f32 tensors become f64 ones; other types stay.
static Type widenTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !isa<FloatType>(tensor.getElementType()) ||
      tensor.getElementTypeBitWidth() < 16)
    return type;
  return tensor.clone(Float64Type::get(type.getContext()));
}

static void widenTypes(ValueRange values, function_ref<Type(Type)> widen) {
  for (Value value : values)
    value.setType(widen(value.getType()));
}

/// Keeps the roundings of f64 to f32 that a body asks for: each is followed by
/// the way back to f64. Where the rounded value is only yielded, the rounding
/// is the result's, which the reference does without, unless it `isCast`.
static llvm::SmallPtrSet<Operation *, 4>
keepRoundings(PointwiseOp pointwise, bool isCast, IRRewriter &rewriter) {
  llvm::SmallPtrSet<Operation *, 4> kept;
  for (auto rounding :
       llvm::to_vector(pointwise.getBody().front().getOps<arith::TruncFOp>())) {
    bool isWide = rounding.getIn().getType().isF64();
    bool isYielded = llvm::all_of(rounding->getUsers(), llvm::IsaPred<YieldOp>);
    if (!isWide || !rounding.getType().isF32() || (isYielded && !isCast))
      continue;
    rewriter.setInsertionPointAfter(rounding);
    auto wide =
        arith::ExtFOp::create(rewriter, rounding.getLoc(),
                              rewriter.getF64Type(), rounding.getResult());
    rewriter.replaceAllUsesExcept(rounding, wide, wide);
    kept.insert(rounding);
    kept.insert(wide);
  }
  return kept;
}

/// Reads the bits of a value that is f64 now as those of the f32 next to it,
/// and follows bits that become an f32 by the way to f64.
static void keepBits(arith::BitcastOp bitcast, IRRewriter &rewriter) {
  Location loc = bitcast.getLoc();
  Type f32 = rewriter.getF32Type(), f64 = rewriter.getF64Type();
  if (bitcast.getIn().getType() == f64 &&
      bitcast.getType().getIntOrFloatBitWidth() == 32) {
    rewriter.setInsertionPoint(bitcast);
    auto narrow = arith::TruncFOp::create(rewriter, loc, f32, bitcast.getIn());
    rewriter.modifyOpInPlace(bitcast,
                             [&] { bitcast.getInMutable().assign(narrow); });
  }
  if (bitcast.getType() == f32) {
    rewriter.setInsertionPointAfter(bitcast);
    auto wide = arith::ExtFOp::create(rewriter, loc, f64, bitcast.getOut());
    rewriter.replaceAllUsesExcept(bitcast, wide, wide);
  }
}

/// Moves the f32 arithmetic of a pointwise body to f64. Narrower types in it
/// are roundings that the program asks for, and stay.
static void widenBody(PointwiseOp pointwise, bool isCast,
                      IRRewriter &rewriter) {
  llvm::SmallPtrSet<Operation *, 4> kept =
      keepRoundings(pointwise, isCast, rewriter);
  Type f32 = rewriter.getF32Type(), f64 = rewriter.getF64Type();
  auto widen = [&](Type type) { return type == f32 ? f64 : type; };
  Block &body = pointwise.getBody().front();
  // An FP8 operand or result is seen as f32 also by an f64 program.
  auto elementOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getElementType();
  };
  rewriter.setInsertionPointToStart(&body);
  for (auto [argument, operand] :
       llvm::zip(body.getArguments(), pointwise.getInputs())) {
    if (argument.getType() != f32)
      continue;
    if (elementOf(operand).isF64()) {
      argument.setType(f64);
      continue;
    }
    auto wide =
        arith::ExtFOp::create(rewriter, pointwise.getLoc(), f64, argument);
    rewriter.replaceAllUsesExcept(argument, wide, wide);
  }
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    if (kept.contains(&op))
      continue;
    if (auto bitcast = dyn_cast<arith::BitcastOp>(op)) {
      keepBits(bitcast, rewriter);
      continue;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op);
        constant && constant.getType() == f32) {
      double value =
          cast<FloatAttr>(constant.getValue()).getValue().convertToFloat();
      rewriter.modifyOpInPlace(constant, [&] {
        constant.setValueAttr(rewriter.getF64FloatAttr(value));
      });
    }
    bool extendsArgument = isa<arith::ExtFOp>(op) &&
                           isa<BlockArgument>(op.getOperand(0)) &&
                           op.getOperand(0).getType() == f32;
    if (!extendsArgument)
      widenTypes(op.getResults(), widen);
    if (isa<arith::ExtFOp, arith::TruncFOp>(op) &&
        op.getOperand(0).getType() == op.getResult(0).getType())
      rewriter.replaceOp(&op, op.getOperand(0));
  }
  Operation *yield = body.getTerminator();
  rewriter.setInsertionPoint(yield);
  for (auto [index, output] : llvm::enumerate(pointwise.getOutputs())) {
    Value value = yield->getOperand(index);
    Type expected = getComputeType(elementOf(output));
    if (value.getType() == f64 && expected == f32)
      yield->setOperand(index, arith::TruncFOp::create(
                                   rewriter, pointwise.getLoc(), f32, value));
  }
}

/// The parts of quantized tensors in a program, and what only lays them out:
/// they keep their types, of which a quantized type says nothing.
static llvm::SetVector<Value> findParts(FusibleOp fusible) {
  llvm::SetVector<Value> parts;
  fusible.walk([&](Operation *op) {
    bool isLayout = isa<PermuteOp, SliceOp, ConcatOp, ReshapeOp>(op);
    if (isa<UnpackQuantizedOp>(op) ||
        (isLayout && llvm::all_of(op->getOperands(), [&](Value operand) {
           return parts.contains(operand);
         })))
      parts.insert(op->result_begin(), op->result_end());
  });
  return parts;
}

/// What computes with parts widens them; what packs them rounds to them.
static void convertParts(FusibleOp fusible, ArrayRef<Value> parts,
                         IRRewriter &rewriter) {
  llvm::DenseSet<Value> kept(parts.begin(), parts.end());
  auto isWidened = [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return !isa<PackQuantizedOp>(user) &&
           (user->getNumResults() == 0 || !kept.contains(user->getResult(0)));
  };
  for (Value part : parts) {
    auto type = cast<RankedTensorType>(part.getType());
    RankedTensorType widened = cast<RankedTensorType>(widenTensor(type));
    if (widened == type || llvm::none_of(part.getUses(), isWidened))
      continue;
    rewriter.setInsertionPointAfterValue(part);
    Value wide = broadcastTo(rewriter, part.getLoc(), part, widened);
    rewriter.replaceUsesWithIf(part, wide, [&](OpOperand &use) {
      return isWidened(use) && use.getOwner() != wide.getDefiningOp();
    });
  }
  fusible.walk([&](PackQuantizedOp pack) {
    rewriter.setInsertionPoint(pack);
    SmallVector<Value> operands;
    for (auto [part, type] :
         llvm::zip(pack.getParts(), pack.getResult().getType().getParts()))
      operands.push_back(broadcastTo(rewriter, pack.getLoc(), part, type));
    rewriter.modifyOpInPlace(pack, [&] { pack->setOperands(operands); });
  });
}

/// Makes the elements those of the result's type, which is wider.
static void widenConstant(ConstantOp constant, IRRewriter &rewriter) {
  ElementsAttr value = constant.getValue();
  auto type = cast<RankedTensorType>(constant->getResult(0).getType());
  if (value.getElementType() == type.getElementType())
    return;
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense) {
    std::vector<uint8_t> bytes = constant.getBytes();
    ArrayRef<char> raw(reinterpret_cast<const char *>(bytes.data()),
                       bytes.size());
    dense = DenseElementsAttr::getFromRawBuffer(value.getShapedType(), raw);
  }
  SmallVector<double> numbers;
  for (APFloat number : dense.getValues<APFloat>()) {
    bool losesInfo = false;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    numbers.push_back(number.convertToDouble());
  }
  rewriter.modifyOpInPlace(constant, [&] {
    constant.setValueAttr(
        DenseElementsAttr::get(type, ArrayRef<double>(numbers)));
  });
}

namespace {
struct ReferencePass : public fuseops::impl::ReferencePassBase<ReferencePass> {
  using Base::Base;

  void runOnOperation() override {
    FusibleOp fusible = getOperation();
    IRRewriter rewriter(&getContext());
    inlineGroups(fusible);
    // A cast is a rounding: as a pointwise operation it keeps it in its body.
    llvm::SmallPtrSet<Operation *, 4> casts;
    for (auto cast : collect<CastOp>(fusible)) {
      rewriter.setInsertionPoint(cast);
      SmallVector<Value> rounded =
          cast.decompose(rewriter, cast->getOperands());
      casts.insert(rounded.front().getDefiningOp());
      rewriter.replaceOp(cast, rounded);
    }
    llvm::SetVector<Value> parts = findParts(fusible);
    for (Region &region : fusible->getRegions()) {
      if (region.empty())
        continue;
      widenTypes(region.getArguments(), widenTensor);
      for (Operation &op : region.front())
        if (op.getNumResults() == 0 || !parts.contains(op.getResult(0)))
          widenTypes(op.getResults(), widenTensor);
    }
    for (auto constant : collect<ConstantOp>(fusible))
      widenConstant(constant, rewriter);
    for (auto pointwise : collect<PointwiseOp>(fusible))
      widenBody(pointwise, casts.contains(pointwise), rewriter);
    convertParts(fusible, parts.getArrayRef(), rewriter);
    auto widenAll = [](ArrayRef<Type> types) {
      return llvm::map_to_vector(types, widenTensor);
    };
    rewriter.modifyOpInPlace(fusible, [&] {
      fusible.setFunctionType(
          rewriter.getFunctionType(widenAll(fusible.getArgumentTypes()),
                                   widenAll(fusible.getResultTypes())));
    });
  }

  template <typename OpT>
  static SmallVector<OpT> collect(FusibleOp fusible) {
    SmallVector<OpT> ops;
    fusible.walk([&](OpT op) { ops.push_back(op); });
    return ops;
  }
};
} // namespace
