// f64 sums over rows on CUDA: the shared memory that combines rows and partial
// results holds f64 values.
// RUN: fuse-compile %s --target=cuda:sm_90a --compile-to=lowering | FileCheck %s
// RUN: fuse-run %s --check --size 7 | FileCheck %s --check-prefix=OUT
// OUT: check: ok
// CHECK: llvm.mlir.global internal @forward_0_finalize_strips() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<{{[0-9]+}} x f64>
fuseops.fusible @f(%x: tensor<?x16xf64>, %y: tensor<?x16xf32> {fuseops.frozen}) -> (tensor<16xf64>, tensor<16xf32>)
forward {
  %z = fuseops.add %x, %y : tensor<?x16xf64>, tensor<?x16xf32> -> tensor<?x16xf64>
  %0 = fuseops.reduce_rows sum %z : tensor<?x16xf64> -> tensor<16xf64>
  %1 = fuseops.reduce_rows max %y : tensor<?x16xf32> -> tensor<16xf32>
  fuseops.return %0, %1 : tensor<16xf64>, tensor<16xf32>
}
