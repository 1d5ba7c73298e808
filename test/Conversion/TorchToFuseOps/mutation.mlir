// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// What an argument is overwritten with comes first among the results.
// CHECK-LABEL: fuseops.fusible @overwritten
// CHECK-SAME: (%[[ARG0:.+]]: tensor<8x4xf32>, %[[ARG1:.+]]: tensor<8x4xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.add %[[ARG0]], %[[ARG1]] : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.relu %[[V0]] : tensor<8x4xf32>
// CHECK-NEXT: fuseops.return %[[V0]], %[[V1]] : tensor<8x4xf32>, tensor<8x4xf32>
func.func @overwritten(%x: !torch.tensor<[8,4],f32>, %y: !torch.vtensor<[8,4],f32>) -> !torch.vtensor<[8,4],f32> {
  %int1 = torch.constant.int 1
  %0 = torch.copy.to_vtensor %x : !torch.vtensor<[8,4],f32>
  %1 = torch.aten.add.Tensor %0, %y, %int1 : !torch.vtensor<[8,4],f32>, !torch.vtensor<[8,4],f32>, !torch.int -> !torch.vtensor<[8,4],f32>
  torch.overwrite.tensor.contents %1 overwrites %x : !torch.vtensor<[8,4],f32>, !torch.tensor<[8,4],f32>
  %2 = torch.aten.relu %1 : !torch.vtensor<[8,4],f32> -> !torch.vtensor<[8,4],f32>
  return %2 : !torch.vtensor<[8,4],f32>
}
