//===- FuseOpsGluOps.td - Gated linear units
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_FUSEOPSGLUOPS_TD
#define FUSEOPS_DIALECT_FUSEOPS_FUSEOPSGLUOPS_TD

include "FuseOps/Dialect/FuseOps/FuseOpsConstraints.td"

// A gated linear unit over a packed input of twice the columns.
//
// What all have in common (layout of the halves, scale, gradient) is written
// once, in Glu.cpp; an operation adds its scalar functions.
class FuseOps_GluOp<string mnemonic, dag parameters = (ins), string parameterFormat = "",
    string declarations = ""> : FuseOps_MemoryOp<mnemonic,
      [FuseOps_Differentiable, FuseOps_GluOpInterface]> {
  let arguments = !con((ins FuseOps_FloatTensor:$input, Optional<FuseOps_FloatTensor>:$scale,
    FuseOps_HalfOrderAttr:$activation, DefaultValuedAttr<I64Attr, "0">:$interleave), parameters);
  let results = (outs FuseOps_FloatTensor:$result);
  let assemblyFormat = "$input (`scale` `` `(` $scale^ `)`)? " # parameterFormat # [{
    `activation` `` `(` custom<HalfOrder>($activation) `)`
    (`interleave` `` `(` $interleave^ `)`)? attr-dict
    `:` type($input) (`,` type($scale)^)? `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$input,
    "::mlir::fuseops::HalfOrder":$activation), [{
      $_state.addOperands(input);
      $_state.addAttribute(getActivationAttrName($_state.name),
          HalfOrderAttr::get($_builder.getContext(), activation));
      $_state.addTypes(result);
  }]>];
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getIterationSpace();
    ::mlir::Value activate(::mlir::fuseops::ScalarMath &m, ::mlir::Value a);
    ::mlir::Value activationGradient(::mlir::fuseops::ScalarMath &m, ::mlir::Value a,
                                     ::mlir::Value gradient);
  }] # declarations;
  let extraClassDefinition = [{
    ::mlir::RankedTensorType $cppClass::getIterationSpace() {
      return ::mlir::fuseops::detail::getGluSpace(*this);
    }
    ::llvm::SmallVector<::mlir::Value> $cppClass::decompose(
        ::mlir::OpBuilder &builder, ::mlir::ValueRange operands) {
      return ::mlir::fuseops::detail::decomposeGlu(*this, builder, operands);
    }
    ::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>> $cppClass::buildGradients(
        ::mlir::OpBuilder &builder, ::mlir::ValueRange gradients,
        ::llvm::ArrayRef<bool> needed) {
      return ::mlir::fuseops::detail::buildGluGradients(*this, builder, gradients, needed);
    }
  }];
}

def FuseOps_SwigluOp : FuseOps_GluOp<"swiglu"> {
  let summary = "Gated linear unit with silu";
  let description = [{
    `result = silu(a) * b`, where the input's 2N columns hold `a` and `b`.
    `activation(first)`: `a` is the first half and `b` the second
    (TransformerEngine); `activation(last)`: the halves swapped (PyTorch's glu).
    `interleave(n)`: `a` and `b` alternate in blocks of n columns instead.

    `scale`, optional, holds one factor a row, `[…, 1]`: the result is multiplied
    by it.

    Gradient, packed as the input: `gradient * b * silu'(a)` for `a`,
    `gradient * silu(a)` for `b`, each times the scale; for the scale the row's
    sum of `gradient * silu(a) * b`. Saved: input and scale.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x128xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.swiglu %x activation(first) : tensor<?x128xbf16> -> tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
}

def FuseOps_GluOp : FuseOps_GluOp<"glu"> {
  let summary = "Gated linear unit with sigmoid";
  let description = [{
    `result = sigmoid(a) * b`; halves and scale as in
    `fuseops.swiglu`.

    Gradient: as that of `fuseops.swiglu`, with this function's derivative. Saved:
    input and scale.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x128xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.glu %x activation(first) : tensor<?x128xbf16> -> tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
}

def FuseOps_GegluOp : FuseOps_GluOp<"geglu", (ins
    DefaultValuedAttr<FuseOps_GeluKindAttr, "::mlir::fuseops::GeluKind::Tanh">:$approximate),
    "custom<OptionalGeluKind>($approximate)"> {
  let summary = "Gated linear unit with gelu";
  let description = [{
    `result = gelu(a) * b`, gelu in its tanh form (TransformerEngine's GEGLU)
    unless `approximate(none)` is written; halves and scale as in
    `fuseops.swiglu`.

    Gradient: as that of `fuseops.swiglu`, with this function's derivative. Saved:
    input and scale.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x128xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.geglu %x approximate(none) activation(first) : tensor<?x128xbf16> -> tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
}

def FuseOps_QgegluOp : FuseOps_GluOp<"qgeglu"> {
  let summary = "Gated linear unit with qgelu";
  let description = [{
    `result = qgelu(a) * b`, `qgelu(a) = a * sigmoid(1.702 a)`; halves and scale as in
    `fuseops.swiglu`.

    Gradient: as that of `fuseops.swiglu`, with this function's derivative. Saved:
    input and scale.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x128xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.qgeglu %x activation(first) : tensor<?x128xbf16> -> tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
}

def FuseOps_RegluOp : FuseOps_GluOp<"reglu"> {
  let summary = "Gated linear unit with relu";
  let description = [{
    `result = max(a, 0) * b`; NaN stays NaN, and the derivative at 0 is 0. Halves and scale
    as in `fuseops.swiglu`.

    Gradient: as that of `fuseops.swiglu`, with this function's derivative. Saved:
    input and scale.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x128xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.reglu %x activation(first) : tensor<?x128xbf16> -> tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
}

def FuseOps_SregluOp : FuseOps_GluOp<"sreglu"> {
  let summary = "Gated linear unit with squared relu";
  let description = [{
    `result = max(a, 0)^2 * b`; halves and scale as in
    `fuseops.swiglu`.

    Gradient: as that of `fuseops.swiglu`, with this function's derivative. Saved:
    input and scale.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x128xbf16>, %s: tensor<?x1xf32>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.sreglu %x scale(%s) activation(first) : tensor<?x128xbf16>, tensor<?x1xf32> -> tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
}

def FuseOps_SituGluOp : FuseOps_GluOp<"situglu", (ins F64Attr:$beta1, F64Attr:$beta2),
    "`beta1` `` `(` custom<Double>($beta1) `)` `beta2` `` `(` custom<Double>($beta2) `)`", [{
    ::mlir::Value gate(::mlir::fuseops::ScalarMath &m, ::mlir::Value b);
    ::mlir::Value gateGradient(::mlir::fuseops::ScalarMath &m, ::mlir::Value b,
                               ::mlir::Value gradient);
  }]> {
  let hasVerifier = 1;
  let summary = "Gated linear unit of bounded halves";
  let description = [{
    `result = beta1 * tanh(a / beta1) * sigmoid(a) * beta2 * tanh(b / beta2)`,
    TransformerEngine's SiTUGLU; both betas are finite and positive. Halves and scale
    as in `fuseops.swiglu`.

    Gradient: as that of `fuseops.swiglu`, with this function's derivative. Saved:
    input and scale.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x128xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.situglu %x beta1(4.0) beta2(25.0) activation(first) interleave(32) : tensor<?x128xbf16> -> tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
}

def FuseOps_ClampedSwigluOp : FuseOps_GluOp<"clamped_swiglu", (ins F64Attr:$limit, F64Attr:$alpha, F64Attr:$offset),
    "`limit` `` `(` custom<Double>($limit) `)` `alpha` `` `(` custom<Double>($alpha) `)` `offset` `` `(` custom<Double>($offset) `)`", [{
    ::mlir::Value gate(::mlir::fuseops::ScalarMath &m, ::mlir::Value b);
    ::mlir::Value gateGradient(::mlir::fuseops::ScalarMath &m, ::mlir::Value b,
                               ::mlir::Value gradient);
  }]> {
  let hasVerifier = 1;
  let summary = "Gated linear unit with silu and clamped halves";
  let description = [{
    `result = c * sigmoid(alpha * c) * d` with `c = min(a, limit)` and
    `d = min(max(b, -limit), limit) + offset`, as GPT-OSS and TransformerEngine's
    ClampedSwiGLU (limit 7, alpha 1.702, offset 1). The derivative is 0 where
    `a > limit` and where `b` is outside `[-limit, limit]`, and passes at the
    bounds. Halves and scale
    as in `fuseops.swiglu`.

    Gradient: as that of `fuseops.swiglu`, with this function's derivative. Saved:
    input and scale.

    FP8: computed in f32; a quantize of the result takes it before rounding.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x128xbf16>, %s: tensor<?x1xf32>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.clamped_swiglu %x scale(%s) limit(7.0) alpha(1.702) offset(1.0) activation(first) interleave(32) : tensor<?x128xbf16>, tensor<?x1xf32> -> tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
}

#endif // FUSEOPS_DIALECT_FUSEOPS_FUSEOPSGLUOPS_TD
