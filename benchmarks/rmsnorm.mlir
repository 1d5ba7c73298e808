// RMSNorm, with a residual addition whose sum is a result too, and backward
// with the residual's gradient; each in BF16 and quantized. The names of
// variants are those of swiglu.mlir.

!row_tensor = !fuseops.quantized<?x4096xf8E4M3FN, scale = per_tensor, copies = row>
!rc_tensor = !fuseops.quantized<?x4096xf8E4M3FN, scale = per_tensor, copies = row_col>
!row_block = !fuseops.quantized<?x4096xf8E4M3FN, scale = block<1x128>, copies = row>
!rc_block = !fuseops.quantized<?x4096xf8E4M3FN, scale = block<1x128>, copies = row_col>
!grad_tensor = !fuseops.quantized<?x4096xf8E5M2, scale = per_tensor, copies = row_col>

fuseops.fusible @rmsnorm(%x: tensor<?x4096xbf16>, %g: tensor<4096xbf16>) -> tensor<?x4096xbf16>
forward {
  %y, %rstd = fuseops.rms_norm %x gamma(%g) eps(1.0e-6) : (tensor<?x4096xbf16>, tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x1xf32>)
  fuseops.return %y : tensor<?x4096xbf16>
}

fuseops.fusible @add_rmsnorm(%x: tensor<?x4096xbf16>, %r: tensor<?x4096xbf16>, %g: tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x4096xbf16>)
forward {
  %s = fuseops.add %x, %r : tensor<?x4096xbf16>, tensor<?x4096xbf16> -> tensor<?x4096xbf16>
  %y, %rstd = fuseops.rms_norm %s gamma(%g) eps(1.0e-6) : (tensor<?x4096xbf16>, tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x1xf32>)
  fuseops.return %y, %s : tensor<?x4096xbf16>, tensor<?x4096xbf16>
}

fuseops.fusible @add_rmsnorm_fp8.delayed(%x: tensor<?x4096xbf16>, %r: tensor<?x4096xbf16>, %g: tensor<4096xbf16>, %scale: tensor<f32>) -> (!row_tensor, tensor<f32>, tensor<?x4096xbf16>, tensor<?x1xf32>)
attributes {frozen_results = array<i64: 0, 1, 2, 3>}
forward {
  %s = fuseops.add %x, %r : tensor<?x4096xbf16>, tensor<?x4096xbf16> -> tensor<?x4096xbf16>
  %y, %rstd = fuseops.rms_norm %s gamma(%g) eps(1.0e-6) : (tensor<?x4096xbf16>, tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x1xf32>)
  %q = fuseops.quantize %y scale(%scale) : (tensor<?x4096xbf16>, tensor<f32>) -> !row_tensor
  %a = fuseops.amax %y : tensor<?x4096xbf16> -> tensor<f32>
  fuseops.return %q, %a, %s, %rstd : !row_tensor, tensor<f32>, tensor<?x4096xbf16>, tensor<?x1xf32>
}

fuseops.fusible @add_rmsnorm_fp8.block(%x: tensor<?x4096xbf16>, %r: tensor<?x4096xbf16>, %g: tensor<4096xbf16>) -> (!row_block, tensor<?x4096xbf16>, tensor<?x1xf32>)
attributes {frozen_results = array<i64: 0, 1, 2>}
forward {
  %s = fuseops.add %x, %r : tensor<?x4096xbf16>, tensor<?x4096xbf16> -> tensor<?x4096xbf16>
  %y, %rstd = fuseops.rms_norm %s gamma(%g) eps(1.0e-6) : (tensor<?x4096xbf16>, tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x1xf32>)
  %q = fuseops.quantize %y {power_of_two} : (tensor<?x4096xbf16>) -> !row_block
  fuseops.return %q, %s, %rstd : !row_block, tensor<?x4096xbf16>, tensor<?x1xf32>
}

fuseops.fusible @add_rmsnorm_fp8_rc.delayed(%x: tensor<?x4096xbf16>, %r: tensor<?x4096xbf16>, %g: tensor<4096xbf16>, %scale: tensor<f32>) -> (!rc_tensor, tensor<f32>, tensor<?x4096xbf16>, tensor<?x1xf32>)
attributes {frozen_results = array<i64: 0, 1, 2, 3>}
forward {
  %s = fuseops.add %x, %r : tensor<?x4096xbf16>, tensor<?x4096xbf16> -> tensor<?x4096xbf16>
  %y, %rstd = fuseops.rms_norm %s gamma(%g) eps(1.0e-6) : (tensor<?x4096xbf16>, tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x1xf32>)
  %q = fuseops.quantize %y scale(%scale) : (tensor<?x4096xbf16>, tensor<f32>) -> !rc_tensor
  %a = fuseops.amax %y : tensor<?x4096xbf16> -> tensor<f32>
  fuseops.return %q, %a, %s, %rstd : !rc_tensor, tensor<f32>, tensor<?x4096xbf16>, tensor<?x1xf32>
}

fuseops.fusible @add_rmsnorm_fp8_rc.block(%x: tensor<?x4096xbf16>, %r: tensor<?x4096xbf16>, %g: tensor<4096xbf16>) -> (!rc_block, tensor<?x4096xbf16>, tensor<?x1xf32>)
attributes {frozen_results = array<i64: 0, 1, 2>}
forward {
  %s = fuseops.add %x, %r : tensor<?x4096xbf16>, tensor<?x4096xbf16> -> tensor<?x4096xbf16>
  %y, %rstd = fuseops.rms_norm %s gamma(%g) eps(1.0e-6) : (tensor<?x4096xbf16>, tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x1xf32>)
  %q = fuseops.quantize %y {power_of_two} : (tensor<?x4096xbf16>) -> !rc_block
  fuseops.return %q, %s, %rstd : !rc_block, tensor<?x4096xbf16>, tensor<?x1xf32>
}

fuseops.fusible @rmsnorm_bwd_add_fp8_rc.delayed(%dy: tensor<?x4096xbf16>, %x: tensor<?x4096xbf16>, %rstd: tensor<?x1xf32>, %g: tensor<4096xbf16>, %ds: tensor<?x4096xbf16>, %scale: tensor<f32>) -> (!grad_tensor, tensor<f32>, tensor<?x4096xbf16>, tensor<4096xbf16>)
attributes {frozen_results = array<i64: 0, 1, 2, 3>}
forward {
  %d, %dg = fuseops.rms_norm_grad %dy, %x, %rstd gamma(%g) : (tensor<?x4096xbf16>, tensor<?x4096xbf16>, tensor<?x1xf32>, tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<4096xbf16>)
  %dx = fuseops.add %ds, %d : tensor<?x4096xbf16>, tensor<?x4096xbf16> -> tensor<?x4096xbf16>
  %q = fuseops.quantize %dx scale(%scale) : (tensor<?x4096xbf16>, tensor<f32>) -> !grad_tensor
  %a = fuseops.amax %dx : tensor<?x4096xbf16> -> tensor<f32>
  fuseops.return %q, %a, %dx, %dg : !grad_tensor, tensor<f32>, tensor<?x4096xbf16>, tensor<4096xbf16>
}

fuseops.fusible @rmsnorm_bwd_add_fp8_rc.block(%dy: tensor<?x4096xbf16>, %x: tensor<?x4096xbf16>, %rstd: tensor<?x1xf32>, %g: tensor<4096xbf16>, %ds: tensor<?x4096xbf16>) -> (!rc_block, tensor<?x4096xbf16>, tensor<4096xbf16>)
attributes {frozen_results = array<i64: 0, 1, 2>}
forward {
  %d, %dg = fuseops.rms_norm_grad %dy, %x, %rstd gamma(%g) : (tensor<?x4096xbf16>, tensor<?x4096xbf16>, tensor<?x1xf32>, tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<4096xbf16>)
  %dx = fuseops.add %ds, %d : tensor<?x4096xbf16>, tensor<?x4096xbf16> -> tensor<?x4096xbf16>
  %q = fuseops.quantize %dx {power_of_two} : (tensor<?x4096xbf16>) -> !rc_block
  fuseops.return %q, %dx, %dg : !rc_block, tensor<?x4096xbf16>, tensor<4096xbf16>
}
