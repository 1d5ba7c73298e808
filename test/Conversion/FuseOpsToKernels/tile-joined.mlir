// Both parts' transposed copies go to ranges of rows of one tensor: each begins at a
// multiple of 16 bytes whatever the number of rows is, so only the pitch, which is the
// number of rows, is looked at.
// RUN: fuse-opt %s --convert-fuseops-to-kernels="target=cuda" | FileCheck %s

// CHECK-LABEL: func.func @forward_0(
// CHECK: %[[ROWS:[0-9]]] = arith.shrui %arg{{[0-9]}}, %c1_i64
// CHECK-NOT: arith.remui %{{[0-9][0-9]+}}, %c16_i64
// CHECK: arith.remui %[[ROWS]], %c16_i64
// CHECK-NOT: arith.remui %{{[0-9][0-9]+}}, %c16_i64
fuseops.fusible @joined(%x: tensor<?x256xbf16>, %y: tensor<?x256xbf16>) -> tensor<512x?xf8E5M2>
attributes {frozen_results = array<i64: 0>} forward {
  %0 = fuseops.group @forward_0 tile schedule {threads = 512 : i64} (%a = %x, %b = %y) : (tensor<?x256xbf16>, tensor<?x256xbf16>) -> tensor<512x?xf8E5M2> {
    %1:2 = fuseops.pointwise (%p = %a, %q = %b) : (tensor<?x256xbf16>, tensor<?x256xbf16>) -> (tensor<?x256xf8E5M2>, tensor<?x256xf8E5M2>) {
      %s = arith.addf %p, %q : f32
      %d = arith.subf %p, %q : f32
      fuseops.yield %s, %d : f32, f32
    }
    %2 = fuseops.concat %1#0, %1#1 dim(1) : (tensor<?x256xf8E5M2>, tensor<?x256xf8E5M2>) -> tensor<?x512xf8E5M2>
    %3 = fuseops.permute %2 order[1, 0] : tensor<?x512xf8E5M2> -> tensor<512x?xf8E5M2>
    fuseops.yield %3 : tensor<512x?xf8E5M2>
  }
  fuseops.return %0 : tensor<512x?xf8E5M2>
}
