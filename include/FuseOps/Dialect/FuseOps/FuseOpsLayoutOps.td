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

def FuseOps_SliceColumnsOp : FuseOps_MemoryOp<"slice_columns", [FuseOps_Differentiable]> {
  let summary = "Some neighbouring columns of each row";
  let description = [{
    `result[…, j] = input[…, offset + j]`. A kernel reads through it.

    FP8: commutes with a quantize whose scale covers one row or the tensor.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x128xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.slice_columns %x offset(64) : tensor<?x128xbf16> -> tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_Tensor:$input, I64Attr:$offset);
  let results = (outs FuseOps_Tensor:$result);
  let assemblyFormat = "$input `offset` `` `(` custom<Integer>($offset) `)` attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def FuseOps_ConcatColumnsOp : FuseOps_MemoryOp<"concat_columns", [FuseOps_Differentiable]> {
  let summary = "Rows joined end to end";
  let description = [{
    The columns of all inputs side by side; their leading dimensions agree. A
    kernel writes through it.

    FP8: commutes with a quantize whose scale covers the tensor.

    ```mlir
    fuseops.fusible @f(%a: tensor<?x64xbf16>, %b: tensor<?x64xbf16>) -> tensor<?x128xbf16>
    forward {
      %y = fuseops.concat_columns %a, %b : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x128xbf16>
      fuseops.return %y : tensor<?x128xbf16>
    }
    ```
  }];
  let arguments = (ins Variadic<FuseOps_Tensor>:$inputs);
  let results = (outs FuseOps_Tensor:$result);
  let assemblyFormat = "$inputs attr-dict `:` functional-type($inputs, $result)";
  let hasVerifier = 1;
}

#endif // FUSEOPS_DIALECT_FUSEOPS_FUSEOPSLAYOUTOPS_TD
