// A permutation visits its result, also where the input has as many elements
// and more columns; it used to be put into the kernel of a reduction.
// RUN: fuse-run %s --target=cpu --check
fuseops.fusible @main(%x: tensor<1x2x1x2xf64>) -> (tensor<1x2x1x1xf64>, tensor<1x2x2x1xf64>)
forward {
  %0 = fuseops.reduce_columns min %x : tensor<1x2x1x2xf64> -> tensor<1x2x1x1xf64>
  %1 = fuseops.permute %x order[0, 1, 3, 2] : tensor<1x2x1x2xf64> -> tensor<1x2x2x1xf64>
  fuseops.return %0, %1 : tensor<1x2x1x1xf64>, tensor<1x2x2x1xf64>
}
