# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The values of a random program, and the operations that only move elements."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

DYNAMIC = "?"
FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i8", "i16", "i32", "i64")
# How often each element type is drawn; a program draws one of these rows.
PROFILES = (("f32",), ("f32",), ("f64",), ("bf16", "f32"), ("f16", "f32"))
PROFILES += (("bf16", "f16", "f32", "f64"),)
COLUMNS = (1, 2, 3, 4, 7, 8, 16, 33, 64, 96, 130)
ROWS = (DYNAMIC, DYNAMIC, DYNAMIC, 1, 2, 5, 16)
MIDDLES = ((), (), (), (1,), (3,), (4,), (2, 3))
# Values beyond it are scaled down.
LARGEST = 64.0
MAX_COLUMNS = 400
MAX_RANK = 5

Shape = tuple


@dataclass(frozen=True)
class Value:
    """A value of the program: how it is written, whether gradients may flow
    through it, whether each precision gives the same, and how large it is."""

    name: str
    shape: Shape
    dtype: str
    trains: bool = True
    exact: bool = False
    size: float = 1.0

    @property
    def type(self) -> str:
        return tensor(self.shape, self.dtype)

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS


def tensor(shape: Shape, dtype: str) -> str:
    return f"tensor<{'x'.join([*map(str, shape), dtype])}>"


def quantized(shape: Shape, dtype: str, scale: str) -> str:
    extents = "x".join([*map(str, shape), dtype])
    return f"!fuseops.quantized<{extents}, scale = {scale}, copies = row>"


def broadcast(a: Shape, b: Shape) -> Shape | None:
    """The shape that both broadcast to; none if there is none."""
    length = max(len(a), len(b))
    result = []
    padded = ((1,) * (length - len(shape)) + shape for shape in (a, b))
    for x, y in zip(*padded, strict=True):
        if x != y and 1 not in (x, y):
            return None
        result.append(y if x == 1 else x)
    return tuple(result) if result.count(DYNAMIC) <= 1 else None


class ProgramBase:
    """The text of a program so far, and the values that it has."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.dtypes = self.random.choice(PROFILES)
        self.trains = self.random.random() < 0.7
        self.columns = self.random.choice(COLUMNS)
        rows = self.random.choice(ROWS)
        middle = self.random.choice(MIDDLES)
        self.shape: Shape = (rows, *middle, self.columns)
        if middle and self.random.random() < 0.3:
            self.shape = (*middle, rows, self.columns)
        if self.random.random() < 0.05:
            self.shape = self.random.choice(((self.columns,), ()))
        self.arguments: list[str] = []
        self.lines: list[str] = []
        self.values: list[Value] = []
        self.callees: list[str] = []
        self.count = 0

    def dtype(self) -> str:
        return self.random.choice(self.dtypes)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def usable(self, value: Value) -> bool:
        """Whether an operation may read the value: a gradient of it must exist
        where gradients are asked for."""
        return value.trains or not self.trains or not value.is_float

    def pick(self, wanted: Callable[[Value], bool] = lambda value: True) -> Value | None:
        """A value, more likely a late one; none if none is right."""
        found = [value for value in self.values if self.usable(value) and wanted(value)]
        if not found:
            return None
        return found[-1 - min(int(self.random.expovariate(0.35)), len(found) - 1)]

    def argument(self, shape: Shape, dtype: str | None = None, attrs: str = "") -> Value:
        dtype = dtype or self.dtype()
        is_float = dtype in FLOATS
        trains = self.trains and is_float and not attrs
        if not attrs and is_float and (not self.trains or self.chance(0.1)):
            attrs = "{fuseops.frozen}"
        # Small integers, of either sign: see the runner.
        size = 1.0 if is_float else 4.0
        value = Value(f"%a{len(self.arguments)}", shape, dtype, True, exact=True, size=size)
        self.arguments.append(f"{value.name}: {value.type} {attrs}".rstrip())
        return value if trains or not is_float else replace(value, trains=True)

    def emit(self, text: str, *results: Value) -> list[Value]:
        """Adds an operation; `results` get names in order."""
        names = [f"%v{self.count + i}" for i in range(len(results))]
        self.count += len(results)
        self.lines.append(f"{', '.join(names)} = {text}")
        named = [replace(value, name=name) for name, value in zip(names, results, strict=True)]
        self.values += named
        return named

    def tame(self, x: Value) -> Value:
        """The value, scaled down if it may have grown too large."""
        if not x.is_float or x.size <= LARGEST:
            return x
        factor = 2.0 ** -int(x.size).bit_length()
        y = replace(x, size=x.size * factor)
        return self.emit(f"fuseops.scale {x.name} by({factor!r}) : {x.type}", y)[0]

    def made(self, x: Value, *others: Value, **changes: object) -> Value:
        """A result of `x` and others: not exact, and trains if they all do."""
        trains = all(value.trains for value in (x, *others) if value.is_float)
        changes.setdefault("trains", trains)
        changes.setdefault("exact", False)
        return replace(x, **changes)

    def operand(self, x: Value, wanted: Callable[[Value], bool]) -> Value:
        """A value that broadcasts with `x`, or a new argument that does."""

        def fits(value: Value) -> bool:
            return wanted(value) and broadcast(x.shape, value.shape) is not None

        found = self.pick(fits) if self.chance(0.6) else None
        if found is not None:
            return self.tame(found)
        # Drop leading extents and make some of the others 1.
        start = self.random.randint(0, len(x.shape))
        shape = [1 if self.chance(0.35) else e for e in x.shape[start:]]
        if shape and shape[-1] == DYNAMIC:
            shape[-1] = 1
        return self.argument(tuple(shape))


class LayoutOps(ProgramBase):
    """Operations that move elements."""

    def fixed_dims(self, x: Value) -> list[int]:
        return [i for i, extent in enumerate(x.shape) if extent != DYNAMIC]

    def slice(self, x: Value) -> None:
        dims = [i for i in self.fixed_dims(x) if x.shape[i] > 1]
        if not dims:
            return
        dim = dims[-1] if self.chance(0.6) else self.random.choice(dims)
        extent = x.shape[dim]
        step = self.random.choice((1, 1, 1, 2, 3, -1, -2))
        longest = (extent - 1) // abs(step) + 1
        size = self.random.randint(1, longest)
        reach = (size - 1) * abs(step)
        offset = self.random.randint(0, extent - 1 - reach) + (reach if step < 0 else 0)
        y = replace(x, shape=(*x.shape[:dim], size, *x.shape[dim + 1 :]))
        text = f"fuseops.slice {x.name} dim({dim}) offset({offset})"
        text += f" step({step})" if step != 1 else ""
        self.emit(f"{text} : {x.type} -> {y.type}", y)

    def concat(self, x: Value) -> None:
        dims = self.fixed_dims(x)
        if not dims:
            return
        dim = dims[-1] if self.chance(0.6) else self.random.choice(dims)

        def fits(value: Value) -> bool:
            return (
                value.dtype == x.dtype
                and len(value.shape) == len(x.shape)
                and value.shape[dim] != DYNAMIC
                and all(
                    a == b
                    for i, (a, b) in enumerate(zip(value.shape, x.shape, strict=True))
                    if i != dim
                )
            )

        parts = [x] + [self.pick(fits) or x for _ in range(self.random.randint(0, 2))]
        self.random.shuffle(parts)
        size = sum(part.shape[dim] for part in parts)
        if size > MAX_COLUMNS:
            return
        y = self.made(
            *parts,
            shape=(*x.shape[:dim], size, *x.shape[dim + 1 :]),
            exact=all(part.exact for part in parts),
            size=max(part.size for part in parts),
        )
        names = ", ".join(part.name for part in parts)
        types = ", ".join(part.type for part in parts)
        self.emit(f"fuseops.concat {names} dim({dim}) : ({types}) -> {y.type}", y)

    def permute(self, x: Value) -> None:
        if len(x.shape) < 2:
            return
        order = list(range(len(x.shape)))
        self.random.shuffle(order)
        if x.shape[order[-1]] == DYNAMIC:
            order.reverse()
        y = replace(x, shape=tuple(x.shape[i] for i in order))
        self.emit(f"fuseops.permute {x.name} order{order} : {x.type} -> {y.type}", y)

    def expand(self, x: Value) -> None:
        shape = [
            self.random.choice((1, 2, 3)) if e == 1 and self.chance(0.7) else e for e in x.shape
        ]
        if len(shape) < 4 and self.chance(0.4):
            shape.insert(0, self.random.choice((1, 2, 3)))
        y = replace(x, shape=tuple(shape))
        if y.shape != x.shape:
            self.emit(f"fuseops.expand {x.name} : {x.type} -> {y.type}", y)

    def reshape(self, x: Value) -> None:
        shape, choices = x.shape, []
        if shape.count(DYNAMIC) == 0 or shape[0] == DYNAMIC:
            fixed = shape[1:] if shape and shape[0] == DYNAMIC else shape
            lead = shape[: len(shape) - len(fixed)]
            total = 1
            for extent in fixed:
                total *= extent
            for divisor in (2, 3, 4):
                if total % divisor == 0:
                    choices.append((*lead, divisor, total // divisor))
                    choices.append((*lead, total // divisor, divisor))
            if total <= 4 * MAX_COLUMNS:
                choices.append((*lead, total))
        for position in range(len(shape) + 1):
            choices.append((*shape[:position], 1, *shape[position:]))
        if 1 in shape:
            one = shape.index(1)
            choices.append((*shape[:one], *shape[one + 1 :]))
        choices = [c for c in choices if len(c) <= MAX_RANK and c[-1:] != (DYNAMIC,)]
        if not choices:
            return
        y = replace(x, shape=self.random.choice(choices))
        self.emit(f"fuseops.reshape {x.name} : {x.type} -> {y.type}", y)
