// RUN: fuse-opt %s --verify-diagnostics --split-input-file

fuseops.fusible @bytes(%x: tensor<3xf32>) -> tensor<3xf32>
forward {
  // expected-error@below {{'fuseops.constant' op expected a resource of 12 bytes, but got 8}}
  %c = fuseops.constant dense_resource<two> : tensor<3xf32>
  fuseops.return %c : tensor<3xf32>
}

{-#
  dialect_resources: { builtin: { two: "0x040000000000803F00000040" } }
#-}

// -----

fuseops.fusible @missing(%x: tensor<3xf32>) -> tensor<3xf32>
forward {
  // expected-error@below {{'fuseops.constant' op expected the resource `three` to have data}}
  %c = fuseops.constant dense_resource<three> : tensor<3xf32>
  fuseops.return %c : tensor<3xf32>
}

// -----

fuseops.fusible @sparse(%x: tensor<3xf32>) -> tensor<3xf32>
forward {
  // expected-error@below {{'fuseops.constant' op expected `dense` or `dense_resource` elements}}
  %c = fuseops.constant sparse<[[0]], [1.0]> : tensor<3xf32>
  fuseops.return %c : tensor<3xf32>
}
