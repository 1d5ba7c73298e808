// Bare quantization, both copies, by a given scale (`delayed`, which gives the
// amax), in blocks of 1x128 and in blocks of 128x128.

!rc_tensor = !fuseops.quantized<?x4096xf8E4M3FN, scale = per_tensor, copies = row_col>
!rc_block = !fuseops.quantized<?x4096xf8E4M3FN, scale = block<1x128>, copies = row_col>
!rc_square = !fuseops.quantized<?x4096xf8E4M3FN, scale = block<128x128>, copies = row_col>

fuseops.fusible @quantize_rc.delayed(%x: tensor<?x4096xbf16>, %s: tensor<f32>) -> (!rc_tensor, tensor<f32>)
attributes {frozen_results = array<i64: 0, 1>}
forward {
  %q = fuseops.quantize %x scale(%s) : (tensor<?x4096xbf16>, tensor<f32>) -> !rc_tensor
  %a = fuseops.amax %x : tensor<?x4096xbf16> -> tensor<f32>
  fuseops.return %q, %a : !rc_tensor, tensor<f32>
}

fuseops.fusible @quantize_rc.block(%x: tensor<?x4096xbf16>) -> !rc_block
attributes {frozen_results = array<i64: 0>}
forward {
  %q = fuseops.quantize %x {power_of_two} : (tensor<?x4096xbf16>) -> !rc_block
  fuseops.return %q : !rc_block
}

fuseops.fusible @quantize_rc.square(%x: tensor<?x4096xbf16>) -> !rc_square
attributes {frozen_results = array<i64: 0>}
forward {
  %q = fuseops.quantize %x {power_of_two} : (tensor<?x4096xbf16>) -> !rc_square
  fuseops.return %q : !rc_square
}
