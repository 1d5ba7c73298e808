# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an entry of the table is: an operation, its variants, and for each a way to make a case.

A case is one program with an oracle: a torch function that runs in f64, whose autograd gives the
gradients. Nothing in an oracle comes from FuseOps.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from conformance.runner import DTYPES, FLOATS
from conformance.tolerance import UNIT_ROUNDOFF, UNITS

# The extent of `?` is "M" in a shape.
Shape = tuple[int | str, ...]
Oracle = Callable[..., Tensor | Sequence[Tensor]]


def tensor(shape: Shape, dtype: str) -> str:
    """The IR's name of a tensor type."""
    return f"tensor<{''.join('?x' if d == 'M' else f'{d}x' for d in shape)}{dtype}>"


def spell(shape: Shape) -> str:
    """A shape as a person writes it."""
    return "x".join("?" if d == "M" else str(d) for d in shape) or "scalar"


def extents(shape: Shape, size: int) -> tuple[int, ...]:
    """The shape for a value of `?`."""
    return tuple(size if d == "M" else d for d in shape)


def stat(dtype: str) -> str:
    """The element type of a norm's statistics, and of what a body computes in."""
    return "f64" if dtype == "f64" else "f32"


@dataclass
class Arg:
    """An argument. Floats: normal numbers times `scale` plus `offset`, or uniform in `range`;
    integers: uniform in `range`, both ends included, or the dtype's whole range."""

    shape: Shape
    dtype: str
    scale: float = 1.0
    offset: float = 0.0
    range: tuple[float, float] | None = None
    # An integer that counts or chooses: the oracle takes it as it is.
    index: bool = False
    # The magnitude stays this far away from 0, where a function has a pole.
    away: float = 0.0

    def sample(self, generator: torch.Generator, size: int) -> Tensor:
        """Numbers that the dtype holds exactly."""
        shape, kind = extents(self.shape, size), DTYPES[self.dtype]
        if kind == torch.bool:
            return torch.randint(0, 2, shape, generator=generator).bool()
        if not kind.is_floating_point:
            info = torch.iinfo(kind)
            low, high = self.range or (max(info.min, -(2**31)), min(info.max, 2**31))
            low, high = max(int(low), info.min), min(int(high), info.max)
            return torch.randint(low, high + 1, shape, generator=generator).to(kind)
        if self.range:
            low, high = self.range
            values = torch.rand(shape, generator=generator, dtype=torch.float64)
            # Rounding must not leave the range.
            values = values * (high - low) * 0.98 + low + (high - low) * 0.01
        else:
            values = torch.randn(shape, generator=generator, dtype=torch.float64)
            values = values * self.scale + self.offset
        if self.away:
            values = torch.where(values.abs() < self.away, self.away * 1.1, values)
        return values.to(kind)


@dataclass
class Case:
    """A program: `body` defines %r0, %r1, … from %a0, %a1, …; `oracle` does the same on tensors."""

    args: list[Arg]
    results: list[tuple[Shape, str]]
    body: str
    oracle: Oracle
    # Results through which nothing is differentiated.
    frozen: list[int] = field(default_factory=list)
    # Arguments that nobody differentiates by, as attributes: their number and the attribute.
    attributes: dict[int, str] = field(default_factory=dict)
    # See tolerance.py.
    units: float = UNITS
    roundings: int = 0
    cancels: bool = False
    # How far the oracle may be off, of value and condition: torch isn't exact everywhere in f64.
    inexact: float = 0.0
    # Types that the body rounds to, besides those of arguments and results.
    inside: tuple[str, ...] = ()
    # Fusibles that the program applies.
    callees: str = ""
    # Whether backward takes a gradient for frozen results too: then it gets zeros.
    whole: bool = False
    # What torch itself does with NaN and infinities, where the oracle is another formula.
    eager: Oracle | None = None

    def text(self) -> str:
        """The program's IR."""
        args = ", ".join(
            f"%a{i}: {tensor(a.shape, a.dtype)}{self.attributes.get(i, '')}"
            for i, a in enumerate(self.args)
        )
        types = ", ".join(tensor(*r) for r in self.results)
        values = ", ".join(f"%r{i}" for i in range(len(self.results)))
        attributes = ""
        if self.frozen:
            indices = ", ".join(map(str, self.frozen))
            attributes = f" attributes {{frozen_results = array<i64: {indices}>}}"
        return (
            f"{self.callees}\nfuseops.fusible @main({args}) -> ({types}){attributes}\n"
            f"forward {{\n{self.body}\nfuseops.return {values} : {types}\n}}\n"
        )

    def variables(self) -> list[int]:
        """The numbers of the arguments that one differentiates by."""
        return [
            i for i, a in enumerate(self.args) if a.dtype in FLOATS and i not in self.attributes
        ]

    def dtypes(self) -> set[str]:
        """Those of arguments and results."""
        return {a.dtype for a in self.args} | {d for _, d in self.results}

    def result_dtypes(self) -> list[str]:
        """One a result."""
        return [d for _, d in self.results]

    def compute(self) -> str:
        """The widest type is computed in, f32 at least."""
        return "f64" if "f64" in self.dtypes() else "f32"

    def narrowest(self) -> str:
        """The type that loses most."""
        dtypes = {*self.dtypes(), *self.inside} & set(FLOATS)
        return max(dtypes, key=UNIT_ROUNDOFF.get, default="f64")

    def samples(self, size: int, seed: int) -> list[Tensor]:
        """Arguments for a value of `?`."""
        generator = torch.Generator().manual_seed(seed * 1009 + size)
        return [a.sample(generator, size) for a in self.args]

    def widened(self, arrays: Sequence[Tensor]) -> list[Tensor]:
        """The arguments as the oracle takes them: every float in f64."""
        return [x.double() if x.is_floating_point() else x for x in arrays]

    def evaluate(self, arrays: Sequence[Tensor]) -> list[Tensor]:
        """The oracle's results."""
        outputs = self.oracle(*arrays)
        return [outputs] if isinstance(outputs, Tensor) else list(outputs)

    def incoming(self, results: Sequence[Tensor], seed: int) -> list[Tensor | None]:
        """A gradient for each float result that is not frozen, in the result's dtype."""
        generator = torch.Generator().manual_seed(seed + 77)
        found: list[Tensor | None] = []
        for index, (value, (_, dtype)) in enumerate(zip(results, self.results, strict=True)):
            if index in self.frozen or dtype not in FLOATS:
                found.append(None)
                continue
            draw = torch.randn(value.shape, generator=generator, dtype=torch.float64)
            found.append(draw.to(DTYPES[dtype]))
        return found

    def differentiate(
        self, arrays: Sequence[Tensor], incoming: Sequence[Tensor | None]
    ) -> tuple[list[Tensor], list[Tensor | None]]:
        """The oracle's results, and its gradients by torch's autograd: None where there is none."""
        leaves = [
            x.detach().requires_grad_() if x.is_floating_point() and i not in self.attributes else x
            for i, x in enumerate(arrays)
        ]
        outputs = self.evaluate(leaves)
        pairs = [
            (y, g.to(y.dtype))
            for y, g in zip(outputs, incoming, strict=True)
            if g is not None and y.requires_grad
        ]
        wanted = self.variables()
        gradients: list[Tensor | None] = [None] * len(leaves)
        if pairs and wanted:
            found = torch.autograd.grad(
                [y for y, _ in pairs],
                [leaves[i] for i in wanted],
                [g for _, g in pairs],
                allow_unused=True,
            )
            for index, gradient in zip(wanted, found, strict=True):
                gradients[index] = gradient
        return [y.detach() for y in outputs], gradients

    def as_eager(self) -> Case:
        """The case with torch's own function."""
        other = copy.copy(self)
        other.oracle = self.eager or self.oracle
        return other

    def is_dynamic(self) -> bool:
        """Whether it has a `?`."""
        return any("M" in a.shape for a in self.args)

    def chained(self) -> Case | None:
        """This case between two pointwise operations and a residual; None if it has no float."""
        before, variables = "", self.variables()
        body = re.sub(r"%a(\d+)\b", r"%p\1", self.body)
        body = re.sub(r"%r(\d+)\b", r"%q\1", body)
        for i, a in enumerate(self.args):
            if i in variables:
                before += f"%p{i} = fuseops.scale %a{i} by(0.75) : {tensor(a.shape, a.dtype)}\n"
            else:
                body = re.sub(rf"%p{i}\b", f"%a{i}", body)
        after = ""
        smooth = [d in FLOATS for _, d in self.results]
        if not variables or not any(smooth):
            return None
        for i, (shape, dtype) in enumerate(self.results):
            t = tensor(shape, dtype)
            if smooth[i]:
                after += (
                    f"%u{i} = fuseops.silu %q{i} : {t}\n"
                    f"%r{i} = fuseops.add %u{i}, %q{i} : {t}, {t} -> {t}\n"
                )
            else:
                after = re.sub(rf"%q{i}\b", f"%r{i}", after)
                body = re.sub(rf"%q{i}\b", f"%r{i}", body)

        def oracle(*arrays: Tensor) -> list[Tensor]:
            given = [x * 0.75 if i in variables else x for i, x in enumerate(arrays)]
            return [
                torch.nn.functional.silu(y) + y if s else y
                for y, s in zip(self.evaluate(given), smooth, strict=True)
            ]

        return Case(
            self.args,
            self.results,
            before + body + "\n" + after,
            oracle,
            frozen=self.frozen,
            attributes=self.attributes,
            units=self.units * 2,
            roundings=self.roundings + 3,
            cancels=self.cancels,
            inexact=self.inexact,
            inside=self.inside,
            callees=self.callees,
        )


Build = Callable[[Shape, str], Case]


@dataclass(frozen=True)
class Variant:
    """One form of an operation: what makes its case, and what of the suite applies to it."""

    build: Build
    dtypes: Sequence[str] = FLOATS
    # What shapes mean to it.
    min_rank: int = 0
    max_rank: int = 5
    empty_columns: bool = True
    empty: bool = True
    # What does not apply, and why.
    excluded: dict[str, str] = field(default_factory=dict)
    # Whether NaN, infinities and zeros are torch's business with it.
    special: bool = True

    def takes(self, shape: Shape) -> bool:
        """Whether a shape of the grid makes sense for it."""
        if not self.min_rank <= len(shape) <= self.max_rank or (0 in shape and not self.empty):
            return False
        return not shape or shape[-1] != 0 or self.empty_columns


# The operations, each with its variants by name.
TABLE: dict[str, dict[str, Variant]] = {}


def add(op: str, name: str, made: Variant) -> None:
    """Puts a variant into the table."""
    variants = TABLE.setdefault(op, {})
    assert name not in variants, f"{op} {name} is there already"
    variants[name] = made


def variant(op: str, name: str = "", **options: object) -> Callable[[Build], Build]:
    """Puts a function into the table."""

    def decorate(build: Build) -> Build:
        add(op, name, Variant(build, **options))
        return build

    return decorate
