// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// Integers wrap, and a bool's sum is `or`.
// CHECK-LABEL: fuseops.fusible @integers
// CHECK-SAME: (%[[V0:.+]]: tensor<4xi32>, %[[V1:.+]]: tensor<4xui8>, %[[V2:.+]]: tensor<4xi1>) -> (tensor<4xi32>, tensor<4xi1>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V3:.+]] = fuseops.pointwise (%[[V4:.+]] = %[[V0]], %[[V5:.+]] = %[[V1]]) : (tensor<4xi32>, tensor<4xui8>) -> tensor<4xi32> {
// CHECK-NEXT: %[[V6:.+]] = arith.extui %[[V5]] : i8 to i32
// CHECK-NEXT: %[[V7:.+]] = arith.addi %[[V4]], %[[V6]] : i32
// CHECK-NEXT: fuseops.yield %[[V7]] : i32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V8:.+]] = fuseops.pointwise (%[[V9:.+]] = %[[V2]], %[[V10:.+]] = %[[V2]]) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1> {
// CHECK-NEXT: %[[V11:.+]] = arith.ori %[[V9]], %[[V10]] : i1
// CHECK-NEXT: fuseops.yield %[[V11]] : i1
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V3]], %[[V8]] : tensor<4xi32>, tensor<4xi1>
func.func @integers(%x: !torch.vtensor<[4],si32>, %y: !torch.vtensor<[4],ui8>, %z: !torch.vtensor<[4],i1>) -> (!torch.vtensor<[4],si32>, !torch.vtensor<[4],i1>) {
  %int1 = torch.constant.int 1
  %0 = torch.aten.add.Tensor %x, %y, %int1 : !torch.vtensor<[4],si32>, !torch.vtensor<[4],ui8>, !torch.int -> !torch.vtensor<[4],si32>
  %1 = torch.aten.add.Tensor %z, %z, %int1 : !torch.vtensor<[4],i1>, !torch.vtensor<[4],i1>, !torch.int -> !torch.vtensor<[4],i1>
  return %0, %1 : !torch.vtensor<[4],si32>, !torch.vtensor<[4],i1>
}

// -----

// True division of integers is one of the default float.
// CHECK-LABEL: fuseops.fusible @true_division
// CHECK-SAME: (%[[V0:.+]]: tensor<4xi64>, %[[V1:.+]]: tensor<4xi64>) -> tensor<4xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V2:.+]] = fuseops.pointwise (%[[V3:.+]] = %[[V0]], %[[V4:.+]] = %[[V1]]) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xf32> {
// CHECK-NEXT: %[[V5:.+]] = arith.sitofp %[[V3]] : i64 to f32
// CHECK-NEXT: %[[V6:.+]] = arith.sitofp %[[V4]] : i64 to f32
// CHECK-NEXT: %[[V7:.+]] = arith.divf %[[V5]], %[[V6]] : f32
// CHECK-NEXT: fuseops.yield %[[V7]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V2]] : tensor<4xf32>
func.func @true_division(%x: !torch.vtensor<[4],si64>, %y: !torch.vtensor<[4],si64>) -> !torch.vtensor<[4],f32> {
  %0 = torch.aten.div.Tensor %x, %y : !torch.vtensor<[4],si64>, !torch.vtensor<[4],si64> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// -----

// A number widens integers to a float, but not bf16 to f32.
// CHECK-LABEL: fuseops.fusible @numbers
// CHECK-SAME: (%[[V0:.+]]: tensor<4xi32>, %[[V1:.+]]: tensor<4xbf16>) -> (tensor<4xf32>, tensor<4xbf16>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V2:.+]] = fuseops.pointwise (%[[V3:.+]] = %[[V0]]) : (tensor<4xi32>) -> tensor<4xf32> {
// CHECK-NEXT: %[[V4:.+]] = arith.sitofp %[[V3]] : i32 to f32
// CHECK-NEXT: %[[V5:.+]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: %[[V6:.+]] = arith.subf %[[V4]], %[[V5]] : f32
// CHECK-NEXT: fuseops.yield %[[V6]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V7:.+]] = fuseops.pointwise (%[[V8:.+]] = %[[V1]]) : (tensor<4xbf16>) -> tensor<4xbf16> {
// CHECK-NEXT: %[[V9:.+]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: %[[V10:.+]] = arith.subf %[[V8]], %[[V9]] : f32
// CHECK-NEXT: fuseops.yield %[[V10]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V2]], %[[V7]] : tensor<4xf32>, tensor<4xbf16>
func.func @numbers(%x: !torch.vtensor<[4],si32>, %h: !torch.vtensor<[4],bf16>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],bf16>) {
  %half = torch.constant.float 5.000000e-01
  %int1 = torch.constant.int 1
  %0 = torch.aten.sub.Scalar %x, %half, %int1 : !torch.vtensor<[4],si32>, !torch.float, !torch.int -> !torch.vtensor<[4],f32>
  %1 = torch.aten.sub.Scalar %h, %half, %int1 : !torch.vtensor<[4],bf16>, !torch.float, !torch.int -> !torch.vtensor<[4],bf16>
  return %0, %1 : !torch.vtensor<[4],f32>, !torch.vtensor<[4],bf16>
}

// -----

// A comparison's result is a bool; what it compares is rounded to bf16.
// CHECK-LABEL: fuseops.fusible @comparison
// CHECK-SAME: (%[[V0:.+]]: tensor<4xbf16>) -> tensor<4xi1>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise (%[[V2:.+]] = %[[V0]]) : (tensor<4xbf16>) -> tensor<4xi1> {
// CHECK-NEXT: %[[V3:.+]] = arith.constant 0.333984375 : f32
// CHECK-NEXT: %[[STORED:.+]] = arith.truncf %[[V2]] : f32 to bf16
// CHECK-NEXT: %[[ROUNDED:.+]] = arith.extf %[[STORED]] : bf16 to f32
// CHECK-NEXT: %[[NUMBER:.+]] = arith.truncf %[[V3]] : f32 to bf16
// CHECK-NEXT: %[[BOUND:.+]] = arith.extf %[[NUMBER]] : bf16 to f32
// CHECK-NEXT: %[[V4:.+]] = arith.cmpf ogt, %[[ROUNDED]], %[[BOUND]] : f32
// CHECK-NEXT: fuseops.yield %[[V4]] : i1
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V1]] : tensor<4xi1>
func.func @comparison(%h: !torch.vtensor<[4],bf16>) -> !torch.vtensor<[4],i1> {
  %third = torch.constant.float 0.33333333333333331
  %0 = torch.aten.gt.Scalar %h, %third : !torch.vtensor<[4],bf16>, !torch.float -> !torch.vtensor<[4],i1>
  return %0 : !torch.vtensor<[4],i1>
}

// -----

// The condition takes no part in promotion; a ui8 is true where it's not 0.
// CHECK-LABEL: fuseops.fusible @where
// CHECK-SAME: (%[[V0:.+]]: tensor<4xui8>, %[[V1:.+]]: tensor<4xbf16>, %[[V2:.+]]: tensor<f32>) -> tensor<4xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V3:.+]] = fuseops.pointwise (%[[V4:.+]] = %[[V0]], %[[V5:.+]] = %[[V1]], %[[V6:.+]] = %[[V2]]) : (tensor<4xui8>, tensor<4xbf16>, tensor<f32>) -> tensor<4xbf16> {
// CHECK-NEXT: %[[V7:.+]] = arith.constant 0 : i8
// CHECK-NEXT: %[[V8:.+]] = arith.cmpi ne, %[[V4]], %[[V7]] : i8
// CHECK-NEXT: %[[V9:.+]] = arith.truncf %[[V6]] : f32 to bf16
// CHECK-NEXT: %[[V10:.+]] = arith.extf %[[V9]] : bf16 to f32
// CHECK-NEXT: %[[V11:.+]] = arith.select %[[V8]], %[[V5]], %[[V10]] : f32
// CHECK-NEXT: fuseops.yield %[[V11]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V3]] : tensor<4xbf16>
func.func @where(%c: !torch.vtensor<[4],ui8>, %x: !torch.vtensor<[4],bf16>, %s: !torch.vtensor<[],f32>) -> !torch.vtensor<[4],bf16> {
  %0 = torch.aten.where.self %c, %x, %s : !torch.vtensor<[4],ui8>, !torch.vtensor<[4],bf16>, !torch.vtensor<[],f32> -> !torch.vtensor<[4],bf16>
  return %0 : !torch.vtensor<[4],bf16>
}

// -----

// The gradient passes at a bound and not beyond; the other bound is None.
// CHECK-LABEL: fuseops.fusible @clamp
// CHECK-SAME: (%[[V0:.+]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise (%[[V2:.+]] = %[[V0]]) : (tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %[[V3:.+]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT: %[[V4:.+]] = arith.cmpf ole, %[[V2]], %[[V3]] : f32
// CHECK-NEXT: %[[V5:.+]] = arith.cmpf uno, %[[V2]], %[[V2]] : f32
// CHECK-NEXT: %[[V6:.+]] = arith.constant 0x7FC00000 : f32
// CHECK-NEXT: %[[V7:.+]] = arith.select %[[V5]], %[[V6]], %[[V3]] : f32
// CHECK-NEXT: %[[V8:.+]] = arith.select %[[V4]], %[[V2]], %[[V7]] : f32
// CHECK-NEXT: fuseops.yield %[[V8]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V1]] : tensor<4xf32>
func.func @clamp(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %none = torch.constant.none
  %int2 = torch.constant.int 2
  %0 = torch.aten.clamp %x, %none, %int2 : !torch.vtensor<[4],f32>, !torch.none, !torch.int -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// -----

// The named operation is one of floats.
// CHECK-LABEL: fuseops.fusible @relu
// CHECK-SAME: (%[[V0:.+]]: tensor<4xf32>, %[[V1:.+]]: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xi64>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V2:.+]] = fuseops.relu %[[V0]] : tensor<4xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.pointwise (%[[V4:.+]] = %[[V1]]) : (tensor<4xi64>) -> tensor<4xi64> {
// CHECK-NEXT: %[[V5:.+]] = arith.constant 0 : i64
// CHECK-NEXT: %[[V6:.+]] = arith.cmpi slt, %[[V4]], %[[V5]] : i64
// CHECK-NEXT: %[[V7:.+]] = arith.select %[[V6]], %[[V5]], %[[V4]] : i64
// CHECK-NEXT: fuseops.yield %[[V7]] : i64
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V2]], %[[V3]] : tensor<4xf32>, tensor<4xi64>
func.func @relu(%x: !torch.vtensor<[4],f32>, %i: !torch.vtensor<[4],si64>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>) {
  %0 = torch.aten.relu %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %1 = torch.aten.relu %i : !torch.vtensor<[4],si64> -> !torch.vtensor<[4],si64>
  return %0, %1 : !torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>
}

// -----

// Two constants leave nothing to read.
// CHECK-LABEL: fuseops.fusible @constants
// CHECK-SAME: (%[[V0:.+]]: tensor<4xf32>) -> tensor<f32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise () : () -> tensor<f32> {
// CHECK-NEXT: %[[V2:.+]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT: %[[V3:.+]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT: %[[V4:.+]] = arith.divf %[[V2]], %[[V3]] : f32
// CHECK-NEXT: fuseops.yield %[[V4]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V1]] : tensor<f32>
func.func @constants(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[],f32> {
  %c = torch.vtensor.literal(dense<2.0> : tensor<f32>) : !torch.vtensor<[],f32>
  %0 = torch.aten.div.Tensor %c, %c : !torch.vtensor<[],f32>, !torch.vtensor<[],f32> -> !torch.vtensor<[],f32>
  return %0 : !torch.vtensor<[],f32>
}

// -----

// Special functions keep their names.
// CHECK-LABEL: fuseops.fusible @special
// CHECK-SAME: (%[[V0:.+]]: tensor<4xi32>) -> tensor<4xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise (%[[V2:.+]] = %[[V0]]) : (tensor<4xi32>) -> tensor<4xf32> {
// CHECK-NEXT: %[[V3:.+]] = arith.sitofp %[[V2]] : i32 to f32
// CHECK-NEXT: %[[V4:.+]] = fuseops.special lgamma(%[[V3]]) : f32
// CHECK-NEXT: fuseops.yield %[[V4]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V1]] : tensor<4xf32>
func.func @special(%x: !torch.vtensor<[4],si32>) -> !torch.vtensor<[4],f32> {
  %0 = torch.aten.lgamma %x : !torch.vtensor<[4],si32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// -----

// The backward operations that the dialect has names for, in either spelling.
// CHECK-LABEL: fuseops.fusible @named_gradients
// CHECK-SAME: (%[[V0:.+]]: tensor<4x8xbf16>, %[[V1:.+]]: tensor<4x8xbf16>) -> (tensor<4x8xbf16>, tensor<4x8xbf16>, tensor<4x8xbf16>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V2:.+]] = fuseops.silu_grad %[[V0]], %[[V1]] : tensor<4x8xbf16>
// CHECK-NEXT: %[[V3:.+]] = fuseops.gelu_grad %[[V0]], %[[V1]] approximate(tanh) : tensor<4x8xbf16>
// CHECK-NEXT: %[[V4:.+]] = fuseops.relu_grad %[[V0]], %[[V1]] : tensor<4x8xbf16>
// CHECK-NEXT: fuseops.return %[[V2]], %[[V3]], %[[V4]] : tensor<4x8xbf16>, tensor<4x8xbf16>, tensor<4x8xbf16>
func.func @named_gradients(%g: !torch.vtensor<[4,8],bf16>, %x: !torch.vtensor<[4,8],bf16>) -> (!torch.vtensor<[4,8],bf16>, !torch.vtensor<[4,8],bf16>, !torch.vtensor<[4,8],bf16>) {
  %tanh = torch.constant.str "tanh"
  %int0 = torch.constant.int 0
  %0 = torch.operator "torch.aten.silu_backward"(%g, %x) : (!torch.vtensor<[4,8],bf16>, !torch.vtensor<[4,8],bf16>) -> !torch.vtensor<[4,8],bf16>
  %1 = torch.aten.gelu_backward %g, %x, %tanh : !torch.vtensor<[4,8],bf16>, !torch.vtensor<[4,8],bf16>, !torch.str -> !torch.vtensor<[4,8],bf16>
  %2 = torch.aten.threshold_backward %g, %x, %int0 : !torch.vtensor<[4,8],bf16>, !torch.vtensor<[4,8],bf16>, !torch.int -> !torch.vtensor<[4,8],bf16>
  return %0, %1, %2 : !torch.vtensor<[4,8],bf16>, !torch.vtensor<[4,8],bf16>, !torch.vtensor<[4,8],bf16>
}

// -----

// The fake tensor has the dtype of `self`; eager promotes.
// CHECK-LABEL: fuseops.fusible @threshold_backward_promotes
// CHECK-SAME: -> tensor<4xf32>
// CHECK: fuseops.return %{{.+}} : tensor<4xf32>
func.func @threshold_backward_promotes(%g: !torch.vtensor<[4],f32>, %x: !torch.vtensor<[4],si64>) -> !torch.vtensor<[4],si64> {
  %int1 = torch.constant.int 1
  %0 = torch.aten.threshold_backward %g, %x, %int1 : !torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>, !torch.int -> !torch.vtensor<[4],si64>
  return %0 : !torch.vtensor<[4],si64>
}

// -----

// CHECK-LABEL: fuseops.fusible @tanh_backward
// CHECK-SAME: (%[[V0:.+]]: tensor<4xf32>, %[[V1:.+]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V2:.+]] = fuseops.pointwise (%[[V3:.+]] = %[[V0]], %[[V4:.+]] = %[[V1]]) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %[[V5:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[V6:.+]] = arith.mulf %[[V4]], %[[V4]] : f32
// CHECK-NEXT: %[[V7:.+]] = arith.subf %[[V5]], %[[V6]] : f32
// CHECK-NEXT: %[[V8:.+]] = arith.mulf %[[V3]], %[[V7]] : f32
// CHECK-NEXT: fuseops.yield %[[V8]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V2]] : tensor<4xf32>
func.func @tanh_backward(%g: !torch.vtensor<[4],f32>, %y: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %0 = torch.aten.tanh_backward %g, %y : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// -----

// Halves of any dimension.
// CHECK-LABEL: fuseops.fusible @glu
// CHECK-SAME: (%[[V0:.+]]: tensor<4x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.slice %[[V0]] dim(0) offset(0) : tensor<4x8xf32> -> tensor<2x8xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.slice %[[V0]] dim(0) offset(2) : tensor<4x8xf32> -> tensor<2x8xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.pointwise (%[[V4:.+]] = %[[V1]], %[[V5:.+]] = %[[V2]]) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT: %[[V6:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[V7:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V8:.+]] = arith.cmpf oge, %[[V5]], %[[V7]] : f32
// CHECK-NEXT: %[[V9:.+]] = arith.negf %[[V5]] : f32
// CHECK-NEXT: %[[V10:.+]] = arith.select %[[V8]], %[[V9]], %[[V5]] : f32
// CHECK-NEXT: %[[V11:.+]] = math.exp %[[V10]] : f32
// CHECK-NEXT: %[[V12:.+]] = arith.select %[[V8]], %[[V6]], %[[V11]] : f32
// CHECK-NEXT: %[[V13:.+]] = arith.addf %[[V6]], %[[V11]] : f32
// CHECK-NEXT: %[[V14:.+]] = arith.divf %[[V12]], %[[V13]] : f32
// CHECK-NEXT: %[[V15:.+]] = arith.mulf %[[V4]], %[[V14]] : f32
// CHECK-NEXT: fuseops.yield %[[V15]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V3]] : tensor<2x8xf32>
func.func @glu(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[2,8],f32> {
  %int0 = torch.constant.int 0
  %0 = torch.aten.glu %x, %int0 : !torch.vtensor<[4,8],f32>, !torch.int -> !torch.vtensor<[2,8],f32>
  return %0 : !torch.vtensor<[2,8],f32>
}

// -----

// One weight a channel, which is dimension 1.
// CHECK-LABEL: fuseops.fusible @prelu
// CHECK-SAME: (%[[V0:.+]]: tensor<2x3x5xf32>, %[[V1:.+]]: tensor<3xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[V1]] : tensor<3xf32> -> tensor<3x1xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.pointwise (%[[V4:.+]] = %[[V0]], %[[V5:.+]] = %[[V2]]) : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32> {
// CHECK-NEXT: %[[V6:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V7:.+]] = arith.cmpf ogt, %[[V4]], %[[V6]] : f32
// CHECK-NEXT: %[[V8:.+]] = arith.mulf %[[V4]], %[[V5]] : f32
// CHECK-NEXT: %[[V9:.+]] = arith.select %[[V7]], %[[V4]], %[[V8]] : f32
// CHECK-NEXT: fuseops.yield %[[V9]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V3]] : tensor<2x3x5xf32>
func.func @prelu(%x: !torch.vtensor<[2,3,5],f32>, %w: !torch.vtensor<[3],f32>) -> !torch.vtensor<[2,3,5],f32> {
  %0 = torch.aten.prelu %x, %w : !torch.vtensor<[2,3,5],f32>, !torch.vtensor<[3],f32> -> !torch.vtensor<[2,3,5],f32>
  return %0 : !torch.vtensor<[2,3,5],f32>
}

// -----

// Two results of one operation.
// CHECK-LABEL: fuseops.fusible @frexp
// CHECK-SAME: (%[[V0:.+]]: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]]:2 = fuseops.pointwise (%[[V2:.+]] = %[[V0]]) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>) {
// CHECK-NEXT: %[[V3:.+]] = math.absf %[[V2]] : f32
// CHECK-NEXT: %[[V4:.+]] = arith.constant 2.3509887E-38 : f32
// CHECK-NEXT: %[[V5:.+]] = arith.cmpf olt, %[[V3]], %[[V4]] : f32
// CHECK-NEXT: %[[V6:.+]] = arith.constant 0x4B000000 : f32
// CHECK-NEXT: %[[V7:.+]] = arith.mulf %[[V2]], %[[V6]] : f32
// CHECK-NEXT: %[[V8:.+]] = arith.select %[[V5]], %[[V7]], %[[V2]] : f32
// CHECK-NEXT: %[[V9:.+]] = arith.bitcast %[[V8]] : f32 to i32
// CHECK-NEXT: %[[V10:.+]] = arith.constant 23 : i32
// CHECK-NEXT: %[[V11:.+]] = arith.shrui %[[V9]], %[[V10]] : i32
// CHECK-NEXT: %[[V12:.+]] = arith.constant 255 : i32
// CHECK-NEXT: %[[V13:.+]] = arith.andi %[[V11]], %[[V12]] : i32
// CHECK-NEXT: %[[V14:.+]] = arith.constant 149 : i32
// CHECK-NEXT: %[[V15:.+]] = arith.constant 126 : i32
// CHECK-NEXT: %[[V16:.+]] = arith.select %[[V5]], %[[V14]], %[[V15]] : i32
// CHECK-NEXT: %[[V17:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V18:.+]] = arith.cmpf oeq, %[[V2]], %[[V17]] : f32
// CHECK-NEXT: %[[V19:.+]] = arith.cmpf uno, %[[V2]], %[[V2]] : f32
// CHECK-NEXT: %[[V20:.+]] = math.absf %[[V2]] : f32
// CHECK-NEXT: %[[V21:.+]] = arith.constant 0x7F800000 : f32
// CHECK-NEXT: %[[V22:.+]] = arith.cmpf oeq, %[[V20]], %[[V21]] : f32
// CHECK-NEXT: %[[V23:.+]] = arith.ori %[[V19]], %[[V22]] : i1
// CHECK-NEXT: %[[V24:.+]] = arith.ori %[[V18]], %[[V23]] : i1
// CHECK-NEXT: %[[V25:.+]] = arith.constant 0 : i32
// CHECK-NEXT: %[[V26:.+]] = arith.subi %[[V13]], %[[V16]] : i32
// CHECK-NEXT: %[[V27:.+]] = arith.select %[[V24]], %[[V25]], %[[V26]] : i32
// CHECK-NEXT: %[[V28:.+]] = arith.constant 1 : i32
// CHECK-NEXT: %[[V29:.+]] = arith.shrsi %[[V27]], %[[V28]] : i32
// CHECK-NEXT: %[[V30:.+]] = arith.subi %[[V27]], %[[V29]] : i32
// CHECK-NEXT: %[[V31:.+]] = arith.constant 0 : i32
// CHECK-NEXT: %[[V32:.+]] = arith.subi %[[V31]], %[[V29]] : i32
// CHECK-NEXT: %[[V33:.+]] = arith.sitofp %[[V32]] : i32 to f32
// CHECK-NEXT: %[[V34:.+]] = math.exp2 %[[V33]] : f32
// CHECK-NEXT: %[[V35:.+]] = arith.mulf %[[V2]], %[[V34]] : f32
// CHECK-NEXT: %[[V36:.+]] = arith.constant 0 : i32
// CHECK-NEXT: %[[V37:.+]] = arith.subi %[[V36]], %[[V30]] : i32
// CHECK-NEXT: %[[V38:.+]] = arith.sitofp %[[V37]] : i32 to f32
// CHECK-NEXT: %[[V39:.+]] = math.exp2 %[[V38]] : f32
// CHECK-NEXT: %[[V40:.+]] = arith.mulf %[[V35]], %[[V39]] : f32
// CHECK-NEXT: fuseops.yield %[[V40]], %[[V27]] : f32, i32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V1]]#0, %[[V1]]#1 : tensor<4xf32>, tensor<4xi32>
func.func @frexp(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],si32>) {
  %0:2 = torch.operator "torch.aten.frexp.Tensor"(%x) : (!torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],si32>)
  return %0#0, %0#1 : !torch.vtensor<[4],f32>, !torch.vtensor<[4],si32>
}
