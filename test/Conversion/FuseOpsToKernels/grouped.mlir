// Grouped products: a kernel of their own, which reads the sizes where they lie.
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cpu --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cuda --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,CUDA

// One worker a row on the CPU, 8 rows a block on CUDA.
// CHECK-LABEL: fuseops.fusible @by_group(
// CPU: fuseops.launch @kernels::@by_group({{.+}}) {{{.*}}kernel_template = #fuseops<kernel_template library>, max_workers = 64 : i64, members = ["fuseops.grouped_matmul"], rows = array<i64: 0, 1>, rows_per_worker = 1 : i64
// CUDA: fuseops.launch @kernels::@by_group({{.+}}) {{{.*}}kernel_template = #fuseops<kernel_template library>, max_workers = 65536 : i64, members = ["fuseops.grouped_matmul"], rows = array<i64: 0, 1>, rows_per_worker = 8 : i64, threads_x = 32 : i64, threads_y = 8 : i64
fuseops.fusible @by_group(%x: tensor<?x8xbf16>, %w: tensor<3x16x8xbf16>, %n: tensor<3xi64>) -> tensor<?x16xbf16>
forward {
  %y = fuseops.group @by_group library (%a = %x, %b = %w, %c = %n) : (tensor<?x8xbf16>, tensor<3x16x8xbf16>, tensor<3xi64>) -> tensor<?x16xbf16> {
    %r = fuseops.grouped_matmul %a, %b sizes(%c) transpose_rhs : tensor<?x8xbf16>, tensor<3x16x8xbf16>, tensor<3xi64> -> tensor<?x16xbf16>
    fuseops.yield %r : tensor<?x16xbf16>
  }
  fuseops.return %y : tensor<?x16xbf16>
}

// The rows of all matrices of the result; `count` is the number of rows that
// are contracted.
// CHECK-LABEL: fuseops.fusible @over_rows(
// CHECK: fuseops.launch @kernels::@over_rows({{.+}}) {{{.*}}count_max_workers = 2147483647 : i64, count_rows = array<i64: 0, 1>, {{.*}}rows = array<i64: 24, 0>
fuseops.fusible @over_rows(%x: tensor<?x8xbf16>, %y: tensor<?x16xbf16>, %n: tensor<3xi64>) -> tensor<3x8x16xf32>
forward {
  %w = fuseops.group @over_rows library (%a = %x, %b = %y, %c = %n) : (tensor<?x8xbf16>, tensor<?x16xbf16>, tensor<3xi64>) -> tensor<3x8x16xf32> {
    %r = fuseops.grouped_matmul %a, %b sizes(%c) transpose_lhs : tensor<?x8xbf16>, tensor<?x16xbf16>, tensor<3xi64> -> tensor<3x8x16xf32>
    fuseops.yield %r : tensor<3x8x16xf32>
  }
  fuseops.return %w : tensor<3x8x16xf32>
}

// CHECK: module @kernels {

// A row looks for its group; without one it contracts nothing.
// CPU: func.func @by_group(%{{.+}}: !llvm.ptr, %[[ROWS:.+]]: i64, %{{.+}}: i64, %[[WORKER:.+]]: i64, %[[WORKERS:.+]]: i64) {
// CUDA: func.func @by_group(%{{.+}}: !llvm.ptr, %{{.+}}: !llvm.ptr, %{{.+}}: !llvm.ptr, %{{.+}}: !llvm.ptr, %[[ROWS:.+]]: i64, %{{.+}}: i64) attributes {fuseops.block = array<i32: 32, 8, 1>} {
// CPU: scf.for %{{.+}} = %[[WORKER]] to %[[ROWS]] step %[[WORKERS]] : i64 {
// CUDA: scf.for %{{.+}} = %{{.+}} to %[[ROWS]] step %{{.+}} : i64 {
// CHECK: scf.for
// CHECK: llvm.load %{{.+}} {alignment = 8 : i64} : !llvm.ptr -> i64
// CHECK: %[[IS_PAST:.+]] = arith.cmpi sle
// CHECK: arith.extui %[[IS_PAST]]
// CHECK: %[[EXISTS:.+]] = arith.cmpi slt
// CHECK: %[[DEPTH:.+]] = arith.select %[[EXISTS]]
// CHECK: scf.for
// CHECK: scf.for %{{.+}} = %{{.+}} to %[[DEPTH]] step %{{.+}} iter_args(%{{.+}} = %{{.+}}) -> (f32)
// CHECK: math.fma
// CHECK: llvm.store %{{.+}}, %{{.+}} {alignment = 2 : i64} : bf16
// CHECK: return

// A group looks for its rows, and takes none that are not there.
// CPU: func.func @over_rows(%{{.+}}: !llvm.ptr, %{{.+}}: i64, %[[OPERAND_ROWS:.+]]: i64, %{{.+}}: i64, %{{.+}}: i64) {
// CUDA: func.func @over_rows({{.+}}, %{{.+}}: i64, %[[OPERAND_ROWS:.+]]: i64)
// CHECK: scf.for
// CHECK: %[[TO:.+]] = arith.minsi %{{.+}}, %[[OPERAND_ROWS]] : i64
// CHECK: scf.for %{{.+}} = %{{.+}} to %[[TO]] step %{{.+}} iter_args(%{{.+}} = %{{.+}}) -> (f32)
// CHECK: llvm.store %{{.+}}, %{{.+}} {alignment = 4 : i64} : f32
