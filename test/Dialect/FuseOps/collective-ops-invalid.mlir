// RUN: fuse-opt %s --split-input-file --verify-diagnostics

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.all_reduce' op expected `result` to be 'tensor<4x8xf32>', but got 'tensor<8x8xf32>'}}
  %y = fuseops.all_reduce %x group("tp") size(2) : tensor<4x8xf32> -> tensor<8x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.all_gather' op expected one to have 2 times the other's extent of dimension 0, but got 'tensor<4x8xf32>' and 'tensor<16x8xf32>'}}
  %y = fuseops.all_gather %x group("tp") size(2) : tensor<4x8xf32> -> tensor<16x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.reduce_scatter' op expected one to have 2 times the other's extent of dimension 0, but got 'tensor<4x8xf32>' and 'tensor<2x8xbf16>'}}
  %y = fuseops.reduce_scatter %x group("tp") size(2) : tensor<4x8xf32> -> tensor<2x8xbf16>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>)
forward {
  // expected-error @below {{'fuseops.all_gather' op expected tensors with a known extent of dimension 0, but got 'tensor<?x8xf32>' and 'tensor<?x8xf32>'}}
  %y = fuseops.all_gather %x group("tp") size(2) : tensor<?x8xf32> -> tensor<?x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.all_reduce' op attribute 'size' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %y = fuseops.all_reduce %x group("tp") size(0) : tensor<4x8xf32> -> tensor<4x8xf32>
  fuseops.return
}
