// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// One rounding, of the mean.
// CHECK-LABEL: fuseops.fusible @mean_squared_error
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x64xbf16>, %[[ARG1:.+]]: tensor<4x64xbf16>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<4x64xbf16>, tensor<4x64xbf16>) -> tensor<4x64xf32> {
// CHECK-NEXT: %[[V7:.+]] = arith.subf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT: %[[V8:.+]] = arith.mulf %[[V7]], %[[V7]] : f32
// CHECK-NEXT: fuseops.yield %[[V8]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V1:.+]] = fuseops.reduce_columns sum %[[V0]] : tensor<4x64xf32> -> tensor<4x1xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.reduce_rows sum %[[V1]] : tensor<4x1xf32> -> tensor<1xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reshape %[[V2]] : tensor<1xf32> -> tensor<1x1xf32>
// CHECK-NEXT: %[[V4:.+]] = fuseops.reshape %[[V3]] : tensor<1x1xf32> -> tensor<f32>
// CHECK-NEXT: %[[V5:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[V4]]) : (tensor<f32>) -> tensor<f32> {
// CHECK-NEXT: %[[CST:.+]] = arith.constant 2.560000e+02 : f32
// CHECK-NEXT: %[[V7:.+]] = arith.divf %[[ARG2]], %[[CST]] : f32
// CHECK-NEXT: fuseops.yield %[[V7]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V6:.+]] = fuseops.cast %[[V5]] : tensor<f32> -> tensor<bf16>
// CHECK-NEXT: fuseops.return %[[V6]] : tensor<bf16>
func.func @mean_squared_error(%x: !torch.vtensor<[4,64],bf16>, %y: !torch.vtensor<[4,64],bf16>) -> !torch.vtensor<[],bf16> {
  %int1 = torch.constant.int 1
  %0 = torch.aten.mse_loss %x, %y, %int1 : !torch.vtensor<[4,64],bf16>, !torch.vtensor<[4,64],bf16>, !torch.int -> !torch.vtensor<[],bf16>
  return %0 : !torch.vtensor<[],bf16>
}

// -----

// CHECK-LABEL: fuseops.fusible @unreduced
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x64xf32>, %[[ARG1:.+]]: tensor<4x64xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32> {
// CHECK-NEXT: %[[V1:.+]] = arith.subf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT: %[[V2:.+]] = math.absf %[[V1]] : f32
// CHECK-NEXT: %[[V3:.+]] = arith.mulf %[[V1]], %[[V1]] : f32
// CHECK-NEXT: %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[V4:.+]] = arith.mulf %[[V3]], %[[CST]] : f32
// CHECK-NEXT: %[[CST_0:.+]] = arith.constant 2.500000e-01 : f32
// CHECK-NEXT: %[[V5:.+]] = arith.subf %[[V2]], %[[CST_0]] : f32
// CHECK-NEXT: %[[V6:.+]] = math.absf %[[V1]] : f32
// CHECK-NEXT: %[[CST_1:.+]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: %[[V7:.+]] = arith.cmpf olt, %[[V6]], %[[CST_1]] : f32
// CHECK-NEXT: %[[V8:.+]] = arith.select %[[V7]], %[[V4]], %[[V5]] : f32
// CHECK-NEXT: fuseops.yield %[[V8]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V0]] : tensor<4x64xf32>
func.func @unreduced(%x: !torch.vtensor<[4,64],f32>, %y: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %int0 = torch.constant.int 0
  %float0_5 = torch.constant.float 0.5
  %0 = torch.aten.smooth_l1_loss %x, %y, %int0, %float0_5 : !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>, !torch.int, !torch.float -> !torch.vtensor<[4,64],f32>
  return %0 : !torch.vtensor<[4,64],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @gradient
// CHECK-SAME: (%[[ARG0:.+]]: tensor<1xf32>, %[[ARG1:.+]]: tensor<4x64xf32>, %[[ARG2:.+]]: tensor<4x64xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG0]], %[[ARG4:.+]] = %[[ARG1]], %[[ARG5:.+]] = %[[ARG2]]) : (tensor<1xf32>, tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32> {
// CHECK-NEXT: %[[CST:.+]] = arith.constant 2.560000e+02 : f32
// CHECK-NEXT: %[[V1:.+]] = arith.divf %[[ARG3]], %[[CST]] : f32
// CHECK-NEXT: %[[CST_0:.+]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT: %[[V2:.+]] = arith.subf %[[ARG4]], %[[ARG5]] : f32
// CHECK-NEXT: %[[V3:.+]] = arith.mulf %[[CST_0]], %[[V2]] : f32
// CHECK-NEXT: %[[V4:.+]] = arith.mulf %[[V3]], %[[V1]] : f32
// CHECK-NEXT: fuseops.yield %[[V4]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V0]] : tensor<4x64xf32>
func.func @gradient(%g: !torch.vtensor<[1],f32>, %x: !torch.vtensor<[4,64],f32>, %y: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %int1 = torch.constant.int 1
  %0 = torch.aten.mse_loss_backward %g, %x, %y, %int1 : !torch.vtensor<[1],f32>, !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>, !torch.int -> !torch.vtensor<[4,64],f32>
  return %0 : !torch.vtensor<[4,64],f32>
}

// -----

// The classes' losses, then the mean over those that count.
// CHECK-LABEL: fuseops.fusible @cross_entropy
// CHECK-SAME: (%[[ARG0:.+]]: tensor<8x64xbf16>, %[[ARG1:.+]]: tensor<8xi64>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reshape %[[ARG1]] : tensor<8xi64> -> tensor<8x1xi64>
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[V0]]) : (tensor<8x1xi64>) -> tensor<8x1xf32> {
// CHECK-NEXT: %[[C_100_I64:.+]] = arith.constant -100 : i64
// CHECK-NEXT: %[[V12:.+]] = arith.cmpi eq, %[[ARG2]], %[[C_100_I64]] : i64
// CHECK-NEXT: %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[CST_0:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[V13:.+]] = arith.select %[[V12]], %[[CST]], %[[CST_0]] : f32
// CHECK-NEXT: fuseops.yield %[[V13]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[LOSS:.+]], %[[LOG_SUM_EXP:.+]] = fuseops.cross_entropy %[[ARG0]], %[[V0]] ignore_index(-100) label_smoothing(1.000000e-01) : tensor<8x64xbf16>, tensor<8x1xi64> -> (tensor<8x1xf32>, tensor<8x1xf32>)
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[LOSS]] : tensor<8x1xf32> -> tensor<8xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reduce_columns sum %[[V2]] : tensor<8xf32> -> tensor<1xf32>
// CHECK-NEXT: %[[V4:.+]] = fuseops.reshape %[[V3]] : tensor<1xf32> -> tensor<1x1xf32>
// CHECK-NEXT: %[[V5:.+]] = fuseops.reshape %[[V4]] : tensor<1x1xf32> -> tensor<f32>
// CHECK-NEXT: %[[V6:.+]] = fuseops.reshape %[[V1]] : tensor<8x1xf32> -> tensor<8xf32>
// CHECK-NEXT: %[[V7:.+]] = fuseops.reduce_columns sum %[[V6]] : tensor<8xf32> -> tensor<1xf32>
// CHECK-NEXT: %[[V8:.+]] = fuseops.reshape %[[V7]] : tensor<1xf32> -> tensor<1x1xf32>
// CHECK-NEXT: %[[V9:.+]] = fuseops.reshape %[[V8]] : tensor<1x1xf32> -> tensor<f32>
// CHECK-NEXT: %[[V10:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[V5]], %[[ARG3:.+]] = %[[V9]]) : (tensor<f32>, tensor<f32>) -> tensor<f32> {
// CHECK-NEXT: %[[V12:.+]] = arith.divf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT: fuseops.yield %[[V12]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V11:.+]] = fuseops.cast %[[V10]] : tensor<f32> -> tensor<bf16>
// CHECK-NEXT: fuseops.return %[[V11]] : tensor<bf16>
func.func @cross_entropy(%x: !torch.vtensor<[8,64],bf16>, %t: !torch.vtensor<[8],si64>) -> !torch.vtensor<[],bf16> {
  %none = torch.constant.none
  %int1 = torch.constant.int 1
  %int-100 = torch.constant.int -100
  %float0_1 = torch.constant.float 0.1
  %0 = torch.aten.cross_entropy_loss %x, %t, %none, %int1, %int-100, %float0_1 : !torch.vtensor<[8,64],bf16>, !torch.vtensor<[8],si64>, !torch.none, !torch.int, !torch.int, !torch.float -> !torch.vtensor<[],bf16>
  return %0 : !torch.vtensor<[],bf16>
}

// -----

// The classes become the last dimension.
// CHECK-LABEL: fuseops.fusible @cross_entropy_of_images
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x10x4x4xf32>, %[[ARG1:.+]]: tensor<2x4x4xi64>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.permute %[[ARG0]] order[0, 2, 3, 1] : tensor<2x10x4x4xf32> -> tensor<2x4x4x10xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[ARG1]] : tensor<2x4x4xi64> -> tensor<2x4x4x1xi64>
// CHECK-NEXT: %[[LOSS:.+]], %[[LOG_SUM_EXP:.+]] = fuseops.cross_entropy %[[V0]], %[[V1]] ignore_index(-100) label_smoothing(0.000000e+00) : tensor<2x4x4x10xf32>, tensor<2x4x4x1xi64> -> (tensor<2x4x4x1xf32>, tensor<2x4x4x1xf32>)
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[LOSS]] : tensor<2x4x4x1xf32> -> tensor<2x4x4xf32>
// CHECK-NEXT: fuseops.return %[[V2]] : tensor<2x4x4xf32>
func.func @cross_entropy_of_images(%x: !torch.vtensor<[2,10,4,4],f32>, %t: !torch.vtensor<[2,4,4],si64>) -> !torch.vtensor<[2,4,4],f32> {
  %none = torch.constant.none
  %int0 = torch.constant.int 0
  %int-100 = torch.constant.int -100
  %float0_0 = torch.constant.float 0.0
  %0 = torch.aten.cross_entropy_loss %x, %t, %none, %int0, %int-100, %float0_0 : !torch.vtensor<[2,10,4,4],f32>, !torch.vtensor<[2,4,4],si64>, !torch.none, !torch.int, !torch.int, !torch.float -> !torch.vtensor<[2,4,4],f32>
  return %0 : !torch.vtensor<[2,4,4],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @likelihood
// CHECK-SAME: (%[[ARG0:.+]]: tensor<8x64xf32>, %[[ARG1:.+]]: tensor<8xi64>, %[[ARG2:.+]]: tensor<64xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reshape %[[ARG1]] : tensor<8xi64> -> tensor<8x1xi64>
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG2]], %[[ARG4:.+]] = %[[V0]]) : (tensor<64xf32>, tensor<8x1xi64>) -> tensor<8x64xf32> {
// CHECK-NEXT: %[[V15:.+]] = fuseops.column_index : i64
// CHECK-NEXT: %[[V16:.+]] = arith.cmpi eq, %[[V15]], %[[ARG4]] : i64
// CHECK-NEXT: %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V17:.+]] = arith.select %[[V16]], %[[ARG3]], %[[CST]] : f32
// CHECK-NEXT: fuseops.yield %[[V17]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V2:.+]] = fuseops.reduce_columns sum %[[V1]] : tensor<8x64xf32> -> tensor<8x1xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[V2]], %[[ARG4:.+]] = %[[V0]]) : (tensor<8x1xf32>, tensor<8x1xi64>) -> tensor<8x1xf32> {
// CHECK-NEXT: %[[C_100_I64:.+]] = arith.constant -100 : i64
// CHECK-NEXT: %[[V15:.+]] = arith.cmpi eq, %[[ARG4]], %[[C_100_I64]] : i64
// CHECK-NEXT: %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V16:.+]] = arith.select %[[V15]], %[[CST]], %[[ARG3]] : f32
// CHECK-NEXT: fuseops.yield %[[V16]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V4:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG0]], %[[ARG4:.+]] = %[[V0]]) : (tensor<8x64xf32>, tensor<8x1xi64>) -> tensor<8x64xf32> {
// CHECK-NEXT: %[[V15:.+]] = fuseops.column_index : i64
// CHECK-NEXT: %[[V16:.+]] = arith.cmpi eq, %[[V15]], %[[ARG4]] : i64
// CHECK-NEXT: %[[V17:.+]] = arith.negf %[[ARG3]] : f32
// CHECK-NEXT: %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V18:.+]] = arith.select %[[V16]], %[[V17]], %[[CST]] : f32
// CHECK-NEXT: fuseops.yield %[[V18]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V5:.+]] = fuseops.reduce_columns sum %[[V4]] : tensor<8x64xf32> -> tensor<8x1xf32>
// CHECK-NEXT: %[[V6:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[V5]], %[[ARG4:.+]] = %[[V3]]) : (tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x1xf32> {
// CHECK-NEXT: %[[V15:.+]] = arith.mulf %[[ARG3]], %[[ARG4]] : f32
// CHECK-NEXT: fuseops.yield %[[V15]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V7:.+]] = fuseops.reshape %[[V6]] : tensor<8x1xf32> -> tensor<8xf32>
// CHECK-NEXT: %[[V8:.+]] = fuseops.reduce_columns sum %[[V7]] : tensor<8xf32> -> tensor<1xf32>
// CHECK-NEXT: %[[V9:.+]] = fuseops.reshape %[[V8]] : tensor<1xf32> -> tensor<1x1xf32>
// CHECK-NEXT: %[[V10:.+]] = fuseops.reshape %[[V9]] : tensor<1x1xf32> -> tensor<f32>
// CHECK-NEXT: %[[V11:.+]] = fuseops.reshape %[[V3]] : tensor<8x1xf32> -> tensor<8xf32>
// CHECK-NEXT: %[[V12:.+]] = fuseops.reduce_columns sum %[[V11]] : tensor<8xf32> -> tensor<1xf32>
// CHECK-NEXT: %[[V13:.+]] = fuseops.reshape %[[V12]] : tensor<1xf32> -> tensor<1x1xf32>
// CHECK-NEXT: %[[V14:.+]] = fuseops.reshape %[[V13]] : tensor<1x1xf32> -> tensor<f32>
// CHECK-NEXT: fuseops.return %[[V10]], %[[V14]] : tensor<f32>, tensor<f32>
func.func @likelihood(%x: !torch.vtensor<[8,64],f32>, %t: !torch.vtensor<[8],si64>, %w: !torch.vtensor<[64],f32>) -> (!torch.vtensor<[],f32>, !torch.vtensor<[],f32>) {
  %int2 = torch.constant.int 2
  %int-100 = torch.constant.int -100
  %0, %1 = torch.aten.nll_loss_forward %x, %t, %w, %int2, %int-100 : !torch.vtensor<[8,64],f32>, !torch.vtensor<[8],si64>, !torch.vtensor<[64],f32>, !torch.int, !torch.int -> !torch.vtensor<[],f32>, !torch.vtensor<[],f32>
  return %0, %1 : !torch.vtensor<[],f32>, !torch.vtensor<[],f32>
}
