# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds a program around some operations, runs it, and compares it with the oracle."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import oracle
import runner
from oracle import Array, Node

# The extent of `?` is "M" in a shape.
Shape = tuple[int | str, ...]

UNIT_ROUNDOFF = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
SMALLEST = {"f64": 2.0**-1074, "f32": 2.0**-149, "f16": 2.0**-24, "bf16": 2.0**-133}


def tensor(shape: Shape, dtype: str) -> str:
    """The IR's name of a tensor type."""
    return f"tensor<{''.join('?x' if d == 'M' else f'{d}x' for d in shape)}{dtype}>"


def stat(dtype: str) -> str:
    """The element type of a norm's statistics."""
    return "f64" if dtype == "f64" else "f32"


@dataclass
class Arg:
    """An argument: normal numbers times `scale` plus `offset`, moved into `range` if given."""

    shape: Shape
    dtype: str
    scale: float = 1.0
    offset: float = 0.0
    range: tuple[float, float] | None = None

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Numbers that the dtype holds exactly."""
        extents = tuple(size if d == "M" else d for d in self.shape)
        if self.range:
            values = rng.uniform(*self.range, extents)
        else:
            values = rng.standard_normal(extents) * self.scale + self.offset
        return np.asarray(values).astype(runner.DTYPES[self.dtype])


@dataclass
class Spec:
    """A program: `body` defines %r0, %r1, … from %a0, %a1, …; `oracle` does the same on Nodes."""

    args: list[Arg]
    results: list[tuple[Shape, str]]
    body: str
    oracle: Callable[..., Node | Sequence[Node]]
    # How often a value is rounded to the storage type before the last rounding.
    roundings: int = 0
    # The longest sum besides those over rows and columns.
    terms: int = 1
    # Results through which nothing is differentiated.
    frozen: list[int] = field(default_factory=list)
    # Fusibles that the program applies.
    callees: str = ""
    # Of a function that is hard to compute: how many units of the compute type it may be off.
    units: float = 16.0

    def text(self) -> str:
        """The program's IR."""
        args = ", ".join(f"%a{i}: {tensor(a.shape, a.dtype)}" for i, a in enumerate(self.args))
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


def allowed(
    want: Array, dtypes: tuple[str, str], terms: float, roundings: int, units: float
) -> Array:
    """How far each element may be from `want`, for the dtypes of storage and computation: a
    rounding of storage, the roundings of the computation, which grow with the root of the number of
    terms, and those in between."""
    store, unit = UNIT_ROUNDOFF[dtypes[0]], UNIT_ROUNDOFF[dtypes[1]]
    finite = want[np.isfinite(want)]
    rms = float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0
    size = np.where(np.isfinite(want), np.abs(want), 0.0)
    return (
        store * 1.01 * size
        + unit * (units * (size + rms) + 4.0 * terms**0.5 * rms)
        + store * roundings * 3.0 * (size + rms)
        + SMALLEST[dtypes[0]]
    )


def compare(name: str, got: Array, want: Array, tolerance: Array) -> list[str]:
    """A line if `got` is not `want`."""
    got = np.asarray(got, np.float64)
    if got.shape != want.shape:
        return [f"{name}: expected shape {want.shape}, got {got.shape}"]
    with np.errstate(invalid="ignore"):
        bad = ~((np.abs(got - want) <= tolerance) | (got == want))
    bad &= ~(np.isnan(got) & np.isnan(want))
    if not bad.any():
        return []
    with np.errstate(invalid="ignore", divide="ignore"):
        excess = np.nan_to_num(np.where(bad, np.abs(got - want) / tolerance, 0.0), nan=np.inf)
    worst = np.unravel_index(np.argmax(excess), got.shape)
    return [
        f"{name}: {int(bad.sum())} of {got.size} wrong, at {tuple(map(int, worst))} "
        f"got {got[worst]!r}, expected {want[worst]!r} within {tolerance[worst]:.3g}"
    ]


def check(spec: Spec, target: str, sizes: Sequence[int], seed: int = 0) -> list[str]:
    """Runs forward and backward for each size; what disagrees with the oracle."""
    program = runner.compile_ir(spec.text(), target)
    failures = []
    for size in sizes:
        failures += [
            f"{target} M={size} {f}" for f in _check_size(spec, program, target, size, seed)
        ]
    return failures


def _check_size(
    spec: Spec, program: runner.Checked, target: str, size: int, seed: int
) -> list[str]:
    rng = np.random.default_rng(seed * 1000 + size)
    arrays = [a.sample(rng, size) for a in spec.args]
    nodes = [Node(np.asarray(a, np.float64)) for a in arrays]
    with np.errstate(all="ignore"):
        expected = spec.oracle(*nodes)
    expected = [expected] if isinstance(expected, Node) else list(expected)
    results, saved = program.forward(*arrays)
    elements = [a.size // max(1, a.shape[-1] if a.ndim else 1) for a in arrays]
    columns = [a.shape[-1] if a.ndim else 1 for a in arrays]
    terms = max(1, spec.terms, *elements, *columns)
    exact = target == "reference"

    def judge(name: str, got: Array, want: Array, dtype: str) -> list[str]:
        # Of all dtypes of the program the widest is computed in, f32 at least.
        dtypes = {a.dtype for a in spec.args} | {d for _, d in spec.results}
        compute = "f64" if exact or "f64" in dtypes else "f32"
        limit = allowed(
            want,
            ("f64" if exact else dtype, compute),
            terms,
            0 if exact else spec.roundings,
            spec.units,
        )
        return compare(name, got, want, limit)

    failures = []
    if len(results) != len(expected):
        return [f"expected {len(expected)} results, got {len(results)}"]
    for index, (got, want, (_, dtype)) in enumerate(
        zip(results, expected, spec.results, strict=True)
    ):
        failures += judge(f"result {index}", got, want.value, dtype)
    if not program.has("backward"):
        return [*failures, "no backward"]
    incoming: list[Array | None] = []
    for index, (want, (_, dtype)) in enumerate(zip(expected, spec.results, strict=True)):
        values = rng.standard_normal(want.shape).astype(runner.DTYPES[dtype])
        incoming.append(None if index in spec.frozen else values)
    grads = program.gradients([g for g in incoming if g is not None], saved)
    with np.errstate(all="ignore"):
        wanted = oracle.gradients(expected, incoming, nodes)
    for index, (got, want, argument) in enumerate(zip(grads, wanted, spec.args, strict=True)):
        if got is None or want is None:
            if (got is None) != (want is None):
                failures.append(f"gradient {index}: expected {want}, got {got}")
            continue
        failures += judge(f"gradient {index}", got, np.asarray(want), argument.dtype)
    return failures
