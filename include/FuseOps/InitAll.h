//===- InitAll.h - Registration of every dialect and pass, in one place --===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_INITALL_H
#define FUSEOPS_INITALL_H

#include "FuseOps/Conversion/Passes.h"
#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Dialect/Torch/Torch.h"
#include "FuseOps/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::fuseops {

/// Registers every dialect that a FuseOps program meets on its way.
inline void registerAllDialects(DialectRegistry &registry) {
  registry.insert<FuseOpsDialect, torch::TorchDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, NVVM::NVVMDialect, scf::SCFDialect,
                  vector::VectorDialect>();
}

/// Registers every pass of FuseOps, and MLIR's general ones, by name.
inline void registerAllPasses() {
  registerTransformsPasses();
  registerFuseOpsTransformsPasses();
  registerFuseOpsConversionPasses();
}

} // namespace mlir::fuseops

#endif // FUSEOPS_INITALL_H
