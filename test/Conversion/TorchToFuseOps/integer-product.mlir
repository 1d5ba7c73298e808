// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// No matrix unit adds up integers: all products, and their sums in 64 bits.
// CHECK-LABEL: fuseops.fusible @mm
// CHECK-SAME: (%[[ARG0:.+]]: tensor<3x5xi8>, %[[ARG1:.+]]: tensor<5x4xi8>) -> tensor<3x4xi32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[ARG0]] : tensor<3x5xi8> -> tensor<3x1x5xi8>
// CHECK-NEXT: %[[V3:.+]] = fuseops.permute %[[ARG1]] order[1, 0] : tensor<5x4xi8> -> tensor<4x5xi8>
// CHECK-NEXT: %[[V4:.+]] = fuseops.reshape %[[V3]] : tensor<4x5xi8> -> tensor<1x4x5xi8>
// CHECK-NEXT: %[[V5:.+]] = fuseops.pointwise (%[[ARG6:.+]] = %[[V2]], %[[ARG7:.+]] = %[[V4]]) : (tensor<3x1x5xi8>, tensor<1x4x5xi8>) -> tensor<3x4x5xi64> {
// CHECK-NEXT: %[[V8:.+]] = arith.extsi %[[ARG6]] : i8 to i64
// CHECK-NEXT: %[[V9:.+]] = arith.extsi %[[ARG7]] : i8 to i64
// CHECK-NEXT: %[[V10:.+]] = arith.muli %[[V8]], %[[V9]] : i64
// CHECK-NEXT: fuseops.yield %[[V10]] : i64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V11:.+]] = fuseops.reduce_columns sum %[[V5]] : tensor<3x4x5xi64> -> tensor<3x4x1xi32>
// CHECK-NEXT: %[[V12:.+]] = fuseops.reshape %[[V11]] : tensor<3x4x1xi32> -> tensor<3x4xi32>
// CHECK-NEXT: fuseops.return %[[V12]] : tensor<3x4xi32>
func.func @mm(%x: !torch.vtensor<[3,5],si8>, %y: !torch.vtensor<[5,4],si8>) -> !torch.vtensor<[3,4],si32> {
  %0 = torch.aten._int_mm %x, %y : !torch.vtensor<[3,5],si8>, !torch.vtensor<[5,4],si8> -> !torch.vtensor<[3,4],si32>
  return %0 : !torch.vtensor<[3,4],si32>
}

// -----

// CHECK-LABEL: fuseops.fusible @stacks
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x3x5xi64>, %[[ARG1:.+]]: tensor<2x5x4xi64>) -> tensor<2x3x4xi64>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[ARG0]] : tensor<2x3x5xi64> -> tensor<2x3x1x5xi64>
// CHECK-NEXT: %[[V3:.+]] = fuseops.permute %[[ARG1]] order[0, 2, 1] : tensor<2x5x4xi64> -> tensor<2x4x5xi64>
// CHECK-NEXT: %[[V4:.+]] = fuseops.reshape %[[V3]] : tensor<2x4x5xi64> -> tensor<2x1x4x5xi64>
// CHECK-NEXT: %[[V5:.+]] = fuseops.pointwise (%[[ARG6:.+]] = %[[V2]], %[[ARG7:.+]] = %[[V4]]) : (tensor<2x3x1x5xi64>, tensor<2x1x4x5xi64>) -> tensor<2x3x4x5xi64> {
// CHECK-NEXT: %[[V8:.+]] = arith.muli %[[ARG6]], %[[ARG7]] : i64
// CHECK-NEXT: fuseops.yield %[[V8]] : i64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V9:.+]] = fuseops.reduce_columns sum %[[V5]] : tensor<2x3x4x5xi64> -> tensor<2x3x4x1xi64>
// CHECK-NEXT: %[[V10:.+]] = fuseops.reshape %[[V9]] : tensor<2x3x4x1xi64> -> tensor<2x3x4xi64>
// CHECK-NEXT: fuseops.return %[[V10]] : tensor<2x3x4xi64>
func.func @stacks(%x: !torch.vtensor<[2,3,5],si64>, %y: !torch.vtensor<[2,5,4],si64>) -> !torch.vtensor<[2,3,4],si64> {
  %0 = torch.aten.bmm %x, %y : !torch.vtensor<[2,3,5],si64>, !torch.vtensor<[2,5,4],si64> -> !torch.vtensor<[2,3,4],si64>
  return %0 : !torch.vtensor<[2,3,4],si64>
}

// -----

// CHECK-LABEL: fuseops.fusible @matrix_times_vector
// CHECK-SAME: (%[[ARG0:.+]]: tensor<3x5xi32>, %[[ARG1:.+]]: tensor<5xi32>) -> tensor<3xi32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[ARG1]] : tensor<5xi32> -> tensor<5x1xi32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reshape %[[ARG0]] : tensor<3x5xi32> -> tensor<3x1x5xi32>
// CHECK-NEXT: %[[V4:.+]] = fuseops.permute %[[V2]] order[1, 0] : tensor<5x1xi32> -> tensor<1x5xi32>
// CHECK-NEXT: %[[V5:.+]] = fuseops.reshape %[[V4]] : tensor<1x5xi32> -> tensor<1x1x5xi32>
// CHECK-NEXT: %[[V6:.+]] = fuseops.pointwise (%[[ARG7:.+]] = %[[V3]], %[[ARG8:.+]] = %[[V5]]) : (tensor<3x1x5xi32>, tensor<1x1x5xi32>) -> tensor<3x1x5xi64> {
// CHECK-NEXT: %[[V9:.+]] = arith.extsi %[[ARG7]] : i32 to i64
// CHECK-NEXT: %[[V10:.+]] = arith.extsi %[[ARG8]] : i32 to i64
// CHECK-NEXT: %[[V11:.+]] = arith.muli %[[V9]], %[[V10]] : i64
// CHECK-NEXT: fuseops.yield %[[V11]] : i64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V12:.+]] = fuseops.reshape %[[V6]] : tensor<3x1x5xi64> -> tensor<3x5xi64>
// CHECK-NEXT: %[[V13:.+]] = fuseops.reduce_columns sum %[[V12]] : tensor<3x5xi64> -> tensor<3x1xi32>
// CHECK-NEXT: %[[V14:.+]] = fuseops.reshape %[[V13]] : tensor<3x1xi32> -> tensor<3x1x1xi32>
// CHECK-NEXT: %[[V15:.+]] = fuseops.reshape %[[V14]] : tensor<3x1x1xi32> -> tensor<3x1xi32>
// CHECK-NEXT: %[[V16:.+]] = fuseops.reshape %[[V15]] : tensor<3x1xi32> -> tensor<3xi32>
// CHECK-NEXT: fuseops.return %[[V16]] : tensor<3xi32>
func.func @matrix_times_vector(%x: !torch.vtensor<[3,5],si32>, %y: !torch.vtensor<[5],si32>) -> !torch.vtensor<[3],si32> {
  %0 = torch.aten.mv %x, %y : !torch.vtensor<[3,5],si32>, !torch.vtensor<[5],si32> -> !torch.vtensor<[3],si32>
  return %0 : !torch.vtensor<[3],si32>
}
