//===- MathAccuracyTest.cpp - Math expansions against f64 -----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernels.h"

#include "FuseOps/Conversion/ExpandMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace mlir::fuseops;

namespace {

/// A function, its f64 original, and the error in ulp that its expansion may
/// have, for the CPU and for the CUDA form as it is emulated below.
struct Function {
  const char *name;
  double (*reference)(double);
  double cpuUlp;
  double nvvmUlp;
};

double rsqrtReference(double x) { return 1 / std::sqrt(x); }

// Measured bounds, rounded up a little. The CUDA form's are those of its
// arithmetic with exact ex2 and rcp; the chip's add up to 2 ulp each.
const Function kFunctions[] = {
    {"exp", std::exp, 1.2, 1.6},     {"exp2", std::exp2, 1.2, 1.2},
    {"expm1", std::expm1, 1.6, 1.6}, {"log", std::log, 1.2, 1.2},
    {"log2", std::log2, 2.0, 2.0},   {"log10", std::log10, 2.0, 2.0},
    {"log1p", std::log1p, 1.6, 1.6}, {"tanh", std::tanh, 2.5, 1.6},
    {"erf", std::erf, 1.2, 1.2},     {"erfc", std::erfc, 5.0, 5.0},
    {"sin", std::sin, 1.6, 1.6},     {"cos", std::cos, 1.6, 1.6},
};
const Function kNVVMOnly[] = {
    {"rsqrt", rsqrtReference, 0, 1.6},
};

/// Every `stride`th bit pattern, and each special value.
std::vector<float> makeInputs(uint32_t stride) {
  std::vector<float> inputs = {0.0f,
                               -0.0f,
                               1.0f,
                               -1.0f,
                               INFINITY,
                               -INFINITY,
                               NAN,
                               0x1p-149f,
                               -0x1p-149f,
                               0x1p-126f,
                               88.72283f,
                               88.722839f,
                               88.72284f,
                               88.73f,
                               -87.34f,
                               -103.97f,
                               -103.98f,
                               -104.0f,
                               128.0f,
                               127.99999f,
                               -149.0f,
                               -150.0f,
                               -151.0f,
                               10.05f,
                               10.06f,
                               9.19f,
                               9.3f,
                               -10.0f,
                               0.91f,
                               0.90999f,
                               -0.999999f,
                               -0x1.fffffep-1f,
                               0x1.fffffep+127f,
                               -0x1.fffffep+127f};
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += stride) {
    uint32_t pattern = uint32_t(bits);
    float value;
    std::memcpy(&value, &pattern, sizeof value);
    inputs.push_back(value);
  }
  return inputs;
}

double errorInUlp(float got, double expected) {
  if (std::isnan(expected) || std::isnan(got))
    return std::isnan(expected) && std::isnan(got) ? 0 : INFINITY;
  float rounded = float(expected);
  if (std::isinf(rounded) || std::isinf(got)) {
    // The largest finite value beside infinity is an error of about one unit.
    if (rounded == got)
      return 0;
    float largest = std::numeric_limits<float>::max();
    return std::fabs(std::isinf(got) ? expected : double(got)) >=
                       largest * 0.9999999 &&
                   std::signbit(got) == std::signbit(rounded)
               ? 1
               : INFINITY;
  }
  int exponent;
  std::frexp(expected, &exponent);
  double unit = std::ldexp(1.0, std::max(exponent - 24, -149));
  return std::fabs(double(got) - expected) / unit;
}

void checkSweep(const OpenedKernels &kernels, const Function &function,
                double allowed, uint32_t stride) {
  std::vector<float> inputs = makeInputs(stride);
  std::vector<float> results = kernels.map<float, float>(function.name, inputs);
  double worst = 0;
  float worstInput = 0, worstResult = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    double expected = function.reference(double(inputs[i]));
    double error = errorInUlp(results[i], expected);
    if (error > worst) {
      worst = error;
      worstInput = inputs[i];
      worstResult = results[i];
    }
    if (inputs[i] == 0 && expected == 0)
      EXPECT_EQ(std::signbit(results[i]), std::signbit(expected))
          << function.name << " of a signed zero";
  }
  ::testing::Test::RecordProperty(std::string("ulp_") + function.name,
                                  std::to_string(worst));
  std::printf("  %-6s %zu inputs: worst %.3f ulp at %a\n", function.name,
              inputs.size(), worst, worstInput);
  EXPECT_LE(worst, allowed)
      << function.name << "(" << worstInput << ") gives " << worstResult
      << ", but expected " << function.reference(worstInput);
}

std::string allKernels(ArrayRef<Function> functions, unsigned width) {
  std::string text;
  for (const Function &function : functions)
    text += mapKernel(
        function.name, "f32", "f32",
        std::string("%y = math.") + function.name + " %x : VT(f32)", width);
  return text;
}

/// Replaces the chip's approximations by exact operations, so that the CUDA
/// form of an expansion runs here.
void emulateNVVM(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateExpandMathPatterns(patterns, MathTarget::NVVM);
  ASSERT_TRUE(succeeded(applyPatternsGreedily(module, std::move(patterns))));
  IRRewriter rewriter(module.getContext());
  SmallVector<Operation *> worklist;
  module.walk([&](Operation *op) {
    if (isa<NVVM::RcpApproxFtzF32Op, LLVM::CallIntrinsicOp>(op))
      worklist.push_back(op);
  });
  for (Operation *op : worklist) {
    rewriter.setInsertionPoint(op);
    Location loc = op->getLoc();
    Value x = op->getOperand(0);
    auto constant = [&](float value) -> Value {
      return arith::ConstantOp::create(rewriter, loc,
                                       rewriter.getF32FloatAttr(value));
    };
    auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op);
    StringRef name = intrinsic ? intrinsic.getIntrin() : StringRef();
    if (name == "llvm.nvvm.ex2.approx.ftz") {
      // A denormal result is 0.
      Value power = LLVM::Exp2Op::create(rewriter, loc, x);
      Value isDenormal =
          arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::OLT, power,
                                constant(std::numeric_limits<float>::min()));
      rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isDenormal, constant(0),
                                                   power);
      continue;
    }
    ASSERT_TRUE(!intrinsic || name == "llvm.nvvm.rsqrt.approx.f")
        << name.str() << " has no exact form here";
    if (intrinsic)
      x = math::SqrtOp::create(rewriter, loc, x);
    rewriter.replaceOpWithNewOp<arith::DivFOp>(op, constant(1), x);
  }
}

TEST(MathAccuracy, CPUExpansionsOverTheWholeRange) {
  TestContext context;
  OwningOpRef<ModuleOp> module = context.parse(allKernels(kFunctions, 16));
  OpenedKernels kernels(context, *module, "native");
  ASSERT_TRUE(kernels.isOpen());
  for (const Function &function : kFunctions)
    checkSweep(kernels, function, function.cpuUlp, 1021);
}

TEST(MathAccuracy, EveryLevelAndScalarsAgree) {
  for (StringRef level : {"x86-64-v2", "x86-64-v3"}) {
    for (unsigned width : {0u, 1u, 4u}) {
      TestContext context;
      OwningOpRef<ModuleOp> module =
          context.parse(allKernels(kFunctions, width));
      OpenedKernels kernels(context, *module, level);
      ASSERT_TRUE(kernels.isOpen());
      for (const Function &function : kFunctions)
        checkSweep(kernels, function, function.cpuUlp, 65537 * 3);
    }
  }
}

TEST(MathAccuracy, CUDAExpansionsWithExactApproximations) {
  TestContext context;
  OwningOpRef<ModuleOp> module =
      context.parse(allKernels(kFunctions, 4) + allKernels(kNVVMOnly, 4));
  emulateNVVM(*module);
  OpenedKernels kernels(context, *module, "native");
  ASSERT_TRUE(kernels.isOpen());
  for (const Function &function : kFunctions)
    checkSweep(kernels, function, function.nvvmUlp, 4099);
  for (const Function &function : kNVVMOnly)
    checkSweep(kernels, function, function.nvvmUlp, 4099);
}

TEST(MathAccuracy, TailsAreRelativelyExact) {
  TestContext context;
  OwningOpRef<ModuleOp> module = context.parse(allKernels(kFunctions, 16));
  OpenedKernels kernels(context, *module, "native");
  ASSERT_TRUE(kernels.isOpen());
  std::vector<float> inputs;
  for (int i = 0; i <= 1000000; ++i)
    inputs.push_back(-10.0f + 20.05f * float(i) / 1000000.0f);
  std::vector<float> results = kernels.map<float, float>("erfc", inputs);
  double worst = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    double expected = std::erfc(double(inputs[i]));
    if (expected < std::numeric_limits<float>::min())
      continue;
    worst = std::max(worst, std::fabs(results[i] - expected) / expected);
  }
  std::printf("  erfc: worst relative error %.3g\n", worst);
  EXPECT_LE(worst, 3e-7);
}

TEST(MathAccuracy, HalfTypesComputeInF32) {
  TestContext context;
  OwningOpRef<ModuleOp> module = context.parse(
      mapKernel("exp", "f16", "f16", "%y = math.exp %x : VT(f16)", 8));
  OpenedKernels kernels(context, *module, "native");
  ASSERT_TRUE(kernels.isOpen());
  std::vector<uint16_t> inputs = {0x3c00, 0x0000, 0xbc00, 0x7c00, 0xfc00};
  std::vector<uint16_t> expected = {0x4170, 0x3c00, 0x35e3, 0x7c00, 0x0000};
  EXPECT_EQ((kernels.map<uint16_t, uint16_t>("exp", inputs)), expected);
}

TEST(MathAccuracy, F64GoesToLibm) {
  TestContext context;
  std::string text;
  for (const char *name : {"exp", "tanh", "erf", "erfc", "log1p", "expm1"})
    text += mapKernel(std::string("k_") + name, "f64", "f64",
                      std::string("%y = math.") + name + " %x : VT(f64)", 4);
  text += mapKernel("k_tan", "f32", "f32", "%y = math.tan %x : VT(f32)", 4);
  text +=
      mapKernel("k_powf", "f32", "f32", "%y = math.powf %x, %x : VT(f32)", 4);
  OwningOpRef<ModuleOp> module = context.parse(text);
  OpenedKernels kernels(context, *module, "native");
  ASSERT_TRUE(kernels.isOpen());
  std::vector<double> inputs = {-3.5, -0.25, 0, 1e-9, 0.7, 2.5};
  std::vector<double> erfc = kernels.map<double, double>("k_erfc", inputs);
  std::vector<double> tanh = kernels.map<double, double>("k_tanh", inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(erfc[i], std::erfc(inputs[i]));
    EXPECT_EQ(tanh[i], std::tanh(inputs[i]));
  }
  std::vector<float> angle = {1e30f, 0.5f};
  EXPECT_EQ((kernels.map<float, float>("k_tan", angle)[0]), std::tan(1e30f));
  EXPECT_EQ((kernels.map<float, float>("k_powf", angle)[1]),
            std::pow(0.5f, 0.5f));
}

} // namespace
