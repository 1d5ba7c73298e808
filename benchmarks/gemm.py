# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generated products on a GPU beside cuBLASLt's: right first, then timed.

    python benchmarks/gemm.py [--only TEXT] [--schedule "ping_pong = 0, …"] [--json FILE]

Each row is a plan of one `gemm` group. Its outputs are compared with the product in
f32 of the operands' values, elementwise and on all of them; then ours and PyTorch's
call of cuBLASLt run in a random order each round, launches back to back, on random
normal data. Printed: the median microseconds, TFLOP/s, and cuBLASLt's time over ours.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import fuseops
import torch
from plans import write_group

ROUNDS, LAUNCHES = 15, 10
SHAPES = [(8192, 14336, 4096), (8192, 4096, 14336), (8192, 8192, 8192), (8192, 28672, 4096)]
E4M3 = torch.float8_e4m3fn
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
    expected: Callable[..., Tensors]
    """Of the inputs, in f32."""
    peer: Callable[..., object] | None = None
    shapes: tuple[tuple[int, int, int], ...] = tuple(SHAPES)

    def program(self, n: int, k: int, schedule: str) -> str:
        sizes = {"N": n, "K": k, "KB": -(-k // 128), "NB": -(-n // 128)}
        # Scales of squares have a multiple of four a row.
        sizes["KP"] = -(-sizes["KB"] // 4) * 4

        def fill(text: str) -> str:
            return re.sub(r"<([^<>]*)>", lambda match: f"<{replace(match[1], sizes)}>", text)

        def split(text: str) -> dict[str, str]:
            return dict(part.split(": ") for part in fill(text).split("; "))

        inputs, outputs = split(self.arguments), split(self.outputs)
        return write_group("gemm", inputs, fill(self.body), outputs, schedule)


def replace(text: str, sizes: dict[str, int]) -> str:
    return "x".join(str(sizes.get(part, part)) for part in text.split("x"))


def normal(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return torch.randn(shape, device="cuda").to(dtype)


def scale(*shape: int) -> torch.Tensor:
    return torch.rand(shape, device="cuda") + 0.5


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


def fp8(m: int, n: int, k: int) -> Tensors:
    return [normal(m, k, dtype=E4M3), scale(), normal(n, k, dtype=E4M3), scale()]


def product(a: torch.Tensor, s: torch.Tensor, b: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    return (a.float() @ b.float().T) * s * t


def by_block(a: torch.Tensor, s: torch.Tensor, b: torch.Tensor, t: torch.Tensor) -> Tensors:
    left = a.float() * spread(s.T, *a.shape, (1, 128))
    return [left @ (b.float() * spread(t, *b.shape, (128, 128))).T]


def expect_gelu(*inputs: torch.Tensor) -> Tensors:
    *operands, bias, factor = inputs
    g = gelu(product(*operands) + bias.float())
    return [(g * factor).clamp(-448, 448), g.abs().max()]


def expect_dgelu(*inputs: torch.Tensor) -> Tensors:
    *operands, z, factor = inputs
    g = product(*operands) * gelu_gradient(z.float())
    return [(g * factor).clamp(-448, 448), g.abs().max(), g.sum(0)]


ROWS = [
    Row(
        "gemm_fp8",
        FP8,
        FAST,
        "p: tensor<?xNxbf16>",
        fp8,
        lambda *x: [product(*x)],
        scaled_mm,
    ),
    Row(
        "gemm_bf16",
        "a: tensor<?xKxbf16>; b: tensor<NxKxbf16>",
        "%p = fuseops.linear %a, %b : ({a}, {b}) -> {p}",
        "p: tensor<?xNxbf16>",
        lambda m, n, k: [normal(m, k), normal(n, k)],
        lambda a, b: [a.float() @ b.float().T],
        lambda a, b: a @ b.T,
    ),
    Row(
        "gemm_fp8_block",
        "a: tensor<?xKxf8E4M3FN>; s: tensor<KBx?xf32>; b: tensor<NxKxf8E4M3FN>; "
        "t: tensor<NBxKPxf32>",
        "%p = fuseops.scaled_matmul %a[%s] block<1x128>, %b[%t] block<128x128> : "
        "({a}, {s}, {b}, {t}) -> {p}",
        "p: tensor<?xNxbf16>",
        lambda m, n, k: [
            normal(m, k, dtype=E4M3),
            scale(k // 128, m),
            normal(n, k, dtype=E4M3),
            scale(n // 128, -(-(k // 128) // 4) * 4),
        ],
        by_block,
        # The same work without scales of blocks.
        lambda a, s, b, t: scaled_mm(a, s[0, 0], b, t[0, 0]),
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
        expect_gelu,
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
        expect_dgelu,
        lambda *inputs: scaled_mm(*inputs[:4]),
        (SHAPES[0],),
    ),
    Row(
        "gemm_residual",
        FP8 + "; r: tensor<?xNxbf16>",
        FAST + "\n%y = fuseops.add %p, %r : {r}, {r} -> {y}",
        "y: tensor<?xNxbf16>",
        lambda m, n, k: [*fp8(m, n, k), normal(m, n)],
        lambda a, s, b, t, r: [product(a, s, b, t) + r.float()],
        lambda *inputs: scaled_mm(*inputs[:4]),
        (SHAPES[1],),
    ),
]
# Relative to the element and a part of the root mean square; that of FP8 sums, which
# the tensor cores add in less than f32, included.
ERRORS = {torch.bfloat16: 2**-7, torch.float32: 2**-7, E4M3: 2**-3}


def check(row: Row, schedule: str, extents: tuple[int, int, int]) -> str:
    """What is wrong; empty if nothing is."""
    m, n, k = extents
    program = fuseops.compile_ir(row.program(n, k, schedule), target="cuda")
    inputs = row.make(m, n, k)
    found = program(*inputs)
    found = found if isinstance(found, tuple) else (found,)
    for number, (one, other) in enumerate(zip(found, row.expected(*inputs), strict=True)):
        size = other.abs() + 0.02 * other.square().mean().sqrt()
        error = ((one.float() - other).abs() / size).max().item()
        if not error <= ERRORS[one.dtype]:
            return f"output {number} of {m}x{n}x{k}: {error:.3g} off"
    return ""


def time_calls(calls: list[Callable[[], object]]) -> list[float]:
    """The median microseconds of each, in a random order each round."""
    times: list[list[float]] = [[] for _ in calls]
    for call in calls:
        for _ in range(3):
            call()
    for _ in range(ROUNDS):
        for number in random.sample(range(len(calls)), len(calls)):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(200_000)
            start.record()
            for _ in range(LAUNCHES):
                calls[number]()
            end.record()
            end.synchronize()
            times[number].append(start.elapsed_time(end) * 1000 / LAUNCHES)
    return [statistics.median(series) for series in times]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name contains TEXT")
    parser.add_argument("--schedule", default="", help="keys of the group's schedule")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    failed, rows = 0, []
    for row in ROWS:
        if options.only not in row.name:
            continue
        # Tails of rows, columns and K, then what is timed.
        small = (333, 1424, 912) if "block" not in row.name else (333, 1424, 896)
        for extents in (small, *row.shapes):
            if fault := check(row, options.schedule, extents):
                print(f"FAIL {row.name}: {fault}", flush=True)
                failed += 1
        for m, n, k in row.shapes:
            program = fuseops.compile_ir(row.program(n, k, options.schedule), target="cuda")
            inputs = row.make(m, n, k)
            calls = [lambda p=program, x=inputs: p(*x)]
            if row.peer:
                calls.append(lambda f=row.peer, x=inputs: f(*x))
            times = time_calls(calls)
            flops = 2 * m * n * k
            line = f"{row.name:<24} {m}x{n}x{k}  {times[0]:8.1f} us {flops / times[0] / 1e6:6.0f}"
            entry = {"name": row.name, "shape": [m, n, k], "time_us": times[0], "flops": flops}
            entry["tflops"] = flops / times[0] / 1e6
            if row.peer:
                entry["peers"] = {"cublaslt": times[1]}
                line += f"  cuBLASLt {times[1]:8.1f} us  {times[1] / times[0]:5.3f}x"
            print(line, flush=True)
            rows.append(entry)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
