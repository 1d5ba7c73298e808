//===- FuseOpsLayoutOps.td - Operations that move or rename elements
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_FUSEOPSLAYOUTOPS_TD
#define FUSEOPS_DIALECT_FUSEOPS_FUSEOPSLAYOUTOPS_TD

include "FuseOps/Dialect/FuseOps/FuseOpsConstraints.td"

def FuseOps_ReshapeOp : FuseOps_Op<"reshape", [Pure, FuseOps_Differentiable,
    DeclareOpInterfaceMethods<FuseOps_QuantizableOpInterface, ["commutesWithQuantize"]>]> {
  let summary = "The same elements under another shape";
  let description = [{
    Row-major order is kept and nothing moves: lowering records an alias.
    Squeezing and unsqueezing are reshapes too.

    Gradient: the incoming one in the input's shape. Saved: nothing.

    FP8: commutes with a quantize whose scales cover the whole tensor, and, where
    the last dimension stays, with any scale of one row or less.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x4x16xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.reshape %x : tensor<?x4x16xbf16> -> tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_Tensor:$input);
  let results = (outs FuseOps_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def FuseOps_SliceOp : FuseOps_MemoryOp<"slice", [FuseOps_Differentiable]> {
  let summary = "Equally spaced elements of one dimension";
  let description = [{
    `result[…, i, …] = input[…, offset + i * step, …]` along dimension `dim`;
    `step` is 1 unless it is written, and may be negative. A kernel reads
    through it. A dimension of symbolic size cannot be sliced.

    Gradient: the incoming one among zeros; slices that together cover their
    input become one `concat`. Saved: nothing.

    FP8: commutes with a quantize whose scale covers the tensor, or covers one
    row where whole rows are taken.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x128xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.slice %x dim(1) offset(64) : tensor<?x128xbf16> -> tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_Tensor:$input, I64Attr:$dim, I64Attr:$offset,
    DefaultValuedAttr<I64Attr, "1">:$step);
  let results = (outs FuseOps_Tensor:$result);
  let assemblyFormat = [{
    $input `dim` `` `(` custom<Integer>($dim) `)` `offset` `` `(` custom<Integer>($offset) `)`
    `` custom<Step>($step) attr-dict `:` type($input) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$input,
    "int64_t":$dim, "int64_t":$offset, CArg<"int64_t", "1">:$step), [{
      auto &properties = $_state.getOrAddProperties<Properties>();
      properties.dim = $_builder.getI64IntegerAttr(dim);
      properties.offset = $_builder.getI64IntegerAttr(offset);
      properties.step = $_builder.getI64IntegerAttr(step);
      $_state.addOperands(input);
      $_state.addTypes(result);
  }]>];
  let skipDefaultBuilders = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getIterationSpace() { return getType(); }
  }];
}

def FuseOps_ConcatOp : FuseOps_MemoryOp<"concat", [FuseOps_Differentiable]> {
  let summary = "Tensors joined along one dimension";
  let description = [{
    The inputs one after the other along dimension `dim`; their other dimensions
    agree. Along the last dimension, or where the inputs are of one size, a
    kernel writes through it; else it reads through it.

    Gradient: the slices of the incoming one. Saved: nothing.

    FP8: commutes with a quantize whose scale covers the tensor.

    ```mlir
    fuseops.fusible @f(%a: tensor<?x64xbf16>, %b: tensor<?x64xbf16>) -> tensor<?x128xbf16>
    forward {
      %y = fuseops.concat %a, %b dim(1) : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x128xbf16>
      fuseops.return %y : tensor<?x128xbf16>
    }
    ```
  }];
  let arguments = (ins Variadic<FuseOps_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs FuseOps_Tensor:$result);
  let assemblyFormat = "$inputs `dim` `` `(` custom<Integer>($dim) `)` attr-dict `:` functional-type($inputs, $result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether a kernel visits the inputs and writes each to its place. Else it
    /// visits the result and reads from the input that an element comes from.
    bool isScattered();
    ::mlir::RankedTensorType getIterationSpace();
  }];
}

def FuseOps_PermuteOp : FuseOps_MemoryOp<"permute", [FuseOps_Differentiable]> {
  let summary = "The same elements with the dimensions in another order";
  let description = [{
    Dimension `i` of the result is dimension `order[i]` of the input. A kernel
    reads through it, or writes through it where no other operation of a memory
    kernel reads the result.

    Gradient: the inverse permutation of the incoming one. Saved: nothing.

    FP8: commutes with a quantize whose scale covers the tensor. A tensor with
    1x128 scales is never transposed in FP8.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x4x64xbf16>) -> tensor<4x?x64xbf16>
    forward {
      %y = fuseops.permute %x order[1, 0, 2] : tensor<?x4x64xbf16> -> tensor<4x?x64xbf16>
      fuseops.return %y : tensor<4x?x64xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_Tensor:$input, DenseI64ArrayAttr:$order);
  let results = (outs FuseOps_Tensor:$result);
  let assemblyFormat = "$input `order` `` $order attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def FuseOps_ExpandOp : FuseOps_MemoryOp<"expand", [FuseOps_Differentiable]> {
  let summary = "Repeats elements by broadcasting";
  let description = [{
    The input broadcast to the result's shape by NumPy's rules. Where an
    operation broadcasts its operands itself, no `expand` is needed.

    Gradient: the incoming one summed over what was repeated. Saved: nothing.

    FP8: commutes with a quantize whose scale covers the tensor.

    ```mlir
    fuseops.fusible @f(%x: tensor<64xbf16>) -> tensor<8x64xbf16>
    forward {
      %y = fuseops.expand %x : tensor<64xbf16> -> tensor<8x64xbf16>
      fuseops.return %y : tensor<8x64xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_Tensor:$input);
  let results = (outs FuseOps_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // FUSEOPS_DIALECT_FUSEOPS_FUSEOPSLAYOUTOPS_TD
