// SwiGLU of a packed input, its FP8 forms and the FP8 forms of its gradient.
// `_rc` stores both copies; `delayed` has one given scale and gives the amax,
// `block` has scales of 1x128, and `current` takes the scale from the amax of
// the values themselves.

!row_tensor = !fuseops.quantized<?x14336xf8E4M3FN, scale = per_tensor, copies = row>
!rc_tensor = !fuseops.quantized<?x14336xf8E4M3FN, scale = per_tensor, copies = row_col>
!row_block = !fuseops.quantized<?x14336xf8E4M3FN, scale = block<1x128>, copies = row>
!rc_block = !fuseops.quantized<?x14336xf8E4M3FN, scale = block<1x128>, copies = row_col>
!grad_tensor = !fuseops.quantized<?x28672xf8E5M2, scale = per_tensor, copies = row_col>
!grad_block = !fuseops.quantized<?x28672xf8E4M3FN, scale = block<1x128>, copies = row_col>

fuseops.fusible @swiglu(%x: tensor<?x28672xbf16>) -> tensor<?x14336xbf16>
forward {
  %y = fuseops.swiglu %x activation(first) : tensor<?x28672xbf16> -> tensor<?x14336xbf16>
  fuseops.return %y : tensor<?x14336xbf16>
}

fuseops.fusible @swiglu_fp8.delayed(%x: tensor<?x28672xbf16>, %s: tensor<f32>) -> (!row_tensor, tensor<f32>)
attributes {frozen_results = array<i64: 0, 1>}
forward {
  %y = fuseops.swiglu %x activation(first) : tensor<?x28672xbf16> -> tensor<?x14336xbf16>
  %q = fuseops.quantize %y scale(%s) : (tensor<?x14336xbf16>, tensor<f32>) -> !row_tensor
  %a = fuseops.amax %y : tensor<?x14336xbf16> -> tensor<f32>
  fuseops.return %q, %a : !row_tensor, tensor<f32>
}

fuseops.fusible @swiglu_fp8.block(%x: tensor<?x28672xbf16>) -> !row_block
attributes {frozen_results = array<i64: 0>}
forward {
  %y = fuseops.swiglu %x activation(first) : tensor<?x28672xbf16> -> tensor<?x14336xbf16>
  %q = fuseops.quantize %y {power_of_two} : (tensor<?x14336xbf16>) -> !row_block
  fuseops.return %q : !row_block
}

fuseops.fusible @swiglu_fp8_rc.delayed(%x: tensor<?x28672xbf16>, %s: tensor<f32>) -> (!rc_tensor, tensor<f32>)
attributes {frozen_results = array<i64: 0, 1>}
forward {
  %y = fuseops.swiglu %x activation(first) : tensor<?x28672xbf16> -> tensor<?x14336xbf16>
  %q = fuseops.quantize %y scale(%s) : (tensor<?x14336xbf16>, tensor<f32>) -> !rc_tensor
  %a = fuseops.amax %y : tensor<?x14336xbf16> -> tensor<f32>
  fuseops.return %q, %a : !rc_tensor, tensor<f32>
}

fuseops.fusible @swiglu_fp8_rc.block(%x: tensor<?x28672xbf16>) -> !rc_block
attributes {frozen_results = array<i64: 0>}
forward {
  %y = fuseops.swiglu %x activation(first) : tensor<?x28672xbf16> -> tensor<?x14336xbf16>
  %q = fuseops.quantize %y {power_of_two} : (tensor<?x14336xbf16>) -> !rc_block
  fuseops.return %q : !rc_block
}

fuseops.fusible @swiglu_current_rc(%x: tensor<?x28672xbf16>) -> !rc_tensor
attributes {frozen_results = array<i64: 0>}
forward {
  %y = fuseops.swiglu %x activation(first) : tensor<?x28672xbf16> -> tensor<?x14336xbf16>
  %a = fuseops.amax %y : tensor<?x14336xbf16> -> tensor<f32>
  %s = fuseops.compute_scale %a format(f8E4M3FN) : tensor<f32>
  %q = fuseops.quantize %y scale(%s) : (tensor<?x14336xbf16>, tensor<f32>) -> !rc_tensor
  fuseops.return %q : !rc_tensor
}

// The gradient as `fuseops-differentiate` derives it: one rounding, of each half.
fuseops.fusible @dswiglu(%dy: tensor<?x14336xbf16> {fuseops.frozen}, %x: tensor<?x28672xbf16> {fuseops.frozen}) -> tensor<?x28672xbf16>
attributes {frozen_results = array<i64: 0>}
forward {
  %a = fuseops.slice %x dim(1) offset(0) : tensor<?x28672xbf16> -> tensor<?x14336xbf16>
  %b = fuseops.slice %x dim(1) offset(14336) : tensor<?x28672xbf16> -> tensor<?x14336xbf16>
  %d:2 = fuseops.pointwise (%g = %dy, %p = %a, %q = %b) : (tensor<?x14336xbf16>, tensor<?x14336xbf16>, tensor<?x14336xbf16>) -> (tensor<?x14336xbf16>, tensor<?x14336xbf16>) {
    %one = arith.constant 1.0 : f32
    %n = arith.negf %p : f32
    %e = math.exp %n : f32
    %t = arith.addf %one, %e : f32
    %s = arith.divf %one, %t fastmath<afn> : f32
    %silu = arith.mulf %p, %s : f32
    %r = arith.subf %one, %s : f32
    %pr = arith.mulf %p, %r : f32
    %w = arith.addf %one, %pr : f32
    %slope = arith.mulf %s, %w : f32
    %gb = arith.mulf %g, %q : f32
    %da = arith.mulf %gb, %slope : f32
    %db = arith.mulf %g, %silu : f32
    fuseops.yield %da, %db : f32, f32
  }
  %dx = fuseops.concat %d#0, %d#1 dim(1) : (tensor<?x14336xbf16>, tensor<?x14336xbf16>) -> tensor<?x28672xbf16>
  fuseops.return %dx : tensor<?x28672xbf16>
}

fuseops.fusible @dswiglu_fp8_rc.delayed(%dy: tensor<?x14336xbf16> {fuseops.frozen}, %x: tensor<?x28672xbf16> {fuseops.frozen}, %s: tensor<f32>) -> (!grad_tensor, tensor<f32>)
attributes {frozen_results = array<i64: 0, 1>}
forward {
  %dx = fuseops.apply @dswiglu(%dy, %x) : (tensor<?x14336xbf16>, tensor<?x28672xbf16>) -> tensor<?x28672xbf16>
  %q = fuseops.quantize %dx scale(%s) : (tensor<?x28672xbf16>, tensor<f32>) -> !grad_tensor
  %a = fuseops.amax %dx : tensor<?x28672xbf16> -> tensor<f32>
  fuseops.return %q, %a : !grad_tensor, tensor<f32>
}

fuseops.fusible @dswiglu_fp8_rc.block(%dy: tensor<?x14336xbf16> {fuseops.frozen}, %x: tensor<?x28672xbf16> {fuseops.frozen}) -> !grad_block
attributes {frozen_results = array<i64: 0>}
forward {
  %dx = fuseops.apply @dswiglu(%dy, %x) : (tensor<?x14336xbf16>, tensor<?x28672xbf16>) -> tensor<?x28672xbf16>
  %q = fuseops.quantize %dx {power_of_two} : (tensor<?x28672xbf16>) -> !grad_block
  fuseops.return %q : !grad_block
}
