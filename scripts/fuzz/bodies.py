# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes random bodies of `fuseops.pointwise`: floats, integers and masks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

INTEGERS = ("i8", "i16", "i32", "i64")
# Integers up to this size are the same in every float type.
EXACT_INTEGER = 100.0
# Larger floats are not read again.
LARGEST = 1e4
# Nor is the sine of a larger one, in a program that has values of a type: where
# roundings turn an angle, nothing is left that could be right or wrong. A value is as
# large as its size most of the time, and much larger, as powers of it are, at times.
LARGEST_ANGLE = {"bf16": 1.0, "f16": 4.0, "f32": 64.0, "f64": LARGEST}
SINE, COSINE = "math.sin {a} : {t}", "math.cos {a} : {t}"
# Functions of one float that have no kink, by how large their result may be for
# an argument of a size. `{a}` is the operand, `{t}` the type.
SMOOTH = {
    "math.tanh {a} : {t}": lambda size: 1.0,
    SINE: lambda size: 1.0,
    COSINE: lambda size: 1.0,
    "math.atan {a} : {t}": lambda size: 1.5,
    "math.erf {a} : {t}": lambda size: 1.0,
    "arith.negf {a} : {t}": lambda size: size,
}
# The same for arguments of 1 or more.
POSITIVE = {
    "math.sqrt {a} : {t}": lambda size: size**0.5,
    "math.rsqrt {a} : {t}": lambda size: 1.0,
    "math.log {a} : {t}": lambda size: 1 + size**0.25,
    "math.log1p {a} : {t}": lambda size: 1 + size**0.25,
    "math.cbrt {a} : {t}": lambda size: size**0.5,
    "fuseops.special lgamma({a}) : {t}": lambda size: size**1.5,
}
BOUNDED = {
    "math.exp {a} : {t}": lambda size: 3.0,
    "math.expm1 {a} : {t}": lambda size: 2.0,
    "math.exp2 {a} : {t}": lambda size: 2.0,
    "fuseops.special i0e({a}) : {t}": lambda size: 1.0,
    "fuseops.special i1e({a}) : {t}": lambda size: 1.0,
    "fuseops.special erfcx({a}) : {t}": lambda size: 5.0,
    "fuseops.special sinc({a}) : {t}": lambda size: 1.0,
}


@dataclass(frozen=True)
class Scalar:
    """A value of the body; see `values.Value`."""

    name: str
    dtype: str
    trains: bool
    exact: bool
    size: float


class BodyWriter:
    """Writes one body of a program with values of `dtypes`; `lines` holds it."""

    def __init__(
        self, generator: random.Random, compute: str, trains: bool, dtypes: Sequence[str]
    ) -> None:
        self.random = generator
        self.largest_angle = min(LARGEST_ANGLE[dtype] for dtype in dtypes)
        self.compute = compute
        self.trains = trains
        self.lines: list[str] = []
        self.scalars: list[Scalar] = []

    def emit(self, text: str, dtype: str, exact: bool, size: float, *of: Scalar) -> Scalar:
        trains = all(scalar.trains for scalar in of if scalar.dtype == self.compute)
        scalar = Scalar(f"%s{len(self.lines)}", dtype, trains, exact, size)
        self.lines.append(f"{scalar.name} = {text}")
        self.scalars.append(scalar)
        return scalar

    def constant(self, number: float, dtype: str) -> Scalar:
        text = f"{float(number)!r}" if dtype == self.compute else str(int(number))
        scalar = self.emit(f"arith.constant {text} : {dtype}", dtype, True, abs(number))
        self.scalars.pop()
        return scalar

    def pick(self, *dtypes: str) -> Scalar | None:
        found = [
            scalar
            for scalar in self.scalars
            if scalar.dtype in dtypes and (scalar.dtype != self.compute or scalar.size <= LARGEST)
        ]
        return self.random.choice(found) if found else None

    def float(self, a: Scalar, text: str, size: float, *others: Scalar) -> Scalar:
        """An operation on floats that rounds."""
        names = {"a": a.name, "t": self.compute}
        names |= {"bcd"[i]: other.name for i, other in enumerate(others)}
        return self.emit(text.format(**names), self.compute, False, size, a, *others)

    def smooth(self, a: Scalar) -> None:
        table = self.random.choice((SMOOTH, POSITIVE, BOUNDED))
        if table is POSITIVE:
            one = self.constant(1.0, self.compute)
            a = self.float(a, "math.fma {a}, {a}, {b} : {t}", a.size**2 + 1, one)
        text, grow = self.random.choice(list(table.items()))
        is_turn = text in (SINE, COSINE) and a.size > self.largest_angle
        if table is BOUNDED or is_turn:
            a = self.float(a, "math.tanh {a} : {t}", 1.0)
        self.float(a, text, grow(a.size))

    def arithmetic(self, a: Scalar) -> None:
        b, c = self.pick(self.compute), self.pick(self.compute)
        choice = self.random.randrange(6)
        if choice < 3:
            name, size = (
                ("addf", a.size + b.size),
                ("subf", a.size + b.size),
                ("mulf", a.size * b.size),
            )[choice]
            self.float(a, f"arith.{name} {{a}}, {{b}} : {{t}}", size, b)
        elif choice == 3:
            self.float(a, "math.fma {a}, {b}, {c} : {t}", a.size * b.size + c.size, b, c)
        elif choice == 4:
            one = self.constant(1.0, self.compute)
            bottom = self.float(b, "math.fma {a}, {a}, {b} : {t}", b.size**2 + 1, one)
            self.float(a, "arith.divf {a}, {b} : {t}", a.size, bottom)
        else:
            half = self.constant(0.5, self.compute)
            if a.exact:
                base = self.float(a, "math.absf {a} : {t}", a.size)
                base = self.float(base, "arith.addf {a}, {b} : {t}", a.size + 1, half)
            else:
                base = self.float(a, "math.fma {a}, {a}, {b} : {t}", a.size**2 + 1, half)
            power = self.constant(self.random.choice((0.5, 1.5, 2.0, -1.0)), self.compute)
            self.float(base, "math.powf {a}, {b} : {t}", base.size**2 + 2, power)

    def kinked(self, a: Scalar) -> None:
        """What jumps, or has a gradient that does: of exact floats only."""
        b = self.pick(self.compute)
        if not a.exact or not b.exact or a == b:
            return
        name = self.random.choice(("maximumf", "minimumf", "cmpf", "cmpf", "absf", "floor", "int"))
        size = max(a.size, b.size)
        if name == "cmpf":
            kind = self.random.choice(("ogt", "olt", "oge", "ole", "oeq", "une"))
            self.emit(f"arith.cmpf {kind}, {a.name}, {b.name} : {self.compute}", "i1", True, 1.0)
        elif name == "absf":
            self.emit(f"math.absf {a.name} : {self.compute}", self.compute, True, size, a)
        elif name == "floor":
            self.emit(f"math.floor {a.name} : {self.compute}", self.compute, True, size + 1, a)
        elif name == "int" and a.size < EXACT_INTEGER:
            dtype = self.random.choice(INTEGERS)
            self.emit(f"arith.fptosi {a.name} : {self.compute} to {dtype}", dtype, True, a.size + 5)
        elif name in ("maximumf", "minimumf"):
            text = f"arith.{name} {a.name}, {b.name} : {self.compute}"
            self.emit(text, self.compute, True, size, a, b)

    def integer(self, a: Scalar) -> None:
        b = self.pick(a.dtype)
        if a.dtype == "i1":
            name = self.random.choice(("andi", "ori", "xori"))
            self.emit(f"arith.{name} {a.name}, {b.name} : i1", "i1", True, 1.0)
            return
        choice = self.random.randrange(8)
        if choice == 7:
            kind = self.random.choice(("eq", "ne", "slt", "sge"))
            self.emit(f"arith.cmpi {kind}, {a.name}, {b.name} : {a.dtype}", "i1", True, 1.0)
            return
        names = ("addi", "subi", "muli", "maxsi", "minsi", "andi", "xori")
        size = a.size * b.size if choice == 2 else a.size + b.size
        self.emit(f"arith.{names[choice]} {a.name}, {b.name} : {a.dtype}", a.dtype, True, size)

    def select(self, mask: Scalar) -> None:
        a = self.pick(self.compute, *INTEGERS)
        if a is None:
            return
        b = self.pick(a.dtype)
        text = f"arith.select {mask.name}, {a.name}, {b.name} : {a.dtype}"
        self.emit(text, a.dtype, a.exact and b.exact, max(a.size, b.size), a, b)

    def to_float(self, a: Scalar) -> None:
        if a.dtype != "i1" and a.size > EXACT_INTEGER:
            return
        name = "uitofp" if a.dtype == "i1" else "sitofp"
        text = f"arith.{name} {a.name} : {a.dtype} to {self.compute}"
        self.emit(text, self.compute, True, a.size)

    def position(self) -> None:
        name = self.random.choice(("linear_index", "column_index"))
        index = self.emit(f"fuseops.{name} : i64", "i64", True, 1e6)
        seven = self.constant(7, "i64")
        self.emit(f"arith.remui {index.name}, {seven.name} : i64", "i64", True, 6.0)

    def step(self) -> None:
        if self.random.random() < 0.04:
            self.position()
        a = self.pick(self.compute, "i1", *INTEGERS)
        if a is None:
            return
        if a.dtype == self.compute:
            self.random.choice((self.smooth, self.arithmetic, self.arithmetic, self.kinked))(a)
        elif a.dtype == "i1" and self.random.random() < 0.6:
            self.select(a)
        else:
            self.random.choice((self.integer, self.to_float))(a)

    def write(self, operands: Sequence, floats: Sequence[str]) -> list[Scalar]:
        """Fills `lines` for operands `%o0`, … and returns the results, floats
        of any of the types `floats`."""
        for i, value in enumerate(operands):
            dtype = self.compute if value.is_float else value.dtype
            self.scalars.append(Scalar(f"%o{i}", dtype, value.trains, value.exact, value.size))
        for _ in range(self.random.randint(2, 8)):
            self.step()
        chosen = [self.scalars[-1]]
        if self.random.random() < 0.4:
            chosen.append(self.random.choice(self.scalars))
        types = ", ".join(scalar.dtype for scalar in chosen)
        self.lines.append(f"fuseops.yield {', '.join(s.name for s in chosen)} : {types}")
        results = []
        for scalar in chosen:
            dtype = scalar.dtype
            if dtype == self.compute:
                dtype = self.random.choice(floats)
                # A rounding to fewer bits may differ.
                exact = scalar.exact and dtype in ("f32", "f64")
                results.append(replace(scalar, dtype=dtype, exact=exact))
            else:
                results.append(scalar)
        return results
