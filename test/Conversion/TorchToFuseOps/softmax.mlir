// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// CHECK-LABEL: fuseops.fusible @softmax
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x64xbf16>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.softmax %[[ARG0]] : tensor<4x64xbf16> -> tensor<4x64xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.log_softmax %[[ARG0]] : tensor<4x64xbf16> -> tensor<4x64xbf16>
// CHECK-NEXT: fuseops.return %[[V0]], %[[V1]] : tensor<4x64xf32>, tensor<4x64xbf16>
func.func @softmax(%x: !torch.vtensor<[4,64],bf16>) -> (!torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],bf16>) {
  %int-1 = torch.constant.int -1
  %int6 = torch.constant.int 6
  %int1 = torch.constant.int 1
  %false = torch.constant.bool false
  %0 = torch.aten.softmax.int %x, %int-1, %int6 : !torch.vtensor<[4,64],bf16>, !torch.int, !torch.int -> !torch.vtensor<[4,64],f32>
  %1 = torch.aten._log_softmax %x, %int1, %false : !torch.vtensor<[4,64],bf16>, !torch.int, !torch.bool -> !torch.vtensor<[4,64],bf16>
  return %0, %1 : !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],bf16>
}

// -----

// The dimension becomes the last one.
// CHECK-LABEL: fuseops.fusible @softmax_of_columns
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x64xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.permute %[[ARG0]] order[1, 0] : tensor<4x64xf32> -> tensor<64x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.softmax %[[V0]] : tensor<64x4xf32> -> tensor<64x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.permute %[[V1]] order[1, 0] : tensor<64x4xf32> -> tensor<4x64xf32>
// CHECK-NEXT: fuseops.return %[[V2]] : tensor<4x64xf32>
func.func @softmax_of_columns(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %int0 = torch.constant.int 0
  %false = torch.constant.bool false
  %0 = torch.aten._softmax %x, %int0, %false : !torch.vtensor<[4,64],f32>, !torch.int, !torch.bool -> !torch.vtensor<[4,64],f32>
  return %0 : !torch.vtensor<[4,64],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @softmax_backward
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x64xf32>, %[[ARG1:.+]]: tensor<4x64xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.softmax_grad %[[ARG0]], %[[ARG1]] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<4x64xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.log_softmax_grad %[[ARG0]], %[[ARG1]] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<4x64xf32>
// CHECK-NEXT: fuseops.return %[[V0]], %[[V1]] : tensor<4x64xf32>, tensor<4x64xf32>
func.func @softmax_backward(%dy: !torch.vtensor<[4,64],f32>, %y: !torch.vtensor<[4,64],f32>) -> (!torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>) {
  %int-1 = torch.constant.int -1
  %int6 = torch.constant.int 6
  %0 = torch.aten._softmax_backward_data %dy, %y, %int-1, %int6 : !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,64],f32>
  %1 = torch.aten._log_softmax_backward_data %dy, %y, %int-1, %int6 : !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,64],f32>
  return %0, %1 : !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>
}

// -----

// Rows of nothing but -inf are 0, and have no gradient.
// CHECK-LABEL: fuseops.fusible @safe_softmax
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.reduce_columns max %[[ARG0]] : tensor<4x8xf32> -> tensor<4x1xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG0]], %[[ARG4:.+]] = %[[V1]]) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT: %[[C5:.+]] = arith.constant 0xFF800000 : f32
// CHECK-NEXT: %[[V6:.+]] = arith.cmpf oeq, %[[ARG4]], %[[C5]] : f32
// CHECK-NEXT: %[[C7:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V8:.+]] = arith.select %[[V6]], %[[C7]], %[[ARG3]] : f32
// CHECK-NEXT: fuseops.yield %[[V8]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V9:.+]] = fuseops.softmax %[[V2]] : tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT: %[[V10:.+]] = fuseops.pointwise (%[[ARG3]] = %[[V9]], %[[ARG4]] = %[[V1]]) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT: %[[C5]] = arith.constant 0xFF800000 : f32
// CHECK-NEXT: %[[V6]] = arith.cmpf oeq, %[[ARG4]], %[[C5]] : f32
// CHECK-NEXT: %[[C7]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V8]] = arith.select %[[V6]], %[[C7]], %[[ARG3]] : f32
// CHECK-NEXT: fuseops.yield %[[V8]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V10]] : tensor<4x8xf32>
func.func @safe_softmax(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,8],f32> {
  %int1 = torch.constant.int 1
  %none = torch.constant.none
  %0 = torch.aten._safe_softmax %x, %int1, %none : !torch.vtensor<[4,8],f32>, !torch.int, !torch.none -> !torch.vtensor<[4,8],f32>
  return %0 : !torch.vtensor<[4,8],f32>
}
