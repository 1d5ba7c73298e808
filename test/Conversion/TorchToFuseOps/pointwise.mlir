// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// CHECK-LABEL: fuseops.fusible @activations
// CHECK-SAME: (%[[X:.+]]: tensor<?x64xbf16>) -> tensor<?x64xbf16>
func.func @activations(%x: !torch.vtensor<[?,64],bf16>) -> !torch.vtensor<[?,64],bf16> {
  // CHECK: %[[A:.+]] = fuseops.silu %[[X]] : tensor<?x64xbf16>
  %0 = torch.aten.silu %x : !torch.vtensor<[?,64],bf16> -> !torch.vtensor<[?,64],bf16>
  // CHECK-NEXT: %[[B:.+]] = fuseops.relu %[[A]] : tensor<?x64xbf16>
  %1 = torch.aten.relu %0 : !torch.vtensor<[?,64],bf16> -> !torch.vtensor<[?,64],bf16>
  // CHECK-NEXT: %[[C:.+]] = fuseops.gelu %[[B]] approximate(none) : tensor<?x64xbf16>
  %none = torch.constant.str "none"
  %2 = torch.aten.gelu %1, %none : !torch.vtensor<[?,64],bf16>, !torch.str -> !torch.vtensor<[?,64],bf16>
  // CHECK-NEXT: %[[D:.+]] = fuseops.gelu %[[C]] approximate(tanh) : tensor<?x64xbf16>
  %tanh = torch.constant.str "tanh"
  %3 = torch.aten.gelu %2, %tanh : !torch.vtensor<[?,64],bf16>, !torch.str -> !torch.vtensor<[?,64],bf16>
  // CHECK-NEXT: fuseops.return %[[D]] : tensor<?x64xbf16>
  return %3 : !torch.vtensor<[?,64],bf16>
}

// -----

// A bf16 element is computed in f32 and rounded once.
// CHECK-LABEL: fuseops.fusible @unary
func.func @unary(%x: !torch.vtensor<[4,64],bf16>) -> !torch.vtensor<[4,64],bf16> {
  // CHECK: fuseops.pointwise (%[[X:.+]] = %{{.+}}) : (tensor<4x64xbf16>) -> tensor<4x64xbf16> {
  // CHECK-NEXT: %[[Y:.+]] = math.tanh %[[X]] : f32
  // CHECK-NEXT: fuseops.yield %[[Y]] : f32
  %0 = torch.aten.tanh %x : !torch.vtensor<[4,64],bf16> -> !torch.vtensor<[4,64],bf16>
  // CHECK: math.exp
  %1 = torch.aten.exp %0 : !torch.vtensor<[4,64],bf16> -> !torch.vtensor<[4,64],bf16>
  // CHECK: arith.negf
  %2 = torch.aten.neg %1 : !torch.vtensor<[4,64],bf16> -> !torch.vtensor<[4,64],bf16>
  // CHECK: math.absf
  %3 = torch.aten.abs %2 : !torch.vtensor<[4,64],bf16> -> !torch.vtensor<[4,64],bf16>
  // CHECK: math.sqrt
  %4 = torch.aten.sqrt %3 : !torch.vtensor<[4,64],bf16> -> !torch.vtensor<[4,64],bf16>
  // CHECK: math.rsqrt
  %5 = torch.aten.rsqrt %4 : !torch.vtensor<[4,64],bf16> -> !torch.vtensor<[4,64],bf16>
  // CHECK: %[[ONE:.+]] = arith.constant 1.0
  // CHECK-NEXT: arith.divf %[[ONE]], %{{.+}} : f32
  %6 = torch.aten.reciprocal %5 : !torch.vtensor<[4,64],bf16> -> !torch.vtensor<[4,64],bf16>
  // CHECK: math.log
  %7 = torch.aten.log %6 : !torch.vtensor<[4,64],bf16> -> !torch.vtensor<[4,64],bf16>
  // CHECK: math.erf
  %8 = torch.aten.erf %7 : !torch.vtensor<[4,64],bf16> -> !torch.vtensor<[4,64],bf16>
  // CHECK: math.sin
  %9 = torch.aten.sin %8 : !torch.vtensor<[4,64],bf16> -> !torch.vtensor<[4,64],bf16>
  // CHECK: math.cos
  %10 = torch.aten.cos %9 : !torch.vtensor<[4,64],bf16> -> !torch.vtensor<[4,64],bf16>
  // CHECK: arith.mulf %[[S:.+]], %[[S]] : f32
  %11 = torch.aten.square %10 : !torch.vtensor<[4,64],bf16> -> !torch.vtensor<[4,64],bf16>
  return %11 : !torch.vtensor<[4,64],bf16>
}

// -----

// exp(-|x|) doesn't overflow, so that its derivative is no NaN.
// CHECK-LABEL: fuseops.fusible @sigmoid
func.func @sigmoid(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  // CHECK: fuseops.pointwise (%[[X:.+]] = %{{.+}}) :
  // CHECK-NEXT: %[[ONE:.+]] = arith.constant 1.0
  // CHECK-NEXT: %[[ZERO:.+]] = arith.constant 0.0
  // CHECK-NEXT: %[[C:.+]] = arith.cmpf oge, %[[X]], %[[ZERO]] : f32
  // CHECK-NEXT: %[[N:.+]] = arith.negf %[[X]] : f32
  // CHECK-NEXT: %[[M:.+]] = arith.select %[[C]], %[[N]], %[[X]] : f32
  // CHECK-NEXT: %[[E:.+]] = math.exp %[[M]] : f32
  // CHECK-DAG: %[[U:.+]] = arith.select %[[C]], %[[ONE]], %[[E]] : f32
  // CHECK-DAG: %[[D:.+]] = arith.addf %[[ONE]], %[[E]] : f32
  // CHECK: arith.divf %[[U]], %[[D]] : f32
  %0 = torch.aten.sigmoid %x : !torch.vtensor<[4,64],f32> -> !torch.vtensor<[4,64],f32>
  return %0 : !torch.vtensor<[4,64],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @power
func.func @power(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  // CHECK: (%[[A:.+]] = %{{.+}}) :
  // CHECK-NEXT: arith.mulf %[[A]], %[[A]] : f32
  // CHECK-NEXT: fuseops.yield
  %int2 = torch.constant.int 2
  %0 = torch.aten.pow.Tensor_Scalar %x, %int2 : !torch.vtensor<[4,64],f32>, !torch.int -> !torch.vtensor<[4,64],f32>
  // CHECK: (%[[B:.+]] = %{{.+}}) :
  // CHECK-NEXT: %[[B2:.+]] = arith.mulf %[[B]], %[[B]] : f32
  // CHECK-NEXT: arith.mulf %[[B2]], %[[B]] : f32
  %float3 = torch.constant.float 3.0
  %1 = torch.aten.pow.Tensor_Scalar %0, %float3 : !torch.vtensor<[4,64],f32>, !torch.float -> !torch.vtensor<[4,64],f32>
  // CHECK: math.sqrt
  %float5 = torch.constant.float 5.0e-01
  %2 = torch.aten.pow.Tensor_Scalar %1, %float5 : !torch.vtensor<[4,64],f32>, !torch.float -> !torch.vtensor<[4,64],f32>
  // CHECK: math.rsqrt
  %float-5 = torch.constant.float -5.0e-01
  %3 = torch.aten.pow.Tensor_Scalar %2, %float-5 : !torch.vtensor<[4,64],f32>, !torch.float -> !torch.vtensor<[4,64],f32>
  // CHECK: (%[[E:.+]] = %[[P:.+]]) :
  // CHECK-NEXT: %[[ONE:.+]] = arith.constant 1.0
  // CHECK-NEXT: arith.divf %[[ONE]], %[[E]] : f32
  %int-1 = torch.constant.int -1
  %4 = torch.aten.pow.Tensor_Scalar %3, %int-1 : !torch.vtensor<[4,64],f32>, !torch.int -> !torch.vtensor<[4,64],f32>
  // CHECK-NOT: fuseops.pointwise
  %int1 = torch.constant.int 1
  %5 = torch.aten.pow.Tensor_Scalar %4, %int1 : !torch.vtensor<[4,64],f32>, !torch.int -> !torch.vtensor<[4,64],f32>
  return %5 : !torch.vtensor<[4,64],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @sums
// CHECK-SAME: (%[[X:.+]]: tensor<4x64xf32>, %[[B:.+]]: tensor<64xf32>, %[[C:.+]]: tensor<4x1xf32>)
func.func @sums(%x: !torch.vtensor<[4,64],f32>, %b: !torch.vtensor<[64],f32>, %c: !torch.vtensor<[4,1],f32>) -> !torch.vtensor<[4,64],f32> {
  %int1 = torch.constant.int 1
  // CHECK: %[[Y:.+]] = fuseops.add %[[X]], %[[C]] : tensor<4x64xf32>, tensor<4x1xf32> -> tensor<4x64xf32>
  %0 = torch.aten.add.Tensor %x, %c, %int1 : !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,1],f32>, !torch.int -> !torch.vtensor<[4,64],f32>
  // A row vector is a bias, on either side.
  // CHECK-NEXT: %[[Z:.+]] = fuseops.bias %[[Y]], %[[B]] : tensor<4x64xf32>, tensor<64xf32>
  %1 = torch.aten.add.Tensor %0, %b, %int1 : !torch.vtensor<[4,64],f32>, !torch.vtensor<[64],f32>, !torch.int -> !torch.vtensor<[4,64],f32>
  // CHECK-NEXT: %[[W:.+]] = fuseops.bias %[[Z]], %[[B]]
  %2 = torch.aten.add.Tensor %b, %1, %int1 : !torch.vtensor<[64],f32>, !torch.vtensor<[4,64],f32>, !torch.int -> !torch.vtensor<[4,64],f32>
  // CHECK-NEXT: fuseops.pointwise (%[[L:.+]] = %[[W]], %[[R:.+]] = %[[X]])
  // CHECK-NEXT: %[[TWO:.+]] = arith.constant 2.0
  // CHECK-NEXT: %[[S:.+]] = arith.mulf %[[TWO]], %[[R]] : f32
  // CHECK-NEXT: arith.addf %[[L]], %[[S]] : f32
  %int2 = torch.constant.int 2
  %3 = torch.aten.add.Tensor %2, %x, %int2 : !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>, !torch.int -> !torch.vtensor<[4,64],f32>
  // CHECK: fuseops.pointwise (%[[L:.+]] = %{{.+}}, %[[R:.+]] = %[[X]])
  // CHECK-NEXT: arith.subf %[[L]], %[[R]] : f32
  %4 = torch.aten.sub.Tensor %3, %x, %int1 : !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>, !torch.int -> !torch.vtensor<[4,64],f32>
  return %4 : !torch.vtensor<[4,64],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @products
// CHECK-SAME: (%[[X:.+]]: tensor<4x64xf32>, %[[G:.+]]: tensor<64xf32>)
func.func @products(%x: !torch.vtensor<[4,64],f32>, %g: !torch.vtensor<[64],f32>) -> !torch.vtensor<[4,64],f32> {
  // CHECK: %[[A:.+]] = fuseops.mul %[[G]], %[[X]] : tensor<64xf32>, tensor<4x64xf32> -> tensor<4x64xf32>
  %0 = torch.aten.mul.Tensor %g, %x : !torch.vtensor<[64],f32>, !torch.vtensor<[4,64],f32> -> !torch.vtensor<[4,64],f32>
  // CHECK-NEXT: fuseops.pointwise (%[[L:.+]] = %[[A]], %[[R:.+]] = %[[X]])
  // CHECK-NEXT: arith.divf %[[L]], %[[R]] : f32
  %1 = torch.aten.div.Tensor %0, %x : !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32> -> !torch.vtensor<[4,64],f32>
  return %1 : !torch.vtensor<[4,64],f32>
}

// -----

// A scalar is an int where Python had an int.
// CHECK-LABEL: fuseops.fusible @scalars
// CHECK-SAME: (%[[X:.+]]: tensor<4x64xf32>)
func.func @scalars(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  // CHECK: %[[A:.+]] = fuseops.scale %[[X]] by(3.000000e+00) : tensor<4x64xf32>
  %int3 = torch.constant.int 3
  %0 = torch.aten.mul.Scalar %x, %int3 : !torch.vtensor<[4,64],f32>, !torch.int -> !torch.vtensor<[4,64],f32>
  // CHECK-NEXT: (%[[B:.+]] = %[[A]])
  // CHECK-NEXT: %[[SIX:.+]] = arith.constant 6.0
  // CHECK-NEXT: arith.addf %[[B]], %[[SIX]] : f32
  %int2 = torch.constant.int 2
  %1 = torch.aten.add.Scalar %0, %int3, %int2 : !torch.vtensor<[4,64],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,64],f32>
  // CHECK: (%[[C:.+]] = %{{.+}})
  // CHECK-NEXT: %[[THREE:.+]] = arith.constant 3.0
  // CHECK-NEXT: arith.subf %[[C]], %[[THREE]] : f32
  %int1 = torch.constant.int 1
  %2 = torch.aten.sub.Scalar %1, %int3, %int1 : !torch.vtensor<[4,64],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,64],f32>
  // rsub is number - alpha * tensor.
  // CHECK: (%[[D:.+]] = %{{.+}})
  // CHECK-NEXT: %[[THREE:.+]] = arith.constant 3.0
  // CHECK-NEXT: %[[TWO:.+]] = arith.constant 2.0
  // CHECK-NEXT: %[[S:.+]] = arith.mulf %[[TWO]], %[[D]] : f32
  // CHECK-NEXT: arith.subf %[[THREE]], %[[S]] : f32
  %3 = torch.aten.rsub.Scalar %2, %int3, %int2 : !torch.vtensor<[4,64],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,64],f32>
  // CHECK: (%[[E:.+]] = %{{.+}})
  // CHECK-NEXT: %[[THREE:.+]] = arith.constant 3.0
  // CHECK-NEXT: arith.divf %[[E]], %[[THREE]] : f32
  %4 = torch.aten.div.Scalar %3, %int3 : !torch.vtensor<[4,64],f32>, !torch.int -> !torch.vtensor<[4,64],f32>
  return %4 : !torch.vtensor<[4,64],f32>
}

// -----

// A tensor of rank 0 doesn't widen the result: it's converted first.
// CHECK-LABEL: fuseops.fusible @promotion
// CHECK-SAME: (%[[X:.+]]: tensor<4x64xbf16>, %[[Y:.+]]: tensor<4x64xf32>, %[[S:.+]]: tensor<f32>)
func.func @promotion(%x: !torch.vtensor<[4,64],bf16>, %y: !torch.vtensor<[4,64],f32>, %s: !torch.vtensor<[],f32>) -> (!torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],bf16>) {
  // CHECK: %[[A:.+]] = fuseops.mul %[[X]], %[[Y]] : tensor<4x64xbf16>, tensor<4x64xf32> -> tensor<4x64xf32>
  %0 = torch.aten.mul.Tensor %x, %y : !torch.vtensor<[4,64],bf16>, !torch.vtensor<[4,64],f32> -> !torch.vtensor<[4,64],f32>
  // CHECK-NEXT: %[[T:.+]] = fuseops.cast %[[S]] : tensor<f32> -> tensor<bf16>
  // CHECK-NEXT: %[[B:.+]] = fuseops.mul %[[X]], %[[T]] : tensor<4x64xbf16>, tensor<bf16> -> tensor<4x64xbf16>
  %1 = torch.aten.mul.Tensor %x, %s : !torch.vtensor<[4,64],bf16>, !torch.vtensor<[],f32> -> !torch.vtensor<[4,64],bf16>
  // CHECK-NEXT: fuseops.return %[[A]], %[[B]]
  return %0, %1 : !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],bf16>
}

// -----

// f64 computes in f64.
// CHECK-LABEL: fuseops.fusible @double
func.func @double(%x: !torch.vtensor<[4,64],f64>) -> !torch.vtensor<[4,64],f64> {
  // CHECK: math.tanh %{{.+}} : f64
  %0 = torch.aten.tanh %x : !torch.vtensor<[4,64],f64> -> !torch.vtensor<[4,64],f64>
  return %0 : !torch.vtensor<[4,64],f64>
}
