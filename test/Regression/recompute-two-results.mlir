// Both results of one operation are computed again, by one copy of it.
// RUN: fuse-compile %s --compile-to=saved | FileCheck %s
// RUN: fuse-run %s --check | FileCheck %s --check-prefix=OUT

// OUT: check: ok

// CHECK: save(%arg0)
// CHECK: backward
// CHECK-COUNT-1: {fuseops.recomputed}
// CHECK-NOT: fuseops.recomputed
fuseops.fusible @f(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
forward {
  %a:2 = fuseops.pointwise (%p = %x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
    %t = math.tanh %p : f32
    %n = arith.negf %p : f32
    fuseops.yield %t, %n : f32, f32
  }
  %b = fuseops.silu %a#0 : tensor<4x8xf32>
  %c = fuseops.silu %a#1 : tensor<4x8xf32>
  fuseops.return %b, %c : tensor<4x8xf32>, tensor<4x8xf32>
}
