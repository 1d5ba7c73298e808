// Reductions over rows: partial results, and the finalize kernel that sums them.
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cpu --canonicalize --cse | FileCheck %s --check-prefix=CPU
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cuda --canonicalize --cse | FileCheck %s --check-prefix=CUDA

// CPU-LABEL: fuseops.fusible @bias_gradient(
// CPU: %[[MAIN:.+]]:2 = fuseops.launch @kernels::@bias_gradient({{.*}}kernel_template = #fuseops<kernel_template row_column>, max_workers = [[W:[0-9]+]] : i64{{.*}}rows_per_worker = [[R:[0-9]+]] : i64{{.*}} -> (tensor<?x8xf32>, tensor<32x8xf32>)
// CPU-NEXT: %[[SUM:.+]] = fuseops.launch @kernels::@bias_gradient_finalize(%[[MAIN]]#1) {bytes = array<i64: 16, 0>, count_max_workers = [[W]] : i64, count_rows = array<i64: 0, 1>, count_rows_per_worker = [[R]] : i64, kernel_template = #fuseops<kernel_template finalize>, max_workers = 1 : i64{{.*}}rows = array<i64: 1, 0>, rows_per_worker = 1 : i64, unfused_bytes = array<i64: 0, 0>} : (tensor<32x8xf32>) -> tensor<8xbf16>
// CPU-NEXT: fuseops.return %[[MAIN]]#0, %[[SUM]]
// CUDA-LABEL: fuseops.fusible @bias_gradient(
// CUDA: %[[MAIN:.+]]:2 = fuseops.launch @kernels::@bias_gradient({{.*}}kernel_template = #fuseops<kernel_template row_column>, max_workers = [[W:[0-9]+]] : i64{{.*}}rows_per_worker = 2 : i64, threads_y = 2 : i64{{.*}} -> (tensor<?x8xf32>, tensor<[[W]]x8xf32>)
// CUDA-NEXT: %[[SUM:.+]] = fuseops.launch @kernels::@bias_gradient_finalize(%[[MAIN]]#1) {bytes = array<i64: 16, 0>, count_max_workers = [[W]] : i64, count_rows = array<i64: 0, 1>, count_rows_per_worker = 2 : i64, kernel_template = #fuseops<kernel_template finalize>
// CUDA-NEXT: fuseops.return %[[MAIN]]#0, %[[SUM]]
fuseops.fusible @bias_gradient(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<8xbf16>)
forward {
  %y:2 = fuseops.group @bias_gradient row_column schedule {rows = 2 : i64, threads = 1 : i64} (%a = %x) : (tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<8xbf16>) {
    %z = fuseops.relu %a : tensor<?x8xf32>
    %s = fuseops.reduce_rows sum %z : tensor<?x8xf32> -> tensor<8xbf16>
    fuseops.yield %z, %s : tensor<?x8xf32>, tensor<8xbf16>
  }
  fuseops.return %y#0, %y#1 : tensor<?x8xf32>, tensor<8xbf16>
}

// Reductions with different numbers of columns: one finalize kernel each.
// CPU-LABEL: fuseops.fusible @two_widths(
// CPU: %[[MAIN:.+]]:2 = fuseops.launch @kernels::@two_widths(
// CPU-NEXT: %[[A:.+]] = fuseops.launch @kernels::@two_widths_finalize_0(%[[MAIN]]#0)
// CPU-NEXT: %[[B:.+]] = fuseops.launch @kernels::@two_widths_finalize_1(%[[MAIN]]#1)
// CPU-NEXT: fuseops.return %[[A]], %[[B]]
fuseops.fusible @two_widths(%x: tensor<?x8xf32>) -> (tensor<8xf32>, tensor<f32>)
forward {
  %y:2 = fuseops.group @two_widths row_column (%a = %x) : (tensor<?x8xf32>) -> (tensor<8xf32>, tensor<f32>) {
    %s = fuseops.reduce_rows sum %a : tensor<?x8xf32> -> tensor<8xf32>
    %m = fuseops.amax %a : tensor<?x8xf32> -> tensor<f32>
    fuseops.yield %s, %m : tensor<8xf32>, tensor<f32>
  }
  fuseops.return %y#0, %y#1 : tensor<8xf32>, tensor<f32>
}

// What reads the sum is computed in the finalize kernel, with its own inputs.
// CPU-LABEL: fuseops.fusible @after_the_sum(
// CPU-SAME: %{{.+}}: tensor<?x8xf32>, %[[Z:.+]]: tensor<8xf32>)
// CPU: %[[MAIN:.+]] = fuseops.launch @kernels::@after_the_sum(
// CPU-NEXT: fuseops.launch @kernels::@after_the_sum_finalize(%[[MAIN]], %[[Z]]) {bytes = array<i64: 64, 0>
fuseops.fusible @after_the_sum(%x: tensor<?x8xf32>, %z: tensor<8xf32>) -> tensor<8xf32>
forward {
  %y = fuseops.group @after_the_sum row_column (%a = %x, %b = %z) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<8xf32> {
    %s = fuseops.reduce_rows sum %a : tensor<?x8xf32> -> tensor<8xf32>
    %m = fuseops.mul %s, %b : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
    fuseops.yield %m : tensor<8xf32>
  }
  fuseops.return %y : tensor<8xf32>
}

// CPU: module @kernels {
// CPU: func.func @bias_gradient(
// CPU: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32

// Where a run is summed: in this worker's partial results or, of later runs,
// behind those of all 16; cleared, then summed row by row.
// CPU: %[[PARTIAL:.+]] = llvm.getelementptr %{{.+}}[%{{.+}}] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CPU: %[[BEHIND:.+]] = llvm.getelementptr %[[PARTIAL]][128]
// CPU: %[[ADDED:.+]] = arith.select %{{.+}}, %[[PARTIAL]], %[[BEHIND]]
// CPU-NEXT: scf.for
// CPU-NEXT: llvm.getelementptr %[[ADDED]][
// CPU-NEXT: llvm.store %[[ZERO]]
// CPU: scf.for
// CPU: scf.for
// CPU: arith.maximumf
// CPU: %[[SLOT:.+]] = llvm.getelementptr %[[ADDED]][
// CPU-NEXT: %[[SO_FAR:.+]] = llvm.load %[[SLOT]]
// CPU-NEXT: %[[NEXT:.+]] = arith.addf %[[SO_FAR]], %{{.+}} : f32
// CPU-NEXT: llvm.store %[[NEXT]], %[[SLOT]]
// CPU: return

// In order of the workers and in runs, then one rounding.
// CPU: func.func @bias_gradient_finalize(%{{.+}}: !llvm.ptr, %{{.+}}: i64, %[[COUNT:.+]]: i64, %{{.+}}: i64, %{{.+}}: i64) {
// CPU: scf.for
// CPU-NEXT: %[[TOTAL:.+]] = scf.for %{{.+}} = %{{.+}} to %[[COUNT]] step %{{.+}} iter_args(%{{.+}} = %{{.+}}) -> (f32) : i64 {
// CPU: scf.for
// CPU: arith.addf
// CPU: arith.truncf %[[TOTAL]] : f32 to bf16
// CPU: return

// CPU: func.func @two_widths_finalize_1(
// CPU: arith.maximumf
// CPU: func.func @after_the_sum_finalize(
// CPU: arith.mulf

// Each row of a block sums in registers; rows beyond the last add zero. The
// block's rows then meet in shared memory and leave one partial result.
// CUDA: module @kernels {
// CUDA-NEXT: llvm.mlir.global internal @[[ROWS:.+]]() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<16 x f32>
// CUDA-NEXT: func.func @bias_gradient({{.+}}) attributes {fuseops.block = array<i32: 1, 2, 1>} {
// CUDA: %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CUDA: %[[SUM:.+]] = scf.for {{.+}} iter_args(%[[SO_FAR:.+]] = %[[ZERO]]) -> (vector<8xf32>) : i64 {
// CUDA: %[[VALID:.+]] = arith.cmpi slt
// CUDA: scf.if %[[VALID]] {
// CUDA: %[[MASKED:.+]] = arith.select %[[VALID]], %{{.+}}, %[[ZERO]] : vector<8xf32>
// CUDA-NEXT: arith.addf %[[SO_FAR]], %[[MASKED]] : vector<8xf32>
// CUDA: nvvm.barrier
// CUDA: llvm.store %[[SUM]], %{{.+}} : vector<8xf32>, !llvm.ptr<3>
// CUDA-NEXT: nvvm.barrier
// CUDA-COUNT-2: llvm.load %{{.+}} : !llvm.ptr<3> -> vector<8xf32>
// CUDA: %[[TOTAL:.+]] = arith.addf %{{.+}}, %{{.+}} : vector<8xf32>
// CUDA: scf.if
// CUDA: llvm.store %[[TOTAL]], %{{.+}} : vector<8xf32>, !llvm.ptr
// CUDA: return

// No float atomics anywhere: the order of the sums is the schedule's.
// CUDA: func.func @bias_gradient_finalize(
// CUDA-NOT: atomic
