# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rows of generated products: what each computes, what it should give, and
cuBLASLt's product beside it. scripts/gpu_bench --rows gemm times them (measure_gemm.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from cublaslt import list_accumulations
from plans import write_group, write_quantize, write_swiglu_gradient

SHAPES = [(8192, 14336, 4096), (8192, 4096, 14336), (8192, 8192, 8192), (8192, 28672, 4096)]
E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
Tensors = list[torch.Tensor]


@dataclass
class Row:
    """A plan's group for extents m, n, k, and what it should give."""

    name: str
    arguments: str
    """`name: type` of the group's inputs."""
    body: str
    outputs: str
    make: Callable[[int, int, int], Tensors]
    product: Callable[..., torch.Tensor]
    """Of the operands and their scales, in f64."""
    finish: Callable[..., Tensors]
    """The outputs for the product and the other inputs, in f64."""
    peer: Callable[..., object] | None = None
    """PyTorch's call of cuBLASLt for the product, on the same inputs."""
    shapes: tuple[tuple[int, int, int], ...] = tuple(SHAPES)
    is_library_call: bool = False
    """Whether cuBLASLt does all of it: then the peer is the runtime's own call."""
    unit: int = 1
    """What m is a multiple of."""
    list_peers: Callable[..., list[Callable[[], object]]] | None = None
    """Of the inputs, where PyTorch has no such call."""

    @property
    def is_fast(self) -> bool:
        """Whether the tensor cores alone add up the products."""
        return "fast_accumulate" in self.body

    def split(self, inputs: Sequence[torch.Tensor]) -> tuple[Tensors, Tensors]:
        """The operands with their scales or groups, and the other inputs."""
        count = 4 if "scaled_matmul" in self.body else 3 if "grouped" in self.body else 2
        return list(inputs[:count]), list(inputs[count:])

    def expected(self, *inputs: torch.Tensor) -> Tensors:
        """The outputs, in f64."""
        operands, others = self.split(inputs)
        return self.finish(self.product(*operands), *others)

    def group(self, n: int, k: int) -> tuple[dict[str, str], str, dict[str, str]]:
        """The inputs, the body and the outputs for these extents."""
        sizes = {"N": n, "K": k, "KB": count_blocks(k), "NB": count_blocks(n)}
        # A GLU's output, and its gradient's.
        sizes |= {"H": n // 2, "HB": count_blocks(n // 2), "NN": 2 * n}
        # Scales of squares have a multiple of four a row.
        sizes["KP"] = count_blocks(k, 512) * 4

        def fill(text: str) -> str:
            def fill_in(match: re.Match[str]) -> str:
                return match[1] + replace(match[2], sizes)

            return re.sub(r"([<(])([^<>()]*)", fill_in, text)

        def split(text: str) -> dict[str, str]:
            return dict(part.split(": ") for part in fill(text).split("; "))

        return split(self.arguments), fill(self.body), split(self.outputs)

    def fit(self, extents: tuple[int, int, int]) -> tuple[int, int, int]:
        """These, but for an m that the row does not take."""
        m, n, k = extents
        return count_blocks(m, self.unit) * self.unit, n, k

    def program(self, n: int, k: int, schedule: str, template: str = "gemm") -> str:
        return write_group(template, *self.group(n, k), schedule)


def count_blocks(size: int, block: int = 128) -> int:
    return -(-size // block)


def replace(text: str, sizes: dict[str, int]) -> str:
    return "x".join(str(sizes.get(part, part)) for part in text.split("x"))


def normal(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return torch.randn(shape).to(dtype)


def scale(*shape: int) -> torch.Tensor:
    return torch.rand(shape) + 0.5


def spread(scales: torch.Tensor, rows: int, columns: int, block: tuple[int, int]) -> torch.Tensor:
    each = scales.repeat_interleave(block[0], 0).repeat_interleave(block[1], 1)
    return each[:rows, :columns]


def scaled_mm(a: torch.Tensor, s: torch.Tensor, b: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    return torch._scaled_mm(a, b.t(), s, t, out_dtype=torch.bfloat16, use_fast_accum=True)


def gelu(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.gelu(x, approximate="tanh")


def gelu_gradient(x: torch.Tensor) -> torch.Tensor:
    return torch.ops.aten.gelu_backward(torch.ones_like(x), x, approximate="tanh")


FP8 = "a: tensor<?xKxf8E4M3FN>; s: tensor<f32>; b: tensor<NxKxf8E4M3FN>; t: tensor<f32>"
FAST = (
    "%p = fuseops.scaled_matmul %a[%s] per_tensor, %b[%t] per_tensor {fast_accumulate} : "
    "({a}, {s}, {b}, {t}) -> tensor<?xNxbf16>"
)
QUANTIZE = """
%q = fuseops.pointwise (%v = %g, %w = %u) : (tensor<?xNxbf16>, tensor<f32>) -> {q} {
  %x = arith.mulf %v, %w : f32
  fuseops.yield %x : f32
}
%m = fuseops.amax %g : tensor<?xNxbf16> -> tensor<f32>
"""


SWIGLU = "\n%h = fuseops.swiglu %p activation(first) : tensor<?xNxbf16> -> tensor<?xHxbf16>"
QUANTIZE_BLOCKS = write_quantize("h", "H", "HB", "f")
QUANTIZED_BLOCKS = "q: tensor<?xHxf8E4M3FN>; f: tensor<HBx?xf32>"
# As delayed scaling does: the matrix and its transposed copy.
QUANTIZE_HALVES = """
%qg = fuseops.pointwise (%v = %dg, %w = %c) : (tensor<?xNxbf16>, {c}) -> tensor<?xNxf8E5M2> {
  %x = arith.mulf %v, %w : f32
  fuseops.yield %x : f32
}
%qu = fuseops.pointwise (%v = %du, %w = %c) : (tensor<?xNxbf16>, {c}) -> tensor<?xNxf8E5M2> {
  %x = arith.mulf %v, %w : f32
  fuseops.yield %x : f32
}
%q = fuseops.concat %qg, %qu dim(1) : (tensor<?xNxf8E5M2>, tensor<?xNxf8E5M2>) -> {q}
%l = fuseops.pointwise (%v = %dg, %w = %du)
    : (tensor<?xNxbf16>, tensor<?xNxbf16>) -> tensor<?xNxbf16> {
  %y = math.absf %v : f32
  %i = math.absf %w : f32
  %x = arith.maximumf %y, %i : f32
  fuseops.yield %x : f32
}
%m = fuseops.amax %l : tensor<?xNxbf16> -> {m}
%r = fuseops.permute %q order[1, 0] : {q} -> {r}
"""
# What the norm that follows needs of each row.
RESIDUAL = """
%h = fuseops.add %p, %r : {r}, {r} -> {h}
%squares = fuseops.pointwise (%v = %h) : ({h}) -> tensor<?xNxf32> {
  %x = arith.mulf %v, %v : f32
  fuseops.yield %x : f32
}
%c = fuseops.reduce_columns sum %squares : tensor<?xNxf32> -> {c}
"""


def fp8(m: int, n: int, k: int) -> Tensors:
    return [normal(m, k, dtype=E4M3), scale(), normal(n, k, dtype=E4M3), scale()]


BLOCKS = (
    "a: tensor<?xKxf8E4M3FN>; s: tensor<KBx?xf32>; b: tensor<NxKxf8E4M3FN>; t: tensor<NBxKPxf32>"
)
BY_BLOCK = (
    "%p = fuseops.scaled_matmul %a[%s] block<1x128>, %b[%t] block<128x128> : "
    "({a}, {s}, {b}, {t}) -> tensor<?xNxbf16>"
)


def fp8_blocks(m: int, n: int, k: int) -> Tensors:
    left, right = normal(m, k, dtype=E4M3), normal(n, k, dtype=E4M3)
    scales = scale(count_blocks(n), count_blocks(k, 512) * 4)
    return [left, scale(count_blocks(k), m), right, scales]


def by_tensor(a: torch.Tensor, s: torch.Tensor, b: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    return (a.double() @ b.double().T) * s * t


def by_block(a: torch.Tensor, s: torch.Tensor, b: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    left = a.double() * spread(s.T, *a.shape, (1, 128))
    return left @ (b.double() * spread(t, *b.shape, (128, 128))).T


# Products of groups of rows, as of experts: each has a weight of its own. The peer gives all
# rows one weight.
GROUPS = "a: tensor<?xKx{0}>; b: tensor<8xNxKx{0}>; n: tensor<8xi64>"
GROUPED = "%p = fuseops.grouped_matmul %a, %b sizes(%n) transpose_rhs{0} : {{a}}, {{b}}, {{n}} -> "
# Where the groups' rows end, of all: many, few, and no multiples of a tile.
ENDS = (0.047, 0.313, 0.441, 0.512, 0.691, 0.7, 0.911, 1)


def grouped(m: int, n: int, k: int, dtype: torch.dtype) -> Tensors:
    ends = torch.tensor([0.0, *ENDS]).mul(m).round().long()
    return [normal(m, k, dtype=dtype), normal(8, n, k, dtype=dtype), ends.diff()]


def by_group(a: torch.Tensor, b: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
    parts = zip(a.double().split(sizes.tolist()), b, strict=True)
    return torch.cat([part @ matrix.double().T for part, matrix in parts])


def over_groups(a: torch.Tensor, b: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
    parts = (one.double().split(sizes.tolist()) for one in (a, b))
    return torch.stack([left.T @ right for left, right in zip(*parts, strict=True)])


# The weight gradient [n, k] of a product of m rows, added to what there was. Both operands
# are transposed copies.
ACCUMULATE = "\n%q = fuseops.add %p, %c : {c}, {c} -> {c}"


def gradients(extents: tuple[int, int, int], dtype: torch.dtype, scales: Tensors) -> Tensors:
    m, n, k = extents
    s, t = scales
    c = m**0.5 * torch.randn(n, k)
    return [normal(n, m, dtype=dtype), s, normal(k, m, dtype=E4M3), t, c]


def by_vector(a: torch.Tensor, s: torch.Tensor, b: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    left = a.double() * spread(s.T, *a.shape, (1, 128))
    return left @ (b.double() * spread(t.T, *b.shape, (1, 128))).T


def keep(p: torch.Tensor) -> Tensors:
    return [p]


def add(p: torch.Tensor, other: torch.Tensor) -> Tensors:
    return [p + other]


def finish_residual(p: torch.Tensor, r: torch.Tensor) -> Tensors:
    h = p + r
    # Of what is stored, which is rounded.
    return [h, h.bfloat16().double().square().sum(1, keepdim=True)]


def finish_gelu(p: torch.Tensor, bias: torch.Tensor, factor: torch.Tensor) -> Tensors:
    g = gelu(p + bias)
    return [(g * factor).clamp(-448, 448), g.abs().max()]


def finish_dgelu(p: torch.Tensor, z: torch.Tensor, factor: torch.Tensor) -> Tensors:
    g = p * gelu_gradient(z.double())
    return [(g * factor).clamp(-448, 448), g.abs().max(), g.sum(0)]


def swiglu(p: torch.Tensor) -> torch.Tensor:
    gate, up = p.chunk(2, 1)
    return torch.nn.functional.silu(gate) * up


def finish_swiglu(p: torch.Tensor) -> Tensors:
    h = swiglu(p)
    blocks = count_blocks(h.shape[1])
    padded = torch.nn.functional.pad(h.abs(), (0, 128 * blocks - h.shape[1]))
    factors = 448 / padded.view(len(h), blocks, 128).amax(2)
    return [h * spread(factors, *h.shape, (1, 128)), factors.T]


def finish_dswiglu(dy: torch.Tensor, z: torch.Tensor, factor: torch.Tensor) -> Tensors:
    gate, up = z.double().chunk(2, 1)
    sigmoid = gate.sigmoid()
    slope = sigmoid * (1 + gate * (1 - sigmoid))
    d = torch.cat([dy * up * slope, dy * gate * sigmoid], 1)
    q = (d * factor).clamp(-57344, 57344)
    return [q, q.T, d.abs().max()]


ROWS = [
    Row(
        "gemm_fp8",
        FP8,
        FAST,
        "p: tensor<?xNxbf16>",
        fp8,
        by_tensor,
        keep,
        scaled_mm,
    ),
    Row(
        "gemm_bf16",
        "a: tensor<?xKxbf16>; b: tensor<NxKxbf16>",
        "%p = fuseops.linear %a, %b : ({a}, {b}) -> {p}",
        "p: tensor<?xNxbf16>",
        lambda m, n, k: [normal(m, k), normal(n, k)],
        lambda a, b: a.double() @ b.double().T,
        keep,
        lambda a, b: a @ b.T,
    ),
    Row(
        "gemm_fp8_block",
        BLOCKS,
        BY_BLOCK,
        "p: tensor<?xNxbf16>",
        fp8_blocks,
        by_block,
        keep,
        is_library_call=True,
    ),
    Row(
        "gemm_bias_gelu_quant",
        FP8 + "; c: tensor<Nxbf16>; u: tensor<f32>",
        FAST
        + "\n%z = fuseops.bias %p, %c : tensor<?xNxbf16>, {c}\n"
        + "%g = fuseops.gelu %z approximate(tanh) : tensor<?xNxbf16>"
        + QUANTIZE,
        "q: tensor<?xNxf8E4M3FN>; m: tensor<f32>",
        lambda m, n, k: [*fp8(m, n, k), normal(n), scale()],
        by_tensor,
        finish_gelu,
        lambda *inputs: scaled_mm(*inputs[:4]),
        (SHAPES[0],),
    ),
    Row(
        "gemm_dgelu_dbias_quant",
        FP8 + "; z: tensor<?xNxbf16>; u: tensor<f32>",
        FAST
        + "\n%g = fuseops.gelu_grad %p, %z approximate(tanh) : {z}\n"
        + "%d = fuseops.reduce_rows sum %g : {z} -> {d}"
        + QUANTIZE,
        "q: tensor<?xNxf8E4M3FN>; m: tensor<f32>; d: tensor<Nxbf16>",
        lambda m, n, k: [*fp8(m, n, k), normal(m, n), scale()],
        by_tensor,
        finish_dgelu,
        lambda *inputs: scaled_mm(*inputs[:4]),
        (SHAPES[0],),
    ),
    Row(
        "gemm_residual_sumsq",
        FP8 + "; r: tensor<?xNxbf16>",
        FAST + RESIDUAL,
        "h: tensor<?xNxbf16>; c: tensor<?x1xf32>",
        lambda m, n, k: [*fp8(m, n, k), normal(m, n)],
        by_tensor,
        finish_residual,
        lambda *inputs: scaled_mm(*inputs[:4]),
        (SHAPES[1],),
    ),
    Row(
        "wgrad_fp8_accumulate",
        "a: tensor<Nx?xf8E5M2>; s: tensor<f32>; b: tensor<Kx?xf8E4M3FN>; t: tensor<f32>; "
        "c: tensor<NxKxf32>",
        "%p = fuseops.scaled_matmul %a[%s] per_tensor, %b[%t] per_tensor {fast_accumulate} : "
        "({a}, {s}, {b}, {t}) -> {c}" + ACCUMULATE,
        "q: tensor<NxKxf32>",
        lambda m, n, k: gradients((m, n, k), E5M2, [scale(), scale()]),
        by_tensor,
        add,
        list_peers=list_accumulations,
        shapes=(SHAPES[0],),
        unit=16,
    ),
    Row(
        "gemm_fp8_block_wgrad",
        "a: tensor<Nx?xf8E4M3FN>; s: tensor<?xNxf32, #fuseops.blocks<128>>; "
        "b: tensor<Kx?xf8E4M3FN>; t: tensor<?xKxf32, #fuseops.blocks<128>>; c: tensor<NxKxf32>",
        "%p = fuseops.scaled_matmul %a[%s] block<1x128>, %b[%t] block<1x128> : "
        "({a}, {s}, {b}, {t}) -> {c}" + ACCUMULATE,
        "q: tensor<NxKxf32>",
        lambda m, n, k: gradients(
            (m, n, k), E4M3, [scale(count_blocks(m), n), scale(count_blocks(m), k)]
        ),
        by_vector,
        add,
        list_peers=list_accumulations,
        shapes=(SHAPES[0],),
        unit=16,
    ),
    Row(
        "gemm_fp8_swiglu_quant",
        FP8,
        FAST + SWIGLU + QUANTIZE_BLOCKS,
        QUANTIZED_BLOCKS,
        fp8,
        by_tensor,
        finish_swiglu,
        scaled_mm,
        (SHAPES[3],),
    ),
    Row(
        "gemm_fp8_swiglu_quant_saved",
        FP8,
        FAST + SWIGLU + QUANTIZE_BLOCKS,
        QUANTIZED_BLOCKS + "; p: tensor<?xNxbf16>",
        fp8,
        by_tensor,
        lambda p: [*finish_swiglu(p), p],
        scaled_mm,
        (SHAPES[3],),
    ),
    Row(
        "gemm_fp8_block_swiglu_quant",
        BLOCKS,
        BY_BLOCK + SWIGLU + QUANTIZE_BLOCKS,
        QUANTIZED_BLOCKS,
        fp8_blocks,
        by_block,
        finish_swiglu,
        shapes=(SHAPES[3],),
    ),
    Row(
        "gemm_fp8_dswiglu_quant",
        FP8 + "; z: tensor<?xNNxbf16>; c: tensor<f32>",
        FAST + write_swiglu_gradient("N", "NN") + QUANTIZE_HALVES,
        "q: tensor<?xNNxf8E5M2>; r: tensor<NNx?xf8E5M2>; m: tensor<f32>",
        lambda m, n, k: [*fp8(m, n, k), normal(m, 2 * n), scale()],
        by_tensor,
        finish_dswiglu,
        lambda *inputs: scaled_mm(*inputs[:4]),
        (SHAPES[0],),
    ),
    Row(
        "grouped_gemm_fp8",
        GROUPS.format("f8E4M3FN") + "; s: tensor<f32>; t: tensor<f32>",
        GROUPED.format(" {fast_accumulate}")
        + """tensor<?xNxf32>
%y = fuseops.pointwise (%u = %p, %v = %s, %w = %t) : (tensor<?xNxf32>, {s}, {t}) -> {y} {
  %scale = arith.mulf %v, %w : f32
  %x = arith.mulf %u, %scale : f32
  fuseops.yield %x : f32
}
""",
        "y: tensor<?xNxbf16>",
        lambda m, n, k: [*grouped(m, n, k, E4M3), scale(), scale()],
        by_group,
        lambda p, s, t: [p * s * t],
        lambda a, b, _, s, t: scaled_mm(a, s, b[0], t),
        (SHAPES[0],),
    ),
    Row(
        "grouped_gemm_bf16",
        GROUPS.format("bf16"),
        GROUPED.format("") + "{p}",
        "p: tensor<?xNxbf16>",
        lambda m, n, k: grouped(m, n, k, torch.bfloat16),
        by_group,
        keep,
        lambda a, b, _: a @ b[0].T,
        (SHAPES[0],),
    ),
    Row(
        "grouped_gemm_wgrad",
        "a: tensor<?xNxbf16>; b: tensor<?xKxbf16>; n: tensor<8xi64>",
        "%p = fuseops.grouped_matmul %a, %b sizes(%n) transpose_lhs : {a}, {b}, {n} -> {p}",
        "p: tensor<8xNxKxbf16>",
        lambda m, n, k: [normal(m, n), normal(m, k), grouped(m, 1, 1, torch.bfloat16)[2]],
        over_groups,
        keep,
        # All of one result, which is an eighth of what is written here.
        lambda a, b, _: a.T @ b,
        (SHAPES[0],),
    ),
]
