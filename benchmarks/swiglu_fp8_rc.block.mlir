// SwiGLU, quantized in blocks of 1x128, both copies.
fuseops.fusible @swiglu_fp8_rc(%x: tensor<?x28672xbf16>) -> !fuseops.quantized<?x14336xf8E4M3FN, scale = block<1x128>, copies = row_col>
attributes {frozen_results = array<i64: 0>}
forward {
  %y = fuseops.swiglu %x activation(first) : tensor<?x28672xbf16> -> tensor<?x14336xbf16>
  %q = fuseops.quantize %y {power_of_two} : (tensor<?x14336xbf16>) -> !fuseops.quantized<?x14336xf8E4M3FN, scale = block<1x128>, copies = row_col>
  fuseops.return %q : !fuseops.quantized<?x14336xf8E4M3FN, scale = block<1x128>, copies = row_col>
}
