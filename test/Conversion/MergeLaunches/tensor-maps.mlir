// A kernel of tensor maps is no part of another: nobody would pass them to it.
// RUN: fuse-opt %s --fuseops-merge-launches | FileCheck %s

// CHECK-LABEL: fuseops.fusible @mapped(
// CHECK: fuseops.launch @kernels::@first(
// CHECK-SAME: maps = [#fuseops.tensor_map<
// CHECK-NEXT: fuseops.launch @kernels::@second(
// CHECK-NEXT: fuseops.return
fuseops.fusible @mapped(%x: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {frozen_results = array<i64: 0, 1>}
forward {
  %0 = fuseops.launch @kernels::@first(%x) {bytes = array<i64: 32, 0>, kernel_template = #fuseops<kernel_template pointwise>, maps = [#fuseops.tensor_map<tensor = 0, columns = [4], rows = [1], pitch = [4], box_columns = 4, box_rows = 1, swizzle = 0>], max_workers = 1 : i64, members = ["fuseops.relu"], rows = array<i64: 1, 0>, rows_per_worker = 1 : i64, threads_x = 512 : i64, unfused_bytes = array<i64: 32, 0>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = fuseops.launch @kernels::@second(%z) {bytes = array<i64: 32, 0>, kernel_template = #fuseops<kernel_template pointwise>, max_workers = 1 : i64, members = ["fuseops.relu"], rows = array<i64: 1, 0>, rows_per_worker = 1 : i64, threads_x = 512 : i64, unfused_bytes = array<i64: 32, 0>} : (tensor<4xf32>) -> tensor<4xf32>
  fuseops.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// The same without are parts of one.
// CHECK-LABEL: fuseops.fusible @plain(
// CHECK: fuseops.launch @kernels::@third(
// CHECK-NEXT: fuseops.return
fuseops.fusible @plain(%x: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {frozen_results = array<i64: 0, 1>}
forward {
  %0 = fuseops.launch @kernels::@third(%x) {bytes = array<i64: 32, 0>, kernel_template = #fuseops<kernel_template pointwise>, max_workers = 1 : i64, members = ["fuseops.relu"], rows = array<i64: 1, 0>, rows_per_worker = 1 : i64, threads_x = 512 : i64, unfused_bytes = array<i64: 32, 0>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = fuseops.launch @kernels::@fourth(%z) {bytes = array<i64: 32, 0>, kernel_template = #fuseops<kernel_template pointwise>, max_workers = 1 : i64, members = ["fuseops.relu"], rows = array<i64: 1, 0>, rows_per_worker = 1 : i64, threads_x = 512 : i64, unfused_bytes = array<i64: 32, 0>} : (tensor<4xf32>) -> tensor<4xf32>
  fuseops.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

module @kernels {
  func.func @first(%x: !llvm.ptr, %y: !llvm.ptr, %map: !llvm.ptr {fuseops.tensor_map}, %rows: i64, %count: i64) attributes {fuseops.block = array<i32: 512, 1, 1>} {
    return
  }
  func.func @second(%x: !llvm.ptr, %y: !llvm.ptr, %rows: i64, %count: i64) attributes {fuseops.block = array<i32: 512, 1, 1>} {
    return
  }
  func.func @third(%x: !llvm.ptr, %y: !llvm.ptr, %rows: i64, %count: i64) attributes {fuseops.block = array<i32: 512, 1, 1>} {
    return
  }
  func.func @fourth(%x: !llvm.ptr, %y: !llvm.ptr, %rows: i64, %count: i64) attributes {fuseops.block = array<i32: 512, 1, 1>} {
    return
  }
}
