# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products that contract `?` elements, on the PTX simulator against f64: weight
gradients, of transposed operands in FP8, by themselves and added to what there was."""

from __future__ import annotations

import numpy as np
import pytest
from gemm_case import Arrays, Case, spread
from gemm_simulation import compile_case, count_spills, simulate

N, K = 136, 272
RESULT = f"tensor<{N}x{K}xf32>"
# Of sums in f32, in whatever order, relative to what the largest are.
ERROR = 2e-6


def spread_vectors(scales: np.ndarray, values: np.ndarray) -> np.ndarray:
    return values * spread(scales.T, *values.shape, (1, 128))


def spread_squares(scales: np.ndarray, values: np.ndarray) -> np.ndarray:
    return values * spread(scales, *values.shape, (128, 128))


# Scales of r rows, as an operand has them, and how they multiply its values.
KINDS = {
    "per_tensor": (lambda _: "tensor<f32>", np.multiply),
    "per_row": (lambda rows: f"tensor<{rows}x1xf32>", np.multiply),
    "block<1x128>": (lambda rows: f"tensor<?x{rows}xf32, #fuseops.blocks<128>>", spread_vectors),
    "block<128x128>": (
        lambda rows: f"tensor<{-(-rows // 128)}x?xf32, #fuseops.blocks<128>>",
        spread_squares,
    ),
}


def fp8(kind: str, *, fast: bool = False, adds: bool = False, **options: object) -> Case:
    """dy^T x of operands with scales of one kind, both stored with `?` columns."""
    scale, multiply = KINDS[kind]
    inputs = {
        "a": f"tensor<{N}x?xf8E5M2>",
        "s": scale(N),
        "b": f"tensor<{K}x?xf8E4M3FN>",
        "t": scale(K),
    }
    how = " {fast_accumulate}" if fast else ""
    body = (
        f"%p = fuseops.scaled_matmul %a[%s] {kind}, %b[%t] {kind}{how} : "
        f"({{a}}, {{s}}, {{b}}, {{t}}) -> {RESULT}"
    )
    if adds:
        inputs["c"] = RESULT
        body += "\n%q = fuseops.add %p, %c : {c}, {c} -> {c}"

    def expect(
        a: np.ndarray, s: np.ndarray, b: np.ndarray, t: np.ndarray, *c: np.ndarray
    ) -> Arrays:
        return [sum(c, multiply(s, a) @ multiply(t, b).T)]

    return Case(inputs, body, {"q" if adds else "p": RESULT}, expect, **options)


def bf16(*, adds: bool, **options: object) -> Case:
    inputs = {"dy": f"tensor<?x{N}xbf16>", "x": f"tensor<?x{K}xbf16>"}
    body = f"%p = fuseops.matmul %dy, %x transpose_lhs : {{dy}}, {{x}} -> {RESULT}"
    if adds:
        inputs["c"] = RESULT
        body += "\n%q = fuseops.add %p, %c : {c}, {c} -> {c}"
    return Case(
        inputs,
        body,
        {"q" if adds else "p": RESULT},
        lambda dy, x, *c: [sum(c, dy.T @ x)],
        **options,
    )


CASES = {
    "per tensor": fp8("per_tensor", fast=True, rows=160),
    "per tensor of one step": fp8("per_tensor", fast=True, rows=16),
    "per tensor of nothing": fp8("per_tensor", fast=True, rows=0),
    "per tensor in f32": fp8("per_tensor", rows=656),
    "per tensor accumulated": fp8("per_tensor", fast=True, adds=True, rows=160),
    "nothing accumulated": fp8("per_tensor", fast=True, adds=True, rows=0),
    "per row": fp8("per_row", fast=True, rows=400),
    "vectors": fp8("block<1x128>", rows=656),
    "vectors of one block": fp8("block<1x128>", rows=96),
    "vectors of nothing": fp8("block<1x128>", rows=0),
    "vectors accumulated": fp8("block<1x128>", adds=True, rows=144),
    "squares": fp8("block<128x128>", rows=656),
    "bf16": bf16(adds=False, rows=150),
    "bf16 of nothing": bf16(adds=False, rows=0),
    "bf16 accumulated": bf16(adds=True, rows=150),
}


@pytest.mark.parametrize("name", CASES)
def test_right(name: str) -> None:
    case = CASES[name]
    compiled = compile_case(case)
    for late in (True, False):
        found, expected = simulate(case, compiled, late=late, seed=late)
        error = np.abs(found[0] - expected[0])
        size = np.abs(expected[0]) + np.sqrt(np.mean(expected[0] ** 2))
        assert np.all(error <= ERROR * size), np.max(error / size)


@pytest.mark.parametrize("name", CASES)
def test_registers(name: str) -> None:
    """Nothing is spilled."""
    spills = count_spills(CASES[name].program())
    assert spills == [0] * len(spills)
