// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// Places that the program knows are slices, each as long as can be.
// CHECK-LABEL: fuseops.fusible @constant_indices
// CHECK-SAME: (%[[ARG0:.+]]: tensor<6x4xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.slice %[[ARG0]] dim(0) offset(4) step(-2) : tensor<6x4xf32> -> tensor<3x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.slice %[[ARG0]] dim(0) offset(5) : tensor<6x4xf32> -> tensor<1x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.concat %[[V0]], %[[V1]] dim(0) : (tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: fuseops.return %[[V2]] : tensor<4x4xf32>
func.func @constant_indices(%x: !torch.vtensor<[6,4],f32>) -> !torch.vtensor<[4,4],f32> {
  %int0 = torch.constant.int 0
  %0 = torch.vtensor.literal(dense<[4, 2, 0, 5]> : tensor<4xsi64>) : !torch.vtensor<[4],si64>
  %1 = torch.aten.index_select %x, %int0, %0 : !torch.vtensor<[6,4],f32>, !torch.int, !torch.vtensor<[4],si64> -> !torch.vtensor<[4,4],f32>
  return %1 : !torch.vtensor<[4,4],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @indices_of_two_dimensions
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x3x4xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reshape %[[ARG0]] : tensor<2x3x4xf32> -> tensor<6x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.slice %[[V0]] dim(0) offset(0) step(2) : tensor<6x4xf32> -> tensor<2x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.slice %[[V0]] dim(0) offset(3) step(2) : tensor<6x4xf32> -> tensor<2x4xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.concat %[[V1]], %[[V2]] dim(0) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: %[[V4:.+]] = fuseops.reshape %[[V3]] : tensor<4x4xf32> -> tensor<2x2x4xf32>
// CHECK-NEXT: fuseops.return %[[V4]] : tensor<2x2x4xf32>
func.func @indices_of_two_dimensions(%x: !torch.vtensor<[2,3,4],f32>) -> !torch.vtensor<[2,2,4],f32> {
  %0 = torch.vtensor.literal(dense<[[0], [1]]> : tensor<2x1xsi64>) : !torch.vtensor<[2,1],si64>
  %1 = torch.vtensor.literal(dense<[0, -1]> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
  %l2 = torch.prim.ListConstruct %0, %1 : (!torch.vtensor<[2,1],si64>, !torch.vtensor<[2],si64>) -> !torch.list<vtensor>
  %3 = torch.aten.index.Tensor_hacked_twin %x, %l2 : !torch.vtensor<[2,3,4],f32>, !torch.list<vtensor> -> !torch.vtensor<[2,2,4],f32>
  return %3 : !torch.vtensor<[2,2,4],f32>
}

// -----

// Equally spaced elements of the row-major order.
// CHECK-LABEL: fuseops.fusible @diagonal
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x3x4xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reshape %[[ARG0]] : tensor<2x3x4xf32> -> tensor<2x12xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.slice %[[V0]] dim(1) offset(1) step(5) : tensor<2x12xf32> -> tensor<2x3xf32>
// CHECK-NEXT: fuseops.return %[[V1]] : tensor<2x3xf32>
func.func @diagonal(%x: !torch.vtensor<[2,3,4],f32>) -> !torch.vtensor<[2,3],f32> {
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %0 = torch.aten.diagonal %x, %int1, %int1, %int2 : !torch.vtensor<[2,3,4],f32>, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @trace
// CHECK-SAME: (%[[ARG0:.+]]: tensor<3x4xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reshape %[[ARG0]] : tensor<3x4xf32> -> tensor<12xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.slice %[[V0]] dim(0) offset(0) step(5) : tensor<12xf32> -> tensor<3xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.reduce_columns sum %[[V1]] : tensor<3xf32> -> tensor<1xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reshape %[[V2]] : tensor<1xf32> -> tensor<f32>
// CHECK-NEXT: fuseops.return %[[V3]] : tensor<f32>
func.func @trace(%x: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[],f32> {
  %0 = torch.aten.trace %x : !torch.vtensor<[3,4],f32> -> !torch.vtensor<[],f32>
  return %0 : !torch.vtensor<[],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @roll
// CHECK-SAME: (%[[ARG0:.+]]: tensor<3x4xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.slice %[[ARG0]] dim(0) offset(2) : tensor<3x4xf32> -> tensor<1x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.slice %[[ARG0]] dim(0) offset(0) : tensor<3x4xf32> -> tensor<2x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.concat %[[V0]], %[[V1]] dim(0) : (tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.slice %[[V2]] dim(1) offset(1) : tensor<3x4xf32> -> tensor<3x3xf32>
// CHECK-NEXT: %[[V4:.+]] = fuseops.slice %[[V2]] dim(1) offset(0) : tensor<3x4xf32> -> tensor<3x1xf32>
// CHECK-NEXT: %[[V5:.+]] = fuseops.concat %[[V3]], %[[V4]] dim(1) : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: fuseops.return %[[V5]] : tensor<3x4xf32>
func.func @roll(%x: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[3,4],f32> {
  %int1 = torch.constant.int 1
  %int-1 = torch.constant.int -1
  %int0 = torch.constant.int 0
  %l0 = torch.prim.ListConstruct %int1, %int-1 : (!torch.int, !torch.int) -> !torch.list<int>
  %l1 = torch.prim.ListConstruct %int0, %int1 : (!torch.int, !torch.int) -> !torch.list<int>
  %2 = torch.aten.roll %x, %l0, %l1 : !torch.vtensor<[3,4],f32>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[3,4],f32>
  return %2 : !torch.vtensor<[3,4],f32>
}
