// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// CHECK-LABEL: fuseops.fusible @matrix_product
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x8x64xf32>, %[[ARG1:.+]]: tensor<48x64xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reshape %[[ARG0]] : tensor<4x8x64xf32> -> tensor<32x64xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.matmul %[[V0]], %[[ARG1]] transpose_rhs : tensor<32x64xf32>, tensor<48x64xf32> -> tensor<32x48xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[V1]] : tensor<32x48xf32> -> tensor<4x8x48xf32>
// CHECK-NEXT: fuseops.return %[[V2]] : tensor<4x8x48xf32>
func.func @matrix_product(%x: !torch.vtensor<[4,8,64],f32>, %w: !torch.vtensor<[48,64],f32>) -> !torch.vtensor<[4,8,48],f32> {
  %str0 = torch.constant.str "bsh,oh->bso"
  %none = torch.constant.none
  %l0 = torch.prim.ListConstruct %x, %w : (!torch.vtensor<[4,8,64],f32>, !torch.vtensor<[48,64],f32>) -> !torch.list<vtensor>
  %1 = torch.aten.einsum %str0, %l0, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[4,8,48],f32>
  return %1 : !torch.vtensor<[4,8,48],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @sum_over_letters
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<8xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reduce_rows sum %[[ARG0]] : tensor<4x8xf32> -> tensor<8xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[V0]] : tensor<8xf32> -> tensor<1x8xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[V1]] : tensor<1x8xf32> -> tensor<8xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reshape %[[V2]] : tensor<8xf32> -> tensor<1x8xf32>
// CHECK-NEXT: %[[V4:.+]] = fuseops.reshape %[[ARG1]] : tensor<8xf32> -> tensor<8x1xf32>
// CHECK-NEXT: %[[V5:.+]] = fuseops.matmul %[[V3]], %[[V4]] : tensor<1x8xf32>, tensor<8x1xf32> -> tensor<1x1xf32>
// CHECK-NEXT: %[[V6:.+]] = fuseops.reshape %[[V5]] : tensor<1x1xf32> -> tensor<f32>
// CHECK-NEXT: fuseops.return %[[V6]] : tensor<f32>
func.func @sum_over_letters(%x: !torch.vtensor<[4,8],f32>, %y: !torch.vtensor<[8],f32>) -> !torch.vtensor<[],f32> {
  %str0 = torch.constant.str "ij,j->"
  %none = torch.constant.none
  %l0 = torch.prim.ListConstruct %x, %y : (!torch.vtensor<[4,8],f32>, !torch.vtensor<[8],f32>) -> !torch.list<vtensor>
  %1 = torch.aten.einsum %str0, %l0, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[],f32>
  return %1 : !torch.vtensor<[],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @transpose_without_arrow
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x8xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.permute %[[ARG0]] order[1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
// CHECK-NEXT: fuseops.return %[[V0]] : tensor<8x4xf32>
func.func @transpose_without_arrow(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[8,4],f32> {
  %str0 = torch.constant.str "ba"
  %none = torch.constant.none
  %l0 = torch.prim.ListConstruct %x : (!torch.vtensor<[4,8],f32>) -> !torch.list<vtensor>
  %1 = torch.aten.einsum %str0, %l0, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[8,4],f32>
  return %1 : !torch.vtensor<[8,4],f32>
}

// -----

// The dimensions of `...` broadcast, and come first without an arrow.
// CHECK-LABEL: fuseops.fusible @ellipsis
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x3x4x5xf32>, %[[ARG1:.+]]: tensor<5x6xf32>) -> tensor<2x3x6x4xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[ARG0]] : tensor<2x3x4x5xf32> -> tensor<24x5xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.matmul %[[V2]], %[[ARG1]] : tensor<24x5xf32>, tensor<5x6xf32> -> tensor<24x6xf32>
// CHECK-NEXT: %[[V4:.+]] = fuseops.reshape %[[V3]] : tensor<24x6xf32> -> tensor<2x3x4x6xf32>
// CHECK-NEXT: %[[V5:.+]] = fuseops.permute %[[V4]] order[0, 1, 3, 2] : tensor<2x3x4x6xf32> -> tensor<2x3x6x4xf32>
// CHECK-NEXT: fuseops.return %[[V5]] : tensor<2x3x6x4xf32>
func.func @ellipsis(%x0: !torch.vtensor<[2,3,4,5],f32>, %x1: !torch.vtensor<[5,6],f32>) -> !torch.vtensor<[2,3,6,4],f32> {
  %str0 = torch.constant.str "...mn,nd"
  %none = torch.constant.none
  %l0 = torch.prim.ListConstruct %x0, %x1 : (!torch.vtensor<[2,3,4,5],f32>, !torch.vtensor<[5,6],f32>) -> !torch.list<vtensor>
  %1 = torch.aten.einsum %str0, %l0, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[2,3,6,4],f32>
  return %1 : !torch.vtensor<[2,3,6,4],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @broadcast_ellipsis
// CHECK-SAME: (%[[ARG0:.+]]: tensor<7x4x5xf32>, %[[ARG1:.+]]: tensor<3x1x5x6xf32>) -> tensor<3x7x4x6xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[ARG1]] : tensor<3x1x5x6xf32> -> tensor<3x5x6xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reshape %[[ARG0]] : tensor<7x4x5xf32> -> tensor<28x5xf32>
// CHECK-NEXT: %[[V4:.+]] = fuseops.permute %[[V2]] order[1, 0, 2] : tensor<3x5x6xf32> -> tensor<5x3x6xf32>
// CHECK-NEXT: %[[V5:.+]] = fuseops.reshape %[[V4]] : tensor<5x3x6xf32> -> tensor<5x18xf32>
// CHECK-NEXT: %[[V6:.+]] = fuseops.matmul %[[V3]], %[[V5]] : tensor<28x5xf32>, tensor<5x18xf32> -> tensor<28x18xf32>
// CHECK-NEXT: %[[V7:.+]] = fuseops.reshape %[[V6]] : tensor<28x18xf32> -> tensor<7x4x3x6xf32>
// CHECK-NEXT: %[[V8:.+]] = fuseops.permute %[[V7]] order[2, 0, 1, 3] : tensor<7x4x3x6xf32> -> tensor<3x7x4x6xf32>
// CHECK-NEXT: fuseops.return %[[V8]] : tensor<3x7x4x6xf32>
func.func @broadcast_ellipsis(%x0: !torch.vtensor<[7,4,5],f32>, %x1: !torch.vtensor<[3,1,5,6],f32>) -> !torch.vtensor<[3,7,4,6],f32> {
  %str0 = torch.constant.str "...ik,...kj->...ij"
  %none = torch.constant.none
  %l0 = torch.prim.ListConstruct %x0, %x1 : (!torch.vtensor<[7,4,5],f32>, !torch.vtensor<[3,1,5,6],f32>) -> !torch.list<vtensor>
  %1 = torch.aten.einsum %str0, %l0, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[3,7,4,6],f32>
  return %1 : !torch.vtensor<[3,7,4,6],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @diagonals
// CHECK-SAME: (%[[ARG0:.+]]: tensor<3x3x4x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.permute %[[ARG0]] order[2, 3, 0, 1] : tensor<3x3x4x4xf32> -> tensor<4x4x3x3xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[V1]] : tensor<4x4x3x3xf32> -> tensor<4x4x9xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.slice %[[V2]] dim(2) offset(0) step(4) : tensor<4x4x9xf32> -> tensor<4x4x3xf32>
// CHECK-NEXT: %[[V4:.+]] = fuseops.permute %[[V3]] order[2, 0, 1] : tensor<4x4x3xf32> -> tensor<3x4x4xf32>
// CHECK-NEXT: %[[V5:.+]] = fuseops.reshape %[[V4]] : tensor<3x4x4xf32> -> tensor<3x16xf32>
// CHECK-NEXT: %[[V6:.+]] = fuseops.slice %[[V5]] dim(1) offset(0) step(5) : tensor<3x16xf32> -> tensor<3x4xf32>
// CHECK-NEXT: fuseops.return %[[V6]] : tensor<3x4xf32>
func.func @diagonals(%x0: !torch.vtensor<[3,3,4,4],f32>) -> !torch.vtensor<[3,4],f32> {
  %str0 = torch.constant.str "iijj->ij"
  %none = torch.constant.none
  %l0 = torch.prim.ListConstruct %x0 : (!torch.vtensor<[3,3,4,4],f32>) -> !torch.list<vtensor>
  %1 = torch.aten.einsum %str0, %l0, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[3,4],f32>
  return %1 : !torch.vtensor<[3,4],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @three_operands
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<3x4xf32>, %[[ARG2:.+]]: tensor<4x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V3:.+]] = fuseops.matmul %[[ARG0]], %[[ARG1]] : tensor<2x3xf32>, tensor<3x4xf32> -> tensor<2x4xf32>
// CHECK-NEXT: %[[V4:.+]] = fuseops.matmul %[[V3]], %[[ARG2]] : tensor<2x4xf32>, tensor<4x5xf32> -> tensor<2x5xf32>
// CHECK-NEXT: fuseops.return %[[V4]] : tensor<2x5xf32>
func.func @three_operands(%x0: !torch.vtensor<[2,3],f32>, %x1: !torch.vtensor<[3,4],f32>, %x2: !torch.vtensor<[4,5],f32>) -> !torch.vtensor<[2,5],f32> {
  %str0 = torch.constant.str "ij,jk,kl->il"
  %none = torch.constant.none
  %l0 = torch.prim.ListConstruct %x0, %x1, %x2 : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[3,4],f32>, !torch.vtensor<[4,5],f32>) -> !torch.list<vtensor>
  %1 = torch.aten.einsum %str0, %l0, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[2,5],f32>
  return %1 : !torch.vtensor<[2,5],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @integers
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x3xi64>, %[[ARG1:.+]]: tensor<3x4xi64>) -> tensor<2x4xi64>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[ARG0]] : tensor<2x3xi64> -> tensor<2x1x3xi64>
// CHECK-NEXT: %[[V3:.+]] = fuseops.permute %[[ARG1]] order[1, 0] : tensor<3x4xi64> -> tensor<4x3xi64>
// CHECK-NEXT: %[[V4:.+]] = fuseops.reshape %[[V3]] : tensor<4x3xi64> -> tensor<1x4x3xi64>
// CHECK-NEXT: %[[V5:.+]] = fuseops.pointwise (%[[ARG6:.+]] = %[[V2]], %[[ARG7:.+]] = %[[V4]]) : (tensor<2x1x3xi64>, tensor<1x4x3xi64>) -> tensor<2x4x3xi64> {
// CHECK-NEXT: %[[V8:.+]] = arith.muli %[[ARG6]], %[[ARG7]] : i64
// CHECK-NEXT: fuseops.yield %[[V8]] : i64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V9:.+]] = fuseops.reduce_columns sum %[[V5]] : tensor<2x4x3xi64> -> tensor<2x4x1xi64>
// CHECK-NEXT: %[[V10:.+]] = fuseops.reshape %[[V9]] : tensor<2x4x1xi64> -> tensor<2x4xi64>
// CHECK-NEXT: fuseops.return %[[V10]] : tensor<2x4xi64>
func.func @integers(%x0: !torch.vtensor<[2,3],si64>, %x1: !torch.vtensor<[3,4],si64>) -> !torch.vtensor<[2,4],si64> {
  %str0 = torch.constant.str "ij,jk->ik"
  %none = torch.constant.none
  %l0 = torch.prim.ListConstruct %x0, %x1 : (!torch.vtensor<[2,3],si64>, !torch.vtensor<[3,4],si64>) -> !torch.list<vtensor>
  %1 = torch.aten.einsum %str0, %l0, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[2,4],si64>
  return %1 : !torch.vtensor<[2,4],si64>
}
