// Tensor maps become 128 bytes of a kernel's parameters each, and a cluster's
// shape its attribute.
// RUN: fuse-opt %s --convert-kernel-to-llvm=chip=sm_90a | FileCheck %s

// CHECK: llvm.func @copy(%{{.+}}: !llvm.ptr, %[[MAP:[^:]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %{{[^:]+}}: i64) attributes {nvvm.cluster_dim = array<i32: 2, 1, 1>, nvvm.kernel, nvvm.maxntid = array<i32: 128, 1, 1>}
// CHECK-NEXT: nvvm.prefetch tensormap, %[[MAP]]
func.func @copy(%x: !llvm.ptr, %map: !llvm.ptr {fuseops.tensor_map}, %rows: i64)
    attributes {fuseops.block = array<i32: 128, 1, 1>, fuseops.cluster = array<i32: 2, 1, 1>} {
  nvvm.prefetch tensormap, %map : !llvm.ptr
  return
}

// CHECK: llvm.func @other(%{{.+}}: !llvm.ptr) attributes {nvvm.kernel}
func.func @other(%x: !llvm.ptr) {
  return
}
