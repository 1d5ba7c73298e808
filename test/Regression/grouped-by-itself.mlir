// A grouped product of a tensor with itself, which is one input of its group: the
// kernel took the sizes for the second factor.
// RUN: fuse-run %s --size 1 --check
// RUN: fuse-run %s --size 300 --check
fuseops.fusible @main(%x: tensor<?x6xf32> {fuseops.frozen}, %n: tensor<2xi64>) -> tensor<2x6x6xf32>
forward {
  %y = fuseops.grouped_matmul %x, %x sizes(%n) transpose_lhs : tensor<?x6xf32>, tensor<?x6xf32>, tensor<2xi64> -> tensor<2x6x6xf32>
  fuseops.return %y : tensor<2x6x6xf32>
}
