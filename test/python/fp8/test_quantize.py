# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize bit for bit: every scale kind, format, input type, copy, tail and extreme number."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from conformance import runner
from torch import Tensor

from fp8 import rules
from fp8.programs import (
    DTYPES,
    SIZES,
    TARGET,
    patterns,
    quantize_text,
    quantized,
    same_bits,
    to_torch,
)
from fp8.rules import COPIES, FORMATS, KINDS, Rule

# Scales that a program is given: the largest and smallest, and what no rule computes.
SCALES = [1.0, 0.37, 3.0e4, 2.0**-20, rules.MAX_F32, 2.0**-126, 2.0**-149, np.nan]
POWERS = ("per_row", "block<1x128>", "block<128x128>")
RULES = [Rule(kind, fmt) for kind in KINDS for fmt in FORMATS]
RULES += [Rule(kind, fmt, power_of_two=True) for kind in POWERS for fmt in FORMATS]


def name_of(rule: Rule) -> str:
    words = [rule.kind.replace("<", "").replace(">", ""), rule.format]
    return "-".join(words + ["power"] * rule.power_of_two)


EVERY_RULE = pytest.mark.parametrize("rule", RULES, ids=name_of)


def run(text: str, inputs: list[Tensor]) -> list[Tensor]:
    """The plain results of a program."""
    results, _ = runner.compile_ir(text, TARGET).forward(*inputs)
    return list(results)


def check(
    text: str, matrices: list[np.ndarray], dtype: str, rule: Rule, copies: str, what: str
) -> None:
    """Runs one quantize for each matrix and compares every part."""
    inputs, expected = [], []
    is_symbolic = "tensor<?x" in text
    for i, x in enumerate(matrices):
        inputs.append(to_torch(x, dtype))
        scale = None
        if rule.kind == "per_tensor":
            scale = np.float32(SCALES[(i + len(what)) % len(SCALES)])
            inputs.append(torch.tensor(scale))
        expected += rules.quantize(x, rule, copies, scale, is_symbolic)
    results = run(text, inputs)
    assert len(results) == len(expected)
    per_matrix = len(expected) // len(matrices)
    for i, (got, want) in enumerate(zip(results, expected, strict=True)):
        shape = matrices[i // per_matrix].shape
        same_bits(got, want, f"{what} {shape}, part {i % per_matrix}")


def check_patterns(dtype: str, rule: Rule, copies: str, names: list[str] | None = None) -> None:
    """Symbolic rows of each size times columns of each size, for each pattern."""
    text = quantize_text([("?", n) for n in SIZES], dtype, rule, copies)
    for m in SIZES:
        tables = [patterns((m, n), dtype, seed=m * 1000 + n) for n in SIZES]
        for name in names or tables[0]:
            check(text, [table[name] for table in tables], dtype, rule, copies, name)


@pytest.mark.parametrize("dtype", DTYPES)
@EVERY_RULE
def test_fp8_r1_r2_r3_a1_a2_s1_s2_s3_s5_s6_t1_t2_both_copies(rule: Rule, dtype: str):
    check_patterns(dtype, rule, "row_col")


@pytest.mark.parametrize("copies", ["row", "col"])
@EVERY_RULE
def test_fp8_c1_one_copy_alone(rule: Rule, copies: str):
    """A copy has the same bits whether or not the other is written too."""
    check_patterns("bf16", rule, copies, ["columns", "nan"])


@pytest.mark.parametrize("copies", COPIES)
@pytest.mark.parametrize("kind", KINDS)
def test_fp8_c2_t3_known_rows(kind: str, copies: str):
    """Layouts and padding where no size is symbolic."""
    rule = Rule(kind, "f8E4M3FN")
    shapes = [(1, 1), (3, 300), (128, 512), (129, 640), (300, 127), (513, 129)]
    text = quantize_text(list(shapes), "f32", rule, copies)
    for name in ("rows", "columns", "zero"):
        matrices = [patterns(shape, "f32", seed=7)[name] for shape in shapes]
        check(text, matrices, "f32", rule, copies, name)


@EVERY_RULE
def test_fp8_a3_no_rows(rule: Rule):
    text = quantize_text([("?", n) for n in (1, 129)], "f32", rule, "row_col")
    inputs = []
    for n in (1, 129):
        inputs.append(torch.empty(0, n))
        if rule.kind == "per_tensor":
            inputs.append(torch.tensor(2.0))
    results = run(text, inputs)
    # Scales of columns, of which there are some, are 1.
    for part in results:
        if part.numel() and part.dtype == torch.float32:
            assert torch.all(part == (0.5 if rule.kind == "per_tensor" else 1.0)), part


@pytest.mark.parametrize("epsilon", [1e-3, 1e30, 1e-45])
@pytest.mark.parametrize("kind", POWERS)
def test_fp8_s4_epsilon(kind: str, epsilon: float):
    for power in (False, True):
        rule = Rule(kind, "f8E4M3FN", power_of_two=power, epsilon=float(np.float32(epsilon)))
        text = quantize_text([("?", 129)], "f32", rule, "row_col")
        for name, x in patterns((129, 129), "f32", seed=3).items():
            check(text, [x], "f32", rule, "row_col", name)


@pytest.mark.parametrize("fmt", FORMATS)
def test_fp8_s5_exponents_around_powers_of_two(fmt: str):
    """Amaxes around the largest number times every power of two, and every subnormal quotient."""
    powers = (rules.LARGEST[fmt] * np.exp2(np.arange(-160, 128, dtype=np.float64))).astype(
        np.float32
    )
    powers = powers[np.isfinite(powers) & (powers > 0)]
    amaxes = np.concatenate(
        [powers, np.nextafter(powers, np.float32(0)), np.nextafter(powers, powers * 2)]
    )
    amaxes = np.concatenate([amaxes, [0, np.inf, np.nan, rules.MAX_F32, 2.0**-149]]).astype(
        np.float32
    )
    rows = -(-len(amaxes) // 32)
    x = np.zeros((rows * 32, 32), np.float32)
    x[: len(amaxes), 5] = -amaxes
    rule = Rule("mx<1x32>", fmt)
    check(quantize_text([("?", 32)], "f32", rule, "row_col"), [x], "f32", rule, "row_col", "powers")


@pytest.mark.parametrize("result", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("copies", ["row", "col", "row_col"])
@EVERY_RULE
def test_fp8_r5_c3_dequantize(rule: Rule, copies: str, result: str):
    """Codes of every value, scales of any, against a product in f32 and one rounding."""
    if rule.power_of_two:
        pytest.skip("the scales are given")
    generator = np.random.default_rng(1)
    for m, n in [("?", 300), (129, 65)]:
        rows = 257 if m == "?" else m
        kind, tensor = quantized(m, n, rule, copies), f"tensor<{m}x{n}x{result}>"
        text = f"""fuseops.fusible @main(%q: {kind}) -> {tensor}
        attributes {{frozen_results = array<i64: 0>}} forward {{
          %x = fuseops.dequantize %q : {kind} -> {tensor}
          fuseops.return %x : {tensor}
        }}"""
        base = generator.standard_normal((rows, n), dtype=np.float32)
        parts = rules.quantize(base, rule, copies, np.float32(3.0), m == "?")
        for data in parts[::2]:
            data[:] = generator.integers(0, 256, data.shape)
        inputs = []
        for i, part in enumerate(parts):
            array = np.asarray(part)
            scale = "f8E8M0FNU" if rule.kind == "mx<1x32>" else "f32"
            element = scale if i % 2 else rule.format
            flat = torch.from_numpy(array.flatten()).view(runner.DTYPES[element])
            inputs.append(flat.reshape(array.shape))
        want = rules.dequantize(parts[0], parts[1], rule)
        want = want.T if copies == "col" else want
        with np.errstate(over="ignore", invalid="ignore"):
            want = np.ascontiguousarray(want.astype(DTYPES[result]).astype(np.float32))
        got = run(text, inputs)[0].float()
        same_bits(got, want, f"dequantize {m}x{n}")
