// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// CHECK-LABEL: fuseops.fusible @constants
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x4xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00, 7.000000e+00, 8.000000e+00]]> : tensor<2x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.mul %[[ARG0]], %[[V0]] : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.scale %[[V1]] by(2.000000e+00) : tensor<2x4xf32>
// CHECK-NEXT: fuseops.return %[[V2]] : tensor<2x4xf32>
func.func @constants(%x: !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[2,4],f32> {
  %0 = torch.vtensor.literal(dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>) : !torch.vtensor<[2,4],f32>
  %1 = torch.vtensor.literal(dense<2.0> : tensor<4xf32>) : !torch.vtensor<[4],f32>
  %2 = torch.aten.mul.Tensor %x, %0 : !torch.vtensor<[2,4],f32>, !torch.vtensor<[2,4],f32> -> !torch.vtensor<[2,4],f32>
  %3 = torch.aten.mul.Tensor %2, %1 : !torch.vtensor<[2,4],f32>, !torch.vtensor<[4],f32> -> !torch.vtensor<[2,4],f32>
  return %3 : !torch.vtensor<[2,4],f32>
}

// -----

// Dtypes are those of FuseOps: signless, but for unsigned bytes.
// CHECK-LABEL: fuseops.fusible @signs
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.constant dense<[1, -1]> : tensor<2xi8>
// CHECK-NEXT: %[[V1:.+]] = fuseops.constant dense<[1, 255]> : tensor<2xui8>
// CHECK-NEXT: %[[V2:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V0]]) : (tensor<2xi8>) -> tensor<2xi8> {
// CHECK-NEXT: fuseops.yield %[[ARG1]] : i8
// CHECK-NEXT: }
// CHECK-NEXT: %[[V3:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V1]]) : (tensor<2xui8>) -> tensor<2xui8> {
// CHECK-NEXT: fuseops.yield %[[ARG1]] : i8
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V2]], %[[V3]] : tensor<2xi8>, tensor<2xui8>
func.func @signs(%x: !torch.vtensor<[2],f32>) -> (!torch.vtensor<[2],si8>, !torch.vtensor<[2],ui8>) {
  %0 = torch.vtensor.literal(dense<[1, -1]> : tensor<2xsi8>) : !torch.vtensor<[2],si8>
  %1 = torch.vtensor.literal(dense<[1, 255]> : tensor<2xui8>) : !torch.vtensor<[2],ui8>
  return %0, %1 : !torch.vtensor<[2],si8>, !torch.vtensor<[2],ui8>
}

// -----

// CHECK-LABEL: fuseops.fusible @resource
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.constant dense_resource<two> : tensor<2xi16>
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V0]]) : (tensor<2xi16>) -> tensor<2xf32> {
// CHECK-NEXT: %[[V3:.+]] = arith.sitofp %[[ARG1]] : i16 to f32
// CHECK-NEXT: fuseops.yield %[[V3]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V2:.+]] = fuseops.mul %[[ARG0]], %[[V1]] : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
// CHECK-NEXT: fuseops.return %[[V2]] : tensor<2xf32>
func.func @resource(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {
  %0 = torch.vtensor.literal(dense_resource<two> : tensor<2xsi16>) : !torch.vtensor<[2],si16>
  %1 = torch.aten.mul.Tensor %x, %0 : !torch.vtensor<[2],f32>, !torch.vtensor<[2],si16> -> !torch.vtensor<[2],f32>
  return %1 : !torch.vtensor<[2],f32>
}

{-#
  dialect_resources: { builtin: { two: "0x020000000300FFFF" } }
#-}
