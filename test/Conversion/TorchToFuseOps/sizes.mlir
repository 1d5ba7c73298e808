// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// Flattening makes the symbolic size 16 times as large: it stays two dimensions,
// which the product takes as they are.
// CHECK-LABEL: fuseops.fusible @flattened
// CHECK-SAME: (%[[ARG0:.+]]: tensor<?x16x64xf32>, %[[ARG1:.+]]: tensor<128x64xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.matmul %[[ARG0]], %[[ARG1]] transpose_rhs : tensor<?x16x64xf32>, tensor<128x64xf32> -> tensor<?x16x128xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.relu %[[V0]] : tensor<?x16x128xf32>
// CHECK-NEXT: fuseops.return %[[V1]] : tensor<?x16x128xf32>
func.func @flattened(%x: !torch.vtensor<[?,16,64],f32>, %w: !torch.vtensor<[128,64],f32>) -> !torch.vtensor<[?,16,128],f32> {
  %int-1 = torch.constant.int -1
  %int64 = torch.constant.int 64
  %int16 = torch.constant.int 16
  %int128 = torch.constant.int 128
  %l0 = torch.prim.ListConstruct %int-1, %int64 : (!torch.int, !torch.int) -> !torch.list<int>
  %1 = torch.aten.view %x, %l0 : !torch.vtensor<[?,16,64],f32>, !torch.list<int> -> !torch.vtensor<[?,64],f32>
  %2 = torch.aten.t %w : !torch.vtensor<[128,64],f32> -> !torch.vtensor<[64,128],f32>
  %3 = torch.aten.mm %1, %2 : !torch.vtensor<[?,64],f32>, !torch.vtensor<[64,128],f32> -> !torch.vtensor<[?,128],f32>
  %4 = torch.aten.relu %3 : !torch.vtensor<[?,128],f32> -> !torch.vtensor<[?,128],f32>
  %l5 = torch.prim.ListConstruct %int-1, %int16, %int128 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %6 = torch.aten.view %4, %l5 : !torch.vtensor<[?,128],f32>, !torch.list<int> -> !torch.vtensor<[?,16,128],f32>
  return %6 : !torch.vtensor<[?,16,128],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @flattened_weight_gradient
// CHECK-SAME: (%[[ARG0:.+]]: tensor<?x16x32xf32>, %[[ARG1:.+]]: tensor<?x16x64xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.matmul %[[ARG0]], %[[ARG1]] transpose_lhs : tensor<?x16x32xf32>, tensor<?x16x64xf32> -> tensor<32x64xf32>
// CHECK-NEXT: fuseops.return %[[V0]] : tensor<32x64xf32>
func.func @flattened_weight_gradient(%dy: !torch.vtensor<[?,16,32],f32>, %x: !torch.vtensor<[?,16,64],f32>) -> !torch.vtensor<[32,64],f32> {
  %int-1 = torch.constant.int -1
  %int32 = torch.constant.int 32
  %int64 = torch.constant.int 64
  %l0 = torch.prim.ListConstruct %int-1, %int32 : (!torch.int, !torch.int) -> !torch.list<int>
  %1 = torch.aten.view %dy, %l0 : !torch.vtensor<[?,16,32],f32>, !torch.list<int> -> !torch.vtensor<[?,32],f32>
  %l2 = torch.prim.ListConstruct %int-1, %int64 : (!torch.int, !torch.int) -> !torch.list<int>
  %3 = torch.aten.view %x, %l2 : !torch.vtensor<[?,16,64],f32>, !torch.list<int> -> !torch.vtensor<[?,64],f32>
  %4 = torch.aten.t %1 : !torch.vtensor<[?,32],f32> -> !torch.vtensor<[32,?],f32>
  %5 = torch.aten.mm %4, %3 : !torch.vtensor<[32,?],f32>, !torch.vtensor<[?,64],f32> -> !torch.vtensor<[32,64],f32>
  return %5 : !torch.vtensor<[32,64],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @flattened_sum
// CHECK-SAME: (%[[ARG0:.+]]: tensor<?x16x64xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reduce_rows sum %[[ARG0]] : tensor<?x16x64xf32> -> tensor<64xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[V0]] : tensor<64xf32> -> tensor<1x1x64xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[V1]] : tensor<1x1x64xf32> -> tensor<64xf32>
// CHECK-NEXT: fuseops.return %[[V2]] : tensor<64xf32>
func.func @flattened_sum(%x: !torch.vtensor<[?,16,64],f32>) -> !torch.vtensor<[64],f32> {
  %int-1 = torch.constant.int -1
  %int64 = torch.constant.int 64
  %int0 = torch.constant.int 0
  %false = torch.constant.bool false
  %none = torch.constant.none
  %l0 = torch.prim.ListConstruct %int-1, %int64 : (!torch.int, !torch.int) -> !torch.list<int>
  %1 = torch.aten.view %x, %l0 : !torch.vtensor<[?,16,64],f32>, !torch.list<int> -> !torch.vtensor<[?,64],f32>
  %l2 = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
  %3 = torch.aten.sum.dim_IntList %1, %l2, %false, %none : !torch.vtensor<[?,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[64],f32>
  return %3 : !torch.vtensor<[64],f32>
}

// -----

// The size is counted where something computes with it.
// CHECK-LABEL: fuseops.fusible @size_as_number
// CHECK-SAME: (%[[ARG0:.+]]: tensor<?x64xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reduce_rows sum %[[ARG0]] : tensor<?x64xf32> -> tensor<64xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[V0]] : tensor<64xf32> -> tensor<1x64xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[V1]] : tensor<1x64xf32> -> tensor<64xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.pointwise () : () -> tensor<?x1xi64> {
// CHECK-NEXT: %[[C1_I64:.+]] = arith.constant 1 : i64
// CHECK-NEXT: fuseops.yield %[[C1_I64]] : i64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V4:.+]] = fuseops.reduce_rows sum %[[V3]] : tensor<?x1xi64> -> tensor<i64>
// CHECK-NEXT: %[[V5:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V4]]) : (tensor<i64>) -> tensor<i64> {
// CHECK-NEXT: %[[C0_I64:.+]] = arith.constant 0 : i64
// CHECK-NEXT: %[[C3_I64:.+]] = arith.constant 3 : i64
// CHECK-NEXT: %[[V7:.+]] = arith.muli %[[ARG1]], %[[C3_I64]] : i64
// CHECK-NEXT: %[[V8:.+]] = arith.addi %[[V7]], %[[C0_I64]] : i64
// CHECK-NEXT: fuseops.yield %[[V8]] : i64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V6:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V2]], %[[ARG2:.+]] = %[[V5]]) : (tensor<64xf32>, tensor<i64>) -> tensor<64xf32> {
// CHECK-NEXT: %[[V7:.+]] = arith.sitofp %[[ARG2]] : i64 to f32
// CHECK-NEXT: %[[V8:.+]] = arith.divf %[[ARG1]], %[[V7]] : f32
// CHECK-NEXT: fuseops.yield %[[V8]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V6]] : tensor<64xf32>
func.func @size_as_number(%x: !torch.vtensor<[?,64],f32>) -> !torch.vtensor<[64],f32> {
  %int0 = torch.constant.int 0
  %int3 = torch.constant.int 3
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.size.int %x, %int0 : !torch.vtensor<[?,64],f32>, !torch.int -> !torch.int
  %1 = torch.aten.mul.int %0, %int3 : !torch.int, !torch.int -> !torch.int
  %l2 = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
  %3 = torch.aten.sum.dim_IntList %x, %l2, %false, %none : !torch.vtensor<[?,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[64],f32>
  %4 = torch.aten.div.Scalar %3, %1 : !torch.vtensor<[64],f32>, !torch.int -> !torch.vtensor<[64],f32>
  return %4 : !torch.vtensor<[64],f32>
}

// -----

// Numbers are tensors of rank 0, among arguments and results too.
// CHECK-LABEL: fuseops.fusible @numbers
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x64xf32>, %[[ARG1:.+]]: tensor<i64>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]]) : (tensor<i64>) -> tensor<f32> {
// CHECK-NEXT: %[[V2:.+]] = arith.sitofp %[[ARG2]] : i64 to f32
// CHECK-NEXT: fuseops.yield %[[V2]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V1:.+]] = fuseops.mul %[[ARG0]], %[[V0]] : tensor<4x64xf32>, tensor<f32> -> tensor<4x64xf32>
// CHECK-NEXT: fuseops.return %[[V1]], %[[ARG1]] : tensor<4x64xf32>, tensor<i64>
func.func @numbers(%x: !torch.vtensor<[4,64],f32>, %n: !torch.int) -> (!torch.vtensor<[4,64],f32>, !torch.int) {
  %0 = torch.aten.mul.Scalar %x, %n : !torch.vtensor<[4,64],f32>, !torch.int -> !torch.vtensor<[4,64],f32>
  return %0, %n : !torch.vtensor<[4,64],f32>, !torch.int
}

// -----

// CHECK-LABEL: fuseops.fusible @item
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x64xf32>, %[[ARG1:.+]]: tensor<1xi64>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reshape %[[ARG1]] : tensor<1xi64> -> tensor<i64>
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[V0]]) : (tensor<i64>) -> tensor<f32> {
// CHECK-NEXT: %[[V3:.+]] = arith.sitofp %[[ARG2]] : i64 to f32
// CHECK-NEXT: fuseops.yield %[[V3]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V2:.+]] = fuseops.add %[[ARG0]], %[[V1]] : tensor<4x64xf32>, tensor<f32> -> tensor<4x64xf32>
// CHECK-NEXT: fuseops.return %[[V2]] : tensor<4x64xf32>
func.func @item(%x: !torch.vtensor<[4,64],f32>, %t: !torch.vtensor<[1],si64>) -> !torch.vtensor<[4,64],f32> {
  %int1 = torch.constant.int 1
  %0 = torch.aten.item %t : !torch.vtensor<[1],si64> -> !torch.int
  %1 = torch.aten.add.Scalar %x, %0, %int1 : !torch.vtensor<[4,64],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,64],f32>
  return %1 : !torch.vtensor<[4,64],f32>
}
