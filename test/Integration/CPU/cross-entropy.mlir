// Loss and sum over rows; random targets are outside the classes too, where the
// loss is NaN.
// RUN: fuse-run %s --target=cpu --size 33 --check

fuseops.fusible @main(%x: tensor<?x37xf32>, %t: tensor<?x1xi64>) -> (tensor<?x1xf32>, tensor<1xf32>)
forward {
  %loss, %l = fuseops.cross_entropy %x, %t ignore_index(3) label_smoothing(0.125) : tensor<?x37xf32>, tensor<?x1xi64> -> (tensor<?x1xf32>, tensor<?x1xf32>)
  %sum = fuseops.reduce_rows sum %l : tensor<?x1xf32> -> tensor<1xf32>
  fuseops.return %loss, %sum : tensor<?x1xf32>, tensor<1xf32>
}
