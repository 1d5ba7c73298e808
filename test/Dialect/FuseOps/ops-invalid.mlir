// RUN: fuse-opt %s --split-input-file --verify-diagnostics

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{custom op 'fuseops.gelu' expected `none` or `tanh`, but got `erf`}}
  %y = fuseops.gelu %x approximate(erf) : tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{custom op 'fuseops.swiglu' expected `first` or `last`, but got `middle`}}
  %y = fuseops.swiglu %x activation(middle) : tensor<4x8xf32> -> tensor<4x4xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{custom op 'fuseops.reduce_rows' expected `sum`, `max` or `min`, but got `mean`}}
  %y = fuseops.reduce_rows mean %x : tensor<4x8xf32> -> tensor<8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{expected floating point literal}}
  %y = fuseops.scale %x by(two) : tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{custom op 'fuseops.slice' expected integer value}}
  %y = fuseops.slice %x dim(1) offset(x) : tensor<4x8xf32> -> tensor<4x4xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xi32>)
forward {
  // expected-error @below {{'fuseops.silu' op operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4x8xi32>'}}
  %y = fuseops.silu %x : tensor<4x8xi32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf8E4M3FN>)
forward {
  // expected-error @below {{'fuseops.cast' op operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4x8xf8E4M3FN>'}}
  %y = fuseops.cast %x : tensor<4x8xf8E4M3FN> -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %y: tensor<4xf32>)
forward {
  // expected-error @below {{'fuseops.add' op expected `rhs` to broadcast to the shape of 'tensor<4x8xf32>', but got 'tensor<4xf32>'}}
  %z = fuseops.add %x, %y : tensor<4x8xf32>, tensor<4xf32> -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %y: tensor<8xf32>)
forward {
  // expected-error @below {{'fuseops.mul' op expected `rhs` to broadcast to the shape of 'tensor<8xf32>', but got 'tensor<4x8xf32>'}}
  %z = fuseops.mul %y, %x : tensor<8xf32>, tensor<4x8xf32> -> tensor<8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %y: tensor<2x4x8xf32>)
forward {
  // expected-error @below {{'fuseops.mul' op expected `rhs` to broadcast to the shape of 'tensor<4x8xf32>', but got 'tensor<2x4x8xf32>'}}
  %z = fuseops.mul %x, %y : tensor<4x8xf32>, tensor<2x4x8xf32> -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<1x8xf32>)
forward {
  // expected-error @below {{'fuseops.add' op expected a result of the operands' common shape, but got 'tensor<4x8xf32>'}}
  %z = fuseops.add %x, %x : tensor<1x8xf32>, tensor<1x8xf32> -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %b: tensor<4xf32>)
forward {
  // expected-error @below {{'fuseops.bias' op expected `bias` to have shape [8], but got 'tensor<4xf32>'}}
  %z = fuseops.bias %x, %b : tensor<4x8xf32>, tensor<4xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %b: tensor<1x8xf32>)
forward {
  // expected-error @below {{'fuseops.bias' op expected `bias` to have shape [8], but got 'tensor<1x8xf32>'}}
  %z = fuseops.bias %x, %b : tensor<4x8xf32>, tensor<1x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<f32>, %b: tensor<1xf32>)
forward {
  // expected-error @below {{'fuseops.bias' op expected `input` to have at least one dimension, but got 'tensor<f32>'}}
  %z = fuseops.bias %x, %b : tensor<f32>, tensor<1xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %s: tensor<3xi64>)
forward {
  // expected-error @below {{'fuseops.dropout' op expected `random_state` to be tensor<2xi64>, seed and offset, but got 'tensor<3xi64>'}}
  %z = fuseops.dropout %x, %s p(0.5) : tensor<4x8xf32>, tensor<3xi64>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %s: tensor<2xi64>)
forward {
  // expected-error @below {{'fuseops.dropout' op expected 0 <= p < 1, but got 1.000000e+00}}
  %z = fuseops.dropout %x, %s p(1.0) : tensor<4x8xf32>, tensor<2xi64>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %s: tensor<2xi64>)
forward {
  // expected-error @below {{'fuseops.dropout' op expected 0 <= p < 1, but got -5.000000e-01}}
  %z = fuseops.dropout %x, %s p(-0.5) : tensor<4x8xf32>, tensor<2xi64>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.cast' op expected `result` to have the shape of 'tensor<4x8xf32>', but got 'tensor<8x4xbf16>'}}
  %z = fuseops.cast %x : tensor<4x8xf32> -> tensor<8x4xbf16>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x7xf32>)
forward {
  // expected-error @below {{'fuseops.swiglu' op expected `input` to have an even number of columns, but got 'tensor<4x7xf32>'}}
  %z = fuseops.swiglu %x activation(first) : tensor<4x7xf32> -> tensor<4x3xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.geglu' op expected `result` to have the shape of 'tensor<4x4xf32>', but got 'tensor<4x8xf32>'}}
  %z = fuseops.geglu %x activation(first) : tensor<4x8xf32> -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<f32>)
forward {
  // expected-error @below {{'fuseops.swiglu' op expected `input` to have at least one dimension, but got 'tensor<f32>'}}
  %z = fuseops.swiglu %x activation(first) : tensor<f32> -> tensor<f32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<f32>)
forward {
  // expected-error @below {{'fuseops.layer_norm' op expected `input` to have at least one dimension, but got 'tensor<f32>'}}
  %y, %m, %r = fuseops.layer_norm %x eps(0.1) : (tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.layer_norm' op expected `result` to have the shape of 'tensor<4x8xf32>', but got 'tensor<8x4xf32>'}}
  %y, %m, %r = fuseops.layer_norm %x eps(0.1) : (tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<4x1xf32>, tensor<4x1xf32>)
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %g: tensor<4xf32>)
forward {
  // expected-error @below {{'fuseops.layer_norm' op expected `gamma` to have shape [8], but got 'tensor<4xf32>'}}
  %y, %m, %r = fuseops.layer_norm %x gamma(%g) eps(0.1) : (tensor<4x8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>)
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %g: tensor<4xf32>)
forward {
  // expected-error @below {{'fuseops.layer_norm' op expected `beta` to have shape [8], but got 'tensor<4xf32>'}}
  %y, %m, %r = fuseops.layer_norm %x beta(%g) eps(0.1) : (tensor<4x8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>)
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf64>)
forward {
  // expected-error @below {{'fuseops.layer_norm' op expected `mean` to be 'tensor<4x1xf64>', but got 'tensor<4x1xf32>'}}
  %y, %m, %r = fuseops.layer_norm %x eps(0.1) : (tensor<4x8xf64>) -> (tensor<4x8xf64>, tensor<4x1xf32>, tensor<4x1xf64>)
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.layer_norm' op expected `rstd` to be 'tensor<4x1xf32>', but got 'tensor<4xf32>'}}
  %y, %m, %r = fuseops.layer_norm %x eps(0.1) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4xf32>)
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<f32>)
forward {
  // expected-error @below {{'fuseops.rms_norm' op expected `input` to have at least one dimension, but got 'tensor<f32>'}}
  %y, %r = fuseops.rms_norm %x eps(0.1) : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.rms_norm' op expected `result` to have the shape of 'tensor<4x8xf32>', but got 'tensor<4x4xf32>'}}
  %y, %r = fuseops.rms_norm %x eps(0.1) : (tensor<4x8xf32>) -> (tensor<4x4xf32>, tensor<4x1xf32>)
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %g: tensor<4xf32>)
forward {
  // expected-error @below {{'fuseops.rms_norm' op expected `gamma` to have shape [8], but got 'tensor<4xf32>'}}
  %y, %r = fuseops.rms_norm %x gamma(%g) eps(0.1) : (tensor<4x8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>)
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.rms_norm' op expected `rstd` to be 'tensor<4x1xf32>', but got 'tensor<4x1xf64>'}}
  %y, %r = fuseops.rms_norm %x eps(0.1) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf64>)
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %m: tensor<4xf32>, %r: tensor<4x1xf32>)
forward {
  // expected-error @below {{'fuseops.layer_norm_grad' op expected `mean` to be 'tensor<4x1xf32>', but got 'tensor<4xf32>'}}
  %y = fuseops.layer_norm_grad %x, %x, %m, %r : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %r: tensor<4xf32>)
forward {
  // expected-error @below {{'fuseops.rms_norm_grad' op expected `rstd` to be 'tensor<4x1xf32>', but got 'tensor<4xf32>'}}
  %y = fuseops.rms_norm_grad %x, %x, %r : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %d: tensor<4x4xf32>, %r: tensor<4x1xf32>)
forward {
  // expected-error @below {{'fuseops.rms_norm_grad' op expected `gradient` to have the shape of 'tensor<4x8xf32>', but got 'tensor<4x4xf32>'}}
  %y = fuseops.rms_norm_grad %d, %x, %r : (tensor<4x4xf32>, tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %r: tensor<4x1xf32>)
forward {
  // expected-error @below {{'fuseops.rms_norm_grad' op expected `result` to have the shape of 'tensor<4x8xf32>', but got 'tensor<4x4xf32>'}}
  %y = fuseops.rms_norm_grad %x, %x, %r : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %r: tensor<4x1xf32>, %g: tensor<4xf32>)
forward {
  // expected-error @below {{'fuseops.rms_norm_grad' op expected `gamma` to have shape [8], but got 'tensor<4xf32>'}}
  %y, %dg = fuseops.rms_norm_grad %x, %x, %r gamma(%g) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x1xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %r: tensor<4x1xf32>, %g: tensor<8xf32>)
forward {
  // expected-error @below {{'fuseops.rms_norm_grad' op expected `gamma_gradient` to have shape [8], but got 'tensor<4xf32>'}}
  %y, %dg = fuseops.rms_norm_grad %x, %x, %r gamma(%g) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x1xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %r: tensor<4x1xf32>, %g: tensor<8xf32>)
forward {
  // expected-error @below {{'fuseops.rms_norm_grad' op expected a gamma gradient where there is a gamma, and none where there is none}}
  %y = fuseops.rms_norm_grad %x, %x, %r gamma(%g) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %r: tensor<4x1xf32>)
forward {
  // expected-error @below {{'fuseops.rms_norm_grad' op expected a gamma gradient where there is a gamma, and none where there is none}}
  %y, %dg = fuseops.rms_norm_grad %x, %x, %r : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x1xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<f32>)
forward {
  // expected-error @below {{'fuseops.rms_norm_grad' op expected `input` to have at least one dimension, but got 'tensor<f32>'}}
  %y = fuseops.rms_norm_grad %x, %x, %x : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<f32>)
forward {
  // expected-error @below {{'fuseops.reduce_rows' op expected `input` to have at least one dimension, but got 'tensor<f32>'}}
  %y = fuseops.reduce_rows sum %x : tensor<f32> -> tensor<f32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.reduce_rows' op expected `result` to have shape [8], but got 'tensor<4xf32>'}}
  %y = fuseops.reduce_rows sum %x : tensor<4x8xf32> -> tensor<4xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.reduce_rows' op expected `result` to have shape [8], but got 'tensor<f32>'}}
  %y = fuseops.reduce_rows sum %x : tensor<4x8xf32> -> tensor<f32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<f32>)
forward {
  // expected-error @below {{'fuseops.reduce_columns' op expected `input` to have at least one dimension, but got 'tensor<f32>'}}
  %y = fuseops.reduce_columns sum %x : tensor<f32> -> tensor<f32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.reduce_columns' op expected `result` to have the shape of 'tensor<4x1xf32>', but got 'tensor<4xf32>'}}
  %y = fuseops.reduce_columns max %x : tensor<4x8xf32> -> tensor<4xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xi32>, %w: tensor<2x8xf32>)
forward {
  // expected-error @below {{'fuseops.linear' op expected `input` to be a tensor of f16, bf16, f32 or f64, or quantized, but got 'tensor<4x8xi32>'}}
  %y = fuseops.linear %x, %w : (tensor<4x8xi32>, tensor<2x8xf32>) -> tensor<4x2xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %w: tensor<2x8xf8E5M2>)
forward {
  // expected-error @below {{'fuseops.linear' op expected `weight` to be a tensor of f16, bf16, f32 or f64, or quantized, but got 'tensor<2x8xf8E5M2>'}}
  %y = fuseops.linear %x, %w : (tensor<4x8xf32>, tensor<2x8xf8E5M2>) -> tensor<4x2xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<f32>, %w: tensor<2x1xf32>)
forward {
  // expected-error @below {{'fuseops.linear' op expected `input` to have at least one dimension, but got 'tensor<f32>'}}
  %y = fuseops.linear %x, %w : (tensor<f32>, tensor<2x1xf32>) -> tensor<2xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>)
forward {
  // expected-error @below {{'fuseops.linear' op expected `weight` to have shape [N, 8], but got 'tensor<8x2xf32>'}}
  %y = fuseops.linear %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>)
forward {
  // expected-error @below {{'fuseops.linear' op expected `result` to have the shape of 'tensor<4x2xf32>', but got 'tensor<4x8xf32>'}}
  %y = fuseops.linear %x, %w : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>, %b: tensor<8xf32>)
forward {
  // expected-error @below {{'fuseops.linear' op expected `bias` to have shape [2], but got 'tensor<8xf32>'}}
  %y = fuseops.linear %x, %w bias(%b) : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<8xf32>) -> tensor<4x2xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xi32>)
forward {
  // expected-error @below {{'fuseops.matmul' op expected `lhs` to be a tensor of f16, bf16, f32 or f64, or quantized, but got 'tensor<4x8xi32>'}}
  %y = fuseops.matmul %x, %x transpose_rhs : tensor<4x8xi32>, tensor<4x8xi32> -> tensor<4x4xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %y: tensor<8x2xi8>)
forward {
  // expected-error @below {{'fuseops.matmul' op expected `rhs` to be a tensor of f16, bf16, f32 or f64, or quantized, but got 'tensor<8x2xi8>'}}
  %z = fuseops.matmul %x, %y : tensor<4x8xf32>, tensor<8x2xi8> -> tensor<4x2xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %y: tensor<8xf32>)
forward {
  // expected-error @below {{'fuseops.matmul' op expected operands of rank 2 or more, but got 'tensor<4x8xf32>' and 'tensor<8xf32>'}}
  %z = fuseops.matmul %x, %y : tensor<4x8xf32>, tensor<8xf32> -> tensor<4xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.matmul' op expected operands with equal contracted extents, but got 'tensor<4x8xf32>' and 'tensor<4x8xf32>'}}
  %z = fuseops.matmul %x, %x : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %y: tensor<?x8xf32>)
forward {
  // expected-error @below {{'fuseops.matmul' op expected a result with a static number of columns, but `rhs` is 'tensor<?x8xf32>'}}
  %z = fuseops.matmul %x, %y transpose_rhs : tensor<4x8xf32>, tensor<?x8xf32> -> tensor<4x4xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.matmul' op expected `result` to have the shape of 'tensor<4x4xf32>', but got 'tensor<4x8xf32>'}}
  %z = fuseops.matmul %x, %x transpose_rhs : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.matmul' op expected `result` to have the shape of 'tensor<8x8xf32>', but got 'tensor<4x4xf32>'}}
  %z = fuseops.matmul %x, %x transpose_lhs : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.reshape' op expected one element type, but got 'tensor<4x8xf32>' and 'tensor<32xbf16>'}}
  %z = fuseops.reshape %x : tensor<4x8xf32> -> tensor<32xbf16>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>)
forward {
  // expected-error @below {{'fuseops.reshape' op expected the same number of elements, but got 'tensor<?x8xf32>' and 'tensor<4x8xf32>'}}
  %z = fuseops.reshape %x : tensor<?x8xf32> -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<f32>)
forward {
  // expected-error @below {{'fuseops.slice' op expected `dim` to be a dimension of 'tensor<f32>', but got -1}}
  %z = fuseops.slice %x dim(-1) offset(0) : tensor<f32> -> tensor<f32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.slice' op expected indices 5 to 8 to lie within dimension 1 of `input`, which is 'tensor<4x8xf32>'}}
  %z = fuseops.slice %x dim(1) offset(5) : tensor<4x8xf32> -> tensor<4x4xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.slice' op expected indices -1 to 2 to lie within dimension 1 of `input`, which is 'tensor<4x8xf32>'}}
  %z = fuseops.slice %x dim(1) offset(-1) : tensor<4x8xf32> -> tensor<4x4xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.slice' op expected `result` to differ from `input`, which is 'tensor<4x8xf32>', in dimension 1 only, but got 'tensor<8xf32>'}}
  %z = fuseops.slice %x dim(1) offset(0) : tensor<4x8xf32> -> tensor<8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.slice' op expected `result` to differ from `input`, which is 'tensor<4x8xf32>', in dimension 1 only, but got 'tensor<2x4xf32>'}}
  %z = fuseops.slice %x dim(1) offset(0) : tensor<4x8xf32> -> tensor<2x4xf32>
  fuseops.return
}

// -----

fuseops.fusible @f()
forward {
  // expected-error @below {{'fuseops.concat' op expected at least one input}}
  %z = fuseops.concat dim(0) : () -> tensor<4xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<f32>)
forward {
  // expected-error @below {{'fuseops.concat' op expected `dim` to be a dimension of 'tensor<f32>', but got -1}}
  %z = fuseops.concat %x dim(-1) : (tensor<f32>) -> tensor<f32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %y: tensor<2x8xf32>)
forward {
  // expected-error @below {{'fuseops.concat' op expected inputs that differ from 'tensor<4x16xf32>' in dimension 1 only, but got 'tensor<2x8xf32>'}}
  %z = fuseops.concat %x, %y dim(1) : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x16xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf16>)
forward {
  // expected-error @below {{'fuseops.concat' op expected inputs that differ from 'tensor<4x16xf32>' in dimension 1 only, but got 'tensor<4x8xf16>'}}
  %z = fuseops.concat %x, %y dim(1) : (tensor<4x8xf32>, tensor<4x8xf16>) -> tensor<4x16xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.concat' op expected `result` to have extent 16 in dimension 1, but got 'tensor<4x8xf32>'}}
  %z = fuseops.concat %x, %x dim(1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.amax' op expected a scalar result, but got 'tensor<1xf32>'}}
  %z = fuseops.amax %x : tensor<4x8xf32> -> tensor<1xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%a: tensor<f32>)
forward {
  // expected-error @below {{'fuseops.compute_scale' op expected format `f8E4M3FN` or `f8E5M2`, but got 'bf16'}}
  %z = fuseops.compute_scale %a format(bf16) : tensor<f32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %s: tensor<f32>)
forward {
  // expected-error @below {{'fuseops.quantize' op expected `input` to have the shape of '!fuseops.quantized<8x4xf8E4M3FN, scale = per_tensor, copies = row>', but got 'tensor<4x8xf32>'}}
  %z = fuseops.quantize %x scale(%s) : (tensor<4x8xf32>, tensor<f32>) -> !fuseops.quantized<8x4xf8E4M3FN, scale = per_tensor, copies = row>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.quantize' op expected a scale operand for scale `per_tensor`}}
  %z = fuseops.quantize %x : (tensor<4x8xf32>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %s: tensor<f32>)
forward {
  // expected-error @below {{'fuseops.quantize' op expected no scale operand for scale `mx<1x32>`}}
  %z = fuseops.quantize %x scale(%s) : (tensor<4x8xf32>, tensor<f32>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = mx<1x32>, copies = row>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %s: tensor<1xf32>)
forward {
  // expected-error @below {{'fuseops.quantize' op expected a scalar scale, but got 'tensor<1xf32>'}}
  %z = fuseops.quantize %x scale(%s) : (tensor<4x8xf32>, tensor<1xf32>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>
  fuseops.return
}

// -----

fuseops.fusible @f(%q: !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>)
forward {
  // expected-error @below {{'fuseops.dequantize' op expected `result` to have the shape of '!fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>', but got 'tensor<8x4xf32>'}}
  %z = fuseops.dequantize %q : !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row> -> tensor<8x4xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%d: tensor<4x8xf8E4M3FN>)
forward {
  // expected-error @below {{'fuseops.pack_quantized' op expected parts ('tensor<4x8xf8E4M3FN>', 'tensor<f32>') of '!fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>', but got ('tensor<4x8xf8E4M3FN>')}}
  %z = fuseops.pack_quantized %d : (tensor<4x8xf8E4M3FN>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>
  fuseops.return
}

// -----

fuseops.fusible @f(%q: !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>)
forward {
  // expected-error @below {{'fuseops.unpack_quantized' op expected parts ('tensor<4x8xf8E4M3FN>', 'tensor<f32>') of '!fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>', but got ('tensor<4x8xf8E4M3FN>', 'tensor<1xf32>')}}
  %d, %s = fuseops.unpack_quantized %q : (!fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>) -> (tensor<4x8xf8E4M3FN>, tensor<1xf32>)
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.slice' op expected `step` not to be 0}}
  %z = fuseops.slice %x dim(1) offset(0) step(0) : tensor<4x8xf32> -> tensor<4x4xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>)
forward {
  // expected-error @below {{'fuseops.slice' op expected to slice a dimension of known size, but dimension 0 is symbolic in 'tensor<?x8xf32>' or 'tensor<2x8xf32>'}}
  %z = fuseops.slice %x dim(0) offset(0) : tensor<?x8xf32> -> tensor<2x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>)
forward {
  // expected-error @below {{'fuseops.concat' op expected to join along a dimension of known size, but dimension 0 of 'tensor<?x8xf32>' is symbolic}}
  %z = fuseops.concat %x, %x dim(0) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.permute' op expected `order` to name each dimension of 'tensor<4x8xf32>' once, but got [0, 0]}}
  %z = fuseops.permute %x order[0, 0] : tensor<4x8xf32> -> tensor<4x4xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.permute' op expected `order` to name each dimension of 'tensor<4x8xf32>' once, but got [1]}}
  %z = fuseops.permute %x order[1] : tensor<4x8xf32> -> tensor<8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.permute' op expected `result` to be 'tensor<8x4xf32>', but got 'tensor<4x8xf32>'}}
  %z = fuseops.permute %x order[1, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.expand' op expected `input` to broadcast to 'tensor<4x4xf32>', but got 'tensor<4x8xf32>'}}
  %z = fuseops.expand %x : tensor<4x8xf32> -> tensor<4x4xf32>
  fuseops.return
}
