// A reduction over one row is a reduction too: what reads it is another kernel.
// RUN: fuse-run %s --check | FileCheck %s --check-prefix=OUT
// RUN: fuse-compile %s --compile-to=fusion | FileCheck %s

// OUT: check: ok

// CHECK: fuseops.group @forward_0 row_column
// CHECK-NEXT: fuseops.reduce_rows sum
// CHECK: fuseops.group @forward_1 row (
// CHECK-NEXT: fuseops.layer_norm
fuseops.fusible @f(%x: tensor<1x8xf32>) -> tensor<8xf32>
forward {
  %0 = fuseops.reduce_rows sum %x : tensor<1x8xf32> -> tensor<8xf32>
  %1, %mean, %rstd = fuseops.layer_norm %0 eps(1.0e-5) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<1xf32>, tensor<1xf32>)
  fuseops.return %1 : tensor<8xf32>
}
