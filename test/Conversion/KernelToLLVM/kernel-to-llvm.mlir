// RUN: fuse-opt %s --convert-kernel-to-llvm --split-input-file | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: fuse-opt %s --convert-kernel-to-llvm=chip=sm_90a --split-input-file | FileCheck %s --check-prefixes=CHECK,CUDA
// RUN: fuse-opt %s --convert-kernel-to-llvm=chip=sm_80 --split-input-file | FileCheck %s --check-prefixes=CHECK,SM80

// CHECK-LABEL: llvm.func @copy(
// CHECK-SAME:    !llvm.ptr {llvm.noalias}
// CPU-NOT:       nvvm.kernel
// CUDA:          nvvm.kernel
// CHECK-NOT:     {{(scf|cf|arith|vector|builtin)\.}}
// CHECK:         llvm.cond_br
// CHECK:         llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
func.func @copy(%in: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c4 = arith.constant 4 : i64
  scf.for %i = %c0 to %n step %c4 : i64 {
    %p = llvm.getelementptr %in[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %x = llvm.load %p {alignment = 16} : !llvm.ptr -> vector<4xf32>
    %q = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %x, %q {alignment = 16} : vector<4xf32>, !llvm.ptr
  }
  return
}

// -----

// CHECK-LABEL: llvm.func @quantize(
// CPU-NOT:       nvvm.convert
// CUDA-COUNT-2:  nvvm.convert.f32x2.to.f8x2
// SM80-NOT:      nvvm.convert
// CHECK:         llvm.return
func.func @quantize(%x: vector<4xf32>, %out: !llvm.ptr) {
  %q = arith.truncf %x : vector<4xf32> to vector<4xf8E4M3FN>
  %b = arith.bitcast %q : vector<4xf8E4M3FN> to vector<4xi8>
  llvm.store %b, %out : vector<4xi8>, !llvm.ptr
  return
}

// -----

// CHECK-LABEL: llvm.func internal @helper(
// CHECK-NOT:     nvvm.kernel
// CHECK-LABEL: llvm.func @kernel(
func.func private @helper(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  return %y : f32
}
func.func @kernel(%x: f32, %out: !llvm.ptr) {
  %y = func.call @helper(%x) : (f32) -> f32
  llvm.store %y, %out : f32, !llvm.ptr
  return
}

// -----

// Of a word of two bf16 the first is shifted up on a CUDA chip, the second is there.
// CHECK-LABEL: llvm.func @extend_pairs(
// CUDA-DAG:      %[[BITS:.+]] = llvm.mlir.constant(dense<16> : vector<2xi32>)
// CUDA-DAG:      %[[UPPER:.+]] = llvm.mlir.constant(dense<-65536> : vector<2xi32>)
// CUDA:          %[[WORDS:.+]] = llvm.bitcast %{{.+}} : vector<4xbf16> to vector<2xi32>
// CUDA-DAG:      llvm.shl %[[WORDS]], %[[BITS]]
// CUDA-DAG:      llvm.and %[[WORDS]], %[[UPPER]]
// CUDA-NOT:      llvm.fpext
// CUDA:          llvm.return
// SM80-NOT:      llvm.fpext
func.func @extend_pairs(%x: vector<4xbf16>, %out: !llvm.ptr) {
  %y = arith.extf %x : vector<4xbf16> to vector<4xf32>
  llvm.store %y, %out : vector<4xf32>, !llvm.ptr
  return
}

// -----

// CHECK-LABEL: llvm.func @extend_no_pairs(
// CUDA-COUNT-2:  llvm.fpext
// CHECK:         llvm.return
func.func @extend_no_pairs(%x: vector<3xbf16>, %y: bf16, %out: !llvm.ptr) {
  %a = arith.extf %x : vector<3xbf16> to vector<3xf32>
  %b = arith.extf %y : bf16 to f32
  llvm.store %a, %out : vector<3xf32>, !llvm.ptr
  llvm.store %b, %out : f32, !llvm.ptr
  return
}
