# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checks that every entry goes through: each gives a list of what is wrong."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from conformance import runner, tolerance
from conformance.case import Arg, Case, Shape, tensor
from conformance.runner import FLOATS, Checked
from conformance.tolerance import allowed, compare

NAN, INF = float("nan"), float("inf")
TINY = 2.0**-130  # A denormal of f32 and bf16.
SPECIAL = (NAN, INF, -INF, 0.0, -0.0, 1.5, -3.0, TINY, -TINY)


# The least and the largest value that each element may have.
Span = tuple[Tensor, Tensor] | None


class Judge:
    """Compares what a program gives with what its case's oracle says."""

    def __init__(self, case: Case, target: str, arrays: Sequence[Tensor]) -> None:
        self._case = case
        self._largest = max(x.numel() for x in arrays)
        self._reference = target == "reference"
        # Stays in f64 from one operation to the next.
        self._store = "f64" if self._reference else None

    def _one(
        self,
        name: str,
        got: Tensor,
        want: Tensor,
        condition: Tensor | None,
        dtype: str,
        *,
        span: Span,
    ) -> list[str]:
        if dtype not in FLOATS:
            # FP8 is moved, not computed: the oracle's f64 holds it exactly.
            is_moved = dtype.startswith("f8") and want.dtype == torch.float64
            return compare(name, got, want.to(runner.DTYPES[dtype]) if is_moved else want, None)
        case = self._case
        # Overflow rounds to infinity.
        rounded = want.to(runner.DTYPES[self._store or dtype]).double()
        want = torch.where(rounded.isinf(), rounded, want)
        if not self._reference and got.dtype != runner.DTYPES[dtype]:
            return [f"{name}: expected dtype {dtype}, got {got.dtype}"]
        # A sum of n terms is off by another root of n.
        terms = self._largest / max(1, want.numel())
        if terms > 1 and condition is not None:
            condition = tolerance.smoothed(condition)
        if span is not None and got.shape == want.shape:
            # What lies in the span is right; what doesn't, is compared with its end.
            near = torch.fmin(torch.fmax(got.detach().cpu().double(), span[0]), span[1])
            want = torch.where(want.isfinite() & near.isfinite(), near, want)
        limit = allowed(
            want,
            condition,
            self._store or dtype,
            case.compute(),
            units=case.units + max(terms, 1.0) ** 0.5,
            between=(0 if self._reference else case.roundings, case.narrowest()),
            inexact=case.inexact,
        )
        return compare(name, got, want, limit)

    def results(
        self,
        got: Sequence[Tensor],
        want: Sequence[Tensor],
        conditions: Sequence[Tensor | None],
        spans: Sequence[Span],
    ) -> list[str]:
        """What is wrong with forward."""
        dtypes = self._case.result_dtypes()
        if len(got) != len(want):
            return [f"expected {len(want)} results, got {len(got)}"]
        failures = []
        for index, (*item, span) in enumerate(
            zip(got, want, conditions, dtypes, spans, strict=True)
        ):
            failures += self._one(f"result {index}", *item, span=span)
        return failures

    def gradients(
        self,
        got: Sequence[Tensor | None],
        want: Sequence[Tensor | None],
        conditions: Sequence[Tensor | None],
        spans: Sequence[Span],
    ) -> list[str]:
        """What is wrong with backward. Where torch has a tensor of zeros ours may be None, but not
        the other way round."""
        failures = []
        for index, (g, w, c, s) in enumerate(zip(got, want, conditions, spans, strict=True)):
            name = f"gradient {index}"
            if self._case.whole and index in self._case.attributes:
                continue
            if g is None:
                if w is not None and bool(w.ne(0).any()):
                    failures.append(f"{name}: expected a tensor, got none")
            elif w is None:
                if self._case.whole and not g.ne(0).any():
                    continue
                failures.append(f"{name}: expected none, got a tensor")
            else:
                failures += self._one(name, g, w, c, self._case.args[index].dtype, span=s)
        return failures


def run(
    case: Case, program: Checked, arrays: Sequence[Tensor], incoming: Sequence[Tensor | None]
) -> tuple[list[Tensor], list[Tensor | None] | None]:
    """Forward and backward; None for the gradients where there is no backward."""
    results, saved = program.forward(*arrays)
    if not program.has("backward"):
        return list(results), None
    return list(results), program.gradients(_given(case, results, incoming), saved)


def _given(
    case: Case, results: Sequence[Tensor], incoming: Sequence[Tensor | None]
) -> list[Tensor]:
    """The gradients that backward takes."""
    if not case.whole:
        return [g for g in incoming if g is not None]
    return [
        torch.zeros_like(y) if g is None else g
        for g, y in zip(incoming, results, strict=True)
        if y.is_floating_point()
    ]


def values(
    case: Case, target: str, sizes: Sequence[int], seed: int = 0, program: Checked | None = None
) -> list[str]:
    """Forward and backward against the oracle, for each value of `?`."""
    program = program or runner.compile_ir(case.text(), target)
    failures = []
    for size in sizes:
        arrays = case.samples(size, seed)
        failures += [f"M={size} {f}" for f in _values(case, program, target, arrays, seed)]
    return failures


def _values(
    case: Case, program: Checked, target: str, arrays: Sequence[Tensor], seed: int
) -> list[str]:
    wide = case.widened(arrays)
    with torch.no_grad():
        shapes = case.evaluate(wide)
    incoming = case.incoming(shapes, seed)
    givens = [g for g in incoming if g is not None]

    def whole(inputs: Sequence[Tensor]) -> list[Tensor | None]:
        arguments, rest = inputs[: len(wide)], list(inputs[len(wide) :])
        gradients = [None if g is None else rest.pop(0) for g in incoming]
        outputs, slopes = case.differentiate(arguments, gradients)
        return [*outputs, *slopes]

    inputs = [*wide, *(g.double() for g in givens)]
    want = whole(inputs)
    cond = tolerance.conditions(whole, inputs, seed, case.cancels)
    spans: list[Span] = [None] * len(want)
    if case.roundings and case.narrowest() in ("f16", "bf16") and target != "reference":
        unit = tolerance.UNIT_ROUNDOFF[case.narrowest()]
        spans = tolerance.reach(whole, inputs, unit, seed)
    count = len(shapes)
    judge = Judge(case, target, [*arrays, *shapes])
    results, gradients = run(case, program, arrays, incoming)
    failures = judge.results(results, want[:count], cond[:count], spans[:count])
    if gradients is None:
        if any(w is not None and w.ne(0).any() for w in want[count:]):
            failures.append("expected a backward, but there is none")
        return failures
    return failures + judge.gradients(gradients, want[count:], cond[count:], spans[count:])


def differences(
    case: Case, target: str, size: int = 3, seed: int = 0, program: Checked | None = None
) -> list[str]:
    """An f64 case's backward against central differences of its own forward, element by element."""
    program = program or runner.compile_ir(case.text(), target)
    if not program.has("backward"):
        return []
    arrays = case.samples(size, seed)
    results, saved = program.forward(*arrays)
    incoming = case.incoming([r.cpu() for r in results], seed)
    gradients = program.gradients(_given(case, results, incoming), saved)
    device = runner.device_of(target)
    weights = [None if g is None else g.to(device) for g in incoming]

    def loss(moved: list[Tensor]) -> float:
        outputs = program.forward(*moved)[0]
        return sum(
            float((o * g).sum()) for o, g in zip(outputs, weights, strict=True) if g is not None
        )

    failures = []
    for number, gradient in enumerate(gradients):
        if gradient is None or arrays[number].dtype != torch.float64:
            continue
        base = arrays[number]
        wanted = torch.empty(base.numel(), dtype=torch.float64)
        for position in range(base.numel()):
            step = 1e-5 * max(1.0, abs(float(base.reshape(-1)[position])))
            ends = []
            for sign in (1.0, -1.0):
                moved = list(arrays)
                moved[number] = base.clone()
                moved[number].view(-1)[position] += sign * step
                ends.append((loss(moved), float(moved[number].view(-1)[position])))
            wanted[position] = (ends[0][0] - ends[1][0]) / (ends[0][1] - ends[1][1])
        wanted = wanted.reshape(base.shape)
        if not wanted.numel():
            continue
        scale = wanted.abs() + wanted.square().mean().sqrt() + 1e-3
        failures += compare(f"difference {number}", gradient, wanted, tolerance.DIFFERENCES * scale)
    return failures


def kinks(case: Case, target: str, seed: int = 0, program: Checked | None = None) -> list[str]:
    """Inputs from a few numbers, so that ties, zeros and bounds are met."""
    program = program or runner.compile_ir(case.text(), target)
    generator = torch.Generator().manual_seed(seed)
    points = torch.tensor([-2.0, -1.0, -0.5, 0.0, 0.0, 0.5, 1.0, 2.0])
    failures = []
    for size in (9, 40):
        arrays = case.samples(size, seed)
        for index, (array, arg) in enumerate(zip(arrays, case.args, strict=True)):
            if array.is_floating_point() and arg.range is None and not arg.away:
                choice = torch.randint(0, len(points), array.shape, generator=generator)
                arrays[index] = points[choice].to(array.dtype)
        failures += [f"M={size} {f}" for f in _values(case, program, target, arrays, seed)]
    return failures


def special(
    case: Case, target: str, excluded: Collection[str] = (), program: Checked | None = None
) -> list[str]:
    """NaN, infinities, zeros of both signs and denormals: the kind of each result and gradient is
    torch's in the same dtype, and numbers are right. `excluded` may hold `sign of zero`, `special
    gradient` and `pairs`, which is that the first two arguments meet in all pairs."""
    program = program or runner.compile_ir(case.text(), target)
    arrays = case.samples(len(SPECIAL) ** 2, 0)
    floats = [i for i, x in enumerate(arrays) if x.is_floating_point() and x.numel()]
    points = torch.tensor(SPECIAL, dtype=torch.float64)
    for order, index in enumerate(floats):
        x = arrays[index]
        count = x.numel()
        tiled = points.repeat(-(-count // len(points)))[:count]
        if order == 1 and "pairs" not in excluded:
            tiled = points.repeat_interleave(len(points)).repeat(-(-count // 81))[:count]
        elif order > 0:
            continue
        arrays[index] = tiled.reshape(x.shape).to(x.dtype)
    with torch.no_grad():
        shapes = case.evaluate(case.widened(arrays))
    incoming = [None if g is None else torch.ones_like(g) for g in case.incoming(shapes, 0)]
    wide = [None if g is None else g.double() for g in incoming]
    exacts = _eager(case, case.widened(arrays), wide)
    kind = case.compute()
    narrow = [x.to(runner.DTYPES[kind]) if x.is_floating_point() else x for x in arrays]
    ways = _eager(case.as_eager(), narrow, incoming)
    # Where terms cancel, how far f32 is off says how far every type may be.
    single = [x.float() if x.is_floating_point() else x for x in arrays]
    rough = case.differentiate(single, [None if g is None else g.float() for g in incoming])
    results, gradients = run(case, program, arrays, incoming)
    failures = []
    sets = [("result", results, 0, case.result_dtypes())]
    if gradients is not None and "special gradient" not in excluded:
        dtypes = [a.dtype for a in case.args]
        sets.append(("gradient", gradients, 1, dtypes))
    for name, got, which, dtypes in sets:
        for index, (value, dtype) in enumerate(zip(got, dtypes, strict=True)):
            if value is None or exacts[0][which][index] is None or dtype not in FLOATS:
                continue
            g = value.cpu()
            off = None
            if case.cancels:
                off = (rough[which][index].double() - exacts[0][which][index]).abs()
                off = (off / tolerance.UNIT_ROUNDOFF["f32"]).nan_to_num(0.0, 0.0, 0.0)
            tried = []
            for way, exact in zip(ways, exacts, strict=True):
                eager, n = way[which][index], exact[which][index]
                lines = _special(f"{name} {index}", g, eager, n, off=off, case=case)
                if name == "result" and "sign of zero" not in excluded:
                    lines += _zeros(f"{name} {index}", g, eager.to(g.dtype), n)
                tried.append(lines)
            failures += min(tried, key=len)
    return failures


Eager = tuple[list[Tensor], list[Tensor | None]]


def _eager(case: Case, arrays: Sequence[Tensor], incoming: Sequence[Tensor | None]) -> list[Eager]:
    """What torch gives, results and gradients: by vector code and, where all tensors are of one
    shape, element by element, which is not always the same."""
    ways = [case.differentiate(arrays, incoming)]
    flat = {tuple(x.shape) for x in (*arrays, *ways[0][0])}
    if len(flat) != 1 or len(next(iter(flat))) != 1:
        return ways
    parts = []
    for i in range(arrays[0].numel()):
        one = [x[i : i + 1] for x in arrays]
        parts.append(
            case.differentiate(one, [None if g is None else g[i : i + 1] for g in incoming])
        )
    results = [torch.cat([p[0][i] for p in parts]) for i in range(len(ways[0][0]))]
    slopes = [
        None if s is None else torch.cat([p[1][i] for p in parts]) for i, s in enumerate(ways[0][1])
    ]
    return [*ways, (results, slopes)]


def _special(
    name: str, got: Tensor, eager: Tensor, exact: Tensor, *, off: Tensor | None, case: Case
) -> list[str]:
    dtype = runner.name_of(got.dtype)
    want = eager.to(got.dtype)
    between = (case.roundings, case.narrowest())
    limit = allowed(
        exact,
        off,
        dtype,
        case.compute(),
        units=case.units,
        between=between,
        inexact=case.inexact,
    )
    # Eager says what is NaN, infinite or 0; the f64 oracle what a number is.
    number = want.isfinite() & exact.isfinite()
    target = torch.where(number, exact, want.double())
    limit = limit + 2 * tolerance.SMALLEST[dtype]
    return compare(name, got, target, limit)


def _zeros(name: str, got: Tensor, eager: Tensor, exact: Tensor) -> list[str]:
    """Zeros whose sign is not that of eager."""
    zero = (eager == 0) & (got == 0) & (exact == 0)
    bad = zero & (eager.signbit() != got.signbit())
    return [f"{name}: {int(bad.sum())} zeros of the other sign"] if bad.any() else []


def roundtrip(case: Case) -> list[str]:
    """What is printed parses to what is printed."""
    once = runner.printed(case.text())
    twice = runner.printed(once)
    return [] if once == twice else ["another text after parsing what was printed"]


def unfused(case: Case, target: str, size: int, seed: int = 0) -> list[str]:
    """The chain of Case.chained in one program against the same in three programs."""
    chain = case.chained()
    if chain is None:
        return []
    before, after = links(case)
    arrays = case.samples(size, seed)
    floats = case.variables()
    smooth = [i for i, (_, d) in enumerate(case.results) if d in FLOATS]

    def forward(kind: Case, given: Sequence[Tensor]) -> tuple[list[Tensor], object]:
        results, saved = runner.compile_ir(kind.text(), target).forward(*given)
        return list(results), saved

    scaled, saved_before = forward(before, [arrays[i] for i in floats])
    inner = list(arrays)
    for i, value in zip(floats, scaled, strict=True):
        inner[i] = value
    middle, saved_middle = forward(case, inner)
    outer, saved_after = forward(after, [middle[i] for i in smooth])
    want = list(middle)
    for i, value in zip(smooth, outer, strict=True):
        want[i] = value
    incoming = chain.incoming([w.cpu() for w in want], seed)
    got, gradients = run(chain, runner.compile_ir(chain.text(), target), arrays, incoming)
    with torch.no_grad():
        conditions = tolerance.conditions(
            lambda x: list(chain.evaluate(x)), chain.widened(arrays), seed, case.cancels
        )
    want = [w.cpu() for w in want]
    spans = [None] * len(want)
    failures = Judge(chain, target, arrays).results(got, want, conditions, spans)
    program = runner.compile_ir(case.text(), target)
    if gradients is None or not program.has("backward"):
        return failures
    # Backward through the three.
    given = [incoming[i] if incoming[i] is not None else None for i in smooth]
    live = [i for i, g in zip(smooth, given, strict=True) if g is not None]
    if len(live) != len(smooth):
        return failures
    from_after = runner.compile_ir(after.text(), target).gradients(given, saved_after)
    from_middle = program.gradients(from_after, saved_middle)
    picked = [from_middle[i] for i in floats]
    if any(g is None for g in picked):
        return failures
    from_before = runner.compile_ir(before.text(), target).gradients(picked, saved_before)
    for i, slope in zip(floats, from_before, strict=True):
        if gradients[i] is None:
            failures.append(f"gradient {i}: none in the chain")
            continue
        wanted = slope.cpu().double()
        size_of = wanted.square().mean().sqrt() if wanted.numel() else 0.0
        limit = allowed(
            wanted,
            size_of + 0 * wanted,
            case.args[i].dtype,
            case.compute(),
            units=64 * case.units,
            between=(chain.roundings, chain.narrowest()),
        )
        failures += compare(f"gradient {i}", gradients[i], wanted, limit)
    return failures


def links(case: Case) -> tuple[Case, Case]:
    """What stands before and after a case in its chain, as programs."""
    floats = [case.args[i] for i in case.variables()]
    shapes: list[tuple[Shape, str]] = [(a.shape, a.dtype) for a in floats]
    lines = [f"%r{i} = fuseops.scale %a{i} by(0.75) : {tensor(*s)}" for i, s in enumerate(shapes)]
    before = Case([replace(a) for a in floats], shapes, "\n".join(lines), lambda *x: x)
    smooth = [r for r in case.results if r[1] in FLOATS]
    lines = []
    for i, r in enumerate(smooth):
        t = tensor(*r)
        lines.append(f"%u{i} = fuseops.silu %a{i} : {t}")
        lines.append(f"%r{i} = fuseops.add %u{i}, %a{i} : {t}, {t} -> {t}")
    after = Case([Arg(*r) for r in smooth], smooth, "\n".join(lines), lambda *x: x)
    return before, after
