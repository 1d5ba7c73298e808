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

// A maximum of the whole matrix is one more thing that each block keeps, in a
// register, until it has seen its rows: of all its blocks, not of a quarter, is one
// left. A sum of the whole matrix is one of the rows' sums, in order, as above.
// CHECK-LABEL: fuseops.fusible @whole(
// CHECK: %[[MAIN:.+]]:3 = fuseops.launch @kernels::@whole({{.*}}max_workers = 792 : i64, {{.*}}rows = array<i64: 0, 4>, {{.*}} -> (tensor<?x1000xbf16>, tensor<198x1000xf32>, tensor<792x1xf32>)
// CHECK-NEXT: fuseops.launch @kernels::@whole_finalize_0(%[[MAIN]]#1) {{.*}}count_max_workers = 198 : i64, count_rows = array<i64: 0, 1>
// CHECK-NEXT: fuseops.launch @kernels::@whole_finalize_1(%[[MAIN]]#2) {{.*}}count_max_workers = 792 : i64, count_rows = array<i64: 0, 4>
fuseops.fusible @whole(%x: tensor<?x1000xbf16>) -> (tensor<?x1000xbf16>, tensor<1000xbf16>, tensor<f32>)
forward {
  %y:3 = fuseops.group @whole row_column (%a = %x) : (tensor<?x1000xbf16>) -> (tensor<?x1000xbf16>, tensor<1000xbf16>, tensor<f32>) {
    %z = fuseops.relu %a : tensor<?x1000xbf16>
    %s = fuseops.reduce_rows sum %z : tensor<?x1000xbf16> -> tensor<1000xbf16>
    %m = fuseops.amax %z : tensor<?x1000xbf16> -> tensor<f32>
    fuseops.yield %z, %s, %m : tensor<?x1000xbf16>, tensor<1000xbf16>, tensor<f32>
  }
  fuseops.return %y#0, %y#1, %y#2 : tensor<?x1000xbf16>, tensor<1000xbf16>, tensor<f32>
}

// CHECK-LABEL: fuseops.fusible @whole_sum(
// CHECK: fuseops.launch @kernels::@whole_sum({{.*}}rows = array<i64: 0, 1>
fuseops.fusible @whole_sum(%x: tensor<?x1000xf32>) -> (tensor<1000xf32>, tensor<1xf32>)
forward {
  %y:2 = fuseops.group @whole_sum row_column (%a = %x) : (tensor<?x1000xf32>) -> (tensor<1000xf32>, tensor<1xf32>) {
    %s = fuseops.reduce_rows sum %a : tensor<?x1000xf32> -> tensor<1000xf32>
    %c = fuseops.reduce_columns sum %a : tensor<?x1000xf32> -> tensor<?x1xf32>
    %m = fuseops.reduce_rows sum %c : tensor<?x1xf32> -> tensor<1xf32>
    fuseops.yield %s, %m : tensor<1000xf32>, tensor<1xf32>
  }
  fuseops.return %y#0, %y#1 : tensor<1000xf32>, tensor<1xf32>
}

// CHECK: llvm.mlir.global internal @whole_whole() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<8 x f32>
// CHECK-LABEL: func.func @whole(
// CHECK: scf.for {{.*}} -> (vector<8xf32>, f32)
// CHECK-NOT: nvvm.shfl
// CHECK-NOT: nvvm.barrier0
// CHECK: scf.yield %{{.+}}, %{{.+}} : vector<8xf32>, f32
// CHECK: nvvm.barrier0
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK: llvm.store %{{.+}}, %{{.+}} {alignment = 4 : i64} : f32, !llvm.ptr<3>
// CHECK: nvvm.barrier0
// CHECK: scf.for {{.*}} -> (f32)
