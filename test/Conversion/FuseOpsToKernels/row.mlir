// Row groups: as many passes over a row as its reductions depend on one another.
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cpu --canonicalize --cse | FileCheck %s --check-prefix=CPU
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cuda --canonicalize --cse | FileCheck %s --check-prefix=CUDA

fuseops.fusible @row(%x: tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
forward {
  %y = fuseops.group @row row schedule {rows = 1 : i64, threads = 128 : i64} (%a = %x) : (tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
    %m = fuseops.reduce_columns max %a : tensor<?x4096xbf16> -> tensor<?x1xf32>
    %r = fuseops.mul %a, %m : tensor<?x4096xbf16>, tensor<?x1xf32> -> tensor<?x4096xbf16>
    fuseops.yield %r : tensor<?x4096xbf16>
  }
  fuseops.return %y : tensor<?x4096xbf16>
}

// Mean, then variance, then the result: three passes. The statistics are stored
// once a row.
fuseops.fusible @layer_norm(%x: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x1xf32>, tensor<?x1xf32>)
forward {
  %y:3 = fuseops.group @layer_norm row schedule {rows = 8 : i64, threads = 16 : i64} (%a = %x) : (tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x1xf32>, tensor<?x1xf32>) {
    %r, %m, %s = fuseops.layer_norm %a eps(0.5) : (tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x1xf32>, tensor<?x1xf32>)
    fuseops.yield %r, %m, %s : tensor<?x64xf32>, tensor<?x1xf32>, tensor<?x1xf32>
  }
  fuseops.return %y#0, %y#1, %y#2 : tensor<?x64xf32>, tensor<?x1xf32>, tensor<?x1xf32>
}

// CPU: fuseops.launch @kernels::@row({{.*}}kernel_template = #fuseops<kernel_template row>
// CPU: module @kernels {
// CPU: func.func @row(
// CPU: %[[INIT:.+]] = arith.constant dense<0xFF800000> : vector<32xf32>
// CPU: scf.for
// CPU-NEXT: %[[MAX:.+]] = scf.for %{{.+}} = %{{.+}} to %{{.+}} step %{{.+}} iter_args(%[[SO_FAR:.+]] = %[[INIT]]) -> (vector<32xf32>) : i64 {
// CPU: arith.maximumf %[[SO_FAR]], %{{.+}} : vector<32xf32>
// CPU-NEXT: scf.yield
// CPU: %[[ORDERED:.+]] = vector.shuffle %[[MAX]], %[[MAX]] [0, 16, 1, 17,
// CPU: vector.extract_strided_slice %[[ORDERED]] {offsets = [0], sizes = [16]
// CPU: %[[ALL:.+]] = vector.extract %{{.+}}[0] : f32 from vector<1xf32>
// CPU-NEXT: scf.for
// CPU: %[[WIDE:.+]] = vector.broadcast %[[ALL]] : f32 to vector<32xf32>
// CPU: arith.mulf %{{.+}}, %[[WIDE]] : vector<32xf32>
// CPU: llvm.store
// CPU: return

// CPU: func.func @layer_norm(
// CPU: scf.for
// CPU: scf.for {{.+}} iter_args({{.+}}) -> (vector<32xf32>) : i64 {
// CPU: scf.for {{.+}} iter_args({{.+}}) -> (vector<32xf32>) : i64 {
// CPU: arith.subf
// CPU: arith.mulf
// CPU: arith.addf
// CPU: math.rsqrt %{{.+}} : f32
// CPU: scf.for
// CPU: llvm.store %{{.+}}, %{{.+}} {alignment = 4 : i64} : vector<32xf32>, !llvm.ptr
// CPU: }
// CPU-COUNT-2: llvm.store %{{.+}}, %{{.+}} {alignment = 4 : i64} : f32, !llvm.ptr
// CPU: return

// Four warps a row meet in shared memory; the row before may still read it.
// CUDA: fuseops.launch @kernels::@row({{.*}}rows_per_worker = 1 : i64, threads_x = 128 : i64
// CUDA: llvm.mlir.global internal @[[SHARED:row_level0.+]]() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4 x f32>
// CUDA: func.func @row({{.+}}) attributes {fuseops.block = array<i32: 128, 1, 1>} {
// CUDA: llvm.mlir.addressof @[[SHARED]] : !llvm.ptr<3>
// CUDA-COUNT-5: nvvm.shfl.sync bfly
// CUDA-NOT: nvvm.shfl.sync
// CUDA: nvvm.barrier
// CUDA-NEXT: scf.if
// CUDA: llvm.store %{{.+}}, %{{.+}} {alignment = 4 : i64} : f32, !llvm.ptr<3>
// CUDA-NEXT: }
// CUDA-NEXT: nvvm.barrier
// CUDA-COUNT-4: llvm.load %{{.+}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
// CUDA: return

// 16 threads a row: shuffles only. The row is held: it is loaded once.
// CUDA: func.func @layer_norm({{.+}}) attributes {fuseops.block = array<i32: 16, 8, 1>} {
// CUDA-NOT: nvvm.barrier
// CUDA-COUNT-1: llvm.load
// CUDA-NOT: llvm.load
// CUDA-COUNT-8: nvvm.shfl.sync bfly
// CUDA-NOT: nvvm.shfl.sync
// CUDA: return
