// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// CHECK-LABEL: fuseops.fusible @ranges
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.pointwise () : () -> tensor<4xi64> {
// CHECK-NEXT: %[[V2:.+]] = fuseops.linear_index : i64
// CHECK-NEXT: %[[C0_I64:.+]] = arith.constant 0 : i64
// CHECK-NEXT: %[[C1_I64:.+]] = arith.constant 1 : i64
// CHECK-NEXT: %[[V3:.+]] = arith.muli %[[V2]], %[[C1_I64]] : i64
// CHECK-NEXT: %[[V4:.+]] = arith.addi %[[C0_I64]], %[[V3]] : i64
// CHECK-NEXT: fuseops.yield %[[V4]] : i64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise () : () -> tensor<4xf32> {
// CHECK-NEXT: %[[V2:.+]] = fuseops.linear_index : i64
// CHECK-NEXT: %[[V3:.+]] = arith.sitofp %[[V2]] : i64 to f64
// CHECK-NEXT: %[[CST:.+]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[CST_0:.+]] = arith.constant 2.500000e-01 : f64
// CHECK-NEXT: %[[V4:.+]] = arith.mulf %[[V3]], %[[CST_0]] : f64
// CHECK-NEXT: %[[V5:.+]] = arith.addf %[[CST]], %[[V4]] : f64
// CHECK-NEXT: %[[V6:.+]] = arith.truncf %[[V5]] : f64 to f32
// CHECK-NEXT: fuseops.yield %[[V6]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V0]], %[[V1]] : tensor<4xi64>, tensor<4xf32>
func.func @ranges(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],si64>, !torch.vtensor<[4],f32>) {
  %int4 = torch.constant.int 4
  %none = torch.constant.none
  %int1 = torch.constant.int 1
  %float2_0 = torch.constant.float 2.0
  %float0_25 = torch.constant.float 0.25
  %0 = torch.aten.arange %int4, %none, %none, %none, %none : !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[4],si64>
  %1 = torch.aten.arange.start_step %int1, %float2_0, %float0_25, %none, %none, %none, %none : !torch.int, !torch.float, !torch.float, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[4],f32>
  return %0, %1 : !torch.vtensor<[4],si64>, !torch.vtensor<[4],f32>
}

// -----

// A number in every element is a constant of what reads it.
// CHECK-LABEL: fuseops.fusible @filled
// CHECK-SAME: (%[[ARG0:.+]]: tensor<?x4xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.scale %[[ARG0]] by(2.500000e+00) : tensor<?x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise () : () -> tensor<?x4xf32> {
// CHECK-NEXT: %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: fuseops.yield %[[CST]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V0]], %[[V1]] : tensor<?x4xf32>, tensor<?x4xf32>
func.func @filled(%x: !torch.vtensor<[?,4],f32>) -> (!torch.vtensor<[?,4],f32>, !torch.vtensor<[?,4],f32>) {
  %int0 = torch.constant.int 0
  %int4 = torch.constant.int 4
  %float2_5 = torch.constant.float 2.5
  %none = torch.constant.none
  %0 = torch.aten.size.int %x, %int0 : !torch.vtensor<[?,4],f32>, !torch.int -> !torch.int
  %l1 = torch.prim.ListConstruct %0, %int4 : (!torch.int, !torch.int) -> !torch.list<int>
  %2 = torch.aten.full %l1, %float2_5, %none, %none, %none, %none : !torch.list<int>, !torch.float, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[?,4],f32>
  %3 = torch.aten.mul.Tensor %x, %2 : !torch.vtensor<[?,4],f32>, !torch.vtensor<[?,4],f32> -> !torch.vtensor<[?,4],f32>
  %4 = torch.aten.ones_like %x, %none, %none, %none, %none, %none : !torch.vtensor<[?,4],f32>, !torch.none, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[?,4],f32>
  return %3, %4 : !torch.vtensor<[?,4],f32>, !torch.vtensor<[?,4],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @triangle
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x4x8xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
// CHECK-NEXT: %[[V1:.+]] = fuseops.linear_index : i64
// CHECK-NEXT: %[[V2:.+]] = fuseops.column_index : i64
// CHECK-NEXT: %[[C8_I64:.+]] = arith.constant 8 : i64
// CHECK-NEXT: %[[V3:.+]] = arith.divsi %[[V1]], %[[C8_I64]] : i64
// CHECK-NEXT: %[[C4_I64:.+]] = arith.constant 4 : i64
// CHECK-NEXT: %[[V4:.+]] = arith.remsi %[[V3]], %[[C4_I64]] : i64
// CHECK-NEXT: %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[C_1_I64:.+]] = arith.constant -1 : i64
// CHECK-NEXT: %[[V5:.+]] = arith.addi %[[V4]], %[[C_1_I64]] : i64
// CHECK-NEXT: %[[V6:.+]] = arith.cmpi sle, %[[V2]], %[[V5]] : i64
// CHECK-NEXT: %[[V7:.+]] = arith.select %[[V6]], %[[ARG1]], %[[CST]] : f32
// CHECK-NEXT: fuseops.yield %[[V7]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V0]] : tensor<2x4x8xf32>
func.func @triangle(%x: !torch.vtensor<[2,4,8],f32>) -> !torch.vtensor<[2,4,8],f32> {
  %int-1 = torch.constant.int -1
  %0 = torch.aten.tril %x, %int-1 : !torch.vtensor<[2,4,8],f32>, !torch.int -> !torch.vtensor<[2,4,8],f32>
  return %0 : !torch.vtensor<[2,4,8],f32>
}

// -----

// Of a matrix without elements: itself.
// CHECK-LABEL: fuseops.fusible @empty_triangle
// CHECK-SAME: (%[[X:.+]]: tensor<5x0xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: fuseops.return %[[X]] : tensor<5x0xf32>
func.func @empty_triangle(%x: !torch.vtensor<[5,0],f32>) -> !torch.vtensor<[5,0],f32> {
  %int0 = torch.constant.int 0
  %0 = torch.aten.triu %x, %int0 : !torch.vtensor<[5,0],f32>, !torch.int -> !torch.vtensor<[5,0],f32>
  return %0 : !torch.vtensor<[5,0],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @identity_matrix
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.pointwise () : () -> tensor<3x3xf32> {
// CHECK-NEXT: %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: fuseops.yield %[[CST]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise (%[[ARG0:.+]] = %[[V0]]) : (tensor<3x3xf32>) -> tensor<3x3xf32> {
// CHECK-NEXT: %[[V2:.+]] = fuseops.linear_index : i64
// CHECK-NEXT: %[[V3:.+]] = fuseops.column_index : i64
// CHECK-NEXT: %[[C3_I64:.+]] = arith.constant 3 : i64
// CHECK-NEXT: %[[V4:.+]] = arith.divsi %[[V2]], %[[C3_I64]] : i64
// CHECK-NEXT: %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V5:.+]] = arith.cmpi eq, %[[V4]], %[[V3]] : i64
// CHECK-NEXT: %[[V6:.+]] = arith.select %[[V5]], %[[ARG0]], %[[CST]] : f32
// CHECK-NEXT: fuseops.yield %[[V6]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V1]] : tensor<3x3xf32>
func.func @identity_matrix() -> !torch.vtensor<[3,3],f32> {
  %int3 = torch.constant.int 3
  %none = torch.constant.none
  %0 = torch.aten.eye %int3, %none, %none, %none, %none : !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[3,3],f32>
  return %0 : !torch.vtensor<[3,3],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @one_hot
// CHECK-SAME: (%[[ARG0:.+]]: tensor<5xi64>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reshape %[[ARG0]] : tensor<5xi64> -> tensor<5x1xi64>
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V0]]) : (tensor<5x1xi64>) -> tensor<5x4xi64> {
// CHECK-NEXT: %[[V2:.+]] = fuseops.column_index : i64
// CHECK-NEXT: %[[V3:.+]] = arith.cmpi eq, %[[V2]], %[[ARG1]] : i64
// CHECK-NEXT: %[[V4:.+]] = arith.extui %[[V3]] : i1 to i64
// CHECK-NEXT: fuseops.yield %[[V4]] : i64
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V1]] : tensor<5x4xi64>
func.func @one_hot(%i: !torch.vtensor<[5],si64>) -> !torch.vtensor<[5,4],si64> {
  %int4 = torch.constant.int 4
  %0 = torch.aten.one_hot %i, %int4 : !torch.vtensor<[5],si64>, !torch.int -> !torch.vtensor<[5,4],si64>
  return %0 : !torch.vtensor<[5,4],si64>
}
