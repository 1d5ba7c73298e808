# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MLP blocks of Llama and GPT under each recipe, forward and backward, fused and not.

Each stage is compared with f64 on what the program itself gives the stage: a product with the
dequantized operands, a quantized tensor with the function that it is of, results and gradients with
the products that they come from. What a fused program computes is then that of the stages, bit for
bit.

Bounds. A product is rounded once to bf16, and its sums are f32: |y| 2^-8 + K 2^-24 sum |a||b|; the
tensor cores of a GPU keep about 13 bits below the largest of an instruction's 33 addends, some of
which others are small beside (16 * 2^-13, as in test_scaled_matmul.py). A function's value is
rounded at most twice to bf16 on its way (2^-7 of it, and of what cancels in it), then to FP8: half
a unit, 2^-4 of it in E4M3 and 2^-3 in E5M2, and half the least subnormal times its scale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from fuseops import emit
from fuseops.program import Program
from torch import Tensor
from torch.nn import functional

from fp8.exposed import Exposed, Matrix
from fp8.programs import TARGET

ROWS, HIDDEN, INNER = 200, 288, 336
RECIPES = {
    "block": "block",
    "block f32 scales": "block, power_of_two = false, epsilon = 1.0e-3",
    "current": "current",
    "delayed": "delayed, history = 4",
    "rowwise": "rowwise",
    "rowwise precise": "rowwise, high_precision_wgrad = true",
    "mx": "mx",
}
X = f"tensor<{ROWS}x{HIDDEN}xbf16>"
H = f"tensor<{ROWS}x{INNER}xbf16>"
G = f"tensor<{HIDDEN}xbf16>"
UP, DOWN = f"tensor<{INNER}x{HIDDEN}xbf16>", f"tensor<{HIDDEN}x{INNER}xbf16>"
STAT = f"tensor<{ROWS}x1xf32>"

LLAMA = f"""
fuseops.fusible @main(%x: {X}, %g: {G}, %w1: {UP}, %w2: {UP}, %w3: {DOWN}) -> {X}
forward {{
  %n, %r = fuseops.rms_norm %x gamma(%g) eps(1.0e-6) : ({X}, {G}) -> ({X}, {STAT})
  %0 = fuseops.linear %n, %w1 : ({X}, {UP}) -> {H}
  %1 = fuseops.silu %0 : {H}
  %2 = fuseops.linear %n, %w2 : ({X}, {UP}) -> {H}
  %3 = fuseops.mul %1, %2 : {H}, {H} -> {H}
  %4 = fuseops.linear %3, %w3 : ({H}, {DOWN}) -> {X}
  %5 = fuseops.add %x, %4 : {X}, {X} -> {X}
  fuseops.return %5 : {X}
}}
"""
B = f"tensor<{INNER}xbf16>"
GPT = f"""
fuseops.fusible @main(%x: {X}, %g: {G}, %b: {G}, %w1: {UP}, %b1: {B}, %w2: {DOWN}, %b2: {G}) -> {X}
forward {{
  %n, %m, %r = fuseops.layer_norm %x gamma(%g) beta(%b) eps(1.0e-5)
    : ({X}, {G}, {G}) -> ({X}, {STAT}, {STAT})
  %0 = fuseops.linear %n, %w1 bias(%b1) : ({X}, {UP}, {B}) -> {H}
  %1 = fuseops.gelu %0 approximate(tanh) : {H}
  %2 = fuseops.linear %1, %w2 bias(%b2) : ({H}, {DOWN}, {G}) -> {X}
  %3 = fuseops.add %x, %2 : {X}, {X} -> {X}
  fuseops.return %3 : {X}
}}
"""


def close(got: Tensor, want: Tensor, bound: Tensor, what: str) -> None:
    """Fails where an element is off by more than its bound."""
    assert got.shape == want.shape, f"{what}: {tuple(got.shape)}, not {tuple(want.shape)}"
    worst = ((got.double() - want).abs() / (bound + 1e-300)).max().item()
    assert worst <= 1.0, f"{what}: off by {worst:.3g} times the bound"
    assert got.isfinite().all(), what


def product(got: Tensor, a: Tensor, b: Tensor, what: str, bias: Tensor | None = None) -> None:
    """`got` is a @ b, plus a bias, rounded once."""
    sums = a.abs() @ b.abs()
    want = a @ b if bias is None else a @ b + bias
    kept = 16 * 2.0**-13 if TARGET == "cuda" else a.shape[1] * 2.0**-24
    close(got, want, want.abs() * 2.0**-8 + sums * kept, what)


def quantized(got: Matrix, want: Tensor, unit: float, size: Tensor, what: str) -> None:
    """Each copy of `got` is `want` to half a unit; `size` is what cancels in it."""
    bound = want.abs() * (unit + 2.0**-7) + size * 2.0**-18 + got.least
    if got.row is not None:
        close(got.row, want, bound, f"{what}, row copy")
    if got.col is not None:
        close(got.col.t(), want, bound, f"{what}, transposed copy")


def wgrad(got: Tensor, dy: Matrix, x: Matrix, precise: tuple[Tensor, Tensor], what: str) -> None:
    """A weight gradient: of the transposed copies, or of high precision where there are none."""
    if dy.col is not None and x.col is not None:
        product(got, dy.col, x.col.t(), what)
        return
    a, b = precise[0].t(), precise[1]
    close(got, a @ b, (a.abs() @ b.abs()) * 2.0**-6, what)


def sigmoid(x: Tensor) -> Tensor:
    return 1 / (1 + (-x).exp())


def check_llama(given: dict[str, Tensor], forward: list, backward: list, unit: float) -> None:
    """The stages of the Llama block."""
    x, g, dy = given["x"], given["g"], given["dy"]
    n, w1, y1, w2, y2, h, w3, y3 = forward
    dyq, dh, dw3, dup, dn2, dw2, dgate, dn1, dw1 = backward
    r = (x.square().mean(1, keepdim=True) + 1e-6).rsqrt()
    quantized(n, x * r * g, 2.0**-4, x * 0, "norm")
    for w, name in ((w1, "w1"), (w2, "w2"), (w3, "w3")):
        quantized(w, given[name], 2.0**-4, given[name] * 0, name)
    product(y1, n.row, w1.row.t(), "gate")
    product(y2, n.row, w2.row.t(), "up")
    silu = y1 * sigmoid(y1)
    quantized(h, silu * y2, 2.0**-4, (y1 * y2).abs(), "hidden")
    product(y3, h.row, w3.row.t(), "down")
    close(given["result"], x + y3, (x + y3).abs() * 2.0**-8, "result")

    quantized(dyq, dy, unit, dy * 0, "result's gradient")
    product(dh, dyq.row, w3.col.t(), "hidden's gradient")
    wgrad(dw3, dyq, h, (dy, silu * y2), "w3's gradient")
    quantized(dup, dh * silu, unit, (dh * y1).abs(), "up's gradient")
    slope = sigmoid(y1) * (1 + y1 * (1 - sigmoid(y1)))
    size = (dh * y2).abs() * (1 + y1.abs())
    quantized(dgate, dh * y2 * slope, unit, size, "gate's gradient")
    product(dn2, dup.row, w2.col.t(), "norm's gradient by up")
    product(dn1, dgate.row, w1.col.t(), "norm's gradient by gate")
    wgrad(dw2, dup, n, (dh * silu, x * r * g), "w2's gradient")
    wgrad(dw1, dgate, n, (dh * y2 * slope, x * r * g), "w1's gradient")
    dn, size = dn1 + dn2, dn1.abs() + dn2.abs()
    mean = (g * dn * x).mean(1, keepdim=True)
    dx = dy + r * g * dn - x * r**3 * mean
    most = (g.abs() * size * x.abs()).mean(1, keepdim=True)
    bound = dy.abs() + r * g.abs() * size + x.abs() * r**3 * most
    close(given["dx"], dx, bound * 2.0**-6, "x's gradient")
    dg = (dn * x * r).sum(0)
    close(given["dg"], dg, (size * x.abs() * r).sum(0) * 2.0**-6, "gamma's gradient")
    for name, value in (("dw1", dw1), ("dw2", dw2), ("dw3", dw3)):
        assert torch.equal(given[name], value), name


def check_gpt(given: dict[str, Tensor], forward: list, backward: list, unit: float) -> None:
    """The stages of the GPT block."""
    x, g, b, dy = given["x"], given["g"], given["b"], given["dy"]
    n, w1, y1, h, w2, y2 = forward
    dyq, dh, dw2, dz, dn, dw1 = backward
    mean = x.mean(1, keepdim=True)
    r = ((x - mean).square().mean(1, keepdim=True) + 1e-5).rsqrt()
    hat = (x - mean) * r
    quantized(n, hat * g + b, 2.0**-4, (x.abs() + mean.abs()) * r * g.abs() + b.abs(), "norm")
    for w, name in ((w1, "w1"), (w2, "w2")):
        quantized(w, given[name], 2.0**-4, given[name] * 0, name)
    product(y1, n.row, w1.row.t(), "first", given["b1"])
    gelu = functional.gelu(y1, approximate="tanh")
    quantized(h, gelu, 2.0**-4, y1.abs(), "hidden")
    product(y2, h.row, w2.row.t(), "second", given["b2"])
    close(given["result"], x + y2, (x + y2).abs() * 2.0**-8, "result")

    quantized(dyq, dy, unit, dy * 0, "result's gradient")
    product(dh, dyq.row, w2.col.t(), "hidden's gradient")
    wgrad(dw2, dyq, h, (dy, gelu), "w2's gradient")
    with torch.enable_grad():
        leaf = y1.clone().requires_grad_()
        functional.gelu(leaf, approximate="tanh").backward(dh)
    want = leaf.grad
    quantized(dz, want, unit, dh.abs() * (1 + y1.abs()), "gelu's gradient")
    product(dn, dz.row, w1.col.t(), "norm's gradient")
    wgrad(dw1, dz, n, (want, hat * g + b), "w1's gradient")
    inner = g * dn
    dx = dy + r * (inner - inner.mean(1, keepdim=True) - hat * (inner * hat).mean(1, keepdim=True))
    most = inner.abs().mean(1, keepdim=True) + hat.abs() * (inner * hat).abs().mean(1, keepdim=True)
    close(given["dx"], dx, (dy.abs() + r * (inner.abs() + most)) * 2.0**-6, "x's gradient")
    close(given["dg"], (dn * hat).sum(0), (dn * hat).abs().sum(0) * 2.0**-6, "gamma's gradient")
    for name, value in (("db", dn), ("db1", want), ("db2", dy)):
        close(given[name], value.sum(0), value.abs().sum(0) * 2.0**-6, name)
    for name, value in (("dw1", dw1), ("dw2", dw2)):
        assert torch.equal(given[name], value), name


@dataclass(frozen=True)
class Block:
    """A block's source, the shapes of its arguments and how its stages are checked."""

    source: str
    shapes: dict[str, tuple[int, ...]]
    check: Callable[[dict[str, Tensor], list, list, float], None]


BLOCKS = {
    "llama": Block(
        LLAMA,
        {
            "x": (ROWS, HIDDEN),
            "g": (HIDDEN,),
            "w1": (INNER, HIDDEN),
            "w2": (INNER, HIDDEN),
            "w3": (HIDDEN, INNER),
        },
        check_llama,
    ),
    "gpt": Block(
        GPT,
        {
            "x": (ROWS, HIDDEN),
            "g": (HIDDEN,),
            "b": (HIDDEN,),
            "w1": (INNER, HIDDEN),
            "b1": (INNER,),
            "w2": (HIDDEN, INNER),
            "b2": (HIDDEN,),
        },
        check_gpt,
    ),
}


def draw(shapes: dict[str, tuple[int, ...]], seed: int) -> dict[str, Tensor]:
    """bf16 tensors; weights are small, as they are."""
    generator = torch.Generator().manual_seed(seed)
    device = "cuda" if TARGET == "cuda" else "cpu"
    drawn = {}
    for name, shape in shapes.items():
        size = 0.06 if name.startswith("w") else 1.0
        drawn[name] = (torch.randn(shape, generator=generator) * size).bfloat16().to(device)
    return drawn


def make_states(inputs: tuple, device: torch.device) -> list[Tensor]:
    """Scales that use most of FP8's range, and histories of zeros."""
    states = []
    for _, dtype, shape in inputs:
        assert dtype == "f32"
        states.append(torch.full(shape, 16.0 if len(shape) == 1 else 0.0, device=device))
    return states


@pytest.mark.parametrize("is_fused", [True, False], ids=["fused", "unfused"])
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("name", BLOCKS)
def test_block_is_f64_of_dequantized_operands(name: str, recipe: str, is_fused: bool):
    block = BLOCKS[name]
    text = RECIPES[recipe]
    plain = Program(emit(block.source, target=TARGET, recipe=text))
    exposed = Exposed(block.source, text, is_fused)
    drawn = draw(block.shapes, seed=len(recipe))
    dy = draw({"dy": (ROWS, HIDDEN)}, seed=99)["dy"]
    states = make_states(plain.arguments[len(drawn) :], dy.device)
    buffers, forward = exposed.forward.run([*drawn.values(), *states])
    saved = buffers[exposed.num_results :]
    gradients, backward = exposed.backward.run([dy, *saved])
    given = {key: value.double().cpu() for key, value in drawn.items()}
    given |= {"dy": dy.double().cpu(), "result": buffers[0].double().cpu()}
    given |= {f"d{key}": value.double().cpu() for key, value in zip(drawn, gradients, strict=False)}
    values = [v.cpu() if isinstance(v, Tensor) else v for v in [*forward, *backward]]
    unit = 2.0**-3 if text.startswith(("current", "delayed")) else 2.0**-4
    block.check(given, values[: len(forward)], values[len(forward) :], unit)

    # The program that keeps all that to itself computes the same.
    if is_fused:
        results, context = plain.forward(*drawn.values(), *states)
        assert torch.equal(results[0], buffers[0])
        own = [g for g in plain.backward(context, dy) if g is not None]
        for got, want in zip(own, gradients, strict=True):
            assert torch.equal(got, want)
