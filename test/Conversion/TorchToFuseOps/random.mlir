// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// The program gets one random state; the second dropout steps its offset, which
// is word 1, so that the two don't drop the same elements.
// CHECK-LABEL: fuseops.fusible @train
// CHECK-SAME: (%[[X:.+]]: tensor<4x64xf32>, %[[S:.+]]: tensor<2xi64> {fuseops.random_state}) -> tensor<4x64xf32>
func.func @train(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %p = torch.constant.float 1.000000e-01
  %true = torch.constant.bool true
  // CHECK: %[[A:.+]] = fuseops.dropout %[[X]], %[[S]] p(1.000000e-01) : tensor<4x64xf32>, tensor<2xi64>
  %result0, %result1 = torch.aten.native_dropout %x, %p, %true : !torch.vtensor<[4,64],f32>, !torch.float, !torch.bool -> !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],i1>
  // CHECK-NEXT: %[[T:.+]] = fuseops.pointwise (%[[W:.+]] = %[[S]]) : (tensor<2xi64>) -> tensor<2xi64> {
  // CHECK-NEXT: %[[ONE:.+]] = arith.constant 1 : i64
  // CHECK-NEXT: %[[ZERO:.+]] = arith.constant 0 : i64
  // CHECK-NEXT: %[[STEP:.+]] = arith.constant 1 : i64
  // CHECK-NEXT: %[[I:.+]] = fuseops.linear_index : i64
  // CHECK-NEXT: %[[C:.+]] = arith.cmpi eq, %[[I]], %[[ONE]] : i64
  // CHECK-NEXT: %[[K:.+]] = arith.select %[[C]], %[[STEP]], %[[ZERO]] : i64
  // CHECK-NEXT: %[[N:.+]] = arith.addi %[[W]], %[[K]] : i64
  // CHECK-NEXT: fuseops.yield %[[N]] : i64
  // CHECK: fuseops.dropout %[[A]], %[[T]] p(1.000000e-01)
  %0 = torch.aten.dropout %result0, %p, %true : !torch.vtensor<[4,64],f32>, !torch.float, !torch.bool -> !torch.vtensor<[4,64],f32>
  return %0 : !torch.vtensor<[4,64],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @identity
// CHECK-SAME: (%[[X:.+]]: tensor<4x64xf32>) -> tensor<4x64xf32>
func.func @identity(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %p = torch.constant.float 1.000000e-01
  %zero = torch.constant.int 0
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  %0 = torch.aten.dropout %x, %p, %false : !torch.vtensor<[4,64],f32>, !torch.float, !torch.bool -> !torch.vtensor<[4,64],f32>
  %1 = torch.aten.dropout %0, %zero, %true : !torch.vtensor<[4,64],f32>, !torch.int, !torch.bool -> !torch.vtensor<[4,64],f32>
  // CHECK-NEXT: forward {
  // CHECK-NEXT: fuseops.relu %[[X]]
  %2 = torch.aten.relu %1 : !torch.vtensor<[4,64],f32> -> !torch.vtensor<[4,64],f32>
  return %2 : !torch.vtensor<[4,64],f32>
}

// -----

// dropout of all elements multiplies by zero, and so has a gradient;
// native_dropout makes zeros.
// CHECK-LABEL: fuseops.fusible @all
// CHECK-SAME: (%[[X:.+]]: tensor<4x64xf32>)
func.func @all(%x: !torch.vtensor<[4,64],f32>) -> (!torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>) {
  %one = torch.constant.int 1
  %true = torch.constant.bool true
  // CHECK: %[[A:.+]] = fuseops.pointwise (%[[E:.+]] = %[[X]])
  // CHECK-NEXT: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
  // CHECK-NEXT: arith.mulf %[[E]], %[[ZERO]] : f32
  // CHECK: %[[B:.+]] = fuseops.pointwise ()
  %0 = torch.aten.dropout %x, %one, %true : !torch.vtensor<[4,64],f32>, !torch.int, !torch.bool -> !torch.vtensor<[4,64],f32>
  %result0, %result1 = torch.aten.native_dropout %x, %one, %true : !torch.vtensor<[4,64],f32>, !torch.int, !torch.bool -> !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],i1>
  // CHECK: fuseops.return %[[A]], %[[B]]
  return %0, %result0 : !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>
}
