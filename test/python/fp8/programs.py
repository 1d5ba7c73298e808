# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that quantize, and the inputs that they are tried with."""

from __future__ import annotations

import os

import ml_dtypes
import numpy as np
import torch
from conformance import runner
from torch import Tensor

from fp8 import rules
from fp8.rules import Array, Rule

# The device of all tests of this folder.
TARGET = "cuda" if os.environ.get("FUSEOPS_TEST_DEVICE", "cpu") == "cuda" else "cpu"
SIZES = (1, 3, 127, 128, 129, 300)
DTYPES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16}


def quantized(rows: int | str, columns: int, rule: Rule, copies: str) -> str:
    """The type of a quantized matrix."""
    shape = f"{rows}x{columns}x{rule.format}"
    return f"!fuseops.quantized<{shape}, scale = {rule.kind}, copies = {copies}>"


def _attributes(rule: Rule) -> str:
    words = [
        "power_of_two" if rule.power_of_two else "",
        f"epsilon = {rule.epsilon:e} : f32" if rule.epsilon else "",
    ]
    given = ", ".join(word for word in words if word)
    return f" {{{given}}}" if given else ""


def quantize_text(shapes: list[tuple[int | str, int]], dtype: str, rule: Rule, copies: str) -> str:
    """A program of one quantize for each shape; `?` rows are one number. Per-tensor scales are one
    more argument each."""
    arguments, results, lines, names = [], [], [], []
    for i, (rows, columns) in enumerate(shapes):
        tensor = f"tensor<{rows}x{columns}x{dtype}>"
        kind = quantized(rows, columns, rule, copies)
        arguments.append(f"%x{i}: {tensor}")
        operand, types = f"%x{i}", tensor
        if rule.kind == "per_tensor":
            arguments.append(f"%s{i}: tensor<f32>")
            operand, types = f"%x{i} scale(%s{i})", f"{tensor}, tensor<f32>"
        lines.append(
            f"  %q{i} = fuseops.quantize {operand}{_attributes(rule)} : ({types}) -> {kind}"
        )
        names.append(f"%q{i}")
        results.append(kind)
    return (
        f"fuseops.fusible @main({', '.join(arguments)}) -> ({', '.join(results)})\nforward {{\n"
        + "\n".join(lines)
        + f"\n  fuseops.return {', '.join(names)} : {', '.join(results)}\n}}\n"
    )


def to_torch(x: Array, dtype: str) -> Tensor:
    """A tensor of the bits of an array."""
    kind = runner.DTYPES[dtype]
    words = np.ascontiguousarray(x.astype(DTYPES[dtype])).reshape(-1).view(np.uint8)
    return torch.from_numpy(words.copy()).view(kind).reshape(x.shape)


def to_numpy(tensor: Tensor) -> Array:
    """FP8 and E8M0 tensors as their codes, f32 ones as numbers."""
    if tensor.dtype.itemsize == 1:
        return tensor.cpu().view(torch.uint8).numpy()
    return tensor.cpu().numpy()


def same_bits(got: Tensor, want: Array, what: str) -> None:
    """Fails with the first place of different bits; a NaN of f32 is any NaN."""
    found = to_numpy(got)
    assert found.shape == np.shape(want), f"{what}: shape {found.shape}, not {np.shape(want)}"
    want = np.asarray(want, found.dtype)
    if found.dtype == np.float32:
        equal = (found.view(np.uint32) == want.view(np.uint32)) | (np.isnan(found) & np.isnan(want))
    else:
        equal = found == want
    if not equal.all():
        place = tuple(np.argwhere(~equal)[0])
        raise AssertionError(
            f"{what}: {np.count_nonzero(~equal)} of {equal.size} differ, first at {place}: "
            f"{found[place]!r}, not {want[place]!r}"
        )


def _limits(dtype: str) -> tuple[float, float]:
    info = ml_dtypes.finfo(DTYPES[dtype])
    return float(info.max), float(info.smallest_subnormal)


def patterns(shape: tuple[int, int], dtype: str, seed: int) -> dict[str, Array]:
    """Matrices [M, N] of a dtype's values as f32, by what is special in them."""
    generator = np.random.default_rng(seed)
    largest, smallest = _limits(dtype)
    normal = generator.standard_normal(shape, dtype=np.float32)
    low, high = np.log2(max(smallest, 2.0**-140)), np.log2(largest) - 1
    wide = np.exp2(generator.uniform(low, high, shape)) * np.sign(normal)
    found = {
        "normal": normal,
        # A magnitude for each row, and for each column: neighbours have other scales.
        "rows": normal * np.exp2(generator.uniform(-12, 12, (shape[0], 1))),
        "columns": normal * np.exp2(generator.uniform(-12, 12, (1, shape[1]))),
        "wide": wide,
        "zero": np.where(generator.random(shape) < 0.5, 0.0, -0.0),
        "subnormal": generator.integers(-5, 6, shape) * smallest,
        "max": np.sign(normal) * largest,
    }
    for name, number in (("inf", -np.inf), ("nan", np.nan), ("huge", largest)):
        some = normal.copy()
        # One in the tail, one anywhere.
        some[-1, -1] = number
        some[generator.integers(shape[0]), generator.integers(shape[1])] = number
        found[name] = some
    with np.errstate(over="ignore", invalid="ignore"):
        return {
            name: np.asarray(x, np.float32).astype(DTYPES[dtype]).astype(np.float32)
            for name, x in found.items()
        }


__all__ = [
    "DTYPES",
    "SIZES",
    "TARGET",
    "patterns",
    "quantize_text",
    "quantized",
    "rules",
    "same_bits",
]
