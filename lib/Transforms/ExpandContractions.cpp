//===- ExpandContractions.cpp - Products of quantized operands ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Transforms/Passes.h"

#include "FuseOps/Dialect/FuseOps/Contraction.h"
#include "mlir/IR/Remarks.h"

#define DEBUG_TYPE "fuseops-expand-contractions"

namespace mlir::fuseops {
#define GEN_PASS_DEF_EXPANDCONTRACTIONSPASS
#include "FuseOps/Transforms/Passes.h.inc"
} // namespace mlir::fuseops

using namespace mlir;
using namespace mlir::fuseops;

//===----------------------------------------------------------------------===//
// What the device multiplies
//===----------------------------------------------------------------------===//

/// The first conditions of FP8 products, in the order tested; 0 holds all.
static constexpr StringLiteral kConditions[] = {
    "multiplied in FP8",
    "an operand is not quantized",
    "the target has no FP8 products",
    "both operands are f8E5M2",
    "the result is not f16, bf16 or f32",
    "the library has no product of these scales on this chip"};

/// Whether cuBLASLt multiplies operands of these scales: one scale a tensor
/// everywhere, the others on Hopper only (its documentation, "Narrow Precision
/// Data Types Usage").
static bool hasProduct(ScaleKind lhs, ScaleKind rhs, unsigned chip) {
  auto isBlock = [](ScaleKind kind) {
    return kind == ScaleKind::Block1x128 || kind == ScaleKind::Block128x128;
  };
  if (lhs == ScaleKind::PerTensor && rhs == ScaleKind::PerTensor)
    return true;
  if (chip / 10 != 9)
    return false;
  if (lhs == ScaleKind::PerRow && rhs == ScaleKind::PerRow)
    return true;
  return isBlock(lhs) && isBlock(rhs) &&
         (lhs == ScaleKind::Block1x128 || rhs == ScaleKind::Block1x128);
}

/// The number of the first condition of an FP8 product that does not hold.
static unsigned findCondition(const Contraction &product, Type result,
                              unsigned chip) {
  auto lhs = dyn_cast<QuantizedType>(product.lhs.getType());
  auto rhs = dyn_cast<QuantizedType>(product.rhs.getType());
  // 1. both operands are quantized
  if (!lhs || !rhs)
    return 1;
  // 2. Ada and later
  if (chip < 89)
    return 2;
  // 3. there is no E5M2 x E5M2
  if (isa<Float8E5M2Type>(lhs.getElementType()) &&
      isa<Float8E5M2Type>(rhs.getElementType()))
    return 3;
  // 4. the accumulator is f32
  if (!isa<Float16Type, BFloat16Type, Float32Type>(result))
    return 4;
  // 5. scales that go together
  if (!hasProduct(lhs.getScale(), rhs.getScale(), chip))
    return 5;
  return 0;
}

//===----------------------------------------------------------------------===//
// Dequantized products
//===----------------------------------------------------------------------===//

/// What `value`, a saved value in backward, is in forward.
static Value skipSaved(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto fusible = argument
                     ? dyn_cast<FusibleOp>(argument.getOwner()->getParentOp())
                     : FusibleOp();
  if (!fusible || argument.getOwner()->getParent() == &fusible.getForward())
    return value;
  unsigned gradients = fusible.getGradientTypes().size();
  return argument.getArgNumber() < gradients
             ? value
             : fusible.getForwardReturn()
                   .getSaved()[argument.getArgNumber() - gradients];
}

/// Whether the scales of a quantized value are known to be powers of two, so
/// that its logical values have no more bits than FP8 has.
static bool hasPowerOfTwoScales(Value value) {
  if (cast<QuantizedType>(value.getType()).getScale() == ScaleKind::MX1x32)
    return true;
  auto quantize = skipSaved(value).getDefiningOp<QuantizeOp>();
  if (!quantize)
    return false;
  if (!quantize.getScale())
    return quantize.getPowerOfTwo();
  auto scale = skipSaved(quantize.getScale()).getDefiningOp<ComputeScaleOp>();
  return scale && scale.getPowerOfTwo();
}

/// The type in which dequantized operands are multiplied: f64 where the result
/// or an operand is, bf16 where that holds every operand exactly, else f32.
static FloatType chooseElement(const Contraction &product, Type result) {
  MLIRContext *context = result.getContext();
  if (result.isF64() || getElementTypeOrSelf(product.lhs).isF64() ||
      getElementTypeOrSelf(product.rhs).isF64())
    return Float64Type::get(context);
  auto isExact = [](Value value) {
    return isa<QuantizedType>(value.getType())
               ? hasPowerOfTwoScales(value)
               : getElementTypeOrSelf(value).isBF16();
  };
  return isExact(product.lhs) && isExact(product.rhs)
             ? FloatType(BFloat16Type::get(context))
             : FloatType(Float32Type::get(context));
}

namespace {

/// Rewrites one contraction.
class ContractionRewriter {
public:
  ContractionRewriter(Operation *op, const Contraction &product,
                      IRRewriter &rewriter)
      : op(op), product(product), rewriter(rewriter), loc(op->getLoc()),
        resultType(cast<RankedTensorType>(op->getResult(0).getType())) {}

  void multiplyScaled();
  void multiplyDequantized(FloatType element);

private:
  struct Copy {
    Value data, scale;
  };

  /// The parts of the copy that the product reads.
  Copy getCopy(Value quantized, bool isRow) {
    auto type = cast<QuantizedType>(quantized.getType());
    SmallVector<Type> parts(llvm::map_range(
        type.getParts(), [](RankedTensorType part) -> Type { return part; }));
    auto unpack = UnpackQuantizedOp::create(rewriter, loc, parts, quantized);
    unsigned first = !isRow && type.hasRowCopy() ? 2 : 0;
    return {unpack.getResult(first), unpack.getResult(first + 1)};
  }

  /// The logical values of the copy that the product reads, or a plain operand,
  /// as tensors of `element`.
  Value convertOperand(Value value, bool readsRowCopy, FloatType element) {
    auto type = dyn_cast<QuantizedType>(value.getType());
    if (!type)
      return convert(value, element);
    Copies wanted = readsRowCopy ? Copies::Row : Copies::Col;
    if (type.getCopies() != wanted) {
      Copy copy = getCopy(value, readsRowCopy);
      auto single =
          QuantizedType::get(type.getContext(), type.getShape(),
                             type.getElementType(), type.getScale(), wanted);
      value = PackQuantizedOp::create(rewriter, loc, single,
                                      ValueRange{copy.data, copy.scale});
    }
    return DequantizeOp::create(rewriter, loc, type.getTensorType(element),
                                value);
  }

  Value convert(Value value, FloatType element) {
    auto type = cast<RankedTensorType>(value.getType());
    return type.getElementType() == element
               ? value
               : CastOp::create(rewriter, loc, type.clone(element), value);
  }

  Operation *op;
  const Contraction &product;
  IRRewriter &rewriter;
  Location loc;
  RankedTensorType resultType;
};

} // namespace

/// A bias of another type than the result's is added in f32, before the one
/// rounding.
void ContractionRewriter::multiplyScaled() {
  auto getScale = [](Value value) {
    return cast<QuantizedType>(value.getType()).getScale();
  };
  Copy lhs = getCopy(product.lhs, product.readsRowCopyOfLhs());
  Copy rhs = getCopy(product.rhs, product.readsRowCopyOfRhs());
  auto element = cast<FloatType>(resultType.getElementType());
  Value bias = product.bias;
  auto type = element;
  if (bias && getElementTypeOrSelf(bias) != element) {
    type = rewriter.getF32Type();
    bias = convert(bias, type);
  }
  Value result = ScaledMatmulOp::create(
      rewriter, loc, resultType.clone(type), lhs.data, lhs.scale, rhs.data,
      rhs.scale, bias, getScale(product.lhs), getScale(product.rhs),
      product.fastAccumulate);
  rewriter.replaceOp(op, convert(result, element));
}

/// A product of f32 gives f32 and is then rounded once; one of bf16 may give
/// bf16 itself.
void ContractionRewriter::multiplyDequantized(FloatType element) {
  auto target = cast<FloatType>(resultType.getElementType());
  FloatType type = element;
  if (element.isBF16() && !target.isBF16())
    type = rewriter.getF32Type();
  Value lhs = convertOperand(product.lhs, product.readsRowCopyOfLhs(), element);
  Value rhs = convertOperand(product.rhs, product.readsRowCopyOfRhs(), element);
  RankedTensorType built = resultType.clone(type);
  Value result;
  if (isa<LinearOp>(op)) {
    Value bias = product.bias;
    if (bias && getElementTypeOrSelf(bias) != type) {
      // The rounding comes after the bias.
      type = element.isF64() ? element : FloatType(rewriter.getF32Type());
      built = resultType.clone(type);
      bias = convert(bias, type);
    }
    result = LinearOp::create(rewriter, loc, built, lhs, rhs, bias);
  } else {
    result = MatmulOp::create(rewriter, loc, built, lhs, rhs,
                              product.transposeLhs, product.transposeRhs);
  }
  rewriter.replaceOp(op, convert(result, target));
}

static void report(Operation *op, unsigned condition, Type element) {
  remark::RemarkOpts options =
      remark::RemarkOpts::name("Contraction").category(DEBUG_TYPE);
  StringRef name = op->getName().getStringRef();
  if (condition == 0) {
    remark::passed(op->getLoc(), options)
        << remark::reason("{0} {1}", name, kConditions[0]);
    return;
  }
  std::string type;
  llvm::raw_string_ostream(type) << element;
  remark::missed(op->getLoc(), options)
      << remark::reason("{0} dequantized to {1}: condition {2}, {3}", name,
                        type, condition, kConditions[condition]);
}

namespace {
struct ExpandContractionsPass
    : public fuseops::impl::ExpandContractionsPassBase<ExpandContractionsPass> {
  using Base::Base;

  void runOnOperation() override {
    unsigned number = 0;
    StringRef text = chip;
    if (!text.empty() &&
        (!text.consume_front("sm_") || text.consumeInteger(10, number))) {
      emitError(getOperation().getLoc())
          << "expected a chip such as `sm_90a`, but got `" << chip << "`";
      return signalPassFailure();
    }
    SmallVector<Operation *> contractions;
    getOperation().walk([&](Operation *op) {
      if (std::optional<Contraction> product = Contraction::get(op);
          product && (isa<QuantizedType>(product->lhs.getType()) ||
                      isa<QuantizedType>(product->rhs.getType())))
        contractions.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : contractions) {
      Contraction product = *Contraction::get(op);
      rewriter.setInsertionPoint(op);
      Type result = getElementTypeOrSelf(op->getResult(0));
      ContractionRewriter contraction(op, product, rewriter);
      unsigned condition = findCondition(product, result, number);
      FloatType element = chooseElement(product, result);
      report(op, condition, element);
      if (condition == 0)
        contraction.multiplyScaled();
      else
        contraction.multiplyDequantized(element);
    }
  }
};
} // namespace
