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
