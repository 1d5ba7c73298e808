// Grouped products are kernels of template `gemm` on sm_90a, with no option; those
// of other chips have no tensor cores.
// RUN: fuse-compile %s --target=cuda:sm_90a --report=text | FileCheck %s
// RUN: fuse-compile %s --target=cuda:sm_80 --report=text | FileCheck %s --check-prefix=OTHER
// RUN: fuse-compile %s --target=cuda:sm_90a --list-schedules --size=8192 --candidates=100 | FileCheck %s --check-prefix=LIST

// CHECK: forward_0 gemm {{.*}} fuseops.grouped_matmul, fuseops.silu
// CHECK: backward_{{[0-9]}} gemm {{.*}} fuseops.grouped_matmul
// CHECK: backward_{{[0-9]}} gemm {{.*}} fuseops.grouped_matmul
// CHECK-NOT: library

// OTHER-NOT: gemm
// OTHER: forward_0 library {{.*}} fuseops.grouped_matmul

// LIST: @forward_0 of @experts, gemm: grouped_matmul + silu
// LIST-NEXT: default
// LIST: ping_pong = 0
// LIST: ping_pong = 0
// A stage whose rows are cleared is one warpgroup's.
// LIST: @backward_2 of @experts, gemm: grouped_matmul
// LIST-NOT: ping_pong = 0
fuseops.fusible @experts(%x: tensor<?x256xbf16>, %w: tensor<4x512x256xbf16>, %n: tensor<4xi64>) -> tensor<?x512xbf16>
forward {
  %z = fuseops.grouped_linear %x, %w sizes(%n) : (tensor<?x256xbf16>, tensor<4x512x256xbf16>, tensor<4xi64>) -> tensor<?x512xbf16>
  %y = fuseops.silu %z : tensor<?x512xbf16>
  fuseops.return %y : tensor<?x512xbf16>
}
