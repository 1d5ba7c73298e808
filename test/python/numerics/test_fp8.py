# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FP8 bit for bit: quantize, dequantize, amax and scales against the written rules."""

import numpy as np
import pytest
import runner
from table import fp8_round, fp8_scale, quantized

FORMATS = {"f8E4M3FN": 448.0, "f8E5M2": 57344.0}
MAX_F32 = np.finfo(np.float32).max


def test_rounding_of_the_oracle():
    """ml_dtypes against nearest by search, ties to the even code."""
    rng = np.random.default_rng(0)
    for name, largest in FORMATS.items():
        kind = runner.DTYPES[name]
        codes = np.arange(128, dtype=np.uint8)
        values = codes.view(kind).astype(np.float64)
        codes, values = codes[np.isfinite(values)], values[np.isfinite(values)]
        x = np.concatenate(
            [
                rng.uniform(0, largest, 5000),
                2.0 ** rng.uniform(-20, 8, 5000),
                (values[1:] + values[:-1]) / 2,
            ]
        ).astype(np.float32)
        right = np.clip(np.searchsorted(values, x), 1, len(values) - 1)
        low, high = x - values[right - 1], values[right] - x
        up = (high < low) | ((high == low) & (codes[right] % 2 == 0))
        want = np.where(up, codes[right], codes[right - 1])
        got = fp8_round(x, np.float32(1), name).view(np.uint8)
        np.testing.assert_array_equal(got, want)


def per_tensor(fmt: str, dtype: str) -> str:
    """Quantize by a scale that is an argument, and what it dequantizes to."""
    q, t = quantized(("M", 64), fmt, "per_tensor"), f"tensor<?x64x{dtype}>"
    return f"""fuseops.fusible @main(%x: {t}, %s: tensor<f32>) -> ({q}, {t}) forward {{
      %q = fuseops.quantize %x scale(%s) : ({t}, tensor<f32>) -> {q}
      %y = fuseops.dequantize %q : {q} -> {t}
      fuseops.return %q, %y : {q}, {t}
    }}"""


def same_fp8(got: np.ndarray, want: np.ndarray) -> None:
    """Equal bits, any NaN for a NaN."""
    nan = np.isnan(want.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(got.astype(np.float32)), nan)
    np.testing.assert_array_equal(got.view(np.uint8)[~nan], want.view(np.uint8)[~nan])


SCALES = [1.0, 0.37, 448.0 / 3.0, 2.0**-20, 3.0e4, 2.0**127, float(MAX_F32), 2.0**-126]


@pytest.mark.parametrize("target", ["cpu", "reference"])
@pytest.mark.parametrize("fmt", FORMATS)
def test_fp8_r1_r2_r3_all_f16_inputs(fmt: str, target: str):
    program = runner.compile_ir(per_tensor(fmt, "f16"), target)
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16).reshape(-1, 64)
    for scale in SCALES:
        (data, inverse, y), _ = program.forward(x, np.float32(scale))
        want = fp8_round(x, np.float32(scale), fmt)
        same_fp8(data, want)
        assert inverse.astype(np.float32) == np.float32(1) / np.float32(scale)
        inner = np.float64 if target == "reference" else np.float32
        with np.errstate(all="ignore"):
            logical = want.astype(inner) * inner(np.float32(1) / np.float32(scale))
            logical = logical if target == "reference" else logical.astype(np.float16)
        np.testing.assert_array_equal(y, logical)


@pytest.mark.parametrize("target", ["cpu", "reference"])
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("fmt", FORMATS)
def test_fp8_r1_around_ties(fmt: str, dtype: str, target: str):
    """Every midpoint of neighbours, the next numbers to both sides, and the largest."""
    values = np.arange(127, dtype=np.uint8).view(runner.DTYPES[fmt]).astype(np.float32)
    values = values[np.isfinite(values)]
    ties = (values[1:] + values[:-1]) / 2
    x = np.concatenate([ties, np.nextafter(ties, 0), np.nextafter(ties, 1e9), values])
    x = np.concatenate([x, -x, [np.inf, -np.inf, np.nan, 1e30, FORMATS[fmt] * 1.04]])
    x = np.resize(x.astype(runner.DTYPES[dtype]), (len(x) // 64 + 1, 64))
    program = runner.compile_ir(per_tensor(fmt, dtype), target)
    (data, _, _), _ = program.forward(x, np.float32(1))
    same_fp8(data, fp8_round(x.astype(np.float32), np.float32(1), fmt))


AMAXES = [0.0, np.inf, np.nan, 2.0**-149, 1e-38, 1e-37, 0.1, 1.0, 448.0, 3.0, 1e30, float(MAX_F32)]


@pytest.mark.parametrize("target", ["cpu", "reference"])
@pytest.mark.parametrize("power", [False, True])
@pytest.mark.parametrize("fmt", FORMATS)
def test_fp8_s1_s2_s3_compute_scale(fmt: str, power: bool, target: str):
    t = f"tensor<{len(AMAXES)}xf32>"
    text = f"""fuseops.fusible @main(%a: {t}) -> {t}
    attributes {{frozen_results = array<i64: 0>}} forward {{
      %s = fuseops.compute_scale %a format({fmt}){" power_of_two" if power else ""} : {t}
      fuseops.return %s : {t}
    }}"""
    amax = np.array(AMAXES, np.float32)
    (scale,), _ = runner.compile_ir(text, target).forward(amax)
    want = fp8_scale(amax, FORMATS[fmt])
    if power:
        want = np.exp2(np.floor(np.log2(want.astype(np.float64)))).astype(np.float32)
    np.testing.assert_array_equal(scale.astype(np.float32), want)


@pytest.mark.parametrize("target", ["cpu", "reference"])
@pytest.mark.parametrize("fmt", FORMATS)
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
        x = (np.random.default_rng(rows).standard_normal((rows, 100)) * 0.01).astype(np.float32)
        (data, inverse, amax), _ = program.forward(x)
        want = np.abs(x).max(initial=0.0)
        scale = fp8_scale(want, FORMATS[fmt])
        assert amax.astype(np.float32) == want
        assert inverse.astype(np.float32) == np.float32(1) / scale
        same_fp8(data, fp8_round(x, scale, fmt))


@pytest.mark.parametrize("target", ["cpu", "reference"])
@pytest.mark.parametrize("fmt", FORMATS)
def test_per_row_corners(fmt: str, target: str):
    q = quantized(("M", 5), fmt, "per_row")
    text = f"""fuseops.fusible @main(%x: tensor<?x5xf32>) -> {q} forward {{
      %q = fuseops.quantize %x : (tensor<?x5xf32>) -> {q}
      fuseops.return %q : {q}
    }}"""
    tiny = 2.0**-140
    x = np.array(
        [
            [0, 0, -0.0, 0, 0],
            [1, np.nan, 2, 3, 1e9],
            [1, np.inf, -np.inf, 2, 500],
            [tiny] * 5,
            [1, 2, 3, 4, 5],
        ],
        np.float32,
    )
    (data, inverse), _ = runner.compile_ir(text, target).forward(x)
    scale = fp8_scale(np.abs(x).max(axis=1, keepdims=True), FORMATS[fmt])
    np.testing.assert_array_equal(scale[:4, 0], [1, 1, 1, MAX_F32])
    np.testing.assert_array_equal(inverse.astype(np.float32), np.float32(1) / scale)
    same_fp8(data, fp8_round(x, scale, fmt))
