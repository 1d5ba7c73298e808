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
  %cpu = torch.constant.device "cpu"
  %5 = torch.aten.to.device %3, %cpu, %int15, %false, %false, %none : !torch.vtensor<[4,64],bf16>, !torch.Device, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[4,64],bf16>
  %4 = torch.aten.to.dtype %5, %int15, %false, %false, %none : !torch.vtensor<[4,64],bf16>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[4,64],bf16>
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

// -----

// A float is truncated to an integer, which is defined for every float: NaN is 0,
// and beyond the bounds the last integer stands.
// CHECK-LABEL: fuseops.fusible @to_integer
// CHECK-SAME: (%[[V0:.+]]: tensor<4xf32>) -> tensor<4xi8>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise (%[[V2:.+]] = %[[V0]]) : (tensor<4xf32>) -> tensor<4xi8> {
// CHECK-NEXT: %[[V3:.+]] = arith.constant -2.14748365E+9 : f32
// CHECK-NEXT: %[[V4:.+]] = arith.cmpf ult, %[[V2]], %[[V3]] : f32
// CHECK-NEXT: %[[V5:.+]] = arith.constant 2.14748365E+9 : f32
// CHECK-NEXT: %[[V6:.+]] = arith.cmpf oge, %[[V2]], %[[V5]] : f32
// CHECK-NEXT: %[[V7:.+]] = arith.ori %[[V4]], %[[V6]] : i1
// CHECK-NEXT: %[[V8:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V9:.+]] = arith.select %[[V7]], %[[V8]], %[[V2]] : f32
// CHECK-NEXT: %[[V10:.+]] = arith.fptosi %[[V9]] : f32 to i32
// CHECK-NEXT: %[[V11:.+]] = arith.constant 2147483647 : i32
// CHECK-NEXT: %[[V12:.+]] = arith.select %[[V6]], %[[V11]], %[[V10]] : i32
// CHECK-NEXT: %[[V13:.+]] = arith.constant -2.14748365E+9 : f32
// CHECK-NEXT: %[[V14:.+]] = arith.cmpf olt, %[[V2]], %[[V13]] : f32
// CHECK-NEXT: %[[V15:.+]] = arith.constant -2147483648 : i32
// CHECK-NEXT: %[[V16:.+]] = arith.select %[[V14]], %[[V15]], %[[V12]] : i32
// CHECK-NEXT: %[[V17:.+]] = arith.trunci %[[V16]] : i32 to i8
// CHECK-NEXT: fuseops.yield %[[V17]] : i8
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V1]] : tensor<4xi8>
func.func @to_integer(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],si8> {
  %int1 = torch.constant.int 1
  %0 = torch.prims.convert_element_type %x, %int1 : !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],si8>
  return %0 : !torch.vtensor<[4],si8>
}

// -----

// CHECK-LABEL: fuseops.fusible @to_bool
// CHECK-SAME: (%[[V0:.+]]: tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise (%[[V2:.+]] = %[[V0]]) : (tensor<4xf32>) -> tensor<4xi1> {
// CHECK-NEXT: %[[V3:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V4:.+]] = arith.cmpf une, %[[V2]], %[[V3]] : f32
// CHECK-NEXT: fuseops.yield %[[V4]] : i1
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V1]] : tensor<4xi1>
func.func @to_bool(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],i1> {
  %int11 = torch.constant.int 11
  %0 = torch.prims.convert_element_type %x, %int11 : !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],i1>
  return %0 : !torch.vtensor<[4],i1>
}

// -----

// CHECK-LABEL: fuseops.fusible @from_integer
// CHECK-SAME: (%[[V0:.+]]: tensor<4xui8>, %[[V1:.+]]: tensor<4xi64>) -> (tensor<4xbf16>, tensor<4xi32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V2:.+]] = fuseops.pointwise (%[[V3:.+]] = %[[V0]]) : (tensor<4xui8>) -> tensor<4xbf16> {
// CHECK-NEXT: %[[V4:.+]] = arith.uitofp %[[V3]] : i8 to f32
// CHECK-NEXT: %[[V5:.+]] = arith.truncf %[[V4]] : f32 to bf16
// CHECK-NEXT: %[[V6:.+]] = arith.extf %[[V5]] : bf16 to f32
// CHECK-NEXT: fuseops.yield %[[V6]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V7:.+]] = fuseops.pointwise (%[[V8:.+]] = %[[V1]]) : (tensor<4xi64>) -> tensor<4xi32> {
// CHECK-NEXT: %[[V9:.+]] = arith.trunci %[[V8]] : i64 to i32
// CHECK-NEXT: fuseops.yield %[[V9]] : i32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V2]], %[[V7]] : tensor<4xbf16>, tensor<4xi32>
func.func @from_integer(%x: !torch.vtensor<[4],ui8>, %y: !torch.vtensor<[4],si64>) -> (!torch.vtensor<[4],bf16>, !torch.vtensor<[4],si32>) {
  %int15 = torch.constant.int 15
  %0 = torch.prims.convert_element_type %x, %int15 : !torch.vtensor<[4],ui8>, !torch.int -> !torch.vtensor<[4],bf16>
  %1 = torch.prims.convert_element_type %y, %int15 : !torch.vtensor<[4],si64>, !torch.int -> !torch.vtensor<[4],si32>
  return %0, %1 : !torch.vtensor<[4],bf16>, !torch.vtensor<[4],si32>
}
