//===- CPUTest.cpp - Objects and shared objects for the CPU ---------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernels.h"

#include "FuseOps/Target/CPU.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::fuseops;

namespace {

TEST(CPU, ResolvesLevels) {
  TestContext context;
  Location loc = UnknownLoc::get(&context.get());
  EXPECT_EQ(*resolveCPU(loc, "x86-64-v3"), "x86-64-v3");
  EXPECT_TRUE(succeeded(resolveCPU(loc, "native")));
  EXPECT_TRUE(failed(resolveCPU(loc, "i386")));
  EXPECT_NE(context.getDiagnostics().find("expected CPU `native`"),
            std::string::npos);
  EXPECT_FALSE(hasNativeHalf("x86-64-v2"));
  EXPECT_TRUE(hasNativeHalf("x86-64-v4"));
}

TEST(CPU, ObjectIsELF) {
  TestContext context;
  OwningOpRef<ModuleOp> module = context.parse(
      mapKernel("twice", "f32", "f32", "%y = arith.addf %x, %x : VT(f32)"));
  ASSERT_TRUE(succeeded(convertKernelToLLVM(*module, KernelTarget::cpu())));
  std::string arch;
  FailureOr<SmallVector<char>> object =
      compileToObject(*module, "x86-64-v3", arch);
  ASSERT_TRUE(succeeded(object)) << context.getDiagnostics();
  EXPECT_EQ(arch, "x86-64-v3");
  EXPECT_EQ(StringRef(object->data(), 4), StringRef("\x7f"
                                                    "ELF"));
}

// What a row kernel of the emitter looks like: a reduction carried by a loop, a
// tail that is masked by scalar code, and a nested module.
const char *const kRowKernel = R"mlir(
module {
  builtin.module @kernels {
    func.func @row_sum(%in: !llvm.ptr {llvm.noalias},
                       %out: !llvm.ptr {llvm.noalias}, %n: i64) {
      %c0 = arith.constant 0 : i64
      %c1 = arith.constant 1 : i64
      %c16 = arith.constant 16 : i64
      %zero = arith.constant dense<0.0> : vector<16xf32>
      %f0 = arith.constant 0.0 : f32
      %rest = arith.remui %n, %c16 : i64
      %whole = arith.subi %n, %rest : i64
      %acc = scf.for %i = %c0 to %whole step %c16 iter_args(%a = %zero)
          -> (vector<16xf32>) : i64 {
        %p = llvm.getelementptr %in[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %x = llvm.load %p {alignment = 4} : !llvm.ptr -> vector<16xf32>
        %s = arith.addf %a, %x : vector<16xf32>
        scf.yield %s : vector<16xf32>
      }
      %sum = vector.reduction <add>, %acc : vector<16xf32> into f32
      %tail = scf.for %i = %whole to %n step %c1 iter_args(%a = %sum)
          -> (f32) : i64 {
        %p = llvm.getelementptr %in[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %x = llvm.load %p : !llvm.ptr -> f32
        %s = arith.addf %a, %x : f32
        scf.yield %s : f32
      }
      %max = vector.reduction <maximumf>, %acc : vector<16xf32> into f32
      %i32 = vector.step : vector<16xindex>
      %idx = arith.index_cast %i32 : vector<16xindex> to vector<16xi64>
      %last = vector.extract %idx[15] : i64 from vector<16xi64>
      %isLong = arith.cmpi ugt, %n, %last : i64
      %result = scf.if %isLong -> (f32) {
        %b = vector.broadcast %tail : f32 to vector<16xf32>
        %v = vector.insert %max, %b[3] : f32 into vector<16xf32>
        %e:16 = vector.to_elements %v : vector<16xf32>
        scf.yield %e#0 : f32
      } else {
        scf.yield %tail : f32
      }
      llvm.store %result, %out : f32, !llvm.ptr
      return
    }
  }
}
)mlir";

TEST(CPU, RowKernelInANestedModule) {
  for (StringRef level : {"x86-64-v2", "x86-64-v3", "native"}) {
    TestContext context;
    OwningOpRef<ModuleOp> outer = context.parse(kRowKernel);
    ModuleOp kernels = *outer->getOps<ModuleOp>().begin();
    OpenedKernels opened(context, kernels, level);
    ASSERT_TRUE(opened.isOpen());
    using Function = void (*)(const float *, float *, int64_t);
    auto rowSum = reinterpret_cast<Function>(opened.find("row_sum"));
    ASSERT_NE(rowSum, nullptr);
    for (int64_t count : {0, 1, 15, 16, 17, 513}) {
      std::vector<float> in(count);
      std::iota(in.begin(), in.end(), 1.0f);
      float out = -1;
      rowSum(in.data(), &out, count);
      EXPECT_EQ(out, float(count * (count + 1) / 2)) << count;
    }
  }
}

TEST(CPU, NoContractionUnlessAskedFor) {
  TestContext context;
  OwningOpRef<ModuleOp> module =
      context.parse(mapKernel("plain", "f32", "f32",
                              "%m = arith.mulf %x, %x : VT(f32)\n"
                              "%y = arith.subf %m, %x : VT(f32)"));
  OpenedKernels kernels(context, *module, "native");
  ASSERT_TRUE(kernels.isOpen());
  float x = 1.0f + 0x1p-23f;
  volatile float square = x * x;
  EXPECT_EQ((kernels.map<float, float>("plain", {x})[0]), square - x);
}

TEST(CPU, NarrowArithmeticIsRefused) {
  TestContext context;
  OwningOpRef<ModuleOp> module = context.parse(
      mapKernel("sum", "bf16", "bf16", "%y = arith.addf %x, %x : VT(bf16)"));
  EXPECT_TRUE(failed(convertKernelToLLVM(*module, KernelTarget::cpu())));
  EXPECT_NE(context.getDiagnostics().find(
                "`arith.addf` on `bf16` is not supported in kernels"),
            std::string::npos)
      << context.getDiagnostics();
}

TEST(CPU, CompilerRuntimeCallIsAnError) {
  TestContext context;
  OwningOpRef<ModuleOp> module = context.parse(R"mlir(
    llvm.func @half(%x: f64, %p: !llvm.ptr) {
      %h = llvm.fptrunc %x : f64 to f16
      llvm.store %h, %p : f16, !llvm.ptr
      llvm.return
    })mlir");
  std::string arch;
  EXPECT_TRUE(failed(compileToSharedObject(*module, "x86-64-v3", arch)));
  EXPECT_NE(context.getDiagnostics().find("kernels call `__truncdfhf2`"),
            std::string::npos)
      << context.getDiagnostics();
}

} // namespace
