// Groups of rows of FP8 without scales, on the CPU against f64: the scales of rows
// are a multiplication of their own.
// RUN: fuse-run %s --target=cpu --size 9 --check

fuseops.fusible @main(%x: tensor<?x7xf8E4M3FN>, %w: tensor<4x10x7xf8E5M2>, %n: tensor<4xi64>, %s: tensor<?x1xf32>) -> tensor<?x10xbf16>
forward {
  %p = fuseops.grouped_matmul %x, %w sizes(%n) transpose_rhs {fast_accumulate} : tensor<?x7xf8E4M3FN>, tensor<4x10x7xf8E5M2>, tensor<4xi64> -> tensor<?x10xf32>
  %m = fuseops.mul %p, %s : tensor<?x10xf32>, tensor<?x1xf32> -> tensor<?x10xf32>
  %y = fuseops.cast %m : tensor<?x10xf32> -> tensor<?x10xbf16>
  fuseops.return %y : tensor<?x10xbf16>
}
