// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// CHECK-LABEL: fuseops.fusible @permutations
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x3x4xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.permute %[[ARG0]] order[2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.permute %[[ARG0]] order[2, 1, 0] : tensor<2x3x4xf32> -> tensor<4x3x2xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.permute %[[ARG0]] order[0, 2, 1] : tensor<2x3x4xf32> -> tensor<2x4x3xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.permute %[[ARG0]] order[1, 2, 0] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
// CHECK-NEXT: fuseops.return %[[V0]], %[[V1]], %[[V2]], %[[V3]] : tensor<4x2x3xf32>, tensor<4x3x2xf32>, tensor<2x4x3xf32>, tensor<3x4x2xf32>
func.func @permutations(%x: !torch.vtensor<[2,3,4],f32>) -> (!torch.vtensor<[4,2,3],f32>, !torch.vtensor<[4,3,2],f32>, !torch.vtensor<[2,4,3],f32>, !torch.vtensor<[3,4,2],f32>) {
  %int2 = torch.constant.int 2
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int-1 = torch.constant.int -1
  %l0 = torch.prim.ListConstruct %int2, %int0, %int1 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %1 = torch.aten.permute %x, %l0 : !torch.vtensor<[2,3,4],f32>, !torch.list<int> -> !torch.vtensor<[4,2,3],f32>
  %2 = torch.aten.transpose.int %x, %int0, %int-1 : !torch.vtensor<[2,3,4],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,3,2],f32>
  %3 = torch.aten.mT %x : !torch.vtensor<[2,3,4],f32> -> !torch.vtensor<[2,4,3],f32>
  %4 = torch.aten.movedim.int %x, %int0, %int2 : !torch.vtensor<[2,3,4],f32>, !torch.int, !torch.int -> !torch.vtensor<[3,4,2],f32>
  return %1, %2, %3, %4 : !torch.vtensor<[4,2,3],f32>, !torch.vtensor<[4,3,2],f32>, !torch.vtensor<[2,4,3],f32>, !torch.vtensor<[3,4,2],f32>
}

// -----

// One permutation after another is one; here, none.
// CHECK-LABEL: fuseops.fusible @permutations_meet
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x3x4xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: fuseops.return %[[ARG0]] : tensor<2x3x4xf32>
func.func @permutations_meet(%x: !torch.vtensor<[2,3,4],f32>) -> !torch.vtensor<[2,3,4],f32> {
  %int2 = torch.constant.int 2
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %l0 = torch.prim.ListConstruct %int2, %int0, %int1 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %1 = torch.aten.permute %x, %l0 : !torch.vtensor<[2,3,4],f32>, !torch.list<int> -> !torch.vtensor<[4,2,3],f32>
  %l2 = torch.prim.ListConstruct %int1, %int2, %int0 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %3 = torch.aten.permute %1, %l2 : !torch.vtensor<[4,2,3],f32>, !torch.list<int> -> !torch.vtensor<[2,3,4],f32>
  return %3 : !torch.vtensor<[2,3,4],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @expand
// CHECK-SAME: (%[[ARG0:.+]]: tensor<8x1xf32>, %[[ARG1:.+]]: tensor<4x8x64xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.expand %[[ARG0]] : tensor<8x1xf32> -> tensor<4x8x64xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.expand %[[ARG0]] : tensor<8x1xf32> -> tensor<4x8x64xf32>
// CHECK-NEXT: fuseops.return %[[V0]], %[[V1]] : tensor<4x8x64xf32>, tensor<4x8x64xf32>
func.func @expand(%x: !torch.vtensor<[8,1],f32>, %y: !torch.vtensor<[4,8,64],f32>) -> (!torch.vtensor<[4,8,64],f32>, !torch.vtensor<[4,8,64],f32>) {
  %int4 = torch.constant.int 4
  %int-1 = torch.constant.int -1
  %int64 = torch.constant.int 64
  %false = torch.constant.bool false
  %l0 = torch.prim.ListConstruct %int4, %int-1, %int64 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %1 = torch.aten.expand %x, %l0, %false : !torch.vtensor<[8,1],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[4,8,64],f32>
  %2 = torch.aten.expand_as %x, %y : !torch.vtensor<[8,1],f32>, !torch.vtensor<[4,8,64],f32> -> !torch.vtensor<[4,8,64],f32>
  return %1, %2 : !torch.vtensor<[4,8,64],f32>, !torch.vtensor<[4,8,64],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @repeat
// CHECK-SAME: (%[[ARG0:.+]]: tensor<3x4xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reshape %[[ARG0]] : tensor<3x4xf32> -> tensor<1x3x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[V0]] : tensor<1x3x4xf32> -> tensor<1x1x3x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.expand %[[V1]] : tensor<1x1x3x4xf32> -> tensor<2x1x3x4xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reshape %[[V2]] : tensor<2x1x3x4xf32> -> tensor<2x3x4xf32>
// CHECK-NEXT: %[[V4:.+]] = fuseops.reshape %[[V3]] : tensor<2x3x4xf32> -> tensor<2x3x1x4xf32>
// CHECK-NEXT: %[[V5:.+]] = fuseops.expand %[[V4]] : tensor<2x3x1x4xf32> -> tensor<2x3x5x4xf32>
// CHECK-NEXT: %[[V6:.+]] = fuseops.reshape %[[V5]] : tensor<2x3x5x4xf32> -> tensor<2x3x20xf32>
// CHECK-NEXT: fuseops.return %[[V6]] : tensor<2x3x20xf32>
func.func @repeat(%x: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[2,3,20],f32> {
  %int2 = torch.constant.int 2
  %int1 = torch.constant.int 1
  %int5 = torch.constant.int 5
  %l0 = torch.prim.ListConstruct %int2, %int1, %int5 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %1 = torch.aten.repeat %x, %l0 : !torch.vtensor<[3,4],f32>, !torch.list<int> -> !torch.vtensor<[2,3,20],f32>
  return %1 : !torch.vtensor<[2,3,20],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @repeat_interleave
// CHECK-SAME: (%[[ARG0:.+]]: tensor<3x4xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reshape %[[ARG0]] : tensor<3x4xf32> -> tensor<3x1x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.expand %[[V0]] : tensor<3x1x4xf32> -> tensor<3x2x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[V1]] : tensor<3x2x4xf32> -> tensor<6x4xf32>
// CHECK-NEXT: fuseops.return %[[V2]] : tensor<6x4xf32>
func.func @repeat_interleave(%x: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[6,4],f32> {
  %int2 = torch.constant.int 2
  %int0 = torch.constant.int 0
  %none = torch.constant.none
  %0 = torch.aten.repeat_interleave.self_int %x, %int2, %int0, %none : !torch.vtensor<[3,4],f32>, !torch.int, !torch.int, !torch.none -> !torch.vtensor<[6,4],f32>
  return %0 : !torch.vtensor<[6,4],f32>
}
