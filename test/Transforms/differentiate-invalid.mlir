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

fuseops.fusible @layer_norm_statistics(%x: tensor<4x8xf32>) -> tensor<4x1xf32>
forward {
  // expected-error @below {{'fuseops.layer_norm' op has no gradient through its statistics, but one is asked for}}
  %y, %m, %r = fuseops.layer_norm %x eps(0.1) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>)
  fuseops.return %m : tensor<4x1xf32>
}

// -----

fuseops.fusible @rms_norm_statistics(%x: tensor<4x8xf32>) -> tensor<4x1xf32>
forward {
  // expected-error @below {{'fuseops.rms_norm' op has no gradient through its statistics, but one is asked for}}
  %y, %r = fuseops.rms_norm %x eps(0.1) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>)
  fuseops.return %r : tensor<4x1xf32>
}

// -----

fuseops.fusible @inner_dimensions_of_sum(%x: tensor<?x16x8xf32>, %y: tensor<?x1x8xf32>) -> tensor<?x16x8xf32>
forward {
  // expected-error @below {{cannot reduce a gradient of type 'tensor<?x16x8xf32>' to 'tensor<?x1x8xf32>': a reduction over inner dimensions only is not supported}}
  %z = fuseops.add %x, %y : tensor<?x16x8xf32>, tensor<?x1x8xf32> -> tensor<?x16x8xf32>
  fuseops.return %z : tensor<?x16x8xf32>
}

// -----

fuseops.fusible @inner_dimensions_of_product(%x: tensor<2x16x8xf32>, %y: tensor<2x1x8xf32>) -> tensor<2x16x8xf32>
forward {
  // expected-error @below {{cannot reduce a gradient of type 'tensor<2x16x8xf32>' to 'tensor<2x1x8xf32>': a reduction over inner dimensions only is not supported}}
  %z = fuseops.mul %x, %y : tensor<2x16x8xf32>, tensor<2x1x8xf32> -> tensor<2x16x8xf32>
  fuseops.return %z : tensor<2x16x8xf32>
}

// -----

fuseops.fusible @inner_dimensions_of_pointwise(%x: tensor<2x16x8xf32>, %y: tensor<2x1x8xf32>) -> tensor<2x16x8xf32>
forward {
  // expected-error @below {{cannot reduce a gradient of type 'tensor<2x16x8xf32>' to 'tensor<2x1x8xf32>': a reduction over inner dimensions only is not supported}}
  %z = fuseops.pointwise (%a = %x, %b = %y) : (tensor<2x16x8xf32>, tensor<2x1x8xf32>) -> tensor<2x16x8xf32> {
    %s = arith.addf %a, %b : f32
    fuseops.yield %s : f32
  }
  fuseops.return %z : tensor<2x16x8xf32>
}

// -----

fuseops.fusible @no_rule(%x: tensor<4x8xf32>) -> tensor<f32>
forward {
  // expected-error @below {{'fuseops.amax' op has no gradient rule, but a gradient through it is asked for}}
  %y = fuseops.amax %x : tensor<4x8xf32> -> tensor<f32>
  fuseops.return %y : tensor<f32>
}

// -----

fuseops.fusible @no_second_derivative(%dy: tensor<4x8xf32>, %x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  // expected-error @below {{'fuseops.silu_grad' op has no gradient rule, but a gradient through it is asked for}}
  %y = fuseops.silu_grad %dy, %x : tensor<4x8xf32>
  fuseops.return %y : tensor<4x8xf32>
}

// -----

fuseops.fusible @scalar_without_derivative(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %y = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    // expected-error @below {{'arith.remf' op has no derivative, but a gradient through it is asked for}}
    %r = arith.remf %a, %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %y : tensor<4x8xf32>
}

// -----

fuseops.fusible @scalar_with_two_results(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %y = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    // expected-error @below {{'math.sincos' op has no derivative, but a gradient through it is asked for}}
    %s, %c = math.sincos %a : f32
    fuseops.yield %s : f32
  }
  fuseops.return %y : tensor<4x8xf32>
}

// -----

fuseops.fusible @in_callee(%x: tensor<4x8xf32>) -> tensor<f32> attributes {sym_visibility = "private"}
forward {
  // expected-error @below {{'fuseops.amax' op has no gradient rule, but a gradient through it is asked for}}
  %y = fuseops.amax %x : tensor<4x8xf32> -> tensor<f32>
  fuseops.return %y : tensor<f32>
}
fuseops.fusible @main(%x: tensor<4x8xf32>) -> tensor<f32>
forward {
  %y = fuseops.apply @in_callee(%x) : (tensor<4x8xf32>) -> tensor<f32>
  fuseops.return %y : tensor<f32>
}
