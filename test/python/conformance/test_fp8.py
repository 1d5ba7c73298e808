# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FP8 bit for bit: quantize, dequantize, amax and scales against the written rules."""

import pytest
import torch
from torch import Tensor

from conformance import runner
from conformance.ops_quantize import LARGEST, fp8_round, fp8_scale, quantized

MAX_F32 = torch.finfo(torch.float32).max
TARGETS = pytest.mark.parametrize("target", ["cpu", "reference"])
FORMATS = pytest.mark.parametrize("fmt", LARGEST)


def codes(fmt: str) -> Tensor:
    """The numbers of a format that are not negative, in order, as f32."""
    kind = runner.DTYPES[fmt]
    values = torch.arange(128, dtype=torch.uint8).view(kind).float()
    return values[values.isfinite()]


@FORMATS
def test_rounding_of_the_oracle(fmt: str):
    """torch's casts against nearest by search, ties to the even code."""
    generator = torch.Generator().manual_seed(0)
    values = codes(fmt)
    x = torch.cat(
        [
            torch.rand(5000, generator=generator) * LARGEST[fmt],
            2.0 ** (torch.rand(5000, generator=generator) * 28 - 20),
            (values[1:] + values[:-1]) / 2,
        ]
    )
    right = torch.searchsorted(values, x).clamp(1, len(values) - 1)
    low, high = x.double() - values[right - 1].double(), values[right].double() - x.double()
    up = (high < low) | ((high == low) & (right % 2 == 0))
    want = torch.where(up, right, right - 1)
    got = fp8_round(x, torch.tensor(1.0), fmt).view(torch.uint8)
    assert torch.equal(got.long(), want)


def per_tensor(fmt: str, dtype: str) -> str:
    """Quantize by a scale that is an argument, and what it dequantizes to."""
    q, t = quantized(("M", 64), fmt, "per_tensor"), f"tensor<?x64x{dtype}>"
    return f"""fuseops.fusible @main(%x: {t}, %s: tensor<f32>) -> ({q}, {t}) forward {{
      %q = fuseops.quantize %x scale(%s) : ({t}, tensor<f32>) -> {q}
      %y = fuseops.dequantize %q : {q} -> {t}
      fuseops.return %q, %y : {q}, {t}
    }}"""


def same_fp8(got: Tensor, want: Tensor) -> None:
    """Equal bits, any NaN for a NaN."""
    nan = want.float().isnan()
    assert torch.equal(got.float().isnan(), nan)
    assert torch.equal(got.view(torch.uint8)[~nan], want.view(torch.uint8)[~nan])


def same(got: Tensor, want: Tensor) -> None:
    """Equal numbers, a NaN for a NaN."""
    torch.testing.assert_close(got.double(), want.double(), rtol=0, atol=0, equal_nan=True)


SCALES = [1.0, 0.37, 448.0 / 3.0, 2.0**-20, 3.0e4, 2.0**127, MAX_F32, 2.0**-126]


@TARGETS
@FORMATS
def test_fp8_r1_r2_r3_all_f16_inputs(fmt: str, target: str):
    program = runner.compile_ir(per_tensor(fmt, "f16"), target)
    x = torch.arange(-(1 << 15), 1 << 15, dtype=torch.int16).view(torch.float16).reshape(-1, 64)
    for number in SCALES:
        scale = torch.tensor(number)
        (data, inverse, y), _ = program.forward(x, scale)
        want = fp8_round(x, scale, fmt)
        same_fp8(data, want)
        assert inverse.float() == 1 / scale
        exact = target == "reference"
        inner = torch.float64 if exact else torch.float32
        logical = want.to(inner) * (1 / scale).to(inner)
        same(y, logical if exact else logical.half())


@TARGETS
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@FORMATS
def test_fp8_r1_around_ties(fmt: str, dtype: str, target: str):
    """Every midpoint of neighbours, the next numbers to both sides, and the largest."""
    values = codes(fmt)
    ties = (values[1:] + values[:-1]) / 2
    sides = [torch.nextafter(ties, torch.tensor(to)) for to in (0.0, 1e9)]
    x = torch.cat([ties, *sides, values])
    more = torch.tensor([torch.inf, -torch.inf, torch.nan, 1e30, LARGEST[fmt] * 1.04])
    x = torch.cat([x, -x, more]).to(runner.DTYPES[dtype])
    rows = len(x) // 64 + 1
    x = x.repeat(2)[: rows * 64].reshape(rows, 64)
    (data, _, _), _ = runner.compile_ir(per_tensor(fmt, dtype), target).forward(
        x, torch.tensor(1.0)
    )
    same_fp8(data, fp8_round(x, torch.tensor(1.0), fmt))


AMAXES = [0.0, torch.inf, torch.nan, 2.0**-149, 1e-38, 1e-37, 0.1, 1.0, 448.0, 3.0, 1e30, MAX_F32]


@TARGETS
@pytest.mark.parametrize("power", [False, True])
@FORMATS
def test_fp8_s1_s2_s3_compute_scale(fmt: str, power: bool, target: str):
    t = f"tensor<{len(AMAXES)}xf32>"
    text = f"""fuseops.fusible @main(%a: {t}) -> {t}
    attributes {{frozen_results = array<i64: 0>}} forward {{
      %s = fuseops.compute_scale %a format({fmt}){" power_of_two" if power else ""} : {t}
      fuseops.return %s : {t}
    }}"""
    amax = torch.tensor(AMAXES)
    (scale,), _ = runner.compile_ir(text, target).forward(amax)
    same(scale.float(), fp8_scale(amax, fmt, power))


@TARGETS
@FORMATS
def test_current_scaling(fmt: str, target: str):
    """amax, its scale and the quantize in one program; padding of a tail is in no amax."""
    q = quantized(("M", 100), fmt, "per_tensor")
    text = f"""fuseops.fusible @main(%x: tensor<?x100xf32>) -> ({q}, tensor<f32>)
    attributes {{frozen_results = array<i64: 1>}} forward {{
      %a = fuseops.amax %x : tensor<?x100xf32> -> tensor<f32>
      %s = fuseops.compute_scale %a format({fmt}) : tensor<f32>
      %q = fuseops.quantize %x scale(%s) : (tensor<?x100xf32>, tensor<f32>) -> {q}
      fuseops.return %q, %a : {q}, tensor<f32>
    }}"""
    program = runner.compile_ir(text, target)
    for rows in (0, 1, 7, 513):
        x = torch.randn(rows, 100, generator=torch.Generator().manual_seed(rows)) * 0.01
        (data, inverse, amax), _ = program.forward(x)
        want = x.abs().amax() if rows else torch.tensor(0.0)
        scale = fp8_scale(want, fmt)
        assert amax.float() == want
        assert inverse.float() == 1 / scale
        same_fp8(data, fp8_round(x, scale, fmt))


@TARGETS
@FORMATS
def test_per_row_corners(fmt: str, target: str):
    q = quantized(("M", 5), fmt, "per_row")
    text = f"""fuseops.fusible @main(%x: tensor<?x5xf32>) -> {q} forward {{
      %q = fuseops.quantize %x : (tensor<?x5xf32>) -> {q}
      fuseops.return %q : {q}
    }}"""
    nan, inf = torch.nan, torch.inf
    x = torch.tensor(
        [
            [0, 0, -0.0, 0, 0],
            [1, nan, 2, 3, 1e9],
            [1, inf, -inf, 2, 500],
            [2.0**-140] * 5,
            [1, 2, 3, 4, 5],
        ]
    )
    (data, inverse), _ = runner.compile_ir(text, target).forward(x)
    scale = fp8_scale(x.abs().amax(1, keepdim=True), fmt)
    assert scale[:4, 0].tolist() == [1, 1, 1, MAX_F32]
    same(inverse.float(), 1 / scale)
    same_fp8(data, fp8_round(x, scale, fmt))
