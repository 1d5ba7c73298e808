// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// The mean divides what is accumulated, and rounds once.
// CHECK-LABEL: fuseops.fusible @mean
// CHECK-SAME: (%[[X:.+]]: tensor<?x16x64xbf16>)
func.func @mean(%x: !torch.vtensor<[?,16,64],bf16>) -> !torch.vtensor<[?,16,1],bf16> {
  %int-1 = torch.constant.int -1
  %0 = torch.prim.ListConstruct %int-1 : (!torch.int) -> !torch.list<int>
  %true = torch.constant.bool true
  %none = torch.constant.none
  // CHECK: %[[S:.+]] = fuseops.reduce_columns sum %[[X]] : tensor<?x16x64xbf16> -> tensor<?x16x1xf32>
  // CHECK-NEXT: fuseops.pointwise (%[[E:.+]] = %[[S]]) : (tensor<?x16x1xf32>) -> tensor<?x16x1xbf16> {
  // CHECK-NEXT: %[[N:.+]] = arith.constant 6.400000e+01 : f32
  // CHECK-NEXT: arith.divf %[[E]], %[[N]] : f32
  %1 = torch.aten.mean.dim %x, %0, %true, %none : !torch.vtensor<[?,16,64],bf16>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[?,16,1],bf16>
  return %1 : !torch.vtensor<[?,16,1],bf16>
}

// -----

// CHECK-LABEL: fuseops.fusible @sums
// CHECK-SAME: (%[[X:.+]]: tensor<4x8x64xbf16>)
func.func @sums(%x: !torch.vtensor<[4,8,64],bf16>) -> (!torch.vtensor<[4,8],bf16>, !torch.vtensor<[64],bf16>, !torch.vtensor<[1,1,64],bf16>, !torch.vtensor<[4,8,1],f32>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int6 = torch.constant.int 6
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  %none = torch.constant.none
  %last = torch.prim.ListConstruct %int2 : (!torch.int) -> !torch.list<int>
  %rows = torch.prim.ListConstruct %int1, %int0 : (!torch.int, !torch.int) -> !torch.list<int>
  // CHECK: %[[A:.+]] = fuseops.reduce_columns sum %[[X]] : tensor<4x8x64xbf16> -> tensor<4x8x1xbf16>
  // CHECK-NEXT: fuseops.reshape %[[A]] : tensor<4x8x1xbf16> -> tensor<4x8xbf16>
  %0 = torch.aten.sum.dim_IntList %x, %last, %false, %none : !torch.vtensor<[4,8,64],bf16>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[4,8],bf16>
  // CHECK-NEXT: fuseops.reduce_rows sum %[[X]] : tensor<4x8x64xbf16> -> tensor<64xbf16>
  %1 = torch.aten.sum.dim_IntList %x, %rows, %false, %none : !torch.vtensor<[4,8,64],bf16>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[64],bf16>
  // CHECK-NEXT: %[[C:.+]] = fuseops.reduce_rows sum %[[X]] : tensor<4x8x64xbf16> -> tensor<64xbf16>
  // CHECK-NEXT: fuseops.reshape %[[C]] : tensor<64xbf16> -> tensor<1x1x64xbf16>
  %2 = torch.aten.sum.dim_IntList %x, %rows, %true, %none : !torch.vtensor<[4,8,64],bf16>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,1,64],bf16>
  // CHECK-NEXT: %[[D:.+]] = fuseops.cast %[[X]] : tensor<4x8x64xbf16> -> tensor<4x8x64xf32>
  // CHECK-NEXT: fuseops.reduce_columns sum %[[D]] : tensor<4x8x64xf32> -> tensor<4x8x1xf32>
  %3 = torch.aten.sum.dim_IntList %x, %last, %true, %int6 : !torch.vtensor<[4,8,64],bf16>, !torch.list<int>, !torch.bool, !torch.int -> !torch.vtensor<[4,8,1],f32>
  return %0, %1, %2, %3 : !torch.vtensor<[4,8],bf16>, !torch.vtensor<[64],bf16>, !torch.vtensor<[1,1,64],bf16>, !torch.vtensor<[4,8,1],f32>
}
