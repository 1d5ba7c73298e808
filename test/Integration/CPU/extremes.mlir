// Maxima and minima of floats with their gradients, shared among ties: relu
// leaves many zeros, and bf16 many equal numbers.
// RUN: fuse-run %s --target=cpu --size 1 --check
// RUN: fuse-run %s --target=cpu --size 130 --check

fuseops.fusible @main(%x: tensor<?x40xbf16>, %w: tensor<?x40xf64>) -> (tensor<?x1xbf16>, tensor<?x1xf32>, tensor<40xbf16>, tensor<40xf64>, tensor<?x1xf64>)
forward {
  %r = fuseops.relu %x : tensor<?x40xbf16>
  %min = fuseops.reduce_columns min %r : tensor<?x40xbf16> -> tensor<?x1xbf16>
  %max = fuseops.reduce_columns max %x : tensor<?x40xbf16> -> tensor<?x1xf32>
  %rows_min = fuseops.reduce_rows min %r : tensor<?x40xbf16> -> tensor<40xbf16>
  %rows_max = fuseops.reduce_rows max %w : tensor<?x40xf64> -> tensor<40xf64>
  %wide = fuseops.reduce_columns sum %w : tensor<?x40xf64> -> tensor<?x1xf64>
  fuseops.return %min, %max, %rows_min, %rows_max, %wide : tensor<?x1xbf16>, tensor<?x1xf32>, tensor<40xbf16>, tensor<40xf64>, tensor<?x1xf64>
}
