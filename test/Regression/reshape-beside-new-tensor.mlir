// The name of a reshape's tensor was read from its source after that had moved;
// a build under AddressSanitizer (preset asan) stops there.
// RUN: fuse-run %s --target=cpu --check
fuseops.fusible @reshape(%x: tensor<2x4xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
forward {
  %z = fuseops.reshape %x : tensor<2x4xf32> -> tensor<8xf32>
  %w = fuseops.add %y, %y : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  fuseops.return %z, %w : tensor<8xf32>, tensor<8xf32>
}
