// A reshape that turns rows into columns separates kernels, even where extents of
// 1 make the iteration spaces on its two sides compatible.
// RUN: fuse-run %s --check | FileCheck %s
// CHECK: check: ok
fuseops.fusible @f(%x: tensor<16x1xf32>, %y: tensor<1xf32>) -> tensor<16x16xf32>
forward {
  %0 = fuseops.add %x, %y : tensor<16x1xf32>, tensor<1xf32> -> tensor<16x1xf32>
  %1 = fuseops.reshape %0 : tensor<16x1xf32> -> tensor<16xf32>
  %2 = fuseops.mul %1, %x : tensor<16xf32>, tensor<16x1xf32> -> tensor<16x16xf32>
  fuseops.return %2 : tensor<16x16xf32>
}
