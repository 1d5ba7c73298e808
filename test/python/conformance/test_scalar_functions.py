# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the table's random inputs don't meet: scalar functions and their gradients at kinks, ties,
poles and in the tails, each value compared with torch's in f64."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from conformance import runner

NAN, INF = float("nan"), float("inf")


@dataclass(frozen=True)
class Function:
    """A pointwise body that computes `%y` from `%a`, `%b`, …, T its type."""

    body: str
    function: Callable[..., Tensor]
    inputs: list[tuple[float, ...]]
    # Arguments whose gradient torch doesn't have.
    frozen: str = ""
    # Larger where torch's own formula is off.
    tolerance: float = 1e-14
    gradient_tolerance: float = 1e-12


def special(name: str) -> str:
    """The body of a function of one operand."""
    return f"%y = fuseops.special {name}(%a) : T"


def ones(*values: float) -> list[tuple[float, ...]]:
    """Inputs of a function of one operand."""
    return [(v,) for v in values]


def pairs(*values: float) -> list[tuple[float, ...]]:
    """Each value with each."""
    return [(a, b) for a in values for b in values]


GRID = torch.linspace(-6.0, 6.0, 41, dtype=torch.float64).tolist()
HALF = [v / 12 for v in GRID]
POSITIVE = [0.01, 0.3, 0.9999, 1.0, 1.5, 2.0, 2.5, 3.7, 8.0, 9.5, 30.0, 1e5, 1e30]
NEGATIVE = [-0.3, -0.99, -1.5, -2.7, -7.3, -20.6]
KINKS = [0.0, -0.0, 1.0, -1.0, 2.0, INF, -INF, NAN]
FUNCTIONS = {
    "abs": Function("%y = math.absf %a : T", torch.abs, ones(*KINKS)),
    "maximum": Function("%y = arith.maximumf %a, %b : T", torch.maximum, pairs(*KINKS)),
    "minimum": Function("%y = arith.minimumf %a, %b : T", torch.minimum, pairs(*KINKS)),
    "maxnum": Function("%y = arith.maxnumf %a, %b : T", torch.fmax, pairs(*KINKS)),
    "minnum": Function("%y = arith.minnumf %a, %b : T", torch.fmin, pairs(*KINKS)),
    "clampf": Function(
        "%y = math.clampf %a to [%b, %c] : T",
        torch.clamp,
        [(x, low, 1.0) for x in (-2.0, -1.0, 0.0, 1.0, 2.0, NAN) for low in (-1.0, 0.5, 1.0, 3.0)],
    ),
    "copysign": Function(
        "%y = math.copysign %a, %b : T",
        torch.copysign,
        [(a, b) for a in (0.0, -0.0, 1.0, -2.0) for b in (1.0, -1.0, 0.0, -0.0)],
    ),
    "powf": Function(
        "%y = math.powf %a, %b : T",
        torch.pow,
        [(a, b) for a in (0.0, 0.5, 2.0, -2.0, 3.5, INF) for b in (0.0, -1.0, 2.0, 0.5, 3.0)],
    ),
    "remf": Function(
        "%y = arith.remf %a, %b : T",
        torch.fmod,
        [(a, b) for a in (5.5, -5.5, 4.0, 0.0, 1e17) for b in (2.0, -2.0, 0.7, 3.0)],
    ),
    "atan2": Function(
        "%y = math.atan2 %a, %b : T",
        torch.atan2,
        pairs(0.0, 1.0, -1.0, 2.5),
    ),
    "select": Function(
        "%z = arith.constant 0.0 : T\n%p = arith.cmpf ole, %a, %z : T\n"
        "%e = math.expm1 %a : T\n%y = arith.select %p, %e, %a : T",
        torch.nn.functional.elu,
        ones(0.0, -0.0, 1.0, 800.0, -3.0, NAN),
    ),
    "sqrt": Function("%y = math.sqrt %a : T", torch.sqrt, ones(0.0, 2.0, -1.0, INF)),
    "floor": Function("%y = math.floor %a : T", torch.floor, ones(0.5, 1.0, -0.5, NAN)),
    "fpowi": Function(
        "%n = arith.constant 3 : i32\n%y = math.fpowi %a, %n : T, i32",
        lambda x: x**3,
        ones(0.0, 1.5, -2.0),
    ),
    "sincos": Function(
        "%s, %c = math.sincos %a : T\n%y = arith.mulf %s, %c : T",
        lambda x: x.sin() * x.cos(),
        ones(*GRID),
    ),
    "erf": Function("%y = math.erf %a : T", torch.erf, ones(*GRID, INF, NAN), tolerance=1e-13),
    "lgamma": Function(special("lgamma"), torch.lgamma, ones(*POSITIVE, *NEGATIVE, INF, 1e300)),
    "digamma": Function(
        special("polygamma"),
        torch.digamma,
        ones(0.0, -0.0, *POSITIVE, *NEGATIVE, INF),
        gradient_tolerance=1e-9,  # torch's trigamma(1) is 8e-10 too large
    ),
    "trigamma": Function(
        "%y = fuseops.special polygamma(%a) order(1) : T",
        lambda x: torch.polygamma(1, x),
        ones(*POSITIVE, *NEGATIVE),
        tolerance=1e-9,
    ),
    "polygamma_2": Function(
        "%y = fuseops.special polygamma(%a) order(2) : T",
        lambda x: torch.polygamma(2, x),
        ones(*POSITIVE[:-1]),
    ),
    "zeta": Function(
        "%y = fuseops.special zeta(%a, %b) : T",
        torch.special.zeta,
        [
            (s, q)
            for s in (1.0, 1.5, 2.0, 3.0, 10.0, 501.0)
            for q in (0.0, 0.3, 1.0, 5.5, 50.0, -1.0, -0.25, -7.375, -501.25, -4988429.25)
        ],
        frozen="ab",
    ),
    "erfinv": Function(
        special("erfinv"),
        torch.erfinv,
        ones(*[v / 6.001 for v in GRID], 1.0, -1.0, 1.5, 1e-300, 1 - 2.0**-53, NAN),
        tolerance=1e-12,
    ),
    "erfcx": Function(
        special("erfcx"), torch.special.erfcx, ones(*GRID, 30.0, -26.0, -40.0), tolerance=1e-13
    ),
    "log_ndtr": Function(
        special("log_ndtr"),
        torch.special.log_ndtr,
        ones(*GRID, -30.0, 10.0, INF),
        tolerance=1e-12,
    ),
    "ndtri": Function(
        special("ndtri"),
        torch.special.ndtri,
        ones(*[v + 0.5 for v in HALF], 1e-300, 1e-20, 1e-5, 1.5, -0.5, NAN),
        tolerance=1e-12,
    ),
    "i0": Function(special("i0"), torch.i0, ones(*GRID, 8.0, 8.1, 100.0, -700.0, NAN)),
    "i0e": Function(special("i0e"), torch.special.i0e, ones(*GRID, 8.0, 8.1, 1e4, INF)),
    "i1": Function(special("i1"), torch.special.i1, ones(*GRID, 8.0, 8.1, 100.0, -700.0)),
    "i1e": Function(special("i1e"), torch.special.i1e, ones(*GRID, 8.0, 8.1, 1e4)),
    "sinc": Function(special("sinc"), torch.sinc, ones(*GRID), tolerance=1e-13),
    "entr": Function(special("entr"), torch.special.entr, ones(*POSITIVE[:-1], *KINKS)),
    "logit": Function(special("logit"), torch.logit, ones(0.0, 1.0, 0.1, 0.5, 0.9, -0.1, 1.1)),
    "xlogy": Function(
        "%y = fuseops.special xlogy(%a, %b) : T", torch.xlogy, pairs(0.0, 1.0, 2.5, -1.0, INF, NAN)
    ),
    "xlog1py": Function(
        "%y = fuseops.special xlog1py(%a, %b) : T",
        torch.special.xlog1py,
        pairs(0.0, 1.0, 2.5, -1.0, -2.0, INF, NAN),
    ),
    "hypot": Function(
        "%y = fuseops.special hypot(%a, %b) : T", torch.hypot, pairs(0.0, 3.0, -4.0, 1e200, 1e-200)
    ),
    "logaddexp": Function(
        "%y = fuseops.special logaddexp(%a, %b) : T",
        torch.logaddexp,
        pairs(0.0, 1.0, -700.0, 700.0, -INF, INF),
    ),
    "logaddexp2": Function(
        "%y = fuseops.special logaddexp2(%a, %b) : T",
        torch.logaddexp2,
        pairs(0.0, 1.0, -1000.0, 1000.0, -INF, INF),
    ),
    "nextafter": Function(
        "%y = fuseops.special nextafter(%a, %b) : T",
        torch.nextafter,
        pairs(0.0, -0.0, 1.0, -1.0, 2.0, 5e-324, INF, -INF, NAN),
        frozen="ab",
    ),
}


def program_text(function: Function, count: int, dtype: str) -> str:
    """The function of vectors."""
    names = "abc"[: len(function.inputs[0])]
    t = f"tensor<{count}x{dtype}>"
    frozen = {n: " {fuseops.frozen}" if n in function.frozen else "" for n in names}
    arguments = ", ".join(f"%x{n}: {t}{frozen[n]}" for n in names)
    bindings = ", ".join(f"%{n} = %x{n}" for n in names)
    types = ", ".join([t] * len(names))
    body = function.body.replace(": T", f": {dtype}")
    return f"""fuseops.fusible @main({arguments}) -> {t}
    forward {{
      %r = fuseops.pointwise ({bindings}) : ({types}) -> {t} {{
        {body}
        fuseops.yield %y : {dtype}
      }}
      fuseops.return %r : {t}
    }}"""


def assert_close(got: Tensor, want: Tensor, tolerance: float, what: str) -> None:
    """Equal within a share of the value, infinities and NaN exactly."""
    torch.testing.assert_close(
        got.double(),
        want.detach(),
        rtol=tolerance,
        atol=tolerance * 1e-2,
        equal_nan=True,
        msg=lambda text: f"{what}: {text}",
    )


@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_torch(name: str, dtype: str):
    function = FUNCTIONS[name]
    if name == "nextafter" and dtype == "f32":
        pytest.skip("torch in f64 steps by another unit")
    kind = runner.DTYPES[dtype]
    limits = torch.finfo(kind)
    inputs = torch.tensor(function.inputs, dtype=torch.float64)
    if dtype == "f32":
        # What isn't an f32 is another input.
        sizes = inputs.abs()
        fits = (sizes <= limits.max) & (sizes >= limits.tiny) | (inputs == 0)
        inputs = inputs[fits.all(1)]
    columns = [c.to(kind).contiguous() for c in inputs.unbind(1)]
    exact = [c.double().requires_grad_() for c in columns]
    program = runner.compile_ir(program_text(function, len(inputs), dtype))
    (got,), saved = program.forward(*columns)
    want = function.function(*exact)
    tolerance = function.tolerance if dtype == "f64" else 5e-6
    # Beyond the range of f32 torch's is not infinite.
    rounded = torch.where(want.abs() > limits.max, torch.sign(want) * INF, want)
    assert_close(got, rounded, tolerance, name)
    if len(function.frozen) == len(columns):
        return
    incoming = torch.linspace(0.5, 1.5, len(inputs), dtype=torch.float64).to(kind)
    gradients = program.backward(saved, incoming)
    expected = torch.autograd.grad(want, exact, incoming.double(), allow_unused=True)
    for column, gradient, slope in zip("abc", gradients, expected, strict=False):
        what = f"{name}, gradient of {column}"
        if slope is None or gradient is None:
            for other in (slope, gradient):
                assert other is None or not other.any(), what
            continue
        seen = (slope.abs() < 3e38) | ~slope.isfinite() | (dtype == "f64")
        allowed = max(tolerance, function.gradient_tolerance)
        assert_close(gradient[seen], slope[seen], allowed, what)
