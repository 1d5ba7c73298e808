//===- FuseOpsQuantizationOps.td - Conversions to and from FP8
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_FUSEOPSQUANTIZATIONOPS_TD
#define FUSEOPS_DIALECT_FUSEOPS_FUSEOPSQUANTIZATIONOPS_TD

include "FuseOps/Dialect/FuseOps/FuseOpsConstraints.td"

def FuseOps_AmaxOp : FuseOps_MemoryOp<"amax"> {
  let summary = "Largest magnitude of a tensor";
  let description = [{
    `max |input|` as an f32 scalar, of the values as they are before any FP8
    rounding (rule `fp8_a1`). NaN propagates. An empty tensor has amax 0.

    Gradient: none. Saved: nothing.

    FP8: this is the statistic that per-tensor scales come from.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<f32>
    forward {
      %y = fuseops.amax %x : tensor<?x64xbf16> -> tensor<f32>
      fuseops.return %y : tensor<f32>
    }
    ```
  }];
  let arguments = (ins FuseOps_FloatTensor:$input);
  let results = (outs FuseOps_StatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def FuseOps_ComputeScaleOp : FuseOps_MemoryOp<"compute_scale",
    [SameOperandsAndResultType]> {
  let summary = "FP8 scale from an amax";
  let description = [{
    `scale = max_value(format) / amax` in f32, element by element; 1 where amax is
    0, infinite or NaN (rule `fp8_s1`); the largest finite f32 where the quotient
    overflows (rule `fp8_s2`). With `power_of_two` the scale is rounded down to a
    power of two (rule `fp8_s3`). An amax below `epsilon` counts as `epsilon`
    (rule `fp8_s4`).

    Gradient: none. Saved: nothing.

    FP8: `format` is the element type that the scale is for.

    ```mlir
    fuseops.fusible @f(%a: tensor<f32>) -> tensor<f32>
    forward {
      %s = fuseops.compute_scale %a format(f8E4M3FN) : tensor<f32>
      fuseops.return %s : tensor<f32>
    }
    ```
  }];
  let arguments = (ins FuseOps_StatTensor:$amax, TypeAttr:$format, UnitAttr:$power_of_two,
    DefaultValuedAttr<F32Attr, "0.0f">:$epsilon);
  let results = (outs FuseOps_StatTensor:$scale);
  let assemblyFormat = "$amax `format` `` `(` $format `)` (`power_of_two` $power_of_two^)? attr-dict `:` type($amax)";
  let hasVerifier = 1;
}

def FuseOps_QuantizeOp : FuseOps_MemoryOp<"quantize", [FuseOps_Differentiable]> {
  let summary = "Conversion to an FP8 tensor with its scales";
  let description = [{
    `data = round(clamp(input * scale))`, to nearest even, saturating at the
    format's largest finite value (rules `fp8_r1`, `fp8_r2`); NaN stays NaN (rule
    `fp8_r3`). `scale_inv = 1 / scale` in f32.

    `per_tensor` takes the scale as an operand (delayed and current scaling alike);
    the other kinds compute each scale from the amax of what it covers, with
    `compute_scale`'s rules, `power_of_two` and `epsilon`. `mx<1x32>` has its own
    (rule `fp8_s5`): a power of two that is stored as f8E8M0FNU.

    Gradient: the incoming one, unchanged. Saved: nothing.

    FP8: the result's type says format, scales and copies.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>, %s: tensor<f32>) -> !fuseops.quantized<?x64xf8E4M3FN, scale = per_tensor, copies = row>
    forward {
      %q = fuseops.quantize %x scale(%s) : (tensor<?x64xbf16>, tensor<f32>) -> !fuseops.quantized<?x64xf8E4M3FN, scale = per_tensor, copies = row>
      fuseops.return %q : !fuseops.quantized<?x64xf8E4M3FN, scale = per_tensor, copies = row>
    }
    ```
  }];
  let arguments = (ins FuseOps_FloatTensor:$input, Optional<FuseOps_StatTensor>:$scale,
    UnitAttr:$power_of_two, DefaultValuedAttr<F32Attr, "0.0f">:$epsilon);
  let results = (outs FuseOps_QuantizedType:$result);
  let assemblyFormat = "$input (`scale` `` `(` $scale^ `)`)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def FuseOps_DequantizeOp : FuseOps_MemoryOp<"dequantize", [FuseOps_Differentiable]> {
  let summary = "The logical value of an FP8 tensor";
  let description = [{
    `result = data * scale_inv` of the row copy where there is one, else of the
    transposed one.

    Gradient: the incoming one, unchanged. Saved: nothing.

    FP8: exact but for the one rounding to the result's element type.

    ```mlir
    fuseops.fusible @f(%q: !fuseops.quantized<?x64xf8E4M3FN, scale = per_row, copies = row>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.dequantize %q : !fuseops.quantized<?x64xf8E4M3FN, scale = per_row, copies = row> -> tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins FuseOps_QuantizedType:$input);
  let results = (outs FuseOps_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def FuseOps_UpdateScaleOp : FuseOps_MemoryOp<"update_scale", [
    AllTypesMatch<["scale", "amax", "next_scale"]>,
    AllTypesMatch<["history", "next_history"]>]> {
  let summary = "Delayed scaling: the next scales from a history of amaxes";
  let description = [{
    `scale` `[N]` are the scales that quantized N tensors with this call, `history`
    `[H, N]` the amaxes of the last H calls, newest last, `amax` `[N]` those of
    this call. `next_history` is the history without its oldest row and with
    `amax` as its newest. `next_scale[n] = max_value(format) / a / 2^margin` with
    `a` the largest of `next_history[:, n]`, or, with `most_recent`, `amax[n]`;
    where `a` is 0, infinite or NaN the scale stays (rules `fp8_h1` to `fp8_h3`).

    Gradient: none. Saved: nothing.

    FP8: `format` is the element type that the scales are for.

    ```mlir
    fuseops.fusible @f(%s: tensor<2xf32>, %h: tensor<16x2xf32>, %a: tensor<2xf32>) -> (tensor<2xf32>, tensor<16x2xf32>)
    forward {
      %s1, %h1 = fuseops.update_scale %s, %h, %a format(f8E4M3FN) : tensor<2xf32>, tensor<16x2xf32>
      fuseops.return %s1, %h1 : tensor<2xf32>, tensor<16x2xf32>
    }
    ```
  }];
  let arguments = (ins FuseOps_StatTensor:$scale, FuseOps_StatTensor:$history,
    FuseOps_StatTensor:$amax, TypeAttr:$format,
    DefaultValuedAttr<I64Attr, "0">:$margin, UnitAttr:$most_recent);
  let results = (outs FuseOps_StatTensor:$next_scale, FuseOps_StatTensor:$next_history);
  let assemblyFormat = [{
    $scale `,` $history `,` $amax `format` `` `(` $format `)` (`most_recent` $most_recent^)?
    attr-dict `:` type($scale) `,` type($history)
  }];
  let hasVerifier = 1;
}

// Blocks of `block_rows` rows and `block_columns` columns of a matrix; the last
// ones may be smaller.
def FuseOps_ReduceBlocksOp : FuseOps_Op<"reduce_blocks", [Pure,
    DeclareOpInterfaceMethods<FuseOps_FusibleOpInterface, []>]> {
  let summary = "Largest element of each block of a matrix";
  let description = [{
    `[M, N] -> [ceil(M / block_rows), ceil(N / block_columns)]`: each result is the
    largest element of a block; NaN propagates. The last block of a row or column
    is what is left. Blocks are 1x32, 32x1, 1x128, 128x1 or 128x128.

    Gradient: none. Saved: nothing.

    FP8: the amax of what one scale covers, of magnitudes.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x512xf32>) -> tensor<?x4xf32>
    forward {
      %y = fuseops.reduce_blocks %x block(1, 128) : tensor<?x512xf32> -> tensor<?x4xf32>
      fuseops.return %y : tensor<?x4xf32>
    }
    ```
  }];
  let arguments = (ins FuseOps_StatTensor:$input, I64Attr:$block_rows, I64Attr:$block_columns);
  let results = (outs FuseOps_StatTensor:$result);
  let assemblyFormat = [{
    $input `block` `` `(` $block_rows `,` $block_columns `)` attr-dict `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
}

def FuseOps_ExpandBlocksOp : FuseOps_Op<"expand_blocks", [Pure,
    DeclareOpInterfaceMethods<FuseOps_FusibleOpInterface, []>]> {
  let summary = "One value a block, repeated over the block's elements";
  let description = [{
    `[ceil(M / block_rows), ceil(N / block_columns)] -> [M, N]`: the inverse shape
    of `reduce_blocks`.

    Gradient: none. Saved: nothing.

    FP8: how a block's scale meets the block's elements.

    ```mlir
    fuseops.fusible @f(%s: tensor<?x4xf32>) -> tensor<?x500xf32>
    forward {
      %y = fuseops.expand_blocks %s block(1, 128) : tensor<?x4xf32> -> tensor<?x500xf32>
      fuseops.return %y : tensor<?x500xf32>
    }
    ```
  }];
  let arguments = (ins FuseOps_Tensor:$input, I64Attr:$block_rows, I64Attr:$block_columns);
  let results = (outs FuseOps_Tensor:$result);
  let assemblyFormat = [{
    $input `block` `` `(` $block_rows `,` $block_columns `)` attr-dict `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
}

def FuseOps_PackQuantizedOp : FuseOps_Op<"pack_quantized", [Pure]> {
  let summary = "A quantized tensor from its plain buffers";
  let description = [{
    The parts are, for each copy of the type, its data and its scale_inv. Only
    lowering makes it, at the edge of what still has the quantized type.

    FP8: no computation.

    ```mlir
    fuseops.fusible @f(%d: tensor<?x64xf8E4M3FN>, %s: tensor<f32>) -> !fuseops.quantized<?x64xf8E4M3FN, scale = per_tensor, copies = row>
    forward {
      %q = fuseops.pack_quantized %d, %s : (tensor<?x64xf8E4M3FN>, tensor<f32>) -> !fuseops.quantized<?x64xf8E4M3FN, scale = per_tensor, copies = row>
      fuseops.return %q : !fuseops.quantized<?x64xf8E4M3FN, scale = per_tensor, copies = row>
    }
    ```
  }];
  let arguments = (ins Variadic<FuseOps_Tensor>:$parts);
  let results = (outs FuseOps_QuantizedType:$result);
  let assemblyFormat = "$parts attr-dict `:` functional-type($parts, $result)";
  let hasVerifier = 1;
}

def FuseOps_UnpackQuantizedOp : FuseOps_Op<"unpack_quantized", [Pure]> {
  let summary = "The plain buffers of a quantized tensor";
  let description = [{
    The inverse of `pack_quantized`.

    FP8: no computation.

    ```mlir
    fuseops.fusible @f(%q: !fuseops.quantized<?x64xf8E4M3FN, scale = per_tensor, copies = row>) -> tensor<?x64xf8E4M3FN>
    forward {
      %d, %s = fuseops.unpack_quantized %q : (!fuseops.quantized<?x64xf8E4M3FN, scale = per_tensor, copies = row>) -> (tensor<?x64xf8E4M3FN>, tensor<f32>)
      fuseops.return %d : tensor<?x64xf8E4M3FN>
    }
    ```
  }];
  let arguments = (ins FuseOps_QuantizedType:$input);
  let results = (outs Variadic<FuseOps_Tensor>:$parts);
  let assemblyFormat = "$input attr-dict `:` functional-type($input, $parts)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

#endif // FUSEOPS_DIALECT_FUSEOPS_FUSEOPSQUANTIZATIONOPS_TD
