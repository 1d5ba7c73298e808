// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// CHECK-LABEL: fuseops.fusible @slice
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x100x8xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(10) step(3) : tensor<4x100x8xf32> -> tensor<4x27x8xf32>
// CHECK-NEXT: fuseops.return %[[V0]] : tensor<4x27x8xf32>
func.func @slice(%x: !torch.vtensor<[4,100,8],f32>) -> !torch.vtensor<[4,27,8],f32> {
  %int1 = torch.constant.int 1
  %int10 = torch.constant.int 10
  %int-10 = torch.constant.int -10
  %int3 = torch.constant.int 3
  %0 = torch.aten.slice.Tensor %x, %int1, %int10, %int-10, %int3 : !torch.vtensor<[4,100,8],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4,27,8],f32>
  return %0 : !torch.vtensor<[4,27,8],f32>
}

// -----

// What covers a dimension is the operand, also where its size is symbolic.
// CHECK-LABEL: fuseops.fusible @whole_symbolic_dimension
// CHECK-SAME: (%[[ARG0:.+]]: tensor<?x8xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: fuseops.return %[[ARG0]], %[[ARG0]] : tensor<?x8xf32>, tensor<?x8xf32>
func.func @whole_symbolic_dimension(%x: !torch.vtensor<[?,8],f32>) -> (!torch.vtensor<[?,8],f32>, !torch.vtensor<[?,8],f32>) {
  %int0 = torch.constant.int 0
  %int9223372036854775807 = torch.constant.int 9223372036854775807
  %int1 = torch.constant.int 1
  %none = torch.constant.none
  %0 = torch.aten.size.int %x, %int0 : !torch.vtensor<[?,8],f32>, !torch.int -> !torch.int
  %1 = torch.aten.slice.Tensor %x, %int0, %int0, %int9223372036854775807, %int1 : !torch.vtensor<[?,8],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[?,8],f32>
  %2 = torch.aten.slice.Tensor %x, %int0, %none, %0, %int1 : !torch.vtensor<[?,8],f32>, !torch.int, !torch.none, !torch.int, !torch.int -> !torch.vtensor<[?,8],f32>
  return %1, %2 : !torch.vtensor<[?,8],f32>, !torch.vtensor<[?,8],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @narrow
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x100xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(80) : tensor<4x100xf32> -> tensor<4x7xf32>
// CHECK-NEXT: fuseops.return %[[V0]] : tensor<4x7xf32>
func.func @narrow(%x: !torch.vtensor<[4,100],f32>) -> !torch.vtensor<[4,7],f32> {
  %int-1 = torch.constant.int -1
  %int-20 = torch.constant.int -20
  %int7 = torch.constant.int 7
  %0 = torch.aten.narrow %x, %int-1, %int-20, %int7 : !torch.vtensor<[4,100],f32>, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4,7],f32>
  return %0 : !torch.vtensor<[4,7],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @select
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x100x8xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(99) : tensor<4x100x8xf32> -> tensor<4x1x8xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[V0]] : tensor<4x1x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT: fuseops.return %[[V1]] : tensor<4x8xf32>
func.func @select(%x: !torch.vtensor<[4,100,8],f32>) -> !torch.vtensor<[4,8],f32> {
  %int1 = torch.constant.int 1
  %int-1 = torch.constant.int -1
  %0 = torch.aten.select.int %x, %int1, %int-1 : !torch.vtensor<[4,100,8],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,8],f32>
  return %0 : !torch.vtensor<[4,8],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @flip
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x100xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.slice %[[ARG0]] dim(0) offset(3) step(-1) : tensor<4x100xf32> -> tensor<4x100xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.slice %[[V0]] dim(1) offset(99) step(-1) : tensor<4x100xf32> -> tensor<4x100xf32>
// CHECK-NEXT: fuseops.return %[[V1]] : tensor<4x100xf32>
func.func @flip(%x: !torch.vtensor<[4,100],f32>) -> !torch.vtensor<[4,100],f32> {
  %int0 = torch.constant.int 0
  %int-1 = torch.constant.int -1
  %l0 = torch.prim.ListConstruct %int0, %int-1 : (!torch.int, !torch.int) -> !torch.list<int>
  %1 = torch.aten.flip %x, %l0 : !torch.vtensor<[4,100],f32>, !torch.list<int> -> !torch.vtensor<[4,100],f32>
  return %1 : !torch.vtensor<[4,100],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @unbind
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x64xi1>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.slice %[[ARG0]] dim(0) offset(0) : tensor<2x64xi1> -> tensor<1x64xi1>
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[V0]] : tensor<1x64xi1> -> tensor<64xi1>
// CHECK-NEXT: %[[V2:.+]] = fuseops.slice %[[ARG0]] dim(0) offset(1) : tensor<2x64xi1> -> tensor<1x64xi1>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reshape %[[V2]] : tensor<1x64xi1> -> tensor<64xi1>
// CHECK-NEXT: fuseops.return %[[V1]], %[[V3]] : tensor<64xi1>, tensor<64xi1>
func.func @unbind(%x: !torch.vtensor<[2,64],i1>) -> (!torch.vtensor<[64],i1>, !torch.vtensor<[64],i1>) {
  %int0 = torch.constant.int 0
  %0 = torch.aten.unbind.int %x, %int0 : !torch.vtensor<[2,64],i1>, !torch.int -> !torch.list<vtensor>
  %1, %2 = torch.prim.ListUnpack %0 : !torch.list<vtensor> -> !torch.vtensor<[64],i1>, !torch.vtensor<[64],i1>
  return %1, %2 : !torch.vtensor<[64],i1>, !torch.vtensor<[64],i1>
}

// -----

// CHECK-LABEL: fuseops.fusible @split_of_a_leading_dimension
// CHECK-SAME: (%[[ARG0:.+]]: tensor<5x64xi32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.slice %[[ARG0]] dim(0) offset(0) : tensor<5x64xi32> -> tensor<3x64xi32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.slice %[[ARG0]] dim(0) offset(3) : tensor<5x64xi32> -> tensor<2x64xi32>
// CHECK-NEXT: fuseops.return %[[V0]], %[[V1]] : tensor<3x64xi32>, tensor<2x64xi32>
func.func @split_of_a_leading_dimension(%x: !torch.vtensor<[5,64],si32>) -> (!torch.vtensor<[3,64],si32>, !torch.vtensor<[2,64],si32>) {
  %int3 = torch.constant.int 3
  %int0 = torch.constant.int 0
  %0 = torch.aten.split.Tensor %x, %int3, %int0 : !torch.vtensor<[5,64],si32>, !torch.int, !torch.int -> !torch.list<vtensor>
  %1, %2 = torch.prim.ListUnpack %0 : !torch.list<vtensor> -> !torch.vtensor<[3,64],si32>, !torch.vtensor<[2,64],si32>
  return %1, %2 : !torch.vtensor<[3,64],si32>, !torch.vtensor<[2,64],si32>
}
