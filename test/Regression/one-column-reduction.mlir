// The sum of one column is that column: in a kernel over more columns, each lane
// of a CUDA vector added its copy of it.
// RUN: fuse-run %s --size 5 --check | FileCheck %s --check-prefix=OUT
// RUN: fuse-compile %s --target=cuda:sm_90a --compile-to=lowering | FileCheck %s

// OUT: check: ok

// CHECK: func.func @forward_0
// One reduction, of five shuffles at most, and no other.
// CHECK-COUNT-4: nvvm.shfl.sync
// CHECK-NOT: nvvm.shfl.sync
// CHECK: return
fuseops.fusible @f(%x: tensor<?x64xf32> {fuseops.frozen}) -> tensor<?x1xf32>
forward {
  %0 = fuseops.reduce_columns sum %x : tensor<?x64xf32> -> tensor<?x1xf32>
  %1 = fuseops.silu %0 : tensor<?x1xf32>
  %2 = fuseops.reduce_columns sum %1 : tensor<?x1xf32> -> tensor<?x1xf32>
  fuseops.return %2 : tensor<?x1xf32>
}
