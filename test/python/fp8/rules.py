# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rules of docs/Dialect/Fp8Semantics.md written with NumPy and ml_dtypes, from that page alone.

Nothing here reads the compiler's own code. Matrices are float32 arrays that hold the values of the
tensor's element type exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]

FORMATS = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}
LARGEST = {"f8E4M3FN": np.float32(448), "f8E5M2": np.float32(57344)}
KINDS = ("per_tensor", "per_row", "block<1x128>", "block<128x128>", "mx<1x32>")
COPIES = ("row", "col", "row_col")
MAX_F32 = np.float32(np.finfo(np.float32).max)
NAN_CODE = 0x7F


@dataclass(frozen=True)
class Rule:
    """What a quantize is told: the kind of scale, the format and its attributes."""

    kind: str
    format: str
    power_of_two: bool = False
    epsilon: float = 0.0


def codes(x: Array, fmt: str) -> Array:
    """The codes of f32 numbers [...] rounded to a format: u8 [...]."""
    with np.errstate(over="ignore", invalid="ignore"):
        clamped = np.clip(x.astype(np.float32), -LARGEST[fmt], LARGEST[fmt])
        rounded = clamped.astype(FORMATS[fmt]).view(np.uint8)
    return np.where(np.isnan(x), np.uint8(NAN_CODE), rounded)


def scale_of(amax: Array, rule: Rule, margin: int = 0, otherwise: Array | float = 1.0) -> Array:
    """f32 scales of f32 amaxes [...]."""
    amax = np.asarray(amax, np.float32)
    amax = np.maximum(amax, np.float32(rule.epsilon)) if rule.epsilon else amax
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        scale = (LARGEST[rule.format] * np.float32(2.0**-margin)) / amax
        scale = np.where(np.isinf(scale), MAX_F32, scale)
        if rule.power_of_two:
            # frexp's mantissa is in [0.5, 1).
            scale = np.ldexp(np.float32(0.5), np.frexp(scale)[1]).astype(np.float32)
        usable = (amax > 0) & np.isfinite(amax)
    return np.where(usable, scale, np.asarray(otherwise, np.float32)).astype(np.float32)


def mx_exponents(amax: Array, fmt: str) -> Array:
    """The codes of E8M0 scales: u8 [...], 255 for NaN."""
    amax = np.asarray(amax, np.float32)
    with np.errstate(invalid="ignore"):
        quotient = amax / LARGEST[fmt]
        mantissa, exponent = np.frexp(quotient)
        exponent = np.where(mantissa == 0.5, exponent - 1, exponent)
    exponent = np.where(quotient == 0, -127, np.where(np.isinf(amax), 127, exponent))
    exponent = np.clip(exponent, -127, 127) + 127
    return np.where(np.isnan(amax), 255, exponent).astype(np.uint8)


def e8m0(code: Array) -> Array:
    """The f32 numbers of E8M0 codes."""
    value = np.ldexp(np.float32(1), code.astype(np.int32) - 127).astype(np.float32)
    return np.where(code == 255, np.float32(np.nan), value)


def block_amax(x: Array, rows: int, columns: int) -> Array:
    """f32 [ceil(M / rows), ceil(N / columns)]: the largest magnitude of each block of [M, N]."""
    m, n = x.shape
    grid = np.zeros((-(-m // rows), -(-n // columns)), np.float32)
    for i in range(grid.shape[0]):
        for j in range(grid.shape[1]):
            block = x[i * rows : (i + 1) * rows, j * columns : (j + 1) * columns]
            grid[i, j] = np.max(np.abs(block))
    return grid


def spread(grid: Array, rows: int, columns: int, shape: tuple[int, int]) -> Array:
    """One value a block, repeated over its elements: [M, N]."""
    whole = np.repeat(np.repeat(grid, rows, axis=0), columns, axis=1)
    return whole[: shape[0], : shape[1]]


def block_of(kind: str, shape: tuple[int, int]) -> tuple[int, int]:
    """The rows and columns of a copy [R, C] that one scale covers."""
    whole = (max(shape[0], 1), max(shape[1], 1))
    return {
        "per_tensor": whole,
        "per_row": (1, whole[1]),
        "block<1x128>": (1, 128),
        "block<128x128>": (128, 128),
        "mx<1x32>": (1, 32),
    }[kind]


def quantize_copy(
    x: Array, rule: Rule, scale: np.float32 | None = None, symbolic: str = ""
) -> tuple[Array, Array]:
    """One copy of the matrix x [R, C]: codes u8 [R, C], and scale_inv as it lies in memory, f32 or
    for `mx` the u8 codes. `symbolic` columns are not padded."""
    rows, columns = block_of(rule.kind, x.shape)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore", under="ignore"):
        if rule.kind == "per_tensor":
            assert scale is not None
            return codes(x * scale, rule.format), np.float32(1) / scale
        if rule.kind == "per_row":
            amax = np.max(np.abs(x), axis=1, keepdims=True, initial=0.0)
        else:
            amax = block_amax(x, rows, columns)
        if rule.kind == "mx<1x32>":
            inverse = mx_exponents(amax, rule.format)
            scales = np.float32(1) / e8m0(inverse)
        else:
            scales = scale_of(amax, rule)
            inverse = np.float32(1) / scales
        data = codes(x * spread(scales, rows, columns, x.shape), rule.format)
    if rule.kind == "block<1x128>":
        inverse = inverse.T
    if rule.kind == "block<128x128>" and symbolic != "columns":
        inverse = np.pad(inverse, ((0, 0), (0, -inverse.shape[1] % 4)))
    return data, inverse


def quantize(
    x: Array,
    rule: Rule,
    copies: str,
    scale: np.float32 | None = None,
    symbolic_rows: bool = True,
) -> list[Array]:
    """The parts of a quantized matrix [M, N] of which M is symbolic or known: for each copy its
    codes and its scale_inv."""
    parts: list[Array] = []
    if copies != "col":
        parts += quantize_copy(x, rule, scale)
    if copies != "row":
        symbolic = "columns" if symbolic_rows else ""
        parts += quantize_copy(np.ascontiguousarray(x.T), rule, scale, symbolic)
    return parts


def dequantize(data: Array, inverse: Array, rule: Rule, symbolic: str = "") -> Array:
    """f32 [R, C] of one copy."""
    values = data.view(FORMATS[rule.format]).astype(np.float32)
    rows, columns = block_of(rule.kind, data.shape)
    if rule.kind == "per_tensor":
        scales = np.full(data.shape, inverse, np.float32)
    else:
        if rule.kind == "block<1x128>":
            inverse = inverse.T
        if rule.kind == "mx<1x32>":
            inverse = e8m0(inverse)
        scales = spread(inverse, rows, columns, data.shape)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return values * scales


@dataclass(frozen=True)
class Delayed:
    """What an update of scales is told."""

    format: str
    margin: int = 0
    most_recent: bool = False

    def update(self, scale: Array, history: Array, amax: Array) -> tuple[Array, Array]:
        """The next f32 scales [N] and history [H, N]."""
        history = np.concatenate([history[1:], amax[None]])
        chosen = amax if self.most_recent else np.max(history, axis=0)
        rule = Rule("per_tensor", self.format)
        return scale_of(chosen, rule, self.margin, scale), history
