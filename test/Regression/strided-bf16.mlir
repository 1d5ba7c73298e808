// One column of a wide bf16 tensor: LLVM's vectorizers gather it, which must not
// become calls into compiler-rt on a CPU without bf16 instructions.
// RUN: fuse-compile %s --target=cpu:x86-64-v3 -o %t
// RUN: fuse-compile %s --target=cpu:x86-64-v4 -o %t
// RUN: fuse-run %s --size 64 --check | FileCheck %s
// CHECK: check: ok
fuseops.fusible @callee0(%x: tensor<?x1x1xf32>, %y: tensor<?x1x1xf32>) -> (tensor<?x1x1xf32>, tensor<?x1x1xf32>) attributes {sym_visibility = "private"}
forward {
  %0 = fuseops.mul %x, %y : tensor<?x1x1xf32>, tensor<?x1x1xf32> -> tensor<?x1x1xf32>
  %1 = fuseops.gelu %0 approximate(tanh) : tensor<?x1x1xf32>
  %2 = fuseops.scale %1 by(0.5) : tensor<?x1x1xf32>
  fuseops.return %2, %x : tensor<?x1x1xf32>, tensor<?x1x1xf32>
}
fuseops.fusible @main(%a0: tensor<?x64xbf16> {fuseops.frozen}, %a1: tensor<1xbf16> {fuseops.frozen}, %a2: tensor<f32> {fuseops.frozen}, %a3: tensor<1xbf16> {fuseops.frozen}, %a4: tensor<2xi64> {fuseops.random_state}) -> (tensor<?x1x1xbf16>, tensor<?x1x1xf32>, tensor<?x1x1xbf16>)
forward {
  %v0 = fuseops.reduce_columns max %a0 : tensor<?x64xbf16> -> tensor<?x1xf32>
  %v1 = fuseops.bias %v0, %a1 : tensor<?x1xf32>, tensor<1xbf16>
  %v2 = fuseops.add %a2, %a0 : tensor<f32>, tensor<?x64xbf16> -> tensor<?x64xf32>
  %p5:2 = fuseops.pointwise (%o0 = %v0, %o1 = %v0, %o2 = %v0) : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>) {
    %s0 = arith.subf %o2, %o0 : f32
    %s1 = math.tanh %o1 : f32
    %s2 = arith.negf %s0 : f32
    %s3 = math.tanh %s1 : f32
    fuseops.yield %s3, %s2 : f32, f32
  }
  %v5 = fuseops.slice %a0 dim(1) offset(2) : tensor<?x64xbf16> -> tensor<?x1xbf16>
  %v6 = fuseops.bias %v5, %a3 : tensor<?x1xbf16>, tensor<1xbf16>
  %v7 = fuseops.reshape %v5 : tensor<?x1xbf16> -> tensor<?x1x1xbf16>
  %v8 = fuseops.cast %v7 : tensor<?x1x1xbf16> -> tensor<?x1x1xbf16>
  %p11:2 = fuseops.pointwise (%o0 = %v8, %o1 = %v8, %o2 = %v8) : (tensor<?x1x1xbf16>, tensor<?x1x1xbf16>, tensor<?x1x1xbf16>) -> (tensor<?x1x1xf32>, tensor<?x1x1xf32>) {
    %s0 = math.tanh %o0 : f32
    %s1 = arith.mulf %o1, %s0 : f32
    %s2 = arith.addf %o0, %o2 : f32
    %s3 = arith.mulf %s0, %s1 : f32
    fuseops.yield %s3, %s2 : f32, f32
  }
  %m11:2 = fuseops.apply @callee0(%p11#1, %p11#0) : (tensor<?x1x1xf32>, tensor<?x1x1xf32>) -> (tensor<?x1x1xf32>, tensor<?x1x1xf32>)
  %v12 = fuseops.add %m11#1, %p11#1 : tensor<?x1x1xf32>, tensor<?x1x1xf32> -> tensor<?x1x1xbf16>
  %v13 = fuseops.reduce_rows max %v12 : tensor<?x1x1xbf16> -> tensor<f32>
  %v14 = fuseops.scale %v8 by(-1.25) : tensor<?x1x1xbf16>
  %v15 = fuseops.dropout %v12, %a4 p(0.25) : tensor<?x1x1xbf16>, tensor<2xi64>
  %v16 = fuseops.add %v15, %v14 : tensor<?x1x1xbf16>, tensor<?x1x1xbf16> -> tensor<?x1x1xf32>
  fuseops.return %v7, %v16, %v15 : tensor<?x1x1xbf16>, tensor<?x1x1xf32>, tensor<?x1x1xbf16>
}
