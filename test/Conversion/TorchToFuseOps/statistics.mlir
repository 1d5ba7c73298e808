// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// Two passes, no difference of squares; with 1 degree of freedom removed.
// CHECK-LABEL: fuseops.fusible @variance
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x64xbf16>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reduce_columns sum %[[ARG0]] : tensor<4x64xbf16> -> tensor<4x1xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V0]]) : (tensor<4x1xf32>) -> tensor<4x1xf32> {
// CHECK-NEXT: %[[CST:.+]] = arith.constant 6.400000e+01 : f32
// CHECK-NEXT: %[[V7:.+]] = arith.divf %[[ARG1]], %[[CST]] : f32
// CHECK-NEXT: fuseops.yield %[[V7]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V2:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]], %[[ARG2:.+]] = %[[V1]]) : (tensor<4x64xbf16>, tensor<4x1xf32>) -> tensor<4x64xf32> {
// CHECK-NEXT: %[[V7:.+]] = arith.subf %[[ARG1]], %[[ARG2]] : f32
// CHECK-NEXT: %[[V8:.+]] = arith.mulf %[[V7]], %[[V7]] : f32
// CHECK-NEXT: fuseops.yield %[[V8]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V3:.+]] = fuseops.reduce_columns sum %[[V2]] : tensor<4x64xf32> -> tensor<4x1xf32>
// CHECK-NEXT: %[[V4:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V3]]) : (tensor<4x1xf32>) -> tensor<4x1xf32> {
// CHECK-NEXT: %[[CST:.+]] = arith.constant 6.400000e+01 : f32
// CHECK-NEXT: %[[CST_0:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[V7:.+]] = arith.subf %[[CST]], %[[CST_0]] : f32
// CHECK-NEXT: %[[CST_1:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V8:.+]] = arith.maximumf %[[V7]], %[[CST_1]] : f32
// CHECK-NEXT: %[[V9:.+]] = arith.divf %[[ARG1]], %[[V8]] : f32
// CHECK-NEXT: fuseops.yield %[[V9]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V5:.+]] = fuseops.cast %[[V4]] : tensor<4x1xf32> -> tensor<4x1xbf16>
// CHECK-NEXT: %[[V6:.+]] = fuseops.cast %[[V1]] : tensor<4x1xf32> -> tensor<4x1xbf16>
// CHECK-NEXT: fuseops.return %[[V5]], %[[V6]] : tensor<4x1xbf16>, tensor<4x1xbf16>
func.func @variance(%x: !torch.vtensor<[4,64],bf16>) -> (!torch.vtensor<[4,1],bf16>, !torch.vtensor<[4,1],bf16>) {
  %int1 = torch.constant.int 1
  %true = torch.constant.bool true
  %l0 = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
  %1, %2 = torch.aten.var_mean.correction %x, %l0, %int1, %true : !torch.vtensor<[4,64],bf16>, !torch.list<int>, !torch.int, !torch.bool -> !torch.vtensor<[4,1],bf16>, !torch.vtensor<[4,1],bf16>
  return %1, %2 : !torch.vtensor<[4,1],bf16>, !torch.vtensor<[4,1],bf16>
}

// -----

// The root has no infinite derivative at 0.
// CHECK-LABEL: fuseops.fusible @euclidean_norm
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x64xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x64xf32>) -> tensor<4x64xf32> {
// CHECK-NEXT: %[[V3:.+]] = arith.mulf %[[ARG1]], %[[ARG1]] : f32
// CHECK-NEXT: fuseops.yield %[[V3]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V1:.+]] = fuseops.reduce_columns sum %[[V0]] : tensor<4x64xf32> -> tensor<4x1xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V1]]) : (tensor<4x1xf32>) -> tensor<4x1xf32> {
// CHECK-NEXT: %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V3:.+]] = arith.cmpf ogt, %[[ARG1]], %[[CST]] : f32
// CHECK-NEXT: %[[CST_0:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[V4:.+]] = arith.select %[[V3]], %[[ARG1]], %[[CST_0]] : f32
// CHECK-NEXT: %[[V5:.+]] = math.sqrt %[[V4]] : f32
// CHECK-NEXT: %[[V6:.+]] = arith.select %[[V3]], %[[V5]], %[[ARG1]] : f32
// CHECK-NEXT: fuseops.yield %[[V6]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V2]] : tensor<4x1xf32>
func.func @euclidean_norm(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,1],f32> {
  %float2_0 = torch.constant.float 2.0
  %int1 = torch.constant.int 1
  %true = torch.constant.bool true
  %none = torch.constant.none
  %l0 = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
  %1 = torch.aten.linalg_vector_norm %x, %float2_0, %l0, %true, %none : !torch.vtensor<[4,64],f32>, !torch.float, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[4,1],f32>
  return %1 : !torch.vtensor<[4,1],f32>
}

// -----

// Shifted by a whole number, which has no derivative.
// CHECK-LABEL: fuseops.fusible @logsumexp
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x64xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reduce_columns max %[[ARG0]] : tensor<4x64xf32> -> tensor<4x1xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]], %[[ARG2:.+]] = %[[V0]]) : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32> {
// CHECK-NEXT: %[[CST:.+]] = arith.constant 0x7F800000 : f32
// CHECK-NEXT: %[[V5:.+]] = math.absf %[[ARG2]] : f32
// CHECK-NEXT: %[[V6:.+]] = arith.cmpf oeq, %[[V5]], %[[CST]] : f32
// CHECK-NEXT: %[[CST_0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V7:.+]] = arith.select %[[V6]], %[[CST_0]], %[[ARG2]] : f32
// CHECK-NEXT: %[[V8:.+]] = math.floor %[[V7]] : f32
// CHECK-NEXT: %[[V9:.+]] = arith.subf %[[ARG1]], %[[V8]] : f32
// CHECK-NEXT: %[[V10:.+]] = math.exp %[[V9]] : f32
// CHECK-NEXT: fuseops.yield %[[V10]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V2:.+]] = fuseops.reduce_columns sum %[[V1]] : tensor<4x64xf32> -> tensor<4x1xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V2]], %[[ARG2:.+]] = %[[V0]]) : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32> {
// CHECK-NEXT: %[[V5:.+]] = math.log %[[ARG1]] : f32
// CHECK-NEXT: %[[CST:.+]] = arith.constant 0x7F800000 : f32
// CHECK-NEXT: %[[V6:.+]] = math.absf %[[ARG2]] : f32
// CHECK-NEXT: %[[V7:.+]] = arith.cmpf oeq, %[[V6]], %[[CST]] : f32
// CHECK-NEXT: %[[CST_0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V8:.+]] = arith.select %[[V7]], %[[CST_0]], %[[ARG2]] : f32
// CHECK-NEXT: %[[V9:.+]] = math.floor %[[V8]] : f32
// CHECK-NEXT: %[[V10:.+]] = arith.addf %[[V5]], %[[V9]] : f32
// CHECK-NEXT: fuseops.yield %[[V10]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V4:.+]] = fuseops.reshape %[[V3]] : tensor<4x1xf32> -> tensor<4xf32>
// CHECK-NEXT: fuseops.return %[[V4]] : tensor<4xf32>
func.func @logsumexp(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4],f32> {
  %int1 = torch.constant.int 1
  %false = torch.constant.bool false
  %l0 = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
  %1 = torch.aten.logsumexp %x, %l0, %false : !torch.vtensor<[4,64],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[4],f32>
  return %1 : !torch.vtensor<[4],f32>
}
