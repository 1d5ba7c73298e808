// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// A stack of products is groups of rows with a matrix each.
// CHECK-LABEL: fuseops.fusible @stacks
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x32x64xf32>, %[[ARG1:.+]]: tensor<4x64x48xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reshape %[[ARG0]] : tensor<4x32x64xf32> -> tensor<128x64xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise () : () -> tensor<4xi64> {
// CHECK-NEXT: %[[C32_I64:.+]] = arith.constant 32 : i64
// CHECK-NEXT: fuseops.yield %[[C32_I64]] : i64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V2:.+]] = fuseops.grouped_matmul %[[V0]], %[[ARG1]] sizes(%[[V1]]) : tensor<128x64xf32>, tensor<4x64x48xf32>, tensor<4xi64> -> tensor<128x48xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reshape %[[V2]] : tensor<128x48xf32> -> tensor<4x32x48xf32>
// CHECK-NEXT: fuseops.return %[[V3]] : tensor<4x32x48xf32>
func.func @stacks(%a: !torch.vtensor<[4,32,64],f32>, %b: !torch.vtensor<[4,64,48],f32>) -> !torch.vtensor<[4,32,48],f32> {
  %0 = torch.aten.bmm %a, %b : !torch.vtensor<[4,32,64],f32>, !torch.vtensor<[4,64,48],f32> -> !torch.vtensor<[4,32,48],f32>
  return %0 : !torch.vtensor<[4,32,48],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @transposed_stacks
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x64x32xf32>, %[[ARG1:.+]]: tensor<4x64x48xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reshape %[[ARG0]] : tensor<4x64x32xf32> -> tensor<256x32xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[ARG1]] : tensor<4x64x48xf32> -> tensor<256x48xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.pointwise () : () -> tensor<4xi64> {
// CHECK-NEXT: %[[C64_I64:.+]] = arith.constant 64 : i64
// CHECK-NEXT: fuseops.yield %[[C64_I64]] : i64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V3:.+]] = fuseops.grouped_matmul %[[V0]], %[[V1]] sizes(%[[V2]]) transpose_lhs : tensor<256x32xf32>, tensor<256x48xf32>, tensor<4xi64> -> tensor<4x32x48xf32>
// CHECK-NEXT: fuseops.return %[[V3]] : tensor<4x32x48xf32>
func.func @transposed_stacks(%a: !torch.vtensor<[4,64,32],f32>, %b: !torch.vtensor<[4,64,48],f32>) -> !torch.vtensor<[4,32,48],f32> {
  %0 = torch.aten.mT %a : !torch.vtensor<[4,64,32],f32> -> !torch.vtensor<[4,32,64],f32>
  %1 = torch.aten.bmm %0, %b : !torch.vtensor<[4,32,64],f32>, !torch.vtensor<[4,64,48],f32> -> !torch.vtensor<[4,32,48],f32>
  return %1 : !torch.vtensor<[4,32,48],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @broadcast_stacks
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x1x8x64xf32>, %[[ARG1:.+]]: tensor<3x64x48xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.expand %[[ARG0]] : tensor<4x1x8x64xf32> -> tensor<4x3x8x64xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[V0]] : tensor<4x3x8x64xf32> -> tensor<12x8x64xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.expand %[[ARG1]] : tensor<3x64x48xf32> -> tensor<4x3x64x48xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reshape %[[V2]] : tensor<4x3x64x48xf32> -> tensor<12x64x48xf32>
// CHECK-NEXT: %[[V4:.+]] = fuseops.reshape %[[V1]] : tensor<12x8x64xf32> -> tensor<96x64xf32>
// CHECK-NEXT: %[[V5:.+]] = fuseops.pointwise () : () -> tensor<12xi64> {
// CHECK-NEXT: %[[C8_I64:.+]] = arith.constant 8 : i64
// CHECK-NEXT: fuseops.yield %[[C8_I64]] : i64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V6:.+]] = fuseops.grouped_matmul %[[V4]], %[[V3]] sizes(%[[V5]]) : tensor<96x64xf32>, tensor<12x64x48xf32>, tensor<12xi64> -> tensor<96x48xf32>
// CHECK-NEXT: %[[V7:.+]] = fuseops.reshape %[[V6]] : tensor<96x48xf32> -> tensor<4x3x8x48xf32>
// CHECK-NEXT: fuseops.return %[[V7]] : tensor<4x3x8x48xf32>
func.func @broadcast_stacks(%a: !torch.vtensor<[4,1,8,64],f32>, %b: !torch.vtensor<[3,64,48],f32>) -> !torch.vtensor<[4,3,8,48],f32> {
  %0 = torch.aten.matmul %a, %b : !torch.vtensor<[4,1,8,64],f32>, !torch.vtensor<[3,64,48],f32> -> !torch.vtensor<[4,3,8,48],f32>
  return %0 : !torch.vtensor<[4,3,8,48],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @vectors
// CHECK-SAME: (%[[ARG0:.+]]: tensor<32x64xf32>, %[[ARG1:.+]]: tensor<64xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reshape %[[ARG1]] : tensor<64xf32> -> tensor<64x1xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.matmul %[[ARG0]], %[[V0]] : tensor<32x64xf32>, tensor<64x1xf32> -> tensor<32x1xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[V1]] : tensor<32x1xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reshape %[[ARG1]] : tensor<64xf32> -> tensor<1x64xf32>
// CHECK-NEXT: %[[V4:.+]] = fuseops.reshape %[[ARG1]] : tensor<64xf32> -> tensor<64x1xf32>
// CHECK-NEXT: %[[V5:.+]] = fuseops.matmul %[[V3]], %[[V4]] : tensor<1x64xf32>, tensor<64x1xf32> -> tensor<1x1xf32>
// CHECK-NEXT: %[[V6:.+]] = fuseops.reshape %[[V5]] : tensor<1x1xf32> -> tensor<f32>
// CHECK-NEXT: fuseops.return %[[V2]], %[[V6]] : tensor<32xf32>, tensor<f32>
func.func @vectors(%a: !torch.vtensor<[32,64],f32>, %v: !torch.vtensor<[64],f32>) -> (!torch.vtensor<[32],f32>, !torch.vtensor<[],f32>) {
  %0 = torch.aten.mv %a, %v : !torch.vtensor<[32,64],f32>, !torch.vtensor<[64],f32> -> !torch.vtensor<[32],f32>
  %1 = torch.aten.dot %v, %v : !torch.vtensor<[64],f32>, !torch.vtensor<[64],f32> -> !torch.vtensor<[],f32>
  return %0, %1 : !torch.vtensor<[32],f32>, !torch.vtensor<[],f32>
}

// -----

// One rounding of the whole.
// CHECK-LABEL: fuseops.fusible @addmm
// CHECK-SAME: (%[[ARG0:.+]]: tensor<48xf32>, %[[ARG1:.+]]: tensor<32x64xf32>, %[[ARG2:.+]]: tensor<64x48xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.matmul %[[ARG1]], %[[ARG2]] : tensor<32x64xf32>, tensor<64x48xf32> -> tensor<32x48xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[V0]], %[[ARG4:.+]] = %[[ARG0]]) : (tensor<32x48xf32>, tensor<48xf32>) -> tensor<32x48xf32> {
// CHECK-NEXT: %[[CST:.+]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT: %[[V2:.+]] = arith.mulf %[[CST]], %[[ARG3]] : f32
// CHECK-NEXT: %[[CST_0:.+]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: %[[V3:.+]] = arith.mulf %[[CST_0]], %[[ARG4]] : f32
// CHECK-NEXT: %[[V4:.+]] = arith.addf %[[V3]], %[[V2]] : f32
// CHECK-NEXT: fuseops.yield %[[V4]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V1]] : tensor<32x48xf32>
func.func @addmm(%c: !torch.vtensor<[48],f32>, %a: !torch.vtensor<[32,64],f32>, %b: !torch.vtensor<[64,48],f32>) -> !torch.vtensor<[32,48],f32> {
  %float0_5 = torch.constant.float 0.5
  %float2_0 = torch.constant.float 2.0
  %0 = torch.aten.addmm %c, %a, %b, %float0_5, %float2_0 : !torch.vtensor<[48],f32>, !torch.vtensor<[32,64],f32>, !torch.vtensor<[64,48],f32>, !torch.float, !torch.float -> !torch.vtensor<[32,48],f32>
  return %0 : !torch.vtensor<[32,48],f32>
}

// -----

// A factor of 0 keeps even NaN out.
// CHECK-LABEL: fuseops.fusible @addmm_without_addend
// CHECK-SAME: (%[[ARG0:.+]]: tensor<48xf32>, %[[ARG1:.+]]: tensor<32x64xf32>, %[[ARG2:.+]]: tensor<64x48xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.matmul %[[ARG1]], %[[ARG2]] : tensor<32x64xf32>, tensor<64x48xf32> -> tensor<32x48xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[V0]]) : (tensor<32x48xf32>) -> tensor<32x48xf32> {
// CHECK-NEXT: %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[V2:.+]] = arith.mulf %[[CST]], %[[ARG3]] : f32
// CHECK-NEXT: fuseops.yield %[[V2]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V1]] : tensor<32x48xf32>
func.func @addmm_without_addend(%c: !torch.vtensor<[48],f32>, %a: !torch.vtensor<[32,64],f32>, %b: !torch.vtensor<[64,48],f32>) -> !torch.vtensor<[32,48],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %0 = torch.aten.addmm %c, %a, %b, %int0, %int1 : !torch.vtensor<[48],f32>, !torch.vtensor<[32,64],f32>, !torch.vtensor<[64,48],f32>, !torch.int, !torch.int -> !torch.vtensor<[32,48],f32>
  return %0 : !torch.vtensor<[32,48],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @grouped
// CHECK-SAME: (%[[ARG0:.+]]: tensor<64x32xbf16>, %[[ARG1:.+]]: tensor<4x32x48xbf16>, %[[ARG2:.+]]: tensor<4xi32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG2]]) : (tensor<4xi32>) -> tensor<4xi64> {
// CHECK-NEXT: %[[V6:.+]] = arith.extsi %[[ARG3]] : i32 to i64
// CHECK-NEXT: fuseops.yield %[[V6]] : i64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise () : () -> tensor<1xi64> {
// CHECK-NEXT: %[[C0_I64:.+]] = arith.constant 0 : i64
// CHECK-NEXT: fuseops.yield %[[C0_I64]] : i64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V2:.+]] = fuseops.slice %[[V0]] dim(0) offset(0) : tensor<4xi64> -> tensor<3xi64>
// CHECK-NEXT: %[[V3:.+]] = fuseops.concat %[[V1]], %[[V2]] dim(0) : (tensor<1xi64>, tensor<3xi64>) -> tensor<4xi64>
// CHECK-NEXT: %[[V4:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[V0]], %[[ARG4:.+]] = %[[V3]]) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64> {
// CHECK-NEXT: %[[V6:.+]] = arith.subi %[[ARG3]], %[[ARG4]] : i64
// CHECK-NEXT: fuseops.yield %[[V6]] : i64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V5:.+]] = fuseops.grouped_matmul %[[ARG0]], %[[ARG1]] sizes(%[[V4]]) : tensor<64x32xbf16>, tensor<4x32x48xbf16>, tensor<4xi64> -> tensor<64x48xbf16>
// CHECK-NEXT: fuseops.return %[[V5]] : tensor<64x48xbf16>
func.func @grouped(%x: !torch.vtensor<[64,32],bf16>, %w: !torch.vtensor<[4,32,48],bf16>, %o: !torch.vtensor<[4],si32>) -> !torch.vtensor<[64,48],bf16> {
  %none = torch.constant.none
  %9 = torch.operator "torch.aten._grouped_mm"(%x, %w, %o, %none, %none) : (!torch.vtensor<[64,32],bf16>, !torch.vtensor<[4,32,48],bf16>, !torch.vtensor<[4],si32>, !torch.none, !torch.none) -> !torch.vtensor<[64,48],bf16>
  return %9 : !torch.vtensor<[64,48],bf16>
}
