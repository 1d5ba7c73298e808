// What becomes of the products of a Llama MLP block when products are generated:
// by recipe, the groups of all products, and why their neighbours are not in them.
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
// REDEFINE: %{recipe} = block
// RUN: %{plan}
// RUN: FileCheck %s --check-prefix=BLOCK --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=WHY-BLOCK --input-file=%t.remarks
// RUN: FileCheck %s --check-prefix=WHY-FP8 --input-file=%t.remarks

// BF16-LABEL: forward {
// BF16: fuseops.group @{{.+}} gemm
// BF16-NEXT: fuseops.linear {{.+}} -> tensor<?x28672xbf16>
// BF16-NEXT: fuseops.swiglu
// BF16-NEXT: fuseops.yield
// BF16: fuseops.group @{{.+}} gemm
// BF16-NEXT: fuseops.linear {{.+}} -> tensor<?x4096xbf16>
// BF16-NEXT: fuseops.add
// BF16-NEXT: fuseops.yield
// BF16-LABEL: backward
// SwiGLU again, of what its gradient reads, for the gradient of down.
// BF16: fuseops.group @{{.+}} gemm
// BF16-NEXT: fuseops.swiglu {{.+}} {fuseops.recomputed}
// BF16-NEXT: fuseops.matmul {{.+}} -> tensor<?x14336xbf16>
// BF16-NEXT: fuseops.slice
// BF16-NEXT: fuseops.slice
// BF16-NEXT: fuseops.pointwise
// BF16: fuseops.concat
// BF16-NEXT: fuseops.yield
// BF16-NOT: gemm
// BF16-COUNT-3: library
// BF16-NOT: {{gemm|library}}

// WHY-DAG: fuseops-forward-fusion | Reason="fuseops.rms_norm with fuseops.linear: condition 2, their iteration spaces differ"
// WHY-DAG: fuseops-forward-fusion | Reason="fused fuseops.linear with fuseops.swiglu"
// A kernel has one product.
// WHY-DAG: fuseops-forward-fusion | Reason="fuseops.swiglu with fuseops.linear: condition 1, one of them is not an operation of a memory kernel"
// WHY-DAG: fuseops-forward-fusion | Reason="fused fuseops.linear with fuseops.add"
// WHY-DAG: fuseops-backward-fusion | Reason="fused fuseops.matmul with fuseops.pointwise"
// WHY-DAG: fuseops-backward-fusion | Reason="fuseops.matmul with fuseops.rms_norm_grad: condition 9, the kernel of a product does not do what the other does"
// WHY-DAG: fuseops-backward-fusion | Reason="fuseops.concat with fuseops.matmul: condition 1, one of them is not an operation of a memory kernel"

// Both FP8 copies of what SwiGLU gives.
// FP8-LABEL: forward {
// FP8: fuseops.group @{{.+}} gemm
// FP8-NEXT: fuseops.scaled_matmul {{.+}} -> tensor<?x28672xbf16>
// FP8-NEXT: fuseops.swiglu
// FP8-NEXT: fuseops.amax
// FP8-NEXT: fuseops.pointwise
// FP8: fuseops.permute
// FP8: fuseops.group @{{.+}} gemm
// FP8-NEXT: fuseops.scaled_matmul {{.+}} -> tensor<?x4096xbf16>
// FP8-NEXT: fuseops.add
// FP8-NEXT: fuseops.yield
// FP8-LABEL: backward
// And of its gradient.
// FP8: fuseops.group @{{.+}} gemm
// FP8-NEXT: fuseops.scaled_matmul {{.+}} -> tensor<?x14336xbf16>
// FP8-NEXT: fuseops.slice
// FP8-NEXT: fuseops.slice
// FP8: fuseops.amax
// FP8: fuseops.concat
// FP8-NEXT: fuseops.concat
// FP8-NEXT: fuseops.permute
// FP8-NEXT: fuseops.yield
// FP8-NOT: gemm
// FP8-COUNT-3: library
// FP8-NOT: {{gemm|library}}

// One copy has scales of blocks along rows; those of the other are along columns,
// which a kernel of tiles makes.
// BLOCK-LABEL: forward {
// BLOCK: fuseops.group @{{.+}} gemm
// BLOCK-NEXT: fuseops.scaled_matmul {{.+}} block<1x128>, {{.+}} block<128x128> {{.+}} -> tensor<?x28672xbf16>
// BLOCK-NEXT: fuseops.swiglu
// BLOCK-NEXT: fuseops.pointwise
// BLOCK: fuseops.reduce_blocks {{.+}} block(1, 128)
// BLOCK: fuseops.expand_blocks {{.+}} block(1, 128)
// BLOCK: fuseops.permute {{.+}} -> tensor<112x?xf32>
// BLOCK-NEXT: fuseops.yield
// BLOCK: fuseops.group @{{.+}} tile
// BLOCK: fuseops.group @{{.+}} gemm
// BLOCK-NEXT: fuseops.scaled_matmul {{.+}} block<1x128>, {{.+}} block<128x128> {{.+}} -> tensor<?x4096xbf16>
// BLOCK-NEXT: fuseops.add
// BLOCK-NEXT: fuseops.yield
// BLOCK-LABEL: backward
// BLOCK: fuseops.group @{{.+}} gemm
// BLOCK-NEXT: fuseops.scaled_matmul {{.+}} -> tensor<?x14336xbf16>
// BLOCK-NEXT: fuseops.slice
// BLOCK-NEXT: fuseops.slice
// BLOCK-NEXT: fuseops.pointwise
// BLOCK: fuseops.reduce_blocks {{.+}} block(1, 128)
// BLOCK: fuseops.reduce_blocks {{.+}} block(1, 128)
// BLOCK: fuseops.concat
// BLOCK-NEXT: fuseops.yield
// BLOCK-NOT: gemm
// BLOCK-COUNT-3: library
// BLOCK-NOT: {{gemm|library}}

// WHY-FP8-DAG: fuseops-forward-fusion | Reason="fused fuseops.scaled_matmul with fuseops.swiglu"
// WHY-FP8-DAG: fuseops-forward-fusion | Reason="fused fuseops.scaled_matmul with fuseops.add"
// WHY-FP8-DAG: fuseops-forward-fusion | Reason="fuseops.pointwise with fuseops.scaled_matmul: condition 2, their iteration spaces differ"
// WHY-FP8-DAG: fuseops-backward-fusion | Reason="fused fuseops.scaled_matmul with fuseops.pointwise"
// WHY-FP8-DAG: fuseops-backward-fusion | Reason="fuseops.scaled_matmul with fuseops.rms_norm_grad: condition 9, the kernel of a product does not do what the other does"
// WHY-FP8-DAG: fuseops-backward-fusion | Reason="fuseops.concat with fuseops.scaled_matmul: condition 1, one of them is not an operation of a memory kernel"
// WHY-BLOCK: fuseops-forward-fusion | Reason="fuseops.swiglu with fuseops.pointwise: condition 9, the kernel of a product does not do what the other does"
fuseops.fusible @llama_mlp_block(%x: tensor<?x4096xbf16>, %gamma: tensor<4096xbf16>, %gate_up: tensor<28672x4096xbf16>, %down: tensor<4096x14336xbf16>) -> tensor<?x4096xbf16>
forward {
  %h, %rstd = fuseops.rms_norm %x gamma(%gamma) eps(1.0e-05) : (tensor<?x4096xbf16>, tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x1xf32>)
  %z = fuseops.linear %h, %gate_up : (tensor<?x4096xbf16>, tensor<28672x4096xbf16>) -> tensor<?x28672xbf16>
  %a = fuseops.swiglu %z activation(first) : tensor<?x28672xbf16> -> tensor<?x14336xbf16>
  %d = fuseops.linear %a, %down : (tensor<?x14336xbf16>, tensor<4096x14336xbf16>) -> tensor<?x4096xbf16>
  %y = fuseops.add %x, %d : tensor<?x4096xbf16>, tensor<?x4096xbf16> -> tensor<?x4096xbf16>
  fuseops.return %y : tensor<?x4096xbf16>
}
