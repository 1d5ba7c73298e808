// The schedules of a product: how its tiles are cut, best first by their work.
// Each can be made.
// RUN: fuse-compile %s --target=cuda:sm_90a --generate-products --list-schedules --size=8192 --candidates=40 | FileCheck %s

// CHECK: @forward_0 of @ffn, gemm: linear + relu
// CHECK-NEXT: default
// CHECK-DAG: {ping_pong = 1, {{.*}}tile_columns = 192, tile_rows = 128, warpgroups = 2}
// CHECK-DAG: {ping_pong = 1, {{.*}}tile_columns = 256, tile_rows = 64, warpgroups = 2}
// CHECK-DAG: {ping_pong = 0, {{.*}}tile_columns = 256, tile_rows = 128, warpgroups = 2}
// CHECK-DAG: {ping_pong = 0, {{.*}}tile_columns = 128, tile_rows = 192, warpgroups = 3}
// More sums than a thread has registers.
// CHECK-NOT: tile_columns = 192, tile_rows = 256
fuseops.fusible @ffn(%x: tensor<?x4096xbf16>, %w: tensor<8192x4096xbf16>) -> tensor<?x8192xbf16> attributes {frozen_results = array<i64: 0>}
forward {
  %z = fuseops.linear %x, %w : (tensor<?x4096xbf16>, tensor<8192x4096xbf16>) -> tensor<?x8192xbf16>
  %y = fuseops.relu %z : tensor<?x8192xbf16>
  fuseops.return %y : tensor<?x8192xbf16>
}
