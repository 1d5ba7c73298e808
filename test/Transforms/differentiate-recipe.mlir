// The products of a gradient have the recipe and the name of the product that it is
// of; other operations don't.
// RUN: fuse-opt %s --fuseops-differentiate | FileCheck %s

// CHECK-LABEL: fuseops.fusible @main(
// CHECK: backward
// CHECK: fuseops.matmul %{{.*}}, %{{.*}} {fuseops.name = "fc", fuseops.recipe = #fuseops.recipe<none>} : tensor<4x16xf32>, tensor<16x8xf32>
// CHECK: fuseops.matmul %{{.*}}, %{{.*}} transpose_lhs {fuseops.name = "fc", fuseops.recipe = #fuseops.recipe<none>} : tensor<4x16xf32>, tensor<4x8xf32>
// CHECK: fuseops.reduce_rows sum %{{.*}} : tensor<4x16xf32> -> tensor<16xf32>
// CHECK: fuseops.silu_grad %{{.*}}, %{{.*}} : tensor<4x8xf32>
fuseops.fusible @main(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>) -> tensor<4x16xf32>
forward {
  %0 = fuseops.silu %x : tensor<4x8xf32>
  %1 = fuseops.linear %0, %w bias(%b) {fuseops.name = "fc", fuseops.recipe = #fuseops.recipe<none>} : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  fuseops.return %1 : tensor<4x16xf32>
}
