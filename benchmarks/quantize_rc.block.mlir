// Bare quantization in blocks of 1x128, both copies.
fuseops.fusible @quantize_rc(%x: tensor<?x14336xbf16>) -> !fuseops.quantized<?x14336xf8E4M3FN, scale = block<1x128>, copies = row_col>
attributes {frozen_results = array<i64: 0>}
forward {
  %q = fuseops.quantize %x {power_of_two} : (tensor<?x14336xbf16>) -> !fuseops.quantized<?x14336xf8E4M3FN, scale = block<1x128>, copies = row_col>
  fuseops.return %q : !fuseops.quantized<?x14336xf8E4M3FN, scale = block<1x128>, copies = row_col>
}
