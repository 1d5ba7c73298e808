// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// CHECK-LABEL: fuseops.fusible @vectors_of_two_dtypes
// CHECK-SAME: (%[[ARG0:.+]]: tensor<3xf32>, %[[ARG1:.+]]: tensor<4xf64>) -> tensor<3x4xf64>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[ARG0]] : tensor<3xf32> -> tensor<3x1xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reshape %[[ARG1]] : tensor<4xf64> -> tensor<1x4xf64>
// CHECK-NEXT: %[[V4:.+]] = fuseops.pointwise (%[[ARG5:.+]] = %[[V2]], %[[ARG6:.+]] = %[[V3]]) : (tensor<3x1xf32>, tensor<1x4xf64>) -> tensor<3x4xf64> {
// CHECK-NEXT: %[[V7:.+]] = arith.extf %[[ARG5]] : f32 to f64
// CHECK-NEXT: %[[V8:.+]] = arith.mulf %[[V7]], %[[ARG6]] : f64
// CHECK-NEXT: fuseops.yield %[[V8]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V4]] : tensor<3x4xf64>
func.func @vectors_of_two_dtypes(%x: !torch.vtensor<[3],f32>, %y: !torch.vtensor<[4],f64>) -> !torch.vtensor<[3,4],f64> {
  %0 = torch.aten.outer %x, %y : !torch.vtensor<[3],f32>, !torch.vtensor<[4],f64> -> !torch.vtensor<[3,4],f64>
  return %0 : !torch.vtensor<[3,4],f64>
}

// -----

// CHECK-LABEL: fuseops.fusible @bilinear
// CHECK-SAME: (%[[ARG0:.+]]: tensor<5x3xf32>, %[[ARG1:.+]]: tensor<5x4xf32>, %[[ARG2:.+]]: tensor<2x3x4xf32>, %[[ARG3:.+]]: tensor<2xf32>) -> tensor<5x2xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V4:.+]] = fuseops.reshape %[[ARG0]] : tensor<5x3xf32> -> tensor<5x3x1xf32>
// CHECK-NEXT: %[[V5:.+]] = fuseops.reshape %[[ARG1]] : tensor<5x4xf32> -> tensor<5x1x4xf32>
// CHECK-NEXT: %[[V6:.+]] = fuseops.pointwise (%[[ARG7:.+]] = %[[V4]], %[[ARG8:.+]] = %[[V5]]) : (tensor<5x3x1xf32>, tensor<5x1x4xf32>) -> tensor<5x3x4xf32> {
// CHECK-NEXT: %[[V9:.+]] = arith.mulf %[[ARG7]], %[[ARG8]] : f32
// CHECK-NEXT: fuseops.yield %[[V9]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V10:.+]] = fuseops.reshape %[[ARG2]] : tensor<2x3x4xf32> -> tensor<2x12xf32>
// CHECK-NEXT: %[[V11:.+]] = fuseops.reshape %[[V6]] : tensor<5x3x4xf32> -> tensor<5x12xf32>
// CHECK-NEXT: %[[V12:.+]] = fuseops.linear %[[V11]], %[[V10]] bias(%[[ARG3]]) : (tensor<5x12xf32>, tensor<2x12xf32>, tensor<2xf32>) -> tensor<5x2xf32>
// CHECK-NEXT: fuseops.return %[[V12]] : tensor<5x2xf32>
func.func @bilinear(%x: !torch.vtensor<[5,3],f32>, %y: !torch.vtensor<[5,4],f32>, %w: !torch.vtensor<[2,3,4],f32>, %b: !torch.vtensor<[2],f32>) -> !torch.vtensor<[5,2],f32> {
  %0 = torch.aten.bilinear %x, %y, %w, %b : !torch.vtensor<[5,3],f32>, !torch.vtensor<[5,4],f32>, !torch.vtensor<[2,3,4],f32>, !torch.vtensor<[2],f32> -> !torch.vtensor<[5,2],f32>
  return %0 : !torch.vtensor<[5,2],f32>
}
