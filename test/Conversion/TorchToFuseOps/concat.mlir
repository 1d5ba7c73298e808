// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// The dtype is the result's.
// CHECK-LABEL: fuseops.fusible @cat
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x16xbf16>, %[[ARG1:.+]]: tensor<4x48xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]]) : (tensor<4x16xbf16>) -> tensor<4x16xf32> {
// CHECK-NEXT: fuseops.yield %[[ARG2]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V1:.+]] = fuseops.concat %[[V0]], %[[ARG1]] dim(1) : (tensor<4x16xf32>, tensor<4x48xf32>) -> tensor<4x64xf32>
// CHECK-NEXT: fuseops.return %[[V1]] : tensor<4x64xf32>
func.func @cat(%x: !torch.vtensor<[4,16],bf16>, %y: !torch.vtensor<[4,48],f32>) -> !torch.vtensor<[4,64],f32> {
  %int-1 = torch.constant.int -1
  %l0 = torch.prim.ListConstruct %x, %y : (!torch.vtensor<[4,16],bf16>, !torch.vtensor<[4,48],f32>) -> !torch.list<vtensor>
  %1 = torch.aten.cat %l0, %int-1 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[4,64],f32>
  return %1 : !torch.vtensor<[4,64],f32>
}

// -----

// PyTorch joins a tensor of no elements and one dimension to any other.
// CHECK-LABEL: fuseops.fusible @cat_of_empty
// CHECK-SAME: (%[[ARG0:.+]]: tensor<0xf32>, %[[ARG1:.+]]: tensor<4x48xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: fuseops.return %[[ARG1]] : tensor<4x48xf32>
func.func @cat_of_empty(%x: !torch.vtensor<[0],f32>, %y: !torch.vtensor<[4,48],f32>) -> !torch.vtensor<[4,48],f32> {
  %int0 = torch.constant.int 0
  %l0 = torch.prim.ListConstruct %x, %y : (!torch.vtensor<[0],f32>, !torch.vtensor<[4,48],f32>) -> !torch.list<vtensor>
  %1 = torch.aten.cat %l0, %int0 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[4,48],f32>
  return %1 : !torch.vtensor<[4,48],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @stack
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x16xf32>, %[[ARG1:.+]]: tensor<4x16xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reshape %[[ARG0]] : tensor<4x16xf32> -> tensor<4x1x16xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[ARG1]] : tensor<4x16xf32> -> tensor<4x1x16xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.concat %[[V0]], %[[V1]] dim(1) : (tensor<4x1x16xf32>, tensor<4x1x16xf32>) -> tensor<4x2x16xf32>
// CHECK-NEXT: fuseops.return %[[V2]] : tensor<4x2x16xf32>
func.func @stack(%x: !torch.vtensor<[4,16],f32>, %y: !torch.vtensor<[4,16],f32>) -> !torch.vtensor<[4,2,16],f32> {
  %int1 = torch.constant.int 1
  %l0 = torch.prim.ListConstruct %x, %y : (!torch.vtensor<[4,16],f32>, !torch.vtensor<[4,16],f32>) -> !torch.list<vtensor>
  %1 = torch.aten.stack %l0, %int1 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[4,2,16],f32>
  return %1 : !torch.vtensor<[4,2,16],f32>
}

// -----

// The last dimension comes first; a negative size cuts.
// CHECK-LABEL: fuseops.fusible @pad
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x16xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.pointwise () : () -> tensor<4x2xf32> {
// CHECK-NEXT: %[[CST:.+]] = arith.constant 1.500000e+00 : f32
// CHECK-NEXT: fuseops.yield %[[CST]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V1:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(0) : tensor<4x16xf32> -> tensor<4x13xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.concat %[[V0]], %[[V1]] dim(1) : (tensor<4x2xf32>, tensor<4x13xf32>) -> tensor<4x15xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.pointwise () : () -> tensor<1x15xf32> {
// CHECK-NEXT: %[[CST:.+]] = arith.constant 1.500000e+00 : f32
// CHECK-NEXT: fuseops.yield %[[CST]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V4:.+]] = fuseops.concat %[[V2]], %[[V3]] dim(0) : (tensor<4x15xf32>, tensor<1x15xf32>) -> tensor<5x15xf32>
// CHECK-NEXT: fuseops.return %[[V4]] : tensor<5x15xf32>
func.func @pad(%x: !torch.vtensor<[4,16],f32>) -> !torch.vtensor<[5,15],f32> {
  %int2 = torch.constant.int 2
  %int-3 = torch.constant.int -3
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %float1_5 = torch.constant.float 1.5
  %l0 = torch.prim.ListConstruct %int2, %int-3, %int0, %int1 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %1 = torch.aten.constant_pad_nd %x, %l0, %float1_5 : !torch.vtensor<[4,16],f32>, !torch.list<int>, !torch.float -> !torch.vtensor<[5,15],f32>
  return %1 : !torch.vtensor<[5,15],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @slice_backward
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x8xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.pointwise () : () -> tensor<4x8xf32> {
// CHECK-NEXT: %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: fuseops.yield %[[CST]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V1:.+]] = fuseops.concat %[[V0]], %[[ARG0]] dim(1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: fuseops.return %[[V1]] : tensor<4x16xf32>
func.func @slice_backward(%dy: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,16],f32> {
  %int4 = torch.constant.int 4
  %int16 = torch.constant.int 16
  %int1 = torch.constant.int 1
  %int8 = torch.constant.int 8
  %l0 = torch.prim.ListConstruct %int4, %int16 : (!torch.int, !torch.int) -> !torch.list<int>
  %1 = torch.aten.slice_backward %dy, %l0, %int1, %int8, %int16, %int1 : !torch.vtensor<[4,8],f32>, !torch.list<int>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4,16],f32>
  return %1 : !torch.vtensor<[4,16],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @select_backward
// CHECK-SAME: (%[[ARG0:.+]]: tensor<8x64xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reshape %[[ARG0]] : tensor<8x64xf32> -> tensor<8x1x64xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.pointwise () : () -> tensor<8x1x64xf32> {
// CHECK-NEXT: %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: fuseops.yield %[[CST]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V2:.+]] = fuseops.concat %[[V0]], %[[V1]] dim(1) : (tensor<8x1x64xf32>, tensor<8x1x64xf32>) -> tensor<8x2x64xf32>
// CHECK-NEXT: fuseops.return %[[V2]] : tensor<8x2x64xf32>
func.func @select_backward(%dy: !torch.vtensor<[8,64],f32>) -> !torch.vtensor<[8,2,64],f32> {
  %int8 = torch.constant.int 8
  %int2 = torch.constant.int 2
  %int64 = torch.constant.int 64
  %int1 = torch.constant.int 1
  %int0 = torch.constant.int 0
  %l0 = torch.prim.ListConstruct %int8, %int2, %int64 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %1 = torch.operator "torch.aten.select_backward"(%dy, %l0, %int1, %int0) : (!torch.vtensor<[8,64],f32>, !torch.list<int>, !torch.int, !torch.int) -> !torch.vtensor<[8,2,64],f32>
  return %1 : !torch.vtensor<[8,2,64],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @slice_scatter
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x16xf32>, %[[ARG1:.+]]: tensor<4x3xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(0) : tensor<4x16xf32> -> tensor<4x2xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(5) : tensor<4x16xf32> -> tensor<4x11xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.concat %[[V0]], %[[ARG1]], %[[V1]] dim(1) : (tensor<4x2xf32>, tensor<4x3xf32>, tensor<4x11xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: fuseops.return %[[V2]] : tensor<4x16xf32>
func.func @slice_scatter(%x: !torch.vtensor<[4,16],f32>, %p: !torch.vtensor<[4,3],f32>) -> !torch.vtensor<[4,16],f32> {
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int5 = torch.constant.int 5
  %0 = torch.aten.slice_scatter %x, %p, %int1, %int2, %int5, %int1 : !torch.vtensor<[4,16],f32>, !torch.vtensor<[4,3],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4,16],f32>
  return %0 : !torch.vtensor<[4,16],f32>
}
