# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where torch's own f64 is off or NaN: scalar functions and their derivatives, compared with values
of 50 digits."""

from dataclasses import dataclass

import pytest
import torch

from conformance import runner
from conformance.test_scalar_functions import INF, Function, program_text, special

SIZES = (0.5, 7.75, 8.5, 501.0, 1e4, 2.0**40, 2.0**66)
I0E_SLOPES = (
    -0.48861446726427837,
    -0.0097611742285751986,
    -0.0084524879602517417,
    -1.7801190182730054e-5,
    -1.9947862106984188e-7,
    -1.7301363484308084e-19,
    -3.147099684484089e-31,
)
I1E_SLOPES = (
    0.17577286089453498,
    -0.0077938064269524283,
    -0.0069062596979360059,
    -1.7747866530871158e-5,
    -1.9944869852852435e-7,
    -1.7301363484284481e-19,
    -3.147099684484089e-31,
)


@dataclass(frozen=True)
class Values:
    """Of a pointwise body at inputs, one tuple each; the derivative's if `is_slope`."""

    body: str
    inputs: list[tuple[float, ...]]
    expected: tuple[float, ...]
    is_slope: bool = False
    # Arguments without a derivative.
    frozen: str = ""


def even_and_odd(slopes: tuple[float, ...], sign: float) -> tuple[float, ...]:
    """At the sizes, then at their negatives."""
    return (*slopes, *(sign * slope for slope in slopes))


BOTH_SIGNS = [(sign * size,) for sign in (1.0, -1.0) for size in SIZES]
VALUES = {
    # Next to each other, i0e and i1e cancel.
    "slope of i0e": Values(special("i0e"), BOTH_SIGNS, even_and_odd(I0E_SLOPES, -1.0), True),
    "slope of i1e": Values(special("i1e"), BOTH_SIGNS, even_and_odd(I1E_SLOPES, 1.0), True),
    "slope at 0 of i0e": Values(special("i0e"), [(0.0,), (-0.0,)], (0.0, 0.0), True),
    "slope at 0 of i1e": Values(special("i1e"), [(0.0,), (-0.0,)], (0.5, 0.5), True),
    "slope at infinity of i0e": Values(special("i0e"), [(INF,), (-INF,)], (0.0, 0.0), True),
    # torch's is infinity times 0.
    "zeta of a large s": Values(
        "%y = fuseops.special zeta(%a, %b) : T",
        [(s, q) for s in (1e20, INF) for q in (0.5, 1.0, 2.0, 501.0)],
        (INF, 1.0, 0.0, 0.0) * 2,
        frozen="ab",
    ),
    # torch's sine of a multiple of pi isn't 0.
    "poles of trigamma": Values(
        "%y = fuseops.special polygamma(%a) order(1) : T",
        [(0.0,), (-1.0,), (-8.0,), (-501.0,)],
        (INF,) * 4,
    ),
    "poles of the slope of digamma": Values(
        special("polygamma"), [(0.0,), (-1.0,), (-8.0,)], (INF,) * 3, True
    ),
    # torch's ndtr cancels.
    "ndtr": Values(
        "%m = arith.constant -0.70710678118654752440 : T\n%z = arith.mulf %a, %m : T\n"
        "%e = math.erfc %z : T\n%h = arith.constant 0.5 : T\n%y = arith.mulf %h, %e : T",
        [(-8.0,), (-8.5,), (-12.0,)],
        (6.2209605742717841e-16, 9.4795348222033184e-18, 1.776482112077679e-33),
    ),
}


@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize("name", VALUES)
def test_as_exact(name: str, dtype: str):
    values = VALUES[name]
    kind = runner.DTYPES[dtype]
    columns = [
        torch.tensor(c, dtype=torch.float64).to(kind) for c in zip(*values.inputs, strict=True)
    ]
    function = Function(values.body, torch.clone, values.inputs, frozen=values.frozen)
    program = runner.compile_ir(program_text(function, len(values.inputs), dtype))
    (got,), saved = program.forward(*columns)
    if values.is_slope:
        (got,) = program.backward(saved, torch.ones_like(got))
    expected = torch.tensor(values.expected, dtype=torch.float64)
    # ndtr in f32 is of an argument that is rounded, times up to 144.
    tolerance = 2e-12 if dtype == "f64" else 2e-5
    torch.testing.assert_close(got.double(), expected, rtol=tolerance, atol=0.0)
