# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize bit for bit: every scale kind, format, input type, copy, tail and extreme number."""

from __future__ import annotations

from dataclasses import dataclass

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


EVERY_KIND = pytest.mark.parametrize(
    "rule", [rule for rule in RULES if not rule.power_of_two], ids=name_of
)
EVERY_RULE = pytest.mark.parametrize("rule", RULES, ids=name_of)


def run(text: str, inputs: list[Tensor], target: str = TARGET) -> list[Tensor]:
    """The plain results of a program; f64 ones of the reference hold f32 numbers."""
    results, _ = runner.compile_ir(text, target).forward(*inputs)
    return [x.float() if x.dtype == torch.float64 else x for x in results]


@dataclass(frozen=True)
class Program:
    """One quantize for each shape, of which the rows may be `?`."""

    shapes: list[tuple[int | str, int]]
    dtype: str
    rule: Rule
    copies: str = "row_col"
    target: str = TARGET

    def check(self, matrices: list[np.ndarray], what: str) -> None:
        """Runs it on a matrix for each shape and compares every part."""
        inputs, expected = [], []
        is_symbolic = self.shapes[0][0] == "?"
        for i, x in enumerate(matrices):
            inputs.append(to_torch(x, self.dtype))
            scale = None
            if self.rule.kind == "per_tensor":
                scale = np.float32(SCALES[(i + len(what)) % len(SCALES)])
                inputs.append(torch.tensor(scale))
            expected += rules.quantize(x, self.rule, self.copies, scale, is_symbolic)
        text = quantize_text(self.shapes, self.dtype, self.rule, self.copies)
        results = run(text, inputs, self.target)
        assert len(results) == len(expected)
        per_matrix = len(expected) // len(matrices)
        for i, (got, want) in enumerate(zip(results, expected, strict=True)):
            shape = matrices[i // per_matrix].shape
            same_bits(got, want, f"{what} {shape}, part {i % per_matrix}")

    def check_patterns(self, names: list[str] | None = None) -> None:
        """Rows of each size, for each pattern."""
        for m in SIZES:
            tables = [patterns((m, n), self.dtype, seed=m * 1000 + n) for _, n in self.shapes]
            for name in names or tables[0]:
                self.check([table[name] for table in tables], name)


ROWS_OF_EACH_SIZE: list[tuple[int | str, int]] = [("?", n) for n in SIZES]


@pytest.mark.parametrize("dtype", DTYPES)
@EVERY_RULE
def test_fp8_r1_r2_r3_a1_a2_s1_s2_s3_s5_s6_t1_t2_both_copies(rule: Rule, dtype: str):
    Program(ROWS_OF_EACH_SIZE, dtype, rule).check_patterns()


@pytest.mark.skipif(TARGET != "cpu", reason="the reference runs on the CPU")
@EVERY_RULE
def test_reference_has_the_same_bits(rule: Rule):
    """It computes in f64, but the rules are about f32."""
    program = Program([("?", 129), ("?", 40)], "bf16", rule, target="reference")
    for name in ("normal", "wide", "subnormal", "inf", "nan", "huge"):
        program.check([patterns((130, n), "bf16", seed=n)[name] for n in (129, 40)], name)


@pytest.mark.parametrize("copies", ["row", "col"])
@EVERY_RULE
def test_fp8_c1_one_copy_alone(rule: Rule, copies: str):
    """A copy has the same bits whether or not the other is written too."""
    Program(ROWS_OF_EACH_SIZE, "bf16", rule, copies).check_patterns(["columns", "nan"])


@pytest.mark.parametrize("copies", COPIES)
@pytest.mark.parametrize("kind", KINDS)
def test_fp8_c2_t3_known_rows(kind: str, copies: str):
    """Layouts and padding where no size is symbolic."""
    rule = Rule(kind, "f8E4M3FN")
    shapes = [(1, 1), (3, 300), (128, 512), (129, 640), (300, 127), (513, 129)]
    program = Program(list(shapes), "f32", rule, copies)
    for name in ("rows", "columns", "zero"):
        matrices = [patterns(shape, "f32", seed=7)[name] for shape in shapes]
        program.check(matrices, name)


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
        program = Program([("?", 129)], "f32", rule)
        for name, x in patterns((129, 129), "f32", seed=3).items():
            program.check([x], name)


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
    Program([("?", 32)], "f32", rule).check([x], "powers")


@pytest.mark.parametrize("result", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("copies", ["row", "col", "row_col"])
@EVERY_KIND
def test_fp8_r5_c3_dequantize(rule: Rule, copies: str, result: str):
    """Codes of every value, scales of any, against a product in f32 and one rounding."""
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


@pytest.mark.parametrize("fmt", FORMATS)
def test_fp8_c4_quantize_of_dequantized(fmt: str):
    """Every code, under scales that amaxes of every magnitude give."""
    rule = Rule("per_tensor", fmt)
    amaxes = np.exp2(np.arange(-148, 127.5, 0.37)).astype(np.float32)
    data = np.arange(256, dtype=np.uint8)
    again = quantize_text([("?", 256)], "f32", rule, "row")
    kind = quantized("?", 256, rule, "row")
    back = f"""fuseops.fusible @main(%q: {kind}) -> tensor<?x256xf32>
    attributes {{frozen_results = array<i64: 0>}} forward {{
      %x = fuseops.dequantize %q : {kind} -> tensor<?x256xf32>
      fuseops.return %x : tensor<?x256xf32>
    }}"""
    # An infinity of E5M2 saturates.
    numbers = data.view(FORMATS[fmt]).astype(np.float32)
    want = rules.codes(numbers, fmt)
    for scale in rules.scale_of(amaxes, rule):
        given = torch.from_numpy(data.copy()).view(runner.DTYPES[fmt])[None]
        x = run(back, [given, torch.tensor(1 / scale)])[0]
        got = run(again, [x, torch.tensor(scale)])[0]
        same_bits(got, want[None], f"scale {scale}")


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@EVERY_RULE
def test_fp8_r4_read_within_the_kernel(rule: Rule, dtype: str):
    """A quantized value and what it dequantizes to, written by one program."""
    kind, tensor = quantized("?", 300, rule, "row_col"), f"tensor<?x300x{dtype}>"
    scale = ", %s: tensor<f32>" if rule.kind == "per_tensor" else ""
    operand, types = ("%x scale(%s)", f"{tensor}, tensor<f32>") if scale else ("%x", tensor)
    words = " {power_of_two}" if rule.power_of_two else ""
    text = f"""fuseops.fusible @main(%x: {tensor}{scale}) -> ({kind}, {tensor})
    attributes {{frozen_results = array<i64: 1>}} forward {{
      %q = fuseops.quantize {operand}{words} : ({types}) -> {kind}
      %y = fuseops.dequantize %q : {kind} -> {tensor}
      fuseops.return %q, %y : {kind}, {tensor}
    }}"""
    x = patterns((200, 300), dtype, seed=5)["rows"]
    given = np.float32(3.0)
    inputs = [to_torch(x, dtype), *([torch.tensor(given)] if scale else [])]
    *parts, y = run(text, inputs)
    want = rules.quantize(x, rule, "row_col", given)
    for got, part in zip(parts, want, strict=True):
        same_bits(got, part, "part")
    logical = rules.dequantize(want[0], want[1], rule)
    same_bits(y.float(), logical.astype(DTYPES[dtype]).astype(np.float32), "dequantized")


@EVERY_RULE
def test_fp8_g1_straight_through(rule: Rule):
    """The gradient is the incoming one, also where the data is clipped; a scale has none."""
    kind, tensor = quantized("?", 129, rule, "row"), "tensor<?x129xf32>"
    scale = ", %s: tensor<f32>" if rule.kind == "per_tensor" else ""
    operand, types = ("%x scale(%s)", f"{tensor}, tensor<f32>") if scale else ("%x", tensor)
    text = f"""fuseops.fusible @main(%x: {tensor}{scale}) -> {tensor} forward {{
      %q = fuseops.quantize {operand} : ({types}) -> {kind}
      %y = fuseops.dequantize %q : {kind} -> {tensor}
      fuseops.return %y : {tensor}
    }}"""
    program = runner.compile_ir(text, TARGET)
    x = to_torch(patterns((130, 129), "f32", seed=2)["huge"], "f32")
    _, context = program.forward(x, *([torch.tensor(1e30)] if scale else []))
    incoming = torch.randn(130, 129, generator=torch.Generator().manual_seed(0))
    gradient, *others = program.gradients([incoming], context)
    assert gradient is not None
    same_bits(gradient, incoming.numpy(), "gradient")
    assert others == [None] * len(others)
