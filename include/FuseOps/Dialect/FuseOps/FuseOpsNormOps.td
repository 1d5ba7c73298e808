//===- FuseOpsNormOps.td - Normalizations and reductions
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_FUSEOPSNORMOPS_TD
#define FUSEOPS_DIALECT_FUSEOPS_FUSEOPSNORMOPS_TD

include "FuseOps/Dialect/FuseOps/FuseOpsConstraints.td"

def FuseOps_LayerNormOp : FuseOps_MemoryOp<"layer_norm",
    [FuseOps_Differentiable, AttrSizedOperandSegments]> {
  let summary = "Layer normalization over the last dimension";
  let description = [{
    For each row of N elements: `mean = sum(x) / N`,
    `rstd = 1 / sqrt(sum((x - mean)^2) / N + eps)` (two passes, no difference of
    squares), `result = (x - mean) * rstd * gamma + beta`. `mean` and `rstd` have
    shape `[…, 1]`, f32 (f64 for an f64 input). With `zero_centered_gamma` the
    factor is `1 + gamma`. `gamma` and `beta` are optional, `[N]`.

    Gradient: `layer_norm_grad`; for beta the incoming one's sum over the rows.
    Saved: the input, gamma, `mean` and `rstd`.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>, %g: tensor<64xbf16>, %b: tensor<64xbf16>) -> tensor<?x64xbf16>
    forward {
      %y, %mean, %rstd = fuseops.layer_norm %x gamma(%g) beta(%b) eps(1.0e-5) : (tensor<?x64xbf16>, tensor<64xbf16>, tensor<64xbf16>) -> (tensor<?x64xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_FloatTensor:$input, Optional<FuseOps_FloatTensor>:$gamma,
    Optional<FuseOps_FloatTensor>:$beta, F64Attr:$eps, UnitAttr:$zero_centered_gamma);
  let results = (outs FuseOps_FloatTensor:$result, FuseOps_StatTensor:$mean, FuseOps_StatTensor:$rstd);
  let assemblyFormat = [{
    $input (`gamma` `` `(` $gamma^ `)`)? (`beta` `` `(` $beta^ `)`)? `eps` `` `(` custom<Double>($eps) `)`
    (`zero_centered_gamma` $zero_centered_gamma^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FuseOps_LayerNormGradOp : FuseOps_MemoryOp<"layer_norm_grad"> {
  let summary = "Gradient of layer_norm";
  let description = [{
    With `g = gradient * gamma` and `h = (x - mean) * rstd`:
    `result = rstd * (g - sum(g) / N - h * sum(g * h) / N)`, and, where there is a
    gamma, `gamma_gradient = sum over rows (gradient * h)`, accumulated in f32.
    The gradient of beta is `reduce_rows sum` of the incoming gradient.

    Gradient: through its decomposition. Saved: its operands.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%dy: tensor<?x64xbf16>, %x: tensor<?x64xbf16>, %m: tensor<?x1xf32>, %r: tensor<?x1xf32>, %g: tensor<64xbf16>) -> (tensor<?x64xbf16>, tensor<64xbf16>)
    forward {
      %dx, %dg = fuseops.layer_norm_grad %dy, %x, %m, %r gamma(%g) : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<64xbf16>) -> (tensor<?x64xbf16>, tensor<64xbf16>)
      fuseops.return %dx, %dg : tensor<?x64xbf16>, tensor<64xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_FloatTensor:$gradient, FuseOps_FloatTensor:$input,
    FuseOps_StatTensor:$mean, FuseOps_StatTensor:$rstd, Optional<FuseOps_FloatTensor>:$gamma,
    UnitAttr:$zero_centered_gamma);
  let results = (outs FuseOps_FloatTensor:$result, Optional<FuseOps_FloatTensor>:$gamma_gradient);
  let assemblyFormat = [{
    $gradient `,` $input `,` $mean `,` $rstd (`gamma` `` `(` $gamma^ `)`)?
    (`zero_centered_gamma` $zero_centered_gamma^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FuseOps_RmsNormOp : FuseOps_MemoryOp<"rms_norm", [FuseOps_Differentiable]> {
  let summary = "Root-mean-square normalization over the last dimension";
  let description = [{
    For each row of N elements: `rstd = 1 / sqrt(sum(x^2) / N + eps)`,
    `result = x * rstd * gamma`. `rstd` has shape `[…, 1]`, f32 (f64 for an f64
    input). With `zero_centered_gamma` the factor is `1 + gamma`. `gamma` is
    optional, `[N]`.

    Gradient: `rms_norm_grad`. Saved: the input, gamma and `rstd`.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>, %g: tensor<64xbf16>) -> tensor<?x64xbf16>
    forward {
      %y, %rstd = fuseops.rms_norm %x gamma(%g) eps(1.0e-6) : (tensor<?x64xbf16>, tensor<64xbf16>) -> (tensor<?x64xbf16>, tensor<?x1xf32>)
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_FloatTensor:$input, Optional<FuseOps_FloatTensor>:$gamma,
    F64Attr:$eps, UnitAttr:$zero_centered_gamma);
  let results = (outs FuseOps_FloatTensor:$result, FuseOps_StatTensor:$rstd);
  let assemblyFormat = [{
    $input (`gamma` `` `(` $gamma^ `)`)? `eps` `` `(` custom<Double>($eps) `)`
    (`zero_centered_gamma` $zero_centered_gamma^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FuseOps_RmsNormGradOp : FuseOps_MemoryOp<"rms_norm_grad"> {
  let summary = "Gradient of rms_norm";
  let description = [{
    With `g = gradient * gamma` and `h = x * rstd`:
    `result = rstd * (g - h * sum(g * h) / N)`, and, where there is a gamma,
    `gamma_gradient = sum over rows (gradient * h)`, accumulated in f32.

    Gradient: through its decomposition. Saved: its operands.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%dy: tensor<?x64xbf16>, %x: tensor<?x64xbf16>, %r: tensor<?x1xf32>, %g: tensor<64xbf16>) -> (tensor<?x64xbf16>, tensor<64xbf16>)
    forward {
      %dx, %dg = fuseops.rms_norm_grad %dy, %x, %r gamma(%g) : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x1xf32>, tensor<64xbf16>) -> (tensor<?x64xbf16>, tensor<64xbf16>)
      fuseops.return %dx, %dg : tensor<?x64xbf16>, tensor<64xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_FloatTensor:$gradient, FuseOps_FloatTensor:$input,
    FuseOps_StatTensor:$rstd, Optional<FuseOps_FloatTensor>:$gamma, UnitAttr:$zero_centered_gamma);
  let results = (outs FuseOps_FloatTensor:$result, Optional<FuseOps_FloatTensor>:$gamma_gradient);
  let assemblyFormat = [{
    $gradient `,` $input `,` $rstd (`gamma` `` `(` $gamma^ `)`)?
    (`zero_centered_gamma` $zero_centered_gamma^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FuseOps_L2NormOp : FuseOps_MemoryOp<"l2_norm", [FuseOps_Differentiable]> {
  let summary = "Normalization of each row to unit length";
  let description = [{
    For each row: `reciprocal_norm = 1 / sqrt(sum(x^2) + eps)`,
    `result = x * reciprocal_norm`. `reciprocal_norm` has shape `[…, 1]`, f32 (f64
    for an f64 input).

    Gradient, with `r` the reciprocal norm: `r * (gradient - h * sum(gradient * h))`
    with `h = x * r`. Saved: the input and the reciprocal norm.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16>
    forward {
      %y, %r = fuseops.l2_norm %x eps(1.0e-6) : tensor<?x64xbf16> -> (tensor<?x64xbf16>, tensor<?x1xf32>)
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_FloatTensor:$input, F64Attr:$eps);
  let results = (outs FuseOps_FloatTensor:$result, FuseOps_StatTensor:$reciprocal_norm);
  let assemblyFormat = [{
    $input `eps` `` `(` custom<Double>($eps) `)` attr-dict `:` type($input) `->`
    `(` type($result) `,` type($reciprocal_norm) `)`
  }];
  let hasVerifier = 1;
}

// A reduction of a whole dimension.
class FuseOps_ReduceOp<string mnemonic> : FuseOps_MemoryOp<mnemonic, [FuseOps_Differentiable]> {
  let arguments = (ins FuseOps_NumberTensor:$input, FuseOps_ReductionKindAttr:$kind);
  let results = (outs FuseOps_NumberTensor:$result);
  let assemblyFormat = "custom<ReductionKind>($kind) $input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def FuseOps_ReduceRowsOp : FuseOps_ReduceOp<"reduce_rows"> {
  let summary = "Reduces all rows to one row";
  let description = [{
    `[…, N] -> [N]`, or to a scalar `[]` where N is 1: `result[j]` is the sum, the
    maximum or the minimum of `input[…, j]` over all rows. Floats accumulate in
    f32 (f64 for f64), in an order that depends on the shape only; `max` and
    `min` propagate NaN. Integers and bools accumulate in i64 and wrap to the
    result's type; as an i1, a sum is whether it is not 0.

    Over no rows, `sum` is 0, and `max` and `min` are the type's smallest and
    largest value. Of an input known to have no rows they are refused.

    Gradient: of `sum` the incoming one for each row; of `max` and `min` shared
    equally among the elements that equal the result; integers have none. Saved:
    for `max` and `min` the input and the result; for `sum` nothing.

    FP8: the input is high precision; the result may be quantized.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<64xf32>
    forward {
      %y = fuseops.reduce_rows sum %x : tensor<?x64xbf16> -> tensor<64xf32>
      fuseops.return %y : tensor<64xf32>
    }
    ```
  }];
}

def FuseOps_ReduceColumnsOp : FuseOps_ReduceOp<"reduce_columns"> {
  let summary = "Reduces each row to one value";
  let description = [{
    `[…, N] -> […, 1]`: `result[…, 0]` is the sum, the maximum or the minimum of
    `input[…, j]` over all `j`. Accumulation, NaN, integers and gradients are as
    in `fuseops.reduce_rows`. Over no columns, `sum` is 0, and `max` and `min` are
    refused.

    Gradient: as that of `fuseops.reduce_rows`, over the columns. Saved: for `max`
    and `min` the input and the result; for `sum` nothing.

    FP8: the input is high precision; the result may be quantized.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<?x1xf32>
    forward {
      %y = fuseops.reduce_columns max %x : tensor<?x64xbf16> -> tensor<?x1xf32>
      fuseops.return %y : tensor<?x1xf32>
    }
    ```
  }];
}

#endif // FUSEOPS_DIALECT_FUSEOPS_FUSEOPSNORMOPS_TD
