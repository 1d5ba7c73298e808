// Tiles: blocks of a matrix, what is computed of them, and transposed results.
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cpu --canonicalize --cse | FileCheck %s --check-prefix=CPU
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cuda --canonicalize --cse | FileCheck %s --check-prefix=CUDA

// 1000 columns are 8 tiles: CUDA counts each row 8 times and has a block for
// each tile.
// CPU-LABEL: fuseops.fusible @copies(
// CPU: fuseops.launch @kernels::@copies({{.*}}kernel_template = #fuseops<kernel_template tile>, max_workers = 64 : i64{{.*}}rows = array<i64: 0, 1>, rows_per_worker = 32 : i64
// CUDA-LABEL: fuseops.fusible @copies(
// CUDA: fuseops.launch @kernels::@copies({{.*}}kernel_template = #fuseops<kernel_template tile>, max_workers = 1048576 : i64{{.*}}rows = array<i64: 0, 8>, rows_per_worker = 128 : i64, threads_x = 512 : i64
fuseops.fusible @copies(%x: tensor<?x1000xf32>) -> (tensor<1000x?xf8E4M3FN>, tensor<8x?xf32>)
forward {
  %y:2 = fuseops.group @copies tile schedule {threads = 512 : i64} (%a = %x) : (tensor<?x1000xf32>) -> (tensor<1000x?xf8E4M3FN>, tensor<8x?xf32>) {
    %m = fuseops.reduce_blocks %a block(1, 128) : tensor<?x1000xf32> -> tensor<?x8xf32>
    %e = fuseops.expand_blocks %m block(1, 128) : tensor<?x8xf32> -> tensor<?x1000xf32>
    %p = fuseops.pointwise (%v = %a, %s = %e) : (tensor<?x1000xf32>, tensor<?x1000xf32>) -> tensor<?x1000xf8E4M3FN> {
      %q = arith.mulf %v, %s : f32
      fuseops.yield %q : f32
    }
    %t = fuseops.permute %p order[1, 0] : tensor<?x1000xf8E4M3FN> -> tensor<1000x?xf8E4M3FN>
    %mt = fuseops.permute %m order[1, 0] : tensor<?x8xf32> -> tensor<8x?xf32>
    fuseops.yield %t, %mt : tensor<1000x?xf8E4M3FN>, tensor<8x?xf32>
  }
  fuseops.return %y#0, %y#1 : tensor<1000x?xf8E4M3FN>, tensor<8x?xf32>
}

// Columns are summed by blocks that stay in theirs: 2 tiles, 132 partial results
// each. What is one element has one of every block.
// CPU-LABEL: fuseops.fusible @sums(
// CPU: %[[MAIN:.+]]:3 = fuseops.launch @kernels::@sums({{.*}}max_workers = 16 : i64{{.*}} -> (tensor<?x2xf32>, tensor<16x256xf32>, tensor<16x1xf32>)
// CPU: fuseops.launch @kernels::@sums_finalize_0(%[[MAIN]]#1) {{.*}}count_max_workers = 16 : i64, count_rows = array<i64: 0, 1>
// CPU: fuseops.launch @kernels::@sums_finalize_1(%[[MAIN]]#2) {{.*}}count_max_workers = 16 : i64, count_rows = array<i64: 0, 1>
// CUDA-LABEL: fuseops.fusible @sums(
// CUDA: %[[MAIN:.+]]:3 = fuseops.launch @kernels::@sums({{.*}}max_workers = 264 : i64{{.*}}rows = array<i64: 0, 2>, rows_per_worker = 1 : i64{{.*}} -> (tensor<?x2xf32>, tensor<132x256xf32>, tensor<264x1xf32>)
// CUDA: fuseops.launch @kernels::@sums_finalize_0(%[[MAIN]]#1) {{.*}}count_max_workers = 132 : i64, count_rows = array<i64: 0, 1>
// CUDA: fuseops.launch @kernels::@sums_finalize_1(%[[MAIN]]#2) {{.*}}count_max_workers = 264 : i64, count_rows = array<i64: 0, 2>
fuseops.fusible @sums(%x: tensor<?x256xf32>) -> (tensor<?x2xf32>, tensor<256xf32>, tensor<f32>)
forward {
  %y:3 = fuseops.group @sums tile schedule {threads = 512 : i64} (%a = %x) : (tensor<?x256xf32>) -> (tensor<?x2xf32>, tensor<256xf32>, tensor<f32>) {
    %m = fuseops.reduce_blocks %a block(1, 128) : tensor<?x256xf32> -> tensor<?x2xf32>
    %s = fuseops.reduce_rows sum %a : tensor<?x256xf32> -> tensor<256xf32>
    %w = fuseops.amax %a : tensor<?x256xf32> -> tensor<f32>
    fuseops.yield %m, %s, %w : tensor<?x2xf32>, tensor<256xf32>, tensor<f32>
  }
  fuseops.return %y#0, %y#1, %y#2 : tensor<?x2xf32>, tensor<256xf32>, tensor<f32>
}

// One worker visits its tiles in order, each row by row.
// CPU-LABEL: func.func @copies(
// CPU: %[[REDUCED:.+]] = llvm.alloca %{{.+}} x f32 {alignment = 64 : i64}
// CPU: %[[KEPT:.+]] = llvm.alloca %{{.+}} x f32 {alignment = 64 : i64}
// CPU: scf.for
// CPU: arith.maximumf %{{.+}}, %{{.+}} : vector<16xf32>
// CPU-NOT: vector.extract
// CPU: scf.for
// CPU: scf.if
// CPU: vector.extract %{{.+}}[0] : f32 from vector<1xf32>
// CPU: llvm.store {{.*}} : f32, !llvm.ptr
// CPU: scf.for

// On CUDA scales are in shared memory, one for each row of a tile. Partial maxima and
// then the bytes of a tile on their way to the transposed result take turns.
// CUDA-DAG: llvm.mlir.global internal @copies_blocks0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<128 x f32>
// CUDA-DAG: llvm.mlir.global internal @copies_scratch() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<16384 x i8>
// CUDA-LABEL: func.func @copies(
// CUDA: scf.for
// CUDA: nvvm.shfl.sync bfly
// CUDA: nvvm.barrier0
// CUDA: scf.for
// CUDA: nvvm.barrier0
// CUDA: llvm.store {{.*}} {alignment = 4 : i64} : vector<4xi8>, !llvm.ptr<3>
// CUDA: nvvm.barrier0
// CUDA: llvm.load {{.*}} : !llvm.ptr<3> -> vector<2xi64>
// CUDA: llvm.store {{.*}} {alignment = 16 : i64} : vector<2xi64>, !llvm.ptr
// CUDA: nvvm.barrier0

// Magnitudes of bf16 are compared and exchanged two at a time, and widened when each
// thread has its maxima. Rows that may not exist are stored without a branch, both
// lanes of a column write its maximum.
// CPU-LABEL: func.func @magnitudes(
// CPU: arith.maximumf %{{.+}}, %{{.+}} : vector<16xf32>
// CUDA-LABEL: func.func @magnitudes(
// CUDA: %[[X:.+]] = llvm.load {{.*}} -> vector<8xbf16>
// CUDA: math.absf %[[X]] : vector<8xbf16>
// CUDA-NOT: scf.if
// CUDA: llvm.inline_asm has_side_effects "@$5 st.global.v4.b32 [$0], {$1, $2, $3, $4};"
// CUDA: math.absf %{{.+}} : vector<8xbf16>
// CUDA: arith.maximumf %{{.+}}, %{{.+}} : vector<8xbf16>
// CUDA-COUNT-4: nvvm.shfl.sync bfly {{.*}} : i32 -> i32
// CUDA-NOT: nvvm.shfl
// CUDA: %[[MAXIMA:.+]] = arith.maximumf %{{.+}}, %{{.+}} : vector<8xbf16>
// CUDA: %[[WIDE:.+]] = arith.extf %[[MAXIMA]] : vector<8xbf16> to vector<8xf32>
// CUDA-NOT: scf.if
// CUDA: llvm.store %[[WIDE]], %{{.+}} {alignment = 16 : i64} : vector<8xf32>, !llvm.ptr<3>
fuseops.fusible @magnitudes(%x: tensor<?x256xbf16>) -> (tensor<?x256xbf16>, tensor<?x256xf32, #fuseops.blocks<128>>)
forward {
  %y:2 = fuseops.group @magnitudes tile schedule {threads = 512 : i64} (%a = %x) : (tensor<?x256xbf16>) -> (tensor<?x256xbf16>, tensor<?x256xf32, #fuseops.blocks<128>>) {
    %w = fuseops.pointwise (%v = %a) : (tensor<?x256xbf16>) -> tensor<?x256xf32> {
      %q = math.absf %v : f32
      fuseops.yield %q : f32
    }
    %m = fuseops.reduce_blocks %w block(128, 1) : tensor<?x256xf32> -> tensor<?x256xf32, #fuseops.blocks<128>>
    %r = fuseops.relu %a : tensor<?x256xbf16>
    fuseops.yield %r, %m : tensor<?x256xbf16>, tensor<?x256xf32, #fuseops.blocks<128>>
  }
  fuseops.return %y#0, %y#1 : tensor<?x256xbf16>, tensor<?x256xf32, #fuseops.blocks<128>>
}
