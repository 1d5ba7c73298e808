// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// CHECK-LABEL: fuseops.fusible @linalg_norm
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<f32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT: %[[V3:.+]] = arith.mulf %[[ARG2]], %[[ARG2]] : f32
// CHECK-NEXT: fuseops.yield %[[V3]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V4:.+]] = fuseops.reduce_columns sum %[[V1]] : tensor<4x8xf32> -> tensor<4x1xf32>
// CHECK-NEXT: %[[V5:.+]] = fuseops.reduce_rows sum %[[V4]] : tensor<4x1xf32> -> tensor<1xf32>
// CHECK-NEXT: %[[V6:.+]] = fuseops.reshape %[[V5]] : tensor<1xf32> -> tensor<1x1xf32>
// CHECK-NEXT: %[[V7:.+]] = fuseops.pointwise (%[[ARG2]] = %[[V6]]) : (tensor<1x1xf32>) -> tensor<1x1xf32> {
// CHECK-NEXT: %[[C8:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V3]] = arith.cmpf ogt, %[[ARG2]], %[[C8]] : f32
// CHECK-NEXT: %[[C9:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[V10:.+]] = arith.select %[[V3]], %[[ARG2]], %[[C9]] : f32
// CHECK-NEXT: %[[V11:.+]] = math.sqrt %[[V10]] : f32
// CHECK-NEXT: %[[V12:.+]] = arith.select %[[V3]], %[[V11]], %[[ARG2]] : f32
// CHECK-NEXT: fuseops.yield %[[V12]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V13:.+]] = fuseops.reshape %[[V7]] : tensor<1x1xf32> -> tensor<f32>
// CHECK-NEXT: fuseops.return %[[V13]] : tensor<f32>
func.func @linalg_norm(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[],f32> {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %0 = torch.aten.linalg_norm %x, %none, %none, %false, %none : !torch.vtensor<[4,8],f32>, !torch.none, !torch.none, !torch.bool, !torch.none -> !torch.vtensor<[],f32>
  return %0 : !torch.vtensor<[],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @weight_norm
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x1xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V2:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT: %[[V4:.+]] = arith.mulf %[[ARG3]], %[[ARG3]] : f32
// CHECK-NEXT: fuseops.yield %[[V4]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V5:.+]] = fuseops.reduce_columns sum %[[V2]] : tensor<4x8xf32> -> tensor<4x1xf32>
// CHECK-NEXT: %[[V6:.+]] = fuseops.pointwise (%[[ARG3]] = %[[V5]]) : (tensor<4x1xf32>) -> tensor<4x1xf32> {
// CHECK-NEXT: %[[C7:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V4]] = arith.cmpf ogt, %[[ARG3]], %[[C7]] : f32
// CHECK-NEXT: %[[C8:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[V9:.+]] = arith.select %[[V4]], %[[ARG3]], %[[C8]] : f32
// CHECK-NEXT: %[[V10:.+]] = math.sqrt %[[V9]] : f32
// CHECK-NEXT: %[[V11:.+]] = arith.select %[[V4]], %[[V10]], %[[ARG3]] : f32
// CHECK-NEXT: fuseops.yield %[[V11]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V12:.+]] = fuseops.pointwise (%[[ARG3]] = %[[ARG0]], %[[ARG13:.+]] = %[[ARG1]], %[[ARG14:.+]] = %[[V6]]) : (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT: %[[V4]] = arith.divf %[[ARG13]], %[[ARG14]] : f32
// CHECK-NEXT: %[[V9]] = arith.mulf %[[ARG3]], %[[V4]] : f32
// CHECK-NEXT: fuseops.yield %[[V9]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V12]], %[[V6]] : tensor<4x8xf32>, tensor<4x1xf32>
func.func @weight_norm(%v: !torch.vtensor<[4,8],f32>, %g: !torch.vtensor<[4,1],f32>) -> (!torch.vtensor<[4,8],f32>, !torch.vtensor<[4,1],f32>) {
  %int0 = torch.constant.int 0
  %0, %1 = torch.aten._weight_norm_interface %v, %g, %int0 : !torch.vtensor<[4,8],f32>, !torch.vtensor<[4,1],f32>, !torch.int -> !torch.vtensor<[4,8],f32>, !torch.vtensor<[4,1],f32>
  return %0, %1 : !torch.vtensor<[4,8],f32>, !torch.vtensor<[4,1],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @cosine_similarity
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<1x8xf32>) -> tensor<4xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V2:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT: %[[V4:.+]] = arith.mulf %[[ARG3]], %[[ARG3]] : f32
// CHECK-NEXT: fuseops.yield %[[V4]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V5:.+]] = fuseops.reduce_columns sum %[[V2]] : tensor<4x8xf32> -> tensor<4x1xf32>
// CHECK-NEXT: %[[V6:.+]] = fuseops.pointwise (%[[ARG3]] = %[[V5]]) : (tensor<4x1xf32>) -> tensor<4x1xf32> {
// CHECK-NEXT: %[[C7:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V4]] = arith.cmpf ogt, %[[ARG3]], %[[C7]] : f32
// CHECK-NEXT: %[[C8:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[V9:.+]] = arith.select %[[V4]], %[[ARG3]], %[[C8]] : f32
// CHECK-NEXT: %[[V10:.+]] = math.sqrt %[[V9]] : f32
// CHECK-NEXT: %[[V11:.+]] = arith.select %[[V4]], %[[V10]], %[[ARG3]] : f32
// CHECK-NEXT: fuseops.yield %[[V11]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V12:.+]] = fuseops.pointwise (%[[ARG3]] = %[[ARG0]], %[[ARG13:.+]] = %[[V6]]) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT: %[[C7]] = arith.constant 9.99999993E-9 : f32
// CHECK-NEXT: %[[V4]] = arith.maximumf %[[ARG13]], %[[C7]] : f32
// CHECK-NEXT: %[[V9]] = arith.divf %[[ARG3]], %[[V4]] : f32
// CHECK-NEXT: fuseops.yield %[[V9]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V14:.+]] = fuseops.pointwise (%[[ARG3]] = %[[ARG1]]) : (tensor<1x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT: fuseops.yield %[[ARG3]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V15:.+]] = fuseops.pointwise (%[[ARG3]] = %[[V14]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT: %[[V4]] = arith.mulf %[[ARG3]], %[[ARG3]] : f32
// CHECK-NEXT: fuseops.yield %[[V4]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V16:.+]] = fuseops.reduce_columns sum %[[V15]] : tensor<4x8xf32> -> tensor<4x1xf32>
// CHECK-NEXT: %[[V17:.+]] = fuseops.pointwise (%[[ARG3]] = %[[V16]]) : (tensor<4x1xf32>) -> tensor<4x1xf32> {
// CHECK-NEXT: %[[C7]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V4]] = arith.cmpf ogt, %[[ARG3]], %[[C7]] : f32
// CHECK-NEXT: %[[C8]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[V9]] = arith.select %[[V4]], %[[ARG3]], %[[C8]] : f32
// CHECK-NEXT: %[[V10]] = math.sqrt %[[V9]] : f32
// CHECK-NEXT: %[[V11]] = arith.select %[[V4]], %[[V10]], %[[ARG3]] : f32
// CHECK-NEXT: fuseops.yield %[[V11]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V18:.+]] = fuseops.pointwise (%[[ARG3]] = %[[V14]], %[[ARG13]] = %[[V17]]) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT: %[[C7]] = arith.constant 9.99999993E-9 : f32
// CHECK-NEXT: %[[V4]] = arith.maximumf %[[ARG13]], %[[C7]] : f32
// CHECK-NEXT: %[[V9]] = arith.divf %[[ARG3]], %[[V4]] : f32
// CHECK-NEXT: fuseops.yield %[[V9]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V19:.+]] = fuseops.pointwise (%[[ARG3]] = %[[V12]], %[[ARG13]] = %[[V18]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT: %[[V4]] = arith.mulf %[[ARG3]], %[[ARG13]] : f32
// CHECK-NEXT: fuseops.yield %[[V4]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V20:.+]] = fuseops.reduce_columns sum %[[V19]] : tensor<4x8xf32> -> tensor<4x1xf32>
// CHECK-NEXT: %[[V21:.+]] = fuseops.reshape %[[V20]] : tensor<4x1xf32> -> tensor<4xf32>
// CHECK-NEXT: fuseops.return %[[V21]] : tensor<4xf32>
func.func @cosine_similarity(%x: !torch.vtensor<[4,8],f32>, %y: !torch.vtensor<[1,8],f32>) -> !torch.vtensor<[4],f32> {
  %int1 = torch.constant.int 1
  %f = torch.constant.float 1.0e-08
  %0 = torch.aten.cosine_similarity %x, %y, %int1, %f : !torch.vtensor<[4,8],f32>, !torch.vtensor<[1,8],f32>, !torch.int, !torch.float -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}
