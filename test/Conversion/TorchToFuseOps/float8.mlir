// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// PyTorch doesn't saturate: what is too large for f8E4M3FN is NaN.
// CHECK-LABEL: fuseops.fusible @to_e4m3
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x64xbf16>) -> tensor<4x64xf8E4M3FN>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]]) : (tensor<4x64xbf16>) -> tensor<4x64xbf16> {
// CHECK-NEXT: %[[V3:.+]] = arith.truncf %[[ARG2]] : f32 to f8E4M3FN
// CHECK-NEXT: %[[V4:.+]] = arith.extf %[[V3]] : f8E4M3FN to f32
// CHECK-NEXT: %[[V5:.+]] = math.absf %[[ARG2]] : f32
// CHECK-NEXT: %[[C6:.+]] = arith.constant 4.640000e+02 : f32
// CHECK-NEXT: %[[V7:.+]] = arith.cmpf ogt, %[[V5]], %[[C6]] : f32
// CHECK-NEXT: %[[C8:.+]] = arith.constant 0x7FC00000 : f32
// CHECK-NEXT: %[[V9:.+]] = arith.select %[[V7]], %[[C8]], %[[V4]] : f32
// CHECK-NEXT: fuseops.yield %[[V9]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V10:.+]] = fuseops.pointwise (%[[ARG2]] = %[[V1]]) : (tensor<4x64xbf16>) -> tensor<4x64xf8E4M3FN> {
// CHECK-NEXT: fuseops.yield %[[ARG2]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V10]] : tensor<4x64xf8E4M3FN>
func.func @to_e4m3(%x: !torch.vtensor<[4,64],bf16>) -> !torch.vtensor<[4,64],f8E4M3FN> {
  %int24 = torch.constant.int 24
  %0 = torch.prims.convert_element_type %x, %int24 : !torch.vtensor<[4,64],bf16>, !torch.int -> !torch.vtensor<[4,64],f8E4M3FN>
  return %0 : !torch.vtensor<[4,64],f8E4M3FN>
}

// -----

// In f8E5M2 it's infinity, which bf16 holds as well.
// CHECK-LABEL: fuseops.fusible @through_e5m2
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x64xf32>) -> tensor<4x64xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]]) : (tensor<4x64xf32>) -> tensor<4x64xbf16> {
// CHECK-NEXT: %[[V3:.+]] = arith.truncf %[[ARG2]] : f32 to f8E5M2
// CHECK-NEXT: %[[V4:.+]] = arith.extf %[[V3]] : f8E5M2 to f32
// CHECK-NEXT: %[[V5:.+]] = math.absf %[[ARG2]] : f32
// CHECK-NEXT: %[[C6:.+]] = arith.constant 6.144000e+04 : f32
// CHECK-NEXT: %[[V7:.+]] = arith.cmpf oge, %[[V5]], %[[C6]] : f32
// CHECK-NEXT: %[[C8:.+]] = arith.constant 0x7F800000 : f32
// CHECK-NEXT: %[[V9:.+]] = math.copysign %[[C8]], %[[ARG2]] : f32
// CHECK-NEXT: %[[V10:.+]] = arith.select %[[V7]], %[[V9]], %[[V4]] : f32
// CHECK-NEXT: fuseops.yield %[[V10]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V11:.+]] = fuseops.cast %[[V1]] : tensor<4x64xbf16> -> tensor<4x64xf32>
// CHECK-NEXT: fuseops.return %[[V11]] : tensor<4x64xf32>
func.func @through_e5m2(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %int23 = torch.constant.int 23
  %int6 = torch.constant.int 6
  %0 = torch.prims.convert_element_type %x, %int23 : !torch.vtensor<[4,64],f32>, !torch.int -> !torch.vtensor<[4,64],f8E5M2>
  %1 = torch.prims.convert_element_type %0, %int6 : !torch.vtensor<[4,64],f8E5M2>, !torch.int -> !torch.vtensor<[4,64],f32>
  return %1 : !torch.vtensor<[4,64],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @scaled_mm
// CHECK-SAME: (%[[ARG0:.+]]: tensor<16x32xf8E4M3FN>, %[[ARG1:.+]]: tensor<32x8xf8E5M2>, %[[ARG2:.+]]: tensor<1xf32>, %[[ARG3:.+]]: tensor<f32>, %[[ARG4:.+]]: tensor<8xbf16>) -> tensor<16x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V5:.+]] = fuseops.pointwise (%[[ARG6:.+]] = %[[ARG0]]) : (tensor<16x32xf8E4M3FN>) -> tensor<16x32xbf16> {
// CHECK-NEXT: fuseops.yield %[[ARG6]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V7:.+]] = fuseops.pointwise (%[[ARG6]] = %[[ARG1]]) : (tensor<32x8xf8E5M2>) -> tensor<32x8xbf16> {
// CHECK-NEXT: fuseops.yield %[[ARG6]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V8:.+]] = fuseops.reshape %[[ARG2]] : tensor<1xf32> -> tensor<f32>
// CHECK-NEXT: %[[V9:.+]] = fuseops.matmul %[[V5]], %[[V7]] : tensor<16x32xbf16>, tensor<32x8xbf16> -> tensor<16x8xf32>
// CHECK-NEXT: %[[V10:.+]] = fuseops.pointwise (%[[ARG6]] = %[[V9]], %[[ARG11:.+]] = %[[V8]], %[[ARG12:.+]] = %[[ARG3]], %[[ARG13:.+]] = %[[ARG4]]) : (tensor<16x8xf32>, tensor<f32>, tensor<f32>, tensor<8xbf16>) -> tensor<16x8xbf16> {
// CHECK-NEXT: %[[V14:.+]] = arith.mulf %[[ARG6]], %[[ARG11]] : f32
// CHECK-NEXT: %[[V15:.+]] = arith.mulf %[[V14]], %[[ARG12]] : f32
// CHECK-NEXT: %[[V16:.+]] = arith.addf %[[V15]], %[[ARG13]] : f32
// CHECK-NEXT: fuseops.yield %[[V16]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V10]] : tensor<16x8xbf16>
func.func @scaled_mm(%a: !torch.vtensor<[16,32],f8E4M3FN>, %b: !torch.vtensor<[32,8],f8E5M2>, %s: !torch.vtensor<[1],f32>, %t: !torch.vtensor<[],f32>, %c: !torch.vtensor<[8],bf16>) -> !torch.vtensor<[16,8],bf16> {
  %none = torch.constant.none
  %int15 = torch.constant.int 15
  %false = torch.constant.bool false
  %0 = torch.aten._scaled_mm %a, %b, %s, %t, %c, %none, %int15, %false : !torch.vtensor<[16,32],f8E4M3FN>, !torch.vtensor<[32,8],f8E5M2>, !torch.vtensor<[1],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[8],bf16>, !torch.none, !torch.int, !torch.bool -> !torch.vtensor<[16,8],bf16>
  return %0 : !torch.vtensor<[16,8],bf16>
}

// -----

// CHECK-LABEL: fuseops.fusible @scales_of_rows_and_columns
// CHECK-SAME: (%[[ARG0:.+]]: tensor<16x32xf8E4M3FN>, %[[ARG1:.+]]: tensor<8x32xf8E4M3FN>, %[[ARG2:.+]]: tensor<16x1xf32>, %[[ARG3:.+]]: tensor<1x8xf32>) -> tensor<16x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V4:.+]] = fuseops.pointwise (%[[ARG5:.+]] = %[[ARG0]]) : (tensor<16x32xf8E4M3FN>) -> tensor<16x32xbf16> {
// CHECK-NEXT: fuseops.yield %[[ARG5]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V6:.+]] = fuseops.pointwise (%[[ARG5]] = %[[ARG1]]) : (tensor<8x32xf8E4M3FN>) -> tensor<8x32xbf16> {
// CHECK-NEXT: fuseops.yield %[[ARG5]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V7:.+]] = fuseops.matmul %[[V4]], %[[V6]] transpose_rhs : tensor<16x32xbf16>, tensor<8x32xbf16> -> tensor<16x8xf32>
// CHECK-NEXT: %[[V8:.+]] = fuseops.pointwise (%[[ARG5]] = %[[V7]], %[[ARG9:.+]] = %[[ARG2]], %[[ARG10:.+]] = %[[ARG3]]) : (tensor<16x8xf32>, tensor<16x1xf32>, tensor<1x8xf32>) -> tensor<16x8xf32> {
// CHECK-NEXT: %[[V11:.+]] = arith.mulf %[[ARG5]], %[[ARG9]] : f32
// CHECK-NEXT: %[[V12:.+]] = arith.mulf %[[V11]], %[[ARG10]] : f32
// CHECK-NEXT: fuseops.yield %[[V12]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V8]] : tensor<16x8xf32>
func.func @scales_of_rows_and_columns(%a: !torch.vtensor<[16,32],f8E4M3FN>, %b: !torch.vtensor<[8,32],f8E4M3FN>, %s: !torch.vtensor<[16,1],f32>, %t: !torch.vtensor<[1,8],f32>) -> !torch.vtensor<[16,8],f32> {
  %none = torch.constant.none
  %int6 = torch.constant.int 6
  %false = torch.constant.bool false
  %0 = torch.aten.t %b : !torch.vtensor<[8,32],f8E4M3FN> -> !torch.vtensor<[32,8],f8E4M3FN>
  %1 = torch.aten._scaled_mm %a, %0, %s, %t, %none, %none, %int6, %false : !torch.vtensor<[16,32],f8E4M3FN>, !torch.vtensor<[32,8],f8E4M3FN>, !torch.vtensor<[16,1],f32>, !torch.vtensor<[1,8],f32>, !torch.none, !torch.none, !torch.int, !torch.bool -> !torch.vtensor<[16,8],f32>
  return %1 : !torch.vtensor<[16,8],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @literal
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2xf32>) -> tensor<2xf8E4M3FN>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.constant dense<[1.000000e+00, -2.500000e-01]> : tensor<2xf8E4M3FN>
// CHECK-NEXT: %[[V2:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[V1]]) : (tensor<2xf8E4M3FN>) -> tensor<2xbf16> {
// CHECK-NEXT: fuseops.yield %[[ARG3]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V4:.+]] = fuseops.pointwise (%[[ARG3]] = %[[V2]]) : (tensor<2xbf16>) -> tensor<2xf8E4M3FN> {
// CHECK-NEXT: fuseops.yield %[[ARG3]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V4]] : tensor<2xf8E4M3FN>
func.func @literal(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f8E4M3FN> {
  %0 = torch.vtensor.literal(dense<[1.000000e+00, -2.500000e-01]> : tensor<2xf8E4M3FN>) : !torch.vtensor<[2],f8E4M3FN>
  return %0 : !torch.vtensor<[2],f8E4M3FN>
}
