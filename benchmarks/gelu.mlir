// Bias and GELU, its FP8 forms, and the FP8 forms of its gradient with the
// bias gradient. The names of variants are those of swiglu.mlir.

!row_tensor = !fuseops.quantized<?x14336xf8E4M3FN, scale = per_tensor, copies = row>
!rc_tensor = !fuseops.quantized<?x14336xf8E4M3FN, scale = per_tensor, copies = row_col>
!row_block = !fuseops.quantized<?x14336xf8E4M3FN, scale = block<1x128>, copies = row>
!rc_block = !fuseops.quantized<?x14336xf8E4M3FN, scale = block<1x128>, copies = row_col>
!grad_tensor = !fuseops.quantized<?x14336xf8E5M2, scale = per_tensor, copies = row_col>

fuseops.fusible @bias_gelu(%x: tensor<?x14336xbf16>, %b: tensor<14336xbf16>) -> tensor<?x14336xbf16>
forward {
  %z = fuseops.bias %x, %b : tensor<?x14336xbf16>, tensor<14336xbf16>
  %y = fuseops.gelu %z approximate(tanh) : tensor<?x14336xbf16>
  fuseops.return %y : tensor<?x14336xbf16>
}

fuseops.fusible @bias_gelu_fp8.delayed(%x: tensor<?x14336xbf16>, %b: tensor<14336xbf16>, %s: tensor<f32>) -> (!row_tensor, tensor<f32>)
attributes {frozen_results = array<i64: 0, 1>}
forward {
  %z = fuseops.bias %x, %b : tensor<?x14336xbf16>, tensor<14336xbf16>
  %y = fuseops.gelu %z approximate(tanh) : tensor<?x14336xbf16>
  %q = fuseops.quantize %y scale(%s) : (tensor<?x14336xbf16>, tensor<f32>) -> !row_tensor
  %a = fuseops.amax %y : tensor<?x14336xbf16> -> tensor<f32>
  fuseops.return %q, %a : !row_tensor, tensor<f32>
}

fuseops.fusible @bias_gelu_fp8.block(%x: tensor<?x14336xbf16>, %b: tensor<14336xbf16>) -> !row_block
attributes {frozen_results = array<i64: 0>}
forward {
  %z = fuseops.bias %x, %b : tensor<?x14336xbf16>, tensor<14336xbf16>
  %y = fuseops.gelu %z approximate(tanh) : tensor<?x14336xbf16>
  %q = fuseops.quantize %y {power_of_two} : (tensor<?x14336xbf16>) -> !row_block
  fuseops.return %q : !row_block
}

fuseops.fusible @bias_gelu_fp8_rc.delayed(%x: tensor<?x14336xbf16>, %b: tensor<14336xbf16>, %s: tensor<f32>) -> (!rc_tensor, tensor<f32>)
attributes {frozen_results = array<i64: 0, 1>}
forward {
  %z = fuseops.bias %x, %b : tensor<?x14336xbf16>, tensor<14336xbf16>
  %y = fuseops.gelu %z approximate(tanh) : tensor<?x14336xbf16>
  %q = fuseops.quantize %y scale(%s) : (tensor<?x14336xbf16>, tensor<f32>) -> !rc_tensor
  %a = fuseops.amax %y : tensor<?x14336xbf16> -> tensor<f32>
  fuseops.return %q, %a : !rc_tensor, tensor<f32>
}

fuseops.fusible @bias_gelu_fp8_rc.block(%x: tensor<?x14336xbf16>, %b: tensor<14336xbf16>) -> !rc_block
attributes {frozen_results = array<i64: 0>}
forward {
  %z = fuseops.bias %x, %b : tensor<?x14336xbf16>, tensor<14336xbf16>
  %y = fuseops.gelu %z approximate(tanh) : tensor<?x14336xbf16>
  %q = fuseops.quantize %y {power_of_two} : (tensor<?x14336xbf16>) -> !rc_block
  fuseops.return %q : !rc_block
}

fuseops.fusible @dgelu_dbias_fp8_rc.delayed(%dy: tensor<?x14336xbf16>, %z: tensor<?x14336xbf16>, %s: tensor<f32>) -> (!grad_tensor, tensor<f32>, tensor<14336xbf16>)
attributes {frozen_results = array<i64: 0, 1, 2>}
forward {
  %dz = fuseops.gelu_grad %dy, %z approximate(tanh) : tensor<?x14336xbf16>
  %db = fuseops.reduce_rows sum %dz : tensor<?x14336xbf16> -> tensor<14336xbf16>
  %q = fuseops.quantize %dz scale(%s) : (tensor<?x14336xbf16>, tensor<f32>) -> !grad_tensor
  %a = fuseops.amax %dz : tensor<?x14336xbf16> -> tensor<f32>
  fuseops.return %q, %a, %db : !grad_tensor, tensor<f32>, tensor<14336xbf16>
}

fuseops.fusible @dgelu_dbias_fp8_rc.block(%dy: tensor<?x14336xbf16>, %z: tensor<?x14336xbf16>) -> (!rc_block, tensor<14336xbf16>)
attributes {frozen_results = array<i64: 0, 1>}
forward {
  %dz = fuseops.gelu_grad %dy, %z approximate(tanh) : tensor<?x14336xbf16>
  %db = fuseops.reduce_rows sum %dz : tensor<?x14336xbf16> -> tensor<14336xbf16>
  %q = fuseops.quantize %dz {power_of_two} : (tensor<?x14336xbf16>) -> !rc_block
  fuseops.return %q, %db : !rc_block, tensor<14336xbf16>
}

fuseops.fusible @dgelu_dbias_current_rc(%dy: tensor<?x14336xbf16>, %z: tensor<?x14336xbf16>) -> (!grad_tensor, tensor<14336xbf16>)
attributes {frozen_results = array<i64: 0, 1>}
forward {
  %dz = fuseops.gelu_grad %dy, %z approximate(tanh) : tensor<?x14336xbf16>
  %db = fuseops.reduce_rows sum %dz : tensor<?x14336xbf16> -> tensor<14336xbf16>
  %a = fuseops.amax %dz : tensor<?x14336xbf16> -> tensor<f32>
  %s = fuseops.compute_scale %a format(f8E5M2) : tensor<f32>
  %q = fuseops.quantize %dz scale(%s) : (tensor<?x14336xbf16>, tensor<f32>) -> !grad_tensor
  fuseops.return %q, %db : !grad_tensor, tensor<14336xbf16>
}
