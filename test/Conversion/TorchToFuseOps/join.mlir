// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// CHECK-LABEL: fuseops.fusible @hstack_of_vectors
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2xf32>, %[[ARG1:.+]]: tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[ARG1]] : tensor<f32> -> tensor<1xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.concat %[[ARG0]], %[[V2]] dim(0) : (tensor<2xf32>, tensor<1xf32>) -> tensor<3xf32>
// CHECK-NEXT: fuseops.return %[[V3]] : tensor<3xf32>
func.func @hstack_of_vectors(%x0: !torch.vtensor<[2],f32>, %x1: !torch.vtensor<[],f32>) -> !torch.vtensor<[3],f32> {
  %l = torch.prim.ListConstruct %x0, %x1 : (!torch.vtensor<[2],f32>, !torch.vtensor<[],f32>) -> !torch.list<vtensor>
  %0 = torch.aten.hstack %l : !torch.list<vtensor> -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @hstack_of_matrices
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<2x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V2:.+]] = fuseops.concat %[[ARG0]], %[[ARG1]] dim(1) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: fuseops.return %[[V2]] : tensor<2x4xf32>
func.func @hstack_of_matrices(%x0: !torch.vtensor<[2,3],f32>, %x1: !torch.vtensor<[2,1],f32>) -> !torch.vtensor<[2,4],f32> {
  %l = torch.prim.ListConstruct %x0, %x1 : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[2,1],f32>) -> !torch.list<vtensor>
  %0 = torch.aten.hstack %l : !torch.list<vtensor> -> !torch.vtensor<[2,4],f32>
  return %0 : !torch.vtensor<[2,4],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @columns
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4xf32>, %[[ARG1:.+]]: tensor<4x2xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[ARG0]] : tensor<4xf32> -> tensor<4x1xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.concat %[[V2]], %[[ARG1]] dim(1) : (tensor<4x1xf32>, tensor<4x2xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: fuseops.return %[[V3]] : tensor<4x3xf32>
func.func @columns(%x0: !torch.vtensor<[4],f32>, %x1: !torch.vtensor<[4,2],f32>) -> !torch.vtensor<[4,3],f32> {
  %l = torch.prim.ListConstruct %x0, %x1 : (!torch.vtensor<[4],f32>, !torch.vtensor<[4,2],f32>) -> !torch.list<vtensor>
  %0 = torch.aten.column_stack %l : !torch.list<vtensor> -> !torch.vtensor<[4,3],f32>
  return %0 : !torch.vtensor<[4,3],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @broadcast
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x1xf32>, %[[ARG1:.+]]: tensor<3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V2:.+]] = fuseops.expand %[[ARG0]] : tensor<4x1xf32> -> tensor<4x3xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.expand %[[ARG1]] : tensor<3xf32> -> tensor<4x3xf32>
// CHECK-NEXT: fuseops.return %[[V2]], %[[V3]] : tensor<4x3xf32>, tensor<4x3xf32>
func.func @broadcast(%x: !torch.vtensor<[4,1],f32>, %y: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>) {
  %l = torch.prim.ListConstruct %x, %y : (!torch.vtensor<[4,1],f32>, !torch.vtensor<[3],f32>) -> !torch.list<vtensor>
  %0 = torch.aten.broadcast_tensors %l : !torch.list<vtensor> -> !torch.list<vtensor>
  %1:2 = torch.prim.ListUnpack %0 : !torch.list<vtensor> -> !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>
  return %1#0, %1#1 : !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>
}
