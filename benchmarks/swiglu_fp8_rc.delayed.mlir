// SwiGLU, quantized by a given scale, both copies, and its amax.
fuseops.fusible @swiglu_fp8_rc(%x: tensor<?x28672xbf16>, %s: tensor<f32>) -> (!fuseops.quantized<?x14336xf8E4M3FN, scale = per_tensor, copies = row_col>, tensor<f32>)
attributes {frozen_results = array<i64: 0, 1>}
forward {
  %y = fuseops.swiglu %x activation(first) : tensor<?x28672xbf16> -> tensor<?x14336xbf16>
  %q = fuseops.quantize %y scale(%s) : (tensor<?x14336xbf16>, tensor<f32>) -> !fuseops.quantized<?x14336xf8E4M3FN, scale = per_tensor, copies = row_col>
  %a = fuseops.amax %y : tensor<?x14336xbf16> -> tensor<f32>
  fuseops.return %q, %a : !fuseops.quantized<?x14336xf8E4M3FN, scale = per_tensor, copies = row_col>, tensor<f32>
}
