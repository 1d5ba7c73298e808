//===- TestKernels.cpp - Kernels from text, compiled and opened -----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernels.h"

#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Target/CPU.h"
#include "FuseOps/Target/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::fuseops;

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registry
      .insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
              math::MathDialect, scf::SCFDialect, vector::VectorDialect,
              LLVM::LLVMDialect, NVVM::NVVMDialect, FuseOpsDialect>();
  registerTargetTranslations(registry);
  return registry;
}

TestContext::TestContext()
    : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
  context.loadAllAvailableDialects();
  context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    llvm::raw_string_ostream(diagnostics)
        << diagnostic.getLocation() << ": " << diagnostic << "\n";
    return success();
  });
}

OwningOpRef<ModuleOp> TestContext::parse(StringRef text) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << diagnostics;
  return module;
}

OpenedKernels::OpenedKernels(TestContext &context, ModuleOp kernels,
                             StringRef cpu) {
  FailureOr<std::string> level = resolveCPU(kernels.getLoc(), cpu);
  if (failed(level) ||
      failed(convertKernelToLLVM(kernels,
                                 KernelTarget::cpu(hasNativeHalf(*level))))) {
    ADD_FAILURE() << context.getDiagnostics();
    return;
  }
  std::string arch;
  FailureOr<SmallVector<char>> object =
      compileToSharedObject(kernels, cpu, arch);
  if (failed(object)) {
    ADD_FAILURE() << context.getDiagnostics();
    return;
  }
  int file = memfd_create("kernels", MFD_CLOEXEC);
  EXPECT_EQ(write(file, object->data(), object->size()),
            ssize_t(object->size()));
  std::string path = "/proc/self/fd/" + std::to_string(file);
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  close(file);
}

OpenedKernels::~OpenedKernels() {
  if (library)
    dlclose(library);
}

void *OpenedKernels::find(const char *name) const {
  void *function = library ? dlsym(library, name) : nullptr;
  EXPECT_NE(function, nullptr) << name;
  return function;
}

std::string mlir::fuseops::mapKernel(StringRef name, StringRef inType,
                                     StringRef outType, StringRef body,
                                     unsigned width) {
  auto vectorOf = [&](StringRef type) {
    return width == 0
               ? type.str()
               : "vector<" + std::to_string(width) + "x" + type.str() + ">";
  };
  std::string expanded;
  while (true) {
    auto [before, rest] = body.split("VT(");
    expanded += before;
    if (rest.empty())
      break;
    auto [type, after] = rest.split(")");
    expanded += vectorOf(type);
    body = after;
  }
  auto alignmentOf = [](StringRef type) {
    return llvm::StringSwitch<unsigned>(type)
        .Cases({"f64", "i64"}, 8)
        .Cases({"f32", "i32"}, 4)
        .Cases({"f16", "bf16", "i16"}, 2)
        .Default(1);
  };
  std::string in = inType.str(), out = outType.str();
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "func.func @" << name
         << "(%in: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr {llvm.noalias},"
         << " %n: i64) {\n"
         << "  %zero = arith.constant 0 : i64\n"
         << "  %step = arith.constant " << std::max(width, 1u) << " : i64\n"
         << "  scf.for %i = %zero to %n step %step : i64 {\n"
         << "    %p = llvm.getelementptr %in[%i] : (!llvm.ptr, i64) -> "
            "!llvm.ptr, "
         << in << "\n"
         << "    %x = llvm.load %p {alignment = " << alignmentOf(in)
         << "} : !llvm.ptr -> " << vectorOf(in) << "\n"
         << expanded << "\n"
         << "    %q = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> "
            "!llvm.ptr, "
         << out << "\n"
         << "    llvm.store %y, %q {alignment = " << alignmentOf(out)
         << "} : " << vectorOf(out) << ", !llvm.ptr\n"
         << "  }\n  return\n}\n";
  return text;
}
