// RUN: fuse-opt %s --convert-kernel-to-llvm=chip=sm_90a --split-input-file --verify-diagnostics

func.func @fp8_arithmetic(%x: f8E4M3FN, %out: !llvm.ptr) {
  // expected-error @below {{`arith.addf` on `f8E4M3FN` is not supported in kernels: compute in `f32` and convert}}
  %y = arith.addf %x, %x : f8E4M3FN
  %b = arith.bitcast %y : f8E4M3FN to i8
  llvm.store %b, %out : i8, !llvm.ptr
  return
}
