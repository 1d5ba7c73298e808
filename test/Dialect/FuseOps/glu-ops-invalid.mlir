// RUN: fuse-opt %s --split-input-file --verify-diagnostics

fuseops.fusible @f(%x: tensor<4x9xf32>)
forward {
  // expected-error @below {{'fuseops.glu' op expected `input` to have an even number of columns, but got 'tensor<4x9xf32>'}}
  %y = fuseops.glu %x activation(first) : tensor<4x9xf32> -> tensor<4x4xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<f32>)
forward {
  // expected-error @below {{'fuseops.reglu' op expected `input` to have at least one dimension, but got 'tensor<f32>'}}
  %y = fuseops.reglu %x activation(first) : tensor<f32> -> tensor<f32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.qgeglu' op expected `result` to have the shape of 'tensor<4x4xf32>', but got 'tensor<4x8xf32>'}}
  %y = fuseops.qgeglu %x activation(first) : tensor<4x8xf32> -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x16xf32>)
forward {
  // expected-error @below {{'fuseops.swiglu' op expected blocks that divide 8 columns, but got interleave(3)}}
  %y = fuseops.swiglu %x activation(first) interleave(3) : tensor<4x16xf32> -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x16xf32>)
forward {
  // expected-error @below {{'fuseops.swiglu' op expected blocks that divide 8 columns, but got interleave(-2)}}
  %y = fuseops.swiglu %x activation(first) interleave(-2) : tensor<4x16xf32> -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x16xf32>, %s: tensor<4xf32>)
forward {
  // expected-error @below {{'fuseops.sreglu' op expected `scale` to have the shape of 'tensor<4x1xf32>', but got 'tensor<4xf32>'}}
  %y = fuseops.sreglu %x scale(%s) activation(first) : tensor<4x16xf32>, tensor<4xf32> -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x16xf32>)
forward {
  // expected-error @below {{expected `first` or `last`, but got `middle`}}
  %y = fuseops.sreglu %x activation(middle) : tensor<4x16xf32> -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x16xf32>)
forward {
  // expected-error @below {{expected `none` or `tanh`, but got `fast`}}
  %y = fuseops.geglu %x approximate(fast) activation(first) : tensor<4x16xf32> -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x16xf32>)
forward {
  // expected-error @below {{'fuseops.situglu' op expected `beta1` to be finite and positive, but got 0.000000e+00}}
  %y = fuseops.situglu %x beta1(0.0) beta2(1.0) activation(first) : tensor<4x16xf32> -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x16xf32>)
forward {
  // expected-error @below {{'fuseops.situglu' op expected `beta2` to be finite and positive, but got INF}}
  %y = fuseops.situglu %x beta1(1.0) beta2(1.0e999) activation(first) : tensor<4x16xf32> -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x16xf32>)
forward {
  // expected-error @below {{'fuseops.clamped_swiglu' op expected `limit` not to be negative, but got -7.000000e+00}}
  %y = fuseops.clamped_swiglu %x limit(-7.0) alpha(1.0) offset(1.0) activation(first) : tensor<4x16xf32> -> tensor<4x8xf32>
  fuseops.return
}
