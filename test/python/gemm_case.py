# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A product with its neighbours, as tests draw, compile and run it."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from ptx_arithmetic import read_floats, round_floats

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from plans import write_group

Arrays = list[np.ndarray]
KINDS = {"f8E4M3FN": "e4m3", "f8E5M2": "e5m2"}
BYTES = {"e4m3": 1, "e5m2": 1, "bf16": 2, "f16": 2, "f32": 4, "i64": 8}


@dataclass
class Case:
    inputs: dict[str, str]
    """Names and types; `?` is `rows`."""
    body: str
    """What the group does."""
    outputs: dict[str, str]
    expected: Callable[..., list]
    """The outputs for the inputs' values, in f64."""
    rows: int = 130
    # Few blocks, so that each visits several tiles.
    schedule: str = "workers = 1"
    sizes: tuple[int, ...] = ()
    """Of the groups of a grouped product: its input of i64."""

    def program(self) -> str:
        return write_group("gemm", self.inputs, self.body, self.outputs, self.schedule)

    def draw(self, seed: int) -> Arrays:
        """The bytes of the inputs."""
        generator = np.random.default_rng(seed)
        return [
            np.array(self.sizes).view(np.uint8)
            if kind.endswith("xi64>")
            else make(name, kind, self.rows, generator)
            for name, kind in self.inputs.items()
        ]

    def expect(self, given: Arrays) -> list:
        """What the outputs should be for inputs of these bytes."""
        pairs = zip(given, self.inputs.values(), strict=True)
        return self.expected(*(read(data, kind, self.rows) for data, kind in pairs))


def split(kind: str, rows: int) -> tuple[tuple[int, ...], str]:
    """The shape and the element of a type."""
    shape, _, encoding = kind[len("tensor<") : -1].partition(", #fuseops.blocks")
    *dims, element = shape.split("x")
    # A `?` may count blocks of so many.
    size = -(-rows // int(encoding.strip("<>") or 1))
    return tuple(size if dim == "?" else int(dim) for dim in dims), KINDS.get(element, element)


def make(name: str, kind: str, rows: int, generator: np.random.Generator) -> np.ndarray:
    """The bytes of an input: normal numbers, or scales."""
    shape, element = split(kind, rows)
    values = generator.standard_normal(shape)
    if element == "f32":
        values = 2.0 ** generator.integers(-3, 3, shape) * generator.uniform(1, 2, shape)
    bits = round_floats(element, np.asarray(values, np.float32))
    return bits.astype(f"u{BYTES[element]}").reshape(-1).view(np.uint8).copy()


def read(data: np.ndarray, kind: str, rows: int) -> np.ndarray:
    shape, element = split(kind, rows)
    if element == "i64":
        return data.view(np.int64)
    bits = data.view(f"u{BYTES[element]}").astype(np.uint64)
    return read_floats(element, bits).astype(np.float64).reshape(shape)


def gelu(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def gelu_gradient(x: np.ndarray) -> np.ndarray:
    root = math.sqrt(2 / math.pi)
    t = np.tanh(root * (x + 0.044715 * x**3))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x)


def spread(scales: np.ndarray, rows: int, columns: int, shape: tuple[int, int]) -> np.ndarray:
    """The scales of blocks of `shape` for each of rows and columns."""
    each = scales.repeat(shape[0], 0).repeat(shape[1], 1)
    return each[:rows, :columns]
