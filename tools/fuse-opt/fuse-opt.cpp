//===- fuse-opt.cpp - The MLIR tool of FuseOps ---------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Compiler/Pipelines.h"
#include "FuseOps/Conversion/TorchToFuseOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

static llvm::cl::opt<bool> listTorchOps(
    "list-torch-ops",
    llvm::cl::desc("Print the torch operations that have a conversion"));

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::fuseops::registerDialects(registry);
  mlir::fuseops::registerPasses();
  mlir::registerTransformsPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "FuseOps optimizer\n", registry);
  if (listTorchOps) {
    for (const std::string &name : mlir::fuseops::getConvertibleTorchOps())
      llvm::outs() << name << '\n';
    return 0;
  }
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, input, output, registry));
}
