// A schedule that was written down by hand, entry by entry.
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cpu --canonicalize | FileCheck %s --check-prefix=CPU
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cuda --canonicalize | FileCheck %s --check-prefix=CUDA

// `threads` and `rows` say nothing about CPU tasks.
// CPU: fuseops.launch @kernels::@k({{.*}}max_workers = 3 : i64,
// CPU-NOT: threads_x
// CPU-NOT: threads_y
// CPU: func.func @k(
// CPU: llvm.load {{.+}} -> vector<4xf32>
// CPU: llvm.store {{.+}} : vector<4xf32>, !llvm.ptr
// CUDA: fuseops.launch @kernels::@k({{.*}}max_workers = 3 : i64, {{.*}}rows_per_worker = 2 : i64, threads_x = 16 : i64, threads_y = 2 : i64
// CUDA: func.func @k({{.+}}) attributes {fuseops.block = array<i32: 16, 2, 1>} {
// CUDA: llvm.load {{.+}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
fuseops.fusible @main(%x: tensor<?x64xf32>) -> tensor<?x64xf32>
forward {
  %y = fuseops.group @k pointwise schedule {rows = 2 : i64, threads = 16 : i64, vector = 4 : i64, workers = 3 : i64} (%a = %x) : (tensor<?x64xf32>) -> tensor<?x64xf32> {
    %r = fuseops.relu %a : tensor<?x64xf32>
    fuseops.yield %r : tensor<?x64xf32>
  }
  fuseops.return %y : tensor<?x64xf32>
}
