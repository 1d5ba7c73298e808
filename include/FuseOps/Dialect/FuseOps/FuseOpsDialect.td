//===- FuseOpsDialect.td - The dialect, and the base class of its operations
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_FUSEOPSDIALECT_TD
#define FUSEOPS_DIALECT_FUSEOPS_FUSEOPSDIALECT_TD

include "mlir/IR/OpBase.td"

def FuseOps_Dialect : Dialect {
  let name = "fuseops";
  let cppNamespace = "::mlir::fuseops";
  let summary = "The fusible part of a training step, forward and backward";
  let description = [{
    A program is a set of `fuseops.fusible` symbols. Each holds a forward region
    and, once given or derived, a backward region, so that the two are fused
    separately. Tensors are builtin tensors or `!fuseops.quantized` ones; the
    last dimension is the row, all leading dimensions together are the rows, and
    only the number of rows may be symbolic (`?`, one symbol a program).

    Unless an operation says otherwise, it computes in f32 (f64 where an operand
    is f64) and rounds once, to nearest even, to its result's element type.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let extraClassDeclaration = [{
    void registerTypes();
  }];
}

class FuseOps_Op<string mnemonic, list<Trait> traits = []>
    : Op<FuseOps_Dialect, mnemonic, traits>;

#endif // FUSEOPS_DIALECT_FUSEOPS_FUSEOPSDIALECT_TD
