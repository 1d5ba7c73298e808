//===- KernelToLLVM.cpp - Kernels to the LLVM dialect ---------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Conversion/KernelToLLVM.h"

#include "FuseOps/Conversion/ExpandMath.h"
#include "FuseOps/Conversion/Fp8ToLLVM.h"
#include "FuseOps/Conversion/Fp8ToNVVM.h"
#include "FuseOps/Conversion/Passes.h"
#include "MathToLibdevice.h"
#include "WideProducts.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include "llvm/Support/raw_ostream.h"

#define DEBUG_TYPE "convert-kernel-to-llvm"

namespace mlir::fuseops {
#define GEN_PASS_DEF_CONVERTKERNELTOLLVMPASS
#include "FuseOps/Conversion/Passes.h.inc"
} // namespace mlir::fuseops

using namespace mlir;
using namespace mlir::fuseops;

FailureOr<KernelTarget> KernelTarget::cuda(StringRef chip) {
  StringRef number = chip;
  if (!number.consume_front("sm_"))
    return failure();
  if (number.ends_with("a") || number.ends_with("f"))
    number = number.drop_back();
  KernelTarget target;
  if (number.getAsInteger(10, target.smVersion) || target.smVersion < 50)
    return failure();
  return target;
}

namespace {

/// `type` with i16 in the place of bf16; null if that is not its element type.
Type getBF16Bits(Type type) {
  if (!getElementTypeOrSelf(type).isBF16())
    return {};
  Type bits = IntegerType::get(type.getContext(), 16);
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(VectorType::get(vector.getShape(), bits)) : bits;
}

/// x86 without AVX512-BF16 softens what LLVM's vectorizers make of bf16 values,
/// with calls into compiler-rt; of integers it needs none.
///
/// Pattern: load : bf16 -> bitcast(load : i16)
struct LoadBF16AsBits : public OpRewritePattern<LLVM::LoadOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(LLVM::LoadOp op,
                                PatternRewriter &rewriter) const override {
    Type bits = getBF16Bits(op.getType());
    if (!bits)
      return rewriter.notifyMatchFailure(op, "loads no bf16");
    Value value =
        LLVM::LoadOp::create(rewriter, op.getLoc(), bits, op.getAddr(),
                             op.getAlignment().value_or(0));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), value);
    return success();
  }
};

/// Pattern: store x : bf16 -> store bitcast(x) : i16
struct StoreBF16AsBits : public OpRewritePattern<LLVM::StoreOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(LLVM::StoreOp op,
                                PatternRewriter &rewriter) const override {
    Type bits = getBF16Bits(op.getValue().getType());
    if (!bits)
      return rewriter.notifyMatchFailure(op, "stores no bf16");
    Value value =
        arith::BitcastOp::create(rewriter, op.getLoc(), bits, op.getValue());
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(op, value, op.getAddr(),
                                               op.getAlignment().value_or(0));
    return success();
  }
};

/// Pattern: move x : bf16 -> bitcast(move bitcast(x) : i16), of what only puts
/// values elsewhere.
struct MoveBF16AsBits : public RewritePattern {
  explicit MoveBF16AsBits(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa<vector::ShuffleOp, vector::ExtractOp, vector::FromElementsOp,
             vector::BroadcastOp, arith::SelectOp>(op))
      return rewriter.notifyMatchFailure(op, "moves nothing");
    Type type = op->getResult(0).getType(), bits = getBF16Bits(type);
    if (!bits)
      return rewriter.notifyMatchFailure(op, "moves no bf16");
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      Type own = getBF16Bits(operand.getType());
      operands.push_back(
          own ? arith::BitcastOp::create(rewriter, op->getLoc(), own, operand)
              : operand);
    }
    Operation *moved = rewriter.clone(*op);
    moved->setOperands(operands);
    moved->getResult(0).setType(bits);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, type,
                                                  moved->getResult(0));
    return success();
  }
};

/// Polynomials, and casts that the chip lacks.
LogicalResult expand(ModuleOp kernels, const KernelTarget &target) {
  if (target.isCUDA())
    shortenMath(kernels);
  RewritePatternSet patterns(kernels.getContext());
  populateExpandScalarPatterns(patterns);
  populateExpandMathPatterns(patterns, target.isCUDA() ? MathTarget::NVVM
                                                       : MathTarget::CPU);
  Fp8ToLLVMOptions casts;
  casts.half = !target.isCUDA() && !target.nativeHalf;
  casts.bf16 = !target.isCUDA();
  // The FP8 conversion instructions came with Ada and Hopper.
  bool hasFp8Instructions = target.smVersion >= 89;
  casts.fp8 = !hasFp8Instructions;
  if (hasFp8Instructions)
    populateFp8ToNVVMPatterns(patterns);
  populateFp8ToLLVMPatterns(patterns, casts);
  if (casts.bf16)
    patterns.add<LoadBF16AsBits, StoreBF16AsBits, MoveBF16AsBits>(
        patterns.getContext());
  if (target.isCUDA())
    populateBF16ToNVVMPatterns(patterns);
  else
    populateWideProductPatterns(patterns);
  if (failed(applyPatternsGreedily(kernels, std::move(patterns))))
    return failure();
  guardIntegerDivisions(kernels);
  if (target.isCUDA())
    convertMathToLibdevice(kernels);
  return success();
}

/// True if what is left of the math dialect becomes instructions on both
/// targets.
bool isInstruction(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp, math::FloorOp, math::FmaOp, math::IsFiniteOp,
             math::IsInfOp, math::IsNaNOp, math::IsNormalOp, math::RoundOp,
             math::RoundEvenOp, math::RsqrtOp, math::SqrtOp, math::TruncOp>(op);
}

/// An error for each operation that LLVM would turn into a call which nothing
/// provides, or, for CUDA, could not select at all.
LogicalResult checkOperations(ModuleOp kernels, const KernelTarget &target) {
  WalkResult result = kernels.walk([&](Operation *op) {
    auto fail = [&](Type type, StringRef reason) {
      std::string typeName;
      llvm::raw_string_ostream(typeName) << type;
      op->emitError() << "`" << op->getName() << "` on `" << typeName << "` "
                      << reason;
      return WalkResult::interrupt();
    };
    if (op->getNumResults() != 1)
      return WalkResult::advance();
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    if (target.isCUDA() && isa<math::MathDialect>(op->getDialect()) &&
        !isInstruction(op))
      return fail(element, "has no expansion for CUDA chips");
    if (isa<arith::TruncFOp, arith::ExtFOp>(op) || !isa<FloatType>(element))
      return WalkResult::advance();
    bool computes = isa<arith::ArithFastMathInterface>(op) ||
                    (isa<math::MathDialect>(op->getDialect()));
    unsigned width = element.getIntOrFloatBitWidth();
    if (computes && (width == 8 || (width == 16 && !target.isCUDA())))
      return fail(element, "is not supported in kernels: compute in `f32` and "
                           "convert");
    return WalkResult::advance();
  });
  return success(!result.wasInterrupted());
}

/// Calls to libm for the functions without an expansion: those on f64, and the
/// rarer ones on f32. What is an instruction stays.
LogicalResult convertToLibm(ModuleOp kernels) {
  MLIRContext *context = kernels.getContext();
  RewritePatternSet patterns(context);
  populateMathToLibmConversionPatterns(patterns);
  ConversionTarget legality(*context);
  legality.markUnknownOpDynamicallyLegal([](Operation *op) {
    return !isa<math::MathDialect>(op->getDialect()) || isInstruction(op);
  });
  return applyPartialConversion(kernels, legality, std::move(patterns));
}

/// Vectors that LLVM's have no operation for, into ones that they have.
LogicalResult lowerVectors(ModuleOp kernels) {
  RewritePatternSet patterns(kernels.getContext());
  vector::populateVectorBroadcastLoweringPatterns(patterns);
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  vector::populateVectorStepLoweringPatterns(patterns);
  vector::populateVectorShapeCastLoweringPatterns(patterns);
  vector::populateVectorToElementsUnrollPatterns(patterns);
  vector::populateVectorFromElementsUnrollPatterns(patterns);
  vector::populateVectorInterleaveLoweringPatterns(patterns);
  return applyPatternsGreedily(kernels, std::move(patterns));
}

LogicalResult convertToLLVM(ModuleOp kernels) {
  MLIRContext *context = kernels.getContext();
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(64);
  LLVMTypeConverter converter(context, options);
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  cf::populateAssertToLLVMConversionPattern(converter, patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  index::populateIndexToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  populateNVVMToLLVMConversionPatterns(patterns);

  LLVMConversionTarget legality(*context);
  legality.addLegalOp<ModuleOp>();
  // NVVM operations without an intrinsic become inline PTX.
  legality.addDynamicallyLegalDialect<NVVM::NVVMDialect>([](Operation *op) {
    auto ptx = dyn_cast<NVVM::BasicPtxBuilderInterface>(op);
    return !ptx || ptx.hasIntrinsic();
  });
  return applyFullConversion(kernels, legality, std::move(patterns));
}

/// Lets the kernel wait until what was launched before it is complete, and its
/// writes are visible. Not NVVM's operation, which LLVM takes for one that has
/// nothing to do with memory.
void waitAtStart(LLVM::LLVMFuncOp kernel) {
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  LLVM::InlineAsmOp::create(
      builder, kernel.getLoc(), TypeRange(), ValueRange(),
      "griddepcontrol.wait;", "~{memory}", /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr(), ArrayAttr());
}

/// Makes parameters of the arguments that are tensor maps. Copy engines read
/// them where they lie, so that they may not be copied.
void passTensorMaps(LLVM::LLVMFuncOp kernel) {
  Builder builder(kernel.getContext());
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 128);
  for (unsigned index = 0; index < kernel.getNumArguments(); ++index) {
    if (!kernel.getArgAttr(index, kTensorMapAttr))
      continue;
    kernel.removeArgAttr(index, builder.getStringAttr(kTensorMapAttr));
    kernel.setArgAttr(index, LLVM::LLVMDialect::getByValAttrName(),
                      TypeAttr::get(bytes));
    kernel.setArgAttr(index, LLVM::LLVMDialect::getAlignAttrName(),
                      builder.getI64IntegerAttr(64));
    kernel.setArgAttr(index, NVVM::NVVMDialect::getGridConstantAttrName(),
                      builder.getUnitAttr());
  }
}

struct ConvertKernelToLLVMPass
    : mlir::fuseops::impl::ConvertKernelToLLVMPassBase<
          ConvertKernelToLLVMPass> {
  using Base::Base;

  void runOnOperation() override {
    KernelTarget target = KernelTarget::cpu(/*nativeHalf=*/!expandHalf);
    if (!chip.empty()) {
      FailureOr<KernelTarget> cuda = KernelTarget::cuda(chip);
      if (failed(cuda)) {
        getOperation().emitError()
            << "expected a chip such as `sm_90a`, but got `" << chip << "`";
        return signalPassFailure();
      }
      target = *cuda;
    }
    if (failed(convertKernelToLLVM(getOperation(), target)))
      signalPassFailure();
  }
};

} // namespace

LogicalResult mlir::fuseops::convertKernelToLLVM(ModuleOp kernels,
                                                 const KernelTarget &target) {
  // `nvvm.kernel` is allowed on `llvm.func` only, so visibility says what a
  // `func.func` is.
  SmallVector<StringAttr> entries, helpers;
  for (auto function : kernels.getOps<func::FuncOp>())
    if (!function.isExternal())
      (function.isPublic() ? entries : helpers)
          .push_back(function.getSymNameAttr());

  if (failed(expand(kernels, target)) ||
      failed(checkOperations(kernels, target)))
    return failure();
  if (!target.isCUDA() && failed(convertToLibm(kernels)))
    return failure();
  if (failed(lowerVectors(kernels)) || failed(convertToLLVM(kernels)))
    return failure();

  auto unit = UnitAttr::get(kernels.getContext());
  for (StringAttr name : helpers)
    kernels.lookupSymbol<LLVM::LLVMFuncOp>(name).setLinkage(
        LLVM::Linkage::Internal);
  if (target.isCUDA())
    for (StringAttr name : entries) {
      Operation *kernel = kernels.lookupSymbol(name);
      kernel->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), unit);
      if (Attribute block = kernel->removeAttr(kBlockAttr))
        kernel->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(), block);
      if (Attribute cluster = kernel->removeAttr(kClusterAttr))
        kernel->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(), cluster);
      passTensorMaps(cast<LLVM::LLVMFuncOp>(kernel));
      if (kernel->removeAttr(kStartsEarlyAttr))
        waitAtStart(cast<LLVM::LLVMFuncOp>(kernel));
      if (Attribute residents = kernel->removeAttr(kResidentsAttr))
        kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), residents);
    }
  return success();
}
