// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// CHECK-LABEL: fuseops.fusible @linear
// CHECK-SAME: (%[[X:.+]]: tensor<?x16x64xbf16>, %[[W:.+]]: tensor<128x64xbf16>, %[[B:.+]]: tensor<128xbf16>)
func.func @linear(%x: !torch.vtensor<[?,16,64],bf16>, %w: !torch.vtensor<[128,64],bf16>, %b: !torch.vtensor<[128],bf16>) -> (!torch.vtensor<[?,16,128],bf16>, !torch.vtensor<[?,16,128],bf16>) {
  // CHECK: fuseops.linear %[[X]], %[[W]] bias(%[[B]]) : (tensor<?x16x64xbf16>, tensor<128x64xbf16>, tensor<128xbf16>) -> tensor<?x16x128xbf16>
  %0 = torch.aten.linear %x, %w, %b : !torch.vtensor<[?,16,64],bf16>, !torch.vtensor<[128,64],bf16>, !torch.vtensor<[128],bf16> -> !torch.vtensor<[?,16,128],bf16>
  // CHECK-NEXT: fuseops.linear %[[X]], %[[W]] : (tensor<?x16x64xbf16>, tensor<128x64xbf16>) -> tensor<?x16x128xbf16>
  %none = torch.constant.none
  %1 = torch.aten.linear %x, %w, %none : !torch.vtensor<[?,16,64],bf16>, !torch.vtensor<[128,64],bf16>, !torch.none -> !torch.vtensor<[?,16,128],bf16>
  return %0, %1 : !torch.vtensor<[?,16,128],bf16>, !torch.vtensor<[?,16,128],bf16>
}

// -----

// A linear layer of a transposed weight is a product with the weight itself; the
// bias is added before the only rounding.
// CHECK-LABEL: fuseops.fusible @linear_of_transpose
// CHECK-SAME: (%[[X:.+]]: tensor<4x64xbf16>, %[[W:.+]]: tensor<64x128xbf16>, %[[B:.+]]: tensor<128xbf16>)
func.func @linear_of_transpose(%x: !torch.vtensor<[4,64],bf16>, %w: !torch.vtensor<[64,128],bf16>, %b: !torch.vtensor<[128],bf16>) -> !torch.vtensor<[4,128],bf16> {
  %0 = torch.aten.t %w : !torch.vtensor<[64,128],bf16> -> !torch.vtensor<[128,64],bf16>
  // CHECK: %[[P:.+]] = fuseops.matmul %[[X]], %[[W]] : tensor<4x64xbf16>, tensor<64x128xbf16> -> tensor<4x128xf32>
  // CHECK-NEXT: fuseops.add %[[P]], %[[B]] : tensor<4x128xf32>, tensor<128xbf16> -> tensor<4x128xbf16>
  %1 = torch.aten.linear %x, %0, %b : !torch.vtensor<[4,64],bf16>, !torch.vtensor<[128,64],bf16>, !torch.vtensor<[128],bf16> -> !torch.vtensor<[4,128],bf16>
  return %1 : !torch.vtensor<[4,128],bf16>
}

// -----

// CHECK-LABEL: fuseops.fusible @products
// CHECK-SAME: (%[[X:.+]]: tensor<4x8x64xf32>, %[[A:.+]]: tensor<64x32xf32>, %[[B:.+]]: tensor<48x64xf32>)
func.func @products(%x: !torch.vtensor<[4,8,64],f32>, %a: !torch.vtensor<[64,32],f32>, %b: !torch.vtensor<[48,64],f32>) -> (!torch.vtensor<[4,8,32],f32>, !torch.vtensor<[4,8,48],f32>, !torch.vtensor<[32,48],f32>, !torch.vtensor<[48,32],f32>) {
  // CHECK: fuseops.matmul %[[X]], %[[A]] : tensor<4x8x64xf32>, tensor<64x32xf32> -> tensor<4x8x32xf32>
  %0 = torch.aten.matmul %x, %a : !torch.vtensor<[4,8,64],f32>, !torch.vtensor<[64,32],f32> -> !torch.vtensor<[4,8,32],f32>
  // CHECK-NEXT: fuseops.matmul %[[X]], %[[B]] transpose_rhs : tensor<4x8x64xf32>, tensor<48x64xf32> -> tensor<4x8x48xf32>
  %int0 = torch.constant.int 0
  %int-1 = torch.constant.int -1
  %1 = torch.aten.transpose.int %b, %int0, %int-1 : !torch.vtensor<[48,64],f32>, !torch.int, !torch.int -> !torch.vtensor<[64,48],f32>
  %2 = torch.aten.matmul %x, %1 : !torch.vtensor<[4,8,64],f32>, !torch.vtensor<[64,48],f32> -> !torch.vtensor<[4,8,48],f32>
  // CHECK-NEXT: fuseops.matmul %[[A]], %[[B]] transpose_lhs transpose_rhs : tensor<64x32xf32>, tensor<48x64xf32> -> tensor<32x48xf32>
  %int1 = torch.constant.int 1
  %3 = torch.prim.ListConstruct %int1, %int0 : (!torch.int, !torch.int) -> !torch.list<int>
  %4 = torch.aten.permute %a, %3 : !torch.vtensor<[64,32],f32>, !torch.list<int> -> !torch.vtensor<[32,64],f32>
  %5 = torch.aten.mm %4, %1 : !torch.vtensor<[32,64],f32>, !torch.vtensor<[64,48],f32> -> !torch.vtensor<[32,48],f32>
  // Two transposes are none.
  // CHECK-NEXT: fuseops.matmul %[[B]], %[[A]] : tensor<48x64xf32>, tensor<64x32xf32> -> tensor<48x32xf32>
  %6 = torch.aten.t %1 : !torch.vtensor<[64,48],f32> -> !torch.vtensor<[48,64],f32>
  %7 = torch.aten.mm %6, %a : !torch.vtensor<[48,64],f32>, !torch.vtensor<[64,32],f32> -> !torch.vtensor<[48,32],f32>
  return %0, %2, %5, %7 : !torch.vtensor<[4,8,32],f32>, !torch.vtensor<[4,8,48],f32>, !torch.vtensor<[32,48],f32>, !torch.vtensor<[48,32],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @addmm
// CHECK-SAME: (%[[X:.+]]: tensor<4x64xf32>, %[[W:.+]]: tensor<64x64xf32>, %[[B:.+]]: tensor<64xf32>)
func.func @addmm(%x: !torch.vtensor<[4,64],f32>, %w: !torch.vtensor<[64,64],f32>, %b: !torch.vtensor<[64],f32>) -> (!torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>) {
  %int1 = torch.constant.int 1
  %0 = torch.aten.t %w : !torch.vtensor<[64,64],f32> -> !torch.vtensor<[64,64],f32>
  // CHECK: fuseops.linear %[[X]], %[[W]] bias(%[[B]])
  %1 = torch.aten.addmm %b, %x, %0, %int1, %int1 : !torch.vtensor<[64],f32>, !torch.vtensor<[4,64],f32>, !torch.vtensor<[64,64],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,64],f32>
  // CHECK-NEXT: %[[P:.+]] = fuseops.matmul %[[X]], %[[W]] : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  // CHECK-NEXT: fuseops.add %[[P]], %[[B]]
  %2 = torch.aten.addmm %b, %x, %w, %int1, %int1 : !torch.vtensor<[64],f32>, !torch.vtensor<[4,64],f32>, !torch.vtensor<[64,64],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,64],f32>
  return %1, %2 : !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>
}
