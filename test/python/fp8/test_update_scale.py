# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Delayed scaling: the next scales and the history, call after call, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from conformance import runner

from fp8 import rules
from fp8.programs import TARGET, same_bits
from fp8.rules import FORMATS, LARGEST

TARGETS = pytest.mark.parametrize("target", [TARGET, *(["reference"] if TARGET == "cpu" else [])])


def update_text(history: int, count: int, fmt: str, margin: int, most_recent: bool) -> str:
    scale, amaxes = f"tensor<{count}xf32>", f"tensor<{history}x{count}xf32>"
    words = " most_recent" * most_recent + f" {{margin = {margin} : i64}}"
    return f"""fuseops.fusible @main(%s: {scale}, %h: {amaxes}, %a: {scale}) -> ({scale}, {amaxes})
    attributes {{frozen_results = array<i64: 0, 1>}} forward {{
      %s1, %h1 = fuseops.update_scale %s, %h, %a format({fmt}){words} : {scale}, {amaxes}
      fuseops.return %s1, %h1 : {scale}, {amaxes}
    }}"""


@TARGETS
@pytest.mark.parametrize("most_recent", [False, True])
@pytest.mark.parametrize(("history", "margin"), [(1, 0), (2, 2), (16, 0), (1024, 1)])
@pytest.mark.parametrize("fmt", FORMATS)
def test_fp8_h1_h2_calls_in_order(
    fmt: str, history: int, margin: int, most_recent: bool, target: str
):
    """More calls than a short history holds, of magnitudes that rise and fall."""
    program = runner.compile_ir(update_text(history, 5, fmt, margin, most_recent), target)
    rule = rules.Delayed(fmt, margin, most_recent)
    generator = np.random.default_rng(0)
    scale, past = np.ones(5, np.float32), np.zeros((history, 5), np.float32)
    for call in range(40):
        amax = np.exp2(generator.uniform(-30, 30, 5)).astype(np.float32)
        amax[call % 5] = [0.0, 1e-45, rules.MAX_F32, 448.0, 1e-38][call // 8]
        (got, kept), _ = program.forward(*map(torch.from_numpy, (scale, past, amax)))
        scale, past = rule.update(scale, past, amax)
        same_bits(got.float(), scale, f"scale of call {call}")
        same_bits(kept.float(), past, f"history of call {call}")


@TARGETS
@pytest.mark.parametrize("most_recent", [False, True])
@pytest.mark.parametrize("fmt", FORMATS)
def test_fp8_h3_amax_that_gives_no_scale(fmt: str, most_recent: bool, target: str):
    """0, infinity and NaN keep the scale; a NaN does until it has left the history."""
    program = runner.compile_ir(update_text(2, 4, fmt, 0, most_recent), target)
    scale = torch.tensor([3.0, 5.0, 7.0, 11.0])
    past = torch.zeros(2, 4)
    amax = torch.tensor([0.0, torch.inf, torch.nan, 2.0])
    (scale, past), _ = program.forward(scale, past, amax)
    assert scale.float().tolist() == [3.0, 5.0, 7.0, LARGEST[fmt] / 2]
    for _ in range(2):
        (scale, past), _ = program.forward(scale, past, torch.full((4,), 4.0))
    assert scale.float().tolist() == [LARGEST[fmt] / 4] * 4
    (scale, past), _ = program.forward(scale, past, torch.full((4,), torch.nan))
    (scale, past), _ = program.forward(scale, past, torch.full((4,), 1.0))
    kept = LARGEST[fmt] if most_recent else LARGEST[fmt] / 4
    assert scale.float().tolist() == [kept] * 4


@TARGETS
def test_fp8_h2_margin_as_transformer_engine(target: str):
    """Its own test: with margin 2, the scale after k calls is largest / max(seen) / 4."""
    program = runner.compile_ir(update_text(8, 1, "f8E4M3FN", 2, False), target)
    scale, past, seen = torch.ones(1), torch.zeros(8, 1), []
    for value in (0.7, 3.1, 0.2, 9.9, 1.0):
        seen.append(np.float32(value))
        (scale, past), _ = program.forward(scale, past, torch.tensor([value]))
        assert scale.float().item() == np.float32(448) / max(seen) / np.float32(4)
