// A sum over rows of wide values, without a sum over columns: CUDA blocks share a
// row, so that each keeps its columns' sums in registers.
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cuda --canonicalize --cse | FileCheck %s

// 1000 columns are 4 tiles of 32 threads by 8 elements: the launch counts each row
// 4 times, and a quarter of its blocks leave a partial result each.
// CHECK-LABEL: fuseops.fusible @tiled(
// CHECK: %[[MAIN:.+]]:2 = fuseops.launch @kernels::@tiled({{.*}}max_workers = 1584 : i64, {{.*}}rows = array<i64: 0, 4>, rows_per_worker = 1 : i64, threads_x = 32 : i64, threads_y = 16 : i64{{.*}} -> (tensor<?x1000xbf16>, tensor<396x1000xf32>)
// CHECK-NEXT: fuseops.launch @kernels::@tiled_finalize(%[[MAIN]]#1) {{.*}}count_max_workers = 396 : i64, count_rows = array<i64: 0, 1>
fuseops.fusible @tiled(%x: tensor<?x1000xbf16>) -> (tensor<?x1000xbf16>, tensor<1000xbf16>)
forward {
  %y:2 = fuseops.group @tiled row_column (%a = %x) : (tensor<?x1000xbf16>) -> (tensor<?x1000xbf16>, tensor<1000xbf16>) {
    %z = fuseops.relu %a : tensor<?x1000xbf16>
    %s = fuseops.reduce_rows sum %z : tensor<?x1000xbf16> -> tensor<1000xbf16>
    fuseops.yield %z, %s : tensor<?x1000xbf16>, tensor<1000xbf16>
  }
  fuseops.return %y#0, %y#1 : tensor<?x1000xbf16>, tensor<1000xbf16>
}

// A value a row is written once: no tiles.
// CHECK-LABEL: fuseops.fusible @value_a_row(
// CHECK: fuseops.launch @kernels::@value_a_row({{.*}}rows = array<i64: 0, 1>
fuseops.fusible @value_a_row(%x: tensor<?x1000xbf16>) -> (tensor<?x1xf32>, tensor<1000xbf16>)
forward {
  %y:2 = fuseops.group @value_a_row row_column (%a = %x) : (tensor<?x1000xbf16>) -> (tensor<?x1xf32>, tensor<1000xbf16>) {
    %c = fuseops.reduce_columns sum %a : tensor<?x1000xbf16> -> tensor<?x1xf32>
    %s = fuseops.reduce_rows sum %a : tensor<?x1000xbf16> -> tensor<1000xbf16>
    fuseops.yield %c, %s : tensor<?x1xf32>, tensor<1000xbf16>
  }
  fuseops.return %y#0, %y#1 : tensor<?x1xf32>, tensor<1000xbf16>
}
