// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s

// Two normalized dimensions are one row.
// CHECK-LABEL: fuseops.fusible @layer_norm_backward
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x4x64xf32>, %[[ARG1:.+]]: tensor<2x4x64xf32>, %[[ARG2:.+]]: tensor<2x1x1xf32>, %[[ARG3:.+]]: tensor<2x1x1xf32>, %[[ARG4:.+]]: tensor<4x64xf32>, %[[ARG5:.+]]: tensor<4x64xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reshape %[[ARG0]] : tensor<2x4x64xf32> -> tensor<2x256xf32>
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[ARG1]] : tensor<2x4x64xf32> -> tensor<2x256xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[ARG2]] : tensor<2x1x1xf32> -> tensor<2x1xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reshape %[[ARG3]] : tensor<2x1x1xf32> -> tensor<2x1xf32>
// CHECK-NEXT: %[[V4:.+]] = fuseops.reshape %[[ARG4]] : tensor<4x64xf32> -> tensor<256xf32>
// CHECK-NEXT: %[[RESULT:.+]], %[[GAMMA_GRADIENT:.+]] = fuseops.layer_norm_grad %[[V0]], %[[V1]], %[[V2]], %[[V3]] gamma(%[[V4]]) : (tensor<2x256xf32>, tensor<2x256xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<256xf32>) -> (tensor<2x256xf32>, tensor<256xf32>)
// CHECK-NEXT: %[[V5:.+]] = fuseops.reshape %[[RESULT]] : tensor<2x256xf32> -> tensor<2x4x64xf32>
// CHECK-NEXT: %[[V6:.+]] = fuseops.reshape %[[GAMMA_GRADIENT]] : tensor<256xf32> -> tensor<4x64xf32>
// CHECK-NEXT: %[[V7:.+]] = fuseops.reduce_rows sum %[[V0]] : tensor<2x256xf32> -> tensor<256xf32>
// CHECK-NEXT: %[[V8:.+]] = fuseops.reshape %[[V7]] : tensor<256xf32> -> tensor<4x64xf32>
// CHECK-NEXT: fuseops.return %[[V5]], %[[V6]], %[[V8]] : tensor<2x4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>
func.func @layer_norm_backward(%dy: !torch.vtensor<[2,4,64],f32>, %x: !torch.vtensor<[2,4,64],f32>, %m: !torch.vtensor<[2,1,1],f32>, %r: !torch.vtensor<[2,1,1],f32>, %w: !torch.vtensor<[4,64],f32>, %b: !torch.vtensor<[4,64],f32>) -> (!torch.vtensor<[2,4,64],f32>, !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>) {
  %int4 = torch.constant.int 4
  %int64 = torch.constant.int 64
  %true = torch.constant.bool true
  %l0 = torch.prim.ListConstruct %int4, %int64 : (!torch.int, !torch.int) -> !torch.list<int>
  %l1 = torch.prim.ListConstruct %true, %true, %true : (!torch.bool, !torch.bool, !torch.bool) -> !torch.list<bool>
  %2, %3, %4 = torch.aten.native_layer_norm_backward %dy, %x, %l0, %m, %r, %w, %b, %l1 : !torch.vtensor<[2,4,64],f32>, !torch.vtensor<[2,4,64],f32>, !torch.list<int>, !torch.vtensor<[2,1,1],f32>, !torch.vtensor<[2,1,1],f32>, !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>, !torch.list<bool> -> !torch.vtensor<[2,4,64],f32>, !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>
  return %2, %3, %4 : !torch.vtensor<[2,4,64],f32>, !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @layer_norm_backward_of_input
// CHECK-SAME: (%[[ARG0:.+]]: tensor<8x64xf32>, %[[ARG1:.+]]: tensor<8x64xf32>, %[[ARG2:.+]]: tensor<8x1xf32>, %[[ARG3:.+]]: tensor<8x1xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[RESULT:.+]] = fuseops.layer_norm_grad %[[ARG0]], %[[ARG1]], %[[ARG2]], %[[ARG3]] : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x64xf32>
// CHECK-NEXT: fuseops.return %[[RESULT]] : tensor<8x64xf32>
func.func @layer_norm_backward_of_input(%dy: !torch.vtensor<[8,64],f32>, %x: !torch.vtensor<[8,64],f32>, %m: !torch.vtensor<[8,1],f32>, %r: !torch.vtensor<[8,1],f32>) -> !torch.vtensor<[8,64],f32> {
  %int64 = torch.constant.int 64
  %none = torch.constant.none
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  %l0 = torch.prim.ListConstruct %int64 : (!torch.int) -> !torch.list<int>
  %l1 = torch.prim.ListConstruct %true, %false, %false : (!torch.bool, !torch.bool, !torch.bool) -> !torch.list<bool>
  %2, %3, %4 = torch.aten.native_layer_norm_backward %dy, %x, %l0, %m, %r, %none, %none, %l1 : !torch.vtensor<[8,64],f32>, !torch.vtensor<[8,64],f32>, !torch.list<int>, !torch.vtensor<[8,1],f32>, !torch.vtensor<[8,1],f32>, !torch.none, !torch.none, !torch.list<bool> -> !torch.vtensor<[8,64],f32>, !torch.none, !torch.none
  return %2 : !torch.vtensor<[8,64],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @rms_norm_backward
// CHECK-SAME: (%[[ARG0:.+]]: tensor<8x64xbf16>, %[[ARG1:.+]]: tensor<8x64xbf16>, %[[ARG2:.+]]: tensor<8x1xf32>, %[[ARG3:.+]]: tensor<64xbf16>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[RESULT:.+]], %[[GAMMA_GRADIENT:.+]] = fuseops.rms_norm_grad %[[ARG0]], %[[ARG1]], %[[ARG2]] gamma(%[[ARG3]]) : (tensor<8x64xbf16>, tensor<8x64xbf16>, tensor<8x1xf32>, tensor<64xbf16>) -> (tensor<8x64xbf16>, tensor<64xbf16>)
// CHECK-NEXT: fuseops.return %[[RESULT]], %[[GAMMA_GRADIENT]] : tensor<8x64xbf16>, tensor<64xbf16>
func.func @rms_norm_backward(%dy: !torch.vtensor<[8,64],bf16>, %x: !torch.vtensor<[8,64],bf16>, %r: !torch.vtensor<[8,1],f32>, %w: !torch.vtensor<[64],bf16>) -> (!torch.vtensor<[8,64],bf16>, !torch.vtensor<[64],bf16>) {
  %int64 = torch.constant.int 64
  %true = torch.constant.bool true
  %l0 = torch.prim.ListConstruct %int64 : (!torch.int) -> !torch.list<int>
  %l1 = torch.prim.ListConstruct %true, %true : (!torch.bool, !torch.bool) -> !torch.list<bool>
  %8:2 = torch.operator "torch.aten._fused_rms_norm_backward"(%dy, %x, %l0, %r, %w, %l1) : (!torch.vtensor<[8,64],bf16>, !torch.vtensor<[8,64],bf16>, !torch.list<int>, !torch.vtensor<[8,1],f32>, !torch.vtensor<[64],bf16>, !torch.list<bool>) -> (!torch.vtensor<[8,64],bf16>, !torch.vtensor<[64],bf16>)
  return %8#0, %8#1 : !torch.vtensor<[8,64],bf16>, !torch.vtensor<[64],bf16>
}

// -----

// A group of channels of a sample is a row.
// CHECK-LABEL: fuseops.fusible @group_norm
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x16x8xf32>, %[[ARG1:.+]]: tensor<16xf32>, %[[ARG2:.+]]: tensor<16xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.reshape %[[ARG0]] : tensor<2x16x8xf32> -> tensor<2x4x32xf32>
// CHECK-NEXT: %[[RESULT:.+]], %[[MEAN:.+]], %[[RSTD:.+]] = fuseops.layer_norm %[[V0]] eps(1.000000e-05) : (tensor<2x4x32xf32>) -> (tensor<2x4x32xf32>, tensor<2x4x1xf32>, tensor<2x4x1xf32>)
// CHECK-NEXT: %[[V1:.+]] = fuseops.reshape %[[RESULT]] : tensor<2x4x32xf32> -> tensor<2x16x8xf32>
// CHECK-NEXT: %[[V2:.+]] = fuseops.reshape %[[ARG1]] : tensor<16xf32> -> tensor<1x16x1xf32>
// CHECK-NEXT: %[[V3:.+]] = fuseops.reshape %[[ARG2]] : tensor<16xf32> -> tensor<1x16x1xf32>
// CHECK-NEXT: %[[V4:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[V1]], %[[ARG4:.+]] = %[[V2]], %[[ARG5:.+]] = %[[V3]]) : (tensor<2x16x8xf32>, tensor<1x16x1xf32>, tensor<1x16x1xf32>) -> tensor<2x16x8xf32> {
// CHECK-NEXT: %[[V5:.+]] = arith.mulf %[[ARG3]], %[[ARG4]] : f32
// CHECK-NEXT: %[[V6:.+]] = arith.addf %[[V5]], %[[ARG5]] : f32
// CHECK-NEXT: fuseops.yield %[[V6]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V4]] : tensor<2x16x8xf32>
func.func @group_norm(%x: !torch.vtensor<[2,16,8],f32>, %w: !torch.vtensor<[16],f32>, %b: !torch.vtensor<[16],f32>) -> !torch.vtensor<[2,16,8],f32> {
  %int4 = torch.constant.int 4
  %float1e_05 = torch.constant.float 1.0e-05
  %true = torch.constant.bool true
  %0 = torch.aten.group_norm %x, %int4, %w, %b, %float1e_05, %true : !torch.vtensor<[2,16,8],f32>, !torch.int, !torch.vtensor<[16],f32>, !torch.vtensor<[16],f32>, !torch.float, !torch.bool -> !torch.vtensor<[2,16,8],f32>
  return %0 : !torch.vtensor<[2,16,8],f32>
}

// -----

// CHECK-LABEL: fuseops.fusible @dropout_backward
// CHECK-SAME: (%[[ARG0:.+]]: tensor<8x64xf32>, %[[ARG1:.+]]: tensor<8x64xi1>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<8x64xf32>, tensor<8x64xi1>) -> tensor<8x64xf32> {
// CHECK-NEXT: %[[V1:.+]] = arith.uitofp %[[ARG3]] : i1 to f32
// CHECK-NEXT: %[[V2:.+]] = arith.mulf %[[ARG2]], %[[V1]] : f32
// CHECK-NEXT: %[[CST:.+]] = arith.constant 1.250000e+00 : f32
// CHECK-NEXT: %[[V3:.+]] = arith.mulf %[[V2]], %[[CST]] : f32
// CHECK-NEXT: fuseops.yield %[[V3]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[V0]] : tensor<8x64xf32>
func.func @dropout_backward(%dy: !torch.vtensor<[8,64],f32>, %m: !torch.vtensor<[8,64],i1>) -> !torch.vtensor<[8,64],f32> {
  %float1_25 = torch.constant.float 1.25
  %0 = torch.aten.native_dropout_backward %dy, %m, %float1_25 : !torch.vtensor<[8,64],f32>, !torch.vtensor<[8,64],i1>, !torch.float -> !torch.vtensor<[8,64],f32>
  return %0 : !torch.vtensor<[8,64],f32>
}
