//===- FuseOpsContractionOps.td - Matrix products
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_FUSEOPSCONTRACTIONOPS_TD
#define FUSEOPS_DIALECT_FUSEOPS_FUSEOPSCONTRACTIONOPS_TD

include "FuseOps/Dialect/FuseOps/FuseOpsConstraints.td"

defvar FuseOps_Contraction = DeclareOpInterfaceMethods<
  FuseOps_QuantizableOpInterface, ["getQuantizableOperands"]>;

def FuseOps_MatmulOp : FuseOps_Op<"matmul", [Pure, FuseOps_Differentiable, FuseOps_Contraction]> {
  let summary = "Matrix product, each operand transposed or not";
  let description = [{
    `result = op(lhs) * op(rhs)`. An operand of higher rank is the matrix of its
    rows: `[…, K]` is `[rows, K]`. With `transpose_lhs` the rows of `lhs` are
    contracted (as in a weight gradient). The result has the leading dimensions
    of `lhs`, or, with `transpose_lhs`, its last one, then the columns of
    `op(rhs)`. Accumulates in f32 (f64 for f64), rounds once.

    FP8: both operands may be quantized; the product is of the logical values.

    ```mlir
    fuseops.fusible @f(%dy: tensor<?x16x64xbf16>, %x: tensor<?x16x32xbf16>) -> tensor<64x32xbf16>
    forward {
      %dw = fuseops.matmul %dy, %x transpose_lhs : tensor<?x16x64xbf16>, tensor<?x16x32xbf16> -> tensor<64x32xbf16>
      fuseops.return %dw : tensor<64x32xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_TensorOrQuantized:$lhs, FuseOps_TensorOrQuantized:$rhs,
    UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs);
  let results = (outs FuseOps_FloatTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`transpose_lhs` $transpose_lhs^)? (`transpose_rhs` $transpose_rhs^)? attr-dict
    `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
}

def FuseOps_LinearOp : FuseOps_Op<"linear", [Pure, FuseOps_Differentiable, FuseOps_Contraction]> {
  let summary = "Product with a weight, as torch.nn.Linear";
  let description = [{
    `result = input * weight^T + bias`: input `[…, K]`, weight `[N, K]`, bias
    `[N]`, optional. Accumulates in f32 (f64 for f64); the bias is added before
    the only rounding.

    Gradients: `gradient * weight`, `gradient^T * input`, and the sum over rows.

    FP8: input and weight may be quantized; the product is of the logical values.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>, %w: tensor<128x64xbf16>, %b: tensor<128xbf16>) -> tensor<?x128xbf16>
    forward {
      %y = fuseops.linear %x, %w bias(%b) : (tensor<?x64xbf16>, tensor<128x64xbf16>, tensor<128xbf16>) -> tensor<?x128xbf16>
      fuseops.return %y : tensor<?x128xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_TensorOrQuantized:$input, FuseOps_TensorOrQuantized:$weight,
    Optional<FuseOps_FloatTensor>:$bias);
  let results = (outs FuseOps_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $weight (`bias` `` `(` $bias^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // FUSEOPS_DIALECT_FUSEOPS_FUSEOPSCONTRACTIONOPS_TD
