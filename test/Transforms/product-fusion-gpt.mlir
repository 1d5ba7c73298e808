// What becomes of the products of a GPT MLP block when products are generated: by
// recipe, the groups of all products, and why their neighbours are not in them.
// DEFINE: %{recipe} =
// DEFINE: %{plan} = fuse-opt %s --mlir-disable-threading --pass-pipeline="builtin.module(fuseops-compile{to=saved target=cuda recipe=%{recipe}}, fuseops.fusible(fuseops-expand-contractions{chip=sm_90a}, fuseops-expand-quantized, fuseops-forward-fusion{generate=all}, fuseops-backward-fusion{generate=all}))" --remarks-filter="fuseops-(forward|backward)-fusion" -o %t.mlir 2> %t.remarks
// REDEFINE: %{recipe} = none
// RUN: %{plan}
// RUN: FileCheck %s --check-prefix=BF16 --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=WHY --input-file=%t.remarks
// REDEFINE: %{recipe} = delayed
// RUN: %{plan}
// RUN: FileCheck %s --check-prefix=FP8 --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=WHY-FP8 --input-file=%t.remarks

// BF16-LABEL: forward {
// BF16: fuseops.group @{{.+}} gemm
// BF16-NEXT: fuseops.linear {{.+}} bias({{.+}}) {{.+}} -> tensor<?x16384xbf16>
// BF16-NEXT: fuseops.gelu
// BF16-NEXT: fuseops.yield
// BF16: fuseops.group @{{.+}} gemm
// BF16-NEXT: fuseops.linear {{.+}} bias({{.+}}) {{.+}} -> tensor<?x4096xbf16>
// BF16-NEXT: fuseops.add
// BF16-NEXT: fuseops.yield
// BF16-LABEL: backward
// GELU again, of what its gradient reads, for the gradient of the second weight.
// BF16: fuseops.group @{{.+}} gemm
// BF16-NEXT: fuseops.gelu {{.+}} {fuseops.recomputed}
// BF16-NEXT: fuseops.matmul
// BF16-NEXT: fuseops.gelu_grad
// BF16-NEXT: fuseops.reduce_rows
// BF16-NEXT: fuseops.yield
// BF16-NOT: gemm
// BF16-COUNT-3: library
// BF16-NOT: {{gemm|library}}

// WHY-DAG: fuseops-forward-fusion | Reason="fuseops.layer_norm with fuseops.linear: condition 2, their iteration spaces differ"
// WHY-DAG: fuseops-forward-fusion | Reason="fused fuseops.linear with fuseops.gelu"
// A kernel has one product.
// WHY-DAG: fuseops-forward-fusion | Reason="fuseops.gelu with fuseops.linear: condition 1, one of them is not an operation of a memory kernel"
// WHY-DAG: fuseops-forward-fusion | Reason="fused fuseops.linear with fuseops.add"
// WHY-DAG: fuseops-backward-fusion | Reason="fused fuseops.matmul with fuseops.gelu_grad"
// WHY-DAG: fuseops-backward-fusion | Reason="fuseops.gelu with fuseops.matmul: condition 1, one of them is not an operation of a memory kernel"
// WHY-DAG: fuseops-backward-fusion | Reason="fuseops.matmul with fuseops.layer_norm_grad: condition 9, the kernel of a product does not do what the other does"

// Both FP8 copies of what GELU gives.
// FP8-LABEL: forward {
// FP8: fuseops.group @{{.+}} gemm
// FP8-NEXT: fuseops.scaled_matmul {{.+}} bias({{.+}}) {{.+}} -> tensor<?x16384xbf16>
// FP8-NEXT: fuseops.gelu
// FP8-NEXT: fuseops.amax
// FP8-NEXT: fuseops.pointwise
// FP8: fuseops.permute
// FP8: fuseops.group @{{.+}} gemm
// FP8-NEXT: fuseops.scaled_matmul {{.+}} bias({{.+}}) {{.+}} -> tensor<?x4096xbf16>
// FP8-NEXT: fuseops.add
// FP8-NEXT: fuseops.yield
// FP8-LABEL: backward
// And of its gradient, with the gradient of the bias.
// FP8: fuseops.group @{{.+}} gemm
// FP8-NEXT: fuseops.scaled_matmul {{.+}} -> tensor<?x16384xbf16>
// FP8-NEXT: fuseops.gelu_grad
// FP8-NEXT: fuseops.amax
// FP8-NEXT: fuseops.pointwise
// FP8: fuseops.permute
// FP8-NEXT: fuseops.reduce_rows
// FP8: fuseops.yield
// FP8-NOT: gemm
// FP8-COUNT-3: library
// FP8-NOT: {{gemm|library}}

// WHY-FP8-DAG: fuseops-forward-fusion | Reason="fused fuseops.scaled_matmul with fuseops.gelu"
// WHY-FP8-DAG: fuseops-forward-fusion | Reason="fused fuseops.scaled_matmul with fuseops.add"
// WHY-FP8-DAG: fuseops-forward-fusion | Reason="fuseops.pointwise with fuseops.scaled_matmul: condition 1, one of them is not an operation of a memory kernel"
// WHY-FP8-DAG: fuseops-backward-fusion | Reason="fused fuseops.scaled_matmul with fuseops.gelu_grad"
// WHY-FP8-DAG: fuseops-backward-fusion | Reason="fuseops.permute with fuseops.scaled_matmul: condition 1, one of them is not an operation of a memory kernel"
// WHY-FP8-DAG: fuseops-backward-fusion | Reason="fuseops.scaled_matmul with fuseops.layer_norm_grad: condition 9, the kernel of a product does not do what the other does"
fuseops.fusible @gpt_mlp_block(%x: tensor<?x4096xbf16>, %gamma: tensor<4096xbf16>, %beta: tensor<4096xbf16>, %w1: tensor<16384x4096xbf16>, %b1: tensor<16384xbf16>, %w2: tensor<4096x16384xbf16>, %b2: tensor<4096xbf16>) -> tensor<?x4096xbf16>
forward {
  %h, %mean, %rstd = fuseops.layer_norm %x gamma(%gamma) beta(%beta) eps(1.0e-05) : (tensor<?x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
  %z = fuseops.linear %h, %w1 bias(%b1) : (tensor<?x4096xbf16>, tensor<16384x4096xbf16>, tensor<16384xbf16>) -> tensor<?x16384xbf16>
  %a = fuseops.gelu %z approximate(tanh) : tensor<?x16384xbf16>
  %d = fuseops.linear %a, %w2 bias(%b2) : (tensor<?x16384xbf16>, tensor<4096x16384xbf16>, tensor<4096xbf16>) -> tensor<?x4096xbf16>
  %y = fuseops.add %x, %d : tensor<?x4096xbf16>, tensor<?x4096xbf16> -> tensor<?x4096xbf16>
  fuseops.return %y : tensor<?x4096xbf16>
}
