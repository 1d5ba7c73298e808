//===- FuseOpsInterfaces.td - What passes ask of an operation
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_FUSEOPSINTERFACES_TD
#define FUSEOPS_DIALECT_FUSEOPS_FUSEOPSINTERFACES_TD

include "mlir/IR/OpBase.td"

def FuseOps_FusibleOpInterface : OpInterface<"FusibleOpInterface"> {
  let cppNamespace = "::mlir::fuseops";
  let description = [{
    An operation that a memory kernel can hold. It says over which space it
    iterates and how it is written in the core operations that the kernel
    templates understand: `pointwise`, `reduce_columns`, `reduce_rows`, `slice`,
    `permute`, `concat` and `reshape`.
  }];
  let methods = [
    InterfaceMethod<[{
      The tensor whose elements the operation visits: its leading dimensions
      together are the rows of the iteration space, its last one the columns.
      Operands and results index it as their shapes say: the same shape, a row
      vector `[N]`, one value a row `[…, 1]`, or a scalar.
    }], "::mlir::RankedTensorType", "getIterationSpace", (ins), "", [{
      return ::mlir::fuseops::detail::largestTensor($_op.getOperation());
    }]>,
    InterfaceMethod<[{
      Writes the operation in core operations on `operands` (the operation's own
      operands, or values that stand for them) and returns one value a result.
      A core operation clones itself.
    }], "::llvm::SmallVector<::mlir::Value>", "decompose",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands), "", [{
      return ::mlir::fuseops::detail::cloneWith($_op.getOperation(), builder, operands);
    }]>
  ];
}

def FuseOps_DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::mlir::fuseops";
  let description = [{
    An operation with a gradient rule of its own. An operation of a memory kernel
    without one is differentiated through its decomposition. The rule may use the
    operation's operands and results; what it uses is what forward has to save.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the gradients of the operands. `gradients` holds one value a result,
      null where nothing depends on that result. `needed` says for each operand
      whether its gradient is asked for. Returns one value an operand, null where
      it was not asked for or is zero; fails, with an error on the operation,
      where a gradient that was asked for does not exist.
    }], "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "buildGradients",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$gradients,
           "::llvm::ArrayRef<bool>":$needed)>
  ];
}

def FuseOps_GluOpInterface : OpInterface<"GluOpInterface"> {
  let cppNamespace = "::mlir::fuseops";
  let description = [{
    A gated linear unit: `activate(a) * gate(b)`, times a factor a row if it has
    a scale, where `a` and `b` are the two halves of a packed input.
  }];
  let methods = [
    InterfaceMethod<"The packed input, `[…, 2N]`.", "::mlir::Value", "getInput">,
    InterfaceMethod<"The factor of each row, `[…, 1]`; may be null.",
      "::mlir::Value", "getScale">,
    InterfaceMethod<"The half that holds `a`.", "::mlir::fuseops::HalfOrder",
      "getActivation">,
    InterfaceMethod<[{
      Columns of the blocks in which `a` and `b` alternate; 0 where they are
      halves.
    }], "uint64_t", "getInterleave">,
    InterfaceMethod<"The function of `a`.", "::mlir::Value", "activate",
      (ins "::mlir::fuseops::ScalarMath &":$m, "::mlir::Value":$a)>,
    InterfaceMethod<"The gradient of `a`, where its function gets `gradient`.",
      "::mlir::Value", "activationGradient",
      (ins "::mlir::fuseops::ScalarMath &":$m, "::mlir::Value":$a,
           "::mlir::Value":$gradient)>,
    InterfaceMethod<"The function of `b`.", "::mlir::Value", "gate",
      (ins "::mlir::fuseops::ScalarMath &":$m, "::mlir::Value":$b), "",
      [{ return b; }]>,
    InterfaceMethod<"The gradient of `b`, where its function gets `gradient`.",
      "::mlir::Value", "gateGradient",
      (ins "::mlir::fuseops::ScalarMath &":$m, "::mlir::Value":$b,
           "::mlir::Value":$gradient), "",
      [{ return gradient; }]>
  ];
  let verify = [{ return ::mlir::fuseops::detail::verifyGlu($_op); }];
}

def FuseOps_QuantizableOpInterface : OpInterface<"QuantizableOpInterface"> {
  let cppNamespace = "::mlir::fuseops";
  let description = [{
    An operation that has a place in quantization: it takes quantized operands
    (a contraction), or a quantize moves through it to its producer.
  }];
  let methods = [
    InterfaceMethod<[{
      The operands that may be quantized tensors.
    }], "::llvm::SmallVector<unsigned>", "getQuantizableOperands", (ins), "",
      [{ return {}; }]>,
    InterfaceMethod<[{
      Whether quantizing the result is the same, bit for bit, as quantizing the
      first operand and applying the operation to the FP8 data, for scales that
      cover what `scale` says.
    }], "bool", "commutesWithQuantize",
      (ins "::mlir::fuseops::ScaleKind":$scale), "", [{ return false; }]>
  ];
}

#endif // FUSEOPS_DIALECT_FUSEOPS_FUSEOPSINTERFACES_TD
