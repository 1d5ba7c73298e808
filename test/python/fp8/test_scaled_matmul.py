# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of quantized operands: every kind of scale, format, side and odd size against f64 on the
dequantized operands, and which way each goes on each chip. On the CPU they are dequantized; with
FUSEOPS_TEST_DEVICE=cuda they run as on that GPU."""

from __future__ import annotations

import json
import os
from typing import Any

import fuseops
import pytest
import torch
from conformance import runner
from torch import Tensor

from fp8.operands import FORMATS, KINDS, Operand, make, type_of

DEVICE = os.environ.get("FUSEOPS_TEST_DEVICE", "cpu")
E4M3, E5M2 = FORMATS
# Half an ulp of a result, of its value and at least.
OUT = {"bf16": (2.0**-8, 2.0**-134), "f16": (2.0**-11, 2.0**-25), "f32": (2.0**-24, 2.0**-150)}

# The pairs that cuBLASLt multiplies: on sm_89 and later, and only on sm_90.
EVERYWHERE = {("per_tensor", "per_tensor")}
HOPPER = EVERYWHERE | {
    ("per_row", "per_row"),
    ("block<1x128>", "block<1x128>"),
    ("block<1x128>", "block<128x128>"),
    ("block<128x128>", "block<1x128>"),
}
PAIRS = [(a, b) for a in KINDS for b in KINDS]
MATCHED = [*sorted(HOPPER), ("mx<1x32>", "mx<1x32>"), ("per_tensor", "per_row")]
SIZES = [
    (256, 128, 256),
    (64, 272, 384),
    (1, 128, 128),
    (33, 128, 256),
    (64, 100, 128),
    (64, 128, 200),
    (130, 129, 300),
    (33, 50, 77),
    (1, 1, 1),
    (0, 128, 128),
    (16, 32, 0),
]


def is_scaled(a: str, b: str, formats: tuple[str, str], chip: int, out: str = "bf16") -> bool:
    """Whether a product runs in FP8 on a chip, 0 for the CPU."""
    known = HOPPER if chip // 10 == 9 else EVERYWHERE
    return chip >= 89 and (a, b) in known and formats != (E5M2, E5M2) and out != "f64"


def tensor(extents: tuple[Any, ...], dtype: str) -> str:
    return f"tensor<{''.join(f'{e}x' for e in extents)}{dtype}>"


def linear(
    size: tuple[Any, int, int], ops: list[tuple[str, str]], out: str, extra: str = ""
) -> str:
    """The IR of a linear layer of quantized operands, (format, kind) each; `extra` is `bias` or
    `fast_accumulate`."""
    m, n, k = size
    x = type_of(m, k, *ops[0], "row")
    w = type_of(n, k, *ops[1], "row")
    y, b = tensor((m, n), out), tensor((n,), out)
    bias = ", %b: " + b if extra == "bias" else ""
    use = " bias(%b)" if extra == "bias" else ""
    attributes = " {fast_accumulate}" if extra == "fast_accumulate" else ""
    types = f"({x}, {w}{', ' + b if bias else ''})"
    return f"""fuseops.fusible @main(%x: {x}, %w: {w}{bias}) -> {y}
    attributes {{frozen_results = array<i64: 0>}} forward {{
      %y = fuseops.linear %x, %w{use}{attributes} : {types} -> {y}
      fuseops.return %y : {y}
    }}"""


def check(got: Tensor, a: Operand, b: Operand, bias: Tensor | None, terms: float) -> None:
    """Compares with f64 to within `terms` of the sum of magnitudes, and one rounding."""
    want = a.value @ b.value.t()
    magnitude = a.value.abs() @ b.value.t().abs()
    if bias is not None:
        want, magnitude = want + bias.double(), magnitude + bias.double().abs()
    unit, least = OUT[runner.name_of(got.dtype)]
    bound = terms * magnitude + (unit * want.abs()).clamp(min=least)
    error = (got.cpu().double() - want).abs()
    assert got.shape == want.shape
    worst = (error / bound).max().item() if error.numel() else 0.0
    assert worst <= 1, f"{worst:.3g} of the bound"


def accumulation(k: int, is_fp8: bool, is_fast: bool = False) -> float:
    """How much of the sum of magnitudes accumulation may lose. The tensor cores of Hopper keep
    about 13 bits below the largest of the 32 addends of an instruction, some of which are up to 16
    times the others here; without fast accumulation sums of 128 go to f32 registers."""
    if not is_fp8:
        return (k + 8) * 2.0**-24
    return 16 * 2.0**-13 * (max(k // 128, 1) if is_fast else 1)


def run(text: str, a: Operand, b: Operand, bias: Tensor | None = None) -> Tensor:
    program = runner.compile_ir(text, DEVICE)
    arguments = [a.data, a.scale_inv, b.data, b.scale_inv]
    (got,), _ = program.forward(*arguments, *([] if bias is None else [bias]))
    return got


def chip() -> int:
    """The number of the chip that the tests run on, 0 for the CPU."""
    if DEVICE == "cpu":
        return 0
    major, minor = torch.cuda.get_device_capability()
    return 10 * major + minor


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("pair", MATCHED, ids=str)
def test_sizes(pair: tuple[str, str], size: tuple[int, int, int]) -> None:
    """All kinds that go together, with sizes that are no multiples of 16 or of blocks."""
    m, n, k = size
    a = make(m, k, E4M3, pair[0], seed=1, dynamic="rows")
    b = make(n, k, E4M3, pair[1], seed=2)
    bias = torch.randn(n, generator=torch.Generator().manual_seed(3))
    formats = (E4M3, E4M3)
    for out in OUT:
        for extra in ("", "bias"):
            used = bias.to(runner.DTYPES[out]) if extra else None
            text = linear(("?", n, k), [(E4M3, pair[0]), (E4M3, pair[1])], out, extra)
            got = run(text, a, b, used)
            check(got, a, b, used, accumulation(k, is_scaled(*pair, formats, chip())))


@pytest.mark.parametrize("formats", [(E4M3, E5M2), (E5M2, E4M3), (E5M2, E5M2)], ids=str)
@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_formats_and_kinds(pair: tuple[str, str], formats: tuple[str, str]) -> None:
    """All pairs of kinds, in the formats that `test_sizes` does not have."""
    m, n, k = 40, 48, 208
    a = make(m, k, formats[0], pair[0], seed=4)
    b = make(n, k, formats[1], pair[1], seed=5)
    text = linear((m, n, k), list(zip(formats, pair, strict=True)), "bf16")
    check(run(text, a, b), a, b, None, accumulation(k, is_scaled(*pair, formats, chip())))


@pytest.mark.parametrize("pair", sorted(HOPPER), ids=str)
def test_fast_accumulation(pair: tuple[str, str]) -> None:
    m, n, k = 128, 256, 1024
    a, b = (make(r, k, E4M3, kind, seed=6) for r, kind in zip((m, n), pair, strict=True))
    ops = [(E4M3, kind) for kind in pair]
    got = run(linear((m, n, k), ops, "bf16", "fast_accumulate"), a, b)
    check(got, a, b, None, accumulation(k, is_scaled(*pair, (E4M3, E4M3), chip()), is_fast=True))


@pytest.mark.parametrize("rows", [96, 33, 1, 0])
@pytest.mark.parametrize("pair", MATCHED, ids=str)
def test_weight_gradient(pair: tuple[str, str], rows: int) -> None:
    """dy^T x over a dynamic number of rows: both operands are read from their transposed copies."""
    n, k = 48, 144
    dy = make(n, rows, E5M2, pair[0], seed=7, dynamic="columns")
    x = make(k, rows, E4M3, pair[1], seed=8, dynamic="columns")
    types = (type_of("?", n, E5M2, pair[0], "col"), type_of("?", k, E4M3, pair[1], "col"))
    y = tensor((n, k), "f32")
    text = f"""fuseops.fusible @main(%dy: {types[0]}, %x: {types[1]}) -> {y}
    attributes {{frozen_results = array<i64: 0>}} forward {{
      %y = fuseops.matmul %dy, %x transpose_lhs : {types[0]}, {types[1]} -> {y}
      fuseops.return %y : {y}
    }}"""
    terms = accumulation(rows, is_scaled(*pair, (E5M2, E4M3), chip()))
    check(run(text, dy, x), dy, x, None, terms)


@pytest.mark.parametrize("pair", MATCHED, ids=str)
def test_input_gradient(pair: tuple[str, str]) -> None:
    """dy w: the weight, [n, k], is read from its transposed copy."""
    rows, n, k = 40, 144, 48
    dy = make(rows, n, E5M2, pair[0], seed=9, dynamic="rows")
    w = make(k, n, E4M3, pair[1], seed=10)
    types = (type_of("?", n, E5M2, pair[0], "row"), type_of(n, k, E4M3, pair[1], "col"))
    y = tensor(("?", k), "bf16")
    text = f"""fuseops.fusible @main(%dy: {types[0]}, %w: {types[1]}) -> {y}
    attributes {{frozen_results = array<i64: 0>}} forward {{
      %y = fuseops.matmul %dy, %w : {types[0]}, {types[1]} -> {y}
      fuseops.return %y : {y}
    }}"""
    check(run(text, dy, w), dy, w, None, accumulation(n, is_scaled(*pair, (E5M2, E4M3), chip())))


@pytest.mark.parametrize("plain", ["bf16", "f32"])
@pytest.mark.parametrize("kind", KINDS)
def test_one_quantized_operand(kind: str, plain: str) -> None:
    m, n, k = 24, 48, 80
    a = make(m, k, E4M3, kind, seed=11, dynamic="rows")
    weight = torch.randn(n, k, generator=torch.Generator().manual_seed(12)).to(runner.DTYPES[plain])
    x, w, y = type_of("?", k, E4M3, kind, "row"), tensor((n, k), plain), tensor(("?", n), plain)
    text = f"""fuseops.fusible @main(%x: {x}, %w: {w}) -> {y}
    attributes {{frozen_results = array<i64: 0>}} forward {{
      %y = fuseops.linear %x, %w : ({x}, {w}) -> {y}
      fuseops.return %y : {y}
    }}"""
    (got,), _ = runner.compile_ir(text, DEVICE).forward(a.data, a.scale_inv, weight)
    b = Operand(weight, torch.tensor(1.0), weight.double())
    check(got, a, b, None, accumulation(k, is_fp8=False))


@pytest.mark.parametrize("kind", KINDS)
def test_reference(kind: str) -> None:
    """The oracle multiplies in f64 what the operands stand for."""
    m, n, k = 33, 50, 300
    a = make(m, k, E4M3, kind, seed=16, dynamic="rows")
    b = make(n, k, E5M2, kind, seed=17)
    text = linear(("?", n, k), [(E4M3, kind), (E5M2, kind)], "bf16")
    arguments = (a.data, a.scale_inv, b.data, b.scale_inv)
    (got,), _ = runner.compile_ir(text, "reference").forward(*arguments)
    magnitude = a.value.abs() @ b.value.t().abs()
    error = (got - a.value @ b.value.t()).abs()
    assert got.dtype == torch.float64
    assert bool((error <= k * 2.0**-52 * magnitude).all())


@pytest.mark.skipif(DEVICE == "cpu", reason="needs a CUDA device")
@pytest.mark.parametrize("pair", MATCHED, ids=str)
def test_capture_in_a_graph(pair: tuple[str, str]) -> None:
    """Copies into padding and back are captured like the product."""
    m, n, k = 33, 50, 77
    a, other = (make(m, k, E4M3, pair[0], seed=seed) for seed in (13, 14))
    b = make(n, k, E4M3, pair[1], seed=15)
    program = fuseops.compile_ir(
        linear((m, n, k), [(E4M3, pair[0]), (E4M3, pair[1])], "f32"), target="cuda"
    )
    inputs = [t.cuda() for t in (a.data, a.scale_inv, b.data, b.scale_inv)]
    (eager,) = program.run_forward(inputs)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        (captured,) = program.run_forward(inputs)
    graph.replay()
    assert torch.equal(captured, eager)
    inputs[0].copy_(other.data)
    inputs[1].copy_(other.scale_inv)
    graph.replay()
    terms = accumulation(k, is_scaled(*pair, (E4M3, E4M3), chip()))
    check(captured, other, b, None, terms)


def ways(text: str, target: str) -> list[str]:
    """How the contractions of a program go, as its report says, and what became of them."""
    report = json.loads(fuseops.emit(text, "report", target=target))
    remarks = [*report["fused"], *report["refused"]]
    said = [r["text"] for r in remarks if r["pass"].startswith("fuseops-expand-contractions")]
    steps = [m for kernel in report["entries"][0]["kernels"] for m in kernel["members"]]
    return [*said, *(m for m in steps if m in ("fuseops.linear", "fuseops.scaled_matmul"))]


@pytest.mark.parametrize(
    "target", ["cpu", "cuda:sm_80", "cuda:sm_89", "cuda:sm_90a", "cuda:sm_100"]
)
def test_which_way(target: str) -> None:
    number = int(target.partition("sm_")[2].rstrip("a") or 0)
    for pair in PAIRS:
        for formats in ((E4M3, E4M3), (E5M2, E5M2)):
            ops = list(zip(formats, pair, strict=True))
            said, step = ways(linear((32, 48, 208), ops, "bf16"), target)
            if is_scaled(*pair, formats, number):
                assert (said, step) == ("fuseops.linear multiplied in FP8", "fuseops.scaled_matmul")
                continue
            element = "bf16" if pair == ("mx<1x32>", "mx<1x32>") else "f32"
            condition = 2 if number < 89 else 3 if formats == (E5M2, E5M2) else 5
            assert said.startswith(
                f"fuseops.linear dequantized to {element}: condition {condition}, "
            ), said
            assert step == "fuseops.linear"
