// RUN: fuse-opt %s --convert-kernel-to-llvm=chip=sm_90a --split-input-file --verify-diagnostics

func.func @f64_math(%x: f64, %out: !llvm.ptr) {
  // expected-error @below {{`math.exp` on `f64` has no expansion for CUDA chips}}
  %y = math.exp %x : f64
  llvm.store %y, %out : f64, !llvm.ptr
  return
}

// -----

func.func @power(%x: vector<4xf32>, %out: !llvm.ptr) {
  // expected-error @below {{`math.powf` on `f32` has no expansion for CUDA chips}}
  %y = math.powf %x, %x : vector<4xf32>
  llvm.store %y, %out : vector<4xf32>, !llvm.ptr
  return
}

// -----

func.func @fp8_arithmetic(%x: f8E4M3FN, %out: !llvm.ptr) {
  // expected-error @below {{`arith.addf` on `f8E4M3FN` is not supported in kernels: compute in `f32` and convert}}
  %y = arith.addf %x, %x : f8E4M3FN
  %b = arith.bitcast %y : f8E4M3FN to i8
  llvm.store %b, %out : i8, !llvm.ptr
  return
}
