// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// CHECK-LABEL: fuseops.fusible @constant
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x3xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise () : () -> tensor<2x1xf32> {
// CHECK-NEXT: %[[C2:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: fuseops.yield %[[C2]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V3:.+]] = fuseops.concat %[[V1]], %[[ARG0]] dim(1) : (tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: fuseops.return %[[V3]] : tensor<2x4xf32>
func.func @constant(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,4],f32> {
  %p0 = torch.constant.int 1
  %p1 = torch.constant.int 0
  %none = torch.constant.none
  %mode = torch.constant.str "constant"
  %l = torch.prim.ListConstruct %p0, %p1 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.pad %x, %l, %mode, %none : !torch.vtensor<[2,3],f32>, !torch.list<int>, !torch.str, !torch.none -> !torch.vtensor<[2,4],f32>
  return %0 : !torch.vtensor<[2,4],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @replicate
// CHECK-SAME: (%[[ARG0:.+]]: tensor<1x2x3xf32>) -> tensor<1x2x6xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.slice %[[ARG0]] dim(2) offset(0) : tensor<1x2x3xf32> -> tensor<1x2x1xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.slice %[[ARG0]] dim(2) offset(2) : tensor<1x2x3xf32> -> tensor<1x2x1xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.expand %[[V2]] : tensor<1x2x1xf32> -> tensor<1x2x2xf32>
// CHECK-NEXT: %[[V4:.+]] = fuseops.concat %[[V1]], %[[ARG0]], %[[V3]] dim(2) : (tensor<1x2x1xf32>, tensor<1x2x3xf32>, tensor<1x2x2xf32>) -> tensor<1x2x6xf32>
// CHECK-NEXT: fuseops.return %[[V4]] : tensor<1x2x6xf32>
func.func @replicate(%x: !torch.vtensor<[1,2,3],f32>) -> !torch.vtensor<[1,2,6],f32> {
  %p0 = torch.constant.int 1
  %p1 = torch.constant.int 2
  %none = torch.constant.none
  %mode = torch.constant.str "replicate"
  %l = torch.prim.ListConstruct %p0, %p1 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.pad %x, %l, %mode, %none : !torch.vtensor<[1,2,3],f32>, !torch.list<int>, !torch.str, !torch.none -> !torch.vtensor<[1,2,6],f32>
  return %0 : !torch.vtensor<[1,2,6],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @circular
// CHECK-SAME: (%[[ARG0:.+]]: tensor<1x2x3xf32>) -> tensor<1x2x6xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.slice %[[ARG0]] dim(2) offset(2) : tensor<1x2x3xf32> -> tensor<1x2x1xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.slice %[[ARG0]] dim(2) offset(0) : tensor<1x2x3xf32> -> tensor<1x2x2xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.concat %[[V1]], %[[ARG0]], %[[V2]] dim(2) : (tensor<1x2x1xf32>, tensor<1x2x3xf32>, tensor<1x2x2xf32>) -> tensor<1x2x6xf32>
// CHECK-NEXT: fuseops.return %[[V3]] : tensor<1x2x6xf32>
func.func @circular(%x: !torch.vtensor<[1,2,3],f32>) -> !torch.vtensor<[1,2,6],f32> {
  %p0 = torch.constant.int 1
  %p1 = torch.constant.int 2
  %none = torch.constant.none
  %mode = torch.constant.str "circular"
  %l = torch.prim.ListConstruct %p0, %p1 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.pad %x, %l, %mode, %none : !torch.vtensor<[1,2,3],f32>, !torch.list<int>, !torch.str, !torch.none -> !torch.vtensor<[1,2,6],f32>
  return %0 : !torch.vtensor<[1,2,6],f32>
}

// -----

// The edge itself is not repeated.
// CHECK-LABEL: fuseops.fusible @reflect
// CHECK-SAME: (%[[ARG0:.+]]: tensor<1x2x3xf32>) -> tensor<1x2x6xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.slice %[[ARG0]] dim(2) offset(1) step(-1) : tensor<1x2x3xf32> -> tensor<1x2x1xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.slice %[[ARG0]] dim(2) offset(1) step(-1) : tensor<1x2x3xf32> -> tensor<1x2x2xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.concat %[[V1]], %[[ARG0]], %[[V2]] dim(2) : (tensor<1x2x1xf32>, tensor<1x2x3xf32>, tensor<1x2x2xf32>) -> tensor<1x2x6xf32>
// CHECK-NEXT: fuseops.return %[[V3]] : tensor<1x2x6xf32>
func.func @reflect(%x: !torch.vtensor<[1,2,3],f32>) -> !torch.vtensor<[1,2,6],f32> {
  %p0 = torch.constant.int 1
  %p1 = torch.constant.int 2
  %none = torch.constant.none
  %mode = torch.constant.str "reflect"
  %l = torch.prim.ListConstruct %p0, %p1 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.pad %x, %l, %mode, %none : !torch.vtensor<[1,2,3],f32>, !torch.list<int>, !torch.str, !torch.none -> !torch.vtensor<[1,2,6],f32>
  return %0 : !torch.vtensor<[1,2,6],f32>
}

// -----

// What is cut doesn't come back.
// CHECK-LABEL: fuseops.fusible @circular_cut
// CHECK-SAME: (%[[ARG0:.+]]: tensor<1x2x4xf32>) -> tensor<1x2x5xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V1:.+]] = fuseops.slice %[[ARG0]] dim(2) offset(1) : tensor<1x2x4xf32> -> tensor<1x2x2xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.slice %[[ARG0]] dim(2) offset(0) : tensor<1x2x4xf32> -> tensor<1x2x3xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.concat %[[V1]], %[[V2]] dim(2) : (tensor<1x2x2xf32>, tensor<1x2x3xf32>) -> tensor<1x2x5xf32>
// CHECK-NEXT: fuseops.return %[[V3]] : tensor<1x2x5xf32>
func.func @circular_cut(%x: !torch.vtensor<[1,2,4],f32>) -> !torch.vtensor<[1,2,5],f32> {
  %p0 = torch.constant.int 2
  %p1 = torch.constant.int -1
  %none = torch.constant.none
  %mode = torch.constant.str "circular"
  %l = torch.prim.ListConstruct %p0, %p1 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.pad %x, %l, %mode, %none : !torch.vtensor<[1,2,4],f32>, !torch.list<int>, !torch.str, !torch.none -> !torch.vtensor<[1,2,5],f32>
  return %0 : !torch.vtensor<[1,2,5],f32>
}
