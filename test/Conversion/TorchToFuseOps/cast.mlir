// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// CHECK-LABEL: fuseops.fusible @casts
// CHECK-SAME: (%[[X:.+]]: tensor<4x64xbf16>, %[[Y:.+]]: tensor<64xf16>)
func.func @casts(%x: !torch.vtensor<[4,64],bf16>, %y: !torch.vtensor<[64],f16>) -> !torch.vtensor<[4,64],bf16> {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %int6 = torch.constant.int 6
  %int15 = torch.constant.int 15
  // CHECK: %[[A:.+]] = fuseops.cast %[[X]] : tensor<4x64xbf16> -> tensor<4x64xf32>
  %0 = torch.aten._to_copy %x, %int6, %none, %none, %none, %false, %none : !torch.vtensor<[4,64],bf16>, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !torch.vtensor<[4,64],f32>
  // CHECK-NEXT: %[[B:.+]] = fuseops.cast %[[A]] : tensor<4x64xf32> -> tensor<4x64xf16>
  %1 = torch.aten.type_as %0, %y : !torch.vtensor<[4,64],f32>, !torch.vtensor<[64],f16> -> !torch.vtensor<[4,64],f16>
  // CHECK-NEXT: %[[C:.+]] = fuseops.cast %[[B]] : tensor<4x64xf16> -> tensor<4x64xf32>
  %2 = torch.prims.convert_element_type %1, %int6 : !torch.vtensor<[4,64],f16>, !torch.int -> !torch.vtensor<[4,64],f32>
  // CHECK-NEXT: %[[D:.+]] = fuseops.cast %[[C]] : tensor<4x64xf32> -> tensor<4x64xbf16>
  %3 = torch.aten.to.dtype %2, %int15, %false, %false, %none : !torch.vtensor<[4,64],f32>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[4,64],bf16>
  // The dtype that it has: nothing.
  // CHECK-NEXT: fuseops.return %[[D]]
  %4 = torch.aten.to.dtype %3, %int15, %false, %false, %none : !torch.vtensor<[4,64],bf16>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[4,64],bf16>
  return %4 : !torch.vtensor<[4,64],bf16>
}

// -----

// A tensor whose elements are all one number is a scalar of the arithmetic.
// CHECK-LABEL: fuseops.fusible @splats
// CHECK-SAME: (%[[X:.+]]: tensor<4x64xf32>, %[[H:.+]]: tensor<4x64xbf16>)
func.func @splats(%x: !torch.vtensor<[4,64],f32>, %h: !torch.vtensor<[4,64],bf16>) -> (!torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>) {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %int1 = torch.constant.int 1
  %int6 = torch.constant.int 6
  %c = torch.vtensor.literal(dense<0.333333343> : tensor<f32>) : !torch.vtensor<[],f32>
  %d = torch.vtensor.literal(dense<2.000000e+00> : tensor<64xbf16>) : !torch.vtensor<[64],bf16>
  // CHECK: %[[A:.+]] = fuseops.scale %[[X]] by(0.3333333432674408)
  %0 = torch.aten.mul.Tensor %x, %c : !torch.vtensor<[4,64],f32>, !torch.vtensor<[],f32> -> !torch.vtensor<[4,64],f32>
  // CHECK-NEXT: fuseops.pointwise (%[[E:.+]] = %[[A]])
  // CHECK-NEXT: %[[TWO:.+]] = arith.constant 2.0
  // CHECK-NEXT: arith.subf %[[TWO]], %[[E]] : f32
  %1 = torch.aten._to_copy %d, %int6, %none, %none, %none, %false, %none : !torch.vtensor<[64],bf16>, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !torch.vtensor<[64],f32>
  %2 = torch.aten.sub.Tensor %1, %0, %int1 : !torch.vtensor<[64],f32>, !torch.vtensor<[4,64],f32>, !torch.int -> !torch.vtensor<[4,64],f32>
  // The constant's dtype widens the result.
  // CHECK: fuseops.pointwise (%{{.+}} = %[[H]]) : (tensor<4x64xbf16>) -> tensor<4x64xf32>
  %3 = torch.aten.mul.Tensor %h, %1 : !torch.vtensor<[4,64],bf16>, !torch.vtensor<[64],f32> -> !torch.vtensor<[4,64],f32>
  return %2, %3 : !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>
}
