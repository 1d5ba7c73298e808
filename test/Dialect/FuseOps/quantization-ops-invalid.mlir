// RUN: fuse-opt %s --split-input-file --verify-diagnostics

fuseops.fusible @f(%x: tensor<?x64xf32>)
forward {
  // expected-error @below {{'fuseops.reduce_blocks' op expected blocks of 1x32, 32x1, 1x128, 128x1 or 128x128, but got 64x64}}
  %a = fuseops.reduce_blocks %x block(64, 64) : tensor<?x64xf32> -> tensor<?x1xf32, #fuseops.blocks<128>>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<2x?x64xf32>)
forward {
  // expected-error @below {{'fuseops.reduce_blocks' op expected a tensor of rank 2, but got 'tensor<2x?x64xf32>'}}
  %a = fuseops.reduce_blocks %x block(1, 32) : tensor<2x?x64xf32> -> tensor<2x?x2xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<?x64xf32>)
forward {
  // expected-error @below {{'fuseops.reduce_blocks' op expected blocks of type 'tensor<?x64xf32, #fuseops.blocks<128>>', but got 'tensor<?x64xf32>'}}
  %a = fuseops.reduce_blocks %x block(128, 1) : tensor<?x64xf32> -> tensor<?x64xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x64xf32>)
forward {
  // expected-error @below {{'fuseops.reduce_blocks' op expected the element type of 'tensor<4x64xf32>' in the result, but got 'tensor<4x2xf64>'}}
  %a = fuseops.reduce_blocks %x block(1, 32) : tensor<4x64xf32> -> tensor<4x2xf64>
  fuseops.return
}

// -----

fuseops.fusible @f(%s: tensor<?x4xf32>)
forward {
  // expected-error @below {{'fuseops.expand_blocks' op expected blocks of type 'tensor<?x3xf32>', but got 'tensor<?x4xf32>'}}
  %a = fuseops.expand_blocks %s block(1, 128) : tensor<?x4xf32> -> tensor<?x300xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%s: tensor<?x4xf32>)
forward {
  // expected-error @below {{'fuseops.expand_blocks' op expected the element type of 'tensor<?x4xf32>' in the result, but got 'tensor<?x500xbf16>'}}
  %a = fuseops.expand_blocks %s block(1, 128) : tensor<?x4xf32> -> tensor<?x500xbf16>
  fuseops.return
}

// -----

fuseops.fusible @f(%s: tensor<2xf32>, %h: tensor<4x3xf32>)
forward {
  // expected-error @below {{'fuseops.update_scale' op expected scales [N] and a history [H, N] of one element type, but got 'tensor<2xf32>' and 'tensor<4x3xf32>'}}
  %s1, %h1 = fuseops.update_scale %s, %h, %s format(f8E4M3FN) : tensor<2xf32>, tensor<4x3xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%s: tensor<2xf32>, %h: tensor<4x2xf32>)
forward {
  // expected-error @below {{'fuseops.update_scale' op expected format `f8E4M3FN` or `f8E5M2`, but got 'bf16'}}
  %s1, %h1 = fuseops.update_scale %s, %h, %s format(bf16) : tensor<2xf32>, tensor<4x2xf32>
  fuseops.return
}

// -----

// expected-error @below {{expected blocks of 32 or 128, but got 64}}
fuseops.fusible @f(%s: tensor<?x4xf32, #fuseops.blocks<64>>)
forward {
  fuseops.return
}

// -----

// What counts blocks of rows is not what has rows.
fuseops.fusible @f(%x: tensor<?x4xf32>, %s: tensor<?x4xf32, #fuseops.blocks<128>>)
forward {
  // expected-error @below {{'fuseops.mul' op expected `rhs` to broadcast to the shape of 'tensor<?x4xf32>', but got 'tensor<?x4xf32, #fuseops.blocks<128>>'}}
  %y = fuseops.mul %x, %s : tensor<?x4xf32>, tensor<?x4xf32, #fuseops.blocks<128>> -> tensor<?x4xf32>
  fuseops.return
}
