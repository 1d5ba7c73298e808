// A kernel that may start while the one before it ends waits first.
// RUN: fuse-opt %s --convert-kernel-to-llvm=chip=sm_90a | FileCheck %s

// CHECK: llvm.func @kernel(%[[X:.+]]: !llvm.ptr) attributes {nvvm.kernel}
// CHECK-NEXT: llvm.inline_asm has_side_effects {{.*}}"griddepcontrol.wait;", "~{memory}"
// CHECK: llvm.store
func.func @kernel(%x: !llvm.ptr) attributes {fuseops.starts_early} {
  %zero = arith.constant 0 : i64
  llvm.store %zero, %x : i64, !llvm.ptr
  return
}

// CHECK: llvm.func @other(
// CHECK-NOT: griddepcontrol
func.func @other(%x: !llvm.ptr) {
  %zero = arith.constant 0 : i64
  llvm.store %zero, %x : i64, !llvm.ptr
  return
}
