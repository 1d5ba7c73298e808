// The pairs of an interleaved vector are rows to their kernel, and columns to what
// reads the result, also where there are as many of both.
// RUN: fuse-run %s --check
fuseops.fusible @f(%s: tensor<1xf32>, %x: tensor<6xf32>) -> tensor<3x3xf32>
forward {
  %0 = fuseops.sreglu %x scale(%s) activation(last) interleave(1) : tensor<6xf32>, tensor<1xf32> -> tensor<3xf32>
  %1 = fuseops.expand %0 : tensor<3xf32> -> tensor<3x3xf32>
  fuseops.return %1 : tensor<3x3xf32>
}
