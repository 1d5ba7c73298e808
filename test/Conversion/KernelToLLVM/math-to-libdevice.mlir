// What has neither an instruction nor an expansion is a call of libdevice.
// RUN: fuse-opt %s --convert-kernel-to-llvm=chip=sm_90a | FileCheck %s

// CHECK-DAG: llvm.func @__nv_exp(f64) -> f64
// CHECK-DAG: llvm.func @__nv_powf(f32, f32) -> f32
// CHECK-DAG: llvm.func @__nv_fmodf(f32, f32) -> f32
// CHECK-DAG: llvm.func @__nv_atanf(f32) -> f32

// CHECK-LABEL: llvm.func @f64(
// CHECK:         llvm.call @__nv_exp(%{{.+}}) : (f64) -> f64
func.func @f64(%x: f64, %out: !llvm.ptr) {
  %y = math.exp %x : f64
  llvm.store %y, %out : f64, !llvm.ptr
  return
}

// CHECK-LABEL: llvm.func @each_element(
// CHECK-COUNT-2: llvm.call @__nv_powf(%{{.+}}, %{{.+}}) : (f32, f32) -> f32
// CHECK-NOT:     llvm.call
// CHECK:         llvm.return
func.func @each_element(%x: vector<2xf32>, %out: !llvm.ptr) {
  %y = math.powf %x, %x : vector<2xf32>
  llvm.store %y, %out : vector<2xf32>, !llvm.ptr
  return
}

// LLVM's own remainder is not exact on CUDA chips.
// CHECK-LABEL: llvm.func @remainder(
// CHECK-NOT:     llvm.frem
// CHECK:         llvm.call @__nv_fmodf(
func.func @remainder(%x: f32, %y: f32, %out: !llvm.ptr) {
  %r = arith.remf %x, %y : f32
  llvm.store %r, %out : f32, !llvm.ptr
  return
}

// CHECK-LABEL: llvm.func @narrow_in_f32(
// CHECK:         %[[X:.+]] = llvm.fpext %{{.+}} : f16 to f32
// CHECK:         %[[Y:.+]] = llvm.call @__nv_atanf(%[[X]])
// CHECK:         llvm.fptrunc %[[Y]] : f32 to f16
func.func @narrow_in_f32(%x: f16, %out: !llvm.ptr) {
  %y = math.atan %x : f16
  llvm.store %y, %out : f16, !llvm.ptr
  return
}
