// Products of words follow one another in 64-bit lanes on the CPU.
// RUN: fuse-opt %s --convert-kernel-to-llvm --split-input-file | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: fuse-opt %s --convert-kernel-to-llvm=chip=sm_90a --split-input-file | FileCheck %s --check-prefixes=CHECK,CUDA

// CHECK-LABEL: llvm.func @rounds(
// CPU:         %[[FIRST:.+]] = llvm.mul %{{.+}}, %{{.+}} : vector<8xi64>
// CPU-NOT:     vector<8xi32>
// CPU:         llvm.lshr %[[FIRST]], %{{.+}} : vector<8xi64>
// CPU-NOT:     vector<8xi32>
// CPU:         llvm.xor %{{.+}}, %{{.+}} : vector<8xi64>
// CPU-NOT:     vector<8xi32>
// CPU:         %[[SECOND:.+]] = llvm.mul %{{.+}}, %{{.+}} : vector<8xi64>
// CPU:         llvm.trunc %{{.+}} : vector<8xi64> to vector<8xi32>
// CUDA:        llvm.xor %{{.+}}, %{{.+}} : vector<8xi32>
func.func @rounds(%block: vector<8xi64>, %seed: i32, %out: !llvm.ptr) {
  %factor = arith.constant dense<12345> : vector<8xi32>
  %counter = arith.trunci %block : vector<8xi64> to vector<8xi32>
  %key = vector.broadcast %seed : i32 to vector<8xi32>
  %low, %high = arith.mului_extended %counter, %factor : vector<8xi32>
  %mixed = arith.xori %high, %key : vector<8xi32>
  %low2, %high2 = arith.mului_extended %mixed, %factor : vector<8xi32>
  llvm.store %high2, %out : vector<8xi32>, !llvm.ptr
  return
}

// -----

// A sum of words may carry, and an exclusive or that others read stays narrow.
// CHECK-LABEL: llvm.func @narrow(
// CHECK:         llvm.add %{{.+}}, %{{.+}} : vector<8xi32>
// CHECK:         llvm.xor %{{.+}}, %{{.+}} : vector<8xi32>
// CHECK-NOT:     llvm.xor
// CHECK:         llvm.return
func.func @narrow(%x: vector<8xi32>, %y: vector<8xi32>, %out: !llvm.ptr, %wide: !llvm.ptr) {
  %sum = arith.addi %x, %y : vector<8xi32>
  %mixed = arith.xori %sum, %y : vector<8xi32>
  %lanes = arith.extui %mixed : vector<8xi32> to vector<8xi64>
  llvm.store %mixed, %out : vector<8xi32>, !llvm.ptr
  llvm.store %lanes, %wide : vector<8xi64>, !llvm.ptr
  return
}
