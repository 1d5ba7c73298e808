// Groups of rows, whatever the sizes are: negative ones count as 0, rows past
// the last group give 0.
// RUN: fuse-run %s --target=cpu --size 9 --check

fuseops.fusible @main(%x: tensor<?x7xf32>, %w: tensor<4x10x7xf32>, %n: tensor<4xi64>, %b: tensor<4x10xf32>, %s: tensor<?x1xf32>) -> tensor<?x10xf32>
forward {
  %y = fuseops.grouped_linear %x, %w sizes(%n) bias(%b) bias_scale(%s) : (tensor<?x7xf32>, tensor<4x10x7xf32>, tensor<4xi64>, tensor<4x10xf32>, tensor<?x1xf32>) -> tensor<?x10xf32>
  %z = fuseops.srelu %y : tensor<?x10xf32>
  fuseops.return %z : tensor<?x10xf32>
}
