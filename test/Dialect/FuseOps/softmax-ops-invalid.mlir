// RUN: fuse-opt %s --split-input-file --verify-diagnostics

fuseops.fusible @f(%x: tensor<f32>)
forward {
  // expected-error @below {{'fuseops.softmax' op expected `input` to have at least one dimension, but got 'tensor<f32>'}}
  %y = fuseops.softmax %x : tensor<f32> -> tensor<f32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.log_softmax' op expected `result` to have the shape of 'tensor<4x8xf32>', but got 'tensor<4x4xf32>'}}
  %y = fuseops.log_softmax %x : tensor<4x8xf32> -> tensor<4x4xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %y: tensor<4x1xf32>)
forward {
  // expected-error @below {{'fuseops.softmax_grad' op expected `output` to have the shape of 'tensor<4x8xf32>', but got 'tensor<4x1xf32>'}}
  %z = fuseops.softmax_grad %x, %y : tensor<4x8xf32>, tensor<4x1xf32> -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<f32>)
forward {
  // expected-error @below {{'fuseops.log_softmax_grad' op expected `gradient` to have at least one dimension, but got 'tensor<f32>'}}
  %z = fuseops.log_softmax_grad %x, %x : tensor<f32>, tensor<f32> -> tensor<f32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x0xf32>, %t: tensor<4x1xi64>)
forward {
  // expected-error @below {{'fuseops.cross_entropy' op expected `logits` to have at least one class, but got 'tensor<4x0xf32>'}}
  %y, %l = fuseops.cross_entropy %x, %t ignore_index(-100) label_smoothing(0.0) : tensor<4x0xf32>, tensor<4x1xi64> -> (tensor<4x1xf32>, tensor<4x1xf32>)
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %t: tensor<4xi64>)
forward {
  // expected-error @below {{'fuseops.cross_entropy' op expected `targets` to have the shape of 'tensor<4x1xf32>', but got 'tensor<4xi64>'}}
  %y, %l = fuseops.cross_entropy %x, %t ignore_index(-100) label_smoothing(0.0) : tensor<4x8xf32>, tensor<4xi64> -> (tensor<4x1xf32>, tensor<4x1xf32>)
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf64>, %t: tensor<4x1xi64>)
forward {
  // expected-error @below {{'fuseops.cross_entropy' op expected `loss` to be 'tensor<4x1xf64>', but got 'tensor<4x1xf32>'}}
  %y, %l = fuseops.cross_entropy %x, %t ignore_index(-100) label_smoothing(0.0) : tensor<4x8xf64>, tensor<4x1xi64> -> (tensor<4x1xf32>, tensor<4x1xf64>)
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %t: tensor<4x1xi64>)
forward {
  // expected-error @below {{'fuseops.cross_entropy' op expected 0 <= label_smoothing <= 1, but got 1.500000e+00}}
  %y, %l = fuseops.cross_entropy %x, %t ignore_index(-100) label_smoothing(1.5) : tensor<4x8xf32>, tensor<4x1xi64> -> (tensor<4x1xf32>, tensor<4x1xf32>)
  fuseops.return
}
