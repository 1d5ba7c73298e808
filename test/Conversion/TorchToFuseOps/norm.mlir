// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// CHECK-LABEL: fuseops.fusible @rms_norm
// CHECK-SAME: (%[[X:.+]]: tensor<?x16x64xbf16>, %[[G:.+]]: tensor<64xbf16>)
func.func @rms_norm(%x: !torch.vtensor<[?,16,64],bf16>, %g: !torch.vtensor<[64],bf16>) -> !torch.vtensor<[?,16,64],bf16> {
  %int64 = torch.constant.int 64
  %0 = torch.prim.ListConstruct %int64 : (!torch.int) -> !torch.list<int>
  %eps = torch.constant.float 1.000000e-05
  // CHECK: %[[Y:.+]], %{{.+}} = fuseops.rms_norm %[[X]] gamma(%[[G]]) eps(1.000000e-05) : (tensor<?x16x64xbf16>, tensor<64xbf16>) -> (tensor<?x16x64xbf16>, tensor<?x16x1xf32>)
  %1 = torch.aten.rms_norm %x, %0, %g, %eps : !torch.vtensor<[?,16,64],bf16>, !torch.list<int>, !torch.vtensor<[64],bf16>, !torch.float -> !torch.vtensor<[?,16,64],bf16>
  // Eager's eps is that of the type it computes in: f32.
  // CHECK-NEXT: fuseops.rms_norm %[[Y]] eps(1.1920928955078125E-7) : (tensor<?x16x64xbf16>) -> (tensor<?x16x64xbf16>, tensor<?x16x1xf32>)
  %none = torch.constant.none
  %2 = torch.aten.rms_norm %1, %0, %none, %none : !torch.vtensor<[?,16,64],bf16>, !torch.list<int>, !torch.none, !torch.none -> !torch.vtensor<[?,16,64],bf16>
  return %2 : !torch.vtensor<[?,16,64],bf16>
}

// -----

// CHECK-LABEL: fuseops.fusible @rms_norm_double
func.func @rms_norm_double(%x: !torch.vtensor<[4,64],f64>) -> !torch.vtensor<[4,64],f64> {
  %int64 = torch.constant.int 64
  %0 = torch.prim.ListConstruct %int64 : (!torch.int) -> !torch.list<int>
  %none = torch.constant.none
  // CHECK: fuseops.rms_norm %{{.+}} eps(2.2204460492503131E-16) : (tensor<4x64xf64>) -> (tensor<4x64xf64>, tensor<4x1xf64>)
  %1 = torch.aten.rms_norm %x, %0, %none, %none : !torch.vtensor<[4,64],f64>, !torch.list<int>, !torch.none, !torch.none -> !torch.vtensor<[4,64],f64>
  return %1 : !torch.vtensor<[4,64],f64>
}

// -----

// CHECK-LABEL: fuseops.fusible @fused_rms_norm
func.func @fused_rms_norm(%x: !torch.vtensor<[4,64],bf16>, %g: !torch.vtensor<[64],bf16>) -> (!torch.vtensor<[4,64],bf16>, !torch.vtensor<[4,1],f32>) {
  %int64 = torch.constant.int 64
  %0 = torch.prim.ListConstruct %int64 : (!torch.int) -> !torch.list<int>
  %eps = torch.constant.float 1.000000e-05
  // CHECK: %[[Y:.+]], %[[R:.+]] = fuseops.rms_norm
  %1:2 = torch.operator "torch.aten._fused_rms_norm"(%x, %0, %g, %eps) : (!torch.vtensor<[4,64],bf16>, !torch.list<int>, !torch.vtensor<[64],bf16>, !torch.float) -> (!torch.vtensor<[4,64],bf16>, !torch.vtensor<[4,1],f32>)
  // CHECK-NEXT: fuseops.return %[[Y]], %[[R]]
  return %1#0, %1#1 : !torch.vtensor<[4,64],bf16>, !torch.vtensor<[4,1],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @layer_norm
// CHECK-SAME: (%[[X:.+]]: tensor<4x64xf32>, %[[G:.+]]: tensor<64xf32>, %[[B:.+]]: tensor<64xf32>)
func.func @layer_norm(%x: !torch.vtensor<[4,64],f32>, %g: !torch.vtensor<[64],f32>, %b: !torch.vtensor<[64],f32>) -> !torch.vtensor<[4,64],f32> {
  %int64 = torch.constant.int 64
  %0 = torch.prim.ListConstruct %int64 : (!torch.int) -> !torch.list<int>
  %eps = torch.constant.float 1.000000e-05
  %false = torch.constant.bool false
  %none = torch.constant.none
  // CHECK: %[[Y:.+]], %{{.+}}, %{{.+}} = fuseops.layer_norm %[[X]] gamma(%[[G]]) beta(%[[B]]) eps(1.000000e-05) : (tensor<4x64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<4x64xf32>, tensor<4x1xf32>, tensor<4x1xf32>)
  %1 = torch.aten.layer_norm %x, %0, %g, %b, %eps, %false : !torch.vtensor<[4,64],f32>, !torch.list<int>, !torch.vtensor<[64],f32>, !torch.vtensor<[64],f32>, !torch.float, !torch.bool -> !torch.vtensor<[4,64],f32>
  // CHECK-NEXT: fuseops.layer_norm %[[Y]] eps(1.000000e-05) : (tensor<4x64xf32>) ->
  %2 = torch.aten.layer_norm %1, %0, %none, %none, %eps, %false : !torch.vtensor<[4,64],f32>, !torch.list<int>, !torch.none, !torch.none, !torch.float, !torch.bool -> !torch.vtensor<[4,64],f32>
  return %2 : !torch.vtensor<[4,64],f32>
}

// -----

// The statistics have the dtype that eager gives them on the device.
// CHECK-LABEL: fuseops.fusible @native_layer_norm
func.func @native_layer_norm(%x: !torch.vtensor<[4,64],bf16>) -> (!torch.vtensor<[4,64],bf16>, !torch.vtensor<[4,1],bf16>, !torch.vtensor<[4,1],f32>) {
  %int64 = torch.constant.int 64
  %0 = torch.prim.ListConstruct %int64 : (!torch.int) -> !torch.list<int>
  %eps = torch.constant.float 1.000000e-05
  %none = torch.constant.none
  // CHECK: %[[Y:.+]], %[[M:.+]], %[[R:.+]] = fuseops.layer_norm
  // CHECK-NEXT: %[[MB:.+]] = fuseops.cast %[[M]] : tensor<4x1xf32> -> tensor<4x1xbf16>
  %result0, %result1, %result2 = torch.aten.native_layer_norm %x, %0, %none, %none, %eps : !torch.vtensor<[4,64],bf16>, !torch.list<int>, !torch.none, !torch.none, !torch.float -> !torch.vtensor<[4,64],bf16>, !torch.vtensor<[4,1],bf16>, !torch.vtensor<[4,1],f32>
  // CHECK-NEXT: fuseops.return %[[Y]], %[[MB]], %[[R]]
  return %result0, %result1, %result2 : !torch.vtensor<[4,64],bf16>, !torch.vtensor<[4,1],bf16>, !torch.vtensor<[4,1],f32>
}
