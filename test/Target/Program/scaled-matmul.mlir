// A product of FP8 in a program: its scales are among its bytes, each with its
// own kind.
// RUN: fuse-compile %s --entry=f --target=cuda:sm_90a --emit=report -o - | FileCheck %s
// RUN: fuse-compile %s --entry=f --target=cuda:sm_90a -o %t.fuseops
// RUN: not fuse-compile %s --entry=mx --target=cuda:sm_90a -o %t.fuseops 2>&1 | FileCheck %s --check-prefix=MX
// RUN: not fuse-compile %s --entry=f --target=cpu -o %t.fuseops 2>&1 | FileCheck %s --check-prefix=CPU

// CPU: error: 'fuseops.scaled_matmul' op expected target `cuda`, the only one that multiplies FP8
// MX: error: {{.*}}expected scales that a library multiplies, but got `mx<1x32>`

// 128 * 256 + 4 * 4 bytes of the weight and its scales, 2 * 128 of the bias;
// 256 + 4 * 2 + 2 * 128 for each row.
// CHECK: "bytes": [
// CHECK: "kernels": [
// CHECK:      "bytes": [
// CHECK-NEXT:   33040,
// CHECK-NEXT:   520
// CHECK-NEXT: ],
// CHECK-NEXT: "flops": [
// CHECK-NEXT:   0,
// CHECK-NEXT:   65536
// CHECK-NEXT: ],
// CHECK-NEXT: "members": [
// CHECK-NEXT:   "fuseops.scaled_matmul"
// CHECK: "reductions": [
// CHECK-NEXT: [
// CHECK-NEXT:   256,
// CHECK-NEXT:   0
fuseops.fusible @f(%x: tensor<?x256xf8E4M3FN>, %xs: tensor<2x?xf32>, %w: tensor<128x256xf8E5M2>, %ws: tensor<1x4xf32>, %b: tensor<128xbf16>) -> tensor<?x128xbf16>
attributes {frozen_results = array<i64: 0>}
forward {
  %y = fuseops.scaled_matmul %x[%xs] block<1x128>, %w[%ws] block<128x128> bias(%b) : (tensor<?x256xf8E4M3FN>, tensor<2x?xf32>, tensor<128x256xf8E5M2>, tensor<1x4xf32>, tensor<128xbf16>) -> tensor<?x128xbf16>
  fuseops.return %y : tensor<?x128xbf16>
}

fuseops.fusible @mx(%x: tensor<16x256xf8E4M3FN>, %xs: tensor<16x8xf8E8M0FNU>, %w: tensor<128x256xf8E4M3FN>, %ws: tensor<128x8xf8E8M0FNU>) -> tensor<16x128xbf16>
attributes {frozen_results = array<i64: 0>}
forward {
  %y = fuseops.scaled_matmul %x[%xs] mx<1x32>, %w[%ws] mx<1x32> : (tensor<16x256xf8E4M3FN>, tensor<16x8xf8E8M0FNU>, tensor<128x256xf8E4M3FN>, tensor<128x8xf8E8M0FNU>) -> tensor<16x128xbf16>
  fuseops.return %y : tensor<16x128xbf16>
}
