// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// CHECK-LABEL: fuseops.fusible @bytes_of_f32
// CHECK-SAME: (%[[ARG0:.+]]: tensor<12x1xf32>) -> tensor<12x4xi8>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[ARG0]] : tensor<12x1xf32> -> tensor<12x1x1xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[V1]]) : (tensor<12x1x1xf32>) -> tensor<12x1x4xi8> {
// CHECK-NEXT: %[[V4:.+]] = arith.bitcast %[[ARG3]] : f32 to i32
// CHECK-NEXT: %[[V5:.+]] = fuseops.column_index : i64
// CHECK-NEXT: %[[C6:.+]] = arith.constant 8 : i64
// CHECK-NEXT: %[[V7:.+]] = arith.muli %[[V5]], %[[C6]] : i64
// CHECK-NEXT: %[[V8:.+]] = arith.extui %[[V4]] : i32 to i64
// CHECK-NEXT: %[[V9:.+]] = arith.shrui %[[V8]], %[[V7]] : i64
// CHECK-NEXT: %[[V10:.+]] = arith.trunci %[[V9]] : i64 to i8
// CHECK-NEXT: fuseops.yield %[[V10]] : i8
// CHECK-NEXT: }
// CHECK-NEXT: %[[V11:.+]] = fuseops.reshape %[[V2]] : tensor<12x1x4xi8> -> tensor<12x4xi8>
// CHECK-NEXT: fuseops.return %[[V11]] : tensor<12x4xi8>
func.func @bytes_of_f32(%x: !torch.vtensor<[12,1],f32>) -> !torch.vtensor<[12,4],si8> {
  %int = torch.constant.int 1
  %0 = torch.aten.view.dtype %x, %int : !torch.vtensor<[12,1],f32>, !torch.int -> !torch.vtensor<[12,4],si8>
  return %0 : !torch.vtensor<[12,4],si8>
}

// -----

// CHECK-LABEL: fuseops.fusible @bits_of_bf16
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4xbf16>) -> tensor<4xi16>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[ARG0]] : tensor<4xbf16> -> tensor<4x1xbf16>
// CHECK-NEXT: %[[V2:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[V1]]) : (tensor<4x1xbf16>) -> tensor<4x1xi16> {
// CHECK-NEXT: %[[V4:.+]] = arith.truncf %[[ARG3]] : f32 to bf16
// CHECK-NEXT: %[[V5:.+]] = arith.bitcast %[[V4]] : bf16 to i16
// CHECK-NEXT: fuseops.yield %[[V5]] : i16
// CHECK-NEXT: }
// CHECK-NEXT: %[[V6:.+]] = fuseops.reshape %[[V2]] : tensor<4x1xi16> -> tensor<4xi16>
// CHECK-NEXT: fuseops.return %[[V6]] : tensor<4xi16>
func.func @bits_of_bf16(%x: !torch.vtensor<[4],bf16>) -> !torch.vtensor<[4],si16> {
  %int = torch.constant.int 2
  %0 = torch.aten.view.dtype %x, %int : !torch.vtensor<[4],bf16>, !torch.int -> !torch.vtensor<[4],si16>
  return %0 : !torch.vtensor<[4],si16>
}

// -----

// CHECK-LABEL: fuseops.fusible @f32_of_integers
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4xi32>) -> tensor<4xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[ARG0]] : tensor<4xi32> -> tensor<4x1xi32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[V1]]) : (tensor<4x1xi32>) -> tensor<4x1xf32> {
// CHECK-NEXT: %[[V4:.+]] = arith.bitcast %[[ARG3]] : i32 to f32
// CHECK-NEXT: fuseops.yield %[[V4]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V5:.+]] = fuseops.reshape %[[V2]] : tensor<4x1xf32> -> tensor<4xf32>
// CHECK-NEXT: fuseops.return %[[V5]] : tensor<4xf32>
func.func @f32_of_integers(%x: !torch.vtensor<[4],si32>) -> !torch.vtensor<[4],f32> {
  %int = torch.constant.int 6
  %0 = torch.aten.view.dtype %x, %int : !torch.vtensor<[4],si32>, !torch.int -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}
