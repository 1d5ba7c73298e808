//===- FuseOpsPointwiseOps.td - Activations, GLUs and arithmetic
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_FUSEOPSPOINTWISEOPS_TD
#define FUSEOPS_DIALECT_FUSEOPS_FUSEOPSPOINTWISEOPS_TD

include "FuseOps/Dialect/FuseOps/FuseOpsConstraints.td"

// A broadcasting operation of two tensors.
class FuseOps_BinaryOp<string mnemonic> : FuseOps_MemoryOp<mnemonic, [FuseOps_Differentiable]> {
  let arguments = (ins FuseOps_FloatTensor:$lhs, FuseOps_FloatTensor:$rhs);
  let results = (outs FuseOps_FloatTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
}

def FuseOps_AddOp : FuseOps_BinaryOp<"add"> {
  let summary = "Sum of two tensors: residuals and broadcast additions";
  let description = [{
    `result = lhs + rhs`. Shapes broadcast by NumPy's rules to the result's.

    Gradient: the incoming one for each operand, summed over what was broadcast.
    Saved: nothing.

    FP8: a quantize of one operand only does not move through it.

    ```mlir
    fuseops.fusible @residual(%x: tensor<?x64xbf16>, %r: tensor<?x64xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.add %x, %r : tensor<?x64xbf16>, tensor<?x64xbf16> -> tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
}

def FuseOps_MulOp : FuseOps_BinaryOp<"mul"> {
  let summary = "Product of two tensors, element by element";
  let description = [{
    `result = lhs * rhs`. Shapes broadcast by NumPy's rules to the result's.

    Gradient: the incoming one times the other operand, summed over what was
    broadcast. Saved: both operands.

    FP8: a quantize does not move through it.

    ```mlir
    fuseops.fusible @gated(%x: tensor<?x64xbf16>, %g: tensor<?x1xf32>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.mul %x, %g : tensor<?x64xbf16>, tensor<?x1xf32> -> tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
}

def FuseOps_BiasOp : FuseOps_MemoryOp<"bias", [FuseOps_Differentiable,
    AllTypesMatch<["input", "result"]>]> {
  let summary = "Adds a row vector to every row";
  let description = [{
    `result[…, j] = input[…, j] + bias[j]`; `bias` has the extent of the last
    dimension.

    Gradient: the incoming one; for the bias its sum over the rows, accumulated in
    f32. Saved: nothing.

    FP8: the sum is in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>, %b: tensor<64xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.bias %x, %b : tensor<?x64xbf16>, tensor<64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_FloatTensor:$input, FuseOps_FloatTensor:$bias);
  let results = (outs FuseOps_FloatTensor:$result);
  let assemblyFormat = "$input `,` $bias attr-dict `:` type($input) `,` type($bias)";
  let hasVerifier = 1;
}

def FuseOps_ScaleOp : FuseOps_UnaryOp<"scale"> {
  let summary = "Product with a constant";
  let description = [{
    `result = input * by`.

    Gradient: the incoming one times `by`. Saved: nothing.

    FP8: with a power of two it commutes with a quantize; otherwise it does not.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xf32>) -> tensor<?x64xf32>
    forward {
      %y = fuseops.scale %x by(0.5) : tensor<?x64xf32>
      fuseops.return %y : tensor<?x64xf32>
    }
    ```
  }];
  let arguments = (ins FuseOps_FloatTensor:$input, F64Attr:$by);
  let assemblyFormat = "$input `by` `` `(` custom<Double>($by) `)` attr-dict `:` type($input)";
}

def FuseOps_GeluOp : FuseOps_UnaryOp<"gelu"> {
  let summary = "Gaussian error linear unit";
  let description = [{
    `approximate(none)`: `x * Phi(x)` with `Phi(x) = erfc(-x / sqrt 2) / 2`, exact
    in relative terms in the tail. `approximate(tanh)`:
    `x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))`.

    Gradient: `gelu_grad`. Saved: the input.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.gelu %x approximate(tanh) : tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_FloatTensor:$input, FuseOps_GeluKindAttr:$approximate);
  let assemblyFormat = "$input `approximate` `` `(` custom<GeluKind>($approximate) `)` attr-dict `:` type($input)";
}

def FuseOps_GeluGradOp : FuseOps_UnaryGradOp<"gelu_grad"> {
  let summary = "Gradient of gelu";
  let description = [{
    `gradient * gelu'(input)`. `approximate(none)`: `Phi(x) + x * phi(x)`;
    `approximate(tanh)`: with `t = tanh(u)`, `u = sqrt(2/pi) (x + 0.044715 x^3)`:
    `(1 + t) / 2 + x / 2 * (1 - t^2) * u'`.

    Gradient: through its decomposition. Saved: its operands.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%dy: tensor<?x64xbf16>, %x: tensor<?x64xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.gelu_grad %dy, %x approximate(none) : tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_FloatTensor:$gradient, FuseOps_FloatTensor:$input,
    FuseOps_GeluKindAttr:$approximate);
  let assemblyFormat = "$gradient `,` $input `approximate` `` `(` custom<GeluKind>($approximate) `)` attr-dict `:` type($result)";
}

def FuseOps_SiluOp : FuseOps_UnaryOp<"silu"> {
  let summary = "Sigmoid linear unit";
  let description = [{
    `x * sigmoid(x)`, right for large negative x, where it tends to -0.

    Gradient: `silu_grad`. Saved: the input.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.silu %x : tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
}

def FuseOps_SiluGradOp : FuseOps_UnaryGradOp<"silu_grad"> {
  let summary = "Gradient of silu";
  let description = [{
    `gradient * s * (1 + x * (1 - s))` with `s = sigmoid(x)`.

    Gradient: through its decomposition. Saved: its operands.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%dy: tensor<?x64xbf16>, %x: tensor<?x64xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.silu_grad %dy, %x : tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
}

def FuseOps_ReluOp : FuseOps_UnaryOp<"relu"> {
  let summary = "Rectified linear unit";
  let description = [{
    `max(x, 0)`; NaN stays NaN, as in PyTorch.

    Gradient: `relu_grad`. Saved: the input.

    FP8: commutes with a quantize that keeps the sign and zero.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.relu %x : tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
}

def FuseOps_ReluGradOp : FuseOps_UnaryGradOp<"relu_grad"> {
  let summary = "Gradient of relu";
  let description = [{
    `gradient` where `input > 0` or `input` is NaN, else 0 (also at 0), as
    PyTorch's `threshold_backward` on the input.

    Gradient: through its decomposition. Saved: its operands.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%dy: tensor<?x64xbf16>, %x: tensor<?x64xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.relu_grad %dy, %x : tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
}

def FuseOps_QgeluOp : FuseOps_UnaryOp<"qgelu"> {
  let summary = "Gelu approximated by a sigmoid";
  let description = [{
    `x * sigmoid(1.702 x)`.

    Gradient: `gradient * s * (1 + 1.702 x * (1 - s))` with
    `s = sigmoid(1.702 x)`. Saved: the input.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.qgelu %x : tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
}

def FuseOps_SreluOp : FuseOps_MemoryOp<"srelu", [AllTypesMatch<["input", "result"]>]> {
  let summary = "Squared rectified linear unit";
  let description = [{
    `result = max(input, 0)^2`; NaN stays NaN. `scale`, optional, holds one
    factor a row, `[…, 1]`: the result is multiplied by it (TransformerEngine's
    ScaledSReLU).

    Gradient: `gradient * 2 max(input, 0)`, times the scale; for the scale the
    row's sum of `gradient * max(input, 0)^2`. Saved: input and scale.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>, %s: tensor<?x1xf32>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.srelu %x : tensor<?x64xbf16>
      %z = fuseops.srelu %y scale(%s) : tensor<?x64xbf16>, tensor<?x1xf32>
      fuseops.return %z : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_FloatTensor:$input, Optional<FuseOps_FloatTensor>:$scale);
  let results = (outs FuseOps_FloatTensor:$result);
  let assemblyFormat = "$input (`scale` `` `(` $scale^ `)`)? attr-dict `:` type($input) (`,` type($scale)^)?";
  let hasVerifier = 1;
}

def FuseOps_IdentityOp : FuseOps_UnaryOp<"identity",
    [DeclareOpInterfaceMethods<FuseOps_QuantizableOpInterface, ["commutesWithQuantize"]>]> {
  let summary = "The input itself";
  let description = [{
    `result = input`: a name in a program, which folds away.

    Gradient: the incoming one. Saved: nothing.

    FP8: a quantize moves through it.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.identity %x : tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let hasFolder = 1;
}

def FuseOps_RotaryEmbeddingOp : FuseOps_MemoryOp<"rotary_embedding", [FuseOps_Differentiable,
    AllTypesMatch<["input", "result"]>]> {
  let summary = "Rotates pairs of elements of the last dimension";
  let description = [{
    The last dimension's D elements are D/2 pairs `(a, b)`, each rotated:
    `(a * cos - b * sin, b * cos + a * sin)`. `pairs(half)`: `a` is the first
    half and `b` the second; `pairs(interleaved)`: `a` are the elements at even
    positions and `b` those at odd ones. `cosine` and `sine` have D/2 as their
    last extent and broadcast to the input's leading dimensions by NumPy's rules.
    With `conjugate` the angle's sign is turned.

    Gradient: the conjugate rotation of the incoming one; for `cosine` the sum of
    `a da + b db`, for `sine` of `a db - b da`, over what they were broadcast to.
    Saved: cosine and sine; the input where their gradient is asked for.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x128x8x64xbf16>, %c: tensor<128x1x32xf32>, %s: tensor<128x1x32xf32>) -> tensor<?x128x8x64xbf16>
    forward {
      %y = fuseops.rotary_embedding %x, %c, %s pairs(half) : tensor<?x128x8x64xbf16>, tensor<128x1x32xf32>, tensor<128x1x32xf32>
      fuseops.return %y : tensor<?x128x8x64xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_FloatTensor:$input, FuseOps_FloatTensor:$cosine,
    FuseOps_FloatTensor:$sine, FuseOps_PairOrderAttr:$pairs, UnitAttr:$conjugate);
  let results = (outs FuseOps_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $cosine `,` $sine `pairs` `` `(` custom<PairOrder>($pairs) `)`
    (`conjugate` $conjugate^)? attr-dict `:` type($input) `,` type($cosine) `,` type($sine)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getIterationSpace();
  }];
}

def FuseOps_DropoutOp : FuseOps_MemoryOp<"dropout", [FuseOps_Differentiable,
    AllTypesMatch<["input", "result"]>]> {
  let summary = "Zeroes elements at random and scales the others";
  let description = [{
    `result = input / (1 - p)` where the element is kept, else 0. Element `i`
    (counted over the whole tensor) is kept when the 32-bit word
    `philox4x32-10(counter = (i / 4, offset), key = seed)[i % 4]` is at least
    `round(p * 2^32)`. `random_state` holds seed and offset, two i64. Nothing
    else is stored: forward, backward and every target hash the same counters.

    Gradient: the same operation on the incoming one. Saved: the random state.

    FP8: a quantize does not move through it.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xf32>, %s: tensor<2xi64> {fuseops.random_state}) -> tensor<?x64xf32>
    forward {
      %y = fuseops.dropout %x, %s p(0.1) : tensor<?x64xf32>, tensor<2xi64>
      fuseops.return %y : tensor<?x64xf32>
    }
    ```
  }];
  let arguments = (ins FuseOps_FloatTensor:$input, TensorOf<[I64]>:$random_state, F64Attr:$p);
  let results = (outs FuseOps_FloatTensor:$result);
  let assemblyFormat = "$input `,` $random_state `p` `` `(` custom<Double>($p) `)` attr-dict `:` type($input) `,` type($random_state)";
  let hasVerifier = 1;
}

def FuseOps_CastOp : FuseOps_MemoryOp<"cast", [FuseOps_Differentiable]> {
  let summary = "Conversion to another floating-point type";
  let description = [{
    Rounds to nearest even. A cast is a rounding that the program asks for: it is
    never dropped, also when it is wide to narrow to wide and fused.

    Gradient: the incoming one, cast back. Saved: nothing.

    FP8: for FP8 use `quantize`, which saturates.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xf32>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.cast %x : tensor<?x64xf32> -> tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_FloatTensor:$input);
  let results = (outs FuseOps_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

#endif // FUSEOPS_DIALECT_FUSEOPS_FUSEOPSPOINTWISEOPS_TD
