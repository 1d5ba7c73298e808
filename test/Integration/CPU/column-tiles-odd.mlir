// A sum over rows of wide values: on CUDA blocks share a row, here with an odd number of columns.
// RUN: fuse-run %s --size 1 --check
// RUN: fuse-run %s --size 67 --check
fuseops.fusible @odd(%x: tensor<?x301xf32>, %b: tensor<301xf32>, %c: tensor<301xf32>) -> tensor<?x301xf32>
forward {
  %z = fuseops.bias %x, %b : tensor<?x301xf32>, tensor<301xf32>
  %s = fuseops.silu %z : tensor<?x301xf32>
  %y = fuseops.mul %s, %c : tensor<?x301xf32>, tensor<301xf32> -> tensor<?x301xf32>
  fuseops.return %y : tensor<?x301xf32>
}
