//===- NVPTXTest.cpp - PTX and cubins for CUDA chips ----------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernels.h"

#include "FuseOps/Target/NVPTX.h"

#include "llvm/Support/FileSystem.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fuseops;

namespace {

/// A kernel of 8 elements a thread: bf16 in, `body` from `%x` to `%y` in f32,
/// and an FP8 result, with a block-wide maximum through shared memory.
std::string cudaKernel(StringRef name, StringRef body) {
  return (R"mlir(
  llvm.mlir.global internal @scratch_)mlir" +
          name + R"mlir(() {addr_space = 3 : i32, alignment = 16 : i64}
      : !llvm.array<8 x f32>
  func.func @)mlir" +
          name + R"mlir((%in: !llvm.ptr {llvm.noalias, llvm.readonly},
      %out: !llvm.ptr {llvm.noalias}, %amax: !llvm.ptr, %n: i64)
      attributes {nvvm.maxntid = array<i32: 256>} {
    %t32 = nvvm.read.ptx.sreg.tid.x : i32
    %b32 = nvvm.read.ptx.sreg.ctaid.x : i32
    %t = arith.extui %t32 : i32 to i64
    %b = arith.extui %b32 : i32 to i64
    %c256 = arith.constant 256 : i64
    %c8 = arith.constant 8 : i64
    %block = arith.muli %b, %c256 : i64
    %thread = arith.addi %block, %t : i64
    %i = arith.muli %thread, %c8 : i64
    %inside = arith.cmpi ult, %i, %n : i64
    %zero = arith.constant 0.0 : f32
    %largest = scf.if %inside -> (f32) {
      %p = llvm.getelementptr %in[%i] : (!llvm.ptr, i64) -> !llvm.ptr, bf16
      %raw = llvm.load %p {alignment = 16} : !llvm.ptr -> vector<8xbf16>
      %x = arith.extf %raw : vector<8xbf16> to vector<8xf32>
)mlir" + body +
          R"mlir(
      %hi = arith.constant dense<448.0> : vector<8xf32>
      %lo = arith.constant dense<-448.0> : vector<8xf32>
      %c0 = arith.minimumf %y, %hi : vector<8xf32>
      %c1 = arith.maximumf %c0, %lo : vector<8xf32>
      %q = arith.truncf %c1 : vector<8xf32> to vector<8xf8E4M3FN>
      %bytes = arith.bitcast %q : vector<8xf8E4M3FN> to vector<8xi8>
      %o = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      llvm.store %bytes, %o {alignment = 8} : vector<8xi8>, !llvm.ptr
      %a = math.absf %y : vector<8xf32>
      %m = vector.reduction <maximumf>, %a : vector<8xf32> into f32
      scf.yield %m : f32
    } else {
      scf.yield %zero : f32
    }
    %mask = arith.constant -1 : i32
    %c16 = arith.constant 16 : i32
    %clamp = arith.constant 31 : i32
    %other = nvvm.shfl.sync bfly %mask, %largest, %c16, %clamp : f32 -> f32
    %both = arith.maximumf %largest, %other : f32
    %base = llvm.mlir.addressof @scratch_)mlir" +
          name + R"mlir( : !llvm.ptr<3>
    %c32 = arith.constant 32 : i32
    %warp = arith.divui %t32, %c32 : i32
    %slot = llvm.getelementptr %base[%warp] : (!llvm.ptr<3>, i32)
        -> !llvm.ptr<3>, f32
    llvm.store %both, %slot : f32, !llvm.ptr<3>
    nvvm.barrier0
    %first = llvm.load %base : !llvm.ptr<3> -> f32
    llvm.store %first, %amax : f32, !llvm.ptr
    return
  }
)mlir")
      .str();
}

std::string allMath() {
  std::string text;
  for (const char *name :
       {"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "tanh", "erf",
        "erfc", "sqrt", "rsqrt", "sin", "cos"})
    text += cudaKernel(name, std::string("%y = math.") + name +
                                 " %x : vector<8xf32>");
  return text;
}

FailureOr<std::string>
toPTX(TestContext &context, StringRef text, StringRef chip,
      const AssemblerOptions &options = AssemblerOptions::fromEnvironment()) {
  OwningOpRef<ModuleOp> module = context.parse(text);
  FailureOr<KernelTarget> target = KernelTarget::cuda(chip);
  if (!module || failed(target) ||
      failed(convertKernelToLLVM(*module, *target)))
    return failure();
  return translateToPTX(*module, chip, options);
}

class ChipTest : public ::testing::TestWithParam<const char *> {};

TEST_P(ChipTest, EveryFunctionAssemblesWithoutSpills) {
  StringRef chip = GetParam();
  TestContext context;
  FailureOr<std::string> ptx = toPTX(context, allMath(), chip);
  ASSERT_TRUE(succeeded(ptx)) << context.getDiagnostics();
  EXPECT_NE(ptx->find(".target " + chip.str()), std::string::npos);
  EXPECT_NE(ptx->find(".entry erfc("), std::string::npos);
  EXPECT_NE(ptx->find("ld.global.nc.v4"), std::string::npos);
  EXPECT_EQ(ptx->find(".extern .func"), std::string::npos);
  // A sum without .rn could be contracted by ptxas.
  EXPECT_EQ(ptx->find("add.f32"), std::string::npos);
  EXPECT_EQ(ptx->find("mul.f32"), std::string::npos);
  bool hasFp8 = chip != "sm_80";
  EXPECT_EQ(ptx->find("cvt.rn.satfinite.e4m3x2.f32") != std::string::npos,
            hasFp8);

  AssemblerOptions options = AssemblerOptions::fromEnvironment();
  options.refuseSpills = true;
  Location loc = UnknownLoc::get(&context.get());
  for (bool useNvJitLink : {true, false}) {
    options.useNvJitLink = useNvJitLink;
    FailureOr<Assembly> assembly = assembleToCubin(loc, *ptx, chip, options);
    ASSERT_TRUE(succeeded(assembly)) << context.getDiagnostics();
    if (assembly->cubin.empty())
      GTEST_SKIP() << "no assembler on this machine";
    EXPECT_EQ(StringRef(assembly->cubin.data(), 4).drop_front(), "ELF");
    ASSERT_EQ(assembly->usage.size(), 14u) << assembly->log;
    for (const KernelUsage &kernel : assembly->usage) {
      EXPECT_GT(kernel.registers, 0u);
      EXPECT_EQ(kernel.spillBytes, 0u);
      // Hopper reserves 1 KiB of its own.
      EXPECT_GE(kernel.sharedBytes, 32u) << kernel.name;
    }
    if (chip == "sm_90a")
      std::printf("%s\n%s", assembly->tool.c_str(),
                  formatUsage(assembly->usage).c_str());
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, ChipTest,
                         ::testing::Values("sm_80", "sm_89", "sm_90", "sm_90a",
                                           "sm_100", "sm_100a", "sm_120"));

TEST(NVPTX, Fp8CastsOfEveryWidth) {
  for (const char *chip : {"sm_80", "sm_90a"}) {
    TestContext context;
    std::string text;
    for (unsigned width : {0u, 1u, 2u, 3u, 16u}) {
      for (StringRef type : {"f8E4M3FN", "f8E5M2", "f8E8M0FNU"}) {
        std::string suffix = "_" + type.str() + std::to_string(width);
        for (StringRef wide : {"f32", "f64", "bf16", "f16"}) {
          text += mapKernel("to_" + wide.str() + suffix, wide, "i8",
                            ("%t = arith.truncf %x : VT(" + wide + ") to VT(" +
                             type + ")\n%y = arith.bitcast %t : VT(" + type +
                             ") to VT(i8)")
                                .str(),
                            width);
          text += mapKernel("from_" + wide.str() + suffix, "i8", wide,
                            ("%t = arith.bitcast %x : VT(i8) to VT(" + type +
                             ")\n%y = arith.extf %t : VT(" + type + ") to VT(" +
                             wide + ")")
                                .str(),
                            width);
        }
      }
    }
    FailureOr<std::string> ptx = toPTX(context, text, chip);
    ASSERT_TRUE(succeeded(ptx)) << context.getDiagnostics();
    FailureOr<Assembly> assembly =
        assembleToCubin(UnknownLoc::get(&context.get()), *ptx, chip,
                        AssemblerOptions::fromEnvironment());
    EXPECT_TRUE(succeeded(assembly)) << context.getDiagnostics();
  }
}

void expectError(StringRef text, StringRef expected) {
  TestContext context;
  EXPECT_TRUE(failed(toPTX(context, text, "sm_90a")));
  EXPECT_NE(context.getDiagnostics().find(expected.str()), std::string::npos)
      << context.getDiagnostics();
}

/// The errors of a kernel that needs libdevice.
std::string libdeviceErrors(const AssemblerOptions &options) {
  TestContext context;
  std::string kernel =
      mapKernel("k", "f64", "f64", "%y = math.exp %x : VT(f64)", 2);
  EXPECT_TRUE(failed(toPTX(context, kernel, "sm_90a", options)));
  return context.getDiagnostics();
}

TEST(NVPTX, MissingLibdeviceIsAnErrorThatSaysWhatToInstall) {
  AssemblerOptions options = AssemblerOptions::fromEnvironment();
  options.useLibdevice = false;
  std::string errors = libdeviceErrors(options);
  EXPECT_NE(errors.find("kernels call `__nv_exp` of libdevice.10.bc"),
            std::string::npos)
      << errors;
  EXPECT_NE(errors.find("install the CUDA toolkit's nvvm folder"),
            std::string::npos)
      << errors;
}

TEST(NVPTX, BrokenLibdeviceIsAnError) {
  AssemblerOptions options;
  options.libdevice = "/proc/self/exe";
  std::string errors = libdeviceErrors(options);
  EXPECT_NE(errors.find("`/proc/self/exe` is no bitcode"), std::string::npos)
      << errors;
}

TEST(NVPTX, UnselectableIntrinsicIsAnErrorAtItsOperation) {
  expectError("llvm.func @k(%x: f32, %p: !llvm.ptr) {\n"
              "  %y = llvm.intr.exp(%x) : (f32) -> f32\n"
              "  llvm.store %y, %p : f32, !llvm.ptr\n  llvm.return\n}",
              "loc(\"-\":2:8): `llvm.intr.exp` on `f32` has "
              "no instruction on `sm_90a`");
}

TEST(NVPTX, ExternalCallIsAnError) {
  expectError("llvm.func @expf(f32) -> f32\n"
              "llvm.func @k(%x: f32, %p: !llvm.ptr) {\n"
              "  %y = llvm.call @expf(%x) : (f32) -> f32\n"
              "  llvm.store %y, %p : f32, !llvm.ptr\n  llvm.return\n}",
              "call of `expf`, which no CUDA kernel can link against");
}

TEST(NVPTX, FatalErrorOfLLVMIsAnErrorAndTheNextModuleCompiles) {
  expectError("llvm.func @k() {\n"
              "  llvm.call_intrinsic \"llvm.x86.sse2.pause\"() : () -> ()\n"
              "  llvm.return\n}",
              "LLVM can't generate code for `sm_90a`");
  TestContext context;
  EXPECT_TRUE(succeeded(toPTX(
      context, cudaKernel("k", "%y = math.exp %x : vector<8xf32>"), "sm_90a")));
}

// What all threads have to come to is in no branch that only some take.
TEST(NVPTX, WrittenPTXStaysWhereAllThreadsAre) {
  TestContext context;
  FailureOr<std::string> ptx = toPTX(context, R"mlir(
  func.func @k(%out: !llvm.ptr) attributes {nvvm.maxntid = array<i32: 256>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %first = arith.cmpi eq, %t, %zero : i32
    scf.if %first {
      llvm.store volatile %one, %out : i32, !llvm.ptr
    }
    llvm.inline_asm has_side_effects "bar.sync 0;", "~{memory}" : () -> ()
    scf.if %first {
      llvm.store volatile %zero, %out : i32, !llvm.ptr
    }
    return
  })mlir",
                                     "sm_90a");
  ASSERT_TRUE(succeeded(ptx)) << context.getDiagnostics();
  EXPECT_EQ(StringRef(*ptx).count("bar.sync"), 1u) << *ptx;
}

TEST(NVPTX, UnknownChips) {
  TestContext context;
  OwningOpRef<ModuleOp> module = context.parse("");
  EXPECT_TRUE(failed(translateToPTX(*module, "gfx90a", {})));
  EXPECT_TRUE(failed(translateToPTX(*module, "sm_95", {})));
  EXPECT_NE(context.getDiagnostics().find("LLVM doesn't know the chip `sm_95`"),
            std::string::npos)
      << context.getDiagnostics();
}

TEST(Assembler, RefusesBrokenPTX) {
  for (bool useNvJitLink : {true, false}) {
    TestContext context;
    AssemblerOptions options = AssemblerOptions::fromEnvironment();
    options.useNvJitLink = useNvJitLink;
    FailureOr<Assembly> assembly = assembleToCubin(
        UnknownLoc::get(&context.get()),
        ".version 8.0\n.target sm_90a\nnonsense", "sm_90a", options);
    if (succeeded(assembly))
      GTEST_SKIP() << "no assembler on this machine";
    EXPECT_NE(context.getDiagnostics().find("PTX for `sm_90a` was refused by"),
              std::string::npos)
        << context.getDiagnostics();
  }
}

TEST(Assembler, NoToolIsNoError) {
  TestContext context;
  AssemblerOptions options;
  options.useNvJitLink = options.usePtxas = false;
  FailureOr<Assembly> assembly =
      assembleToCubin(UnknownLoc::get(&context.get()), "", "sm_90a", options);
  ASSERT_TRUE(succeeded(assembly));
  EXPECT_TRUE(assembly->cubin.empty());
  EXPECT_TRUE(assembly->tool.empty());
}

TEST(Assembler, ParsesBothLogs) {
  SmallVector<KernelUsage> ptxas = parseAssemblerLog(
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas info    : Function properties for k\n"
      "    8 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
      "ptxas info    : Used 24 registers, used 1 barriers, 64 bytes smem\n");
  ASSERT_EQ(ptxas.size(), 1u);
  EXPECT_EQ(formatUsage(ptxas),
            "k: 24 registers, 20 bytes spilled, 64 bytes shared\n");
  SmallVector<KernelUsage> jit =
      parseAssemblerLog("info    : Function properties for 'k':\n"
                        "info    : used 8 registers, used 0 barriers, 0 stack, "
                        "16 bytes smem, 536 "
                        "bytes cmem[0], 4 bytes lmem\n");
  EXPECT_EQ(formatUsage(jit),
            "k: 8 registers, 4 bytes spilled, 16 bytes shared\n");
}

} // namespace
