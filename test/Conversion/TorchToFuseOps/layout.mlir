// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// CHECK-LABEL: fuseops.fusible @aliases
// CHECK-SAME: (%[[X:.+]]: tensor<4x64xf32>)
func.func @aliases(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %none = torch.constant.none
  %int0 = torch.constant.int 0
  %0 = torch.aten.clone %x, %none : !torch.vtensor<[4,64],f32>, !torch.none -> !torch.vtensor<[4,64],f32>
  %1 = torch.aten.detach %0 : !torch.vtensor<[4,64],f32> -> !torch.vtensor<[4,64],f32>
  %2 = torch.aten.contiguous %1, %int0 : !torch.vtensor<[4,64],f32>, !torch.int -> !torch.vtensor<[4,64],f32>
  %3 = torch.aten.alias %2 : !torch.vtensor<[4,64],f32> -> !torch.vtensor<[4,64],f32>
  // CHECK-NEXT: forward {
  // CHECK-NEXT: fuseops.relu %[[X]]
  %4 = torch.aten.relu %3 : !torch.vtensor<[4,64],f32> -> !torch.vtensor<[4,64],f32>
  return %4 : !torch.vtensor<[4,64],f32>
}

// -----

// The result's type says the shape: sizes that are computed aren't looked at.
// CHECK-LABEL: fuseops.fusible @reshapes
// CHECK-SAME: (%[[X:.+]]: tensor<?x2x32xf32>)
func.func @reshapes(%x: !torch.vtensor<[?,2,32],f32>) -> !torch.vtensor<[?,2,32],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int64 = torch.constant.int 64
  %0 = torch.aten.size.int %x, %int0 : !torch.vtensor<[?,2,32],f32>, !torch.int -> !torch.int
  %1 = torch.prim.ListConstruct %0, %int64 : (!torch.int, !torch.int) -> !torch.list<int>
  // CHECK: %[[A:.+]] = fuseops.reshape %[[X]] : tensor<?x2x32xf32> -> tensor<?x64xf32>
  %2 = torch.aten.view %x, %1 : !torch.vtensor<[?,2,32],f32>, !torch.list<int> -> !torch.vtensor<[?,64],f32>
  // CHECK-NEXT: %[[B:.+]] = fuseops.reshape %[[A]] : tensor<?x64xf32> -> tensor<?x1x64xf32>
  %3 = torch.aten.unsqueeze %2, %int1 : !torch.vtensor<[?,64],f32>, !torch.int -> !torch.vtensor<[?,1,64],f32>
  // CHECK-NEXT: %[[C:.+]] = fuseops.reshape %[[B]] : tensor<?x1x64xf32> -> tensor<?x64xf32>
  %4 = torch.aten.squeeze.dim %3, %int1 : !torch.vtensor<[?,1,64],f32>, !torch.int -> !torch.vtensor<[?,64],f32>
  // CHECK-NEXT: %[[D:.+]] = fuseops.reshape %[[C]] : tensor<?x64xf32> -> tensor<?x2x32xf32>
  %5 = torch.prim.ListConstruct %int2, %int64 : (!torch.int, !torch.int) -> !torch.list<int>
  %6 = torch.aten.unflatten.int %4, %int1, %5 : !torch.vtensor<[?,64],f32>, !torch.int, !torch.list<int> -> !torch.vtensor<[?,2,32],f32>
  // CHECK-NEXT: %[[E:.+]] = fuseops.reshape %[[D]] : tensor<?x2x32xf32> -> tensor<?x64xf32>
  %7 = torch.aten.flatten.using_ints %6, %int1, %int2 : !torch.vtensor<[?,2,32],f32>, !torch.int, !torch.int -> !torch.vtensor<[?,64],f32>
  // CHECK-NEXT: %[[F:.+]] = fuseops.reshape %[[E]] : tensor<?x64xf32> -> tensor<?x2x32xf32>
  %8 = torch.aten._unsafe_view %7, %1 : !torch.vtensor<[?,64],f32>, !torch.list<int> -> !torch.vtensor<[?,2,32],f32>
  // CHECK-NEXT: fuseops.return %[[F]]
  %9 = torch.aten.reshape %8, %1 : !torch.vtensor<[?,2,32],f32>, !torch.list<int> -> !torch.vtensor<[?,2,32],f32>
  return %9 : !torch.vtensor<[?,2,32],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @pieces
// CHECK-SAME: (%[[X:.+]]: tensor<4x100xf32>)
func.func @pieces(%x: !torch.vtensor<[4,100],f32>) -> (!torch.vtensor<[4,64],f32>, !torch.vtensor<[4,36],f32>, !torch.vtensor<[4,50],f32>, !torch.vtensor<[4,30],f32>, !torch.vtensor<[4,70],f32>) {
  %int-1 = torch.constant.int -1
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int64 = torch.constant.int 64
  %int30 = torch.constant.int 30
  %int70 = torch.constant.int 70
  // CHECK-DAG: %[[A:.+]] = fuseops.slice %[[X]] dim(1) offset(0) : tensor<4x100xf32> -> tensor<4x64xf32>
  // CHECK-DAG: %[[B:.+]] = fuseops.slice %[[X]] dim(1) offset(64) : tensor<4x100xf32> -> tensor<4x36xf32>
  %0 = torch.aten.split.Tensor %x, %int64, %int-1 : !torch.vtensor<[4,100],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
  %1:2 = torch.prim.ListUnpack %0 : !torch.list<vtensor> -> !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,36],f32>
  // CHECK-DAG: %[[C:.+]] = fuseops.slice %[[X]] dim(1) offset(50) : tensor<4x100xf32> -> tensor<4x50xf32>
  %2 = torch.aten.chunk %x, %int2, %int1 : !torch.vtensor<[4,100],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
  %3 = torch.aten.__getitem__.t %2, %int1 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[4,50],f32>
  // CHECK-DAG: %[[D:.+]] = fuseops.slice %[[X]] dim(1) offset(0) : tensor<4x100xf32> -> tensor<4x30xf32>
  // CHECK-DAG: %[[E:.+]] = fuseops.slice %[[X]] dim(1) offset(30) : tensor<4x100xf32> -> tensor<4x70xf32>
  %4 = torch.prim.ListConstruct %int30, %int70 : (!torch.int, !torch.int) -> !torch.list<int>
  %5 = torch.aten.split_with_sizes %x, %4, %int-1 : !torch.vtensor<[4,100],f32>, !torch.list<int>, !torch.int -> !torch.list<vtensor>
  %6:2 = torch.prim.ListUnpack %5 : !torch.list<vtensor> -> !torch.vtensor<[4,30],f32>, !torch.vtensor<[4,70],f32>
  // CHECK: fuseops.return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]]
  return %1#0, %1#1, %3, %6#0, %6#1 : !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,36],f32>, !torch.vtensor<[4,50],f32>, !torch.vtensor<[4,30],f32>, !torch.vtensor<[4,70],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @slices
// CHECK-SAME: (%[[X:.+]]: tensor<4x100xf32>)
func.func @slices(%x: !torch.vtensor<[4,100],f32>) -> (!torch.vtensor<[4,90],f32>, !torch.vtensor<[4,25],f32>, !torch.vtensor<[4,100],f32>) {
  %int-10 = torch.constant.int -10
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int25 = torch.constant.int 25
  %end = torch.constant.int 9223372036854775807
  // CHECK: %[[A:.+]] = fuseops.slice %[[X]] dim(1) offset(0) : tensor<4x100xf32> -> tensor<4x90xf32>
  %0 = torch.aten.slice.Tensor %x, %int1, %int0, %int-10, %int1 : !torch.vtensor<[4,100],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4,90],f32>
  // CHECK-NEXT: %[[B:.+]] = fuseops.slice %[[X]] dim(1) offset(25) : tensor<4x100xf32> -> tensor<4x25xf32>
  %1 = torch.aten.narrow %x, %int1, %int25, %int25 : !torch.vtensor<[4,100],f32>, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4,25],f32>
  // All of a dimension is the tensor.
  // CHECK-NEXT: fuseops.return %[[A]], %[[B]], %[[X]]
  %2 = torch.aten.slice.Tensor %x, %int0, %int0, %end, %int1 : !torch.vtensor<[4,100],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4,100],f32>
  return %0, %1, %2 : !torch.vtensor<[4,90],f32>, !torch.vtensor<[4,25],f32>, !torch.vtensor<[4,100],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @concat
// CHECK-SAME: (%[[X:.+]]: tensor<?x64xf32>, %[[Y:.+]]: tensor<?x32xf32>)
func.func @concat(%x: !torch.vtensor<[?,64],f32>, %y: !torch.vtensor<[?,32],f32>) -> !torch.vtensor<[?,96],f32> {
  %int1 = torch.constant.int 1
  %0 = torch.prim.ListConstruct %x, %y : (!torch.vtensor<[?,64],f32>, !torch.vtensor<[?,32],f32>) -> !torch.list<vtensor>
  // CHECK: fuseops.concat %[[X]], %[[Y]] dim(1) : (tensor<?x64xf32>, tensor<?x32xf32>) -> tensor<?x96xf32>
  %1 = torch.aten.cat %0, %int1 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[?,96],f32>
  return %1 : !torch.vtensor<[?,96],f32>
}
