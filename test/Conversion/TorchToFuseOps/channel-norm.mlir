// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// CHECK-LABEL: fuseops.fusible @instance_norm
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x6x5xf16>, %[[ARG1:.+]]: tensor<6xf16>, %[[ARG2:.+]]: tensor<6xf16>) -> tensor<2x6x5xf16>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V3:.+]], %[[V4:.+]], %[[V5:.+]] = fuseops.layer_norm %[[ARG0]] eps(1.000000e-05) : (tensor<2x6x5xf16>) -> (tensor<2x6x5xf32>, tensor<2x6x1xf32>, tensor<2x6x1xf32>)
// CHECK-NEXT: %[[V6:.+]] = fuseops.reshape %[[ARG1]] : tensor<6xf16> -> tensor<1x6x1xf16>
// CHECK-NEXT: %[[V7:.+]] = fuseops.reshape %[[ARG2]] : tensor<6xf16> -> tensor<1x6x1xf16>
// CHECK-NEXT: %[[V8:.+]] = fuseops.pointwise (%[[ARG9:.+]] = %[[V3]], %[[ARG10:.+]] = %[[V6]], %[[ARG11:.+]] = %[[V7]]) : (tensor<2x6x5xf32>, tensor<1x6x1xf16>, tensor<1x6x1xf16>) -> tensor<2x6x5xf16> {
// CHECK-NEXT: %[[V12:.+]] = arith.mulf %[[ARG9]], %[[ARG10]] : f32
// CHECK-NEXT: %[[V13:.+]] = arith.addf %[[V12]], %[[ARG11]] : f32
// CHECK-NEXT: fuseops.yield %[[V13]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V8]] : tensor<2x6x5xf16>
func.func @instance_norm(%x: !torch.vtensor<[2,6,5],f16>, %w: !torch.vtensor<[6],f16>, %b: !torch.vtensor<[6],f16>) -> !torch.vtensor<[2,6,5],f16> {
  %none = torch.constant.none
  %true = torch.constant.bool true
  %f = torch.constant.float 1.0e-05
  %0 = torch.aten.instance_norm %x, %w, %b, %none, %none, %true, %f, %f, %true : !torch.vtensor<[2,6,5],f16>, !torch.vtensor<[6],f16>, !torch.vtensor<[6],f16>, !torch.none, !torch.none, !torch.bool, !torch.float, !torch.float, !torch.bool -> !torch.vtensor<[2,6,5],f16>
  return %0 : !torch.vtensor<[2,6,5],f16>
}

// -----

// CHECK-LABEL: fuseops.fusible @running_statistics
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x6x5xf32>, %[[ARG1:.+]]: tensor<6xf32>, %[[ARG2:.+]]: tensor<6xf32>) -> tensor<2x6x5xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V3:.+]] = fuseops.pointwise (%[[ARG4:.+]] = %[[ARG2]]) : (tensor<6xf32>) -> tensor<6xf32> {
// CHECK-NEXT: %[[C5:.+]] = arith.constant 9.99999974E-6 : f32
// CHECK-NEXT: %[[V6:.+]] = arith.addf %[[ARG4]], %[[C5]] : f32
// CHECK-NEXT: %[[V7:.+]] = math.rsqrt %[[V6]] : f32
// CHECK-NEXT: fuseops.yield %[[V7]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V8:.+]] = fuseops.reshape %[[ARG1]] : tensor<6xf32> -> tensor<1x6x1xf32>
// CHECK-NEXT: %[[V9:.+]] = fuseops.reshape %[[V3]] : tensor<6xf32> -> tensor<1x6x1xf32>
// CHECK-NEXT: %[[V10:.+]] = fuseops.pointwise (%[[ARG4]] = %[[ARG0]], %[[ARG11:.+]] = %[[V8]], %[[ARG12:.+]] = %[[V9]]) : (tensor<2x6x5xf32>, tensor<1x6x1xf32>, tensor<1x6x1xf32>) -> tensor<2x6x5xf32> {
// CHECK-NEXT: %[[V6]] = arith.subf %[[ARG4]], %[[ARG11]] : f32
// CHECK-NEXT: %[[V7]] = arith.mulf %[[V6]], %[[ARG12]] : f32
// CHECK-NEXT: fuseops.yield %[[V7]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V13:.+]] = fuseops.pointwise (%[[ARG4]] = %[[V10]]) : (tensor<2x6x5xf32>) -> tensor<2x6x5xf32> {
// CHECK-NEXT: fuseops.yield %[[ARG4]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V13]] : tensor<2x6x5xf32>
func.func @running_statistics(%x: !torch.vtensor<[2,6,5],f32>, %m: !torch.vtensor<[6],f32>, %v: !torch.vtensor<[6],f32>) -> !torch.vtensor<[2,6,5],f32> {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %f = torch.constant.float 1.0e-05
  %0 = torch.aten.instance_norm %x, %none, %none, %m, %v, %false, %f, %f, %false : !torch.vtensor<[2,6,5],f32>, !torch.none, !torch.none, !torch.vtensor<[6],f32>, !torch.vtensor<[6],f32>, !torch.bool, !torch.float, !torch.float, !torch.bool -> !torch.vtensor<[2,6,5],f32>
  return %0 : !torch.vtensor<[2,6,5],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @group_norm_backward
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x6x5xf32>, %[[ARG1:.+]]: tensor<2x6x5xf32>, %[[ARG2:.+]]: tensor<2x3xf32>, %[[ARG3:.+]]: tensor<2x3xf32>, %[[ARG4:.+]]: tensor<6xf32>) -> (tensor<2x6x5xf32>, tensor<6xf32>, tensor<6xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V5:.+]] = fuseops.reshape %[[ARG4]] : tensor<6xf32> -> tensor<1x6x1xf32>
// CHECK-NEXT: %[[V6:.+]] = fuseops.pointwise (%[[ARG7:.+]] = %[[ARG0]], %[[ARG8:.+]] = %[[V5]]) : (tensor<2x6x5xf32>, tensor<1x6x1xf32>) -> tensor<2x6x5xf32> {
// CHECK-NEXT: %[[V9:.+]] = arith.mulf %[[ARG7]], %[[ARG8]] : f32
// CHECK-NEXT: fuseops.yield %[[V9]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V10:.+]] = fuseops.reshape %[[ARG2]] : tensor<2x3xf32> -> tensor<2x3x1xf32>
// CHECK-NEXT: %[[V11:.+]] = fuseops.reshape %[[ARG3]] : tensor<2x3xf32> -> tensor<2x3x1xf32>
// CHECK-NEXT: %[[V12:.+]] = fuseops.reshape %[[V6]] : tensor<2x6x5xf32> -> tensor<2x3x10xf32>
// CHECK-NEXT: %[[V13:.+]] = fuseops.reshape %[[ARG1]] : tensor<2x6x5xf32> -> tensor<2x3x10xf32>
// CHECK-NEXT: %[[V14:.+]] = fuseops.layer_norm_grad %[[V12]], %[[V13]], %[[V10]], %[[V11]] : (tensor<2x3x10xf32>, tensor<2x3x10xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>) -> tensor<2x3x10xf32>
// CHECK-NEXT: %[[V15:.+]] = fuseops.reshape %[[V14]] : tensor<2x3x10xf32> -> tensor<2x6x5xf32>
// CHECK-NEXT: %[[V16:.+]] = fuseops.reshape %[[ARG0]] : tensor<2x6x5xf32> -> tensor<2x3x10xf32>
// CHECK-NEXT: %[[V17:.+]] = fuseops.reshape %[[ARG1]] : tensor<2x6x5xf32> -> tensor<2x3x10xf32>
// CHECK-NEXT: %[[V18:.+]] = fuseops.pointwise (%[[ARG7]] = %[[V16]], %[[ARG8]] = %[[V17]], %[[ARG19:.+]] = %[[V10]], %[[ARG20:.+]] = %[[V11]]) : (tensor<2x3x10xf32>, tensor<2x3x10xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>) -> tensor<2x3x10xf32> {
// CHECK-NEXT: %[[V9]] = arith.subf %[[ARG8]], %[[ARG19]] : f32
// CHECK-NEXT: %[[V21:.+]] = arith.mulf %[[V9]], %[[ARG20]] : f32
// CHECK-NEXT: %[[V22:.+]] = arith.mulf %[[ARG7]], %[[V21]] : f32
// CHECK-NEXT: fuseops.yield %[[V22]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V23:.+]] = fuseops.reshape %[[V18]] : tensor<2x3x10xf32> -> tensor<2x6x5xf32>
// CHECK-NEXT: %[[V24:.+]] = fuseops.reduce_columns sum %[[V23]] : tensor<2x6x5xf32> -> tensor<2x6x1xf32>
// CHECK-NEXT: %[[V25:.+]] = fuseops.reshape %[[V24]] : tensor<2x6x1xf32> -> tensor<2x6xf32>
// CHECK-NEXT: %[[V26:.+]] = fuseops.reduce_rows sum %[[V25]] : tensor<2x6xf32> -> tensor<6xf32>
// CHECK-NEXT: %[[V27:.+]] = fuseops.reshape %[[V26]] : tensor<6xf32> -> tensor<1x6x1xf32>
// CHECK-NEXT: %[[V28:.+]] = fuseops.reshape %[[V27]] : tensor<1x6x1xf32> -> tensor<6xf32>
// CHECK-NEXT: %[[V29:.+]] = fuseops.reduce_columns sum %[[ARG0]] : tensor<2x6x5xf32> -> tensor<2x6x1xf32>
// CHECK-NEXT: %[[V30:.+]] = fuseops.reshape %[[V29]] : tensor<2x6x1xf32> -> tensor<2x6xf32>
// CHECK-NEXT: %[[V31:.+]] = fuseops.reduce_rows sum %[[V30]] : tensor<2x6xf32> -> tensor<6xf32>
// CHECK-NEXT: %[[V32:.+]] = fuseops.reshape %[[V31]] : tensor<6xf32> -> tensor<1x6x1xf32>
// CHECK-NEXT: %[[V33:.+]] = fuseops.reshape %[[V32]] : tensor<1x6x1xf32> -> tensor<6xf32>
// CHECK-NEXT: fuseops.return %[[V15]], %[[V28]], %[[V33]] : tensor<2x6x5xf32>, tensor<6xf32>, tensor<6xf32>
func.func @group_norm_backward(%dy: !torch.vtensor<[2,6,5],f32>, %x: !torch.vtensor<[2,6,5],f32>, %m: !torch.vtensor<[2,3],f32>, %r: !torch.vtensor<[2,3],f32>, %w: !torch.vtensor<[6],f32>) -> (!torch.vtensor<[2,6,5],f32>, !torch.vtensor<[6],f32>, !torch.vtensor<[6],f32>) {
  %int2 = torch.constant.int 2
  %int6 = torch.constant.int 6
  %int5 = torch.constant.int 5
  %int3 = torch.constant.int 3
  %true = torch.constant.bool true
  %mask = torch.prim.ListConstruct %true, %true, %true : (!torch.bool, !torch.bool, !torch.bool) -> !torch.list<bool>
  %0, %1, %2 = torch.aten.native_group_norm_backward %dy, %x, %m, %r, %w, %int2, %int6, %int5, %int3, %mask : !torch.vtensor<[2,6,5],f32>, !torch.vtensor<[2,6,5],f32>, !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],f32>, !torch.vtensor<[6],f32>, !torch.int, !torch.int, !torch.int, !torch.int, !torch.list<bool> -> !torch.vtensor<[2,6,5],f32>, !torch.vtensor<[6],f32>, !torch.vtensor<[6],f32>
  return %0, %1, %2 : !torch.vtensor<[2,6,5],f32>, !torch.vtensor<[6],f32>, !torch.vtensor<[6],f32>
}
