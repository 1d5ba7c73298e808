# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random FP8 matrices with scales of every kind, laid out as `!fuseops.quantized` has them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

FORMATS = {"f8E4M3FN": torch.float8_e4m3fn, "f8E5M2": torch.float8_e5m2}
KINDS = ("per_tensor", "per_row", "block<1x128>", "block<128x128>", "mx<1x32>")


def ceil_div(size: int, block: int) -> int:
    """How many blocks cover a size."""
    return -(-size // block)


@dataclass(frozen=True)
class Operand:
    """One copy of a quantized matrix, [rows, columns]."""

    #: FP8 data, [rows, columns], and its scales as they lie in memory.
    data: Tensor
    scale_inv: Tensor
    #: The logical values, [rows, columns] of f64.
    value: Tensor


def _spread(scale: Tensor, rows: int, columns: int, block: tuple[int, int]) -> Tensor:
    """One scale a block as one an element."""
    repeated = scale.repeat_interleave(block[0], 0).repeat_interleave(block[1], 1)
    return repeated[:rows, :columns]


def make(rows: int, columns: int, fmt: str, kind: str, *, seed: int, dynamic: str = "") -> Operand:
    """A random copy [rows, columns]; `dynamic`, `rows` or `columns` or neither, is the
    extent that the type leaves open, which has no padding in its scales."""
    generator = torch.Generator().manual_seed(seed)
    data = torch.randn(rows, columns, generator=generator) * 8
    data = data.clamp(-448, 448).to(FORMATS[fmt])

    def draw(*shape: int) -> Tensor:
        exponents = torch.randint(-8, -3, shape, generator=generator)
        return torch.ldexp(torch.rand(shape, generator=generator) + 1, exponents)

    if kind == "per_tensor":
        stored = draw()
        full = stored.expand(rows, columns)
    elif kind == "per_row":
        stored = draw(rows, 1)
        full = stored.expand(rows, columns)
    elif kind == "block<1x128>":
        scale = draw(rows, ceil_div(columns, 128))
        stored = scale.t().contiguous()
        full = _spread(scale, rows, columns, (1, 128))
    elif kind == "block<128x128>":
        scale = draw(ceil_div(rows, 128), ceil_div(columns, 128))
        full = _spread(scale, rows, columns, (128, 128))
        padding = 0 if dynamic == "columns" else -scale.shape[1] % 4
        stored = torch.nn.functional.pad(scale, (0, padding))
    else:
        exponents = torch.randint(119, 124, (rows, ceil_div(columns, 32)), generator=generator)
        stored = exponents.to(torch.uint8).view(torch.float8_e8m0fnu)
        full = _spread(torch.ldexp(torch.tensor(1.0), exponents - 127), rows, columns, (1, 32))
    return Operand(data, stored, data.double() * full.double())


def type_of(rows: int | str, columns: int | str, fmt: str, kind: str, copies: str) -> str:
    """The IR's type of the untransposed matrix."""
    return f"!fuseops.quantized<{rows}x{columns}x{fmt}, scale = {kind}, copies = {copies}>"
