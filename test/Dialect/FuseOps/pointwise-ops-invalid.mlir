// RUN: fuse-opt %s --split-input-file --verify-diagnostics

fuseops.fusible @f(%x: tensor<4x8xf32>, %s: tensor<8xf32>)
forward {
  // expected-error @below {{'fuseops.srelu' op expected `scale` to have the shape of 'tensor<4x1xf32>', but got 'tensor<8xf32>'}}
  %y = fuseops.srelu %x scale(%s) : tensor<4x8xf32>, tensor<8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.l2_norm' op expected `reciprocal_norm` to be 'tensor<4x1xf32>', but got 'tensor<4xf32>'}}
  %y, %r = fuseops.l2_norm %x eps(0.0) : tensor<4x8xf32> -> (tensor<4x8xf32>, tensor<4xf32>)
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x7xf32>, %c: tensor<3xf32>)
forward {
  // expected-error @below {{'fuseops.rotary_embedding' op expected `input` to have an even number of columns, but got 'tensor<4x7xf32>'}}
  %y = fuseops.rotary_embedding %x, %c, %c pairs(half) : tensor<4x7xf32>, tensor<3xf32>, tensor<3xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %c: tensor<4x1xf32>, %s: tensor<4x4xf32>)
forward {
  // expected-error @below {{'fuseops.rotary_embedding' op expected `cosine` to have one column for each pair and to broadcast to the shape of 'tensor<4x4xf32>', but got 'tensor<4x1xf32>'}}
  %y = fuseops.rotary_embedding %x, %c, %s pairs(half) : tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x4xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %c: tensor<4x4xf32>, %s: tensor<3x4xf32>)
forward {
  // expected-error @below {{'fuseops.rotary_embedding' op expected `sine` to have one column for each pair and to broadcast to the shape of 'tensor<4x4xf32>', but got 'tensor<3x4xf32>'}}
  %y = fuseops.rotary_embedding %x, %c, %s pairs(interleaved) : tensor<4x8xf32>, tensor<4x4xf32>, tensor<3x4xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %c: tensor<4x4xf32>)
forward {
  // expected-error @below {{expected `half` or `interleaved`, but got `pairs`}}
  %y = fuseops.rotary_embedding %x, %c, %c pairs(pairs) : tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  fuseops.return
}
