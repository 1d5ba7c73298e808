//===- FuseOpsSoftmaxOps.td - Softmax and what is made of it
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_FUSEOPSSOFTMAXOPS_TD
#define FUSEOPS_DIALECT_FUSEOPS_FUSEOPSSOFTMAXOPS_TD

include "FuseOps/Dialect/FuseOps/FuseOpsConstraints.td"

// A function of each row that gives a row.
class FuseOps_SoftmaxFamilyOp<string mnemonic> : FuseOps_MemoryOp<mnemonic, [FuseOps_Differentiable]> {
  let arguments = (ins FuseOps_FloatTensor:$input);
  let results = (outs FuseOps_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}
class FuseOps_SoftmaxFamilyGradOp<string mnemonic> : FuseOps_MemoryOp<mnemonic> {
  let arguments = (ins FuseOps_FloatTensor:$gradient, FuseOps_FloatTensor:$output);
  let results = (outs FuseOps_FloatTensor:$result);
  let assemblyFormat = [{
    $gradient `,` $output attr-dict `:` type($gradient) `,` type($output) `->` type($result)
  }];
  let hasVerifier = 1;
}

def FuseOps_SoftmaxOp : FuseOps_SoftmaxFamilyOp<"softmax"> {
  let summary = "Exponentials of a row, divided by their sum";
  let description = [{
    `result = exp(x - m) / sum(exp(x - m))` over the last dimension, `m` the row's
    maximum. A row of -inf only gives NaN, as in PyTorch.

    Gradient: `softmax_grad`. Saved: the result.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.softmax %x : tensor<?x64xbf16> -> tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
}

def FuseOps_SoftmaxGradOp : FuseOps_SoftmaxFamilyGradOp<"softmax_grad"> {
  let summary = "Gradient of softmax";
  let description = [{
    `y * (gradient - sum(gradient * y))` over the last dimension, `y` the output
    of softmax.

    Gradient: through its decomposition. Saved: its operands.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%dy: tensor<?x64xbf16>, %y: tensor<?x64xbf16>) -> tensor<?x64xbf16>
    forward {
      %dx = fuseops.softmax_grad %dy, %y : tensor<?x64xbf16>, tensor<?x64xbf16> -> tensor<?x64xbf16>
      fuseops.return %dx : tensor<?x64xbf16>
    }
    ```
  }];
}

def FuseOps_LogSoftmaxOp : FuseOps_SoftmaxFamilyOp<"log_softmax"> {
  let summary = "Logarithm of softmax";
  let description = [{
    `result = (x - m) - log(sum(exp(x - m)))` over the last dimension, `m` the
    row's maximum.

    Gradient: `log_softmax_grad`. Saved: the result.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<?x64xf32>
    forward {
      %y = fuseops.log_softmax %x : tensor<?x64xbf16> -> tensor<?x64xf32>
      fuseops.return %y : tensor<?x64xf32>
    }
    ```
  }];
}

def FuseOps_LogSoftmaxGradOp : FuseOps_SoftmaxFamilyGradOp<"log_softmax_grad"> {
  let summary = "Gradient of log_softmax";
  let description = [{
    `gradient - exp(y) * sum(gradient)` over the last dimension, `y` the output of
    log_softmax.

    Gradient: through its decomposition. Saved: its operands.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%dy: tensor<?x64xf32>, %y: tensor<?x64xf32>) -> tensor<?x64xbf16>
    forward {
      %dx = fuseops.log_softmax_grad %dy, %y : tensor<?x64xf32>, tensor<?x64xf32> -> tensor<?x64xbf16>
      fuseops.return %dx : tensor<?x64xbf16>
    }
    ```
  }];
}

def FuseOps_CrossEntropyOp : FuseOps_MemoryOp<"cross_entropy", [FuseOps_Differentiable]> {
  let summary = "Loss of each row of logits against its target's class";
  let description = [{
    For each row of V logits `x` and its target class `t`, with
    `l = log(sum(exp(x)))`, computed shifted by the row's maximum:
    `loss = (1 - s) * (l - x[t]) + s * (l - sum(x) / V)`, `s` being the label
    smoothing. A row whose target is `ignore_index` has loss 0; a target outside
    `[0, V)` gives NaN. `targets`, `loss` and `log_sum_exp`, which is `l`, have
    shape `[…, 1]`; the last two are f32 (f64 for f64 logits). A mean is a sum over
    rows divided by the number of rows that count.

    Gradient of the logits: `gradient * (exp(x - l) - (1 - s) * [j = t] - s / V)`,
    0 in ignored rows; plus `exp(x - l)` times the gradient of `l`. Saved: logits,
    targets and `log_sum_exp`.

    FP8: the logits are high precision; a quantize of their gradient takes it
    before rounding.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x1000xbf16>, %t: tensor<?x1xi64>) -> tensor<1xf32>
    forward {
      %loss, %l = fuseops.cross_entropy %x, %t ignore_index(-100) label_smoothing(0.1) : tensor<?x1000xbf16>, tensor<?x1xi64> -> (tensor<?x1xf32>, tensor<?x1xf32>)
      %sum = fuseops.reduce_rows sum %loss : tensor<?x1xf32> -> tensor<1xf32>
      fuseops.return %sum : tensor<1xf32>
    }
    ```
  }];
  let arguments = (ins FuseOps_FloatTensor:$logits, RankedTensorOf<[I32, I64]>:$targets,
    I64Attr:$ignore_index, F64Attr:$label_smoothing);
  let results = (outs FuseOps_StatTensor:$loss, FuseOps_StatTensor:$log_sum_exp);
  let assemblyFormat = [{
    $logits `,` $targets `ignore_index` `` `(` custom<Integer>($ignore_index) `)`
    `label_smoothing` `` `(` custom<Double>($label_smoothing) `)` attr-dict `:`
    type($logits) `,` type($targets) `->` `(` type($loss) `,` type($log_sum_exp) `)`
  }];
  let hasVerifier = 1;
}

#endif // FUSEOPS_DIALECT_FUSEOPS_FUSEOPSSOFTMAXOPS_TD
