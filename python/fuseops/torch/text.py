# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables and quantities for reading."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def align(rows: Iterable[Sequence[Any]]) -> list[str]:
    """Rows of one length as lines with their cells one below another."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in texts
    ]


def format_bytes(count: int) -> str:
    """A count of bytes with its unit, as fuse-run prints it."""
    value = float(count)
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.1f} {unit}" if unit != "B" else f"{count} B"
        value /= 1024
    return f"{value:.1f} GiB"


def format_shape(shape: Sequence[int]) -> str:
    """A shape as IR has it, `[]` for a scalar's."""
    return f"[{'x'.join(map(str, shape))}]"
