// Two Llama MLP blocks one after the other: the first one's down projection, its
// residual and the statistics of the second one's norm are one kernel, by any recipe.
// DEFINE: %{recipe} =
// DEFINE: %{plan} = fuse-opt %s --pass-pipeline="builtin.module(fuseops-compile{to=saved target=cuda recipe=%{recipe}}, fuseops.fusible(fuseops-expand-contractions{chip=sm_90a}, fuseops-expand-quantized, fuseops-forward-fusion{generate=all}))"
// REDEFINE: %{recipe} = none
// RUN: %{plan} | FileCheck %s --check-prefixes=CHECK,BF16
// REDEFINE: %{recipe} = delayed
// RUN: %{plan} | FileCheck %s --check-prefixes=CHECK,FP8
// REDEFINE: %{recipe} = block
// RUN: %{plan} | FileCheck %s --check-prefixes=CHECK,FP8

// The first norm is of an input: with FP8 copies that tiles write, its statistics
// are a kernel of their own.
// CHECK-LABEL: forward {
// BF16: fuseops.group @{{.+}} row
// BF16-NEXT: fuseops.rms_norm
// FP8: fuseops.group @{{.+}} row
// FP8: fuseops.reduce_columns
// CHECK: fuseops.group @{{.+}} gemm
// CHECK: fuseops.swiglu
// CHECK: %[[DOWN:.+]]:{{[23]}} = fuseops.group @{{.+}} gemm
// CHECK-NEXT: -> tensor<?x4096xbf16>
// CHECK-NEXT: %[[H:.+]] = fuseops.add
// CHECK-NEXT: fuseops.pointwise
// CHECK: fuseops.reduce_columns sum
// CHECK-NEXT: %[[S:.+]] = fuseops.pointwise
// CHECK: fuseops.yield {{.*}}%[[H]]
// BF16: fuseops.group @{{.+}} pointwise ({{.*}}%[[DOWN]]#
// BF16-NEXT: fuseops.pointwise
// FP8: fuseops.group @{{.+}} tile ({{.*}}%[[DOWN]]#
// CHECK-NOT: fuseops.reduce_columns
// CHECK-LABEL: backward
fuseops.fusible @two_blocks(%x: tensor<?x4096xbf16>, %g0: tensor<4096xbf16>, %gate_up: tensor<28672x4096xbf16>, %down: tensor<4096x14336xbf16>, %g1: tensor<4096xbf16>, %gate_up1: tensor<28672x4096xbf16>, %down1: tensor<4096x14336xbf16>) -> tensor<?x4096xbf16>
forward {
  %h, %rstd = fuseops.rms_norm %x gamma(%g0) eps(1.0e-05) : (tensor<?x4096xbf16>, tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x1xf32>)
  %z = fuseops.linear %h, %gate_up : (tensor<?x4096xbf16>, tensor<28672x4096xbf16>) -> tensor<?x28672xbf16>
  %a = fuseops.swiglu %z activation(first) : tensor<?x28672xbf16> -> tensor<?x14336xbf16>
  %d = fuseops.linear %a, %down : (tensor<?x14336xbf16>, tensor<4096x14336xbf16>) -> tensor<?x4096xbf16>
  %y = fuseops.add %x, %d : tensor<?x4096xbf16>, tensor<?x4096xbf16> -> tensor<?x4096xbf16>
  %h1, %rstd1 = fuseops.rms_norm %y gamma(%g1) eps(1.0e-05) : (tensor<?x4096xbf16>, tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x1xf32>)
  %z1 = fuseops.linear %h1, %gate_up1 : (tensor<?x4096xbf16>, tensor<28672x4096xbf16>) -> tensor<?x28672xbf16>
  %a1 = fuseops.swiglu %z1 activation(first) : tensor<?x28672xbf16> -> tensor<?x14336xbf16>
  %d1 = fuseops.linear %a1, %down1 : (tensor<?x14336xbf16>, tensor<4096x14336xbf16>) -> tensor<?x4096xbf16>
  %y1 = fuseops.add %y, %d1 : tensor<?x4096xbf16>, tensor<?x4096xbf16> -> tensor<?x4096xbf16>
  fuseops.return %y1 : tensor<?x4096xbf16>
}
