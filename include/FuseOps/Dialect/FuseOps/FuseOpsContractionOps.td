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

    Gradient: `gradient * op(rhs)^T` and `op(lhs)^T * gradient`, each one product
    that reads its operands as they are stored. Saved: both operands.

    FP8: both operands may be quantized; the product is of the logical values. A
    quantized operand is read K-major: `lhs` from its row copy, or, with
    `transpose_lhs`, from its transposed one; `rhs` from its transposed copy, or,
    with `transpose_rhs`, from its row copy. `fast_accumulate` lets the tensor
    cores add in less than f32 (forward products of FP8, as TransformerEngine).

    ```mlir
    fuseops.fusible @f(%dy: tensor<?x16x64xbf16>, %x: tensor<?x16x32xbf16>) -> tensor<64x32xbf16>
    forward {
      %dw = fuseops.matmul %dy, %x transpose_lhs : tensor<?x16x64xbf16>, tensor<?x16x32xbf16> -> tensor<64x32xbf16>
      fuseops.return %dw : tensor<64x32xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_TensorOrQuantized:$lhs, FuseOps_TensorOrQuantized:$rhs,
    UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs, UnitAttr:$fast_accumulate);
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

    Gradient: `gradient * weight` for the input, `gradient^T * input` for the weight,
    and the sum over rows for the bias. Saved: input and weight.

    FP8: input and weight may be quantized; the product is of the logical values.
    Both are read from their row copies. `fast_accumulate` is as in
    `fuseops.matmul`.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>, %w: tensor<128x64xbf16>, %b: tensor<128xbf16>) -> tensor<?x128xbf16>
    forward {
      %y = fuseops.linear %x, %w bias(%b) : (tensor<?x64xbf16>, tensor<128x64xbf16>, tensor<128xbf16>) -> tensor<?x128xbf16>
      fuseops.return %y : tensor<?x128xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_TensorOrQuantized:$input, FuseOps_TensorOrQuantized:$weight,
    Optional<FuseOps_FloatTensor>:$bias, UnitAttr:$fast_accumulate);
  let results = (outs FuseOps_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $weight (`bias` `` `(` $bias^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FuseOps_ScaledMatmulOp : FuseOps_Op<"scaled_matmul", [Pure]> {
  let summary = "Product of FP8 matrices and their scales";
  let description = [{
    `result[m, n] = sum over k of lhs[m, k] * rhs[n, k]`, of the logical values
    `data * scale_inv`, plus `bias[n]`: what a `matmul` or `linear` of quantized
    operands becomes for a device that multiplies FP8. Both operands are K-major:
    `lhs` `[M, K]`, `rhs` `[N, K]`. `lhs_scale` and `rhs_scale` say what one scale
    covers; the scales lie as in `!fuseops.quantized`. Accumulates in f32, rounds
    once; with `fast_accumulate` the tensor cores may add in less.

    Gradient: none; it is made after differentiation. Saved: nothing.

    FP8: the plain buffers of the quantized operands.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xf8E4M3FN>, %xs: tensor<f32>, %w: tensor<128x64xf8E4M3FN>, %ws: tensor<f32>) -> tensor<?x128xbf16>
    forward {
      %y = fuseops.scaled_matmul %x[%xs] per_tensor, %w[%ws] per_tensor : (tensor<?x64xf8E4M3FN>, tensor<f32>, tensor<128x64xf8E4M3FN>, tensor<f32>) -> tensor<?x128xbf16>
      fuseops.return %y : tensor<?x128xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_Tensor:$lhs, FuseOps_Tensor:$lhs_scale_inv,
    FuseOps_Tensor:$rhs, FuseOps_Tensor:$rhs_scale_inv,
    Optional<FuseOps_FloatTensor>:$bias,
    FuseOps_ScaleKindAttr:$lhs_scale, FuseOps_ScaleKindAttr:$rhs_scale,
    UnitAttr:$fast_accumulate);
  let results = (outs FuseOps_FloatTensor:$result);
  let assemblyFormat = [{
    $lhs `[` $lhs_scale_inv `]` `` $lhs_scale `,`
    $rhs `[` $rhs_scale_inv `]` `` $rhs_scale
    (`bias` `` `(` $bias^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FuseOps_GroupedMatmulOp : FuseOps_Op<"grouped_matmul", [Pure, FuseOps_Differentiable]> {
  let summary = "Matrix products of groups of rows, each with a matrix of its own";
  let description = [{
    The rows of the first operand are cut into G groups, one after the other, of
    `sizes[i]` rows; a group may be empty. Rows past the last group give 0, and
    are not contracted. `sizes`, `[G]`, lies on the device.

    `result[rows of group i] = lhs[rows of group i] * op(rhs[i])`: lhs `[…, K]`,
    rhs `[G, K, N]`, or `[G, N, K]` with `transpose_rhs`, result `[…, N]`. With
    `transpose_lhs` the rows are contracted, as in a weight gradient:
    `result[i] = lhs[rows of group i]^T * rhs[rows of group i]`, lhs `[…, M]`,
    rhs `[…, N]`, result `[G, M, N]`; an empty group gives 0. Accumulates in f32
    (f64 for f64), rounds once.

    Gradients: `grouped_matmul`s with the same sizes; none of FP8 operands. Saved:
    the operands.

    FP8: with `transpose_rhs` both operands may be FP8, without scales: the product
    is of their elements. Scales are a multiplication of an f32 result.
    `fast_accumulate` is as in `fuseops.scaled_matmul`.

    ```mlir
    fuseops.fusible @f(%dy: tensor<?x64xbf16>, %x: tensor<?x32xbf16>, %n: tensor<8xi64>) -> tensor<8x64x32xbf16>
    forward {
      %dw = fuseops.grouped_matmul %dy, %x sizes(%n) transpose_lhs : tensor<?x64xbf16>, tensor<?x32xbf16>, tensor<8xi64> -> tensor<8x64x32xbf16>
      fuseops.return %dw : tensor<8x64x32xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_FactorTensor:$lhs, FuseOps_FactorTensor:$rhs,
    TensorOf<[I64]>:$sizes, UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs,
    UnitAttr:$fast_accumulate);
  let results = (outs FuseOps_FloatTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `sizes` `` `(` $sizes `)` (`transpose_lhs` $transpose_lhs^)?
    (`transpose_rhs` $transpose_rhs^)? attr-dict `:` type($lhs) `,` type($rhs) `,`
    type($sizes) `->` type($result)
  }];
  let hasVerifier = 1;
}

def FuseOps_GroupedLinearOp : FuseOps_Op<"grouped_linear", [Pure, FuseOps_Differentiable,
    AttrSizedOperandSegments]> {
  let summary = "Groups of rows, each through a linear layer of its own";
  let description = [{
    The rows of `input` are cut into G groups as in `fuseops.grouped_matmul`:
    `result[rows of group i] = input[rows of group i] * weight[i]^T + bias[i]`.
    Input `[…, K]`, weight `[G, N, K]`, bias `[G, N]`, optional. `bias_scale`,
    `[…, 1]`, optional, multiplies the bias of each row (TransformerEngine's
    GroupedLinear with scaled bias). The bias is added after the product's
    rounding: before kernels are planned it becomes `grouped_matmul`s and an `add`.

    Gradients: `grouped_matmul`s with the same sizes. Saved: input, weight, sizes
    and what scales the bias.

    FP8: the operands are high precision.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>, %w: tensor<8x128x64xbf16>, %n: tensor<8xi64>, %b: tensor<8x128xbf16>) -> tensor<?x128xbf16>
    forward {
      %y = fuseops.grouped_linear %x, %w sizes(%n) bias(%b) : (tensor<?x64xbf16>, tensor<8x128x64xbf16>, tensor<8xi64>, tensor<8x128xbf16>) -> tensor<?x128xbf16>
      fuseops.return %y : tensor<?x128xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_FloatTensor:$input, FuseOps_FloatTensor:$weight,
    TensorOf<[I64]>:$sizes, Optional<FuseOps_FloatTensor>:$bias,
    Optional<FuseOps_FloatTensor>:$bias_scale);
  let results = (outs FuseOps_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $weight `sizes` `` `(` $sizes `)` (`bias` `` `(` $bias^ `)`)?
    (`bias_scale` `` `(` $bias_scale^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Writes the operation as grouped products and, with a bias, a sum.
    ::mlir::Value expand(::mlir::OpBuilder &builder);
  }];
}

#endif // FUSEOPS_DIALECT_FUSEOPS_FUSEOPSCONTRACTIONOPS_TD
