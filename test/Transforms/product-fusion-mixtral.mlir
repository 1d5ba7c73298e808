// What becomes of the products of a Mixtral MLP block, whose rows are grouped by
// expert: they are kernels of ours, whether or not other products are.
// DEFINE: %{recipe} =
// DEFINE: %{generate} = all
// DEFINE: %{plan} = fuse-opt %s --mlir-disable-threading --pass-pipeline="builtin.module(fuseops-compile{to=saved target=cuda recipe=%{recipe}}, fuseops.fusible(fuseops-expand-grouped, fuseops-expand-contractions{chip=sm_90a}, fuseops-expand-quantized, fuseops-forward-fusion{generate=%{generate}}, fuseops-backward-fusion{generate=%{generate}}))" --remarks-filter="fuseops-(forward|backward)-fusion" -o %t.mlir 2> %t.remarks
// REDEFINE: %{recipe} = none
// RUN: %{plan}
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=WHY --input-file=%t.remarks
// REDEFINE: %{generate} = grouped
// RUN: %{plan}
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=WHY --input-file=%t.remarks
// Recipes leave products of groups as they are.
// REDEFINE: %{recipe} = delayed
// RUN: %{plan}
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=WHY --input-file=%t.remarks

// CHECK-LABEL: forward {
// CHECK: fuseops.group @{{.+}} gemm
// CHECK-NEXT: fuseops.grouped_matmul
// CHECK-NEXT: fuseops.swiglu
// CHECK-NEXT: fuseops.yield
// CHECK: fuseops.group @{{.+}} gemm
// CHECK-NEXT: fuseops.grouped_matmul
// CHECK-NEXT: fuseops.mul
// CHECK-NEXT: fuseops.yield
// CHECK-LABEL: backward
// CHECK: fuseops.group @{{.+}} row
// CHECK: fuseops.group @{{.+}} gemm
// CHECK-NEXT: fuseops.swiglu {{.+}} {fuseops.recomputed}
// CHECK-NEXT: fuseops.grouped_matmul
// CHECK: fuseops.concat
// CHECK-NEXT: fuseops.yield
// CHECK: fuseops.group @{{.+}} gemm
// CHECK-NEXT: fuseops.grouped_matmul {{.+}} transpose_lhs
// CHECK: fuseops.group @{{.+}} gemm
// CHECK-NEXT: fuseops.grouped_matmul
// CHECK-NEXT: fuseops.yield
// CHECK: fuseops.group @{{.+}} gemm
// CHECK-NEXT: fuseops.grouped_matmul {{.+}} transpose_lhs
// CHECK-NOT: {{gemm|library}}

// WHY-DAG: fuseops-forward-fusion | Reason="fused fuseops.grouped_matmul with fuseops.swiglu"
// WHY-DAG: fuseops-forward-fusion | Reason="fuseops.swiglu with fuseops.grouped_matmul: condition 1, one of them is not an operation of a memory kernel"
// WHY-DAG: fuseops-forward-fusion | Reason="fused fuseops.grouped_matmul with fuseops.mul"
// WHY-DAG: fuseops-backward-fusion | Reason="fused fuseops.grouped_matmul with fuseops.pointwise"
fuseops.fusible @mixtral_mlp_block(%x: tensor<?x4096xbf16>, %sizes: tensor<8xi64>, %gate_up: tensor<8x28672x4096xbf16>, %down: tensor<8x4096x14336xbf16>, %weight: tensor<?x1xf32>) -> tensor<?x4096xbf16>
forward {
  %z = fuseops.grouped_linear %x, %gate_up sizes(%sizes) : (tensor<?x4096xbf16>, tensor<8x28672x4096xbf16>, tensor<8xi64>) -> tensor<?x28672xbf16>
  %a = fuseops.swiglu %z activation(first) : tensor<?x28672xbf16> -> tensor<?x14336xbf16>
  %d = fuseops.grouped_linear %a, %down sizes(%sizes) : (tensor<?x14336xbf16>, tensor<8x4096x14336xbf16>, tensor<8xi64>) -> tensor<?x4096xbf16>
  %y = fuseops.mul %d, %weight : tensor<?x4096xbf16>, tensor<?x1xf32> -> tensor<?x4096xbf16>
  fuseops.return %y : tensor<?x4096xbf16>
}
