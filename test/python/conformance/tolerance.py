# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How far a result may be from the f64 oracle: every tolerance of the suite is derived here.

A result y = f(x), stored with unit roundoff s and computed with unit roundoff c, may be off by

    s |y|                       its own rounding
  + units c (|y| + cond)        the computation
  + r s' (|y| + cond)           r values in between that a program rounds to a type
  + i (|y| + cond)              where torch's f64 is off by i itself
  + the smallest number of the storage type.

`cond` is how much y moves when every input moves by a relative amount of 1, to first order: a sum
of terms that cancel, or exp of a large number, has a large one. It is measured, not guessed: the
oracle runs on inputs that are off by +-d and by +-2d, and the difference of the two is divided by
d. The signs are one an input in all combinations that matter for a function of two or three
scalars, then random. A jump (a tie, a bound) is in both and falls out, so it excuses nothing.

Where terms cancel inside a formula that is fine as a whole (the gradient of a norm), or an element
is a long sum (a product), a case says `cancels`: `cond` is then also at least how far the oracle is
off when it runs in f32, over f32's c, and at least its own root mean square over the tensor.

Where values in between are rounded to a narrow type, an element next to a jump may fall to the
other side of it: `reach` gives the least and the largest value that the oracle has when its inputs
are off by such a rounding, and what lies between them is right.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

UNIT_ROUNDOFF = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
SMALLEST = {"f64": 2.0**-1074, "f32": 2.0**-149, "f16": 2.0**-24, "bf16": 2.0**-133}
# Units of the compute type that a computation may be off, unless an entry says otherwise.
UNITS = 8.0
# Of central differences with a step of about 1e-5: relative to value and root mean square.
DIFFERENCES = 2e-7
_STEP = 2.0**-24
_DRAWS = 7

Function = Callable[[Sequence[Tensor]], list[Tensor | None]]


def _distance(far: Tensor, near: Tensor, unit: float) -> Tensor:
    return ((far.double() - near.double()) / unit).abs().nan_to_num(0.0, 0.0, 0.0)


def _narrow(x: Tensor) -> Tensor:
    return x.float() if x.is_floating_point() else x


def _signs(x: Tensor, index: int, draw: int, generator: torch.Generator) -> Tensor | None:
    """+-1 for each element: a draw of 0 to 3 has one sign an input, the others are random."""
    if not x.is_floating_point():
        return None
    if draw < 4:
        negative = draw * index % 4 >> 1 if draw == 3 else index >> draw & 1
        return torch.tensor(-1.0 if negative else 1.0, dtype=torch.float64)
    return torch.randint(0, 2, x.shape, generator=generator, dtype=torch.float64) * 2 - 1


def conditions(
    function: Function, inputs: Sequence[Tensor], seed: int, cancels: bool = False
) -> list[Tensor | None]:
    """For each output of `function`, how far it moves with the inputs; with `cancels` also how far
    it is off in f32."""
    generator = torch.Generator().manual_seed(seed)
    found: list[Tensor | None] = []
    for draw in range(_DRAWS):
        signs = [_signs(x, i, draw, generator) for i, x in enumerate(inputs)]
        ends = []
        for step in (_STEP, 2 * _STEP):
            moved = [
                x if s is None else x * (1 + step * s) for x, s in zip(inputs, signs, strict=True)
            ]
            ends.append(function(moved))
        pairs = [(*pair, _STEP) for pair in zip(*ends, strict=True)]
        if cancels and draw % 2:
            narrow = [_narrow(x) for x in moved]
            exact = [x.double() if x.is_floating_point() else x for x in narrow]
            unit = UNIT_ROUNDOFF["f32"]
            rough = zip(function(exact), function(narrow), strict=True)
            pairs += [(*pair, unit) for pair in rough]
        count = len(ends[0])
        for number, (near, far, unit) in enumerate(pairs):
            index, size = number % count, None
            if near is not None and near.is_floating_point():
                size = _distance(far, near, unit)
            if index == len(found):
                found.append(size)
            elif size is not None:
                found[index] = torch.maximum(found[index], size)
    return [smoothed(c) if cancels and c is not None else c for c in found]


def reach(
    function: Function, inputs: Sequence[Tensor], unit: float, seed: int
) -> list[tuple[Tensor, Tensor] | None]:
    """For each output of `function`, the least and the largest value of each element when every
    input is off by up to a relative `unit`."""
    generator = torch.Generator().manual_seed(seed)
    found = [None if y is None else (y.double(), y.double()) for y in function(inputs)]
    for draw in range(2 * _DRAWS):
        signs = [_signs(x, i, draw, generator) for i, x in enumerate(inputs)]
        moved = [x if s is None else x * (1 + unit * s) for x, s in zip(inputs, signs, strict=True)]
        for index, y in enumerate(function(moved)):
            if y is not None and found[index] is not None:
                low, high = found[index]
                found[index] = torch.fmin(low, y.double()), torch.fmax(high, y.double())
    return found


def smoothed(condition: Tensor) -> Tensor:
    """At least the root mean square: no element of a tensor of sums is better than the others."""
    if not condition.numel():
        return condition
    return torch.maximum(condition, condition.square().mean().sqrt())


def allowed(
    want: Tensor,
    condition: Tensor | None,
    store: str,
    compute: str,
    *,
    units: float = UNITS,
    between: tuple[int, str] = (0, "f64"),
    inexact: float = 0.0,
) -> Tensor:
    """How far each element may be from `want`. `store` is f64 where nothing is rounded; `between`
    counts roundings of values in between and names the type that they are rounded to; `inexact` is
    the oracle's own error."""
    size = want.double().abs().nan_to_num(0.0, 0.0, 0.0)
    moves = size if condition is None else size + condition
    unit = UNIT_ROUNDOFF[store]
    return (
        1.01 * unit * size
        + UNIT_ROUNDOFF[compute] * units * moves
        + UNIT_ROUNDOFF[between[1]] * between[0] * moves
        + inexact * moves
        + SMALLEST[store]
    )


def compare(name: str, got: Tensor, want: Tensor, tolerance: Tensor | None) -> list[str]:
    """A line if `got` is not `want`: NaN for NaN, the same infinities, the rest within the
    tolerance, or equal where there is none."""
    got = got.detach().cpu()
    if tuple(got.shape) != tuple(want.shape):
        return [f"{name}: expected shape {tuple(want.shape)}, got {tuple(got.shape)}"]
    if tolerance is None and got.dtype != want.dtype:
        return [f"{name}: expected dtype {want.dtype}, got {got.dtype}"]
    if not got.is_floating_point() and tolerance is None:
        bad = got != want
        excess = bad.double()
    else:
        got, want = got.double(), want.double()
        distance = (got - want).abs()
        bad = ~((got == want) | (got.isnan() & want.isnan()))
        if tolerance is not None:
            bad &= ~(distance <= tolerance)
        limit = torch.zeros_like(want) if tolerance is None else tolerance
        excess = torch.where(bad, (distance / limit).nan_to_num(torch.inf), 0.0)
    if not bad.any():
        return []
    worst = int(excess.argmax()) if excess.numel() > 1 else 0
    where = tuple(int(i) for i in torch.unravel_index(torch.tensor(worst), want.shape))
    limit = "" if tolerance is None else f" within {float(tolerance[where]):.3g}"
    return [
        f"{name}: {int(bad.sum())} of {got.numel()} wrong, at {where} got {got[where].item()!r}, "
        f"expected {want[where].item()!r}{limit}"
    ]
