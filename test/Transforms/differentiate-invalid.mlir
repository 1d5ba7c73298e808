// RUN: fuse-opt %s --fuseops-differentiate --split-input-file --verify-diagnostics

// expected-error @below {{'fuseops.fusible' op applies itself, directly or through others}}
fuseops.fusible @itself(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %y = fuseops.apply @itself(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  fuseops.return %y : tensor<4x8xf32>
}

// -----

// expected-error @below {{'fuseops.fusible' op applies itself, directly or through others}}
fuseops.fusible @a(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %y = fuseops.apply @b(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  fuseops.return %y : tensor<4x8xf32>
}
fuseops.fusible @b(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %y = fuseops.apply @a(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  fuseops.return %y : tensor<4x8xf32>
}

// -----

!q = !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>
fuseops.fusible @no_rule(%x: tensor<4x8xf8E4M3FN>, %s: tensor<f32>) -> tensor<4x8xf32>
forward {
  // expected-error @below {{'fuseops.pack_quantized' op has no gradient rule, but a gradient through it is asked for}}
  %y = fuseops.pack_quantized %x, %s : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> !q
  %z = fuseops.dequantize %y : !q -> tensor<4x8xf32>
  fuseops.return %z : tensor<4x8xf32>
}

// -----

fuseops.fusible @scalar_without_derivative(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %y = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    // expected-error @below {{'fuseops.special' op has no derivative, but a gradient through it is asked for}}
    %r = fuseops.special nextafter(%a, %a) : f32
    fuseops.yield %r : f32
  }
  fuseops.return %y : tensor<4x8xf32>
}

// -----

!q = !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>
fuseops.fusible @in_callee(%x: tensor<4x8xf8E4M3FN>, %s: tensor<f32>) -> tensor<4x8xf32> attributes {sym_visibility = "private"}
forward {
  // expected-error @below {{'fuseops.pack_quantized' op has no gradient rule, but a gradient through it is asked for}}
  %y = fuseops.pack_quantized %x, %s : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> !q
  %z = fuseops.dequantize %y : !q -> tensor<4x8xf32>
  fuseops.return %z : tensor<4x8xf32>
}
fuseops.fusible @main(%x: tensor<4x8xf8E4M3FN>, %s: tensor<f32>) -> tensor<4x8xf32>
forward {
  %y = fuseops.apply @in_callee(%x, %s) : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  fuseops.return %y : tensor<4x8xf32>
}

// -----

// expected-error @below {{'fuseops.fusible' op has `missing_gradients`: expected no backward region, which is derived without them, but got one}}
fuseops.fusible @own_backward(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) attributes {missing_gradients = array<i64: 0>}
forward {
  %y = fuseops.scale %x by(2.0) : tensor<4x8xf32>
  fuseops.return %x, %y : tensor<4x8xf32>, tensor<4x8xf32>
}
backward (%dx: tensor<4x8xf32>, %dy: tensor<4x8xf32>) {
  %d = fuseops.scale %dy by(2.0) : tensor<4x8xf32>
  fuseops.return %d : tensor<4x8xf32>
}

// -----

fuseops.fusible @factors_of_fp8(%x: tensor<?x8xbf16>, %w: tensor<3x2x8xf8E4M3FN>, %n: tensor<3xi64>) -> tensor<?x2xf32>
forward {
  %q = fuseops.pointwise (%u = %x) : (tensor<?x8xbf16>) -> tensor<?x8xf8E4M3FN> { fuseops.yield %u : f32 }
  // expected-error @below {{'fuseops.grouped_matmul' op has no gradient for its FP8 operands}}
  %y = fuseops.grouped_matmul %q, %w sizes(%n) transpose_rhs : tensor<?x8xf8E4M3FN>, tensor<3x2x8xf8E4M3FN>, tensor<3xi64> -> tensor<?x2xf32>
  fuseops.return %y : tensor<?x2xf32>
}
