// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// CHECK-LABEL: fuseops.fusible @sums
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x3x4xbf16>, %[[ARG1:.+]]: tensor<4x8xi8>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reduce_columns sum %[[ARG0]] : tensor<2x3x4xbf16> -> tensor<2x3x1xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[V0]] : tensor<2x3x1xf32> -> tensor<2x3xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.reduce_rows sum %[[V1]] : tensor<2x3xf32> -> tensor<3xbf16>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reshape %[[V2]] : tensor<3xbf16> -> tensor<1x3x1xbf16>
// CHECK-NEXT: %[[V4:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]]) : (tensor<2x3x4xbf16>) -> tensor<2x3x4xf32> {
// CHECK-NEXT: fuseops.yield %[[ARG2]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V5:.+]] = fuseops.reduce_columns sum %[[V4]] : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
// CHECK-NEXT: %[[V6:.+]] = fuseops.reduce_rows sum %[[V5]] : tensor<2x3x1xf32> -> tensor<1xf32>
// CHECK-NEXT: %[[V7:.+]] = fuseops.reshape %[[V6]] : tensor<1xf32> -> tensor<1x1x1xf32>
// CHECK-NEXT: %[[V8:.+]] = fuseops.reshape %[[V7]] : tensor<1x1x1xf32> -> tensor<f32>
// CHECK-NEXT: %[[V9:.+]] = fuseops.reduce_columns sum %[[ARG1]] : tensor<4x8xi8> -> tensor<4x1xi64>
// CHECK-NEXT: %[[V10:.+]] = fuseops.reshape %[[V9]] : tensor<4x1xi64> -> tensor<4xi64>
// CHECK-NEXT: fuseops.return %[[V3]], %[[V8]], %[[V10]] : tensor<1x3x1xbf16>, tensor<f32>, tensor<4xi64>
func.func @sums(%x: !torch.vtensor<[2,3,4],bf16>, %i: !torch.vtensor<[4,8],si8>) -> (!torch.vtensor<[1,3,1],bf16>, !torch.vtensor<[],f32>, !torch.vtensor<[4],si64>) {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %true = torch.constant.bool true
  %none = torch.constant.none
  %int6 = torch.constant.int 6
  %int-1 = torch.constant.int -1
  %false = torch.constant.bool false
  %l0 = torch.prim.ListConstruct %int0, %int2 : (!torch.int, !torch.int) -> !torch.list<int>
  %1 = torch.aten.sum.dim_IntList %x, %l0, %true, %none : !torch.vtensor<[2,3,4],bf16>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,3,1],bf16>
  %2 = torch.aten.sum %x, %int6 : !torch.vtensor<[2,3,4],bf16>, !torch.int -> !torch.vtensor<[],f32>
  %l3 = torch.prim.ListConstruct %int-1 : (!torch.int) -> !torch.list<int>
  %4 = torch.aten.sum.dim_IntList %i, %l3, %false, %none : !torch.vtensor<[4,8],si8>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[4],si64>
  return %1, %2, %4 : !torch.vtensor<[1,3,1],bf16>, !torch.vtensor<[],f32>, !torch.vtensor<[4],si64>
}

// -----

// CHECK-LABEL: fuseops.fusible @means
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x3x4xbf16>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.permute %[[ARG0]] order[1, 0, 2] : tensor<2x3x4xbf16> -> tensor<3x2x4xbf16>
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[V0]] : tensor<3x2x4xbf16> -> tensor<3x8xbf16>
// CHECK-NEXT: %[[V2:.+]] = fuseops.reduce_rows sum %[[V1]] : tensor<3x8xbf16> -> tensor<8xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reshape %[[V2]] : tensor<8xf32> -> tensor<1x2x4xf32>
// CHECK-NEXT: %[[V4:.+]] = fuseops.reshape %[[V3]] : tensor<1x2x4xf32> -> tensor<2x1x4xf32>
// CHECK-NEXT: %[[V5:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V4]]) : (tensor<2x1x4xf32>) -> tensor<2x1x4xf32> {
// CHECK-NEXT: %[[CST:.+]] = arith.constant 3.000000e+00 : f32
// CHECK-NEXT: %[[V14:.+]] = arith.divf %[[ARG1]], %[[CST]] : f32
// CHECK-NEXT: fuseops.yield %[[V14]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V6:.+]] = fuseops.reshape %[[V5]] : tensor<2x1x4xf32> -> tensor<2x4xf32>
// CHECK-NEXT: %[[V7:.+]] = fuseops.cast %[[V6]] : tensor<2x4xf32> -> tensor<2x4xbf16>
// CHECK-NEXT: %[[V8:.+]] = fuseops.reduce_columns sum %[[ARG0]] : tensor<2x3x4xbf16> -> tensor<2x3x1xf32>
// CHECK-NEXT: %[[V9:.+]] = fuseops.reduce_rows sum %[[V8]] : tensor<2x3x1xf32> -> tensor<1xf32>
// CHECK-NEXT: %[[V10:.+]] = fuseops.reshape %[[V9]] : tensor<1xf32> -> tensor<1x1x1xf32>
// CHECK-NEXT: %[[V11:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V10]]) : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32> {
// CHECK-NEXT: %[[CST:.+]] = arith.constant 2.400000e+01 : f32
// CHECK-NEXT: %[[V14:.+]] = arith.divf %[[ARG1]], %[[CST]] : f32
// CHECK-NEXT: fuseops.yield %[[V14]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V12:.+]] = fuseops.reshape %[[V11]] : tensor<1x1x1xf32> -> tensor<f32>
// CHECK-NEXT: %[[V13:.+]] = fuseops.cast %[[V12]] : tensor<f32> -> tensor<bf16>
// CHECK-NEXT: fuseops.return %[[V7]], %[[V13]] : tensor<2x4xbf16>, tensor<bf16>
func.func @means(%x: !torch.vtensor<[2,3,4],bf16>) -> (!torch.vtensor<[2,4],bf16>, !torch.vtensor<[],bf16>) {
  %int1 = torch.constant.int 1
  %false = torch.constant.bool false
  %none = torch.constant.none
  %l0 = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
  %1 = torch.aten.mean.dim %x, %l0, %false, %none : !torch.vtensor<[2,3,4],bf16>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[2,4],bf16>
  %2 = torch.aten.mean %x, %none : !torch.vtensor<[2,3,4],bf16>, !torch.none -> !torch.vtensor<[],bf16>
  return %1, %2 : !torch.vtensor<[2,4],bf16>, !torch.vtensor<[],bf16>
}

// -----

// CHECK-LABEL: fuseops.fusible @mean_over_a_symbolic_size
// CHECK-SAME: (%[[ARG0:.+]]: tensor<?x64xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reduce_rows sum %[[ARG0]] : tensor<?x64xf32> -> tensor<64xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[V0]] : tensor<64xf32> -> tensor<1x64xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.pointwise () : () -> tensor<?x1xi64> {
// CHECK-NEXT: %[[C1_I64:.+]] = arith.constant 1 : i64
// CHECK-NEXT: fuseops.yield %[[C1_I64]] : i64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V3:.+]] = fuseops.reduce_rows sum %[[V2]] : tensor<?x1xi64> -> tensor<i64>
// CHECK-NEXT: %[[V4:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V3]]) : (tensor<i64>) -> tensor<i64> {
// CHECK-NEXT: %[[C0_I64:.+]] = arith.constant 0 : i64
// CHECK-NEXT: %[[C1_I64:.+]] = arith.constant 1 : i64
// CHECK-NEXT: %[[V7:.+]] = arith.muli %[[ARG1]], %[[C1_I64]] : i64
// CHECK-NEXT: %[[V8:.+]] = arith.addi %[[V7]], %[[C0_I64]] : i64
// CHECK-NEXT: fuseops.yield %[[V8]] : i64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V5:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V1]], %[[ARG2:.+]] = %[[V4]]) : (tensor<1x64xf32>, tensor<i64>) -> tensor<1x64xf32> {
// CHECK-NEXT: %[[V7:.+]] = arith.sitofp %[[ARG2]] : i64 to f32
// CHECK-NEXT: %[[V8:.+]] = arith.divf %[[ARG1]], %[[V7]] : f32
// CHECK-NEXT: fuseops.yield %[[V8]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V6:.+]] = fuseops.reshape %[[V5]] : tensor<1x64xf32> -> tensor<64xf32>
// CHECK-NEXT: fuseops.return %[[V6]] : tensor<64xf32>
func.func @mean_over_a_symbolic_size(%x: !torch.vtensor<[?,64],f32>) -> !torch.vtensor<[64],f32> {
  %int0 = torch.constant.int 0
  %false = torch.constant.bool false
  %none = torch.constant.none
  %l0 = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
  %1 = torch.aten.mean.dim %x, %l0, %false, %none : !torch.vtensor<[?,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[64],f32>
  return %1 : !torch.vtensor<[64],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @extremes
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x8x64xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reduce_columns max %[[ARG0]] : tensor<4x8x64xf32> -> tensor<4x8x1xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[V0]] : tensor<4x8x1xf32> -> tensor<4x8xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[ARG0]] : tensor<4x8x64xf32> -> tensor<4x512xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reduce_rows min %[[V2]] : tensor<4x512xf32> -> tensor<512xf32>
// CHECK-NEXT: %[[V4:.+]] = fuseops.reshape %[[V3]] : tensor<512xf32> -> tensor<1x8x64xf32>
// CHECK-NEXT: %[[V5:.+]] = fuseops.reshape %[[ARG0]] : tensor<4x8x64xf32> -> tensor<4x8x64x1xf32>
// CHECK-NEXT: %[[V6:.+]] = fuseops.reduce_rows max %[[V5]] : tensor<4x8x64x1xf32> -> tensor<1xf32>
// CHECK-NEXT: %[[V7:.+]] = fuseops.reshape %[[V6]] : tensor<1xf32> -> tensor<1x1x1xf32>
// CHECK-NEXT: %[[V8:.+]] = fuseops.reshape %[[V7]] : tensor<1x1x1xf32> -> tensor<f32>
// CHECK-NEXT: fuseops.return %[[V1]], %[[V4]], %[[V8]] : tensor<4x8xf32>, tensor<1x8x64xf32>, tensor<f32>
func.func @extremes(%x: !torch.vtensor<[4,8,64],f32>) -> (!torch.vtensor<[4,8],f32>, !torch.vtensor<[1,8,64],f32>, !torch.vtensor<[],f32>) {
  %int-1 = torch.constant.int -1
  %false = torch.constant.bool false
  %int0 = torch.constant.int 0
  %true = torch.constant.bool true
  %l0 = torch.prim.ListConstruct %int-1 : (!torch.int) -> !torch.list<int>
  %1 = torch.aten.amax %x, %l0, %false : !torch.vtensor<[4,8,64],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[4,8],f32>
  %l2 = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
  %3 = torch.aten.amin %x, %l2, %true : !torch.vtensor<[4,8,64],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[1,8,64],f32>
  %4 = torch.aten.max %x : !torch.vtensor<[4,8,64],f32> -> !torch.vtensor<[],f32>
  return %1, %3, %4 : !torch.vtensor<[4,8],f32>, !torch.vtensor<[1,8,64],f32>, !torch.vtensor<[],f32>
}

// -----

// All are where none is 0, also of no elements.
// CHECK-LABEL: fuseops.fusible @logical
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x8xi1>, %[[ARG1:.+]]: tensor<4x8xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reduce_columns sum %[[ARG0]] : tensor<4x8xi1> -> tensor<4x1xi64>
// CHECK-NEXT: %[[V1:.+]] = fuseops.reduce_rows sum %[[V0]] : tensor<4x1xi64> -> tensor<1xi1>
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[V1]] : tensor<1xi1> -> tensor<1x1xi1>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reshape %[[V2]] : tensor<1x1xi1> -> tensor<i1>
// CHECK-NEXT: %[[V4:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]]) : (tensor<4x8xf32>) -> tensor<4x8xi1> {
// CHECK-NEXT: %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V9:.+]] = arith.cmpf une, %[[ARG2]], %[[CST]] : f32
// CHECK-NEXT: fuseops.yield %[[V9]] : i1
// CHECK-NEXT: }
// CHECK-NEXT: %[[V5:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[V4]]) : (tensor<4x8xi1>) -> tensor<4x8xi1> {
// CHECK-NEXT: %[[TRUE:.+]] = arith.constant true
// CHECK-NEXT: %[[V9:.+]] = arith.xori %[[ARG2]], %[[TRUE]] : i1
// CHECK-NEXT: fuseops.yield %[[V9]] : i1
// CHECK-NEXT: }
// CHECK-NEXT: %[[V6:.+]] = fuseops.reduce_columns sum %[[V5]] : tensor<4x8xi1> -> tensor<4x1xi1>
// CHECK-NEXT: %[[V7:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[V6]]) : (tensor<4x1xi1>) -> tensor<4x1xi1> {
// CHECK-NEXT: %[[TRUE:.+]] = arith.constant true
// CHECK-NEXT: %[[V9:.+]] = arith.xori %[[ARG2]], %[[TRUE]] : i1
// CHECK-NEXT: fuseops.yield %[[V9]] : i1
// CHECK-NEXT: }
// CHECK-NEXT: %[[V8:.+]] = fuseops.reshape %[[V7]] : tensor<4x1xi1> -> tensor<4xi1>
// CHECK-NEXT: fuseops.return %[[V3]], %[[V8]] : tensor<i1>, tensor<4xi1>
func.func @logical(%m: !torch.vtensor<[4,8],i1>, %x: !torch.vtensor<[4,8],f32>) -> (!torch.vtensor<[],i1>, !torch.vtensor<[4],i1>) {
  %int1 = torch.constant.int 1
  %false = torch.constant.bool false
  %0 = torch.aten.any %m : !torch.vtensor<[4,8],i1> -> !torch.vtensor<[],i1>
  %1 = torch.aten.all.dim %x, %int1, %false : !torch.vtensor<[4,8],f32>, !torch.int, !torch.bool -> !torch.vtensor<[4],i1>
  return %0, %1 : !torch.vtensor<[],i1>, !torch.vtensor<[4],i1>
}

// -----

// The gradient of the values goes to the elements that the indices name: the
// values are sums of those.
// CHECK-LABEL: fuseops.fusible @maximum_with_index
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x64xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reduce_columns max %[[ARG0]] : tensor<4x64xf32> -> tensor<4x1xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise () : () -> tensor<1x64xi64> {
// CHECK-NEXT: %[[V9:.+]] = fuseops.linear_index : i64
// CHECK-NEXT: fuseops.yield %[[V9]] : i64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V2:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]], %[[ARG2:.+]] = %[[V0]], %[[ARG3:.+]] = %[[V1]]) : (tensor<4x64xf32>, tensor<4x1xf32>, tensor<1x64xi64>) -> tensor<4x64xi64> {
// CHECK-NEXT: %[[V9:.+]] = arith.cmpf one, %[[ARG1]], %[[ARG2]] : f32
// CHECK-NEXT: %[[V10:.+]] = arith.cmpf uno, %[[ARG1]], %[[ARG1]] : f32
// CHECK-NEXT: %[[V11:.+]] = arith.cmpf uno, %[[ARG2]], %[[ARG2]] : f32
// CHECK-NEXT: %[[V12:.+]] = arith.xori %[[V10]], %[[V11]] : i1
// CHECK-NEXT: %[[V13:.+]] = arith.ori %[[V9]], %[[V12]] : i1
// CHECK-NEXT: %[[TRUE:.+]] = arith.constant true
// CHECK-NEXT: %[[V14:.+]] = arith.xori %[[V13]], %[[TRUE]] : i1
// CHECK-NEXT: %[[C9223372036854775807_I64:.+]] = arith.constant 9223372036854775807 : i64
// CHECK-NEXT: %[[V15:.+]] = arith.select %[[V14]], %[[ARG3]], %[[C9223372036854775807_I64]] : i64
// CHECK-NEXT: fuseops.yield %[[V15]] : i64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V3:.+]] = fuseops.reduce_columns min %[[V2]] : tensor<4x64xi64> -> tensor<4x1xi64>
// CHECK-NEXT: %[[V4:.+]] = fuseops.reshape %[[V3]] : tensor<4x1xi64> -> tensor<4xi64>
// CHECK-NEXT: %[[V5:.+]] = fuseops.pointwise () : () -> tensor<1x64xi64> {
// CHECK-NEXT: %[[V9:.+]] = fuseops.linear_index : i64
// CHECK-NEXT: fuseops.yield %[[V9]] : i64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V6:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]], %[[ARG2:.+]] = %[[V3]], %[[ARG3:.+]] = %[[V5]]) : (tensor<4x64xf32>, tensor<4x1xi64>, tensor<1x64xi64>) -> tensor<4x64xf32> {
// CHECK-NEXT: %[[V9:.+]] = arith.cmpi eq, %[[ARG2]], %[[ARG3]] : i64
// CHECK-NEXT: %[[CST:.+]] = arith.constant -0.000000e+00 : f32
// CHECK-NEXT: %[[V10:.+]] = arith.select %[[V9]], %[[ARG1]], %[[CST]] : f32
// CHECK-NEXT: fuseops.yield %[[V10]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V7:.+]] = fuseops.reduce_columns sum %[[V6]] : tensor<4x64xf32> -> tensor<4x1xf32>
// CHECK-NEXT: %[[V8:.+]] = fuseops.reshape %[[V7]] : tensor<4x1xf32> -> tensor<4xf32>
// CHECK-NEXT: fuseops.return %[[V8]], %[[V4]] : tensor<4xf32>, tensor<4xi64>
func.func @maximum_with_index(%x: !torch.vtensor<[4,64],f32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>) {
  %int-1 = torch.constant.int -1
  %false = torch.constant.bool false
  %0, %1 = torch.aten.max.dim %x, %int-1, %false : !torch.vtensor<[4,64],f32>, !torch.int, !torch.bool -> !torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>
  return %0, %1 : !torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>
}

// -----

// A product is a tree of halves.
// CHECK-LABEL: fuseops.fusible @product
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x6xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(0) : tensor<4x6xf32> -> tensor<4x3xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(3) : tensor<4x6xf32> -> tensor<4x3xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V0]], %[[ARG2:.+]] = %[[V1]]) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> {
// CHECK-NEXT: %[[V12:.+]] = arith.mulf %[[ARG1]], %[[ARG2]] : f32
// CHECK-NEXT: fuseops.yield %[[V12]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V3:.+]] = fuseops.slice %[[V2]] dim(1) offset(0) : tensor<4x3xf32> -> tensor<4x1xf32>
// CHECK-NEXT: %[[V4:.+]] = fuseops.slice %[[V2]] dim(1) offset(1) : tensor<4x3xf32> -> tensor<4x1xf32>
// CHECK-NEXT: %[[V5:.+]] = fuseops.slice %[[V2]] dim(1) offset(2) : tensor<4x3xf32> -> tensor<4x1xf32>
// CHECK-NEXT: %[[V6:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V3]], %[[ARG2:.+]] = %[[V4]]) : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32> {
// CHECK-NEXT: %[[V12:.+]] = arith.mulf %[[ARG1]], %[[ARG2]] : f32
// CHECK-NEXT: fuseops.yield %[[V12]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V7:.+]] = fuseops.concat %[[V6]], %[[V5]] dim(1) : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: %[[V8:.+]] = fuseops.slice %[[V7]] dim(1) offset(0) : tensor<4x2xf32> -> tensor<4x1xf32>
// CHECK-NEXT: %[[V9:.+]] = fuseops.slice %[[V7]] dim(1) offset(1) : tensor<4x2xf32> -> tensor<4x1xf32>
// CHECK-NEXT: %[[V10:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V8]], %[[ARG2:.+]] = %[[V9]]) : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32> {
// CHECK-NEXT: %[[V12:.+]] = arith.mulf %[[ARG1]], %[[ARG2]] : f32
// CHECK-NEXT: fuseops.yield %[[V12]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V11:.+]] = fuseops.reshape %[[V10]] : tensor<4x1xf32> -> tensor<4xf32>
// CHECK-NEXT: fuseops.return %[[V11]] : tensor<4xf32>
func.func @product(%x: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4],f32> {
  %int1 = torch.constant.int 1
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.prod.dim_int %x, %int1, %false, %none : !torch.vtensor<[4,6],f32>, !torch.int, !torch.bool, !torch.none -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// -----

// One running sum of that many terms would lose bits.
// CHECK-LABEL: fuseops.fusible @long_rows_in_parts
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x131072xf32>) -> tensor<2xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[ARG0]] : tensor<2x131072xf32> -> tensor<2x32x4096xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.reduce_columns sum %[[V1]] : tensor<2x32x4096xf32> -> tensor<2x32x1xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reshape %[[V2]] : tensor<2x32x1xf32> -> tensor<2x32xf32>
// CHECK-NEXT: %[[V4:.+]] = fuseops.reduce_columns sum %[[V3]] : tensor<2x32xf32> -> tensor<2x1xf32>
// CHECK-NEXT: %[[V5:.+]] = fuseops.reshape %[[V4]] : tensor<2x1xf32> -> tensor<2xf32>
// CHECK-NEXT: fuseops.return %[[V5]] : tensor<2xf32>
func.func @long_rows_in_parts(%x: !torch.vtensor<[2,131072],f32>) -> !torch.vtensor<[2],f32> {
  %int-1 = torch.constant.int -1
  %l = torch.prim.ListConstruct %int-1 : (!torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.sum.dim_IntList %x, %l, %false, %none : !torch.vtensor<[2,131072],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}
