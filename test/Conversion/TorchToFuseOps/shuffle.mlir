// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// CHECK-LABEL: fuseops.fusible @channels
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x6x5xf32>) -> tensor<2x6x5xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[ARG0]] : tensor<2x6x5xf32> -> tensor<2x3x2x5xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.permute %[[V1]] order[0, 2, 1, 3] : tensor<2x3x2x5xf32> -> tensor<2x2x3x5xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reshape %[[V2]] : tensor<2x2x3x5xf32> -> tensor<2x6x5xf32>
// CHECK-NEXT: fuseops.return %[[V3]] : tensor<2x6x5xf32>
func.func @channels(%x: !torch.vtensor<[2,6,5],f32>) -> !torch.vtensor<[2,6,5],f32> {
  %int3 = torch.constant.int 3
  %0 = torch.aten.channel_shuffle %x, %int3 : !torch.vtensor<[2,6,5],f32>, !torch.int -> !torch.vtensor<[2,6,5],f32>
  return %0 : !torch.vtensor<[2,6,5],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @pixels
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x8x3x5xf32>) -> tensor<2x2x6x10xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[ARG0]] : tensor<2x8x3x5xf32> -> tensor<2x2x2x2x3x5xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.permute %[[V1]] order[0, 1, 4, 2, 5, 3] : tensor<2x2x2x2x3x5xf32> -> tensor<2x2x3x2x5x2xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reshape %[[V2]] : tensor<2x2x3x2x5x2xf32> -> tensor<2x2x6x10xf32>
// CHECK-NEXT: fuseops.return %[[V3]] : tensor<2x2x6x10xf32>
func.func @pixels(%x: !torch.vtensor<[2,8,3,5],f32>) -> !torch.vtensor<[2,2,6,10],f32> {
  %int2 = torch.constant.int 2
  %0 = torch.aten.pixel_shuffle %x, %int2 : !torch.vtensor<[2,8,3,5],f32>, !torch.int -> !torch.vtensor<[2,2,6,10],f32>
  return %0 : !torch.vtensor<[2,2,6,10],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @pixels_back
// CHECK-SAME: (%[[ARG0:.+]]: tensor<3x4x6xf32>) -> tensor<12x2x3xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[ARG0]] : tensor<3x4x6xf32> -> tensor<3x2x2x3x2xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.permute %[[V1]] order[0, 2, 4, 1, 3] : tensor<3x2x2x3x2xf32> -> tensor<3x2x2x2x3xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reshape %[[V2]] : tensor<3x2x2x2x3xf32> -> tensor<12x2x3xf32>
// CHECK-NEXT: fuseops.return %[[V3]] : tensor<12x2x3xf32>
func.func @pixels_back(%x: !torch.vtensor<[3,4,6],f32>) -> !torch.vtensor<[12,2,3],f32> {
  %int2 = torch.constant.int 2
  %0 = torch.aten.pixel_unshuffle %x, %int2 : !torch.vtensor<[3,4,6],f32>, !torch.int -> !torch.vtensor<[12,2,3],f32>
  return %0 : !torch.vtensor<[12,2,3],f32>
}
